"""The phase `contested`: what rests on a contested claim is contested too, for as long as it does.

Owns the contests of derived objects. Contradictions and questions speak of what is contested; they aren't themselves. Never judges
a claim.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import orjson

from smb.evolve.phase import Proposals, again
from smb.evolve.snapshot import Item, Snapshot
from smb.model.disagreement import standing_contests
from smb.model.objects import TYPE_TO_LOCATION, MemoryType
from smb.model.revision import Revision, RevisionKind, new_revision

NAMED = 3  # claims the reason names
_EXEMPT = (MemoryType.CONTRADICTION, MemoryType.QUESTION, MemoryType.EVOLUTION)
_TYPES = tuple(t for t in MemoryType if TYPE_TO_LOCATION[t][0] >= 2 and t not in _EXEMPT)


class ContestedPropagation:
    """Contests what cites a contested claim, directly or through what was made of it, and ends that when the claim is settled."""

    name = "contested"
    version = 1

    async def propose(self, snapshot: Snapshot) -> Proposals:
        derived = snapshot.of_type(*_TYPES)
        contested = {item.id for item in snapshot.stated(MemoryType.CLAIM) if item.contested}
        if not contested and not any(item.contested for item in derived):
            return Proposals()
        rests_on = _reach(await _cited(snapshot, derived), contested)
        looked_at = [item for item in derived if item.contested or item.id in rests_on]
        histories = await snapshot.histories(item.id for item in looked_at)
        revisions = [r for item in looked_at for r in _settled(item, _reason(rests_on.get(item.id, ()), snapshot), histories.get(item.id, ()))]
        return Proposals(revisions=revisions)


async def _cited(snapshot: Snapshot, derived: Iterable[Item]) -> dict[str, tuple[str, ...]]:
    """Each derived object → what its statements were worked out from, followed through merges."""
    cited: dict[str, dict[str, None]] = {}
    for row in await snapshot.catalog.fetch_in("SELECT object_id, line FROM revisions WHERE head = 1 AND object_id IN ({marks}) ORDER BY seq", [item.id for item in derived]):
        said = orjson.loads(row["line"]).get("says") or {}
        cited.setdefault(row["object_id"], {}).update(dict.fromkeys(map(snapshot.canonical, said.get("derived_from", ()))))
    return {i: tuple(sorted(ids)) for i, ids in cited.items()}


def _reach(cited: Mapping[str, Iterable[str]], contested: Iterable[str]) -> dict[str, frozenset[str]]:
    """Derived object → the contested claims it rests on, through any number of others; those that rest on none are left out."""
    citing: dict[str, list[str]] = {}
    for i, ids in cited.items():
        for below in ids:
            citing.setdefault(below, []).append(i)
    found: dict[str, set[str]] = {}
    for claim in sorted(contested):
        waiting = [claim]
        while waiting:
            for above in citing.get(waiting.pop(), ()):
                if claim not in (held := found.setdefault(above, set())):
                    held.add(claim)
                    waiting.append(above)
    return {i: frozenset(claims) for i, claims in found.items()}


def _reason(claims: Iterable[str], snapshot: Snapshot) -> str:
    """Why it is contested; "" where it is not."""
    titles = sorted(snapshot.items[i].title for i in claims)
    more = f" and {len(titles) - NAMED} more" if len(titles) > NAMED else ""
    return f"rests on what is contested: {', '.join(f'“{title}”' for title in titles[:NAMED])}{more}" if titles else ""


def _settled(item: Item, reason: str, history: Iterable[Revision]) -> list[Revision]:
    """What makes the contest of `item` that for `reason`; "" for none."""
    known = {r.id: r for r in history}
    standing = standing_contests(known.values(), item.id, ContestedPropagation.name)
    kept = [r for r in standing if r.reason == reason]
    planned = []
    if over := sorted(r.id for r in standing if r not in kept):
        planned.append(again(new_revision(RevisionKind.REVOKE, item.id, item.type.value, replaces=tuple(over), reason="settled", actor=ContestedPropagation.name), known))
    if reason and not kept:
        planned.append(again(new_revision(RevisionKind.CONTEST, item.id, item.type.value, reason=reason, actor=ContestedPropagation.name), known))
    return planned
