"""Small worlds to ingest: notes on disk, a clock that stands still, and everything a bank holds as one comparable value."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from smb import Bank

MOMENT = datetime(2031, 5, 1, 12, tzinfo=timezone.utc)

WORKSHOP: dict[str, str | bytes] = {
    "Loom.md": "---\ntitle: Loom\naliases: [the big loom]\ntags: [tool]\n---\n# Loom\n\n- **Width:** 120 cm\n- **Builder:** [[Dara Wenn]]\n\nThe loom stands in Harrow Street since March 2031.\n",
    "people/Dara Wenn.md": "---\ntags: [person]\n---\n# Dara Wenn\n\nDara Wenn repairs the loom every April. See [[Loom]] and [the dye log](../Dye%20log.md).\n",
    "Dye log.md": "# Dye log\n\nIndigo needs 40 g of lime per litre.\n\n| Dye | Mordant |\n|---|---|\n| Madder | alum |\n| Weld | iron |\n",
    "empty.md": "",
    "織機.md": "# 織機\n\n織機の幅は百二十センチである。\n",
}

_LOCAL = {"rowid", "seq", "tx", "changed", "vector_row", "mtime_ns", "size"}


def write(root: Path, notes: Mapping[str, str | bytes]) -> Path:
    """Writes `notes` (path → text or bytes) below `root` and returns it."""
    for name, text in notes.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return root


def ingest(bank: Path, *paths: Path, moment: datetime = MOMENT, **options: Any) -> dict[str, Any]:
    """Makes the bank if need be, ingests with the clock at `moment`, returns the report."""

    async def main() -> dict[str, Any]:
        if not (bank / "bank.toml").exists():
            await Bank.init(bank, git=False)
        async with Bank.open(bank, clock=lambda: moment) as opened:
            return await opened.ingest(paths, **options)

    return asyncio.run(main())


def ask(bank: Path, method: str, *args: Any, **options: Any) -> Any:
    """One call of the Python API on a freshly opened bank."""

    async def main() -> Any:
        async with Bank.open(bank, clock=lambda: MOMENT) as opened:
            return await getattr(opened, method)(*args, **options)

    return asyncio.run(main())


def rows(bank: Path, sql: str, *params: Any) -> list[tuple[Any, ...]]:
    with sqlite3.connect(bank / "index" / "metadata.db") as connection:
        return connection.execute(sql, params).fetchall()


def truth(bank: Path) -> dict[str, bytes]:
    """Every file of the bank that git would carry, and graph.json: relative path → bytes."""
    return {str(p.relative_to(bank)): p.read_bytes() for p in sorted(bank.rglob("*"))
            if p.is_file() and p.relative_to(bank).parts[0] not in ("index", "usage", ".git", "bank.toml")}


def catalog(bank: Path) -> dict[str, list[tuple[Any, ...]]]:
    """What the catalog says, without what depends on the order it was told in."""
    said: dict[str, list[tuple[Any, ...]]] = {}
    with sqlite3.connect(bank / "index" / "metadata.db") as connection:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '%fts%'")]
        for table in sorted(set(tables) - {"meta", "scanned", "rendered"}):
            columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})") if row[1] not in _LOCAL]
            if table == "transactions":
                columns = ["id"]
            said[table] = sorted(connection.execute(f"SELECT {', '.join(columns)} FROM {table}").fetchall(), key=repr)
        for index, words in (("passages_fts", ("indigo", "loom", "harrow")), ("objects_fts", ("loom", "dara"))):
            for word in words:
                said[f"{index}:{word}"] = sorted(connection.execute(f"SELECT {'text' if index[0] == 'p' else 'title'} FROM {index} WHERE {index} MATCH ?", (word,)).fetchall())
        for index in ("passages_fts", "objects_fts"):
            connection.execute(f"INSERT INTO {index} ({index}, rank) VALUES ('integrity-check', 1)")  # raises if index and content differ
    return said
