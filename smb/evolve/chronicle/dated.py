"""What happened when: the dated claims about each thing, as steps in order of time.

Owns which claims are steps of what and how a step is dated. A property that merely stands in a dated note happened at no
time and is no step; a value that a newer one replaced is, and so is what its own words date. Never says what follows from a step.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from smb.evolve.chronicle.named import Names, is_date
from smb.evolve.chronicle.own_words import is_dangling, is_vague, own_day
from smb.evolve.snapshot import EVOLVED, Doc, Item, Snapshot, wikilink
from smb.model.currentness import judge, stated
from smb.model.evidence import Span
from smb.model.identity import fold
from smb.model.objects import MemoryType
from smb.model.revision import Revision, Statement
from smb.model.validity import Interval

_OCCASIONS = frozenset("journal diary daily log logs meeting meetings minutes decision decisions standup retro changelog chat chats worklog".split())
OF_THE_NOTE = frozenset("author authors owner attendees participants deciders source clipped created updated tags status date title".split())
NO_PROPERTY = OF_THE_NOTE | frozenset(  # words that stand before a value and name nothing it would be the value of
    "since until till from to as of on by valid effective start started end ended begin began type kind category class when day year month week period version "
    "seit bis ab von datum gültig stand typ depuis jusqu'à desde hasta até tipo".split()) | frozenset(("valid from", "valid until", "valid to", "start date", "end date", "as of", "last updated"))
_DATED_PATH = re.compile(r"(?<!\d)\d{4}[-_.]?(?:0[1-9]|1[0-2])(?:[-_.]?(?:0[1-9]|[12]\d|3[01]))?(?!\d)")
_PREPOSITION = re.compile(r"(?:on|in|at|valid) ", re.IGNORECASE)
_RANGE = re.compile(r"(?:since|from|until|till|between|by|before|after|through|during|up|as) ", re.IGNORECASE)
_COUNTED = re.compile(r"(?<!\d)\d{4} [a-z]+s\b")  # "up to 2048 bytes" names no year
QUOTE = 240  # characters of a claim that are told


@dataclass(frozen=True, slots=True)
class Step:
    """A dated claim, `at` the day its words name or else the one it holds from. `own`: its own words date it; `occasion`: it stands in the note of a day; `by`: ids of what took its place,
    none where it holds; `documents`: those that state it."""

    claim: Item
    at: datetime
    own: bool
    occasion: bool
    documents: tuple[str, ...]
    by: tuple[str, ...] = ()

    @property
    def day(self) -> str:
        return self.at.date().isoformat()

    @property
    def weight(self) -> tuple[bool, bool, bool, float]:
        """What is told first where not all can be: changes, decisions, what is dated by itself, the surer."""
        tags = self.claim.tags
        return (bool(self.by) or self.claim.contested or "correction" in tags, "decision" in tags, self.own, self.claim.confidence)


async def notes_at(snapshot: Snapshot) -> int:
    """The last transaction from outside evolution: what is read off notes holds until there is another."""
    rows = await snapshot.catalog.fetch("SELECT max(seq) AS at FROM transactions WHERE kind != ?", (EVOLVED,))
    return int(rows[0]["at"] or 0)


class StepReader:
    """Reads the steps for the phases that share it. What is named by what is read once, until names change."""

    def __init__(self) -> None:
        self._of: tuple[object, ...] = ()
        self._names = Names((), {})
        self._steps: dict[str, list[Step]] = {}

    async def steps(self, snapshot: Snapshot) -> dict[str, list[Step]]:
        """Steps of every thing that has any and may have changed since the phase last looked (of all of them the first time), by its
        id, in order of time. What is over has none: its id has an empty list."""
        topics = [t for t in snapshot.stated(MemoryType.CONCEPT, MemoryType.ENTITY) if not is_date(t.title) and "date" not in t.tags]
        claims = snapshot.stated(MemoryType.CLAIM)
        superseded = await snapshot.superseded()
        latest = max((i.changed for i in (*topics, *claims, *superseded.values())), default=0)
        of = (id(snapshot.catalog), await notes_at(snapshot), latest, len(topics), len(claims), len(superseded), len(snapshot.merged))
        if of != self._of:
            self._of, self._names, self._steps = of, Names(topics, await snapshot.names(t.id for t in topics)), {}
        if snapshot.since:
            affected = await _affected(snapshot, self._names, topics, superseded)
        else:
            affected = {t.id for t in topics}
        if lacking := affected - self._steps.keys():
            self._steps |= await _read(snapshot, self._names, topics, claims, superseded, lacking)
        return {i: self._steps[i] for i in sorted(affected)}


async def _read(snapshot: Snapshot, names: Names, topics: Collection[Item], claims: Collection[Item], superseded: Mapping[str, Item],
                affected: Collection[str]) -> dict[str, list[Step]]:
    dated = sorted((c for c in (*claims, *superseded.values()) if c.valid_from or c.valid_to), key=lambda c: c.id)
    may_name = names.filter(affected) if len(affected) < len(topics) else None
    found: dict[str, list[Item]] = {i: [] for i in affected}
    for claim in dated:
        about = snapshot.canonical(claim.about)
        named = names.named_in(claim.title) if may_name is None or may_name(claim.title) else set()
        for topic in {about, *named}:
            if topic in found:
                found[topic].append(claim)
    made = await _steps(snapshot, {c.id: c for held in found.values() for c in held}, superseded)
    return {topic: sorted((made[c.id] for c in held if c.id in made), key=lambda s: (s.at, s.claim.title, s.claim.id)) for topic, held in found.items()}


async def _affected(snapshot: Snapshot, names: Names, topics: Iterable[Item], superseded: Mapping[str, Item]) -> set[str]:
    """What changed, and what is about or named by a claim that changed or went."""
    known = {t.id for t in topics}
    gone = snapshot.gone()
    found = {t.id for t in topics if snapshot.is_new(t)} | (gone - superseded.keys()) | {snapshot.canonical(i) for i in gone}
    moved = {row["object_id"] for row in await snapshot.catalog.fetch_in(
        "SELECT DISTINCT object_id FROM revisions WHERE document_id IN ({marks}) AND head = 1", sorted(await snapshot.touched()))}
    told = [(c.about, c.title) for i in sorted(moved) if (c := snapshot.items.get(i)) is not None and c.type is MemoryType.CLAIM]
    told += [(c.about, c.title) for c in (*snapshot.changed(MemoryType.CLAIM), *superseded.values()) if snapshot.is_new(c)]
    told += [(row["about"], row["title"]) for row in await snapshot.catalog.fetch_in(
        "SELECT about, title FROM memory_objects WHERE type = 'claim' AND id IN ({marks})", sorted(gone))]
    for about, title in told:
        found |= {snapshot.canonical(about), *names.named_in(title)}
    return {i for i in found if i in known or i in gone}


async def _steps(snapshot: Snapshot, claims: Mapping[str, Item], superseded: Mapping[str, Item]) -> dict[str, Step]:
    """The claims that are steps, each as one. What replaced a value is one as well as what was replaced."""
    documents, stated_in = await snapshot.documents(), await snapshot.documents_of(claims)
    histories = await snapshot.histories(i for i in claims if i in superseded)
    by = {i: tuple(dict.fromkeys(r.object_id for r in judge(history, about=i).by if r.object_id != i)) for i, history in histories.items()}
    newer = {i for ids in by.values() for i in ids}
    found: dict[str, Step] = {}
    for id_, claim in claims.items():
        told = [documents[d] for d in stated_in.get(id_, ())]
        at = claim.valid.start or (claim.valid.end - timedelta(days=1) if claim.valid.end else None)
        if at is None or not told or fold(claim.attribute) in NO_PROPERTY or claim.valid.start is None and (claim.attribute or _COUNTED.search(claim.title)):
            continue
        said = "" if claim.attribute else sentence(claim, *(d.title for d in told))
        if is_dangling(said):
            continue
        if not claim.attributed_to and id_ not in superseded and id_ not in newer:
            at = own_day(said) or at
        own = at != claim.valid.start or all(d.date.start != claim.valid.start for d in told) or str(at.year) in claim.title.removeprefix(told[0].title)
        occasion = not claim.attribute and any(is_occasion(d, snapshot.items.get(d.primary)) for d in told)
        if own or occasion or id_ in superseded or id_ in newer or claim.contested or {"correction", "decision"} & set(claim.tags):
            found[id_] = Step(claim, at, own, occasion, stated_in[id_], by.get(id_, ()))
    return found


def is_occasion(doc: Doc, primary: Item | None) -> bool:
    """Whether a document is about a day: a journal's page, the minutes of a meeting, a transcript."""
    if not doc.date.known:
        return False
    folders = {fold(part) for part in doc.path.split("/")[:-1]}
    day = re.sub(r"\D", "", shown(doc.date)[:10])
    dated = any(re.sub(r"\D", "", m[0]) == day for m in _DATED_PATH.finditer(doc.path))
    return doc.shape == "chat" or dated or bool(_OCCASIONS & folders) or primary is not None and bool(_OCCASIONS & {fold(t) for t in primary.tags})


