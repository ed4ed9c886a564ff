"""The knowledge graph: what is linked to what, over the catalog's `edges` table.

Owns the walks: neighbours, many hops, shortest path, nodes of a type, counts. Every answer is sorted, so the same bank
gives the same answer. Never shows what was revoked, never treats a relationship as a node (it is an edge), and never
writes: the edges are the catalog's, `graph.json` is `graph_file`'s.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from smb.model.currentness import Standing
from smb.model.edges import EdgeType, NodeType
from smb.model.errors import SmbError
from smb.model.objects import NODE_TYPE, MemoryType

if TYPE_CHECKING:
    from smb.stores.catalog import Catalog

REACHED = 500  # objects one walk returns unless asked for more
FAN = 256  # edges a walk follows from one object each way, the heaviest; all of a hub of 20,000 would cost 40 ms alone
HOP = 6_000  # edges after which one hop stops looking at further objects; it looks at the strongest first
_FRONT = 500  # objects asked about at a time
_HUBS = 50  # hubs asked about at a time

VISIBLE = f"type != '{MemoryType.RELATIONSHIP}' AND standing NOT IN ('{Standing.REVOKED}', '{Standing.UNKNOWN}')"


class UnknownEdgeType(SmbError):
    exit_code = 2

    def __init__(self, name: str):
        super().__init__(f"{name!r} is no edge type. The ten are: {', '.join(EdgeType)}.")


class UnknownNodeType(SmbError):
    exit_code = 2

    def __init__(self, name: str):
        super().__init__(f"{name!r} is no node type. The six are: {', '.join(NodeType)}.")


class Direction(StrEnum):
    OUT = "out"
    IN = "in"
    BOTH = "both"


@dataclass(frozen=True, slots=True)
class Node:
    """An object of the graph; `standing` tells a superseded one from a current one."""

    id: str
    type: MemoryType
    title: str
    standing: Standing

    @property
    def node_type(self) -> NodeType:
        found = NODE_TYPE[self.type]
        assert found is not None  # relationships are never read as nodes
        return found


@dataclass(frozen=True, slots=True)
class Edge:
    source: str
    target: str
    type: EdgeType
    weight: float


@dataclass(frozen=True, slots=True)
class Neighbour:
    node: Node
    edge: Edge


@dataclass(frozen=True, slots=True)
class Reached:
    """A node and how it was reached: `path` has `hops` edges, `strength` is the product of their weights."""

    node: Node
    hops: int
    strength: float
    path: tuple[Edge, ...]


@dataclass(frozen=True, slots=True)
class Reach:
    """What a walk found, nearest first, the strongest first at each distance. `complete` is False when it was cut."""

    start: str
    found: tuple[Reached, ...]
    complete: bool = True

    def as_dict(self) -> dict[str, Any]:
        """As `dataclasses.asdict`, which would take twice as long as the walk."""
        found = tuple({
            "node": {"id": r.node.id, "type": r.node.type, "title": r.node.title, "standing": r.node.standing}, "hops": r.hops, "strength": r.strength,
            "path": tuple({"source": e.source, "target": e.target, "type": e.type, "weight": e.weight} for e in r.path)} for r in self.found)
        return {"start": self.start, "found": found, "complete": self.complete}


@dataclass(frozen=True, slots=True)
class Route:
    """A path: `len(nodes) == len(edges) + 1`; an edge may be walked against its direction."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]


@dataclass(frozen=True, slots=True)
class GraphStats:
    nodes: int
    links: int
    nodes_by_type: dict[str, int]
    links_by_type: dict[str, int]


class _Step(NamedTuple):
    """An edge as a walk may take it; `sinks` is the strength of the path with it, negated so that the best sorts first."""

    sinks: float
    type: str
    source: str
    target: str
    weight: float
    parent: Reached | None


EdgeFilter = str | Iterable[str] | None
_Row = tuple[str, str, str, float]


