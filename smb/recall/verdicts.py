"""What the ledger says of candidates at the two clocks of the question.

Owns how a standing is worked out for rows of the catalog and how passages inherit it. Uses no score and no similarity:
the same candidates get the same verdicts whatever found them.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from smb.model.currentness import AsOf, Standing, as_object, judge
from smb.model.objects import MemoryObject
from smb.model.revision import DocumentVersion, Revision
from smb.model.validity import ALWAYS, Interval, to_iso
from smb.stores.catalog_reader import CatalogReader

HOLDS = frozenset({Standing.CURRENT, Standing.CONTESTED})
GONE = frozenset({Standing.SUPERSEDED, Standing.REVOKED, Standing.EXPIRED})  # what a claim said there no longer holds
HIDDEN = frozenset({Standing.UNKNOWN, Standing.NOT_YET_VALID})  # nothing was known of it, or it had not begun: not shown at all
MOSTLY = 0.5  # share of a passage's bytes its lapsed claims must cover for the passage to lapse with them


@dataclass(frozen=True, slots=True)
class Judged:
    """One object at the question's clocks: its texts as they then were, its standing and its dates (ISO)."""

    row: sqlite3.Row
    standing: Standing
    title: str
    body: str
    value: str
    valid_from: str | None
    valid_to: str | None
    recorded_at: str
    revision: str
    places: frozenset[tuple[str, int]] | None = None  # (source, first byte) of its evidence at past clocks; None for the present

    def rests_on(self, line: sqlite3.Row) -> bool:
        """Whether a line of the object's evidence was its evidence at the question's clocks."""
        return self.places is None or (line["source"], line["byte_start"]) in self.places

    @property
    def holds(self) -> bool:
        return self.standing in HOLDS


async def judge_objects(
    rows: Iterable[sqlite3.Row], as_of: AsOf, reader: CatalogReader, during: Interval = ALWAYS
) -> dict[int, Judged]:
    """Catalog row number → verdict. Without a clock the catalog's own standing is the ledger's latest word.

    With `during` (a stretch the question names, `as_of` its end) what held within it and has ended holds, and so does what
    has no key and begins later: its date may be that of the note which looks back on the stretch.
    """
    held = list(rows)
    if as_of == AsOf():
        return {
            row["rowid"]: Judged(
                row,
                Standing(row["standing"]),
                row["title"],
                row["body"],
                row["value"],
                row["valid_from"],
                row["valid_to"],
                row["recorded_at"],
                row["revision"],
            )
            for row in held
        }
    histories = await reader.histories(row["id"] for row in held)
    judged: dict[int, Judged] = {}
    for row in held:
        history = histories.get(row["id"], [])
        verdict = judge(history, as_of, row["id"])
        then, standing = as_object(history, as_of, row["id"], verdict), verdict.standing
        if isinstance(then, MemoryObject):
            if standing is Standing.EXPIRED and during.known and verdict.valid.overlaps(during):
                standing = Standing.CURRENT
            if standing is Standing.NOT_YET_VALID and during.known and not row["attribute"]:
                standing = judge(history, AsOf(None, as_of.known_at), row["id"]).standing
            judged[row["rowid"]] = Judged(
                row,
                standing,
                then.title,
                then.prose,
                then.value,
                then.valid_from,
                then.valid_to,
                then.recorded_at,
                then.revision,
                frozenset((span.source, span.byte_start) for span in then.evidence),
            )
        else:
            judged[row["rowid"]] = Judged(
                row, verdict.standing, row["title"], row["body"], row["value"], None, None, "", row["revision"]
            )
    return judged


async def sources_known(documents: Iterable[str], as_of: AsOf, reader: CatalogReader) -> dict[str, set[str]]:
    """Document id → the sources (versions) that stood at `as_of`."""
    return {document: versions_at(history, as_of, document) for document, history in (await reader.histories(documents)).items()}


