"""Where a sentence ends, and which bytes are the quote of one that markup is written into."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smb.ingest.note import Note
from smb.ingest.quoting import Quoter, sentences
from smb.ingest.read import read_note


def quotes(markdown: str) -> dict[str, str]:
    """Each sentence of the last block, and its quote."""
    data = f"# Loom\n\n{markdown}\n".encode()
    note = read_note("loom.md", hashlib.sha256(data).hexdigest(), data)
    assert isinstance(note, Note)
    quoter, block = Quoter(note), note.blocks[-1]
    found = {}
    for sentence in sentences(block.text):
        span = quoter.sentence(block, sentence)
        assert data[span.byte_start : span.byte_end].decode() == span.quote
        found[sentence] = span.quote
    return found


@pytest.mark.parametrize(
    "text",
    ["The count is 5! = 120 threads.", "Take n? : two or one.", "Is 3? = 4 a joke.", "It beats 9! and so on."],
)
def test_a_mark_after_a_figure_or_before_an_operator_ends_nothing(text: str) -> None:
    assert sentences(text) == [text]


def test_a_question_about_a_year_still_ends() -> None:
    assert sentences("Was it sold in 2031? It was. What a loom! Yes.") == ["Was it sold in 2031?", "It was.", "What a loom!", "Yes."]


@pytest.mark.parametrize(
    ("markdown", "sentence", "quote"),
    [
        ("I like tea. I saw [the mill](https://a.example/when/it-was) when it was built.", "I saw the mill when it was built.",
         "I saw [the mill](https://a.example/when/it-was) when it was built."),
        ("A loom is old. A mill [stands](stands-by.md) by it.", "A mill stands by it.", "A mill [stands](stands-by.md) by it."),
        ("It hangs there. Its width is told in [[Reed#Width]].", "Its width is told in Reed.", "Its width is told in [[Reed#Width]]."),
        ("See here. [[Old reed|The reed]] is *bent* now.", "The reed is bent now.", "[[Old reed|The reed]] is *bent* now."),
        ("First. The `<b>width</b>` is <i>given</i> in [cm][u].\n\n[u]: https://u.example", "The <b>width</b> is given in cm.",
         "The `<b>width</b>` is <i>given</i> in [cm][u]."),
        ("One. The *reed*, and the **heddle**, are new.", "The reed, and the heddle, are new.", "The *reed*, and the **heddle**, are new."),
    ],
)
def test_the_quote_is_the_shortest_stretch_and_whole_links(markdown: str, sentence: str, quote: str) -> None:
    assert quotes(markdown)[sentence] == quote


def test_a_name_is_not_found_inside_a_link_target_or_a_longer_word() -> None:
    data = b"# Loom\n\nSee [site](https://reed.example/Reed) of Reedville: the Reed is new.\n"
    note = read_note("loom.md", hashlib.sha256(data).hexdigest(), data)
    assert isinstance(note, Note)
    span = Quoter(note).sentence(note.blocks[-1], "Reed")
    assert data[span.byte_start - 4 : span.byte_end + 4] == b"the Reed is "


PIECES = ["The reed", " is ", "[old](x/old.md)", "[[Mill#A|mill]]", "[[Mill#A]]", " and ", "**bold**", "`a](b)`", "<b>", ". ", "!", "\n", "I ", "(5)", "機", "é"]


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=18))
def test_every_quote_stands_at_its_bytes(pieces: list[str]) -> None:
    quotes("Start " + "".join(pieces) + " end")
