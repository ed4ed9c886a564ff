"""Ingest: a folder of notes to committed transactions.

The flow, a batch at a time: scan → read → extract → ground → (writer lock: resolve → plan → sources → ledger → catalog).
Never writes a projection other than the catalog, never touches the notes. Expected troubles are values in the report.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

import orjson

from smb.ingest.scan import INCLUDED, LARGEST, FoundFile, scan
from smb.ingest.scope import Root
from smb.ingest.stirred_keys import StirredKeys
from smb.model.identity import sha256_hex, slugify
from smb.model.revision import DOCUMENT, Transaction
from smb.stores.catalog import Catalog
from smb.stores.evidence_store import EvidenceStore
from smb.stores.model_memo import ModelMemo

BATCH_DOCUMENTS = 256
BATCH_BYTES = 8 * 2**20
Progress = Callable[[str, int, int | None], None]


class Commit(Protocol):
    """Commits a planned transaction and applies it to the catalog; the caller holds the writer lock."""

    async def __call__(self, transaction: Transaction, sources: Mapping[str, bytes]) -> Transaction: ...


@dataclass(frozen=True, slots=True)
class ScanOptions:
    include: tuple[str, ...] = ()
    max_size: int = LARGEST
    follow_symlinks: bool = False
    dry_run: bool = False


@dataclass(slots=True)
class IngestReport:
    """Counts of documents; `seen = added + changed + moved + unchanged + len(skipped)`."""

    seen: int = 0
    added: int = 0
    changed: int = 0
    moved: int = 0
    unchanged: int = 0
    removed: int = 0
    skipped: list[dict[str, Any]] = field(default_factory=list)
    warnings: list[dict[str, Any]] = field(default_factory=list)
    refused: dict[str, int] = field(default_factory=dict)
    transactions: int = 0

    @property
    def lost(self) -> bool:
        """Whether a document that is there could not be read. A symbolic link that is not followed loses none."""
        return any(not skip["reason"].startswith("symlink.") for skip in self.skipped)


@dataclass(frozen=True, slots=True)
class _Known:
    """A live document as the catalog has it."""

    id: str
    source: str


@dataclass(slots=True)
class _Arrival:
    """A file on its way in: its bytes, and the document it is a version of ("" while unknown)."""

    file: FoundFile
    data: bytes
    source: str
    document: str = ""
    outcome: str = ""


class Ingester:
    """Reads folders into a bank. `writing()` is the writer lock with the catalog caught up; `commit` as `Commit`; `memo` what
    models said of sources before."""

    def __init__(self, catalog: Catalog, evidence: EvidenceStore, writing: Callable[[], AbstractAsyncContextManager[None]], commit: Commit,
                 clock: Callable[[], datetime], single_valued: Iterable[str] = (), memo: ModelMemo | None = None):
        self.catalog, self.evidence, self.writing, self.commit, self.clock = catalog, evidence, writing, commit, clock
        self.memo = memo if memo is not None and memo.fingerprint else None  # one stat where no model was ever asked
        self.keys = StirredKeys(catalog, single_valued)

    async def ingest_directory(self, root: Root, options: ScanOptions = ScanOptions(), progress: Progress | None = None,
                               report: IngestReport | None = None, after_batch: Callable[[], Any] | None = None) -> IngestReport:
        """Brings the bank to what lies under `root` (only its `subset`, if it has one). Returns the report, which
        `report` continues; `after_batch()` is awaited after every committed batch. Raises only broken promises."""
        report = report or IngestReport()
        tell = progress or (lambda *_: None)
        tell("scan", 0, None)
        found = scan(Path(root.path), include=(*INCLUDED, *options.include), max_size=options.max_size, follow_symlinks=options.follow_symlinks, subset=root.subset)
        live = {row["path"]: _Known(row["id"], row["source"]) for row in await self.catalog.fetch(
            "SELECT id, path, source FROM documents WHERE root = ? AND live = 1", (root.name,))}
        stamps = {row["path"]: row for row in await self.catalog.fetch("SELECT * FROM scanned WHERE root = ?", (root.name,))}
        files = [f for f in found.files if root.covers(f.path)] if root.nested else found.files
        skipped = [s for s in found.skipped if root.covers(s.path)] if root.nested else found.skipped
        report.seen += len(files) + len(skipped)
        for skip in skipped:
            report.skipped.append(_skip(skip.path, skip.reason, skip.detail, skip.line))
        lost = await asyncio.to_thread(self._lost_sources, {known.source for known in live.values()})
        waiting = [f for f in files if not _same(f, stamps.get(f.path), live, lost, report)]
        present = {f.path for f in files} | {s.path for s in skipped}
        unseen = tuple(s.path + "/" for s in skipped)  # a folder that can't be read says nothing of what is in it
        gone = {path: known for path, known in live.items() if path not in present and root.covers(path) and not path.startswith(unseen)}
        if options.dry_run:
            self._dry_run(waiting, live, gone, report)
            return report
        done = 0
        async for arrivals in self._batches(root, waiting, live, gone, report):
            await self._take_in(root, arrivals, report)
            done += len(arrivals)
            tell("ingest", done, len(waiting))
            if after_batch:
                await after_batch()
        stale = [path for path in stamps if path not in present and root.covers(path)]
        if gone or stale:
            await self._remove(root, gone, stale, report)
        await self.settle(report)
        return report

    async def settle(self, report: IngestReport) -> None:
        """Settles the keys of what came by another way than this ingest (another clone, a hand edit, a changed list of
        single-valued keys), in a transaction of its own."""
        if not await self.keys.behind():
            return
        async with self.writing():
            if revisions := await self.keys.settled(()):
                await self.commit(Transaction("keys", "keys", self.clock(), tuple(revisions)), {})
                report.transactions += 1
            await self.catalog.begin()
            await self.keys.mark()
            await self.catalog.commit()

    # ------------------------------------------------------------ which files say something new

    async def _batches(self, root: Root, waiting: Sequence[FoundFile], live: Mapping[str, _Known], gone: dict[str, _Known],
                       report: IngestReport) -> AsyncIterator[list[_Arrival]]:
        """Reads files, counts them, and yields those that are new or changed; a file whose bytes a vanished document
        had is that document, moved."""
        by_source: dict[str, list[str]] = {}
        for path in sorted(gone):
            by_source.setdefault(gone[path].source, []).append(path)
        batch: list[_Arrival] = []
        touched: list[tuple[Any, ...]] = []
        size = 0
        for file in waiting:
            data = _read(file, report)
            if data is None:
                continue
            arrival = _Arrival(file, data, sha256_hex(data))
            known = live.get(file.path)
            if known is not None and known.source == arrival.source:
                report.unchanged += 1
                touched.append(_stamp(root, arrival, arrival.source, {}))
                if not self.evidence.has(arrival.source):
                    await asyncio.to_thread(self.evidence.put_many, [(arrival.source, slugify(file.path.rpartition("/")[2]), data)])
                continue
            if known is not None:
                arrival.document, arrival.outcome = known.id, "changed"
            elif earlier := by_source.get(arrival.source):
                arrival.document, arrival.outcome = gone.pop(earlier.pop(0)).id, "moved"
                if not earlier:
                    del by_source[arrival.source]
            else:
                arrival.outcome = "added"
            batch.append(arrival)
            size += len(data)
            if len(batch) >= BATCH_DOCUMENTS or size >= BATCH_BYTES:
                yield batch
                batch, size = [], 0
        if batch:
            yield batch
        if touched:
            async with self.writing():
                await self.catalog.begin()
                await self.catalog.run_many(_SCANNED, touched)
                await self.catalog.commit()

    def _lost_sources(self, sources: set[str]) -> set[str]:
        """Those that layer 0 lacks; their notes are read again."""
        return {sha for sha in sources if not self.evidence.has(sha)}

    def _dry_run(self, waiting: Sequence[FoundFile], live: Mapping[str, _Known], gone: Mapping[str, _Known], report: IngestReport) -> None:
        movable = Counter(known.source for known in gone.values())
        moved = 0
        for file in waiting:
            data = _read(file, report)
            if data is None:
                continue
            source = sha256_hex(data)
            if file.path in live:
                report.unchanged += live[file.path].source == source
                report.changed += live[file.path].source != source
            elif movable[source] > 0:
                movable[source] -= 1
                moved += 1
            else:
                report.added += 1
        report.moved += moved
        report.removed += len(gone) - moved

    # ------------------------------------------------------------ one batch

    async def _take_in(self, root: Root, arrivals: list[_Arrival], report: IngestReport) -> None:
        from smb.ingest.extract_rules import RulesExtractor
        from smb.ingest.ground import ground
        from smb.ingest.model_reading import with_model
        from smb.ingest.note import Skipped
        from smb.ingest.plan import date_of
        from smb.ingest.read import read_note
        from smb.ingest.resolve import Reading

        extractor = RulesExtractor()
        readings: list[Reading] = []
        stamps: list[tuple[Any, ...]] = []
        taken: list[_Arrival] = []
        for arrival in arrivals:
            note = read_note(arrival.file.path, arrival.source, arrival.data)
            if isinstance(note, Skipped):
                outcome = {"skipped": _skip(arrival.file.path, note.reason, note.detail, note.line)}
                report.skipped.append(outcome["skipped"])
                stamps.append(_stamp(root, arrival, "", outcome))
                continue
            warnings = [_warning(arrival.file.path, w.code, w.detail, w.line) for w in note.warnings]
            report.warnings += warnings
            extraction = extractor.extract(note)
            if self.memo is not None:
                extraction = with_model(note, extraction, self.memo.get(note.source))
            extraction = ground(note, arrival.data, extraction)
            for refusal in extraction.refused:
                report.refused[refusal.gate] = report.refused.get(refusal.gate, 0) + 1
            readings.append(Reading(arrival.document, root.name, note, extraction, date_of(note)))
            taken.append(arrival)
            stamps.append(_stamp(root, arrival, arrival.source, {"warnings": warnings} if warnings else {}))
            setattr(report, arrival.outcome, getattr(report, arrival.outcome) + 1)
        async with self.writing():
            if readings:
                from smb.ingest.planner import Planner

                revisions = await Planner(self.catalog, self.keys).plan(root.name, readings, extractor.fingerprint)
                if revisions:
                    sources = {a.source: a.data for a in taken}
                    titles = {r.note.source: slugify(r.note.title) for r in readings}
                    await asyncio.to_thread(self.evidence.put_many, [(s, titles[s], data) for s, data in sources.items()])
                    await self.commit(Transaction("ingest", extractor.fingerprint, self.clock(), tuple(revisions)), sources)
                    report.transactions += 1
            await self.catalog.begin()
            await self.catalog.run_many(_SCANNED, stamps)
            if readings:
                await self.keys.mark()
            await self.catalog.commit()

    # ------------------------------------------------------------ what is gone

    async def _remove(self, root: Root, gone: Mapping[str, _Known], stale: Iterable[str], report: IngestReport) -> None:
        from smb.ingest.plan import plan_removal

        async with self.writing():
            heads = await self.catalog.head_revisions([known.id for known in gone.values()])
            revisions = await self.keys.settled([r for known in gone.values() for r in plan_removal(known.id, heads.get(known.id, ()), "scan")])
            if revisions:
                await self.commit(Transaction("removal", "scan", self.clock(), tuple(revisions)), {})
                report.transactions += 1
                report.removed += sum(r.object_type == DOCUMENT for r in revisions)
            await self.catalog.begin()
            await self.catalog.run_many("DELETE FROM scanned WHERE root = ? AND path = ?", [(root.name, path) for path in stale])
            await self.keys.mark()
            await self.catalog.commit()


def _read(file: FoundFile, report: IngestReport) -> bytes | None:
    """The bytes of a file the scan found; None, and a skip in the report, where it is gone since or can't be read."""
    try:
        with open(file.absolute, "rb") as handle:
            return handle.read()
    except OSError as error:
        report.skipped.append(_skip(file.path, "unreadable", error.strerror or str(error), None))
        return None


