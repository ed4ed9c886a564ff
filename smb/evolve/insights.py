"""Insights: what a reader of the bank should know of the bank itself.

Owns five pages of `layer-3/insights`, restated as things change: hubs, notes nothing links to, what changed in the week up to the
last thing the bank learned, claims that carry much on one source, values that may have aged. Never reads a clock.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import timedelta

from smb.evolve.chronicle.dated import OF_THE_NOTE, cite, sentence, shown
from smb.evolve.phase import Proposals, Wanted
from smb.evolve.plans import note
from smb.evolve.snapshot import Doc, Item, Snapshot
from smb.evolve.verification_gaps import BUILT_ON, MUCH, UNVERIFIED, built_on, changing_attributes, listed
from smb.model.currentness import judge
from smb.model.edges import EdgeType
from smb.model.evidence import Span
from smb.model.objects import Link, MemoryType, Mode
from smb.model.revision import DOCUMENT, Statement
from smb.model.validity import from_iso, to_iso

LINES = 10
HUB = 4  # things that link to one, for it to be a hub
WEEK = timedelta(days=7)
AGED = timedelta(days=365)  # before the latest dated note
CITED = 12
_RESTS_ON = (MemoryType.CONCEPT, MemoryType.ENTITY, MemoryType.CLAIM, MemoryType.RELATIONSHIP, MemoryType.CONTRADICTION, *BUILT_ON)


class Insights:
    """Five pages at most; one that has nothing to say is not there."""

    name = "insights"
    version = 1

    async def propose(self, snapshot: Snapshot) -> Proposals:
        held = {item.id for item in snapshot.derived(self.name)}
        if snapshot.since and not snapshot.changed(*_RESTS_ON) and not snapshot.gone() and not await snapshot.touched():
            return Proposals()
        documents = await snapshot.documents()
        linked = await _linked(snapshot)
        pages = (_hubs(snapshot, linked), _orphans(snapshot, linked, documents), await _week(snapshot, documents), await _one_source(snapshot, documents),
                 await _aged(snapshot, documents))
        return Proposals([p for p in pages if p is not None], held)


async def _linked(snapshot: Snapshot) -> dict[str, tuple[int, int]]:
    """Each thing notes link to or that links → (how many link to it, to how many it links)."""
    ends = {(edge.source, edge.target) for edge in await snapshot.edges() if edge.type is not EdgeType.EXPLAINS}
    into, out = Counter(target for _, target in ends), Counter(source for source, _ in ends)
    return {i: (into[i], out[i]) for i in sorted(into.keys() | out.keys())}


def _wanted(snapshot: Snapshot, name: str, title: str, body: str, cited: Sequence[Item], spans: Sequence[Span] = ()) -> Wanted:
    held = {i.id: i for i in cited}
    return Wanted(MemoryType.INSIGHT, Statement(
        title=title, identity=f"insights:{name}", body=body, links=tuple(Link(i, EdgeType.DERIVES_FROM) for i in held),
        confidence=min((i.confidence for i in held.values()), default=0.5), mode=Mode.INFERRED, derived_from=tuple(held)), tuple(spans[:CITED]))


def _hubs(snapshot: Snapshot, linked: Mapping[str, tuple[int, int]]) -> Wanted | None:
    told = Counter(snapshot.canonical(c.about) for c in snapshot.stated(MemoryType.CLAIM) if c.about)
    found = sorted((i for i, (into, _) in linked.items() if into >= HUB), key=lambda i: (-linked[i][0], -told[i], snapshot.items[i].title, i))
    if not found:
        return None
    lines = [f"- {snapshot.items[i].link}: {linked[i][0]} link to it, {told[i]} {'claim is' if told[i] == 1 else 'claims are'} about it" for i in found[:LINES]]
    more = f"\n\n{len(found) - LINES} more have at least {HUB}." if len(found) > LINES else ""
    body = "More links lead to these than to anything else.\n\n" + "\n".join(lines) + more
    return _wanted(snapshot, "hubs", "Where most links lead", body, [snapshot.items[i] for i in found[:LINES]])


def _orphans(snapshot: Snapshot, linked: Mapping[str, tuple[int, int]], documents: Mapping[str, Doc]) -> Wanted | None:
    lone = [d for d in sorted(documents.values(), key=lambda d: (d.path, d.id)) if (i := snapshot.canonical(d.primary)) in snapshot.items and i not in linked]
    if not lone or len(lone) == len(documents):
        return None
    folders = Counter(d.path.rpartition("/")[0] or "the top folder" for d in lone)
    many = len(lone) > LINES
    where = ", ".join(f"{n} in {folder}" for folder, n in sorted(folders.items(), key=lambda pair: (-pair[1], pair[0]))[:5]) if many else ""
    lines = [f"- {note(snapshot, d)} ({d.path})" for d in lone[:LINES]]
    count = "One note has no link" if len(lone) == 1 else f"{len(lone)} of {len(documents)} notes have no link"
    body = f"{count} to or from another{f': {where}' if many else ''}.\n\n" + "\n".join(lines) + (f"\n- and {len(lone) - LINES} more" if many else "")
    return _wanted(snapshot, "orphans", "Notes without a link", body, [snapshot.items[snapshot.canonical(d.primary)] for d in lone[:LINES]])


async def _week(snapshot: Snapshot, documents: Mapping[str, Doc]) -> Wanted | None:
    last = await snapshot.last_learned()
    if last is None:
        return None
    start = (last - WEEK).isoformat()
    rows = await snapshot.catalog.fetch(
        "SELECT object_id, min(recorded_at) AS first FROM revisions WHERE object_type = ? GROUP BY object_id HAVING max(recorded_at) > ?", (DOCUMENT, start))
    read = sorted((documents[row["object_id"]] for row in rows if row["object_id"] in documents), key=lambda d: (d.path, d.id))
    new = {row["object_id"] for row in rows if row["object_id"] in documents and row["first"] > start}
    gone = [row for row in rows if row["object_id"] not in documents]
    parts = [f"{len(new)} {'note was' if len(new) == 1 else 'notes were'} read for the first time"] if new else []
    parts += [f"{len(read) - len(new)} changed"] if len(read) > len(new) else []
    parts += [f"{len(gone)} went"] if gone else []
    over = await snapshot.superseded()
    recent = (c for c in over.values() if c.modified > start and c.attribute not in OF_THE_NOTE)
    superseded = sorted(recent, key=lambda c: (c.modified, c.title, c.id), reverse=True)[:LINES]
    histories = await snapshot.histories(c.id for c in superseded)
    disputes = [c for c in snapshot.of_type(MemoryType.CONTRADICTION) if c.modified > start]
    sections = []
    if len(new) < len(documents) and read:
        newest = sorted(read, key=lambda d: d.id not in new)
        sections.append("## Notes\n\n" + "\n".join(f"- {note(snapshot, d)}{' (new)' if d.id in new else ''}" for d in newest[:LINES]) + _more(newest))
    elif read:
        dated = sorted((d for d in read if d.date.known), key=lambda d: (to_iso(d.date.start) or "", d.path), reverse=True)[:5]
        if dated:
            lines = [f"- {note(snapshot, d)}" + ("" if shown(d.date) in d.title else f" ({shown(d.date)})") for d in dated]
            sections.append("## The newest notes\n\n" + "\n".join(lines))
    quotes = {c.id: judge(histories[c.id], about=c.id) for c in superseded}
    if superseded:
        lines = []
        for c in superseded:
            now = [snapshot.items.get(r.object_id) or over.get(r.object_id) for r in quotes[c.id].by]
            lines.append(f"- {c.link}" + "".join(f", then {n.link}" for n in now[:1] if n))
        sections.append("## No longer so\n\n" + "\n".join(lines))
    if disputes:
        sections.append("## Contradictions\n\n" + "\n".join(f"- {c.link}" for c in disputes[:LINES]) + _more(disputes))
    if not sections:
        return None
    cited = [snapshot.items[i] for d in read[:LINES] if (i := snapshot.canonical(d.primary)) in snapshot.items] + disputes[:LINES]
    day = last.date().isoformat()
    body = f"In the week up to {day}, the last day the bank learned anything, {listed(parts) or 'no note changed'}." + "".join(f"\n\n{s}" for s in sections)
    return _wanted(snapshot, "week", "What changed in the last week", body, cited, [r.evidence[0] for c in superseded for r in quotes[c.id].supports[:1] if r.evidence])


async def _one_source(snapshot: Snapshot, documents: Mapping[str, Doc]) -> Wanted | None:
    built = await built_on(snapshot)
    found = sorted((snapshot.items[i] for i, n in built.items() if n >= MUCH and i in snapshot.items and snapshot.items[i].type is MemoryType.CLAIM
                    and snapshot.items[i].supports <= 1 and snapshot.items[i].verification in UNVERIFIED), key=lambda c: (-built[c.id], c.title, c.id))
    if not found:
        return None
    told = found[:LINES]
    stated_in, quotes = await snapshot.documents_of(c.id for c in told), await snapshot.evidence(c.id for c in told)
    lines = [f"- {sentence(c)} ({cite(c, documents, stated_in.get(c.id, ()))}): {built[c.id]} pages" for c in told]
    body = "Several pages are worked out from each of these, and only one note says it.\n\n" + "\n".join(lines) + _more(found)
    return _wanted(snapshot, "one-source", "Much rests on one note", body, told, [q[0] for c in told if (q := quotes.get(c.id))])


async def _aged(snapshot: Snapshot, documents: Mapping[str, Doc]) -> Wanted | None:
    """Values of attributes that change, dated a year or more before the bank's latest dated note and not said again since."""
    latest = max((d.date.start for d in documents.values() if d.date.start), default=None)
    changing = await changing_attributes(snapshot)
    if latest is None or not changing:
        return None
    newest: dict[tuple[str, str], Item] = {}
    for claim in snapshot.stated(MemoryType.CLAIM):
        if claim.attribute in changing and claim.valid_from and not claim.valid_to:
            key = (claim.subject, claim.attribute)
            if key not in newest or (claim.valid_from, claim.id) > (newest[key].valid_from or "", newest[key].id):
                newest[key] = claim
    aged = sorted((c for c in newest.values() if (at := from_iso(c.valid_from)) is not None and at < latest - AGED), key=lambda c: (c.valid_from or "", c.title, c.id))
    if not aged:
        return None
    told = aged[:LINES]
    stated_in, quotes = await snapshot.documents_of(c.id for c in told), await snapshot.evidence(c.id for c in told)
    lines = [f"- {(c.valid_from or '')[:10]}: {sentence(c)} ({cite(c, documents, stated_in.get(c.id, ()))})" for c in told]
    body = ("Values of these kinds have changed before. These are more than a year older than the latest note, "
            f"of {latest.date().isoformat()}, and nothing has confirmed them since.\n\n") + "\n".join(lines) + _more(aged)
    return _wanted(snapshot, "ageing", "Values that may have aged", body, told, [q[0] for c in told if (q := quotes.get(c.id))])


def _more(found: Sequence[object]) -> str:
    return f"\n- and {len(found) - LINES} more" if len(found) > LINES else ""
