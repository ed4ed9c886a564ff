"""Embedding what was written without a vector, and moving a bank to another embedder.

Owns the order in which both happen: texts are read, embedded without the writer lock, and noted under it, a batch at a
time, so that a server that takes its time keeps nobody from writing and a killed run loses one batch. A move fills a
matrix beside the old one and takes its place only when it is whole. Never calls a language model.
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from smb.embedding import Embedding, full_name
from smb.stores.catalog import Catalog
from smb.writer import Writer

if TYPE_CHECKING:
    import numpy as np

    from smb.inference.embedder import Embedder
    from smb.stores.catalog_vectors import Wanting
    from smb.stores.embedding_matrix import EmbeddingMatrix

Progress = Callable[[str, int, int | None], None]
STAGE = "embeddings"
BATCH = 128  # texts embedded between two takings of the lock
_MOVING = "embeddings.new"
_MOVED = "embeddings.old"


@dataclass(slots=True)
class Filled:
    """What one run did: texts `embedded`, `refused` by the model, rows `left` without a vector, and what stopped it."""

    embedded: int = 0
    refused: int = 0
    left: int = 0
    trouble: str = ""
    passed_over: set[str] = field(default_factory=set)

    def waiting(self) -> str:
        """Why texts still have no vector; empty where none wait."""
        if self.trouble:
            return f"{self.left} texts wait for their vectors, and words find them all the same. {self.trouble}"
        return f"the embedder refused {self.refused} texts; words find them all the same" if self.refused else ""

    def report(self) -> dict[str, object]:
        return {"embedded": self.embedded, "refused": self.refused, "left": self.left, "trouble": self.trouble or None}


class VectorWork:
    """For one open bank. Both methods take the writer lock themselves; raise BankLocked."""

    def __init__(self, catalog: Catalog, writer: Writer, embedding: Embedding):
        self._catalog, self._writer, self._embedding = catalog, writer, embedding

    async def fill(self, progress: Progress | None = None) -> Filled:
        """Embeds what lacks a vector, where the embedder embeds later. One that can't be reached is no error here: what it
        would have done is `left`, and `trouble` says why. Raises EmbedderMismatch."""
        from smb.inference.embedder import EmbedderUnavailable
        from smb.stores.catalog_vectors import count

        filled = Filled(left=await count(self._catalog, only_lacking=True) if self._embedding.deferred else 0)
        if not filled.left:
            return filled
        try:
            await asyncio.to_thread(lambda: self._embedding.embedder.fingerprint)
            async with self._writer.alone():
                matrix = self._embedding.matrix_to_fill()
            await self._pass(matrix, self._embedding.embedder, filled, progress, naming=True)
        except EmbedderUnavailable as error:
            filled.trouble = str(error)
        filled.left = await count(self._catalog, only_lacking=True)
        return filled

    async def move(self, name: str, progress: Progress | None = None) -> Filled:
        """Makes `name` the bank's embedder. Recall goes on with the old vectors until the new ones are whole; a move that
        was killed goes on from what is embedded. Raises EmbedderUnavailable; what is embedded by then is kept for the next try."""
        from smb.stores.catalog_vectors import forget_rows
        from smb.stores.embedding_matrix import EmbeddingMatrix, held_by

        embedder = self._embedding.made(name)
        fingerprint, dimension = await asyncio.to_thread(lambda: (embedder.fingerprint, embedder.dimension))
        moving = self._embedding.directory.with_name(_MOVING)
        moved = self._embedding.directory.with_name(_MOVED)
        held = held_by(moving)
        filled = Filled()
        if held is None and held_by(self._embedding.directory) == (fingerprint, dimension) != (self._embedding.fingerprint, dimension):
            moving = self._embedding.directory  # a move that was killed after the new matrix took its place
        elif held not in (None, (fingerprint, dimension)):
            shutil.rmtree(moving)
        matrix = EmbeddingMatrix(moving, fingerprint, dimension)
        while True:
            before = filled.embedded
            await self._pass(matrix, embedder, filled, progress, naming=False)
            if filled.embedded > before:
                continue  # others may have written meanwhile
            async with self._writer.writing():
                if await self._lacks(matrix, filled):
                    continue
                matrix.sync()
                await forget_rows(self._catalog)  # from here to the end recall is without vectors, never with wrong ones
                if moving != self._embedding.directory and moving.exists():
                    shutil.rmtree(moved, ignore_errors=True)
                    if self._embedding.directory.exists():
                        self._embedding.directory.rename(moved)
                    moving.rename(self._embedding.directory)
                self._embedding.take(full_name(name), embedder)
                await self._name_all()
                shutil.rmtree(moved, ignore_errors=True)
                return filled

    async def _pass(self, matrix: EmbeddingMatrix, embedder: Embedder, filled: Filled, progress: Progress | None, *, naming: bool) -> None:
        """Once over all texts (with `naming` over those without a vector, which then get one)."""
        from smb.stores.catalog_vectors import START, count, name_rows, wanting

        total = await count(self._catalog, only_lacking=naming)
        after, done = START, 0
        while batch := await wanting(self._catalog, after, BATCH, only_lacking=naming):
            after = batch[-1]
            texts = [one.text for one in batch if one.text not in filled.passed_over]
            async with self._writer.alone():
                known = matrix.known_rows(texts)
            unknown = list(dict.fromkeys(text for text, row in zip(texts, known, strict=True) if row is None))
            vectors = await asyncio.to_thread(_embedded, embedder, unknown, filled)
            async with self._writer.alone():
                given = [text for text in texts if text not in filled.passed_over]
                rows = dict(zip(given, matrix.rows_for(given, lambda asked: _stacked(asked, vectors)), strict=True))
                filled.embedded += len(vectors)
                if naming and rows:
                    matrix.sync()
                    await name_rows(self._catalog, [(one, rows[one.text]) for one in batch if one.text in rows])
            done += len(batch)
            if progress:
                progress(STAGE, done, max(total, done))

    async def _lacks(self, matrix: EmbeddingMatrix, filled: Filled) -> bool:
        async for batch in self._batches():
            texts = [one.text for one in batch if one.text not in filled.passed_over]
            if None in matrix.known_rows(texts):
                return True
        return False

    async def _name_all(self) -> None:
        """Notes the row of every text the bank's matrix has; the caller is `writing`."""
        from smb.stores.catalog_vectors import name_rows

        matrix = self._embedding.matrix
        async for batch in self._batches():
            rows = matrix.known_rows([one.text for one in batch])
            await name_rows(self._catalog, [(one, row) for one, row in zip(batch, rows, strict=True) if row is not None])

    async def _batches(self) -> AsyncIterator[list[Wanting]]:
        """Every row that wants a vector."""
        from smb.stores.catalog_vectors import START, wanting

        after = START
        while batch := await wanting(self._catalog, after, 16 * BATCH, only_lacking=False):
            yield batch
            after = batch[-1]


def _embedded(embedder: Embedder, texts: Sequence[str], filled: Filled) -> dict[str, np.ndarray]:
    """Text → vector; where the model refuses one of them each is embedded alone, and those refused are passed over."""
    from smb.inference.embedder import TextRefused

    if not texts:
        return {}
    try:
        return dict(zip(texts, embedder.embed(texts), strict=True))
    except TextRefused:
        if len(texts) > 1:
            return {text: vector for one in texts for text, vector in _embedded(embedder, [one], filled).items()}
        filled.refused += 1
        filled.passed_over.add(texts[0])
        return {}


def _stacked(texts: Sequence[str], vectors: Mapping[str, np.ndarray]) -> np.ndarray:
    """float32 (len(texts), dimension) of vectors at hand."""
    import numpy as np

    return np.stack([vectors[text] for text in texts])
