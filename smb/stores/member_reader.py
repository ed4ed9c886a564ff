"""The reads COUNT and LIST make of the catalog: everything that could be a member, not the best of it.

Owns SQL only. Every read has a limit; one that reaches it says so by returning None, because a set that was cut can't be
counted.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence

from smb.stores.catalog_reader import OBJECT_COLUMNS, PASSAGE_COLUMNS, CatalogReader
from smb.stores.lexical import match_query

MOST = 4_000


class MemberReader:
    """Set-wise reads over the catalog one question reads."""

    def __init__(self, reader: CatalogReader):
        self.reader = reader

    async def of_type(self, type_: str, tag: str = "") -> list[sqlite3.Row] | None:
        """Objects of a type (bearing a tag), of any standing."""
        tagged = "AND EXISTS (SELECT 1 FROM json_each(o.tags) WHERE value = ?2)" if tag else ""
        return await self._whole(
            f"SELECT {OBJECT_COLUMNS} FROM memory_objects o WHERE o.type = ?1 {tagged} ORDER BY o.rowid LIMIT {MOST + 1}",
            type_,
            *([tag] if tag else []),
        )

    async def tagged(self, tags: Sequence[str]) -> list[sqlite3.Row] | None:
        """Concepts and entities that bear one of these tags or one nested below it, letter case apart."""
        test = " OR ".join("lower(j.value) = ? OR lower(j.value) LIKE ? || '/%'" for _ in tags)
        like = " OR ".join("o.tags LIKE '%' || ? || '%'" for _ in tags)
        return await self._whole(
            f"SELECT {OBJECT_COLUMNS} FROM memory_objects o WHERE o.type IN ('concept', 'entity') AND o.tags != '[]' AND ({like}) AND EXISTS "
            f"(SELECT 1 FROM json_each(o.tags) j WHERE {test}) ORDER BY o.rowid LIMIT {MOST + 1}",
            *tags,
            *(tag for one in tags for tag in (one, one)),
        )

    async def keyed(self, attributes: Sequence[str], subjects: Sequence[str] = ()) -> list[sqlite3.Row] | None:
        """Claims with one of these attributes, of one of these subjects where any are given."""
        about = f"AND o.subject IN ({','.join('?' * len(subjects))})" if subjects else ""
        return await self._whole(
            f"SELECT {OBJECT_COLUMNS} FROM memory_objects o WHERE o.attribute != '' AND o.attribute IN ({','.join('?' * len(attributes))}) {about} "
            f"ORDER BY o.rowid LIMIT {MOST + 1}",
            *attributes,
            *subjects,
        )

    async def saying(self, words: Sequence[str]) -> list[sqlite3.Row] | None:
        """Claims whose title has all of these words."""
        if not (match := _all_of(words)):
            return []
        return await self._whole(
            f"SELECT {OBJECT_COLUMNS} FROM objects_fts f CROSS JOIN memory_objects o ON o.rowid = f.rowid WHERE objects_fts MATCH ? "
            f"AND o.type = 'claim' LIMIT {MOST + 1}",
            f"{{title ngrams}} : ({match})",
        )

    async def passages_with(self, words: Sequence[str], kinds: Sequence[str], past: bool) -> list[sqlite3.Row] | None:
        """Passages of these kinds whose own text has all of these words."""
        if not (match := _all_of(words)):
            return []
        live = "" if past else "AND p.live = 1"
        return await self._whole(
            f"SELECT {PASSAGE_COLUMNS} FROM passages_fts f CROSS JOIN passages p ON p.rowid = f.rowid WHERE passages_fts MATCH ? "
            f"AND p.kind IN ({','.join('?' * len(kinds))}) {live} ORDER BY p.rowid LIMIT {MOST + 1}",
            f"{{text ngrams}} : ({match})",
            *kinds,
        )

    async def under(self, words: Sequence[str], past: bool) -> list[sqlite3.Row] | None:
        """List items, table rows and whatever stands between them, in documents where a title or heading has all of these words."""
        match = " AND ".join(f'"{word}"' for word in words if word.replace('"', "").strip() == word)
        live = "" if past else "AND p.live = 1"
        return (
            await self._whole(
                f"SELECT {PASSAGE_COLUMNS} FROM passages_fts f CROSS JOIN passages p ON p.rowid = f.rowid WHERE passages_fts MATCH ? {live} "
                f"ORDER BY p.rowid LIMIT {MOST + 1}",
                f"{{context}} : ({match})",
            )
            if match
            else []
        )

    async def documents(self, past: bool) -> int:
        """How many documents there are."""
        return (await self.reader.fetch("SELECT count(*) FROM documents" + ("" if past else " WHERE live = 1")))[0][0]

    async def edges_between(self, ids: Iterable[str], type_: str, outward: bool) -> list[str]:
        """What these objects have an edge of a type to (`outward`) or from, by id."""
        near, far = ("source", "target") if outward else ("target", "source")
        rows = await self.reader.fetch(
            f"SELECT DISTINCT {far} FROM edges WHERE {near} IN (SELECT value FROM json_each(?)) AND type = ? ORDER BY 1",
            json.dumps(list(ids)),
            type_,
        )
        return [row[0] for row in rows]

    async def _whole(self, sql: str, *params: object) -> list[sqlite3.Row] | None:
        rows = await self.reader.fetch(sql, *params)
        return rows if len(rows) <= MOST else None


def _all_of(words: Sequence[str]) -> str:
    return " AND ".join(f"({m})" for word in words if (m := match_query([word])))
