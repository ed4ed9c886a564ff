"""What rules leave unsure: pairs that may contradict each other, and pairs that may be one.

Owns which pairs are worth a model's time, and what it is shown of each. Leaves out what is decided: by rules, by a person, by a
contradiction the bank holds already.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from smb.evolve.contradictions import Known, fresh_claims
from smb.evolve.chronicle.dated import OF_THE_NOTE
from smb.evolve.duplicates import known_of, same_names, undone_merges
from smb.evolve.opposing.opposed_claims import Judge, compared_pairs
from smb.evolve.opposing.opposition import Analysed
from smb.evolve.sameness.same_claim import CLOSE, same_claim
from smb.evolve.sameness.same_name import same_name
from smb.evolve.said import Said
from smb.evolve.snapshot import Item, Snapshot
from smb.evolve.judging.verdicts import Side
from smb.model.disagreement import covered
from smb.model.objects import MemoryType
from smb.model.validity import Interval, to_iso

CLAIMS, NAMES = "claims", "names"
ALIKE = 0.85  # cosine from which on two claims may be one: less than rules ask for, as more is asked of them here
QUOTES = 2  # quotes shown of a side
_FIGURE = re.compile(r"\w*\d[\w.,:-]*\b")
_UNFIT = frozenset(("instruction", "hypothetical"))


@dataclass(frozen=True, slots=True)
class Unsure:
    """Two objects (one < other). `kind` and `reasons` say how rules would have them opposed ("" where they would not), `one_thing` why
    they may be one ("" where nothing says so)."""

    what: str
    one: str
    other: str
    kind: str = ""
    reasons: tuple[str, ...] = ()
    one_thing: str = ""
    likeness: float = 0.0

    @property
    def row(self) -> list[str]:
        return [self.what, self.one, self.other]

    @property
    def rank(self) -> tuple[object, ...]:
        """The most promising first."""
        return (not self.kind, -self.likeness, self.one, self.other)


async def unsure(snapshot: Snapshot, judge_: Judge, known: Collection[Known], waiting: Iterable[list[str]], actor: str) -> list[Unsure]:
    """Every unsure pair of which one changed since the phase last looked, and those that were `waiting` and are unsure still."""
    left = {what: {(a, b) for w, a, b in waiting if w == what and a in snapshot.items and b in snapshot.items} for what in (CLAIMS, NAMES)}
    barred = await undone_merges(snapshot.catalog, actor)
    found = [*await _claims(snapshot, judge_, known, left[CLAIMS], barred), *await _names(snapshot, left[NAMES], barred)]
    return sorted(found, key=lambda u: u.rank)


async def _claims(snapshot: Snapshot, judge_: Judge, known: Collection[Known], left: Collection[tuple[str, str]], barred: Collection[frozenset[str]]) -> list[Unsure]:
    claims = [c for c in snapshot.stated(MemoryType.CLAIM) if not _UNFIT & set(c.tags) and c.attribute not in OF_THE_NOTE]
    fresh = None if snapshot.since == 0 else await fresh_claims(snapshot, claims)
    pairs = sorted({*await compared_pairs(snapshot, judge_, claims, fresh), *left})
    ids = {i for pair in pairs for i in pair}
    await judge_.read(ids)
    said = {s.id: s for s in await snapshot.said(ids)}
    likeness = _likeness(snapshot, pairs)
    raised = _raised(known, snapshot)
    found = []
    for (a, b), alike in zip(pairs, likeness, strict=True):
        if any(covered(d.disagreement, a, b, snapshot.canonical) for d in raised.get(a, ()) if d in raised.get(b, ())):
            continue
        opposed = judge_.unsure(a, b)
        one_thing = _one_thing(said[a], said[b], judge_) if (alike >= ALIKE or opposed) and frozenset((a, b)) not in barred else ""
        if opposed is not None:
            found.append(Unsure(CLAIMS, a, b, opposed.kind, opposed.reasons, one_thing, alike))
        elif one_thing and judge_.of(a, b) is None:
            found.append(Unsure(CLAIMS, a, b, one_thing=one_thing, likeness=alike))
    return found


def _raised(known: Iterable[Known], snapshot: Snapshot) -> dict[str, list[Known]]:
    found: dict[str, list[Known]] = {}
    for one in known:
        for i in {snapshot.canonical(claim) for claim in one.disagreement.claims}:
            found.setdefault(i, []).append(one)
    return found


def _likeness(snapshot: Snapshot, pairs: Collection[tuple[str, str]]) -> list[float]:
    """The cosine of each pair, 3 digits."""
    import numpy as np

    if not pairs:
        return []
    ids = sorted({i for pair in pairs for i in pair})
    at = {i: n for n, i in enumerate(ids)}
    vectors = snapshot.vectors([snapshot.items[i] for i in ids])
    one, other = (np.asarray([at[pair[n]] for pair in pairs]) for n in (0, 1))
    return [round(float(x), 3) for x in np.einsum("ij,ij->i", vectors[one], vectors[other])]


def _one_thing(one: Said, other: Said, judge_: Judge) -> str:
    """Why two claims that are alike may be one: nothing hard differs, and no word of weight stands against another."""
    if one.key != other.key or _FIGURE.findall(one.text) != _FIGURE.findall(other.text) or (why := same_claim(one, other, CLOSE)) is None or why.sure:
        return ""
    a, b = judge_.analysed(one.id), judge_.analysed(other.id)
    return "" if a.cjk or b.cjk or _weighs(a, b) and _weighs(b, a) else why.reason


def _weighs(a: Analysed, b: Analysed) -> bool:
    """Whether `a` has a telling word, not its verb, that `b` has nothing for."""
    return any(t.weight >= 1 and not t.main and t.concept not in b.concepts for t in a.tokens)


async def _names(snapshot: Snapshot, left: Collection[tuple[str, str]], barred: Collection[frozenset[str]]) -> list[Unsure]:
    same = {pair: why for pair, why in (await same_names(snapshot)).items() if not why.sure}
    if again := sorted(pair for pair in left if pair not in same):
        known = await known_of(snapshot, again)
        same |= {pair: why for pair in again if (why := same_name(known[pair[0]], known[pair[1]])) is not None and not why.sure}
    return [Unsure(NAMES, a, b, one_thing=why.reason) for (a, b), why in sorted(same.items()) if frozenset((a, b)) not in barred]


# ---------------------------------------------------------------- what is shown

async def sides_of(snapshot: Snapshot, ids: Collection[str]) -> dict[str, Side]:
    """What a model is shown of each object: its words, its quotes, and where, when and by whom it is said."""
    evidence, homes, documents = await snapshot.evidence(ids), await snapshot.documents_of(ids), await snapshot.documents()
    said = {s.id: s for s in await snapshot.said(ids)}
    sides = {}
    for i in sorted(set(ids)):
        item = snapshot.items[i]
        told = [documents[d] for d in homes.get(i, ())[:1]]
        around = [f"Note: {d.title}" for d in told]
        around += [f"Dated: {_span(d.date)}" for d in told if d.date.known]
        around += _scope(item, said.get(i))
        quotes = tuple(span.quote for span in sorted(evidence.get(i, ()), key=lambda s: (s.source, s.byte_start)))[:QUOTES]
        sides[i] = Side(item.title, quotes or (item.title,), tuple(" ".join(line.split())[:200] for line in around))
    return sides


def _scope(item: Item, said: Said | None) -> list[str]:
    lines = [f"Under: {' › '.join(said.context[1:])}"] if said is not None and len(said.context) > 1 else []
    lines += [f"Said by: {item.attributed_to}"] if item.attributed_to else []
    return [*lines, *([f"Holds: {_span(item.valid)}"] if item.valid.known else [])]


def _span(interval: Interval) -> str:
    start, end = ((to_iso(at) or "")[:10] for at in (interval.start, interval.end))
    return f"{start} to {end}" if start and end else f"since {start}" if start else f"until {end}"
