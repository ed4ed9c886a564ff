"""Where words go: one Page for stdout, one for stderr.

Owns colour, JSON bytes and what becomes of characters a terminal would obey. Never decides what to say. Documents are
untrusted, so control characters in them are shown, not sent.
"""

from __future__ import annotations

import os
import re
from typing import Any, TextIO

_OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def printable(text: str) -> str:
    """`text` with control and direction-override characters made visible; newlines and tabs stay."""
    return _OBEYED.sub(lambda m: f"\\x{ord(m[0]):02x}" if ord(m[0]) < 256 else f"\\u{ord(m[0]):04x}", text)


class Page:
    """One output stream."""

    def __init__(self, stream: TextIO | None, colour: bool):
        self._stream = stream
        self.terminal = stream is not None and stream.isatty()
        self.colour = colour and self.terminal

    def style(self, text: str, **how: Any) -> str:
        """`text` printable, with `how` of typer.style (fg, bold, dim) where this page has colour."""
        if not self.colour or not text:
            return printable(text)
        import typer

        return typer.style(printable(text), **how)

    def strong(self, text: str) -> str:
        return self.style(text, bold=True)

    def faint(self, text: str) -> str:
        return self.style(text, dim=True)

    def good(self, text: str) -> str:
        return self.style(text, fg="green")

    def warning(self, text: str) -> str:
        return self.style(text, fg="yellow")

    def bad(self, text: str) -> str:
        return self.style(text, fg="red")

    def place(self, text: str) -> str:
        """A path, and the lines in it."""
        return self.style(text, fg="cyan")

    def write(self, text: str) -> None:
        """Write lines and flush. A reader that has gone away (`| head`) is no error."""
        if self._stream is None:
            return
        encoding = self._stream.encoding or "utf-8"
        try:
            self._stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
            self._stream.flush()
        except BrokenPipeError:
            _leave(self._stream)

    def write_json(self, value: Any) -> None:
        """One JSON value: a line in a pipe, indented on a terminal. File names that are not UTF-8 stay escaped."""
        import orjson

        options = orjson.OPT_APPEND_NEWLINE | (orjson.OPT_INDENT_2 if self.terminal else 0)
        try:
            self.write(orjson.dumps(value, option=options).decode())
        except orjson.JSONEncodeError:  # a lone surrogate: half of a name's undecodable byte
            import json

            self.write(json.dumps(value, indent=2 if self.terminal else None) + "\n")


def _leave(stream: TextIO) -> None:
    """Point the descriptor at nothing, so that the interpreter's own last flush finds nobody missing."""
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), stream.fileno())
