"""Which concept or entity of the bank is a kind or a part of which: everything notes say or show of it, and why.

Owns where such relations are read (definitions, lists of examples, names, headings, links that state containment, folders
with a note of their own) and how far each is trusted. Never arranges them into a tree.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from smb.evolve.grouping.kinds import Sort, folded_kind, of_name, of_sentence
from smb.evolve.grouping.partition import Node, nodes_of
from smb.evolve.snapshot import Doc, Snapshot
from smb.model.edges import EdgeType
from smb.model.identity import fold
from smb.model.objects import MemoryType

PHRASE = "kind:"  # begins an upper end that is no object of the bank but a noun phrase
DEFINED, LISTED, NAMED, STATED, HEADED, FILED = 0.9, 0.8, 0.6, 0.85, 0.5, 0.4  # how far each source of a relation is trusted
_INDEXES = frozenset("readme index overview contents toc home _index".split())
_SURE = 0.8  # confidence of a stated edge that a link or a property declares; one read off a heading has less


@dataclass(frozen=True, slots=True)
class Relation:
    """`lower` is a kind or part of `upper` (an id, or `PHRASE` and a folded noun phrase). `why` is half a sentence, `source`
    the object that says so."""

    lower: str
    upper: str
    sort: Sort
    trust: float
    why: str
    source: str
    phrase: str = ""


async def relations_of(snapshot: Snapshot) -> list[Relation]:
    """Every relation, the most trusted first; deterministic."""
    nodes = await nodes_of(snapshot)
    names = await _index(snapshot, nodes)
    found = [*await _said(snapshot, nodes), *_named(nodes, names), *await _contained(snapshot, nodes), *_filed(nodes, await snapshot.documents())]
    return sorted((r for r in found if r.lower != r.upper), key=lambda r: (-r.trust, r.lower, r.upper, r.why))


async def kinds_of(snapshot: Snapshot) -> dict[str, list[str]]:
    """Each object → the noun phrases it is said to be a kind of, folded."""
    nodes = await nodes_of(snapshot)
    found: dict[str, set[str]] = defaultdict(set)
    for r in await _said(snapshot, nodes):
        if r.sort is Sort.KIND and r.lower != r.upper:
            found[r.lower].add(r.phrase if r.upper.startswith(PHRASE) else folded_kind(nodes[r.upper].item.title))
    return {id_: sorted(kinds) for id_, kinds in found.items()}


async def _index(snapshot: Snapshot, nodes: Mapping[str, Node]) -> dict[str, str]:
    """Folded name → the one object that bears it; titles before aliases."""
    found: dict[str, str] | None = snapshot.kept("hierarchy.names")
    if found is not None:
        return found
    bearers: dict[str, set[str]] = defaultdict(set)
    titled: dict[str, set[str]] = defaultdict(set)
    for id_, names in (await snapshot.names(nodes)).items():
        for name in names:
            bearers[name].add(id_)
        titled[fold(nodes[id_].item.title)].add(id_)
    index = {name: min(ids) for name, ids in bearers.items() if len(ids) == 1}
    return snapshot.keep("hierarchy.names", index | {name: min(ids) for name, ids in titled.items() if len(ids) == 1}, stated=True)  # type: ignore[no-any-return]


async def _said(snapshot: Snapshot, nodes: Mapping[str, Node]) -> list[Relation]:
    """What sentences say; kept."""
    found: list[Relation] | None = snapshot.kept("hierarchy.said")
    if found is not None:
        return found
    found, names = [], await _index(snapshot, nodes)
    sentences = [(id_, body) for id_, body in sorted((await snapshot.bodies(nodes)).items()) if body]
    sentences += [(claim.id, claim.title) for claim in snapshot.stated(MemoryType.CLAIM) if not claim.attribute]

    def bearer(words: str) -> str:
        return names.get(fold(words)) or names.get(folded_kind(words), "")

    for source, text in sentences:
        for said in of_sentence(text, lambda words: bool(bearer(words))):
            upper, phrase = _upper(said.upper, names, nodes)
            trust = DEFINED if text[:60].casefold().partition(said.lower[:12].casefold())[1] and " such as " not in text else LISTED
            found.append(Relation(bearer(said.lower), upper, said.sort, trust, f"“{_clip(text)}”", source, phrase))
    return snapshot.keep("hierarchy.said", found, stated=True)  # type: ignore[no-any-return]


def _upper(phrase: str, names: Mapping[str, str], nodes: Mapping[str, Node]) -> tuple[str, str]:
    """The object a noun phrase names, by its last words if need be, else the phrase itself; and the phrase, folded."""
    folded = folded_kind(phrase)
    words = folded.split()
    for start in range(len(words)):
        rest = " ".join(words[start:])
        for name in (rest, rest + "s"):
            if name in names and nodes[names[name]].item.type is MemoryType.CONCEPT:
                return names[name], folded
    return PHRASE + folded, folded


def _named(nodes: Mapping[str, Node], names: Mapping[str, str]) -> list[Relation]:
    """What names say: "slow cooling" is a cooling."""
    found: list[Relation] = []

    def bears(words: str) -> str:
        for name in (fold(words), fold(words) + "s"):
            id_ = names.get(name, "")
            if id_ and nodes[id_].item.type is MemoryType.CONCEPT and nodes[id_].item.title.casefold() == name:
                return id_
        return ""

    for id_, node in nodes.items():
        if node.item.type is MemoryType.CONCEPT and (rest := of_name(node.item.title, lambda words: bool(bears(words)))):
            found.append(Relation(id_, bears(rest), Sort.KIND, NAMED, f"its name says so: “{node.item.title}”", id_))
    return found


async def _contained(snapshot: Snapshot, nodes: Mapping[str, Node]) -> list[Relation]:
    """Edges that state containment: a link or property that declares it, a thing explained under a heading of another's note."""
    found: list[Relation] = []
    for edge in await snapshot.edges():
        if edge.type is EdgeType.CONTAINS and edge.source in nodes and edge.target in nodes:
            holder = snapshot.items[edge.held_by]
            sure = holder.confidence >= _SURE
            why = "its note says so" if sure else f"explained under a heading of “{nodes[edge.source].item.title}”"
            found.append(Relation(edge.target, edge.source, Sort.PART, STATED if sure else HEADED, why, holder.id))
    return found


def _filed(nodes: Mapping[str, Node], documents: Mapping[str, Doc]) -> list[Relation]:
    """The note of a folder (`x/x.md`, `x/index.md`, or `x.md` beside `x/`) holds what the folder's other notes are about."""
    homes = {node.home: id_ for id_, node in nodes.items() if node.home}
    heads: dict[str, str] = {}
    for document in sorted(homes):
        folder, _, name = documents[document].path.rpartition("/")
        stem = name.rpartition(".")[0]
        if folder and (stem.casefold() in _INDEXES or fold(stem) == fold(folder.rpartition("/")[2])):
            heads.setdefault(folder, homes[document])
        heads.setdefault(f"{folder}/{stem}".strip("/"), homes[document])
    found: list[Relation] = []
    for document, id_ in sorted(homes.items()):
        folder = documents[document].path.rpartition("/")[0]
        if heads.get(folder) == id_:
            folder = folder.rpartition("/")[0]
        if folder and (head := heads.get(folder)):
            found.append(Relation(id_, head, Sort.PART, FILED, f"kept in the folder `{folder}`", id_))
    return found


def _clip(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 140 else text[:140].rsplit(" ", 1)[0] + " …"
