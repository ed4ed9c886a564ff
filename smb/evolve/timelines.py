"""Timelines: what is dated of one thing, in order of valid time.

Owns the pages of `layer-5/timelines`. A line is a claim with its date and its note; that a value gave way to another, or is
disputed, is read off the ledger and marked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from smb.evolve.chronicle.dated import Step, StepReader, cite, sentence, told
from smb.evolve.phase import Proposals, Wanted
from smb.evolve.snapshot import Doc, Item, Snapshot
from smb.model.edges import EdgeType
from smb.model.evidence import Span
from smb.model.identity import object_id
from smb.model.objects import Link, MemoryType, Mode
from smb.model.revision import Statement
from smb.model.validity import Interval

LEAST = 3  # days something happened on, for a timeline
LINES = 30  # lines of a page
CITED = 12  # quotes kept with a page


class Timelines:
    """A page for every thing with claims of at least three days. `reader` is shared with the narratives."""

    name = "timelines"
    version = 2

    def __init__(self, reader: StepReader | None = None):
        self._reader = reader or StepReader()

    async def propose(self, snapshot: Snapshot) -> Proposals:
        steps = await self._reader.steps(snapshot)
        kept = {topic: chosen for topic, found in steps.items() if topic in snapshot.items and len({s.day for s in found}) >= LEAST and (chosen := _chosen(found))}
        quotes, when = await told(snapshot, [s for chosen in kept.values() for s in chosen])
        documents = await snapshot.documents()
        wanted = [_page(snapshot, snapshot.items[topic], chosen, len(steps[topic]), quotes, when, documents) for topic, chosen in sorted(kept.items())]
        return Proposals(wanted, {object_id(MemoryType.TIMELINE.value, f"{self.name}:{topic}") for topic in steps} & {i.id for i in snapshot.derived(self.name)})


def _chosen(steps: Sequence[Step]) -> list[Step]:
    """The lines of a page, in order of time: all, or those that say most."""
    strongest = sorted(steps, key=lambda s: (tuple(-x for x in s.weight), s.at, s.claim.id))[:LINES]
    return sorted(strongest, key=lambda s: (s.at, s.claim.title, s.claim.id))


def _page(snapshot: Snapshot, topic: Item, steps: Sequence[Step], total: int, quotes: Mapping[str, tuple[Span, ...]], when: Mapping[str, str],
          documents: Mapping[str, Doc]) -> Wanted:
    at = {s.claim.id: s for s in steps}
    before: dict[str, list[Item]] = {}
    for s in steps:
        for newer in s.by:
            before.setdefault(newer, []).append(s.claim)
    lines = []
    for s in steps:
        titles = [documents[d].title for d in s.documents]
        line = f"- **{when[s.claim.id]}** {sentence(s.claim, topic.title, *titles, when[s.claim.id])} ({cite(s.claim, documents, s.documents)})"
        if s.claim.id in before:
            line += f" — *changed:* it was {_values(before[s.claim.id])} before"
        if s.by:
            until = [at[i].day for i in s.by if i in at]
            line += f" — *no longer so{' since ' + min(until) if until and min(until) > s.day else ''}*"
        if s.claim.contested:
            line += " — *contested*"
        lines.append(line)
    first, last = steps[0], steps[-1]
    head = f"What the notes date of {topic.link}, from {first.day} to {last.day}."
    more = f"\n\nThese are the {len(steps)} that say most; {total - len(steps)} more are dated." if total > len(steps) else ""
    cited = [s.claim.id for s in steps]
    spans = [quotes[i][0] for i in cited if quotes.get(i)]
    statement = Statement(
        title=f"Timeline of {topic.title}", identity=f"timelines:{topic.id}", body=f"{head}\n\n" + "\n".join(lines) + more,
        links=tuple([Link(topic.id, EdgeType.EXPLAINS), *(Link(i, EdgeType.DERIVES_FROM) for i in cited)]),
        confidence=min(s.claim.confidence for s in steps), mode=Mode.INFERRED, valid=Interval(first.at, None), about=topic.id, derived_from=tuple(cited))
    return Wanted(MemoryType.TIMELINE, statement, tuple(spans[:CITED]))


def _values(claims: Sequence[Item]) -> str:
    return " and ".join(dict.fromkeys(c.value or f"“{sentence(c)}”" for c in claims))
