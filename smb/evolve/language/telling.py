"""Which words that notes share tell a reader something.

Owns what is told by no topic: a unit, a day of the week, a month, a verb in its past or its -ing form. Holds no topic word.
"""

from __future__ import annotations

import re
from functools import lru_cache

from smb.evolve.language.calendar_date import dates
from smb.evolve.language.quantity import unit_of
from smb.evolve.language.terms import STOP_WORDS, stem, words_of
from smb.evolve.language.word_classes import VERBS
from smb.model.english import IRREGULAR

_SHORT = 3  # letters of a sign of a unit
_NUMBER = re.compile(r"[\d.]+\Z")
_VERB_FORM = re.compile(r"[a-z]{2,}(?:ed|ing)\Z")


def tells(phrase: str) -> bool:
    """Whether a phrase, as a note writes it, names anything.

    >>> tells("autolyse"), tells("Thursdays"), tells("min"), tells("baked"), tells("glaze firing")
    (True, False, False, False, True)
    """
    return any(word not in STOP_WORDS and not _NUMBER.match(word) and not _is_measure(word) and not _is_verb(word) for word in words_of(phrase))


@lru_cache(maxsize=65_536)
def is_topical(term: str) -> bool:
    """Whether a term, or a pair of them, is more than a unit or a day of the week, with or without a figure."""
    first, pair, second = term.partition(" ")
    return any(not part[0].isdigit() and not _is_measure(part) for part in (first, second)) if pair else not _is_measure(term)


@lru_cache(maxsize=65_536)
def _is_measure(word: str) -> bool:
    cased = (word, word.upper(), word.capitalize(), word[:-1] + word[-1:].upper()) if len(word) <= _SHORT else (word,)  # "kw" was kW
    if word.isalpha() and any(unit_of(written)[0] for written in cased):
        return True
    found, rest = dates(word.capitalize())
    return len(found) == 1 and not found[0].year and rest.strip() == "#d"


def _is_verb(word: str) -> bool:
    return word in IRREGULAR or bool(_VERB_FORM.match(word)) and stem(word) in VERBS
