"""The ledger: one immutable file a transaction, named after its own bytes.

Owns `ledger/YYYY-MM/<txid>.jsonl`: a header line, then a line a revision. The rename that puts a file there is the
commit. Never changes or removes a file, and never decides what is current.
"""

from __future__ import annotations

import os
from collections.abc import Container, Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from smb.model.errors import SmbError
from smb.model.identity import generation_of, sha256_hex
from smb.model.revision import MalformedRevision, Revision, Transaction, revision_from_json, revision_to_json
from smb.model.validity import UTC, from_iso, to_iso
from smb.stores import atomic_file

FORMAT = 1
DIGITS = 32  # of the sha256, in a transaction's id
_SUFFIX = ".jsonl"
_HEX = frozenset("0123456789abcdef")
_CONFLICT = (b"<<<<<<<", b"=======", b">>>>>>>", b"|||||||")


class LedgerDamaged(SmbError):
    """A ledger file that isn't what was committed. `line` counts from 1; 0 means the file as a whole."""

    def __init__(self, path: Path, line: int, detail: str):
        self.path, self.line, self.detail = path, line, detail
        place = f"{path}, line {line}" if line else str(path)
        super().__init__(f"{place}: {detail}. Ledger files never change once written: bring this one back "
                         "(`git checkout -- ledger`, or a backup); `smb doctor` lists all that are damaged.")


class LedgerProblem(NamedTuple):
    """What `Ledger.verify` found wrong with one file."""

    path: Path
    problem: str


class Ledger:
    """The transactions of one bank. `commit` is for whoever holds the writer lock; the rest is free."""

    def __init__(self, bank: Path):
        self.directory = bank / "ledger"
        self._paths: dict[str, str] = {}

    def commit(self, transaction: Transaction) -> Transaction:
        """Writes the transaction durably; returns it with its id, its revisions told their transaction and time.

        Committing the same one again changes nothing. `recorded_at` must have a zone (ValueError).
        """
        if transaction.recorded_at.tzinfo is None:
            raise ValueError(f"recorded_at has no zone: {transaction.recorded_at}")
        at = transaction.recorded_at.astimezone(UTC)
        header = {"format": FORMAT, "kind": transaction.kind, "actor": transaction.actor, "recorded_at": to_iso(at),
                  "count": len(transaction.revisions)}
        data = b"".join(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE)
                        for line in (header, *map(revision_to_json, transaction.revisions)))
        id_ = sha256_hex(data)[:DIGITS]
        folder = self.directory / f"{at:%Y-%m}"
        path = folder / f"{id_}{_SUFFIX}"
        atomic_file.remove_stale_temporaries(folder)
        atomic_file.write_atomic(path, data, durable=True)
        self._paths[id_] = os.fspath(path)
        revisions = tuple(replace(r, recorded_at=at, transaction=id_) for r in transaction.revisions)
        return replace(transaction, id=id_, recorded_at=at, revisions=revisions)

    def read(self, txid: str) -> Transaction:
        """One transaction. Raises LedgerDamaged, also when there is no such file."""
        if txid not in self._paths:
            self._scan()
        if txid not in self._paths:
            raise LedgerDamaged(self.directory / f"{txid}{_SUFFIX}", 0, "it is missing")
        path = Path(self._paths[txid])
        try:
            data = path.read_bytes()
        except FileNotFoundError as error:
            raise LedgerDamaged(path, 0, "it is missing") from error
        return _parse(path, txid, data)

    def ids(self) -> list[str]:
        """The ids of all transactions, sorted; file names only, nothing is read."""
        self._scan()
        return sorted(self._paths)

    def generation(self) -> str:
        """The generation of the whole ledger (see `generation_of`)."""
        return generation_of(self.ids())

    def missing(self, applied: Container[str]) -> list[Transaction]:
        """The transactions not in `applied`, by time recorded and then id. Raises LedgerDamaged."""
        lacking = [self.read(id_) for id_ in self.ids() if id_ not in applied]
        return sorted(lacking, key=lambda t: (t.recorded_at, t.id))

    def verify(self) -> list[LedgerProblem]:
        """Reads every file and says what is wrong: damaged, misplaced or foreign ones. Empty when all is well."""
        found: list[LedgerProblem] = []
        for path in sorted(_files_below(self.directory)):
            id_ = _id_in(path.name)
            if path.name.startswith("."):  # temporaries of a writer at work, .gitkeep, .DS_Store
                continue
            if not id_ or path.parent.parent != self.directory:
                found.append(LedgerProblem(path, "is no ledger file; move it out of ledger/"))
                continue
            try:
                transaction = _parse(path, id_, path.read_bytes())
            except LedgerDamaged as error:
                found.append(LedgerProblem(path, f"line {error.line}: {error.detail}" if error.line else error.detail))
                continue
            if path.parent.name != f"{transaction.recorded_at:%Y-%m}":
                found.append(LedgerProblem(path, f"belongs in ledger/{transaction.recorded_at:%Y-%m}"))
        return found

    def _scan(self) -> None:
        paths: dict[str, str] = {}
        for folder in _names_in(os.fspath(self.directory)):
            below = f"{self.directory}/{folder}"
            for name in _names_in(below):
                if id_ := _id_in(name):
                    paths[id_] = f"{below}/{name}"
        self._paths = paths


