"""Blocks: every span is exact, and each kind of block is told for what it is."""

import html
import re
import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from smb.ingest.note import Note, WebLink, WikiLink
from smb.ingest.passages import CODE_LINES, LONGEST
from smb.ingest.read import read_note


def note(text, path="n.md"):
    read = read_note(path, "0" * 64, text if isinstance(text, bytes) else text.encode())
    assert isinstance(read, Note)
    return read


def told(text):
    return [(b.kind, b.text) for b in note(text).blocks]


LINES = [
    "# A", "## B *x*", "Setext\n===", "a\nb\n---", "text one. Text two.", "  indented", "- item", "  - nested", "    continued", "1. one", "2) two", "* [ ] task",
    "- [x] done", "- ", "-", "> quote", "> > deeper", "> - in quote", "> [!note] Title", "> [!WARNING]", "> ```", "```py", "```", "~~~", "    code", "\tcode",
    "| a | b |", "|---|---|", "| [[x\\|y]] | 2 |", "a | b", "--- | ---", "<div>", "</div>", "<!-- c -->", "<!--", "-->", "[^1]: note", "see [^1]", "[r]: u.md", "[Sam]: hi",
    "$$", "$$ x $$", "**Ann:** hi", "- **Bob:** ho", "Ann: x", "[10:32] Bob: y", "^id", "end ^id", "***", "", "", "", "é 窯", "\u2028x", "x\u0085y", "a\x0bb", " \u00a0", "\ufeff",
    "![a](b.png)", "[[L#h|x]]", "https://a.b/c", "word " * 400, "x" * 2000, "文字。" * 700, "A sentence here. " * 120, "\\", "`", "``a", "{#id}", "## H {#h}", "---", "+++",
]
TEXTS = st.lists(st.tuples(st.sampled_from(LINES), st.sampled_from(["\n", "\n", "\n", "\n\n", "\r\n", "\r"])), max_size=22).map(lambda ls: "".join(a + b for a, b in ls))


@settings(max_examples=700, deadline=None)
@given(
    st.one_of(TEXTS, TEXTS.map(lambda t: "---\ntitle: x\n---\n" + t), st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), max_size=80)),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-32"]),
)
@example("- a\n\n      code\n\n  b\n", "utf-16")
@example("> " * 300 + "deep\n\nafter", "utf-8")
@example("".join("  " * i + f"- a{i}\n" for i in range(150)), "utf-8")
def test_every_span_is_exact(text, encoding):
    """Bytes decode to a trimmed piece of the text that holds every word of the block; lines agree with bytes; blocks come
    in order and don't overlap."""
    data = text.encode(encoding)
    read = read_note("n.md", "0" * 64, data)
    if not isinstance(read, Note):
        return
    before = 0
    for block in read.blocks:
        quote = data[block.byte_start : block.byte_end].decode(read.encoding)
        assert quote and quote in read.text and quote.strip() == quote
        assert block.byte_start >= before
        before = block.byte_end
        above = data[: block.byte_start].decode(read.encoding)
        assert block.line_start == len(re.findall(r"\r\n|\r|\n", above)) + 1 - (above.endswith("\r") and quote.startswith("\n"))
        assert block.line_end == block.line_start + len(re.findall(r"\r\n|\r|\n", quote))
        assert block.text or block.links or block.web
        held = re.sub(r"\W", "", html.unescape(quote))
        assert all(re.sub(r"\W", "", word) in held for word in block.text.split())
        assert not re.search(r"[\n\r\u2028]", "".join(block.headings) + block.speaker)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from([line for line in LINES if re.search(r"\w", line)]), max_size=10))
def test_no_word_vanishes(lines):
    """Every word outside markup and comments is in some block's bytes."""
    text = "\n\n".join(f"{line}\n\nword{i}" for i, line in enumerate(lines) if not line.startswith(("<", "> ```", "```", "~~~", "$$", "[r]")))
    read = note(text)
    covered = " ".join(text.encode()[b.byte_start : b.byte_end].decode() for b in read.blocks)
    for word in re.findall(r"word\d+", text):
        assert word in covered