_SCANNED = "INSERT OR REPLACE INTO scanned VALUES (?, ?, ?, ?, ?, ?, ?)"


def _same(file: FoundFile, stamp: Any, live: Mapping[str, _Known], lost: set[str], report: IngestReport) -> bool:
    """Whether size and times say the file is as it was; if so what was reported of it is reported again."""
    if stamp is None or (stamp["size"], stamp["mtime_ns"], stamp["ctime_ns"]) != (file.size, file.mtime_ns, file.ctime_ns) or stamp["source"] in lost:
        return False
    known = live.get(file.path)
    if stamp["source"]:
        if known is None or known.source != stamp["source"]:
            return False
        report.unchanged += 1
    outcome = orjson.loads(stamp["outcome"])
    if "skipped" in outcome:
        report.skipped.append(outcome["skipped"])
    report.warnings += outcome.get("warnings", ())
    return True


def _stamp(root: Root, arrival: _Arrival, source: str, outcome: dict[str, Any]) -> tuple[Any, ...]:
    return (root.name, arrival.file.path, arrival.file.size, arrival.file.mtime_ns, arrival.file.ctime_ns, source, orjson.dumps(outcome).decode())


def _skip(path: str, reason: str, detail: str, line: int | None) -> dict[str, Any]:
    return {"path": path, "reason": reason, "detail": detail} | ({"line": line} if line is not None else {})


def _warning(path: str, code: str, detail: str, line: int | None) -> dict[str, Any]:
    return {"path": path, "code": code, "detail": detail} | ({"line": line} if line is not None else {})
