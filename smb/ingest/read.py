"""Bytes to a `Note`.

Owns decoding and what a note says about itself: title, date, tags, aliases, shape. Never opens a file; never presents
a guess as UTF-8.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, MutableMapping
from dataclasses import dataclass, replace
from typing import Any

from smb.ingest.chat import as_chat
from smb.ingest.front_matter import FrontMatter, read_front_matter
from smb.ingest.html_text import block_text, hrefs
from smb.ingest.inline import Inline, read_inline
from smb.ingest.note import Block, Note, NoteWarning, Property, Skipped, WebLink
from smb.ingest.passages import cut
from smb.ingest.segment import Piece, walk
from smb.ingest.source_text import SourceText
from smb.model.validity import TimeError, parse_interval
from smb.stores.lexical import derived_text

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF32_LE, "utf-32-le"), (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_MAGIC = (
    (b"\x89PNG\r\n", "PNG"), (b"\xff\xd8\xff", "JPEG"), (b"GIF87a", "GIF"), (b"GIF89a", "GIF"), (b"%PDF-", "PDF"),
    (b"PK\x03\x04", "ZIP"), (b"\x1f\x8b", "gzip"), (b"\x7fELF", "ELF"), (b"SQLite format 3", "SQLite"), (b"7z\xbc\xaf", "7z"),
    (b"\xd0\xcf\x11\xe0", "OLE"),
    (b"Rar!\x1a", "RAR"), (b"RIFF", "RIFF"), (b"OggS", "Ogg"), (b"ID3", "MP3"), (b"BZh", "bzip2"), (b"\xfd7zXZ", "xz"),
    (b"\x28\xb5\x2f\xfd", "zstd"), (b"wOFF", "font"), (b"wOF2", "font"),
)
_CONTROLS = bytes(c for c in (*range(32), 127) if c not in b"\t\n\v\f\r\x1b")
_MOST_CONTROLS, _FEW_CONTROLS = 0.02, 4
_GUESSES = (
    "cp1252 cp1250 cp1251 cp1253 cp1254 cp1257 iso8859_2 iso8859_5 iso8859_7 koi8_r mac_roman gb18030 big5 cp932 euc_jp euc_kr "
    "cp949"
).split()
_DAMAGED_AT = 0.5
"""Share of well-formed sequences among the non-ASCII ones from which a file is damaged UTF-8, not another encoding. Text
in another encoding has next to none; GB18030 comes highest, with about 0.1."""
_FEW_FOREIGN, _FOREIGN_RUN = 16, re.compile(rb"[\x80-\xff]{3}")
_KANA = re.compile("[\u3041-\u30fa]")

_DATE_KEYS = ("date", "created", "created_at", "created at", "date_created", "creation_date", "published", "date published")
_FILE_DAY = re.compile(r"(?<!\d)((?:19|20|21)\d\d)([-_.]?)(0[1-9]|1[0-2])\2(0[1-9]|[12]\d|3[01])(?!\d)")
_FILE_MONTH = re.compile(r"(?<!\d)((?:19|20|21)\d\d)-(0[1-9]|1[0-2])(?![\d-])")
_FOLDER_DAY = re.compile(r"(?:^|/)((?:19|20|21)\d\d)/(0[1-9]|1[0-2])/(0[1-9]|[12]\d|3[01])(?=\D|$)")
_HEADING_DAY = re.compile(r"(?<!\d)(\d{4}-\d{2}-\d{2})(?!\d)")
_STANDALONE_ID = re.compile(r"\^([A-Za-z0-9-]+)\s*")
_LINE_OF_DATA = 2000


@dataclass(frozen=True, slots=True)
class Decoded:
    """`text` without its byte-order mark of `bom` bytes; `guessed` when nothing in the file says it is `encoding`."""

    text: str
    encoding: str
    guessed: bool
    bom: int = 0


def decode(data: bytes) -> Decoded | Skipped:
    """The text of a file, or why it isn't one. `text.encode(encoding)` is always `data[bom:]`."""
    for bom, encoding in _BOMS:
        if data.startswith(bom):
            try:
                return Decoded(data[len(bom) :].decode(encoding), encoding, False, len(bom))
            except UnicodeDecodeError as error:
                return _undecodable(data, error, len(bom))
    if (nul := data.find(0)) >= 0:
        return Skipped("", "binary", f"{_kind(data)}NUL byte at offset {nul}", _line_of(data, nul))
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        return _guess(data, error)
    if _mostly_controls(data):
        return Skipped("", "binary", f"{_kind(data)}mostly control characters")
    return Decoded(text, "utf-8", False)


