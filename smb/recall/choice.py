"""What goes into the packet: the finding's evidence first and whole, then the best of the rest.

Owns the order in which groups are offered to the pack, the citations of what is offered, and the account of what stayed
out. Never scores and never judges.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from smb.model.edges import EdgeType
from smb.model.objects import MemoryType
from smb.recall.cite import Place, Quotes, QuoteUnreadable
from smb.recall.decided import beside
from smb.recall.finding import Finding
from smb.recall.pack import MAX_CITATIONS, Group, Unit, pack
from smb.recall.packet import LeftOut, Told
from smb.recall.query import Plan, RecallRequest
from smb.recall.rank_objects import object_unit
from smb.recall.utility import COMPARED, Utility
from smb.recall.verdicts import judge_objects, opponents, successors
from smb.recall.worked_out import SIDED, bases
from smb.stores.catalog_reader import CatalogReader, Scope

SHOWN_SUPERSEDED = 10
LEFT_OUT_SHOWN = 20
EDGES_READ = 400  # of what is contested, to find its contradictions
BASED = 3  # times the items asked for: of so many that were worked out is read beforehand what they are about


async def choose(
    units: list[Unit], asked: Plan, request: RecallRequest, reader: CatalogReader, read_source: Callable[[str], bytes], told: Told, utility: Utility
) -> None:  # fmt: skip
    """Chooses: what the finding rests on, then current units into the budget, lapsed ones apart, contested ones with what
    they are set against."""
    finding = told.finding
    current = [u for u in units if u.verdict in ("current", "contested")]
    lapsed = [u for u in units if u.verdict not in ("current", "contested")]
    ranked = {u.id: u for u in current}
    told.pages = [ranked.get(page.id, page) for page in told.pages]
    by_id = {u.id: u for u in (*told.pages, *current, *finding.group, *(unit for _, unit in finding.members))}
    contested = [u.judged.row for u in current[: 2 * request.n] if u.judged and u.verdict == "contested"]
    told.against = _both_ways({**(await opponents(contested, asked.as_of, reader) if contested else {}), **finding.against})
    told.bases = await bases([u for u in by_id.values() if u.worked_out][: BASED * request.n], asked.as_of, reader)
    sides = {i: basis.cited for i, basis in told.bases.items() if by_id[i].type in SIDED}
    sides |= await beside([u for u in current[: 2 * request.n] if u.judged], reader)
    absent = {i for others in (*told.against.values(), *sides.values()) for i in others} - by_id.keys()
    by_id |= await _made(absent, asked, reader)
    made = [u for u in by_id.values() if u.dimensions is None]
    await _read_evidence(made, reader, told)
    utility.weigh(made)
    for page in told.pages:
        page.score = max(page.score, max((u.score for u in current), default=0.0))
    opposed = await reader.contradicting(i for u in current[:COMPARED] for i in (u.id, *u.attached))
    quotes = Quotes(read_source, told.documents)
    taken: list[Unit] = []
    chosen = pack(
        _offered(finding, current, by_id, sides, request, quotes, told, utility.order(current, taken, opposed)),
        request.n,
        request.budget,
        taken,
    )
    apart = pack((Group([u]) for u in lapsed if cite(u, quotes, told)), SHOWN_SUPERSEDED, request.budget - chosen.tokens)
    told.current, told.units, told.superseded = current, list(chosen.units), list(apart.units)
    told.tokens, told.dropped, told.infeasible = chosen.tokens + apart.tokens, chosen.dropped, chosen.infeasible
    told.bases |= await bases((u for u in (*told.units, *told.superseded) if u.id not in told.bases), asked.as_of, reader)
    told.titles = await _contradictions(told, reader)
    if told.superseded:
        told.closed = await successors([u.judged.row for u in told.superseded if u.judged], asked.as_of, reader)
        utility.lapse(told.superseded, told.units, {i: into for i, (into, _) in told.closed.items()})
    if request.explain:
        told.left_out += _left_out(chosen.out, current, told)
    if request.include_superseded:
        told.units += told.superseded[: max(0, request.n - len(told.units))]


def _offered(
    finding: Finding, current: Sequence[Unit], by_id: dict[str, Unit], sides: Mapping[str, Sequence[str]], request: RecallRequest,
    quotes: Quotes, told: Told, ranked: Iterator[Unit],
) -> Iterator[Group]:  # fmt: skip
    """Groups in the order they may enter: what an answer rests on, the pages the question names, members, the rest. `sides` are the ids
    of what a contradiction or a question is about."""
    if finding.group:
        if all(cite(unit, quotes, told) for unit in finding.group):
            yield Group(finding.group, needed=True)
        else:
            told.finding = finding = Finding()
    pages = [page for page in told.pages if cite(page, quotes, told) and page.citations]
    for page in pages:
        yield Group([page, *(by_id[i] for i in sides.get(page.id, ()) if i in by_id and cite(by_id[i], quotes, told))])
    for _, unit in finding.members:
        if cite(unit, quotes, told):
            yield Group([unit])
    shown = {
        i
        for unit in (*finding.group, *pages, *(unit for _, unit in finding.members))
        for i in (unit.id, *(unit.attached if unit.kind == "object" else ()))
    }
    for unit in _updates_first(ranked, by_id):
        if unit.id in shown or (unit.kind == "object" and not shown.isdisjoint(unit.attached)):
            continue
        if request.min_score is not None and unit.score < request.min_score:
            told.below += 1
            continue
        group = [unit, *(by_id[i] for i in (*told.against.get(unit.id, ()), *sides.get(unit.id, ())) if i in by_id)]
        if all(cite(one, quotes, told) for one in group):
            yield Group(group)


async def _contradictions(told: Told, reader: CatalogReader) -> dict[frozenset[str], str]:
    """The titles of the contradictions that hold between what is shown and contested, by the claims they are between."""
    contested = [unit.id for unit in told.units if unit.id in told.against]
    joined: dict[str, set[str]] = {}
    for source, target, type_, _ in await reader.edges_of(contested, EDGES_READ) if contested else ():
        if type_ == EdgeType.CONTRADICTS:
            joined.setdefault(source, set()).add(target)
    rows = await reader.objects((await reader.object_rows(joined, Scope(types=(MemoryType.CONTRADICTION,)))).values())
    return {frozenset(joined[row["id"]]): row["title"] for row in rows if row["standing"] in ("current", "contested")}


def _both_ways(against: dict[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """What each object is set against, named from the other side too."""
    whole = {i: dict.fromkeys(others) for i, others in against.items()}
    for i, others in against.items():
        for other in others:
            whole.setdefault(other, {})[i] = None
    return {i: tuple(others) for i, others in whole.items()}


def _updates_first(ranked: Iterator[Unit], by_id: dict[str, Unit]) -> Iterator[Unit]:
    """The ranked units, each after the later statement that reads as its update."""
    told: set[str] = set()
    for unit in ranked:
        newer = by_id.get(unit.updated_by)
        if unit.id not in told and newer is not None and newer.id not in told:
            newer.score = max(newer.score, unit.score)
            told.add(newer.id)
            yield newer
        if unit.id not in told:
            told.add(unit.id)
            yield unit


def _left_out(out: Sequence[tuple[Unit, str]], current: Sequence[Unit], told: Told) -> Iterator[LeftOut]:
    """What stayed out and why, best first: no room, beyond the number asked for, below the least score."""
    reasons = {unit.id: reason for unit, reason in out}
    held = {i for unit in told.units for i in (unit.id, *unit.attached)}
    count = 0
    for unit in sorted(current, key=lambda u: (-u.score, u.kind, u.id)):
        if unit.id in held:
            continue
        below = told.request.min_score is not None and unit.score < told.request.min_score
        yield LeftOut(unit, reasons.get(unit.id) or ("below the least score" if below else "beyond the number asked for"))
        count += 1
        if count == LEFT_OUT_SHOWN:
            return


async def _made(ids: set[str], asked: Plan, reader: CatalogReader) -> dict[str, Unit]:
    """Units for objects a contested one is set against that no route found."""
    if not ids:
        return {}
    rows = await reader.object_rows(ids)
    judged = await judge_objects(await reader.objects(rows.values()), asked.as_of, reader, asked.during)
    return {one.row["id"]: object_unit(row, one, 0.0) for row, one in judged.items() if one.holds}


async def _read_evidence(units: Iterable[Unit], reader: CatalogReader, told: Told) -> None:
    """The evidence of units made since the ranking, and the documents it lies in."""
    held = list(units)
    new = {u.id: u.judged for u in held if u.judged is not None and u.id not in told.evidence}
    for line in await reader.evidence_of(new):
        if new[line["object_id"]].rests_on(line):
            told.evidence.setdefault(line["object_id"], []).append(line)
    needed = {line["document_id"] for lines in told.evidence.values() for line in lines} | {
        u.document for u in held if u.document
    }
    told.documents.update({row["id"]: row for row in await reader.documents(needed - told.documents.keys())})


def cite(unit: Unit, quotes: Quotes, told: Told) -> bool:
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
    if unit.worked_out:  # a place of each source before a second of any
        sources = [line["source"] for line in alive]
        alive = [alive[n] for n in sorted(range(len(alive)), key=lambda n: (sources[:n].count(sources[n]), n))]
    return sorted(alive, key=lambda line: line["document_id"] != unit.document)[:MAX_CITATIONS]
