"""What waits for a language model, once one was asked for.

Owns the counts: documents to read, unsure pairs to judge, texts to word. Never asks a model and never finds work: whoever does leaves a
note of it.
"""

from __future__ import annotations

from pathlib import Path

from smb.stores.catalog import Catalog
from smb.stores.model_memo import ModelMemo

TASKS = ("judge", "word")  # of the memo, beside reading: the phases of evolution a model has a part in


async def pending_model_work(bank: Path, catalog: Catalog) -> int:
    """Everything that waits."""
    return await unread(bank, catalog) + sum(len(ModelMemo(bank, task).waiting() or ()) for task in TASKS)


async def unread(bank: Path, catalog: Catalog) -> int:
    """Documents that wait to be read."""
    memo = ModelMemo(bank)
    if not memo.fingerprint:
        return 0
    return len(memo.lacking([row["source"] for row in await catalog.fetch("SELECT DISTINCT source FROM documents WHERE live = 1")]))
