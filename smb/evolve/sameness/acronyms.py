"""Acronyms: whether a short name may stand for a long one, and what a text says an acronym stands for.

Owns the comparison of initials and the reading of "X Y Z (XYZ)". Never decides that two objects are one: letters alone fit many
expansions, so `same_name` asks for evidence.
"""

from __future__ import annotations

import re
import unicodedata

from smb.evolve.sameness.name_parts import parts_of, without_accents

_SMALL = frozenset("a an and by de der des di du for in la le of on or the to und von with y &".split())
_ACRONYM = re.compile(r"[A-Z][A-Za-z]*[A-Z][A-Za-z]{0,2}\Z|[A-Z]{2,8}s?\Z")
_NUMERONYM = re.compile(r"([a-z])(\d{1,2})([a-z])\Z", re.I)
_BRACKETED = re.compile(r"\(\s*([^()]{2,80}?)\s*\)")
_BEFORE = re.compile(r"((?:[\w'’&/-]+ ){1,9}[\w'’&/-]+)\s*\Z")
_STANDS_FOR = re.compile(r"\b([A-Z][A-Za-z]{1,7})\b,? (?:stands for|is short for|short for|means|=)\s+((?:[\w'’&/-]+ ){1,8}[\w'’&/-]+)")
_TITLED = re.compile(r"^(?P<one>.{2,100}?)\s*\((?P<two>[^()]{2,100})\)\s*$")
LONGEST = 8  # letters of an acronym


def is_acronym(name: str) -> bool:
    """Whether `name` is written as an acronym: one word of two to eight letters, mostly capitals."""
    name = name.strip().rstrip(".").replace(".", "")
    return 2 <= len(name) <= LONGEST and name.isascii() and name.isalpha() and bool(_ACRONYM.match(name)) and sum(c.isupper() for c in name) >= 2


def letters_of(name: str) -> str:
    """The letters of an acronym, lower case, without dots and plural s."""
    name = unicodedata.normalize("NFKC", name).strip().replace(".", "")
    return (name[:-1] if len(name) > 2 and name.endswith("s") and name[:-1].isupper() else name).lower()


def initials(name: str) -> frozenset[str]:
    """What the initials of a name of several words may be written as: with and without small words, with camel case counted."""
    words = [w for w in re.split(r"[\s\-–_/]+", without_accents(unicodedata.normalize("NFKC", name))) if w and w[0].isalnum()]
    if len(words) < 2:
        return frozenset()
    every = "".join(w[0] for w in words).lower()
    great = "".join(w[0] for w in words if w.lower() not in _SMALL).lower()
    humps = "".join(w[0] + "".join(c for c in w[1:] if c.isupper() and not w.isupper()) for w in words if w.lower() not in _SMALL).lower()
    return frozenset(i for i in (every, great, humps) if 2 <= len(i) <= LONGEST)


def stands_for(short: str, long: str) -> bool:
    """Whether the letters of the acronym `short` are the initials of `long`."""
    return is_acronym(short) and letters_of(short) in initials(long)


def names_in(title: str) -> tuple[str, ...]:
    """A title, or the two names it gives: "Slow Cooling Method (SCM)" is both."""
    found = _TITLED.match(title) if title.endswith((")", ") ")) else None
    if found and (stands_for(found["two"], found["one"]) or stands_for(found["one"], found["two"])):
        return (found["one"], found["two"])
    return (title,)


def is_numeronym(short: str, long: str) -> bool:
    """Whether `short` is first letter, number of letters between, last letter of `long` ("k8s", "i18n")."""
    found = _NUMERONYM.match(short.strip())
    word = long.strip().lower()
    return bool(found) and word.isalpha() and len(word) == int(found[2]) + 2 and word[0] == found[1].lower() and word[-1] == found[3].lower()  # type: ignore[index]


def expansions(text: str) -> dict[str, frozenset[str]]:
    """What a text says acronyms stand for: letters → expansions, each as the words of a name joined by spaces."""
    found: dict[str, set[str]] = {}
    for bracket in _BRACKETED.finditer(text):
        inside = bracket[1]
        if not (before := _BEFORE.search(text[max(0, bracket.start() - 100):bracket.start()])):
            continue
        words = before[1].split()
        if is_acronym(inside):
            for n in range(2, len(words) + 1):
                candidate = " ".join(words[-n:])
                if words[-n].lower() not in _SMALL and stands_for(inside, candidate):
                    found.setdefault(letters_of(inside), set()).add(_plain(candidate))
        elif is_acronym(words[-1]) and stands_for(words[-1], inside):
            found.setdefault(letters_of(words[-1]), set()).add(_plain(inside))
    for said in _STANDS_FOR.finditer(text):
        words = said[2].split()
        for n in range(2, len(words) + 1):
            if stands_for(said[1], candidate := " ".join(words[:n])):
                found.setdefault(letters_of(said[1]), set()).add(_plain(candidate))
    return {letters: frozenset(names) for letters, names in found.items()}


def _plain(name: str) -> str:
    return " ".join(parts_of(name).words)
