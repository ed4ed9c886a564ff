"""Under which keys two names meet that may be names of one thing.

Owns blocking: every way `same_name` knows in which two names are one gives them a key in common, so no pair it would accept is missed and
few others of a large bank are compared. Never decides anything.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache

from smb.evolve.sameness.acronyms import initials, is_acronym, letters_of, names_in
from smb.evolve.sameness.name_parts import parts_of
from smb.evolve.language.terms import stem
from smb.evolve.language.word_forms import american, irregular_singular, slips_among, spelt_out
from smb.model.identity import fold

WIDEST = 48  # names under one key; a key of more tells nothing
SHORT = 12  # letters of a name that may stand for a longer one
_NO_GAPS = str.maketrans("", "", " -_/'")
_LOOSE = frozenset("of the and or a an inc ltd llc gmbh corp corporation limited plc ag co company".split())
_NUMERONYM = re.compile(r"[a-z]\d{1,2}[a-z]\Z")


def keys_of(title: str, aliases: Iterable[str] = (), slips: Mapping[str, str] = {}, acronyms: bool = True) -> frozenset[str]:
    """The keys of an object with this title; `aliases` are those its notes declare, `slips` misspelt words and what they stand for.
    Without `acronyms` a name of several words meets none."""
    keys = {f"name {fold(name)}" for name in (title, *aliases)}
    for name in names_in(title):
        keys.update(_keys(name, slips, acronyms))
    return frozenset(keys)


def _keys(name: str, slips: Mapping[str, str], acronyms: bool) -> Iterator[str]:
    parts = parts_of(name)
    words = parts.words
    if not words:
        yield f"marks {parts.marks}"
        return
    stems = sorted([_stem(w) for w in words if w not in _LOOSE] or words)
    yield f"stems {' '.join(stems)}"
    if len(stems) == 3 and any(len(s) == 1 for s in stems):  # a middle initial
        yield f"stems {' '.join(s for s in stems if len(s) > 1)}"
    if any(w in slips for w in words):
        yield f"stems {' '.join(sorted(_stem(slips.get(w, w)) for w in words if w not in _LOOSE))}"
    if "@" in name:
        yield f"joined {re.sub(r'[^a-z0-9]', '', name.lstrip('@').partition('@')[0].lower()).rstrip('s')}"
    elif len(words) < 7:
        yield f"joined {parts.joined.rstrip('s')}"
    if len(words) > 1 and len(words) < 12:
        yield from (f"initials {letters}" for letters in (initials(name) if acronyms else ()))
    elif is_acronym(name):
        yield from (f"initials {letters_of(name)}", f"short initials {letters_of(name)}")
    if _NUMERONYM.match(parts.joined):
        yield from (f"numeronym {parts.joined}", f"short numeronym {parts.joined}")
    elif len(words) == 1 and len(words[0]) > 4 and words[0].isalpha():
        yield f"numeronym {words[0][0]}{len(words[0]) - 2}{words[0][-1]}"


@lru_cache(maxsize=65_536)
def _stem(word: str) -> str:
    return stem(american(irregular_singular(spelt_out(word.rstrip("ー") if len(word) > 3 else word))))


def slips_in(titles: Iterable[str]) -> dict[str, str]:
    """Words of the titles that are slips of another word of theirs → that word."""
    return slips_among(w for title in titles for w in parts_of(title).words)


def pairs_of(keys: Mapping[str, frozenset[str]], fresh: frozenset[str]) -> list[tuple[str, str]]:
    """Pairs of ids (a < b) with a key in common, one of them `fresh`, sorted; of long and short names a long one meets a short one only."""
    wanted = {key for i in fresh for key in keys.get(i, ())}
    blocks: dict[str, list[str]] = {}
    for id_ in sorted(keys):
        for key in keys[id_] & wanted:
            blocks.setdefault(key, []).append(id_)
    pairs: set[tuple[str, str]] = set()
    for key, members in blocks.items():
        if key.startswith(("initials ", "numeronym ")):
            short = set(blocks.get(f"short {key}", ())) or {i for i in members if f"short {key}" in keys[i]}
            pairs.update((a, b) if a < b else (b, a) for a in short for b in members if a != b and (a in fresh or b in fresh))
        elif 1 < len(members) <= WIDEST:
            pairs.update((a, b) for n, a in enumerate(members) for b in members[n + 1:] if a in fresh or b in fresh)
    return sorted(pairs)


def may_meet(titles: Iterable[str]) -> Callable[[str], bool]:
    """A quick test of whether a title may have a key in common with one of `titles`: it has the beginnings of all long words of one, or
    one of the two is short. Lets some through that have none."""
    held = list(titles)
    begun = [tuple(w[:3] for w in parts_of(t).words if len(w) > 3 and w.isascii() and w.isalpha() and not w.startswith(("ae", "oe"))) for t in held]
    initial = {t[:1].lower() for t in held if len(t) <= SHORT}

    def meets(title: str) -> bool:
        if len(title) <= SHORT or title[:1].lower() in initial or "@" in title or not title.isascii():
            return True
        squeezed = title.lower().translate(_NO_GAPS)
        return any(all(b in squeezed for b in beginnings) for beginnings in begun)

    return meets
