"""`recall`: a question in, a packet out.

Owns the order of the steps (DESIGN.md, section 4) and nothing of what they do: plan → candidates from the routes →
verdicts → score → closure pack → packet. Never writes, calls no language model and opens no network connection. The
same bank and question give the same packet, `elapsed_ms` apart.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from smb.model.currentness import AsOf
from smb.model.errors import SmbError
from smb.recall.cite import Place, QuoteUnreadable, Quotes
from smb.recall.discover import Dense, Found, Graph, Hit, Keyed, Lexical, Neighbourhood, Route, RouteUnavailable
from smb.recall.pack import MAX_CITATIONS, Unit, pack
from smb.recall.packet import Told, packet_of
from smb.recall.query import EmptyQuery, Operation, Plan, RecallRequest, plan
from smb.recall.rank_objects import Asked, Material, units_of
from smb.recall.score import Signals, score_passages, weigh
from smb.recall.verdicts import HIDDEN, Judged, judge_objects, opponents, sources_known, successors
from smb.stores.catalog_reader import CatalogReader, Scope

__all__ = ["EmptyQuery", "Operation", "RecallRequest", "recall", "routes_for"]

JUDGED_PASSAGES = 60  # best passages whose claims are looked up, and three for each item asked for
SHOWN_SUPERSEDED = 10
CITED_AHEAD = 400  # units whose citations are prepared for packing at most
NEAR_COSINE = (
    0.38  # a passage this near answers without sharing a word; of 152 real questions one stayed below, nonsense reached 0.28
)
FAR_COSINE = 0.3  # with nothing nearer than this …
LEAST_COVER = 0.3  # … some place must hold this share of the question's words, by idf
LEAST_COVER_UNSEEN = 0.15  # the same where cosines are not to be had

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
    degraded: Iterable[tuple[str, str]] = (),
) -> dict[str, Any]:
    """The packet for a request: exactly the JSON of DESIGN.md, section 8, plus `tokenizer`, `reason` and, an item,
    `attached`, `stale`, `superseded_by`.

    `read_source(sha)` gives layer-0 bytes; `exists(root, path)` whether a document's file is still there (asked only for
    what is returned); `degraded` what the caller already knows to be amiss, as (route, reason). `routes` replaces the five.
    Raises EmptyQuery.
    """
    started = time.perf_counter()
    asked = plan(request)
    if generation is None:
        generation = (await reader.latest())[1]
    found, failed = await _discover(asked, reader, routes if routes is not None else routes_for(request, matrix, embedder))
    told = Told(request, asked, generation, stale, degraded=[*degraded, *failed])
    units = await _rank(asked, request, reader, found, told)
    await _settle(units, asked, request, reader, read_source, told)
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


async def _rank(asked: Plan, request: RecallRequest, reader: CatalogReader, found: Found, told: Told) -> list[Unit]:
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
    if _is_miss(found, signals, asked):
        return []
    best = sorted(signals, key=lambda row: (-signals[row].total, row))[: max(JUDGED_PASSAGES, 3 * request.n)]
    within: dict[int, list[tuple[int, int, int]]] = {}
    for passage, row, start, end in await reader.objects_in(best, Scope()):
        within.setdefault(passage, []).append((row, start, end))
    wanted = set(found.of("object")) | {row for inside in within.values() for row, _, _ in inside}
    judged = await judge_objects(await reader.objects(sorted(wanted)), asked.as_of, reader)
    judged = {row: one for row, one in judged.items() if one.standing not in HIDDEN}
    narrowed = asked.scope != Scope(past=asked.scope.past)
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
        told.evidence.setdefault(line["object_id"], []).append(line)
        if line["passage"] is not None:
            homes.setdefault(ids[line["object_id"]], []).append(line["passage"])
    passages = {row: signals[row] for row in sorted(signals, key=lambda row: (-signals[row].total, row))}
    ranked = units_of(Material(found, passages, judged, within, homes, admitted), Asked.of(asked, terms))
    return [unit for unit in ranked if unit.score >= request.min_score]


async def _admit(asked: Plan, reader: CatalogReader, found: Found) -> None:
    """Takes out passages the scope or the clocks don't admit (neighbours of a hit, versions not known then)."""
    rows = [row for row in found.of("passage") if row in found.rows]
    admitted = await reader.admitted_passages(rows, asked.scope) if asked.scope.passages else set()
    if asked.as_of != AsOf():
        known = await sources_known({found.rows[row]["document_id"] for row in admitted}, asked.as_of, reader)
        admitted = {row for row in admitted if found.rows[row]["source"] in known.get(found.rows[row]["document_id"], ())}
    found.by = {(kind, row): routes for (kind, row), routes in found.by.items() if kind != "passage" or row in admitted}


