"""Front matter: values stay as written, nothing raises, and what is no mapping is body."""

import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from smb.ingest.front_matter import read_front_matter
from smb.ingest.note import FrontState, WikiLink
from smb.ingest.source_text import SourceText


def front(text):
    return read_front_matter(SourceText(text))


def values(text):
    return {p.key: p.text for p in front(text).properties}


def test_scalars_stay_as_written():
    """A03: no YAML 1.1 surprises."""
    read = front("---\ncountry: no\nstart: 12:30\nzip: 01234\ntags: #kiln\nup: [[Kiln]]\nx: ~\nbig: 1_000\nv: 1.10\n---\nx\n")
    assert {p.key: p.text for p in read.properties} == {
        "country": "no", "start": "12:30", "zip": "01234", "tags": "#kiln", "up": "[[Kiln]]", "x": "~", "big": "1_000", "v": "1.10"}
    assert read.links == (WikiLink("Kiln", "", "", "", False, 6),)
    assert (read.state, read.warnings, read.body) == (FrontState.OK, (), 10)


def test_a_hash_glued_to_a_word_is_text():
    """A03: YAML would cut these short; with a space after the hash, after a quoted value or after a date it is a comment."""
    text = "---\ntitle: Fix for #12 and more\nmany: one\n  two #three\ntags: a #b\nx: y # z\nq: 'v' #w\nd: 2031-02-03 #approx\nl:\n  - p #q\n---\n"
    read = front(text)
    assert {p.key: p.text for p in read.properties} | {"l": ""} == {
        "title": "Fix for #12 and more", "many": "one two #three", "tags": "a #b", "x": "y", "q": "v", "d": "2031-02-03", "l": ""}
    assert read.properties[-1].items == ("p #q",)
    assert [text.encode()[p.byte_start : p.byte_end].decode() for p in read.properties[:4]] == [
        "title: Fix for #12 and more", "many: one\n  two #three", "tags: a #b", "x: y"]


@pytest.mark.parametrize("line", ["k: v\n", "k:\n", "k: *x\n", "k: a: b\n", "- a\n", "# c\n", "k: #t\n", "k: [a, b]\n"])
def test_long_front_matter_takes_no_long(line):
    """Ten thousand lines of it: well under a second, whatever they are."""
    start = time.process_time()
    front("---\nx: &x 1\n" + line * 10_000 + "---\n")
    assert time.process_time() - start < 1.5


def test_lists_quotes_and_blocks():
    read = front("---\na: [x, 'y z', \"q\"]\nb:\n  - one\n  - '2'\n  - [[N]]\n  - #t\nc: \"a: b\"\nd: >\n  folded\n  text\ne:\nf: {k: v}\ng: [[[A]], [[B]]]\n---\n")
    assert {p.key: p.items for p in read.properties} == {
        "a": ("x", "y z", "q"), "b": ("one", "2", "[[N]]", "#t"), "c": ("a: b",), "d": ("folded text\n",), "e": (), "f": ("{k: v}",),
        "g": ("[[A]]", "[[B]]")}
    assert {p.key: (p.line_start, p.line_end) for p in read.properties} == {
        "a": (2, 2), "b": (3, 7), "c": (8, 8), "d": (9, 11), "e": (12, 12), "f": (13, 13), "g": (14, 14)}


def test_malformed_yaml_is_recovered_line_by_line():
    """A01 and `aliases: [@kiln]`: the title after the first colon, one warning with its line."""
    read = front("---\ntitle: Kiln log: second firing (note: cone 6)\ntags: [clay]\naliases:\n  - @kiln\n---\nCone 6 reached.\n")
    assert read.state is FrontState.MALFORMED
    assert [(p.key, p.text, p.items) for p in read.properties] == [
        ("title", "Kiln log: second firing (note: cone 6)", ("Kiln log: second firing (note: cone 6)",)), ("tags", "[clay]", ("clay",)),
        ("aliases", "- @kiln", ("@kiln",))]
    assert [(w.code, w.line) for w in read.warnings] == [("frontmatter.malformed", 2)]
    assert read.body == 6


def test_impossible_dates_are_kept_with_a_warning():
    """A02."""
    read = front("---\ncreated: 2031-02-03\ndue: 2031-02-30\nseen: [2031-01-01, 2031-13-01]\nnote: 2031-01-01 ten people came\n---\nx\n")
    assert [(w.code, w.line) for w in read.warnings] == [("date.impossible", 3), ("date.impossible", 4)]
    assert values("---\ndue: 2031-02-30\n---\n") == {"due": "2031-02-30"}


@pytest.mark.parametrize("text", [
    "---\n**KILN LTD**\n12 Clay Row\n---\nDear Sam, the kiln is rated to 1280 C.\n", "---\nJust a sentence.\n---\nx\n", "---\n- a\n- b\n---\nx\n",
    "---\n\nSome *text*\n\n---\n", "--- start-multi-column: Region1\ncolumn text\n--- end-multi-column\n", "---\ntitle: never closed\n", "----\na: b\n----\n",
    " ---\na: b\n---\n", "\n---\na: b\n---\n", "---\n@x: y\nplain words\nmore words\n---\n", "", "---", "+++\nno toml here\n+++\nx",
])
def test_what_is_no_mapping_is_body(text):
    """A04, A06: the whole file is body."""
    assert front(text).state is FrontState.ABSENT
    assert front(text).body == 0


