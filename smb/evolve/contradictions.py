"""The phase `contradictions`: what can't both hold, kept for ever.

Owns the contradiction and question objects and the contests between the claims of an open one. A contradiction is never taken back:
when a side goes or a person decides, the contest ends and the page says why. One disagreement is one object, however many claims say
either side and whatever they are merged into. Never decides which side holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from smb.evolve.opposing.contradiction_page import Voice, body_of, question_of, title_of
from smb.evolve.opposing.opposed_claims import Judge, Opposed, contested_by_key, opposed_claims
from smb.evolve.phase import Proposals, Wanted, again
from smb.evolve.snapshot import Item, Snapshot
from smb.model.authorship import said_by
from smb.model.currentness import as_object, judge, stated
from smb.model.disagreement import (PHASE, Decision, Disagreement, Settled, covered, decides, decision_of, decisions, disagreement_of, repeats, settled,
                                    standing_contests)
from smb.model.edges import EdgeType
from smb.model.identity import object_id
from smb.model.objects import Link, MemoryObject, MemoryType, Mode
from smb.model.revision import Revision, RevisionKind, Statement, new_revision

CLAIM = MemoryType.CLAIM.value
MOST = 8  # disagreements of one claim; more of them say that it is the rules that err
SPANS = 6  # quotes of one side in the evidence
OVER = "settled"
ANSWERED = "answered"


@dataclass(frozen=True, slots=True)
class Known:
    """A contradiction the bank holds, or is about to."""

    id: str
    disagreement: Disagreement
    decision: Decision | None = None
    history: Sequence[Revision] = ()


class ContradictionDetector:
    """Finds contradictions among claims and keeps them, their questions and their contests."""

    name = PHASE
    version = 1

    async def propose(self, snapshot: Snapshot) -> Proposals:
        known = await known_contradictions(snapshot)
        claims = snapshot.stated(MemoryType.CLAIM)
        fresh = None if snapshot.since == 0 else await fresh_claims(snapshot, claims)
        judge_ = Judge(snapshot)
        found = await opposed_claims(snapshot, claims, judge_, fresh)
        await judge_.read(i for one in known for i in one.disagreement.claims)
        known = joined(known, found, judge_, snapshot.canonical)
        return await Told(snapshot, known, await claim_histories(snapshot, known)).proposals()


async def known_contradictions(snapshot: Snapshot) -> list[Known]:
    """Every contradiction the bank was ever told of, oldest first."""
    rows = await snapshot.catalog.fetch("SELECT id, identity FROM memory_objects WHERE type = ? AND identity LIKE ? ORDER BY created, id",
                                        (MemoryType.CONTRADICTION.value, f"{PHASE}:%"))
    histories = await snapshot.histories(row["id"] for row in rows)
    return [Known(row["id"], disagreement_of(row["identity"], told := histories[row["id"]]), decision_of(row["id"], told), told) for row in rows]


async def claim_histories(snapshot: Snapshot, known: Iterable[Known]) -> dict[str, list[Revision]]:
    """The histories of the claims of contradictions, and of what these were merged into."""
    claims = {i for one in known for i in one.disagreement.claims}
    return await snapshot.histories(claims | {snapshot.canonical(i) for i in claims})


async def fresh_claims(snapshot: Snapshot, claims: Iterable[Item]) -> set[str]:
    """The claims that changed, and those of documents that did."""
    fresh = {claim.id for claim in claims if snapshot.is_new(claim)}
    rows = await snapshot.catalog.fetch(
        "SELECT DISTINCT e.object_id FROM documents d JOIN object_evidence e ON e.source = d.source WHERE d.live = 1 AND d.recorded_at > "
        "(SELECT recorded_at FROM transactions WHERE seq = ?)", (snapshot.since,))
    return fresh | {row["object_id"] for row in rows}


def joined(known: Sequence[Known], found: Iterable[Opposed], judge_: Judge, lead: Callable[[str], str]) -> list[Known]:
    """`known` with what was found: new voices join a side, what nobody knew is a contradiction of its own."""
    held = list(known)
    of: dict[str, list[int]] = {}
    for n, one in enumerate(held):
        for i in one.disagreement.claims:
            of.setdefault(lead(i), []).append(n)
    for o in found:
        near = sorted({*of.get(o.one, ()), *of.get(o.other, ())})
        if any(covered(held[n].disagreement, o.one, o.other, lead) for n in near):
            continue
        joining = ((n, d) for n in near if (d := _with_voice(held[n].disagreement, o, judge_, lead)) is not None)
        at, joins = next(joining, (len(held), None))
        if joins is not None:
            held[at] = replace(held[at], disagreement=joins)
        elif max(len(of.get(o.one, ())), len(of.get(o.other, ()))) < MOST:
            new = Disagreement((o.one,), (o.other,), o.kind, o.reasons)
            held.append(Known(object_id(MemoryType.CONTRADICTION.value, new.identity), new))
        else:
            continue
        for i in (o.one, o.other):
            if at not in of.setdefault(i, []):
                of[i].append(at)
    return held


def _with_voice(d: Disagreement, o: Opposed, judge_: Judge, lead: Callable[[str], str]) -> Disagreement | None:
    """`d` with a claim that opposes one of its sides as the other side does, and doesn't oppose that one; None where it tells of
    something else, or nobody says any more what it would stand beside."""
    if d.kind != o.kind:
        return None
    one, other = d.canonical(lead)
    for new, old in ((o.one, o.other), (o.other, o.one)):
        if old in other and any(map(judge_.knows, one)) and all(judge_.of(new, i) is None for i in sorted(one)):
            return replace(d, one=tuple(dict.fromkeys((*d.one, new))))
        if old in one and any(map(judge_.knows, other)) and all(judge_.of(new, i) is None for i in sorted(other)):
            return replace(d, other=tuple(dict.fromkeys((*d.other, new))))
    return None


class Told:
    """What a set of disagreements comes to in objects and contests."""

    def __init__(self, snapshot: Snapshot, known: Sequence[Known], histories: Mapping[str, Sequence[Revision]]):
        self._snapshot, self._known, self._histories = snapshot, known, histories

    async def proposals(self) -> Proposals:
        snapshot, lead = self._snapshot, self._snapshot.canonical
        voices = await self.voices()
        same = repeats([(one.id, one.disagreement) for one in self._known], lead)
        wanted: list[Wanted] = []
        revisions: list[Revision] = []
        closed: list[str] = []
        contests: dict[str, dict[tuple[str, ...], str]] = {}
        by_key = contested_by_key(self._histories)
        for one in self._known:
            state = settled(one.disagreement, one.decision, self._histories, lead)
            state = state or (Settled("same", PHASE, "") if one.id in same else None)
            theirs = _taken_over(one)
            contradiction, question = self.objects(one, voices, None if theirs else state)
            if theirs:
                revisions += _beneath(one, contradiction)
            else:
                wanted.append(contradiction)
            if state is not None:
                closed.append(question.id)
                continue
            wanted.append(question)
            revisions += _reopened(one)
            for claim, others in self._sides(one.disagreement):
                if not others <= by_key.get(claim, frozenset()):
                    contests.setdefault(claim, {})[tuple(sorted(others))] = contradiction.statement.title
        return Proposals(wanted, set(), [*revisions, *await self._closed(closed), *self._contests(contests)])

    async def voices(self) -> dict[str, Voice]:
        """Every claim of the disagreements as it is told."""
        verdicts = {i: judge(history, about=i) for i, history in self._histories.items()}
        documents = {r.document for verdict in verdicts.values() for r in verdict.supports if r.document}
        paths = {row["id"]: row["path"] for row in await self._snapshot.catalog.fetch_in("SELECT id, path FROM documents WHERE id IN ({marks})", sorted(documents))}
        voices: dict[str, Voice] = {}
        for i, verdict in verdicts.items():
            if (claim := as_object(self._histories[i], about=i, verdict=verdict)) is not None:
                told = sorted(verdict.supports, key=lambda r: r.document in paths)  # a person's statement repeats a document's quotes
                quotes = {span: f"{paths.get(r.document, span.source[:12])}:{span.lines}" for r in told for span in r.evidence}
                voices[i] = Voice(_as_noted(claim, verdict.supports), tuple(sorted(quotes.items(), key=lambda pair: (pair[1], pair[0].byte_start))))
        return voices

    def objects(self, one: Known, voices: Mapping[str, Voice], state: Settled | None) -> tuple[Wanted, Wanted]:
        """The contradiction and its question."""
        d = one.disagreement
        claims = [voices[i].claim for i in d.claims if i in voices]
        first, second = (_speaker(side, voices).claim for side in (d.one, d.other))
        about = self._snapshot.items.get(first.about) if first.about and first.about == second.about else None
        title = title_of(d, first, second, about.title if about is not None else "")
        evidence = tuple(dict.fromkeys(span for side in (d.one, d.other) for span in [s for i in side if i in voices for s, _ in voices[i].quotes][:SPANS]))
        confidence = min(claim.confidence for claim in claims)
        contradiction = Wanted(MemoryType.CONTRADICTION, Statement(
            title=title, identity=d.identity, body=body_of(d, voices, state, question_of(title)), links=tuple(Link(i, EdgeType.CONTRADICTS) for i in d.claims),
            confidence=confidence, mode=Mode.INFERRED, derived_from=d.claims, extra=d.extra()), evidence)
        question = Wanted(MemoryType.QUESTION, Statement(
            title=question_of(title), identity=d.question, body=_question(voices, d, contradiction), links=(Link(contradiction.id, EdgeType.DERIVES_FROM),),
            confidence=confidence, mode=Mode.INFERRED, derived_from=(contradiction.id,)), evidence)
        return contradiction, question

    def _sides(self, d: Disagreement) -> list[tuple[str, frozenset[str]]]:
        """Each claim that holds, with those that hold on the other side."""
        one, other = (frozenset(i for i in side if i in self._snapshot.items) for side in d.canonical(self._snapshot.canonical))
        return [*((i, other) for i in sorted(one)), *((i, one) for i in sorted(other))]

    async def _closed(self, questions: Sequence[str]) -> list[Revision]:
        """The end of questions that are answered."""
        ended = []
        for id_, history in (await self._snapshot.histories(questions)).items():
            if mine := [r.id for r in stated(history) if r.object_id == id_ and said_by(r, PHASE)]:
                revoke = new_revision(RevisionKind.REVOKE, id_, MemoryType.QUESTION.value, replaces=tuple(sorted(mine)), reason=ANSWERED, actor=PHASE)
                ended.append(again(revoke, {r.id: r for r in history}))
        return ended

    def _contests(self, wanted: Mapping[str, Mapping[tuple[str, ...], str]]) -> list[Revision]:
        """What makes the standing contests the wanted ones."""
        planned: list[Revision] = []
        for claim in sorted(self._histories):
            history = {r.id: r for r in self._histories[claim]}
            standing = standing_contests(history.values(), claim, PHASE)
            here = wanted.get(claim, {})
            if over := sorted(r.id for r in standing if here.get(r.into) != r.reason):
                planned.append(again(new_revision(RevisionKind.REVOKE, claim, CLAIM, replaces=tuple(over), reason=OVER, actor=PHASE), history))
            for into, reason in sorted(here.items()):
                if not any(r.into == into and r.reason == reason for r in standing):
                    planned.append(again(new_revision(RevisionKind.CONTEST, claim, CLAIM, into=into, reason=reason, actor=PHASE), history))
        return planned


def _taken_over(one: Known) -> bool:
    return any(isinstance(r.statement, Statement) and r.statement.mode is Mode.AUTHORED for r in stated(one.history) if r.object_id == one.id)


def _beneath(one: Known, wanted: Wanted) -> list[Revision]:
    """What the phase knows of a contradiction whose page is a person's: it is kept below theirs."""
    mine = [r for r in stated(one.history) if r.object_id == one.id and said_by(r, PHASE)]
    if any((r.statement, r.evidence) == (wanted.statement, wanted.evidence) for r in mine):
        return []
    said = new_revision(RevisionKind.ASSERT, one.id, wanted.type.value, statement=wanted.statement, evidence=wanted.evidence, replaces=tuple(r.id for r in mine), actor=PHASE)
    return [again(said, {r.id: r for r in one.history})]


