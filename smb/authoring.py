"""What people change by hand in object files, as revisions.

Owns the reading of a hand edit: a changed file is a person's supersede, a deleted one a person's revoke. A claim that
says something else after the edit is another claim, which supersedes the one that was edited: ids are made from what a
claim says, and the old value stays known. Never writes an object file and never refuses an edit silently: one that can't
be read stays as it is and is reported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from smb.model.currentness import Standing, judge
from smb.model.identity import fold_proposition, object_id
from smb.model.objects import MemoryObject, MemoryType, Mode
from smb.model.revision import Revision, RevisionKind, Statement, Transaction, new_revision
from smb.stores.catalog import Catalog
from smb.stores.hand_edit import HandEdit, joins_else, own_words
from smb.stores.views import FILE_DELETED

ACTOR = "human"
TIDIER = "a person"  # who deleted the page of what held no longer: that takes nothing away, and a note may say it again


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

    def report(self) -> dict[str, Any]:
        """As `smb absorb --json` says it."""
        return {
            "edits": [{"id": e.object_id, "path": e.path, "kind": "deleted" if e.text is None else "moved" if e.moved else "edited"} for e in self.readable],
            "unreadable": [{"path": u.path, "detail": u.detail, "line": u.line} for u in self.unreadable],
        }


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
        if await joins_else(catalog, found, current[edit.object_id]):
            unreadable.append(Unreadable(edit.path, "the line with what it joins is made from those two objects and can't be edited; write below it"))
            continue
        planned += _edit(found, current[edit.object_id], history)
        readable.append(edit)
    transaction = Transaction("edit", ACTOR, clock(), tuple(planned)) if planned else None
    return Authored(transaction, tuple(readable), tuple(unreadable))


def _edit(found: MemoryObject, current: MemoryObject, history: Iterable[Revision]) -> list[Revision]:
    """A person's supersede of their own earlier word on the object, if any; what documents say stays beside it."""
    history = list(history)
    lead = next((r.statement for r in reversed(history) if isinstance(r.statement, Statement) and r.object_id == current.id), None)
    body = own_words(found).strip()
    if current.type is MemoryType.CLAIM:
        found, body = _claim_as_said(found, current), ""
    title = found.title.strip() or current.title
    says_else = current.type is MemoryType.CLAIM and fold_proposition(title) != fold_proposition(current.title)
    identity = fold_proposition(title) if says_else else current.identity
    statement = Statement(
        title=title,
        identity=identity,
        body="" if body == found.title.strip() else body,
        aliases=found.aliases,
        tags=found.tags,
        subject=found.key[0] if found.key else "",
        attribute=found.key[1] if found.key else "",
        value=found.value,
        about=current.about,
        links=lead.links if lead else (),
        attributed_to=found.attributed_to,
        confidence=found.confidence,
        mode=Mode.AUTHORED,
        extra=found.extra,
    )
    if says_else:
        return [new_revision(RevisionKind.SUPERSEDE, object_id(MemoryType.CLAIM.value, identity), MemoryType.CLAIM.value, statement=statement,
                             replaces=tuple(r.id for r in _standing(history, current.id, authored_only=False)), reason="edited by hand", actor=ACTOR)]
    earlier = _standing(history, current.id, authored_only=True)
    if any(r.statement == statement for r in earlier):
        return []
    return [new_revision(RevisionKind.SUPERSEDE, current.id, current.type.value, statement=statement, replaces=tuple(r.id for r in earlier),
                         reason="edited by hand", actor=ACTOR)]


def _deletion(deleted: str, history: Iterable[Revision]) -> list[Revision]:
    """A revoke of all the object says, or said until it was taken back; what lives on in another object keeps its file."""
    verdict = judge(history, about=deleted)
    if verdict.standing not in (Standing.CURRENT, Standing.CONTESTED, Standing.REVOKED):
        return []
    said, actor = tuple(r.id for r in verdict.supports), TIDIER if verdict.standing is Standing.REVOKED else ACTOR
    return [new_revision(RevisionKind.REVOKE, deleted, verdict.supports[0].object_type, replaces=said, reason=FILE_DELETED, actor=actor)]


def _claim_as_said(found: MemoryObject, current: MemoryObject) -> MemoryObject:
    """An edited claim with title, body and value in step: whichever of them the person changed is what the claim says."""
    body = " ".join(found.body.split())
    title, value = found.title, found.value
    if title == current.title and body not in ("", " ".join((current.body or current.title).split())):
        title = body
    if title == current.title and value != current.value and current.value and current.value in title:
        title = value.join(title.rsplit(current.value, 1))
    elif title != current.title and value == current.value and current.value:
        before, _, after = current.title.rpartition(current.value)
        value = title[len(before) : len(title) - len(after)] if title.startswith(before) and title.endswith(after) else ""
    return replace(found, title=title, value=value.strip(), key=found.key if value.strip() else ())


def _standing(history: Iterable[Revision], about: str, *, authored_only: bool) -> list[Revision]:
    held = list(history)
    closed = {i for r in held for i in r.replaces}
    return [r for r in held if r.id not in closed and r.object_id == about and isinstance(r.statement, Statement)
            and (not authored_only or r.statement.mode is Mode.AUTHORED)]