def test_empty_front_matter_is_front_matter():
    assert front("---\n---\nx\n").state is FrontState.OK
    assert front("---\n# only a comment\n---\nx\n").body == 3


def test_duplicate_keys_keep_both():
    """A08: the last wins for whoever makes a dict of them."""
    read = front("---\nstatus: open\nstatus: closed\n---\nx\n")
    assert [p.text for p in read.properties] == ["open", "closed"]
    assert [(w.code, w.line) for w in read.warnings] == [("frontmatter.duplicate_key", 3)]
    assert "status stands on lines 2 and 3" in read.warnings[0].detail
    assert len(front("---\n" + "a: b\n" * 5000 + "---\n").warnings) == 1


def test_byte_order_mark_and_carriage_returns():
    """A10: places are those of the original bytes; values carry no carriage return."""
    data = b"\xef\xbb\xbf---\r\ntitle: K\xc3\xaeln\r\ntags:\r\n  - a\r\n---\r\nFired.\r\n"
    source = SourceText(data[3:].decode(), "utf-8", 3)
    title, tags = read_front_matter(source).properties
    assert (title.text, tags.items) == ("Kîln", ("a",))
    assert data[title.byte_start : title.byte_end].decode() == "title: Kîln"
    assert data[tags.byte_start : tags.byte_end] == b"tags:\r\n  - a"
    assert (title.line_start, tags.line_start, tags.line_end) == (2, 3, 4)


def test_tags_that_build_objects_are_refused():
    """A11: nothing is built, the text stays, a warning says so."""
    read = front("---\na: !!python/object/apply:os.system ['echo']\nb: 1\nc: [!mine x]\n---\nx\n")
    assert [(w.code, w.line) for w in read.warnings] == [("frontmatter.refused_tag", 2), ("frontmatter.refused_tag", 4)]
    assert [p.key for p in read.properties] == ["a", "b", "c"]


def test_anchors_are_not_expanded():
    lines = ["a0: &a0 [x, x]"] + [f"a{i}: &a{i} [*a{i - 1}, *a{i - 1}, *a{i - 1}]" for i in range(1, 60)]
    read = front("---\n" + "\n".join(lines) + "\nself: &s [*s]\nlast: *a0\n---\nx\n")
    assert len(read.properties) == 62
    assert read.properties[-1].items == ("x", "x")


def test_toml():
    read = front('+++\ntitle = "Kiln"  # name\ndate = 2031-02-03T10:00:00+02:00\ntags = ["a", "b"]\nn = 010_0\n+++\nx\n')
    assert read.state is FrontState.MALFORMED  # 010_0 is no TOML number
    read = front('+++\ntitle = "Kiln"  # name\ndate = 2031-02-03\ntags = ["a", "b"]\ndraft = true\n[extra]\nk = 1\n+++\nx\n')
    assert (read.state, read.body) == (FrontState.OK, 8)
    assert {p.key: p.items for p in read.properties} == {
        "title": ("Kiln",), "date": ("2031-02-03",), "tags": ("a", "b"), "draft": ("true",), "extra": ("[extra]\nk = 1",)}
    assert [p.line_start for p in read.properties] == [2, 3, 4, 5, 6]


MANGLED = st.lists(
    st.sampled_from([
        "---\n", "+++\n", "...\n", "a: b\n", "a", ":", ": ", "- ", "  ", "\t", "[", "]", "[[", "]]", "{", "}", "!", "!!python/object:x ", "&x ", "*x",
        "|", ">", "'", '"', "#", "%", "@", "`", "\n", "\r\n", "\r", "\u2028", "\u0085", "é", "窯", "\x07", "2031-02-30", "= ", "? ", "<<: ", ",", "\\",
    ]),
    max_size=25,
).map("".join)


@settings(max_examples=1200, deadline=None)
@given(st.sampled_from(["---\n", "+++\n", "---\r\n", "---\na: b\n"]), MANGLED, st.sampled_from(["\n---\n", "\n+++\nx", "\r\n---\r\nz", ""]))
@example("---\n", "a: " + "[" * 20_000, "\n---\n")
@example("---\n", "- " * 20_000, "\n---\n")
@example("+++\n", "a = " + "[" * 20_000, "\n+++\n")
@example("---\n", "\ud800: x", "\n---\n")
def test_mangled_front_matter_never_raises(fence, middle, end):
    """Whatever stands there, the answer is a value, its places are within the file and in order."""
    text = fence + middle + end
    if "\ud800" in text:
        text = text.replace("\ud800", "\ufffd")
    data = text.encode()
    read = front(text)
    for prop in read.properties:
        assert 0 <= prop.byte_start <= prop.byte_end <= len(data)
        piece = data[prop.byte_start : prop.byte_end].decode()
        assert piece == piece.strip()
        assert 1 <= prop.line_start <= prop.line_end <= read.body
