"""`smb.stores.vectors` over a real Chroma, and the contract that it and the matrix give the same answers."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from smb.inference.static_embedder import StaticEmbedder
from smb.stores.embedding_matrix import EmbeddingMatrix
from smb.stores.vectors import VectorsNotOwned, VectorStore, VectorsUnreadable

ROOT = Path(__file__).parent.parent
D = 8


def unit(*numbers: float) -> list[float]:
    vector = np.zeros(D, np.float32)
    vector[: len(numbers)] = numbers
    return (vector / max(float(np.linalg.norm(vector)), 1e-9)).tolist()


@pytest.fixture
def store(tmp_path: Path):
    with VectorStore(tmp_path / "index" / "vectors", D) as store:
        assert store.try_own()
        yield store


@pytest.fixture
def kilns(store: VectorStore) -> VectorStore:
    store.add(["k1", "k2", "c1"], [unit(1), unit(1, 1), unit(0, 1)], ["hot kiln", "warm kiln", "a claim"],
              [{"type": "concept", "layer": 1}, {"type": "concept", "layer": 1}, {"type": "claim", "layer": 1}])
    return store


def test_query_by_embedding_by_text_and_with_where(kilns: VectorStore) -> None:
    hits = kilns.query(np.array(unit(1), np.float32), 2)
    near, far = pytest.approx(1.0), pytest.approx(0.7071, abs=1e-4)
    assert [hit[:3] for hit in hits] == [("k1", near, "hot kiln"), ("k2", far, "warm kiln")]
    assert hits[0][3] == {"type": "concept", "layer": 1}
    assert [hit[0] for hit in kilns.query(unit(1), where={"type": "claim"})] == ["c1"]
    assert kilns.query("heat", 1, embed=lambda texts: np.array([unit(0, 1)] * len(texts), np.float32))[0][0] == "c1"
    assert kilns.query(unit(1), 0) == kilns.query(unit(), 3) == kilns.query(unit(1), where={"type": "nothing"}) == []
    with pytest.raises(ValueError, match="embed="):
        kilns.query("heat")
    with pytest.raises(VectorsUnreadable, match="smb rebuild"):
        kilns.query([1.0, 2.0])


def test_add_twice_changes_nothing_and_replaces(kilns: VectorStore) -> None:
    kilns.add(["k1", "k1"], [unit(0, 0, 1), unit(0, 0, 0, 1)], ["x", "cold kiln"], [{"type": "concept"}] * 2)
    assert kilns.count() == 3
    assert kilns.get(["k1", "no"]) == {"k1": ("cold kiln", {"type": "concept", "layer": 1})}  # Chroma merges metadata
    assert kilns.query(unit(0, 0, 0, 1), 1)[0][:2] == ("k1", pytest.approx(1.0, abs=1e-5))


def test_update_changes_only_what_is_given_and_only_what_is_there(kilns: VectorStore) -> None:
    kilns.update(["k2", "no"], documents=["tepid kiln", "never"])
    kilns.update(["c1", "no"], metadatas=[{"type": "claim", "layer": 3}, {"type": "never"}])
    kilns.update(["k1", "no"], embeddings=[unit(0, 0, 1), unit(1)])
    assert kilns.count() == 3
    assert kilns.get(["k1", "k2", "c1"]) == {
        "k1": ("hot kiln", {"type": "concept", "layer": 1}),
        "k2": ("tepid kiln", {"type": "concept", "layer": 1}),
        "c1": ("a claim", {"type": "claim", "layer": 3}),
    }
    assert kilns.query(unit(0, 0, 1), 1)[0][0] == "k1"
    assert kilns.query(unit(1, 1), 1)[0][0] == "k2"  # kept its vector when its document changed


def test_delete_and_clear(kilns: VectorStore) -> None:
    kilns.delete(["k1", "no"])
    assert kilns.count() == 2 and kilns.get(["k1"]) == {}
    kilns.clear()
    assert kilns.count() == 0 and kilns.query(unit(1)) == []
    kilns.add(["n"], [unit(1)], ["new"], [{"type": "claim"}])
    assert kilns.count() == 1


def test_an_object_without_words_is_mirrored_too(kilns: VectorStore) -> None:
    kilns.add(["blank"], [unit()], ["—"], [{"type": "claim"}])
    assert kilns.count() == 4
    assert [hit[:2] for hit in kilns.query(unit(1), 9) if hit[0] == "blank"] == [("blank", pytest.approx(0.0, abs=1e-6))]


def test_more_than_chroma_takes_at_once(store: VectorStore) -> None:
    count = 6001
    vectors = np.random.default_rng(3).normal(size=(count, D)).astype(np.float32)
    ids = [f"{n:012x}" for n in range(count)]
    store.upsert(ids, vectors, [f"text {id_}" for id_ in ids], [{"type": "claim"}] * count)
    assert store.count() == len(store.get(ids)) == count
    store.delete(ids[:5999])
    assert sorted(store.get(ids)) == ids[5999:]


def test_only_the_owner_changes_it(kilns: VectorStore) -> None:
    other = VectorStore(kilns.directory, D)
    assert not other.try_own()
    for change in (lambda: other.add(["x"], [unit(1)], [""], [{"type": "claim"}]), lambda: other.delete(["k1"]), other.clear,
                   lambda: other.update(["k1"], embeddings=[unit(0, 1)])):
        with pytest.raises(VectorsNotOwned):
            change()
    kilns.release()
    assert other.try_own() and other.try_own()
    other.release()


def test_after_release_it_sees_what_another_process_wrote(kilns: VectorStore) -> None:
    assert kilns.query(unit(0, 0, 1), 1)[0][0] != "n1"
    kilns.release()
    code = f"""
