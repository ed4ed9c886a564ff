"""Which concepts and entities of the bank belong together.

What ties them: edges notes state, documents that name both, and likeness of their texts. Owns the ties and the groups (Leiden, by igraph), and how a group found before is kept while the bank grows: members stay as
long as they hold, what is new joins the group most of its ties lead to, and what fits none may found groups of its own. Only
when more than `RENEW` of it changed is everything grouped anew. Never names a group and never says anything of it.
"""

from __future__ import annotations

import math
import random
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from smb.evolve.snapshot import Item, Snapshot
from smb.model.edges import EdgeType
from smb.model.objects import MemoryType

if TYPE_CHECKING:
    import numpy as np

RENEW = 0.25  # share of the nodes that are new or gone beyond which everything is grouped anew
DENSITIES = (0.1, 0.04)  # least weight of ties a pair of members, of the finer and the coarser groups: some 20 and some 40 members
NEIGHBOURS = 8  # nearest by likeness that count as ties
ALIKE = 0.45  # cosine of two texts about one subject; two texts taken at random have 0.07 in the median, 0.3 in the 95th percentile
JOINS = 0.5  # share of its ties that must lead into a group for a new node to join it
_BLOCK = 256  # rows of similarities held at once
_CLIQUE = 6  # names in a document up to which each is tied to each, not only to what the document is about
_CROWD = 60  # names in a document beyond which it ties nothing: an index, not a subject
_STATED = {
    EdgeType.CONTAINS: 2.0, EdgeType.EXTENDS: 2.0, EdgeType.EVOLVES_INTO: 2.0, EdgeType.SUPPORTS: 1.5, EdgeType.DERIVES_FROM: 1.5,
    EdgeType.INSPIRED_BY: 1.0, EdgeType.CONTRADICTS: 1.0, EdgeType.EXPLAINS: 1.0, EdgeType.REFERENCES: 1.0, EdgeType.RELATED_TO: 0.5,
}

Ties = dict[tuple[int, int], float]


class Bond(StrEnum):
    """What ties members of a group: links and documents that name both, likeness of text, or all of it."""

    LINKS = "links"
    LIKENESS = "likeness"
    BOTH = "both"


@dataclass(frozen=True, slots=True)
class Node:
    """A concept or entity. `home` is the document it is the subject of ("" where it is only named), `documents` all that state it."""

    item: Item
    home: str
    documents: tuple[str, ...]

    @property
    def id(self) -> str:
        return self.item.id


@dataclass(frozen=True, slots=True)
class Grouping:
    """Groups as sets of ids, largest first. `kept` gives for a group the id of the object that held it before; `renewed`
    says that everything was grouped anew."""

    groups: tuple[frozenset[str], ...]
    kept: Mapping[frozenset[str], str]
    renewed: bool


async def nodes_of(snapshot: Snapshot) -> dict[str, Node]:
    """What can be grouped, by id: concepts and entities with letters in their names, dates left out."""
    found: dict[str, Node] | None = snapshot.kept("partition.nodes")
    if found is None:
        documents, stated_in = await snapshot.documents(), await snapshot.stated_in()
        homes = {doc.primary: doc.id for doc in documents.values()}
        found = snapshot.keep("partition.nodes", {
            item.id: Node(item, homes.get(item.id, ""), stated_in.get(item.id, ()))
            for item in snapshot.stated(MemoryType.CONCEPT, MemoryType.ENTITY)
            if "date" not in item.tags and sum(map(str.isalpha, item.title)) > 1}, stated=True)
    for id_, node in found.items():
        if node.item is not (item := snapshot.items[id_]):  # touched since, by what was made of it
            found[id_] = replace(node, item=item)
    return found


async def grouped(snapshot: Snapshot, bond: Bond, level: int = 0) -> list[frozenset[str]]:
    """All nodes grouped from nothing, largest group first; `level` 0 is the finer, 1 the coarser, made of whole finer groups."""
    found: list[list[frozenset[str]]] | None = snapshot.kept(f"partition.{bond}")
    if found is None:
        nodes = list((await nodes_of(snapshot)).values())
        ties = await _ties(snapshot, nodes, range(len(nodes)), bond)
        found = snapshot.keep(f"partition.{bond}", [_as_sets(nodes, membership) for membership in _levels(len(nodes), ties)], stated=True)
    return found[level]


async def carried_on(snapshot: Snapshot, phase: str, bond: Bond, least: int, level: int = 0) -> Grouping:
    """The groups `phase` holds, brought up to the bank as it stands; all of them have at least `least` members."""
    held = await memberships(snapshot, phase)
    nodes = await nodes_of(snapshot)
    live = {id_: members & nodes.keys() for id_, members in held.items()}
    lost = sum(len(members) for members in held.values()) - sum(map(len, live.values()))
    covered = set().union(*live.values()) if live else set()
    fresh = await fresh_of(snapshot, phase, nodes.keys() - covered)
    if not held or len(fresh) + lost > RENEW * len(nodes):
        groups = [g for g in await grouped(snapshot, bond, level) if len(g) >= least]
        return Grouping(tuple(groups), {}, True)
    founded: list[frozenset[str]] = []
    if fresh:
        founded = await _settle(snapshot, list(nodes.values()), live, covered, fresh, bond, level)
    kept = {frozenset(members): id_ for id_, members in sorted(live.items()) if len(members) >= least}
    groups = [*kept, *(g for g in founded if len(g) >= least)]
    return Grouping(tuple(sorted(groups, key=_by_size)), kept, False)


