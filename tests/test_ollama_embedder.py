"""Embedding by a server: any text becomes one vector of the right length, or a named error; nothing is cut in silence."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollama_server import VECTORS, Hang, Model, OllamaServer, Raw, Reset, Status, Vectors, tokens
from smb.inference.embedder import EmbedderUnavailable, TextRefused
from smb.inference.ollama_embedder import OllamaEmbedder
from smb.inference.split_text import parts_of
from smb.inference.token_estimate import at_most
from smb.inference.wire import Limits

LIMITS = Limits(connect=5.0, call=20.0, pause=0.001)
HASTY = Limits(connect=5.0, call=0.4, pause=0.001)  # for what hangs; a busy machine takes its time for the rest
LONG = {"base58": "5KJvsngHeMpm884wtkJNzQGaCErckhHJBGFsvd3VyK5qMZXj3hS" * 80, "CJK": "織機の幅は百二十センチである" * 300, "words": "the loom is wide " * 2000, "one letter": "a" * 9000, "emoji": "🎉" * 3000, "lines": "\n".join(map(str, range(3000)))}


def embedder(server: OllamaServer, model: str = "nomic-embed-text", **options: Any) -> OllamaEmbedder:
    return OllamaEmbedder(server.host, model, limits=LIMITS, **options)


def test_texts_become_unit_vectors_and_white_space_none() -> None:
    with OllamaServer() as server:
        one = embedder(server)
        vectors = one.embed(["the loom is wide", "", "a loom", " \n", "織機"])
        assert vectors.shape == (5, 768) and vectors.dtype == np.float32
        assert np.allclose(np.linalg.norm(vectors, axis=1), [1, 0, 1, 0, 1])
        assert np.array_equal(one.embed(["a loom"])[0], vectors[2]) and one.embed([]).shape == (0, 768)
        assert len(server.asked("/api/embed")[0]["input"]) == 3 and server.asked("/api/embed")[0]["truncate"] is False


def test_the_fingerprint_names_model_build_dimension_and_wording() -> None:
    with OllamaServer(VECTORS, Model("mxbai-embed-large:latest", "334M", 512, 1024, 670_000_000, "ab" * 32, ("embedding",))) as server:
        assert embedder(server).fingerprint == f"ollama:nomic-embed-text:latest@{VECTORS.digest[:12]}/768/nomic"
        assert embedder(server, "mxbai-embed-large").fingerprint == "ollama:mxbai-embed-large:latest@abababababab/1024/mxbai"
        assert embedder(server, questions=True).fingerprint == embedder(server).fingerprint


def test_notes_and_questions_are_worded_as_the_model_was_taught() -> None:
    with OllamaServer() as server:
        embedder(server).embed(["x"])
        embedder(server, questions=True).embed(["x"])
        assert [body["input"] for body in server.asked("/api/embed")] == [["search_document: x"], ["search_query: x"]]


@pytest.mark.parametrize("name", LONG)
def test_a_long_text_is_split_at_the_model_s_own_limit(name: str) -> None:
    with OllamaServer(Model("nomic-embed-text:latest", "137M", 256, 64, 274_000_000, capabilities=("embedding",))) as server:
        (vector,) = embedder(server).embed([LONG[name]])
        assert abs(np.linalg.norm(vector) - 1) < 1e-5
        sent = [text.removeprefix("search_document: ") for body in server.asked("/api/embed") for text in body["input"]]
        assert "".join(sent).split() == LONG[name].split() or "".join("".join(sent).split()) == "".join(LONG[name].split())
        assert all(tokens(text) <= 256 for text in sent) and len(sent) <= 3 + 4 * at_most(LONG[name]) // 256


def test_where_the_estimate_falls_short_the_part_is_halved_not_sent_again() -> None:
    """A vocabulary that needs more tokens than any known one: the server says 400, or 500 as some versions do."""
    for code in (400, 500):
        with OllamaServer() as server:
            server.script(Status(code, "the input length exceeds the context length"), to="/api/embed")
            assert abs(np.linalg.norm(embedder(server).embed(["the loom is wide and long"])) - 1) < 1e-5
            assert [len(body["input"]) for body in server.asked("/api/embed")] == [1, 2]


def test_a_batch_that_is_too_long_for_the_server_is_sent_one_by_one() -> None:
    with OllamaServer() as server:
        server.script(Status(400, "input length exceeds maximum context length"), to="/api/embed")
        assert embedder(server).embed(["a", "b", "c"]).any(axis=1).all()
        assert [len(body["input"]) for body in server.asked("/api/embed")] == [3, 1, 1, 1]


def test_a_deterministic_400_is_sent_once() -> None:
    with OllamaServer() as server:
        server.script(Status(400, "invalid input"), to="/api/embed")
        with pytest.raises(TextRefused, match="invalid input"):
            embedder(server).embed(["a loom", "is wide"])
        assert len(server.asked("/api/embed")) == 1
        server.script(*[Status(400, "the input length exceeds the context length")] * 20, to="/api/embed")
        with pytest.raises(TextRefused):
            embedder(server).embed(["ab"])
        assert len(server.asked("/api/embed")) <= 4


@pytest.mark.parametrize("path", ["/api/tags", "/api/show", "/api/embed"])
@pytest.mark.parametrize("fault", [Reset(), Reset(100), Status(500), Status(429), Hang(2), Raw(b"{"), Raw(b"[]"), Raw(b'{"embeddings": "x"}')], ids=str)
def test_every_fault_on_every_call_is_one_error(path: str, fault: Any) -> None:
    with OllamaServer() as server:
        server.script(*[fault] * 3, to=path)
        with pytest.raises(EmbedderUnavailable, match="ollama:nomic-embed-text"):
            OllamaEmbedder(server.host, limits=HASTY if fault == Hang(2) else LIMITS).embed(["a"])
        server.unscript()
        server.script(*[Status(503)] * 2, to=path)
        assert embedder(server).embed(["a"]).any()


@pytest.mark.parametrize("rows", [[], [[1.0, 0.0]], [[0.1] * 768] * 2, [[float("nan")] * 768], [[]]])
def test_vectors_of_another_shape_are_refused(rows: list[list[float]]) -> None:
    with OllamaServer() as server:
        server.script(Vectors(rows), to="/api/embed")
        with pytest.raises(EmbedderUnavailable):
            embedder(server).embed(["a"])


@pytest.mark.parametrize("model, models, said", [
    ("nomic-embed-text", (), "ollama pull nomic-embed-text"), ("qwen3:8b", (Model("qwen3:8b"),), "makes no embeddings"),
    ("x:cloud", (), "somebody else's computer"), ("x", (Model("x:latest", size=400, dimension=8),), "somebody else's computer")])
def test_a_model_that_cannot_embed_here_says_why(model: str, models: tuple[Model, ...], said: str) -> None:
    with OllamaServer(*(models or (Model("other"),))) as server, pytest.raises(EmbedderUnavailable, match=said):
        embedder(server, model).embed(["a"])


def test_a_server_that_is_down_is_one_error_at_once() -> None:
    with OllamaServer() as server:
        server.stop()
        with pytest.raises(EmbedderUnavailable, match="ollama serve"):
            embedder(server).fingerprint


def test_the_dimension_is_asked_for_where_the_server_does_not_say() -> None:
    with OllamaServer() as server:
        server.script(Raw(b'{"model_info": {}, "details": {}}'), to="/api/show")
        one = embedder(server)
        assert one.dimension == 768 and one.embed(["a"]).shape == (1, 768)


@given(st.text(st.sampled_from("ab 漢\n🎉"), max_size=80), st.integers(1, 12))
def test_the_parts_of_a_text_are_the_text(text: str, limit: int) -> None:
    parts = parts_of(text, limit, len)
    assert "".join("".join(parts).split()) == "".join(text.split())
    assert all(len(part) <= limit and part.strip() for part in parts)
