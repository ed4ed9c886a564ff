"""From what documents state to the revisions that say it.

Owns the comparison of a document's new statements with its earlier ones. Pure: what is already known comes in, a
transaction without anything already known comes out.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace

from smb.ingest.note import Block, Note
from smb.ingest.resolve import NAMED, Resolved, Stated
from smb.model.edges import EdgeType
from smb.model.evidence import DanglingLink, DocumentVersion, Passage, Span
from smb.model.identity import fold, object_id, relationship_identity
from smb.model.objects import Link, MemoryType
from smb.model.revision import DOCUMENT, Revision, RevisionKind, Statement, new_revision
from smb.model.validity import ALWAYS, Interval, TimeError, parse_interval

Said = tuple[Statement | DocumentVersion, tuple[Span, ...]]
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
    """One passage a block. A heading with text below it is no passage of its own, nor is the first row of a table: its
    words are the context of what it heads."""
    blocks = note.blocks
    return tuple(_passage(block) for block, below in zip(blocks, (*blocks[1:], None), strict=False) if below is None or not _heads(block, below))


def _heads(block: Block, below: Block) -> bool:
    if block.kind == "heading":
        return block.text in below.headings
    return block.kind == "row" and not block.cells and bool(below.cells)


def _passage(block: Block) -> Passage:
    headings = (*block.headings, " | ".join(column for column, _ in block.cells)) if block.cells else block.headings
    return Passage(block.kind, block.byte_start, block.byte_end, block.line_start, block.line_end, headings, block.speaker)


def plan_document(resolved: Resolved, heads: Collection[Revision], taken: Callable[[str], bool], actor: str) -> list[Revision]:
    """The revisions that bring a document from `heads` (what it supports now) to what it states.

    Same statement, same place: nothing. Same object restated: an assert that replaces the old one, and supersedes what the
    old one did in this document. A keyed claim whose key the new version gives another value: a supersede. What is no longer
    there: a revoke, unless a claim of this document that stays has superseded it. `taken(id)` says whether a revision of
    that id was ever recorded, so that a return to an old wording is a new revision.
    """
    reading = resolved.reading
    apart = set() if reading.extraction.by_model else {head.object_id for head in heads if _read_by_a_model(head, reading.note.source)}
    here = {head.id: head for head in heads if head.object_id not in apart}
    old: dict[str, list[Revision]] = {}
    for head in here.values():
        old.setdefault(head.object_id, []).append(head)
    planned: list[Revision] = []
    aliases = {object_id(t.value, fold(alias)) for alias in reading.extraction.primary.aliases for t in NAMED}
    for id_ in aliases & old.keys():  # a merge that an alias made stands while the alias does
        old[id_] = [r for r in old[id_] if r.kind is not RevisionKind.MERGE]
    version = _version(resolved)
    stated: dict[str, list[Stated]] = {}
    for one in resolved.stated:
        if one.object_id not in apart:
            stated.setdefault(one.object_id, []).append(one)
    closers = _closers(here)
    _say(planned, reading.document, DOCUMENT, reading.document, [(version, ())], old.pop(reading.document, []), taken, actor)
    gone = {i: revisions for i, revisions in old.items() if i not in stated}
    successors = _successors(resolved.stated, {i: kept for i, revisions in gone.items() if (kept := [r for r in revisions if r.id not in closers])})
    for id_, group in stated.items():
        superseded = [r for i in successors.get(id_, ()) for r in gone.pop(i, [])]
        held = old.get(id_, [])
        carried = [here[t] for r in held for t in r.replaces if t in here and here[t].object_id != id_]
        said = [(one.statement, one.evidence) for one in group]
        _say(planned, id_, group[0].type.value, reading.document, said, held, taken, group[0].drafted_by or actor, superseded, carried)
    lost = _lost([r for revisions in gone.values() for r in revisions], closers)
    planned += _revokes(([r for r in revisions if r.id in lost] for revisions in gone.values()), reading.document, NOT_RESTATED, actor)
    return planned


def _read_by_a_model(head: Revision, source: str) -> bool:
    """Whether a model read it in these very bytes: what it read stands while the note is as it was and no model reads it anew."""
    return head.actor.startswith("model:") and any(span.source == source for span in head.evidence)


def _closers(here: Mapping[str, Revision]) -> dict[str, list[str]]:
    """Which of a document's heads another head of it, of another object, supersedes: id → ids of those."""
    closers: dict[str, list[str]] = {}
    for revision in here.values():
        if isinstance(revision.statement, Statement):
            for target in revision.replaces:
                if target in here and here[target].object_id != revision.object_id:
                    closers.setdefault(target, []).append(revision.id)
    return closers


def _lost(gone: list[Revision], closers: Mapping[str, list[str]]) -> set[str]:
    """Ids of the revisions nothing keeps superseded: what supersedes them is lost too, or nothing did."""
    ids = {r.id for r in gone}
    lost = {i for i in ids if i not in closers}
    while more := {i for i in ids - lost if all(c in lost for c in closers[i])}:
        lost |= more
    return lost


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


def _say(planned: list[Revision], id_: str, type_: str, document: str, said: Iterable[Said], old: list[Revision], taken: Callable[[str], bool],
         actor: str, superseded: Collection[Revision] = (), carried: Collection[Revision] = ()) -> None:
    """Says what a document states of one object, in as many revisions as it gives it times; the first that is new replaces
    what is not said again. `superseded` it supersedes from now on, `carried` it did before."""
    left = list(old)
    fresh: list[Said] = []
    for statement, evidence in said:
        same = next((r for r in left if (r.statement, r.evidence) == (statement, evidence)), None)
        if same is None or superseded:
            fresh.append((statement, evidence))
        else:
            left.remove(same)
    if left and not fresh:
        last = next(r for r in old if r not in left)
        fresh, left = [(last.statement, last.evidence)], [*left, last]  # type: ignore[list-item]
    kept = [r.id for r in (*superseded, *carried)]
    replaced = dict.fromkeys((*(r.id for r in left), *kept))
    for statement, evidence in fresh:
        kind = RevisionKind.SUPERSEDE if kept or (type_ == DOCUMENT and old) else RevisionKind.ASSERT
        fields = {"document": document, "statement": statement, "evidence": evidence, "actor": actor, "reason": NEWER_VERSION if kept else ""}
        revision = new_revision(kind, id_, type_, replaces=tuple(replaced), **fields)
        while taken(revision.id):
            revision = new_revision(kind, id_, type_, replaces=tuple(dict.fromkeys((*revision.replaces, revision.id))), **fields)
        planned.append(revision)
        kept, replaced = [], {}


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
