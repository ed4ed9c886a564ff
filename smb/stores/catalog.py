"""The catalog: the SQLite projection that recall, the graph and the other projections read.

Owns the connection, its migrations, and reading by id. Never decides what is true: every row can be made again from
the ledger and layer 0. Writing rows from transactions is `catalog_apply`; the reads recall needs are `catalog_reader`.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import aiosqlite
import orjson

from smb.model.currentness import as_object
from smb.model.edges import SEEN_FROM_THE_TARGET, EdgeType
from smb.model.errors import SmbError
from smb.model.identity import generation_of
from smb.model.objects import LINKS_SHOWN, Link, MemoryObject, MemoryType, Mode, link_text
from smb.model.revision import Revision, revision_from_json
from smb.model.validity import from_iso
from smb.stores.catalog_schema import MIGRATIONS

CHUNK = 800  # values in one IN (…) list; SQLite's limit is far above, its planner slows down long before
BUSY_MS = 15_000


class CatalogTooNew(SmbError):
    def __init__(self, path: Path, found: int, known: int):
        super().__init__(f"{path} was made by a newer smb (schema {found}, this one knows {known}). "
                         "Upgrade smb, or delete the file and run `smb rebuild`.")


class CatalogDamaged(SmbError):
    def __init__(self, path: Path, detail: str):
        super().__init__(f"{path} can't be read ({detail}). Nothing is lost: run `smb rebuild` to make it again.")


class Catalog:
    """One open connection. Await `Catalog.open`; use as an async context manager or call `close`."""

    def __init__(self, connection: aiosqlite.Connection, path: Path):
        self.connection = connection
        self.path = path
        self.fresh: dict[str, MemoryObject] = {}  # objects folded by this process since `forget_fresh`

    @classmethod
    async def open(cls, path: Path) -> Catalog:
        """Opens the catalog, making or migrating it where that is needed; one that can't be written is opened to be read.

        Raises CatalogTooNew, CatalogDamaged.
        """
        read_only = path.exists() and not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK))
        if not read_only:
            path.parent.mkdir(parents=True, exist_ok=True)
        catalog = cls(await _connect(path, read_only), path)
        try:
            await catalog._prepare(read_only)
        except sqlite3.DatabaseError as error:
            await catalog.close()
            if isinstance(error, sqlite3.OperationalError) and "locked" in str(error):
                raise
            raise CatalogDamaged(path, str(error)) from error
        except CatalogTooNew:
            await catalog.close()
            raise
        return catalog

    async def _prepare(self, read_only: bool) -> None:
        mode = "" if read_only else "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA wal_autocheckpoint=4000;"
        await self.connection.executescript(f"PRAGMA busy_timeout={BUSY_MS}; {mode} PRAGMA temp_store=MEMORY; PRAGMA cache_size=-65536; PRAGMA mmap_size=1073741824;")
        await self._migrate(read_only)

    async def replace_with(self, made: Path) -> None:
        """Puts a catalog made beside this one in its place; whoever has the old one open keeps reading that."""
        await self.connection.close()
        for suffix in ("-wal", "-shm"):
            self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)
        os.replace(made, self.path)
        self.connection = await _connect(self.path, False)
        await self._prepare(False)
        self.fresh.clear()

    async def __aenter__(self) -> Catalog:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        await self.connection.close()

    async def _migrate(self, read_only: bool) -> None:
        (found,) = (await self.fetch("PRAGMA user_version"))[0]
        known = MIGRATIONS[-1].number
        if found > known:
            raise CatalogTooNew(self.path, found, known)
        if found == known or read_only:
            return
        waiting = [m for m in MIGRATIONS if m.number > found]
        if found and any(m.rebuild for m in waiting):
            await self.clear()
            return
        for migration in waiting:
            await self.connection.executescript(f"BEGIN IMMEDIATE; {migration.script} PRAGMA user_version={migration.number}; COMMIT;")

    async def clear(self) -> None:
        """Empties the catalog to the newest schema, in one transaction; the scan state goes too."""
        tables = [row["name"] for row in await self.fetch(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE '%_fts_%'")]
        drops = "".join(f'DROP TABLE "{name}";' for name in sorted(tables, key=lambda n: not n.endswith("_fts")))
        script = "".join(m.script for m in MIGRATIONS)
        await self.connection.executescript(f"BEGIN IMMEDIATE; {drops} {script} PRAGMA user_version={MIGRATIONS[-1].number}; COMMIT;")
        self.fresh.clear()

    # ------------------------------------------------------------ plain SQL, batched

    async def fetch(self, sql: str, params: Sequence[Any] = ()) -> list[sqlite3.Row]:
        return list(await self.connection.execute_fetchall(sql, params))

    async def fetch_in(self, sql: str, values: Iterable[Any], *before: Any) -> list[sqlite3.Row]:
        """Rows of `sql`, whose `{marks}` stands for a list of values, run over chunks of `values`."""
        held = list(values)
        rows: list[sqlite3.Row] = []
        for start in range(0, len(held), CHUNK):
            part = held[start : start + CHUNK]
            rows += await self.fetch(sql.format(marks=",".join("?" * len(part))), (*before, *part))
        return rows

    async def run(self, sql: str, params: Sequence[Any] = ()) -> None:
        async with self.connection.execute(sql, params):
            pass

    async def run_many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        if held := list(rows):
            async with self.connection.executemany(sql, held):
                pass

    async def run_in(self, sql: str, values: Iterable[Any], *before: Any) -> None:
        """`sql` with its `{marks}` filled, over chunks of `values`."""
        held = list(values)
        for start in range(0, len(held), CHUNK):
            part = held[start : start + CHUNK]
            await self.run(sql.format(marks=",".join("?" * len(part))), (*before, *part))

    async def begin(self) -> None:
        await self.run("BEGIN IMMEDIATE")

    async def commit(self) -> None:
        if self.connection.in_transaction:
            await self.connection.commit()

    async def rollback(self) -> None:
        if self.connection.in_transaction:
            await self.connection.rollback()

    # ------------------------------------------------------------ stamps

    async def meta(self, key: str) -> str | None:
        rows = await self.fetch("SELECT value FROM meta WHERE key = ?", (key,))
        return rows[0]["value"] if rows else None

    async def set_meta(self, key: str, value: str) -> None:
        await self.run("INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value", (key, value))

    async def latest(self) -> tuple[int, str]:
        """(seq, generation) of the last applied transaction; (0, generation of the empty ledger) before the first."""
        rows = await self.fetch("SELECT seq, generation FROM transactions ORDER BY seq DESC LIMIT 1")
        return (rows[0]["seq"], rows[0]["generation"]) if rows else (0, generation_of(()))

    async def applied(self) -> set[str]:
        """Ids of the transactions this catalog has."""
        return {row["id"] for row in await self.fetch("SELECT id FROM transactions")}

    # ------------------------------------------------------------ by id

    async def histories(self, object_ids: Iterable[str]) -> dict[str, list[Revision]]:
        """For each object every revision about it, every one that replaces those, and what decides whether a replacing one
        of another object counts: its own later statements, and revokes; as `judge` wants it."""
        ids = list(dict.fromkeys(object_ids))
        if not ids:
            return {}
        rows = await self.fetch_in("SELECT seq, id, object_id, recorded_at, tx, line FROM revisions WHERE object_id IN ({marks})", ids)
        owner = {row["id"]: row["object_id"] for row in rows}
        told = {id_: {object_id} for id_, object_id in owner.items()}  # revision → objects whose history it belongs to
        waiting = set(told)
        while waiting:
            links = await self.fetch_in(
                "SELECT p.replaced, c.id, c.kind, c.object_id FROM replacements p JOIN revisions c ON c.id = p.by_id WHERE p.replaced IN ({marks})", waiting)
            rows += await self.fetch_in("SELECT seq, id, object_id, recorded_at, tx, line FROM revisions WHERE id IN ({marks})", {c["id"] for c in links} - owner.keys())
            waiting = set()
            for replaced, id_, kind, object_id in links:
                owner[id_] = object_id
                decides = kind == "revoke" or object_id == owner[replaced]
                held = told.setdefault(id_, set())
                if new := {i for i in told[replaced] if decides or i == owner[replaced]} - held:
                    held |= new
                    waiting.add(id_)
        names = {r["seq"]: r["id"] for r in await self.fetch_in("SELECT seq, id FROM transactions WHERE seq IN ({marks})", {r["tx"] for r in rows})}
        found: dict[str, list[Revision]] = {i: [] for i in ids}
        for row in rows:
            revision = revision_from_json(orjson.loads(row["line"]), from_iso(row["recorded_at"]), names.get(row["tx"], ""))
            for object_id in told[row["id"]]:
                found[object_id].append(revision)
        return found

    async def load_objects(self, object_ids: Iterable[str]) -> list[MemoryObject]:
        """The objects as they stand, in the order asked, links with the title and page of their targets; unknown ids
        are left out."""
        ids = list(dict.fromkeys(object_ids))
        cold = [i for i in ids if i not in self.fresh]
        folded = {i: folded for i, history in (await self.histories(cold)).items() if (folded := as_object(history, about=i))}
        objects = await self._with_incoming([found for i in ids if (found := self.fresh.get(i) or folded.get(i))])
        targets = {link.target for o in objects for link in o.links} | {o.about for o in objects if o.about}
        places = {i: (o.title, o.location) for i in targets if (o := self.fresh.get(i))}
        rows = await self.fetch_in("SELECT id, title, location FROM memory_objects WHERE id IN ({marks})", targets - places.keys())
        places.update({row["id"]: (row["title"], row["location"]) for row in rows})
        return [_with_pages(o, places) for o in objects]

    async def _with_incoming(self, objects: list[MemoryObject]) -> list[MemoryObject]:
        """Concepts, entities and what is made of them, with what speaks of them as links."""
        named = [o.id for o in objects if o.type not in (MemoryType.CLAIM, MemoryType.RELATIONSHIP)]
        incoming: dict[str, list[Link]] = {}
        for here, there, labels in (("source", "target", {}), ("target", "source", SEEN_FROM_THE_TARGET)):
            for row in await self.fetch_in(
                f"SELECT {here} AS here, {there} AS there, type, max(weight) AS weight FROM edges WHERE {here} IN ({{marks}}) AND source != target "
                f"AND held_by != {here} GROUP BY here, type, there ORDER BY here, type, weight DESC, there", named):
                links = incoming.setdefault(row["here"], [])
                if len(links) < LINKS_SHOWN:
                    kind = EdgeType(row["type"])
                    links.append(Link(row["there"], kind, row["weight"], label=labels.get(kind, "")))
        return [replace(o, links=(*o.links, *incoming[o.id])) if o.id in incoming else o for o in objects]

    async def head_revisions(self, document_ids: Iterable[str]) -> dict[str, list[Revision]]:
        """For each document the revisions it supports that nothing has taken away or restated, its own among them; what a
        claim of another object superseded is there too."""
        found: dict[str, list[Revision]] = {}
        rows = await self.fetch_in("SELECT document_id, recorded_at, line FROM revisions WHERE head = 1 AND document_id IN ({marks}) ORDER BY seq", document_ids)
        for row in rows:
            found.setdefault(row["document_id"], []).append(revision_from_json(orjson.loads(row["line"]), from_iso(row["recorded_at"])))
        return found

    def forget_fresh(self) -> None:
        """Drops the folded objects kept for the projections that follow; call once they have caught up."""
        self.fresh.clear()


async def open_or_start_over(path: Path) -> Catalog:
    """The catalog at `path`; a damaged one is set aside (`.damaged`) for an empty one, which the ledger fills again.

    Raises CatalogTooNew, and CatalogDamaged where not even that can be done.
    """
    try:
        return await Catalog.open(path)
    except CatalogDamaged:
        if not path.is_file():
            raise
        for suffix in ("", "-wal", "-shm"):
            old = path.with_name(path.name + suffix)
            if old.exists():
                os.replace(old, old.with_name(old.name + ".damaged"))
        return await Catalog.open(path)


async def _connect(path: Path, read_only: bool) -> aiosqlite.Connection:
    """A connection with named columns. Raises CatalogDamaged where SQLite can't even open the file."""
    try:
        place = f"{path.absolute().as_uri()}?mode=ro&immutable=1" if read_only else path
        connection = await aiosqlite.connect(place, isolation_level=None, uri=read_only)
    except sqlite3.OperationalError as error:
        raise CatalogDamaged(path, str(error)) from error
    connection.row_factory = sqlite3.Row
    return connection


def _with_pages(o: MemoryObject, places: dict[str, tuple[str, str]]) -> MemoryObject:
    def shown(link: Link) -> Link:
        title, location = places.get(link.target, ("", ""))
        return Link(link.target, link.type, link.weight, title, _page(location), link.label)

    if o.type is MemoryType.RELATIONSHIP and o.links:
        source, target = places.get(o.about), places.get(o.links[0].target)
        if source and target:
            ends = " ".join((f"[[{_page(source[1])}|{link_text(source[0])}]]", o.links[0].type.replace("_", " "), f"[[{_page(target[1])}|{link_text(target[0])}]]"))
            return replace(o, body=f"{ends}.\n\n{o.body}" if o.mode is not Mode.EXTRACTED and o.body else f"{ends}.", links=tuple(replace(link, title=target[0]) for link in o.links))
    links = list(o.links)
    if o.about and o.type is MemoryType.CLAIM:
        links.insert(0, Link(o.about, EdgeType.EXPLAINS))
    return replace(o, links=tuple(shown(link) for link in links)) if links else o


def _page(location: str) -> str:
    return location.rpartition("/")[2].removesuffix(".md")
