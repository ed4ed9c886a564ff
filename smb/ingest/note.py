"""What reading a source yields: a `Note` of `Block`s with exact spans, or a `Skipped` with a reason.

Owns the values that pass from reading to extraction. Never opens a file, never parses anything.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class FrontState(StrEnum):
    """Whether a source begins with front matter; the one definition reader and writer share.

    OK: line 1 is a fence (`---` or `+++`), a later line closes it, and what stands between is a mapping or empty.
    MALFORMED: as OK, but the mapping could only be recovered line by line. ABSENT: the whole source is body.
    """

    ABSENT = "absent"
    OK = "ok"
    MALFORMED = "malformed"


@dataclass(frozen=True, slots=True)
class Property:
    """One front-matter key with its value as written: `no`, `12:30` and `01234` stay these texts.

    `text` is unquoted if the value is one quoted scalar; `items` are the elements of a list, one item for a scalar,
    none for an empty value.
    """

    key: str
    text: str
    items: tuple[str, ...]
    line_start: int
    line_end: int
    byte_start: int
    byte_end: int


@dataclass(frozen=True, slots=True)
class WikiLink:
    """`[[target#heading|alias]]`, `[[target#^block]]`, or with `!` an embed. An empty target is the note itself."""

    target: str
    heading: str
    block: str
    alias: str
    embed: bool
    line: int


@dataclass(frozen=True, slots=True)
class WebLink:
    """`[text](url)`, an autolink or a bare URL; also relative links such as `notes/kiln.md`."""

    text: str
    url: str
    line: int


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of a note that can be cited: `data[byte_start:byte_end].decode(encoding)` is what stands in the file.

    kind: heading paragraph item row turn quote code properties html title math
    text: plain text; inline markup removed, text of code spans and links kept, images as their alt text, wiki links
        as alias or target, line breaks as spaces.
    headings: plain texts of the headings above it, outermost first.
    level: of a heading, or the depth of a list item (1 = outermost).
    cells: of a table row, (column header, cell text).
    task: "" | "open" | "done". callout: "" | "note" | "warning" | …. quoted: inside a block quote that is no callout.
    """

    kind: str
    text: str
    byte_start: int
    byte_end: int
    line_start: int
    line_end: int
    headings: tuple[str, ...]
    level: int = 0
    terms: tuple[str, ...] = ()
    code_terms: tuple[str, ...] = ()
    links: tuple[WikiLink, ...] = ()
    web: tuple[WebLink, ...] = ()
    tags: tuple[str, ...] = ()
    cells: tuple[tuple[str, str], ...] = ()
    task: str = ""
    callout: str = ""
    quoted: bool = False
    speaker: str = ""
    block_id: str = ""
    language: str = ""


@dataclass(frozen=True, slots=True)
class NoteWarning:
    """Something odd that did not keep the note from being read. Codes: frontmatter.malformed,
    frontmatter.duplicate_key, frontmatter.refused_tag, date.impossible, encoding.guessed, embed.cycle."""

    code: str
    detail: str
    line: int | None


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file that was seen and not read. `path` is printable even where the file name isn't valid UTF-8."""

    path: str
    reason: str
    detail: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Note:
    """A source as read. `path` is relative to its root, POSIX; `source` the sha256 of its bytes; `text` is decoded.

    title_from: "property" | "heading" | "file". shape: "note" | "chat". tags carry no '#'. date_text is the text of
    the date the note itself bears (property, else file name, else first heading), or "".
    """

    path: str
    source: str
    text: str
    encoding: str
    encoding_guessed: bool
    front: FrontState
    properties: tuple[Property, ...]
    title: str
    title_from: str
    aliases: tuple[str, ...]
    tags: tuple[str, ...]
    date_text: str
    shape: str
    blocks: tuple[Block, ...]
    warnings: tuple[NoteWarning, ...]
