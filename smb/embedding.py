"""The bank's embedder and the matrix of what it has embedded, kept to one fingerprint.

Owns which embedder a bank has, when it and the matrix are loaded (never before they are needed) and that two never mix: a
bank whose fingerprint differs from the embedder's is an error with the command that mends it, never a silent fallback.
An embedder that takes its time (a server, a transformer) embeds later, outside the writer lock: see `smb.vector_work`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from smb.bank_layout import fix_fingerprint, read_toml
from smb.config import DEFAULT_ORIGIN, Settings, models_path

if TYPE_CHECKING:
    from smb.inference.embedder import Embedder
    from smb.stores.embedding_matrix import EmbeddingMatrix

STATIC, MINILM, OLLAMA = "static", "minilm", "ollama:"


class Embedding:
    """`embedder` replaces the one the bank and the settings name (tests, other models)."""

    def __init__(self, bank: Path, embedder: Embedder | None = None, settings: Settings | None = None):
        self._bank = bank
        self._settings = settings or Settings()
        self._given = self._embedder = embedder
        self._asking: Embedder | None = None
        self._matrix: EmbeddingMatrix | None = None
        self.fingerprint = read_toml(bank).fingerprint
        named = self._settings.embedding_model
        self.name = named if self._settings.origin("embedding_model") != DEFAULT_ORIGIN else name_of(self.fingerprint) or named

    @property
    def directory(self) -> Path:
        return self._bank / "index" / "embeddings"

    @property
    def deferred(self) -> bool:
        """Whether what is written is embedded afterwards."""
        return self._given is None and self.name != STATIC

    @property
    def embedder(self) -> Embedder:
        if self._embedder is None:
            self._embedder = self.made(self.name)
        return self._embedder

    def made(self, name: str, *, questions: bool = False) -> Embedder:
        """The embedder of that name, by this bank's settings."""
        return embedder_of(self._settings, name, questions=questions)

    @property
    def matrix(self) -> EmbeddingMatrix:
        """What is embedded, without asking an embedder that embeds later: an empty matrix where nothing is yet."""
        if self._matrix is None:
            from smb.stores.embedding_matrix import EmbeddingMatrix, held_by

            if not self.deferred:
                self._matrix = EmbeddingMatrix(self.directory, self.embedder.fingerprint, self.embedder.dimension)
            elif (held := held_by(self.directory)) and held[0] == self.fingerprint:
                self._matrix = EmbeddingMatrix(self.directory, *held)
            else:
                return EmbeddingMatrix(self._bank / "index" / "nothing-embedded", self.fingerprint or self.name, 1)
        return self._matrix

    def matrix_to_fill(self) -> EmbeddingMatrix:
        """The matrix of the embedder, which is asked; the caller holds the writer lock. Raises EmbedderMismatch, EmbedderUnavailable."""
        from smb.stores.embedding_matrix import EmbeddingMatrix

        self.check()
        if not self.fingerprint:
            self._fix()
        elif self.fingerprint != self.embedder.fingerprint:
            from smb.inference.embedder import EmbedderMismatch

            raise EmbedderMismatch(self.fingerprint, self.embedder.fingerprint)
        if self._matrix is None:
            self._matrix = EmbeddingMatrix(self.directory, self.embedder.fingerprint, self.embedder.dimension)
        return self._matrix

    def check(self) -> None:
        """Fixes the bank's fingerprint at first use. Raises EmbedderMismatch, EmbedderUnavailable.

        Of an embedder that embeds later only the name is looked at: its fingerprint is fixed when it first embeds.
        """
        from smb.inference.embedder import EmbedderMismatch

        if self.deferred:
            if self.fingerprint and name_of(self.fingerprint) != full_name(self.name):
                raise EmbedderMismatch(self.fingerprint, self.name)
        elif not self.fingerprint:
            self._fix()
        elif self.fingerprint != self.embedder.fingerprint:
            raise EmbedderMismatch(self.fingerprint, self.embedder.fingerprint)

    def rows(self, texts: Sequence[str]) -> Sequence[int | None]:
        """Rows of the matrix for `texts`, embedded where they are new; None for those to be embedded later. Raises EmbedderMismatch."""
        self.check()
        return self.matrix.known_rows(texts) if self.deferred else self.matrix.rows_for(texts, self.embedder.embed)

    def sync(self) -> None:
        """Makes the rows given out so far durable."""
        if self._matrix is not None:
            self._matrix.sync()

    def start_over(self) -> None:
        """Forgets every embedding and takes the configured embedder for the bank's."""
        self._fix()
        self.matrix.clear()

    def take(self, name: str, embedder: Embedder) -> None:
        """Takes another embedder for the bank's, whose matrix is in its place already."""
        if self._given is None:
            self.name, self._embedder, self._asking = name, embedder, None
        self._matrix = None
        self._fix(embedder.fingerprint)

    def for_queries(self) -> tuple[Embedder | None, list[tuple[str, str]]]:
        """The embedder to ask a question with, or None and (route, reason) why the dense route is out."""
        from smb.inference.embedder import EmbedderUnavailable

        if self.deferred and self.fingerprint and name_of(self.fingerprint) != full_name(self.name):
            return None, [("dense", self._mismatch(self.name))]
        if self.deferred and not len(self.matrix):
            return None, [("dense", f"nothing is embedded yet by {self.name}; `smb ingest` does it")]
        if self._asking is None:
            self._asking = self.made(self.name, questions=True) if self.deferred and self.name != MINILM else self.embedder
        try:
            fingerprint = self._asking.fingerprint
        except EmbedderUnavailable as error:
            return None, [("dense", f"unavailable: {error}")]
        if self.fingerprint and self.fingerprint != fingerprint:
            return None, [("dense", self._mismatch(fingerprint))]
        return self._asking, []

    def trouble(self) -> tuple[str, str, str] | None:
        """(what, why, the command that mends it) where the embedder is another than the bank's or can't be used."""
        from smb.inference.embedder import EmbedderUnavailable

        configured = self.name
        if not self.deferred or not self.fingerprint or name_of(self.fingerprint) == full_name(self.name):
            try:
                configured = (self.made(self.name, questions=True) if self.deferred else self.embedder).fingerprint
            except EmbedderUnavailable as error:
                return "embedder.unavailable", str(error), "smb models check"
        if self.fingerprint in ("", configured):
            return None
        return "embedder.mismatch", f"the bank was embedded by {self.fingerprint}, configured is {configured}", "smb rebuild --vectors"

    def _mismatch(self, configured: str) -> str:
        return f"embedding_mismatch: the bank has {self.fingerprint}, configured is {configured}; `smb rebuild --vectors` mends it"

    def _fix(self, fingerprint: str = "") -> None:
        fingerprint = fingerprint or self.embedder.fingerprint
        if self.fingerprint != fingerprint:
            fix_fingerprint(self._bank, fingerprint)
            self.fingerprint = fingerprint