async def memberships(snapshot: Snapshot, phase: str) -> dict[str, set[str]]:
    """Each object `phase` holds → the ids it contains, merged ones under what they were merged into."""
    held = [item.id for item in snapshot.derived(phase)]
    found: dict[str, set[str]] = {id_: set() for id_ in held}
    for row in await snapshot.catalog.fetch_in(
            "SELECT held_by, target FROM edges WHERE type = 'contains' AND source = held_by AND held_by IN ({marks})", held):
        found[row["held_by"]].add(snapshot.canonical(row["target"]))
    return found


async def fresh_of(snapshot: Snapshot, phase: str, ids: Collection[str]) -> list[str]:
    """Those of `ids` that came after the last thing `phase` said, or that this bank learned of since it last looked. (The stamp
    alone would not do: a clone has none, and must come to what the bank it was cloned from came to.)"""
    last = max((held.recorded_at for held in snapshot.derived(phase)), default="")
    maybe = sorted(id_ for id_ in ids if snapshot.items[id_].recorded_at > last or snapshot.since and snapshot.is_new(snapshot.items[id_]))
    rows = await snapshot.catalog.fetch_in(
        "SELECT object_id, min(tx) AS first, min(recorded_at) AS created FROM revisions WHERE object_id IN ({marks}) GROUP BY object_id", maybe)
    return sorted(row["object_id"] for row in rows if row["created"] > last or snapshot.since and row["first"] > snapshot.since)


async def _settle(snapshot: Snapshot, nodes: Sequence[Node], live: dict[str, set[str]], covered: Collection[str], fresh: Sequence[str],
                  bond: Bond, level: int) -> list[frozenset[str]]:
    """Lets fresh nodes join the groups `live` (changed in place) and returns the groups the others found among themselves."""
    index = {node.id: n for n, node in enumerate(nodes)}
    ties = await _ties(snapshot, nodes, [index[id_] for id_ in fresh], bond)
    around: dict[str, dict[str, float]] = defaultdict(dict)
    for (a, b), weight in ties.items():
        around[nodes[a].id][nodes[b].id] = around[nodes[b].id][nodes[a].id] = weight
    home = {id_: group for group, members in live.items() for id_ in members}
    waiting = list(fresh)
    while True:
        joining = {id_: group for id_ in waiting if (group := _home_of(around[id_], home))}
        if not joining:
            break
        for id_, group in joining.items():
            live[group].add(id_)
        home |= joining
        waiting = [id_ for id_ in waiting if id_ not in joining]
    loose = sorted({*waiting, *(other for id_ in waiting for other in around[id_] if other not in home)})
    place = {id_: n for n, id_ in enumerate(loose)}
    among = {(place[nodes[a].id], place[nodes[b].id]): w for (a, b), w in ties.items() if nodes[a].id in place and nodes[b].id in place}
    return _as_sets([nodes[index[id_]] for id_ in loose], _levels(len(loose), among)[level])


def _home_of(ties: Mapping[str, float], home: Mapping[str, str]) -> str:
    """The group that holds at least `JOINS` of these ties, "" where none does."""
    pull: Counter[str] = Counter()
    for other, weight in ties.items():
        if other in home:
            pull[home[other]] += weight  # type: ignore[assignment]
    if not pull:
        return ""
    best = min(pull, key=lambda group: (-pull[group], group))
    return best if pull[best] >= JOINS * sum(ties.values()) else ""


# ---------------------------------------------------------------------- ties


async def _ties(snapshot: Snapshot, nodes: Sequence[Node], of: Sequence[int], bond: Bond) -> Ties:
    """The weights of the ties that have an end among `of`, by (lower, higher) index."""
    ties: Ties = defaultdict(float)
    if bond is not Bond.LIKENESS:
        for pair, weight in (await _links(snapshot, nodes, of)).items():
            ties[pair] += weight
    if bond is not Bond.LINKS:
        alike: Ties | None = snapshot.kept("partition.alike") if len(of) == len(nodes) else None
        if alike is None:
            alike = _likeness(snapshot.vectors([node.item for node in nodes]), of)
            if len(of) == len(nodes):
                snapshot.keep("partition.alike", alike, stated=True)
        for pair, weight in alike.items():
            ties[pair] += weight
    return ties


