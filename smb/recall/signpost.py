"""What a passage is by its place and its make: what it stands under, and whether it only points elsewhere.

Owns two signals for notes: a passage under a heading that says just what was asked is likely the answer; a passage made
of links says where to look, not what is so.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from smb.model.english import STOP_WORDS
from smb.model.identity import fold

_LINK = re.compile(r"!?\[\[([^\]|#]*)[^\]]*\]\]|!?\[([^\]]*)\]\([^)]*\)|<https?:[^>]*>|https?://\S+")
_WORD = re.compile(r"\w+")
_MARKS = re.compile(r"<[^>]*>|[\W_]+")
MOSTLY_LINKS = 0.8  # share of a passage's letters that stand in links


class Headings:
    """How well headings say what was asked. `terms` are the question's content words."""

    def __init__(self, terms: Sequence[str]):
        self._asked = frozenset(_stem(word) for term in terms for word in _WORD.findall(fold(term)))
        self._known: dict[str, float] = {}

    def of(self, context: str) -> float:
        """0…1 for a passage's context (title and headings, joined by ' › '): the best of its headings, by the share of
        the question it says times the share of it that was asked; an outer heading counts half."""
        score = self._known.get(context)
        if score is None:
            parts = context.split(" › ")
            score = max(self._match(part) * (1.0 if n == len(parts) - 1 else 0.5) for n, part in enumerate(parts))
            self._known[context] = score
        return score

    def _match(self, heading: str) -> float:
        said = {_stem(word) for word in _WORD.findall(fold(heading)) if word not in STOP_WORDS}
        both = len(said & self._asked)
        return both / len(said) * both / len(self._asked) if both else 0.0


def is_navigation(text: str) -> bool:
    """Whether a passage is a list of links and hardly anything else."""
    if "](" not in text and "[[" not in text and "://" not in text:
        return False
    letters = len(_MARKS.sub("", _LINK.sub(lambda m: m[1] or m[2] or "", text)))
    outside = len(_MARKS.sub("", _LINK.sub(" ", text)))
    return outside <= (1 - MOSTLY_LINKS) * letters


def _stem(word: str) -> str:
    """A plural as its singular, roughly; enough to compare a question with a heading."""
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
