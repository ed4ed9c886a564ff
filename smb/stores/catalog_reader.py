"""The reads recall makes of the catalog, each one batched statement.

Owns SQL only: no ranking, no verdicts, no judgement of what matters. Never writes. Row numbers, not ids, are what
passages are asked for by: the rows of one document version are consecutive, in the order of `ordinal`.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from smb.model.revision import Revision
from smb.stores.catalog import Catalog
from smb.stores.lexical import match_query

PASSAGE_WEIGHTS = "1.0, 0.3, 1.0"  # text, context, ngrams: a title says less of one passage than its own words do
OBJECT_WEIGHTS = "1.0, 0.6, 0.9, 1.0"  # title, body, aliases, ngrams
DERIVED = "(o.mode = 'inferred' AND o.type NOT IN ('concept', 'entity', 'claim'))"  # worked out, and standing for nothing that was stated
POSTINGS_LIMIT = 20_000  # passages listed for one term; a term in more of them tells little
RETRY_FACTOR = 8  # how much deeper to look when most of the hits belong to versions that are gone

PASSAGE_COLUMNS = (
    "p.rowid AS rowid, p.id, p.document_id, p.source, p.ordinal, p.kind, p.byte_start, p.byte_end, p.line_start, p.line_end, "
    "p.speaker, p.text, p.context, p.live, p.vector_row"
)
OBJECT_COLUMNS = (
    "o.rowid AS rowid, o.id, o.type, o.title, o.confidence, o.status, o.source_ids, o.tags, o.layer, o.standing, "
    "o.mode, o.verification, "
    "o.subject, o.attribute, o.value, o.about, o.attributed_to, o.valid_from, o.valid_to, o.recorded_at, o.revision, "
    "o.body, o.aliases, "
    "o.supports, o.vector_row"
)


@dataclass(frozen=True, slots=True)
class Scope:
    """Which rows a question may see. Empty tuples admit everything; `past` admits versions that are gone, `stated` only
    what notes or people state: nothing evolution worked out from it."""

    types: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    layers: tuple[int, ...] = ()
    past: bool = False
    stated: bool = False

    @property
    def passages(self) -> bool:
        """Passages are layer 0 and of the type "passage"."""
        return (not self.types or "passage" in self.types) and (not self.layers or 0 in self.layers)

    @property
    def objects(self) -> bool:
        return (not self.types or any(t != "passage" for t in self.types)) and (not self.layers or any(self.layers))


EVERYTHING = Scope()


class CatalogReader:
    """Reads for one question over one open catalog."""

    def __init__(self, catalog: Catalog):
        self.catalog = catalog

    async def fetch(self, sql: str, *params: object) -> list[sqlite3.Row]:
        return await self.catalog.fetch(sql, params)

    async def latest(self) -> tuple[int, str]:
        """(seq, generation) of the last applied transaction."""
        return await self.catalog.latest()

    async def histories(self, object_ids: Iterable[str]) -> dict[str, list[Revision]]:
        """Each object's revisions and those that replace them, as `judge` wants them."""
        return await self.catalog.histories(object_ids)

    async def passage_count(self) -> int:
        """How many passages there are, those of gone versions too (rows are numbered from 1 and seldom removed)."""
        return (await self.fetch("SELECT coalesce(max(rowid), 0) FROM passages"))[0][0]

    # ------------------------------------------------------------ lexical

    async def lexical_passages(self, match: str, scope: Scope, limit: int) -> list[tuple[int, float]]:
        """(rowid, relevance) best first, ties by row; relevance is BM25 as FTS5 has it, positive."""
        where, params = _document_scope(scope)
        if where:
            rows = await self.fetch(
                f"SELECT f.rowid, -bm25(passages_fts, {PASSAGE_WEIGHTS}) AS s FROM passages_fts f JOIN passages p ON "
                f"p.rowid = f.rowid "
                f"JOIN documents d ON d.id = p.document_id WHERE passages_fts MATCH ? {where} ORDER BY s DESC, f.rowid LIMIT ?",
                match,
                *params,
                limit,
            )
            return [(row[0], row[1]) for row in rows]
        deep = limit
        while True:
            rows = await self.fetch(
                "SELECT f.rowid, f.s, p.live FROM (SELECT rowid, -rank AS s FROM passages_fts WHERE passages_fts MATCH ? "
                f"AND rank MATCH 'bm25({PASSAGE_WEIGHTS})' ORDER BY rank LIMIT ?) f CROSS JOIN passages p ON p.rowid = f.rowid",
                match,
                deep,
            )
            live = sorted(((row[0], row[1]) for row in rows if row[2] or scope.past), key=lambda pair: (-pair[1], pair[0]))
            if len(rows) < deep or len(live) >= limit // 2:
                return live[:limit]
            deep *= RETRY_FACTOR

    async def lexical_objects(self, match: str, scope: Scope, limit: int) -> list[tuple[int, float]]:
        """(rowid, relevance) of objects of any standing, best first, ties by row."""
        where, params = _object_scope(replace(scope, stated=False))
        rows = await self.fetch(
            f"SELECT f.rowid, -bm25(objects_fts, {OBJECT_WEIGHTS}) AS s FROM objects_fts f JOIN memory_objects o ON "
            f"o.rowid = f.rowid "
            f"WHERE objects_fts MATCH ? {where} ORDER BY s DESC, f.rowid LIMIT ?"
            if where
            else "SELECT rowid, -rank AS s FROM objects_fts WHERE objects_fts MATCH ? "
            f"AND rank MATCH 'bm25({OBJECT_WEIGHTS})' ORDER BY rank LIMIT ?",
            match,
            *params,
            2 * limit if scope.stated else limit,
        )
        held = await self.admitted_objects([row[0] for row in rows], Scope(stated=True)) if scope.stated else {row[0] for row in rows}
        return sorted(((row[0], row[1]) for row in rows if row[0] in held), key=lambda pair: (-pair[1], pair[0]))[:limit]

    async def postings(self, terms: Sequence[str]) -> list[list[int]]:
        """For each term the rows of the passages whose own text has it, ascending, at most POSTINGS_LIMIT of them."""
        found: list[list[int]] = []
        for term in terms:
            match = match_query([term])
            rows = (
                await self.fetch(
                    "SELECT rowid FROM passages_fts WHERE passages_fts MATCH ? ORDER BY rowid LIMIT ?",
                    f"{{text ngrams}} : ({match})",
                    POSTINGS_LIMIT,
                )
                if match
                else []
            )
            found.append([row[0] for row in rows])
        return found

    async def lengths(self, versions: Iterable[tuple[str, str]]) -> dict[tuple[str, str], int]:
        """(document, source) → passages of that version."""
        rows = await self.fetch(
            "SELECT j.value ->> 0 AS document, j.value ->> 1 AS source, (SELECT p.ordinal + 1 FROM passages p WHERE "
            "p.document_id = j.value ->> 0 AND p.source = j.value ->> 1 ORDER BY p.ordinal DESC LIMIT 1) FROM json_each(?) j",
            _list(versions),
        )
        return {(row[0], row[1]): row[2] or 0 for row in rows}

    # ------------------------------------------------------------ rows

    async def passages(self, rowids: Iterable[int]) -> list[sqlite3.Row]:
        return await self.fetch(
            f"SELECT {PASSAGE_COLUMNS} FROM passages p WHERE p.rowid IN (SELECT value FROM json_each(?)) ORDER BY p.rowid", _list(rowids)
        )

    async def admitted_passages(self, rowids: Iterable[int], scope: Scope) -> set[int]:
        """Which of these rows the scope admits."""
        where, params = _document_scope(scope)
        live = "" if scope.past else "AND p.live = 1"
        rows = await self.fetch(
            f"SELECT p.rowid FROM passages p JOIN documents d ON d.id = p.document_id "
            f"WHERE p.rowid IN (SELECT value FROM json_each(?)) {live} {where}",
            _list(rowids),
            *params,
        )
        return {row[0] for row in rows}

    async def passages_by_vector(self, rows: Iterable[int], scope: Scope) -> list[tuple[int, int]]:
        """(passage row, vector row), by passage row."""
        where, params = _document_scope(scope)
        live = "" if scope.past else "AND +p.live = 1"  # by the vectors' index, not through every live passage
        join = "JOIN documents d ON d.id = p.document_id" if where else ""
        found = await self.fetch(
            f"SELECT p.rowid, p.vector_row FROM passages p {join} WHERE p.vector_row IN (SELECT value FROM json_each(?)) "
            f"{live} {where} ORDER BY p.rowid",
            _list(rows),
            *params,
        )
        return [(row[0], row[1]) for row in found]

    async def objects_by_vector(self, rows: Iterable[int], scope: Scope) -> list[tuple[int, int]]:
        """(object row, vector row), by object row."""
        where, params = _object_scope(scope)
        found = await self.fetch(
            f"SELECT o.rowid, o.vector_row FROM memory_objects o WHERE o.vector_row IN (SELECT value FROM json_each(?)) "
            f"{where} ORDER BY o.rowid",
            _list(rows),
            *params,
        )
        return [(row[0], row[1]) for row in found]

    async def derived_vectors(self, rows: Iterable[int]) -> set[int]:
        """Those of these vector rows that belong to nothing but what was worked out."""
        found = await self.fetch(
            f"SELECT o.vector_row FROM memory_objects o WHERE o.vector_row IN (SELECT value FROM json_each(?)) GROUP BY o.vector_row "
            f"HAVING min({DERIVED}) AND NOT EXISTS (SELECT 1 FROM passages p WHERE p.vector_row = o.vector_row)",
            _list(rows),
        )
        return {row[0] for row in found}

    async def documents(self, ids: Iterable[str]) -> list[sqlite3.Row]:
        return await self.fetch(
            "SELECT id, root, path, source, title, encoding, shape, date, valid_from, valid_to, tags, live, recorded_at "
            "FROM documents WHERE id IN (SELECT value FROM json_each(?))",
            _list(ids),
        )

    async def objects(self, rowids: Iterable[int]) -> list[sqlite3.Row]:
        return await self.fetch(
            f"SELECT {OBJECT_COLUMNS} FROM memory_objects o WHERE o.rowid IN (SELECT value FROM json_each(?)) ORDER BY o.rowid",
            _list(rowids),
        )

    async def admitted_objects(self, rowids: Iterable[int], scope: Scope) -> set[int]:
        """Which of these rows the scope admits."""
        where, params = _object_scope(scope)
        rows = await self.fetch(
            f"SELECT o.rowid FROM memory_objects o WHERE o.rowid IN (SELECT value FROM json_each(?)) {where}",
            _list(rowids),
            *params,
        )
        return {row[0] for row in rows}

    async def object_rows(self, ids: Iterable[str], scope: Scope = EVERYTHING) -> dict[str, int]:
        """id → row of those the scope admits."""
        where, params = _object_scope(scope)
        rows = await self.fetch(
            f"SELECT o.id, o.rowid FROM memory_objects o WHERE o.id IN (SELECT value FROM json_each(?)) {where}",
            _list(ids),
            *params,
        )
        return {row[0]: row[1] for row in rows}

    # ------------------------------------------------------------ names, keys, edges, evidence

    async def named(self, folded: Iterable[str]) -> list[tuple[str, str]]:
        """(folded name, object id) of the objects that bear one of these names: by their title where there are such, else as an alias."""
        rows = await self.fetch(
            "SELECT folded, object_id FROM names n WHERE folded IN (SELECT value FROM json_each(?)) AND (alias = 0 OR NOT EXISTS "
            "(SELECT 1 FROM names t WHERE t.folded = n.folded AND t.alias = 0)) ORDER BY folded, object_id",
            _list(folded),
        )
        return [(row[0], row[1]) for row in rows]

    async def names_of(self, object_ids: Iterable[str]) -> list[tuple[str, str]]:
        """(folded name, object id): every name and alias of these objects."""
        rows = await self.fetch(
            "SELECT folded, object_id FROM names WHERE object_id IN (SELECT value FROM json_each(?)) ORDER BY folded, object_id",
            _list(object_ids),
        )
        return [(row[0], row[1]) for row in rows]

    async def keyed(self, subjects: Iterable[str], limit: int) -> list[tuple[int, str, str]]:
        """(row, subject, attribute) of the claims keyed by one of these folded subjects."""
        rows = await self.fetch(
            "SELECT rowid, subject, attribute FROM memory_objects WHERE attribute != '' AND subject IN (SELECT value "
            "FROM json_each(?)) "
            "ORDER BY subject, attribute, rowid LIMIT ?",
            _list(subjects),
            limit,
        )
        return [(row[0], row[1], row[2]) for row in rows]

    async def edges_of(self, ids: Iterable[str], limit: int, scope: Scope = EVERYTHING) -> list[tuple[str, str, str, float]]:
        """(from, to, type, weight) of the edges that touch these objects, both ways, heaviest first; those that notes or
        people state, where the scope asks for it."""
        wanted = _list(ids)
        stated = f"WHERE NOT EXISTS (SELECT 1 FROM memory_objects o WHERE o.id = held_by AND {DERIVED})" if scope.stated else ""
        rows = await self.fetch(
            "SELECT source, target, type, max(weight) AS w FROM (SELECT * FROM edges WHERE source IN (SELECT value FROM "
            "json_each(?1)) "
            f"UNION ALL SELECT * FROM edges WHERE target IN (SELECT value FROM json_each(?1))) {stated} GROUP BY source, target, type "
            "ORDER BY w DESC, source, target, type LIMIT ?2",
            wanted,
            limit,
        )
        return [(row[0], row[1], row[2], row[3]) for row in rows]

    async def contradicting(self, ids: Iterable[str]) -> dict[str, set[str]]:
        """id → the ids a contradicts edge joins it to, of those between two of `ids`."""
        wanted = _list(ids)
        rows = await self.fetch(
            "SELECT source, target FROM edges WHERE type = 'contradicts' AND source IN (SELECT value FROM json_each(?1)) "
            "AND +target IN (SELECT value FROM json_each(?1))",
            wanted,
        )
        found: dict[str, set[str]] = {}
        for source, target in rows:
            found.setdefault(source, set()).add(target)
            found.setdefault(target, set()).add(source)
        return found

    async def weighed(self, ids: Iterable[str]) -> list[sqlite3.Row]:
        """id, title, confidence, verification and changed (a transaction's number) of these objects."""
        return await self.fetch("SELECT id, title, confidence, verification, changed FROM memory_objects WHERE id IN (SELECT value FROM json_each(?))", _list(ids))

    async def looked_at(self) -> dict[str, int]:
        """Phase of evolution → the number of the transaction up to which it has looked at the bank."""
        rows = await self.fetch("SELECT substr(key, 9) AS phase, CAST(value AS INTEGER) AS seq FROM meta WHERE key LIKE 'evolved.%'")
        return {row["phase"]: row["seq"] for row in rows}

    async def newest(self) -> tuple[str | None, str | None]:
        """(the newest date of a live document that is not ahead of the newest time anything was recorded but by evolution, that time), ISO."""
        rows = await self.fetch(
            "SELECT (SELECT max(valid_from) FROM documents WHERE live = 1 AND valid_from <= r.at), r.at "
            "FROM (SELECT max(recorded_at) AS at FROM transactions WHERE kind != 'evolve') r"
        )
        return rows[0][0], rows[0][1]

    async def objects_in(self, passages: Iterable[int], scope: Scope) -> list[tuple[int, int, int, int]]:
        """(passage row, object row, byte_start, byte_end): the evidence that lies in these passages."""
        where, params = _object_scope(scope)
        rows = await self.fetch(
            "SELECT p.rowid, o.rowid, e.byte_start, e.byte_end FROM passages p CROSS JOIN object_evidence e ON e.source "
            "= p.source "
            "AND e.byte_start >= p.byte_start AND e.byte_start < p.byte_end AND e.document_id = p.document_id "
            f"CROSS JOIN memory_objects o ON o.id = e.object_id WHERE p.rowid IN (SELECT value FROM json_each(?)) {where} "
            "ORDER BY p.rowid, o.rowid, e.byte_start",
            _list(passages),
            *params,
        )
        return [(row[0], row[1], row[2], row[3]) for row in rows]

    async def evidence_of(self, object_ids: Iterable[str]) -> list[sqlite3.Row]:
        """object_id, source, byte_start, byte_end, document_id, and of the passage that holds it: passage (its row),
        p_start, line_start, live; current versions first, then in source order. Evidence of what was worked out names no
        document: it is given the one its bytes lie in."""
        return await self.fetch(
            "SELECT e.object_id, e.source, e.byte_start, e.byte_end, CASE e.document_id WHEN '' THEN coalesce(p.document_id, '') ELSE e.document_id END AS "
            "document_id, p.rowid AS passage, p.byte_start AS p_start, p.line_start, "
            "coalesce(p.live, 0) AS live FROM object_evidence e LEFT JOIN passages p ON p.rowid = (SELECT q.rowid FROM "
            "passages q "
            "WHERE q.source = e.source AND q.byte_start <= e.byte_start AND (q.document_id = e.document_id OR e.document_id = '') ORDER BY "
            "q.byte_start DESC, q.live DESC, q.document_id LIMIT 1) "
            "WHERE e.object_id IN (SELECT value FROM json_each(?)) ORDER BY e.object_id, live DESC, e.source, e.byte_start",
            _list(object_ids),
        )


