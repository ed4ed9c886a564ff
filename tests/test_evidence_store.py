"""Layer 0 keeps every source byte for byte, once."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import nasty_text

from smb.model.identity import sha256_hex
from smb.stores import atomic_file
from smb.stores.evidence_store import EvidenceMissing, EvidenceStore, SourceCollision
from test_atomic_file import run_and_die_at

KILN = b"The kiln holds 48 plates.\r\n\xff\xfe\x00 tail"
SHA = sha256_hex(KILN)


def source(data: bytes, slug: str = "a note") -> tuple[str, str, bytes]:
    return sha256_hex(data), slug, data


def test_a_source_is_stored_exactly_read_only_under_its_hash_and_slug(tmp_path: Path) -> None:
    """Bytes come back as they went in, by the whole id and by its first 12 digits."""
    store = EvidenceStore(tmp_path)
    assert not store.has(SHA)
    assert store.put_many([source(KILN, "Kiln / North")]) == 1
    path = tmp_path / "layer-0" / "source" / f"{SHA[:12]}-kiln-north.md"
    assert store.path_of(SHA) == store.path_of(SHA[:12]) == path
    assert store.read(SHA) == store.read(SHA[:12]) == path.read_bytes() == KILN
    assert store.verify(SHA) and store.has(SHA) and store.ids() == {SHA[:12]: path}
    assert path.stat().st_mode & 0o222 == 0


@given(st.lists(st.tuples(st.binary(max_size=40), nasty_text()), max_size=6))
@settings(max_examples=40, deadline=None)
def test_any_bytes_under_any_slug_survive_a_reopened_store(
    tmp_path_factory: pytest.TempPathFactory, wanted: list[tuple[bytes, str]]
) -> None:
    """Repeated sources count once; no slug escapes the directory."""
    bank = tmp_path_factory.mktemp("bank")
    given_ = [source(data, slug) for data, slug in wanted]
    assert EvidenceStore(bank).put_many(given_) == len({sha for sha, _, _ in given_})
    again = EvidenceStore(bank)
    assert again.put_many(given_) == 0
    for sha, _, data in given_:
        assert again.read(sha) == data
    assert all(path.parent == bank / "layer-0" / "source" for path in again.ids().values())


def test_the_same_source_under_another_slug_is_not_written_again(tmp_path: Path) -> None:
    """The first name stays: a moved note costs no new file."""
    store = EvidenceStore(tmp_path)
    store.put_many([source(KILN, "first")])
    assert store.put_many([source(KILN, "second")]) == 0
    assert [p.name for p in store.directory.iterdir()] == [f"{SHA[:12]}-first.md"]


def test_other_bytes_under_the_same_first_digits_are_refused(tmp_path: Path) -> None:
    """A collision raises, stored before or in the same batch, and what is stored stays."""
    store = EvidenceStore(tmp_path)
    store.put_many([source(KILN)])
    twin = SHA[:12] + "0" * 52
    with pytest.raises(SourceCollision, match=SHA[:12]):
        store.put_many([(twin, "b", b"other")])
    assert store.read(SHA) == KILN
    other = sha256_hex(b"x")
    with pytest.raises(SourceCollision):
        store.put_many([(other, "x", b"x"), (other[:12] + "0" * 52, "y", b"y")])


def test_a_damaged_copy_is_seen_by_verify_and_mended_by_the_next_put(tmp_path: Path) -> None:
    """Reading doesn't check; verifying does; ingesting the same document again heals."""
    store = EvidenceStore(tmp_path)
    store.put_many([source(KILN)])
    path = store.path_of(SHA)
    assert path is not None
    path.chmod(0o644)
    path.write_bytes(KILN.replace(b"\r\n", b"\n"))
    assert not store.verify(SHA)
    assert store.put_many([source(KILN)]) == 1
    assert store.verify(SHA) and store.read(SHA) == KILN


def test_what_another_process_stored_is_found_without_reopening(tmp_path: Path) -> None:
    """A miss looks at the directory again before it is one."""
    here, there = EvidenceStore(tmp_path), EvidenceStore(tmp_path)
    assert here.ids() == {}
    with pytest.raises(EvidenceMissing, match=SHA[:12]):
        here.read(SHA)
    there.put_many([source(KILN, "there")])
    assert here.read(SHA) == KILN
    there.path_of(SHA).rename(here.directory / f"{SHA[:12]}-renamed.md")  # type: ignore[union-attr]
    assert here.read(SHA) == there.read(SHA) == KILN


def test_two_clones_files_for_one_source_are_one_source_and_destroyed_together(tmp_path: Path) -> None:
    """Merged clones may hold it under two slugs; the first by name answers, and `destroy` leaves neither."""
    store = EvidenceStore(tmp_path)
    store.put_many([source(KILN, "zebra"), source(b"other")])
    (store.directory / f"{SHA[:12]}-ant.md").write_bytes(KILN)
    (store.directory / ".DS_Store").touch()
    (store.directory / "README.md").touch()
    other = sha256_hex(b"other")[:12]
    assert {p.name for p in EvidenceStore(tmp_path).ids().values()} == {f"{SHA[:12]}-ant.md", f"{other}-a-note.md"}
    assert store.destroy(SHA) == 2
    assert not store.has(SHA) and store.destroy(SHA) == 0
    with pytest.raises(EvidenceMissing):
        store.read(SHA)
    assert store.read(sha256_hex(b"other")) == b"other"


def test_a_crash_at_any_step_leaves_only_whole_sources_and_the_next_put_cleans_up(tmp_path: Path) -> None:
    """Whatever the step, each file present has the bytes its name says, and a rerun stores the rest."""
    wanted = [source(b"source %d" % n * 300) for n in range(5)]
    n, finished = 0, False
    while not finished:
        n += 1
        bank = tmp_path / str(n)
        finished = run_and_die_at(n, lambda: EvidenceStore(bank).put_many(wanted), "exit")
        store = EvidenceStore(bank)
        before = store.ids()
        assert all(store.verify(sha) for sha in before)
        assert store.put_many(wanted) == 5 - len(before)
        assert not any(atomic_file.is_temporary(p.name) for p in store.directory.iterdir())
        assert all(store.verify(sha) for sha, _, _ in wanted)
    assert n > 20