def read_note(path: str, source: str, data: bytes) -> Note | Skipped:
    """The note in `data`, whose sha256 is `source` and whose path, relative to its root, is `path`."""
    decoded = decode(data)
    if isinstance(decoded, Skipped):
        return replace(decoded, path=path)
    text = SourceText(decoded.text, decoded.encoding, decoded.bom)
    front = read_front_matter(text)
    pieces, env = walk(text, front.body)
    heads = {i: read_inline(p.content[:_LINE_OF_DATA], p.first + 1, env) for i, p in enumerate(pieces) if p.kind == "heading"}
    chat = as_chat(pieces, text)
    blocks = list(_properties_block(text, front))
    columns: dict[tuple[str, ...], list[str]] = {}
    paths: dict[tuple[int, ...], tuple[str, ...]] = {(): ()}
    for piece in chat or pieces:
        if (above := paths.get(piece.headings)) is None:
            above = paths[piece.headings] = tuple(heads[i].text for i in piece.headings)
        for passage in cut(piece, text):
            block = _block(passage, text, above, env, columns)
            if block is not None:
                blocks.append(block)
            elif blocks and (found := _STANDALONE_ID.fullmatch(passage.content)):
                blocks[-1] = replace(blocks[-1], block_id=found[1])
    warnings = list(front.warnings)
    if decoded.guessed:
        warnings.insert(0, NoteWarning("encoding.guessed", f"Read as {decoded.encoding}; nothing in the file says so.", None))
    warnings.extend(_embed_cycles(path, blocks))
    values = {p.key.strip().casefold(): p for p in front.properties}
    telling = [i for i in heads if heads[i].text and not pieces[i].inner]
    headings = [heads[i] for i in telling]
    levels = [pieces[i].level for i in telling]
    title, title_from = _title(path, values, headings, levels, leads=telling[:1] == [0])
    return Note(
        path=path, source=source, text=decoded.text, encoding=decoded.encoding, encoding_guessed=decoded.guessed,
        front=front.state, properties=front.properties, title=title, title_from=title_from,
        aliases=tuple(dict.fromkeys(_names(values, "aliases", "alias"))), tags=_tags(values, blocks),
        date_text=_date_text(path, values, headings), shape="chat" if chat else "note",
        blocks=tuple(blocks), warnings=tuple(warnings),
    )


def note_in(path: str, source: str, data: bytes) -> Note | None:
    """As `read_note`; None where `data` is no text."""
    note = read_note(path, source, data)
    return note if isinstance(note, Note) else None


def _block(
    piece: Piece, source: SourceText, above: tuple[str, ...], env: MutableMapping[str, Any],
    columns: dict[tuple[str, ...], list[str]],
) -> Block | None:
    """The block a piece makes; None when nothing is left of it but markup. `columns` keeps the names of table columns."""
    web: tuple[WebLink, ...] = ()
    cells: tuple[tuple[str, str], ...] = ()
    line = piece.first + 1
    match piece.kind:
        case "code" | "math":
            text = piece.content.strip("\n")
            if len(text) > _LINE_OF_DATA and max(map(len, text.split("\n"))) > _LINE_OF_DATA:
                text = derived_text(text)
            read = Inline(text)
        case "html":
            text = block_text(piece.content)
            if len(text) > _LINE_OF_DATA:
                text = derived_text(text)
            web = tuple(WebLink("", url, line + below) for url, below in hrefs(piece.content)) if "<a" in piece.content else ()
            read = Inline(text, web=web)
        case "row":
            parts = [read_inline(cell, line, env) for cell in piece.cells or ()]
            if (names := columns.get(piece.header)) is None:
                names = columns[piece.header] = [read_inline(cell, line, env).text for cell in piece.header]
            cells = tuple((name, part.text) for name, part in zip(names, parts, strict=False))
            read = _joined(parts)
        case _:
            read = read_inline(piece.content, line + _lines_before(piece), env)
    if not read.text and not read.links and not read.web:
        return None
    byte_start, byte_end, line_start, line_end = source.place(piece.start, piece.end)
    return Block(
        piece.kind, read.text, byte_start, byte_end, line_start, line_end, above, piece.level, read.terms, read.code_terms,
        read.links, read.web, read.tags, cells, piece.task, piece.callout, piece.quoted, piece.speaker, read.block_id,
        piece.language,
    )


