"""Looking one thing up: a note's lines, an object, why it is so, what it was.

Owns the answers of `smb get`, `smb why` and `smb history`. Reads only: catalog and layer 0.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from typing import Any

from smb.model.currentness import Standing, judge
from smb.model.errors import SmbError
from smb.model.evidence import DocumentVersion, Span
from smb.model.identity import fold
from smb.model.objects import MemoryObject, Mode
from smb.model.provenance import closure_of
from smb.model.revision import DOCUMENT, Revision, Statement
from smb.model.validity import to_iso
from smb.model.verification import SignOff
from smb.stores.catalog import Catalog
from smb.stores.evidence_store import EvidenceStore
from smb.stores.strength_table import PLAIN, strengths

_ID = re.compile(r"(?:mem-|emb-)?([0-9a-f]{6,16})\Z")
_PLACE = re.compile(r"(?P<path>.+?)(?::(?P<line>\d+)(?::(?P<count>\d+))?)?\Z", re.DOTALL)


class UnknownReference(SmbError):
    def __init__(self, reference: str, meant: str):
        super().__init__(f"The bank has nothing called {reference!r}. Give {meant}; `smb recall` prints both with every answer.")


class AmbiguousReference(SmbError):
    def __init__(self, reference: str, found: Iterable[str]):
        super().__init__(f"{reference!r} could be any of {', '.join(sorted(found)[:8])}. Give more of it.")


class Lookup:
    """`places`: where ingest roots lie on this machine, for paths given as the shell sees them."""

    def __init__(self, catalog: Catalog, evidence: EvidenceStore, places: Mapping[str, str]):
        self.catalog, self.evidence, self.places = catalog, evidence, places

    async def get(self, reference: str) -> dict[str, Any]:
        """An object (by id or name), a passage (by id) or a document's lines (by id or PATH[:LINE[:COUNT]]).

        Raises UnknownReference, AmbiguousReference.
        """
        _check(reference)
        if (found := _ID.match(reference)) and (one := await self._by_id(found[1])):
            return one
        return await self._lines(reference)

    async def why(self, reference: str) -> dict[str, Any]:
        """The whole chain under an object, or under the claims that stand for a key (`SUBJECT / ATTRIBUTE`; the last ones, where
        none does): verdict, deciding revisions, what it was derived from, spans checked against layer 0.

        Raises UnknownReference, AmbiguousReference.
        """
        key, ids = await self._keyed(reference)
        ids = ids or [await self.object_id(reference, keys=True)]
        histories = await self.catalog.histories(ids)
        verdicts = {i: judge(histories[i], about=i) for i in ids}
        ids = [i for i in ids if verdicts[i].holds] or ids
        waiting = ids
        while waiting:  # everything it was derived from, level by level
            derived = {d for i in waiting for r in histories[i] if isinstance(r.statement, Statement) for d in r.statement.derived_from} - histories.keys()
            histories |= await self.catalog.histories(derived)
            waiting = list(derived)
        closures = [closure_of(i, lambda i: histories.get(i, ())) for i in ids]
        under = list(dict.fromkeys(i for closure in closures for i in closure.objects))
        deciding = list({r.id: r for closure in closures for r in closure.revisions}.values())
        verdict = max((verdicts[i] for i in ids), key=lambda v: v.standing is Standing.CONTESTED)
        objects = await self.catalog.load_objects(under)
        about = [o for o in objects if o.id in ids]
        paths = await self._documents(deciding)
        return {
            "schema_version": 1, "id": ids[0], "ids": ids, "key": list(key) if key else None, "type": about[0].type if about else "",
            "title": about[0].title if len(ids) == 1 and about else " › ".join(key), "verdict": verdict.standing, "reason": verdict.reason,
            "by": [r.object_id for r in verdict.by],
            "objects": [{"id": o.id, "type": o.type, "title": o.title, "location": o.location} for o in objects],
            "revisions": [self._revision(r, paths) for r in deciding],
            "closure": under,
        }

    async def history(self, reference: str) -> dict[str, Any]:
        """Every revision of an object, a document or a key (`SUBJECT / ATTRIBUTE`), in the order the bank learned them."""
        key, ids = await self._keyed(reference)
        ids = ids or [await self.object_id(reference, documents=True, keys=True)]
        histories = await self.catalog.histories(ids)
        revisions = {r.id: r for i in ids for r in histories[i]}
        paths = await self._documents(revisions.values())
        ordered = sorted(revisions.values(), key=lambda r: (to_iso(r.recorded_at) or "", r.id))
        closed_by = {old: r.id for r in ordered for old in r.replaces}
        return {
            "schema_version": 1, "reference": reference, "ids": ids, "key": list(key) if key else None,
            "verdicts": {i: judge(histories[i], about=i).standing for i in ids},
            "revisions": [self._revision(r, paths) | {"closed_by": closed_by.get(r.id)} for r in ordered],
        }

    # ------------------------------------------------------------ by id

    async def _keyed(self, reference: str) -> tuple[tuple[str, ...], list[str]]:
        """The key `SUBJECT / ATTRIBUTE` means, and the ids of the claims that have it; empty when it means none."""
        for slash in re.finditer("/", reference) if not _ID.match(reference) else ():
            key = (fold(reference[: slash.start()]), fold(reference[slash.end() :]))
            if rows := await self.catalog.fetch("SELECT id FROM memory_objects WHERE subject = ? AND attribute = ? ORDER BY id", key):
                return key, [row["id"] for row in rows]
        return (), []

    async def _by_id(self, id_: str) -> dict[str, Any] | None:
        objects = await self.catalog.fetch("SELECT id FROM memory_objects WHERE id >= ? AND id < ? ORDER BY id LIMIT 9", (id_, id_ + "g"))
        documents = await self.catalog.fetch("SELECT id, root, path FROM documents WHERE id >= ? AND id < ? ORDER BY id LIMIT 9", (id_, id_ + "g"))
        passages = await self.catalog.fetch("SELECT id, document_id, source, line_start, line_end FROM passages WHERE id = ? ORDER BY live DESC LIMIT 1", (id_,))
        found = {row["id"] for row in (*objects, *documents)}
        if len(found) > 1:
            raise AmbiguousReference(id_, found)
        if objects:
            (o,) = await self.catalog.load_objects([objects[0]["id"]])
            return {"schema_version": 1, "kind": "object", **await self._object(o)}
        if documents:
            return await self._document_lines(documents[0]["id"], 1, None)
        if passages:
            row = passages[0]
            return await self._document_lines(row["document_id"], row["line_start"], row["line_end"] - row["line_start"] + 1, row["source"])
        return None

    async def object_id(self, reference: str, *, documents: bool = False, keys: bool = False) -> str:
        """The id an id, an unambiguous beginning of one, or a name means; with `documents` also a note's path. `keys` says that a
        key would have done too. Raises UnknownReference, AmbiguousReference."""
        _check(reference)
        if found := _ID.match(reference):
            tables = ("memory_objects", "documents") if documents else ("memory_objects",)
            rows = [row for table in tables for row in await self.catalog.fetch(f"SELECT id FROM {table} WHERE id >= ? AND id < ? LIMIT 9", (found[1], found[1] + "g"))]
            if len(rows) > 1:
                raise AmbiguousReference(reference, [row["id"] for row in rows])
            if rows:
                return str(rows[0]["id"])
        named = await self._named(reference)
        if len(named) > 1:
            raise AmbiguousReference(reference, named)
        if named:
            return named[0]
        if documents:
            rows = await self._at_path(reference)
            if rows:
                return str(rows[0]["id"])
        meant = "an object's id or its name" + ", a note's path" * documents + ", or SUBJECT / ATTRIBUTE" * keys
        raise UnknownReference(reference, meant)

    async def _named(self, reference: str) -> list[str]:
        """Ids of the objects a name means: those of just this title, else those whose title reads the same, else those that have
        it as an alias; what notes state before what was worked out."""
        rows = await self.catalog.fetch(
            "SELECT n.object_id, n.alias, o.title, o.mode FROM names n JOIN memory_objects o ON o.id = n.object_id WHERE n.folded = ? ORDER BY n.object_id", (fold(reference),))
        ranks = {str(row["object_id"]): (row["alias"], row["title"] != reference.strip(), row["mode"] == Mode.INFERRED) for row in rows}
        return [i for i, rank in ranks.items() if rank == min(ranks.values())]

    async def item_id(self, reference: str) -> str:
        """The id of an item of an answer: a passage's, or an object's by what `object_id` takes. Raises UnknownReference,
        AmbiguousReference."""
        if found := _ID.match(reference):
            if await self.catalog.fetch("SELECT 1 FROM passages WHERE id = ? LIMIT 1", (found[1],)):
                return found[1]
        return await self.object_id(reference)

    async def _successors(self, object_id: str, standing: str) -> list[tuple[str, str]]:
        """(id, title) of what a merged or split object became; nothing for any other."""
        if standing not in ("merged", "split"):
            return []
        into = judge((await self.catalog.histories([object_id]))[object_id], about=object_id).into
        titles = {row["id"]: row["title"] for row in await self.catalog.fetch_in("SELECT id, title FROM memory_objects WHERE id IN ({marks})", into)}
        return [(i, titles[i]) for i in into if i in titles]

    async def _object(self, o: MemoryObject) -> dict[str, Any]:
        rows = await self.catalog.fetch("SELECT standing FROM memory_objects WHERE id = ?", (o.id,))
        strength = (await strengths(self.catalog, [o.id])).get(o.id, PLAIN)
        return {
            "id": o.id, "type": o.type, "title": o.title, "body": o.prose, "aliases": list(o.aliases), "tags": list(o.tags),
            "confidence": o.confidence, "status": o.status, "verdict": rows[0]["standing"] if rows else "unknown", "mode": o.mode,
            "verification": o.verification, "key": list(o.key) or None, "value": o.value, "valid_from": o.valid_from, "valid_to": o.valid_to,
            "recorded_at": o.recorded_at, "created": o.created, "modified": o.modified, "location": o.location, "layer": int(o.layer),
            "into": [{"id": i, "title": t} for i, t in await self._successors(o.id, rows[0]["standing"] if rows else "")],
            "class": strength.class_, "strength": strength.factor, "blacklisted": strength.blacklisted,
            "links": [{"target": link.target, "type": link.type, "title": link.title} for link in o.links],
            "citations": await self._citations(o.evidence), "markdown": o.to_markdown(),
        }

    # ------------------------------------------------------------ by path

    async def _lines(self, reference: str) -> dict[str, Any]:
        rows = await self._at_path(reference)
        line, count = 1, None
        if not rows:
            place = _PLACE.match(reference)
            assert place is not None
            rows = await self._at_path(place["path"]) if place["line"] else []
            if not rows and await self.catalog.fetch("SELECT 1 FROM names WHERE folded = ?", (fold(reference),)):
                return await self.get(await self.object_id(reference))
            line, count = int(place["line"] or 1), int(place["count"]) if place["count"] else (1 if place["line"] else None)
        if not rows:
            raise UnknownReference(reference, "an id, or a note's path as PATH[:LINE[:COUNT]]")
        if len({row["root"] for row in rows}) > 1 and len(rows) > 1:
            raise AmbiguousReference(reference, [f"{row['root']}/{row['path']}" for row in rows])
        return await self._document_lines(rows[0]["id"], max(line, 1), count)

    async def _at_path(self, path: str) -> list[Any]:
        """Documents at a path: as ingested, with the root's name before it, or as the shell sees it. Live ones first."""
        clean = os.path.normpath(path).replace(os.sep, "/")
        tries: list[tuple[str, tuple[str, ...]]] = [("path = ?", (clean,))]
        root, slash, rest = clean.partition("/")
        if slash:
            tries.append(("root = ? AND path = ?", (root, rest)))
        absolute = os.path.abspath(path)
        tries += [("root = ? AND path = ?", (name, os.path.relpath(absolute, place).replace(os.sep, "/")))
                  for name, place in self.places.items() if absolute.startswith(place + os.sep)]
        for where, params in tries:
            for live in (1, 0):
                rows = await self.catalog.fetch(f"SELECT id, root, path FROM documents WHERE {where} AND live = {live} ORDER BY root, id", params)
                if rows:
                    return rows
        return []

    async def _document_lines(self, document: str, line: int, count: int | None, source: str = "") -> dict[str, Any]:
        (row,) = await self.catalog.fetch("SELECT * FROM documents WHERE id = ?", (document,))
        data = self.evidence.read(source or row["source"])
        lines = re.split(r"\r\n|\n|\r", data.decode(row["encoding"], "replace").removeprefix("\ufeff"))
        if lines and not lines[-1]:
            lines.pop()
        if line > max(len(lines), 1):
            raise UnknownReference(f"{row['path']}:{line}", f"a line from 1 to {len(lines)} of {row['path']}")
        last = min(len(lines), line + count - 1) if count else len(lines)
        return {
            "schema_version": 1, "kind": "document", "id": document, "path": row["path"], "root": row["root"], "document": document,
            "source": source or row["source"], "title": row["title"], "live": bool(row["live"]), "lines": len(lines),
            "line_start": line, "line_end": max(last, line), "text": "\n".join(lines[line - 1 : last]),
        }

    # ------------------------------------------------------------ parts

    async def _documents(self, revisions: Iterable[Revision]) -> dict[str, Any]:
        """Document id → its row; and of sources quoted by what was worked out, which is of no document, source → that of one."""
        told = list(revisions)
        rows = await self.catalog.fetch_in("SELECT id, path, root, encoding FROM documents WHERE id IN ({marks})", {r.document for r in told})
        return {row["id"]: row for row in rows} | await self._holding({s.source for r in told if not r.document for s in r.evidence})

    async def _holding(self, sources: Iterable[str]) -> dict[str, Any]:
        """Source → the row of a document that has it, or had it: a live one where there is one."""
        rows = await self.catalog.fetch_in(
            "SELECT DISTINCT p.source, d.id, d.path, d.encoding, d.live FROM passages p JOIN documents d ON d.id = p.document_id WHERE p.source IN ({marks})", sources)
        return {row["source"]: row for row in sorted(rows, key=lambda row: (row["live"], row["id"]))}

    async def _citations(self, spans: Iterable[Span]) -> list[dict[str, Any]]:
        held = list(spans)
        rows = await self._holding({s.source for s in held})
        return [{"path": rows[s.source]["path"] if s.source in rows else "", "document": rows[s.source]["id"] if s.source in rows else "",
                 "source": s.source, "line_start": s.line_start, "line_end": s.line_end, "quote": s.quote} for s in held]

    def _revision(self, r: Revision, documents: Mapping[str, Any]) -> dict[str, Any]:
        document = documents.get(r.document)
        says: dict[str, Any] = {}
        match r.statement:
            case Statement() as s:
                says = {"title": s.title, "value": s.value or None, "attributed_to": s.attributed_to or None, "mode": s.mode}
            case DocumentVersion() as d:
                says = {"title": d.title, "path": d.path, "source": d.source}
            case SignOff() as signed:
                says = {"decision": signed.decision, "authority": signed.authority}
            case None:
                pass
        return {
            "id": r.id, "kind": r.kind, "object": r.object_id, "type": r.object_type, "recorded_at": to_iso(r.recorded_at), "actor": r.actor,
            "reason": r.reason or None, "valid_from": to_iso(r.valid.start), "valid_to": to_iso(r.valid.end), "replaces": list(r.replaces),
            "into": list(r.into), "transaction": r.transaction, "says": says, "document": r.document or None,
            "path": document["path"] if document else (says.get("path") if r.object_type == DOCUMENT else None),
            "evidence": [self._span(s, document or documents.get(s.source)) for s in r.evidence],
        }

    def _span(self, s: Span, document: Any) -> dict[str, Any]:
        return {"path": document["path"] if document else None, "source": s.source, "line_start": s.line_start, "line_end": s.line_end, "quote": s.quote,
                "intact": self._intact(s, document["encoding"] if document else "utf-8")}

    def _intact(self, span: Span, encoding: str) -> bool:
        """Whether layer 0 still says what the span quotes."""
        return self.evidence.has(span.source) and self.evidence.read(span.source)[span.byte_start : span.byte_end].decode(encoding, "replace") == span.quote


def _check(reference: str) -> None:
    """Raises UnknownReference for what can name nothing: white space, or bytes that are no Unicode."""
    if not reference.strip() or any("\ud800" <= c <= "\udfff" for c in reference):
        raise UnknownReference(reference.encode("utf-8", "backslashreplace").decode(), "an id, a name or a note's path")