def test_headings_enclose_what_follows():
    read = note("# A\n\none\n\n## B *x*\n\ntwo\n\n### C\n## D\n\nthree\n\n# E\nfour\n")
    assert [(b.text, b.headings) for b in read.blocks if b.kind == "paragraph"] == [
        ("one", ("A",)), ("two", ("A", "B x")), ("three", ("A", "D")), ("four", ("E",))]
    assert [(b.text, b.level, b.headings) for b in read.blocks if b.kind == "heading"] == [
        ("A", 1, ()), ("B x", 2, ("A",)), ("C", 3, ("A", "B x")), ("D", 2, ("A",)), ("E", 1, ())]


def test_a_paragraph_before_a_rule_is_no_heading():
    """Several lines above `---` are a heading to CommonMark and a paragraph to the person who wrote them (A04)."""
    text = "one\ntwo\n---\nthree"
    assert told(text) == [("paragraph", "one two"), ("paragraph", "three")]
    assert text.encode()[: note(text).blocks[0].byte_end] == b"one\ntwo"
    assert told("A sentence.\n---\n")[0] == told("---\nA sentence.\n---\n")[0] == ("paragraph", "A sentence.")
    assert told("---\nNo mapping\n---\nx") == [("paragraph", "No mapping"), ("paragraph", "x")]
    assert told("Title\n=====\nx")[0] == told("Title\n-----\nx")[0] == ("heading", "Title")


def test_items_cover_their_own_lines():
    text = "- a\n  more\n  - [ ] b ^t1\n    1. [x] c\n\n  later\n-\n  d\n"
    data = text.encode()
    assert [(b.kind, b.text, b.level, b.task, b.block_id, data[b.byte_start : b.byte_end].decode()) for b in note(text).blocks] == [
        ("item", "a more", 1, "", "", "- a\n  more"), ("item", "b", 2, "open", "t1", "- [ ] b ^t1"), ("item", "c", 3, "done", "", "1. [x] c"),
        ("paragraph", "later", 1, "", "", "later"), ("item", "d", 1, "", "", "-\n  d")]


def test_rows_know_their_columns():
    """C01 in a table: an escaped pipe belongs to the link."""
    header, row, short = note("| Kiln | **Top** |\n|---|--:|\n| [[kiln\\|K]] | `1280` |\n| b |\n").blocks
    assert (header.kind, header.text, header.cells) == ("row", "Kiln | Top", ())
    assert row.cells == (("Kiln", "K"), ("Top", "1280"))
    assert (row.links, row.code_terms, row.line_start) == ((WikiLink("kiln", "", "", "K", False, 3),), ("1280",), 3)
    assert short.cells == (("Kiln", "b"), ("Top", ""))


def test_quotes_and_callouts():
    blocks = note("> quoted *q*\n> - item\n\n> [!WARNING]- Hot glass\n> keep off\n>\n> > said\n\n> [!tip]\n> use tongs\n").blocks
    assert [(b.kind, b.text, b.quoted, b.callout) for b in blocks] == [
        ("quote", "quoted q", True, ""), ("item", "item", True, ""), ("paragraph", "Hot glass", False, "warning"),
        ("paragraph", "keep off", False, "warning"), ("quote", "said", True, "warning"), ("paragraph", "use tongs", False, "tip")]
    assert [b.line_start for b in blocks] == [1, 2, 4, 5, 7, 9]


def test_code_is_text():
    """C03: no link, no tag, no heading out of code."""
    text = "```py title\n# no [[nope]] #nope\n```\n\n    indented [[nope]]\n"
    blocks = note(text).blocks
    assert [(b.kind, b.language, b.text, b.links, b.tags) for b in blocks] == [
        ("code", "py", "# no [[nope]] #nope", (), ()), ("code", "", "indented [[nope]]", (), ())]
    assert text.encode()[blocks[0].byte_start : blocks[0].byte_end] == b"```py title\n# no [[nope]] #nope\n```"