def embedder_of(settings: Settings, name: str, *, questions: bool = False) -> Embedder:
    """The embedder of that name; with `questions` one for questions, which somebody waits for. Loads and asks nothing yet."""
    if name == STATIC:
        from smb.inference.static_embedder import StaticEmbedder

        return StaticEmbedder()
    if name == MINILM:
        from smb.inference.minilm_embedder import MinilmEmbedder

        return MinilmEmbedder(models_path() / MINILM)
    from smb.inference.ollama_embedder import QUICK, OllamaEmbedder

    model = name.removeprefix(OLLAMA)
    return OllamaEmbedder(settings.ollama_host, model, limits=QUICK, questions=True) if questions else OllamaEmbedder(settings.ollama_host, model)


def full_name(name: str) -> str:
    """A name as settings have it, with Ollama's tag written out, so that two of one embedder are equal."""
    if not name.startswith(OLLAMA):
        return name
    from smb.inference.model_choice import full_name as with_tag

    return OLLAMA + with_tag(name.removeprefix(OLLAMA))


def name_of(fingerprint: str) -> str:
    """The name that makes the embedder of a fingerprint; empty for one that no setting names."""
    if fingerprint.startswith(OLLAMA):
        return full_name(fingerprint.partition("@")[0])
    return STATIC if fingerprint.startswith("wordllama-") else MINILM if fingerprint.startswith("minilm-") else ""
