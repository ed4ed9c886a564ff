"""Which rows of the catalog want a vector, and the one they have: columns `vector_row` of passages and objects.

Owns the SQL. Never embeds anything; whoever writes holds the bank's writer lock.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from smb.stores.catalog import Catalog
from smb.stores.catalog_apply import NOT_EMBEDDED
from smb.stores.projection import read_stamp, write_stamp
from smb.stores.vector_mirror import VectorMirror

_KINDS = ", ".join(f"'{kind}'" for kind in sorted(NOT_EMBEDDED))
_OBJECT_TEXT = "CASE WHEN body IN ('', title) THEN title ELSE title || char(10) || body END"  # MemoryObject.text
_WANTING = {"passages": ("text", f"kind NOT IN ({_KINDS})"), "memory_objects": (_OBJECT_TEXT, "1")}


class Wanting(NamedTuple):
    """One row that is to have a vector."""

    table: str
    rowid: int
    text: str


START = Wanting("", 0, "")


async def wanting(catalog: Catalog, after: Wanting, limit: int, *, only_lacking: bool) -> list[Wanting]:
    """The next `limit` rows after `after`, in a fixed order; with `only_lacking` those that have no vector."""
    found: list[Wanting] = []
    for table, (text, condition) in sorted(_WANTING.items()):
        if table < after.table or len(found) == limit:
            continue
        lacking = "AND vector_row IS NULL" if only_lacking else ""
        rows = await catalog.fetch(
            f"SELECT rowid AS at, {text} AS said FROM {table} WHERE rowid > ? AND {condition} {lacking} ORDER BY rowid LIMIT ?",
            (after.rowid if table == after.table else 0, limit - len(found)))
        found += [Wanting(table, row["at"], row["said"]) for row in rows]
    return found


async def count(catalog: Catalog, *, only_lacking: bool) -> int:
    """How many rows want a vector, or lack one."""
    total = 0
    for table, (_, condition) in _WANTING.items():
        total += (await catalog.fetch(f"SELECT count(*) FROM {table} WHERE {condition} {'AND vector_row IS NULL' if only_lacking else ''}"))[0][0]
    return total


async def name_rows(catalog: Catalog, given: Sequence[tuple[Wanting, int]]) -> None:
    """Notes the vectors' rows, in one transaction; a row whose text has changed since is left as it is.

    Objects that get one are copied to the Chroma mirror at its next catching up.
    """
    await catalog.begin()
    for table, (text, _) in _WANTING.items():
        mine = [(row, one.rowid, one.text) for one, row in given if one.table == table]
        await catalog.run_many(f"UPDATE {table} SET vector_row = ? WHERE rowid = ? AND {text} = ?", mine)
    await _mirror_again(catalog, [one.rowid for one, _ in given if one.table == "memory_objects"])
    await catalog.commit()


async def forget_rows(catalog: Catalog) -> None:
    """From now on no row names a vector; in one transaction."""
    await catalog.begin()
    for table in _WANTING:
        await catalog.run(f"UPDATE {table} SET vector_row = NULL WHERE vector_row IS NOT NULL")
    await catalog.commit()


async def _mirror_again(catalog: Catalog, objects: Iterable[int]) -> None:
    """Sets the mirror's stamp back to before the objects changed, when it is beyond that."""
    rows = await catalog.fetch_in("SELECT changed FROM memory_objects WHERE rowid IN ({marks})", objects)
    stamp = await read_stamp(catalog, VectorMirror.name)
    before = min((row["changed"] for row in rows), default=0) - 1
    if stamp is None or before < 0 or stamp.seq <= before:
        return
    known = await catalog.fetch("SELECT generation FROM transactions WHERE seq = ?", (before,))
    await write_stamp(catalog, VectorMirror.name, (before, known[0]["generation"]) if known else (0, ""))
