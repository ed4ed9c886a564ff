"""Which files an ingest sees.

Owns the walk over a root: what is included, what is left out in silence (other files, hidden folders, banks, ignored
files) and what is skipped with a reason. Never opens a note, never follows a link out of the root unless told to, and
imports nothing heavy: an ingest that finds nothing changed pays for this and little else.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import translate
from pathlib import Path
from typing import TYPE_CHECKING

from smb.ingest.note import Skipped
from smb.model.errors import SmbError

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

INCLUDED = ("*.md", "*.markdown", "*.mdx")
LARGEST = 16 * 2**20
IGNORE_FILE = ".smbignore"

_LEFT_OUT = frozenset(
    "node_modules bower_components __pycache__ __pypackages__ site-packages lost+found $RECYCLE.BIN".split()
)
_LINK_REASONS = {errno.ENOENT: "symlink.dangling", errno.ENOTDIR: "symlink.dangling", errno.ELOOP: "symlink.loop"}


class RootUnreadable(SmbError):
    """What was to be scanned isn't there or can't be listed."""

    exit_code = 2

    def __init__(self, path: str, why: str):
        super().__init__(f"{path} can't be scanned: {why}. Name a folder with notes, or a note in one.")


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file to ingest: `path` relative to the root, POSIX, exactly as the file system spells it."""

    path: str
    absolute: str
    size: int
    mtime_ns: int
    ctime_ns: int = 0  # files out of an archive often share an mtime; a rename shows here


@dataclass(frozen=True, slots=True)
class Scan:
    """What a scan saw, sorted by path."""

    files: tuple[FoundFile, ...]
    skipped: tuple[Skipped, ...]


def scan(
    root: Path,
    *,
    include: Sequence[str] = INCLUDED,
    max_size: int = LARGEST,
    follow_symlinks: bool = False,
    subset: Path | None = None,
) -> Scan:
    """The files under `root` (or under `subset`, a folder or file within it) that match `include`.

    Raises RootUnreadable when `root` or `subset` can't be listed or `subset` lies outside `root`.
    """
    top = os.path.abspath(root)
    within = ""
    if subset is not None:
        within = _inside(os.path.realpath(subset), os.path.realpath(top)) or _inside(os.path.abspath(subset), top)
        if not within:
            raise RootUnreadable(str(subset), f"it is not inside {top}")
        within = "" if within == "." else within
    walk = _Walk(top, _matcher(include), max_size, follow_symlinks)
    walk.run(within)
    return Scan(tuple(sorted(walk.files, key=lambda f: f.path)), tuple(sorted(walk.skipped, key=lambda s: (s.path, s.line or 0))))


def _inside(path: str, folder: str) -> str:
    """`path` relative to `folder`, POSIX; "" when it lies elsewhere."""
    relative = os.path.relpath(path, folder).replace(os.sep, "/")
    return "" if relative == ".." or relative.startswith("../") else relative


_Ignores = tuple[tuple[str, "GitIgnoreSpec"], ...]


