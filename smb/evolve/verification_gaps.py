"""Verification gaps: what much rests on and only one note, or somebody's word, says.

Owns the questions of `layer-3/questions` that ask for a second ground. They are few: the most important ones. Never says that a claim
is wrong; a second note, a tool's output or a sign-off closes the gap, and the question goes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from smb.evolve.chronicle.dated import NO_PROPERTY, cite, sentence
from smb.evolve.phase import Proposals, Wanted
from smb.evolve.snapshot import Doc, Item, Snapshot
from smb.model.edges import EdgeType
from smb.model.evidence import Span
from smb.model.identity import fold
from smb.model.objects import Link, MemoryType, Mode, Verification
from smb.model.revision import Statement

FEWEST, MOST = 5, 24  # questions held, by the size of the bank
NOTES_A_QUESTION = 40
OF_ONE_THING = 2  # questions about one thing
MUCH = 3  # pages worked out from a claim, for that alone to make it important
LEAST = 4.0  # importance below which nothing is asked
BUILT_ON = (MemoryType.ABSTRACTION, MemoryType.SYNTHESIS, MemoryType.WORLD_MODEL, MemoryType.META_CONCEPT)
_REPORTED = frozenset(("reported", "quoted"))
_NOT_ASKED = frozenset(("instruction", "hypothetical"))
UNVERIFIED = frozenset((Verification.UNVERIFIED.value, Verification.SELF_SUPPORTED.value))


@dataclass(frozen=True, slots=True)
class Gap:
    """A claim that one ground carries. `built`: pages worked out from it; `named`: things that link to what it is about;
    `changing`: values of its attribute have given way to others."""

    claim: Item
    built: int
    named: int
    changing: bool
    reported: bool

    @property
    def importance(self) -> float:
        return 2.0 * min(self.built, 4) + (3.0 if self.changing else 0.0) + (2.0 if self.reported else 0.0) + 0.5 * min(self.named, 6)


class Gaps:
    """At most one question for every forty notes, where there are more than a few hundred."""

    name = "gaps"
    version = 2

    async def propose(self, snapshot: Snapshot) -> Proposals:
        documents = await snapshot.documents()
        most = max(FEWEST, min(MOST, len(documents) // NOTES_A_QUESTION))
        asked: list[Gap] = []
        of: Counter[str] = Counter()
        for gap in sorted(await _gaps(snapshot), key=lambda g: (-g.importance, -g.claim.confidence, g.claim.id)):
            if len(asked) < most and gap.importance >= LEAST and of[gap.claim.about] < OF_ONE_THING:
                asked.append(gap)
                of[gap.claim.about] += 1
        ids = [g.claim.id for g in asked]
        quotes, stated_in = await snapshot.evidence(ids), await snapshot.documents_of(ids)
        wanted = [_question(snapshot, g, quotes.get(g.claim.id, ()), documents, stated_in.get(g.claim.id, ())) for g in asked]
        return Proposals(wanted, {item.id for item in snapshot.derived(self.name)})


async def _gaps(snapshot: Snapshot) -> list[Gap]:
    built, changing = await built_on(snapshot), await changing_attributes(snapshot)
    known = {name for names in (await snapshot.names(e.id for e in snapshot.stated(MemoryType.ENTITY))).values() for name in names}
    claims = snapshot.stated(MemoryType.CLAIM)
    told = Counter((c.subject, c.attribute, fold(c.value)) for c in claims if c.attribute)
    latest: dict[tuple[str, str], str] = {}
    for c in claims:
        if c.attribute and c.valid_from:
            latest[c.subject, c.attribute] = max(latest.get((c.subject, c.attribute), ""), c.valid_from)
    found = [
        claim for claim in claims
        if (not claim.attribute or not claim.valid_to and latest.get((claim.subject, claim.attribute), "") <= (claim.valid_from or ""))  # of what was nobody asks
        and claim.supports <= 1 and claim.verification in UNVERIFIED and not _NOT_ASKED & set(claim.tags) and claim.attribute not in NO_PROPERTY
        and (not claim.attribute or told[claim.subject, claim.attribute, fold(claim.value)] == 1)
        and (claim.attribute in changing or built.get(claim.id, 0) >= MUCH or is_reported(claim, known))]
    named = await linked_to(snapshot, {snapshot.canonical(c.about) for c in found})
    return [Gap(c, built.get(c.id, 0), named.get(snapshot.canonical(c.about), 0), c.attribute in changing, is_reported(c, known)) for c in found]


def is_reported(claim: Item, known: Collection[str]) -> bool:
    """Whether a claim is somebody's word who is `known` by a folded name."""
    return bool(_REPORTED & set(claim.tags)) and fold(claim.attributed_to) in known


