"""What every projection of the ledger offers, and the stamp that says how far it has come.

Owns the stamp: kept in the catalog's `meta` table under `<name>.stamp`, written by a projection with the last change
it makes. Never trusts a stamp of another history: one whose generation the catalog does not have at that place counts
as none, and the projection looks at everything again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from smb.stores.catalog import Catalog


class Stamp(NamedTuple):
    """The last catalog transaction a projection has applied. Equal to the tuple `Catalog.latest()` gives."""

    seq: int
    generation: str

    def __str__(self) -> str:
        return f"{self.seq}:{self.generation}"


class Projection(Protocol):
    """An index that can be made again from the catalog. Both verbs may be repeated; the second time changes nothing."""

    name: str

    async def stamp(self, catalog: Catalog) -> Stamp | None:
        """How far it has come; None when it has to look at everything."""
        ...

    async def catch_up(self, catalog: Catalog) -> int:
        """Applies what the catalog has and it has not; returns how many things it changed."""
        ...

    async def rebuild(self, catalog: Catalog) -> int:
        """Makes everything again, whatever the stamp says; returns how many things it changed."""
        ...


async def read_stamp(catalog: Catalog, name: str) -> Stamp | None:
    """The stamp of projection `name`, or None when it has none that belongs to this catalog's history."""
    seq, _, generation = (await catalog.meta(f"{name}.stamp") or "").partition(":")
    if not seq.isdecimal():
        return None
    stamp = Stamp(int(seq), generation)
    if stamp.seq == 0:
        return stamp
    rows = await catalog.fetch("SELECT generation FROM transactions WHERE seq = ?", (stamp.seq,))
    return stamp if rows and rows[0]["generation"] == generation else None


async def write_stamp(catalog: Catalog, name: str, stamp: tuple[int, str]) -> None:
    """Records that projection `name` has applied everything up to `stamp`. The caller commits."""
    await catalog.set_meta(f"{name}.stamp", str(Stamp(*stamp)))