class _Walk:
    """One pass: real folders first, then links to folders, so that a folder is found under its own name."""

    def __init__(self, top: str, matches: Callable[[str, str], bool], max_size: int, follow: bool):
        self.top, self.matches, self.max_size, self.follow = top, matches, max_size, follow
        self.real_top = os.path.realpath(top)
        self.files: list[FoundFile] = []
        self.skipped: list[Skipped] = []
        self.visited: set[tuple[int, int]] = set()
        self.folder_links: list[tuple[str, str, _Ignores]] = []
        self.file_links: list[tuple[str, str, os.stat_result]] = []

    def run(self, within: str) -> None:
        self.within = within.split("/") if within else []
        try:
            info = os.stat(self.top)
            if not stat.S_ISDIR(info.st_mode):
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
            listed = sorted(os.scandir(self.top), key=lambda e: e.name)
        except OSError as error:
            raise RootUnreadable(self.top, _said(error)) from error
        if not within:
            self._folder("", self.top, (), listed)
        else:
            self._descend(within)
        while self.folder_links:
            self.folder_links.sort(reverse=True, key=lambda link: link[0])
            relative, absolute, ignores = self.folder_links.pop()
            self._folder(relative, absolute, ignores)
        found = {(f.st_dev, f.st_ino) for f in self._identities()} if self.file_links else set()
        for relative, absolute, info in sorted(self.file_links, key=lambda link: link[0]):
            if (info.st_dev, info.st_ino) not in found:
                found.add((info.st_dev, info.st_ino))
                self._file(relative, absolute, info)

    def _identities(self) -> Iterator[os.stat_result]:
        for file in self.files:
            try:
                yield os.stat(file.absolute)
            except OSError:
                continue

    def _descend(self, within: str) -> None:
        """To the subset, by the same rules as a full scan: what that would leave out isn't found here either."""
        relative, absolute, ignores = "", self.top, ()
        parts = within.split("/")
        for place, name in enumerate(parts):
            try:
                listed = list(os.scandir(absolute))
                entry = next((e for e in listed if e.name == name), None)
            except OSError as error:
                raise RootUnreadable(absolute, _said(error)) from error
            if entry is None:
                raise RootUnreadable(f"{self.top}/{within}", os.strerror(errno.ENOENT))
            if _is_bank(names := {e.name for e in listed}) or "pyvenv.cfg" in names:
                return
            ignores = self._ignores(relative, absolute, ignores, names)
            if place == len(parts) - 1:
                pending: list[tuple[str, str, _Ignores]] = []
                self._entry(entry, relative, ignores, pending)
                for folder in pending:
                    self._folder(*folder)
                return
            relative = f"{relative}/{name}" if relative else name
            if entry.is_symlink() and not self.follow:  # links within the root were resolved before: it leads out
                self._link(entry, relative, ignores)
                return
            if _left_out(name) or _ignored(relative + "/", ignores):
                return
            absolute = entry.path

    def _folder(self, relative: str, absolute: str, ignores: _Ignores, listed: list[os.DirEntry[str]] | None = None) -> None:
        """A folder and all below it."""
        pending: list[tuple[str, str, _Ignores]] = [(relative, absolute, ignores)]
        while pending:
            relative, absolute, ignores = pending.pop()
            try:
                info = os.stat(absolute)
                if (info.st_dev, info.st_ino) in self.visited:
                    continue
                self.visited.add((info.st_dev, info.st_ino))
                if listed is None:
                    with os.scandir(absolute) as entries:
                        listed = list(entries)
            except OSError as error:
                if error.errno != errno.ENOENT:
                    self.skipped.append(Skipped(_printable(relative), "unreadable", _said(error)))
                continue
            names = {e.name for e in listed}
            if not (_is_bank(names) or "pyvenv.cfg" in names):
                ignores = self._ignores(relative, absolute, ignores, names)
                for entry in listed:
                    self._entry(entry, relative, ignores, pending)
            listed = None

    def _entry(self, entry: os.DirEntry[str], above: str, ignores: _Ignores, pending: list[tuple[str, str, _Ignores]]) -> None:
        name = entry.name
        relative = f"{above}/{name}" if above else name
        if entry.is_symlink():
            self._link(entry, relative, ignores)
            return
        if entry.is_dir(follow_symlinks=False):
            if _left_out(name) or (ignores and _ignored(relative + "/", ignores)):
                return
            if self._sayable(relative, name):
                pending.append((relative, entry.path, ignores))
            return
        if name[0] == "." or not self.matches(name, relative) or (ignores and _ignored(relative, ignores)):
            return
        if self._sayable(relative, name):
            try:
                self._file(relative, entry.path, entry.stat(follow_symlinks=False))
            except FileNotFoundError:
                return
            except OSError as error:
                self.skipped.append(Skipped(relative, "unreadable", _said(error)))

    def _file(self, relative: str, absolute: str, info: os.stat_result) -> None:
        if not stat.S_ISREG(info.st_mode):
            self.skipped.append(Skipped(relative, "not_a_file", "a device, pipe or socket"))
        elif info.st_size > self.max_size:
            self.skipped.append(Skipped(relative, "too_large", f"{info.st_size:,} bytes, more than --max-size {self.max_size:,}"))
        elif not info.st_mode & 0o444 and not os.access(absolute, os.R_OK):
            self.skipped.append(Skipped(relative, "unreadable", os.strerror(errno.EACCES)))
        else:
            self.files.append(FoundFile(relative, absolute, info.st_size, info.st_mtime_ns, info.st_ctime_ns))

    def _link(self, entry: os.DirEntry[str], relative: str, ignores: _Ignores) -> None:
        """A link is taken up after the real files and folders, and only if what it leads to was not found as such."""
        name, wanted = entry.name, self.matches(entry.name, relative)
        if name[0] == ".":
            return
        try:
            info = os.stat(entry.path)
        except OSError as error:
            if wanted and not _ignored(relative, ignores):
                reason = _LINK_REASONS.get(error.errno or 0, "unreadable")
                self.skipped.append(Skipped(_printable(relative), reason, _said(error)))
            return
        folder = stat.S_ISDIR(info.st_mode)
        if folder and _left_out(name) or _ignored(relative + "/" * folder, ignores) or not (folder or wanted):
            return
        if not self._sayable(relative, name):
            return
        target = os.path.realpath(entry.path)
        inside = [part for part in _inside(target, self.real_top).split("/") if part != "."]
        if inside == [""]:
            if not self.follow:
                detail = f"leads to {_printable(target)}; --follow-symlinks would follow it"
                self.skipped.append(Skipped(relative, "symlink.outside", detail))
                return
        elif any(_left_out(part) for part in inside) or inside[: len(self.within)] != self.within:
            return  # what lies elsewhere in the root is found there by a scan of that part
        if folder:
            self.folder_links.append((relative, entry.path, ignores))
        else:
            self.file_links.append((relative, entry.path, info))

    def _sayable(self, relative: str, name: str) -> bool:
        """Whether a name is valid Unicode; if not, says so."""
        if name.isascii() or not any("\ud800" <= c <= "\udfff" for c in name):
            return True
        detail = "the name is not valid UTF-8; rename it to ingest it"
        self.skipped.append(Skipped(_printable(relative), "name.undecodable", detail))
        return False

    def _ignores(self, relative: str, absolute: str, above: _Ignores, names: set[str]) -> _Ignores:
        """The ignore rules within a folder: its own, then those above it."""
        if IGNORE_FILE not in names:
            return above
        path = f"{relative}/{IGNORE_FILE}" if relative else IGNORE_FILE
        if not os.path.isfile(f"{absolute}/{IGNORE_FILE}"):
            return above
        try:
            with open(f"{absolute}/{IGNORE_FILE}", encoding="utf-8-sig", errors="replace") as file:
                lines = file.read().splitlines()
        except OSError as error:
            self.skipped.append(Skipped(_printable(path), "unreadable", _said(error)))
            return above
        from pathspec import GitIgnoreSpec

        good = []
        for number, line in enumerate(lines, 1):
            try:
                GitIgnoreSpec.from_lines([line])
            except ValueError as error:
                self.skipped.append(Skipped(_printable(path), "ignore.pattern", str(error), number))
            else:
                good.append(line)
        return ((relative + "/" if relative else "", GitIgnoreSpec.from_lines(good)), *above)


