"""What people have decided of values that all hold, as recall tells it.

Owns what travels with a claim to which somebody has given a scope, and the sentence on why a key has several values. Never decides
which of them holds.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Sequence

from smb.recall.pack import Unit
from smb.recall.resolver import Held
from smb.stores.catalog_reader import CatalogReader

_SCOPED = "\nScope: "


async def beside(units: Iterable[Unit], reader: CatalogReader) -> dict[str, tuple[str, ...]]:
    """Id of a claim with a scope → ids of those it was decided to stand beside."""
    scoped = [unit.id for unit in units if unit.judged is not None and _SCOPED in unit.judged.body]
    if not scoped:
        return {}
    found: dict[str, tuple[str, ...]] = {}
    for source, target in await reader.fetch(
            "SELECT source, target FROM edges WHERE type = 'related_to' AND source = held_by AND source IN (SELECT value FROM json_each(?)) ORDER BY source, target",
            json.dumps(scoped)):
        found[source] = (*found.get(source, ()), target)
    return found


async def decided(sides: Sequence[Sequence[Held]], reader: CatalogReader) -> str:
    """What a person has said of the values of a key that all hold; "" where nobody did, or the matter is open."""
    if any(held.contested for side in sides for held in side):
        return ""
    first = [next((held for held in side if held.scope), side[0]) for side in sides]
    if all(held.scope for held in first):
        return f"Somebody decided that these hold, each in its scope: {'; '.join(held.value for held in first)}."
    claims = json.dumps([held.object_id for held in first])
    sides_of_one = await reader.fetch(
        "SELECT 1 FROM edges WHERE type = 'contradicts' AND target IN (SELECT value FROM json_each(?)) GROUP BY source HAVING count(DISTINCT target) > 1 LIMIT 1", claims)
    return "Somebody decided that these values do not exclude each other; `smb conflicts --all` says who and why." if sides_of_one else ""


def several(attribute: str) -> str:
    """Why a key has several values that nothing sets against each other, and what makes a question of it."""
    return (f"Several values are current, because “{attribute}” may have several at a time. If it has one, "
            f"`smb config keys add {shlex.quote(attribute)}` makes it a question to settle with `smb conflicts`.")
