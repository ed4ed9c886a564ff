"""Syntheses: what follows from notes read together and stands in none of them.

Owns which of them the bank holds: each cites at least three objects of at least two sources, every sentence its own; the strongest
are kept. The kinds of synthesis own what is said. An edge is recorded between what two notes are about where a bridge shows that they
belong together and no note says so.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from smb.evolve.bridges import draft_of, linked_documents, meetings
from smb.evolve.doc_terms import DocTerms, read, read_around
from smb.evolve.drafts import Draft
from smb.evolve.gaps import lacking, open_questions
from smb.evolve.phase import Proposals, Wanted
from smb.evolve.snapshot import Item, Snapshot
from smb.evolve.support import Support, quotes_of
from smb.evolve.trends import agreement_of, trends_of
from smb.evolve.values import things
from smb.model.edges import EdgeType
from smb.model.identity import relationship_identity
from smb.model.objects import Link, MemoryType, Mode
from smb.model.revision import Statement

if TYPE_CHECKING:
    import numpy as np

WHOLE = 12_000  # objects up to which a bank is read whole at every look
OBJECTS, SOURCES = 3, 2  # what a synthesis cites at least
_FEW, _SHARE = 10, 30  # bridges a bank may hold: so many, and one more for so many documents
PROSE = MemoryType.SYNTHESIS


class SynthesisGenerator:
    """Restates, finds and withdraws syntheses and the relationships they discover."""

    name = "syntheses"
    version = 1

    async def propose(self, snapshot: Snapshot) -> Proposals:
        held = await snapshot.cited_by(self.name)
        documents: set[str] | None = None
        if snapshot.since:
            documents = await snapshot.touched() | await _homes(snapshot, held)
            if not documents and not snapshot.changed(MemoryType.CLAIM, MemoryType.CONCEPT, MemoryType.ENTITY, MemoryType.RELATIONSHIP) and not snapshot.gone():
                return Proposals()
            if len(snapshot.items) <= WHOLE:
                documents = None
        considered = await self._considered(snapshot, held, documents)
        drafts = await self._bridges(snapshot, documents, len([i for i in held if i not in considered and snapshot.items[i].identity.startswith(f"{self.name}:bridge:")]))
        drafts += await self._of_values(snapshot, documents)
        support = await quotes_of(snapshot, [item.id for draft in drafts for item in draft.cited])
        proposals = Proposals(considered=considered)
        for draft in drafts:
            if (wanted := _wanted(self.name, draft, support)) is not None:
                proposals.wanted.append(wanted)
                if draft.ends and (relation := _discovered(draft, draft.ends, wanted, support)) is not None:
                    proposals.wanted.append(relation)
        return proposals

    async def _considered(self, snapshot: Snapshot, held: Mapping[str, Sequence[str]], documents: Collection[str] | None) -> set[str]:
        relations = {item.id for item in snapshot.of_type(MemoryType.RELATIONSHIP) if item.mode is Mode.INFERRED and f" {EdgeType.RELATED_TO} " in item.identity}
        if documents is None:
            return set(held) | relations
        ends = {i: tuple(snapshot.items[i].identity.split(f" {EdgeType.RELATED_TO} ")) for i in relations}
        rest = {**held, **ends}
        homes = await snapshot.documents_of(c for cited in rest.values() for c in cited)
        return {i for i, cited in rest.items() if any(c not in homes or not documents.isdisjoint(homes[c]) for c in cited)}

    async def _bridges(self, snapshot: Snapshot, documents: Collection[str] | None, kept: int) -> list[Draft]:
        said = await read(snapshot) if documents is None else await read_around(snapshot, documents)
        linked = await linked_documents(snapshot)
        questions = await open_questions(snapshot, None if documents is None else said.told)
        found = meetings(said, linked, _vectors(snapshot, said), questions, documents)
        drafts = [draft for meeting in found if (draft := draft_of(said, meeting, snapshot.items)) is not None]
        return drafts[: max(0, _FEW + len(said.documents) // _SHARE - kept)]

    async def _of_values(self, snapshot: Snapshot, documents: Collection[str] | None) -> list[Draft]:
        about = None
        if documents is not None:
            rows = await snapshot.catalog.fetch_in("SELECT DISTINCT o.about FROM object_evidence e JOIN memory_objects o ON o.id = e.object_id WHERE e.document_id IN ({marks})", sorted(documents))
            about = {snapshot.canonical(row["about"]) for row in rows if row["about"]}
        found = await things(snapshot, about)
        shelf = await snapshot.documents()
        drafts = [draft for thing in found for draft in trends_of(thing)]
        drafts += [draft for thing in found if (draft := agreement_of(thing, shelf, snapshot.items)) is not None]
        return drafts + (lacking(found) if about is None else [])


async def _homes(snapshot: Snapshot, held: Mapping[str, Sequence[str]]) -> set[str]:
    """The live documents of syntheses that cite what changed or ended."""
    moved = {item.id for item in snapshot.changed(*MemoryType)} | snapshot.gone()
    cited = {c for cites in held.values() if not moved.isdisjoint(cites) for c in cites}
    return {home for homes in (await snapshot.documents_of(cited)).values() for home in homes}


def _vectors(snapshot: Snapshot, said: DocTerms) -> dict[str, np.ndarray]:
    """The mean direction of what each document says."""
    import numpy as np

    told = [(i, t.item) for i in sorted(said.told) for t in said.told[i]]
    if not told:
        return {}
    order = {i: n for n, i in enumerate(sorted({i for i, _ in told}))}
    vectors = snapshot.vectors([item for _, item in told])
    sums = np.zeros((len(order), vectors.shape[1]), np.float32)
    np.add.at(sums, [order[i] for i, _ in told], vectors)
    lengths = np.linalg.norm(sums, axis=1, keepdims=True)
    sums /= np.where(lengths == 0, 1, lengths)
    return {i: sums[n] for i, n in order.items()}


def _wanted(phase: str, draft: Draft, support: Support) -> Wanted | None:
    sentences = support.held(draft.sentences)
    cited = tuple(dict.fromkeys(item for sentence in sentences for item in sentence.cites))
    if len(cited) < OBJECTS or len(support.sources(cited)) < SOURCES or sentences[:1] != list(draft.sentences[:1]):
        return None
    return Wanted(PROSE, Statement(
        draft.title, f"{phase}:{draft.kind}:{':'.join(draft.about)}", body=support.page(sentences), confidence=min(item.confidence for item in cited), mode=Mode.INFERRED,
        derived_from=tuple(item.id for item in cited), links=tuple(Link(item.id, EdgeType.DERIVES_FROM) for item in cited), extra=support.dates(cited)),
        support.evidence(cited))


def _discovered(draft: Draft, ends: tuple[Item, Item], synthesis: Wanted, support: Support) -> Wanted | None:
    """The edge a bridge shows, unless some document states something of both its ends."""
    a, b = ends
    if support.homes(a) & support.homes(b):
        return None
    said = synthesis.statement
    return Wanted(MemoryType.RELATIONSHIP, Statement(
        f"{a.title} related to {b.title}", relationship_identity(a.id, EdgeType.RELATED_TO, b.id), body=support.page(draft.sentences[:1]), about=a.id,
        links=(Link(b.id, EdgeType.RELATED_TO),), confidence=said.confidence, mode=Mode.INFERRED, derived_from=said.derived_from), synthesis.evidence)
