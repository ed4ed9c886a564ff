"""Sentences of a block and the exact bytes they stand at.

Owns sentence boundaries and the way back from plain text to source bytes. Never changes a byte, never guesses: where
markup hides a sentence, its span is the smallest raw stretch found to cover it, else the whole block.
"""

from __future__ import annotations

import codecs
import re

from smb.ingest.note import Block, Note, Property
from smb.model.evidence import Span
from smb.model.identity import sha256_hex

_END = re.compile(r"[.!?。！？](?:(?<=[。！？])[。！？]*[」』”）)]*|(?<=[.!?])[\"'”’»)\]]*(?=\s+[\"'“‘«(\[]?[^\sa-z]))")
_ABBREVIATION = re.compile(
    r"(?:^|[\s(])(?:e\.g|i\.e|etc|vs|cf|approx|ca|no|nr|p|pp|fig|eq|vol|ed|dr|mr|mrs|ms|prof|st|jr|sr|inc|ltd|corp|co|dept|"
    r"est|al|"
    r"z\.b|bzw|u\.a|ex|[A-Z])\Z",
    re.IGNORECASE,
)
_LINE = re.compile(r"\r\n|\n|\r")
_MARKUP_TAIL = re.compile(
    r"(?:[*_`~\]]|\]?\([^()\s]*(?:\([^()\s]*\)[^()\s]*)?\)|\[[^\]\n]{0,40}\])*[.!?。！？…]*[\"'”’»)」』]*[*_`~]*"
)
_WORDS = re.compile(r"[^\s]+")
_CORE = re.compile(r"[\w¥$€£°%].*[\w%°]|[\w¥$€£°%]", re.DOTALL)
MAX_GAP = 400  # raw characters of markup (a long URL) allowed between two neighbouring words


def sentences(text: str) -> list[str]:
    """`text` cut at sentence ends; abbreviations, initials and decimals end nothing. Joined by spaces they are `text`."""
    found: list[str] = []
    start = 0
    for m in _END.finditer(text):
        at = m.start()
        if text[at] == "." and _ABBREVIATION.search(text, max(start, at - 8), at):
            continue
        piece = text[start : m.end()].strip()
        if piece:
            found.append(piece)
        start = m.end()
    rest = text[start:].strip()
    if rest:
        found.append(rest)
    return found


class Quoter:
    """Spans of one note's source. `data` are the bytes that `Block` offsets count in."""

    def __init__(self, note: Note):
        self.note = note
        self.data = source_bytes(note)
        self._raw: dict[int, str] = {}

    def raw(self, block: Block | Property) -> str:
        """The block as it stands in the file."""
        held = self._raw.get(block.byte_start)
        if held is None:
            held = self._raw[block.byte_start] = self.data[block.byte_start : block.byte_end].decode(
                self.note.encoding, "replace"
            )
        return held

    def block(self, block: Block | Property) -> Span:
        """The span of a whole block or property, without white space at its ends."""
        raw = self.raw(block)
        return self._span(block, raw, len(raw) - len(raw.lstrip()), len(raw.rstrip()))

    def sentence(self, block: Block, text: str) -> Span:
        """The span of `text`, a sentence of `block.text`; the whole block where its words can't be followed."""
        raw = self.raw(block)
        at = raw.find(text)
        if at >= 0:
            return self._span(block, raw, at, at + len(text))
        found = _follow(raw, text)
        return self._span(block, raw, *found) if found else self.block(block)

    def _span(self, block: Block | Property, raw: str, start: int, end: int) -> Span:
        encoding = self.note.encoding
        if raw.isascii() and not encoding.startswith(("utf-16", "utf-32")):
            b0, b1 = block.byte_start + start, block.byte_start + end
        else:
            b0 = block.byte_start + len(raw[:start].encode(encoding, "replace"))
            b1 = b0 + len(raw[start:end].encode(encoding, "replace"))
        first = block.line_start + _breaks(raw, 0, start)
        return Span(self.note.source, b0, b1, first, first + _breaks(raw, start, end), raw[start:end])


_BOMS = {
    "utf-8": codecs.BOM_UTF8,
    "utf-16-le": codecs.BOM_UTF16_LE,
    "utf-16-be": codecs.BOM_UTF16_BE,
    "utf-32-le": codecs.BOM_UTF32_LE,
    "utf-32-be": codecs.BOM_UTF32_BE,
}


def source_bytes(note: Note) -> bytes:
    """The bytes of the source, from its decoded text; the note's source id tells whether a byte-order mark stood first."""
    data = note.text.encode(note.encoding)
    bom = _BOMS.get(note.encoding)
    if bom and sha256_hex(data) != note.source and sha256_hex(bom + data) == note.source:
        return bom + data
    return data


def _breaks(raw: str, start: int, end: int) -> int:
    if "\r" not in raw:
        return raw.count("\n", start, end)
    return len(_LINE.findall(raw, start, end))


def _follow(raw: str, text: str) -> tuple[int, int] | None:
    """Where the words of `text` stand in `raw`, in order, with only markup between them."""
    words = []
    for word in _WORDS.findall(text):
        m = _CORE.search(word)
        if m:
            words.append(m[0])
    if not words:
        return None
    start = raw.find(words[0])
    while start >= 0:
        at = start + len(words[0])
        for word in words[1:]:
            following = raw.find(word, at)
            if following < 0 or following - at > MAX_GAP:
                break
            at = following + len(word)
        else:
            while start > 0 and raw[start - 1] in "*_`~[\"'“‘(":
                start -= 1
            tail = _MARKUP_TAIL.match(raw, at)
            return start, tail.end() if tail else at
        start = raw.find(words[0], start + 1)
    return None
