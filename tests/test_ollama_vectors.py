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
from smb.inference import wire
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

    def __call__(self, method: str, *args: Any, configured: str = "", **options: Any) -> Any:
        environ = {"SMB_OLLAMA_HOST": self.server.host, "HOME": str(self.home)} | ({"SMB_EMBEDDING_MODEL": configured} if configured else {})

        async def main() -> Any:
            if not self.bank.exists():
                await Bank.init(self.bank, git=False)
            async with Bank.open(self.bank, clock=lambda: MOMENT, settings=Settings.resolve(environ=environ, bank_dir=self.bank)) as bank:
                return await getattr(bank, method)(*args, **options)

        return asyncio.run(main())

    def ingest(self, **options: Any) -> dict[str, Any]:
        return self("ingest", [self.notes], **options)

    def move(self, name: str) -> dict[str, Any]:
        return self("rebuild", True, embedder=name)

    def degraded(self, **options: Any) -> list[str]:
        packet = self("recall", QUESTION, **options)
        assert packet["outcome"] == "state" and packet["items"]
        assert bool(packet["degraded"]) != any("dense" in item["routes"] for item in packet["items"])
        return [one["reason"] for one in packet["degraded"]]

    def vector_rows(self) -> list[Any]:
        return rows(self.bank, "SELECT 'p', text, vector_row FROM passages UNION ALL SELECT 'o', title, vector_row FROM memory_objects ORDER BY 1, 2")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    wait = wire.pause_before_retry
    monkeypatch.setattr(wire, "pause_before_retry", lambda *args: None if wait(*args) is None else 0.0)
    with OllamaServer(VECTORS, WIDE) as server:
        yield Place(tmp_path, server)


def test_a_bank_is_written_and_embedded_by_the_configured_server(place: Place) -> None:
    report = place.ingest(configured=NOMIC)
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
    report = place.ingest(configured=NOMIC)
    assert report["status"] == "ok" and report["added"] == 5
    (warning,) = [w for w in report["warnings"] if w["code"] == "to_embed"]
    assert "wait for their vectors" in warning["detail"] and NOMIC in warning["detail"]
    assert place("status")["unembedded"] > 10 and place.degraded(configured=NOMIC)
    assert all(row is None for _, _, row in place.vector_rows() if fault != "wrong dimension")
    if fault == "down":
        place.server = live
    place.server.models[:] = kept
    place.server.unscript()
    assert not [w for w in place.ingest(configured=NOMIC)["warnings"] if w["code"] == "to_embed"]
    assert place("status")["unembedded"] == 0 and place.degraded() == []
    assert place("status")["projections"]["vectors"]["behind"] == len([1 for kind, _, row in place.vector_rows() if kind == "o" and row is not None])


def test_objects_embedded_late_are_copied_to_the_mirror_that_had_caught_up_without_them(place: Place) -> None:
    place.server.models.clear()
    place.ingest(configured=NOMIC)
    assert place("rebuild", configured=NOMIC)["mirrored"] == 0
    place.server.models[:] = [VECTORS]
    place.ingest(configured=NOMIC)
    objects = len([1 for kind, _, row in place.vector_rows() if kind == "o" and row is not None])
    assert objects and place("status")["projections"]["vectors"]["behind"] == objects
    place.ingest(sync=True)
    assert place("status")["projections"]["vectors"]["behind"] == 0


def test_the_truth_of_a_bank_does_not_depend_on_its_embedder(place: Place, tmp_path: Path) -> None:
    place.ingest(configured=NOMIC)
    (tmp_path / "plain").mkdir()
    plain = Place(tmp_path / "plain", place.server)
    plain.ingest()
    assert {k: v for k, v in truth(place.bank).items() if k != "graph.json"} == {k: v for k, v in truth(plain.bank).items() if k != "graph.json"}


def test_one_text_the_model_refuses_keeps_no_other_from_its_vector(place: Place) -> None:
    write(place.notes, {"odd.md": "# Odd\n\nA cursed sentence is here.\n"})

    def refuse(path: str, body: Any) -> Any:
        return Status(400, "invalid input") if path == "/api/embed" and any("cursed" in text for text in body["input"]) else None

    place.server.next = refuse  # type: ignore[method-assign]
    (warning,) = [w for w in place.ingest(configured=NOMIC)["warnings"] if w["code"] == "to_embed"]
    assert "refused" in warning["detail"]
    lacking = {text for _, text, row in place.vector_rows() if row is None and "cursed" in text}
    assert lacking and place.degraded() == [] and place("status")["unembedded"] < 5


def test_another_embedder_is_a_mismatch_and_never_taken_in_silence(place: Place) -> None:
    place.ingest(configured=NOMIC)
    for other in (MXBAI, "static"):
        (reason,) = place.degraded(configured=other)
        assert reason.startswith("embedding_mismatch") and "smb rebuild --vectors" in reason
    with pytest.raises(EmbedderMismatch):
        write(place.notes, {"new.md": "# Reed\n\nThe reed is of brass.\n"})
        place.ingest(configured=MXBAI)
    place.server.models[0] = Model(**{**vars(VECTORS), "digest": "11" * 32})  # pulled anew: another build
    (reason,) = place.degraded()
    assert reason.startswith("embedding_mismatch")


