"""`smb undo`: takes back what a cycle of evolution, or another act that can be taken back, said.

Owns what is taken back and that nothing is lost by it: every revision of the act is revoked, and what it had reworded stands
again in its earlier words. An undo is an act like any other and can be undone. What notes say is not undone here: change the note.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson

from smb.evolve.phase import UNDONE, again
from smb.evolve.record import RECORD, transactions_of
from smb.evolve.snapshot import EVOLVED
from smb.model.currentness import judge, stated
from smb.model.errors import SmbError
from smb.model.objects import MemoryType
from smb.model.revision import Revision, RevisionKind, Statement, Transaction, new_revision, revision_from_json
from smb.model.validity import from_iso
from smb.stores.catalog import Catalog
from smb.writer import Writer

UNDO = "undo"  # kind of the transaction
BY_A_PERSON = "a person"
UNDOABLE = (EVOLVED, UNDO, "conflict")  # kinds of transactions


class NothingToUndo(SmbError):
    def __init__(self) -> None:
        super().__init__("No cycle of evolution stands to be undone. `smb history ID` shows what became of an object.")


class NotUndoable(SmbError):
    def __init__(self, reference: str, kind: str):
        super().__init__(f"{reference} is a transaction of kind {kind!r}; only evolution, resolutions and undos can be undone. "
                         "What a note says is changed in the note; what a person signed is final.")


class UnknownAct(SmbError):
    def __init__(self, reference: str):
        super().__init__(f"{reference!r} is neither a cycle nor a transaction. `smb get` shows a record of `layer-5/evolution/`, which names its transactions.")


@dataclass(frozen=True, slots=True)
class Act:
    """A transaction to take back, with its revisions in order."""

    id: str
    kind: str
    actor: str
    recorded_at: str
    revisions: tuple[Revision, ...]


async def undo(catalog: Catalog, writer: Writer, clock: Callable[[], datetime], reference: str, who: str, *, dry_run: bool) -> dict[str, Any]:
    """Takes back the last cycle, or the cycle or transaction `reference` names (an id, or its beginning): {"undone":
    [{transaction, phase, recorded_at, revisions}], "objects", "dry_run", "transaction"}, the last to undo the undo by. Raises NothingToUndo, NotUndoable, UnknownAct, BankLocked."""
    async with AsyncExitStack() as stack:
        if dry_run:
            await writer.catch_up_if_free()
        else:
            await stack.enter_async_context(writer.writing())
        acts = await _acts(catalog, reference)
        planned = await _taken_back(catalog, acts, who or BY_A_PERSON)
        if not planned:
            raise NothingToUndo
        committed = "" if dry_run else (await writer.commit(Transaction(UNDO, who or BY_A_PERSON, clock(), tuple(planned)))).id
    return {
        "undone": [{"transaction": act.id, "phase": act.actor, "recorded_at": act.recorded_at, "revisions": len(act.revisions)} for act in acts],
        "objects": len({r.object_id for r in planned}), "dry_run": dry_run, "transaction": committed or None,
    }


async def _acts(catalog: Catalog, reference: str) -> list[Act]:
    if not reference:
        record = await _last_record(catalog)
        return await _cycle(catalog, record)
    rows = await catalog.fetch("SELECT object_id FROM revisions WHERE object_type = ? AND object_id LIKE ? GROUP BY object_id", (MemoryType.EVOLUTION.value, reference + "%"))
    if len(rows) == 1:
        return await _cycle(catalog, (await catalog.histories([rows[0]["object_id"]]))[rows[0]["object_id"]])
    found = await catalog.fetch("SELECT id, kind FROM transactions WHERE id LIKE ? ORDER BY seq", (reference + "%",))
    if len(found) != 1 or len(rows) > 1:
        raise UnknownAct(reference)
    if found[0]["kind"] not in UNDOABLE:
        raise NotUndoable(reference, found[0]["kind"])
    return await _load(catalog, [found[0]["id"]])


async def _last_record(catalog: Catalog) -> list[Revision]:
    for row in await catalog.fetch("SELECT r.object_id FROM revisions r JOIN transactions t ON t.seq = r.tx WHERE t.actor = ? AND r.object_type = ? ORDER BY r.seq DESC",
                                   (RECORD, MemoryType.EVOLUTION.value)):
        history = (await catalog.histories([row["object_id"]]))[row["object_id"]]
        if judge(history, about=row["object_id"]).holds:
            return history
    raise NothingToUndo


async def _cycle(catalog: Catalog, record: Sequence[Revision]) -> list[Act]:
    told = next(r for r in record if isinstance(r.statement, Statement) and r.actor == RECORD)
    assert isinstance(told.statement, Statement)
    return await _load(catalog, [*transactions_of(told.statement), told.transaction])


async def _load(catalog: Catalog, ids: Sequence[str]) -> list[Act]:
    acts = []
    for row in await catalog.fetch_in("SELECT seq, id, kind, actor, recorded_at FROM transactions WHERE id IN ({marks}) ORDER BY seq", ids):
        lines = await catalog.fetch("SELECT line FROM revisions WHERE tx = ? ORDER BY seq", (row["seq"],))
        at = from_iso(row["recorded_at"])
        acts.append(Act(row["id"], row["kind"], row["actor"], row["recorded_at"], tuple(revision_from_json(orjson.loads(line["line"]), at, row["id"]) for line in lines)))
    return acts


async def _taken_back(catalog: Catalog, acts: Sequence[Act], who: str) -> list[Revision]:
    said = {r.id: r for act in acts for r in act.revisions}
    histories = await catalog.histories(sorted({r.object_id for r in said.values()}))
    said |= {r.id: r for r in _said_again(said.values(), histories)}
    planned: list[Revision] = []
    for r in said.values():
        known = {h.id: h for h in histories[r.object_id]}
        if r.kind is RevisionKind.VERIFY or _revoked(r, known.values()):
            continue
        planned.append(again(new_revision(RevisionKind.REVOKE, r.object_id, r.object_type, replaces=(r.id,), reason=UNDONE, actor=who), known))
    for object_id in sorted({r.object_id for r in planned}):
        planned += _restored(histories[object_id], said, object_id, who)
    return planned


def _said_again(said: Collection[Revision], histories: Mapping[str, Sequence[Revision]]) -> list[Revision]:
    """What undos of later acts have said again of what these acts said."""
    words = {(r.object_id, r.statement, r.evidence) for r in said if isinstance(r.statement, Statement)}
    return [r for history in histories.values() for r in history if r.reason == UNDONE and r.kind is RevisionKind.ASSERT and (r.object_id, r.statement, r.evidence) in words]


def _revoked(r: Revision, history: Sequence[Revision] | Any) -> bool:
    told = list(history)
    ended = {t for h in told if h.kind is RevisionKind.REVOKE for t in h.replaces}
    return any(h.kind is RevisionKind.REVOKE and r.id in h.replaces and h.id not in ended for h in told)


def _restored(history: Sequence[Revision], said: Mapping[str, Revision], object_id: str, who: str) -> list[Revision]:
    """The earlier words of what the acts reworded: a restatement replaces for good, so they are said again."""
    known = {h.id: h for h in history}
    restored: dict[str, Revision] = {}
    for live in stated(history):
        if live.object_id != object_id or live.id not in said:
            continue
        waiting = list(live.replaces)
        while waiting:
            earlier = known.get(waiting.pop())
            if earlier is None or earlier.object_id != object_id or earlier.statement is None:
                continue
            if earlier.id in said:
                waiting += earlier.replaces
            elif not _revoked(earlier, history):
                restored[earlier.id] = again(
                    new_revision(RevisionKind.ASSERT, object_id, earlier.object_type, document=earlier.document, statement=earlier.statement,
                                 evidence=earlier.evidence, replaces=(live.id,), reason=UNDONE, actor=who), known)
    return [restored[i] for i in sorted(restored)]
