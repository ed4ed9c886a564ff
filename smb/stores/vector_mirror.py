"""The Chroma mirror as a projection: every memory object with its embedding, its text and its metadata.

Owns when the mirror is brought up to date. Never computes an embedding (rows of the matrix are copied) and never makes
anything depend on the mirror: recall's own dense route reads the matrix.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from smb.stores.projection import Stamp, read_stamp, write_stamp
from smb.stores.vectors import VectorStore

if TYPE_CHECKING:
    from smb.stores.catalog import Catalog
    from smb.stores.embedding_matrix import EmbeddingMatrix

_BATCH = 4_000


class VectorMirror:
    """`matrix()` gives the embedding matrix; it is asked for only when there is something to copy."""

    name = "vectors"
    TOLERATED_LAG = 200  # objects it may be behind after an ingest (DESIGN.md, section 3)

    def __init__(self, directory: Path, matrix: Callable[[], EmbeddingMatrix]):
        self.directory, self._matrix = directory, matrix

    async def stamp(self, catalog: Catalog) -> Stamp | None:
        return await read_stamp(catalog, self.name) if self.directory.is_dir() else None

    async def lag(self, catalog: Catalog) -> int:
        """How many objects have changed since the mirror last caught up."""
        stamp = await self.stamp(catalog)
        (behind,) = (await catalog.fetch("SELECT count(*) FROM memory_objects WHERE changed > ? AND vector_row IS NOT NULL", (stamp.seq if stamp else 0,)))[0]
        return int(behind)

    async def catch_up(self, catalog: Catalog) -> int:
        """Copies what changed since the stamp; 0 (and no stamp) when another process owns the mirror."""
        latest, stamp = await catalog.latest(), await self.stamp(catalog)
        if stamp == latest:
            return 0
        return await self._copy(catalog, latest, stamp.seq if stamp else 0, afresh=stamp is None)

    async def rebuild(self, catalog: Catalog) -> int:
        """Empties the mirror and copies everything."""
        return await self._copy(catalog, await catalog.latest(), 0, afresh=True)

    async def _copy(self, catalog: Catalog, latest: tuple[int, str], since: int, *, afresh: bool) -> int:
        rows = await catalog.fetch(
            "SELECT id, type, title, body, status, layer, confidence, vector_row FROM memory_objects WHERE changed > ? AND vector_row IS NOT NULL ORDER BY id", (since,))
        if rows or afresh:
            matrix = self._matrix()
            store = VectorStore(self.directory, matrix.dimension)
            if not store.try_own():
                return 0
            try:
                if afresh:
                    store.clear()
                for start in range(0, len(rows), _BATCH):
                    part = rows[start : start + _BATCH]
                    store.upsert(
                        ids=[row["id"] for row in part],
                        embeddings=matrix.vectors([row["vector_row"] for row in part]),
                        documents=[row["title"] if row["body"] in ("", row["title"]) else f"{row['title']}\n{row['body']}" for row in part],
                        metadatas=[{"type": row["type"], "title": row["title"][:200], "status": row["status"], "layer": row["layer"],
                                    "confidence": row["confidence"]} for row in part],
                    )
            finally:
                store.release()
        await write_stamp(catalog, self.name, latest)
        await catalog.commit()
        return len(rows)
