"""A bank embedded by a server: written and found without it, embedded when it is there, moved whole or not at all."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ollama_server import VECTORS, Model, OllamaServer, Reset, Status, Vectors
from smb import Bank
from smb.config import Settings
from smb.inference.embedder import EmbedderMismatch, EmbedderUnavailable
from worlds import MOMENT, WORKSHOP, rows, truth, write

WIDE = Model("mxbai-embed-large:latest", "334M", 512, 1024, 670_000_000, "ab" * 32, ("embedding",))
NOMIC, MXBAI = "ollama:nomic-embed-text", "ollama:mxbai-embed-large"
QUESTION = "who repairs the loom"


class Place:
    """A bank, its notes, and one server."""

    def __init__(self, folder: Path, server: OllamaServer):
        self.bank, self.notes, self.server = folder / "bank", write(folder / "notes", WORKSHOP), server
        self.home = folder

    def __call__(self, method: str, *args: Any, embedder: str = "", **options: Any) -> Any:
        environ = {"SMB_OLLAMA_HOST": self.server.host, "HOME": str(self.home)} | ({"SMB_EMBEDDING_MODEL": embedder} if embedder else {})

        async def main() -> Any:
            if not self.bank.exists():
                await Bank.init(self.bank, git=False)
            async with Bank.open(self.bank, clock=lambda: MOMENT, settings=Settings.resolve(environ=environ, bank_dir=self.bank)) as bank:
                return await getattr(bank, method)(*args, **options)

        return asyncio.run(main())

    def ingest(self, **options: Any) -> dict[str, Any]:
        return self("ingest", [self.notes], **options)

    def move(self, name: str) -> dict[str, Any]:
        async def main() -> Any:
            settings = Settings.resolve(environ={"SMB_OLLAMA_HOST": self.server.host}, bank_dir=self.bank)
            async with Bank.open(self.bank, clock=lambda: MOMENT, settings=settings) as bank:
                return await bank.rebuild(True, embedder=name)

        return asyncio.run(main())

    def degraded(self, **options: Any) -> list[str]:
        packet = self("recall", QUESTION, **options)
        assert packet["outcome"] == "state" and packet["items"]
        assert bool(packet["degraded"]) != any("dense" in item["routes"] for item in packet["items"])
        return [one["reason"] for one in packet["degraded"]]

    def vector_rows(self) -> list[Any]:
        return rows(self.bank, "SELECT 'p', text, vector_row FROM passages UNION ALL SELECT 'o', title, vector_row FROM memory_objects ORDER BY 1, 2")


@pytest.fixture
def place(tmp_path: Path) -> Any:
    with OllamaServer(VECTORS, WIDE) as server:
        yield Place(tmp_path, server)


def test_a_bank_is_written_and_embedded_by_the_configured_server(place: Place) -> None:
    report = place.ingest(embedder=NOMIC)
    assert report["status"] == "ok" and not [w for w in report["warnings"] if w["code"] == "to_embed"]
    assert place("status")["embedder"].startswith("ollama:nomic-embed-text:latest@") and place("status")["unembedded"] == 0
    assert place.degraded() == []  # the bank names its embedder: nothing need be set
    before = len(place.server.requests)
    place.ingest()
    assert [r.path for r in place.server.requests[before:]] == []  # nothing changed, nothing is asked


@pytest.mark.parametrize("fault", ["down", "missing", "500", "reset", "wrong dimension"])
def test_notes_are_stored_and_found_whatever_the_server_does_and_embedded_next_time(place: Place, fault: str) -> None:
    faults: dict[str, Any] = {"500": Status(500), "reset": Reset(), "wrong dimension": Vectors([[1.0]])}
    kept = place.server.models[:]
    if fault == "missing":
        place.server.models.clear()
    elif fault == "down":
        place.server, live = OllamaServer(), place.server
        place.server.stop()
    else:
        place.server.script(*[faults[fault]] * 3, to="/api/embed")
    report = place.ingest(embedder=NOMIC)
    assert report["status"] == "ok" and report["added"] == 4
    (warning,) = [w for w in report["warnings"] if w["code"] == "to_embed"]
    assert "wait for their vectors" in warning["detail"] and NOMIC in warning["detail"]
    assert place("status")["unembedded"] > 10 and place.degraded(embedder=NOMIC)
    assert all(row is None for _, _, row in place.vector_rows() if fault != "wrong dimension")
    if fault == "down":
        place.server = live
    place.server.models[:] = kept
    assert not [w for w in place.ingest(embedder=NOMIC)["warnings"] if w["code"] == "to_embed"]
    assert place("status")["unembedded"] == 0 and place.degraded() == []
    assert place("status")["projections"]["vectors"]["behind"] == len([1 for kind, _, row in place.vector_rows() if kind == "o" and row is not None])


def test_the_truth_of_a_bank_does_not_depend_on_its_embedder(place: Place, tmp_path: Path) -> None:
    place.ingest(embedder=NOMIC)
    (tmp_path / "plain").mkdir()
    plain = Place(tmp_path / "plain", place.server)
    plain.ingest()
    assert {k: v for k, v in truth(place.bank).items() if k != "graph.json"} == {k: v for k, v in truth(plain.bank).items() if k != "graph.json"}


def test_one_text_the_model_refuses_keeps_no_other_from_its_vector(place: Place) -> None:
    write(place.notes, {"odd.md": "# Odd\n\nA cursed sentence is here.\n"})

    def refuse(path: str, body: Any) -> Any:
        return Status(400, "invalid input") if path == "/api/embed" and any("cursed" in text for text in body["input"]) else None

    place.server.next = refuse  # type: ignore[method-assign]
    (warning,) = [w for w in place.ingest(embedder=NOMIC)["warnings"] if w["code"] == "to_embed"]
    assert "refused" in warning["detail"]
    lacking = {text for _, text, row in place.vector_rows() if row is None and "cursed" in text}
    assert lacking and place.degraded() == [] and place("status")["unembedded"] < 5


def test_another_embedder_is_a_mismatch_and_never_taken_in_silence(place: Place) -> None:
    place.ingest(embedder=NOMIC)
    for other in (MXBAI, "static"):
        (reason,) = place.degraded(embedder=other)
        assert reason.startswith("embedding_mismatch") and "smb rebuild --vectors" in reason
    with pytest.raises(EmbedderMismatch):
        write(place.notes, {"new.md": "# Reed\n\nThe reed is of brass.\n"})
        place.ingest(embedder=MXBAI)
    place.server.models[0] = Model(**{**vars(VECTORS), "digest": "11" * 32})  # pulled anew: another build
    (reason,) = place.degraded()
    assert reason.startswith("embedding_mismatch")


def test_a_server_that_is_down_leaves_recall_lexical_and_says_so(place: Place) -> None:
    place.ingest(embedder=NOMIC)
    place.server.stop()
    (reason,) = place.degraded()
    assert reason.startswith("unavailable") and "ollama serve" in reason
    (found,) = [f for f in place("doctor")["findings"] if f["check"] == "embedder.unavailable"]
    assert "ollama serve" in found["detail"]


def test_doctor_names_the_missing_model(place: Place) -> None:
    place.ingest(embedder=NOMIC)
    place.server.models.clear()
    assert "ollama pull nomic-embed-text" in str(place("doctor")["findings"])


# ------------------------------------------------------------ moving


@pytest.mark.parametrize("first, then", [("static", NOMIC), (NOMIC, MXBAI), (NOMIC, "static"), (NOMIC, NOMIC)])
def test_a_move_gives_every_text_a_vector_of_the_new_embedder(place: Place, first: str, then: str) -> None:
    place.ingest(embedder=first)
    told = place.move(then)
    assert told["embedded"]["embedded"] > 15 and told["embedded"]["refused"] == 0
    status = place("status")
    assert status["unembedded"] == 0 and status["embedder"].startswith(then if then != "static" else "wordllama") and status["projections"]["vectors"]["behind"] == 0
    assert place.degraded() == [] and sorted(p.name for p in (place.bank / "index").iterdir() if p.name.startswith("embeddings")) == ["embeddings"]


def test_a_move_that_fails_leaves_the_old_vectors_and_goes_on_from_where_it_was(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("smb.vector_work.BATCH", 4)
    place.ingest()
    before = place.vector_rows()
    place.server.script(*[Vectors([[1.0] * 768] * 4)] * 3, *[Status(500)] * 3, to="/api/embed")
    with pytest.raises(EmbedderUnavailable):
        place.move(NOMIC)
    assert place.vector_rows() == before and place("status")["embedder"].startswith("wordllama") and place.degraded() == []
    done = sum(len(body["input"]) for body in place.server.asked("/api/embed")[:3])
    place.server.requests.clear()
    told = place.move(NOMIC)
    assert sum(len(body["input"]) for body in place.server.asked("/api/embed")) == told["embedded"]["embedded"]
    (distinct,) = {len({text for _, text, _ in map(tuple, [r]) for r in [r]}) for r in [before[0]]}
    assert done == 12 and distinct == 1 and place.degraded() == []


CHILD = """
import os, sys
sys.path.insert(0, {tests!r})
import smb.vector_work as work
from smb.stores import catalog_vectors
from pathlib import Path
import asyncio
from smb import Bank
from smb.config import Settings

