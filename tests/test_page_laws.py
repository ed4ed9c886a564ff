"""Laws of object files under any run of ordinary use: a rebuild has nothing to write, and a lost index changes nothing."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from smb.projections import Projections
from worlds import MOMENT, ask, ingest, rows, truth, write

SERVERS = ("Build server", "Mail server", "Gateway", "The build-server", "Loom")
SAYS = ("A {0} is a server for {1}.", "The {0} is open at night. See [[{1}]].", "The {0} is closed at night.", "The {0} belongs to [[{1}]].",
        "Dara Wenn owns the {0}.", "- **Width:** {2} cm", "The {0} was moved to Harrow Street on 2031-03-0{2}.")
PARTS = st.tuples(st.sampled_from(SAYS), st.sampled_from(SERVERS), st.integers(1, 9))
NOTE = st.tuples(st.integers(0, 3), st.sampled_from(SERVERS), st.lists(PARTS, min_size=1, max_size=4), st.sampled_from(("", "aliases: [box]\n", "up: \"[[Gateway]]\"\n")))
STEP = st.one_of(NOTE, st.integers(0, 3), st.sampled_from(("evolve", "undo")))


@pytest.fixture(autouse=True)
def unmirrored(monkeypatch: pytest.MonkeyPatch) -> None:
    async def nothing(*_: object, **__: object) -> str:
        return ""

    monkeypatch.setattr(Projections, "mirror_vectors", nothing)


@pytest.fixture
def folders() -> Iterator[Iterator[Path]]:
    with tempfile.TemporaryDirectory() as base:
        yield (Path(base, str(n)) for n in range(10_000))


def note(title: str, parts: list[tuple[str, str, int]], head: str) -> str:
    return f"---\ntags: [server]\n{head}---\n# {title}\n\n" + "\n\n".join(says.format(title.lower(), other, n) for says, other, n in parts) + "\n"


@settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
@given(steps=st.lists(STEP, min_size=2, max_size=7))
def test_after_any_run_of_ingest_evolve_and_undo_a_rebuild_writes_nothing_and_a_lost_index_makes_no_edit(folders: Iterator[Path], steps: list[object]) -> None:
    place = next(folders)
    kb, bank = write(place / "kb", {"base.md": note("Gateway", [(SAYS[0], "Loom", 1)], "")}), place / "bank"
    ingest(bank, kb, skip_embeddings=True)
    for n, step in enumerate(steps):
        if isinstance(step, str):
            if step == "evolve" or rows(bank, "SELECT 1 FROM transactions WHERE actor = 'record' AND kind = 'evolve'"):
                _try(bank, step)
            continue
        if isinstance(step, int):
            (kb / f"n{step}.md").unlink(missing_ok=True)
        else:
            at, title, parts, head = step
            write(kb, {f"n{at}.md": note(title, parts, head)})
        ingest(bank, kb, moment=MOMENT + timedelta(days=n + 1), skip_embeddings=True)
    files = truth(bank)
    told = ask(bank, "rebuild")
    assert (told["files_written"], told["absorbed"]) == (0, [])
    shutil.rmtree(bank / "index")
    told = ask(bank, "rebuild")
    assert (told["files_written"], told["absorbed"]) == (0, [])
    assert {p: d for p, d in truth(bank).items() if p != "graph.json"} == {p: d for p, d in files.items() if p != "graph.json"}


def _try(bank: Path, step: str) -> None:
    from smb.undoing import NothingToUndo

    try:
        ask(bank, step)
    except NothingToUndo:
        pass
