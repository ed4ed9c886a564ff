"""Documents, their versions, and the spans that evidence points at.

Owns what a quote is: `source bytes[byte_start:byte_end]`, decoded by the source's encoding, is the quote, exactly.
Never opens a file.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from smb.model.validity import ALWAYS, Interval


@dataclass(frozen=True, slots=True)
class Span:
    """An exact place in a source. Bytes are half-open and count from 0; lines are inclusive and count from 1."""

    source: str
    byte_start: int
    byte_end: int
    line_start: int
    line_end: int
    quote: str

    @property
    def lines(self) -> str:
        return str(self.line_start) if self.line_start == self.line_end else f"{self.line_start}-{self.line_end}"


@dataclass(frozen=True, slots=True)
class Passage:
    """The smallest unit raw recall returns: a span without its text, its kind and the headings above it.

    kind: paragraph, item, row, turn, quote, code, heading, properties, title, math, html
    """

    kind: str
    byte_start: int
    byte_end: int
    line_start: int
    line_end: int
    headings: tuple[str, ...] = ()
    speaker: str = ""


@dataclass(frozen=True, slots=True)
class DanglingLink:
    """A link to a path at which no document is known yet; it becomes an edge when one is."""

    target: str
    type: str
    weight: float
    span: Span


@dataclass(frozen=True, slots=True)
class DocumentVersion:
    """What is known of a document at one version: the statement of a document revision.

    `date` is the text of the date the document itself bears, and `valid` the interval it names; `shape` is "chat"
    for a transcript and "note" otherwise; `properties` are the front-matter values as written.
    """

    root: str
    path: str
    source: str
    title: str
    encoding: str = "utf-8"
    shape: str = "note"
    date: str = ""
    valid: Interval = ALWAYS
    primary: str = ""
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    properties: tuple[tuple[str, str], ...] = ()
    dangling: tuple[DanglingLink, ...] = ()
    passages: tuple[Passage, ...] = field(default=(), repr=False)
