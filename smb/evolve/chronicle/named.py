"""Which named things a sentence speaks of.

Owns the search of texts for the names of objects: runs of words, and runs of characters where a script has no spaces.
Never guesses: a thing is named where its title or an alias stands, and a name of one common word names nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping

from smb.evolve.snapshot import Item
from smb.evolve.language.terms import words_of
from smb.model.identity import fold
from smb.model.objects import MemoryType

LONGEST = 8  # words of a name that is looked for
_LONGEST_RUN = 16  # characters of one in a script without spaces
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f]{2,}")
_DATE = re.compile(r"[\d\s./:年月日-]+\Z")


class Names:
    """The names of `items`, as folded by `Snapshot.names`. A name of a single word counts only where it stands capitalised, for
    what is no entity not at the beginning of the sentence either."""

    def __init__(self, items: Iterable[Item], folded: Mapping[str, tuple[str, ...]]):
        self._of: dict[str, list[str]] = {}
        self._items: dict[str, Item] = {}
        for item in items:
            if is_date(item.title):
                continue
            self._items[item.id] = item
            for name in folded.get(item.id, ()):
                words = words_of(name)
                if words and len(words) <= LONGEST and len("".join(words)) > 1 and not is_date(name):
                    self._of.setdefault(" ".join(words), []).append(item.id)

    def named_in(self, text: str) -> set[str]:
        """Ids of the objects `text` names; within a longer name none is looked for."""
        words = _words(text)
        found: set[str] = set()
        start = 0
        while start < len(words):
            here: list[str] = []
            for end in range(min(start + LONGEST, len(words)), start, -1):
                here = [i for i in self._of.get(" ".join(words[start:end]), ()) if end - start > 1 or self._stands_out(words[start], text, self._items[i])]
                if here:
                    break
            found.update(here)
            start = end if here else start + 1
        for run in _UNSPACED.findall(text):
            for start in range(len(run)):
                for end in range(start + 2, min(start + _LONGEST_RUN, len(run)) + 1):
                    found.update(self._of.get(run[start:end], ()))
        return found

    def filter(self, ids: Collection[str]) -> Callable[[str], object]:
        """A quick test that no text which names one of `ids` fails."""
        begun: dict[str, list[list[str]]] = {}
        for name, of in self._of.items():
            if any(i in ids for i in of):
                begun.setdefault(name.partition(" ")[0], []).append(name.split(" "))
        search = re.compile("|".join(map(re.escape, sorted(begun)))).search if begun else None

        def may_name(text: str) -> bool:
            if search is None or not search(fold(text)):
                return False
            words = _words(text)
            return bool(_UNSPACED.search(text)) or any(words[n : n + len(name)] == name for n, word in enumerate(words) for name in begun.get(word, ()))

        return may_name

    def _stands_out(self, word: str, text: str, item: Item) -> bool:
        if not word.isascii() and word.upper() == word.lower():
            return True
        if item.title == item.title.lower():
            return False
        written = [m for m in re.finditer(rf"(?<!\w){re.escape(word)}(?!\w)", text, re.IGNORECASE) if m[0] != m[0].lower()]
        return any(item.type is MemoryType.ENTITY or m.start() > 0 and text[:m.start()].rstrip()[-1:] not in (".", ":", "!", "?", "") for m in written)


def is_date(title: str) -> bool:
    """Whether a title is a date and nothing more, as a journal's notes have them."""
    return bool(_DATE.match(title.strip())) and any(c.isdigit() for c in title)


def _words(text: str) -> list[str]:
    return [word.removesuffix("'s").removesuffix("’s") for word in words_of(fold(text))]
