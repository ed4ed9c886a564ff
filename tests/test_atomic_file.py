"""Files are written wholly or not at all, whatever stops the writer."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from smb.stores import atomic_file
from smb.stores.atomic_file import make_directory, remove, remove_stale_temporaries, write_atomic, write_batch


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[str, str]]]:
    """The steps announced while a test runs, as (action, file name)."""
    seen: list[tuple[str, str]] = []
    monkeypatch.setattr(atomic_file, "before_step", lambda action, path: seen.append((action, path.name)))
    yield seen


def run_and_die_at(n: int, work: Callable[[], object], how: str) -> bool:
    """Runs `work` in a child process that dies before its n-th step; whether it lived to the end."""
    child = os.fork()
    if child == 0:
        count = 0

        def die_at(action: str, path: Path) -> None:
            nonlocal count
            count += 1
            if count == n:
                if how == "kill":
                    os.kill(os.getpid(), signal.SIGKILL)
                os._exit(9)

        atomic_file.before_step = die_at
        try:
            work()
        except BaseException:
            os._exit(1)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    assert code in (0, 9, -signal.SIGKILL)
    return code == 0


def contents(directory: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in directory.iterdir()}


@pytest.mark.parametrize("durable", [True, False])
def test_a_written_file_has_the_bytes_the_mode_and_no_temporary_beside_it(tmp_path: Path, durable: bool) -> None:
    """Content, permission bits and a clean directory are what is left, new parents included."""
    path = tmp_path / "a" / "b" / "note.md"
    write_atomic(path, b"one", durable=durable)
    write_atomic(path, b"two", durable=durable, mode=0o444)
    assert contents(path.parent) == {"note.md": b"two"}
    assert path.stat().st_mode & 0o777 == 0o444


def test_a_durable_batch_flushes_all_bytes_before_the_first_name_appears(tmp_path: Path, steps: list[tuple[str, str]]) -> None:
    """fsync of every temporary comes before any rename, and the folder is flushed last."""
    folder = tmp_path / "x"
    assert write_batch([(folder / f"{n}.md", b"%d" % n) for n in range(9)]) == 9
    actions = [action for action, _ in steps]
    assert actions.count("fsync") == 9 + 2 and actions.count("rename") == 9
    assert actions.index("rename") > max(i for i, a in enumerate(actions[:-1]) if a == "fsync")
    assert steps[-1] == ("fsync", "x")


def test_a_large_batch_from_a_lazy_source_needs_few_descriptors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """1,000 files with at most a few hundred open at once, and none after."""
    def descriptors() -> int:
        return len(os.listdir("/dev/fd"))

    before, most = descriptors(), 0

    def count(action: str, path: Path) -> None:
        nonlocal most
        most = max(most, descriptors()) if action == "rename" else most

    monkeypatch.setattr(atomic_file, "before_step", count)
    assert write_batch((tmp_path / f"{n}.md", b"%d" % n) for n in range(1000)) == 1000
    assert contents(tmp_path) == {f"{n}.md": b"%d" % n for n in range(1000)}
    assert before < most < before + 200 and descriptors() <= before  # fewer where another test's were left to be collected


def test_a_failing_write_leaves_the_old_file_and_no_temporary(tmp_path: Path) -> None:
    """A target that can't be replaced costs nothing else."""
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "inside").touch()
    with pytest.raises(OSError):
        write_batch([(tmp_path / "fine", b"1"), (tmp_path / "taken", b"2")])
    assert sorted(p.name for p in tmp_path.iterdir()) == ["fine", "taken"]


@pytest.mark.parametrize("how", ["exit", "kill"])
def test_dying_before_any_step_leaves_old_or_new_content_and_the_next_run_heals(tmp_path: Path, how: str) -> None:
    """For every n: each file is absent, old or new; temporaries of the dead are removed; a rerun completes."""
    old, new = {"a": b"old a", "b": b"old b"}, {"a": b"new a" * 5000, "b": b"new b", "c": b"new c", "d": b""}
    n, finished = 0, False
    while not finished:
        n += 1
        folder = tmp_path / f"{how}{n}"
        write_batch([(folder / name, data) for name, data in old.items()], durable=False)
        finished = run_and_die_at(n, lambda: write_batch([(folder / name, data) for name, data in new.items()]), how)
        assert remove_stale_temporaries(folder) <= 4
        found = contents(folder)
        for name, data in found.items():
            assert data in (old.get(name), new[name]), (n, name)
        assert set(old) <= set(found) <= set(new)
        assert not finished or found == new
        write_batch([(folder / name, data) for name, data in new.items()], durable=False)
        assert contents(folder) == new
    assert n > 16  # four files: create, write, fsync, rename each, and the folder


def test_temporaries_of_a_living_writer_are_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cleaning while a write is under way removes only what no process holds."""
    (tmp_path / ".smb-1-1.tmp").write_bytes(b"left by a crash")
    (tmp_path / ".smb-notes.md").write_bytes(b"not ours")
    removed = []

    def clean(action: str, path: Path) -> None:
        if action == "rename":
            monkeypatch.setattr(atomic_file, "before_step", atomic_file._unobserved)
            removed.append(remove_stale_temporaries(tmp_path))

    monkeypatch.setattr(atomic_file, "before_step", clean)
    write_atomic(tmp_path / "a", b"a", durable=False)
    assert removed == [1]
    assert sorted(contents(tmp_path)) == [".smb-notes.md", "a"]


def test_cleaning_or_removing_what_is_not_there_is_no_error(tmp_path: Path) -> None:
    """Both say that there was nothing."""
    assert remove_stale_temporaries(tmp_path / "none") == 0
    assert remove(tmp_path / "none") is False
    (tmp_path / "one").touch()
    assert remove(tmp_path / "one", durable=True) is True
    assert contents(tmp_path) == {}


def test_make_directory_is_repeatable_and_flushes_each_new_parent(tmp_path: Path, steps: list[tuple[str, str]]) -> None:
    """Durable directories are flushed in the folder that names them; the second call does nothing."""
    make_directory(tmp_path / "a" / "b", durable=True)
    assert steps == [("mkdir", "a"), ("fsync", tmp_path.name), ("mkdir", "b"), ("fsync", "a")]
    steps.clear()
    make_directory(tmp_path / "a" / "b", durable=True)
    assert steps == []
