"""What people decide of an object: `smb verify` and `smb reject`, as revisions.

Owns who may sign and what a rejection takes with it. REQUIREMENTS.md, section 2, items 7 and 14: a sign-off carries its
signer's authority, from bank.toml's `[authority]` table (NAME = 0 to 100; a name not in it has 50), and nobody below 50
may sign. A rejection is final; of what is verified by sign-off it takes the signer, or somebody of higher authority. A
name is taken at its word: this guards against mistakes and agents, not against whoever may write the files.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from smb.model.currentness import Standing, as_object, evidence_strength, judge, sign_offs
from smb.model.errors import SmbError
from smb.model.objects import MemoryObject, Verification
from smb.model.revision import Revision, RevisionKind, Transaction, new_revision
from smb.model.validity import to_iso
from smb.model.verification import Decision, SignOff, counts, form_of
from smb.stores.catalog import Catalog
from smb.writer import Writer

SIGNS_FROM = 50  # REQUIREMENTS.md, 2.14: 0-49 an actor, 50-69 a lead, 70-89 an administrator, 90 and above the system
SIGNABLE = (Standing.CURRENT, Standing.CONTESTED, Standing.SUPERSEDED)


class SignerMissing(SmbError):
    exit_code = 2

    def __init__(self) -> None:
        super().__init__("A decision needs a name: say who decides with --as NAME.")


class ReasonMissing(SmbError):
    exit_code = 2

    def __init__(self) -> None:
        super().__init__("A rejection needs a reason, for it is final: say why with --reason TEXT.")


class AlreadyRejected(SmbError):
    def __init__(self, title: str, by: Revision):
        super().__init__(f"{title!r} was rejected by {by.actor} ({by.reason}), and that is final. If it holds after all, write it "
                         "down in a note in other words; that is another claim.")


class NothingToSign(SmbError):
    def __init__(self, title: str, standing: str):
        super().__init__(f"{title!r} is {standing}; only what the bank states can be signed. `smb history` shows what became of it.")


class NotEntitled(SmbError):
    def __init__(self, who: str, authority: int, needs: str):
        super().__init__(f"{who} has authority {authority}; this needs {needs}. Authorities stand in bank.toml under [authority].")


@dataclass(frozen=True, slots=True)
class Signed:
    """A decision planned: the transaction (None where it was decided before), and the object as it was."""

    transaction: Transaction | None
    before: MemoryObject


class Desk:
    """Where decisions are made. `authority` is bank.toml's table."""

    def __init__(self, catalog: Catalog, writer: Writer, authority: Mapping[str, int]):
        self._catalog, self._writer, self._authority = catalog, writer, authority

    async def decide(self, what: Literal["verify", "reject"], object_id: str, who: str, why: str, clock: Callable[[], datetime]) -> dict[str, Any]:
        """Plans and commits a decision: {"id", "title", "was", "changed"} and what `shown` gives. Raises what the two below do, BankLocked."""
        plan = self.verify if what == "verify" else self.reject
        async with self._writer.writing():
            signed = await plan(object_id, who, why, clock())
            if signed.transaction is not None:
                await self._writer.commit(signed.transaction)
        before = {"id": object_id, "title": signed.before.title, "was": signed.before.verification, "changed": signed.transaction is not None}
        return {**before, **await self.shown(object_id)}

    async def verify(self, object_id: str, who: str, note: str, now: datetime) -> Signed:
        """A sign-off for what the object says on the evidence it has. Raises SignerMissing, NotEntitled, AlreadyRejected,
        NothingToSign."""
        who, authority = self._signer(who)
        history, current = await self._known(object_id)
        given = sign_offs(history, about=object_id)
        self._refuse_rejected(current, given)
        verdict = judge(history, about=object_id)
        if verdict.standing not in SIGNABLE:
            raise NothingToSign(current.title, verdict.standing)
        strength, form = evidence_strength(verdict.supports), form_of(current.title, current.value)
        if any(r.actor == who and (not note or r.reason == note) and _counts(r, strength, form) for r in given):
            return Signed(None, current)
        signed = _fresh(current, who, note, SignOff(Decision.VERIFIED, authority, strength, form), history)
        return Signed(Transaction("verify", who, now, (signed,)), current)

    async def reject(self, object_id: str, who: str, reason: str, now: datetime) -> Signed:
        """The end of an object: it is revoked at every valid time, whatever states it later. What it had superseded, or
        was alone in contesting, stands again. Raises ReasonMissing, SignerMissing, NotEntitled, AlreadyRejected,
        NothingToSign."""
        who, authority = self._signer(who)
        if not (reason := " ".join(reason.split())):
            raise ReasonMissing
        history, current = await self._known(object_id)
        given = sign_offs(history, about=object_id)
        self._refuse_rejected(current, given)
        verdict = judge(history, about=object_id)
        if verdict.standing is Standing.REVOKED:
            raise NothingToSign(current.title, verdict.standing)
        strength, form = evidence_strength(verdict.supports), form_of(current.title, current.value)
        refuse_overruling(history, current, who, authority)
        rejection = _fresh(current, who, reason, SignOff(Decision.REJECTED, authority, strength, form), history)
        freed = await self._superseded_by(verdict.supports, who) + await self._contested_by(object_id, history, who) if verdict.holds else []
        return Signed(Transaction("reject", who, now, (rejection, *freed)), current)

    async def shown(self, object_id: str) -> dict[str, Any]:
        """{"verification", "signed": [{decision, by, authority, note, at, counts}]} of an object, oldest first."""
        history, current = await self._known(object_id)
        strength = evidence_strength(judge(history, about=object_id).supports)
        form = form_of(current.title, current.value)
        return {
            "verification": current.verification,
            "signed": [
                {"decision": _of(r).decision, "by": r.actor, "authority": _of(r).authority, "note": r.reason or None, "at": to_iso(r.recorded_at),
                 "counts": counts(_of(r), strength, form)} for r in sign_offs(history, about=object_id)
            ],
        }

    # ------------------------------------------------------------ parts

    def _signer(self, who: str) -> tuple[str, int]:
        return signer(who, self._authority)

    async def _known(self, object_id: str) -> tuple[list[Revision], MemoryObject]:
        history = (await self._catalog.histories([object_id]))[object_id]
        current = as_object(history, about=object_id)
        if current is None:
            raise NothingToSign(object_id, Standing.UNKNOWN)
        return history, current

    def _refuse_rejected(self, current: MemoryObject, given: Collection[Revision]) -> None:
        if current.verification is Verification.REJECTED:
            raise AlreadyRejected(current.title, next(r for r in given if _of(r).decision is Decision.REJECTED))

    async def _superseded_by(self, supports: Collection[Revision], who: str) -> list[Revision]:
        """Revokes of what these revisions closed of other objects, each said of the object that is freed."""
        closed = {old: r for r in supports if r.kind is RevisionKind.SUPERSEDE for old in r.replaces}
        rows = await self._catalog.fetch_in("SELECT id, object_id, object_type FROM revisions WHERE id IN ({marks})", sorted(closed))
        freed = {(row["object_id"], closed[row["id"]].id): row["object_type"] for row in rows if row["object_id"] != closed[row["id"]].object_id}
        return [new_revision(RevisionKind.REVOKE, freed_id, type_, replaces=(closer,), reason="what superseded it was rejected", actor=who)
                for (freed_id, closer), type_ in sorted(freed.items())]

    async def _contested_by(self, object_id: str, history: Collection[Revision], who: str) -> list[Revision]:
        """Revokes of the contests of others in which this object was the only other side."""
        others = {i for r in history if r.kind is RevisionKind.CONTEST for i in (r.object_id, *r.into)} - {object_id}
        freed: dict[str, Revision] = {}
        for other, told in (await self._catalog.histories(sorted(others))).items():
            for by in judge(told, about=other).by:
                if by.kind is RevisionKind.CONTEST and {by.object_id, *by.into} == {other, object_id}:
                    freed[by.id] = new_revision(RevisionKind.REVOKE, other, told[0].object_type, replaces=(by.id,), reason="the other side was rejected", actor=who)
        return [freed[i] for i in sorted(freed)]


