"""What an embedder is, and the ways it can fail.

Owns the protocol every embedder keeps. Never loads a model: `smb.inference.static_embedder` and the Ollama client do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from smb.model.errors import SmbError

if TYPE_CHECKING:
    import numpy as np


class Embedder(Protocol):
    """Text to vectors. `fingerprint` names model, version, dimension and rule, so equal fingerprints give equal vectors."""

    @property
    def fingerprint(self) -> str: ...

    @property
    def dimension(self) -> int: ...

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """float32 (len(texts), dimension), each row of length 1, or all zero where the text has no words.

        A text's row never depends on the other texts. Raises EmbedderUnavailable.
        """
        ...


class EmbedderMismatch(SmbError):
    """The bank was embedded by one model and another one is configured."""

    def __init__(self, bank_has: str, configured: str) -> None:
        self.bank_has = bank_has
        self.configured = configured
        super().__init__(
            f"This bank is embedded with {bank_has}, but {configured} is configured. Set the embedder back, or embed "
            "everything again with `smb rebuild --vectors`."
        )


class EmbedderUnavailable(SmbError):
    """The model cannot be loaded or reached; lexical search works without it."""

    def __init__(self, fingerprint: str, reason: str, remedy: str) -> None:
        self.fingerprint = fingerprint
        self.reason = reason
        super().__init__(f"The embedder {fingerprint} is unavailable: {reason}. {remedy}".rstrip())


class TextRefused(EmbedderUnavailable):
    """The model is there and won't embed one of these texts; others may do."""