def _lines_before(piece: Piece) -> int:
    """Lines of the piece above its content (a list marker alone on its line)."""
    return max(piece.last - piece.first - 1 - piece.content.count("\n"), 0)


def _joined(parts: list[Inline]) -> Inline:
    gathered = ("terms", "code_terms", "links", "web", "tags")
    return Inline(
        " | ".join(p.text for p in parts if p.text),
        *(tuple(dict.fromkeys(value for p in parts for value in getattr(p, name))) for name in gathered),
        block_id=next((p.block_id for p in parts if p.block_id), ""),
    )


def _properties_block(source: SourceText, front: FrontMatter) -> Iterator[Block]:
    if not front.properties:
        return
    start, end = source.trimmed(0, front.body)
    text = "; ".join(f"{p.key}: {', '.join(' '.join(i.split()) for i in p.items)}" for p in front.properties if p.items)
    byte_start, byte_end, line_start, line_end = source.place(start, end)
    yield Block("properties", text, byte_start, byte_end, line_start, line_end, (), links=front.links)


def _title(path: str, values: dict[str, Property], headings: list[Inline], levels: list[int], *, leads: bool) -> tuple[str, str]:
    """The title and where it is from: the property, else the first heading of level 1 (or any heading the note begins
    with), else the file name."""
    if (prop := values.get("title")) and (title := " ".join(_plain(prop.text).split())):
        return title, "property"
    for heading, level in zip(headings, levels, strict=True):
        if level == 1 or (leads and heading is headings[0] and 1 not in levels):
            return heading.text, "heading"
    name = path.rsplit("/", 1)[-1]
    return " ".join(name.rpartition(".")[0].split()) or name, "file"


def _plain(text: str) -> str:
    return read_inline(text, 0, {}).text if "[[" in text else text


def _embed_cycles(path: str, blocks: list[Block]) -> Iterator[NoteWarning]:
    """Embeds of the place they stand in: the note, a section around them, their own block."""
    own = path.rpartition(".")[0].casefold()
    names = ("", own, own.rpartition("/")[2])
    for block in blocks:
        for link in block.links:
            if not link.embed or link.target.casefold().removesuffix(".md") not in names:
                continue
            section = link.heading.rpartition("#")[2].strip().casefold()
            if link.block:
                cycle = link.block == block.block_id
            else:
                cycle = not section or section in (heading.casefold() for heading in block.headings)
            if cycle:
                part = f"#^{link.block}" if link.block else f"#{link.heading}" if link.heading else ""
                said = f"![[{link.target}{part}]] embeds the place it stands in; it is followed once."
                yield NoteWarning("embed.cycle", said, link.line)


def _names(values: dict[str, Property], *keys: str) -> Iterator[str]:
    for key in keys:
        for item in values[key].items if key in values else ():
            if name := " ".join(_plain(item).split()):
                yield name