def _parse(path: Path, txid: str, data: bytes) -> Transaction:
    """The transaction in `data`, which must be the bytes `txid` names. Raises LedgerDamaged."""
    if not sha256_hex(data).startswith(txid):
        raise _damage(path, txid, data)
    lines = data.split(b"\n")
    if lines.pop() != b"":
        raise LedgerDamaged(path, len(lines) + 1, "the last line is cut off")
    header = _header(path, lines)
    at = from_iso(header["recorded_at"])
    assert at is not None
    revisions = tuple(_revision(path, number, line, at, txid) for number, line in enumerate(lines[1:], start=2))
    if len(revisions) != header["count"]:
        raise LedgerDamaged(path, 1, f"it announces {header['count']} revisions and has {len(revisions)}")
    return Transaction(header["kind"], header["actor"], at, revisions, txid)


def _header(path: Path, lines: list[bytes]) -> dict[str, Any]:
    header = _object(path, 1, lines[0] if lines else b"")
    if header.get("format") != FORMAT:
        raise LedgerDamaged(path, 1, f"its format is {header.get('format')!r} and this smb reads {FORMAT}; "
                                     "if a newer smb wrote it, upgrade this one")
    for name, kind in (("kind", str), ("actor", str), ("recorded_at", str), ("count", int)):
        if not isinstance(header.get(name), kind):
            raise LedgerDamaged(path, 1, f"its header has no {name}")
    try:
        from_iso(header["recorded_at"])
    except (ValueError, OverflowError) as error:
        raise LedgerDamaged(path, 1, f"its time can't be read ({error})") from error
    return header


def _revision(path: Path, number: int, line: bytes, at: datetime, txid: str) -> Revision:
    raw = _object(path, number, line)
    try:
        return revision_from_json(raw, at, txid)
    except MalformedRevision as error:
        raise LedgerDamaged(path, number, f"the revision can't be read ({error.__cause__})") from error


def _object(path: Path, number: int, line: bytes) -> dict[str, Any]:
    try:
        raw = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise LedgerDamaged(path, number, f"the line is no JSON ({error})") from error
    if not isinstance(raw, dict):
        raise LedgerDamaged(path, number, "the line is no JSON object")
    return raw


def _damage(path: Path, txid: str, data: bytes) -> LedgerDamaged:
    """Why the bytes don't match the name, as closely as can be told."""
    if not data:
        return LedgerDamaged(path, 0, "the file is empty")
    if sha256_hex(data.replace(b"\r\n", b"\n")).startswith(txid):
        return LedgerDamaged(path, 0, "its line ends were turned into CRLF (see .gitattributes: ledger/** must be -text)")
    for number, line in enumerate(data.split(b"\n"), start=1):
        if line.startswith(_CONFLICT):
            return LedgerDamaged(path, number, "a git conflict marker")
        if not line and number > data.count(b"\n"):
            break  # what follows the last newline
        try:
            _object(path, number, line)
        except LedgerDamaged as error:
            return error
    return LedgerDamaged(path, 0, "its content was changed: it no longer matches its name")


def _id_in(name: str) -> str:
    """The transaction id a file name holds; '' when it is another file."""
    stem = name[:DIGITS]
    return stem if len(name) == DIGITS + len(_SUFFIX) and name.endswith(_SUFFIX) and _HEX.issuperset(stem) else ""


def _names_in(directory: str) -> list[str]:
    try:
        return os.listdir(directory)
    except (FileNotFoundError, NotADirectoryError):
        return []


def _files_below(directory: Path) -> Iterator[Path]:
    for folder, _, names in os.walk(directory):
        for name in names:
            yield Path(folder, name)
