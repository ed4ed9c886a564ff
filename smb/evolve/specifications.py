"""Specifications: what has been decided, gathered from the records of decisions.

Owns the pages of `layer-6/specifications`: one for a record, saying what must be, whether it is still in force and what took
its place, and one for decisions that stand elsewhere. Never turns a proposal into a decision: the status is the record's own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from smb.evolve.chronicle.dated import shown
from smb.evolve.chronicle.marks import MarkReader, Noted, Part, is_decided
from smb.evolve.phase import Proposals, Wanted
from smb.evolve.plans import about, note, primaries
from smb.evolve.snapshot import Doc, Item, Snapshot
from smb.model.edges import EdgeType
from smb.model.evidence import Span
from smb.model.identity import fold
from smb.model.objects import Link, MemoryType, Mode
from smb.model.revision import Statement
from smb.model.validity import to_iso

_STATUSES = (  # what ends it, what accepts it, what has it wait
    "superseded", "deprecated", "rejected", "withdrawn", "replaced", "obsolete", "accepted", "approved", "decided", "implemented", "proposed", "draft", "pending", "in review")
_STATUS = re.compile(rf"\b({'|'.join(_STATUSES)})\b", re.IGNORECASE)
_STATUS_LINE = re.compile(r"^status\s*[:：]\s*(.+)", re.IGNORECASE)
OVER = frozenset(_STATUSES[:6])
NOT_YET = frozenset(_STATUSES[-4:])
_WHY = frozenset(("context", "context and problem statement", "background", "reason", "reasons", "rationale", "why", "motivation"))
_FOLLOWS = frozenset(("consequences", "implications", "results"))
LINES = 12  # sentences told of a section
ELSEWHERE = 30  # decisions told that stand in no record
CITED = 12
LONGEST = 400  # characters told of a passage


@dataclass(frozen=True, slots=True)
class Record:
    """A record of a decision as its page tells it. `status` is "" where it gives none."""

    doc: Doc
    status: str
    by: tuple[Doc, ...]
    parts: tuple[Part, ...]


class Specifications:
    """`marks` is shared with the other phases that read them."""

    name = "specifications"
    version = 1

    def __init__(self, marks: MarkReader | None = None):
        self._marks = marks or MarkReader()

    async def propose(self, snapshot: Snapshot) -> Proposals:
        held = {item.id for item in snapshot.derived(self.name)}
        if not await self._marks.touched(snapshot, await about(snapshot, self.name)):
            return Proposals()
        wanted = [_page(snapshot, record) for record in await records(snapshot, self._marks)]
        if decided := (await self._marks.of(snapshot)).decided:
            wanted.append(_elsewhere(snapshot, decided, await snapshot.documents()))
        return Proposals(wanted, held)


async def records(snapshot: Snapshot, marks: MarkReader) -> list[Record]:
    """Every record that says what was decided, by document."""
    documents, parts = await snapshot.documents(), (await marks.of(snapshot)).records
    of_primary = {d.primary: d for d in documents.values()}
    statuses: dict[str, list[Item]] = {}
    for claim in snapshot.stated(MemoryType.CLAIM):
        if claim.attribute == "status":
            statuses.setdefault(claim.about, []).append(claim)
    later: dict[str, list[Doc]] = {}
    linked: dict[str, list[Doc]] = {}
    for edge in await snapshot.edges_at(documents[i].primary for i in parts):
        if edge.type is not EdgeType.EXPLAINS and edge.source in of_primary and edge.target in of_primary:
            (later if edge.type is EdgeType.EVOLVES_INTO else linked).setdefault(edge.source, []).append(of_primary[edge.target])
    found = []
    for id_, passages in sorted(parts.items()):
        doc = documents[id_]
        told = [p for p in passages if is_decided(p.heading) and not p.task]
        if not told:
            continue
        said = [c.value for c in statuses.get(doc.primary, ())] + [m[1] for p in passages if (m := _STATUS_LINE.match(p.text))]
        said += [p.text for p in passages if p.heading == "status"]
        ended = fold(" ".join(text for text in said if _status([text]) in OVER))
        by = {d.id: d for d in (*later.get(doc.primary, ()), *(d for d in linked.get(doc.primary, ()) if fold(d.title) in ended))}.values()
        by = tuple(d for d in by if d.id != id_)
        found.append(Record(doc, "superseded" if by else _status(said), by, tuple(passages)))
    return found


def _status(said: Sequence[str]) -> str:
    """The word that says most of what has become of it: one that ends it before one that accepts it."""
    words = {m[1].lower() for text in said for m in _STATUS.finditer(text)}
    return next((word for word in _STATUSES if word in words), "")


def _page(snapshot: Snapshot, record: Record) -> Wanted:
    doc, status = record.doc, record.status
    date = f" of {shown(doc.date)}" if doc.date.known else ""
    head = f"{note(snapshot, doc)} is a decision{date}."
    if record.by:
        head += f" It is superseded by {' and '.join(note(snapshot, d) for d in record.by)}, and no longer in force."
    elif status in OVER:
        head += f" It is {status}, and no longer in force."
    elif status in NOT_YET:
        head += f" Its status is “{status}”: it is not in force."
    elif status:
        head += f" It is {status}."
    else:
        head += " It gives no status."
    must = "was to" if status in OVER else "would have to" if status in NOT_YET else "must"
    sections = [f"## What {must} be\n\n{_lines([p for p in record.parts if is_decided(p.heading)])}"]
    for heading, names in (("Why", _WHY), ("What follows", _FOLLOWS)):
        if told := [p for p in record.parts if p.heading in names and not p.task]:
            sections.append(f"## {heading}\n\n{_lines(told)}")
    cited = primaries(snapshot, (doc, *record.by))
    spans: list[Span] = [p.span for p in sorted(record.parts, key=lambda p: not is_decided(p.heading)) if p.span and not p.task]
    statement = Statement(
        title=f"Decided: {doc.title}", identity=f"specifications:{doc.id}", body=head + "\n\n" + "\n\n".join(sections),
        tags=(status.replace(" ", "-"),) if status else (), links=tuple(Link(item.id, EdgeType.DERIVES_FROM) for item in cited),
        confidence=min((item.confidence for item in cited), default=0.5), mode=Mode.INFERRED, derived_from=tuple(item.id for item in cited))
    return Wanted(MemoryType.SPECIFICATION, statement, tuple(dict.fromkeys(spans))[:CITED])


def _lines(parts: Sequence[Part]) -> str:
    told = [p for p in parts if not p.task and p.text]
    lines = [f"- {_cut(p.text)}" for p in told[:LINES]]
    return "\n".join(lines) + (f"\n- and {len(told) - LINES} more" if len(told) > LINES else "")


def _elsewhere(snapshot: Snapshot, decided: Sequence[Noted], documents: Mapping[str, Doc]) -> Wanted:
    def at(noted: Noted) -> tuple[str, str, int]:
        return (to_iso(documents[noted.document].date.start) or "", documents[noted.document].path, noted.place)

    told = sorted(decided, key=at)[-ELSEWHERE:]
    lines = []
    for noted in told:
        doc = documents[noted.document]
        lines.append(f"- {f'**{shown(doc.date)}** ' if doc.date.known else ''}{_cut(noted.text)} ({note(snapshot, doc)})")
    more = f"\n\nThese are the newest {len(told)} of {len(decided)}." if len(decided) > len(told) else ""
    cited = primaries(snapshot, (documents[n.document] for n in told))
    spans = [n.span for n in reversed(told) if n.span]
    statement = Statement(
        title="Decided outside the records of decisions", identity="specifications:elsewhere", body="Other notes mark these as decided.\n\n" + "\n".join(lines) + more,
        links=tuple(Link(item.id, EdgeType.DERIVES_FROM) for item in cited), confidence=min((item.confidence for item in cited), default=0.5), mode=Mode.INFERRED,
        derived_from=tuple(item.id for item in cited))
    return Wanted(MemoryType.SPECIFICATION, statement, tuple(spans[:CITED]))


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else text[:LONGEST].rsplit(" ", 1)[0] + " …"
