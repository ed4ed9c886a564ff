"""Which claims of a bank oppose which.

Owns the run of the pair judge (`opposition`) over the candidates, and what the list of single-valued keys has set against each other
already. Never makes anything of what it finds.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from smb.evolve.opposing.candidate_pairs import Groups, candidate_pairs
from smb.evolve.opposing.opposition import Analysed, analyse, blocking_keys, oppose
from smb.evolve.said import Said
from smb.evolve.snapshot import Item, Snapshot
from smb.evolve.language.terms import terms_of, words_of
from smb.model.currentness import judge
from smb.model.identity import fold
from smb.model.revision import Revision, RevisionKind

KEYS = "keys"  # actor of the contests of single-valued keys, made when notes are read
TELLING = 7  # words of a claim short enough to be compared by its telling words, however unlike it looks
APART = 6  # words one of two claims says alone, from which on they speak of two things
MOST_VALUES = 4  # of one key; with more it has several at a time, or nobody can say which
UNNAMED = ("value", "値")  # attributes that don't say what is measured
NAME = 3  # words of a title that may be a name
_OCCASIONS = frozenset(
    "agenda april august call chat conversation daily day debrief december diary draft faq february friday guide handbook january journal july june list log logbook manual march "
    "may meeting memo minutes misc monday monthly month morning notes note november october overview page plan policy record report retro retrospective review saturday september "
    "session standup status summary sunday sync thursday todo tuesday update wednesday week weekly year".split())
_DATED = re.compile(  # a title that says when, not merely the how-manyeth
    r"\d{4}-\d|\d{1,2}[./]\d{1,2}\b|\b(?:19|20)\d\d\b|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sept?|oct|nov|dec)[a-z]*\b|"
    r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|\b(?:week|day|sprint|quarter|season|term|round|year|q)\s?\d|\d\s?[年月日]", re.I)
_SMALL = frozenset("a am an and at for from of on pm the to with".split())


@dataclass(frozen=True, slots=True)
class Opposed:
    """Two claims, the smaller id first. `by_key` says that a contest of their key stands between them."""

    one: str
    other: str
    kind: str
    reasons: tuple[str, ...]
    by_key: bool = False


class Judge:
    """Judges pairs of claims, each analysed once."""

    def __init__(self, snapshot: Snapshot):
        self._snapshot = snapshot
        self._analysed: dict[str, Analysed] = {}
        self._occasions: dict[str, str] = {}  # claim → the dated title that was before it

    async def read(self, ids: Iterable[str]) -> None:
        """Analyses the claims `ids` that hold."""
        for said in await self._snapshot.said({i for i in ids if i not in self._analysed}):
            own = _own_words(said)
            if own is not said and _DATED.search(said.context[0]):
                self._occasions[said.id] = said.context[0]
            self._analysed[said.id] = analyse(own)

    def knows(self, id_: str) -> bool:
        """Whether a claim was read, and so holds."""
        return id_ in self._analysed

    def telling(self, id_: str) -> frozenset[str]:
        return blocking_keys(self._analysed[id_])

    def analysed(self, id_: str) -> Analysed:
        return self._analysed[id_]

    def of(self, one: str, other: str) -> Opposed | None:
        """What is between two claims that were read; None where they don't surely contradict each other."""
        return self._opposed(one, other, sure=True)

    def unsure(self, one: str, other: str) -> Opposed | None:
        """What may be between two claims that were read, for somebody else to judge; None where they surely contradict each other, or don't."""
        return self._opposed(one, other, sure=False)

    def _opposed(self, one: str, other: str, *, sure: bool) -> Opposed | None:
        one, other = sorted((one, other))
        if one not in self._analysed or other not in self._analysed:
            return None
        if self._occasions.get(one, "") != self._occasions.get(other, "") and one in self._occasions and other in self._occasions:
            return None  # two days, two states of affairs
        if _of_two_things(self._analysed[one].said, self._analysed[other].said):
            return None
        found = oppose(self._analysed[one], self._analysed[other], self._snapshot.single_valued)
        return Opposed(one, other, found.kind.value, found.reasons) if found is not None and found.sure is sure else None


async def opposed_claims(snapshot: Snapshot, claims: Sequence[Item], judge_: Judge, fresh: Collection[str] | None) -> list[Opposed]:
    """Every pair of `claims` that surely contradict each other, sorted; with `fresh` only those with one of these."""
    pairs = await compared_pairs(snapshot, judge_, claims, fresh)
    await judge_.read({i for pair in pairs for i in pair})
    listing = _listing(claims, snapshot.single_valued)
    found = {(o.one, o.other): o for one, other in pairs if (o := judge_.of(one, other)) is not None and not {o.one, o.other} <= listing}
    for o in await _by_key(snapshot, [c for c in claims if c.contested and c.attribute and (fresh is None or c.id in fresh)]):
        held = found.get((o.one, o.other))
        found[(o.one, o.other)] = o if held is None else Opposed(o.one, o.other, held.kind, held.reasons, by_key=True)
    return [found[pair] for pair in sorted(found)]


def _listing(claims: Sequence[Item], single_valued: Collection[str]) -> set[str]:
    """The claims of keys that have so many values that they are a list, whatever their words say; not those listed as single-valued."""
    values: dict[tuple[str, str], set[str]] = {}
    for claim in claims:
        if claim.attribute and claim.attribute not in single_valued:
            values.setdefault((claim.subject, claim.attribute), set()).add(fold(claim.value))
    return {claim.id for claim in claims if len(values.get((claim.subject, claim.attribute), ())) > MOST_VALUES}