# ------------------------------------------------------------ how a step is told


async def told(snapshot: Snapshot, steps: Collection[Step]) -> tuple[dict[str, tuple[Span, ...]], dict[str, str]]:
    """(the quotes under each claim, when each says it was) by the claim's id, for the steps that are shown."""
    histories = await snapshot.histories(s.claim.id for s in steps)
    documents = await snapshot.documents()
    quotes, when = {}, {}
    for step in steps:
        supports = judge(histories.get(step.claim.id, []), about=step.claim.id).supports or tuple(stated(histories.get(step.claim.id, [])))
        quotes[step.claim.id] = tuple(dict.fromkeys(span for r in supports for span in r.evidence))
        when[step.claim.id] = _when(step, supports, [documents[d] for d in step.documents])
    return quotes, when


def _when(step: Step, supports: Iterable[Revision], documents: Iterable[Doc]) -> str:
    """The date as the claim has it; the note's date, no finer than the note has it, where its words have none."""
    if step.claim.valid.start not in (None, step.at):
        return step.day
    for r in supports:
        if isinstance(r.statement, Statement) and str(step.at.year) in r.statement.valid_text:
            words = _PREPOSITION.sub("", r.statement.valid_text, count=1)
            return words[:1].lower() + words[1:] if _RANGE.match(words) else words
    for doc in documents:
        if doc.date.start == step.claim.valid.start:
            return f"noted {shown(doc.date)}" if is_vague(step.claim.title) and not step.claim.attribute else shown(doc.date)
    if step.claim.valid.start is None:
        return f"until {step.day}"
    return shown(Interval(step.claim.valid.start, step.claim.valid.end)) if step.claim.valid.end else step.day


