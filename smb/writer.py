"""Writing to a bank: the lock, the commit, and the catalog that follows the ledger.

Owns the order of DESIGN.md, section 3: under the writer lock the catalog is first brought up to the ledger, then the
transaction is committed, then applied; and that before the first commit after somebody else wrote (another process, a pull, a
clone, a lost index) what people did to the files is compared with what the ledger said until then. Never plans what to write and
never renders anything.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from smb.bank_layout import clear_leftovers
from smb.embedding import Embedding
from smb.model.revision import Transaction
from smb.model.validity import from_iso
from smb.stores.catalog import Catalog
from smb.stores.catalog_apply import apply
from smb.stores.evidence_store import EvidenceStore
from smb.stores.ledger import Ledger
from smb.stores.writer_lock import WriterLock

_APPLY_CHUNK = 64  # transactions applied to the catalog at a time when it is far behind


class Writer:
    """Commits transactions to one bank. Not for two tasks of a process at once."""

    def __init__(self, bank: Path, ledger: Ledger, evidence: EvidenceStore, catalog: Catalog, embedding: Embedding, lock_timeout: float):
        self._bank, self._ledger, self._evidence, self._catalog, self._embedding = bank, ledger, evidence, catalog, embedding
        self._lock = WriterLock(bank / "index" / "writer.lock", lock_timeout)
        self._first: Callable[[], Awaitable[None]] | None = None
        self._settled = False

    def before_first_commit(self, settle: Callable[[], Awaitable[None]]) -> None:
        """Has `settle` run, `writing`, before the first commit of this process and the first one after others wrote."""
        self._first = settle

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[None]:
        """The writer lock, with the catalog caught up to the ledger. Raises BankLocked after the lock timeout."""
        async with self.alone():
            await self._catch_up()
            yield

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[None]:
        """The writer lock alone, with what a killed writer left cleared away. Raises BankLocked."""
        await self._lock.acquire_async()
        try:
            if self._lock.inherited:
                await asyncio.to_thread(clear_leftovers, self._bank)
            yield
        finally:
            self._lock.release()

    async def commit(self, transaction: Transaction, sources: Mapping[str, bytes] | None = None) -> Transaction:
        """Commits and applies; the caller is `writing`. `sources` are bytes at hand, by id. Recorded time never runs
        backwards within a bank."""
        self._embedding.check()
        if not self._settled:
            self._settled = True
            if self._first is not None:
                await self._first()
        rows = await self._catalog.fetch("SELECT max(recorded_at) AS at FROM transactions")
        last = from_iso(rows[0]["at"])
        if last is not None and transaction.recorded_at <= last:
            transaction = replace(transaction, recorded_at=last + timedelta(microseconds=1))
        committed = await asyncio.to_thread(self._ledger.commit, transaction)
        await self._apply([committed], sources or {})
        return committed

    async def catch_up_if_free(self) -> bool:
        """Brings the catalog up to the ledger if nobody is writing; returns whether it still is behind (stale)."""
        if not await self._is_behind():
            return False
        if not self._lock.try_acquire():
            return True
        try:
            await self._catch_up()
        finally:
            self._lock.release()
        return False

    async def relearn(self) -> AsyncIterator[tuple[int, int]]:
        """Makes the catalog again from the whole ledger, beside the old one, and puts it in its place; yields (transactions
        applied, of how many). The caller is `alone`. Until the end the old catalog stands; what was scanned, rendered and of use
        is carried over: it is of this machine, not of the ledger."""
        self._embedding.check()
        made = self._catalog.path.with_name(self._catalog.path.name + ".new")
        for suffix in ("", "-wal", "-shm"):
            made.with_name(made.name + suffix).unlink(missing_ok=True)
        missing = self._ledger.missing(())
        async with await Catalog.open(made) as new:
            for start in range(0, len(missing), _APPLY_CHUNK):
                yield start, len(missing)
                await self._apply(missing[start : start + _APPLY_CHUNK], {}, new)
                new.forget_fresh()
            await new.begin()
            for table in ("scanned", "rendered", "strength"):
                rows = await self._kept(table)
                if rows:
                    await new.run_many(f"INSERT INTO {table} VALUES ({', '.join('?' * len(rows[0]))})", rows)
            await new.commit()
        await self._catalog.replace_with(made)

    async def _kept(self, table: str) -> list[tuple[Any, ...]]:
        """The rows of a table of this machine's; none where the old catalog can't be read."""
        try:
            return [tuple(row) for row in await self._catalog.fetch(f"SELECT * FROM {table}")]
        except sqlite3.DatabaseError:
            return []

    async def _is_behind(self) -> bool:
        return self._ledger.generation() != (await self._catalog.latest())[1]

    async def _catch_up(self) -> None:
        """Applies what the ledger has and the catalog has not; a catalog of another history is made again."""
        if not await self._is_behind():
            return
        self._settled = False
        applied = await self._catalog.applied()
        if applied - set(self._ledger.ids()):
            async for _ in self.relearn():
                pass
            return
        missing = self._ledger.missing(applied)
        for start in range(0, len(missing), _APPLY_CHUNK):
            await self._apply(missing[start : start + _APPLY_CHUNK], {})
            self._catalog.forget_fresh()

    async def _apply(self, transactions: Iterable[Transaction], held: Mapping[str, bytes], catalog: Catalog | None = None) -> None:
        await apply(catalog or self._catalog, transactions, lambda sha: held[sha] if sha in held else self._evidence.read(sha), self._embedding.rows, self._embedding.sync)
