"""Notes with what they embed: `![[note]]`, `![[note#Heading]]`, `![[note#^block]]` shown where they stand.

Owns which lines an embed means and where expansion ends. Reads only: catalog and layer 0. An embed that leads back to
what is being expanded, or to something that contains it, is cut there; one that leads nowhere stays as written.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from smb.lookup import Lookup
from smb.model.errors import SmbError
from smb.model.identity import fold

if TYPE_CHECKING:
    from smb.ingest.note import Block, Note, WikiLink

MOST_PARTS = 500  # embeds expanded in one answer; notes that embed each other twice a level would make 2^levels
DEEPEST = 50
_WORDS = re.compile(r"[\W_]+")
_NOTE = (".md", ".markdown", ".mdx")
_LINE = re.compile(r"\r\n|\n|\r")
_BLANKS = re.compile(r"[ \t]*")
_BLANK_LINES = re.compile(r"(?:[ \t]*(?:\r\n|\n|\r))*")


class NothingToExpand(SmbError):
    def __init__(self, reference: str, kind: str):
        super().__init__(f"{reference!r} is a {kind} that no note is about, and only notes embed others. "
                         f"Give --expand a note's path; `smb get` without it shows the {kind}.")


@dataclass(frozen=True, slots=True)
class Fragment:
    """Lines of a document, counted from 1, both included."""

    document: str
    line_start: int
    line_end: int

    def contains(self, other: Fragment) -> bool:
        return self.document == other.document and self.line_start <= other.line_start and other.line_end <= self.line_end


@dataclass(frozen=True, slots=True)
class _Opened:
    """A document as read now: its catalog row, its note, where its lines begin, and its embeds as (start, end, link)."""

    row: Any
    note: Note
    starts: list[int]
    embeds: tuple[tuple[int, int, WikiLink], ...]


class Expander:
    """Expands notes of one bank. `read_note(path, source, data)` gives a note, None for what is no text any more, and
    `embeds_in(note)` its embeds as (start, end, link) in characters of its text; both are those of ingest."""

    def __init__(self, lookup: Lookup, read_note: Callable[[str, str, bytes], Note | None],
                 embeds_in: Callable[[Note], Iterable[tuple[int, int, WikiLink]]]):
        self.lookup, self.catalog, self.read_note, self.embeds_in = lookup, lookup.catalog, read_note, embeds_in
        self._held: dict[tuple[str, str], _Opened | None] = {}
        self._parts = 0

    async def get(self, reference: str) -> dict[str, Any]:
        """What `Lookup.get` answers of a note, or of the note an object is known by, and as "expanded" its lines as a part:
        {"path", "root", "document", "source", "line_start", "line_end", "content"}. Content is texts {"text", "line_start",
        "line_end"}, further parts with the "embed" they stand for, and cuts {"embed", "line", "cut"}, in reading order.

        Raises NothingToExpand, UnknownReference, AmbiguousReference.
        """
        answer = await self.lookup.get(reference)
        if answer["kind"] != "document":
            about = await self.catalog.fetch("SELECT id FROM documents WHERE live = 1 AND primary_object = ? ORDER BY root, path LIMIT 1", (answer["id"],))
            if not about:
                raise NothingToExpand(reference, answer["type"])
            answer = await self.lookup.get(about[0]["id"])
        (row,) = await self.catalog.fetch("SELECT * FROM documents WHERE id = ?", (answer["document"],))
        first, last = answer["line_start"], answer["line_end"]
        opened = self._open(row, answer["source"])
        content: list[dict[str, Any]] = []
        if opened is not None:
            lines = _whole(opened) if first == 1 and last >= answer["lines"] else (first, last)
            content = await self._content(opened, first, last, (Fragment(row["id"], *lines),))
        return answer | {"expanded": _part(row, answer["source"], first, last, content)}

    async def _content(self, opened: _Opened, line_start: int, line_end: int, above: tuple[Fragment, ...]) -> list[dict[str, Any]]:
        content: list[dict[str, Any]] = []
        at, last = _bounds(opened, line_start, line_end)
        for start, end, link in opened.embeds:
            if start < at or end > last:
                continue
            one = await self._embedded(opened, link, opened.note.text[start:end], _line_at(opened, start), above)
            if one is not None:
                content += _texts(opened, at, start)
                content.append(one)
                at = end
        return [*content, *_texts(opened, at, last)]

    async def _embedded(self, opened: _Opened, link: WikiLink, written: str, line: int, above: tuple[Fragment, ...]) -> dict[str, Any] | None:
        """The part or the cut an embed makes; None where there is nothing to show for it."""
        row = await self._target(opened.row, link.target) if link.target else opened.row
        target = self._open(row, opened.note.source if row is opened.row else row["source"]) if row is not None else None
        lines = _lines_of(target, link) if target is not None else None
        if target is None or lines is None:
            return None
        fragment = Fragment(row["id"], *lines)
        if any(fragment.contains(one) for one in above):
            return {"embed": written, "line": line, "cut": "leads back to what is shown around it"}
        if self._parts >= MOST_PARTS or len(above) >= DEEPEST:
            return {"embed": written, "line": line, "cut": f"more than {MOST_PARTS} embeds, or more than {DEEPEST} deep"}
        self._parts += 1
        return _part(row, target.note.source, *lines, await self._content(target, *lines, (*above, fragment))) | {"embed": written}

    # ------------------------------------------------------------ which document

    async def _target(self, origin: Any, name: str) -> Any | None:
        """The live document a name means: a path from the root, or beside `origin`; else whose name or alias it is; else whose
        file is called so. The nearest, where several are."""
        name = unquote(name).strip()
        file = name if name.lower().endswith(_NOTE) else f"{name}.md"
        beside = os.path.normpath(os.path.join(os.path.dirname(origin["path"]), file))
        for path in (os.path.normpath(file.lstrip("/")), beside) if "/" in name else (file,):
            for row in await self.catalog.fetch("SELECT * FROM documents WHERE live = 1 AND root = ? AND path = ?", (origin["root"], path)):
                return row
        if "/" not in name:
            bare = name.rpartition(".")[0] if name.lower().endswith(_NOTE) else name
            found = await self.catalog.fetch(
                "SELECT d.*, n.alias FROM names n JOIN documents d ON d.primary_object = n.object_id WHERE d.live = 1 AND n.folded = ?", (fold(bare),))
            if found:
                return min(found, key=lambda row: (row["alias"], *_distance(origin, row)))
        ending = "%/" + re.sub(r"([\\%_])", r"\\\1", file.lstrip("/"))
        rows = await self.catalog.fetch("SELECT * FROM documents WHERE live = 1 AND ('/' || path) LIKE ? ESCAPE '\\'", (ending,))
        return min(rows, key=lambda row: _distance(origin, row), default=None)

    def _open(self, row: Any, source: str) -> _Opened | None:
        key = (row["id"], source)
        if key not in self._held:
            note = self.read_note(row["path"], source, self.lookup.evidence.read(source))
            self._held[key] = None
            if note is not None:
                starts = [0, *(m.end() for m in _LINE.finditer(note.text))]
                if starts[-1] == len(note.text):
                    starts.pop()
                self._held[key] = _Opened(row, note, starts, tuple(self.embeds_in(note)))
        return self._held[key]


def _distance(origin: Any, row: Any) -> tuple[bool, bool, int, str]:
    beside = os.path.dirname(origin["path"]) == os.path.dirname(row["path"])
    return row["root"] != origin["root"], not beside, row["path"].count("/"), f"{row['root']}/{row['path']}"


# ---------------------------------------------------------------- which lines


def _lines_of(opened: _Opened, link: WikiLink) -> tuple[int, int] | None:
    """First and last line of what a link names in a note; None where it isn't there."""
    if link.block:
        return _block(opened.note.blocks, link.block)
    if link.heading:
        return _section(opened.note.blocks, link.heading)
    return _whole(opened)


