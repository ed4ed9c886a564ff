"""Phase `communities`: concepts and entities densely linked with each other, by links, stated relations and notes that name both."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence

from smb.evolve.grouping.group_page import links
from smb.evolve.grouping.group_phase import Group, Style, propose, short_titles
from smb.evolve.grouping.partition import Bond, Node, linked
from smb.evolve.phase import Proposals
from smb.evolve.snapshot import Snapshot
from smb.model.objects import MemoryType

SHOWN = 3


class CommunityPages:
    name = "communities"
    version = 2

    async def propose(self, snapshot: Snapshot) -> Proposals:
        return await propose(snapshot, Style(self.name, MemoryType.COMMUNITY, Bond.LINKS, _order, _names, _opening, _joined))


async def _order(snapshot: Snapshot, nodes: Mapping[str, Node], members: frozenset[str]) -> list[str]:
    """Members from the most connected within the community on."""
    ties = await linked(snapshot)
    within = {i: sum(other in members for other in ties[i]) for i in members}
    together = Counter(d for i in members for d in nodes[i].documents)
    beside = {i: sum(together[d] - 1 for d in nodes[i].documents) for i in members}
    return sorted(members, key=lambda i: (-within[i], -beside[i], -len(nodes[i].documents), nodes[i].item.title, i))


async def _names(snapshot: Snapshot, nodes: Mapping[str, Node], orders: Sequence[Sequence[str]]) -> list[list[str]]:
    return [[f"Around {name}" for name in (short[0], " and ".join(short[:2]))] for short in (short_titles(nodes, order) for order in orders)]


def _opening(nodes: Mapping[str, Node], order: Sequence[str], documents: int) -> str:
    return f"{len(order)} concepts and names of {documents} notes are linked or named together; most of it leads to {links(nodes, order, more=0)}."


async def _joined(snapshot: Snapshot, nodes: Mapping[str, Node], groups: Sequence[Group], page: Callable[[Group], str]) -> dict[str, str]:
    """Identity → the communities its members have links to, and one such link each."""
    home = {i: group for group in groups for i in group.order}
    ties = await linked(snapshot)
    found: dict[str, str] = {}
    for group in groups:
        across: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for i in sorted(group.order):
            for other in sorted(set(ties[i])):
                if home.get(other, group) is not group:
                    across[home[other].identity].append((i, other))
        best = sorted(across, key=lambda identity: (-len(across[identity]), identity))[:SHOWN]
        lines = []
        for identity in best:
            one, other = across[identity][0]
            between = f"between {nodes[one].item.link} and {nodes[other].item.link}"
            lines.append(f"- {page(home[other])}: {'one link,' if len(across[identity]) == 1 else f'{len(across[identity])} links, such as the one'} {between}.")
        if lines:
            found[group.identity] = "\n".join(lines)
    return found