async def linked(snapshot: Snapshot) -> dict[str, list[str]]:
    """Each node → the nodes that stated edges join it to, either way; kept."""
    found: dict[str, list[str]] | None = snapshot.kept("partition.linked")
    if found is None:
        found = snapshot.keep("partition.linked", {id_: [] for id_ in await nodes_of(snapshot)}, stated=True)
        for edge in await snapshot.edges():
            if edge.source in found and edge.target in found and edge.source != edge.target:
                found[edge.source].append(edge.target)
                found[edge.target].append(edge.source)
    return found


async def _links(snapshot: Snapshot, nodes: Sequence[Node], of: Sequence[int]) -> Ties:
    index = {node.id: n for n, node in enumerate(nodes)}
    wanted = set(of)
    ties: Ties = defaultdict(float)
    stated = [(index[e.source], index[e.target], _STATED[e.type] * (1 + math.log2(max(1.0, e.weight)))) for e in await snapshot.edges()
              if e.source in index and e.target in index and e.source != e.target]
    degree = Counter(n for a, b, _ in stated for n in (a, b))
    for a, b, weight in stated:
        if a in wanted or b in wanted:
            ties[min(a, b), max(a, b)] += weight / math.log2(2 + max(degree[a], degree[b]))
    named: dict[str, list[int]] = defaultdict(list)
    for n, node in enumerate(nodes):
        for document in node.documents:
            named[document].append(n)
    for document, there in sorted(named.items()):
        if 1 < len(there) <= _CROWD and not wanted.isdisjoint(there):
            subject = [n for n in there if nodes[n].home == document]
            for n, a in enumerate(there):
                for b in there[n + 1 :]:
                    weight = 1.0 if a in subject or b in subject else 0.3 if len(there) <= _CLIQUE else 0.0
                    if weight and (a in wanted or b in wanted):
                        ties[a, b] += weight / math.log2(1 + max(len(nodes[a].documents), len(nodes[b].documents)))
    return ties


def _likeness(vectors: np.ndarray, of: Sequence[int]) -> Ties:
    """Ties to the nearest neighbours of the rows `of`, from 0.2 at `ALIKE` to 1 for the same text.

    Vectors are rounded to whole numbers first, so that their products are exact in float32, in whatever order a machine adds.
    """
    import numpy as np

    ties: Ties = {}
    if vectors.shape[1] < 2 or not len(of):
        return ties
    whole = np.rint(vectors * 127).astype(np.float32)
    lengths = np.sqrt((whole.astype(np.int64) ** 2).sum(axis=1)).clip(1)
    rows = np.asarray(of)
    sizes = lengths.astype(np.float32)
    for start in range(0, len(rows), _BLOCK):
        block = rows[start : start + _BLOCK]
        products = whole[block] @ whole.T
        products[np.arange(len(block)), block] = 0
        maybe = np.flatnonzero(products > np.multiply.outer((ALIKE - 0.002) * sizes[block], sizes))
        n, near = np.divmod(maybe, len(whole))
        cosines = np.rint(products.ravel()[maybe] / lengths[block][n] / lengths[near] * 1000).astype(np.int32)
        order = np.lexsort((near, -cosines, n))  # equal cosines in the order of the nodes
        n, near, cosines = n[order], near[order], cosines[order]
        best = (np.arange(len(n)) - np.searchsorted(n, np.arange(len(block)))[n] <= NEIGHBOURS) & (cosines >= ALIKE * 1000)
        for a, b, cosine in zip(block[n[best]].tolist(), near[best].tolist(), cosines[best].tolist(), strict=True):
            ties[min(a, b), max(a, b)] = round(0.2 + 0.8 * (cosine / 1000 - ALIKE) / (1 - ALIKE), 4)
    return ties


# ---------------------------------------------------------------------- groups


def _levels(size: int, ties: Ties) -> list[list[int]]:
    """The group of each node at each of the `DENSITIES`, the coarser ones made of whole finer ones; the same ties give the
    same groups. The constant Potts model: how large a group may be depends on its ties alone, not on the size of the bank."""
    import igraph

    membership = list(range(size))
    levels: list[list[int]] = []
    for density in DENSITIES:
        between: Ties = defaultdict(float)
        for (a, b), weight in sorted(ties.items()):
            one, other = sorted((membership[a], membership[b]))
            if one != other:
                between[one, other] += weight
        sizes = Counter(membership)
        pairs = sorted(between)
        graph = igraph.Graph(n=len(sizes), edges=pairs)
        igraph.set_random_number_generator(random.Random(0))
        upper = graph.community_leiden(
            "CPM", weights=[round(between[pair], 4) for pair in pairs], node_weights=[sizes[n] for n in range(len(sizes))], resolution=density,
            n_iterations=4).membership
        membership = [upper[group] for group in membership]
        levels.append(membership)
    return levels


def _as_sets(nodes: Sequence[Node], membership: Iterable[int]) -> list[frozenset[str]]:
    groups: dict[int, set[str]] = defaultdict(set)
    for node, group in zip(nodes, membership, strict=True):
        groups[group].add(node.id)
    return sorted((frozenset(g) for g in groups.values() if len(g) > 1), key=_by_size)


def _by_size(group: Collection[str]) -> tuple[int, list[str]]:
    return -len(group), sorted(group)