def _list(values: Iterable[object]) -> str:
    return json.dumps(list(values), ensure_ascii=False)


def _document_scope(scope: Scope) -> tuple[str, list[object]]:
    """SQL over `d` (documents) and `p` (passages) for the source and tag filters; empty where there are none."""
    said, params = "", []
    if scope.sources:
        said += f" AND ({' OR '.join(_path_test(s, params) for s in scope.sources)})"
    if scope.tags:
        said += f" AND {_tag_test('d.tags', scope.tags, params)}"
    if said and not scope.past:
        said += " AND +p.live = 1"
    return said, params


def _object_scope(scope: Scope) -> tuple[str, list[object]]:
    """SQL over `o` (memory_objects)."""
    said, params = f" AND NOT {DERIVED}" if scope.stated else "", []
    if types := [t for t in scope.types if t != "passage"]:
        said += f" AND o.type IN ({','.join('?' * len(types))})"
        params += types
    if layers := [n for n in scope.layers if n]:
        said += f" AND o.layer IN ({','.join('?' * len(layers))})"
        params += layers
    if scope.tags:
        said += f" AND {_tag_test('o.tags', scope.tags, params)}"
    if scope.sources:
        tests = " OR ".join(_path_test(s, params) for s in scope.sources)
        said += (
            " AND EXISTS (SELECT 1 FROM object_evidence x JOIN documents d ON d.id = x.document_id "
            f"WHERE x.object_id = o.id AND ({tests}))"
        )
    return said, params


def _path_test(source: str, params: list[object]) -> str:
    """A glob where it has glob marks and matches as one, else a prefix of whole path parts (or the file itself)."""
    plain = source.rstrip("/")
    params += [source, plain, f"{plain}/"]
    params.append(len(plain) + 1)
    return "(d.path GLOB ? OR d.path = ? OR ? = substr(d.path, 1, ?))"


def _tag_test(column: str, tags: Sequence[str], params: list[object]) -> str:
    """Any of the tags, or a tag nested below one (`a` finds `a/b`), letter case apart."""
    tests = []
    for tag in tags:
        wanted = tag.lstrip("#").casefold()
        params += [wanted, f"{wanted}/", len(wanted) + 1]
        tests.append("lower(value) = ? OR ? = substr(lower(value), 1, ?)")
    return f"EXISTS (SELECT 1 FROM json_each({column}) WHERE {' OR '.join(tests)})"
