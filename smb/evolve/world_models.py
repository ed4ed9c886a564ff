"""World models: how a part of the world is, put together from all notes that speak of it.

Owns which things have a page and what stands on it: the values that hold, what they were before, how the thing relates to others, and
what else is said of it; each line cited, contested ones marked. Never chooses between values that are set against each other.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence

from smb.evolve.phase import Proposals, Wanted
from smb.evolve.chronicle.dated import sentence
from smb.evolve.combining.later import against, bearing_on, said_later
from smb.evolve.combining.revisit import revisit
from smb.evolve.snapshot import Item, Snapshot
from smb.evolve.combining.support import Support, quotes_of
from smb.evolve.combining.values import Given, Thing, called, things
from smb.evolve.combining.wording import Sentence, listed, quoted
from smb.model.edges import SEEN_FROM_THE_TARGET, EdgeType
from smb.model.identity import fold, object_id
from smb.model.objects import Link, MemoryType, Mode
from smb.model.revision import Statement

DOCUMENTS, ATTRIBUTES = 3, 4  # how many notes and attributes make a part of the world
_VALUES, _EARLIER, _RELATED, _SAID = 16, 6, 6, 6  # lines of each section
_NAMED = 4  # documents or objects named in one line
_OVERTAKEN = 2  # values of a note that were taken back later, for its others to be told with its date
_FEW, _SHARE = 20, 50  # pages a bank may hold: so many, and one more for so many documents


class WorldModels:
    """Restates, finds and withdraws the pages."""

    name = "world-models"
    version = 2

    async def propose(self, snapshot: Snapshot) -> Proposals:
        again = await revisit(snapshot, self.name)
        if again is None:
            return Proposals()
        considered = await again.considered(snapshot)
        about = await again.subjects(snapshot, considered)
        if about is not None:
            near = await bearing_on(snapshot, about)
            considered |= {object_id(MemoryType.WORLD_MODEL.value, f"{self.name}:{i}") for i in near} & again.held.keys()
            about |= near
        found = [thing for thing in await things(snapshot, about) if len(thing.attributes) >= ATTRIBUTES]
        subjects = {thing.subject.id for thing in found}
        if not subjects:
            return Proposals(considered=considered)
        relations, told = await _relations(snapshot, subjects), await _told(snapshot, subjects)
        later = await said_later(snapshot, subjects)
        doubts = {g.claim.id: claim for thing in found for values in thing.attributes.values() for g in values
                  if not g.lapsed and (claim := against(g, called(g) or g.claim.attribute, later, thing.subject)) is not None}
        support = await quotes_of(snapshot, [*(i for thing in found for i in _cited(thing, relations, told)), *sorted({claim.id for claim in doubts.values()})])
        pages = [(thing, homes) for thing in found if len(homes := _homes(thing, relations, told, support)) >= DOCUMENTS]
        pages.sort(key=lambda page: (-len(page[1]), -len(page[0].attributes), page[0].subject.id))
        room = _FEW + len(await snapshot.documents()) // _SHARE - len(again.held.keys() - considered)
        wanted = [w for thing, _ in pages[:max(room, 0)] if (w := _page(self.name, thing, relations[thing.subject.id], told[thing.subject.id], doubts, support)) is not None]
        return Proposals(wanted, considered)


async def _relations(snapshot: Snapshot, subjects: Collection[str]) -> dict[str, list[tuple[str, Item, Item]]]:
    """Thing → (edge as seen from it, the other end, the relationship that states it)."""
    found: dict[str, list[tuple[str, Item, Item]]] = defaultdict(list)
    for edge in await snapshot.edges_at(subjects):
        holder = snapshot.items[edge.held_by]
        if holder.type is MemoryType.RELATIONSHIP and edge.type not in (EdgeType.REFERENCES, EdgeType.RELATED_TO):
            for end, other, name in ((edge.source, edge.target, edge.type.value), (edge.target, edge.source, SEEN_FROM_THE_TARGET[edge.type])):
                if end in subjects:
                    found[end].append((name.replace("_", " "), snapshot.items[other], holder))
    return found


async def _told(snapshot: Snapshot, subjects: Collection[str]) -> dict[str, list[Item]]:
    """Thing → what is said of it without a key, the surest first."""
    found: dict[str, list[Item]] = defaultdict(list)
    for claim in snapshot.stated(MemoryType.CLAIM):
        if claim.attribute or claim.attributed_to or (subject := snapshot.canonical(claim.about)) not in subjects:
            continue
        if fold(snapshot.items[subject].title) in fold(claim.title):
            found[subject].append(claim)
    for claims in found.values():
        claims.sort(key=lambda c: (-c.supports, -c.confidence, c.valid_from or "", c.id))
    return found


def _cited(thing: Thing, relations: Mapping[str, Sequence[tuple[str, Item, Item]]], told: Mapping[str, Sequence[Item]]) -> list[str]:
    subject = thing.subject.id
    return [subject, *(g.claim.id for values in thing.attributes.values() for g in values), *(c.id for c in told.get(subject, ())[:_SAID]),
            *(i.id for _, other, holder in relations.get(subject, ()) for i in (other, holder))]


def _homes(thing: Thing, relations: Mapping[str, Sequence[tuple[str, Item, Item]]], told: Mapping[str, Sequence[Item]], support: Support) -> set[str]:
    speaking = [*(c for c in told.get(thing.subject.id, ())[:_SAID]), *(holder for _, _, holder in relations.get(thing.subject.id, ()))]
    return set(thing.homes).union(*(support.homes(item) for item in speaking))


def _page(phase: str, thing: Thing, relations: Sequence[tuple[str, Item, Item]], told: Sequence[Item], doubts: Mapping[str, Item], support: Support) -> Wanted | None:
    subject = thing.subject
    sections = [(heading, support.held(lines)) for heading, lines in (
        ("What holds", _now(thing, doubts, support)), ("What was before", _before(thing)), ("How it relates", _related(subject, relations)), ("What else is said", _said(told)))]
    lines = [line for _, held in sections for line in held]
    cited = tuple(dict.fromkeys((subject, *(item for line in lines for item in line.cites))))
    homes = sorted({support.first(item).title for line in lines for item in line.cites[:1] if support.first(item)})
    if len(cited) < DOCUMENTS or len(support.sources(cited)) < 2:
        return None
    more = " and others" if len(homes) > _NAMED else ""
    speaking = {home: next(item for line in lines for item in line.cites[:1] if (first := support.first(item)) and first.title == home) for home in homes[:_NAMED]}
    opening = Sentence(f"This is {subject.title} as {', '.join(speaking) + more if more else listed(homes)} together describe it", (subject, *speaking.values()))
    body = "\n\n".join([support.page([opening]), *(f"## {heading}\n\n{support.page(held)}" for heading, held in sections if held)])
    return Wanted(MemoryType.WORLD_MODEL, Statement(
        f"{subject.title}, as the notes have it", f"{phase}:{subject.id}", body=body, confidence=min(item.confidence for item in cited), mode=Mode.INFERRED,
        derived_from=tuple(item.id for item in cited), links=tuple(Link(item.id, EdgeType.DERIVES_FROM) for item in cited), extra=support.dates(cited)), support.evidence(cited))


def _now(thing: Thing, doubts: Mapping[str, Item], support: Support) -> list[Sentence]:
    """The values that hold. `doubts`: claim → what a later note says against it; the other values of a note with several such claims are dated."""
    found = []
    taken_back = Counter(home for values in thing.attributes.values() for g in values if g.claim.id in doubts for home in g.homes)
    overtaken = {home for home, n in taken_back.items() if n >= _OVERTAKEN}
    for values in thing.attributes.values():
        holding = [g for g in reversed(values) if not g.lapsed]
        if holding:
            distinct = list({g.value: g for g in reversed(holding)}.values())[::-1][:_NAMED]
            written = listed([_dated(g) if len(distinct) > 1 else g.claim.value for g in distinct], "or")
            if len(distinct) == 1 and distinct[0].day and set(distinct[0].homes) <= overtaken and distinct[0].claim.id not in doubts:
                written += f", as of {distinct[0].day}"
            lead = next((g for g in holding if called(g)), holding[0])
            cites = [g.claim for g in holding if g.value in {d.value for d in distinct}]
            for against_it in dict.fromkeys(doubts[g.claim.id] for g in distinct if g.claim.id in doubts):
                if (home := support.first(against_it)) is not None:
                    written += f"; later, {home.title} says {quoted(sentence(against_it, home.title))}"
                    cites.append(against_it)
            found.append((len(holding), _line(lead, written, tuple(cites))))
    found.sort(key=lambda pair: (-pair[0], pair[1].text.startswith("“"), pair[1].text))
    return [line for _, line in found[:_VALUES]]


def _before(thing: Thing) -> list[Sentence]:
    lapsed = [g for values in thing.attributes.values() for g in values if g.lapsed]
    return [_line(g, _dated(g), (g.claim,)) for g in sorted(lapsed, key=lambda g: (g.day, g.claim.id))[-_EARLIER:]]


def _dated(given: Given) -> str:
    return f"{given.claim.value}, from {given.day}" if given.day else given.claim.value


def _line(given: Given, written: str, cites: tuple[Item, ...]) -> Sentence:
    name = called(given)
    return Sentence(f"{name[:1].upper()}{name[1:]}: {written}" if name else quoted(given.claim.title), cites, True)


def _related(subject: Item, relations: Sequence[tuple[str, Item, Item]]) -> list[Sentence]:
    kinds: dict[str, list[tuple[Item, Item]]] = defaultdict(list)
    for name, other, holder in relations:
        kinds[name].append((other, holder))
    found = []
    for name, held in sorted(kinds.items()):
        titles = [other.title for other, _ in held[:_NAMED]]
        told = f"{', '.join(titles)} and others" if len(held) > _NAMED else listed(titles)
        found.append(Sentence(f"{name[:1].upper()}{name[1:]}: {told}", tuple(item for other, holder in held[:_NAMED] for item in (holder, other)), True))
    return found[:_RELATED]


def _said(told: Sequence[Item]) -> list[Sentence]:
    return [Sentence(quoted(claim.title), (claim,), True) for claim in told[:_SAID]]
