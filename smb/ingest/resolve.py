"""Which object each draft speaks of.

Owns the step from names to ids: a name is the title of an object, or the one alias of one, or a new object. Never
reads the catalog: what is already known comes in as a `NameIndex`.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import unquote

from smb.ingest.extract import Draft, DraftLink, Extraction
from smb.ingest.note import Note
from smb.ingest.valid_time import NoteTimes
from smb.model.evidence import DanglingLink, Span
from smb.model.identity import fold, fold_proposition, object_id, relationship_identity
from smb.model.objects import Link, MemoryType, Mode
from smb.model.revision import Statement
from smb.model.validity import ALWAYS, Interval

NAMED = (MemoryType.CONCEPT, MemoryType.ENTITY)
ASSERTED = (MemoryType.CLAIM, MemoryType.RELATIONSHIP)
TOOL_PROPERTY = fold("tool_output")  # `tool_output: NAME` in front matter: the note is what the tool NAME printed


@dataclass(frozen=True, slots=True)
class Named:
    """An object that bears a name: its id, type, title, and the title folded."""

    id: str
    type: MemoryType
    folded: str
    title: str


@dataclass(frozen=True, slots=True)
class Reading:
    """A document as read and extracted, on its way into a transaction."""

    document: str
    root: str
    note: Note
    extraction: Extraction
    valid: Interval = ALWAYS


@dataclass(frozen=True, slots=True)
class Stated:
    """What one document states of one object; `drafted_by` the model that read it there, empty where only rules did."""

    object_id: str
    type: MemoryType
    statement: Statement
    evidence: tuple[Span, ...]
    drafted_by: str = ""


@dataclass(frozen=True, slots=True)
class Resolved:
    """Everything one document states; `merges` are (object, into) pairs its aliases make one."""

    reading: Reading
    primary: str
    stated: tuple[Stated, ...]
    dangling: tuple[DanglingLink, ...]
    merges: tuple[tuple[Named, Named], ...] = ()


@dataclass(slots=True)
class NameIndex:
    """What the bank and the batch know of names. `paths` maps (root, path) to the primary object there."""

    titles: dict[str, dict[MemoryType, Named]] = field(default_factory=dict)
    aliases: dict[str, dict[str, Named]] = field(default_factory=dict)
    paths: dict[tuple[str, str], Named] = field(default_factory=dict)
    primaries: set[str] = field(default_factory=set)

    def add_title(self, named: Named) -> None:
        self.titles.setdefault(named.folded, {}).setdefault(named.type, named)

    def add_alias(self, folded: str, owner: Named) -> None:
        if folded and folded != owner.folded:
            self.aliases.setdefault(folded, {})[owner.id] = owner

    def find(self, name: str, wanted: MemoryType) -> Named:
        """The object `name` speaks of: a document's own name first, then the only owner of that alias, then an object
        of that title (an entity before a concept), else a new one of type `wanted`."""
        folded = fold(name)
        held = self.titles.get(folded, {})
        for named in held.values():
            if named.id in self.primaries:
                return named
        owners = self.aliases.get(folded, {})
        if len(owners) == 1:
            return next(iter(owners.values()))
        return held.get(MemoryType.ENTITY) or held.get(MemoryType.CONCEPT) or Named(object_id(wanted.value, folded), wanted, folded, name)


def names_wanted(readings: Iterable[Reading]) -> set[str]:
    """Every folded name the batch mentions: what to look up before `resolve`."""
    wanted: set[str] = set()
    for reading in readings:
        for draft in (reading.extraction.primary, *reading.extraction.drafts):
            if draft.type in NAMED:
                wanted.add(fold(draft.title))
                wanted.update(fold(alias) for alias in draft.aliases)
            for name in (draft.subject, draft.source_name):
                if name:
                    wanted.add(fold(name))
            for link in (*draft.links, *((draft.link,) if draft.link else ())):
                if link.target:
                    wanted.add(fold(link.target))
                    wanted.add(fold(_stem(link.target)))
    return wanted


def paths_wanted(readings: Iterable[Reading]) -> set[tuple[str, str]]:
    """Every (root, path) the batch links to."""
    return {
        (reading.root, path)
        for reading in readings
        for draft in reading.extraction.drafts
        for link in (*draft.links, *((draft.link,) if draft.link else ()))
        for path in _paths(reading.note.path, link)
    }


def resolve(readings: list[Reading], index: NameIndex) -> list[Resolved]:
    """Ids for everything the batch states. `index` holds what the bank knows and learns what the batch declares."""
    _learn(readings, index)
    return [_resolve_one(reading, index) for reading in readings]


def _learn(readings: list[Reading], index: NameIndex) -> None:
    """First the documents' own names, then their aliases, then the named things they mention."""
    primaries: list[tuple[Reading, Named]] = []
    for reading in readings:
        primary = reading.extraction.primary
        folded = fold(primary.title)
        held = index.titles.get(folded, {})
        named = held.get(MemoryType.ENTITY) if primary.type is MemoryType.CONCEPT else None
        named = named or Named(object_id(primary.type.value, folded), primary.type, folded, primary.title)
        index.add_title(named)
        index.primaries.add(named.id)
        index.paths[(reading.root, reading.note.path)] = named
        primaries.append((reading, named))
    for reading, named in primaries:
        for alias in reading.extraction.primary.aliases:
            index.add_alias(fold(alias), named)
    for reading in readings:
        for draft in reading.extraction.drafts:
            if draft.type is MemoryType.ENTITY:
                named = index.find(draft.title, MemoryType.ENTITY)
                index.add_title(named)
                for alias in draft.aliases:
                    index.add_alias(fold(alias), named)
    for reading in readings:
        for draft in reading.extraction.drafts:
            if draft.type is MemoryType.CONCEPT:
                named = index.find(draft.title, MemoryType.CONCEPT)
                index.add_title(named)
                for alias in draft.aliases:
                    index.add_alias(fold(alias), named)


