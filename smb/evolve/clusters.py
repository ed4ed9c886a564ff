"""Phase `clusters`: concepts and entities alike in content, whether or not anything links them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from smb.evolve.grouping.group_page import links, shared_words, typical
from smb.evolve.grouping.group_phase import LEAST, Group, Style, propose, short_titles
from smb.evolve.grouping.hierarchy import kinds_of
from smb.evolve.grouping.partition import Bond, Node
from smb.evolve.phase import Proposals
from smb.evolve.snapshot import Snapshot
from smb.evolve.language.terms import stem, words_of
from smb.evolve.grouping.traits import BROAD, FOLDER, Traits
from smb.model.objects import MemoryType

NEAR = 0.6  # cosine of the middles of two clusters from which on one is worth naming beside the other
COVERS = 0.6  # share of the members that must have a trait for the cluster to be named by it
SHOWN = 3


class ClusterPages:
    name = "clusters"
    version = 2

    async def propose(self, snapshot: Snapshot) -> Proposals:
        return await propose(snapshot, Style(self.name, MemoryType.CLUSTER, Bond.LIKENESS, _order, _names, _opening, _nearest))


async def _order(snapshot: Snapshot, nodes: Mapping[str, Node], members: frozenset[str]) -> list[str]:
    return typical(snapshot, nodes, members)


async def _names(snapshot: Snapshot, nodes: Mapping[str, Node], orders: Sequence[Sequence[str]]) -> list[list[str]]:
    """What most of each share, where that is no other thing's name, or with names that set it apart; else its most typical member."""
    traits = Traits(nodes, await snapshot.documents(), await kinds_of(snapshot)) if orders else None
    bodies = await snapshot.bodies([i for order in orders for i in order])
    return [_names_of(traits, order, bodies) for order in orders if traits]


def _names_of(traits: Traits, order: Sequence[str], bodies: Mapping[str, str]) -> list[str]:
    nodes = traits.nodes
    shared = Counter(trait for i in order for trait in traits.of(i) if LEAST <= len(traits.holders.get(trait, ())) <= BROAD * len(nodes))
    worth = {trait: n / len(order) * math.log(len(nodes) / len(traits.holders[trait])) for trait, n in shared.items() if n >= COVERS * len(order)}
    found: list[str] = []
    for trait in sorted(worth, key=lambda trait: (-worth[trait], -len(trait), trait))[:5]:
        if title := traits.title_of(trait).removeprefix("About "):
            known = {stem(word) for word in words_of(f"{title} {trait}")}
            spoken = [word for word, _ in shared_words({i: f"{nodes[i].item.title} {bodies.get(i, '')}" for i in order}, order, known, 2)]
            names = [word for word in spoken if word != word.lower()]
            if trait.startswith(FOLDER) and 2 * shared[trait] < len(traits.holders[trait]):
                continue  # a drawer for more than this
            found += ["" if traits.names_a_thing(title) else title, f"{title}: {', '.join(names)}" if names else ""]
    short = short_titles(nodes, order)
    return [*found, f"{short[0]} and similar", " and ".join(short[:2])]


def _opening(nodes: Mapping[str, Node], order: Sequence[str], documents: int) -> str:
    return f"{len(order)} concepts of {documents} notes are alike in what they say; nearest to the middle are {links(nodes, order, more=0)}."


async def _nearest(snapshot: Snapshot, nodes: Mapping[str, Node], groups: Sequence[Group], page: Callable[[Group], str]) -> dict[str, str]:
    """Identity → the clusters whose middle is near to its own."""
    import numpy as np

    if len(groups) < 2:
        return {}
    middles = np.stack([snapshot.vectors([nodes[i].item for i in sorted(group.order)]).astype(np.float64).mean(axis=0) for group in groups])
    lengths = np.linalg.norm(middles, axis=1)
    cosines = np.rint(middles @ middles.T / np.where(lengths == 0, 1, lengths)[:, None] / np.where(lengths == 0, 1, lengths)[None, :] * 1000)
    found: dict[str, str] = {}
    for n, group in enumerate(groups):
        near = sorted((m for m in range(len(groups)) if m != n and cosines[n, m] >= NEAR * 1000), key=lambda m: (-cosines[n, m], groups[m].identity))[:SHOWN]
        if near:
            found[group.identity] = "\n".join(f"- {page(groups[m])}, alike in content." for m in near)
    return found
