"""Two git clones of one bank: what each learned merges without conflict, and both rebuild to the same bank."""

from __future__ import annotations

import subprocess
from datetime import timedelta
from pathlib import Path

from worlds import MOMENT, WORKSHOP, ask, catalog, ingest, rows, truth, write


def git(place: Path, *args: str) -> str:
    return subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@example.org", "-C", str(place), *args], check=True, capture_output=True, text=True).stdout


def commit(bank: Path, message: str) -> None:
    git(bank, "add", "-A")
    git(bank, "commit", "-qm", message)


def two_clones(tmp_path: Path) -> tuple[Path, Path]:
    one = tmp_path / "one"
    ingest(one, write(tmp_path / "notes", WORKSHOP))
    git(one, "init", "-q", "-b", "main")
    commit(one, "the workshop")
    git(tmp_path, "clone", "-q", str(one), str(tmp_path / "two"))
    return one, tmp_path / "two"


def test_clones_that_learned_different_things_merge_and_rebuild_alike(tmp_path: Path) -> None:
    one, two = two_clones(tmp_path)
    ingest(one, write(tmp_path / "mine", {"m.md": "# Warp\n\nThe warp has 480 threads. See [[Loom]].\n"}), moment=MOMENT + timedelta(days=1))
    ingest(two, write(tmp_path / "yours", {"y.md": "# Weft\n\nThe weft of the [[Loom]] is wool from Harrow.\n"}), moment=MOMENT + timedelta(days=2))
    commit(one, "mine")
    commit(two, "yours")
    git(one, "pull", "-q", "--no-edit", "--no-rebase", str(two), "main")
    git(two, "pull", "-q", "--no-edit", "--no-rebase", str(one), "main")
    for bank in (one, two):
        ask(bank, "rebuild")
    assert truth(one) == truth(two)
    assert catalog(one) == catalog(two)
    assert {p for p, in rows(one, "SELECT path FROM documents WHERE live = 1")} >= {"m.md", "y.md", "Loom.md"}
    touched = git(one, "status", "--porcelain").splitlines()
    assert touched and all(line.startswith(" M layer-1/") for line in touched)  # what git had merged line by line, rendered again


def test_clones_that_read_the_same_note_say_it_once(tmp_path: Path) -> None:
    one, two = two_clones(tmp_path)
    for n, bank in enumerate((one, two)):
        ingest(bank, write(tmp_path / f"shared-{n}" / "more", {"s.md": "# Heddle\n\nThe heddle has 8 shafts.\n"}), moment=MOMENT + timedelta(days=n + 1))
        commit(bank, "shared")
    git(one, "pull", "-q", "--no-edit", "--no-rebase", "-X", "ours", str(two), "main")
    ask(one, "rebuild")
    assert rows(one, "SELECT count(*) FROM documents WHERE path = 's.md'") == [(1,)]
    assert rows(one, "SELECT count(*) FROM revisions WHERE object_type = 'document' AND line LIKE '%s.md%'") == [(1,)]


def test_recall_after_a_pull_knows_what_was_pulled(tmp_path: Path) -> None:
    one, two = two_clones(tmp_path)
    ingest(one, write(tmp_path / "mine", {"m.md": "# Warp\n\nThe warp has 480 threads.\n"}), moment=MOMENT + timedelta(days=1))
    commit(one, "mine")
    git(two, "pull", "-q", str(one), "main")
    packet = ask(two, "recall", "how many threads has the warp")
    assert not packet["stale"] and any("480" in item["text"] for item in packet["items"])


def test_going_back_to_an_older_commit_forgets_what_came_later(tmp_path: Path) -> None:
    one, _ = two_clones(tmp_path)
    ingest(one, write(tmp_path / "mine", {"m.md": "# Warp\n\nThe warp has 480 threads.\n"}), moment=MOMENT + timedelta(days=1))
    commit(one, "mine")
    git(one, "reset", "-q", "--hard", "HEAD~1")
    packet = ask(one, "recall", "how many threads has the warp")
    assert not any("480" in item["text"] for item in packet["items"])
