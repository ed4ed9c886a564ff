"""What the bank holds at the moment a phase looks at it.

Owns the batched reads of evolution: objects that hold, the edges notes state, vectors, evidence, documents. Everything is
read on demand and kept for the phases that follow; after a commit only what changed is read again. Never writes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from itertools import chain, groupby
from operator import itemgetter
from sys import intern
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from smb.evolve.said import Said
from smb.model.currentness import Standing, judge
from smb.model.edges import EdgeType
from smb.model.evidence import Span
from smb.model.objects import MemoryType, Mode
from smb.model.revision import DOCUMENT, Revision, Statement
from smb.model.validity import ALWAYS, Interval, from_iso
from smb.stores.catalog import Catalog

if TYPE_CHECKING:
    import numpy as np

    from smb.stores.embedding_matrix import EmbeddingMatrix

HOLDS = (Standing.CURRENT.value, Standing.CONTESTED.value)
EVOLVED = "evolve"  # kind of the transactions of a cycle
_COLUMNS = ("id, type, title, confidence, standing, mode, verification, subject, attribute, value, about, attributed_to, valid_from, valid_to, "
            "recorded_at, modified, CASE mode WHEN 'inferred' THEN identity ELSE '' END, supports, changed, vector_row, tags, location, merged_into")
_TYPES = {str(t): t for t in MemoryType}
_EDGE_TYPES = {str(t): t for t in EdgeType}
_MODES = {str(m): m for m in Mode}
_CONTESTED = Standing.CONTESTED.value


class Item(NamedTuple):
    """One object that holds now. `page` is the stem of its file, `supports` the number of documents that state it, `row` its
    row of the embedding matrix, `identity` empty for what notes state."""

    id: str
    type: MemoryType
    title: str
    confidence: float
    contested: bool
    mode: Mode
    verification: str
    subject: str
    attribute: str
    value: str
    about: str
    attributed_to: str
    valid_from: str | None
    valid_to: str | None
    recorded_at: str
    modified: str
    identity: str
    supports: int
    changed: int
    row: int | None
    tags: tuple[str, ...]
    page: str

    @property
    def valid(self) -> Interval:
        return Interval(from_iso(self.valid_from), from_iso(self.valid_to)) if self.valid_from or self.valid_to else ALWAYS

    @property
    def link(self) -> str:
        """The wikilink to its file."""
        return wikilink(self.page, self.title)


def wikilink(page: str, title: str) -> str:
    shown = " ".join(title.replace("|", "/").replace("[", "(").replace("]", ")").split())
    return f"[[{page}|{shown}]]"


class Edge(NamedTuple):
    """An edge of the graph; `held_by` is the object that states it."""

    source: str
    target: str
    type: EdgeType
    held_by: str
    weight: float


@dataclass(frozen=True, slots=True)
class Doc:
    """A live document. `date` is the interval it bears, ALWAYS where it bears none."""

    id: str
    title: str
    path: str
    shape: str
    date: Interval
    primary: str


def _item(row: Any) -> Item:
    """An item of a row of `_COLUMNS`; what many objects have in common is there once."""
    (id_, type_, title, confidence, standing, mode, verification, subject, attribute, value, about, attributed_to, valid_from, valid_to, recorded_at, modified,
     identity, supports, changed, vector_row, tags, location, _) = row
    return Item(
        id_, _TYPES[type_], title, confidence, standing == _CONTESTED, _MODES[mode], intern(verification), intern(subject), intern(attribute), value, intern(about),
        intern(attributed_to), valid_from and intern(valid_from), valid_to and intern(valid_to), intern(recorded_at), intern(modified), identity, supports, changed,
        vector_row, () if tags == "[]" else _tags(tags), location[location.rfind("/") + 1 :].removesuffix(".md"))


@lru_cache(maxsize=4096)
def _tags(written: str) -> tuple[str, ...]:
    return tuple(orjson.loads(written))


class Snapshot:
    """The bank as it stands. `since` is the transaction up to which the phase has looked before (0: never); `latest` the one
    this snapshot has reached; `single_valued` the folded attributes with one value at a time."""

    def __init__(self, catalog: Catalog, matrix: EmbeddingMatrix | None, single_valued: Collection[str] = ()):
        self.catalog = catalog
        self.matrix = matrix
        self.single_valued = frozenset(single_valued)
        self.since = 0
        self.latest = 0
        self.items: dict[str, Item] = {}
        self.ended: dict[str, int] = {}  # objects that no longer hold → the transaction that last touched them
        self.merged: dict[str, str] = {}  # merged object → what it was merged into
        self._ids: dict[MemoryType, set[str]] = {type_: set() for type_ in MemoryType}
        self._derived: dict[str, set[str]] = {}  # phase → what it holds
        self._listed: dict[tuple[MemoryType, ...], list[Item]] = {}
        self._stated: dict[tuple[MemoryType, ...], list[Item]] = {}
        self._recent: dict[int, set[str]] = {}  # transaction → objects it was the last to touch
        self._documents: dict[str, Doc] | None = None
        self._stated_in: dict[str, tuple[str, ...]] | None = None
        self._edges: list[Edge] | None = None
        self._kept: dict[str, Any] = {}
        self._kept_stated: dict[str, Any] = {}

    async def refresh(self, since: int) -> Snapshot:
        """Brings it up to the catalog and looks from `since` on."""
        latest, _ = await self.catalog.latest()
        if latest != self.latest:
            rows = await self.catalog.fetch(f"SELECT {_COLUMNS} FROM memory_objects WHERE changed > ?", (self.latest,))
            others = await self.catalog.fetch("SELECT 1 FROM transactions WHERE seq > ? AND kind != ? LIMIT 1", (self.latest, EVOLVED))
            if any([self._take(row) for row in rows]) or others:
                self._documents = self._edges = None
                self._kept_stated.clear()
            self._stated_in = None
            self._kept.clear()
            self._listed.clear()
            self._stated.clear()
            self.latest = latest
        self.since = since
        return self

    def _take(self, row: Any) -> bool:
        """Holds what a row says; whether that is another thing than was held, of what notes and people state. What something was
        made of is touched by it and says what it said."""
        id_ = row["id"]
        old = self._forget(id_)
        if row["standing"] not in HOLDS:
            self.ended[id_] = row["changed"]
            if row["merged_into"]:
                self.merged[id_] = row["merged_into"]
        else:
            self.items[id_] = item = _item(row)
            self._ids[item.type].add(id_)
            if item.identity:
                self._derived.setdefault(item.identity.partition(":")[0], set()).add(id_)
        self._recent.setdefault(row["changed"], set()).add(id_)
        new = self.items.get(id_)
        return row["mode"] != Mode.INFERRED.value and (old is None or new is None or old._replace(changed=new.changed) != new)

    def _forget(self, id_: str) -> Item | None:
        if (old := self.items.pop(id_, None)) is not None:
            self._ids[old.type].discard(id_)
            if old.identity:
                self._derived[old.identity.partition(":")[0]].discard(id_)
        before = old.changed if old is not None else self.ended.pop(id_, None)
        self.merged.pop(id_, None)
        if before is not None:
            self._recent[before].discard(id_)
        return old

    def _moved(self) -> Iterable[str]:
        """What changed or stopped holding since the phase last looked."""
        return chain.from_iterable(ids for at, ids in self._recent.items() if at > self.since)

    # ------------------------------------------------------------ objects

    def of_type(self, *types: MemoryType) -> list[Item]:
        """What holds of these types, by id."""
        if (found := self._listed.get(types)) is None:
            found = self._listed[types] = [self.items[i] for i in sorted(i for type_ in set(types) for i in self._ids[type_])]
        return list(found)

    def stated(self, *types: MemoryType) -> list[Item]:
        """What notes or people state of these types, by id: nothing evolution worked out."""
        if (found := self._stated.get(types)) is None:
            found = self._stated[types] = [item for item in self.of_type(*types) if item.mode is not Mode.INFERRED]
        return list(found)

    def is_new(self, item: Item) -> bool:
        """Whether it changed since the phase last looked."""
        return item.changed > self.since

    def changed(self, *types: MemoryType) -> list[Item]:
        """What holds of these types and changed since the phase last looked, by id."""
        return [self.items[i] for i in sorted(i for i in self._moved() if i in self.items and self.items[i].type in types)]

    def gone(self) -> set[str]:
        """What stopped holding since the phase last looked."""
        return {i for i in self._moved() if i in self.ended}

    def derived(self, phase: str) -> list[Item]:
        """What a phase has made and still holds, by id: identities of derived objects begin with `phase:`."""
        return [self.items[i] for i in sorted(self._derived.get(phase, ()))]

    async def superseded(self) -> dict[str, Item]:
        """The claims a newer one took the place of, by id."""
        rows = await self.catalog.fetch(f"SELECT {_COLUMNS} FROM memory_objects WHERE standing = ? AND type = ? ORDER BY id", (Standing.SUPERSEDED.value, MemoryType.CLAIM.value))
        return {row["id"]: _item(row) for row in rows}

    def canonical(self, id_: str) -> str:
        """What an object was merged into in the end; itself where it was not."""
        if id_ not in self.merged:
            return id_
        seen: set[str] = set()
        while (into := self.merged.get(id_)) is not None and id_ not in seen:
            seen.add(id_)
            id_ = into
        return id_

    async def bodies(self, ids: Iterable[str]) -> dict[str, str]:
        rows = await self.catalog.fetch_in("SELECT id, body FROM memory_objects WHERE id IN ({marks})", sorted(set(ids)))
        return {row["id"]: row["body"] for row in rows}

    async def names(self, ids: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """Folded title and aliases of each."""
        found: dict[str, list[str]] = {}
        for row in await self.catalog.fetch_in("SELECT object_id, folded FROM names WHERE object_id IN ({marks}) ORDER BY alias, folded", sorted(set(ids))):
            found.setdefault(row["object_id"], []).append(row["folded"])
        return {i: tuple(names) for i, names in found.items()}

    async def cited_by(self, phase: str) -> dict[str, tuple[str, ...]]:
        """Each object a phase holds → what it was worked out from."""
        held = [item.id for item in self.derived(phase)]
        return {i: tuple(dict.fromkeys(d for r in judge(history, about=i).supports if isinstance(r.statement, Statement) for d in r.statement.derived_from))
                for i, history in (await self.catalog.histories(held)).items()}

    # ------------------------------------------------------------ evidence

    async def histories(self, ids: Iterable[str]) -> dict[str, list[Revision]]:
        return await self.catalog.histories(sorted(set(ids)))

    async def evidence(self, ids: Iterable[str]) -> dict[str, tuple[Span, ...]]:
        """The quotes under each, of the revisions that make it so."""
        return {i: tuple(dict.fromkeys(span for r in judge(history, about=i).supports for span in r.evidence))
                for i, history in (await self.histories(ids)).items()}

    async def documents(self) -> Mapping[str, Doc]:
        """Every live document by id."""
        if self._documents is None:
            self._documents = {
                row["id"]: Doc(row["id"], row["title"], row["path"], row["shape"], Interval(from_iso(row["valid_from"]), from_iso(row["valid_to"])), row["primary_object"])
                for row in await self.catalog.fetch("SELECT id, title, path, shape, valid_from, valid_to, primary_object FROM documents WHERE live = 1 ORDER BY id")}
        return self._documents

    async def touched(self) -> set[str]:
        """Ids of the documents read, changed or removed since the phase last looked, live or not."""
        rows = await self.catalog.fetch(
            "SELECT DISTINCT object_id FROM revisions WHERE seq > coalesce((SELECT seq FROM revisions WHERE tx <= ? ORDER BY seq DESC LIMIT 1), 0) AND object_type = ?", (self.since, DOCUMENT))
        return {row["object_id"] for row in rows}

    async def documents_of(self, ids: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """As `stated_in`, of these objects alone."""
        live, found = await self.documents(), dict[str, set[str]]()
        for row in await self.catalog.fetch_in("SELECT object_id, document_id FROM object_evidence WHERE object_id IN ({marks})", sorted(set(ids))):
            if row["document_id"] in live:
                found.setdefault(row["object_id"], set()).add(row["document_id"])
        return {i: tuple(sorted(documents)) for i, documents in found.items()}

    async def stated_in(self) -> Mapping[str, tuple[str, ...]]:
        """Each object → ids of the live documents that give evidence for it, sorted."""
        if self._stated_in is None:
            live = await self.documents()
            alike: dict[tuple[str, ...], tuple[str, ...]] = {}
            rows = await self.catalog.fetch("SELECT DISTINCT object_id, document_id FROM object_evidence WHERE document_id != '' ORDER BY object_id, document_id")
            told = ((i, tuple(d for _, d in of if d in live)) for i, of in groupby(rows, key=itemgetter(0)))
            self._stated_in = {i: alike.setdefault(documents, documents) for i, documents in told if documents}
        return self._stated_in

    async def said(self, ids: Iterable[str]) -> list[Said]:
        """The claims among `ids` that hold, as they are compared; by id."""
        wanted = sorted({i for i in ids if i in self.items and self.items[i].type is MemoryType.CLAIM})
        documents, stated_in = await self.documents(), await self.stated_in()
        contexts: dict[str, tuple[int, str]] = {}
        headings: dict[str, tuple[str, ...]] = {}
        for row in await self.catalog.fetch_in(
                "SELECT e.object_id, p.rowid, p.context FROM object_evidence e JOIN passages p ON p.rowid = (SELECT w.rowid FROM passages w WHERE w.source = e.source "
                "AND w.byte_start <= e.byte_start AND w.byte_end >= e.byte_end AND w.document_id = e.document_id AND w.live = 1 ORDER BY w.byte_start DESC LIMIT 1) "
                "WHERE e.object_id IN ({marks})", wanted):
            first = contexts.get(row["object_id"])
            if first is None or row["rowid"] < first[0]:
                contexts[row["object_id"]] = (row["rowid"], row["context"])
        for _, context in contexts.values():
            if context not in headings:
                headings[context] = tuple(map(intern, context.split(" › ")))
        found = []
        for i in wanted:
            item, told = self.items[i], stated_in.get(i, ())
            found.append(Said(
                id=i, text=item.title, key=(item.subject, item.attribute) if item.attribute else (), value=item.value, about=item.about,
                attributed_to=item.attributed_to, valid=item.valid, date=documents[told[0]].date if told else ALWAYS, tags=item.tags,
                context=headings[contexts[i][1]] if i in contexts else (), documents=told))
        return found

    # ------------------------------------------------------------ graph and vectors

    async def edges(self) -> list[Edge]:
        """The edges notes and people state between objects that hold, sorted; nothing evolution worked out is among them."""
        if self._edges is None:
            rows = await self.catalog.fetch("SELECT source, target, type, held_by, weight FROM edges ORDER BY source, target, type, held_by")
            told = {i: i for i, item in self.items.items() if item.mode is not Mode.INFERRED}
            self._edges = [Edge(told[source], told[target], _EDGE_TYPES[type_], told[holder], weight) for source, target, type_, holder, weight in rows
                           if holder in told and source in told and target in told]
        return self._edges

    async def edges_at(self, ids: Iterable[str]) -> list[Edge]:
        """As `edges`, those with an end among `ids`, read by their ends."""
        rows: dict[tuple[str, str, str, str], Any] = {}
        for end in ("source", "target"):
            for row in await self.catalog.fetch_in(f"SELECT source, target, type, held_by, weight FROM edges WHERE {end} IN ({{marks}})", sorted(set(ids))):
                rows[(row["source"], row["target"], row["type"], row["held_by"])] = row
        return [Edge(row["source"], row["target"], _EDGE_TYPES[row["type"]], row["held_by"], row["weight"]) for _, row in sorted(rows.items()) if self._is_stated(row)]

    def _is_stated(self, row: Any) -> bool:
        told = (self.items.get(row["held_by"]), self.items.get(row["source"]), self.items.get(row["target"]))
        return all(item is not None and item.mode is not Mode.INFERRED for item in told)

    def vectors(self, items: Collection[Item]) -> np.ndarray:
        """float32 (n, d), a row an item, of length 1; zeros where one was never embedded or there are no embeddings."""
        import numpy as np

        if self.matrix is None or not len(self.matrix):
            return np.zeros((len(items), 1), np.float32)
        found = self.matrix.vectors([item.row or 0 for item in items])
        found[[n for n, item in enumerate(items) if item.row is None]] = 0.0
        lengths = np.linalg.norm(found, axis=1, keepdims=True)
        found /= np.where(lengths == 0, 1, lengths)
        return found

    def keep(self, name: str, value: Any, *, stated: bool = False) -> Any:
        """Keeps a costly result (a partition of the graph) for later phases, until the bank changes; one that rests on what notes
        and people state alone (`stated`), until that does."""
        (self._kept_stated if stated else self._kept)[name] = value
        return value

    def kept(self, name: str) -> Any:
        return self._kept.get(name, self._kept_stated.get(name))

    async def last_learned(self) -> datetime | None:
        """When the bank last learned anything from outside evolution."""
        rows = await self.catalog.fetch("SELECT max(recorded_at) AS at FROM transactions WHERE kind != ?", (EVOLVED,))
        return from_iso(rows[0]["at"])
