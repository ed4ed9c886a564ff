"""A batch of readings against the catalog as it is: which revisions the bank lacks.

Owns the few batched queries that bring the resolver and the plan what they have to see. Never commits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import orjson

from smb.ingest.plan import plan_document, plan_found_links, plan_merges
from smb.ingest.resolve import Named, Reading, Resolved, Stated, index_of, names_wanted, paths_wanted, resolve
from smb.ingest.stirred_keys import StirredKeys
from smb.model.evidence import DanglingLink, Span
from smb.model.identity import document_id, fold
from smb.model.objects import MemoryType
from smb.model.restatement import said_of
from smb.model.revision import Revision
from smb.stores.catalog import Catalog


class Planner:
    """Plans for one bank; `keys` settles what the plans stir. The caller holds the writer lock."""

    def __init__(self, catalog: Catalog, keys: StirredKeys):
        self.catalog, self.keys = catalog, keys

    async def plan(self, root: str, readings: list[Reading], actor: str) -> list[Revision]:
        """Resolves and plans one batch against the catalog as it is now."""
        readings = [replace(r, document=r.document or i) for r, i in zip(readings, await self._document_ids(root, readings), strict=True)]
        index = index_of(await self.catalog.fetch_in(
            "SELECT n.folded, n.object_id, n.alias, o.type, o.title, EXISTS (SELECT 1 FROM documents d WHERE d.primary_object = o.id AND d.live = 1) AS is_primary "
            "FROM names n JOIN memory_objects o ON o.id = n.object_id WHERE n.folded IN ({marks})", sorted(names_wanted(readings))))
        for row in await self.catalog.fetch_in(
            "SELECT d.path, o.id, o.type, o.title FROM documents d JOIN memory_objects o ON o.id = d.primary_object WHERE d.live = 1 AND d.root = ? AND d.path IN ({marks})",
            sorted(path for _, path in paths_wanted(readings)), root):
            named = Named(row["id"], MemoryType(row["type"]), fold(row["title"]), row["title"])
            index.paths[(root, row["path"])] = named
            index.add_title(named)
        resolved = await self._without_deleted(await self._under_other_names(resolve(readings, index)))
        heads = await self.catalog.head_revisions([r.document for r in readings])
        planned: list[Revision] = []
        for one in resolved:
            planned += plan_document(one, heads.get(one.reading.document, ()), lambda _: False, actor)
        planned = await self._anew(planned, resolved, heads, actor)
        merged = [named.id for one in resolved for named, _ in one.merges]
        planned += plan_merges(resolved, await self.catalog.histories(merged), actor)
        arrived = {one.reading.note.path: one for one in resolved}
        waiting = await self.catalog.fetch_in(
            "SELECT l.document_id, l.target, l.link, d.primary_object, o.title FROM dangling l JOIN documents d ON d.id = l.document_id "
            "JOIN memory_objects o ON o.id = d.primary_object WHERE d.live = 1 AND l.root = ? AND l.target IN ({marks})", sorted(arrived), root)
        titles = {row["primary_object"]: row["title"] for row in waiting}
        replanned = {r.document for r in readings}
        planned += plan_found_links(
            ((row["document_id"], row["primary_object"], _dangling(row)) for row in waiting if row["document_id"] not in replanned),
            lambda path: (arrived[path].primary, arrived[path].reading.note.title) if path in arrived else None, lambda i: titles[i], actor)
        return await self.keys.settled(list({r.id: r for r in planned}.values()))

    async def _under_other_names(self, resolved: Sequence[Resolved]) -> list[Resolved]:
        """What evolution merged into another object is said of that one, what it split of the part this document spoke of before: a changed
        note brings nothing back and loses none of its support. A merge that an alias made is the note's own and not meant."""
        into: dict[str, list[str]] = {}
        waiting = {i for one in resolved for s in one.stated for i in (s.object_id, s.statement.about) if i}
        while waiting:
            rows = await self.catalog.fetch_in(
                "SELECT o.id, m.line FROM memory_objects o JOIN revisions m ON m.object_id = o.id AND m.document_id = '' AND m.kind = "
                "CASE o.standing WHEN 'merged' THEN 'merge' ELSE 'split' END WHERE o.standing IN ('merged', 'split') AND o.id IN ({marks}) ORDER BY m.seq", sorted(waiting))
            into |= {row["id"]: orjson.loads(row["line"])["into"] for row in rows}
            waiting = {i for row in rows for i in into[row["id"]]} - into.keys()
        if not into:
            return list(resolved)
        found = {row["id"]: row for row in await self.catalog.fetch_in(
            "SELECT id, type, title, identity FROM memory_objects WHERE id IN ({marks})", sorted({i for ends in into.values() for i in ends}))}
        held: dict[str, set[str]] = {}
        for row in await self.catalog.fetch_in(
                "SELECT DISTINCT document_id, object_id FROM revisions WHERE head = 1 AND document_id IN ({marks})", [one.reading.document for one in resolved]):
            held.setdefault(row["document_id"], set()).add(row["object_id"])

        def end_of(id_: str, document: str) -> str:
            end, seen = id_, {""}
            while end in into and end not in seen:
                seen.add(end)
                end = into[end][0] if len(into[end]) == 1 else next((i for i in into[end] if i in held.get(document, ())), "")
            return end if end in found and end not in into else id_

        def told(stated: Stated, document: str) -> Stated:
            about = stated.statement.about
            if stated.type is MemoryType.CLAIM and len(into.get(about, ())) > 1:
                stated = replace(stated, statement=replace(stated.statement, about=end_of(about, document)))
            if (end := end_of(stated.object_id, document)) == stated.object_id:
                return stated
            row = found[end]
            return replace(stated, object_id=end, type=MemoryType(row["type"]), statement=said_of(stated.statement, row["title"], row["identity"]))

        return [replace(one, stated=tuple(told(s, one.reading.document) for s in one.stated)) for one in resolved]

    async def _without_deleted(self, resolved: Sequence[Resolved]) -> list[Resolved]:
        """Leaves out what a person has deleted from the bank by hand: a note that says it again doesn't bring it back."""
        deleted = {row["object_id"] for row in await self.catalog.fetch_in(
            "SELECT object_id FROM revisions WHERE head = 1 AND kind = 'revoke' AND document_id = '' AND json_extract(line, '$.actor') = 'human' "
            "AND object_id IN ({marks})",
            {s.object_id for one in resolved for s in one.stated})}
        return [replace(one, stated=tuple(s for s in one.stated if s.object_id not in deleted)) for one in resolved] if deleted else list(resolved)

    async def _anew(self, planned: list[Revision], resolved: Sequence[Resolved], heads: Mapping[str, list[Revision]], actor: str) -> list[Revision]:
        """Plans again the documents some of whose revisions were recorded before and are closed since."""
        returning = {r.document for r in planned if r.document in heads}
        known = {row["id"] for row in await self.catalog.fetch_in("SELECT id FROM revisions WHERE id IN ({marks})", [r.id for r in planned if r.document in returning])}
        again = {r.document for r in planned if r.id in known}
        if not again:
            return planned
        kept = [r for r in planned if r.document not in again]
        for one in resolved:
            if one.reading.document in again:
                kept += plan_document(one, heads.get(one.reading.document, ()), lambda id_: id_ in known, actor)
        return kept

    async def _document_ids(self, root: str, readings: Sequence[Reading]) -> list[str]:
        """For each reading the live document at its path, else the one that was born there, else a new id."""
        paths = [r.note.path for r in readings]
        live = {row["path"]: row["id"] for row in await self.catalog.fetch_in(
            "SELECT path, id FROM documents WHERE live = 1 AND root = ? AND path IN ({marks})", paths, root)}
        born = {path: document_id(root, path) for path in paths}
        taken = {row["id"] for row in await self.catalog.fetch_in("SELECT id FROM documents WHERE live = 1 AND id IN ({marks})", list(born.values()))}
        ids = []
        for path in paths:
            candidate, nth = born[path], 1
            while path not in live and candidate in taken:  # the document born here has moved on and lives elsewhere
                nth += 1
                candidate = document_id(root, path, nth)
                taken |= {row["id"] for row in await self.catalog.fetch("SELECT id FROM documents WHERE live = 1 AND id = ?", (candidate,))}
            ids.append(live.get(path, candidate))
        return ids


def _dangling(row: Any) -> DanglingLink:
    kind, weight, *span = orjson.loads(row["link"])
    return DanglingLink(row["target"], kind, weight, Span(*span))
