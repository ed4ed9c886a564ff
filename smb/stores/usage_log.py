"""A file of `usage/`: what was used and wanted on this machine, a JSON line each.

Owns appending and reading. Local, git-ignored, ranks only: losing it changes no answer, so a line that can't be read (a
torn tail, somebody's edit) is passed over, and nothing is fsynced. Lines are only ever added.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from smb.stores import atomic_file


class UsageLog:
    """One file; `entries` reads only what was added since the last call."""

    def __init__(self, path: Path):
        self.path = path
        self._read = 0
        self._entries: list[dict[str, Any]] = []

    def append(self, entry: Mapping[str, Any]) -> None:
        """Adds a line in one write, so that two processes at once leave two whole lines. Raises OSError."""
        import orjson

        atomic_file.make_directory(self.path.parent)
        atomic_file.step("write", self.path)
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        try:
            size = os.fstat(descriptor).st_size
            torn = size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"
            os.write(descriptor, (b"\n" if torn else b"") + orjson.dumps(dict(entry)) + b"\n")
        finally:
            os.close(descriptor)

    def entries(self) -> list[dict[str, Any]]:
        """Every readable line, oldest first."""
        try:
            size = self.path.stat().st_size
        except FileNotFoundError:
            size = 0
        if size < self._read:  # another file, or an emptied one
            self._read, self._entries = 0, []
        if size > self._read:
            import orjson

            with self.path.open("rb") as file:
                file.seek(self._read)
                added = file.read()
            whole = added.rfind(b"\n") + 1
            self._read += whole
            for line in added[:whole].splitlines():
                try:
                    entry = orjson.loads(line)
                except orjson.JSONDecodeError:
                    continue
                if isinstance(entry, dict):
                    self._entries.append(entry)
        return self._entries
