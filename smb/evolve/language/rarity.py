"""How often English uses a word.

Owns the reading of a word list with counts, which says nothing of what any bank holds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache

_COMMON = 1000  # a word used once in so many words tells nothing


def frequency(word: str) -> int:
    """How often a large body of English uses `word`, lower case; 0 for one it does not have."""
    counts, _ = _english()
    return counts[word] if word in counts else 0


def rarity(word: str) -> float:
    """The natural logarithm of how many times less often than once in a thousand words English uses `word`; 0 for the common
    ones, and for one that is no English no more than for the rarest."""
    _, total = _english()
    return max(0.0, math.log(total / _COMMON / max(frequency(word), _COMMON)))


@cache
def _english() -> tuple[Mapping[str, int], int]:
    from spellchecker import SpellChecker

    words = SpellChecker(language="en", distance=1).word_frequency
    return words, words.total_words
