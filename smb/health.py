"""How a bank is: `smb status` and `smb doctor`.

Owns every check and the remedy each names. Changes nothing unless asked to fix, and then only projections, leftovers
and hand edits that can be taken in: never sources or the ledger.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from smb.model.evidence import DocumentVersion
from smb.model.identity import generation_of
from smb.model.objects import TYPE_TO_LOCATION, MemoryType
from smb.model_work import pending_model_work
from smb.stores.catalog import Catalog
from smb.stores.graph_file import GraphFile
from smb.stores.projection import read_stamp
from smb.stores.views import MarkdownStore

if TYPE_CHECKING:
    from smb.bank import Bank

_QUOTES_SHOWN = 50


@dataclass(slots=True)
class Finding:
    """One thing that isn't as promised. severity: error (a promise is broken), warning (look at it), info."""

    check: str
    severity: str
    detail: str
    remedy: str
    path: str | None = None
    line: int | None = None
    fixed: bool = False


async def status(bank: Bank) -> dict[str, Any]:
    """Counts, generations, lags and sizes; nothing is brought up to date."""
    catalog = bank.catalog
    ids = bank.ledger.ids()
    generation = generation_of(ids)
    seq, catalog_generation = await catalog.latest()
    by_type = {row["type"]: row["n"] for row in await catalog.fetch(
        "SELECT type, count(*) AS n FROM memory_objects WHERE standing IN ('current', 'contested') GROUP BY type ORDER BY type")}
    by_layer: dict[str, int] = {}
    for name, count in by_type.items():
        layer = str(int(TYPE_TO_LOCATION[MemoryType(name)][0]))
        by_layer[layer] = by_layer.get(layer, 0) + count
    standing = {row["standing"]: row["n"] for row in await catalog.fetch("SELECT standing, count(*) AS n FROM memory_objects GROUP BY standing ORDER BY standing")}
    (documents,) = (await catalog.fetch("SELECT count(*) FROM documents WHERE live = 1"))[0]
    (passages, unembedded) = (await catalog.fetch("SELECT count(*), count(*) FILTER (WHERE vector_row IS NULL AND kind IN ('paragraph','item','row','turn','quote','math')) FROM passages WHERE live = 1"))[0]
    (unembedded_objects,) = (await catalog.fetch("SELECT count(*) FROM memory_objects WHERE vector_row IS NULL"))[0]
    mirror = bank.vector_mirror()
    projections = {"catalog": {"generation": catalog_generation, "behind": len(set(ids) - await catalog.applied()), "unit": "transactions"}}
    for name in (MarkdownStore.name, GraphFile.name):
        stamp = await read_stamp(catalog, name)
        (behind,) = (await catalog.fetch("SELECT count(*) FROM memory_objects WHERE changed > ?", (stamp.seq if stamp else 0,)))[0]
        projections[name] = {"generation": stamp.generation if stamp else None, "behind": behind, "unit": "objects"}
    stamp = await mirror.stamp(catalog)
    projections["vectors"] = {"generation": stamp.generation if stamp else None, "behind": await mirror.lag(catalog), "unit": "objects"}
    skipped = [orjson.loads(row["outcome"])["skipped"] for row in await catalog.fetch("SELECT outcome FROM scanned WHERE source = '' ORDER BY root, path")]
    return {
        "schema_version": 1, "bank": str(bank.path), "generation": generation, "transactions": len(ids), "documents": documents, "passages": passages,
        "objects": by_type, "layers": by_layer, "standing": standing, "projections": projections, "stale": catalog_generation != generation,
        "embedder": bank.embedding.fingerprint or None, "unembedded": unembedded + unembedded_objects, "pending_model_work": await pending_model_work(bank.path, catalog), "last_cycle": await _last_cycle(catalog),
        "skipped": skipped,
        "bytes": {name: _size(bank.path / folder) for name, folder in (("sources", "layer-0"), ("ledger", "ledger"), ("index", "index"))},
    }


async def _last_cycle(catalog: Catalog) -> dict[str, Any] | None:
    """{id, title, recorded_at, behind} of the last record of evolution that stands; `behind` counts transactions since."""
    rows = await catalog.fetch(
        "SELECT id, title, recorded_at, (SELECT count(*) FROM transactions t WHERE t.recorded_at > o.recorded_at) AS behind FROM memory_objects o "
        "WHERE type = 'evolution' AND standing = 'current' ORDER BY recorded_at DESC LIMIT 1")
    return dict(rows[0]) if rows else None


