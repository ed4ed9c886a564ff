"""What the ledger says: `judge` turns a history into a verdict, `as_object` into the object as it stands.

Both are functions of the revisions alone: no score, no similarity, no clock. The history of an object is every
revision about it and every revision that replaces one of those, in any order, repeats allowed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import assert_never

from smb.model.identity import slugify
from smb.model.objects import TYPE_TO_LOCATION, Link, MemoryObject, MemoryType, Mode, Status, Verification
from smb.model.revision import Revision, RevisionKind, Statement
from smb.model.validity import Interval, to_iso
from smb.model.verification import Decision, SignOff, form_of, strength_of, verification_of


class Standing(StrEnum):
    CURRENT = "current"
    CONTESTED = "contested"
    SUPERSEDED = "superseded"
    MERGED = "merged"
    SPLIT = "split"
    REVOKED = "revoked"
    EXPIRED = "expired"
    NOT_YET_VALID = "not yet valid"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class AsOf:
    """The two clocks of a question; None means "whenever" for valid time and "now" for recorded time."""

    valid_at: datetime | None = None
    known_at: datetime | None = None


NOW = AsOf()


@dataclass(frozen=True, slots=True)
class Verdict:
    """`supports` are the revisions that make it so; `by` those that closed or contest it; `into` where it went."""

    standing: Standing
    supports: tuple[Revision, ...] = ()
    by: tuple[Revision, ...] = ()
    into: tuple[str, ...] = ()
    valid: Interval = Interval()
    reason: str = ""

    @property
    def holds(self) -> bool:
        return self.standing in (Standing.CURRENT, Standing.CONTESTED)


def judge(history: Iterable[Revision], as_of: AsOf = NOW, about: str = "") -> Verdict:
    """The verdict at `as_of` on the object `about`, or on all that `history` states taken together (a key) when that is
    empty. Order-free; a repeated revision counts once.

    A supersede closes the validity of what it replaces at its own start (wholly, if that is unknown), for as long as it
    counts itself: a revoke ends that, and so does a later statement of its own object, which closes the older one only if
    it names it too. A revoke takes what it replaces away at every valid time from its recording on; a later statement of
    the same object replaces it silently and for good; a merge or split sends the reader elsewhere; a contest leaves both standing; a rejection takes all its object states
    away at every valid time, later statements too.
    """
    known = _known(history, as_of)
    closers: dict[str, list[Revision]] = {}
    for revision in known.values():
        for target in revision.replaces:
            closers.setdefault(target, []).append(revision)
    undone, spent = _undone(known, closers), _spent(known)
    rejected = _rejected(known, undone)

    fates: dict[Standing, list[tuple[Revision, Revision | None, Interval]]] = {}
    contests: list[Revision] = []
    for revision in known.values():
        match revision.kind:
            case RevisionKind.CONTEST:
                if revision.id not in undone and (not about or about in (revision.object_id, *revision.into)):
                    contests.append(revision)
            case RevisionKind.ASSERT | RevisionKind.SUPERSEDE:
                if about and revision.object_id != about:
                    continue
                counting = [c for c in closers.get(revision.id, ()) if c.id not in undone and (c.id not in spent or c.object_id == revision.object_id)]
                fate = _fate(revision, counting, revision.id in spent, as_of.valid_at)
                if fate is not None and revision.object_id in rejected:
                    fate = (Standing.REVOKED, rejected[revision.object_id], revision.valid)
                if fate is not None:
                    fates.setdefault(fate[0], []).append((revision, fate[1], fate[2]))
            case RevisionKind.REVOKE | RevisionKind.MERGE | RevisionKind.SPLIT | RevisionKind.VERIFY:
                pass
            case _ as never:
                assert_never(never)

    for standing in _PRECEDENCE:
        if not (found := fates.get(standing)):
            continue
        by = tuple(dict.fromkeys(closer for _, closer, _ in found if closer is not None))
        if standing is Standing.CURRENT and contests:
            standing, by = Standing.CONTESTED, tuple(contests)
        return Verdict(
            standing,
            supports=tuple(revision for revision, _, _ in found),
            by=by,
            into=tuple(dict.fromkeys(i for closer in by for i in (closer.into or (closer.object_id,)))),
            valid=_hull([interval for _, _, interval in found]),
            reason=next((closer.reason for closer in by if closer.reason), ""),
        )
    return Verdict(Standing.UNKNOWN)


_PRECEDENCE = (
    Standing.CURRENT, Standing.MERGED, Standing.SPLIT, Standing.SUPERSEDED, Standing.EXPIRED, Standing.NOT_YET_VALID, Standing.REVOKED,
)
_STATUS = {
    Standing.CURRENT: Status.ACTIVE, Standing.CONTESTED: Status.CONTESTED, Standing.SUPERSEDED: Status.REVISED,
    Standing.MERGED: Status.MERGED, Standing.SPLIT: Status.SPLIT, Standing.REVOKED: Status.DEPRECATED,
    Standing.EXPIRED: Status.DEPRECATED, Standing.NOT_YET_VALID: Status.ACTIVE, Standing.UNKNOWN: Status.DEPRECATED,
}


def _known(history: Iterable[Revision], as_of: AsOf) -> dict[str, Revision]:
    """What was recorded by `known_at`, in order; of a revision recorded twice the first recording counts."""
    known: dict[str, Revision] = {}
    for revision in sorted(history, key=_order):
        if as_of.known_at is None or revision.recorded_at is None or revision.recorded_at <= as_of.known_at:
            known.setdefault(revision.id, revision)
    return known


def _undone(known: dict[str, Revision], closers: dict[str, list[Revision]]) -> set[str]:
    """The revisions revoked by a revoke that is not itself revoked, at any depth. There are no cycles: an id is made
    from what it replaces."""
    settled: dict[str, bool] = {}
    waiting = list(known)
    while waiting:
        current = waiting[-1]
        revokes = [c.id for c in closers.get(current, ()) if c.kind is RevisionKind.REVOKE]
        if open_ := [i for i in revokes if i not in settled]:
            waiting += open_
            continue
        settled[current] = any(not settled[i] for i in revokes)
        waiting.pop()
    return {i for i, gone in settled.items() if gone}


def _spent(known: Mapping[str, Revision]) -> set[str]:
    """The statements a later statement of the same object replaced. Revoking that one does not bring them back: what it
    was read from has said something else since."""
    return {t for r in known.values() if r.kind in _STATES for t in r.replaces if t in known and known[t].object_id == r.object_id}


def stated(history: Iterable[Revision], as_of: AsOf = NOW) -> list[Revision]:
    """The statements of any objects that still count: neither replaced by a later one of their object nor revoked, merged,
    split or rejected. What another object supersedes is among them: it is current again if that one goes."""
    known = _known(history, as_of)
    closers: dict[str, list[Revision]] = {}
    for revision in known.values():
        for target in revision.replaces:
            closers.setdefault(target, []).append(revision)
    undone, spent = _undone(known, closers), _spent(known)
    rejected = _rejected(known, undone)
    return [
        r for r in known.values()
        if r.kind in _STATES and r.id not in spent and r.object_id not in rejected and not any(c.kind in _TAKES and c.id not in undone for c in closers.get(r.id, ()))
    ]


_STATES = (RevisionKind.ASSERT, RevisionKind.SUPERSEDE)
_TAKES = (RevisionKind.REVOKE, RevisionKind.MERGE, RevisionKind.SPLIT)


def _fate(revision: Revision, closers: list[Revision], restated: bool, at: datetime | None) -> tuple[Standing, Revision | None, Interval] | None:
    """What became of one statement; None when the same object restated it."""
    successors: list[Revision] = []
    sent: dict[Standing, Revision] = {}
    for closer in closers:
        match closer.kind:
            case RevisionKind.REVOKE:
                sent.setdefault(Standing.REVOKED, closer)
            case RevisionKind.MERGE:
                sent.setdefault(Standing.MERGED, closer)
            case RevisionKind.SPLIT:
                sent.setdefault(Standing.SPLIT, closer)
            case RevisionKind.ASSERT | RevisionKind.SUPERSEDE:
                successors += [closer] if closer.object_id != revision.object_id else []
            case RevisionKind.CONTEST | RevisionKind.VERIFY:
                pass
            case _ as never:
                assert_never(never)
    for standing in (Standing.REVOKED, Standing.MERGED, Standing.SPLIT):
        if standing in sent:
            return standing, sent[standing], revision.valid
    if restated:
        return None
    valid, superseded_by = revision.valid, None
    if successors:  # the earliest start closes it; one that is unknown closes it wholly
        superseded_by = min(successors, key=lambda r: (r.valid.start is not None, to_iso(r.valid.start) or "", _order(r)))
        start = superseded_by.valid.start
        valid = valid if start is None else valid.closed_at(start)
        if start is None or at is None:
            return Standing.SUPERSEDED, superseded_by, valid
    if at is None or valid.contains(at):
        return Standing.CURRENT, None, valid
    if valid.start is not None and at < valid.start:
        return Standing.NOT_YET_VALID, None, valid
    return (Standing.SUPERSEDED, superseded_by, valid) if superseded_by else (Standing.EXPIRED, None, valid)


def as_object(history: Iterable[Revision], as_of: AsOf = NOW, about: str = "", verdict: Verdict | None = None) -> MemoryObject | None:
    """The object `about` (the only one, when empty) as its live supports add up to, or its last known form with the status of its verdict; None if unknown.
    `verdict` saves judging again where it is known.

    A person's statement wins over extracted ones; among those the surest and then the earliest gives title and body.
    Sources, tags, aliases, links and evidence are unions; confidence is the highest (REQUIREMENTS.md 1.2, item 5).
    """
    history = list(history)
    verdict = verdict or judge(history, as_of, about)
    if not verdict.supports:
        return None
    supports = sorted(verdict.supports, key=_order)
    told = [(r, r.statement) for r in supports if isinstance(r.statement, Statement)]
    if not told:
        return None
    authored = [pair for pair in told if pair[1].mode is Mode.AUTHORED]
    lead, says = authored[-1] if authored else min(told, key=lambda pair: -pair[1].confidence)
    body = says.body or next((s.body for _, s in told if s.body), "")
    known = [r for r in history if as_of.known_at is None or r.recorded_at is None or r.recorded_at <= as_of.known_at]
    about = [r for r in known if r.object_id == lead.object_id and r.recorded_at is not None]
    times = sorted(r.recorded_at for r in about if r.recorded_at is not None)
    birth = min((r for r in about if isinstance(r.statement, Statement)), key=_order, default=lead)
    type_ = MemoryType(lead.object_type)
    layer, folder = TYPE_TO_LOCATION[type_]
    birth_title = birth.statement.title if isinstance(birth.statement, Statement) else says.title
    evidence = tuple(dict.fromkeys(span for r in supports for span in r.evidence))
    return MemoryObject(
        id=lead.object_id,
        type=type_,
        title=says.title,
        body=body,
        aliases=_union(s.aliases for _, s in told),
        tags=_union(s.tags for _, s in told),
        confidence=max(s.confidence for _, s in told),
        status=_STATUS[verdict.standing],
        created=to_iso(times[0]) or "" if times else "",
        modified=to_iso(times[-1]) or "" if times else "",
        source_ids=tuple(dict.fromkeys(span.source for span in evidence)),
        revision=supports[-1].id,
        verification=_verification(history, as_of, lead.object_id, supports, says),
        mode=says.mode,
        valid_from=to_iso(verdict.valid.start),
        valid_to=None if verdict.valid.empty else to_iso(verdict.valid.end),  # corrected without a date of its own: it held at no time
        recorded_at=to_iso(supports[-1].recorded_at) or "",
        key=(says.subject, says.attribute) if says.attribute else (),
        value=says.value,
        attributed_to=says.attributed_to,
        evidence=evidence,
        derived_from=_union(s.derived_from for _, s in told),
        links=_links([s for _, s in told]),
        extra=says.extra,
        location=f"layer-{int(layer)}/{folder}/{slugify(birth_title)}-{lead.object_id}.md",
        identity=says.identity,
        about=says.about,
        supports=len({r.document for r in supports}),
    )


def _order(revision: Revision) -> tuple[str, str]:
    return (revision.recorded_at.isoformat() if revision.recorded_at else "", revision.id)


def _hull(intervals: list[Interval]) -> Interval:
    starts, ends = [i.start for i in intervals], [i.end for i in intervals]
    return Interval(
        None if any(s is None for s in starts) else min(s for s in starts if s is not None),
        None if any(e is None for e in ends) else max(e for e in ends if e is not None),
    )


def _union(groups: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(value for group in groups for value in group))


def _links(statements: list[Statement]) -> tuple[Link, ...]:
    best: dict[tuple[str, str], Link] = {}
    for statement in statements:
        for link in statement.links:
            held = best.get((link.target, link.type))
            if held is None or held.weight < link.weight:
                best[(link.target, link.type)] = link
    return tuple(best.values())


def sign_offs(history: Iterable[Revision], as_of: AsOf = NOW, about: str = "") -> tuple[Revision, ...]:
    """The verifies of `about` that nobody has undone, oldest first; each revision's statement is a SignOff."""
    known = _known(history, as_of)
    signed = [r for r in known.values() if isinstance(r.statement, SignOff) and (not about or r.object_id == about)]
    if not signed:
        return ()
    closers: dict[str, list[Revision]] = {}
    for revision in known.values():
        for target in revision.replaces:
            closers.setdefault(target, []).append(revision)
    undone = _undone(known, closers)
    return tuple(r for r in signed if r.id not in undone)