def versions_at(history: Iterable[Revision], as_of: AsOf, document: str) -> set[str]:
    """The sources of a document that stood at both clocks: known by then, not replaced by then, and not dated later.

    A note speaks from the date it bears on. A newer version with a later date leaves the older its own time; one with
    the same date or none corrects it, so the older stands at no time once the newer is known.
    """
    held = list(history)
    if not judge(held, AsOf(None, as_of.known_at), document).holds:
        return set()
    known = {
        r.id: (r, r.statement) for r in held
        if isinstance(r.statement, DocumentVersion) and r.object_id == document
        and (as_of.known_at is None or r.recorded_at is None or r.recorded_at <= as_of.known_at)
    }
    ends: dict[str, list[datetime | None]] = {}
    for revision, said in known.values():
        for target in revision.replaces:
            ends.setdefault(target, []).append(said.valid.start)
    found: set[str] = set()
    for revision, said in known.values():
        start, at = said.valid.start, as_of.valid_at
        if at is not None and start is not None and at < start:
            continue
        if all(end is not None and at is not None and at < end and (start is None or start < end) for end in ends.get(revision.id, ())):
            found.add(said.source)
    return found


def passage_standing(passage: sqlite3.Row, within: Sequence[tuple[int, int, int]], judged: Mapping[int, Judged]) -> Standing:
    """CURRENT, or the standing of its claims where every claim in the passage has lapsed and they are most of it.

    `within` lists (object row, byte_start, byte_end) of the evidence that lies in the passage.
    """
    claims = [(judged[row], start, end) for row, start, end in within if row in judged and judged[row].row["type"] == "claim"]
    if not claims or any(one.standing not in GONE for one, _, _ in claims):
        return Standing.CURRENT
    covered, reached = 0, passage["byte_start"]
    for start, end in sorted((start, end) for _, start, end in claims):
        covered += max(0, min(end, passage["byte_end"]) - max(start, reached))
        reached = max(reached, end)
    if covered < MOSTLY * (passage["byte_end"] - passage["byte_start"]):
        return Standing.CURRENT
    return min((one.standing for one, _, _ in claims), key=(Standing.SUPERSEDED, Standing.EXPIRED, Standing.REVOKED).index)


def not_begun(passage: sqlite3.Row, within: Sequence[tuple[int, int, int]], judged: Mapping[int, Judged]) -> bool:
    """Whether all that a passage claims, and most of it is claims, had not begun at the question's clocks, or wasn't known."""
    claims = [(judged[row], start, end) for row, start, end in within if row in judged and judged[row].row["type"] == "claim"]
    if not claims or any(one.standing not in HIDDEN for one, _, _ in claims):
        return False
    said = sum(end - start for start, end in {(start, end) for _, start, end in claims})
    return said >= MOSTLY * (passage["byte_end"] - passage["byte_start"])


async def opponents(rows: Iterable[sqlite3.Row], as_of: AsOf, reader: CatalogReader) -> dict[str, tuple[str, ...]]:
    """Object id → ids of what a contested object is set against."""
    ids = [row["id"] for row in rows]
    found: dict[str, tuple[str, ...]] = {}
    for object_id, history in (await reader.histories(ids)).items():
        verdict = judge(history, as_of, object_id)
        against = dict.fromkeys(i for r in verdict.by for i in (r.object_id, *r.into) if i != object_id)
        if verdict.standing is Standing.CONTESTED:
            found[object_id] = tuple(against)
    return found


async def successors(
    rows: Iterable[sqlite3.Row], as_of: AsOf, reader: CatalogReader
) -> dict[str, tuple[tuple[str, ...], str | None]]:
    """Object id → (ids of what replaced it, ISO time from which) for objects that no longer hold."""
    found: dict[str, tuple[tuple[str, ...], str | None]] = {}
    for object_id, history in (await reader.histories(row["id"] for row in rows)).items():
        verdict = judge(history, as_of, object_id)
        closed = verdict.valid.end or min(
            (r.valid.start or r.recorded_at for r in verdict.by if r.valid.start or r.recorded_at), default=None
        )
        found[object_id] = (verdict.into, to_iso(closed))
    return found
