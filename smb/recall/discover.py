"""Candidates: five routes from a plan to rows of the catalog, and the one set they fill.

Owns how things are found. Never decides what is true or current, never orders what is shown. A route is anything with a
name and `find`; it sees what earlier routes found, and raises when it can't work: the pipeline then reports it as
degraded and goes on.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Protocol

from smb.model.english import STOP_WORDS
from smb.model.errors import SmbError
from smb.model.identity import fold
from smb.recall.query import Plan
from smb.stores.catalog_reader import CatalogReader

LEXICAL_PASSAGES, LEXICAL_OBJECTS = 240, 80
DENSE_ROWS = 160
DENSE_FLOOR = (
    0.3  # cosine below which a row has nothing to do with the question (with the static model nonsense stays below 0.28)
)
KEYED_ROWS = 400
NAMED_OBJECTS = 120  # a name borne by more objects than this tells nothing
GRAPH_SEEDS, GRAPH_EDGES, GRAPH_OBJECTS = 12, 160, 80
GRAPH_DECAY = 0.5  # a hop halves what a neighbour counts
REACH = 2  # passages before and after a hit that are looked at
AROUND = 120  # hits whose surroundings are looked at


@dataclass(frozen=True, slots=True)
class Hit:
    """A row one route proposes; `score` is the route's own, higher is better."""

    kind: str  # passage | object
    row: int
    score: float


@dataclass(slots=True)
class Found:
    """The candidate set. `by` maps (kind, row) to the routes that found it, each with (rank from 1, its own score);
    `matched` names the query's own words that named or keyed something, `similarity` the cosines by matrix row."""

    by: dict[tuple[str, int], dict[str, tuple[int, float]]] = field(default_factory=dict)
    rows: dict[int, sqlite3.Row] = field(default_factory=dict)  # passages read so far, candidates or not
    keys: dict[int, float] = field(default_factory=dict)  # object row → share of its attribute's words in the question
    names: dict[int, float] = field(default_factory=dict)  # object row → share of the question's words its name covers
    similarity: Any = None  # float32 (matrix rows,) or None without vectors
    best_similarity: float = 0.0

    def add(self, route: str, hits: Iterable[Hit]) -> None:
        ranks = {"passage": 0, "object": 0}
        for hit in hits:
            ranks[hit.kind] += 1
            self.by.setdefault((hit.kind, hit.row), {})[route] = (ranks[hit.kind], hit.score)

    def of(self, kind: str, route: str | None = None) -> list[int]:
        """Rows of a kind (found by `route`, in its order), else in order of discovery."""
        rows = [
            (routes[route][0] if route else 0, row)
            for (k, row), routes in self.by.items()
            if k == kind and (route is None or route in routes)
        ]
        return [row for _, row in sorted(rows)] if route else [row for _, row in rows]


class Route(Protocol):
    name: str

    async def find(self, plan: Plan, reader: CatalogReader, found: Found) -> Sequence[Hit]: ...


class RouteUnavailable(SmbError):
    def __init__(self, route: str, reason: str):
        super().__init__(f"The {route} route can't be used: {reason}.")
        self.reason = reason


class Lexical:
    """BM25 over passages and objects, question words dropped."""

    name = "lexical"

    async def find(self, plan: Plan, reader: CatalogReader, found: Found) -> list[Hit]:
        if not (match := plan.match):
            return []
        hits: list[Hit] = []
        if plan.scope.passages:
            hits += [
                Hit("passage", row, score) for row, score in await reader.lexical_passages(match, plan.scope, LEXICAL_PASSAGES)
            ]
        if plan.scope.objects:
            hits += [Hit("object", row, score) for row, score in await reader.lexical_objects(match, plan.scope, LEXICAL_OBJECTS)]
        return hits


class Dense:
    """Exact cosine over the embedding matrix."""

    name = "dense"

    def __init__(self, matrix: Any, embedder: Any):
        self.matrix, self.embedder = matrix, embedder

    async def find(self, plan: Plan, reader: CatalogReader, found: Found) -> list[Hit]:
        if self.matrix.fingerprint != self.embedder.fingerprint:
            raise RouteUnavailable(self.name, "embedding_mismatch")
        vector = self.embedder.embed([plan.text[:4000]])[0]
        if not len(self.matrix) or not vector.any():
            return []
        scores = self.matrix.scores(vector)
        keep = min(2 * DENSE_ROWS if plan.scope.stated else DENSE_ROWS, len(scores))
        floor = max(DENSE_FLOOR, scores[scores.argpartition(len(scores) - keep)[len(scores) - keep]])
        near = (scores >= floor).nonzero()[0][: 2 * keep].tolist()
        worked_out = await reader.derived_vectors(near) if plan.scope.stated else ()
        best = dict(sorted(((row, float(scores[row])) for row in near if row not in worked_out), key=lambda pair: -pair[1])[:DENSE_ROWS])
        found.similarity = scores
        found.best_similarity = max(best.values(), default=float(scores.max()) if not worked_out else 0.0)
        hits: list[Hit] = []
        if plan.scope.passages:
            hits += [Hit("passage", row, best[v]) for row, v in await reader.passages_by_vector(best, plan.scope)]
        if plan.scope.objects:
            hits += [Hit("object", row, best[v]) for row, v in await reader.objects_by_vector(best, plan.scope)]
        hits.sort(key=lambda hit: (-hit.score, hit.kind, hit.row))
        return hits


