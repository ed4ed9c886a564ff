"""A run that is killed loses nothing: the next one ends where an unbroken one would have."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from smb.stores import atomic_file
from worlds import MOMENT, WORKSHOP, ask, catalog, ingest, truth, write

CHANGED = WORKSHOP | {
    "Loom.md": str(WORKSHOP["Loom.md"]).replace("120 cm", "150 cm"),
    "new.md": "# Warp\n\nThe warp has 480 threads of 2 mm.\n",
}
_RUN = """
import asyncio, sys
from datetime import datetime
from pathlib import Path
from smb import Bank

async def main():
    async with Bank.open(Path(sys.argv[1]), clock=lambda: datetime.fromisoformat(sys.argv[3])) as bank:
        await bank.ingest([Path(sys.argv[2])], skip_embeddings=True)

asyncio.run(main())
"""


class _Worlds:
    """Notes in a first and a second state, the bank of the first, and what the bank of the second must be."""

    def __init__(self, place: Path):
        self.kb = write(place / "notes", WORKSHOP)
        self.before = place / "before"
        ingest(self.before, self.kb, skip_embeddings=True)
        (self.kb / "Dye log.md").rename(self.kb / "Dyes.md")
        (self.kb / "empty.md").unlink()
        write(self.kb, {name: text for name, text in CHANGED.items() if name not in ("Dye log.md", "empty.md")})
        unbroken = Path(shutil.copytree(self.before, place / "unbroken"))
        ingest(unbroken, self.kb, skip_embeddings=True)
        self.after = truth(unbroken), catalog(unbroken)


@pytest.fixture(scope="module")
def worlds(tmp_path_factory: pytest.TempPathFactory) -> _Worlds:
    return _Worlds(tmp_path_factory.mktemp("crash"))


def _dies_at(nth: int, act: object) -> bool:
    """Runs `act` in a forked child that exits at once before its `nth` file call; whether it did (or ended first)."""
    child = os.fork()
    if child == 0:
        try:
            left = [nth]

            def count_down(action: str, path: Path) -> None:
                left[0] -= 1
                if left[0] < 0:
                    os._exit(77)

            atomic_file.before_step = count_down
            act()  # type: ignore[operator]
            os._exit(0)
        finally:
            os._exit(1)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    assert code in (0, 77), code
    return code == 77


def _equal_after_another_run(bank: Path, worlds: _Worlds) -> None:
    ingest(bank, worlds.kb, skip_embeddings=True)
    files, said = truth(bank), catalog(bank)
    orphans = {p for p in files.keys() - worlds.after[0].keys()}
    assert orphans == set(), orphans
    assert files == worlds.after[0]
    assert said == worlds.after[1]
    assert ask(bank, "doctor")["ok"]


def test_dying_before_any_file_call_and_running_again_equals_an_unbroken_run(worlds: _Worlds, tmp_path: Path) -> None:
    nth = 0
    while True:
        bank = Path(shutil.copytree(worlds.before, tmp_path / f"bank-{nth}"))
        died = _dies_at(nth, lambda bank=bank: ingest(bank, worlds.kb, skip_embeddings=True))
        _equal_after_another_run(bank, worlds)
        shutil.rmtree(bank)
        if not died:
            break
        nth += 1
    assert nth > 20


@pytest.mark.parametrize("seed", range(3))
def test_sigkill_at_any_moment(seed: int, worlds: _Worlds, tmp_path: Path) -> None:
    _kill_and_compare(random.Random(seed), worlds, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3, 43))
def test_sigkill_at_forty_moments(seed: int, worlds: _Worlds, tmp_path: Path) -> None:
    _kill_and_compare(random.Random(seed), worlds, tmp_path)


def _kill_and_compare(chance: random.Random, worlds: _Worlds, tmp_path: Path) -> None:
    bank = Path(shutil.copytree(worlds.before, tmp_path / "bank"))
    process = subprocess.Popen([sys.executable, "-c", _RUN, str(bank), str(worlds.kb), MOMENT.isoformat()], stderr=subprocess.DEVNULL)
    time.sleep(chance.uniform(0.15, 0.9))
    process.send_signal(signal.SIGKILL)
    process.wait()
    _equal_after_another_run(bank, worlds)
