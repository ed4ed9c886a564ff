"""A decoded source and where its characters are in its bytes.

Owns the mapping from character offsets to byte offsets and line numbers. Never opens a file and never alters the text.
"""

from __future__ import annotations

import re
from bisect import bisect_right

_LINE_BREAK = re.compile(r"\r\n|\r|\n")


class SourceText:
    """`text` was decoded from bytes that start with `bom` bytes of byte-order mark; offsets count in `text`.

    A line ends with \\n, \\r\\n or a lone \\r and nothing else (not U+2028). `starts[i]` and `ends[i]` bound line i + 1
    without its line break; a text that ends with a line break has no further, empty line.
    """

    __slots__ = ("_byte_starts", "bom", "encoding", "ends", "starts", "text")

    def __init__(self, text: str, encoding: str = "utf-8", bom: int = 0):
        self.text, self.encoding, self.bom = text, encoding, bom
        starts, ends = [], []
        if "\r" in text:
            position = 0
            for found in _LINE_BREAK.finditer(text):
                starts.append(position)
                ends.append(found.start())
                position = found.end()
            if position < len(text):
                starts.append(position)
                ends.append(len(text))
        else:
            position = 0
            for line in text.split("\n"):
                starts.append(position)
                position += len(line)
                ends.append(position)
                position += 1
            if text.endswith("\n") or not text:
                starts.pop()
                ends.pop()
        self.starts: list[int] = starts
        self.ends: list[int] = ends
        self._byte_starts: list[int] | None = None
        if not (encoding == "utf-8" and text.isascii()):
            self._byte_starts = self._measure()

    def _measure(self) -> list[int]:
        """The byte offset of each line start."""
        offsets, position, encoding, text = [], self.bom, self.encoding, self.text
        for start, end in zip(self.starts, [*self.starts[1:], len(text)], strict=False):
            offsets.append(position)
            line = text[start:end]
            position += len(line) if encoding == "utf-8" and line.isascii() else len(line.encode(encoding))
        return offsets

    def line_at(self, offset: int) -> int:
        """The number, from 1, of the line that holds character `offset`."""
        return max(bisect_right(self.starts, offset), 1)

    def byte_at(self, offset: int) -> int:
        """The byte offset of character `offset`."""
        if self._byte_starts is None:
            return offset + self.bom
        line = self.line_at(offset) - 1
        if not self._byte_starts:
            return self.bom
        return self._byte_starts[line] + len(self.text[self.starts[line] : offset].encode(self.encoding))

    def place(self, start: int, end: int) -> tuple[int, int, int, int]:
        """(byte_start, byte_end, line_start, line_end) of characters [start, end)."""
        return self.byte_at(start), self.byte_at(end), self.line_at(start), self.line_at(max(start, end - 1))

    def trimmed(self, first: int, last: int) -> tuple[int, int]:
        """Character bounds of lines [first, last) (from 0) without the white space around them."""
        start, end = self.starts[first], self.ends[last - 1]
        piece = self.text[start:end]
        return start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip())
