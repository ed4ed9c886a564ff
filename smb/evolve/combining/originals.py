"""Documents of the very same bytes: a copy gives no evidence of its own."""

from __future__ import annotations

from smb.evolve.snapshot import Snapshot


async def originals(snapshot: Snapshot) -> dict[str, str]:
    """Each live document → the first, by id, of its very bytes; itself where it has no copy."""
    first: dict[str, str] = {}
    rows = await snapshot.catalog.fetch("SELECT id, source FROM documents WHERE live = 1 ORDER BY id")
    return {row["id"]: first.setdefault(row["source"], row["id"]) for row in rows}
