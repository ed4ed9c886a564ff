"""Which claims are worth comparing.

Owns the ways two claims come to be compared: a key they share, a subject they share, telling words they share, likeness alone. Every
claim gets a bounded number of partners, however alike the notes are. Never says what two claims come to.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

Hits = tuple["np.ndarray", "np.ndarray", "np.ndarray"]
ALIKE = 0.5  # cosine from which likeness alone makes a pair
ALIKE_IN_GROUP = 0.2  # … and with a shared subject or telling words
NEAREST = 12  # partners a claim gets from each way
NEAREST_FRESH = 24  # partners of a claim that is new, from ALIKE_IN_GROUP on: the telling words of all the others aren't read for it
WHOLE = 16  # members of a group that are all compared; of a wider one the nearest are
WIDEST = 3000  # members of a group in which the nearest are looked for; in a wider one likeness alone has to do
BLOCK = 512  # rows of the similarity matrix made at once
CROWDED = 48  # hits of a row in one stretch of columns, of which only the nearest so many are kept


@dataclass(frozen=True, slots=True)
class Groups:
    """Rows that share a key (compared whatever their words), a subject, telling words."""

    keys: Mapping[object, Sequence[int]]
    subjects: Mapping[object, Sequence[int]]
    words: Mapping[object, Sequence[int]]


def candidate_pairs(vectors: np.ndarray, groups: Groups, fresh: Collection[int] | None = None) -> np.ndarray:
    """int64 (m, 2): pairs (i < j) of rows of `vectors` (float32 (n, d), of length 1), sorted; with `fresh` only those with one of these."""
    import numpy as np

    new = None if fresh is None else frozenset(fresh)
    small = [members for members in groups.words.values() if 1 < len(members) <= WHOLE]
    related = np.unique(np.concatenate([_none(), *_within(vectors, [*groups.subjects.values(), *small], new)]))
    nearest = _nearest(vectors, ALIKE, NEAREST) if new is None else _nearest_of(vectors, sorted(new), ALIKE_IN_GROUP, NEAREST_FRESH)
    codes = np.unique(np.concatenate([*_within(vectors, groups.keys.values(), new), _as_like(vectors, related, ALIKE_IN_GROUP), nearest]))
    return np.stack(np.divmod(codes, max(len(vectors), 1)), axis=1)


def _within(vectors: np.ndarray, groups: Iterable[Sequence[int]], fresh: frozenset[int] | None) -> list[np.ndarray]:
    """The pairs within groups, each pair (i, j) as the code i * n + j."""
    import numpy as np

    count = len(vectors)
    found: list[np.ndarray] = []
    whole: list[int] = []
    for members in groups:
        if len(members) < 2 or fresh is not None and fresh.isdisjoint(members):
            continue
        rows = sorted(set(members))
        if len(rows) <= WHOLE:
            whole += [a * count + b for a, b in combinations(rows, 2) if fresh is None or a in fresh or b in fresh]
        elif len(rows) <= WIDEST:
            own = vectors[rows]
            new = None if fresh is None else [n for n, row in enumerate(rows) if row in fresh]
            inner = _nearest(own, -1.0, NEAREST) if new is None else _nearest_of(own, new, -1.0, NEAREST)
            at = np.asarray(rows, np.int64)
            found.append(at[inner // len(rows)] * count + at[inner % len(rows)])
    return [*found, np.asarray(whole, np.int64)]


def _none() -> np.ndarray:
    import numpy as np

    return np.zeros(0, np.int64)


def _as_like(vectors: np.ndarray, codes: np.ndarray, least: float) -> np.ndarray:
    import numpy as np

    kept = [_none()]
    for start in range(0, len(codes), 1 << 14):
        part = codes[start : start + (1 << 14)]
        one, other = np.divmod(part, len(vectors))
        kept.append(part[np.round(np.einsum("ij,ij->i", vectors[one], vectors[other]), 4) >= least])
    return np.concatenate(kept)


def _nearest(vectors: np.ndarray, least: float, most: int) -> np.ndarray:
    """The pairs of rows as like as `least`, of which one is among the `most` nearest of the other."""
    import numpy as np

    hits: list[Hits] = []
    for start in range(0, len(vectors), BLOCK):
        likeness = vectors[start : start + BLOCK] @ vectors[start:].T
        height = len(likeness)
        likeness[:, :height][np.tril_indices(height)] = -2.0
        rows, columns, values = _hits(likeness, least)
        del likeness  # before the next is made: a block of a large bank has 128 MB
        hits.append((rows + start, columns + start, values))
    rows, columns, values = _joined(hits)
    del hits
    return _ranked(np.concatenate([rows, columns]), np.concatenate([columns, rows]), np.concatenate([values, values]), len(vectors), most)


def _nearest_of(vectors: np.ndarray, chosen: Sequence[int], least: float, most: int) -> np.ndarray:
    """The same of a few `chosen` rows with any."""
    import numpy as np

    hits: list[Hits] = []
    for start in range(0, len(chosen), BLOCK):
        part = np.asarray(chosen[start : start + BLOCK], np.intp)
        likeness = vectors[part] @ vectors.T
        likeness[np.arange(len(part)), part] = -2.0
        rows, columns, values = _hits(likeness, least)
        hits.append((part[rows], columns, values))
    return _ranked(*_joined(hits), len(vectors), most)


def _hits(likeness: np.ndarray, least: float) -> Hits:
    """(rows, columns, values) of what is as like as `least`; of a crowded row only the nearest."""
    import numpy as np

    found = np.flatnonzero(likeness >= max(least, -1.5))  # of the flat array: of two dimensions it costs five times as much
    rows, columns = np.divmod(found, likeness.shape[1])
    values = likeness.ravel()[found]
    ends = np.cumsum(np.bincount(rows, minlength=len(likeness)))
    kept = np.ones(len(found), bool)
    for start, end in zip((ends - np.diff(ends, prepend=0)).tolist(), ends.tolist(), strict=True):
        if end - start > CROWDED:
            kept[start + np.argpartition(-values[start:end], CROWDED)[CROWDED:]] = False
    return rows[kept].astype(np.int32), columns[kept].astype(np.int32), np.round(values[kept], 4)


def _joined(hits: Sequence[Hits]) -> Hits:
    import numpy as np

    empty = (np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0, np.float32))
    rows, columns, values = (np.concatenate([hit[n] for hit in (empty, *hits)]) for n in range(3))
    return rows, columns, values


def _ranked(rows: np.ndarray, columns: np.ndarray, values: np.ndarray, count: int, most: int) -> np.ndarray:
    import numpy as np

    order = np.lexsort((columns, np.negative(values, out=values), rows))
    rows, columns = rows[order], columns[order]
    del order, values
    best = np.arange(len(rows), dtype=np.int32) - np.searchsorted(rows, np.arange(count)).astype(np.int32)[rows] < most
    rows, columns = rows[best].astype(np.int64), columns[best].astype(np.int64)
    return np.unique(np.minimum(rows, columns) * count + np.maximum(rows, columns))
