"""What a phase proposes, and how proposals become revisions.

Owns the comparison of what a phase wants to hold with what it holds: the same is nothing, another wording a restatement,
what is no longer wanted a revoke. A model's rewording of what it wants is the same. What a person took over or took away is left as they left it. Never commits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from smb.evolve.snapshot import Snapshot
from smb.model.authorship import said_by, text_hash, worded_from
from smb.model.currentness import is_rejected, stated
from smb.model.evidence import Span
from smb.model.identity import object_id, slugify
from smb.model.objects import MemoryType, Mode
from smb.model.revision import Revision, RevisionKind, Statement, new_revision
from smb.stores.catalog import Catalog

OVER = "what it rests on no longer says so"
UNDONE = "undone"  # reason of what an undo takes away, and of the earlier words it gives back
KEPT_AWAY = (MemoryType.CONTRADICTION, MemoryType.QUESTION)  # once taken away, not raised again in other words


@dataclass(frozen=True, slots=True)
class Wanted:
    """An object a phase wants the bank to hold. `statement.identity` begins with the name of the phase and a colon, except
    for a relationship, which has the identity any relationship of its ends has."""

    type: MemoryType
    statement: Statement
    evidence: tuple[Span, ...] = ()

    @property
    def id(self) -> str:
        return object_id(self.type.value, self.statement.identity)

    @property
    def page(self) -> str:
        """The stem of the file it would have if it were born now."""
        return f"{slugify(self.statement.title)}-{self.id}"

    @property
    def text(self) -> str:
        """The hash a rewording of it bears."""
        return text_hash(self.id, self.type.value, self.statement, self.evidence)


@dataclass(slots=True)
class Proposals:
    """What a phase would like. `considered` are ids of objects it holds and looked at again: those that are not wanted any
    more are revoked. `revisions` are merges, splits, contests and their ends, made with `new_revision`."""

    wanted: list[Wanted] = field(default_factory=list)
    considered: set[str] = field(default_factory=set)
    revisions: list[Revision] = field(default_factory=list)
    note: str = ""


class Phase(Protocol):
    """One kind of evolution. `name` is the actor of its revisions; `version` is another one when its rules are, so that it
    looks at everything again. `propose` is a function of the snapshot alone."""

    name: str
    version: int

    async def propose(self, snapshot: Snapshot) -> Proposals: ...


@runtime_checkable
class Settling(Phase, Protocol):
    """A phase that also keeps a projection: it looks in every cycle, and `settle` writes what it saw, under the writer lock."""

    async def settle(self, catalog: Catalog) -> None: ...


@runtime_checkable
class Resting(Settling, Protocol):
    """A settling phase that can tell, where no object changed, that what it would settle stands as it was."""

    async def rests(self, catalog: Catalog) -> bool: ...


@runtime_checkable
class Asking(Settling, Protocol):
    """A phase that puts questions to a language model before it proposes, outside the writer lock; what it proposes rests on the
    answers it has kept. A clone that has none has not looked."""

    async def ask(self, snapshot: Snapshot) -> None: ...


@dataclass(frozen=True, slots=True)
class Planned:
    """The revisions proposals come to. `proposed` counts what would change, `dropped` what people's decisions kept out."""

    revisions: tuple[Revision, ...]
    proposed: int
    dropped: int
    note: str

    @property
    def by_type(self) -> dict[str, int]:
        """How many objects of each type it would change."""
        return dict(sorted(Counter(type_ for _, type_ in {(r.object_id, r.object_type) for r in self.revisions}).items()))


RESTED = Planned((), 0, 0, "nothing changed")


async def plan(phase: Phase, snapshot: Snapshot) -> Planned:
    """What `phase` proposes, as revisions none of which the bank has."""
    proposals = await phase.propose(snapshot)
    return await as_planned(phase.name, proposals, snapshot)