def test_a_server_that_is_down_leaves_recall_lexical_and_says_so(place: Place) -> None:
    place.ingest(configured=NOMIC)
    place.server.stop()
    (reason,) = place.degraded()
    assert reason.startswith("unavailable") and "ollama serve" in reason
    (found,) = [f for f in place("doctor")["findings"] if f["check"] == "embedder.unavailable"]
    assert "ollama serve" in found["detail"]


def test_doctor_names_the_missing_model(place: Place) -> None:
    place.ingest(configured=NOMIC)
    place.server.models.clear()
    assert "ollama pull nomic-embed-text" in str(place("doctor")["findings"])


# ------------------------------------------------------------ moving


@pytest.mark.parametrize("first, then", [("static", NOMIC), (NOMIC, MXBAI), (NOMIC, "static"), (NOMIC, NOMIC)])
def test_a_move_gives_every_text_a_vector_of_the_new_embedder(place: Place, first: str, then: str) -> None:
    place.ingest(configured=first)
    told = place.move(then)
    assert told["embedded"]["embedded"] > 15 and told["embedded"]["refused"] == 0
    status = place("status")
    assert status["unembedded"] == 0 and status["embedder"].startswith(then if then != "static" else "wordllama") and status["projections"]["vectors"]["behind"] == 0
    assert place.degraded() == [] and sorted(p.name for p in (place.bank / "index").iterdir() if p.name.startswith("embeddings")) == ["embeddings"]


def test_a_move_that_fails_leaves_the_old_vectors_and_goes_on_from_where_it_was(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("smb.vector_work.BATCH", 4)
    place.ingest()
    before = place.vector_rows()
    real = place.server.next
    place.server.next = lambda path, body: Status(500) if path == "/api/embed" and len(place.server.asked(path)) > 3 else real(path, body)  # type: ignore[method-assign]
    with pytest.raises(EmbedderUnavailable):
        place.move(NOMIC)
    assert place.vector_rows() == before and place("status")["embedder"].startswith("wordllama") and place.degraded() == []
    first = [text for body in place.server.asked("/api/embed")[:3] for text in body["input"]]
    place.server.next = real  # type: ignore[method-assign]
    place.server.requests.clear()
    place.move(NOMIC)
    then = [text for body in place.server.asked("/api/embed") for text in body["input"]]
    assert first and not set(first) & set(then) and len(set(then)) == len(then) and place.degraded() == []


def test_a_move_to_a_third_embedder_forgets_the_one_that_was_not_finished(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("smb.vector_work.BATCH", 4)
    place.ingest()
    real = place.server.next
    place.server.next = lambda path, body: Status(500) if path == "/api/embed" and len(place.server.asked(path)) > 2 else real(path, body)  # type: ignore[method-assign]
    with pytest.raises(EmbedderUnavailable):
        place.move(NOMIC)
    place.server.next = real  # type: ignore[method-assign]
    assert place.move(MXBAI)["embedder"].startswith(MXBAI) and place.degraded() == [] and place("status")["unembedded"] == 0


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
        await work.VectorWork(bank.catalog, bank.writer, bank.embedding).move("ollama:nomic-embed-text")

asyncio.run(main())
print(seen)
"""


@pytest.mark.parametrize("steps", ["those of the swap", pytest.param("all", marks=pytest.mark.slow)])
def test_a_move_killed_anywhere_never_gives_wrong_vectors_and_is_finished_by_the_next(place: Place, tmp_path: Path, steps: str) -> None:
    """The process ends at the n-th step that changes anything, for every n: recall then answers, dense with the right vectors or not at all."""
    import shutil

    place.ingest()
    start = tmp_path / "start"
    shutil.copytree(place.bank, start)
    script = tmp_path / "child.py"
    script.write_text(CHILD.format(tests=str(Path(__file__).parent)))
    environ = {**os.environ, "SMB_OLLAMA_HOST": place.server.host, "HOME": str(tmp_path), "PYTHONPATH": str(Path(__file__).parents[1])}

    def end_at(step: int) -> subprocess.CompletedProcess[str]:
        shutil.rmtree(place.bank)
        shutil.copytree(start, place.bank)
        return subprocess.run([sys.executable, str(script), str(step), str(place.bank)], env=environ, capture_output=True, text=True, check=False, timeout=60)

    whole = end_at(0)
    assert whole.returncode == 0, whole.stderr
    last = int(whole.stdout)
    for step in range(1 if steps == "all" else last - 4, last + 1):
        assert end_at(step).returncode == 9
        packet = place("recall", QUESTION)
        assert packet["outcome"] == "state" and all("dense" == d["route"] for d in packet["degraded"])
        told = place.move(NOMIC)
        assert place("status")["unembedded"] == 0 and place.degraded() == [] and told["embedder"].startswith(NOMIC)
        nearest = place("recall", "Indigo needs lime per litre")["items"][0]
        assert "Indigo" in nearest["text"] and "dense" in nearest["routes"]