def _whole(opened: _Opened) -> tuple[int, int]:
    """The lines of a note from the first to the last that say something, without its front matter."""
    blocks = [b for b in opened.note.blocks if b.kind != "properties"]
    return (blocks[0].line_start, blocks[-1].line_end) if blocks else (len(opened.starts) + 1, len(opened.starts))


def _block(blocks: tuple[Block, ...], name: str) -> tuple[int, int] | None:
    """The lines of the block of that id: of a list item with the items below it, of a long paragraph all its passages."""
    place = next((n for n, b in enumerate(blocks) if b.block_id and b.block_id.casefold() == name.casefold()), None)
    if place is None:
        return None
    first = last = place
    kind, level = blocks[place].kind, blocks[place].level
    while kind == "item" and last + 1 < len(blocks) and blocks[last + 1].kind == kind and blocks[last + 1].level > level:
        last += 1
    while kind in ("paragraph", "quote") and first and blocks[first - 1].kind == kind and blocks[first - 1].line_end + 1 >= blocks[first].line_start:
        first -= 1
    return blocks[first].line_start, blocks[last].line_end


def _section(blocks: tuple[Block, ...], heading: str) -> tuple[int, int] | None:
    """The lines of the first section of that heading, or of `Outer#Inner` the first such section below the other."""
    wanted = [words for step in heading.split("#") if (words := _words(step))]
    for place, block in enumerate(blocks):
        if block.kind != "heading" or not wanted or _words(block.text) != wanted[-1]:
            continue
        path = (*block.headings, block.text)
        outer = iter(map(_words, block.headings))
        if all(step in outer for step in wanted[:-1]):
            below = place + 1
            while below < len(blocks) and blocks[below].headings[: len(path)] == path:
                below += 1
            return block.line_start, blocks[below - 1].line_end
    return None


def _words(heading: str) -> str:
    """A heading as links spell it: without case and punctuation."""
    return _WORDS.sub(" ", heading).strip().casefold() or heading.strip()


def _bounds(opened: _Opened, line_start: int, line_end: int) -> tuple[int, int]:
    """Those lines as characters [start, end) of the note's text."""
    starts = [*opened.starts, len(opened.note.text)]
    first, last = (min(max(n, 0), len(starts) - 1) for n in (line_start - 1, line_end))
    return starts[first], max(starts[last], starts[first])


def _line_at(opened: _Opened, offset: int) -> int:
    return max(bisect_right(opened.starts, offset), 1)


def _texts(opened: _Opened, start: int, end: int) -> Iterator[dict[str, Any]]:
    """The text between two embeds without the blank lines at its ends, if there is any."""
    text = opened.note.text
    if start and text[start - 1] not in "\r\n":  # behind an embed, on its line
        start = _BLANKS.match(text, start, end).end()  # type: ignore[union-attr]
    start = _BLANK_LINES.match(text, start, end).end()  # type: ignore[union-attr]
    if kept := text[start:end].rstrip():
        yield {"text": _LINE.sub("\n", kept), "line_start": _line_at(opened, start), "line_end": _line_at(opened, start + len(kept) - 1)}


def _part(row: Any, source: str, line_start: int, line_end: int, content: list[dict[str, Any]]) -> dict[str, Any]:
    return {"path": row["path"], "root": row["root"], "document": row["id"], "source": source, "line_start": line_start, "line_end": line_end, "content": content}
