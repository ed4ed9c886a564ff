"""Banks evolved by chosen phases, and the pages that come of it. For tests of phases that only read what notes state."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from smb import Bank
from smb.bank_layout import read_toml
from smb.evolve.cycle import EvolutionEngine, PhaseReport
from smb.evolve.phase import Phase
from smb.evolve.snapshot import Snapshot
from smb.model.currentness import as_object
from smb.model.identity import fold
from smb.model.objects import MemoryObject, MemoryType
from smb.model.revision import Revision, Transaction
from worlds import MOMENT, rows


def new_bank(bank: Path, *single_valued: str) -> Path:
    """An empty bank whose attributes `single_valued` have one value at a time."""
    asyncio.run(Bank.init(bank, git=False))
    toml = bank / "bank.toml"
    toml.write_text(toml.read_text().replace("single_valued = []", f"single_valued = {list(single_valued)!r}".replace("'", '"')))
    return bank


def evolve(bank: Path, phases: Callable[[], Sequence[Phase]], *, anew: bool = False) -> list[PhaseReport]:
    """One cycle; `anew` as if every stamp were lost."""

    async def main() -> list[PhaseReport]:
        async with Bank.open(bank, clock=lambda: MOMENT) as opened:
            made = list(phases())
            for phase in made if anew else ():
                phase.version += 1000
            snapshot = Snapshot(opened.catalog, opened.embedding.matrix, frozenset(map(fold, read_toml(bank).single_valued)))
            report = await EvolutionEngine(snapshot, made, opened.writer.writing, opened.writer.commit, opened.clock).run()
            await opened.projections.render()
            return report.phases

    return asyncio.run(main())


def commit(bank: Path, *revisions: Revision) -> None:
    """What a person says by hand."""

    async def main() -> None:
        async with Bank.open(bank, clock=lambda: MOMENT) as opened, opened.writer.writing():
            await opened.writer.commit(Transaction("edit", "person", MOMENT, revisions))

    asyncio.run(main())


def proposed(reports: Iterable[PhaseReport]) -> dict[str, int]:
    """What phases would have changed, those that had nothing left out."""
    return {r.name: r.proposed for r in reports if r.proposed}


def pages(bank: Path, type_: MemoryType) -> dict[str, MemoryObject]:
    """The objects of a type that hold, by title."""

    async def main() -> dict[str, MemoryObject]:
        async with Bank.open(bank, clock=lambda: MOMENT) as opened:
            ids = [id_ for (id_,) in rows(bank, "SELECT id FROM memory_objects WHERE type = ? AND standing = 'current'", type_.value)]
            histories = await opened.catalog.histories(ids)
            return {o.title: o for i in ids if (o := as_object(histories[i], about=i)) is not None}

    return asyncio.run(main())


def quotes_stand(bank: Path, pages_: Iterable[MemoryObject]) -> bool:
    """Whether every quote under the pages is at its bytes of its source."""

    async def main() -> bool:
        async with Bank.open(bank, clock=lambda: MOMENT) as opened:
            spans = [span for page in pages_ for span in page.evidence]
            return bool(spans) and all(opened.evidence.read(s.source)[s.byte_start:s.byte_end].decode() == s.quote for s in spans)

    return asyncio.run(main())


def plain(body: str) -> str:
    """A body with its wikilinks as the text they show."""
    return re.sub(r"\[\[[^|\]]*\|([^\]]*)\]\]", r"\1", body)