class KnowledgeGraph:
    """Questions about the graph of one catalog. Ids are object ids, without the `mem-` of `graph_node_id`."""

    def __init__(self, catalog: Catalog):
        self._catalog = catalog

    async def neighbours(self, object_id: str, edge_types: EdgeFilter = None, direction: str = Direction.BOTH) -> list[Neighbour]:
        """Every edge at an object with the node at its other end, sorted by edge type, weight (heaviest first) and id.

        A relationship's neighbours are the ends of the edges it holds. Raises UnknownEdgeType.
        """
        kinds = _edge_types(edge_types)
        edges = await self._held_edges(object_id, kinds) or await self._edges([object_id], kinds, Direction(direction))
        ends = [(edge, end) for edge in edges for end in (edge.source, edge.target) if end != object_id]
        nodes = await self._nodes({end for _, end in ends})
        found = [Neighbour(nodes[end], edge) for edge, end in ends if end in nodes]
        return sorted(found, key=lambda n: (n.edge.type, -n.edge.weight, n.node.id, n.edge.source))

    async def multi_hop_query(
        self,
        start_id: str,
        max_hops: int = 3,
        edge_type_filter: EdgeFilter = None,
        *,
        direction: str = Direction.BOTH,
        limit: int = REACHED,
    ) -> Reach:
        """The nodes within `max_hops` edges of `start_id`, each once, over its shortest path (among those the strongest).

        At most `limit` nodes, `FAN` edges of each each way and about `HOP` edges a hop; `complete` says whether that cut
        anything. Raises UnknownEdgeType.
        """
        kinds, way = _edge_types(edge_type_filter), Direction(direction)
        trails: dict[str, Reached | None] = {start_id: None}
        found: list[Reached] = []
        complete = True
        frontier = [start_id]
        for hop in range(1, max_hops + 1):
            if hop == 1 and (held := await self._held_edges(start_id, kinds)):
                best = {}
                for e in reversed(held):  # the heaviest last, so that it stays
                    best[e.source] = best[e.target] = _Step(-e.weight, e.type, e.source, e.target, e.weight, None)
            else:
                rows: list[_Row] = []
                for start in range(0, len(frontier), _FRONT):
                    if len(rows) >= HOP:
                        complete = False
                        break
                    more, whole = await self._rows(frontier[start : start + _FRONT], kinds, way, FAN)
                    rows += more
                    complete = complete and whole
                best = _best_steps(rows, set(frontier), trails, way)
            waiting = sorted(best, key=lambda end: (best[end].sinks, end))
            frontier = []
            while waiting and (room := limit - len(found)) > 0:
                part, waiting = waiting[:room], waiting[room:]
                nodes = await self._nodes(part)
                for end in part:
                    if end in nodes:
                        sinks, type_, source, target, weight, parent = best[end]
                        path = (*(parent.path if parent else ()), Edge(source, target, _EDGE_TYPE[type_], weight))
                        trails[end] = Reached(nodes[end], hop, -sinks, path)
                        frontier.append(end)
                found += (reached for end in part if (reached := trails.get(end)))
            complete = complete and not waiting
            if not frontier:
                break
        return Reach(start_id, tuple(found), complete)

    async def path(
        self, start_id: str, end_id: str, max_hops: int = 6, edge_types: EdgeFilter = None, direction: str = Direction.BOTH
    ) -> Route | None:
        """A shortest path between two objects, the same one every time; None when there is none of `max_hops` edges.

        Searches from both ends at once and reads every edge it needs, however many. Raises UnknownEdgeType.
        """
        kinds, way = _edge_types(edge_types), Direction(direction)
        back = {Direction.OUT: Direction.IN, Direction.IN: Direction.OUT, Direction.BOTH: Direction.BOTH}[way]
        ends = await self._nodes([start_id, end_id])
        if len(ends) < len({start_id, end_id}):
            return None
        trails: tuple[dict[str, Edge | None], dict[str, Edge | None]] = ({start_id: None}, {end_id: None})
        fronts = [[start_id], [end_id]]
        for _ in range(max_hops):
            if meetings := trails[0].keys() & trails[1].keys():
                break
            side = 0 if len(fronts[0]) <= len(fronts[1]) else 1
            edges = await self._edges(fronts[side], kinds, back if side else way)
            fronts[side] = await self._extend(trails[side], fronts[side], edges, back if side else way)
            if not fronts[side]:
                return None
        meetings = trails[0].keys() & trails[1].keys()
        if not meetings:
            return None
        # every meeting point of this round lies on a path of the same length: the round before had none
        middle = min(meetings)
        before, after = _trail(trails[0], middle), _trail(trails[1], middle)
        edges = [*reversed(before), *after]
        ids = [start_id]
        for edge in edges:
            ids.append(edge.target if edge.source == ids[-1] else edge.source)
        nodes = await self._nodes(ids)
        return Route(tuple(nodes[i] for i in ids), tuple(edges))

    async def by_type(self, node_type: str) -> list[Node]:
        """The nodes of one of the six types, sorted by id. Raises UnknownNodeType."""
        if node_type not in NodeType.__members__.values():
            raise UnknownNodeType(node_type)
        types = [type_ for type_, shown_as in NODE_TYPE.items() if shown_as == node_type]
        marks = ",".join("?" * len(types))
        rows = await self._catalog.fetch(
            f"SELECT id, type, title, standing FROM memory_objects WHERE type IN ({marks}) AND {VISIBLE} ORDER BY id", types)
        return [_node(row) for row in rows]

    async def stats(self) -> GraphStats:
        """Counts of visible nodes and of links between them, by type; a link several objects hold counts once."""
        nodes: dict[str, int] = {}
        for type_, n in await self._catalog.fetch(f"SELECT type, count(*) FROM memory_objects WHERE {VISIBLE} GROUP BY type"):
            shown_as = NODE_TYPE[MemoryType(type_)]
            if shown_as is not None:
                nodes[shown_as] = nodes.get(shown_as, 0) + n
        rows = await self._catalog.fetch(
            f"WITH seen AS MATERIALIZED (SELECT id FROM memory_objects WHERE {VISIBLE}) SELECT type, count(*) "
            "FROM (SELECT DISTINCT source, target, type FROM edges WHERE source IN seen AND target IN seen) GROUP BY type")
        links = {type_: n for type_, n in rows}
        return GraphStats(sum(nodes.values()), sum(links.values()), dict(sorted(nodes.items())), dict(sorted(links.items())))

    async def export(self) -> dict[str, Any]:
        """The whole graph as node-link data, as `graph.json` has it: see `graph_file`."""
        from smb.stores.graph_file import node_link_data

        return await node_link_data(self._catalog)

    # ------------------------------------------------------------ reading

    async def _rows(
        self, ids: Sequence[str], kinds: frozenset[EdgeType] | None, way: Direction, fan: int | None
    ) -> tuple[list[_Row], bool]:
        """(source, target, type, weight) of the edges at `ids`, the `fan` heaviest of each, and whether those are all.

        An edge is there once for every object that holds it, and twice if both its ends are asked for.
        """
        some = sorted(kinds or ())
        only = f" AND type IN ({','.join('?' * len(some))})" if some else ""
        ends = {Direction.OUT: ("source",), Direction.IN: ("target",), Direction.BOTH: ("source", "target")}[way]
        asked = dict.fromkeys(ends, orjson.dumps(ids).decode())
        hubs: list[tuple[str, str]] = []
        if fan is not None:
            crowded = (f"SELECT '{at}', value FROM json_each(?) "
                       f"WHERE EXISTS (SELECT 1 FROM edges WHERE {at} = value{only} LIMIT 1 OFFSET {fan})" for at in ends)
            found = await self._catalog.fetch(" UNION ALL ".join(crowded), [p for at in ends for p in (asked[at], *some)])
            hubs = [(at, hub) for at, hub in found]
            for at in {at for at, _ in hubs}:
                asked[at] = orjson.dumps([i for i in ids if (at, i) not in hubs]).decode()
        columns = "SELECT source, target, type, weight FROM edges WHERE"
        plain = (f"{columns} {at} IN (SELECT value FROM json_each(?)){only}" for at in ends)
        rows = await self._catalog.fetch(" UNION ALL ".join(plain), [p for at in ends for p in (asked[at], *some)])
        for start in range(0, len(hubs), _HUBS):
            part = hubs[start : start + _HUBS]
            # the order of an index on (target, weight), read backwards: a hub's edges need no sorting
            heaviest = (f"SELECT * FROM ({columns} {at} = ?{only} "
                        f"ORDER BY weight DESC, {_OTHER[at]} DESC, type DESC, held_by DESC LIMIT {fan})" for at, _ in part)
            rows += await self._catalog.fetch(" UNION ALL ".join(heaviest), [p for _, hub in part for p in (hub, *some)])
        return [tuple(row) for row in rows], not hubs

    async def _edges(self, ids: Sequence[str], kinds: frozenset[EdgeType] | None, way: Direction) -> list[Edge]:
        """Every edge at `ids`, once, heaviest first."""
        best: dict[tuple[str, str, str], float] = {}
        for source, target, type_, weight in (await self._rows(ids, kinds, way, None))[0]:
            if source != target and weight > best.get((source, target, type_), -1.0):
                best[(source, target, type_)] = weight
        edges = (Edge(source, target, _EDGE_TYPE[type_], weight) for (source, target, type_), weight in best.items())
        return sorted(edges, key=_heaviest)

    async def _held_edges(self, object_id: str, kinds: frozenset[EdgeType] | None) -> list[Edge]:
        """The edges a relationship stands for; none for any other object."""
        rows = await self._catalog.fetch(
            "SELECT e.source, e.target, e.type, e.weight FROM memory_objects o JOIN edges e ON e.held_by = o.id "
            "WHERE o.id = ? AND o.type = ?", (object_id, MemoryType.RELATIONSHIP.value))
        return sorted((Edge(s, t, _EDGE_TYPE[k], w) for s, t, k, w in rows if kinds is None or k in kinds), key=_heaviest)

    async def _nodes(self, ids: Iterable[str]) -> dict[str, Node]:
        """The visible nodes among `ids`."""
        rows = await self._catalog.fetch(
            f"SELECT id, type, title, standing FROM memory_objects WHERE id IN (SELECT value FROM json_each(?)) AND {VISIBLE}",
            (orjson.dumps(list(ids)).decode(),))
        return {row["id"]: _node(row) for row in rows}

    async def _extend(self, trail: dict[str, Edge | None], front: list[str], edges: list[Edge], way: Direction) -> list[str]:
        """Grows one side of a path search by a hop; returns its new front, sorted."""
        inside = set(front)
        new: dict[str, Edge] = {}
        for edge in edges:
            for here, there in ((edge.source, edge.target), (edge.target, edge.source)):
                if here in inside and _may_walk(edge, here, way) and there not in trail:
                    new.setdefault(there, edge)
        visible = await self._nodes(new)
        trail.update((end, new[end]) for end in visible)
        return sorted(visible)


