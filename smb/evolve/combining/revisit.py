"""Which derived text has to be looked at again.

Owns what a phase that cites objects reconsiders: what cites something that changed or ended, and what speaks of documents that were
read anew. Small banks, and those of which much changed, are looked at whole.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from smb.evolve.snapshot import Snapshot
from smb.model.objects import MemoryType

WHOLE = 3_000  # objects up to which a bank is looked at whole
FEW = 200  # documents up to which a large bank is looked at in part
_STATED = (MemoryType.CLAIM, MemoryType.CONCEPT, MemoryType.ENTITY, MemoryType.RELATIONSHIP)


@dataclass(frozen=True, slots=True)
class Revisit:
    """`held`: each object of the phase → what it cites; `documents` to look at, None for all."""

    held: Mapping[str, Sequence[str]]
    documents: frozenset[str] | None

    async def considered(self, snapshot: Snapshot, more: Mapping[str, Sequence[str]] | None = None) -> set[str]:
        """Ids of what is held, and of `more` (id → what it rests on), that may no longer be right."""
        rest = {**self.held, **(more or {})}
        if self.documents is None:
            return set(rest)
        homes = await snapshot.documents_of(c for cited in rest.values() for c in cited)
        return {i for i, cited in rest.items() if any(c not in homes or not self.documents.isdisjoint(homes[c]) for c in cited)}

    async def subjects(self, snapshot: Snapshot, considered: Collection[str]) -> set[str] | None:
        """What the claims of the documents, and the `considered` objects, are about; None for everything. The identity of an
        object that is about one thing names it after its phase and kind."""
        if self.documents is None:
            return None
        rows = await snapshot.catalog.fetch_in(
            "SELECT DISTINCT o.about FROM object_evidence e JOIN memory_objects o ON o.id = e.object_id WHERE e.document_id IN ({marks})", sorted(self.documents))
        told = {row["about"] for row in rows} | {part for i in considered for part in snapshot.items[i].identity.split(":")}
        return {subject for i in told if (subject := snapshot.canonical(i)) in snapshot.items}


async def revisit(snapshot: Snapshot, phase: str) -> Revisit | None:
    """None where nothing `phase` could speak of has changed."""
    held = await snapshot.cited_by(phase)
    if not snapshot.since:
        return Revisit(held, None)
    moved = {item.id for item in snapshot.changed(*_STATED)} | snapshot.gone()
    documents = await snapshot.touched()
    if not moved and not documents:
        return None
    if len(snapshot.items) <= WHOLE:
        return Revisit(held, None)
    stale = {c for cited in held.values() if not moved.isdisjoint(cited) for c in cited}
    again = frozenset(documents | {home for homes in (await snapshot.documents_of(stale)).values() for home in homes})
    return Revisit(held, again if len(again) <= FEW else None)
