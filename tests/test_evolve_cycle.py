"""A cycle: phases in order, one transaction each, stamps, deadlines, records and what people decided."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from smb import Bank
from smb.evolve.cycle import EvolutionEngine, UnknownPhase
from smb.evolve.phase import Proposals, Wanted
from smb.evolve.record import transactions_of
from smb.evolve.snapshot import Snapshot
from smb.model.identity import object_id
from smb.model.objects import MemoryType, Mode
from smb.model.revision import RevisionKind, Statement, Transaction, new_revision
from worlds import MOMENT, WORKSHOP, ingest, write


class Listing:
    """A phase that keeps one insight naming every entity, and one for each entity."""

    version = 1

    def __init__(self, name: str = "listing", then: Callable[[], Awaitable[None]] | None = None):
        self.name, self.then = name, then
        self.looks = 0

    async def propose(self, snapshot: Snapshot) -> Proposals:
        self.looks += 1
        entities = snapshot.stated(MemoryType.ENTITY)
        wanted = [self._about(entity.id, f"There is {entity.title}") for entity in entities]
        wanted.append(self._about("all", f"There are {len(entities)} entities"))
        if self.then is not None:
            await self.then()
        return Proposals(wanted, {item.id for item in snapshot.derived(self.name)})

    def _about(self, what: str, title: str) -> Wanted:
        return Wanted(MemoryType.INSIGHT, Statement(title, f"{self.name}:{what}", mode=Mode.INFERRED))


@pytest.fixture
def bank(tmp_path: Path) -> Path:
    ingest(tmp_path / "bank", write(tmp_path / "kb", WORKSHOP))
    return tmp_path / "bank"


def run(bank: Path, *phases: Any, names: tuple[str, ...] = (), **options: Any) -> Any:
    async def main() -> Any:
        async with Bank.open(bank, clock=lambda: MOMENT) as opened:
            engine = EvolutionEngine(Snapshot(opened.catalog, None), phases, opened.writer.writing, opened.writer.commit, opened.clock)
            return await engine.run(names, **options)

    return asyncio.run(main())


def titles(bank: Path, standing: str = "current") -> list[str]:
    from worlds import rows

    return [row[0] for row in rows(bank, "SELECT title FROM memory_objects WHERE type = 'insight' AND standing = ? ORDER BY title", standing)]


def test_a_phase_commits_one_transaction_and_the_cycle_a_record_that_names_it(bank: Path) -> None:
    report = run(bank, Listing())
    assert report.complete and report.phases[0].committed == len(titles(bank)) == report.phases[0].by_type["insight"]

    async def main() -> None:
        async with Bank.open(bank) as opened:
            record = (await opened.catalog.histories([report.record]))[report.record][0]
            assert transactions_of(record.statement) == [report.phases[0].transaction]

    asyncio.run(main())


def test_a_second_cycle_looks_at_nothing_and_commits_nothing(bank: Path) -> None:
    run(bank, Listing())
    phase = Listing()
    report = run(bank, phase)
    assert phase.looks == 0 and report.phases[0].proposed == 0 and not report.record


def test_a_clone_without_stamps_has_looked_at_what_the_record_says(bank: Path) -> None:
    run(bank, Listing())

    async def forget() -> None:
        async with Bank.open(bank) as opened:
            await opened.catalog.run("DELETE FROM meta WHERE key LIKE 'evolved.%'")

    asyncio.run(forget())
    phase = Listing()
    run(bank, phase)
    assert phase.looks == 0


def test_another_version_of_a_phase_looks_at_everything_again_and_changes_nothing(bank: Path) -> None:
    run(bank, Listing())
    phase = Listing()
    phase.version = 2
    report = run(bank, phase)
    assert phase.looks == 1 and report.phases[0].proposed == 0


def test_what_changed_is_restated_and_what_is_over_is_withdrawn(bank: Path, tmp_path: Path) -> None:
    run(bank, Listing())
    before = titles(bank)
    (tmp_path / "kb" / "people" / "Dara Wenn.md").unlink()
    (tmp_path / "kb" / "Loom.md").write_text("# Loom\n\nAn old one.\n")
    ingest(bank, tmp_path / "kb")
    run(bank, Listing())
    assert "There is Dara Wenn" in before and "There is Dara Wenn" not in titles(bank)
    assert "There is Dara Wenn" in titles(bank, "revoked")
    assert sum(title.startswith("There are") for title in titles(bank)) == 1


def test_what_a_person_took_away_is_dropped_not_said_again(bank: Path, tmp_path: Path) -> None:
    run(bank, Listing())
    gone = object_id("insight", "listing:all")

    async def revoke() -> None:
        async with Bank.open(bank, clock=lambda: MOMENT) as opened:
            live = (await opened.catalog.histories([gone]))[gone]
            async with opened.writer.writing():
                await opened.writer.commit(Transaction("undo", "Ana", MOMENT, (
                    new_revision(RevisionKind.REVOKE, gone, "insight", replaces=(live[0].id,), actor="Ana"),)))

    asyncio.run(revoke())
    assert run(bank, Listing()).phases[0].dropped == 1
    write(tmp_path / "kb", {"people/Mo.md": "---\ntags: [person]\n---\n# Mo Tann\n\nMo Tann spins.\n"})
    ingest(bank, tmp_path / "kb")
    assert run(bank, Listing()).phases[0].dropped == 1
    assert not any(title.startswith("There are") for title in titles(bank))


def test_a_deadline_keeps_finished_phases_and_the_next_cycle_does_the_rest(bank: Path) -> None:
    async def slowly() -> None:
        await asyncio.sleep(5)

    report = run(bank, Listing("first"), Listing("second", slowly), seconds=1.0)
    assert not report.complete and [phase.name for phase in report.phases] == ["first"] and report.record
    first, second = Listing("first"), Listing("second")
    report = run(bank, first, second)
    assert report.complete and report.phases[0].proposed == 0 and report.phases[1].committed


def test_however_short_the_deadline_runs_get_to_the_end(bank: Path) -> None:
    names = ("first", "second", "third")

    async def slowly() -> None:
        await asyncio.sleep(0.05)

    done = 0
    for done in range(1, 12):
        if run(bank, *(Listing(name, slowly) for name in names), seconds=0.001).complete:
            break
    assert done <= 2 * len(names)  # each may have to look once more at what the one before it wrote


def test_what_a_person_rejected_is_not_said_again(bank: Path) -> None:
    run(bank, Listing())
    rejected = object_id("insight", "listing:all")

    async def reject() -> None:
        async with Bank.open(bank, clock=lambda: MOMENT) as opened:
            await opened.reject(rejected, who="Ana", reason="no")

    asyncio.run(reject())
    for version in (2, 3):
        phase = Listing()
        phase.version = version
        report = run(bank, phase)
        assert report.phases[0].committed == 0 and report.phases[0].dropped == 1 and not report.record


def test_a_bank_that_moves_on_while_a_phase_looks_is_looked_at_again(bank: Path, tmp_path: Path) -> None:
    notes = iter(range(9))

    async def meanwhile() -> None:
        write(tmp_path / "kb", {f"people/N{next(notes)}.md": "---\ntags: [person]\n---\n# Zed Orr\n\nZed Orr weaves.\n"})
        async with Bank.open(bank, clock=lambda: MOMENT) as other:
            await other.ingest([tmp_path / "kb"])

    phase = Listing("listing")
    phase.then = lambda: meanwhile() if phase.looks == 1 else asyncio.sleep(0)
    run(bank, phase)
    assert phase.looks == 2 and "There is Zed Orr" in titles(bank)


def test_a_dry_run_says_what_would_change_and_changes_nothing(bank: Path) -> None:
    report = run(bank, Listing(), dry_run=True)
    assert report.phases[0].proposed and not report.phases[0].committed and not titles(bank)


def test_an_unknown_phase_is_an_error_that_names_the_known_ones(bank: Path) -> None:
    with pytest.raises(UnknownPhase, match="listing"):
        run(bank, Listing(), names=("lsting",))
