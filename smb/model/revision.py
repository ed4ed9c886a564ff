"""Revisions and transactions: everything the bank has ever been told, one immutable value each.

Owns the seven revision kinds and their JSON form (one line of a ledger file). Never decides what is current.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from smb.model.edges import EdgeType
from smb.model.errors import SmbError
from smb.model.evidence import DanglingLink, DocumentVersion, Passage, Span
from smb.model.objects import Link, Mode, Verification
from smb.model.validity import ALWAYS, Interval, from_iso, to_iso
from smb.model.verification import Decision, SignOff

DOCUMENT = "document"  # the object type of document revisions; memory objects use MemoryType's values


class RevisionKind(StrEnum):
    ASSERT = "assert"
    SUPERSEDE = "supersede"
    REVOKE = "revoke"
    MERGE = "merge"
    SPLIT = "split"
    CONTEST = "contest"
    VERIFY = "verify"


class MalformedRevision(SmbError):
    def __init__(self, detail: str):
        super().__init__(f"A ledger line can't be read ({detail}). Run `smb doctor` to see which file is damaged.")


@dataclass(frozen=True, slots=True)
class Statement:
    """What a revision says of a memory object.

    `identity` is the key its id was made from (kept so that a collision is seen). `subject` and `attribute` are the
    folded key a claim is about, `about` the id of the subject's object, `valid` the time it holds in the world, `tool`
    the tool whose output states it.
    """

    title: str
    identity: str
    body: str = ""
    aliases: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    subject: str = ""
    attribute: str = ""
    value: str = ""
    about: str = ""
    links: tuple[Link, ...] = ()
    attributed_to: str = ""
    negated: bool = False
    confidence: float = 0.5
    mode: Mode = Mode.EXTRACTED
    valid: Interval = ALWAYS
    valid_text: str = ""
    derived_from: tuple[str, ...] = ()
    extra: tuple[tuple[str, str], ...] = ()
    tool: str = ""


@dataclass(frozen=True, slots=True)
class Revision:
    """One statement about an object. A verify's is a `SignOff`.

    `replaces` names the revisions it closes; `into` the objects a merge or split leads to, or a contest sets it
    against. `recorded_at` and `transaction` are set by the commit and are no part of the id.
    """

    id: str
    kind: RevisionKind
    object_id: str
    object_type: str
    document: str = ""
    statement: Statement | DocumentVersion | SignOff | None = None
    evidence: tuple[Span, ...] = ()
    replaces: tuple[str, ...] = ()
    into: tuple[str, ...] = ()
    reason: str = ""
    actor: str = ""
    recorded_at: datetime | None = None
    transaction: str = ""

    @property
    def valid(self) -> Interval:
        return ALWAYS if self.statement is None or isinstance(self.statement, SignOff) else self.statement.valid


@dataclass(frozen=True, slots=True)
class Transaction:
    """The revisions of one committed act. `id` is empty until the ledger has named it after its bytes."""

    kind: str
    actor: str
    recorded_at: datetime
    revisions: tuple[Revision, ...]
    id: str = ""


def new_revision(kind: RevisionKind, object_id: str, object_type: str, **fields: Any) -> Revision:
    """A revision with its content-derived id: 16 hex digits over everything it says. `fields` as of `Revision`."""
    draft = Revision("", kind, object_id, object_type, **fields)
    said = _body(draft)
    digest = hashlib.sha256(json.dumps(said, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return replace(draft, id=digest)


def revision_to_json(revision: Revision) -> dict[str, Any]:
    """Plain data for one ledger line; defaults are left out."""
    return {"rev": revision.id, **_body(revision)}


def revision_from_json(data: Mapping[str, Any], recorded_at: datetime | None = None, transaction: str = "") -> Revision:
    """The inverse of `revision_to_json`. Raises MalformedRevision."""
    try:
        object_type = data["type"]
        raw = data.get("says")
        statement: Statement | DocumentVersion | SignOff | None = None
        if raw is not None and "decision" in raw:
            statement = SignOff(Decision(raw["decision"]), raw["authority"], Verification(raw.get("on", "unverified")), raw.get("of", ""))
        elif raw is not None:
            statement = _document_from_json(raw) if object_type == DOCUMENT else _statement_from_json(raw)
        return Revision(
            id=data["rev"],
            kind=RevisionKind(data["op"]),
            object_id=data["object"],
            object_type=object_type,
            document=data.get("document", ""),
            statement=statement,
            evidence=tuple(Span(*span) for span in data.get("evidence", ())),
            replaces=tuple(data.get("replaces", ())),
            into=tuple(data.get("into", ())),
            reason=data.get("reason", ""),
            actor=data.get("actor", ""),
            recorded_at=recorded_at,
            transaction=transaction,
        )
    except (KeyError, IndexError, AttributeError, TypeError, ValueError) as error:
        raise MalformedRevision(f"{type(error).__name__}: {error}") from error


def _body(revision: Revision) -> dict[str, Any]:
    said: dict[str, Any] = {"op": revision.kind.value, "object": revision.object_id, "type": revision.object_type}
    if revision.document:
        said["document"] = revision.document
    match revision.statement:
        case Statement() as statement:
            said["says"] = _statement_to_json(statement)
        case DocumentVersion() as version:
            said["says"] = _document_to_json(version)
        case SignOff() as signed:
            said["says"] = {"decision": signed.decision.value, "authority": signed.authority, "on": signed.on.value, "of": signed.of}
        case None:
            pass
    if revision.evidence:
        said["evidence"] = [_span_to_json(span) for span in revision.evidence]
    for name in ("replaces", "into"):
        if values := getattr(revision, name):
            said[name] = list(values)
    for name in ("reason", "actor"):
        if value := getattr(revision, name):
            said[name] = value
    return said


def _span_to_json(span: Span) -> list[Any]:
    return [span.source, span.byte_start, span.byte_end, span.line_start, span.line_end, span.quote]


_TEXTS = ("body", "subject", "attribute", "value", "about", "attributed_to", "valid_text", "tool")
_TUPLES = ("aliases", "tags", "derived_from")


def _statement_to_json(s: Statement) -> dict[str, Any]:
    said: dict[str, Any] = {"title": s.title, "identity": s.identity}
    for name in _TEXTS:
        if value := getattr(s, name):
            said[name] = value
    for name in _TUPLES:
        if values := getattr(s, name):
            said[name] = list(values)
    if s.links:
        said["links"] = [[link.target, link.type.value, round(link.weight, 4)] for link in s.links]
    if s.negated:
        said["negated"] = True
    said["confidence"] = round(s.confidence, 4)
    if s.mode is not Mode.EXTRACTED:
        said["mode"] = s.mode.value
    if s.valid.known:
        said["valid"] = [to_iso(s.valid.start), to_iso(s.valid.end)]
    if s.extra:
        said["extra"] = [list(pair) for pair in s.extra]
    return said


def _statement_from_json(raw: Mapping[str, Any]) -> Statement:
    valid = raw.get("valid")
    return Statement(
        title=raw["title"],
        identity=raw["identity"],
        **{name: raw[name] for name in _TEXTS if name in raw},
        **{name: tuple(raw[name]) for name in _TUPLES if name in raw},
        links=tuple(Link(target, EdgeType(kind), weight) for target, kind, weight in raw.get("links", ())),
        negated=raw.get("negated", False),
        confidence=raw.get("confidence", 0.5),
        mode=Mode(raw.get("mode", "extracted")),
        valid=Interval(from_iso(valid[0]), from_iso(valid[1])) if valid else ALWAYS,
        extra=tuple((key, text) for key, text in raw.get("extra", ())),
    )


def _document_to_json(d: DocumentVersion) -> dict[str, Any]:
    said: dict[str, Any] = {"root": d.root, "path": d.path, "source": d.source, "title": d.title}
    if d.encoding != "utf-8":
        said["encoding"] = d.encoding
    if d.shape != "note":
        said["shape"] = d.shape
    if d.date:
        said["date"] = d.date
    if d.valid.known:
        said["valid"] = [to_iso(d.valid.start), to_iso(d.valid.end)]
    if d.primary:
        said["primary"] = d.primary
    for name in ("tags", "aliases"):
        if values := getattr(d, name):
            said[name] = list(values)
    if d.properties:
        said["properties"] = [list(pair) for pair in d.properties]
    if d.dangling:
        said["dangling"] = [[link.target, link.type, link.weight, _span_to_json(link.span)] for link in d.dangling]
    headings = list(dict.fromkeys(p.headings for p in d.passages))
    said["headings"] = [list(h) for h in headings]
    place = {h: i for i, h in enumerate(headings)}
    said["passages"] = [
        [p.kind, p.byte_start, p.byte_end, p.line_start, p.line_end, place[p.headings], *([p.speaker] if p.speaker else [])]
        for p in d.passages
    ]
    return said


def _document_from_json(raw: Mapping[str, Any]) -> DocumentVersion:
    valid = raw.get("valid")
    headings = [tuple(h) for h in raw.get("headings", ())]
    return DocumentVersion(
        root=raw["root"],
        path=raw["path"],
        source=raw["source"],
        title=raw["title"],
        encoding=raw.get("encoding", "utf-8"),
        shape=raw.get("shape", "note"),
        date=raw.get("date", ""),
        valid=Interval(from_iso(valid[0]), from_iso(valid[1])) if valid else ALWAYS,
        primary=raw.get("primary", ""),
        tags=tuple(raw.get("tags", ())),
        aliases=tuple(raw.get("aliases", ())),
        properties=tuple((key, text) for key, text in raw.get("properties", ())),
        dangling=tuple(DanglingLink(target, kind, weight, Span(*span)) for target, kind, weight, span in raw.get("dangling", ())),
        passages=tuple(
            Passage(p[0], p[1], p[2], p[3], p[4], headings[p[5]], p[6] if len(p) > 6 else "") for p in raw.get("passages", ())
        ),
    )
