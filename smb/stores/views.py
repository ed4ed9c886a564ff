"""The object files: the ledger rendered as markdown a person can read, link and edit.

Owns every file under `layer-1/` to `layer-6/` and the catalog's table `rendered`, which says what each looked like when
it was last written. Never writes over, or removes, bytes it cannot account for: a person's edit is set aside as a
HandEdit until it has been taken into the ledger (`adopt`).
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import orjson

from smb.model.currentness import Standing
from smb.model.objects import TYPE_TO_LOCATION, MemoryObject, Status
from smb.model.revision import RevisionKind
from smb.stores.atomic_file import is_temporary, remove, remove_stale_temporaries, write_batch
from smb.stores.hand_edit import HandEdit, is_rendering
from smb.stores.projection import Stamp, read_stamp, write_stamp

if TYPE_CHECKING:
    from smb.stores.catalog import Catalog

FILE_DELETED = "object file deleted"  # reason of the revoke that stands for a person's deletion; such an object has no file
_BATCH = 256
_FOLDERS = tuple(f"layer-{int(layer)}/{folder}" for layer, folder in TYPE_TO_LOCATION.values())


@dataclass(frozen=True, slots=True)
class _Rendered:
    """A row of the table `rendered`: the file as it was last written."""

    location: str
    size: int
    mtime_ns: int
    digest: str

    def is_stat(self, found: os.stat_result) -> bool:
        return found.st_size == self.size and found.st_mtime_ns == self.mtime_ns


@dataclass(slots=True)
class _Work:
    """What one batch comes to: files to write and remove, rows to change without touching a file."""

    write: list[tuple[str, str, bytes, str]] = field(default_factory=list)  # object id, location, bytes, digest
    remove: list[str] = field(default_factory=list)  # locations
    record: list[tuple[str, str, str]] = field(default_factory=list)  # object id, location, digest; the bytes are right
    drop: list[str] = field(default_factory=list)  # object ids without a file
    doubt: list[tuple[str, str]] = field(default_factory=list)  # object id, location; a hand edit where nothing was recorded


@dataclass(frozen=True, slots=True)
class _Pass:
    """One run over object files; `taken` holds the edits the ledger has by now, `restore` writes missing files again."""

    catalog: Catalog
    stamp: Stamp | None
    restore: bool = False
    taken: dict[str, HandEdit] = field(default_factory=dict)


class MarkdownStore:
    """The projection behind the object files of one bank."""

    name = "views"

    def __init__(self, bank: Path):
        self._root = os.fspath(bank)
        self._edits: dict[str, HandEdit] = {}

    async def stamp(self, catalog: Catalog) -> Stamp | None:
        """How far the files have come; None when every one has to be compared."""
        return await read_stamp(catalog, self.name)

    async def catch_up(self, catalog: Catalog) -> int:
        """Renders what changed since the stamp; returns how many files it wrote or removed.

        Without a usable stamp (a fresh clone, a catalog made again) every file is compared and only what differs is
        written. Hand edits in the way stay as they are: fetch them with `take_edits`.
        """
        latest, stamp = await catalog.latest(), await self.stamp(catalog)
        if stamp == latest:
            return 0
        rows = await catalog.fetch("SELECT id FROM memory_objects WHERE changed > ? ORDER BY id", (stamp.seq if stamp else 0,))
        changed = await self._render(_Pass(catalog, stamp), [row["id"] for row in rows])
        if stamp is None:
            changed += await self._sweep(catalog)
        await write_stamp(catalog, self.name, latest)
        await catalog.commit()
        return changed

    async def rebuild(self, catalog: Catalog) -> int:
        """Compares every file and writes what differs or is missing; returns how many it wrote or removed.

        A missing file is written again here, so take deletions in first (`scan_edits`, then `adopt`).
        """
        latest, stamp = await catalog.latest(), await self.stamp(catalog)
        rows = await catalog.fetch("SELECT id FROM memory_objects ORDER BY id")
        changed = await self._render(_Pass(catalog, stamp, restore=True), [row["id"] for row in rows])
        changed += await self._sweep(catalog)
        await write_stamp(catalog, self.name, latest)
        await catalog.commit()
        return changed

    # ------------------------------------------------------------ what people did

    def take_edits(self) -> list[HandEdit]:
        """The hand edits met while rendering, by object id; each is handed out once."""
        edits, self._edits = self._edits, {}
        return [edits[i] for i in sorted(edits)]

    async def scan_edits(self, catalog: Catalog) -> list[HandEdit]:
        """Every object file a person changed, moved or deleted, by object id. Call it caught up.

        One stat a file (100,000 cost 1.5 s); a file is read only if its size or time differ from what was recorded. A
        whole folder that is gone counts as lost, not as that many deletions: `rebuild` writes it again.
        """
        stamp = await self.stamp(catalog)
        present = {folder for folder in _FOLDERS if os.path.isdir(f"{self._root}/{folder}")}
        doubtful: dict[str, tuple[_Rendered, bytes]] = {}
        missing: dict[str, str] = {}
        for object_id, location, size, mtime_ns, digest in await catalog.fetch("SELECT * FROM rendered ORDER BY object_id"):
            row = _Rendered(location, size, mtime_ns, digest)
            try:
                if not row.is_stat(os.stat(f"{self._root}/{location}")) and _digest(data := self._read(location)) != digest:
                    doubtful[object_id] = (row, data)
            except FileNotFoundError:
                if location.rpartition("/")[0] in present:
                    missing[object_id] = location
        found = {i: HandEdit(i, location, None) for i, location in missing.items()}
        if missing:
            found.update(await self._find_moved(catalog, missing))
        for o in await catalog.load_objects(doubtful):
            row, data = doubtful[o.id]
            if data != _bytes_of(o) and not await is_rendering(catalog, _text(data), o, stamp.seq if stamp else None):
                found[o.id] = HandEdit(o.id, row.location, _text(data))
        return [found[i] for i in sorted(found)]

    async def adopt(self, catalog: Catalog, edits: Iterable[HandEdit]) -> int:
        """Renders the objects of `edits` afresh, now that the ledger has them; returns how many files that changed.

        A file that has changed again meanwhile is left alone and is a hand edit once more. Safe to repeat: after a
        crash in between the same edits are found again, and taking them in again says nothing new.
        """
        taken = {edit.object_id: edit for edit in edits}
        changed = await self._render(_Pass(catalog, await self.stamp(catalog), taken=taken), list(taken))
        for edit in taken.values():
            if edit.moved and edit.object_id not in self._edits and self._read_if_there(edit.path) == edit.data:
                changed += remove(Path(self._root, edit.path))
        return changed

    async def _find_moved(self, catalog: Catalog, missing: dict[str, str]) -> dict[str, HandEdit]:
        """Files nobody recorded that say they are one of the `missing` objects: a person renamed or moved those."""
        from smb.stores.object_file import MalformedObjectFile, deserialize_memory  # imports yaml

        recorded = {row["location"] for row in await catalog.fetch("SELECT location FROM rendered")}
        found: dict[str, HandEdit] = {}
        for folder in _FOLDERS:
            try:
                names = sorted(os.listdir(f"{self._root}/{folder}"))
            except FileNotFoundError:
                continue
            for name in names:
                path = f"{folder}/{name}"
                if path in recorded or not name.endswith(".md") or is_temporary(name):
                    continue
                text = _text(self._read(path))
                try:
                    said = deserialize_memory(text)
                except MalformedObjectFile:
                    continue
                if said.id in missing:
                    found.setdefault(said.id, HandEdit(said.id, path, text, moved=True))
        return found

    # ------------------------------------------------------------ rendering

    async def _render(self, run: _Pass, ids: list[str]) -> int:
        """Brings the files of `ids` to what the catalog says; returns how many files it wrote or removed."""
        changed = 0
        for start in range(0, len(ids), _BATCH):
            part = ids[start : start + _BATCH]
            objects = await run.catalog.load_objects(part)
            rows = await self._rendered(run.catalog, part)
            withdrawn = await _withdrawn(run.catalog, [o.id for o in objects if o.status is Status.DEPRECATED])
            work = _Work()
            for o in objects:
                if o.id in withdrawn:
                    await self._withdraw(run, o, rows.get(o.id), work)
                else:
                    await self._place(run, o, rows.get(o.id), work)
            changed += await self._carry_out(run.catalog, work)
        return changed

    async def _place(self, run: _Pass, o: MemoryObject, row: _Rendered | None, work: _Work) -> None:
        """Decides what becomes of one object's file."""
        data = _bytes_of(o)
        digest = _digest(data)
        path = f"{self._root}/{o.location}"
        here = row if row is not None and row.location == o.location else None
        right = False
        try:
            found = os.stat(path)
        except FileNotFoundError:
            # a folder that is gone was lost, not emptied by hand file by file
            if here is not None and not run.restore and o.id not in run.taken and os.path.isdir(os.path.dirname(path)):
                self._edits[o.id] = HandEdit(o.id, o.location, None)
                return
        else:
            if here is not None and here.is_stat(found) and not run.restore:
                if here.digest == digest:
                    return
            else:
                there = self._read(o.location)
                right = there == data
                if not right and not await self._may_replace(run, o, here, there):
                    self._edits[o.id] = HandEdit(o.id, o.location, _text(there))
                    work.doubt += [(o.id, o.location)] if row is None else []
                    return
        if row is not None and here is None and not await self._leave(run, o, row, work):
            return
        if right:
            work.record.append((o.id, o.location, digest))
        else:
            work.write.append((o.id, o.location, data, digest))

    async def _withdraw(self, run: _Pass, o: MemoryObject, row: _Rendered | None, work: _Work) -> None:
        """Takes away the file of an object whose file a person deleted, here or in another clone."""
        if await self._leave(run, o, row or _Rendered(o.location, -1, -1, ""), work):
            work.drop.append(o.id)

    async def _leave(self, run: _Pass, o: MemoryObject, row: _Rendered, work: _Work) -> bool:
        """Plans the removal of the file at `row.location`; False, with a hand edit set aside, if it isn't ours to remove."""
        there = self._read_if_there(row.location)
        if there is None:
            return True
        if not await self._may_replace(run, o, row, there):
            self._edits[o.id] = HandEdit(o.id, row.location, _text(there))
            return False
        work.remove.append(row.location)
        return True

    async def _may_replace(self, run: _Pass, o: MemoryObject, row: _Rendered | None, there: bytes) -> bool:
        if row is not None and row.digest == _digest(there):
            return True
        if (edit := run.taken.get(o.id)) is not None and edit.data == there:
            return True
        here_until = run.stamp.seq if run.stamp is not None and row is not None and row.digest else None
        return await is_rendering(run.catalog, _text(there), o, here_until)

    async def _carry_out(self, catalog: Catalog, work: _Work) -> int:
        """Does what was planned, files first, and records it in one transaction; returns how many files changed."""
        root = self._root
        write_batch([(f"{root}/{location}", data) for _, location, data, _ in work.write], durable=False)
        for location in work.remove:
            remove(Path(root, location))
        rows = []
        for object_id, location, digest in (*((i, at, digest) for i, at, _, digest in work.write), *work.record):
            found = os.stat(f"{root}/{location}")
            rows.append((object_id, location, found.st_size, found.st_mtime_ns, digest))
        rows += [(object_id, location, -1, -1, "") for object_id, location in work.doubt]
        if rows or work.drop:
            await catalog.begin()
            await catalog.run_many("INSERT OR REPLACE INTO rendered VALUES (?, ?, ?, ?, ?)", rows)
            await catalog.run_in("DELETE FROM rendered WHERE object_id IN ({marks})", work.drop)
            await catalog.commit()
        return len(work.write) + len(work.remove)

    async def _sweep(self, catalog: Catalog) -> int:
        """Removes what crashed writers left, and the files of objects the catalog no longer has as far as they are as
        smb wrote them."""
        for folder in _FOLDERS:
            remove_stale_temporaries(Path(self._root, folder))
        rows = await catalog.fetch(
            "SELECT * FROM rendered WHERE object_id NOT IN (SELECT id FROM memory_objects) ORDER BY object_id")
        work = _Work()
        for object_id, location, _, _, digest in rows:
            there = self._read_if_there(location)
            if there is None or _digest(there) == digest:
                work.drop.append(object_id)
                work.remove += [location] if there is not None else []
            else:
                self._edits[object_id] = HandEdit(object_id, location, _text(there))
        return await self._carry_out(catalog, work)

    async def _rendered(self, catalog: Catalog, ids: list[str]) -> dict[str, _Rendered]:
        rows = await catalog.fetch_in("SELECT * FROM rendered WHERE object_id IN ({marks})", ids)
        return {object_id: _Rendered(*rest) for object_id, *rest in rows}

    def _read(self, location: str) -> bytes:
        with open(f"{self._root}/{location}", "rb") as file:
            return file.read()

    def _read_if_there(self, location: str) -> bytes | None:
        try:
            return self._read(location)
        except FileNotFoundError:
            return None


async def _withdrawn(catalog: Catalog, ids: list[str]) -> set[str]:
    """Those of `ids` whose last revoke stands for a deleted file."""
    rows = await catalog.fetch_in(
        "SELECT r.object_id, r.recorded_at, r.id, r.line FROM memory_objects o JOIN revisions r ON r.object_id = o.id "
        f"WHERE o.standing = '{Standing.REVOKED}' AND r.kind = '{RevisionKind.REVOKE}' AND o.id IN ({{marks}})", ids)
    last: dict[str, str] = {}
    for object_id, _, _, line in sorted(rows, key=lambda row: (row["recorded_at"], row["id"])):
        last[object_id] = line
    return {object_id for object_id, line in last.items() if orjson.loads(line).get("reason") == FILE_DELETED}


def _bytes_of(o: MemoryObject) -> bytes:
    return o.to_markdown().encode("utf-8", "replace")


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")