_OTHER = {"source": "target", "target": "source"}
_EDGE_TYPE = {str(kind): kind for kind in EdgeType}
_MEMORY_TYPE = {str(kind): kind for kind in MemoryType}
_STANDING = {str(standing): standing for standing in Standing}


def _node(row: Any) -> Node:
    return Node(row["id"], _MEMORY_TYPE[row["type"]], row["title"], _STANDING[row["standing"]])


def _heaviest(edge: Edge) -> tuple[float, str, str, str]:
    return (-edge.weight, edge.type, edge.source, edge.target)


def _edge_types(asked: EdgeFilter) -> frozenset[EdgeType] | None:
    """The edge types a filter names; None when it names none. Raises UnknownEdgeType."""
    if asked is None:
        return None
    names = [asked] if isinstance(asked, str) else list(asked)
    for name in names:
        if name not in _EDGE_TYPE:
            raise UnknownEdgeType(name)
    return frozenset(_EDGE_TYPE[name] for name in names) or None


def _may_walk(edge: Edge, here: str, way: Direction) -> bool:
    return way is Direction.BOTH or (edge.source if way is Direction.OUT else edge.target) == here


def _best_steps(rows: list[_Row], inside: set[str], trails: dict[str, Reached | None], way: Direction) -> dict[str, _Step]:
    """For each node the next hop leads to the best step to it: the strongest, then by type and ids."""
    best: dict[str, _Step] = {}
    for source, target, type_, weight in rows:
        for here, there, allowed in ((source, target, way is not Direction.IN), (target, source, way is not Direction.OUT)):
            if allowed and here in inside and there not in trails:
                parent = trails[here]
                sinks = -weight * parent.strength if parent else -weight
                held = best.get(there)
                if held is None or (sinks, type_, source, target) < held[:4]:
                    best[there] = _Step(sinks, type_, source, target, weight, parent)
    return best


def _trail(trail: dict[str, Edge | None], at: str) -> list[Edge]:
    """The edges from `at` back to where its side of the search began."""
    edges = []
    while (edge := trail[at]) is not None:
        edges.append(edge)
        at = edge.source if edge.target == at else edge.target
    return edges
