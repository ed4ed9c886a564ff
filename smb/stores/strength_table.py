"""The catalog's table `strength`: the class of memory of each object and what use has made of its confidence.

Owns reading and writing it. No row says plain knowledge (semantic) that nobody judged. A projection that weighs rank: losing it
costs an order until the next cycle of evolution.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from smb.stores.catalog import Catalog


@dataclass(frozen=True, slots=True)
class Strength:
    """What one row says: `factor` is of its confidence, `sessions` how many state what is or was an episode; one that is
    `blacklisted` is brought up only when it is asked for by name."""

    class_: str = "semantic"
    sessions: int = 0
    factor: float = 1.0
    blacklisted: bool = False


PLAIN = Strength()


async def strengths(catalog: Catalog, ids: Iterable[str]) -> dict[str, Strength]:
    """Id → what is said of it, for those of objects and passages of which anything is."""
    try:
        rows = await catalog.fetch_in("SELECT * FROM strength WHERE object_id IN ({marks})", ids)
    except sqlite3.OperationalError:  # a catalog of an older smb that may only be read has no such table
        return {}
    return {row["object_id"]: Strength(row["class"], row["sessions"], row["factor"], bool(row["blacklisted"])) for row in rows}


async def write_factors(catalog: Catalog, factors: Mapping[str, tuple[float, bool]]) -> None:
    """Makes (factor, blacklisted) of these what is said of use, and of all others nothing. The caller holds the writer lock."""
    await catalog.begin()
    await catalog.run("UPDATE strength SET factor = 1.0, blacklisted = 0 WHERE factor != 1.0 OR blacklisted = 1")
    await catalog.run_many(
        "INSERT INTO strength (object_id, factor, blacklisted) VALUES (?, ?, ?) ON CONFLICT (object_id) DO UPDATE SET factor = excluded.factor, "
        "blacklisted = excluded.blacklisted", [(id_, factor, int(blacklisted)) for id_, (factor, blacklisted) in factors.items()])
    await _drop_plain(catalog)
    await catalog.commit()


async def write_classes(catalog: Catalog, classes: Mapping[str, tuple[str, int]], looked_at: Collection[str]) -> None:
    """Sets (class, sessions) of these, and takes off what is said of others `looked_at`. The caller has begun a transaction."""
    await catalog.run_in("UPDATE strength SET class = 'semantic', sessions = 0 WHERE object_id IN ({marks})", sorted(set(looked_at) - classes.keys()))
    await catalog.run_many(
        "INSERT INTO strength (object_id, class, sessions) VALUES (?, ?, ?) ON CONFLICT (object_id) DO UPDATE SET class = excluded.class, "
        "sessions = excluded.sessions", [(id_, class_, sessions) for id_, (class_, sessions) in classes.items()])
    await _drop_plain(catalog)


async def _drop_plain(catalog: Catalog) -> None:
    await catalog.run("DELETE FROM strength WHERE class = 'semantic' AND sessions = 0 AND factor = 1.0 AND blacklisted = 0")
