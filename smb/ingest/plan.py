"""From what documents state to the revisions that say it.

Owns the comparison of a document's new statements with its earlier ones. Pure: what is already known comes in, a
transaction without anything already known comes out.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace

from smb.ingest.note import Block, Note
from smb.ingest.resolve import NAMED, Resolved, Stated, relationship_identity
from smb.model.edges import EdgeType
from smb.model.evidence import DanglingLink, DocumentVersion, Passage
from smb.model.identity import fold, object_id
from smb.model.objects import Link, MemoryType
from smb.model.revision import DOCUMENT, Revision, RevisionKind, Statement, new_revision
from smb.model.validity import ALWAYS, Interval, TimeError, parse_interval

PASSAGE_KINDS = frozenset({"paragraph", "item", "row", "turn", "quote", "code", "heading", "properties", "html", "title", "math"})
REMOVED = "source removed"
NEWER_VERSION = "newer version of the same document"
NOT_RESTATED = "no longer in the document"


def date_of(note: Note) -> Interval:
    """The stretch of time the note itself bears; ALWAYS where it bears none or an impossible one."""
    if not note.date_text:
        return ALWAYS
    try:
        return parse_interval(note.date_text)
    except TimeError:
        return ALWAYS


def passages_of(note: Note) -> tuple[Passage, ...]:
    """One passage a block. A heading with text below it is no passage of its own: its words are the context of those."""
    found: list[Passage] = []
    blocks = note.blocks
    for n, block in enumerate(blocks):
        if block.kind == "heading" and n + 1 < len(blocks) and block.text in blocks[n + 1].headings:
            continue
        found.append(_passage(block))
    return tuple(found)


def _passage(block: Block) -> Passage:
    return Passage(block.kind, block.byte_start, block.byte_end, block.line_start, block.line_end, block.headings, block.speaker)


def plan_document(resolved: Resolved, heads: Iterable[Revision], taken: Callable[[str], bool], actor: str) -> list[Revision]:
    """The revisions that bring a document from `heads` (what it supports now) to what it states.

    Same statement, same place: nothing. Same object restated: an assert that replaces the old one. A keyed claim whose
    key the new version gives another value: a supersede. What is no longer there: a revoke. `taken(id)` says whether a
    revision of that id was ever recorded, so that a return to an old wording is a new revision.
    """
    reading = resolved.reading
    old: dict[str, list[Revision]] = {}
    for head in heads:
        old.setdefault(head.object_id, []).append(head)
    planned: list[Revision] = []
    aliases = {object_id(t.value, fold(alias)) for alias in reading.extraction.primary.aliases for t in NAMED}
    for id_ in aliases & old.keys():  # a merge that an alias made stands while the alias does
        old[id_] = [r for r in old[id_] if r.kind is not RevisionKind.MERGE]
    version = _version(resolved)
    _say(planned, reading.document, DOCUMENT, reading.document, version, (), old.pop(reading.document, []), taken, actor)
    restated = {s.object_id for s in resolved.stated}
    gone = {i: revisions for i, revisions in old.items() if i not in restated}
    successors = _successors(resolved.stated, gone)
    for stated in resolved.stated:
        superseded = [r for i in successors.get(stated.object_id, ()) for r in gone.pop(i, [])]
        _say(planned, stated.object_id, stated.type.value, reading.document, stated.statement, stated.evidence, old.get(stated.object_id, []), taken, actor, superseded)
    planned += _revokes(gone.values(), reading.document, NOT_RESTATED, actor)
    return planned


def plan_removal(document: str, heads: Iterable[Revision], actor: str, reason: str = REMOVED) -> list[Revision]:
    """Revokes everything only this document supports; what others support too stands on them."""
    held: dict[str, list[Revision]] = {}
    for head in heads:
        held.setdefault(head.object_id, []).append(head)
    return _revokes(held.values(), document, reason, actor)


def plan_merges(resolved: Iterable[Resolved], histories: Mapping[str, Collection[Revision]], actor: str) -> list[Revision]:
    """Merges of objects whose name a document has declared an alias; `histories` of the objects to be merged. What
    other documents said of them is said of the object they merge into, with the same evidence."""
    planned: dict[str, list[Revision]] = {}
    for one in resolved:
        for named, into in one.merges:
            if not (heads := _standing(histories.get(named.id, ()))):
                continue
            merge = new_revision(RevisionKind.MERGE, named.id, named.type.value, document=one.reading.document, replaces=tuple(r.id for r in heads),
                                 into=(into.id,), reason=f"{named.title} is an alias of {into.title}", actor=actor)
            carried = [new_revision(RevisionKind.ASSERT, into.id, into.type.value, document=head.document, evidence=head.evidence, actor=actor,
                                    statement=replace(head.statement, title=into.title, identity=into.folded, confidence=min(head.statement.confidence, 0.3)))
                       for head in heads if isinstance(head.statement, Statement) and head.document != one.reading.document]
            planned[named.id] = [merge, *carried]
    return [revision for group in planned.values() for revision in group]


def plan_found_links(waiting: Iterable[tuple[str, str, DanglingLink]], primary_at: Callable[[str], tuple[str, str] | None],
                     title_of: Callable[[str], str], actor: str) -> list[Revision]:
    """Edges for links that led nowhere until now. `waiting`: (document, its primary object, link); `primary_at(path)`
    gives the (id, title) of what is there now."""
    planned: list[Revision] = []
    for document, source, link in waiting:
        target = primary_at(link.target)
        if target is None or target[0] == source:
            continue
        identity = relationship_identity(source, link.type, target[0])
        statement = Statement(title=f"{title_of(source)} {link.type.replace('_', ' ')} {target[1]}", identity=identity, about=source,
                              links=(Link(target[0], EdgeType(link.type), link.weight),), confidence=0.9)
        planned.append(new_revision(RevisionKind.ASSERT, object_id(MemoryType.RELATIONSHIP.value, identity), MemoryType.RELATIONSHIP.value,
                                    document=document, statement=statement, evidence=(link.span,), actor=actor))
    return list({r.object_id + r.document: r for r in planned}.values())


def _version(resolved: Resolved) -> DocumentVersion:
    reading, note = resolved.reading, resolved.reading.note
    return DocumentVersion(
        root=reading.root, path=note.path, source=note.source, title=note.title, encoding=note.encoding, shape=note.shape, date=note.date_text,
        valid=reading.valid, primary=resolved.primary, tags=note.tags, aliases=note.aliases,
        properties=tuple((p.key, p.text) for p in note.properties), dangling=resolved.dangling, passages=passages_of(note),
    )


def _say(planned: list[Revision], id_: str, type_: str, document: str, statement: Statement | DocumentVersion, evidence: tuple,
         old: list[Revision], taken: Callable[[str], bool], actor: str, superseded: Iterable[Revision] = ()) -> None:
    if not superseded and len(old) == 1 and old[0].statement == statement and old[0].evidence == evidence:
        return
    newer = tuple(r.id for r in superseded)
    kind = RevisionKind.SUPERSEDE if newer or (type_ == DOCUMENT and old) else RevisionKind.ASSERT
    fields = {"document": document, "statement": statement, "evidence": evidence, "actor": actor, "reason": NEWER_VERSION if newer else ""}
    revision = new_revision(kind, id_, type_, replaces=(*(r.id for r in old), *newer), **fields)
    while taken(revision.id):
        revision = new_revision(kind, id_, type_, replaces=tuple(dict.fromkeys((*revision.replaces, revision.id))), **fields)
    planned.append(revision)


def _successors(stated: Iterable[Stated], gone: Mapping[str, list[Revision]]) -> dict[str, list[str]]:
    """New claim id -> the ids of the claims it supersedes: the same key, once before and once now, another value."""
    before: dict[tuple[str, str], list[str]] = {}
    for object_id_, revisions in gone.items():
        for revision in revisions:
            if isinstance(s := revision.statement, Statement) and s.attribute:
                before.setdefault((s.subject, s.attribute), []).append(object_id_)
    now: dict[tuple[str, str], list[str]] = {}
    for one in stated:
        if one.statement.attribute:
            now.setdefault((one.statement.subject, one.statement.attribute), []).append(one.object_id)
    return {now[key][0]: ids for key, ids in before.items() if len(ids) == 1 and len(now.get(key, ())) == 1}


def _revokes(groups: Iterable[list[Revision]], document: str, reason: str, actor: str) -> list[Revision]:
    planned = []
    for revisions in groups:
        live = [r for r in revisions if r.kind is not RevisionKind.REVOKE]
        if live:
            planned.append(new_revision(RevisionKind.REVOKE, live[0].object_id, live[0].object_type, document=document,
                                        replaces=tuple(r.id for r in live), reason=reason, actor=actor))
    return planned


def _standing(history: Collection[Revision]) -> list[Revision]:
    closed = {i for r in history for i in r.replaces}
    return [r for r in history if r.id not in closed and r.kind in (RevisionKind.ASSERT, RevisionKind.SUPERSEDE)]
