"""What the ledger itself says to a question, before anything is ranked into a pack.

Owns the step from a question to its surface (REQUIREMENTS.md, section 3, item 11): the state of a key, the members of a
class, the date of a happening, the time between two. Works from candidates' identities and revisions, never from their
scores. An empty finding leaves the question to the items.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import assert_never

from smb.model.english import STOP_WORDS
from smb.model.identity import fold
from smb.model.validity import to_iso
from smb.recall.class_question import class_question
from smb.recall.dated import Dated
from smb.recall.decided import decided, several
from smb.recall.discover import Found, stem
from smb.recall.elapsed import elapsed, ends_of, happened, written
from smb.recall.members import Member, members_of
from smb.recall.pack import Unit
from smb.recall.query import Operation, Plan, content_words
from smb.recall.rank_objects import object_unit, passage_unit
from smb.recall.resolver import Conflict, Held, Miss, State, resolve_key
from smb.recall.score import Signals
from smb.recall.verdicts import Judged, judge_objects
from smb.stores.catalog_reader import CatalogReader

KEY_WHOLE = 0.999  # a key is asked for when its attribute's words are all in the question …
KEY_COVERS = 0.5  # … and it holds this share of the question's words
DISAGREE = "Notes disagree about what was asked; both sides are in `conflicts`."
_DIGITS = re.compile(r"\d")

ReadSource = Callable[[str], bytes]


@dataclass(slots=True)
class Finding:
    """`group` must be shown whole or there is no answer; `members` (name, the unit that shows it) as far as there is room.

    `outcome` is "" where the items decide; `total` and `value` are what the ledger counts and answers, `lead` the unit the
    answer is read off. `excluded` are object ids of older values the answer's revisions replaced, `against` what each side of
    a conflict stands against.
    """

    outcome: str = ""
    reason: str | None = None
    value: str | None = None
    lead: Unit | None = None
    total: int | None = None
    key: tuple[str, str] | None = None
    group: list[Unit] = field(default_factory=list)
    members: list[tuple[str, Unit]] = field(default_factory=list)
    excluded: tuple[str, ...] = ()
    against: dict[str, tuple[str, ...]] = field(default_factory=dict)


async def find(plan: Plan, reader: CatalogReader, found: Found, units: Sequence[Unit], read_source: ReadSource) -> Finding:
    """The finding for a question. `units` are the ranked candidates, reused where the finding shows one of them."""
    shelf = _Shelf(units, found)
    match plan.operation:
        case Operation.FACT:
            return await _keyed(plan, reader, found, shelf)
        case Operation.TEMPORAL_LOOKUP:
            return await _when(plan, reader, found, shelf)
        case Operation.TEMPORAL_ARITHMETIC:
            return await _elapsed(plan, reader, found, shelf)
        case Operation.COUNT | Operation.LIST:
            return await _members(plan, reader, found, shelf, read_source)
        case _ as never:
            assert_never(never)


class _Shelf:
    """Units by what they show, made where no route brought one."""

    def __init__(self, units: Sequence[Unit], found: Found):
        self.found = found
        self.by_id: dict[str, Unit] = {}
        for unit in units:
            for id_ in (unit.id, *unit.attached):
                if unit.verdict in ("current", "contested"):
                    self.by_id.setdefault(id_, unit)

    def object(self, row: int, judged: Judged) -> Unit:
        """The unit of an object itself, also where it stood behind its passage until now."""
        held = self.by_id.get(judged.row["id"])
        if held is not None and held.id == judged.row["id"]:
            return held
        made = object_unit(row, judged, held.score if held else 0.0, self.found)
        if held is not None:
            made.document, made.signals, made.routes = held.document, held.signals, {**held.routes, **made.routes}
            made.attached = [i for i in (held.id, *held.attached) if i != made.id]
        self.by_id[made.id] = made
        return made

    def member(self, member: Member, judged: Mapping[int, Judged]) -> Unit | None:
        if member.passage is not None:
            return self.passage(member.passage)
        return self.object(member.object_row, judged[member.object_row]) if member.object_row in judged else None

    def passage(self, passage) -> Unit:
        held = self.by_id.get(passage["id"])
        if held is None or held.kind != "passage":
            held = passage_unit(
                passage["rowid"],
                passage,
                held.score if held else 0.0,
                "current",
                held.signals if held and held.signals else Signals(),
                self.found,
            )
            self.by_id[held.id] = held
        return held

    def dated(self, one: Dated) -> Unit:
        if one.passage is not None:
            return self.passage(one.passage)
        assert one.object_row is not None and one.judged is not None
        return self.object(one.object_row, one.judged)


# ------------------------------------------------------------ the state of a key


async def _keyed(
    plan: Plan, reader: CatalogReader, found: Found, shelf: _Shelf, only: Callable[[str], bool] = lambda _: True
) -> Finding:
    """The resolution of the key the question asks for; `only` says which values can answer it."""
    rows = await asked_key(plan, reader, found)
    if not rows:
        return Finding()
    ids = {row["id"]: row["rowid"] for row in rows}
    resolution = await resolve_key(reader, sorted(ids), plan.as_of, plan.during)
    key = (rows[0]["subject"], rows[0]["attribute"])
    match resolution:
        case Miss():
            return Finding()
        case State(value, claims, excluded):
            if not only(value):
                return Finding()
            units = await _units(claims[:1], plan, reader, shelf)
            if not units:
                return Finding()
            if units[0].updated_by:
                return Finding(reason="A later note reads as if it changed this; both are among the items.", key=key)
            return Finding(value=value, lead=units[0], total=1, key=key, group=units, excluded=excluded)
        case Conflict(sides):
            newest = sorted(
                (side[0] for side in sides), key=lambda held: (to_iso(held.valid.start) or "", held.object_id), reverse=True
            )
            units = await _units(newest, plan, reader, shelf)
            if len(units) < 2:
                return Finding()
            if _in_plural(plan, rows[0]["attribute"]):
                return Finding(total=len(units), key=key, members=[(unit.title, unit) for unit in units])
            if (why := await decided(sides, reader)):
                return Finding(reason=why, total=len(units), key=key, members=[(unit.title, unit) for unit in units])
            for unit in units:
                unit.verdict = "contested"
            return Finding(
                "conflict",
                DISAGREE if any(held.contested for held in resolution.claims) else several(rows[0]["attribute"]),
                total=len(sides),
                key=key,
                group=units,
                against={unit.id: tuple(other.id for other in units if other is not unit) for unit in units},
            )
        case _ as never:
            assert_never(never)


async def asked_key(plan: Plan, reader: CatalogReader, found: Found) -> list:
    """The claims (catalog rows) of the one key a question asks for: its subject named, its attribute said, and no other key
    that holds as many of the question's words. Empty where there is none."""
    rows = await reader.objects(sorted(row for row, share in found.keys.items() if share >= KEY_WHOLE))
    asked = {stem(fold(term)) for term in content_words(plan.untimed)}
    implied = {stem(word) for word in plan.implied}
    keys: dict[tuple[str, tuple[str, ...]], list] = {}
    for row in rows:
        attribute = tuple(sorted(stem(w) for w in row["attribute"].split() if w not in STOP_WORDS)) or (row["attribute"],)
        keys.setdefault((row["about"] or row["subject"], attribute), []).append(row)
    names: dict[str, set[str]] = {}
    for name, object_id in await reader.names_of({about for about, _ in keys}):
        names.setdefault(object_id, set()).update(stem(w) for w in name.split())
    held: dict[tuple[str, tuple[str, ...]], float] = {}
    for (about, attribute), claims in keys.items():
        words = {stem(w) for row in claims for w in row["subject"].split()} | names.get(about, set()) | set(attribute)
        said = {term for term in asked if term in words}
        held[(about, attribute)] = len(said) + (0.5 if set(attribute) & implied and not set(attribute) & asked else 0.0)
    best = max(held.values(), default=0.0)
    chosen = [key for key, share in held.items() if share == best]
    if len(chosen) != 1 or best < KEY_COVERS * len(asked):
        return []
    return keys[chosen[0]]


