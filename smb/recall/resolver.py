"""The resolver: what the ledger says of a key at two clocks.

Owns the answer to "what is the A of S": one value, none, or several that disagree. Works from revisions alone: no score,
no similarity and no rank enters, so nothing that orders candidates can change it (REQUIREMENTS.md, section 3, items 5-6).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from smb.model.currentness import AsOf, Standing, as_object, judge
from smb.model.identity import fold
from smb.model.revision import Revision, Statement
from smb.model.validity import ALWAYS, Interval
from smb.recall.late_pattern import LatePattern
from smb.stores.catalog_reader import CatalogReader

_THOUSANDS = LatePattern(r"(?<=\d),(?=\d{3}\b)")
_UNIT_GAP = LatePattern(r"(?<=\d)\s+(?=[^\W\d]|[°%€$£¥])")


@dataclass(frozen=True, slots=True)
class Held:
    """A claim that holds for a key: its object, its value, when it holds and the revisions that make it so."""

    object_id: str
    value: str
    valid: Interval
    revisions: tuple[str, ...]
    documents: frozenset[str]
    contested: bool = False
    scope: str = ""  # where it holds, as a person said


@dataclass(frozen=True, slots=True)
class State:
    """One value. `claims` all say it; `excluded` are the objects whose other value their revisions replaced."""

    value: str
    claims: tuple[Held, ...]
    excluded: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Miss:
    """Nothing holds for the key at these clocks."""


@dataclass(frozen=True, slots=True)
class Conflict:
    """Values that stand against each other, each with the claims that say it; earliest recorded first."""

    sides: tuple[tuple[Held, ...], ...]

    @property
    def claims(self) -> tuple[Held, ...]:
        return tuple(held for side in self.sides for held in side)


Resolution = State | Miss | Conflict


def same_value(value: str) -> str:
    """A value as compared: folded, thousands unseparated, no space between a figure and its unit.

    >>> same_value("1,280 °C.") == same_value("1280°C")
    True
    """
    return _UNIT_GAP.sub("", _THOUSANDS.sub("", fold(value)))


def resolve(
    histories: Mapping[str, Iterable[Revision]], as_of: AsOf, key_of: Iterable[str] | None = None, during: Interval = ALWAYS
) -> Resolution:
    """The resolution over the claims of one key. `histories` maps object ids to histories as `judge` wants them; those in
    `key_of` (all by default) bear the key, the others are only what some of them are contested by.

    Equal values count once. Without a valid time, a value that ended before another began is no rival of it. With
    `during`, a value that ended within the stretch and was not replaced counts too, unless one holds at its end.
    """
    held = {i: list(histories[i]) for i in sorted(histories)}
    bearers = sorted(i for i in (key_of if key_of is not None else held) if i in held)
    standing: dict[str, Held] = {}
    against: dict[str, tuple[str, ...]] = {}
    ended: dict[str, Held] = {}
    excluded: dict[str, None] = {}
    for object_id in held:
        verdict = judge(held[object_id], as_of, object_id)
        then = as_object(held[object_id], as_of, object_id, verdict)
        if then is None:
            continue
        one = Held(
            object_id,
            then.value or then.title,
            verdict.valid,
            tuple(r.id for r in (*verdict.supports, *verdict.by)),
            frozenset(r.document for r in verdict.supports),
            verdict.standing is Standing.CONTESTED,
            dict(then.extra).get("scope", "").partition(": ")[2].strip('"'),
        )
        if verdict.holds:
            standing[object_id] = one
            if verdict.standing is Standing.CONTESTED:
                against[object_id] = tuple(dict.fromkeys(i for r in verdict.by for i in (r.object_id, *r.into) if i != object_id))
        elif verdict.standing is Standing.SUPERSEDED and object_id in bearers:
            excluded[object_id] = None
        elif verdict.standing is Standing.EXPIRED and object_id in bearers and during.known and verdict.valid.overlaps(during):
            ended[object_id] = one
    ours = {i: standing[i] for i in bearers if i in standing} or {i: ended[i] for i in bearers if i in ended}
    if as_of.valid_at is None:
        ours, former = _latest(ours)
        excluded.update(dict.fromkeys(former))
    if not ours:
        return Miss()
    sides: dict[str, dict[str, Held]] = {}
    for object_id, one in ours.items():
        sides.setdefault(same_value(one.value), {})[object_id] = one
        for rival in against.get(object_id, ()):
            if rival in standing:
                sides.setdefault(same_value(standing[rival].value), {})[rival] = standing[rival]
    ordered = sorted(
        (tuple(sorted(side.values(), key=lambda h: (_recorded(held[h.object_id]), h.object_id))) for side in sides.values()),
        key=lambda side: (_recorded(held[side[0].object_id]), side[0].object_id),
    )
    if len(ordered) > 1:
        return Conflict(tuple(ordered))
    return State(ordered[0][0].value, ordered[0], tuple(i for i in excluded if i not in ours))


async def resolve_key(reader: CatalogReader, object_ids: Sequence[str], as_of: AsOf, during: Interval = ALWAYS) -> Resolution:
    """The resolution of the key these claims share, with what contests them read from the catalog too."""
    histories = dict(await reader.histories(object_ids))
    rivals = {i for history in histories.values() for r in history for i in (r.object_id, *r.into)} - histories.keys()
    if rivals:
        histories.update(await reader.histories(sorted(rivals)))
    return resolve(histories, as_of, object_ids, during)


def _latest(claims: Mapping[str, Held]) -> tuple[dict[str, Held], list[str]]:
    """(the claims whose time is not over when another value's begins, the others)."""
    former = [
        i
        for i, one in claims.items()
        if one.valid.end is not None
        and any(
            other.valid.start is not None
            and other.valid.start >= one.valid.end
            and same_value(other.value) != same_value(one.value)
            for other in claims.values()
        )
    ]
    return {i: one for i, one in claims.items() if i not in former}, former


def _recorded(history: Sequence[Revision]) -> str:
    """When an object was first stated, as sortable text."""
    return min((r.recorded_at.isoformat() for r in history if r.recorded_at and isinstance(r.statement, Statement)), default="")
