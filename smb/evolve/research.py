"""Research agendas: what is open, what is known about it, and where one would look.

Owns the pages of `layer-6/research`, one for an area with several open questions and one for the rest. The questions are those notes
leave open and those the bank asks itself. Never answers one: what it tells beside a question is what the claims say.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from smb.evolve.chronicle.dated import OF_THE_NOTE, cite, sentence, shown
from smb.evolve.chronicle.marks import MarkReader, Noted
from smb.evolve.chronicle.named import Names
from smb.evolve.phase import Proposals, Wanted
from smb.evolve.plans import about, note, primaries
from smb.evolve.snapshot import Doc, Item, Snapshot
from smb.evolve.language.terms import terms_of
from smb.model.edges import EdgeType
from smb.model.evidence import Span
from smb.model.identity import fold
from smb.model.objects import Link, MemoryType, Mode
from smb.model.revision import Statement
from smb.model.validity import to_iso

OF_AN_AREA = 2  # questions of an area with a page of its own
LINES = 15  # questions told on a page
KNOWN = 3  # claims told beside a question
LOOK = 4  # places named beside one
NEAR = (0.45, 0.3)  # cosine from which a claim that shares a word, or two, with a question tells something of it
CITED = 12


@dataclass(frozen=True, slots=True)
class Open:
    """An open question: one a note leaves (`noted`), or one the bank asks (`asked`). `known` are claims close to it, `look` the notes
    and people that may tell more."""

    area: str
    noted: Noted | None = None
    asked: Item | None = None
    known: tuple[Item, ...] = ()
    look: tuple[Item, ...] = ()


class Research:
    """`marks` is shared with the other phases that read them."""

    name = "research"
    version = 1

    def __init__(self, marks: MarkReader | None = None):
        self._marks = marks or MarkReader()

    async def propose(self, snapshot: Snapshot) -> Proposals:
        held = {item.id for item in snapshot.derived(self.name)}
        rests_on = await about(snapshot, self.name)
        anew = snapshot.changed(MemoryType.QUESTION, MemoryType.CLAIM) or any(i in rests_on for i in snapshot.gone())
        if not anew and not await self._marks.touched(snapshot, rests_on):
            return Proposals()
        documents = await snapshot.documents()
        found = await self._open(snapshot, documents)
        areas: dict[str, list[Open]] = {}
        for question in found:
            areas.setdefault(question.area, []).append(question)
        rest = [q for area, questions in sorted(areas.items()) for q in questions if not area or len(questions) < OF_AN_AREA]
        shown_claims = [c.id for q in found for c in q.known]
        stated_in, quotes = await snapshot.documents_of(shown_claims), await snapshot.evidence(shown_claims)
        wanted = [_page(snapshot, area, questions, documents, stated_in, quotes) for area, questions in sorted(areas.items()) if area and len(questions) >= OF_AN_AREA]
        if rest:
            wanted.append(_page(snapshot, "", rest, documents, stated_in, quotes, alone=not wanted))
        return Proposals(wanted, held)

    async def _open(self, snapshot: Snapshot, documents: Mapping[str, Doc]) -> list[Open]:
        noted = (await self._marks.of(snapshot)).questions
        asked = snapshot.of_type(MemoryType.QUESTION)
        topics = {fold(i.title): i.title for i in snapshot.stated(MemoryType.CONCEPT)}
        people = [i for i in snapshot.stated(MemoryType.ENTITY) if "person" in i.tags]
        names = Names(people, await snapshot.names(p.id for p in people))
        linked: dict[str, list[str]] = {}
        for edge in await snapshot.edges_at(documents[n.document].primary for n in noted):
            if edge.type is not EdgeType.EXPLAINS:
                linked.setdefault(edge.source, []).append(edge.target)
        known = await _known(snapshot, noted, people)
        found = []
        for question in noted:
            doc = documents[question.document]
            primary = snapshot.canonical(doc.primary)
            claims = known.get(question, ())
            places = [*linked.get(primary, ()), *sorted(names.named_in(question.text))]
            look = tuple(snapshot.items[i] for i in dict.fromkeys(places) if i in snapshot.items and i != primary)
            found.append(Open(_area(snapshot.items.get(primary), doc.path, topics), noted=question, known=claims, look=look[:LOOK]))
        cited = await _derived_from(snapshot, [q.id for q in asked])
        stated_in = await snapshot.documents_of(i for ids in cited.values() for i in ids)
        for item in asked:
            claims = [snapshot.items[i] for i in cited.get(item.id, ()) if i in snapshot.items]
            subject = next((snapshot.items[i] for c in claims if (i := snapshot.canonical(c.about)) in snapshot.items), None)
            path = next((documents[d].path for c in claims for d in stated_in.get(c.id, ())), "")
            found.append(Open(_area(subject, path, topics), asked=item, known=tuple(c for c in claims if c.type is MemoryType.CLAIM)[:KNOWN]))
        return found


def _area(item: Item | None, path: str, topics: Mapping[str, str]) -> str:
    """What a question belongs to: the first tag of what it is about that names a topic of the bank, or the folder of its note."""
    for tag in item.tags if item else ():
        parts = [tag, *(tag.split("/")[:1] if "/" in tag else ())]
        if found := next((topics[fold(p)] for p in reversed(parts) if fold(p) in topics), ""):
            return found
    return path.rpartition("/")[0].rpartition("/")[2]


async def _derived_from(snapshot: Snapshot, ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
    rows = await snapshot.catalog.fetch_in("SELECT DISTINCT held_by, target FROM edges WHERE held_by IN ({marks}) ORDER BY held_by, target", ids)
    found: dict[str, list[str]] = {}
    for row in rows:
        found.setdefault(row["held_by"], []).append(row["target"])
    return {i: tuple(targets) for i, targets in found.items()}


async def _known(snapshot: Snapshot, questions: Collection[Noted], people: Collection[Item]) -> dict[Noted, tuple[Item, ...]]:
    """The claims nearest to each question in meaning that share a word with it that is no name of `people`, nearest first; its own passage is none."""
    import numpy as np

    claims = [c for c in snapshot.stated(MemoryType.CLAIM) if c.row is not None and c.attribute not in OF_THE_NOTE and "instruction" not in c.tags]
    called = {term for p in people for term in terms_of(p.title)}
    spans = {q.span.source: None for q in questions if q.span}
    rows = await snapshot.catalog.fetch_in(
        "SELECT source, byte_start, vector_row FROM passages WHERE live = 1 AND vector_row IS NOT NULL AND source IN ({marks})", sorted(spans))
    at = {(row["source"], row["byte_start"]): row["vector_row"] for row in rows}
    asked = [q for q in questions if q.span and (q.span.source, q.span.byte_start) in at]
    if not claims or not asked or snapshot.matrix is None or not len(snapshot.matrix):
        return {}
    vectors = snapshot.matrix.vectors([at[q.span.source, q.span.byte_start] for q in asked if q.span])
    vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    near = snapshot.vectors(claims) @ vectors.T
    found: dict[Noted, tuple[Item, ...]] = {}
    for n, question in enumerate(asked):
        words = set(terms_of(question.text)) - called
        chosen: list[Item] = []
        for m in np.argsort(-near[:, n], kind="stable")[:40].tolist():
            claim = claims[m]
            shared = len(words & set(terms_of(claim.title)))
            if len(chosen) < KNOWN and shared and near[m, n] >= NEAR[min(shared, 2) - 1] and fold(claim.title.rpartition(": ")[2]) not in fold(question.text):
                chosen.append(claim)
        found[question] = tuple(chosen)
    return found


def _page(snapshot: Snapshot, area: str, questions: Sequence[Open], documents: Mapping[str, Doc], stated_in: Mapping[str, tuple[str, ...]],
          quotes: Mapping[str, tuple[Span, ...]], *, alone: bool = False) -> Wanted:
    def order(q: Open) -> tuple[bool, str, str]:
        date = to_iso(documents[q.noted.document].date.start) if q.noted else ""
        return (q.noted is None, date or "", q.noted.text if q.noted else q.asked.title if q.asked else "")

    told = sorted(questions, key=order)[:LINES]
    lines = []
    for q in told:
        if q.asked:
            lines.append(f"- {q.asked.link}")
        elif q.noted:
            doc = documents[q.noted.document]
            day = f" ({shown(doc.date)})" if doc.date.known and shown(doc.date) not in doc.title else ""
            lines.append(f"- **{q.noted.text}** Left open in {note(snapshot, doc)}{day}.")
        if q.noted and q.known:
            said = [(c, sentence(c, *(documents[d].title for d in stated_in.get(c.id, ())))) for c in q.known]
            ended = [(c, text if text.endswith((".", "!", "?", "。", "…")) else f"{text}.") for c, text in said]
            lines.append("    - Known: " + " ".join(f"{text} ({cite(c, documents, stated_in.get(c.id, ()))})" for c, text in ended))
        if q.look:
            lines.append(f"    - One would look at: {', '.join(i.link for i in q.look)}")
    more = f"\n\n{len(questions) - len(told)} more are open." if len(questions) > len(told) else ""
    count = "One question is" if len(questions) == 1 else f"{len(questions)} questions are"
    title = f"Open questions: {area}" if area else "Open questions" if alone else "Other open questions"
    cited = {i.id: i for i in primaries(snapshot, (documents[q.noted.document] for q in told if q.noted))}
    cited |= {i.id: i for q in told for i in (*((q.asked,) if q.asked else ()), *q.known)}
    spans = [q.noted.span for q in told if q.noted and q.noted.span] + [quotes[c.id][0] for q in told for c in q.known if quotes.get(c.id)]
    statement = Statement(
        title=title, identity=f"research:{fold(area) if area else '*'}", body=f"{count} open{f' on {area}' if area else ''}.\n\n" + "\n".join(lines) + more,
        links=tuple(Link(i, EdgeType.DERIVES_FROM) for i in cited), confidence=min((i.confidence for i in cited.values()), default=0.5), mode=Mode.INFERRED,
        derived_from=tuple(cited))
    return Wanted(MemoryType.RESEARCH, statement, tuple(dict.fromkeys(spans))[:CITED])
