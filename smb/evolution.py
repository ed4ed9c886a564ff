"""`smb evolve`: the phases of a bank in their order, run as one cycle.

Owns which phases there are and what each is given, and whether a language model has a part in it. Never decides what follows from what.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from smb.bank_layout import read_toml
from smb.config import prompts_path
from smb.model.identity import fold
from smb.model_work import TASKS, pending_model_work, unread
from smb.models import model_client
from smb.projections import Progress
from smb.stores.model_memo import ModelMemo

if TYPE_CHECKING:
    from smb.bank import Bank
    from smb.evolve.cycle import EvolutionEngine
    from smb.evolve.phase import Phase
    from smb.inference.ollama_client import ModelClient

BY_MODEL = ("judgements", "wording")  # the phases a language model has a part in


def phases_of(bank: Bank, by_model: Sequence[Phase] = ()) -> list[Phase]:
    """Every phase in the order of DESIGN.md, section 6; those of a model between the rules that leave it something and those that
    build on what it says."""
    from smb.evolve.abstractions import AbstractionPromoter
    from smb.evolve.clusters import ClusterPages
    from smb.evolve.communities import CommunityPages
    from smb.evolve.contested import ContestedPropagation
    from smb.evolve.contradictions import ContradictionDetector
    from smb.evolve.chronicle.dated import StepReader
    from smb.evolve.duplicates import DuplicateDetector
    from smb.evolve.insights import Insights
    from smb.evolve.chronicle.marks import MarkReader
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
    judging, wording = by_model[:1], by_model[1:]
    return [
        DuplicateDetector(), ConceptSplitter(), *judging, ContradictionDetector(), AbstractionPromoter(), SynthesisGenerator(), WorldModels(),
        Strength(bank.usage.record(), bank.clock()), Promotion(), Gaps(), TaxonomyBuilder(), ClusterPages(), CommunityPages(), Timelines(steps), Narratives(steps),
        Insights(), Plans(marks), Projects(marks), Specifications(marks), Research(marks), *wording, ContestedPropagation(),
    ]


async def evolve(bank: Bank, names: Collection[str], *, dry_run: bool, seconds: float | None, progress: Progress | None, model: bool | None = None) -> dict[str, Any]:
    """One cycle. Hand edits are taken in first, object files and Chroma follow. `model`: whether the local language model reads what it
    has not read, judges what rules leave unsure and words what they put together; None: where a person has it so, or work waits for it.
    Raises UnknownPhase, BankLocked."""
    started = time.perf_counter()
    await bank.catalog.run("PRAGMA mmap_size = 0")  # pages read through a map count as memory of this process
    if not dry_run:
        await bank.projections.absorb()
    async with AsyncExitStack() as stack:
        stack.enter_context(_few_collections())
        used: dict[str, Any] | None = None
        by_model: list[Phase] = []
        if await wants_model(bank, names) if model is None else model:
            client = await stack.enter_async_context(model_client(bank.settings))
            used = {"model": None, "unavailable": None, "reading": None, "pending": 0}
            trouble = "" if dry_run else await _trouble(bank, used, tries=1 if model is None else None)
            if not dry_run and not trouble and not names and seconds is None and await unread(bank.path, bank.catalog):
                used["reading"] = await bank.read_with_model(progress)
            by_model = _phases_by_model(bank, None if dry_run or trouble else client, trouble, progress)
        report = await _engine(bank, by_model).run(names, dry_run=dry_run, seconds=seconds, progress=progress)
    if not dry_run:
        if progress:
            progress("index refresh", len(report.phases), len(report.phases))
        await bank.projections.render()
        await bank.projections.follow()
        await bank.projections.mirror_vectors()
    return {
        "generation": bank.ledger.generation(), "phases": [{k: v for k, v in asdict(phase).items() if k != "transaction"} for phase in report.phases],
        "seconds": round(time.perf_counter() - started, 3), "complete": report.complete, "dry_run": dry_run, "record": report.record or None,
        **({"model": {**used, "pending": await pending_model_work(bank.path, bank.catalog),
                      "notes": [f"{phase.name}: {phase.note}" for phase in report.phases if phase.name in BY_MODEL and phase.note]}} if used is not None else {}),
    }


async def wants_model(bank: Bank, names: Collection[str] = ()) -> bool:
    """Whether a cycle uses the model unasked: a person has it so in their settings, names a phase of its, or work waits for it."""
    return bank.settings.use_model or not set(BY_MODEL).isdisjoint(names) or (not names and await pending_model_work(bank.path, bank.catalog) > 0)


async def _trouble(bank: Bank, used: dict[str, Any], *, tries: int | None) -> str:
    """Why no model can be used; "" where one can. Nobody waits long for a model they did not ask for."""
    from smb.inference.model_errors import ModelError

    try:
        async with model_client(bank.settings, tries=tries) as client:
            model = await client.in_use()
    except ModelError as error:
        used["unavailable"] = str(error)
        return str(error)
    used["model"] = f"{model.name}@{model.digest[:12]}"
    return ""


def _phases_by_model(bank: Bank, client: ModelClient | None, trouble: str, progress: Progress | None) -> list[Phase]:
    from smb.evolve.judgements import Judgements
    from smb.evolve.rewording import Rewording
    from smb.inference.prompts import load

    judge, word = ((ModelMemo(bank.path, task), load(task, prompts_path())) for task in TASKS)
    return [Judgements(client, *judge, trouble, progress), Rewording(client, *word, trouble, progress)]


@contextmanager
def _few_collections() -> Iterator[None]:
    """A cycle holds hundreds of thousands of objects and makes no circles: looking for those every 700 objects costs a fifth of it."""
    before = gc.get_threshold()
    gc.set_threshold(100_000, 20, 100)
    try:
        yield
    finally:
        gc.set_threshold(*before)


def _engine(bank: Bank, by_model: Sequence[Phase]) -> EvolutionEngine:
    from smb.evolve.cycle import EvolutionEngine
    from smb.evolve.snapshot import Snapshot

    snapshot = Snapshot(bank.catalog, bank.embedding.matrix, frozenset(map(fold, read_toml(bank.path).single_valued)))
    return EvolutionEngine(snapshot, phases_of(bank, by_model), bank.writer.writing, bank.writer.commit, bank.clock)
