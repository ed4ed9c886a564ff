"""Which claims of a bank oppose which.

Owns the run of the pair judge (`opposition`) over the candidates, and what the list of single-valued keys has set against each other
already. Never makes anything of what it finds.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from smb.evolve.candidate_pairs import Groups, candidate_pairs
from smb.evolve.opposition import Analysed, analyse, blocking_keys, oppose
from smb.evolve.snapshot import Item, Snapshot
from smb.evolve.terms import terms_of
from smb.model.currentness import judge
from smb.model.objects import MemoryType
from smb.model.revision import Revision, RevisionKind

KEYS = "keys"  # actor of the contests of single-valued keys, made when notes are read
TELLING = 7  # words of a claim short enough to be compared by its telling words, however unlike it looks
APART = 6  # words one of two claims says alone, from which on they speak of two things


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

    async def read(self, ids: Iterable[str]) -> None:
        """Analyses the claims `ids` that hold."""
        for said in await self._snapshot.said({i for i in ids if i not in self._analysed}):
            self._analysed[said.id] = analyse(said)

    def telling(self, id_: str) -> frozenset[str]:
        return blocking_keys(self._analysed[id_])

    def of(self, one: str, other: str) -> Opposed | None:
        """What is between two claims that were read; None where they don't surely contradict each other."""
        one, other = sorted((one, other))
        if one not in self._analysed or other not in self._analysed:
            return None
        found = oppose(self._analysed[one], self._analysed[other], self._snapshot.single_valued)
        return Opposed(one, other, found.kind.value, found.reasons) if found is not None and found.sure else None


async def opposed_claims(snapshot: Snapshot, judge_: Judge, fresh: Collection[str] | None) -> list[Opposed]:
    """Every pair of claims that hold and surely contradict each other, sorted; with `fresh` only those with one of these."""
    items = snapshot.stated(MemoryType.CLAIM)
    pairs = await _pairs(snapshot, judge_, items, fresh)
    await judge_.read({i for pair in pairs for i in pair})
    found = {(o.one, o.other): o for one, other in pairs if (o := judge_.of(one, other)) is not None}
    for o in await _by_key(snapshot, fresh):
        held = found.get((o.one, o.other))
        found[(o.one, o.other)] = o if held is None else Opposed(o.one, o.other, held.kind, held.reasons, by_key=True)
    return [found[pair] for pair in sorted(found)]


async def _pairs(snapshot: Snapshot, judge_: Judge, items: Sequence[Item], fresh: Collection[str] | None) -> list[tuple[str, str]]:
    keys: dict[object, list[int]] = {}
    subjects: dict[object, list[int]] = {}
    words: dict[object, list[int]] = {}
    for n, item in enumerate(items):
        if item.attribute:
            keys.setdefault((item.subject, item.attribute), []).append(n)
        if item.about or item.subject:
            subjects.setdefault(item.about or item.subject, []).append(n)
    terms: dict[int, frozenset[str]] = {}

    def said(n: int) -> frozenset[str]:
        if n not in terms:
            terms[n] = frozenset(terms_of(items[n].title))
        return terms[n]

    if fresh is None:
        short = [n for n in range(len(items)) if len(said(n)) <= TELLING]
        await judge_.read(items[n].id for n in short)
        for n in short:
            for key in judge_.telling(items[n].id):
                words.setdefault(key, []).append(n)
    new = None if fresh is None else [n for n, item in enumerate(items) if item.id in fresh]
    if new is not None and not new:
        return []
    found = candidate_pairs(snapshot.vectors(items), Groups(keys, subjects, words), new)
    return [(items[a].id, items[b].id) for a, b in found.tolist() if _comparable(items[a], items[b], said(a), said(b))]


def _comparable(one: Item, other: Item, words: frozenset[str], others: frozenset[str]) -> bool:
    """Whether two claims may speak of one thing, by what each says alone."""
    if one.attribute and (one.subject, one.attribute) == (other.subject, other.attribute):
        return one.value != other.value
    return max(len(words - others), len(others - words)) <= APART


async def _by_key(snapshot: Snapshot, fresh: Collection[str] | None) -> list[Opposed]:
    """The pairs of current values of a single-valued key that a contest sets against each other."""
    contested = [item for item in snapshot.stated(MemoryType.CLAIM) if item.contested and item.attribute and (fresh is None or item.id in fresh)]
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