def _reopened(one: Known) -> list[Revision]:
    """The end of a decision that events have overtaken: what was decided against has been said anew."""
    if one.decision is None:
        return []
    overtaken = sorted(r.id for r in decisions(one.id, one.history))
    revoke = new_revision(RevisionKind.REVOKE, one.id, MemoryType.CONTRADICTION.value, replaces=tuple(overtaken), reason="said again since", actor=PHASE)
    return [again(revoke, {r.id: r for r in one.history})]


def _question(voices: Mapping[str, Voice], d: Disagreement, contradiction: Wanted) -> str:
    one, other = _speaker(d.one, voices), _speaker(d.other, voices)
    return (f"{one.link} stands against {other.link}; see [[{contradiction.page}|{contradiction.statement.title}]].\n\n"
            f"`smb conflicts resolve {contradiction.id} --keep a` (or `--keep b`) says which side holds, while it is open.")


def _as_noted(claim: MemoryObject, supports: Iterable[Revision]) -> MemoryObject:
    """A claim as its notes say it, without the scope a person has given it."""
    said = next((r.statement for r in supports if isinstance(r.statement, Statement) and not decides(r)), None)
    return replace(claim, title=said.title, value=said.value) if said is not None and "scope" in dict(claim.extra) else claim


def _speaker(side: Sequence[str], voices: Mapping[str, Voice]) -> Voice:
    """The first claim of a side that holds, of one that is gone the first."""
    return next((voices[i] for i in side if i in voices and voices[i].holds), voices[side[0]])
