"""Reading a bank's notes with a model, after they are stored and recallable without one.

Owns which documents wait for a model, asking it once a source, and saying in the ledger what it read. A failure leaves the
bank as it was and the document waiting. The writer lock is never held while a model thinks.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from smb.ingest.extract import Extraction
from smb.ingest.note import Note, Skipped
from smb.ingest.pipeline import Commit
from smb.ingest.stirred_keys import StirredKeys
from smb.model.revision import Transaction
from smb.stores.catalog import Catalog
from smb.stores.evidence_store import EvidenceStore
from smb.stores.model_memo import ModelMemo

if TYPE_CHECKING:
    from smb.inference.ollama_client import ModelClient
    from smb.inference.prompts import Template
    from smb.ingest.resolve import Reading

TOGETHER = 48  # documents a transaction
PATIENCE = 30.0  # seconds after which what was read is committed, be it ever so little: a slow model must not work in vain
Progress = Callable[[str, int, int | None], None]


@dataclass(frozen=True, slots=True)
class Waiting:
    """A live document the current extractor has not read."""

    document: str
    root: str
    path: str
    source: str


@dataclass(frozen=True, slots=True)
class _Read:
    """A document the model has read, what it said, and what that and the rules come to; None for a note that can't be read."""

    waiting: Waiting
    answers: list[dict[str, Any]]
    reading: Reading | None


@dataclass(slots=True)
class ModelReport:
    """What a run of reading came to. `refused` counts drafts by gate, `failed` are (path, reason); `pending` are documents left."""

    read: int = 0
    pending: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    failed: list[tuple[str, str]] = field(default_factory=list)
    unavailable: str = ""
    model: str = ""

    def to_json(self) -> dict[str, Any]:
        return {"model": self.model or None, "read": self.read, "pending": self.pending, "refused": dict(sorted(self.refused.items())),
                "failed": [{"path": path, "reason": reason} for path, reason in self.failed], "unavailable": self.unavailable or None}


async def pending(catalog: Catalog, memo: ModelMemo) -> list[Waiting]:
    """The documents that wait for a model, by root and path: none before one was asked for."""
    if not memo.fingerprint:
        return []
    rows = await catalog.fetch("SELECT id, root, path, source FROM documents WHERE live = 1 ORDER BY root, path")
    lacking = memo.lacking({row["source"] for row in rows})
    return [Waiting(row["id"], row["root"], row["path"], row["source"]) for row in rows if row["source"] in lacking]


def with_model(note: Note, extraction: Extraction, held: Mapping[str, Any] | None) -> Extraction:
    """What rules read in a note and what a model said of it ({"actor", "answers"}; None where none did), gates still to come."""
    from smb.ingest.extract_model import ModelDrafts

    if held is None:
        return extraction
    drafts = ModelDrafts(note, extraction.drafts, held["actor"])
    found = drafts.of(held["answers"])
    return Extraction(extraction.primary, (*extraction.drafts, *found), (*extraction.refused, *drafts.refused), by_model=True)


class ModelReading:
    """Reads what waits. `writing` and `commit` as of `Ingester`; `template` is the prompt."""

    def __init__(self, catalog: Catalog, evidence: EvidenceStore, memo: ModelMemo, template: Template, writing: Callable[[], AbstractAsyncContextManager[None]],
                 commit: Commit, clock: Callable[[], datetime], single_valued: Sequence[str] = ()):
        self.catalog, self.evidence, self.memo, self.template = catalog, evidence, memo, template
        self.writing, self.commit, self.clock = writing, commit, clock
        self.keys = StirredKeys(catalog, single_valued)

    async def run(self, client: ModelClient, progress: Progress | None = None) -> ModelReport:
        """Reads every waiting document. A model that can't be reached is named in the report and leaves all waiting."""
        from smb.inference.model_errors import ModelError, ModelUnavailable
        from smb.ingest.extract_model import fingerprint

        report = ModelReport()
        try:
            model = await client.in_use()
        except ModelUnavailable as error:
            report.unavailable, report.pending = str(error), len(await pending(self.catalog, self.memo))
            return report
        report.model = f"{model.name}@{model.digest[:12]}"
        self.memo.begin(fingerprint(report.model, self.template))
        waiting = await pending(self.catalog, self.memo)
        actor = f"model:{report.model} prompt:{self.template.name}@{self.template.hash}"
        done: list[_Read] = []
        saying: asyncio.Task[None] | None = None
        now = asyncio.get_running_loop().time
        said = now()

        async def ask(one: Waiting) -> _Read:
            return await self._ask(one, client, actor)

        try:
            async for one, outcome in client.each(waiting, ask, stage="model", progress=progress):
                if isinstance(outcome, ModelUnavailable):
                    report.unavailable = str(outcome)
                    continue
                if isinstance(outcome, ModelError):
                    self.memo.fail(one.source, str(outcome))
                    report.failed.append((one.path, str(outcome)))
                    continue
                done.append(outcome)
                if len(done) >= TOGETHER or now() - said > PATIENCE:
                    if saying is not None:
                        await saying
                    saying, done, said = asyncio.ensure_future(self._say(done, actor, report)), [], now()  # the model goes on meanwhile
            if saying is not None:
                await saying
            await self._say(done, actor, report)
        finally:
            if saying is not None and not saying.done():
                saying.cancel()
                await asyncio.gather(saying, return_exceptions=True)
        report.pending = len(await pending(self.catalog, self.memo))
        return report

    async def _ask(self, one: Waiting, client: ModelClient, actor: str) -> _Read:
        from smb.ingest.extract_model import asked
        from smb.ingest.extract_rules import RulesExtractor
        from smb.ingest.ground import ground
        from smb.ingest.plan import date_of
        from smb.ingest.read import read_note
        from smb.ingest.resolve import Reading

        data = self.evidence.read(one.source)
        note = read_note(one.path, one.source, data)
        if isinstance(note, Skipped):
            return _Read(one, [], None)
        answers = await asked(note, client, self.template)
        extraction = ground(note, data, with_model(note, RulesExtractor().extract(note), {"actor": actor, "answers": answers}))
        return _Read(one, answers, Reading(one.document, one.root, note, extraction, date_of(note)))

    async def _say(self, done: Sequence[_Read], actor: str, report: ModelReport) -> None:
        """Plans the documents again with what the model read, commits what that adds, and only then notes that they are read."""
        by_root: dict[str, list[Reading]] = {}
        for one in done:
            if one.reading is not None:
                report.refused.update(refusal.gate for refusal in one.reading.extraction.refused)
                by_root.setdefault(one.waiting.root, []).append(one.reading)
        if by_root:
            await self._commit(by_root, [one.waiting.document for one in done], report.model)
        for one in done:
            self.memo.put(one.waiting.source, actor, one.answers)
        report.read += len(done)

    async def _commit(self, by_root: Mapping[str, list[Reading]], documents: Sequence[str], model: str) -> None:
        """Commits what the readings add, of documents that are still as they were read."""
        from smb.ingest.extract_rules import RulesExtractor
        from smb.ingest.planner import Planner

        async with self.writing():
            live = {row["id"]: row["source"] for row in await self.catalog.fetch_in(
                "SELECT id, source FROM documents WHERE live = 1 AND id IN ({marks})", documents)}
            for root, readings in by_root.items():
                current = [r for r in readings if live.get(r.document) == r.note.source]
                if revisions := await Planner(self.catalog, self.keys).plan(root, current, RulesExtractor.fingerprint):
                    await self.commit(Transaction("model", model, self.clock(), tuple(revisions)), {})
            await self.catalog.begin()
            await self.keys.mark()
            await self.catalog.commit()
