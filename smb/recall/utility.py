"""How useful each candidate is to whoever asks: the eleven dimensions laid over the rank evidence, and the order of choice.

    total = rank evidence + PROFILE_SHARE · Σ w_d · d

Rank evidence is what `score` and `rank_objects` make of the routes (a good passage has about 1). With PROFILE_SHARE the
weights of REQUIREMENTS.md keep their proportions and the profile decides among near equals: it can't lift what hardly
answers over what does. Chosen on the development half of LoCoMo, where base gains at every share from 0.03 to 0.1 (at 0.1
against none: turn Hit@1 +0.7, Hit@10 +0.7 points, session Hit@10 the same); the largest of these shows profiles best.

Owns the first pass over all candidates and the greedy choice, which works redundancy, contradiction, cost and novelty
out anew against what is chosen. These only ever lower a total, so a candidate whose new total still leads is the best of
all (lazy greedy; Minoux 1978) and few are worked out twice. Scores order; nothing here admits or excludes.
"""

from __future__ import annotations

import heapq
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Any

from smb.model.goal import GoalLevel
from smb.model.validity import from_iso
from smb.model.verification import MULTIPLIER, NOT_A_CLAIM
from smb.recall import dimensions as d
from smb.recall.pack import Unit, tokens_of
from smb.recall.standpoint import Standpoint
from smb.stores.strength_table import Strength

PROFILE_SHARE = 0.1
COMPARED = 400  # candidates, best first, that the choice is made from
_DIGITS = 6

Vectors = Callable[[Sequence[int]], Any]


