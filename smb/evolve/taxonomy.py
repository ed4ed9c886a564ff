"""Phase `taxonomy`: concepts and entities as kinds and parts of one another, a page a root with an indented tree.

Owns the forest: each thing under the one it is most surely a kind or part of, cycles broken at the least sure relation. Every
step of it that no note states as a link is also a `contains` edge of the graph, with its reason. Never invents a relation.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from smb.evolve.grouping.group_page import cited_spans
from smb.evolve.grouping.hierarchy import DEFINED, LISTED, NAMED, PHRASE, Relation, relations_of
from smb.evolve.grouping.kinds import Sort
from smb.evolve.grouping.partition import memberships, nodes_of
from smb.evolve.phase import Proposals, Wanted
from smb.evolve.snapshot import Item, Snapshot
from smb.evolve.grouping.traits import plural
from smb.model.edges import EdgeType
from smb.model.identity import object_id
from smb.model.objects import Link, MemoryType, Mode
from smb.model.revision import Statement

LEAST = 3  # things below a root that make a page
LEVELS = 4  # of a tree that are shown
LINES = 60  # of a page
SIBLINGS = 15
PAGES = 100
EDGES = 500


@dataclass(frozen=True, slots=True)
class _Tree:
    """Everything below `root` in the order it is shown, each with the relation to what it is under and its depth, from 1."""

    root: str
    steps: tuple[tuple[Relation, int], ...]

    @property
    def members(self) -> list[str]:
        return [relation.lower for relation, _ in self.steps]


class TaxonomyBuilder:
    name = "taxonomy"
    version = 1

    async def propose(self, snapshot: Snapshot) -> Proposals:
        held = snapshot.derived(self.name)
        edges = [item for item in snapshot.of_type(MemoryType.RELATIONSHIP) if item.mode is Mode.INFERRED and self.name in item.tags]
        if snapshot.since and not snapshot.changed(*_READ) and not snapshot.gone():
            return Proposals(note="nothing said of kinds or parts changed")
        items = {id_: node.item for id_, node in (await nodes_of(snapshot)).items()}
        parents = forest(await relations_of(snapshot))
        trees = sorted((t for t in _trees(parents, items) if len(t.steps) >= LEAST), key=lambda t: (-len(t.steps), t.root))[:PAGES]
        steps = sorted((r for r in parents.values() if not r.upper.startswith(PHRASE) and r.trust in (DEFINED, LISTED, NAMED)), key=lambda r: (-r.trust, r.lower))[:EDGES]
        contained = await memberships(snapshot, self.name)
        wanted: list[Wanted] = []
        looked = {item.id for item in (*held, *edges)}
        for tree in trees:
            id_ = object_id(MemoryType.TAXONOMY.value, f"{self.name}:{tree.root}")
            if snapshot.since and contained.get(id_) == {*tree.members, *_objects(tree.root)} and not _news(snapshot, tree):
                looked.discard(id_)
            else:
                wanted.append(await self._page(snapshot, tree, items))
        for relation in steps:
            edge = await self._edge(snapshot, relation, items)
            if snapshot.since and edge.id in snapshot.items and not any(snapshot.is_new(snapshot.items[i]) for i in (relation.source, relation.lower, relation.upper)):
                looked.discard(edge.id)
            else:
                wanted.append(edge)
        return Proposals(wanted, looked)

    async def _page(self, snapshot: Snapshot, tree: _Tree, items: Mapping[str, Item]) -> Wanted:
        below = [relation for relation, _ in tree.steps]
        first = [relation for relation, depth in tree.steps if depth == 1]
        cited = list(dict.fromkeys([*_objects(tree.root), *(i for r in below for i in (r.source, r.lower))]))[:12]
        shown = items[tree.root].link if tree.root in items else tree.root.removeprefix(PHRASE)
        kinds, parts = (sum(r.sort is sort for r in first) for sort in Sort)
        return Wanted(MemoryType.TAXONOMY, Statement(
            _title(tree, items), f"{self.name}:{tree.root}", body=f"{_sentence(shown, kinds, parts, len(below))}\n\n{_outline(tree, items)}", mode=Mode.INFERRED,
            derived_from=tuple(cited), confidence=min(snapshot.items[i].confidence for i in cited),
            links=tuple(Link(i, EdgeType.CONTAINS) for i in [*_objects(tree.root), *tree.members])), await cited_spans(snapshot, cited))

    async def _edge(self, snapshot: Snapshot, r: Relation, items: Mapping[str, Item]) -> Wanted:
        sort = "a kind" if r.sort is Sort.KIND else "a part"
        cited = tuple(dict.fromkeys((r.source, r.lower, r.upper)))
        return Wanted(MemoryType.RELATIONSHIP, Statement(
            f"{items[r.upper].title} contains {items[r.lower].title}", f"{r.upper} {EdgeType.CONTAINS.value} {r.lower}", about=r.upper,
            body=f"{items[r.lower].link} is {sort} of {items[r.upper].link}: {r.why}.", tags=(self.name,), mode=Mode.INFERRED, derived_from=cited,
            confidence=min(r.trust, *(snapshot.items[i].confidence for i in cited)), links=(Link(r.lower, EdgeType.CONTAINS, r.trust),)),
            await cited_spans(snapshot, [r.source]))


_READ = (MemoryType.CONCEPT, MemoryType.ENTITY, MemoryType.CLAIM, MemoryType.RELATIONSHIP)


def forest(relations: Sequence[Relation]) -> dict[str, Relation]:
    """Each thing's most trusted relation that closes no cycle; a noun phrase that is no object needs two things under it."""
    under: dict[str, set[str]] = defaultdict(set)
    for r in relations:
        under[r.upper].add(r.lower)
    parents: dict[str, Relation] = {}
    for r in sorted(relations, key=lambda r: (-r.trust, r.upper.startswith(PHRASE), -len(under[r.upper]), r.lower, r.upper, r.sort.value, r.why, r.source)):
        if r.lower in parents or r.upper.startswith(PHRASE) and len(under[r.upper]) < 2 or _above(r.upper, r.lower, parents):
            continue
        parents[r.lower] = r
    return parents


