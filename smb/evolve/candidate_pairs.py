"""Which claims are worth comparing.

Owns the three ways two claims come to be compared: a key or another block they share, a subject they share with likeness, and
likeness alone. Every claim gets a bounded number of partners, however alike the notes are. Never says what two claims come to.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

Pair = tuple[int, int]
NEAREST = 12  # partners a claim gets from each way
ALIKE = 0.5  # cosine from which likeness alone makes a pair
ALIKE_IN_GROUP = 0.3  # … and with a shared subject
WHOLE = 16  # members of a block that are all compared with each other
WIDEST = 3000  # members of a block in which the nearest are looked for; in wider ones likeness alone has to do
BLOCK = 512  # rows of the similarity matrix made at once
CROWDED = 256  # hits of a row in a block of columns, of which only the nearest NEAREST are kept


def candidate_pairs(vectors: np.ndarray, blocks: Mapping[object, Sequence[int]], groups: Mapping[object, Sequence[int]], fresh: Collection[int] | None = None) -> list[Pair]:
    """Pairs (i < j) of rows of `vectors` (float32 (n, d), of length 1), sorted. `blocks` are rows that may be opposed whatever their
    words, `groups` rows that share a subject; with `fresh` only pairs with one of these."""
    pairs: set[Pair] = set()
    wanted = None if fresh is None else frozenset(fresh)
    for members in blocks.values():
        pairs.update(_within(vectors, members, -1.0, wanted))
    for members in groups.values():
        pairs.update(_within(vectors, members, ALIKE_IN_GROUP, wanted))
    pairs.update(_nearest(vectors, ALIKE) if wanted is None else _nearest_of(vectors, sorted(wanted), ALIKE))
    return sorted(pairs)


def _within(vectors: np.ndarray, members: Sequence[int], least: float, fresh: frozenset[int] | None) -> Iterator[Pair]:
    rows = sorted(set(members))
    if len(rows) < 2 or fresh is not None and fresh.isdisjoint(rows):
        return
    if len(rows) <= WHOLE:
        yield from ((a, b) for n, a in enumerate(rows) for b in rows[n + 1 :] if fresh is None or a in fresh or b in fresh)
    elif len(rows) <= WIDEST:
        own = vectors[rows]
        chosen = None if fresh is None else [n for n, row in enumerate(rows) if row in fresh]
        found = _nearest(own, least) if chosen is None else _nearest_of(own, chosen, least)
        yield from ((rows[a], rows[b]) for a, b in found)


def _nearest(vectors: np.ndarray, least: float) -> list[Pair]:
    """Each pair of rows as like as `least` that is among the nearest of either."""
    import numpy as np

    count = len(vectors)
    hits: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    for start in range(0, count, BLOCK):
        likeness = vectors[start : start + BLOCK] @ vectors[start:].T
        height = len(likeness)
        likeness[:, :height][np.tril_indices(height)] = -2.0
        hits.append(_hits(likeness, least, start, start))
    return _ranked(hits, count)


def _nearest_of(vectors: np.ndarray, rows: Sequence[int], least: float) -> list[Pair]:
    """The same for the pairs of a few `rows` with any."""
    hits = []
    for start in range(0, len(rows), BLOCK):
        part = rows[start : start + BLOCK]
        likeness = vectors[part] @ vectors.T
        for n, row in enumerate(part):
            likeness[n, row] = -2.0
        found, column, value = _hits(likeness, least, 0, 0)
        hits.append((_taken(part, found), column, value))
    return _ranked(hits, len(vectors), of=frozenset(rows))


def _taken(values: Sequence[int], at: np.ndarray) -> np.ndarray:
    import numpy as np

    return np.asarray(values, np.int64)[at]


def _hits(likeness: np.ndarray, least: float, row: int, column: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(rows, columns, values) of what is as like as `least`; of a crowded row only the nearest."""
    import numpy as np

    mask = likeness >= least
    for crowded in np.flatnonzero(mask.sum(axis=1) > CROWDED):
        values = likeness[crowded]
        mask[crowded] &= values >= np.partition(values, len(values) - CROWDED)[len(values) - CROWDED]
    at = np.nonzero(mask)
    return at[0] + row, at[1] + column, np.round(likeness[at], 4)


def _ranked(hits: Iterable[tuple[np.ndarray, np.ndarray, np.ndarray]], count: int, of: frozenset[int] | None = None) -> list[Pair]:
    import numpy as np

    held = list(hits)
    if not held:
        return []
    rows, columns, values = (np.concatenate([hit[n] for hit in held]) for n in range(3))
    if of is None:
        rows, columns, values = np.concatenate((rows, columns)), np.concatenate((columns, rows)), np.concatenate((values, values))
    order = np.lexsort((columns, -values, rows))
    rows, columns = rows[order], columns[order]
    starts = np.searchsorted(rows, np.arange(count))
    best = np.arange(len(rows)) - starts[rows] < NEAREST
    rows, columns = rows[best], columns[best]
    both = np.unique(np.stack((np.minimum(rows, columns), np.maximum(rows, columns)), axis=1), axis=0)
    return [(int(a), int(b)) for a, b in both]