async def as_planned(actor: str, proposals: Proposals, snapshot: Snapshot) -> Planned:
    wanted = {w.id: w for w in proposals.wanted}
    histories = await snapshot.histories({*wanted, *proposals.considered, *(r.object_id for r in proposals.revisions)})
    planned: list[Revision] = []
    dropped = 0
    for id_ in sorted(wanted):
        said, refused = _said(actor, wanted[id_], histories.get(id_, []))
        planned += said
        dropped += refused
    for id_ in sorted(proposals.considered - wanted.keys()):
        said, refused = _withdrawn(actor, histories.get(id_, []), id_)
        planned += said
        dropped += refused
    for revision in proposals.revisions:
        known = {r.id: r for r in histories.get(revision.object_id, ())}
        if revision.id not in known:
            planned.append(revision)
        elif undone_by_a_person(known[revision.id], known.values(), actor):
            dropped += 1
    return Planned(tuple(planned), len({r.object_id for r in planned}) + dropped, dropped, proposals.note)


def _said(actor: str, w: Wanted, history: Sequence[Revision]) -> tuple[list[Revision], int]:
    """The revision that says what is wanted, and whether what a person decided keeps it out: what they wrote or took away stays so; what
    they undid stays so while it is the same that would be said again."""
    live = [r for r in stated(history) if r.object_id == w.id]
    if any(isinstance(r.statement, Statement) and r.statement.mode is Mode.AUTHORED for r in live) or is_rejected(history, w.id):
        return [], 1
    held = [r for r in live if said_by(r, actor) or r.reason == UNDONE]
    if any(_says(r, w) for r in held):
        return [], 0
    taken = [r for r in history if r.object_id == w.id and said_by(r, actor) and r.statement is not None and undone_by_a_person(r, history, actor)]
    if taken and not any(said_by(r, actor) for r in held) and (
            w.type in KEPT_AWAY or any(_says(r, w) for r in taken) or not all(_undone(r, history) for r in taken)):
        return [], 1
    known = {r.id: r for r in history}
    return [again(new_revision(RevisionKind.ASSERT, w.id, w.type.value, statement=w.statement, evidence=w.evidence, replaces=tuple(r.id for r in held),
                               actor=actor), known)], 0


def _says(r: Revision, w: Wanted) -> bool:
    return _restated(r, w).id == r.id or worded_from(r.statement) == w.text


def _undone(r: Revision, history: Iterable[Revision]) -> bool:
    """Whether an undo took it away, rather than somebody who wants none of it."""
    return any(h.kind is RevisionKind.REVOKE and r.id in h.replaces and h.reason == UNDONE for h in history)


def _restated(r: Revision, w: Wanted) -> Revision:
    return new_revision(r.kind, r.object_id, r.object_type, document=r.document, statement=w.statement, evidence=w.evidence, replaces=r.replaces, into=r.into,
                        reason=r.reason, actor=r.actor)


def _withdrawn(actor: str, history: Sequence[Revision], id_: str) -> tuple[list[Revision], int]:
    """The revoke of what the phase holds and no longer wants, and whether a person who undid that revoke keeps it out."""
    mine = [r for r in stated(history) if r.object_id == id_ and (said_by(r, actor) or r.reason == UNDONE)]
    if not mine:
        return [], 0
    known = {r.id: r for r in history}
    revoke = new_revision(RevisionKind.REVOKE, id_, mine[0].object_type, replaces=tuple(sorted(r.id for r in mine)), reason=OVER, actor=actor)
    if revoke.id in known and undone_by_a_person(revoke, history, actor):
        return [], 1
    return [again(revoke, known)], 0


def undone_by_a_person(revision: Revision, history: Iterable[Revision], actor: str) -> bool:
    """Whether somebody else's revoke, itself standing, took away what `actor` had said."""
    told = list(history)
    revoked = {t for r in told if r.kind is RevisionKind.REVOKE for t in r.replaces}
    return any(r.kind is RevisionKind.REVOKE and revision.id in r.replaces and r.actor != actor and r.id not in revoked for r in told)


def again(revision: Revision, known: Mapping[str, Revision]) -> Revision:
    """`revision` under an id the bank does not have: said once, taken back since, and said anew."""
    while revision.id in known:
        revision = new_revision(
            revision.kind, revision.object_id, revision.object_type, document=revision.document, statement=revision.statement, evidence=revision.evidence,
            replaces=(*revision.replaces, revision.id), into=revision.into, reason=revision.reason, actor=revision.actor)
    return revision