async def built_on(snapshot: Snapshot) -> dict[str, int]:
    """How many abstractions and syntheses are worked out from each object."""
    pages = sorted(item.id for item in snapshot.of_type(*BUILT_ON))
    rows = await snapshot.catalog.fetch_in("SELECT DISTINCT held_by, target FROM edges WHERE held_by IN ({marks}) AND target != held_by", pages)
    return dict(Counter(row["target"] for row in rows))


async def linked_to(snapshot: Snapshot, ids: Collection[str]) -> dict[str, int]:
    """How many things link to each of `ids`, as notes state it."""
    ends = {(e.source, e.target) for e in await snapshot.edges_at(ids) if e.type is not EdgeType.EXPLAINS}
    return dict(Counter(target for _, target in ends if target in ids))


async def changing_attributes(snapshot: Snapshot) -> set[str]:
    """The folded attributes of which a value has given way to another somewhere in the bank, or has to."""
    return ({c.attribute for c in (await snapshot.superseded()).values() if c.attribute} | snapshot.single_valued) - NO_PROPERTY


def listed(parts: Sequence[str]) -> str:
    """"a, b and c"."""
    return f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else "".join(parts)


def _question(snapshot: Snapshot, gap: Gap, quotes: tuple[Span, ...], documents: Mapping[str, Doc], told: tuple[str, ...]) -> Wanted:
    claim = gap.claim
    subject = snapshot.items.get(snapshot.canonical(claim.about))
    said = sentence(claim, *(documents[d].title for d in told))
    thing, _, keyed = said.rpartition(" – ")
    key, _, value = keyed.partition(": ")
    if claim.attribute and subject and fold(key) == claim.attribute and value:
        asked = f"{thing or subject.title}: is “{key[:1].lower() + key[1:]}” really {value.rstrip('.')}?"
    elif gap.reported:
        own = next((said.removeprefix(lead) for lead in (f"{claim.attributed_to}: ", f"{claim.attributed_to} says that ", f"{claim.attributed_to} says ") if said.startswith(lead)), said)
        asked = f"Is it so, as {claim.attributed_to} has it: “{own[:1].upper()}{own[1:].rstrip('.')}”?"
    else:
        asked = f"Is it so: “{said.rstrip('.')}”?"
    where = cite(claim, documents, told)
    if gap.reported:
        ground = f"{where} reports it as the word of {claim.attributed_to}; no note says it of its own knowledge."
    else:
        ground = f"Only {where} says so, and nobody has confirmed it."
    why = ["values of this kind have changed before"] if gap.changing else []
    if gap.built:
        why.append(f"{gap.built} {'page of the bank is' if gap.built == 1 else 'pages of the bank are'} worked out from it")
    if gap.named and subject:
        why.append(f"{gap.named} {'thing links' if gap.named == 1 else 'things link'} to {subject.link}")
    body = f"{ground} It is asked because {listed(why)}.\n\nA second note that says so, a measurement, or a sign-off settles it."
    links = [Link(claim.id, EdgeType.DERIVES_FROM)] + ([Link(subject.id, EdgeType.REFERENCES)] if subject else [])
    statement = Statement(
        title=asked, identity=f"gaps:{claim.id}", body=body, tags=("verification",), links=tuple(links), confidence=claim.confidence, mode=Mode.INFERRED,
        about=subject.id if subject else "", derived_from=(claim.id,))
    return Wanted(MemoryType.QUESTION, statement, quotes[:2])
