"""Which ingest root a path belongs to.

Owns the names of roots: a root's name is in the ledger and travels, its place on this machine is in `index/roots.json`
and doesn't. Never scans anything but single paths.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from smb.model.errors import SmbError


class NothingToIngest(SmbError):
    exit_code = 2

    def __init__(self, path: Path | str):
        super().__init__(f"There is no file or folder {str(path)!r} to ingest. Name a folder of markdown: `smb ingest FOLDER`.")


@dataclass(frozen=True, slots=True)
class Root:
    """An ingest root: its name, its absolute path here, and the part of it to look at (None for all). `nested` are the
    folders in it (relative) that are roots of their own: what lies there is theirs."""

    name: str
    path: str
    subset: Path | None = None
    nested: tuple[str, ...] = ()

    def covers(self, relative: str) -> bool:
        """Whether a path relative to the root lies in the part to be looked at, and not in a root of its own."""
        if any(relative == inner or relative.startswith(inner + "/") for inner in self.nested):
            return False
        if self.subset is None:
            return True
        inner = os.path.relpath(self.subset, self.path).replace(os.sep, "/")
        return relative == inner or relative.startswith(inner + "/")


def root_for(path: Path, places: Mapping[str, str], known: Mapping[str, Iterable[str]]) -> Root:
    """The root `path` belongs to: the deepest placed root that holds it, else a known one whose documents lie there,
    else a new one named after the folder.

    `places`: name → absolute path on this machine; `known`: name → a few document paths of every root in the ledger.
    Raises NothingToIngest.
    """
    if not path.exists():
        raise NothingToIngest(path)
    absolute = os.path.abspath(path)
    real = os.path.realpath(path)
    holding = [(name, place) for name, place in places.items() if _within(absolute, place) or _within(real, os.path.realpath(place))]
    if holding:
        name, place = max(holding, key=lambda pair: len(pair[1]))
        inside = absolute if _within(absolute, place) else os.path.join(place, os.path.relpath(real, os.path.realpath(place)))
        return Root(name, place, None if os.path.samefile(inside, place) else Path(inside))
    folder = absolute if os.path.isdir(absolute) else os.path.dirname(absolute)
    subset = None if folder == absolute else Path(absolute)
    base = os.path.basename(folder) or "root"
    for name in [base, *(n for n in known if n.rpartition("-")[0] == base)]:
        if name not in places and name in known and any(os.path.exists(os.path.join(folder, p)) for p in known[name]):
            return Root(name, folder, subset)
    name, nth = base, 1
    while name in places or name in known:
        nth += 1
        name = f"{base}-{nth}"
    return Root(name, folder, subset)


def with_nested(root: Root, places: Mapping[str, str]) -> list[Root]:
    """`root` and every placed root that lies in the part of it to be looked at: a scan of the one is a scan of all."""
    scope = os.path.abspath(root.subset) if root.subset else root.path
    inner = [(name, place) for name, place in sorted(places.items()) if name != root.name and place != root.path and _within(place, root.path)]
    nested = tuple(os.path.relpath(place, root.path).replace(os.sep, "/") for _, place in inner)
    below = [Root(name, place) for name, place in inner if _within(place, scope) and os.path.isdir(place)]
    own = [replace(root, nested=nested)]
    return own + [replace(one, nested=with_nested(one, places)[0].nested) for one in below]


def _within(path: str, place: str) -> bool:
    return path == place or path.startswith(place.rstrip(os.sep) + os.sep)
