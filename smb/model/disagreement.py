"""A disagreement of two sides, as a contradiction object holds it, and what has become of it.

Owns how the sides, the kind and a person's decision stand in the front matter of a contradiction, when one is settled, and on what a
decision about a claim rests.
Never decides which statements are opposed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from smb.model.authorship import said_by
from smb.model.currentness import Standing, judge, stated
from smb.model.identity import fold
from smb.model.objects import MemoryType, Mode
from smb.model.revision import Revision, RevisionKind, Statement, new_revision

PHASE = "contradictions"  # actor of the contests, beginning of the identities
QUESTION = f"{PHASE}:question:"
DECISIONS = ("kept", "both", "dismissed")
NOT_STATED = "no note states it any more"  # reasons of the end and the return of what a person decided of a claim
STATED_AGAIN = "a note states it again"
_DECIDED = " decided: "
Extra = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Disagreement:
    """Two sides, each the ids of claims that say about the same; the first of each is the pair the id was made from, the
    smaller id first. `reasons` are clauses a person understands."""

    one: tuple[str, ...]
    other: tuple[str, ...]
    kind: str
    reasons: tuple[str, ...] = ()

    @property
    def identity(self) -> str:
        return f"{PHASE}:{self.one[0]}+{self.other[0]}"

    @property
    def question(self) -> str:
        """The identity of the question it raises."""
        return f"{QUESTION}{self.one[0]}+{self.other[0]}"

    @property
    def claims(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.one, *self.other)))

    def canonical(self, lead: Callable[[str], str]) -> tuple[frozenset[str], frozenset[str]]:
        """Its sides with merged claims followed to what stands for them."""
        return frozenset(map(lead, self.one)), frozenset(map(lead, self.other))

    def extra(self) -> Extra:
        return _extra(kind=self.kind, reasons=list(self.reasons), sides=[list(self.one), list(self.other)])


@dataclass(frozen=True, slots=True)
class Decision:
    """What a person decided: `how` is kept, both or dismissed; `keep` the claim kept, `scopes` where each side holds."""

    how: str
    by: str
    reason: str
    keep: str = ""
    scopes: tuple[str, ...] = ()
    at: datetime | None = None
    transaction: str = ""

    @property
    def of_claims(self) -> str:
        """The reason of what it says of claims."""
        return f"{self.by}{_DECIDED}{self.reason}"

    def extra(self) -> Extra:
        said = {"how": self.how, "by": self.by, "reason": self.reason, "keep": self.keep, "scopes": list(self.scopes)}
        return _extra(resolution={k: v for k, v in said.items() if v})


@dataclass(frozen=True, slots=True)
class Settled:
    """Why a disagreement is none any more: `how` as of Decision, or what became of a side (superseded, merged, revoked, …);
    `by` the person or rule, `at` when."""

    how: str
    by: str
    reason: str
    at: datetime | None = None
    decision: Decision | None = None


def pair_of(identity: str) -> tuple[str, str]:
    """The two claims the identity of a contradiction was made from."""
    one, _, other = identity.removeprefix(f"{PHASE}:").partition("+")
    return one, other


def disagreement_of(identity: str, history: Iterable[Revision]) -> Disagreement:
    """The sides as the latest statement of a contradiction has them; the pair of its identity is always among them."""
    one, other = pair_of(identity)
    said = [((r.recorded_at.isoformat() if r.recorded_at else "", r.id), _read(r.statement.extra)) for r in history
            if isinstance(r.statement, Statement) and r.statement.identity == identity and said_by(r, PHASE)]
    last = max(((order, found) for order, found in said if "sides" in found), default=("", {}), key=lambda one: one[0])[1]
    sides = last.get("sides") or ([one], [other])
    return Disagreement(tuple(dict.fromkeys((one, *sides[0]))), tuple(dict.fromkeys((other, *sides[1]))), str(last.get("kind", "")), tuple(last.get("reasons", ())))


def decision_of(id_: str, history: Iterable[Revision]) -> Decision | None:
    """What a person decided last and has not taken back. Who deletes or rejects a contradiction has dismissed it."""
    held = list(history)
    if made := decisions(id_, held):
        last = max(made, key=lambda r: (r.recorded_at.isoformat() if r.recorded_at else "", r.id))
        raw = _resolution(last)
        return Decision(raw["how"], str(raw.get("by") or last.actor), str(raw.get("reason", "")), str(raw.get("keep", "")), tuple(raw.get("scopes", ())), last.recorded_at, last.transaction)
    verdict = judge(held, about=id_)
    if verdict.standing is Standing.REVOKED and (by := next((r for r in verdict.by if r.actor != PHASE), None)) is not None:
        return Decision("dismissed", by.actor, by.reason, at=by.recorded_at)
    return None


def decisions(id_: str, history: Iterable[Revision]) -> list[Revision]:
    """The statements of a contradiction that bear a decision and stand."""
    return [r for r in stated(history) if r.object_id == id_ and _resolution(r)]


def _resolution(r: Revision) -> dict[str, Any]:
    if not isinstance(r.statement, Statement) or r.statement.mode is not Mode.AUTHORED:
        return {}
    raw = _read(r.statement.extra).get("resolution")
    return raw if isinstance(raw, dict) and raw.get("how") in DECISIONS else {}


def settled(d: Disagreement, decision: Decision | None, histories: Mapping[str, Iterable[Revision]], lead: Callable[[str], str]) -> Settled | None:
    """What has settled a disagreement; None while it is open. `histories` are those of its claims and of what they were
    merged into."""
    if decision is not None and decision.how != "kept":
        return Settled(decision.how, decision.by, decision.reason, decision.at, decision)
    sides = d.canonical(lead)
    if sides[0] & sides[1]:
        merge = next((r for i in d.claims for r in judge(histories.get(i, ()), about=i).by if r.kind is RevisionKind.MERGE), None)
        return Settled("merged", merge.actor if merge else "", "both sides are one claim now", merge.recorded_at if merge else None)
    verdicts = [{i: judge(histories.get(i, ()), about=i) for i in sorted(side)} for side in sides]
    gone = [n for n, side in enumerate(verdicts) if not any(v.holds for v in side.values())]
    if not gone:
        return None
    if decision is not None and len(gone) == 1 and decision.keep not in (d.one, d.other)[gone[0]]:
        return Settled(decision.how, decision.by, decision.reason, decision.at, decision)
    first = lead((d.one, d.other)[gone[0]][0])
    verdict = verdicts[gone[0]][first]
    by = next(iter(verdict.by), None)
    return Settled(verdict.standing.value, by.actor if by else "", verdict.reason, by.recorded_at if by else None)


def _extra(**said: Any) -> Extra:
    return tuple((key, f"{key}: {json.dumps(value, ensure_ascii=False)}") for key, value in said.items())


def _read(extra: Extra) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, text in extra:
        if key in ("kind", "reasons", "sides", "resolution"):
            try:
                found[key] = json.loads(text.partition(":")[2])
            except json.JSONDecodeError:
                continue  # a person has rewritten the line
    return found


def decided(statement: Statement, decision: Decision, body: str) -> Statement:
    """The contradiction `statement` with a person's decision on it."""
    kept = tuple(pair for pair in statement.extra if pair[0] != "resolution")
    return replace(statement, mode=Mode.AUTHORED, body=body, extra=(*kept, *decision.extra()))


