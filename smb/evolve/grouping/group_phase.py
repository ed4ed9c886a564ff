"""What the phases `clusters` and `communities` have in common: groups found or carried on, named, and a page for each.

Owns which groups get a page, and the page: what the members say, which changes with them alone, and how the group is connected,
which is written anew each time.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from smb.evolve.grouping.group_page import cited_spans, links, places, sayings, shared_words
from smb.evolve.grouping.partition import Bond, Grouping, Node, carried_on, memberships, nodes_of
from smb.evolve.phase import Proposals, Wanted
from smb.evolve.snapshot import Snapshot, wikilink
from smb.evolve.language.terms import stem, words_of
from smb.model.edges import EdgeType
from smb.model.identity import fold, object_id, slugify
from smb.model.objects import Link, MemoryType, Mode
from smb.model.revision import Statement

LEAST = 4  # members of a page, of at least two documents
CITED = 8
_SHORT = 48  # characters of a title within a title
_LINK = re.compile(r"\[\[[^|\]]*\|([^\]]*)\]\]")
_CONNECTED = "\n\n## Connected to\n\n"


@dataclass(frozen=True, slots=True)
class Group:
    """A named group with its members in the order they are shown."""

    identity: str
    title: str
    order: tuple[str, ...]

    def id_of(self, kind: MemoryType) -> str:
        return object_id(kind.value, self.identity)


@dataclass(frozen=True, slots=True)
class Style:
    """How one phase finds, orders, names (best name first), introduces and connects its groups."""

    phase: str
    kind: MemoryType
    bond: Bond
    order: Callable[[Snapshot, Mapping[str, Node], frozenset[str]], Awaitable[list[str]]]
    names: Callable[[Snapshot, Mapping[str, Node], Sequence[Sequence[str]]], Awaitable[list[list[str]]]]
    opening: Callable[[Mapping[str, Node], Sequence[str], int], str]
    connected: Callable[[Snapshot, Mapping[str, Node], Sequence[Group], Callable[[Group], str]], Awaitable[dict[str, str]]]


async def propose(snapshot: Snapshot, style: Style) -> Proposals:
    """A page for each group worth one."""
    held = {item.id: item for item in snapshot.derived(style.phase)}
    nodes = await nodes_of(snapshot)
    grouping = await carried_on(snapshot, style.phase, style.bond, LEAST, level=1)
    before = await memberships(snapshot, style.phase)
    groups = await _named(snapshot, style, nodes, grouping)
    bodies = await snapshot.bodies([*held, *(i for group in groups for i in group.order)])

    def page(group: Group) -> str:
        id_ = group.id_of(style.kind)
        return wikilink(held[id_].page if id_ in held else f"{slugify(group.title)}-{id_}", group.title)

    connected = await style.connected(snapshot, nodes, groups, page)
    wanted: list[Wanted] = []
    looked = set(held)
    documents = await snapshot.documents()
    for group in groups:
        id_ = group.id_of(style.kind)
        same = bool(snapshot.since) and before.get(id_) == set(group.order) and not any(snapshot.is_new(nodes[i].item) for i in group.order)
        ending = _CONNECTED + connected[group.identity] if group.identity in connected else ""
        if same and _ending(bodies[id_]) == _ending(_LINK.sub(r"\1", ending)):
            looked.discard(id_)
            continue
        told, cited = sayings(nodes, bodies, group.order, 4)
        resting, folder = places(nodes, documents, group.order)
        known = {stem(word) for title in (group.title, *(nodes[i].item.title for i in group.order)) for word in words_of(title)}
        spoken = shared_words({i: bodies.get(i, "") for i in group.order}, group.order, known)
        text = style.opening(nodes, group.order, len(resting)) + (f" Most of their notes are kept in `{folder}`." if folder else "")
        if spoken:
            text += f"\n\nWords they share: {'; '.join(f'“{word}” ({links(nodes, users, 2)})' for word, users in spoken)}."
        text += f"\n\n{told}" if told else ""
        sources = list(dict.fromkeys([*group.order[:3], *cited, *(i for _, users in spoken for i in users[:2])]))[:CITED]
        wanted.append(Wanted(style.kind, Statement(
            group.title, group.identity, body=text + ending, mode=Mode.INFERRED, derived_from=tuple(sources), confidence=min(nodes[i].item.confidence for i in sources),
            links=tuple(Link(i, EdgeType.CONTAINS) for i in group.order)), await cited_spans(snapshot, sources)))
    return Proposals(wanted, looked)


def _ending(body: str) -> str:
    return body.partition(_CONNECTED.strip())[2].strip()


async def _named(snapshot: Snapshot, style: Style, nodes: Mapping[str, Node], grouping: Grouping) -> list[Group]:
    """The groups worth a page: those held before under the names they have, then the largest of the others."""
    most = max(12, len(nodes) // 50)
    kept = {id_: group for group, id_ in grouping.kept.items()}
    found = [Group(snapshot.items[id_].identity, snapshot.items[id_].title, tuple(await style.order(snapshot, nodes, kept[id_]))) for id_ in sorted(kept)]
    new = [g for g in grouping.groups if g not in grouping.kept and len({d for i in g for d in nodes[i].documents}) > 1
           and (style.bond is Bond.LINKS or sum(nodes[i].item.type is MemoryType.CONCEPT for i in g) >= LEAST)]  # bare names are alike in letters only
    new = new[: max(0, most - len(found))]
    taken = {fold(group.title) for group in found}
    orders = [await style.order(snapshot, nodes, members) for members in new]
    for order, names in zip(orders, await style.names(snapshot, nodes, orders), strict=True):
        title = next((name for name in names if name and fold(name) not in taken), "")
        if title:
            taken.add(fold(title))
            found.append(Group(f"{style.phase}:{fold(title)}", title, tuple(order)))
    return found


def short_titles(nodes: Mapping[str, Node], order: Sequence[str]) -> list[str]:
    """The titles of a group's members that are short enough to name it, the most typical first; never empty."""
    return [title for i in order if len(title := nodes[i].item.title) <= _SHORT] or [nodes[order[0]].item.title]
