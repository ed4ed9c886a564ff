"""What extraction yields: drafts of memory objects, each with the spans that carry it.

Owns the values between a `Note` and the resolver, and the protocol every extractor keeps. Never gives an object an id,
never looks at another note.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from smb.ingest.note import Note
from smb.model.edges import EdgeType
from smb.model.evidence import Span
from smb.model.objects import MemoryType
from smb.model.validity import ALWAYS, Interval


@dataclass(frozen=True, slots=True)
class DraftLink:
    """An edge to something known by name, or, with `is_path`, to the note at a path relative to the ingest root. An empty
    target is what the note itself is about: a link to another place of the same note."""

    target: str
    type: EdgeType
    weight: float = 1.0
    is_path: bool = False


@dataclass(frozen=True, slots=True)
class Draft:
    """A memory object before it has an id; names stand where ids will be.

    `subject` is the display name of what a claim is about, (`subject`, `attribute`) its key and `value` what is said;
    an empty attribute means no key. A relationship reads `source_name --link--> link.target`. `valid` is set only
    where the claim's own words date it, `valid_text` being those words. `drafted_by` is the model that drafted it, empty
    for the rules.
    """

    type: MemoryType
    title: str
    spans: tuple[Span, ...]
    body: str = ""
    aliases: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    subject: str = ""
    attribute: str = ""
    value: str = ""
    attributed_to: str = ""
    negated: bool = False
    confidence: float = 0.5
    valid: Interval = ALWAYS
    valid_text: str = ""
    source_name: str = ""
    link: DraftLink | None = None
    links: tuple[DraftLink, ...] = ()
    drafted_by: str = ""


@dataclass(frozen=True, slots=True)
class Refused:
    """A draft that did not pass a gate (see `smb.ingest.ground`)."""

    gate: str
    title: str
    detail: str


@dataclass(frozen=True, slots=True)
class Extraction:
    """All that one note yields. `primary`, a concept or an entity, is what the note is about; it is not in `drafts`.

    `primary.links` holds the note's outgoing links that are edges only; links that are relationship drafts are not
    repeated there. `by_model` says that a model has read the note, too.
    """

    primary: Draft
    drafts: tuple[Draft, ...]
    refused: tuple[Refused, ...] = ()
    by_model: bool = False


class Extractor(Protocol):
    """`fingerprint` names the extractor and its version: equal fingerprints give equal extractions of equal notes."""

    fingerprint: str

    def extract(self, note: Note) -> Extraction: ...
