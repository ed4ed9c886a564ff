"""Names, edges and evidence rows of objects.

Owns what an object contributes to the graph and to name lookup. Only a relationship leads from an object to itself (a link
to another place of the same note), and none comes to by a merge. An edge to a merged object leads to what it was merged into; when a merge comes or goes, the edges of everything that spoke of either are said again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from smb.model.currentness import Standing, Verdict, as_object, judge
from smb.model.edges import EdgeType
from smb.model.identity import fold
from smb.model.objects import MemoryObject, MemoryType
from smb.model.revision import Revision
from smb.stores.catalog import Catalog

HOLDS = (Standing.CURRENT, Standing.CONTESTED)
Folded = tuple[MemoryObject, Verdict]
Edge = tuple[str, str, str, str, float]


async def apply_links(catalog: Catalog, folded: Sequence[Folded], held: Mapping[str, str], shown: Mapping[str, str],
                      histories: Mapping[str, Sequence[Revision]]) -> None:
    """Writes what the folded objects say of names, edges and evidence; `held` maps those that had rows before to what they
    were merged into (""), `shown` to the title they had. Objects that no longer hold keep their evidence but lose names
    and edges."""
    await catalog.run_in("DELETE FROM names WHERE object_id IN ({marks})", held)
    await catalog.run_in("DELETE FROM object_evidence WHERE object_id IN ({marks})", held)
    names: list[tuple[str, str, int]] = []
    evidence: list[tuple[str, str, int, int, str]] = []
    for o, verdict in folded:
        for revision in histories[o.id]:
            if revision.object_id == o.id:
                evidence += [(o.id, s.source, s.byte_start, s.byte_end, revision.document) for s in revision.evidence]
        if verdict.standing in HOLDS and o.type not in (MemoryType.CLAIM, MemoryType.RELATIONSHIP):
            names.append((fold(o.title), o.id, 0))
            names += [(fold(alias), o.id, 1) for alias in o.aliases if fold(alias) != fold(o.title)]
    await catalog.run_many("INSERT OR IGNORE INTO names VALUES (?, ?, ?)", names)
    await catalog.run_many("INSERT OR IGNORE INTO object_evidence VALUES (?, ?, ?, ?, ?)", evidence)
    await _write_edges(catalog, folded, held)
    await _say_again(catalog, folded, shown)
    merges = {o.id: merged_into(verdict) for o, verdict in folded}
    moved = {i for o, now in merges.items() if now != held.get(o, "") for i in (o, now, held.get(o, "")) if i}
    if moved:
        rows = await catalog.fetch_in("SELECT DISTINCT held_by FROM edges WHERE target IN ({marks})", moved)
        rows += await catalog.fetch_in("SELECT DISTINCT held_by FROM edges WHERE source IN ({marks})", moved)
        rows += await catalog.fetch_in("SELECT held_by FROM unled WHERE target IN ({marks})", moved)
        holders = {row["held_by"] for row in rows} - merges.keys()
        told = await catalog.histories(holders)
        again = [(o, judge(told[i], about=i)) for i in sorted(holders) if (o := as_object(told[i], about=i)) is not None]
        await _write_edges(catalog, again, holders)


async def _say_again(catalog: Catalog, folded: Sequence[Folded], shown: Mapping[str, str]) -> None:
    """Marks as changed what shows the title of an object that is new or has another title now."""
    renamed = [o.id for o, _ in folded if shown.get(o.id) != o.title]
    for end, others in (("target", ("held_by", "source")), ("source", ("held_by", "target"))):
        for other in others:
            await catalog.run_in(f"UPDATE memory_objects SET changed = (SELECT max(seq) FROM transactions) WHERE id IN "
                                 f"(SELECT {other} FROM edges WHERE {end} IN ({{marks}}) AND {other} != {end})", renamed)
    await catalog.run_in("UPDATE memory_objects SET changed = (SELECT max(seq) FROM transactions) WHERE id IN "
                         "(SELECT held_by FROM unled WHERE target IN ({marks}))", renamed)


def merged_into(verdict: Verdict) -> str:
    """The id an object was merged into; "" when it stands for itself."""
    return verdict.into[0] if verdict.standing is Standing.MERGED and verdict.into else ""


async def _write_edges(catalog: Catalog, folded: Sequence[Folded], held: Iterable[str]) -> None:
    """Writes edges, and as `unled` what a page shows that no edge leads to; the pages at both ends of an edge that came, went or
    weighs something else are marked as changed: they show other links now, or the same in another order."""
    before = {tuple(row) for row in await catalog.fetch_in("SELECT source, target, type, held_by, weight FROM edges WHERE held_by IN ({marks})", held)}
    for table in ("edges", "unled"):
        await catalog.run_in(f"DELETE FROM {table} WHERE held_by IN ({{marks}})", held)
    edges = [edge for o, verdict in folded if verdict.standing in HOLDS for edge in _edges_of(o)]
    leads = await _leads(catalog, {i for edge in edges for i in edge[:2]})
    led = [(leads.get(source, source), leads.get(target, target), kind, by, weight) for source, target, kind, by, weight in edges] if leads else edges
    kept = [after for before, after in zip(edges, led, strict=True) if after[0] != after[1] or before[0] == before[1]]
    await catalog.run_many("INSERT OR IGNORE INTO edges VALUES (?, ?, ?, ?, ?)", kept)
    reached = {(by, end) for source, target, _, by, _ in kept for end in (source, target)}
    shown = {(o.id, i) for o, _ in folded for i in (o.about, *(link.target for link in o.links)) if i and i != o.id}
    await catalog.run_many("INSERT INTO unled VALUES (?, ?)", sorted(shown - reached))
    ends = {i for edge in before ^ set(kept) for i in edge[:2]}
    await catalog.run_in("UPDATE memory_objects SET changed = (SELECT max(seq) FROM transactions) WHERE id IN ({marks})", ends)


def _edges_of(o: MemoryObject) -> list[Edge]:
    if o.type is MemoryType.RELATIONSHIP:
        return [(o.about, link.target, link.type.value, o.id, link.weight) for link in o.links]
    edges = [(o.id, link.target, link.type.value, o.id, link.weight) for link in o.links if link.target != o.id]
    if o.type is MemoryType.CLAIM and o.about:
        edges.append((o.id, o.about, EdgeType.EXPLAINS.value, o.id, 1.0))
    return edges


async def _leads(catalog: Catalog, ids: Iterable[str]) -> dict[str, str]:
    """Merged object → where it leads in the end, for those of `ids` that are merged."""
    leads: dict[str, str] = {}
    waiting = set(ids)
    while waiting:
        rows = await catalog.fetch_in("SELECT id, merged_into FROM memory_objects WHERE merged_into != '' AND id IN ({marks})", sorted(waiting))
        leads |= {row["id"]: row["merged_into"] for row in rows}
        waiting = {row["merged_into"] for row in rows} - leads.keys()

    def end_of(start: str) -> str:
        seen = {start}
        while (start := leads.get(start, "")) and start not in seen:
            seen.add(start)
            last = start
        return last

    return {i: end_of(i) for i in leads}