class Utility:
    """The totals of one recall's candidates.

    `vectors(rows)` gives float32 (n, dimension) of matrix rows (None where there are none), `similarity` the question's
    cosine by matrix row, `embed(texts)` float32 (n, dimension); `documents` and `evidence` are catalog rows by id, as
    the pipeline holds them; `strengths` what use has made of units, by id.
    """

    def __init__(
        self, standpoint: Standpoint, budget: int, documents: Mapping[str, Any], evidence: Mapping[str, Sequence[Any]],
        similarity: Any = None, vectors: Vectors | None = None, embed: Callable[[Sequence[str]], Any] | None = None,
        strengths: Mapping[str, Strength] = MappingProxyType({}),
    ):  # fmt: skip
        self.standpoint, self.budget = standpoint, budget
        self._documents, self._evidence, self._similarity = documents, evidence, similarity
        self._vectors = vectors if similarity is not None else None
        self._aims = embed([g.text for g in standpoint.goals]) if embed and standpoint.goals and self._vectors else None
        self._strengths = strengths
        self._tagged = any(g.tags for g in standpoint.goals)
        self._recency: dict[str, float] = {}
        self._tokens: dict[str, int] = {}

    # ------------------------------------------------------------ first pass

    def weigh(self, units: Iterable[Unit]) -> list[Unit]:
        """The units with dimensions and totals as if nothing were chosen yet, best first; ties by kind and id."""
        held = list(units)
        rows = {u.id: row for u in held if (row := _vector_row(u)) is not None}
        turns = self._turns(rows)
        aims = self._cosines(rows) if self._aims is not None else {}
        for unit in held:
            unit.rank_evidence = unit.score
            self._set(unit, self._alone(unit, turns.get(unit.id, 0.0), aims.get(unit.id)))
        return sorted(held, key=lambda u: (-u.score, u.kind, u.id, u.row))

    def _alone(self, unit: Unit, turn: float, aims: Sequence[float] | None) -> d.Dimensions:
        view, row = self.standpoint, unit.judged.row if unit.judged is not None else None
        session, standing = self._goals(unit, aims) if view.goals else (0.0, 0.0)
        return d.Dimensions(
            d.turn_relevance(turn),
            session,
            standing,
            self._recent(unit),
            d.successful_use(*self._used(unit)) if view.uses else d.UNUSED,
            d.confidence(row["confidence"] if row is not None else NOT_A_CLAIM, (MULTIPLIER[row["verification"]] if row is not None else 1.0) * factor_of(unit, self._strengths)),
            d.evidence_strength(row["supports"] if row is not None else 1, view.profile.evidence_most),
            d.novelty(bool(view.seen) and not view.seen.isdisjoint((unit.id, *unit.attached))),
            0.0,
            0.0,
            d.cost(self._size(unit), self.budget),
        )

    def _turns(self, rows: Mapping[str, int]) -> dict[str, float]:
        """Unit id → its cosine with the question."""
        if self._similarity is None:
            return {}
        known = {i: row for i, row in rows.items() if row < len(self._similarity)}
        return dict(zip(known, self._similarity[list(known.values())].tolist(), strict=True)) if known else {}

    def _set(self, unit: Unit, values: d.Dimensions) -> None:
        unit.dimensions = values
        unit.score = round(unit.rank_evidence + PROFILE_SHARE * d.utility(values, self.standpoint.profile.weights), _DIGITS)

    def _used(self, unit: Unit) -> tuple[int, int]:
        """Feedback on the unit and on what stands in the same lines: one line of a source is one item."""
        told = [self.standpoint.uses[i] for i in (unit.id, *unit.attached) if i in self.standpoint.uses]
        return sum(s for s, _ in told), sum(u for _, u in told)

    def _recent(self, unit: Unit) -> float:
        """By the newest date of the documents that say it, else by when the bank learned it."""
        if unit.document in self._recency:
            return self._recency[unit.document]
        documents = {unit.document} if unit.document else {line["document_id"] for line in self._evidence.get(unit.id, ())}
        found = [self._recent_document(i) for i in documents if i in self._documents]
        return max(found) if found else self._since(unit.recorded_at, self.standpoint.clock.recorded) if unit.recorded_at else 0.0

    def _recent_document(self, document: str) -> float:
        if document not in self._recency:
            row, clock = self._documents[document], self.standpoint.clock
            dated = row["valid_from"] is not None
            self._recency[document] = self._since(row["valid_from"] if dated else row["recorded_at"], clock.dated if dated else clock.recorded)
        return self._recency[document]

    def _since(self, iso: str, now: datetime | None) -> float:
        at = from_iso(iso)
        if at is None or now is None:
            return 0.0
        return d.recency((now - at).total_seconds() / 3600, self.standpoint.profile.half_life)

    def _size(self, unit: Unit) -> int:
        if unit.id not in self._tokens:
            self._tokens[unit.id] = tokens_of(unit.text)
        return self._tokens[unit.id]

    # ------------------------------------------------------------ goals

    def _goals(self, unit: Unit, aims: Sequence[float] | None) -> tuple[float, float]:
        goals = self.standpoint.goals
        cosines = dict(zip((g.id for g in goals), aims if aims is not None else (), strict=False))
        session = [g for g in goals if g.level is GoalLevel.SESSION]
        direct = indirect = False
        if self._tagged:
            own, around = self._tags(unit)
            wanted = {t for g in session for t in g.tags}
            direct = not wanted.isdisjoint(own)
            indirect = not wanted.isdisjoint(around) or any(t.startswith(f"{w}/") for t in own | around for w in wanted)
        of_session = [(cosines[g.id], [cosines[c.id] for c in goals if c.parent == g.id and c.id in cosines]) for g in session if g.id in cosines]
        standing = [cosines[g.id] for g in goals if g.level is GoalLevel.GLOBAL and g.id in cosines]
        return d.session_goal(direct, indirect, of_session), d.global_goal(standing)

    def _tags(self, unit: Unit) -> tuple[set[str], set[str]]:
        """(tags an item bears itself, tags of the documents it stands in); a passage bears those of its document."""
        documents = {unit.document, *(line["document_id"] for line in self._evidence.get(unit.id, ()))}
        around = {t for i in documents if i in self._documents for t in _folded(self._documents[i]["tags"])}
        return (_folded(unit.judged.row["tags"]), around) if unit.judged is not None else (around, set())

    def _cosines(self, rows: Mapping[str, int]) -> dict[str, list[float]]:
        """Unit id → its cosine with each goal."""
        import numpy as np

        assert self._vectors is not None
        found = np.round(np.einsum("ij,kj->ik", self._vectors(list(rows.values())), self._aims), _DIGITS)
        return dict(zip(rows, found.tolist(), strict=True))

    # ------------------------------------------------------------ choice

    def order(self, units: Sequence[Unit], chosen: list[Unit], opposed: Mapping[str, set[str]]) -> Iterator[Unit]:
        """The units in the order they are best chosen, the first COMPARED of them. The caller puts what it takes into
        `chosen` before it asks for the next. `opposed` maps an id to those a contradicts edge joins it to."""
        table = _Table(units[:COMPARED], self._vectors, self.standpoint, opposed)
        heap = [(-unit.score, place, 0, unit) for place, unit in enumerate(table.units)]
        heapq.heapify(heap)
        while heap:
            _, place, version, unit = heapq.heappop(heap)
            table.take(chosen)
            if version < table.taken:
                self._set(unit, self.against(unit, table, place))
                if heap and heap[0][:2] < (-unit.score, place):
                    heapq.heappush(heap, (-unit.score, place, table.taken, unit))
                    continue
            yield unit

    def against(self, unit: Unit, table: _Table, place: int) -> d.Dimensions:
        """The unit's dimensions with those that compare worked out against what is chosen."""
        assert unit.dimensions is not None
        profile, remaining = self.standpoint.profile, self.budget - sum(map(self._size, table.chosen))
        known = unit.dimensions.novelty == 0.0 or table.shows(unit)
        contested = unit.verdict == "contested"
        return unit.dimensions._replace(
            novelty=d.novelty(known),
            redundancy=d.redundancy(table.nearest(place), profile.redundant_above),
            contradiction=d.contradiction(contested, False, table.contradicts(unit), table.clashes(place)),
            cost=max(unit.dimensions.cost, d.cost(self._size(unit), remaining)),
        )

    def lapse(self, units: Iterable[Unit], chosen: Iterable[Unit], into: Mapping[str, Sequence[str]]) -> None:
        """Sets the contradiction of units that no longer hold: 1.0 where what superseded one (`into`) is chosen."""
        shown = {i for unit in chosen for i in (unit.id, *unit.attached)}
        for unit in units:
            if unit.dimensions is not None and not shown.isdisjoint(into.get(unit.id, ())):
                self._set(unit, unit.dimensions._replace(contradiction=d.contradiction(False, True, False, False)))