async def doctor(bank: Bank, *, fix: bool) -> dict[str, Any]:
    """Holds truth against projections: {"schema_version", "ok", "findings": [...], "checked": {...}}."""
    examination = _Examination(bank)
    for check in (examination.ledger, examination.sources, examination.catalog_lag, examination.evidence, examination.object_files,
                  examination.notes, examination.mirrors, examination.leftovers):
        await check()
    findings = examination.findings
    if fix:
        for finding, mend in examination.mends:
            if not finding.fixed:
                await mend()
                finding.fixed = True
    left = [f for f in findings if f.severity == "error" and not f.fixed]
    return {"schema_version": 1, "ok": not left, "findings": [asdict(f) for f in findings], "checked": examination.checked}


class _Examination:
    def __init__(self, bank: Bank):
        self.bank = bank
        self.findings: list[Finding] = []
        self.mends: list[tuple[Finding, Callable[[], Awaitable[Any]]]] = []
        self.checked: dict[str, int] = {}

    def found(self, check: str, severity: str, detail: str, remedy: str, *, path: str | None = None, line: int | None = None,
              mend: Callable[[], Awaitable[Any]] | None = None) -> None:
        finding = Finding(check, severity, detail, remedy, path, line)
        self.findings.append(finding)
        if mend is not None:
            self.mends.append((finding, mend))

    async def ledger(self) -> None:
        """Every transaction file hashes to its name and every line reads."""
        self.checked["transactions"] = len(self.bank.ledger.ids())
        for damage in self.bank.ledger.verify():
            self.found("ledger", "error", damage.problem, f"git -C {self.bank.path} checkout -- {damage.path}", path=str(damage.path))

    async def sources(self) -> None:
        """Every source the ledger names is there, byte for byte; nothing else is."""
        held = self.bank.evidence.ids()
        named = {r.statement.source for t in self.bank.ledger.missing(()) for r in t.revisions if isinstance(r.statement, DocumentVersion)}
        self.checked["sources"] = len(held)
        for sha in sorted(named):
            if not self.bank.evidence.has(sha):
                self.found("source.missing", "error", f"source {sha[:12]} is named by the ledger and not in layer 0",
                           f"git -C {self.bank.path} checkout -- layer-0, or ingest the note again", path=f"layer-0/source/{sha[:12]}-*.md")
            elif not self.bank.evidence.verify(sha):
                path = self.bank.evidence.path_of(sha)
                self.found("source.altered", "error", "the bytes are not those its name was made from",
                           f"git -C {self.bank.path} checkout -- layer-0", path=str(path.relative_to(self.bank.path)) if path else None)
        known = {sha[:12] for sha in named}
        for short, path in sorted(held.items()):
            if short not in known:
                self.found("source.orphan", "info", "a source no transaction names (a run ended before its commit); harmless",
                           "smb ingest", path=str(path.relative_to(self.bank.path)))

    async def catalog_lag(self) -> None:
        lacking = set(self.bank.ledger.ids()) - await self.bank.catalog.applied()
        if lacking:
            self.found("catalog.behind", "warning", f"the catalog lacks {len(lacking)} transactions", "smb rebuild", mend=self._catch_up)
        (check,) = (await self.bank.catalog.fetch("PRAGMA quick_check(1)"))[0]
        if check != "ok":
            self.found("catalog.damaged", "error", str(check), "smb rebuild", path="index/metadata.db", mend=lambda: self.bank.rebuild())

    async def evidence(self) -> None:
        """Every quote is at its bytes."""
        rows = await self.bank.catalog.fetch(
            "SELECT r.object_id, r.line, d.encoding, d.path FROM revisions r LEFT JOIN documents d ON d.id = r.document_id "
            "WHERE r.head = 1 AND r.object_type != 'document'")
        data: dict[str, bytes | None] = {}
        broken = 0
        for row in rows:
            for source, start, end, line, _, quote in orjson.loads(row["line"]).get("evidence", ()):
                if source not in data:
                    if len(data) > 256:
                        data.clear()
                    data[source] = self.bank.evidence.read(source) if self.bank.evidence.has(source) else None
                held = data[source]
                self.checked["quotes"] = self.checked.get("quotes", 0) + 1
                if held is not None and held[start:end].decode(row["encoding"] or "utf-8", "replace") != quote:
                    broken += 1
                    if broken <= _QUOTES_SHOWN:
                        self.found("evidence.broken", "error", f"object {row['object_id']} quotes what source {source[:12]} doesn't say there",
                                   "smb rebuild", path=row["path"], line=line)

    async def object_files(self) -> None:
        """Object files are as rendered, or hold hand edits that can be taken in."""
        if self.findings and any(f.check == "catalog.behind" for f in self.findings):
            return
        preview = await self.bank.absorb(dry_run=True)
        self.checked["object_files"] = preview["files"]
        for edit in preview["edits"]:
            self.found("object.edited", "info", f"{edit['kind']} by hand, not taken in yet", "smb absorb", path=edit["path"], mend=self._absorb)
        for one in preview["unreadable"]:
            self.found("object.malformed", "error", one["detail"], "mend the file by hand, then smb absorb", path=one["path"], line=one["line"])
        for layer, folder in TYPE_TO_LOCATION.values():
            place = f"layer-{int(layer)}/{folder}"
            if not (self.bank.path / place).is_dir() and await self.bank.catalog.fetch("SELECT 1 FROM rendered WHERE location LIKE ? LIMIT 1", (place + "/%",)):
                self.found("object.lost", "error", "the whole folder of object files is gone", "smb rebuild", path=place, mend=lambda: self.bank.rebuild())
        for path in await self._strangers():
            self.found("object.orphan", "warning", "a file in a layer that is no object of this bank", "move it out of the bank, or delete it", path=path)

    async def _strangers(self) -> list[str]:
        known = {row["location"] for row in await self.bank.catalog.fetch("SELECT location FROM memory_objects UNION SELECT location FROM rendered")}
        found = []
        for layer, folder in TYPE_TO_LOCATION.values():
            place = f"layer-{int(layer)}/{folder}"
            for name in sorted(os.listdir(self.bank.path / place)) if (self.bank.path / place).is_dir() else ():
                if name.endswith(".md") and not name.startswith(".") and f"{place}/{name}" not in known:
                    found.append(f"{place}/{name}")
        return found

    async def notes(self) -> None:
        """What ingest had to say of the notes, said again; links that lead nowhere."""
        for row in await self.bank.catalog.fetch("SELECT path, outcome FROM scanned WHERE outcome != '{}' ORDER BY root, path"):
            outcome = orjson.loads(row["outcome"])
            if "skipped" in outcome:
                skip = outcome["skipped"]
                self.found("note.skipped", "warning", f"{skip['reason']}: {skip['detail']}", "mend or remove the file, then smb ingest", path=row["path"], line=skip.get("line"))
            for warning in outcome.get("warnings", ()):
                self.found("note." + warning["code"], "info", warning["detail"], "mend the note, then smb ingest", path=row["path"], line=warning.get("line"))
        for row in await self.bank.catalog.fetch(
                "SELECT d.path, l.target, l.link FROM dangling l JOIN documents d ON d.id = l.document_id WHERE d.live = 1 ORDER BY d.path, l.target"):
            self.found("note.dangling_link", "info", f"links to {row['target']}, which is not in the bank", "add the note or mend the link, then smb ingest",
                       path=row["path"], line=orjson.loads(row["link"])[5])

    async def mirrors(self) -> None:
        if (trouble := self.bank.embedding.trouble()) is not None:
            self.found(trouble[0], "error", *trouble[1:])
        if said := await self.bank.models(self.bank.settings).trouble():
            self.found("model.unavailable", "warning", said, "smb models check")
        mirror = self.bank.vector_mirror()
        lag = await mirror.lag(self.bank.catalog)
        if lag > mirror.TOLERATED_LAG:
            self.found("vectors.behind", "info", f"the Chroma mirror is {lag} objects behind (recall doesn't need it)", "smb ingest --sync", mend=self._sync)
        if await GraphFile(self.bank.path).stamp(self.bank.catalog) != await self.bank.catalog.latest():
            self.found("graph.behind", "info", "graph.json is behind", "smb rebuild, or smb graph export for the current one", mend=self._sync)

    async def leftovers(self) -> None:
        from smb.stores.atomic_file import is_temporary

        folders = [self.bank.path / "layer-0" / "source", *(p for p in (self.bank.path / "ledger").iterdir() if p.is_dir()),
                   *(self.bank.path / f"layer-{int(layer)}" / folder for layer, folder in TYPE_TO_LOCATION.values())]
        for folder in folders:
            for name in sorted(os.listdir(folder)) if folder.is_dir() else ():
                if is_temporary(name):
                    self.found("leftover", "info", "left by a run that was killed", "smb doctor --fix", path=str((folder / name).relative_to(self.bank.path)),
                               mend=lambda f=folder: self._clean(f))

    async def _catch_up(self) -> None:
        async with self.bank.writer.writing():
            pass

    async def _absorb(self) -> None:
        await self.bank.absorb()

    async def _sync(self) -> None:
        await self.bank.sync()

    async def _clean(self, folder: Path) -> None:
        from smb.stores.atomic_file import remove_stale_temporaries

        remove_stale_temporaries(folder)


def _size(folder: Path) -> int:
    total, waiting = 0, [os.fspath(folder)]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    else:
                        total += entry.stat(follow_symlinks=False).st_size
        except FileNotFoundError:
            continue
    return total
