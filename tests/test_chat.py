"""Transcripts: each form of a turn, what is no chat, and that no turn loses a word or its place."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smb.ingest.note import Block, Note
from smb.ingest.read import read_note

FORMS = {
    "bold items": "# Chat\n\n- **Ann:** hi <!-- D1:1 -->\n- **Bob Ray:** ho\n- **Ann:** why?\n- **Bob Ray:** [[because]]\n",
    "numbered items": "1. **Ann:** hi\n2. **Bob Ray:** ho\n3. **Ann:** why?\n4. **Bob Ray:** [[because]]\n",
    "bold paragraphs": "**Ann**: hi\n\n**Bob Ray**: ho\n\n**Ann**: why?\n\n**Bob Ray**: [[because]]\n",
    "bold with times": "**Ann** (10:31): hi\n\n**Bob Ray** (10:32): ho\n\n**Ann** (10:32): why?\n\n**Bob Ray** (10:40): [[because]]\n",
    "plain lines": "Ann: hi\nBob Ray: ho\nAnn: why?\nBob Ray: [[because]]\n",
    "time first": "[10:31] Ann: hi\n[10:32] Bob Ray: ho\n[10:32] Ann: why?\n[10:40] Bob Ray: [[because]]\n",
    "date and time first": "[2031-05-03 10:31:05] Ann: hi\n[2031-05-03 10:32:11] Bob Ray: ho\n[2031-05-03 10:32:40] Ann: why?\n[2031-05-03 10:40:00] Bob Ray: [[because]]\n",
    "export": "03.05.31, 10:31 - Ann: hi\n03.05.31, 10:32 - Bob Ray: ho\n03.05.31, 10:32 - Ann: why?\n03.05.31, 10:40 - Bob Ray: [[because]]\n",
    "text on the next line": "**Ann:**\nhi\n\n**Bob Ray:**\nho\n\n**Ann:**\nwhy?\n\n**Bob Ray:**\n[[because]]\n",
    "front matter": "---\ndate: 2031-05-03\n---\n\nAnn: hi\n\nBob Ray: ho\n\nAnn: why?\n\nBob Ray: [[because]]\n",
}


def read(text: str) -> Note:
    note = read_note("chat.md", "0" * 64, text.encode())
    assert isinstance(note, Note)
    return note


def turns(note: Note) -> list[Block]:
    return [block for block in note.blocks if block.kind == "turn"]


@pytest.mark.parametrize("form", FORMS)
def test_each_form_gives_the_same_turns(form: str) -> None:
    """Speaker told apart, text without it, a place of its own."""
    note = read(FORMS[form])
    assert note.shape == "chat"
    assert [(t.speaker, t.text) for t in turns(note)] == [("Ann", "hi"), ("Bob Ray", "ho"), ("Ann", "why?"), ("Bob Ray", "because")]
    lines = [t.line_start for t in turns(note)]
    assert lines == sorted(set(lines))
    data = FORMS[form].encode()
    assert all(t.speaker in data[t.byte_start : t.byte_end].decode() for t in turns(note))
    (link,) = turns(note)[-1].links
    assert turns(note)[-1].line_start <= link.line <= turns(note)[-1].line_end


@pytest.mark.parametrize("text", [
    "- **Port:** 1\n- **Host:** 2\n- **User:** 3\n- **Disk:** 4\n", "Note: a\n\nWarning: b\n\nTip: c\n\nNote: d\n",
    "## A\n- **Size:** 1\n- **Top:** 2\n\n## B\n- **Size:** 3\n- **Top:** 4\n\n## C\n- **Size:** 5\n- **Top:** 6\n",
    "A long text.\n\nMore of it.\n\nAnd more.\n\nAnd yet more.\n\nEnd.\n\nAnn: hi\n\nBob: ho\n\nAnn: a\n\nBob: b\n", "- **Ann:** a\n- **Bob:** b\n- **Ann:** c\n",
    "https://a.b\nhttps://a.b\nhttps://c.d\nhttps://c.d\n", "> Ann: a\n\n> Bob: b\n\n> Ann: c\n\n> Bob: d\n", "Ann: a\n\nAnn: b\n\nAnn: c\n\nAnn: d\n",
    "10:00 - breakfast\n11:00 - market\n12:00 - lunch\n13:00 - ferry\n", "```\nAnn: a\nBob: b\nAnn: c\nBob: d\n```\n",
])
def test_what_is_no_chat(text: str) -> None:
    note = read(text)
    assert note.shape == "note" and not any(block.speaker for block in note.blocks)


def test_what_stands_between_turns_stays_and_long_turns_keep_their_speaker() -> None:
    long = " ".join(f"Sentence {n} of a long answer." for n in range(120))
    note = read(f"# Talk\n\nAnn: why?\n\nBob: {long}\n\n(laughter)\n\nAnn: I see\nand thank you\nBob: any time\n\nAnn: bye\n")
    assert note.shape == "chat" and note.title == "Talk"
    assert ("paragraph", "(laughter)") in {(b.kind, b.text) for b in note.blocks}
    parts = [t for t in turns(note) if t.speaker == "Bob"]
    assert len(parts) > 3 and " ".join(t.text for t in parts) == f"{long} any time"
    assert [t.text for t in turns(note) if t.speaker == "Ann"] == ["why?", "I see and thank you", "bye"]
    assert all(t.headings == ("Talk",) for t in turns(note))


SAID = st.lists(st.sampled_from(["hi", "a *b* c", "`x: y`", "[[Kiln]]", "at 10:30", "窯の温度", "é", "http://a.b/c", "word " * 40, "#tag", "- no", "Ann"]), min_size=1, max_size=3).map(" ".join)
SHAPES = ["**{}:** {}\n\n", "- **{}:** {}\n", "{}: {}\n", "[10:31] {}: {}\n", "**{}** (9:05 PM): {}\n\n"]


@settings(max_examples=250, deadline=None)
@given(st.sampled_from(SHAPES), st.lists(st.tuples(st.sampled_from(["Ann", "Bob Ray", "Żaneta", "李明"]), SAID), min_size=1, max_size=12), st.sampled_from(["\n", "\r\n"]))
def test_turns_are_exact_whoever_says_what(shape: str, said: list[tuple[str, str]], ending: str) -> None:
    """In order, speakers as written, spans that hold speaker and words; the conversation repeated so that all come back."""
    said = [*said, ("Ann", "one"), ("Bob Ray", "two")] * 2
    data = "".join(shape.format(who, what) for who, what in said).replace("\n", ending).encode()
    note = read_note("chat.md", "0" * 64, data)
    assert isinstance(note, Note) and note.shape == "chat"
    assert [t.speaker for t in turns(note)] == [who for who, _ in said]
    before = 0
    for turn in turns(note):
        quote = data[turn.byte_start : turn.byte_end].decode()
        assert turn.byte_start >= before and turn.speaker in quote
        assert all(word in re.sub(r"[*`]", "", quote) for word in re.findall(r"\w+", turn.text))
        before = turn.byte_end
