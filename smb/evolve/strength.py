"""Strength: how far use has raised or lowered an object's confidence, and what is no longer brought up unasked.

REQUIREMENTS.md, section 2, item 13. Owns the numbers and the columns `factor` and `blacklisted` of the catalog's table
`strength`. They are made from this machine's logs, weigh rank only and never admit, delete or revise anything: losing the
table costs an order. What nobody ever judged has the factor 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from smb.evolve.memory_class import MemoryClass, classes
from smb.evolve.phase import Proposals
from smb.evolve.snapshot import Snapshot
from smb.model.use import Use
from smb.model.verification import NOT_A_CLAIM
from smb.stores.catalog import Catalog
from smb.stores.strength_table import write_factors

GAIN, LEAST_USES, LEAST_SHARE = 0.3, 3, 0.5  # c + GAIN · successes/uses, from so many uses and such a share of them on
PASSED_OVER, DAY = 0.9, 0.95  # what a time passed over and a day leave of it
FLOOR = 0.1
BLACKLISTED_AT = 5  # times passed over and never of use
_AGELESS = frozenset({MemoryClass.PROCEDURAL, MemoryClass.POLICY})


def factor_of(confidence: float, use: Use, class_: MemoryClass, now: datetime) -> float:
    """What `confidence` is multiplied with, such that strengthened it is at most 1; 4 digits.

    What proved of use gains; days wear the gain of an episode off, though never below what it was without. What was passed over
    since it was last of use decays by each time, an episode by the days too where those come to more.
    """
    days = max(0, (now - use.last).days) if use.last is not None and class_ is MemoryClass.EPISODIC else 0
    factor = 1.0
    if use.uses >= LEAST_USES and use.successes >= LEAST_SHARE * use.uses:
        raised = min(1.0, confidence + GAIN * use.successes / use.uses) / max(confidence, FLOOR)
        factor += max(0.0, raised - 1.0) * DAY**days
    if use.passed_over and class_ not in _AGELESS:
        factor *= max(FLOOR, min(PASSED_OVER**use.passed_over, DAY**days))
    return round(factor, 4)


def is_blacklisted(use: Use, class_: MemoryClass) -> bool:
    """Whether it is left out until somebody asks for it by name; a standing rule never is."""
    return not use.successes and use.passed_over >= BLACKLISTED_AT and class_ is not MemoryClass.POLICY


@dataclass(slots=True)
class Strength:
    """The phase. `used` is what became of items on this machine, `now` the bank's clock."""

    used: Mapping[str, Use]
    now: datetime
    name: str = "strength"
    version: int = 1
    _rows: dict[str, tuple[float, bool]] = field(default_factory=dict, init=False)

    async def propose(self, snapshot: Snapshot) -> Proposals:
        """No proposals: what `settle` will write, and the note that counts it."""
        used: dict[str, Use] = {}
        for id_ in sorted(self.used):
            held = snapshot.canonical(id_)
            used[held] = used[held] + self.used[id_] if held in used else self.used[id_]
        catalog = snapshot.catalog
        passages = {row["id"] for row in await catalog.fetch_in("SELECT id FROM passages WHERE id IN ({marks})", sorted(used.keys() - snapshot.items.keys()))}
        known = await classes(snapshot, [item for id_ in used if (item := snapshot.items.get(id_)) is not None])
        self._rows = {}
        for id_, use in used.items():
            item = snapshot.items.get(id_)
            if item is None and id_ not in passages:
                continue
            class_, _ = known.get(id_, (MemoryClass.SEMANTIC, 0))
            row = (factor_of(item.confidence if item is not None else NOT_A_CLAIM, use, class_, self.now), is_blacklisted(use, class_))
            if row != (1.0, False):
                self._rows[id_] = row
        said = {
            "strengthened": sum(factor > 1 for factor, _ in self._rows.values()),
            "decayed": sum(factor < 1 and not black for factor, black in self._rows.values()),
            "blacklisted": sum(black for _, black in self._rows.values()),
        }
        return Proposals(note=", ".join(f"{n} {what}" for what, n in said.items() if n) or "nothing was judged by use")

    async def rests(self, catalog: Catalog) -> bool:
        return not self.used and not await catalog.fetch("SELECT 1 FROM strength WHERE factor != 1.0 OR blacklisted = 1 LIMIT 1")

    async def settle(self, catalog: Catalog) -> None:
        """Writes the factors; the caller holds the writer lock."""
        await write_factors(catalog, self._rows)
