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


class NotANote(SmbError):
    exit_code = 2

    def __init__(self, path: Path | str, why: str):
        super().__init__(f"{str(path)!r} can't be ingested: {why}.")


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
    places = {name: place for name, place in places.items() if os.path.isdir(place)}  # the others have moved, or are gone
    holding = [(name, place) for name, place in places.items() if _within(absolute, place) or _within(real, os.path.realpath(place))]
    if holding:
        name, place = max(holding, key=lambda pair: len(pair[1]))
        inside = absolute if _within(absolute, place) else os.path.join(place, os.path.relpath(real, os.path.realpath(place)))
        return Root(name, place, None if os.path.samefile(inside, place) else Path(inside))
    folder = absolute if os.path.isdir(absolute) else os.path.dirname(absolute)
    subset = None if folder == absolute else Path(absolute)
    base = os.path.basename(folder) or "root"
    for name in sorted(known, key=lambda n: (n != base, n.rpartition("-")[0] != base, n)):  # of the same name first
        if name not in places and _lies_in(folder, list(known[name]), sure=name == base):
            return Root(name, folder, subset)
    name, nth = base, 1
    while name in places or name in known:
        nth += 1
        name = f"{base}-{nth}"
    return Root(name, folder, subset)


def with_nested(root: Root, places: Mapping[str, str]) -> list[Root]:
    """`root` and every placed root that lies in the part of it to be looked at: a scan of the one is a scan of all."""
    top = os.path.realpath(root.path)
    scope = os.path.realpath(root.subset) if root.subset else top
    real = {name: os.path.realpath(place) for name, place in sorted(places.items()) if name != root.name and os.path.isdir(place)}
    inner = [(name, place) for name, place in real.items() if place != top and _within(place, top)]
    links = [places[name] for name, place in inner if _within(places[name], root.path) and os.path.abspath(places[name]) != place]
    nested = (*(os.path.relpath(place, top).replace(os.sep, "/") for _, place in inner), *(os.path.relpath(link, root.path).replace(os.sep, "/") for link in links))
    below = [Root(name, places[name]) for name, place in inner if _within(place, scope)]
    own = [replace(root, nested=nested)]
    return own + [replace(one, nested=with_nested(one, places)[0].nested) for one in below]


def _lies_in(folder: str, paths: list[str], *, sure: bool) -> bool:
    """Whether the documents of a root lie in `folder`: one will do where the name is the same (`sure`), else most must."""
    sample = paths[:: max(1, len(paths) // 50)]
    there = sum(os.path.exists(os.path.join(folder, path)) for path in sample)
    return there > 0 if sure else there > len(sample) / 2


def _within(path: str, place: str) -> bool:
    return path == place or path.startswith(place.rstrip(os.sep) + os.sep)