def _ignored(relative: str, ignores: _Ignores) -> bool:
    """By the nearest ignore file that has a rule for it, as git does."""
    for prefix, spec in ignores:
        said = spec.check_file(relative[len(prefix) :]).include
        if said is not None:
            return said
    return False


def _left_out(name: str) -> bool:
    return name[0] == "." or name in _LEFT_OUT


def _is_bank(names: set[str]) -> bool:
    return "bank.toml" in names and ("layer-0" in names or "ledger" in names)


def _matcher(include: Sequence[str]) -> Callable[[str, str], bool]:
    """(name, path) → whether a pattern matches; patterns with a slash are held against the path. Case is ignored."""
    suffixes = tuple(p[1:].lower() for p in include if p.startswith("*.") and not any(c in p[1:] for c in "*?[/"))
    rest = [p for p in include if p[1:].lower() not in suffixes or not p.startswith("*.")]
    others = [("/" in p, re.compile(translate(p), re.IGNORECASE)) for p in rest]

    def matches(name: str, path: str) -> bool:
        return name.lower().endswith(suffixes) or any(pattern.match(path if whole else name) for whole, pattern in others)

    return matches


def _printable(path: str) -> str:
    return path if path.isascii() else os.fsencode(path).decode("utf-8", "backslashreplace")


def _said(error: OSError) -> str:
    return error.strerror or type(error).__name__
