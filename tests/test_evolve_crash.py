"""A cycle that is killed keeps its finished phases, and the next one ends where an unbroken cycle would have."""

from __future__ import annotations

import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from smb.projections import Projections
from test_crash import _dies_at
from worlds import MOMENT, ask, catalog, ingest, rows, truth, write

NOTES = {
    "Auth.md": "---\ndate: 2031-01-02\n---\n# Auth\n\nAuth must be on in production. See [[Gateway]].\n\n- [ ] Rotate the keys — due 2031-05-01\n",
    "Ops.md": "---\ndate: 2031-02-03\n---\n# Ops\n\nDisable auth in production. The gateway listens on port 8443.\n\nWhy does the gateway restart at night?\n",
    "Gateway.md": "---\ntags: [server]\n---\n# Gateway\n\nA gateway is a server at the edge. The gateway was moved to Harrow Street on 2031-03-04.\n",
    "Build server.md": "---\ntags: [server]\n---\n# Build server\n\nA build server is a server for builds. It was moved to Harrow Street on 2031-03-09.\n",
    "The build-server.md": "---\ntags: [server]\naliases: [build box]\n---\n# The build-server\n\nThe build server runs nightly builds for [[Gateway]].\n",
    "Mail server.md": "---\ntags: [server]\n---\n# Mail server\n\nA mail server is a server for mail. Dara Wenn owns the mail server.\n",
    "decisions/0001.md": "# 0001 One gateway\n\nStatus: accepted\n\n## Decision\n\nWe decided to keep one gateway.\n",
}
_RUN = """
import asyncio, sys
from datetime import datetime
from pathlib import Path
from smb import Bank

async def main():
    async with Bank.open(Path(sys.argv[1]), clock=lambda: datetime.fromisoformat(sys.argv[2])) as bank:
        await bank.evolve()

asyncio.run(main())
"""


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("cycle")
    ingest(place / "bank", write(place / "kb", NOTES), skip_embeddings=True)
    return place / "bank"


@pytest.fixture
def unmirrored(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without Chroma, whose own catching-up has its tests: importing it anew for each death would take minutes."""
    async def nothing(*_: object, **__: object) -> str:
        return ""

    monkeypatch.setattr(Projections, "mirror_vectors", nothing)


def test_dying_before_any_file_call_of_a_cycle_and_running_again_equals_an_unbroken_cycle(before: Path, tmp_path: Path, unmirrored: None) -> None:
    unbroken = Path(shutil.copytree(before, tmp_path / "unbroken"))
    ask(unbroken, "evolve")
    expected = truth(unbroken), _said(unbroken)
    assert len(rows(unbroken, "SELECT DISTINCT actor FROM transactions WHERE kind = 'evolve'")) >= 5
    nth = 0
    while True:
        bank = Path(shutil.copytree(before, tmp_path / f"bank-{nth}"))
        died = _dies_at(nth, lambda bank=bank: ask(bank, "evolve"))
        ask(bank, "evolve")
        assert truth(bank) == expected[0], nth
        assert _said(bank) == expected[1], nth
        assert ask(bank, "doctor")["ok"]
        shutil.rmtree(bank)
        if not died:
            break
        nth += 3
    assert nth > 20


def _said(bank: Path) -> dict[str, object]:
    """The catalog without what only weighs ranks: that looks at pages of the same cycle in the next."""
    return {table: held for table, held in catalog(bank).items() if table != "strength"}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_sigkill_at_any_moment_of_a_cycle(seed: int, before: Path, tmp_path: Path) -> None:
    unbroken = Path(shutil.copytree(before, tmp_path / "unbroken"))
    ask(unbroken, "evolve")
    bank = Path(shutil.copytree(before, tmp_path / "bank"))
    process = subprocess.Popen([sys.executable, "-c", _RUN, str(bank), MOMENT.isoformat()], stderr=subprocess.DEVNULL)
    time.sleep(random.Random(seed).uniform(0.2, 2.5))
    process.send_signal(signal.SIGKILL)
    process.wait()
    ask(bank, "evolve")
    assert truth(bank) == truth(unbroken)