def _in_plural(plan: Plan, attribute: str) -> bool:
    """Whether the question asks for an attribute in the plural ("the ports of the server"): then several values are no conflict."""
    stems = {stem(word) for word in attribute.split()}
    return any(stem(word) in stems and word.endswith("s") and not word.endswith("ss") for word in map(fold, plan.terms))


async def _units(claims: Sequence[Held], plan: Plan, reader: CatalogReader, shelf: _Shelf) -> list[Unit]:
    """The units of claims, in their order; those outside the question's scope left out."""
    ids = [held.object_id for held in claims]
    rows = await reader.object_rows(ids, plan.scope)
    judged = await judge_objects(await reader.objects(rows.values()), plan.as_of, reader, plan.during)
    return [shelf.object(rows[i], judged[rows[i]]) for i in ids if i in rows and judged[rows[i]].holds]


# ------------------------------------------------------------ when, how long


async def _when(plan: Plan, reader: CatalogReader, found: Found, shelf: _Shelf) -> Finding:
    """The date of the one dated statement that says all of the question."""
    keyed = await _keyed(plan, reader, found, shelf, only=lambda value: bool(_DIGITS.search(value)))
    if keyed.group:
        return keyed
    dated = await happened(plan, reader)
    if dated is None:
        return Finding()
    unit = shelf.dated(dated)
    return Finding(value=written(dated.when), lead=unit, total=1, group=[unit])


async def _elapsed(plan: Plan, reader: CatalogReader, found: Found, shelf: _Shelf) -> Finding:
    """The time between the question's two ends, both shown; `insufficient` with the reason where one has no date."""
    if not ends_of(plan.text):
        return await _keyed(plan, reader, found, shelf)
    result = await elapsed(plan, reader)
    units = list({unit.id: unit for unit in map(shelf.dated, result.ends)}.values())
    if result.value is None:
        return Finding("insufficient", result.reason, members=[(unit.title, unit) for unit in units])
    return Finding(value=result.value, lead=units[-1] if units else None, total=None, group=units)


# ------------------------------------------------------------ how many, which


async def _members(plan: Plan, reader: CatalogReader, found: Found, shelf: _Shelf, read_source: ReadSource) -> Finding:
    asked = class_question(plan.untimed, plan.operation)
    if asked is None:
        return await _keyed(plan, reader, found, shelf) if plan.operation is Operation.COUNT else Finding()
    members = await members_of(asked, plan, reader, read_source)
    shown = [(member.name, unit) for member in members.found if (unit := shelf.member(member, members.judged)) is not None]
    counts = plan.operation is Operation.COUNT
    if members.stated is not None and members.sure:
        number, row = members.stated
        unit = shelf.object(row, members.judged[row])
        if counts:
            return Finding(
                value=members.judged[row].value, lead=unit, total=number if not shown else len(shown), group=[unit], members=shown
            )
    if members.total is None or not shown:
        keyed = await _keyed(plan, reader, found, shelf)
        return keyed if keyed.group else Finding()
    return Finding(value=str(members.total) if counts else None, lead=shown[0][1], total=members.total, members=shown)
