"""The keyed values notes give of each thing, in order of time.

Owns which claims speak of one attribute of one thing, and whether their values can be compared. Never judges which of two is right.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from smb.evolve.combining.originals import originals
from smb.evolve.snapshot import Item, Snapshot
from smb.model.measure import Value, value_of
from smb.model.objects import MemoryType


@dataclass(frozen=True, slots=True)
class Given:
    """A value as one claim gives it; `lapsed` where a newer one took its place, `homes` the live documents that state it, copies left out."""

    claim: Item
    value: Value
    lapsed: bool
    homes: tuple[str, ...]

    @property
    def day(self) -> str:
        """The day from which it holds, "" where it is not dated."""
        return (self.claim.valid_from or "")[:10]


@dataclass(frozen=True, slots=True)
class Thing:
    """What values speak of: the object, and its folded attributes that have one value at a time, each with its values by day."""

    subject: Item
    attributes: Mapping[str, tuple[Given, ...]]

    @property
    def homes(self) -> tuple[str, ...]:
        return tuple(sorted({home for values in self.attributes.values() for given in values for home in given.homes}))


async def things(snapshot: Snapshot, about: Collection[str] | None = None) -> list[Thing]:
    """Everything that has keyed values, by id; of `about` alone where given."""
    superseded = await snapshot.superseded()
    held: dict[str, dict[str, list[Item]]] = defaultdict(lambda: defaultdict(list))
    for claim in (*snapshot.stated(MemoryType.CLAIM), *superseded.values()):
        if not claim.attribute or claim.attributed_to:
            continue
        subject = snapshot.canonical(claim.about)
        if subject in snapshot.items and (about is None or subject in about):
            held[subject][claim.attribute].append(claim)
    ids = [claim.id for attributes in held.values() for claims in attributes.values() for claim in claims]
    told, first = await snapshot.stated_in() if about is None else await snapshot.documents_of(ids), await originals(snapshot)
    homes = {i: tuple(sorted({first[home] for home in told.get(i, ())})) for i in ids}
    found = []
    for subject in sorted(held):
        attributes = {}
        for attribute in sorted(held[subject]):
            given = [Given(claim, value_of(claim.value), claim.id in superseded, homes[claim.id]) for claim in held[subject][attribute]
                     if claim.id in superseded or homes[claim.id]]
            if given and _one_at_a_time(given):
                attributes[attribute] = tuple(sorted(given, key=lambda g: (g.day, g.claim.id)))
        if attributes:
            found.append(Thing(snapshot.items[subject], attributes))
    return found


def _one_at_a_time(values: Sequence[Given]) -> bool:
    """Whether no document gives two values of one day: it would be a list, or the column of a table."""
    said: dict[tuple[str, str], set[Value]] = defaultdict(set)
    for given in values:
        if not given.lapsed:
            for home in given.homes:
                said[home, given.day].add(given.value)
    return all(len(held) == 1 for held in said.values())


def called(given: Given) -> str:
    """The attribute as a note writes it: “top temperature” of “Kiln North – Top temperature: 1290 °C”; "" where a sentence gives it."""
    _, dash, rest = given.claim.title.partition(" – ")
    name, colon, _ = rest.partition(": ")
    if not dash or not colon:
        return ""
    return name if name[1:] != name[1:].lower() else name[:1].lower() + name[1:]


def named(values: Sequence[Given]) -> str:
    """The attribute as the latest note that names it writes it, else as it is folded."""
    return next((name for given in reversed(values) if (name := called(given))), values[-1].claim.attribute)