def _above(start: str, sought: str, parents: Mapping[str, Relation]) -> bool:
    """Whether `sought` is `start` or above it."""
    while start != sought and start in parents:
        start = parents[start].upper
    return start == sought


def _trees(parents: Mapping[str, Relation], items: Mapping[str, Item]) -> list[_Tree]:
    below: dict[str, list[Relation]] = defaultdict(list)
    for relation in parents.values():
        below[relation.upper].append(relation)

    def walk(upper: str, depth: int) -> list[tuple[Relation, int]]:
        found: list[tuple[Relation, int]] = []
        for r in sorted(below.get(upper, ()), key=lambda r: (r.sort.value, items[r.lower].title.casefold(), r.lower)):
            found += [(r, depth), *walk(r.lower, depth + 1)]
        return found

    return [_Tree(root, tuple(walk(root, 1))) for root in sorted(below.keys() - parents.keys())]


def _objects(root: str) -> tuple[str, ...]:
    return () if root.startswith(PHRASE) else (root,)


def _news(snapshot: Snapshot, tree: _Tree) -> bool:
    involved: Collection[str] = {*_objects(tree.root), *tree.members, *(r.source for r, _ in tree.steps)}
    return any(snapshot.is_new(snapshot.items[i]) for i in involved)


# ---------------------------------------------------------------------- words


def _title(tree: _Tree, items: Mapping[str, Item]) -> str:
    first = [relation for relation, depth in tree.steps if depth == 1]
    name = items[tree.root].title if tree.root in items else tree.root.removeprefix(PHRASE)
    if all(r.sort is Sort.KIND for r in first):
        return f"Kinds of {plural(name) or name}"
    return f"What belongs to {name}"


def _sentence(shown: str, kinds: int, parts: int, total: int) -> str:
    said = " and ".join(f"{n} {word if n == 1 else word + 's'}" for n, word in ((kinds, "kind"), (parts, "part")) if n)
    more = f", and {total - kinds - parts} more below them" if total > kinds + parts else ""
    return f"The notes name {said} of {shown}{more}."


def _outline(tree: _Tree, items: Mapping[str, Item]) -> str:
    lines: list[str] = []
    seen: dict[tuple[str, int], int] = defaultdict(int)
    left = 0
    hidden = LEVELS + 1  # depth below which everything is left out, as what it is under is
    for r, depth in tree.steps:
        if depth > hidden or depth > LEVELS or len(lines) >= LINES:
            left += 1
            continue
        hidden = LEVELS + 1
        seen[r.upper, depth] += 1
        if seen[r.upper, depth] > SIBLINGS:
            hidden = depth
            left += 1
            continue
        why = f": {r.why}" if r.trust in (DEFINED, LISTED) else ""
        lines.append(f"{'  ' * (depth - 1)}- {items[r.lower].link}{' (part)' if r.sort is Sort.PART else ''}{why}")
    return "\n".join(lines) + (f"\n\nAnd {left} more." if left else "")
