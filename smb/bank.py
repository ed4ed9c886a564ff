"""The composition root and Python API: `async with Bank.open(path) as bank: await bank.recall("…")`.

Owns which concrete parts make a bank and the order in which they are brought up to date. Every public method returns
the plain data of the JSON contract (DESIGN.md, section 8); raises SmbError.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from smb.bank_layout import make_bank, make_folders, read_places, read_toml, write_place
from smb.config import DEFAULT_ORIGIN, Settings, prompts_path
from smb.embedding import Embedding
from smb.projections import Progress, Projections
from smb.stores.catalog import Catalog, open_or_start_over
from smb.stores.evidence_store import EvidenceStore
from smb.stores.ledger import Ledger
from smb.stores.model_memo import ModelMemo
from smb.usage import Usage
from smb.writer import Writer

if TYPE_CHECKING:
    from smb.inference.embedder import Embedder
    from smb.ingest.scope import Root
    from smb.lookup import Lookup
    from smb.models import Models
    from smb.conflicts import Conflicts
    from smb.signing import Desk
    from smb.stores.graph import KnowledgeGraph
    from smb.stores.vector_mirror import VectorMirror

SCHEMA_VERSION = 1


class Bank:
    """One open bank. Make with `Bank.open`, which is an async context manager."""

    def __init__(self, path: Path, settings: Settings, catalog: Catalog, lock_timeout: float, clock: Callable[[], datetime] | None, embedder: Embedder | None):
        self.path = path
        self.settings = settings
        self.embedding = Embedding(path, embedder, settings)
        self.evidence = EvidenceStore(path)
        self.ledger = Ledger(path)
        self.catalog = catalog
        self.writer = Writer(path, self.ledger, self.evidence, catalog, self.embedding, lock_timeout)
        self.usage = Usage(path)
        self.toml = read_toml(path)
        self.clock = clock or (lambda: datetime.now(timezone.utc))
        self.projections = Projections(path, catalog, self.ledger, self.writer, self.embedding, self.clock)

    @staticmethod
    async def init(path: Path, *, git: bool = True) -> dict[str, Any]:
        """Makes an empty bank at `path`: {"schema_version", "bank", "created", "git"}. Raises NotEmpty."""
        made = await asyncio.to_thread(make_bank, path, git=git)
        return {"schema_version": SCHEMA_VERSION, "bank": str(path), **made}

    @classmethod
    @asynccontextmanager
    async def open(cls, path: Path, *, settings: Settings | None = None, lock_timeout: float = 30.0, clock: Callable[[], datetime] | None = None,
                   embedder: Embedder | None = None) -> AsyncIterator[Bank]:
        """The bank at `path`. `clock` gives aware UTC times (for tests), `embedder` replaces the configured one.

        Raises NoBank, BankTooNew, CatalogTooNew.
        """
        read_toml(path)
        if (not (path / "layer-0" / "source").is_dir() or not (path / "index").is_dir() or not (path / "ledger").is_dir()) and os.access(path, os.W_OK):
            make_folders(path)
        async with await open_or_start_over(path / "index" / "metadata.db") as catalog:
            yield cls(path, settings or Settings.resolve(bank_dir=path), catalog, lock_timeout, clock, embedder)

    def vector_mirror(self) -> VectorMirror:
        """The Chroma mirror of this bank."""
        return self.projections.vector_mirror()

    # ------------------------------------------------------------ the main job

    async def ingest(self, paths: Sequence[Path] = (), *, include: Sequence[str] = (), max_size: int | None = None, follow_symlinks: bool = False,
                     sync: bool = False, dry_run: bool = False, skip_embeddings: bool = False, model: bool = False,
                     progress: Progress | None = None) -> dict[str, Any]:
        """Reads folders (all known ones, else the configured `kbmd` folder, when `paths` is empty) into the bank.

        `sync` also brings Chroma and graph.json up to date; `skip_embeddings` leaves Chroma as it is; `model` has the local model
        read, after that, whatever it has not read. Raises NothingToIngest, BankLocked.
        """
        from smb.ingest.scope import NotANote
        from smb.ingest.pipeline import INCLUDED, LARGEST, Ingester, IngestReport, ScanOptions

        started = time.perf_counter()
        async with self.writer.writing():
            pass
        await self.catalog.run("PRAGMA mmap_size = 0")  # pages read through a map count as memory of this process
        report = IngestReport()
        ingester = Ingester(self.catalog, self.evidence, self.writer.writing, self.writer.commit, self.clock, read_toml(self.path).single_valued,
                            ModelMemo(self.path))
        options = ScanOptions(tuple(include), max_size or LARGEST, follow_symlinks, dry_run)
        for path in paths or self._default_paths():
            for root in await self._roots(path):
                await ingester.ingest_directory(root, options, progress, report, self.projections.render)
                if not report.seen and path.is_file():
                    raise NotANote(path, f"its name is not like {', '.join(INCLUDED)}; name other files with --include")
                if not dry_run and (root.subset is None or root.name in read_places(self.path)):  # one file makes no root to read later
                    write_place(self.path, root.name, root.path)
        read = None
        if not dry_run:
            await self.projections.render()
            read = await self.read_with_model(progress) if model else None
            waiting = await self.projections.follow(sync, not skip_embeddings, progress)
            report.warnings += [{"path": "", "code": "to_embed", "detail": waiting}] if waiting else []
        rows = await self.catalog.fetch("SELECT type, count(*) AS n FROM memory_objects WHERE standing IN ('current', 'contested') GROUP BY type ORDER BY type")
        (passages,) = (await self.catalog.fetch("SELECT count(*) FROM passages WHERE live = 1"))[0]
        return {
            "schema_version": SCHEMA_VERSION, "status": "partial" if report.lost else "ok", "seen": report.seen, "added": report.added,
            "changed": report.changed, "moved": report.moved, "unchanged": report.unchanged, "removed": report.removed,
            "skipped": report.skipped, "warnings": report.warnings, "refused": report.refused, "objects": {row["type"]: row["n"] for row in rows},
            "passages": passages, "generation": self.ledger.generation(), "dry_run": dry_run, "seconds": round(time.perf_counter() - started, 3),
            **({"model": read} if read is not None else {}),
        }

    async def read_with_model(self, progress: Progress | None = None) -> dict[str, Any]:
        """Has the local model read what it has not read: {"model", "read", "pending", "refused", "failed", "unavailable"}."""
        from smb.ingest.model_reading import ModelReading
        from smb.inference.prompts import load
        from smb.models import model_client

        reading = ModelReading(self.catalog, self.evidence, ModelMemo(self.path), load("extract", prompts_path()), self.writer.writing, self.writer.commit,
                               self.clock, read_toml(self.path).single_valued)
        async with model_client(self.settings) as client:
            report = await reading.run(client, progress)
        await self.projections.render()
        return report.to_json()

    def _default_paths(self) -> list[Path]:
        known = [Path(place) for place in read_places(self.path).values()]
        return [path for path in known if path.exists()] or [self.settings.kbmd_dir]

    async def _roots(self, path: Path) -> list[Root]:
        from smb.ingest.scope import NotANote, root_for, with_nested

        if Path(os.path.realpath(path)).is_relative_to(os.path.realpath(self.path)):
            raise NotANote(path, "it is the bank itself, or lies in it")

        known: dict[str, list[str]] = {}
        for row in await self.catalog.fetch("SELECT root, path FROM documents WHERE live = 1 ORDER BY root, path"):
            known.setdefault(row["root"], []).append(row["path"])
        places = read_places(self.path)
        return with_nested(root_for(path, places, known), places)

    async def recall(self, query: str, *, n: int = 10, budget: int | None = None, as_of: str | None = None, known_at: str | None = None,
                     now: str | None = None, types: Sequence[str] = (), tags: Sequence[str] = (), source: str | None = None, layer: int | None = None,
                     hops: int | None = None, profile: str | None = None, goal: str | None = None, seen: Sequence[str] = (),
                     min_score: float | None = None, include_superseded: bool = False, explain: bool = False, lexical: bool = False) -> dict[str, Any]:
        """The packet for a question (DESIGN.md, section 8). Times are ISO text; `source` is a path, prefix or glob.

        `goal` is a session goal for this call, `seen` ids the caller has already. Budget and hops not given are the
        settings', else the profile's. Calls no language model. Raises EmptyQuery, TimeError, UnknownProfile.
        """
        from smb.recall.pipeline import RecallRequest, recall
        from smb.recall.standpoint import standpoint
        from smb.stores.catalog_reader import CatalogReader

        view = standpoint(profile or self.settings.recall_profile, self.toml.profiles, goal or "", self.usage.goals(), self.usage.uses(), seen)
        configured = self.settings.recall_budget if self.settings.origin("recall_budget") != DEFAULT_ORIGIN else None
        request = RecallRequest.of(
            query, n=n, budget=budget or configured or view.profile.budget, as_of=as_of, known_at=known_at, now=now, types=types, tags=tags,
            source=source, layer=layer, hops=view.profile.hops if hops is None else hops, min_score=min_score,
            include_superseded=include_superseded, explain=explain, lexical=lexical)
        stale = await self.writer.catch_up_if_free()
        embedder, degraded = (None, []) if lexical else self.embedding.for_queries()
        places = read_places(self.path)
        packet = await recall(
            CatalogReader(self.catalog), request, read_source=self.evidence.read, generation=(await self.catalog.latest())[1], stale=stale,
            matrix=self.embedding.matrix if embedder else None, embedder=embedder, degraded=degraded, standpoint=view,
            exists=lambda root, path: root not in places or os.path.lexists(os.path.join(places[root], path)))
        if self.settings.log_recalls:
            self.usage.note_recall((item["id"] for item in packet["items"]), self.clock())
        return packet

    async def ask(self, question: str, *, say: Callable[[str], None] | None = None, **options: Any) -> dict[str, Any]:
        """An answer in words from what `recall` (whose options these are) opens, by the local model; `say` is given each sentence
        as it holds. Abstains without a model on a miss, too little, or a conflict. Raises what `recall` does, ModelError."""
        from smb.asking import answer
        from smb.models import model_client

        packet = await self.recall(question, **options)
        async with model_client(self.settings) as client:
            return {"schema_version": SCHEMA_VERSION, **await answer(packet, client, prompts_path(), say)}

    # ------------------------------------------------------------ goals, feedback, decisions

    async def goal_add(self, text: str, *, level: str = "session", tags: Sequence[str] = (), parent: str = "") -> dict[str, Any]:
        """Sets a goal that orders recalls on this machine until it is done. Raises EmptyGoal, UselessTag, UnknownGoal."""
        return {"schema_version": SCHEMA_VERSION, "goal": asdict(self.usage.add_goal(text, level, tags, parent, self.clock()))}

    async def goal_list(self) -> dict[str, Any]:
        """The open goals."""
        return {"schema_version": SCHEMA_VERSION, "goals": [asdict(goal) for goal in self.usage.goals()]}

    async def goal_done(self, reference: str) -> dict[str, Any]:
        """Closes a goal, by its id or the beginning of one. Raises UnknownGoal, AmbiguousGoal."""
        return {"schema_version": SCHEMA_VERSION, "goal": asdict(self.usage.finish_goal(reference, self.clock()))}

    async def feedback(self, reference: str, signal: str) -> dict[str, Any]:
        """Notes that an item of an answer was used or ignored. Raises UnknownReference, UnknownSignal."""
        await self.writer.catch_up_if_free()
        item = await self._lookup().item_id(reference)
        successes, uses = self.usage.feedback(item, signal, self.clock())
        return {"schema_version": SCHEMA_VERSION, "id": item, "signal": signal, "successes": successes, "uses": uses}

    async def verify(self, reference: str, *, who: str, note: str = "") -> dict[str, Any]:
        """A person's sign-off on an object. Raises UnknownReference, SignerMissing, NotEntitled, AlreadyRejected, NothingToSign."""
        return await self._decide("verify", reference, who, note)

    async def reject(self, reference: str, *, who: str, reason: str) -> dict[str, Any]:
        """A person's rejection of an object, final. Raises what `verify` does and ReasonMissing."""
        return await self._decide("reject", reference, who, reason)

    async def _decide(self, what: Literal["verify", "reject"], reference: str, who: str, why: str) -> dict[str, Any]:
        await self.writer.catch_up_if_free()
        told = await self._desk().decide(what, await self._lookup().object_id(reference), who, why, self.clock)
        await self.projections.render()
        return {"schema_version": SCHEMA_VERSION, **told, "generation": self.ledger.generation()}

    def _desk(self) -> Desk:
        from smb.signing import Desk

        return Desk(self.catalog, self.writer, self.toml.authority)

    def _conflicts(self) -> Conflicts:
        from smb.conflicts import Conflicts

        return Conflicts(self.catalog, self.writer, self.toml.authority)

    async def conflicts(self, which: Literal["open", "resolved", "all"] = "open", *, kind: str = "", about: str = "") -> list[dict[str, Any]]:
        """The contradictions (DESIGN.md, section 8), oldest first; of one `kind`, or with `about` in what is said."""
        await self.writer.catch_up_if_free()
        return await self._conflicts().list(which, kind, about)

    async def resolve_conflict(self, reference: str, *, who: str, reason: str, keep: str = "", scopes: Sequence[str] = (), dismiss: bool = False) -> dict[str, Any]:
        """A person's decision on a contradiction: one side kept, both with scopes, or dismissed. Raises UnknownConflict, NotAResolution,
        SideGone, SignerMissing, NotEntitled, BankLocked."""
        from smb.conflicts import Resolution

        told = await self._conflicts().resolve(reference, Resolution(who, reason, keep, tuple(scopes), dismiss), self.clock)
        await self.projections.render()
        return {"schema_version": SCHEMA_VERSION, **told, "generation": self.ledger.generation()}

    # ------------------------------------------------------------ looking up

    def _lookup(self) -> Lookup:
        from smb.lookup import Lookup

        return Lookup(self.catalog, self.evidence, read_places(self.path))

    async def get(self, reference: str, *, expand: bool = False) -> dict[str, Any]:
        """An object or passage by id, or a note's lines by PATH[:LINE[:COUNT]]; with `expand` also as "expanded" what the note
        embeds, in its place (see `Expander.get`). Raises UnknownReference, AmbiguousReference, NothingToExpand."""
        await self.writer.catch_up_if_free()
        if not expand:
            return await self._lookup().get(reference)
        from smb.embeds import Expander
        from smb.ingest.read import note_in
        from smb.ingest.wiki_link import embeds_in

        return await Expander(self._lookup(), note_in, embeds_in).get(reference)

    async def why(self, reference: str) -> dict[str, Any]:
        """The chain of evidence under an object, and who signed it. Raises UnknownReference."""
        await self.writer.catch_up_if_free()
        told = await self._lookup().why(reference)
        return {**told, **await self._desk().shown(told["id"])}

    async def history(self, reference: str) -> dict[str, Any]:
        """Every revision of an object, a document or a key. Raises UnknownReference."""
        await self.writer.catch_up_if_free()
        return await self._lookup().history(reference)

    # ------------------------------------------------------------ single-valued keys

    async def keys(self) -> dict[str, Any]:
        """The single-valued attributes, and those that look like one, with counts."""
        from smb.keys import shown

        await self.writer.catch_up_if_free()
        return await shown(self.path, self.catalog)

    async def set_key(self, name: str, *, single_valued: bool) -> dict[str, Any]:
        """Lists an attribute as single-valued or takes it off the list, and settles the bank's claims by it: how many are
        superseded, contested, current now. Raises NoKey, NotListed, ListHidden, BankLocked."""
        from smb.ingest.stirred_keys import StirredKeys
        from smb.keys import add, remove
        changed = await (add if single_valued else remove)(
            self.path, self.writer, self.catalog, self.clock, lambda listed: StirredKeys(self.catalog, listed), name)
        await self.projections.render()
        return changed

    # ------------------------------------------------------------ keeping in order

    async def status(self) -> dict[str, Any]:
        """Counts, generations, lags, sizes."""
        from smb.health import status

        return await status(self)

    async def doctor(self, fix: bool = False) -> dict[str, Any]:
        """Every broken promise with the command that mends it; `fix` runs the safe ones."""
        from smb.health import doctor

        return await doctor(self, fix=fix)

    async def absorb(self, dry_run: bool = False) -> dict[str, Any]:
        """Takes hand edits of object files into the ledger: {"edits": [{id, path, kind}], "unreadable": […], "files"}."""
        return {"schema_version": SCHEMA_VERSION, **await self.projections.absorb(dry_run)}

    async def sync(self) -> None:
        """Brings Chroma and graph.json up to date."""
        await self.projections.render()
        await self.projections.follow(sync=True)

    async def rebuild(self, vectors: bool = False, progress: Progress | None = None, *, embedder: str = "") -> dict[str, Any]:
        """Makes every projection again from ledger and layer 0, without a model; `vectors` embeds everything anew, with
        `embedder` (a name as in the settings) where one is given. Raises EmbedderUnavailable; then the old vectors stay."""
        return {"schema_version": SCHEMA_VERSION, **await self.projections.rebuild(vectors, progress, embedder)}

    @staticmethod
    def models(settings: Settings) -> Models:
        """What there is to compute with on this machine; needs no bank."""
        from smb.models import Models

        return Models(settings)

    # ------------------------------------------------------------ evolution

    async def evolve(self, phases: Collection[str] = (), *, dry_run: bool = False, deadline: float | None = None, model: bool | None = None,
                     progress: Progress | None = None) -> dict[str, Any]:
        """One cycle of evolution over what changed since the last: all phases, or those named. `deadline` in seconds: phases
        not begun by then are left for the next cycle. `model`: with the local model or without; None: with it where the settings
        say so or work waits for it. Raises UnknownPhase, BankLocked."""
        from smb.evolution import evolve

        return {"schema_version": SCHEMA_VERSION, **await evolve(self, phases, dry_run=dry_run, seconds=deadline, progress=progress, model=model)}

    async def undo(self, reference: str = "", *, who: str = "", dry_run: bool = False) -> dict[str, Any]:
        """Takes back the last cycle, or the cycle or transaction `reference` names. Raises NothingToUndo, NotUndoable, UnknownAct,
        BankLocked."""
        from smb.undoing import undo

        undone = await undo(self.catalog, self.writer, self.clock, reference, who, dry_run=dry_run)
        if not dry_run:
            await self.projections.render()
            await self.projections.follow()
        return {"schema_version": SCHEMA_VERSION, **undone, "generation": self.ledger.generation()}

    # ------------------------------------------------------------ graph

    async def _graph(self) -> KnowledgeGraph:
        from smb.stores.graph import KnowledgeGraph

        await self.writer.catch_up_if_free()
        return KnowledgeGraph(self.catalog)

    async def graph_stats(self) -> dict[str, Any]:
        """Nodes and edges by type."""
        return {"schema_version": SCHEMA_VERSION, **asdict(await (await self._graph()).stats())}

    async def graph_neighbors(self, reference: str, hops: int = 1, types: Sequence[str] = ()) -> dict[str, Any]:
        """What lies within `hops` edges of an object. Raises UnknownReference, UnknownEdgeType."""
        graph = await self._graph()
        start = await self._lookup().object_id(reference)
        reach = await graph.multi_hop_query(start, max_hops=hops, edge_type_filter=tuple(types) or None)
        return {"schema_version": SCHEMA_VERSION, "start": start, "hops": hops, **reach.as_dict()}

    async def graph_path(self, a: str, b: str, max_hops: int = 6) -> dict[str, Any]:
        """The shortest path between two objects: "path" is None when there is none."""
        graph = await self._graph()
        lookup = self._lookup()
        start, end = await lookup.object_id(a), await lookup.object_id(b)
        route = await graph.path(start, end, max_hops=max_hops)
        return {"schema_version": SCHEMA_VERSION, "from": start, "to": end, "path": asdict(route) if route else None}

    async def graph_export(self) -> dict[str, Any]:
        """The whole graph as node-link data."""
        return await (await self._graph()).export()
