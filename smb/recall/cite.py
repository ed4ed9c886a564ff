"""Citations: from a place in a source to path, lines and the exact quote.

Owns how a quote is cut from the bytes of layer 0. Never changes a quote; one longer than QUOTE_LIMIT characters is cut
at a place where it still stands in its lines word for word. Reads each source once per question.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from smb.model.errors import SmbError

QUOTE_LIMIT = 4_000
_DATA = re.compile(r"\[data:[^\]\s]*\]|…")


class QuoteUnreadable(SmbError):
    def __init__(self, source: str, detail: str):
        super().__init__(f"Source {source[:12]} can't be quoted: {detail}. Run `smb doctor`.")


@dataclass(frozen=True, slots=True)
class Place:
    """Where evidence lies: bytes of a source, within the passage that holds them (its first byte and line)."""

    document: str
    source: str
    byte_start: int
    byte_end: int
    known_byte: int = 0
    known_line: int = 1


@dataclass(frozen=True, slots=True)
class Citation:
    path: str
    root: str
    document: str
    source: str
    line_start: int
    line_end: int
    quote: str

    def to_json(self) -> dict[str, object]:
        return {
            "path": self.path,
            "document": self.document,
            "source": self.source,
            "line_start": self.line_start,
            "line_end": self.line_end,
            "quote": self.quote,
        }


class Quotes:
    """Cuts quotes for one question. `read_source(sha)` gives the bytes of a source, `documents` the catalog rows by id."""

    def __init__(self, read_source: Callable[[str], bytes], documents: Mapping[str, sqlite3.Row]):
        self._read_source, self._documents = read_source, documents
        self._bytes: dict[str, bytes] = {}

    def cite(self, place: Place, derived: str = "") -> Citation:
        """The citation of a place; `derived` is the text as indexed, where it is known. Raises QuoteUnreadable."""
        document = self._documents.get(place.document)
        if document is None:
            raise QuoteUnreadable(place.source, f"its document {place.document} is not in the catalog")
        data = self._data(place.source)
        if place.byte_end > len(data):
            raise QuoteUnreadable(place.source, f"it has {len(data)} bytes, the quote ends at {place.byte_end}")
        raw = data[place.byte_start : place.byte_end]
        encoding = document["encoding"] or "utf-8"
        quote = raw.decode(encoding, "replace")
        first = (
            place.known_line + _line_ends(data[place.known_byte : place.byte_start], encoding)
            if place.known_byte <= place.byte_start
            else (1 + _line_ends(data[: place.byte_start], encoding))
        )
        last = first + _line_ends(raw.rstrip(b"\r\n"), encoding)
        if len(quote) > QUOTE_LIMIT:
            quote, skipped = _shortened(quote, derived)
            first += _line_ends(skipped.encode(encoding, "replace"), encoding)
            last = first + _line_ends(quote.encode(encoding, "replace"), encoding)
        return Citation(document["path"], document["root"], place.document, place.source, first, last, quote.strip())

    def _data(self, source: str) -> bytes:
        if source not in self._bytes:
            try:
                self._bytes[source] = self._read_source(source)
            except (SmbError, OSError, KeyError) as error:
                raise QuoteUnreadable(source, str(error)) from error
        return self._bytes[source]


def _line_ends(data: bytes, encoding: str) -> int:
    r"""How many lines end in `data`: \n, \r\n and a lone \r each end one."""
    if encoding.lower().startswith(("utf-16", "utf-32", "utf_16", "utf_32")):
        data = data.decode(encoding, "replace").encode("utf-8", "replace")
    return data.count(b"\n") + (data.count(b"\r") - data.count(b"\r\n") if b"\r" in data else 0)


def _shortened(quote: str, derived: str) -> tuple[str, str]:
    """(a piece of `quote`, what stands before it): the longest stretch of its text that is no data, else its beginning."""
    pieces = sorted((piece.strip() for piece in _DATA.split(derived)), key=len, reverse=True)
    for piece in pieces[:3]:
        if piece and (at := quote.find(piece[:QUOTE_LIMIT])) >= 0:
            return piece[:QUOTE_LIMIT], quote[:at]
    return quote[:QUOTE_LIMIT], ""
