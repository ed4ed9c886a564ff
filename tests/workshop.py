"""A bank folder with a catalog, and statements said to it one transaction at a time. For tests of the object files."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

from smb.model.evidence import Span
from smb.model.identity import object_id, sha256_hex
from smb.model.revision import Revision, RevisionKind, Statement, Transaction, new_revision
from smb.model.validity import UTC
from smb.stores.catalog import Catalog
from smb.stores.catalog_apply import apply
from smb.stores.views import MarkdownStore

START = datetime(2031, 5, 1, 9, tzinfo=UTC)


class Workshop:
    """`said` are the transactions so far, an hour apart."""

    def __init__(self, folder: Path, catalog: Catalog):
        self.folder, self.catalog, self.views = folder, catalog, MarkdownStore(folder)
        self.said: list[Transaction] = []

    async def commit(self, *revisions: Revision) -> Transaction:
        at = START + timedelta(hours=len(self.said))
        id_ = sha256_hex(repr((at, [r.id for r in revisions])).encode())[:32]
        tx = Transaction("ingest", "test", at, tuple(replace(r, recorded_at=at, transaction=id_) for r in revisions), id=id_)
        self.said.append(tx)
        await self.take(tx)
        return tx

    async def take(self, *transactions: Transaction) -> None:
        await apply(self.catalog, transactions, lambda source: b"")
        self.catalog.forget_fresh()

    def file(self, revision: Revision) -> Path:
        (found,) = self.folder.glob(f"layer-*/*/*-{revision.object_id}.md")
        return found

    def files(self) -> dict[str, bytes]:
        return {p.relative_to(self.folder).as_posix(): p.read_bytes() for p in sorted(self.folder.glob("layer-*/*/*.md"))}


def concept(
    title: str, *, body: str = "", type_: str = "concept", document: str = "d00000000001",
    replaces: tuple[Revision, ...] = (), **says: object,
) -> Revision:
    quote = body or title
    span = Span(sha256_hex(quote.encode()), 0, len(quote.encode()), 1, 1, quote)
    return new_revision(
        RevisionKind.ASSERT, object_id(type_, title), type_, document=document, evidence=(span,),
        statement=Statement(title, title, body=body, **says), replaces=tuple(r.id for r in replaces),
    )


def revoke(of: Revision, reason: str) -> Revision:
    return new_revision(RevisionKind.REVOKE, of.object_id, of.object_type, replaces=(of.id,), reason=reason, actor="person")


Scene = Callable[[Workshop], Awaitable[None]]


def play(folder: Path, scene: Scene) -> None:
    """Runs `scene` in a new workshop in `folder`/bank."""
    async def run() -> None:
        async with await Catalog.open(folder / "bank" / "index" / "metadata.db") as catalog:
            await scene(Workshop(folder / "bank", catalog))
    asyncio.run(run())
