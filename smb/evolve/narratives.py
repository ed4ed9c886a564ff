"""Narratives: how a topic developed, told in order.

Owns the pages of `layer-5/narratives`. A sentence is what a claim says, or what the ledger says of a value that gave way to
another; each cites its claims. A topic without a development has none: neither a mere list of dates nor a single note is one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from smb.evolve.chronicle.dated import Step, StepReader, cite, sentence, told
from smb.evolve.phase import Proposals, Wanted
from smb.evolve.snapshot import Doc, Item, Snapshot, wikilink
from smb.model.edges import EdgeType
from smb.model.evidence import Span
from smb.model.identity import fold, object_id
from smb.model.objects import Link, MemoryType, Mode
from smb.model.revision import Statement
from smb.model.validity import Interval

LEAST_STEPS = 3
LEAST_NOTES = 2
NOTES = 4  # as many notes of different days are a development even where none of them speaks of a change
LONGEST = 14  # steps of a narrative
A_DAY = 2  # steps told of one day
CITED = 12  # quotes kept with a page
_TURNS = frozenset(("correction", "decision"))


class Narratives:
    """A page for every topic that developed: at least three dated steps of at least two notes, among them a change, a
    correction or a decision, or notes of at least four days. `reader` is shared with the timelines."""

    name = "narratives"
    version = 2

    def __init__(self, reader: StepReader | None = None):
        self._reader = reader or StepReader()

    async def propose(self, snapshot: Snapshot) -> Proposals:
        steps = await self._reader.steps(snapshot)
        kept = {topic: told_of for topic, found in steps.items() if topic in snapshot.items and (told_of := _development(found))}
        quotes, when = await told(snapshot, [s for chosen in kept.values() for s in chosen])
        documents = await snapshot.documents()
        wanted = [_page(snapshot, snapshot.items[topic], chosen, quotes, when, documents) for topic, chosen in sorted(kept.items())]
        return Proposals(wanted, {object_id(MemoryType.NARRATIVE.value, f"{self.name}:{topic}") for topic in steps} & {i.id for i in snapshot.derived(self.name)})


def _development(steps: Sequence[Step]) -> list[Step]:
    """The steps that are told, in order, with what took the place of each; none where there was no development."""
    chosen: list[Step] = []
    days: dict[str, int] = {}
    for step in sorted(steps, key=lambda s: (tuple(-x for x in s.weight), s.at, s.claim.id)):
        if len(chosen) < LONGEST and days.get(step.day, 0) < (A_DAY if not step.by else LONGEST):
            chosen.append(step)
            days[step.day] = days.get(step.day, 0) + 1
    of = {s.claim.id: s for s in steps}
    for step in chosen:  # grows while it is read: a value that gave way, what it gave way to, and what that did
        chosen += [of[i] for i in step.by if i in of and of[i] not in chosen]
    notes = {s.documents[0] for s in chosen}
    turned = any(s.by or s.claim.contested or _TURNS & set(s.claim.tags) for s in chosen)
    if len(days) < LEAST_STEPS or len(notes) < (LEAST_NOTES if turned else NOTES):
        return []
    return sorted(chosen, key=lambda s: (s.at, s.claim.title, s.claim.id))


def _page(snapshot: Snapshot, topic: Item, steps: Sequence[Step], quotes: Mapping[str, tuple[Span, ...]], when: Mapping[str, str], documents: Mapping[str, Doc]) -> Wanted:
    of = {s.claim.id: s for s in steps}
    before: dict[str, list[Step]] = {}
    for s in steps:
        for newer in s.by:
            before.setdefault(newer, []).append(s)
    paragraphs: list[str] = []
    year, outside = "", dict[str, None]()
    given = {s.claim.id for s in steps if _corrected(s, of)}  # told beside what took their place
    for s in (s for s in steps if s.claim.id not in given):
        if s.day[:4] != year:
            year = s.day[:4]
            paragraphs.append(f"## {year}")
        beyond = [snapshot.items[i] for i in s.by if i not in of and i in snapshot.items]
        outside |= {i.id: None for i in beyond}
        paragraphs.append(_told(s, topic, before.get(s.claim.id, ()), [of[i] for i in s.by if i in of], beyond, when[s.claim.id], documents))
    notes = list(dict.fromkeys(d for s in steps for d in s.documents[:1]))
    cited = [*(s.claim.id for s in steps), *(i for i in outside if i not in of)]
    spans = [quotes[i][0] for i in cited if quotes.get(i)]
    first, last = steps[0], steps[-1]
    head = f"{topic.link} from {first.day} to {last.day}, as {len(notes)} notes tell it."
    statement = Statement(
        title=f"The story of {topic.title}", identity=f"narratives:{topic.id}", body=head + "\n\n" + "\n\n".join(paragraphs),
        links=tuple([Link(topic.id, EdgeType.EXPLAINS), *(Link(i, EdgeType.DERIVES_FROM) for i in cited)]),
        confidence=min(s.claim.confidence for s in steps), mode=Mode.INFERRED, valid=Interval(first.at, None), about=topic.id, derived_from=tuple(cited))
    return Wanted(MemoryType.NARRATIVE, statement, tuple(spans[:CITED]))


def _corrected(step: Step, of: Mapping[str, Step]) -> bool:
    """Whether a value was only ever another writing of one of the same day: its note was put right."""
    return bool(step.by and step.claim.attribute) and all(
        i in of and of[i].day == step.day and of[i].claim.attribute == step.claim.attribute and of[i].claim.value for i in step.by)


def _told(step: Step, topic: Item, before: Sequence[Step], after: Sequence[Step], beyond: Sequence[Item], when: str, documents: Mapping[str, Doc]) -> str:
    """A sentence or two about one step, with their citations. `beyond` took its place and has no step of its own."""
    claim, titles = step.claim, [documents[d].title for d in step.documents]
    said = sentence(claim, topic.title, *titles, when)
    source, lead = cite(claim, documents, step.documents), "" if fold(when) in fold(said) else f"{when[:1].upper()}{when[1:]}: "
    newer = min(after, key=lambda s: (s.at, s.claim.id), default=None)
    until = f"until {newer.day}, then {newer.claim.value}" if newer and newer.claim.value else f"until {newer.day}" if newer else ""
    values = {b.claim.value: wikilink(b.claim.page, b.claim.value) for b in before if b.claim.value and fold(b.claim.value) not in fold(said)}
    older = " and ".join(values.values())
    named = said.partition(": ")
    if claim.attribute and fold(named[0]) == claim.attribute and claim.value:
        told_ = f"{lead}{named[0]} was {claim.value}" if step.by else f"{lead}{named[0]} is {claim.value}"
        told_ += f", {older} before" if older else ""
        told_ += f" ({source})"
    else:
        told_ = f"{lead}{said} ({source})"
        told_ += f" Before that it was {older} ({', '.join(cite(b.claim, documents, b.documents) for b in before)})." if older else ""
    if newer:
        own = told_.endswith(f"({source})") and said.partition(": ")[2] == claim.value
        told_ += f" {until} ({cite(newer.claim, documents, newer.documents)})." if own else f" That held {until} ({cite(newer.claim, documents, newer.documents)})."
    elif step.by:
        now = " and ".join(b.link for b in beyond)
        told_ += f" Since then: {now}." if now else " That no longer holds."
    elif claim.attribute and not said.endswith((".", "!", "?", "。")):
        told_ += "."
    if claim.contested:
        told_ += f" This is contested ({wikilink(claim.page, 'see the claim')})."
    return told_
