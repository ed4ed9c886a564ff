"""Promotion: the class of memory of each object, and episodes that became knowledge.

Owns the columns `class` and `sessions` of the catalog's table `strength`, with a stamp of their own: they follow from
objects and the documents that state them, so they can be made again and are no revision. No row is plain knowledge.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from smb.evolve.memory_class import MemoryClass, classes
from smb.evolve.phase import Proposals
from smb.evolve.snapshot import Snapshot
from smb.model.objects import MemoryType
from smb.stores.catalog import Catalog
from smb.stores.projection import read_stamp, write_stamp
from smb.stores.strength_table import strengths, write_classes

_CLASSED = (MemoryType.CLAIM, MemoryType.CONCEPT, MemoryType.PLAN, MemoryType.EVOLUTION)


@dataclass(slots=True)
class Promotion:
    """The phase."""

    name: str = "promotion"
    version: int = 1
    _rows: dict[str, tuple[MemoryClass, int]] = field(default_factory=dict, init=False)
    _looked: set[str] = field(default_factory=set, init=False)
    _stamp: tuple[int, str] = field(default=(0, ""), init=False)

    async def propose(self, snapshot: Snapshot) -> Proposals:
        """No proposals: what `settle` will write, and the note that counts it."""
        catalog = snapshot.catalog
        self._stamp = await catalog.latest()
        stamp = await read_stamp(catalog, self._stamp_name)
        since = stamp.seq if stamp is not None else 0
        items = [item for item in snapshot.of_type(*_CLASSED) if item.changed > since]
        made = await classes(snapshot, items)
        self._looked = made.keys() | {i for i, changed in snapshot.ended.items() if changed > since}
        self._rows = {i: row for i, row in made.items() if row != (MemoryClass.SEMANTIC, 0)}
        held = await strengths(catalog, self._rows)
        new = {i: row for i, row in self._rows.items() if i not in held or held[i].class_ != row[0].value}
        counts = Counter("promoted to semantic" if class_ is MemoryClass.SEMANTIC else class_.value for class_, _ in new.values())
        return Proposals(note=", ".join(f"{n} {what}" for what, n in sorted(counts.items())) or "no class changed")

    async def rests(self, catalog: Catalog) -> bool:
        stamp = await read_stamp(catalog, self._stamp_name)
        return stamp is not None and stamp.seq == (await catalog.latest())[0]

    async def settle(self, catalog: Catalog) -> None:
        """Writes the classes and the stamp; the caller holds the writer lock."""
        await catalog.begin()
        await write_classes(catalog, {i: (class_.value, sessions) for i, (class_, sessions) in self._rows.items()}, self._looked)
        await write_stamp(catalog, self._stamp_name, self._stamp)
        await catalog.commit()

    @property
    def _stamp_name(self) -> str:
        return f"{self.name}.{self.version}"
