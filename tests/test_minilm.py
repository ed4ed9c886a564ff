"""The embedder `minilm`: fetched once when asked, by its checksum; run here; never a word cut off and no connection in use."""

from __future__ import annotations

import hashlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tiny_onnx
from shell import Ran, settle
from smb.inference.embedder import EmbedderUnavailable
from smb.inference.minilm_download import DownloadFailed, is_there, pull
from smb.inference.minilm_embedder import MinilmEmbedder
from worlds import WORKSHOP, write


@pytest.fixture(scope="module")
def embedder(tmp_path_factory: pytest.TempPathFactory) -> MinilmEmbedder:
    return MinilmEmbedder(tiny_onnx.write(tmp_path_factory.mktemp("minilm")))


def test_texts_become_unit_vectors_and_white_space_none(embedder: MinilmEmbedder) -> None:
    vectors = embedder.embed(["the loom is wide", "", " \n", "blue"])
    assert vectors.shape == (4, 384) and vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), [1, 0, 0, 1]) and embedder.embed([]).shape == (0, 384)


def test_a_text_s_vector_never_depends_on_the_others(embedder: MinilmEmbedder) -> None:
    texts = ["the loom", "red " * 400, "a b c d " * 60, "blue", "漢" * 900, "🎉", "a" * 3000]
    together = embedder.embed(texts)
    assert all(np.array_equal(embedder.embed([text])[0], vector) for text, vector in zip(texts, together))
    assert np.array_equal(embedder.embed(texts[::-1])[::-1], together)


def test_the_end_of_a_long_text_counts(embedder: MinilmEmbedder) -> None:
    long = "red " * 600
    assert not np.allclose(embedder.embed([long + "blue " * 300]), embedder.embed([long]), atol=1e-3)
    assert not np.allclose(embedder.embed(["a" * 900]), embedder.embed(["b" * 900]), atol=1e-3)  # no word is too long to be read


def test_files_that_are_missing_or_damaged_say_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(EmbedderUnavailable, match="smb models pull minilm"):
        MinilmEmbedder(tmp_path / "nothing").fingerprint  # noqa: B018
    for name in ("model.onnx", "tokenizer.json"):
        folder = tiny_onnx.write(tmp_path / name)
        (folder / name).write_bytes(b"\xff\x00 cut")
        with pytest.raises(EmbedderUnavailable, match="damaged.*smb models pull minilm"):
            MinilmEmbedder(folder).embed(["a"])


# ------------------------------------------------------------ fetching


class Shelf:
    """A server of one file, and how Chroma would publish it."""

    def __init__(self, data: bytes, folder: Path, *, cut: bool = False, status: int = 200, sha256: str = ""):
        shelf = self
        self.asked = 0

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                shelf.asked += 1
                self.send_response(status)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data[: len(data) // 2] if cut else data)

            def log_message(self, format: str, *args: Any) -> None: ...

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        self.published = SimpleNamespace(
            MODEL_DOWNLOAD_URL=f"http://127.0.0.1:{self.server.server_port}/onnx.tar.gz", _MODEL_SHA256=sha256 or hashlib.sha256(data).hexdigest(),
            DOWNLOAD_PATH=folder / "chroma", ARCHIVE_FILENAME="onnx.tar.gz")


def test_the_files_are_fetched_once_and_nothing_else_of_the_archive(tmp_path: Path) -> None:
    shelf = Shelf(tiny_onnx.archive(), tmp_path)
    told: list[Any] = []
    answer = pull(tmp_path / "a" / "minilm", lambda *p: told.append(p), published=shelf.published)
    assert sorted(p.name for p in tmp_path.rglob("*") if p.is_file()) == ["model.onnx", "tokenizer.json"]
    assert answer["sha256"] == shelf.published._MODEL_SHA256 and answer["bytes"] == told[-1][1] == told[-1][2]
    assert MinilmEmbedder(tmp_path / "a" / "minilm").embed(["the loom"]).any()


def test_what_chroma_has_on_this_machine_is_not_fetched_again(tmp_path: Path) -> None:
    shelf = Shelf(tiny_onnx.archive(), tmp_path)
    (tmp_path / "chroma").mkdir()
    (tmp_path / "chroma" / "onnx.tar.gz").write_bytes(tiny_onnx.archive())
    shelf.published._MODEL_SHA256 = hashlib.sha256((tmp_path / "chroma" / "onnx.tar.gz").read_bytes()).hexdigest()
    assert pull(tmp_path / "minilm", published=shelf.published)["from"].endswith("chroma/onnx.tar.gz") and shelf.asked == 0


@pytest.mark.parametrize("fault", [{"sha256": "0" * 64}, {"cut": True}, {"status": 404}, {"status": 500}, {"without": "model.onnx"}, {"data": b"no archive"}])
def test_nothing_is_kept_of_a_download_that_is_not_the_published_one(fault: dict[str, Any], tmp_path: Path) -> None:
    data = fault.pop("data", None) or tiny_onnx.archive(without=fault.pop("without", ""))
    shelf = Shelf(data, tmp_path, **fault)
    with pytest.raises(DownloadFailed, match="smb models pull minilm"):
        pull(tmp_path / "minilm", published=shelf.published)
    assert list((tmp_path / "minilm").iterdir()) == [] and not is_there(tmp_path / "minilm")


def test_a_server_that_is_not_there_is_a_failed_download(tmp_path: Path) -> None:
    shelf = Shelf(b"", tmp_path)
    shelf.server.server_close()
    shelf.server.shutdown()
    with pytest.raises(DownloadFailed):
        pull(tmp_path / "minilm", published=shelf.published)


def test_chroma_still_publishes_where_and_what_by_these_names() -> None:
    from chromadb.utils.embedding_functions.onnx_mini_lm_l6_v2 import ONNXMiniLM_L6_V2 as chroma

    assert chroma.MODEL_DOWNLOAD_URL.startswith("https://") and len(chroma._MODEL_SHA256) == 64
    assert chroma.ARCHIVE_FILENAME.endswith(".tar.gz") and Path(chroma.DOWNLOAD_PATH).is_absolute()


def test_a_bank_moves_to_minilm_and_recalls_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settle(tmp_path, monkeypatch)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    write(tmp_path / "kbmd", WORKSHOP)
    assert Ran("init", "memory-bank", "--json").code == 0 and Ran("ingest", "kbmd").code == 0
    refused = Ran("rebuild", "--vectors", "--embedder", "minilm")
    assert refused.code == 1 and "smb models pull minilm" in refused.err
    tiny_onnx.write(tmp_path / "cache" / "smb" / "models" / "minilm")
    assert Ran("rebuild", "--vectors", "--embedder", "minilm").code == 0
    assert 'fingerprint = "minilm-l6-v2-onnx/384/1"' in (tmp_path / "memory-bank" / "bank.toml").read_text()
    answer = Ran("recall", "who repairs the loom", "--json").out
    assert '"degraded":[]' in answer.replace(" ", "") and '"dense"' in answer
    assert Ran("rebuild", "--embedder", "static").code == 2 and Ran("rebuild", "--vectors", "--embedder", "word2vec").code == 2