def _tags(values: dict[str, Property], blocks: list[Block]) -> tuple[str, ...]:
    """Tags of front matter, then those in the text, without hash; of two that differ in case the first counts."""
    found: dict[str, str] = {}
    for key in ("tags", "tag", "keywords"):
        if prop := values.get(key):
            single = len(prop.items) == 1 and not prop.text.lstrip().startswith(("[", "-"))
            for item in re.split(r"[,\s]+" if key != "keywords" else r",", prop.items[0]) if single else prop.items:
                if tag := " ".join(item.split()).lstrip("#").strip("\"', "):
                    found.setdefault(tag.casefold(), tag)
    for block in blocks:
        for tag in block.tags:
            found.setdefault(tag.casefold(), tag)
    return tuple(found.values())


def _date_text(path: str, values: dict[str, Property], headings: list[Inline]) -> str:
    """The date the note itself bears, as written where it is ISO, else as the ISO day its file name spells."""
    for key in _DATE_KEYS:
        if (prop := values.get(key)) and prop.items:
            text = prop.items[0].strip().strip("[]\"' ")
            if _is_date(text):
                return text
    stem = path.rsplit("/", 1)[-1].rpartition(".")[0]
    if found := _FILE_DAY.search(stem):
        day = f"{found[1]}-{found[3]}-{found[4]}"
        if _is_date(day):
            return day
    if (found := _FOLDER_DAY.search(path)) and _is_date("-".join(found.groups())):
        return "-".join(found.groups())
    if found := _FILE_MONTH.search(stem):
        return found[0]
    if headings and (found := _HEADING_DAY.search(headings[0].text)) and _is_date(found[1]):
        return found[1]
    return ""


def _is_date(text: str) -> bool:
    try:
        parse_interval(text)
    except TimeError:
        return False
    return True


def _guess(data: bytes, error: UnicodeDecodeError) -> Decoded | Skipped:
    """A file that isn't UTF-8: binary, damaged UTF-8 (reported, not guessed at), or text in an encoding to be guessed."""
    if (kind := _kind(data)) or _mostly_controls(data):
        return Skipped("", "binary", f"{kind}not UTF-8 at offset {error.start}", _line_of(data, error.start))
    kept = data.decode("utf-8", "ignore")
    well_formed = sum(not c.isascii() for c in kept)
    lost = len(data) - len(kept.encode("utf-8"))
    if well_formed and well_formed / (well_formed + lost) >= _DAMAGED_AT:
        return _undecodable(data, error, 0)
    for encoding in _candidates(data):
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        if text.encode(encoding, "replace") == data and not any("\x80" <= c <= "\x9f" for c in text):
            return Decoded(text, encoding, True)
    return Decoded(data.decode("latin-1"), "latin-1", True)


def _candidates(data: bytes) -> Iterator[str]:
    """Encodings to try, likeliest first: charset_normalizer's guess, but Western European when few bytes are not ASCII,
    where its statistics have nothing to go by, and Japanese, which it takes for Korean, when what comes out has kana."""
    sample = data[: 1 << 16]
    foreign = len(sample) - len(sample.translate(None, bytes(range(128, 256))))
    if foreign * 10 < len(sample) or (foreign < _FEW_FOREIGN and not _FOREIGN_RUN.search(sample)):
        yield "cp1252"
    for encoding in ("cp932", "euc_jp"):
        if len(_KANA.findall(sample.decode(encoding, "ignore"))) * 10 > foreign:
            yield encoding
    from charset_normalizer import from_bytes

    best = from_bytes(sample, cp_isolation=_GUESSES).best()
    if best is not None and best.encoding != "utf_8":
        yield codecs.lookup(best.encoding).name
    yield "cp1252"


def _undecodable(data: bytes, error: UnicodeDecodeError, bom: int) -> Skipped:
    at = error.start + bom
    return Skipped("", "undecodable", f"invalid {error.encoding} at offset {at}: {error.reason}", _line_of(data, at))


def _kind(data: bytes) -> str:
    return next((f"{name} data: " for magic, name in _MAGIC if data.startswith(magic)), "")


def _mostly_controls(data: bytes) -> bool:
    return len(data) - len(data.translate(None, _CONTROLS)) > max(_MOST_CONTROLS * len(data), _FEW_CONTROLS)


def _line_of(data: bytes, offset: int) -> int:
    return data.count(b"\n", 0, offset) + 1