def shown(interval: Interval) -> str:
    """A stretch of time as a person writes it: 2031, 2031-05, 2031-05-08, or two days."""
    start, end = interval.start, interval.end
    if start is None or end is None:
        return (start or end).date().isoformat() if start or end else ""  # type: ignore[union-attr]
    if (start.month, start.day) == (1, 1) and (end.year, end.month, end.day) == (start.year + 1, 1, 1):
        return str(start.year)
    if start.day == end.day == 1 and 27 < (end - start).days < 32:
        return f"{start.year}-{start.month:02}"
    last = end - timedelta(seconds=1)
    return start.date().isoformat() if last.date() == start.date() else f"{start.date().isoformat()} to {last.date().isoformat()}"


def sentence(claim: Item, *prefixes: str) -> str:
    """What a claim says, without the date, note or thing named before it where that is one of `prefixes`, on one line."""
    text = " ".join(claim.title.split()).replace("[[", "").replace("]]", "")
    for prefix in prefixes:
        for mark in (" – ",) if claim.attributed_to else (": ", " – "):
            if prefix and text.startswith(prefix + mark):
                text = text[len(prefix) + len(mark):]
    text = text[:1].upper() + text[1:]
    return text if len(text) <= QUOTE else text[:QUOTE].rsplit(" ", 1)[0] + " …"


def cite(claim: Item, documents: Mapping[str, Doc], of: Iterable[str]) -> str:
    """A wikilink to the claim that shows the note it stands in."""
    return wikilink(claim.page, next((documents[d].title for d in of if d in documents), claim.title))
