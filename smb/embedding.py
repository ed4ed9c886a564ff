"""The bank's embedder and the matrix of what it has embedded, kept to one fingerprint.

Owns when either is loaded (never before it is needed) and that the two never mix: a bank whose fingerprint differs from
the embedder's is an error with the command that mends it, never a silent fallback.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from smb.bank_layout import fix_fingerprint, read_toml

if TYPE_CHECKING:
    from smb.inference.embedder import Embedder
    from smb.stores.embedding_matrix import EmbeddingMatrix


class Embedding:
    """`embedder` replaces the packaged one (tests, other models)."""

    def __init__(self, bank: Path, embedder: Embedder | None = None):
        self._bank = bank
        self._embedder = embedder
        self._matrix: EmbeddingMatrix | None = None
        self.fingerprint = read_toml(bank).fingerprint

    @property
    def embedder(self) -> Embedder:
        if self._embedder is None:
            from smb.inference.static_embedder import StaticEmbedder

            self._embedder = StaticEmbedder()
        return self._embedder

    @property
    def matrix(self) -> EmbeddingMatrix:
        if self._matrix is None:
            from smb.stores.embedding_matrix import EmbeddingMatrix

            self._matrix = EmbeddingMatrix(self._bank / "index" / "embeddings", self.embedder.fingerprint, self.embedder.dimension)
        return self._matrix

    def check(self) -> None:
        """Fixes the bank's fingerprint at first use. Raises EmbedderMismatch, EmbedderUnavailable."""
        if not self.fingerprint:
            self._fix()
        elif self.fingerprint != self.embedder.fingerprint:
            from smb.inference.embedder import EmbedderMismatch

            raise EmbedderMismatch(self.fingerprint, self.embedder.fingerprint)

    def rows(self, texts: Sequence[str]) -> Sequence[int]:
        """Rows of the matrix for `texts`, embedded where they are new. Raises EmbedderMismatch."""
        self.check()
        return self.matrix.rows_for(texts, self.embedder.embed)

    def sync(self) -> None:
        """Makes the rows given out so far durable."""
        if self._matrix is not None:
            self._matrix.sync()

    def start_over(self) -> None:
        """Forgets every embedding and takes the configured embedder for the bank's."""
        self._fix()
        self.matrix.clear()

    def for_queries(self) -> tuple[Embedder | None, list[tuple[str, str]]]:
        """The embedder to ask a question with, or None and (route, reason) why the dense route is out."""
        from smb.inference.embedder import EmbedderUnavailable

        try:
            fingerprint = self.embedder.fingerprint
        except EmbedderUnavailable as error:
            return None, [("dense", str(error))]
        if self.fingerprint and self.fingerprint != fingerprint:
            return None, [("dense", f"embedding_mismatch: the bank has {self.fingerprint}, configured is {fingerprint}; `smb rebuild --vectors` mends it")]
        return self.embedder, []

    def _fix(self) -> None:
        if self.fingerprint != self.embedder.fingerprint:
            fix_fingerprint(self._bank, self.embedder.fingerprint)
            self.fingerprint = self.embedder.fingerprint
