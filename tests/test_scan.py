"""Scanning: what is seen, what is left out in silence, what is skipped with a reason."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smb.ingest.scan import RootUnreadable, Scan, scan
from worlds import write


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "root").mkdir()
    return tmp_path / "root"


def seen(found: Scan) -> list[str]:
    return [file.path for file in found.files]


def skipped(found: Scan) -> set[tuple[str, str]]:
    return {(skip.path, skip.reason) for skip in found.skipped}


def empty(root: Path, *paths: str) -> Path:
    return write(root, dict.fromkeys(paths, "x\n"))


def test_notes_are_found_sorted_with_size_and_time(root: Path) -> None:
    empty(root, "b.md", "a/z.markdown", "a/B.MD", "c.mdx", "d.txt", "md", "e.md.bak", "f.mdown")
    found = scan(root)
    assert seen(found) == ["a/B.MD", "a/z.markdown", "b.md", "c.mdx"]
    for file in found.files:
        info = os.stat(file.absolute)
        assert (file.size, file.mtime_ns) == (info.st_size, info.st_mtime_ns) and Path(file.absolute) == root / file.path


def test_include_adds_names_and_paths(root: Path) -> None:
    empty(root, "a.md", "b.txt", "c.org", "logs/d.log", "d.log", "notes[1].x")
    assert seen(scan(root, include=("*.md", "*.txt", "logs/*.log", "?.ORG"))) == ["a.md", "b.txt", "c.org", "logs/d.log"]
    assert seen(scan(root, include=())) == []


def test_what_is_never_looked_into(root: Path) -> None:
    """Hidden files and folders, packages, environments, other banks: left out in silence."""
    empty(root, "a.md", ".hidden.md", ".git/x.md", ".obsidian/x.md", "node_modules/p/README.md", "deep/__pycache__/x.md", "venv/pyvenv.cfg", "venv/lib/x.md",
          "bank/bank.toml", "bank/layer-0/source/x.md", "bank/ledger/x", "like/bank.toml", "like/y.md")
    found = scan(root)
    assert seen(found) == ["a.md", "like/y.md"] and found.skipped == ()


def test_ignore_files_work_as_in_git(root: Path) -> None:
    """Patterns, folders, negation, and a deeper file over a higher one; a bad pattern is told with its line."""
    empty(root, "a.md", "draft-a.md", "b/draft-b.md", "b/keep/draft-c.md", "secret/x.md", "b/secret/y.md", "c/only.md", "c/other.md", "d/e/anchored.md", "anchored.md")
    write(root, {".smbignore": "\ufeff# drafts\ndraft-*\nsecret/\n/anchored.md\n", "b/keep/.smbignore": "!draft-c.md\n", "c/.smbignore": "*\n!only.md\n"})
    assert seen(scan(root)) == ["a.md", "b/keep/draft-c.md", "c/only.md", "d/e/anchored.md"]
    write(root, {".smbignore": "a.md\n!\nb/\n"})
    found = scan(root)
    assert skipped(found) == {(".smbignore", "ignore.pattern")} and found.skipped[0].line == 2
    assert "a.md" not in seen(found) and not any(path.startswith("b/") for path in seen(found))


def test_too_large_and_not_a_file(root: Path) -> None:
    write(root, {"small.md": "x" * 100, "large.md": "x" * 101})
    os.mkfifo(root / "pipe.md")
    os.mkfifo(root / "pipe")
    found = scan(root, max_size=100)
    assert seen(found) == ["small.md"] and skipped(found) == {("large.md", "too_large"), ("pipe.md", "not_a_file")}
    assert "101 bytes" in found.skipped[0].detail


@pytest.mark.parametrize("part, expected", [
    ("a", ["a/ab.md", "a/deep/x.md"]), ("a/deep", ["a/deep/x.md"]), ("a/ab.md", ["a/ab.md"]), ("", ["a/ab.md", "a/deep/x.md", "ab.md"]),
    ("a/.hid", []), ("a/skip", []), ("a/skip/z.md", []), ("a/plain.txt", []),
])
def test_a_subset_is_seen_as_in_a_full_scan(root: Path, part: str, expected: list[str]) -> None:
    empty(root, "ab.md", "a/ab.md", "a/deep/x.md", "a/.hid/y.md", "a/skip/z.md", "a/plain.txt")
    write(root, {".smbignore": "skip/\n"})
    assert seen(scan(root, subset=root / part)) == expected


def test_what_can_not_be_scanned(root: Path, tmp_path: Path) -> None:
    empty(root, "a.md")
    for path, subset in ((root / "none", None), (root / "a.md", None), (root, root / "none"), (root, tmp_path), (root, root / "a.md" / "b")):
        with pytest.raises(RootUnreadable) as caught:
            scan(path, subset=subset)
        assert caught.value.exit_code == 2


def test_links_lead_to_each_file_once(root: Path, tmp_path: Path) -> None:
    """B04: a file is found under its own name; loops end; what leaves the root is refused, or followed when asked to."""
    outside = empty(tmp_path / "out", "far.md", "deep/er.md")
    empty(root, "a.md", "sub/b.md", "data.txt", "node_modules/n.md")
    links = {"same.md": "a.md", "copy": "sub", "sub/up": "..", "me": "me", "gone.md": "no.md", "gone.txt": "no.txt", "text.md": "data.txt", "out.md": str(outside / "far.md"),
             "out": str(outside), "out.txt": str(outside / "far.md"), "pack": "node_modules", "through.md": "a.md/x", ".hid.md": "a.md"}
    for name, target in links.items():
        os.symlink(target, root / name)
    found = scan(root)
    assert seen(found) == ["a.md", "sub/b.md", "text.md"]
    assert skipped(found) == {("gone.md", "symlink.dangling"), ("out.md", "symlink.outside"), ("out", "symlink.outside"), ("through.md", "symlink.dangling")}
    followed = scan(root, follow_symlinks=True)
    assert seen(followed) == ["a.md", "out/deep/er.md", "out/far.md", "sub/b.md", "text.md"]
    refused = scan(root, subset=root / "out" / "deep")
    assert (seen(refused), skipped(refused)) == ([], {("out", "symlink.outside")})
    assert seen(scan(root, subset=root / "out" / "deep", follow_symlinks=True)) == ["out/deep/er.md"]
    os.symlink(root, tmp_path / "entry")
    assert seen(scan(tmp_path / "entry")) == ["a.md", "sub/b.md", "text.md"]
    assert seen(scan(root, subset=root / "copy")) == ["sub/b.md"]  # as in a full scan


def test_names_that_are_no_unicode_are_told_and_not_taken(root: Path) -> None:
    empty(root, "a.md")
    for name in (b"caf\xe9.md", b"dir\xff"):
        path = os.fsencode(root) + b"/" + name
        if name.endswith(b".md"):
            with open(path, "wb") as file:
                file.write(b"x")
        else:
            os.mkdir(path)
    found = scan(root)
    assert seen(found) == ["a.md"] and skipped(found) == {("caf\\xe9.md", "name.undecodable"), ("dir\\xff", "name.undecodable")}


NAMES = st.text(st.characters(exclude_characters="/\x00", exclude_categories=["Cs"]), min_size=1, max_size=12).filter(lambda n: not n.startswith("."))


@settings(max_examples=40, deadline=None)
@given(st.sets(NAMES.map(lambda name: name + ".md"), max_size=5), st.sets(NAMES, max_size=3))
def test_any_name_is_found_as_the_file_system_spells_it(tmp_path_factory: pytest.TempPathFactory, names: set[str], folders: set[str]) -> None:
    """B01, B02: names are taken literally, whatever stands in them."""
    root = tmp_path_factory.mktemp("any")
    expected = set()
    for folder in ("", *folders - names):
        for name in names:
            path = f"{folder}/{name}" if folder else name
            try:
                empty(root, path)
            except OSError:  # too long in UTF-8
                continue
            expected.add(path)
    expected = {path for path in expected if path.partition("/")[0] not in ("node_modules", "lost+found")}
    assert set(seen(scan(root))) == expected


def test_a_scan_imports_nothing_heavy_and_nine_thousand_files_are_quick(root: Path) -> None:
    for folder in range(90):
        (root / f"f{folder}").mkdir()
        for name in range(100):
            (root / f"f{folder}" / f"n{name}.md").touch()
    code = ("import sys, time; from pathlib import Path; from smb.ingest.scan import scan; scan(Path(sys.argv[1])); start = time.process_time(); "
            "found = scan(Path(sys.argv[1])); print(time.process_time() - start, len(found.files), *sys.modules)")
    ran = subprocess.run([sys.executable, "-c", code, str(root)], capture_output=True, text=True, check=True, cwd=Path(__file__).parents[1])
    seconds, count, *modules = ran.stdout.split()
    assert int(count) == 9000 and float(seconds) < 0.3
    assert not {"pathspec", "yaml", "markdown_it", "numpy", "charset_normalizer"} & set(modules)


def test_a_deep_tree_is_walked(root: Path) -> None:
    """No recursion limit, and links that multiply paths are each followed once."""
    path = root
    for _ in range(300):
        path = path / "d"
    path.mkdir(parents=True)
    (path / "n.md").touch()
    for n in range(12):
        (root / f"w{n}").mkdir()
        os.symlink(root, root / f"w{n}" / "back")
        os.symlink(root / f"w{(n + 1) % 12}", root / f"w{n}" / "next")
    start = time.process_time()
    assert len(scan(root).files) == 1
    assert time.process_time() - start < 1
