"""What a time in the question does: happenings are looked up, and what lies in the stretch asked about goes first.

Owns the step from a happening ("before the move") to its date, and the weight of lying in the stretch. The clocks alone
decide what is current; this only orders.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping

from smb.model.validity import Interval, from_iso
from smb.recall.dated import dates_of
from smb.recall.pack import Unit
from smb.recall.query import Plan
from smb.stores.catalog_reader import CatalogReader

WITHIN = 0.15  # what lying in the stretch asked about adds to a unit's score
BEGINS_WITHIN = 0.05  # … and what beginning in it adds to that


async def placed(plan: Plan, reader: CatalogReader) -> Plan:
    """The plan with its happenings dated: by the one dated statement that says all of a happening, else left unresolved."""
    if not any(one.event and not one.resolved for one in plan.times):
        return plan
    times = []
    for one in plan.times:
        found = await dates_of(one.event, plan, reader) if one.event and not one.resolved else []
        times.append(one.found(found[0].when) if len(found) == 1 else one)
    return plan.at(tuple(times))


def in_window(units: list[Unit], plan: Plan, documents: Mapping[str, sqlite3.Row]) -> list[Unit]:
    """The units with those raised whose own time, or else their note's date, lies in the stretch asked about."""
    window = plan.window
    if not window.known:
        return units
    for unit in units:
        own = Interval(from_iso(unit.valid_from), from_iso(unit.valid_to))
        row = documents.get(unit.document)
        if not own.known and row is not None:
            own = Interval(from_iso(row["valid_from"]), from_iso(row["valid_to"]))
        if own.known and own.overlaps(window):
            begins = own.start is not None and window.contains(own.start)
            unit.score = round(unit.score + WITHIN + BEGINS_WITHIN * begins, 6)
    return sorted(units, key=lambda u: (-u.score, u.kind, u.id, u.row))
