"""Syntheses: what follows from notes read together and stands in none of them.

Owns which of them the bank holds: each cites at least three objects of at least two sources, every sentence its own; the strongest
are kept. The kinds of synthesis own what is said. An edge is recorded between what two notes are about where a bridge shows that they
belong together and no note says so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from smb.evolve.combining.bridges import draft_of, kept_of, linked_documents, meetings
from smb.evolve.combining.doc_terms import DocTerms, read, read_around
from smb.evolve.combining.drafts import Draft
from smb.evolve.combining.gaps import GAP, lacking, open_questions
from smb.evolve.phase import Proposals, Wanted
from smb.evolve.combining.revisit import revisit
from smb.evolve.snapshot import Item, Snapshot
from smb.evolve.combining.support import Support, quotes_of
from smb.evolve.combining.trends import agreement_of, trends_of
from smb.evolve.combining.values import things
from smb.model.edges import EdgeType
from smb.model.identity import relationship_identity
from smb.model.objects import Link, MemoryType, Mode
from smb.model.revision import Statement

if TYPE_CHECKING:
    import numpy as np

OBJECTS, SOURCES = 3, 2  # what a synthesis cites at least
_FEW, _SHARE = 12, 30  # syntheses of one kind a bank may hold: so many, and one more for so many documents


class SynthesisGenerator:
    """Restates, finds and withdraws syntheses and the relationships they discover."""

    name = "syntheses"
    version = 2

    async def propose(self, snapshot: Snapshot) -> Proposals:
        again = await revisit(snapshot, self.name)
        if again is None:
            return Proposals()
        considered = await again.considered(snapshot, _discoveries(snapshot))
        ours = considered & again.held.keys()
        drafts = await self._bridges(snapshot, again.documents)
        drafts += await self._of_values(snapshot, await again.subjects(snapshot, ours), any(_kind(snapshot.items[i]) == GAP for i in ours))
        drafts = _strongest(drafts, Counter(_kind(snapshot.items[i]) for i in again.held.keys() - ours), len(await snapshot.documents()))
        support = await quotes_of(snapshot, [item.id for draft in drafts for item in draft.cited])
        proposals = Proposals(considered=considered)
        for draft in drafts:
            if (wanted := _wanted(self.name, draft, support)) is not None:
                proposals.wanted.append(wanted)
                if draft.ends and (relation := _discovered(draft, draft.ends, wanted, support)) is not None:
                    proposals.wanted.append(relation)
        return proposals

    async def _bridges(self, snapshot: Snapshot, documents: Collection[str] | None) -> list[Draft]:
        said = await read(snapshot) if documents is None else await read_around(snapshot, documents)
        linked, subjects = await linked_documents(snapshot, None if documents is None else said.told), await subjects_of(snapshot)
        questions = await open_questions(snapshot, None if documents is None else said.told)
        found = meetings(said, linked, _vectors(snapshot, said), questions, documents)
        return [draft for meeting in kept_of(found) if (draft := draft_of(said, meeting, subjects, found)) is not None]

    async def _of_values(self, snapshot: Snapshot, about: Collection[str] | None, gaps: bool) -> list[Draft]:
        """`gaps`: look for things that lack what their like have, which takes all of them, also where only `about` is looked at."""
        found, documents, subjects = await things(snapshot, about), await snapshot.documents(), await subjects_of(snapshot)
        drafts = [draft for thing in found for draft in trends_of(thing)]
        drafts += [draft for thing in found if (draft := agreement_of(thing, documents, subjects)) is not None]
        if about is None or gaps:
            drafts += lacking(found if about is None else await things(snapshot), about)
        return drafts


def _kind(item: Item) -> str:
    return item.identity.split(":")[1]


def _discoveries(snapshot: Snapshot) -> dict[str, tuple[str, ...]]:
    """Each relationship evolution has discovered → its two ends."""
    edge = f" {EdgeType.RELATED_TO} "
    return {item.id: tuple(item.identity.split(edge)) for item in snapshot.of_type(MemoryType.RELATIONSHIP) if item.mode is Mode.INFERRED and edge in item.identity}


def _strongest(drafts: Sequence[Draft], kept: Counter[str], documents: int) -> list[Draft]:
    """Of each kind as many as a bank of so many documents may hold beside those `kept`."""
    room = Counter({kind: _FEW + documents // _SHARE - kept[kind] for kind in {draft.kind for draft in drafts}})
    chosen = []
    for draft in sorted(drafts, key=lambda d: (-d.weight, d.kind, d.about)):
        if room[draft.kind] > 0:
            chosen.append(draft)
            room[draft.kind] -= 1
    return chosen


async def subjects_of(snapshot: Snapshot) -> dict[str, Item]:
    """Each document → the object it is about."""
    led = {i: snapshot.canonical(document.primary) for i, document in (await snapshot.documents()).items()}
    return {i: snapshot.items[subject] for i, subject in led.items() if subject in snapshot.items}


def _vectors(snapshot: Snapshot, said: DocTerms) -> dict[str, np.ndarray]:
    """The direction of everything said, by its key, and of each document: the mean of what it says."""
    import numpy as np

    told = [(i, t) for i in sorted(said.told) for t in said.told[i]]
    if not told:
        return {}
    order = {i: n for n, i in enumerate(sorted({i for i, _ in told}))}
    vectors = snapshot.vectors([t.item._replace(row=t.row) for _, t in told])
    sums = np.zeros((len(order), vectors.shape[1]), np.float32)
    np.add.at(sums, [order[i] for i, _ in told], vectors)
    lengths = np.linalg.norm(sums, axis=1, keepdims=True)
    sums /= np.where(lengths == 0, 1, lengths)
    return {i: sums[n] for i, n in order.items()} | {t.key: vectors[n] for n, (_, t) in enumerate(told)}


def _wanted(phase: str, draft: Draft, support: Support) -> Wanted | None:
    sentences = support.held(draft.sentences)
    cited = tuple(dict.fromkeys(item for sentence in sentences for item in sentence.cites))
    if len(cited) < OBJECTS or len(support.sources(cited)) < SOURCES or sentences[:1] != list(draft.sentences[:1]):
        return None
    return Wanted(MemoryType.SYNTHESIS, Statement(
        draft.title, f"{phase}:{draft.kind}:{':'.join(draft.about)}", body=support.page(sentences), confidence=min(item.confidence for item in cited), mode=Mode.INFERRED,
        derived_from=tuple(item.id for item in cited), links=tuple(Link(item.id, EdgeType.DERIVES_FROM) for item in cited), extra=support.dates(cited)),
        support.evidence(cited, sentences))


def _discovered(draft: Draft, ends: tuple[Item, Item], synthesis: Wanted, support: Support) -> Wanted | None:
    """The edge a bridge shows, unless some document states something of both its ends."""
    a, b = ends
    if support.homes(a) & support.homes(b):
        return None
    said = synthesis.statement
    return Wanted(MemoryType.RELATIONSHIP, Statement(
        f"{a.title} related to {b.title}", relationship_identity(a.id, EdgeType.RELATED_TO, b.id), body=support.page(draft.sentences[:1]), about=a.id,
        links=(Link(b.id, EdgeType.RELATED_TO),), confidence=said.confidence, mode=Mode.INFERRED, derived_from=said.derived_from), synthesis.evidence)
