"""The phase `judgements`: a language model on what rules leave unsure.

Owns which pairs are asked about in one cycle, that none is asked about twice, and what a verdict becomes: a contradiction like those
of rules, which the phase `contradictions` then keeps, asks about and contests as its own, or a merge like those of duplicates. Both
bear the model as their author. A model that can't be reached leaves everything waiting. Never decides without both orders agreeing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from smb.evolve.contradictions import Told, claim_histories, joined, known_contradictions
from smb.evolve.duplicates import members_of
from smb.evolve.sameness.merging import Pair, groups_of, merge_revisions, merges
from smb.evolve.opposing.opposed_claims import Judge, Opposed
from smb.evolve.phase import Proposals, again
from smb.evolve.sameness.same_name import Sameness
from smb.evolve.snapshot import Snapshot
from smb.evolve.judging.unsure import Unsure, sides_of, unsure
from smb.evolve.judging.verdicts import Judged, Side, Verdict, asked, controls, fingerprint, is_fit, key_of, verdict_of
from smb.model.authorship import MODEL, said_by
from smb.model.currentness import stated
from smb.model.disagreement import PHASE, settled
from smb.model.revision import Revision, RevisionKind, new_revision
from smb.stores.catalog import Catalog
from smb.stores.model_memo import ModelMemo

if TYPE_CHECKING:
    from smb.inference.ollama_client import ModelClient
    from smb.inference.prompts import Template

MOST = 100  # pairs asked about in one cycle
UNFIT = "errs on pairs with a known answer, so that its verdicts don't count; take a better model (`smb models`)"
Progress = Callable[[str, int, int | None], None]


@dataclass(frozen=True, slots=True)
class _Case:
    """An unsure pair with what is shown of it; `key` names the question."""

    pair: Unsure
    one: Side
    other: Side
    key: str


class Judgements:
    """The phase. `client` answers for as long as the cycle runs, None where no model can (`trouble` says why); `memo` keeps what was said."""

    name = "judgements"

    def __init__(self, client: ModelClient | None, memo: ModelMemo, template: Template, trouble: str = "", progress: Progress | None = None):
        self._client, self._memo, self._template, self._trouble, self._progress = client, memo, template, trouble, progress
        self._left: list[list[str]] = []
        self._note = ""

    @property
    def version(self) -> int:
        """Another one for another model or prompt, and none where the memo is lost: then everything is looked at again."""
        return int(self._memo.fingerprint or "0", 16) if self._memo.waiting() is not None else -1

    async def ask(self, snapshot: Snapshot) -> None:
        """Asks about the most promising pairs nobody has asked about."""
        self._note = self._trouble
        if (client := self._client) is None:
            return
        model = await client.in_use()
        self._memo.begin(fingerprint(f"{model.name}@{model.digest[:12]}", self._template))
        cases = await self._cases(snapshot)
        self._memo.leave([case.pair.row for case in cases])
        failed = self._memo.failed()
        waiting = sorted((c for c in cases if self._memo.get(c.key) is None), key=lambda c: failed.get(c.key, {}).get("times", 0))[:MOST]
        if not waiting:
            return
        if not self._is_fit():
            await self._put(client, [control for control in controls() if self._memo.get(control[0]) is None])
        if self._is_fit():
            await self._put(client, [(c.key, c.one, c.other) for c in waiting])

    async def propose(self, snapshot: Snapshot) -> Proposals:
        cases = await self._cases(snapshot)
        judged: list[tuple[_Case, Judged, str]] = []
        fit = self._is_fit()
        self._left = []
        for case in cases:
            held = self._memo.get(case.key) if fit else None
            if held is None:
                self._left.append(case.pair.row)
            elif (verdict := verdict_of(held["answers"], case.one, case.other)) is not None:
                judged.append((case, verdict, held["actor"]))
        contradictions = await self._contradictions(snapshot, [j for j in judged if j[1].verdict is Verdict.CONTRADICTION and j[0].pair.kind])
        merged = await self._merges(snapshot, [j for j in judged if j[1].verdict is Verdict.SAME and j[0].pair.one_thing])
        return Proposals(revisions=[*contradictions, *merged], note=self._told(cases, fit))

    async def settle(self, catalog: Catalog) -> None:
        self._memo.leave(self._left)

    # ------------------------------------------------------------ asking

    async def _cases(self, snapshot: Snapshot) -> list[_Case]:
        held = f"{self.name}:{snapshot.since}"
        if (found := snapshot.kept(held)) is None:
            pairs = await unsure(snapshot, Judge(snapshot), await known_contradictions(snapshot), self._memo.waiting() or [], self.name)
            sides = await sides_of(snapshot, {i for pair in pairs for i in (pair.one, pair.other)})
            found = snapshot.keep(held, [_Case(p, sides[p.one], sides[p.other], key_of(sides[p.one], sides[p.other])) for p in pairs])
        return list(found)

    async def _put(self, client: ModelClient, questions: Sequence[tuple[str, Side, Side]]) -> None:
        """Asks, and keeps every answer as it comes."""
        from smb.inference.model_errors import ModelError, ModelUnavailable

        async def ask(question: tuple[str, Side, Side]) -> tuple[str, list[dict[str, str]]]:
            return await asked(client, self._template, question[1], question[2])

        async for (key, _, _), outcome in client.each(questions, ask, stage=self.name, progress=self._progress):
            if isinstance(outcome, ModelUnavailable):
                self._note = str(outcome)
            elif isinstance(outcome, ModelError):
                self._memo.fail(key, str(outcome))
                self._note = self._note or str(outcome)
            else:
                self._memo.put(key, *outcome)

    def _is_fit(self) -> bool:
        return is_fit({key: held["answers"] for key, _, _ in controls() if (held := self._memo.get(key)) is not None})

    def _told(self, cases: Sequence[_Case], fit: bool) -> str:
        """What a person should know: how many wait, and why."""
        answered = all(self._memo.get(key) is not None for key, _, _ in controls())
        why = self._note or (f"the model {UNFIT}" if answered and not fit else "")
        waits = f"{len(self._left)} of {len(cases)} unsure pairs wait for a model" if self._left else ""
        return f"{waits}: {why}" if waits and why else waits

    # ------------------------------------------------------------ what follows

    async def _contradictions(self, snapshot: Snapshot, judged: Sequence[tuple[_Case, Judged, str]]) -> list[Revision]:
        """The contradictions the bank does not hold, and those a new voice joins, each said by the model."""
        if not judged:
            return []
        judge_, lead = Judge(snapshot), snapshot.canonical
        known = await known_contradictions(snapshot)
        await judge_.read({i for one in known for i in one.disagreement.claims} | {i for case, _, _ in judged for i in (case.pair.one, case.pair.other)})
        by = {(case.pair.one, case.pair.other): actor for case, _, actor in judged}
        found = [Opposed(c.pair.one, c.pair.other, c.pair.kind, _reasons(c.pair, said, actor)) for c, said, actor in judged]
        held = joined(known, found, judge_, lead)
        before = {one.id: one.disagreement for one in known}
        anew = [one for one in held if before.get(one.id) != one.disagreement]
        told = Told(snapshot, held, histories := await claim_histories(snapshot, held))
        voices = await told.voices()
        revisions = []
        for one in anew:
            mine = [r for r in stated(one.history) if r.object_id == one.id and said_by(r, PHASE)]
            if one.decision is not None and not mine:
                continue  # a person has taken it away
            state = None if one.decision is not None else settled(one.disagreement, None, histories, lead)
            page, _ = told.objects(one, voices, state)
            actor = next(a for (a_one, a_other), a in by.items() if {a_one, a_other} <= set(one.disagreement.claims))
            said = new_revision(RevisionKind.ASSERT, one.id, page.type.value, statement=page.statement, evidence=page.evidence,
                                replaces=tuple(r.id for r in mine), actor=actor)
            revisions.append(again(said, {r.id: r for r in one.history}))
        return revisions

    async def _merges(self, snapshot: Snapshot, judged: Sequence[tuple[_Case, Judged, str]]) -> list[Revision]:
        same: dict[Pair, Sameness] = {(c.pair.one, c.pair.other): Sameness(_why(c.pair, said, actor)) for c, said, actor in judged}
        by = {(c.pair.one, c.pair.other): actor for c, _, actor in judged}
        groups = groups_of(same)
        members = await members_of(snapshot, [i for group in groups for i in group])
        planned = merges(groups, same, members)
        histories = await snapshot.histories({i for original, into, _ in planned for i in (original, into)})
        found: Mapping[str, Revision] = {
            r.id: r for original, into, reason in planned
            for r in merge_revisions(original, into, reason, histories, by[min(original, into), max(original, into)])}
        return list(found.values())


def _model_of(actor: str) -> str:
    return actor.removeprefix(MODEL).partition("@")[0]


def _reasons(pair: Unsure, judged: Judged, actor: str) -> tuple[str, ...]:
    return (*pair.reasons, f"{_model_of(actor)} reads “{judged.words[0]}” against “{judged.words[1]}”")


def _why(pair: Unsure, judged: Judged, actor: str) -> str:
    return f"{pair.one_thing}; {_model_of(actor)} reads “{judged.words[0]}” and “{judged.words[1]}” as one"
