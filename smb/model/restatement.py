"""A statement about an object that another one stands for, as a statement about that one.

Owns what a merge carries over. Whoever merges objects, and whoever reads again a note that names a merged one, says the same by it.
"""

from __future__ import annotations

from dataclasses import replace

from smb.model.identity import fold
from smb.model.revision import Statement


def said_of(statement: Statement, title: str, identity: str) -> Statement:
    """`statement` about the object titled `title` with this identity: all it says stays, its own title as an alias."""
    names = {fold(title): ""}
    for alias in (*statement.aliases, statement.title):
        names.setdefault(fold(alias), alias)
    return replace(statement, title=title, identity=identity, aliases=tuple(alias for alias in names.values() if alias))
