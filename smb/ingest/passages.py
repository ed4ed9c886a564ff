"""Long pieces cut into passages.

Owns where a long paragraph or a long code block is cut. Never cuts within a word and never drops a character but the
white space at a cut.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import replace
from itertools import accumulate

from smb.ingest.segment import Piece
from smb.ingest.source_text import SourceText

LONGEST = 1500
"""Characters; about 375 tokens, so that a passage fits an embedder's window and a recall budget holds several."""
CODE_LINES = 60

_SENTENCE_END = re.compile(r"[.!?…][\"'”’)\]*_]*\s+|[。！？][」』”’）]*\s*")
_SPACE = re.compile(r"\s+")
_VERBATIM = frozenset(("code", "html", "math"))


def cut(piece: Piece, source: SourceText) -> list[Piece]:
    """`piece` itself, or the passages it makes."""
    if piece.kind in _VERBATIM:
        return list(_cut_lines(piece, source)) if piece.last - piece.first > CODE_LINES else [piece]
    if len(piece.content) <= LONGEST or piece.kind in ("heading", "row"):
        return [piece]
    bounds = [0, *_cuts(piece.content), len(piece.content)]
    if len(bounds) == 2:
        return [piece]
    places = ContentPlaces(piece, source)
    return [part(places, a, b, whole_start=a == 0) for a, b in zip(bounds, bounds[1:], strict=False)]


class ContentPlaces:
    """Where the characters of a piece's content are in the source: the lines of the content are the ends of the lines
    of the source, which may begin with container markup."""

    def __init__(self, piece: Piece, source: SourceText):
        self.piece, self.source = piece, source
        self.lines = piece.content.split("\n")
        self.starts = list(accumulate((len(line) + 1 for line in self.lines[:-1]), initial=0))

    def in_source(self, offset: int) -> int:
        """The character of the source that character `offset` of the content is."""
        place = bisect_right(self.starts, offset) - 1
        number = self.piece.last - len(self.lines) + place
        source = self.source
        written = source.text[source.starts[number] : source.ends[number]].rstrip()
        behind = len(self.lines[place].rstrip()) - (offset - self.starts[place])
        return source.starts[number] + max(len(written) - behind, 0)


def part(places: ContentPlaces, a: int, b: int, *, whole_start: bool) -> Piece:
    """The part [a, b) of a piece's content as a piece of its own, with its place in the source; the first part keeps
    the markup before the content (`- `, `> `)."""
    piece, source = places.piece, places.source
    content = piece.content[a:b]
    a += len(content) - len(content.lstrip())
    content = content.strip()
    start = piece.start if whole_start else places.in_source(a)
    end = places.in_source(a + max(len(content) - 1, 0)) + 1
    return replace(
        piece, content=content, start=start, end=end, first=source.line_at(start) - 1, last=source.line_at(max(end - 1, start)),
        task=piece.task if whole_start else "",
    )


def _cuts(content: str) -> Iterator[int]:
    """Where to cut so that passages have at most LONGEST characters, if sentence ends or at least white space allow it."""
    position, length = 0, len(content)
    while length - position > LONGEST:
        window = content[position : position + LONGEST]
        at = _last_sentence_end(window)
        if at is None:
            space = max(window.rfind(" "), window.rfind("\n"), window.rfind("\t"))
            if space > 0 and window[:space].strip():
                at = space + 1
            else:
                found = _SPACE.search(content, position + LONGEST)
                if not found:
                    return
                at = found.end() - position
        position += at
        if position < length and content[position:].strip():
            yield position


def _last_sentence_end(window: str) -> int | None:
    """The last sentence end outside code spans and brackets, not in the first fifth; None if there is none."""
    ends = [f.end() for f in _SENTENCE_END.finditer(window, len(window) // 5)]
    for end in reversed(ends):
        before = window[:end]
        if before.count("`") % 2 == 0 and before.count("[") <= before.count("]") and before.count("**") % 2 == 0:
            return end
    return None


def _cut_lines(piece: Piece, source: SourceText) -> Iterator[Piece]:
    """Code in runs of at most CODE_LINES lines that end, if they can, at a blank line of the later half."""
    lines = piece.content.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    fenced = (piece.last - piece.first) - len(lines)  # fence lines around the content
    lead = 1 if fenced > 0 else 0
    position = 0
    while position < len(lines):
        end = min(position + CODE_LINES, len(lines))
        if end < len(lines):
            end = next((i for i in range(end, position + CODE_LINES // 2, -1) if not lines[i - 1].strip()), end)
        content = "\n".join(lines[position:end])
        first = piece.first + (0 if position == 0 else lead + position)
        last = piece.last if end == len(lines) else min(piece.first + lead + end, piece.last)
        if content.strip() and first < last:
            start, stop = source.trimmed(first, last)
            yield replace(piece, content=content, first=first, last=last, start=start, end=stop)
        position = end