from pathlib import Path
from smb.stores.vectors import VectorStore
store = VectorStore(Path({str(kilns.directory)!r}), {D})
assert store.try_own()
store.add(['n1'], [{unit(0, 0, 1)}], ['new'], [{{'type': 'claim'}}])
store.release()
"""
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)
    assert kilns.query(unit(0, 0, 1), 1)[0][0] == "n1" and kilns.count() == 4


def test_reading_makes_nothing(tmp_path: Path) -> None:
    store = VectorStore(tmp_path / "vectors", D)
    assert store.count() == 0 and store.get(["a"]) == {} and store.query(unit(1)) == []
    assert list(tmp_path.iterdir()) == []


def test_damaged_files_are_a_named_error_and_clear_mends(tmp_path: Path) -> None:
    store = VectorStore(tmp_path / "vectors", D)
    store.directory.mkdir()
    (store.directory / "chroma.sqlite3").write_bytes(b"no database" * 1000)
    with pytest.raises(VectorsUnreadable, match="smb rebuild"):
        store.count()
    assert store.try_own()
    store.clear()
    store.add(["a"], [unit(1)], ["x"], [{"type": "claim"}])
    assert store.count() == 1
    store.release()


def test_a_wrong_width_is_refused(store: VectorStore) -> None:
    with pytest.raises(VectorsUnreadable, match=r"\(1, 3\)"):
        store.add(["a"], [[1.0, 2.0, 3.0]], ["x"], [{"type": "claim"}])


def test_chroma_prints_nothing(tmp_path: Path) -> None:
    code = f"""
from pathlib import Path
from smb.stores.vectors import VectorStore
store = VectorStore(Path({str(tmp_path / 'vectors')!r}), 2)
assert store.try_own()
store.add(['a', 'a'], [[1.0, 0.0], [1.0, 0.5]], ['x', 'y'], [{{'type': 'claim'}}] * 2)
store.update(['a', 'gone'], documents=['z', 'z'])
store.delete(['gone'])
assert store.query([1.0, 0.5], 50)[0][0] == 'a'
store.clear()
store.release()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert (done.stdout, done.stderr) == ("", "")


SUBJECTS = ("kiln glaze clay damper cone shelf wheel bisque slip sieve burner pyrometer "
            "rent invoice gallery student apron bucket").split()
VERBS = "cools warms breaks holds needs replaces measures follows resembles delays improves costs".split()
WHEN = ["in March", "after the firing", "on cold days", "before lunch", "at 900 degrees", "every second week", "since Mara left",
        "for the exhibition", "without a lid", "by hand"]


def test_chroma_and_the_matrix_give_the_same_answers(tmp_path: Path) -> None:
    """2,000 vectors of real sentences: at least 95 % of the ten nearest agree, and the nearest where it is unambiguous."""
    texts = [f"The {a} {v} the {b} {w}" for a in SUBJECTS for v in VERBS for b in SUBJECTS for w in WHEN if a != b][::18][:2000]
    questions = [f"what {v} the {b} {w}?" for v, b, w in zip(VERBS * 4, SUBJECTS * 3, WHEN * 5)]
    assert len(texts) == 2000 and len(questions) >= 40
    embedder = StaticEmbedder()
    matrix = EmbeddingMatrix(tmp_path / "embeddings", embedder.fingerprint, embedder.dimension)
    rows = matrix.rows_for(texts, embedder.embed)
    ids = {f"{row:012x}": row for row in rows}
    store = VectorStore(tmp_path / "vectors", embedder.dimension)
    assert store.try_own()
    store.add(list(ids), matrix.vectors(rows), texts, [{"type": "claim"}] * len(texts))
    agree = 0
    for question in questions:
        query = embedder.embed([question])[0]
        near, mirrored = matrix.top(query, 10), store.query(query, 10)
        agree += len({row for row, _ in near} & {ids[hit[0]] for hit in mirrored})
        if near[0][1] - near[1][1] > 1e-4:
            assert ids[mirrored[0][0]] == near[0][0]
            assert mirrored[0][1] == pytest.approx(near[0][1], abs=0.005)
    store.release()
    assert agree / (10 * len(questions)) >= 0.95
