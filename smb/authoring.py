"""What people change by hand in object files, as revisions.

Owns the reading of a hand edit: a changed file is a person's supersede, a deleted one a person's revoke. Never writes
an object file and never refuses an edit silently: one that can't be read stays as it is and is reported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from smb.model.objects import MemoryObject, MemoryType, Mode
from smb.model.revision import Revision, RevisionKind, Statement, Transaction, new_revision
from smb.stores.catalog import Catalog
from smb.stores.hand_edit import HandEdit
from smb.stores.views import FILE_DELETED

ACTOR = "human"


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A hand edit that could not be taken in; the file stays as the person left it."""

    path: str
    detail: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Authored:
    """What hand edits come to: a transaction (None when they say nothing new), and what could not be read."""

    transaction: Transaction | None
    readable: tuple[HandEdit, ...]
    unreadable: tuple[Unreadable, ...]


async def authored(catalog: Catalog, edits: Sequence[HandEdit], clock: Callable[[], datetime]) -> Authored:
    """Plans the revisions that say what `edits` say. Pure but for reading the catalog."""
    from smb.stores.object_file import MalformedObjectFile, deserialize_memory  # imports yaml

    histories = await catalog.histories(edit.object_id for edit in edits)
    current = {o.id: o for o in await catalog.load_objects(edit.object_id for edit in edits)}
    planned: list[Revision] = []
    readable: list[HandEdit] = []
    unreadable: list[Unreadable] = []
    for edit in edits:
        history = histories.get(edit.object_id, [])
        if edit.text is None:
            planned += _deletion(edit.object_id, history)
            readable.append(edit)
            continue
        try:
            edit.text.encode("utf-8")
            found = deserialize_memory(edit.text)
        except (MalformedObjectFile, UnicodeEncodeError) as error:
            unreadable.append(Unreadable(edit.path, str(error), getattr(error, "line", None)))
            continue
        if found.id != edit.object_id or edit.object_id not in current:
            unreadable.append(Unreadable(edit.path, f"its id is {found.id}, not {edit.object_id}; an id can't be edited"))
            continue
        planned += _edit(found, current[edit.object_id], history)
        readable.append(edit)
    transaction = Transaction("edit", ACTOR, clock(), tuple(planned)) if planned else None
    return Authored(transaction, tuple(readable), tuple(unreadable))


def _edit(found: MemoryObject, current: MemoryObject, history: Iterable[Revision]) -> list[Revision]:
    """A person's supersede of their own earlier word on the object, if any; what documents say stays beside it."""
    history = list(history)
    lead = next((r.statement for r in reversed(history) if isinstance(r.statement, Statement)), None)
    body = "" if found.type is MemoryType.RELATIONSHIP else found.body.strip()
    statement = Statement(
        title=found.title or current.title,
        identity=current.identity,
        body="" if body == found.title.strip() else body,
        aliases=found.aliases,
        tags=found.tags,
        subject=found.key[0] if found.key else "",
        attribute=found.key[1] if found.key else "",
        value=found.value,
        about=current.about,
        links=lead.links if lead else (),
        attributed_to=found.attributed_to,
        confidence=max(found.confidence, current.confidence),
        mode=Mode.AUTHORED,
        extra=found.extra,
    )
    earlier = _standing(history, authored_only=True)
    if any(r.statement == statement for r in earlier):
        return []
    return [new_revision(RevisionKind.SUPERSEDE, current.id, current.type.value, statement=statement, replaces=tuple(r.id for r in earlier),
                         reason="edited by hand", actor=ACTOR)]


def _deletion(object_id: str, history: Iterable[Revision]) -> list[Revision]:
    standing = _standing(history, authored_only=False)
    if not standing:
        return []
    return [new_revision(RevisionKind.REVOKE, object_id, standing[0].object_type, replaces=tuple(r.id for r in standing), reason=FILE_DELETED, actor=ACTOR)]


def _standing(history: Iterable[Revision], *, authored_only: bool) -> list[Revision]:
    held = list(history)
    closed = {i for r in held for i in r.replaces}
    return [r for r in held if r.id not in closed and isinstance(r.statement, Statement) and (not authored_only or r.statement.mode is Mode.AUTHORED)]

