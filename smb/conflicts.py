"""What contradicts what, and what people decide of it: `smb conflicts`.

Owns the list of contradictions as the ledger has them now, and a person's resolution as a revision: one side kept (it supersedes the
other), both with their scopes, or dismissed. A contradiction stays whatever is decided; a later decision is added and counts instead,
and `smb undo` takes one back. Who decides needs the authority a sign-off needs, and as much as who decided before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal

import orjson

from smb.evolve.opposing.contradiction_page import state_of
from smb.evolve.contradictions import ANSWERED
from smb.evolve.opposing.differences import OppositionKind
from smb.evolve.opposing.opposed_claims import KEYS
from smb.evolve.phase import again
from smb.model.authorship import said_by
from smb.model.currentness import Verdict, as_object, judge, stated
from smb.model.disagreement import (PHASE, Decision, Disagreement, Settled, decided, decides, decision_of, disagreement_of, repeats, scoped, settled,
                                    standing_contests)
from smb.model.edges import EdgeType
from smb.model.errors import SmbError
from smb.model.identity import fold, object_id
from smb.model.objects import Link, MemoryObject, MemoryType, Mode
from smb.model.revision import Revision, RevisionKind, Statement, Transaction, new_revision, revision_from_json
from smb.model.validity import to_iso
from smb.signing import NotEntitled, refuse_overruling, signer
from smb.stores.catalog import Catalog
from smb.writer import Writer

KIND = "conflict"  # of the transactions
CLAIM = MemoryType.CLAIM.value
CONTRADICTION = MemoryType.CONTRADICTION.value
KINDS = tuple(dict.fromkeys((*(kind.value for kind in OppositionKind), "value")))
Which = Literal["open", "resolved", "all"]


class UnknownConflict(SmbError):
    def __init__(self, reference: str):
        super().__init__(f"There is no contradiction {reference!r}. `smb conflicts --all` lists them.")


class UnknownKind(SmbError):
    exit_code = 2

    def __init__(self, kind: str):
        super().__init__(f"There is no kind {kind!r} of contradictions. The kinds are {', '.join(KINDS)}.")


class NotAResolution(SmbError):
    exit_code = 2

    def __init__(self, detail: str):
        super().__init__(f"{detail} Say one of --keep CLAIM_ID|a|b, --both SCOPE_A SCOPE_B, --dismiss, with --reason TEXT and --as NAME.")


class SideGone(SmbError):
    def __init__(self, title: str, standing: str):
        super().__init__(f"{title!r} can't be kept: it is {standing}. `smb history` shows what became of it.")


@dataclass(frozen=True, slots=True)
class Resolution:
    """What a person wants: one of `keep` (a claim's id, "a" or "b"), `scopes` (of a and b) and `dismiss`."""

    who: str
    reason: str
    keep: str = ""
    scopes: tuple[str, ...] = ()
    dismiss: bool = False


@dataclass(frozen=True, slots=True)
class _Conflict:
    """A contradiction with all that decides how it stands."""

    object: MemoryObject
    disagreement: Disagreement
    decision: Decision | None
    settled: Settled | None
    history: Sequence[Revision]


class Conflicts:
    """The contradictions of one bank. `authority` is bank.toml's table."""

    def __init__(self, catalog: Catalog, writer: Writer, authority: Mapping[str, int]):
        self._catalog, self._writer, self._authority = catalog, writer, authority
        self._histories: dict[str, list[Revision]] = {}
        self._verdicts: dict[str, Verdict] = {}
        self._claims: dict[str, MemoryObject] = {}
        self._merged: dict[str, str] = {}

    # ------------------------------------------------------------ the list

    async def list(self, which: Which = "open", kind: str = "", about: str = "") -> list[dict[str, Any]]:
        """As DESIGN.md, section 8, says, oldest first; `about` is a word or name in what is said. Raises UnknownKind."""
        if kind and kind not in KINDS:
            raise UnknownKind(kind)
        conflicts = await self._load()
        titles = {row["id"]: row["title"] for row in await self._catalog.fetch_in(
            "SELECT id, title FROM memory_objects WHERE id IN ({marks})", sorted({o.about for o in self._claims.values() if o.about}))}
        chosen = [c for c in conflicts if (which == "all" or (which == "open") == (c.settled is None)) and (not kind or c.disagreement.kind == kind)
                  and (not about or any(fold(about) in fold(text) for text in self._words(c, titles)))]
        paths = await self._paths(chosen)
        return [self._told(c, paths) for c in chosen]

    async def _load(self, ids: Sequence[str] = ()) -> list[_Conflict]:
        rows = await self._catalog.fetch("SELECT id, identity FROM memory_objects WHERE type = ? AND identity LIKE ? ORDER BY created, id", (CONTRADICTION, f"{PHASE}:%"))
        own = await self._catalog.histories([row["id"] for row in rows])
        known = {row["id"]: disagreement_of(row["identity"], own[row["id"]]) for row in rows}
        await self._read({i for d in known.values() for i in d.claims})
        same = repeats(known.items(), self._lead)
        conflicts = []
        for id_, d in known.items():
            contradiction = as_object(own[id_], about=id_)
            assert contradiction is not None
            decision = decision_of(id_, own[id_])
            state = settled(d, decision, self._histories, self._lead)
            if state is None and id_ in same:
                state = Settled("same", PHASE, same[id_], max((r.recorded_at for r in own[id_] if r.recorded_at), default=None))
            conflicts.append(_Conflict(contradiction, d, decision, state, own[id_]))
        return [c for c in conflicts if not ids or c.object.id in ids]

    async def _read(self, ids: Iterable[str]) -> None:
        """Reads claims, and what they were merged into."""
        waiting = set(ids)
        while waiting:
            self._histories |= await self._catalog.histories(sorted(waiting))
            rows = await self._catalog.fetch_in("SELECT id, merged_into FROM memory_objects WHERE merged_into != '' AND id IN ({marks})", sorted(waiting))
            self._merged |= {row["id"]: row["merged_into"] for row in rows}
            waiting = {row["merged_into"] for row in rows} - self._histories.keys()
        self._judge()

    def _judge(self, planned: Sequence[Revision] = ()) -> None:
        """Judges every claim read, as it will stand once `planned` revokes are recorded."""
        for i, history in self._histories.items():
            told = {r.id for r in history}
            history += [r for r in planned if told & set(r.replaces)]
            self._verdicts[i] = judge(history, about=i)
            if (claim := as_object(history, about=i, verdict=self._verdicts[i])) is not None:
                self._claims[i] = claim

    def _lead(self, id_: str) -> str:
        seen: set[str] = set()
        while (into := self._merged.get(id_)) is not None and id_ not in seen:
            seen.add(id_)
            id_ = into
        return id_

    def _side(self, side: Sequence[str]) -> list[str]:
        """The claims of a side, the one that speaks for it first: one that holds, where one does."""
        followed = list(dict.fromkeys((*map(self._lead, side), *side)))
        return sorted((i for i in followed if i in self._claims), key=lambda i: not self._verdicts[i].holds)

    def _words(self, c: _Conflict, titles: Mapping[str, str]) -> list[str]:
        claims = [self._claims[i] for i in c.disagreement.claims if i in self._claims]
        return [c.object.title, *(o.title for o in claims), *(" ".join(o.key) for o in claims), *(titles.get(o.about, "") for o in claims)]

    async def _paths(self, conflicts: Iterable[_Conflict]) -> dict[str, str]:
        documents = {r.document for c in conflicts for side in (c.disagreement.one, c.disagreement.other) for i in self._side(side) for r in self._verdicts[i].supports}
        return {row["id"]: row["path"] for row in await self._catalog.fetch_in("SELECT id, path FROM documents WHERE id IN ({marks})", sorted(documents))}

    def _told(self, c: _Conflict, paths: Mapping[str, str]) -> dict[str, Any]:
        d, s = c.disagreement, c.settled
        sides = [self._side(side) for side in (d.one, d.other)]
        leads = [self._claims[side[0]] for side in sides if side]
        key = leads[0].key if len(leads) == 2 and leads[0].key == leads[1].key else ()
        return {
            "id": c.object.id, "title": c.object.title, "kind": d.kind, "reasons": list(d.reasons), **({"key": list(key)} if key else {}),
            "claims": [self._told_side(side, paths) for side in sides], "question_id": object_id(MemoryType.QUESTION.value, d.question),
            "opened": c.object.created, "resolved": (to_iso(s.at) or c.object.modified) if s else None,
            "resolution": {"how": s.how, "by": s.by, "reason": s.reason or None, "keep": s.decision.keep or None if s.decision else None,
                           "scopes": list(s.decision.scopes) if s.decision else []} if s else None,
            "location": c.object.location,
        }

    def _told_side(self, side: Sequence[str], paths: Mapping[str, str]) -> dict[str, Any]:
        lead = self._claims[side[0]]
        citations: dict[tuple[str, str, int], dict[str, Any]] = {}
        for i in [i for i in side if self._verdicts[i].holds] or side[:1]:
            for r in self._verdicts[i].supports:
                for span in r.evidence:
                    citations.setdefault((r.document, span.source, span.byte_start), {
                        "path": paths.get(r.document, ""), "document": r.document, "source": span.source, "line_start": span.line_start,
                        "line_end": span.line_end, "quote": span.quote})
        by_document = {cited["source"] for cited in citations.values() if cited["path"]}
        return {
            "id": lead.id, "text": lead.title, "value": lead.value or None, "standing": self._verdicts[lead.id].standing,
            "citations": [cited for cited in citations.values() if cited["path"] or not by_document],
            "also": [{"id": i, "text": self._claims[i].title} for i in side[1:]],
        }

    # ------------------------------------------------------------ resolving

    async def resolve(self, reference: str, wanted: Resolution, clock: Callable[[], datetime]) -> dict[str, Any]:
        """Commits what a person decides: the conflict as `list` tells it, with "changed", "transaction" and the "overridden"
        decision that counted until now (None where it was open). Raises UnknownConflict,
        NotAResolution, SideGone, SignerMissing, NotEntitled, BankLocked."""
        async with self._writer.writing():
            (conflict,) = await self._load([await self._found(reference)])
            revisions = await self._planned(conflict, wanted)
            done = await self._writer.commit(Transaction(KIND, revisions[0].actor, clock(), tuple(revisions))) if revisions else None
        after = Conflicts(self._catalog, self._writer, self._authority)
        (told,) = [one for one in await after.list("all") if one["id"] == conflict.object.id]
        before = conflict.decision if conflict.settled is not None and done else None
        return {**told, "changed": done is not None, "transaction": done.id if done else None, "overridden": _overridden(before) if before else None}

    async def _found(self, reference: str) -> str:
        rows = await self._catalog.fetch("SELECT id FROM memory_objects WHERE type = ? AND id LIKE ?", (CONTRADICTION, reference.removeprefix("mem-") + "%"))
        rows = rows or await self._catalog.fetch("SELECT id FROM memory_objects WHERE type = ? AND title = ?", (CONTRADICTION, reference))
        if len(rows) != 1 or not reference.strip("%_ "):
            raise UnknownConflict(reference)
        return str(rows[0]["id"])

    async def _planned(self, c: _Conflict, wanted: Resolution) -> list[Revision]:
        who, authority = signer(wanted.who, self._authority)
        before = c.decision
        taken_back = await self._taken_back(before, who)
        self._judge(taken_back)
        made = self._decision(c, wanted, who)
        if before is not None:
            if (before.how, before.by, before.reason, before.keep, before.scopes) == (made.how, who, made.reason, made.keep, made.scopes) and c.settled is not None:
                return []
            earlier = self._authority.get(before.by, authority)
            if before.by != who and earlier > authority:
                raise NotEntitled(who, authority, f"as much as {before.by}, who decided this ({earlier})")
        base = next(r.statement for r in reversed(c.history) if isinstance(r.statement, Statement) and said_by(r, PHASE) and r.object_id == c.object.id)
        state = state_of(Settled(made.how, made.by, made.reason, decision=made), kept=self._claims[made.keep].title if made.keep else "")
        head, _, last = c.object.body.rpartition("\n\n")
        body = f"{head if last.startswith(('Open', 'Settled')) else c.object.body}\n\n{state}"
        own = {r.id: r for r in c.history}
        said = again(new_revision(RevisionKind.ASSERT, c.object.id, CONTRADICTION, statement=decided(base, made, body), evidence=c.object.evidence,
                                  reason=made.reason, actor=who), own)
        planned = [said, *taken_back]
        one, other = ([i for i in self._side(side) if self._verdicts[i].holds] for side in (c.disagreement.one, c.disagreement.other))
        if made.how == "kept":
            kept, lost = (one, other) if made.keep in one else (other, one)
            lost = [i for i in lost if i not in kept]  # merged, a claim stands on both sides
            for i in lost:
                refuse_overruling(self._histories[i], self._claims[i], who, authority)
            planned += self._kept(made, lost)
        if made.how == "both":
            planned += [self._restated(i, made, (), scope, beside) for side, scope, beside in zip((one, other), made.scopes, (other, one), strict=True) for i in side]
        planned += self._uncontested(one, other, made) + self._uncontested(other, one, made)
        return planned + await self._answered(c)

    def _decision(self, c: _Conflict, wanted: Resolution, who: str) -> Decision:
        reason = " ".join(wanted.reason.split())
        scopes = tuple(" ".join(scope.split()) for scope in wanted.scopes)
        if bool(wanted.keep) + bool(scopes) + wanted.dismiss != 1:
            raise NotAResolution("A resolution is one thing.")
        if not reason:
            raise NotAResolution("A resolution needs a reason.")
        if wanted.dismiss:
            return Decision("dismissed", who, reason)
        if scopes:
            if len(scopes) != 2 or not all(scopes):
                raise NotAResolution("Both sides need a scope.")
            return Decision("both", who, reason, scopes=scopes)
        sides = {"a": self._side(c.disagreement.one), "b": self._side(c.disagreement.other)}
        side = sides.get(wanted.keep.lower()) or next((ids for ids in sides.values() if any(i.startswith(wanted.keep) for i in ids)), None)
        if not side:
            raise NotAResolution(f"{wanted.keep!r} is none of its claims ({sides['a'][0]} is a, {sides['b'][0]} is b).")
        if not self._verdicts[side[0]].holds:
            raise SideGone(self._claims[side[0]].title, self._verdicts[side[0]].standing)
        return Decision("kept", who, reason, keep=side[0])

    async def _taken_back(self, before: Decision | None, who: str) -> list[Revision]:
        """The end of what an earlier decision did to claims."""
        if before is None or not before.transaction:
            return []
        rows = await self._catalog.fetch("SELECT r.line FROM revisions r JOIN transactions t ON t.seq = r.tx WHERE t.id = ? AND r.object_type = ? ORDER BY r.seq", (before.transaction, CLAIM))
        planned = []
        for row in rows:
            r = revision_from_json(orjson.loads(row["line"]))
            history = {h.id: h for h in self._histories.get(r.object_id, ())}
            said = [h.id for h in stated(history.values()) if h.object_id == r.object_id and decides(h) and h.reason == before.of_claims] if r.statement else []
            if said:
                planned.append(again(new_revision(RevisionKind.REVOKE, r.object_id, CLAIM, replaces=tuple(sorted(said)), reason="decided anew", actor=who), history))
        return planned

    def _kept(self, made: Decision, lost: Sequence[str]) -> list[Revision]:
        closed = tuple(sorted(r.id for i in lost for r in stated(self._histories[i]) if r.object_id == i))
        return [self._restated(made.keep, made, closed)] if closed else []

    def _restated(self, id_: str, made: Decision, closes: tuple[str, ...], scope: str = "", beside: Sequence[str] = ()) -> Revision:
        """A claim in its own words, said by who decided. Its quotes are its notes' and go when they go (`ingest` sees to that)."""
        claim, supports = self._claims[id_], self._verdicts[id_].supports
        said = next(r.statement for r in reversed(supports) if isinstance(r.statement, Statement) and r.statement.title == claim.title)
        extra = (*(pair for pair in said.extra if pair[0] != "scope"), ("scope", f"scope: {orjson.dumps(scope).decode()}")) if scope else said.extra
        statement = replace(said, mode=Mode.AUTHORED, extra=extra)
        if scope:
            title = scoped(claim.title, scope)
            links = (*said.links, *(Link(i, EdgeType.RELATED_TO) for i in beside))
            statement = replace(statement, title=title, value=scoped(said.value, scope), body=f"{title}\nScope: {scope}", links=links)
        kind = RevisionKind.SUPERSEDE if closes else RevisionKind.ASSERT
        return again(new_revision(kind, id_, CLAIM, statement=statement, replaces=closes, reason=made.of_claims, actor=made.by),
                     {r.id: r for r in self._histories[id_]})

    def _uncontested(self, side: Sequence[str], others: Sequence[str], made: Decision) -> list[Revision]:
        """The end of the contests of one side with the other. One of a key names whom it may stand beside from now on, or the next ingest
        would contest it again."""
        planned = []
        for i in side:
            history = {r.id: r for r in self._histories[i]}
            ended = sorted(r.id for r in standing_contests(history.values(), i, PHASE) if set(r.into) <= set(others))
            if ended:
                planned.append(again(new_revision(RevisionKind.REVOKE, i, CLAIM, replaces=tuple(ended), reason=made.reason, actor=made.by), history))
            for r in standing_contests(history.values(), i, KEYS):
                if among := tuple(sorted(set(r.into) & set(others))):
                    beside = () if made.how == "kept" else among
                    planned.append(again(new_revision(RevisionKind.REVOKE, i, CLAIM, replaces=(r.id,), into=beside, reason=made.reason, actor=made.by), history))
        return planned

    async def _answered(self, c: _Conflict) -> list[Revision]:
        """The end of its question, as the phase itself would say it."""
        id_ = object_id(MemoryType.QUESTION.value, c.disagreement.question)
        history = (await self._catalog.histories([id_]))[id_]
        mine = [r.id for r in stated(history) if r.object_id == id_ and said_by(r, PHASE)]
        revoke = new_revision(RevisionKind.REVOKE, id_, MemoryType.QUESTION.value, replaces=tuple(sorted(mine)), reason=ANSWERED, actor=PHASE)
        return [again(revoke, {r.id: r for r in history})] if mine else []


def _overridden(before: Decision) -> dict[str, Any]:
    return {"how": before.how, "by": before.by, "reason": before.reason, "keep": before.keep or None, "scopes": list(before.scopes), "at": to_iso(before.at)}