def covered(d: Disagreement, one: str, other: str, lead: Callable[[str], str]) -> bool:
    """Whether two claims, followed through merges, stand on its two sides."""
    sides = d.canonical(lead)
    one, other = lead(one), lead(other)
    return one in sides[0] and other in sides[1] or one in sides[1] and other in sides[0]


def repeats(known: Iterable[tuple[str, Disagreement]], lead: Callable[[str], str]) -> dict[str, str]:
    """Id of a contradiction → that of an earlier one (`known` is in order) which says the same since claims were merged, or came
    from another clone."""
    before: dict[str, list[tuple[str, Disagreement]]] = {}
    found: dict[str, str] = {}
    for id_, d in known:
        one, other = lead(d.one[0]), lead(d.other[0])
        if one == other:
            continue
        if (earlier := next((i for i, e in before.get(one, ()) if covered(e, one, other, lead)), "")):
            found[id_] = earlier
            continue
        for i in {lead(claim) for claim in d.claims}:
            before.setdefault(i, []).append((id_, d))
    return found


def standing_contests(history: Iterable[Revision], about: str, actor: str) -> list[Revision]:
    """The contests of `about` by `actor` that no standing revoke has ended, by id."""
    told = list(history)
    ended = ended_by(told)
    return sorted((r for r in told if r.kind is RevisionKind.CONTEST and r.actor == actor and r.object_id == about and r.id not in ended), key=lambda r: r.id)


def ended_by(history: Iterable[Revision]) -> dict[str, Revision]:
    """Revision → the revoke that takes it back and was not taken back itself."""
    revokes = [r for r in history if r.kind is RevisionKind.REVOKE]
    of: dict[str, list[Revision]] = {}
    for r in revokes:
        for target in r.replaces:
            of.setdefault(target, []).append(r)

    def counts(r: Revision) -> bool:
        return not any(counts(again) for again in of.get(r.id, ()))

    return {target: standing for target, by in of.items() if (standing := next((r for r in by if counts(r)), None)) is not None}


def decides(r: Revision) -> bool:
    """Whether a revision says of a claim what a person decided in a contradiction."""
    return r.object_type == MemoryType.CLAIM.value and not r.document and _DECIDED in r.reason and isinstance(r.statement, Statement)


def lapses(history: Iterable[Revision], about: str, actor: str) -> list[Revision]:
    """What makes a decision about the claim `about` stand exactly while something else states it: the end of one that nothing
    bears any more, the return of one that is borne again."""
    told = list(history)
    mine = [r for r in told if r.object_id == about and decides(r)]
    if not mine:
        return []
    counting = stated(told)
    documents = {r.id: r.document for r in told if r.document}
    closed = {t for r in counting if r.object_id != about and r.document for t in r.replaces if documents.get(t) == r.document}  # the note says another value now
    live = [r for r in counting if r.object_id == about and r.id not in closed]
    if all(map(decides, live)):
        ended = sorted(r.id for r in live)
        reason = NOT_STATED
    else:
        by = ended_by(told)
        ended = sorted({end.id for r in mine if (end := by.get(r.id)) is not None and end.reason == NOT_STATED})
        reason = STATED_AGAIN
    if not ended:
        return []
    known = {r.id for r in told}
    revoke = new_revision(RevisionKind.REVOKE, about, MemoryType.CLAIM.value, replaces=tuple(ended), reason=reason, actor=actor)
    while revoke.id in known:
        revoke = new_revision(RevisionKind.REVOKE, about, MemoryType.CLAIM.value, replaces=(*revoke.replaces, revoke.id), reason=reason, actor=actor)
    return [revoke]


def scoped(text: str, scope: str) -> str:
    """A sentence or a value with where it holds; as it is where it says that itself.

    >>> scoped("The gate is locked.", "at night"), scoped("22 hours", "door shut"), scoped("", "door shut")
    ('The gate is locked (at night).', '22 hours (door shut)', '')
    """
    bare = text.rstrip(".。")
    return f"{bare} ({scope}){text[len(bare) :]}" if text and fold(scope) not in fold(text) else text