def test_below_too_deep_a_nesting_reading_goes_on():
    """markdown-it drops what it meets a hundred levels down, in a list the whole rest of the note."""
    for deep, text in (("- " * 200 + "low", "low"), ("1. " * 200 + "low", "low"), ("> " * 200 + "low", "low"), ("> - " * 100 + "low", "low"),
                       ("".join("  " * n + f"- a{n}\n" for n in range(60)) + "  " * 60 + "- low", "a59")):
        blocks = note(f"first\n\n{deep}\n\n# H\n\n- b\n\n{deep}\n\nlast\n").blocks
        after = [(b.kind, b.text) for b in blocks if b.kind == "heading" or b.text in ("b", "last")]
        assert after == [("heading", "H"), ("item", "b"), ("paragraph", "last")]
        assert blocks[-1].headings == ("H",) and any(text in b.text for b in blocks)
        assert sum("low" in b.text for b in blocks) == 2
    many = "".join(f"{'- ' * 60}deep{n}\n\n" for n in range(60))
    covered = " ".join(b.text for b in note(many + "# End\n").blocks)
    assert all(f"deep{n}" in covered for n in range(60)) and "End" in covered


def test_html_comments_footnotes_math_and_ids():
    text = (
        '<p align="center"><a href="https://ci.org/x"><img alt="build" src="b.svg"></a></p>\n\n<!-- secret\n\nplan -->\n\nA[^1] b.\n\n[^1]: Foot *note*.\n\n'
        "$$\nE = mc^2\n$$\n\nA line\n\n^solo\n\n[k]: kiln.md\n[Sam]: hello\n\nsee [k]\n"
    )
    blocks = note(text).blocks
    assert [(b.kind, b.text, b.block_id) for b in blocks] == [
        ("html", "build", ""), ("paragraph", "A b.", ""), ("paragraph", "Foot note.", ""), ("math", "E = mc^2", ""), ("paragraph", "A line", "solo"),
        ("paragraph", "Sam: hello", ""), ("paragraph", "see k", "")]
    assert blocks[0].web == (WebLink("", "https://ci.org/x", 1),)
    assert blocks[-1].web == (WebLink("k", "kiln.md", 22),)


def test_long_paragraphs_are_cut_at_sentences():
    text = "> - " + " ".join(f"Sentence number {i} about **kilns** ends here." for i in range(200)) + "\n"
    blocks = note(text).blocks
    assert len(blocks) > 4
    assert all(b.kind == "item" and b.quoted and len(b.text) <= LONGEST and b.text.startswith("Sentence") and b.text.endswith("here.") for b in blocks)
    assert " ".join(b.text for b in blocks) == " ".join(f"Sentence number {i} about kilns ends here." for i in range(200))
    assert blocks[0].byte_start == 0


def test_one_huge_word_stays_whole():
    (block,) = note("y" * 900 + "-" + "z" * 900).blocks
    assert block.byte_end == 1801


def test_long_code_is_cut_at_blank_lines():
    lines = [f"line{i}" if i % 10 else "" for i in range(1, 200)]
    text = "```\n" + "\n".join(lines) + "\n```\n"
    blocks = note(text).blocks
    assert [b.kind for b in blocks] == ["code"] * 4
    assert all(b.line_end - b.line_start <= CODE_LINES + 1 for b in blocks)
    assert text.encode()[blocks[0].byte_start :].startswith(b"```\nline1\n") and text.encode()[: blocks[-1].byte_end].endswith(b"line199\n```")
    for block in blocks:
        assert block.text.strip("\n") in text.encode()[block.byte_start : block.byte_end].decode()


def test_bare_data_is_read_in_bounded_time():
    """B10: huge lines, endless runs and deep nesting, together well under a second each."""
    for text in (
        "![p](data:image/png;base64," + "A" * 3_000_000 + ")\nCone 6 reached.\n", "x" * 1_000_000, "[" * 200_000, "> " * 100_000, "- " * 100_000 + "x",
        "a|" * 100_000, "*a " * 60_000, "The kiln is hot.\n" * 20_000, "A: b\n" * 20_000, "<a href=\"" * 20_000, "(" * 99_999 + "[a](" * 9_999,
    ):
        start = time.process_time()
        blocks = note(text).blocks
        assert time.process_time() - start < 2
        assert len(blocks) < 400
    assert told("![p](data:image/png;base64," + "A" * 3_000_000 + ")\nCone 6 reached.\n") == [("paragraph", "p"), ("paragraph", "Cone 6 reached.")]
