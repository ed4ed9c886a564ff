"""The root of every error `smb` raises on purpose.

Owns the root and its exit code; each concrete error lives beside the code that raises it:

    SmbError                     exit 1
    ├── model.validity      TimeError
    ├── model.revision      MalformedRevision
    ├── stores.evidence_store  SourceCollision, EvidenceMissing
    ├── stores.ledger       LedgerDamaged
    ├── stores.object_file  MalformedObjectFile
    ├── stores.writer_lock  BankLocked (exit 6)
    ├── stores.catalog      CatalogTooNew
    ├── inference.embedder  EmbedderMismatch, EmbedderUnavailable
    └── bank                NoBank, BankTooNew, UnknownId, UnknownPath
"""

from __future__ import annotations


class SmbError(Exception):
    """A failure with a sentence for the person and an exit code for the shell."""

    exit_code = 1