def _resolve_one(reading: Reading, index: NameIndex) -> Resolved:
    primary = index.paths[(reading.root, reading.note.path)]
    times = NoteTimes(reading.note, reading.valid)
    gathered: dict[str, tuple[MemoryType, list[tuple[Draft, Statement]]]] = {}
    dangling: list[DanglingLink] = []

    def gather(id_: str, type_: MemoryType, draft: Draft, statement: Statement) -> None:
        gathered.setdefault(id_, (type_, []))[1].append((draft, statement))

    for draft in (reading.extraction.primary, *reading.extraction.drafts):
        match draft.type:
            case MemoryType.CLAIM:
                subject = index.find(draft.subject, MemoryType.CONCEPT) if draft.subject else primary
                known = subject.id == primary.id or subject.folded in index.titles
                identity = fold_proposition(draft.title)
                valid = times.of(draft.valid, draft.valid_text, draft.spans)
                gather(object_id(draft.type.value, identity), draft.type, draft, replace(
                    _statement(draft, identity), valid=valid, subject=subject.folded if draft.attribute else "",
                    about=subject.id if known else primary.id, links=_links(draft.links, reading, index)))
            case MemoryType.RELATIONSHIP:
                _relationship(draft, reading, primary, index, gather, dangling)
            case _:
                named = primary if draft is reading.extraction.primary else index.find(draft.title, draft.type)
                statement = replace(_statement(draft, named.folded), links=_links(draft.links, reading, index))
                if fold(draft.title) != named.folded:  # mentioned by an alias: the object keeps its own title
                    statement = replace(statement, title=named.title, confidence=min(statement.confidence, 0.3))
                gather(named.id, named.type, draft, statement)
    stated = _by_tool(reading.note, tuple(one for id_, (type_, parts) in gathered.items() for one in _told(id_, type_, parts)))
    return Resolved(reading, primary.id, stated, tuple(dangling), _merges(reading, primary, index))


def _by_tool(note: Note, stated: tuple[Stated, ...]) -> tuple[Stated, ...]:
    """What a note asserts, marked with the tool whose output it says it is."""
    tool = next((" ".join(p.text.split()) for p in note.properties if fold(p.key) == TOOL_PROPERTY), "")
    if not tool:
        return stated
    return tuple(replace(s, statement=replace(s.statement, tool=tool)) if s.type in ASSERTED else s for s in stated)


def _relationship(draft: Draft, reading: Reading, primary: Named, index: NameIndex, gather: object, dangling: list[DanglingLink]) -> None:
    assert draft.link is not None and callable(gather)
    source = primary if not draft.source_name or fold(draft.source_name) == fold(reading.extraction.primary.title) else index.find(draft.source_name, MemoryType.CONCEPT)
    target = _target(draft.link, reading, index) if draft.link.target else primary
    if target is None:
        if source.id == primary.id and draft.spans and (paths := _paths(reading.note.path, draft.link)):
            dangling.append(DanglingLink(paths[0], draft.link.type.value, draft.link.weight, draft.spans[0]))
        return
    if target.id == source.id and draft.link.target or not _exists(source, index) or not _exists(target, index):
        return
    identity = relationship_identity(source.id, draft.link.type.value, target.id)
    gather(object_id(MemoryType.RELATIONSHIP.value, identity), MemoryType.RELATIONSHIP, draft, replace(
        _statement(draft, identity), about=source.id, links=(Link(target.id, draft.link.type, draft.link.weight),)))


def _exists(named: Named, index: NameIndex) -> bool:
    return named.folded in index.titles


def _target(link: DraftLink, reading: Reading, index: NameIndex) -> Named | None:
    """The object a link leads to; None for a path at which no document is known."""
    for path in _paths(reading.note.path, link):
        if (reading.root, path) in index.paths:
            return index.paths[(reading.root, path)]
    if link.is_path:
        return None
    return index.find(_stem(link.target), MemoryType.CONCEPT)


