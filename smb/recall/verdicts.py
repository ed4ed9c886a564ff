"""What the ledger says of candidates at the two clocks of the question.

Owns how a standing is worked out for rows of the catalog and how passages inherit it. Uses no score and no similarity:
the same candidates get the same verdicts whatever found them.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from smb.model.currentness import AsOf, Standing, as_object, judge
from smb.model.objects import MemoryObject
from smb.model.revision import DocumentVersion
from smb.model.validity import to_iso
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

    @property
    def holds(self) -> bool:
        return self.standing in HOLDS


async def judge_objects(rows: Iterable[sqlite3.Row], as_of: AsOf, reader: CatalogReader) -> dict[int, Judged]:
    """Catalog row number → verdict. Without a clock the catalog's own standing is the ledger's latest word."""
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
        verdict, then = judge(history, as_of, row["id"]), as_object(history, as_of, row["id"])
        if isinstance(then, MemoryObject):
            judged[row["rowid"]] = Judged(
                row,
                verdict.standing,
                then.title,
                then.body,
                then.value,
                then.valid_from,
                then.valid_to,
                then.recorded_at,
                then.revision,
            )
        else:
            judged[row["rowid"]] = Judged(
                row, verdict.standing, row["title"], row["body"], row["value"], None, None, "", row["revision"]
            )
    return judged


async def sources_known(documents: Iterable[str], as_of: AsOf, reader: CatalogReader) -> dict[str, set[str]]:
    """Document id → the sources (versions) the bank held for current at `as_of.known_at`."""
    found: dict[str, set[str]] = {}
    for document, history in (await reader.histories(documents)).items():
        verdict = judge(history, AsOf(None, as_of.known_at), document)
        found[document] = {
            r.statement.source for r in verdict.supports if verdict.holds and isinstance(r.statement, DocumentVersion)
        }
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