stop, seen = int(sys.argv[1]), 0
def count(name, real):
    def counted(*args, **kwargs):
        global seen
        seen += 1
        if seen == stop:
            os._exit(9)
        return real(*args, **kwargs)
    return counted

work.BATCH = 8
Path.rename = count("rename", Path.rename)
work.shutil.rmtree = count("rmtree", work.shutil.rmtree)
for name in ("forget_rows", "name_rows"):
    setattr(catalog_vectors, name, count(name, getattr(catalog_vectors, name)))
import smb.embedding
smb.embedding.fix_fingerprint = count("fix", smb.embedding.fix_fingerprint)
import smb.stores.embedding_matrix as matrix
matrix.EmbeddingMatrix._append = count("append", matrix.EmbeddingMatrix._append)

async def main():
    async with Bank.open(Path(sys.argv[2]), settings=Settings.resolve(bank_dir=Path(sys.argv[2]))) as bank:
        await bank.rebuild(True, embedder="ollama:nomic-embed-text")

asyncio.run(main())
"""


def test_a_move_killed_anywhere_never_gives_wrong_vectors_and_is_finished_by_the_next(place: Place, tmp_path: Path) -> None:
    """The process ends at the n-th step that changes anything, for every n: recall then answers, dense with the right vectors or not at all."""
    import shutil

    place.ingest()
    start = tmp_path / "start"
    shutil.copytree(place.bank, start)
    script = tmp_path / "child.py"
    script.write_text(CHILD.format(tests=str(Path(__file__).parent)))
    environ = {**os.environ, "SMB_OLLAMA_HOST": place.server.host, "HOME": str(tmp_path), "PYTHONPATH": str(Path(__file__).parents[1])}
    for stop in range(1, 40):
        shutil.rmtree(place.bank)
        shutil.copytree(start, place.bank)
        ended = subprocess.run([sys.executable, str(script), str(stop), str(place.bank)], env=environ, capture_output=True, text=True, check=False, timeout=60)
        if ended.returncode == 0:
            break
        assert ended.returncode == 9, ended.stderr
        packet = place("recall", QUESTION)
        assert packet["outcome"] == "state" and all("dense" == d["route"] for d in packet["degraded"])
        told = place.move(NOMIC)
        assert place("status")["unembedded"] == 0 and place.degraded() == [] and told["embedder"].startswith(NOMIC)
        nearest = place("recall", "Indigo needs lime per litre")["items"][0]
        assert "Indigo" in nearest["text"] and "dense" in nearest["routes"]
    assert 8 < stop < 39