def signer(who: str, authorities: Mapping[str, int]) -> tuple[str, int]:
    """The name of who decides, and their authority. Raises SignerMissing, NotEntitled."""
    who = " ".join(who.split())
    if not who:
        raise SignerMissing
    authority = authorities.get(who, SIGNS_FROM)
    if authority < SIGNS_FROM:
        raise NotEntitled(who, authority, f"{SIGNS_FROM}")
    return who, authority


def refuse_overruling(history: Collection[Revision], current: MemoryObject, who: str, authority: int) -> None:
    """Raises NotEntitled where somebody of as much authority has signed off what `who` would end."""
    strength, form = evidence_strength(judge(history, about=current.id).supports), form_of(current.title, current.value)
    for r in sign_offs(history, about=current.id):
        if _counts(r, strength, form) and r.actor != who and authority <= _of(r).authority:
            raise NotEntitled(who, authority, f"{r.actor}, who signed it, or more than {_of(r).authority}")


def _fresh(o: MemoryObject, who: str, note: str, decision: SignOff, history: Collection[Revision]) -> Revision:
    """The verify revision; one that was said and undone before is said anew, under another id."""
    known = {r.id for r in history}
    fields: dict[str, Any] = {"statement": decision, "reason": note, "actor": who}
    revision = new_revision(RevisionKind.VERIFY, o.id, o.type.value, **fields)
    while revision.id in known:
        revision = new_revision(RevisionKind.VERIFY, o.id, o.type.value, replaces=(*revision.replaces, revision.id), **fields)
    return revision


def _of(revision: Revision) -> SignOff:
    assert isinstance(revision.statement, SignOff)
    return revision.statement


def _counts(revision: Revision, strength: Verification, form: str) -> bool:
    return counts(_of(revision), strength, form)
