"""The root of every error `smb` raises on purpose.

Owns the root and its exit code; each concrete error lives beside the code that raises it:

    SmbError                      exit 1
    ├── model.revision           MalformedRevision
    ├── model.validity           TimeError (exit 2)
    ├── stores.catalog           CatalogTooNew, CatalogDamaged
    ├── stores.catalog_apply     IdentityCollision
    ├── stores.embedding_matrix  MatrixMismatch, MatrixDamaged
    ├── stores.evidence_store    SourceCollision, EvidenceMissing
    ├── stores.graph             UnknownEdgeType (exit 2), UnknownNodeType (exit 2)
    ├── stores.ledger            LedgerDamaged
    ├── stores.object_file       MalformedObjectFile
    ├── stores.vectors           VectorsNotOwned, VectorsUnreadable
    ├── stores.writer_lock       BankLocked (exit 6)
    ├── inference.embedder       EmbedderMismatch, EmbedderUnavailable
    ├── inference.minilm_download DownloadFailed
    ├── inference.model_errors   ModelError
    ├── inference.prompts        NoPrompt, BadPrompt
    ├── evolve.cycle             UnknownPhase (exit 2)
    ├── ingest.scan              RootUnreadable (exit 2)
    ├── ingest.scope             NothingToIngest (exit 2), NotANote (exit 2)
    ├── recall.cite              QuoteUnreadable
    ├── recall.discover          RouteUnavailable
    ├── recall.profiles          UnknownProfile (exit 2), ProfileCycle, BadProfile
    ├── recall.query             EmptyQuery (exit 2)
    ├── bank_layout              NoBank, NotEmpty, BankTooNew, BankTomlDamaged
    ├── conflicts                UnknownConflict, NotAResolution (exit 2), SideGone, UnknownKind (exit 2)
    ├── config                   BadSetting, UnreadableSettings, UnknownSetting (exit 2)
    ├── embeds                   NothingToExpand
    ├── keys                     NotListed, NoKey (exit 2), ListHidden
    ├── lookup                   UnknownReference, AmbiguousReference
    ├── signing                  SignerMissing (exit 2), ReasonMissing (exit 2), AlreadyRejected, NothingToSign, NotEntitled
    ├── models                   UnknownDownload (exit 2)
    ├── undoing                  NothingToUndo, NotUndoable, UnknownAct
    └── usage                    EmptyGoal (exit 2), UnknownGoal, AmbiguousGoal, UselessTag (exit 2), UnknownSignal (exit 2)

ModelError is the root of a tree of its own, drawn in `smb.inference.model_errors`; where no model can be used at all it exits 8.
"""

from __future__ import annotations


class SmbError(Exception):
    """A failure with a sentence for the person and an exit code for the shell."""

    exit_code = 1