def _paths(from_path: str, link: DraftLink) -> list[str]:
    """Paths relative to the root that a link may mean, likeliest first; none for a plain name."""
    target = unquote(link.target).partition("#")[0].partition("?")[0].strip()
    if not target or "://" in target:
        return []
    if not target.lower().endswith((".md", ".markdown", ".mdx")):
        target += ".md"
    if not link.is_path and "/" not in target:
        return [target]
    beside = posixpath.normpath(posixpath.join(posixpath.dirname(from_path), target))
    rooted = posixpath.normpath(target.lstrip("/"))
    candidates = (rooted, beside) if not link.is_path or target.startswith("/") else (beside, rooted)
    return [path for path in dict.fromkeys(candidates) if not path.startswith("..")]


def _stem(target: str) -> str:
    name = unquote(target).partition("#")[0].rstrip("/").rpartition("/")[2]
    return name[: -len(".md")] if name.lower().endswith(".md") else name


def _links(links: tuple[DraftLink, ...], reading: Reading, index: NameIndex) -> tuple[Link, ...]:
    found = ((link, _target(link, reading, index)) for link in links)
    return tuple(Link(target.id, link.type, link.weight) for link, target in found if target is not None and _exists(target, index))


def _statement(draft: Draft, identity: str) -> Statement:
    return Statement(
        title=" ".join(draft.title.split()),
        identity=identity,
        body=draft.body,
        aliases=draft.aliases,
        tags=draft.tags,
        attribute=fold(draft.attribute) if draft.attribute else "",
        value=draft.value,
        attributed_to=draft.attributed_to,
        negated=draft.negated,
        confidence=draft.confidence,
        mode=Mode.EXTRACTED,
        valid=draft.valid,
        valid_text=draft.valid_text,
    )


def _told(id_: str, type_: MemoryType, parts: list[tuple[Draft, Statement]]) -> list[Stated]:
    """What a document says of one object: one statement, but of a claim one for each time it is said to hold."""
    if len(parts) == 1 or type_ is not MemoryType.CLAIM:
        return [_merge(id_, type_, parts)]
    by_time: dict[Interval, list[tuple[Draft, Statement]]] = {}
    for part in parts:
        by_time.setdefault(part[1].valid, []).append(part)
    return [_merge(id_, type_, held) for held in by_time.values()]


def _merge(id_: str, type_: MemoryType, parts: list[tuple[Draft, Statement]]) -> Stated:
    """One statement from all a document says of one object: the surest gives the title, the rest add to it."""
    evidence = tuple(dict.fromkeys(span for draft, _ in parts for span in draft.spans))
    lead = max((s for _, s in parts), key=lambda s: s.confidence)
    drafted_by = next((draft.drafted_by for draft, _ in parts if draft.drafted_by), "")
    if len(parts) == 1:
        return Stated(id_, type_, lead, evidence, drafted_by)
    if not lead.attribute and (keyed := next((s for _, s in parts if s.attribute), None)):
        lead = replace(lead, subject=keyed.subject, attribute=keyed.attribute, value=keyed.value, about=keyed.about)
    links: dict[tuple[str, str], Link] = {}
    for _, statement in parts:
        for link in statement.links:
            held = links.get((link.target, link.type))
            links[(link.target, link.type)] = link if held is None else replace(held, weight=held.weight + link.weight)
    return Stated(id_, type_, replace(
        lead,
        body=lead.body or next((s.body for _, s in parts if s.body), ""),
        aliases=tuple(dict.fromkeys(a for _, s in parts for a in s.aliases)),
        tags=tuple(dict.fromkeys(t for _, s in parts for t in s.tags)),
        links=tuple(links.values()),
    ), evidence, drafted_by)


def _merges(reading: Reading, primary: Named, index: NameIndex) -> tuple[tuple[Named, Named], ...]:
    """Objects known by a name that this document declares an alias of its own, unless they have a document too."""
    found = []
    for alias in reading.extraction.primary.aliases:
        folded = fold(alias)
        if len(index.aliases.get(folded, {})) != 1:
            continue
        for named in index.titles.get(folded, {}).values():
            if named.id != primary.id and named.id not in index.primaries and named.type in NAMED:
                found.append((named, primary))
    return tuple(dict.fromkeys(found))


def index_of(rows: Iterable[Mapping[str, object]]) -> NameIndex:
    """A NameIndex from catalog rows with `folded`, `object_id`, `type`, `alias`, `title`, `is_primary`."""
    index = NameIndex()
    for row in rows:
        type_ = MemoryType(str(row["type"]))
        if type_ not in NAMED:
            continue
        title = str(row["title"])
        named = Named(str(row["object_id"]), type_, fold(title), title)
        if row["alias"]:
            index.add_alias(str(row["folded"]), named)
        else:
            index.add_title(named)
        if row["is_primary"]:
            index.primaries.add(named.id)
    return index
