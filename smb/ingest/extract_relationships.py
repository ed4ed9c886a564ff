"""Relationships between what a note is about and other named things, each one of the ten edge types.

Owns which words mean which edge:

    wiki link, relative .md link, embed     note --references--> target   (`[[#Heading]]`: note --references--> note)
    `up:`, `parent:`, "X is part of Y"      Y --contains--> X        ("X contains/consists of Y": X contains Y)
    "extends", "builds on"                  X --extends--> Y
    "depends on", "is based on", "derived from", "requires" a named thing    X --derives_from--> Y (X rests on Y)
    "inspired by"                           X --inspired_by--> Y
    `supersedes:`, "replaces"               Y --evolves_into--> X    (`superseded_by:`, "replaced by": the reverse)
    "explains", "describes", "documents"    X --explains--> Y
    a concept named by a section            note --contains--> concept
    named in the same blocks, twice or more X --related_to--> Y

Never draws an edge from a word both of whose ends are not names the note knows.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field, replace
from urllib.parse import unquote

from smb.ingest.extract import Draft, DraftLink
from smb.ingest.extract_keyed import plain_name
from smb.ingest.note import Block, WebLink, WikiLink
from smb.ingest.survey import Survey
from smb.model.edges import EdgeType
from smb.model.evidence import Span
from smb.model.identity import fold
from smb.model.objects import MemoryType

MOST_WIKI = 8
MOST_PATHS = 4
MOST_STATED = 3
MOST_TOGETHER = 2
MOST_EDGES = 200
MOST_PLACES = 100  # quotes a relationship made from links keeps; its weight counts all of them
ITSELF = "itself"  # how a note that is linked from within is named in the title of that relationship
_PHRASE = {
    EdgeType.REFERENCES: "references",
    EdgeType.SUPPORTS: "supports",
    EdgeType.CONTRADICTS: "contradicts",
    EdgeType.EXTENDS: "extends",
    EdgeType.DERIVES_FROM: "derives from",
    EdgeType.INSPIRED_BY: "is inspired by",
    EdgeType.EVOLVES_INTO: "evolves into",
    EdgeType.RELATED_TO: "is related to",
    EdgeType.CONTAINS: "contains",
    EdgeType.EXPLAINS: "explains",
}
_PROPERTY_EDGE: dict[str, tuple[EdgeType, bool]] = {  # the flag: the edge runs from the named thing to the note
    "up": (EdgeType.CONTAINS, True),
    "parent": (EdgeType.CONTAINS, True),
    "part_of": (EdgeType.CONTAINS, True),
    "project": (EdgeType.CONTAINS, True),
    "children": (EdgeType.CONTAINS, False),
    "down": (EdgeType.CONTAINS, False),
    "supersedes": (EdgeType.EVOLVES_INTO, True),
    "replaces": (EdgeType.EVOLVES_INTO, True),
    "superseded_by": (EdgeType.EVOLVES_INTO, False),
    "superseded-by": (EdgeType.EVOLVES_INTO, False),
    "replaced_by": (EdgeType.EVOLVES_INTO, False),
    "related": (EdgeType.RELATED_TO, False),
    "see_also": (EdgeType.RELATED_TO, False),
    "extends": (EdgeType.EXTENDS, False),
    "depends_on": (EdgeType.DERIVES_FROM, False),
    "requires": (EdgeType.DERIVES_FROM, False),
    "based_on": (EdgeType.DERIVES_FROM, False),
    "inspired_by": (EdgeType.INSPIRED_BY, False),
    "explains": (EdgeType.EXPLAINS, False),
    "supports": (EdgeType.SUPPORTS, False),
    "contradicts": (EdgeType.CONTRADICTS, False),
}
_CUES: tuple[tuple[str, EdgeType, bool], ...] = (
    (r"extends|builds on|inherits from|is derived from the class", EdgeType.EXTENDS, False),
    (
        r"depends on|is based on|are based on|is derived from|derives from|requires|is generated from",
        EdgeType.DERIVES_FROM,
        False,
    ),
    (r"(?:is|was|were|are) inspired by", EdgeType.INSPIRED_BY, False),
    (r"is part of|are part of|belongs to", EdgeType.CONTAINS, True),
    (r"contains|consists of", EdgeType.CONTAINS, False),
    (r"replaces|supersedes|has replaced", EdgeType.EVOLVES_INTO, True),
    (r"(?:is|was|were) (?:replaced|superseded) by|became", EdgeType.EVOLVES_INTO, False),
    (r"explains|documents", EdgeType.EXPLAINS, False),
    (r"contradicts", EdgeType.CONTRADICTS, False),
)
_CUE = re.compile(
    r"\b(?:" + "|".join(f"(?P<c{i}>{pattern})" for i, (pattern, _, _) in enumerate(_CUES)) + r")\s+(?:the\s|an?\s|our\s)?"
)
_CUE_WORDS = (
    "extends",
    "builds on",
    "inherits",
    "depends on",
    "based on",
    "deriv",
    "requires",
    "inspired",
    "part of",
    "belongs",
    "contains",
    "consists",
    "replace",
    "supersede",
    "became",
    "explains",
    "documents",
    "contradicts",
    "generated",
)
_MARKDOWN = re.compile(r"\.(?:md|markdown|mdx)(?:[#?].*)?\Z", re.I)
_HERE = frozenset("here this link this page read more see click documentation docs source more details".split())


@dataclass(slots=True)
class _Target:
    """A link target, how it is named, how often it is linked and where, each place once."""

    link: DraftLink
    name: str
    count: int = 0
    spans: dict[Span, None] = field(default_factory=dict)


def links(seen: Survey) -> tuple[list[Draft], tuple[DraftLink, ...]]:
    """Relationship drafts for the note's weightiest outgoing links, and the rest as plain edges of the primary.

    A draft weighs as many links as it was made from and cites the place of each.
    """
    targets: dict[tuple[str, bool], _Target] = {}
    own = fold(seen.title)
    for block in seen.note.blocks:
        for wiki in block.links:
            name = _leaf(wiki.target)
            if not wiki.target or (wiki.heading or wiki.block) and fold(name) in seen.names:
                _count(seen, targets, "", False, ITSELF, block, wiki)
            elif fold(name) != own:
                _count(seen, targets, _MARKDOWN.sub("", wiki.target), False, name, block, wiki)
        for web in block.web:
            path = _path(web.url)
            if path:
                text = " ".join(web.text.replace("`", "").split())
                name = text if text and fold(text) not in _HERE and len(text) <= 80 and ".md" not in text else _leaf(path)
                _count(seen, targets, path, True, name, block, web)
    ranked = sorted(targets.values(), key=lambda t: -t.count)
    drafts, rest, paths, wikis = [], [], 0, 0
    for target in ranked:
        link = replace(target.link, weight=float(target.count))
        outside = bool(link.target)
        paths, wikis = paths + link.is_path, wikis + (outside and not link.is_path)
        if outside and (paths > MOST_PATHS if link.is_path else wikis > MOST_WIKI):
            rest.append(link)
        else:
            drafts.append(relationship(seen.title, link, target.name, tuple(target.spans), 0.9))
    return drafts, tuple(rest[:MOST_EDGES])


def _count(
    seen: Survey, targets: dict[tuple[str, bool], _Target], target: str, is_path: bool, name: str, block: Block,
    link: WikiLink | WebLink,
) -> None:
    key = (target.lower() if is_path else fold(target), is_path)
    held = targets.get(key)
    if held is None:
        held = targets[key] = _Target(DraftLink(target, EdgeType.REFERENCES, is_path=is_path), name)
    held.count += 1
    if len(held.spans) < MOST_PLACES:
        held.spans[seen.quoter.link(block, link)] = None


def _path(url: str) -> str:
    """The note path a relative link names, without its fragment; "" for anything else."""
    if "://" in url or url.startswith(("#", "mailto:", "//", "<")) or not _MARKDOWN.search(url):
        return ""
    return unquote(url).partition("#")[0].partition("?")[0]


def _leaf(target: str) -> str:
    name = target.rpartition("/")[2].strip()
    return _MARKDOWN.sub("", name) or target


def relationship(source: str, link: DraftLink, target_name: str, spans: tuple[Span, ...], confidence: float) -> Draft:
    """`source --link--> target` as a draft whose title reads as a sentence."""
    return Draft(
        MemoryType.RELATIONSHIP,
        f"{source} {_PHRASE[link.type]} {target_name}",
        spans,
        confidence=confidence,
        source_name=source,
        link=link,
    )


def declared(seen: Survey) -> list[Draft]:
    """Relationships that properties state (`up:`, `supersedes:`, `depends_on:`)."""
    drafts = []
    for prop in seen.note.properties:
        edge = _PROPERTY_EDGE.get(prop.key.lower().replace(" ", "_"))
        if not edge:
            continue
        kind, inverse = edge
        for item in prop.items[:10]:
            name = plain_name(item)
            linked = "[[" in item
            if not name or len(name) > 100 or not linked and kind is EdgeType.EVOLVES_INTO and name.isdigit():
                continue
            leaf = _leaf(name)
            spans = seen.quoter.shortened(seen.quoter.block(prop), leaf)
            if inverse:
                drafts.append(relationship(leaf, DraftLink(seen.title, kind), seen.title, spans, 0.9))
            else:
                drafts.append(relationship(seen.title, DraftLink(name, kind), leaf, spans, 0.9))
    return drafts


def stated(seen: Survey, names: dict[str, str]) -> list[Draft]:
    """Relationships that sentences state between two names the note knows. `names`: lower case to title."""
    drafts: list[Draft] = []
    cues = [cue for cue in _CUE_WORDS if cue in seen.text]
    if not names or not cues:
        return drafts
    for prose in seen.prose:
        for sentence in prose.sentences:
            if not any(cue in sentence for cue in cues) or sentence.endswith("?"):
                continue
            for m in _CUE.finditer(sentence):
                after = _name_at(sentence, m.end(), names)
                before = _name_before(sentence[: m.start()], names)
                if not after or not before or after == before:
                    continue
                _, kind, inverse = _CUES[int(m.lastgroup[1:])]  # type: ignore[index]
                source, target = (after, before) if inverse else (before, after)
                spans = seen.quoter.shortened(seen.span(prose.block, sentence), source, target)
                drafts.append(relationship(source, DraftLink(target, kind), target, spans, 0.6))
    return drafts[:MOST_STATED]


def _name_at(sentence: str, at: int, names: dict[str, str]) -> str:
    rest = sentence[at : at + 60].lower()
    best = max((n for n in names if rest.startswith(n) and not rest[len(n) : len(n) + 1].isalnum()), key=len, default="")
    return names[best] if best else ""


def _name_before(text: str, names: dict[str, str]) -> str:
    """The known name that ends the text before a cue, give or take a relative pronoun or an adverb."""
    lower = re.sub(r"(?:\s(?:also|now|still|which|that|directly|only|class|function|header))*\s*$", "", text.lower())
    best = max(
        (n for n in names if lower.endswith(n) and (len(lower) == len(n) or not lower[-len(n) - 1].isalnum())),
        key=len,
        default="",
    )
    return names[best] if best else ""


def sections(seen: Survey, concepts: list[Draft]) -> list[Draft]:
    """The note contains the concepts its sections are named for."""
    headings = {h.text for h in seen.headings}
    return [
        relationship(seen.title, DraftLink(c.title, EdgeType.CONTAINS), c.title, c.spans[:1], 0.6)
        for c in concepts
        if c.title in headings and c.confidence < 0.4
    ][:2]


def together(seen: Survey, places: dict[str, set[int]]) -> list[Draft]:
    """Pairs of named things that two or more blocks name together; weight = number of blocks."""
    pairs: Counter[tuple[str, str]] = Counter()
    names = sorted(n for n, where in places.items() if len(where) >= 2)[:12]
    for i, a in enumerate(names):
        for b in names[i + 1 :]:
            if (shared := len(places[a] & places[b])) >= 2 and fold(a) not in fold(b) and fold(b) not in fold(a):
                pairs[(a, b)] = shared
    drafts = []
    for (a, b), shared in sorted(pairs.items(), key=lambda p: (-p[1], p[0]))[:MOST_TOGETHER]:
        span = seen.quoter.block(seen.prose[min(places[a] & places[b])].block)
        spans = seen.quoter.shortened(span, a, b)
        drafts.append(relationship(a, DraftLink(b, EdgeType.RELATED_TO, float(shared)), b, spans, 0.4))
    return drafts