def _is_miss(found: Found, signals: Mapping[int, Signals], asked: Plan) -> bool:
    """Nothing shares a telling part of its words with the question, bears a name in it, or is close in meaning."""
    if found.names or found.keys or found.best_similarity >= NEAR_COSINE:
        return False
    lexical = [kind for (kind, _), routes in found.by.items() if "lexical" in routes]
    if not lexical:
        return True
    if "passage" not in lexical or found.best_similarity >= FAR_COSINE:
        return False
    least = LEAST_COVER_UNSEEN if found.similarity is None else LEAST_COVER
    return len(asked.terms) > 1 and max((max(s.window, s.cover) for s in signals.values()), default=1.0) < least


async def _settle(
    units: list[Unit], asked: Plan, request: RecallRequest, reader: CatalogReader, read_source: Callable[[str], bytes], told: Told
) -> None:
    """Chooses: current units into the budget, lapsed ones apart, contested ones with what they are set against."""
    current = [u for u in units if u.verdict in ("current", "contested")]
    lapsed = [u for u in units if u.verdict not in ("current", "contested")]
    by_id = {u.id: u for u in current}
    contested = [u.judged.row for u in current[: 2 * request.n] if u.judged and u.verdict == "contested"]
    told.against = await opponents(contested, asked.as_of, reader) if contested else {}
    absent = {i for against in told.against.values() for i in against} - by_id.keys()
    await _fetch_absent(absent, asked, reader, told, by_id)
    needed = {line["document_id"] for lines in told.evidence.values() for line in lines} - told.documents.keys()
    told.documents.update({row["id"]: row for row in await reader.documents(needed)})
    quotes = Quotes(read_source, told.documents)

    def groups() -> Iterable[list[Unit]]:
        for unit in current[:CITED_AHEAD]:
            group = [unit, *(by_id[i] for i in told.against.get(unit.id, ()) if i in by_id)]
            if all([_cite(one, quotes, told) for one in group]):
                yield group

    chosen = pack(groups(), request.n, request.budget)
    apart = pack(([u] for u in lapsed if _cite(u, quotes, told)), SHOWN_SUPERSEDED, request.budget - chosen.tokens)
    told.current, told.units, told.superseded = current, list(chosen.units), list(apart.units)
    told.tokens, told.dropped = chosen.tokens + apart.tokens, chosen.dropped
    if told.superseded:
        told.closed = await successors([u.judged.row for u in told.superseded if u.judged], asked.as_of, reader)
    if request.include_superseded:
        told.units += told.superseded[: max(0, request.n - len(told.units))]


async def _fetch_absent(ids: set[str], asked: Plan, reader: CatalogReader, told: Told, by_id: dict[str, Unit]) -> None:
    """Units for objects a contested one is set against that no route found."""
    if not ids:
        return
    rows = await reader.object_rows(ids)
    judged: dict[int, Judged] = await judge_objects(await reader.objects(rows.values()), asked.as_of, reader)
    for line in await reader.evidence_of(ids):
        told.evidence.setdefault(line["object_id"], []).append(line)
    for row, one in judged.items():
        if one.holds:
            by_id[one.row["id"]] = Unit(
                "object",
                row,
                one.row["id"],
                one.row["type"],
                one.title,
                one.body or one.title,
                0.0,
                one.standing.value,
                {},
                valid_from=one.valid_from,
                valid_to=one.valid_to,
                recorded_at=one.recorded_at,
                judged=one,
                closure=(one.row["id"], one.revision),
            )


def _cite(unit: Unit, quotes: Quotes, told: Told) -> bool:
    """Gives a unit its citations; False where its evidence can't be shown, which leaves it out whole."""
    if unit.citations:
        return True
    try:
        if unit.passage is not None:
            row = unit.passage
            place = Place(
                row["document_id"], row["source"], row["byte_start"], row["byte_end"], row["byte_start"], row["line_start"]
            )
            unit.citations = (quotes.cite(place, row["text"]),)
            return True
        places = [
            Place(
                line["document_id"],
                line["source"],
                line["byte_start"],
                line["byte_end"],
                line["p_start"] or 0,
                line["line_start"] or 1,
            )
            for line in _nearest(told.evidence.get(unit.id, ()), unit)
        ]
        unit.citations = tuple(dict.fromkeys(quotes.cite(place) for place in places))
    except QuoteUnreadable as error:
        if ("evidence", str(error)) not in told.degraded:
            told.degraded.append(("evidence", str(error)))
        return False
    return bool(unit.citations) or unit.judged is not None and unit.judged.row["mode"] != "extracted"


def _nearest(lines: Sequence[sqlite3.Row], unit: Unit) -> Sequence[sqlite3.Row]:
    """The evidence lines to quote: those of the document the unit was found in first, then current versions."""
    held = [line for line in lines if line["document_id"]]
    alive = [line for line in held if line["live"]] or held
    return sorted(alive, key=lambda line: line["document_id"] != unit.document)[:MAX_CITATIONS]


def _gone_files(told: Told, exists: Exists) -> set[tuple[str, str]]:
    places = {(c.root, c.path) for unit in (*told.units, *told.superseded) for c in unit.citations}
    return {place for place in sorted(places) if not exists(*place)}