def is_rejected(history: Iterable[Revision], about: str) -> bool:
    """Whether a person has rejected `about` for good."""
    return any(isinstance(r.statement, SignOff) and r.statement.decision is Decision.REJECTED for r in sign_offs(history, about=about))


def evidence_strength(supports: Iterable[Revision]) -> Verification:
    """What the evidence of these revisions alone verifies."""
    backed = [r.statement for r in supports if r.evidence and isinstance(r.statement, Statement)]
    return strength_of(bool(backed), any(s.tool for s in backed))


def _rejected(known: Mapping[str, Revision], undone: Collection[str]) -> dict[str, Revision]:
    """Object → the first rejection of it that nobody has undone."""
    return {
        r.object_id: r for r in reversed(known.values())
        if r.kind is RevisionKind.VERIFY and r.id not in undone and isinstance(r.statement, SignOff) and r.statement.decision is Decision.REJECTED
    }


def _verification(history: list[Revision], as_of: AsOf, object_id: str, supports: Iterable[Revision], says: Statement) -> Verification:
    strength = evidence_strength(supports)
    signed = [r.statement for r in history if isinstance(r.statement, SignOff)] and sign_offs(history, as_of, object_id)
    return verification_of(strength, (r.statement for r in signed if isinstance(r.statement, SignOff)), form_of(says.title, says.value)) if signed else strength
