"""Cutting a text that is longer than a model takes into parts of about the same length, between words where there are some."""

from __future__ import annotations

import re
from collections.abc import Callable

_SPACE = re.compile(r"\s")


def parts_of(text: str, limit: int, tokens: Callable[[str], int]) -> list[str]:
    """`text` in as few parts as `limit` tokens each allow; parts that say nothing are left out.

    `tokens` counts a part, and need not count it exactly: halves that are still too long are halved again. A single
    character is never cut.
    """
    if not text.strip():
        return []
    total = tokens(text)
    if total <= limit or len(text) <= 1:
        return [text]
    pieces = min(max(2, -(-total // limit)), len(text))
    found: list[str] = []
    start = 0
    for piece in range(1, pieces + 1):
        end = len(text) if piece == pieces else max(start, _boundary(text, len(text) * piece // pieces, len(text) // pieces // 4))
        found += parts_of(text[start:end], limit, tokens) if end - start < len(text) else [text]
        start = end
    return found


def _boundary(text: str, at: int, reach: int) -> int:
    """The white space nearest before `at`, at most `reach` characters away, else `at` itself."""
    for place in range(at, max(at - reach, 0), -1):
        if _SPACE.match(text, place):
            return place
    return at
