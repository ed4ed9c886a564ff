"""`recall`: a question in, a packet out.

Owns the order of the steps (DESIGN.md, section 4) and nothing of what they do: plan → candidates from the routes →
verdicts → score → closure pack → packet. Never writes, calls no language model and opens no network connection. The
same bank and question give the same packet, `elapsed_ms` apart.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from smb.model.errors import SmbError
from smb.model.identity import fold
from smb.recall.choice import choose
from smb.recall.discover import Dense, Found, Graph, Hit, Keyed, Lexical, Neighbourhood, Route, RouteUnavailable
from smb.recall.finding import KEY_WHOLE, find
from smb.recall.named_page import named_pages
from smb.recall.newer import Vectors, mark_updates
from smb.recall.pack import Unit
from smb.recall.packet import LeftOut, Told, packet_of
from smb.recall.query import EmptyQuery, Operation, Plan, RecallRequest, content_words, plan
from smb.recall.rank_objects import Asked, Material, units_of, without_lapsed
from smb.recall.score import Signals, Terms, score_passages, weigh
from smb.recall.stand_in import lead_on
from smb.recall.standpoint import Standpoint
from smb.recall.time_window import in_window, placed
from smb.recall.utility import Utility
from smb.recall.verdicts import HIDDEN, judge_objects, not_begun, sources_known
from smb.recall.worked_out import admitted as admitted_units
from smb.stores.catalog_reader import CatalogReader, Scope
from smb.stores.strength_table import strengths

__all__ = ["EmptyQuery", "Operation", "RecallRequest", "recall", "routes_for"]

JUDGED_PASSAGES = 60  # best passages whose claims are looked up, and three for each item asked for
OFFERED_PASSAGES = 120  # … and how many may become items at all, four for each item asked for
NEAR_COSINE = (
    0.38  # a passage this near answers without sharing a word; of 152 real questions one stayed below, nonsense reached 0.28
)
FAR_COSINE = 0.3  # with nothing nearer than this …
LEAST_COVER = 0.3  # … some place must hold this share of the question's words, by idf
LEAST_COVER_UNSEEN = 0.15  # the same where cosines are not to be had

UNASKED = "shown five times and never of use; ask for it by name"

Exists = Callable[[str, str], bool]


def routes_for(request: RecallRequest, matrix: Any, embedder: Any) -> tuple[Route, ...]:
    """The five routes in the order they run; without an embedder, or with `--lexical`, no dense one."""
    dense = () if request.lexical or matrix is None or embedder is None else (Dense(matrix, embedder),)
    return (Lexical(), *dense, Keyed(), Graph(), Neighbourhood())


async def recall(
    reader: CatalogReader,
    request: RecallRequest,
    *,
    read_source: Callable[[str], bytes],
    generation: str | None = None,
    stale: bool = False,
    matrix: Any = None,
    embedder: Any = None,
    exists: Exists | None = None,
    routes: Sequence[Route] | None = None,
    standpoint: Standpoint | None = None,
    degraded: Iterable[tuple[str, str]] = (),
) -> dict[str, Any]:
    """The packet for a request: exactly the JSON of DESIGN.md, section 8, plus `tokenizer`, `reason` and, an item,
    `attached`, `superseded_by`, `stale` ("source_missing" where no file it cites is there any more); one that was worked out also
    has `derived_from`, `contested`, and `stale` as true with a `stale_reason` where something it cites has changed since.

    `read_source(sha)` gives layer-0 bytes; `exists(root, path)` whether a document's file is still there (asked only for
    what is returned); `degraded` what the caller already knows to be amiss, as (route, reason). `routes` replaces the five.
    `standpoint` weighs the order (the base profile without goals or use where it is None).
    Raises EmptyQuery.
    """
    started = time.perf_counter()
    asked = await placed(plan(request), reader)
    if generation is None:
        generation = (await reader.latest())[1]
    found, failed = await _discover(asked, reader, routes if routes is not None else routes_for(request, matrix, embedder))
    told = Told(request, asked, generation, stale, degraded=[*degraded, *failed])
    vectors = matrix.vectors if matrix is not None else None
    told.pages = await named_pages(asked, reader, request.n)
    units = in_window(await _rank(asked, request, reader, found, told, vectors), asked, told.documents)
    told.finding = await find(asked, reader, found, units, read_source)
    told.standpoint = await (standpoint or Standpoint()).at(asked, reader)
    utility = Utility(
        told.standpoint, request.budget, told.documents, told.evidence, found.similarity,
        vectors, embedder.embed if embedder is not None else None, told.strengths,
    )  # fmt: skip
    await choose(utility.weigh(units), asked, request, reader, read_source, told, utility)
    if exists is not None:
        told.missing = _gone_files(told, exists)
    return packet_of(told, (time.perf_counter() - started) * 1000)


async def _discover(asked: Plan, reader: CatalogReader, routes: Iterable[Route]) -> tuple[Found, list[tuple[str, str]]]:
    """What the routes found, and those that could not work with the reason."""
    found, failed = Found(), []
    for route in routes:
        try:
            hits: Sequence[Hit] = await route.find(asked, reader, found)
        except RouteUnavailable as error:
            failed.append((route.name, error.reason))
        except (SmbError, sqlite3.Error, OSError) as error:
            failed.append((route.name, str(error)))
        else:
            found.add(route.name, hits)
    return found, failed


async def _rank(asked: Plan, request: RecallRequest, reader: CatalogReader, found: Found, told: Told, vectors: Vectors | None) -> list[Unit]:
    """Candidates judged and ordered; empty on a miss."""
    unread = [row for row in found.of("passage") if row not in found.rows]
    found.rows.update((row["rowid"], row) for row in await reader.passages(unread) if unread)
    await _admit(asked, reader, found)
    terms = weigh(asked, await reader.postings(asked.terms), await reader.passage_count())
    documents = {row["document_id"] for row in found.rows.values()}
    told.documents = {row["id"]: row for row in await reader.documents(documents)}
    shapes = {i: row["shape"] for i, row in told.documents.items()}
    signals = score_passages(
        asked,
        found,
        terms,
        await reader.lengths(sorted({(row["document_id"], row["source"]) for row in found.rows.values()})),
        shapes,
    )
    if _is_miss(found, signals, asked, terms):
        return []
    best = sorted(signals, key=lambda row: (-signals[row].total, row))[: max(JUDGED_PASSAGES, 3 * request.n)]
    within: dict[int, list[tuple[int, int, int]]] = {}
    for passage, row, start, end in await reader.objects_in(best, Scope()):
        within.setdefault(passage, []).append((row, start, end))
    wanted = set(found.of("object")) | {row for inside in within.values() for row, _, _ in inside}
    judged = await judge_objects(await reader.objects(sorted(wanted)), asked.as_of, reader, asked.during)
    judged = await lead_on(judged, within, found, asked, reader)
    signals = {row: one for row, one in signals.items() if row not in within or not not_begun(found.rows[row], within[row], judged)}
    judged = {row: one for row, one in judged.items() if one.standing not in HIDDEN}
    narrowed = replace(asked.scope, stated=False) != Scope(past=asked.scope.past)
    admitted = (
        await reader.admitted_objects(judged, asked.scope)
        if narrowed and asked.scope.objects
        else set()
        if narrowed
        else set(judged)
    )
    told.keys = found.keys
    ids = {judged[row].row["id"]: row for row in judged if row in admitted}
    homes: dict[int, list[int]] = {}
    for line in await reader.evidence_of(ids):
        if not judged[ids[line["object_id"]]].rests_on(line):
            continue
        told.evidence.setdefault(line["object_id"], []).append(line)
        if line["passage"] is not None:
            homes.setdefault(ids[line["object_id"]], []).append(line["passage"])
    passages = {row: signals[row] for row in sorted(signals, key=lambda row: (-signals[row].total, row))[: max(OFFERED_PASSAGES, 4 * request.n)]}
    await _read_documents(reader, told)
    words = Asked.of(asked, terms)
    ranked = without_lapsed(units_of(Material(found, passages, judged, within, homes, admitted), words), judged, told.evidence)
    told.strengths = await strengths(reader.catalog, {i for unit in ranked for i in (unit.id, *unit.attached)})
    ranked = _asked_for(admitted_units(ranked, asked, request.n, {page.id for page in told.pages}), asked, found, told)
    mark_updates(ranked, asked, told.documents, words, found.rows, vectors)
    return ranked


def _asked_for(units: list[Unit], asked: Plan, found: Found, told: Told) -> list[Unit]:
    """The units without those that use has blacklisted, unless the question names them or nothing else was found."""
    if asked.scope.types or not any(one.blacklisted for one in told.strengths.values()):
        return units
    named = found.names.keys() | {row for row, share in found.keys.items() if share >= KEY_WHOLE}
    black, text = {i for i, one in told.strengths.items() if one.blacklisted}, fold(asked.text)

    def stays(unit: Unit) -> bool:
        if unit.id not in black and not (unit.kind == "passage" and unit.attached and black.issuperset(unit.attached)):
            return True
        return any(i in text for i in (unit.id, *unit.attached)) or unit.kind == "object" and (unit.row in named or fold(unit.title) in text)

    kept = [unit for unit in units if stays(unit)]
    told.left_out += [LeftOut(unit, UNASKED) for unit in units if not stays(unit)] if kept else []
    return kept or units


async def _read_documents(reader: CatalogReader, told: Told) -> None:
    """The documents the evidence read so far lies in."""
    needed = {line["document_id"] for lines in told.evidence.values() for line in lines} - told.documents.keys()
    told.documents.update({row["id"]: row for row in await reader.documents(needed)})


async def _admit(asked: Plan, reader: CatalogReader, found: Found) -> None:
    """Takes out passages the scope or the clocks don't admit (neighbours of a hit, versions not known then)."""
    rows = [row for row in found.of("passage") if row in found.rows]
    admitted = await reader.admitted_passages(rows, asked.scope) if asked.scope.passages else set()
    if asked.scope.past:
        known = await sources_known({found.rows[row]["document_id"] for row in admitted}, asked.clocks, reader)
        admitted = {row for row in admitted if found.rows[row]["source"] in known.get(found.rows[row]["document_id"], ())}
    found.by = {(kind, row): routes for (kind, row), routes in found.by.items() if kind != "passage" or row in admitted}


def _is_miss(found: Found, signals: Mapping[int, Signals], asked: Plan, terms: Terms) -> bool:
    """Nothing shares a telling part of its words with the question, bears a name in it, or is close in meaning."""
    if found.names or found.keys or found.best_similarity >= NEAR_COSINE:
        return False
    lexical = [kind for (kind, _), routes in found.by.items() if "lexical" in routes]
    if not lexical:
        return True
    if "passage" not in lexical or found.best_similarity >= FAR_COSINE:
        return False
    least = LEAST_COVER_UNSEEN if found.similarity is None else LEAST_COVER
    if asked.times:  # words that tell the time are no topic
        topic = [n for n, term in enumerate(asked.terms) if term in content_words(asked.untimed)]
        if topic and not any(terms.matched[n] for n in topic):
            return True
        least *= sum(terms.weight[n] for n in topic)
    return len(asked.terms) > 1 and max((max(s.window, s.cover) for s in signals.values()), default=1.0) < least


def _gone_files(told: Told, exists: Exists) -> set[tuple[str, str]]:
    places = {(c.root, c.path) for unit in (*told.units, *told.superseded) for c in unit.citations}
    return {place for place in sorted(places) if not exists(*place)}
