"""One cycle of evolution: its phases in order, a transaction each, and the record of what they did.

Owns the order, the deadline, what each phase has already looked at, and that a phase never commits against a bank that has
moved on since it looked. Never decides what follows from what: that is the phases'.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import datetime

from smb.evolve.phase import RESTED, Asking, Phase, Planned, Resting, Settling, plan
from smb.evolve.record import RECORD, record_of, recorded_generation
from smb.evolve.snapshot import EVOLVED, Snapshot
from smb.model.errors import SmbError
from smb.model.identity import generation_of
from smb.model.revision import Transaction
from smb.stores.catalog import Catalog

Progress = Callable[[str, int, int | None], None]
_TRIES = 3  # looks at a bank that keeps moving on; the last holds the writer lock while it looks
_STAMP = "evolved."


class UnknownPhase(SmbError):
    exit_code = 2

    def __init__(self, name: str, known: Sequence[str]):
        super().__init__(f"There is no phase {name!r}. The phases are {', '.join(known)}.")


@dataclass(frozen=True, slots=True)
class PhaseReport:
    """What a phase came to: objects it would change, changed, and left alone because a person had decided otherwise."""

    name: str
    seconds: float
    proposed: int
    committed: int
    dropped: int
    by_type: dict[str, int]
    note: str = ""
    transaction: str = ""


@dataclass(slots=True)
class CycleReport:
    """The finished phases in order. `complete` is False where the deadline came first."""

    phases: list[PhaseReport] = field(default_factory=list)
    complete: bool = True
    record: str = ""


class EvolutionEngine:
    """Runs cycles over one bank. `writing` is the writer lock with the catalog caught up, `commit` commits under it."""

    def __init__(self, snapshot: Snapshot, phases: Sequence[Phase], writing: Callable[[], AbstractAsyncContextManager[None]],
                 commit: Callable[[Transaction], Awaitable[Transaction]], clock: Callable[[], datetime]):
        self._snapshot, self._phases, self._writing, self._commit, self._clock = snapshot, tuple(phases), writing, commit, clock
        self._ends: float | None = None

    @property
    def names(self) -> list[str]:
        return [phase.name for phase in self._phases]

    async def run(self, names: Collection[str] = (), *, dry_run: bool = False, seconds: float | None = None, progress: Progress | None = None) -> CycleReport:
        """Runs the phases `names` (all, when empty). Phases not begun after `seconds` are left for the next cycle, one under
        way then is given up, but for the first that has something to look at: every run gets on. What was finished stays.
        Raises UnknownPhase, BankLocked."""
        for name in names:
            if name not in self.names:
                raise UnknownPhase(name, self.names)
        self._ends, ends = None, None if seconds is None else asyncio.get_running_loop().time() + seconds
        report = CycleReport()
        chosen = [phase for phase in self._phases if not names or phase.name in names]
        if not dry_run:
            async with self._writing():
                await self._recover_stamps()
        for n, phase in enumerate(chosen):
            if progress:
                progress(phase.name, n, len(chosen))
            rested = await self._rests(phase)
            try:
                report.phases.append(await (self._dry(phase) if dry_run else self._run(phase)))
            except TimeoutError:
                report.complete = False
                break
            self._ends = self._ends if rested else ends
        if not dry_run:
            async with self._writing():
                report.record = await self._write_record(report)
                for phase in chosen if report.record and report.complete else ():
                    if isinstance(phase, Resting):
                        await plan(phase, await self._snapshot.refresh(await self._since(phase)))
                        await phase.settle(self._catalog)
                if report.complete and not names:
                    await self._mark(self._phases)
        return report

    async def _dry(self, phase: Phase) -> PhaseReport:
        started = time.perf_counter()
        return _told(phase, RESTED if await self._rests(phase) else await self._look(phase), 0, started)

    async def _run(self, phase: Phase) -> PhaseReport:
        started = time.perf_counter()
        if await self._rests(phase):
            return _told(phase, RESTED, 0, started)
        if isinstance(phase, Asking):
            async with asyncio.timeout_at(self._ends):
                await phase.ask(await self._snapshot.refresh(await self._since(phase)))
        for _ in range(_TRIES - 1):
            planned = await self._look(phase)
            async with self._writing():
                if (await self._catalog.latest())[0] == self._snapshot.latest:
                    return await self._settle(phase, planned, started)
        async with self._writing():
            return await self._settle(phase, await self._look(phase), started)

    async def _look(self, phase: Phase) -> Planned:
        """What the phase proposes of what it has not looked at. Raises TimeoutError past the deadline, before anything is committed."""
        async with asyncio.timeout_at(self._ends):
            return await plan(phase, await self._snapshot.refresh(await self._since(phase)))

    async def _rests(self, phase: Phase) -> bool:
        """Whether nothing changed since it last looked, and what it may settle nevertheless stands as it was."""
        if await self._since(phase) != (await self._catalog.latest())[0]:
            return False
        return not isinstance(phase, Settling) or isinstance(phase, Resting) and await phase.rests(self._catalog)

    async def _settle(self, phase: Phase, planned: Planned, started: float) -> PhaseReport:
        committed = ""
        if planned.revisions:
            committed = (await self._commit(Transaction(EVOLVED, phase.name, self._clock(), planned.revisions))).id
            self._catalog.forget_fresh()
        if isinstance(phase, Settling):
            await phase.settle(self._catalog)
        await self._mark([phase])
        return _told(phase, planned, len({r.object_id for r in planned.revisions}), started, committed)

    @property
    def _catalog(self) -> Catalog:
        return self._snapshot.catalog

    # ------------------------------------------------------------ what was looked at

    async def _since(self, phase: Phase) -> int:
        seq, _, version = (await self._catalog.meta(_STAMP + phase.name) or "").partition(":")
        latest, _ = await self._catalog.latest()
        return int(seq) if seq.isdigit() and version == str(phase.version) and int(seq) <= latest else 0

    async def _mark(self, phases: Sequence[Phase]) -> None:
        latest, _ = await self._catalog.latest()
        await self._catalog.begin()
        for phase in phases:
            await self._catalog.set_meta(_STAMP + phase.name, f"{latest}:{phase.version}")
        await self._catalog.commit()

    async def _recover_stamps(self) -> None:
        """A clone, or a catalog made again, has looked at all a whole cycle had looked at, if nothing came after it."""
        if await self._catalog.fetch("SELECT 1 FROM meta WHERE key LIKE ? LIMIT 1", (_STAMP + "%",)):
            return
        rows = await self._catalog.fetch("SELECT id, kind, actor FROM transactions")
        for row in rows:
            if row["kind"] == EVOLVED and row["actor"] == RECORD:
                others = generation_of(r["id"] for r in rows if r["id"] != row["id"])
                if await recorded_generation(self._catalog, row["id"]) == (others, self._rules):
                    await self._mark(self._ruled)
                    return

    @property
    def _ruled(self) -> list[Phase]:
        """The phases that are the same in every clone."""
        return [phase for phase in self._phases if not isinstance(phase, Asking)]

    @property
    def _rules(self) -> str:
        return ",".join(f"{phase.name} {phase.version}" for phase in self._ruled)

    async def _write_record(self, report: CycleReport) -> str:
        """The record of this cycle, and of one that ended before it could write its own; returns its id, "" where nothing
        was committed."""
        rows = await self._catalog.fetch(
            "SELECT id, actor FROM transactions WHERE kind = ? AND seq > (SELECT coalesce(max(seq), 0) FROM transactions WHERE kind = ? AND actor = ?) ORDER BY seq",
            (EVOLVED, EVOLVED, RECORD))
        if not rows:
            return ""
        _, generation = await self._catalog.latest()
        now = self._clock()
        revision = await record_of(self._snapshot, [(row["id"], row["actor"]) for row in rows], generation, self._rules if report.complete else "", now)
        await self._commit(Transaction(EVOLVED, RECORD, now, (revision,)))
        self._catalog.forget_fresh()
        return revision.object_id


def _told(phase: Phase, planned: Planned, committed: int, started: float, transaction: str = "") -> PhaseReport:
    return PhaseReport(phase.name, round(time.perf_counter() - started, 3), planned.proposed, committed, planned.dropped, planned.by_type, planned.note, transaction)
