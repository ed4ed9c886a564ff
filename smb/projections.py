"""What follows the ledger: the object files, graph.json and the Chroma mirror, and what people did to the files.

Owns when each is brought up to date and that a hand edit is taken in before anything is rendered over it. Never plans what
to write to the ledger but what a person wrote already.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smb.bank_layout import make_folders
from smb.embedding import Embedding
from smb.stores.catalog import Catalog
from smb.stores.ledger import Ledger
from smb.vector_work import VectorWork
from smb.writer import Writer

if TYPE_CHECKING:
    from smb.authoring import Authored
    from smb.stores.hand_edit import HandEdit
    from smb.stores.vector_mirror import VectorMirror
    from smb.stores.views import MarkdownStore

Progress = Callable[[str, int, int | None], None]
GRAPH_FILE_OBJECTS = 20_000  # up to here an ingest writes graph.json; beyond, `rebuild` and `ingest --sync` do


class Projections:
    """Those of one bank. Methods that write take the writer lock themselves; raise BankLocked."""

    def __init__(self, path: Path, catalog: Catalog, ledger: Ledger, writer: Writer, embedding: Embedding, clock: Callable[[], datetime]):
        self.path, self._catalog, self._ledger, self._writer, self._embedding, self._clock = path, catalog, ledger, writer, embedding, clock
        writer.before_first_commit(self._settle)

    def vector_mirror(self) -> VectorMirror:
        from smb.stores.vector_mirror import VectorMirror

        return VectorMirror(self.path / "index" / "vectors", lambda: self._embedding.matrix)

    async def render(self) -> None:
        """Object files of what changed, with hand edits met on the way taken in first."""
        from smb.stores.views import MarkdownStore

        if await MarkdownStore(self.path).stamp(self._catalog) != await self._catalog.latest():
            async with self._writer.writing():
                await self._settle()
        self._catalog.forget_fresh()

    async def _settle(self) -> None:
        """Object files as the ledger has it, once what people did to them is in it; the caller is `writing`."""
        from smb.stores.views import MarkdownStore

        views = MarkdownStore(self.path)
        await views.catch_up(self._catalog)
        if edits := views.take_edits():
            await self._take_in(views, edits)

    async def follow(self, sync: bool = False, vectors: bool = True, progress: Progress | None = None) -> str:
        """graph.json while it is cheap, what is embedded later, and Chroma once it lags by more than it may; all of it with
        `sync`. Returns why texts still wait for their vectors, empty where none do."""
        from smb.stores.graph_file import GraphFile

        (objects,) = (await self._catalog.fetch("SELECT count(*) FROM memory_objects"))[0]
        graph = GraphFile(self.path)
        if sync or (objects <= GRAPH_FILE_OBJECTS and await graph.stamp(self._catalog) != await self._catalog.latest()):
            async with self._writer.writing():
                await graph.catch_up(self._catalog)
        if not vectors:
            return ""
        filled = await VectorWork(self._catalog, self._writer, self._embedding).fill(progress)
        await self.mirror_vectors(sync, progress)
        return filled.waiting()

    async def mirror_vectors(self, sync: bool = True, progress: Progress | None = None) -> None:
        """Chroma, if it lags at all with `sync`, else once it lags by more than it may."""
        mirror = self.vector_mirror()
        if await mirror.lag(self._catalog) > (0 if sync else mirror.TOLERATED_LAG):
            if progress:
                progress("vectors", 0, None)
            await mirror.catch_up(self._catalog)

    async def absorb(self, dry_run: bool = False) -> dict[str, Any]:
        """Takes hand edits of object files into the ledger: {"edits": [{id, path, kind}], "unreadable": […], "files"}."""
        from smb.authoring import authored
        from smb.stores.views import MarkdownStore

        views = MarkdownStore(self.path)
        async with self._writer.writing():
            met: list[HandEdit] = []
            if not dry_run:
                await views.catch_up(self._catalog)
                met = views.take_edits()
            edits = list({e.object_id: e for e in (*met, *await views.scan_edits(self._catalog))}.values())
            taken = await authored(self._catalog, edits, self._clock) if dry_run else await self._take_in(views, edits)
        self._catalog.forget_fresh()
        (files,) = (await self._catalog.fetch("SELECT count(*) FROM rendered"))[0]
        return {"dry_run": dry_run, "files": files, "generation": self._ledger.generation(), **taken.report()}

    async def rebuild(self, vectors: bool = False, progress: Progress | None = None, embedder: str = "") -> dict[str, Any]:
        """Makes every projection again from ledger and layer 0, without a model; `vectors` embeds everything anew, beside
        what is there where it takes its time or `embedder` names another one.

        The object files are compared and only what differs is written; hand edits are taken in first.
        """
        from smb.stores.graph_file import GraphFile
        from smb.stores.views import MarkdownStore

        started = time.perf_counter()
        tell = progress or (lambda *_: None)
        edits = await self.absorb() if await self._comparable() else {"edits": [], "unreadable": []}
        make_folders(self.path)
        moved = None
        if vectors and (embedder or self._embedding.deferred):
            async with self._writer.writing():
                pass
            moved = await VectorWork(self._catalog, self._writer, self._embedding).move(embedder or self._embedding.name, progress)
        async with self._writer.alone():
            if vectors and moved is None:
                self._embedding.start_over()
            async for done, total in self._writer.relearn():
                tell("catalog", done, total)
            tell("files", 0, None)
            views = MarkdownStore(self.path)
            files = await views.rebuild(self._catalog)
            if met := views.take_edits():  # in a bank whose index was lost, an edit is met only now
                edits = (await self._take_in(views, met)).report()
            tell("graph", 0, None)
            await GraphFile(self.path).rebuild(self._catalog)
            tell("vectors", 0, None)
            mirrored = await self.vector_mirror().rebuild(self._catalog)
        return {"generation": self._ledger.generation(), "transactions": len(self._ledger.ids()), "files_written": files, "mirrored": mirrored,
                "embedder": self._embedding.fingerprint or None, "embedded": moved.report() if moved else None, "absorbed": edits["edits"], "unreadable": edits["unreadable"], "seconds": round(time.perf_counter() - started, 3)}

    async def _take_in(self, views: MarkdownStore, edits: Sequence[HandEdit]) -> Authored:
        """Commits what people did to object files and renders those afresh; the caller is `writing`."""
        from smb.authoring import authored

        taken = await authored(self._catalog, edits, self._clock)
        if taken.transaction is not None:
            await self._writer.commit(taken.transaction)
        await views.adopt(self._catalog, taken.readable)
        await views.catch_up(self._catalog)
        return taken

    async def _comparable(self) -> bool:
        """Whether this clone rendered object files before, so that a difference is somebody's edit."""
        return bool(await self._catalog.fetch("SELECT 1 FROM rendered LIMIT 1"))
