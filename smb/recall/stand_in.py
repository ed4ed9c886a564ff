"""What stands for an object that was merged or split.

Owns the step from the one to the other among candidates: what was found of the original counts for what it led to, and the
original is no candidate any more, so never both are shown. Reads revisions at the question's clocks: before a merge was
known, the original stands for itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from smb.model.currentness import Standing
from smb.recall.discover import Found
from smb.recall.query import Plan
from smb.recall.verdicts import Judged, judge_objects, successors
from smb.stores.catalog_reader import CatalogReader

LED_ON = frozenset({Standing.MERGED, Standing.SPLIT})
Within = dict[int, list[tuple[int, int, int]]]  # passage row → (object row, byte_start, byte_end)


async def lead_on(judged: Mapping[int, Judged], within: Within, found: Found, asked: Plan, reader: CatalogReader) -> dict[int, Judged]:
    """`judged` with what stands for merged and split objects in their place; `found` and `within` are brought in line."""
    held = dict(judged)
    seen: set[int] = set()
    while gone := {row: one for row, one in held.items() if one.standing in LED_ON}:
        seen |= gone.keys()
        into = {i: ids for i, (ids, _) in (await successors((one.row for one in gone.values()), asked.as_of, reader)).items()}
        rows = await reader.object_rows({i for ids in into.values() for i in ids})
        leads = {row: [rows[i] for i in into.get(one.row["id"], ()) if i in rows and rows[i] not in seen] for row, one in gone.items()}
        for row in gone:
            del held[row]
            _hand_over(row, leads[row], found)
        for passage, inside in within.items():
            if any(row in leads for row, _, _ in inside):
                within[passage] = list(dict.fromkeys((to, start, end) for row, start, end in inside for to in leads.get(row, (row,))))
        fresh = {to for targets in leads.values() for to in targets} - held.keys()
        held |= await judge_objects(await reader.objects(sorted(fresh)), asked.as_of, reader, asked.during)
    return held


def _hand_over(row: int, targets: Sequence[int], found: Found) -> None:
    """What routes, names and keys found of `row` goes to `targets`, where it is better than what they have."""
    routes = found.by.pop(("object", row), {})
    for share in (found.names, found.keys):
        value = share.pop(row, None)
        for target in targets if value is not None else ():
            share[target] = max(share.get(target, 0.0), value)
    for target in targets if routes else ():
        own = found.by.setdefault(("object", target), {})
        for name, hit in routes.items():
            own[name] = min(own.get(name, hit), hit)
