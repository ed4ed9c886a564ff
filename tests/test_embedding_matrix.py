"""`smb.stores.embedding_matrix`: rows are kept, found again, survive torn writes, and rank as exact cosine does."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smb.stores import atomic_file, embedding_matrix
from smb.stores.embedding_matrix import EmbeddingMatrix, MatrixDamaged, MatrixMismatch

DIMENSION = 24


class Letters:
    """An embedder made of letter counts; remembers what it was asked to embed."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, texts) -> np.ndarray:
        self.asked += texts
        counts = [[text.count(chr(97 + letter)) for letter in range(DIMENSION)] for text in texts]
        vectors = np.array(counts, np.float32).reshape(-1, DIMENSION)
        return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)


@pytest.fixture
def embed() -> Letters:
    return Letters()


@pytest.fixture
def matrix(tmp_path: Path) -> EmbeddingMatrix:
    return EmbeddingMatrix(tmp_path / "index" / "embeddings", "letters/1", DIMENSION)


def opened(matrix: EmbeddingMatrix) -> EmbeddingMatrix:
    """The same matrix as another process would open it."""
    return EmbeddingMatrix(matrix.directory, "letters/1", DIMENSION)


def test_a_text_is_embedded_once(matrix: EmbeddingMatrix, embed: Letters) -> None:
    assert matrix.rows_for(["kiln", "glaze", "kiln", ""], embed) == [0, 1, 0, 2]
    assert matrix.rows_for(["glaze", "damper"], embed) == [1, 3]
    assert opened(matrix).rows_for(["damper", "kiln", "cone"], embed) == [3, 0, 4]
    assert embed.asked == ["kiln", "glaze", "", "damper", "cone"]
    assert matrix.rows_for(["cone", "shelf"], embed) == [4, 5]  # sees what the other wrote
    assert len(matrix) == len(opened(matrix)) == 6
    assert matrix.rows_for([], embed) == []


def test_a_row_is_known_by_its_whole_hash(matrix: EmbeddingMatrix, embed: Letters) -> None:
    matrix.rows_for(["kiln"], embed)
    file = matrix.directory / "hashes.bin"
    hashed = file.read_bytes()
    assert hashed == hashlib.sha256(b"letters/1\x1fkiln").digest()[:16]
    file.write_bytes(hashed[:8] + bytes(8))  # another text, whose hash begins alike
    assert opened(matrix).rows_for(["kiln"], embed) == [1]


def test_vectors_come_back_within_quantisation(matrix: EmbeddingMatrix, embed: Letters) -> None:
    texts = ["slow cooling", "abcdefgh", "", "zz"]  # no counted letter in the last two
    rows = matrix.rows_for(texts, embed)
    vectors = matrix.vectors(rows[::-1])
    assert vectors.dtype == np.float32 and vectors.shape == (4, DIMENSION)
    assert np.abs(vectors[::-1] - Letters()(texts)).max() <= 1 / 254 + 1e-6
    assert not vectors[0].any() and not vectors[1].any()
    assert matrix.vectors([]).shape == (0, DIMENSION)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.text("abcdefgh", max_size=6), min_size=1, max_size=30), st.text("abcdefgh", min_size=1), st.integers(0, 40))
def test_top_is_exact_cosine_with_ties_by_row(tmp_path_factory, texts: list[str], question: str, k: int) -> None:
    matrix = EmbeddingMatrix(tmp_path_factory.mktemp("m"), "letters/1", DIMENSION)
    matrix.rows_for(texts, Letters())
    query = Letters()([question])[0]
    scores = matrix.scores(query)
    assert np.allclose(scores, matrix.vectors(range(len(matrix))) @ query, atol=1e-5)
    assert matrix.top(query, k) == sorted(enumerate(scores.tolist()), key=lambda pair: (-pair[1], pair[0]))[:k]


