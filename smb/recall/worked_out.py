"""Items that were worked out from others: what they rest on, and whether that still stands.

Owns which candidates are such and how many of them may stand beside what notes state; the closure, the trust and the warnings of
those that are shown. They are never evidence: what they say is in what they cite.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from smb.model.authorship import MODEL
from smb.model.currentness import AsOf, Standing, as_object, judge
from smb.model.objects import Verification
from smb.model.revision import Revision, Statement
from smb.model.validity import Interval, from_iso
from smb.model.verification import MULTIPLIER
from smb.recall.dimensions import confidence
from smb.recall.pack import Unit
from smb.recall.query import Plan
from smb.stores.catalog_reader import CatalogReader
from smb.stores.strength_table import PLAIN, strengths

SHARE = 3  # one in so many items of an overview may be worked out
SIDED = frozenset({"contradiction", "question"})  # come with what they are about
DEEPEST, MOST = 4, 400  # levels and objects of a closure that are followed


@dataclass(frozen=True, slots=True)
class Basis:
    """What one item rests on. `cited` are the ids it names itself, `closure` those below them too, nearest first; `stale` says what
    changed since evolution last looked ("" for nothing), `contested` that something it rests on is; `trust` is the least of all."""

    cited: tuple[str, ...]
    closure: tuple[str, ...]
    stale: str
    contested: bool
    trust: float


def admitted(units: Sequence[Unit], asked: Plan, n: int, named: Collection[str] = ()) -> list[Unit]:
    """`units` with as many worked out ones as may be shown: all where the scope asks for them, else, of those that hold, the
    best few. Those that are `named` by the question are shown for that. The records of cycles are only for who asks for them."""
    if asked.scope.types or any(asked.scope.layers):
        return list(units)
    room = max(0, max(1, n // SHARE) - len(named))
    kept: list[Unit] = []
    for unit in units:
        if unit.worked_out and unit.id not in named:
            if not room or unit.type == "evolution" or unit.verdict not in ("current", "contested"):
                continue
            room -= 1
        kept.append(unit)
    return kept


async def bases(units: Iterable[Unit], as_of: AsOf, reader: CatalogReader) -> dict[str, Basis]:
    """Id → basis of the units that were worked out."""
    made = {unit.id: unit for unit in units if unit.worked_out}
    if not made:
        return {}
    histories = await reader.histories(made)
    waiting = dict.fromkeys(i for id_ in made for i in _derived_from(histories[id_], as_of, id_))
    for _ in range(DEEPEST):
        new = [i for i in waiting if i not in histories][:MOST]
        if not new:
            break
        histories.update(await reader.histories(new))
        waiting = dict.fromkeys(i for id_ in new for i in _derived_from(histories[id_], as_of, id_))
    verdicts = {i: judge(history, as_of, i) for i, history in histories.items()}
    rows = {row["id"]: row for row in await reader.weighed(histories)}
    use = await strengths(reader.catalog, histories)
    trust = {i: confidence(row["confidence"], MULTIPLIER[Verification(row["verification"])] * use.get(i, PLAIN).factor) for i, row in rows.items()}
    looked = await reader.looked_at() if as_of.known_at is None else {}
    found: dict[str, Basis] = {}
    for id_, unit in made.items():
        cited = _derived_from(histories[id_], as_of, id_)
        below = _below(id_, histories, as_of)
        actor = next((_looked_after_by(r) for r in reversed(verdicts[id_].supports)), "")
        changed = [
            i for i in cited
            if i in rows and rows[i]["changed"] > looked.get(actor, 0) and _changed(histories[i], i, from_iso(unit.recorded_at or None), as_of)
        ]
        found[id_] = Basis(
            cited, below,
            _reason([(rows[i]["title"], verdicts[i].standing) for i in changed]),
            any(verdicts[i].standing is Standing.CONTESTED for i in (id_, *below) if i in verdicts),
            round(min(trust[i] for i in (id_, *below) if i in trust), 4) if id_ in trust else 0.0,
        )
    return found


def _looked_after_by(r: Revision) -> str:
    """The phase that says it, or whose words a model reworded."""
    return r.statement.identity.partition(":")[0] if r.actor.startswith(MODEL) and isinstance(r.statement, Statement) else r.actor


def _derived_from(history: Sequence[Revision], as_of: AsOf, id_: str) -> tuple[str, ...]:
    supports = judge(history, as_of, id_).supports
    return tuple(dict.fromkeys(i for r in supports if isinstance(r.statement, Statement) for i in r.statement.derived_from if i != id_))


def _below(id_: str, histories: Mapping[str, Sequence[Revision]], as_of: AsOf) -> tuple[str, ...]:
    """Everything under an object as far as it was read, level by level."""
    found: dict[str, None] = {}
    level = [id_]
    while level:
        level = [i for one in level for i in _derived_from(histories[one], as_of, one) if i in histories and i != id_ and i not in found]
        found.update(dict.fromkeys(level))
        level = list(dict.fromkeys(level))
    return tuple(found)


def _changed(history: Sequence[Revision], id_: str, since: datetime | None, as_of: AsOf) -> bool:
    """Whether what an object says or how it stands is another than it was known to be at `since`; that it is contested, said by
    more notes or said again is no change of it."""
    return since is not None and _state(history, id_, AsOf(as_of.valid_at, since)) != _state(history, id_, as_of)


def _state(history: Sequence[Revision], id_: str, as_of: AsOf) -> tuple[str, str, Interval | None, Standing]:
    """(title, value, validity, standing) of an object; a contested one stands as a current one does."""
    verdict = judge(history, as_of, id_)
    then = as_object(history, as_of, id_, verdict)
    return (then.title if then else "", then.value or "" if then else "", verdict.valid, Standing.CURRENT if verdict.holds else verdict.standing)


def _reason(changed: Sequence[tuple[str, Standing]]) -> str:
    """What became of the first cited object that changed, and how many more did."""
    if not changed:
        return ""
    title, standing = changed[0]
    short = title if len(title) <= 80 else f"{title[:79]}…"
    what = "has changed since" if standing in (Standing.CURRENT, Standing.CONTESTED) else f"is {standing} since"
    more = f", and {len(changed) - 1} more of what it cites" if len(changed) > 1 else ""
    return f"“{short}” {what}{more}"