class Keyed:
    """Objects whose name the question holds, and claims keyed by one of them."""

    name = "keyed"

    async def find(self, plan: Plan, reader: CatalogReader, found: Found) -> list[Hit]:
        if not plan.scope.objects or not plan.names:
            return []
        named = await reader.named(plan.names)
        asked = {fold(term) for term in plan.terms}
        bearers: dict[str, set[str]] = {}
        for name, object_id in named:
            bearers.setdefault(name, set()).add(object_id)
        cover: dict[str, float] = {}
        for name, object_id in named:
            if len(bearers[name]) <= NAMED_OBJECTS:
                words = set(name.split()) - STOP_WORDS
                share = len(words & asked) / len(asked) if asked else 0.0
                cover[object_id] = max(cover.get(object_id, 0.0), share)
        rows = await reader.object_rows(cover, plan.scope)
        for object_id, row in rows.items():
            found.names[row] = cover[object_id]
        subjects = dict.fromkeys(plan.names) | dict.fromkeys(name for name, _ in await reader.names_of(cover))
        stems = {stem(word) for word in (*asked, *plan.implied)}
        for row, _, attribute in await reader.keyed(subjects, KEYED_ROWS):
            words = [stem(word) for word in attribute.split() if word not in STOP_WORDS] or [stem(attribute)]
            if (share := sum(word in stems for word in words) / len(words)) > 0:
                found.keys[row] = share
        admitted = set(await reader.admitted_objects(found.keys, plan.scope))
        found.keys = {row: share for row, share in found.keys.items() if row in admitted}
        scored = {row: found.keys.get(row, 0.0) * 2 + found.names.get(row, 0.0) for row in (*found.keys, *found.names)}
        return [Hit("object", row, score) for row, score in sorted(scored.items(), key=lambda pair: (-pair[1], pair[0]))]


class Graph:
    """Neighbours of what was named or keyed, and of the best lexical objects, up to `plan.hops` away."""

    name = "graph"

    async def find(self, plan: Plan, reader: CatalogReader, found: Found) -> list[Hit]:
        if not plan.scope.objects or not plan.hops:
            return []
        seeds = list(dict.fromkeys((*found.of("object", "keyed")[:GRAPH_SEEDS], *found.of("object", "lexical")[:4])))[
            :GRAPH_SEEDS
        ]
        known = {row["id"]: row["rowid"] for row in await reader.objects(seeds)}
        near = {i: 1.0 for i in known}
        frontier = list(known)
        for _ in range(plan.hops):
            if not frontier or len(near) > GRAPH_OBJECTS + len(known):
                break
            reached: dict[str, float] = {}
            for source, target, _, weight in await reader.edges_of(frontier, GRAPH_EDGES, plan.scope):
                for here, there in ((source, target), (target, source)):
                    if here in near and there not in near:
                        reached[there] = max(reached.get(there, 0.0), near[here] * GRAPH_DECAY * min(1.0, weight))
            frontier = sorted(reached, key=lambda i: (-reached[i], i))
            near.update(reached)
        near = {i: score for i, score in near.items() if i not in known}
        rows = await reader.object_rows(near, plan.scope)
        ranked = sorted(((near[i], row) for i, row in rows.items()), key=lambda pair: (-pair[0], pair[1]))
        return [Hit("object", row, score) for score, row in ranked[:GRAPH_OBJECTS]]


class Neighbourhood:
    """The passages around a hit in the same document; also reads the rows of every passage found so far."""

    name = "neighbourhood"

    async def find(self, plan: Plan, reader: CatalogReader, found: Found) -> list[Hit]:
        hits = found.of("passage")
        if not hits:
            return []
        centres = list(dict.fromkeys((*found.of("passage", "lexical")[:AROUND], *found.of("passage", "dense")[: AROUND // 2])))
        found.rows.update((row["rowid"], row) for row in await reader.passages(hits))
        homes = [found.rows[row] for row in centres if row in found.rows]
        around = {home["rowid"] + step for home in homes for step in _steps(home)} - found.rows.keys()
        found.rows.update((row["rowid"], row) for row in await reader.passages(around))
        near: dict[int, float] = {}
        for home in homes:
            for step in _steps(home):
                row = found.rows.get(home["rowid"] + step)
                if row and all(row[name] == home[name] for name in ("document_id", "source", "live")):
                    near[row["rowid"]] = max(near.get(row["rowid"], 0.0), 1 / abs(step))
        ranked = sorted(
            ((score, row) for row, score in near.items() if ("passage", row) not in found.by),
            key=lambda pair: (-pair[0], pair[1]),
        )
        return [Hit("passage", row, score) for score, row in ranked]


def _steps(home: sqlite3.Row) -> tuple[int, ...]:
    """In talk every turn near a hit may be what is meant; in notes only what a heading, a colon or a question introduces."""
    if home["kind"] == "turn":
        return tuple(step for step in range(-REACH, REACH + 1) if step)
    return (1,) if home["kind"] == "heading" or home["text"].rstrip(" *_").endswith((":", "?", "：", "？")) else ()


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """A word without its commonest English endings, so that `temperatures` meets `temperature` in keys and names.

    FTS5 stems the text itself (porter); this is only for the few words compared in Python.
    """
    for ending in ("ies", "ers", "er", "es", "s", "ing", "ed"):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            word = word[: -len(ending)]
            return word + "i" if ending == "ies" else word.rstrip("e")
    return (word[:-1] + "i" if word.endswith("y") and len(word) > 3 else word).rstrip("e") or word
