"""Which claims are worth comparing.

Owns the ways two claims come to be compared: a key they share, a subject they share, telling words they share, likeness alone. Every
claim gets a bounded number of partners, however alike the notes are. Never says what two claims come to.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

Pair = tuple[int, int]
Hits = tuple["np.ndarray", "np.ndarray", "np.ndarray"]
ALIKE = 0.5  # cosine from which likeness alone makes a pair
ALIKE_IN_GROUP = 0.2  # … and with a shared subject or telling words
NEAREST = 12  # partners a claim gets from each way
NEAREST_FRESH = 24  # partners of a claim that is new, from ALIKE_IN_GROUP on: the telling words of all the others aren't read for it
WHOLE = 16  # members of a group that are all compared; of a wider one the nearest are
WIDEST = 3000  # members of a group in which the nearest are looked for; in a wider one likeness alone has to do
BLOCK = 512  # rows of the similarity matrix made at once
CROWDED = 256  # hits of a row in one stretch of columns, of which only the nearest so many are kept


@dataclass(frozen=True, slots=True)
class Groups:
    """Rows that share a key (compared whatever their words), a subject, telling words."""

    keys: Mapping[object, Sequence[int]]
    subjects: Mapping[object, Sequence[int]]
    words: Mapping[object, Sequence[int]]


def candidate_pairs(vectors: np.ndarray, groups: Groups, fresh: Collection[int] | None = None) -> list[Pair]:
    """Pairs (i < j) of rows of `vectors` (float32 (n, d), of length 1), sorted; with `fresh` only those with one of these."""
    new = None if fresh is None else frozenset(fresh)
    pairs: set[Pair] = set()
    for members in groups.keys.values():
        pairs.update(_within(vectors, members, new))
    related = {pair for members in groups.subjects.values() for pair in _within(vectors, members, new)}
    related |= {pair for members in groups.words.values() if len(members) <= WHOLE for pair in _within(vectors, members, new)}
    pairs |= _as_like(vectors, related - pairs, ALIKE_IN_GROUP)
    pairs.update(_nearest(vectors, ALIKE, NEAREST) if new is None else _nearest_of(vectors, sorted(new), ALIKE_IN_GROUP, NEAREST_FRESH))
    return sorted(pairs)


def _within(vectors: np.ndarray, members: Sequence[int], fresh: frozenset[int] | None) -> Iterator[Pair]:
    rows = sorted(set(members))
    if len(rows) < 2 or fresh is not None and fresh.isdisjoint(rows):
        return
    if len(rows) <= WHOLE:
        yield from ((a, b) for n, a in enumerate(rows) for b in rows[n + 1 :] if fresh is None or a in fresh or b in fresh)
    elif len(rows) <= WIDEST:
        own = vectors[rows]
        new = None if fresh is None else [n for n, row in enumerate(rows) if row in fresh]
        found = _nearest(own, -1.0, NEAREST) if new is None else _nearest_of(own, new, -1.0, NEAREST)
        yield from ((rows[a], rows[b]) for a, b in found)


def _as_like(vectors: np.ndarray, pairs: Iterable[Pair], least: float) -> set[Pair]:
    import numpy as np

    held = sorted(pairs)
    kept: set[Pair] = set()
    for start in range(0, len(held), 1 << 15):
        part = held[start : start + (1 << 15)]
        ends = np.asarray(part, np.intp)
        likeness = np.einsum("ij,ij->i", vectors[ends[:, 0]], vectors[ends[:, 1]])
        kept.update(part[n] for n in np.flatnonzero(np.round(likeness, 4) >= least))
    return kept


def _nearest(vectors: np.ndarray, least: float, most: int) -> list[Pair]:
    """The pairs of rows as like as `least`, of which one is among the `most` nearest of the other."""
    import numpy as np

    hits: list[Hits] = []
    for start in range(0, len(vectors), BLOCK):
        likeness = vectors[start : start + BLOCK] @ vectors[start:].T
        height = len(likeness)
        likeness[:, :height][np.tril_indices(height)] = -2.0
        rows, columns, values = _hits(likeness, least)
        hits.append((rows + start, columns + start, values))
    both = [(columns, rows, values) for rows, columns, values in hits]
    return _ranked([*hits, *both], len(vectors), most)


def _nearest_of(vectors: np.ndarray, chosen: Sequence[int], least: float, most: int) -> list[Pair]:
    """The same of a few `chosen` rows with any."""
    import numpy as np

    hits: list[Hits] = []
    for start in range(0, len(chosen), BLOCK):
        part = np.asarray(chosen[start : start + BLOCK], np.intp)
        likeness = vectors[part] @ vectors.T
        likeness[np.arange(len(part)), part] = -2.0
        rows, columns, values = _hits(likeness, least)
        hits.append((part[rows], columns, values))
    return _ranked(hits, len(vectors), most)


def _hits(likeness: np.ndarray, least: float) -> Hits:
    """(rows, columns, values) of what is as like as `least`; of a crowded row only the nearest."""
    import numpy as np

    mask = likeness >= max(least, -1.5)
    for crowded in np.flatnonzero(mask.sum(axis=1) > CROWDED):
        values = likeness[crowded]
        mask[crowded] &= values >= np.partition(values, len(values) - CROWDED)[len(values) - CROWDED]
    rows, columns = np.nonzero(mask)
    return rows, columns, np.round(likeness[rows, columns], 4)


def _ranked(hits: Sequence[Hits], count: int, most: int) -> list[Pair]:
    import numpy as np

    if not hits:
        return []
    rows, columns, values = (np.concatenate([hit[n] for hit in hits]) for n in range(3))
    order = np.lexsort((columns, -values, rows))
    rows, columns = rows[order], columns[order]
    best = np.arange(len(rows)) - np.searchsorted(rows, np.arange(count))[rows] < most
    rows, columns = rows[best], columns[best]
    pairs = np.unique(np.stack((np.minimum(rows, columns), np.maximum(rows, columns)), axis=1), axis=0)
    return [(int(a), int(b)) for a, b in pairs]
