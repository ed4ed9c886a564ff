"""Layer 0: the exact bytes of every source ever read.

Owns `layer-0/source/<sha12>-<slug>.md`, written once, read-only. Never alters a source; only `destroy` takes one away,
when a person asks for it by `smb forget`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from smb.model.errors import SmbError
from smb.model.identity import sha256_hex, slugify
from smb.stores import atomic_file

DIGITS = 12  # of the sha256, in file names
_MODE = 0o444
_HEX = frozenset("0123456789abcdef")


class SourceCollision(SmbError):
    """Two different sources whose ids begin alike: one file name can't stand for both."""

    def __init__(self, path: Path, sha: str):
        super().__init__(f"{path} holds another source than {sha}, though both ids begin with {sha[:DIGITS]}. "
                         "Change a character of the new document and ingest it again; what is stored stays as it is.")


class EvidenceMissing(SmbError):
    """A source the ledger names is not in layer 0."""

    def __init__(self, sha: str):
        self.sha = sha
        super().__init__(f"The source {sha[:DIGITS]} is not in layer-0/source. Bring its file back "
                         "(`git checkout -- layer-0`, or a backup), or ingest the document again; "
                         "`smb doctor` lists all that is missing.")


class EvidenceStore:
    """The sources of one bank. A source is named by its sha256, whole or its first 12 digits."""

    def __init__(self, bank: Path):
        self.directory = bank / "layer-0" / "source"
        self._names: dict[str, str] = {}  # sha12 → file name
        self._listed_at: int | None = None  # the directory's mtime when `_names` was right
        self._temporaries = False

    def put_many(self, sources: Iterable[tuple[str, str, bytes]]) -> int:
        """Stores `(sha256, slug, bytes)`, all durable on return; returns how many were new.

        What is there already, under any slug, is not written again; a damaged copy of it is. Raises SourceCollision.
        """
        self._list()
        if self._temporaries:
            atomic_file.remove_stale_temporaries(self.directory)
        added: dict[str, str] = {}
        written = atomic_file.write_batch(self._lacking(sources, added), _MODE)
        if written:
            self._names.update(added)
            self._listed_at = self._changed_at()
        return written

    def read(self, sha: str) -> bytes:
        """The bytes as stored, not checked against the id (`verify` does). Raises EvidenceMissing."""
        data = self._bytes(sha)
        if data is None and self._list(always=True):  # another process may have stored or renamed it
            data = self._bytes(sha)
        if data is None:
            raise EvidenceMissing(sha)
        return data

    def verify(self, sha: str) -> bool:
        """Whether the stored bytes are those the id names. Raises EvidenceMissing."""
        return sha256_hex(self.read(sha)).startswith(sha)

    def path_of(self, sha: str) -> Path | None:
        """The file of a source, or None. With two clones' files for one source, the first by name."""
        short = sha[:DIGITS]
        if short not in self._names:
            self._list()
        name = self._names.get(short)
        return None if name is None else self.directory / name

    def has(self, sha: str) -> bool:
        return self.path_of(sha) is not None

    def ids(self) -> dict[str, Path]:
        """Every stored source: the first 12 digits of its id → its file."""
        self._list()
        return {short: self.directory / name for short, name in self._names.items()}

    def destroy(self, sha: str) -> int:
        """Removes every copy of a source for good; returns how many files went."""
        short = sha[:DIGITS]
        copies = [self.directory / name for name in _names_in(self.directory) if _short(name) == short]
        for path in copies:
            path.chmod(0o600)
            atomic_file.remove(path, durable=True)
        self._names.pop(short, None)
        return len(copies)

    def _lacking(self, sources: Iterable[tuple[str, str, bytes]], added: dict[str, str]) -> Iterator[tuple[Path, bytes]]:
        """What has to be written; `added` gets its names."""
        given: dict[str, str] = {}  # sha12 → sha, of this batch
        for sha, slug, data in sources:
            short = sha[:DIGITS]
            name = self._names.get(short)
            if given.setdefault(short, sha) != sha:
                raise SourceCollision(self.directory / (added.get(short) or name or short), sha)
            if short in added or (name is not None and _holds(self.directory / name, short, sha, data)):
                continue
            added[short] = name or f"{short}-{slugify(slug)}.md"
            yield self.directory / added[short], data

    def _bytes(self, sha: str) -> bytes | None:
        path = self.path_of(sha)
        try:
            return None if path is None else path.read_bytes()
        except FileNotFoundError:
            return None

    def _list(self, *, always: bool = False) -> bool:
        """Lists the directory again if it has changed; returns whether it did."""
        changed_at = self._changed_at()
        if changed_at == self._listed_at and not always:
            return False
        self._listed_at, self._names, self._temporaries = changed_at, {}, False
        for name in _names_in(self.directory):
            if short := _short(name):
                self._names[short] = min(name, self._names.get(short, name))
            elif atomic_file.is_temporary(name):
                self._temporaries = True
        return True

    def _changed_at(self) -> int:
        try:
            return os.stat(self.directory).st_mtime_ns
        except FileNotFoundError:
            return 0


def _names_in(directory: Path) -> list[str]:
    try:
        return os.listdir(directory)
    except FileNotFoundError:
        return []


def _short(name: str) -> str:
    """The id in a source's file name; '' when it is some other file."""
    return name[:DIGITS] if name[DIGITS:DIGITS + 1] == "-" and name.endswith(".md") and _HEX.issuperset(name[:DIGITS]) else ""


def _holds(path: Path, short: str, sha: str, data: bytes) -> bool:
    """Whether the file has these bytes; False when it is gone or damaged. Raises SourceCollision."""
    try:
        stored = path.read_bytes()
    except FileNotFoundError:
        return False
    if stored == data:
        return True
    if sha256_hex(stored).startswith(short):
        raise SourceCollision(path, sha)
    return False