def test_scores_over_several_blocks(matrix: EmbeddingMatrix, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding_matrix, "_BLOCK", 64)
    monkeypatch.setattr(embedding_matrix, "_EMBED_AT_ONCE", 100)
    monkeypatch.setattr(embedding_matrix, "_RECENT_LIMIT", 150)
    vectors = np.random.default_rng(5).normal(size=(1001, DIMENSION)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    texts = [str(n) for n in range(1001)]
    embed = lambda some: vectors[[int(text) for text in some]]  # noqa: E731
    for start in range(0, 1001, 300):
        assert matrix.rows_for(texts[: start + 300], embed) == list(range(min(start + 300, 1001)))
    assert np.abs(matrix.scores(vectors[7]) - vectors @ vectors[7]).max() < 0.01
    assert matrix.top(vectors[1000], 1)[0][0] == 1000


@pytest.mark.parametrize("torn", ["vectors.i8", "scales.f32", "hashes.bin"])
@pytest.mark.parametrize("extra", [1, 100])
def test_a_torn_tail_is_cut_off(matrix: EmbeddingMatrix, embed: Letters, torn: str, extra: int) -> None:
    matrix.rows_for(["kiln", "glaze"], embed)
    before = matrix.vectors([0, 1])
    with (matrix.directory / torn).open("ab") as file:
        file.write(b"\x7f" * extra)
    again = opened(matrix)
    assert len(again) == 2
    assert again.rows_for(["damper", "kiln"], embed) == [2, 0]
    assert np.array_equal(again.vectors([0, 1]), before)
    assert again.top(Letters()(["damper"])[0], 1)[0][0] == 2
    assert embed.asked == ["kiln", "glaze", "damper"]


class Stopped(BaseException):
    pass


def test_a_crash_at_any_write_leaves_whole_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever file change is the last, the next writer gives every text its own vector."""
    for last in range(20):
        matrix = EmbeddingMatrix(tmp_path / str(last), "letters/1", DIMENSION)
        steps = 0

        def stop(action: str, path: Path) -> None:
            nonlocal steps
            steps += 1
            if steps > last:
                raise Stopped

        monkeypatch.setattr(atomic_file, "before_step", stop)
        try:
            matrix.rows_for(["kiln"], Letters())
            matrix.rows_for(["glaze", "damper"], Letters())
            finished = True
        except Stopped:
            finished = False
        monkeypatch.undo()
        again = opened(matrix)
        rows = again.rows_for(["damper", "cone", "kiln", "glaze"], Letters())
        assert sorted(rows) == [0, 1, 2, 3] and len(again) == 4
        assert np.abs(again.vectors(rows) - Letters()(["damper", "cone", "kiln", "glaze"])).max() < 0.01
        if finished:
            break
    assert finished and last >= 6


def test_what_embed_raises_keeps_earlier_rows(matrix: EmbeddingMatrix, embed: Letters, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding_matrix, "_EMBED_AT_ONCE", 2)

    def failing(texts):
        if "bad" in texts:
            raise RuntimeError("model gone")
        return embed(texts)

    with pytest.raises(RuntimeError):
        matrix.rows_for(["kiln", "glaze", "bad", "cone"], failing)
    assert matrix.rows_for(["cone", "glaze"], embed) == [2, 1]
    assert embed.asked == ["kiln", "glaze", "cone"]


def test_another_embedder_is_refused_until_cleared(matrix: EmbeddingMatrix, embed: Letters) -> None:
    matrix.rows_for(["kiln"], embed)
    other = EmbeddingMatrix(matrix.directory, "letters/2", DIMENSION)
    assert other.fingerprint == "letters/1"  # says what is there, so that a reader can compare
    query = np.ones(DIMENSION, np.float32)
    for use in (lambda: other.rows_for(["kiln"], embed), lambda: other.vectors([0]), lambda: other.top(query, 1)):
        with pytest.raises(MatrixMismatch, match="letters/1.*letters/2.*smb rebuild"):
            use()
    other.clear()
    assert len(other) == 0 and other.fingerprint == "letters/2"
    assert other.rows_for(["glaze"], embed) == [0]
    assert len(EmbeddingMatrix(matrix.directory, "letters/2", DIMENSION)) == 1


def test_vectors_of_another_width_are_refused(matrix: EmbeddingMatrix) -> None:
    with pytest.raises(MatrixMismatch):
        matrix.rows_for(["kiln"], lambda texts: np.ones((len(texts), 7), np.float32))
    assert len(matrix) == 0
    with pytest.raises(MatrixMismatch):
        matrix.scores(np.ones(7, np.float32))


def test_a_row_that_is_not_there(matrix: EmbeddingMatrix, embed: Letters) -> None:
    matrix.rows_for(["kiln"], embed)
    for row in (1, -1):
        with pytest.raises(MatrixDamaged, match="smb rebuild"):
            matrix.vectors([0, row])


def test_an_empty_matrix_answers(matrix: EmbeddingMatrix) -> None:
    query = np.ones(DIMENSION, np.float32)
    assert len(matrix) == 0 and matrix.scores(query).shape == (0,) and matrix.top(query, 3) == []
    matrix.sync()
    matrix.clear()
    assert not matrix.directory.exists()  # reading makes nothing


def test_a_reader_sees_new_rows(matrix: EmbeddingMatrix, embed: Letters) -> None:
    matrix.rows_for(["kiln"], embed)
    reader = opened(matrix)
    query = embed(["damper"])[0]
    assert reader.top(query, 1)[0][0] == 0
    matrix.rows_for(["damper"], embed)
    matrix.sync()
    assert len(reader) == 2 and reader.top(query, 1)[0][0] == 1


def test_not_a_number_does_not_spread(matrix: EmbeddingMatrix) -> None:
    first = np.eye(DIMENSION, dtype=np.float32)[0]
    matrix.rows_for(["a", "b"], lambda texts: np.stack([np.full(DIMENSION, np.nan, np.float32), first]))
    assert matrix.scores(first).tolist() == [0.0, 1.0]


def test_importing_it_costs_no_numpy() -> None:
    code = ("import sys, smb.stores.embedding_matrix, smb.stores.vectors, smb.stores.lexical, smb.inference.static_embedder; "
            "print([m for m in ('numpy', 'chromadb') if m in sys.modules])")
    root = Path(__file__).parent.parent
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=root)
    assert done.stdout == "[]\n"
