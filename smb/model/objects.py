"""Memory objects: their types, where each type lives, and the value every projection renders.

Owns `MemoryObject` and its markdown form. Never touches a file: `smb.stores.object_file` reads what this writes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from json.encoder import encode_basestring

from smb.model.edges import EdgeType, NodeType
from smb.model.evidence import Span
from smb.model.identity import embedding_id, graph_node_id


class LayerIndex(IntEnum):
    EVIDENCE = 0
    SEMANTIC = 1
    ORGANIZATION = 2
    REFLECTION = 3
    ABSTRACTION = 4
    NARRATIVE = 5
    EXECUTIVE = 6


class MemoryType(StrEnum):
    CONCEPT = "concept"
    CLAIM = "claim"
    ENTITY = "entity"
    RELATIONSHIP = "relationship"
    TAXONOMY = "taxonomy"
    CLUSTER = "cluster"
    COMMUNITY = "community"
    INSIGHT = "insight"
    QUESTION = "question"
    CONTRADICTION = "contradiction"
    ABSTRACTION = "abstraction"
    WORLD_MODEL = "world-model"
    META_CONCEPT = "meta-concept"
    SYNTHESIS = "synthesis"
    NARRATIVE = "narrative"
    TIMELINE = "timeline"
    EVOLUTION = "evolution"
    RESEARCH = "research"
    SPECIFICATION = "specification"
    PROJECT = "project"
    PLAN = "plan"


TYPE_TO_LOCATION: dict[MemoryType, tuple[LayerIndex, str]] = {
    MemoryType.CONCEPT: (LayerIndex.SEMANTIC, "concepts"),
    MemoryType.CLAIM: (LayerIndex.SEMANTIC, "claims"),
    MemoryType.ENTITY: (LayerIndex.SEMANTIC, "entities"),
    MemoryType.RELATIONSHIP: (LayerIndex.SEMANTIC, "relationships"),
    MemoryType.TAXONOMY: (LayerIndex.ORGANIZATION, "taxonomy"),
    MemoryType.CLUSTER: (LayerIndex.ORGANIZATION, "clusters"),
    MemoryType.COMMUNITY: (LayerIndex.ORGANIZATION, "communities"),
    MemoryType.INSIGHT: (LayerIndex.REFLECTION, "insights"),
    MemoryType.QUESTION: (LayerIndex.REFLECTION, "questions"),
    MemoryType.CONTRADICTION: (LayerIndex.REFLECTION, "contradictions"),
    MemoryType.ABSTRACTION: (LayerIndex.ABSTRACTION, "abstractions"),
    MemoryType.WORLD_MODEL: (LayerIndex.ABSTRACTION, "world-models"),
    MemoryType.META_CONCEPT: (LayerIndex.ABSTRACTION, "meta-concepts"),
    MemoryType.SYNTHESIS: (LayerIndex.ABSTRACTION, "syntheses"),
    MemoryType.NARRATIVE: (LayerIndex.NARRATIVE, "narratives"),
    MemoryType.TIMELINE: (LayerIndex.NARRATIVE, "timelines"),
    MemoryType.EVOLUTION: (LayerIndex.NARRATIVE, "evolution"),
    MemoryType.RESEARCH: (LayerIndex.EXECUTIVE, "research"),
    MemoryType.SPECIFICATION: (LayerIndex.EXECUTIVE, "specifications"),
    MemoryType.PROJECT: (LayerIndex.EXECUTIVE, "projects"),
    MemoryType.PLAN: (LayerIndex.EXECUTIVE, "plans"),
}

NODE_TYPE: dict[MemoryType, NodeType | None] = {
    MemoryType.CONCEPT: NodeType.CONCEPT,
    MemoryType.CLAIM: NodeType.CLAIM,
    MemoryType.ENTITY: NodeType.ENTITY,
    MemoryType.RELATIONSHIP: None,  # an edge, not a node
    MemoryType.TAXONOMY: NodeType.ABSTRACTION,
    MemoryType.CLUSTER: NodeType.ABSTRACTION,
    MemoryType.COMMUNITY: NodeType.ABSTRACTION,
    MemoryType.INSIGHT: NodeType.INSIGHT,
    MemoryType.QUESTION: NodeType.INSIGHT,
    MemoryType.CONTRADICTION: NodeType.INSIGHT,
    MemoryType.ABSTRACTION: NodeType.ABSTRACTION,
    MemoryType.WORLD_MODEL: NodeType.ABSTRACTION,
    MemoryType.META_CONCEPT: NodeType.ABSTRACTION,
    MemoryType.SYNTHESIS: NodeType.ABSTRACTION,
    MemoryType.NARRATIVE: NodeType.NARRATIVE,
    MemoryType.TIMELINE: NodeType.NARRATIVE,
    MemoryType.EVOLUTION: NodeType.NARRATIVE,
    MemoryType.RESEARCH: NodeType.INSIGHT,
    MemoryType.SPECIFICATION: NodeType.ABSTRACTION,
    MemoryType.PROJECT: NodeType.ABSTRACTION,
    MemoryType.PLAN: NodeType.ABSTRACTION,
}


class Mode(StrEnum):
    """How an object came to be: read off a source, worked out from other objects, or written by a person."""

    EXTRACTED = "extracted"
    INFERRED = "inferred"
    AUTHORED = "authored"


class Status(StrEnum):
    """The rendering of a verdict in front matter."""

    ACTIVE = "active"
    DEPRECATED = "deprecated"
    REVISED = "revised"
    MERGED = "merged"
    SPLIT = "split"
    CONTESTED = "contested"


class Verification(StrEnum):
    """REQUIREMENTS.md, section 2, item 7; the multipliers weigh rank only."""

    UNVERIFIED = "unverified"
    SELF_SUPPORTED = "self-supported"
    TOOL_SUPPORTED = "tool-supported"
    SUPERVISOR_VERIFIED = "supervisor-verified"
    REJECTED = "rejected"


@dataclass(frozen=True, slots=True)
class Link:
    """A typed edge of the graph, from the object that holds it to `target`.

    `title` is the target's title and `page` the stem of its file: both only where the object is about to be shown.
    `label` says the edge the other way round, where it comes from the target.
    """

    target: str
    type: EdgeType
    weight: float = 1.0
    title: str = ""
    page: str = ""
    label: str = ""


RELATED = "## Related"  # the last section of an object file; written from the graph, never read back
LINKS_SHOWN = 40
EVIDENCE_SHOWN = 24  # quotes written into an object file; the ledger holds them all


@dataclass(frozen=True, slots=True)
class MemoryObject:
    """One unit of knowledge as it stands at a moment: the value files, catalog, vectors and graph all render.

    Times are ISO 8601 strings with offset. `key` is (subject, attribute) or empty. `location` is the path of its
    file relative to the bank. `extra` holds front-matter keys a person added, as (key, YAML text as written).
    `identity` is the key its id was made from, `about` the id of what a claim is about or a relationship starts
    from, `supports` the number of documents that state it now; these three are not written to the file.
    """

    id: str
    type: MemoryType
    title: str
    body: str = ""
    aliases: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    confidence: float = 0.5
    status: Status = Status.ACTIVE
    created: str = ""
    modified: str = ""
    source_ids: tuple[str, ...] = ()
    revision: str = ""
    verification: Verification = Verification.UNVERIFIED
    mode: Mode = Mode.EXTRACTED
    valid_from: str | None = None
    valid_to: str | None = None
    recorded_at: str = ""
    key: tuple[str, str] | tuple[()] = ()
    value: str = ""
    attributed_to: str = ""
    evidence: tuple[Span, ...] = ()
    derived_from: tuple[str, ...] = ()
    links: tuple[Link, ...] = ()
    extra: tuple[tuple[str, str], ...] = field(default=())
    location: str = ""
    identity: str = ""
    about: str = ""
    supports: int = 0

    @property
    def embedding_id(self) -> str:
        return embedding_id(self.id)

    @property
    def graph_node_id(self) -> str:
        return graph_node_id(self.id)

    @property
    def layer(self) -> LayerIndex:
        return TYPE_TO_LOCATION[self.type][0]

    @property
    def text(self) -> str:
        """What is searched and embedded: the title, and the body where it says more."""
        return self.title if self.prose in ("", self.title) else f"{self.title}\n{self.prose}"

    @property
    def prose(self) -> str:
        """The body as it is read: where no note is quoted but a person or evolution writes, links are their titles."""
        return self.body if self.mode is Mode.EXTRACTED or "[[" not in self.body else _WIKILINK.sub(lambda m: m[2] or m[1], self.body)

    def to_markdown(self) -> str:
        """The object file: YAML front matter, one line a scalar, then the body. Ends with a newline.

        Scalars are emitted plain only where no YAML reader could take them for anything but that text, and as JSON
        strings (a subset of YAML's double-quoted ones) otherwise; a property test holds this to the C loader.
        """
        lines = ["---", f"id: {quoted(self.id)}", f"type: {self.type}", f"title: {quoted(self.title)}"]
        lines += _list("aliases", self.aliases)
        lines += _list("tags", self.tags)
        lines.append(f"confidence: {self.confidence:.2f}")
        lines.append(f"status: {self.status}")
        lines.append(f"created: {quoted(self.created)}")
        lines.append(f"modified: {quoted(self.modified)}")
        lines.append(f"embedding_id: {self.embedding_id}")
        lines.append(f"graph_node_id: {self.graph_node_id}")
        lines += _list("source_ids", tuple(s[:12] for s in self.source_ids))
        lines.append(f"revision: {quoted(self.revision)}")
        lines.append(f"verification: {self.verification}")
        lines.append(f"mode: {self.mode}")
        for name, value in (("valid_from", self.valid_from), ("valid_to", self.valid_to), ("recorded_at", self.recorded_at)):
            if value:
                lines.append(f"{name}: {quoted(value)}")
        if self.key:
            lines.append(f"key: [{quoted(self.key[0])}, {quoted(self.key[1])}]")
            lines.append(f"value: {quoted(self.value)}")
        if self.attributed_to:
            lines.append(f"attributed_to: {quoted(self.attributed_to)}")
        if self.evidence:
            lines.append("evidence:")
            for span in self.evidence[:EVIDENCE_SHOWN]:
                lines.append(f"  - source: {quoted(span.source[:12])}")
                lines.append(f"    lines: {quoted(span.lines)}")
                lines.append(f"    quote: {quoted(span.quote)}")
            if len(self.evidence) > EVIDENCE_SHOWN:
                lines.append(f"evidence_total: {len(self.evidence)}")
        lines += _list("derived_from", self.derived_from)
        lines += [line for _, raw in self.extra for line in raw.rstrip("\n").split("\n")]
        lines += ["---", "", self.body.rstrip() or self.title.rstrip()]
        shown = [link for link in self.links if link.page]
        if shown:
            lines += ["", RELATED, ""]
            lines += [f"- {link.label or link.type}: [[{link.page}|{link_text(link.title)}]]" for link in shown[:LINKS_SHOWN]]
        return "\n".join(lines) + "\n"


_PLAIN = re.compile(r"[A-Za-z](?:[A-Za-z0-9 _./()+-]*[A-Za-z0-9_./()+])?\Z")
_PLAIN_TRAPS = frozenset("y n yes no on off true false null nan inf".split())
_WIKILINK = re.compile(r"\[\[([^\[\]|\n]+)(?:\|([^\[\]\n]+))?\]\]")
_NOT_PRINTABLE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff\ufffe\uffff]")


def quoted(text: str) -> str:
    """`text` as one line of YAML that every YAML reader reads back as this very string."""
    if _PLAIN.match(text) and text.lower() not in _PLAIN_TRAPS:
        return text
    return _NOT_PRINTABLE.sub(lambda m: f"\\u{ord(m[0]):04x}", encode_basestring(text))


def _list(name: str, values: tuple[str, ...]) -> list[str]:
    return [f"{name}: [{', '.join(map(quoted, values))}]"] if values else []


def link_text(title: str) -> str:
    """A title as the text of a wiki link."""
    return " ".join(title.replace("|", "/").replace("[", "(").replace("]", ")").split())
