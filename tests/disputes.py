"""Small worlds in which notes disagree, cycles over them, and what came of it."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path
from typing import Any

from worlds import MOMENT, ask, ingest, rows, write

from smb import Bank
from smb.bank_layout import read_toml
from smb.evolve.contested import ContestedPropagation
from smb.evolve.contradictions import ContradictionDetector
from smb.evolve.cycle import CycleReport, EvolutionEngine
from smb.evolve.phase import Phase
from smb.evolve.snapshot import Snapshot
from smb.model.identity import fold
from smb.model.revision import Revision, Transaction

GATE = {"Gate.md": "# North gate\n\nThe north gate is locked at night.\n", "Round.md": "# North gate\n\nThe north gate is unlocked at night.\n"}


class Dispute:
    """Notes, the bank that has read them, and cycles over it."""

    def __init__(self, folder: Path, notes: dict[str, str] | None = None, single_valued: tuple[str, ...] = ()):
        self.notes, self.bank = folder / "notes", folder / "bank"
        asyncio.run(Bank.init(self.bank, git=False))
        for name in single_valued:
            ask(self.bank, "set_key", name, single_valued=True)
        self.write(notes or {})

    def write(self, notes: dict[str, str]) -> None:
        write(self.notes, notes)
        self.notes.mkdir(exist_ok=True)
        ingest(self.bank, self.notes)

    def drop(self, name: str) -> None:
        (self.notes / name).unlink()
        ingest(self.bank, self.notes)

    def cycle(self, *phases: Phase, anew: bool = False) -> CycleReport:
        """One cycle of contradictions, `phases`, and what rests on them; `anew` as if nothing had been looked at before."""

        async def main() -> CycleReport:
            async with Bank.open(self.bank, clock=lambda: MOMENT) as bank:
                if anew:
                    await bank.catalog.run("DELETE FROM meta WHERE key LIKE 'evolved.%'")
                    await bank.catalog.run("UPDATE transactions SET actor = 'forgotten' WHERE actor = 'cycle'")
                listed = frozenset(map(fold, read_toml(bank.path).single_valued))
                engine = EvolutionEngine(Snapshot(bank.catalog, bank.embedding.matrix, listed), [ContradictionDetector(), *phases, ContestedPropagation()],
                                         bank.writer.writing, bank.writer.commit, bank.clock)
                report = await engine.run()
                await bank.projections.render()
                return report

        return asyncio.run(main())

    def commit(self, *revisions: Revision, actor: str = "Ana") -> str:
        async def main() -> str:
            async with Bank.open(self.bank, clock=lambda: MOMENT) as bank, bank.writer.writing():
                return (await bank.writer.commit(Transaction("evolve", actor, MOMENT, revisions))).id

        return asyncio.run(main())

    def history(self, id_: str) -> list[Revision]:
        async def main() -> list[Revision]:
            async with Bank.open(self.bank) as bank:
                return (await bank.catalog.histories([id_]))[id_]

        return asyncio.run(main())

    def conflicts(self, which: str = "open", **filters: Any) -> list[dict[str, Any]]:
        return ask(self.bank, "conflicts", which, **filters)

    def resolve(self, conflict: str, *, who: str = "Ana", reason: str = "looked it up", **what: Any) -> dict[str, Any]:
        return ask(self.bank, "resolve_conflict", conflict, who=who, reason=reason, **what)

    def standing(self, title: str) -> str:
        ((standing,),) = rows(self.bank, "SELECT standing FROM memory_objects WHERE title = ?", title)
        return standing

    def held(self, type_: str) -> list[str]:
        return [row[0] for row in rows(self.bank, "SELECT title FROM memory_objects WHERE type = ? AND standing IN ('current', 'contested') ORDER BY title", type_)]

    def id_of(self, title: str) -> str:
        ((id_,),) = rows(self.bank, "SELECT id FROM memory_objects WHERE title = ?", title)
        return id_

    def clone(self, folder: Path) -> Path:
        """The bank as git would carry it: ledger and layers, without its index."""
        shutil.copytree(self.bank, folder, ignore=shutil.ignore_patterns("index"))
        return folder