async def compared_pairs(snapshot: Snapshot, judge_: Judge, claims: Sequence[Item], fresh: Collection[str] | None) -> list[tuple[str, str]]:
    new = None if fresh is None else [n for n, claim in enumerate(claims) if claim.id in fresh]
    if new is not None and not new:
        return []
    keys: dict[object, list[int]] = {}
    subjects: dict[object, list[int]] = {}
    words: dict[object, list[int]] = {}
    about = None if new is None else {_subject(claims[n]) for n in new}
    keyed = None if new is None else {(claims[n].subject, claims[n].attribute) for n in new}
    for n, claim in enumerate(claims):
        if (subject := _subject(claim)) and (about is None or subject in about):
            subjects.setdefault(subject, []).append(n)
        if claim.attribute and (keyed is None or (claim.subject, claim.attribute) in keyed):
            keys.setdefault((claim.subject, claim.attribute), []).append(n)
    terms: dict[int, frozenset[str]] = {}

    def said(n: int) -> frozenset[str]:
        if n not in terms:
            terms[n] = frozenset(terms_of(claims[n].title))
        return terms[n]

    if new is None:
        short = [n for n in range(len(claims)) if len(said(n)) <= TELLING]
        await judge_.read(claims[n].id for n in short)
        for n in short:
            for key in judge_.telling(claims[n].id):
                words.setdefault(key, []).append(n)
    found = candidate_pairs(snapshot.vectors(claims), Groups(keys, subjects, words), new)
    return [(claims[a].id, claims[b].id) for a, b in found.tolist() if _comparable(claims[a], claims[b], said(a), said(b))]


def _of_two_things(one: Said, other: Said) -> bool:
    """Whether the places tell that two claims have two subjects: each names the thing its own note is about, or they stand under two
    headings of one note and neither names its subject itself."""
    if one.key and one.key == other.key and one.key[1] in UNNAMED and all(f" – {one.key[1]}: " in said.text for said in (one, other)):
        return True
    if not one.context or not other.context:
        return False
    if one.documents == other.documents:
        return one.context != other.context and (bool(one.key) and one.key == other.key or all(_titled(said) for said in (one, other)))
    mine, theirs = _name_before(one), _name_before(other)
    return bool(mine and theirs) and not _says(other, mine) and not _says(one, theirs)


def _titled(said: Said) -> bool:
    return fold(said.text.partition(": ")[0]) == fold(said.context[0])


def _name_before(said: Said) -> str:
    """The title of its note where that is a short name which the claim bears; "" else."""
    title = _spaced(said.context[0]).strip()
    words = len(title.split())
    return title if 0 < words <= NAME and 2 * words <= len(_spaced(said.text).split()) and _says(said, title) else ""


def _says(said: Said, name: str) -> bool:
    return f" {name} " in _spaced(said.text)


@lru_cache(maxsize=1 << 16)
def _spaced(text: str) -> str:
    """The words of a text between blanks: a claim is looked at once for each it is compared with."""
    return f" {' '.join(words_of(text))} "


def _own_words(said: Said) -> Said:
    """A claim without the title of its note before it, where that names a day, an occasion or a sort of note: what two such notes say of
    "the launch" they say of one. The title of a thing stays: "the oven" of two recipes is two."""
    title, colon, sentence = said.text.partition(": ")
    if not colon or not said.context or fold(title) != fold(said.context[0]):
        return said
    telling = [word for word in words_of(title) if word not in _SMALL]
    named = [word for word in telling if word not in _OCCASIONS and not any(c.isdigit() for c in word)]
    return said if named or not telling else replace(said, text=sentence)


def _subject(claim: Item) -> str:
    return claim.about or claim.subject


def _comparable(one: Item, other: Item, words: frozenset[str], others: frozenset[str]) -> bool:
    """Whether two claims may speak of one thing, by what each says alone."""
    if one.attribute and (one.subject, one.attribute) == (other.subject, other.attribute):
        return one.value != other.value
    return max(len(words - others), len(others - words)) <= APART


async def _by_key(snapshot: Snapshot, contested: Sequence[Item]) -> list[Opposed]:
    """The pairs of current values of a single-valued key that a contest sets against each other."""
    histories = await snapshot.histories(item.id for item in contested)
    found: dict[tuple[str, str], Opposed] = {}
    for item in contested:
        for other in _against(item.id, histories.get(item.id, ())):
            rival = snapshot.items.get(other)
            if rival is not None and rival.id != item.id:
                one, two = sorted((item, rival), key=lambda i: i.id)
                found[(one.id, two.id)] = Opposed(one.id, two.id, "value", (f"{one.value} against {two.value}, and it has one value at a time",), by_key=True)
    return list(found.values())


def _against(id_: str, history: Iterable[Revision]) -> list[str]:
    return sorted({i for r in judge(history, about=id_).by if r.kind is RevisionKind.CONTEST and r.actor == KEYS for i in r.into})


def contested_by_key(histories: Mapping[str, Iterable[Revision]]) -> dict[str, frozenset[str]]:
    """Claim → those a standing contest of its key sets it against."""
    return {i: frozenset(_against(i, history)) for i, history in histories.items()}
