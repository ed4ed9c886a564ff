"""Regular expressions compiled when they are first used.

Owns one class. A one-shot command must not pay for the patterns of questions it wasn't asked: compiling all of recall's
takes longer than answering does.
"""

from __future__ import annotations

import re
from typing import Any


class LatePattern:
    """Stands for `re.compile(source, flags)`, with all its methods."""

    def __init__(self, source: str, flags: int = 0):
        self.pattern, self.flags = source, flags

    def __getattr__(self, name: str) -> Any:
        found = getattr(re.compile(self.pattern, self.flags), name)
        setattr(self, name, found)
        return found