def factor_of(unit: Unit, strengths: Mapping[str, Strength]) -> float:
    """What use has made of a unit's confidence, or of what stands in the same lines."""
    return next((strengths[i].factor for i in (unit.id, *unit.attached) if i in strengths and strengths[i].factor != 1.0), 1.0) if strengths else 1.0


class _Table:
    """What the chosen units mean for the others: `nearest` cosine, clashes, what is shown already."""

    def __init__(self, units: Sequence[Unit], vectors: Vectors | None, standpoint: Standpoint, opposed: Mapping[str, set[str]]):
        self.units, self.chosen, self.taken = list(units), [], 0
        self._places = {unit.id: place for place, unit in enumerate(self.units)}
        self._profile, self._opposed = standpoint.profile, opposed
        self._ids: set[str] = set()
        self._texts: set[str] = set()
        self._matrix = self._nearest = self._clashes = None
        rows = [(place, row) for place, unit in enumerate(self.units) if (row := _vector_row(unit)) is not None]
        if vectors is not None and rows:
            import numpy as np

            held = vectors([row for _, row in rows])
            self._matrix = np.zeros((len(self.units), held.shape[1]), np.float32)
            self._matrix[[place for place, _ in rows]] = held
            self._sure = np.array([u.dimensions.confidence if u.dimensions else 0.0 for u in self.units], np.float32)
            self._nearest, self._clashes = np.zeros(len(self.units), np.float32), np.zeros(len(self.units), bool)

    def take(self, chosen: Sequence[Unit]) -> None:
        """Takes note of what was chosen since the last call."""
        for unit in chosen[self.taken :]:
            self.chosen.append(unit)
            self._ids.update((unit.id, *unit.attached))
            self._texts.add(_plain(unit.text))
            if self._matrix is not None and (place := self._places.get(unit.id)) is not None:
                self._compare(place)
        self.taken = len(chosen)

    def _compare(self, place: int) -> None:
        import numpy as np

        cosines = np.round(np.einsum("ij,j->i", self._matrix, self._matrix[place]), _DIGITS)
        np.maximum(self._nearest, cosines, out=self._nearest)
        self._clashes |= (cosines > self._profile.clash_above) & (self._sure[place] - self._sure > self._profile.clash_gap)

    def nearest(self, place: int) -> float:
        return float(self._nearest[place]) if self._nearest is not None else 0.0

    def clashes(self, place: int) -> bool:
        """Whether a chosen unit nearly the same is much surer."""
        return self._clashes is not None and bool(self._clashes[place])

    def contradicts(self, unit: Unit) -> bool:
        return any(not self._ids.isdisjoint(self._opposed.get(i, ())) for i in (unit.id, *unit.attached))

    def shows(self, unit: Unit) -> bool:
        """Whether what is chosen says the same words or stands in the same lines."""
        return _plain(unit.text) in self._texts or not self._ids.isdisjoint((unit.id, *unit.attached))


def _vector_row(unit: Unit) -> int | None:
    if unit.passage is not None:
        return unit.passage["vector_row"]
    return unit.judged.row["vector_row"] if unit.judged is not None else None


def _folded(tags: str) -> set[str]:
    return {str(tag).lstrip("#").casefold() for tag in json.loads(tags)}


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
