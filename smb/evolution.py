"""`smb evolve`: the phases of a bank in their order, run as one cycle.

Owns which phases there are and what each is given. Never decides what follows from what.
"""

from __future__ import annotations

import time
from collections.abc import Collection
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from smb.bank_layout import read_toml
from smb.model.identity import fold
from smb.projections import Progress

if TYPE_CHECKING:
    from smb.bank import Bank
    from smb.evolve.cycle import EvolutionEngine
    from smb.evolve.phase import Phase


def phases_of(bank: Bank) -> list[Phase]:
    """Every phase in the order of DESIGN.md, section 6."""
    from smb.evolve.abstractions import AbstractionPromoter
    from smb.evolve.clusters import ClusterPages
    from smb.evolve.communities import CommunityPages
    from smb.evolve.contested import ContestedPropagation
    from smb.evolve.contradictions import ContradictionDetector
    from smb.evolve.dated import StepReader
    from smb.evolve.duplicates import DuplicateDetector
    from smb.evolve.insights import Insights
    from smb.evolve.marks import MarkReader
    from smb.evolve.narratives import Narratives
    from smb.evolve.plans import Plans
    from smb.evolve.projects import Projects
    from smb.evolve.promotion import Promotion
    from smb.evolve.research import Research
    from smb.evolve.specifications import Specifications
    from smb.evolve.splits import ConceptSplitter
    from smb.evolve.strength import Strength
    from smb.evolve.syntheses import SynthesisGenerator
    from smb.evolve.taxonomy import TaxonomyBuilder
    from smb.evolve.timelines import Timelines
    from smb.evolve.verification_gaps import Gaps
    from smb.evolve.world_models import WorldModels

    steps, marks = StepReader(), MarkReader()
    return [
        DuplicateDetector(), ConceptSplitter(), ContradictionDetector(), AbstractionPromoter(), SynthesisGenerator(), WorldModels(),
        Strength(bank.usage.record(), bank.clock()), Promotion(), Gaps(), TaxonomyBuilder(), ClusterPages(), CommunityPages(), Timelines(steps), Narratives(steps),
        Insights(), Plans(marks), Projects(marks), Specifications(marks), Research(marks), ContestedPropagation(),
    ]


async def evolve(bank: Bank, names: Collection[str], *, dry_run: bool, seconds: float | None, progress: Progress | None) -> dict[str, Any]:
    """One cycle. Hand edits are taken in first, object files and Chroma follow. Raises UnknownPhase, BankLocked."""
    started = time.perf_counter()
    if not dry_run:
        await bank.projections.absorb()
    engine = _engine(bank)
    report = await engine.run(names, dry_run=dry_run, seconds=seconds, progress=progress)
    if not dry_run:
        if progress:
            progress("index refresh", len(report.phases), len(report.phases))
        await bank.projections.render()
        await bank.projections.follow()
        await bank.projections.mirror_vectors()
    return {
        "generation": bank.ledger.generation(), "phases": [{k: v for k, v in asdict(phase).items() if k != "transaction"} for phase in report.phases],
        "seconds": round(time.perf_counter() - started, 3), "complete": report.complete, "dry_run": dry_run, "record": report.record or None,
    }


def _engine(bank: Bank) -> EvolutionEngine:
    from smb.evolve.cycle import EvolutionEngine
    from smb.evolve.snapshot import Snapshot

    snapshot = Snapshot(bank.catalog, bank.embedding.matrix, frozenset(map(fold, read_toml(bank.path).single_valued)))
    return EvolutionEngine(snapshot, phases_of(bank), bank.writer.writing, bank.writer.commit, bank.clock)
