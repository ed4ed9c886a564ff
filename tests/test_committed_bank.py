"""The bank in the repository is what `kbmd/` gives, and rebuilding it changes no tracked file."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

import pytest

from smb import Bank
from worlds import ask, ingest, rows, truth

REPOSITORY = Path(__file__).parents[1]


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    return Path(shutil.copytree(REPOSITORY / "memory-bank", tmp_path / "memory-bank", ignore=shutil.ignore_patterns("index", "usage", "graph.json")))


def test_rebuilding_a_copy_changes_no_tracked_file(copy: Path) -> None:
    before = truth(copy)
    ask(copy, "rebuild")
    after = truth(copy)
    del after["graph.json"]
    assert after == before
    assert ask(copy, "doctor")["ok"]


def test_it_holds_every_note_of_the_corpus_as_it_is_now(copy: Path) -> None:
    ask(copy, "rebuild")
    report = ingest(copy, REPOSITORY / "kbmd", dry_run=True)
    assert (report["added"], report["changed"], report["removed"], report["skipped"]) == (0, 0, 0, [])
    assert report["unchanged"] == len(list((REPOSITORY / "kbmd").rglob("*.md"))) >= 30


def test_todays_rules_make_of_the_corpus_what_the_committed_bank_has(copy: Path, tmp_path: Path) -> None:
    ask(copy, "rebuild")
    (tmp_path / "new").mkdir()
    shutil.copy(copy / "bank.toml", tmp_path / "new")  # its single-valued keys
    ingest(tmp_path / "new", REPOSITORY / "kbmd")
    ask(tmp_path / "new", "evolve", model=False)
    said = "SELECT id, type, title, standing FROM memory_objects WHERE type != 'evolution' ORDER BY id"  # a record bears its hour
    assert rows(tmp_path / "new", said) == rows(copy, said)


def test_todays_evolution_has_nothing_to_add_to_the_committed_bank(copy: Path) -> None:
    ask(copy, "rebuild")
    assert rows(copy, "SELECT count(*) FROM memory_objects WHERE layer >= 2 AND standing = 'current'")[0][0] > 60

    async def look_at_everything() -> int:
        async with Bank.open(copy) as bank:
            await bank.evolve(model=False)
            await bank.catalog.run("UPDATE meta SET value = '0:' WHERE key LIKE 'evolved.%'")
            return sum(phase["committed"] for phase in (await bank.evolve(model=False))["phases"])

    before = truth(copy)
    assert asyncio.run(look_at_everything()) == 0
    assert {name: held for name, held in truth(copy).items() if name != "graph.json"} == {name: held for name, held in before.items() if name != "graph.json"}
