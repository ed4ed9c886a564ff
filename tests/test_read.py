"""Bytes to notes: decoding never raises and never alters, and what a note says of itself is taken from the right place."""

from __future__ import annotations

import re
from importlib.metadata import distributions

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from smb.ingest import inline
from smb.ingest.inline import read_fully
from smb.ingest.note import FrontState, Note, NoteWarning, Skipped
from smb.ingest.read import Decoded, decode, read_note


def note(text: str | bytes, path: str = "dir/My file.md") -> Note:
    read = read_note(path, "0" * 64, text if isinstance(text, bytes) else text.encode())
    assert isinstance(read, Note)
    return read


# ------------------------------------------------------------------------------------------------------------ decoding

MARKS = [b"", b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\xff\xfe\x00\x00", b"\x00\x00\xfe\xff", b"---\n", b"\x89PNG\r\n"]


@settings(max_examples=600, deadline=None)
@given(st.sampled_from(MARKS), st.one_of(st.binary(max_size=120), st.text(max_size=60).map(lambda t: t.encode("utf-8", "ignore")),
                                         st.text("aé窯Жя\u2028\r\n [*", max_size=60).map(lambda t: t.encode("utf-8")[1:])))
@example(b"", "é".encode("latin-1"))
@example(b"", bytes(range(1, 256)))
@example(b"\xff\xfe", b"\x00\xd8")
def test_decoding_any_bytes(mark: bytes, rest: bytes) -> None:
    """Text that encodes to exactly these bytes, or a reason; the same for the note made of it."""
    data = mark + rest
    decoded = decode(data)
    read = read_note("n.md", "0" * 64, data)
    if isinstance(decoded, Skipped):
        assert decoded.reason in ("binary", "undecodable") and decoded.detail
        assert read == Skipped("n.md", decoded.reason, decoded.detail, decoded.line)
        return
    assert data[: decoded.bom] + decoded.text.encode(decoded.encoding) == data
    assert decoded.encoding == "utf-8" or decoded.guessed or decoded.bom
    assert isinstance(read, Note) and (read.text, read.encoding, read.encoding_guessed) == (decoded.text, decoded.encoding, decoded.guessed)
    for block in read.blocks:
        assert data[block.byte_start : block.byte_end].decode(decoded.encoding) in decoded.text


PROSE = {
    "cp1252": "Le café du port est fermé depuis l'été dernier; on y servait des crêpes à la crème.", "cp1251": "Сеть сушится на причале у старого маяка. Рыбаки чинят лодки.",
    "koi8_r": "Сеть сушится на причале у старого маяка. Рыбаки чинят лодки.", "cp1253": "Το δίχτυ στεγνώνει στην προβλήτα κοντά στον παλιό φάρο.",
    "cp932": "網は古い灯台のそばの桟橋で乾いている。漁師は舟を直して天気を待つ。", "euc_jp": "網は古い灯台のそばの桟橋で乾いている。漁師は舟を直して天気を待つ。",
    "gb18030": "渔网在旧灯塔旁的码头上晾晒。渔民修理船只，等待天气好转。", "big5": "漁網在舊燈塔旁的碼頭上晾曬。漁民修理船隻，等待天氣好轉。",
    "cp949": "그물은 오래된 등대 옆 부두에서 마르고 있다. 어부들은 배를 고치며 날씨를 기다린다.",
}


@pytest.mark.parametrize("encoding", PROSE)
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_legacy_encodings_are_guessed_and_the_guess_is_told(encoding: str, ending: str) -> None:
    """B11: the words come out right, and the note says that they are a guess."""
    text = ending.join(["# 1", "", PROSE[encoding], "", PROSE[encoding] * 3])
    read = note(text.encode(encoding))
    assert read.text == text and read.encoding_guessed
    assert [w.code for w in read.warnings] == ["encoding.guessed"] and read.encoding in read.warnings[0].detail


@pytest.mark.parametrize("data", ["“Smart” – it’s 5 €".encode("cp1252"), "caf\xe9".encode("latin-1"), b"a na\xefve approach to the r\xe9sum\xe9 of a talk\n" * 200])
def test_a_few_foreign_bytes_are_western(data: bytes) -> None:
    assert decode(data) == Decoded(data.decode("cp1252"), "cp1252", True)


def test_what_is_no_text_is_told_apart() -> None:
    for data, reason, said, line in (
        (b"\x89PNG\r\n\x1a\n\x00\x00", "binary", "PNG", 3), (b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n", "binary", "PDF", 2), (b"a\nb\x00c", "binary", "offset 3", 2),
        (b"\x01\x02\x03\x04\x05\x06 text", "binary", "control characters", None), ("Möwen über dem Köder\n".encode() + b"\xc3 x", "undecodable", "offset 24", 2),
        (b"\xff\xfea\x00b", "undecodable", "utf-16", 1), (b"\xef\xbb\xbfa\n\xff", "undecodable", "offset 5", 2), (("窯" * 9).encode()[:-1], "undecodable", "offset 24", 1),
    ):
        skip = decode(data)
        assert isinstance(skip, Skipped) and skip.reason == reason and said in skip.detail and skip.line == line, data


def test_controls_that_text_has() -> None:
    """Tabs, form feeds, escape sequences and a stray bell don't make a file binary."""
    assert isinstance(decode(b"a\tb\x0cc\x0b\x1b[31mred\x1b[0m \x07\r\n"), Decoded)


def test_wide_encodings_need_their_mark() -> None:
    for encoding in ("utf-16", "utf-32", "utf-8-sig"):
        data = "# Kiln\n\né 窯 🐘\n".encode(encoding)
        read = note(data)
        assert (read.title, read.encoding_guessed, read.warnings) == ("Kiln", False, ())
        block = read.blocks[-1]
        assert data[block.byte_start : block.byte_end].decode(read.encoding) == "é 窯 🐘" and block.line_start == 3
    assert isinstance(decode("abc".encode("utf-16-le")), Skipped)


# ------------------------------------------------------------------------------------------- what a note says of itself


@pytest.mark.parametrize("text, title, where", [
    ("---\ntitle: The Kiln\n---\n# Other\n", "The Kiln", "property"), ("---\nTitle: '  The\n  Kiln '\n---\n", "The Kiln", "property"), ("---\ntitle:\n---\n# Kiln *x*\n", "Kiln x", "heading"),
    ("---\ntitle: \"[[Kiln|The kiln]] log\"\n---\n", "The kiln log", "property"), ("---\ntitle: a\ntitle: b\n---\n", "b", "property"),
    ("Intro.\n\n## Second\n\n# First\n", "First", "heading"), ("## Second\n\ntext\n", "Second", "heading"), ("Intro.\n\n## Second\n", "My file", "file"), ("", "My file", "file"),
    ("#\n\n# Real\n", "Real", "heading"), ("# [Kiln](k.md) `v2` #tag\n", "Kiln v2 #tag", "heading"), ("```\n# no\n```\n", "My file", "file"), ("> # Quoted\n\n# Own\n", "Own", "heading"),
    ("# A\u2028B\x0bC\n", "A B C", "heading"), ("Setext *x*\n==========\n", "Setext x", "heading"),
])
def test_titles(text: str, title: str, where: str) -> None:
    read = note(text)
    assert (read.title, read.title_from) == (title, where)


@pytest.mark.parametrize("path, title", [("a/b.md", "b"), (".md", ".md"), ("x", "x"), ("a.b.md", "a.b"), ("🐢.md", "🐢"), ("two  spaces.markdown", "two spaces")])
def test_titles_from_file_names(path: str, title: str) -> None:
    assert note("text\n", path).title == title


@pytest.mark.parametrize("text, path, date", [
    ("---\ndate: 2031-02-03\n---\n", "2030-01-01.md", "2031-02-03"), ("---\ncreated: 2031-02-03T10:00:00+02:00\n---\n", "n.md", "2031-02-03T10:00:00+02:00"),
    ("---\ndate: 2031-02-30\ncreated: 2031-02-03\n---\n", "n.md", "2031-02-03"), ("---\ndate: '[[2031-02-03]]'\n---\n", "n.md", "2031-02-03"), ("---\ndate: soon\n---\n", "n.md", ""),
    ("x", "log/2031-02-03 Firing.md", "2031-02-03"), ("x", "20310203.md", "2031-02-03"), ("x", "2031_02_03-x.md", "2031-02-03"), ("x", "2031-02-30.md", ""), ("x", "v12031-02-031.md", ""),
    ("x", "posts/2031/02/03/x.md", "2031-02-03"), ("x", "2031-02.md", "2031-02"), ("# Firing, 2031-02-03\n", "n.md", "2031-02-03"), ("## x\n\n# 2031-02-03\n", "n.md", ""),
    ("On 2031-02-03 we fired.\n", "n.md", ""),
])
def test_dates(text: str, path: str, date: str) -> None:
    assert note(text, path).date_text == date


def test_tags_and_aliases() -> None:
    """From every key and form, without hash, each once; inline tags after them, none from code."""
    read = note("---\ntags: [kiln, '#Clay', \"two words\"]\ntag: fire\nkeywords: high heat, glaze\naliases:\n  - The kiln\n  - '[[Old kiln]]'\nalias: Oven\n---\n#clay #south/west `#no` text\n")
    assert read.tags == ("kiln", "Clay", "two words", "fire", "high heat", "glaze", "south/west")
    assert read.aliases == ("The kiln", "Old kiln", "Oven")
    assert note("---\ntags: a, #b c\n---\n").tags == ("a", "b", "c")
    assert note("---\ntags:\n  - a #b\n  - c # no tag\n---\n").tags == ("a #b", "c")


def test_properties_are_a_block_of_their_own() -> None:
    text = "---\nstatus: open\nup: '[[Kiln]]'\nempty:\n---\n\nBody.\n"
    properties, body = note(text).blocks
    assert (properties.kind, properties.text, properties.line_start, properties.line_end) == ("properties", "status: open; up: [[Kiln]]", 1, 5)
    assert [(link.target, link.line) for link in properties.links] == [("Kiln", 3)]
    assert text.encode()[properties.byte_start : properties.byte_end] == b"---\nstatus: open\nup: '[[Kiln]]'\nempty:\n---" and body.line_start == 7


@pytest.mark.parametrize("text", ["", " \n\t\n", "---\n---\n", "\ufeff", "<!-- c -->\n", "---\n\n***\n", "#\n", "- \n", "![](x.png)\n"])
def test_notes_without_a_word(text: str) -> None:
    """A12."""
    read = note(text)
    assert read.blocks == () and read.warnings == () and read.front is (FrontState.OK if text.startswith("---\n---") else FrontState.ABSENT)


@pytest.mark.parametrize("text, lines", [
    ("![[me]]\n", [1]), ("a\n\n![[Me.md]] ![[notes/me]]\n", [3, 3]), ("![[#One]]\n", []), ("# One\n\n## Two\n\n![[#One]] ![[me#Two]]\n", [5, 5]), ("# One\n\n![[#Two]]\n\n# Two\n", []),
    ("![[#^a]] ^a\n", [1]), ("![[#^b]] ^a\n", []), ("[[me]] ![[you]] `![[me]]`\n", []), ("![[me|60%]]\n", [1]),
])
def test_embeds_of_the_place_they_stand_in(text: str, lines: list[int]) -> None:
    """C04: told, once for each."""
    warnings = note(text, "notes/me.md").warnings
    assert [(w.code, w.line) for w in warnings] == [("embed.cycle", line) for line in lines]
    assert all(isinstance(w, NoteWarning) and w.detail for w in warnings)


def test_reading_is_the_same_whatever_the_line_ending() -> None:
    """A10: same blocks but for their bytes, same warnings."""
    text = "---\ntitle: Slip\ntags:\n  - a\n---\n# H\n\n- **K:** v\n  more\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n> q\n> r\n\n```py\nx = 1\n\ny = 2\n```\n\nlast line\n"
    plain = note(text)
    for ending in ("\r\n", "\r"):
        other = note(text.replace("\n", ending))
        assert [(b.kind, b.text, b.line_start, b.line_end, b.headings, b.cells) for b in other.blocks] == [
            (b.kind, b.text, b.line_start, b.line_end, b.headings, b.cells) for b in plain.blocks]
        assert other.tags == plain.tags and other.title == plain.title


# ------------------------------------------------------------------------------------------------------- real documents


def test_real_documents_are_read_exactly(monkeypatch: pytest.MonkeyPatch) -> None:
    """The descriptions of all installed packages: the inline shortcut answers as markdown-it does, every span is exact, and
    nothing but markup lies outside of blocks."""
    texts = sorted({text for d in distributions() if "#" in (text := str(d.metadata.get_payload()))})
    assert len(texts) > 30
    shortcut, answers = inline._read_simple, []

    def compared(content: str, line: int, env: dict) -> inline.Inline | None:
        quick = shortcut(content, line, env)
        if quick is not None:
            answers.append(quick == read_fully(content, line, env) or content)
        return quick

    monkeypatch.setattr(inline, "_read_simple", compared)
    for text in texts:
        data = text.encode("utf-8", "replace")
        read = note(data)
        before, inside = 0, bytearray(data)
        for block in read.blocks:
            assert block.byte_start >= before
            before = block.byte_end
            inside[block.byte_start : block.byte_end] = b" " * (block.byte_end - block.byte_start)
        rest = re.sub(r"(?s)<!--.*?-->|<[^>]*>|!\[[^\]]*\]\([^)]*\)|^\s*\[[^\]]+\]:.*?$(\n\s+\S+$)?|&nbsp;", "", inside.decode("utf-8", "replace"), flags=re.MULTILINE)
        assert len(re.findall(r"\w\w\w", rest)) * 200 < len(text), rest[:500]
    assert len(answers) > 1000 and set(answers) == {True}
