"""Trends and agreements: what several notes say of one attribute of one thing.

Owns the sentences on values that moved over time and on values that independent notes give alike. Two values of one day are said
side by side; which is right is never said.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from smb.evolve.combining.drafts import Draft
from smb.evolve.snapshot import Doc, Item
from smb.evolve.combining.values import Given, Thing, called, named
from smb.evolve.combining.wording import Sentence, listed

_SHOWN = 8  # values told one by one
_WITNESSES, _LONE = 4, 4  # documents named for a value, attributes named that rest on one
_MOVED = {True: "rose", False: "fell"}


def trends_of(thing: Thing) -> list[Draft]:
    """One for each attribute that has measured values of several days from several documents."""
    found = []
    for attribute, values in thing.attributes.items():
        steps = _steps(values)
        sources = {home for given in steps for home in given.homes}
        if len(steps) >= 2 and len({g.value for g in steps}) >= 2 and len({g.day for g in steps}) >= 2 and len(sources) >= 2:
            found.append(_trend(thing.subject, attribute, steps))
    return found


def _steps(values: tuple[Given, ...]) -> list[Given]:
    """The dated values of the kind most of them have, without repeats in a row."""
    dated = [g for g in values if g.day and g.value.kind != "text" and g.homes]
    kinds = sorted({g.value.kind for g in dated}, key=lambda kind: (-sum(g.value.kind == kind for g in dated), kind))
    alike = [g for g in dated if g.value.kind == kinds[0]] if kinds else []
    return [g for n, g in enumerate(alike) if not n or g.value != alike[n - 1].value]


def _trend(subject: Item, attribute: str, steps: list[Given]) -> Draft:
    first, last = steps[0], steps[-1]
    name = named(steps)
    title = f"{subject.title}, {name}: from {first.claim.value} to {last.claim.value}"
    summary = f"The notes give the {name} of {subject.title} as {first.claim.value} at first and {last.claim.value} at last"
    amounts = [float(g.value.form) for g in steps]
    if all(a < b for a, b in pairwise(amounts)) or all(a > b for a, b in pairwise(amounts)):
        summary = f"The {name} of {subject.title} {_MOVED[amounts[0] < amounts[-1]]} from {first.claim.value} to {last.claim.value}"
    sentences = [Sentence(summary, (first.claim, last.claim, subject))]
    shown = steps if len(steps) <= _SHOWN else [*steps[:2], *steps[-_SHOWN + 2:]]
    for before, given in zip([None, *shown], shown):
        if before is None:
            text = f"{given.day}: {given.claim.value}"
        elif before.day == given.day:
            text = f"{given.day}: also {given.claim.value}"
        else:
            text = f"{given.day}: {_moved(before, given)} {given.claim.value}"
        sentences.append(Sentence(text, (given.claim,), True))
    return Draft("trend", (subject.id, attribute), title, tuple(sentences), len(steps))


def _moved(before: Given, after: Given) -> str:
    up = float(after.value.form) > float(before.value.form)
    return "up to" if up else "down to"


def agreement_of(thing: Thing, documents: Mapping[str, Doc], subjects: Mapping[str, Item]) -> Draft | None:
    """The values of a thing that several documents give alike; None where no measured one is. `subjects`: document → what it is about."""
    agreed: list[tuple[str, list[Given], tuple[str, ...]]] = []
    for values in thing.attributes.values():
        holding = [g for g in values if not g.lapsed and g.value.kind != "text" and g.claim.value not in thing.subject.title]
        for value in sorted({g.value for g in holding}, key=lambda v: (v.kind, v.form)):
            alike = [g for g in holding if g.value == value]
            homes = tuple(sorted({home for g in alike for home in g.homes}))
            if len(homes) >= 2 and any(map(called, alike)):
                agreed.append((named(alike), alike, homes))
    if not agreed:
        return None
    sentences = []
    for name, alike, homes in agreed:
        witnesses = tuple(subjects[home] for home in homes[:_WITNESSES] if home in subjects)
        value = min((g.claim.value for g in alike), key=lambda v: (len(v), v))
        told = listed([documents[h].title for h in homes[:_WITNESSES]])
        sentences.append(Sentence(f"{told} {'both' if len(homes) == 2 else 'all'} give {value} as the {name} of {thing.subject.title}",
                                  tuple(g.claim for g in alike) + witnesses))
    lone = sorted(((name, values[-1].claim) for values in thing.attributes.values()
                   if len({home for g in values for home in g.homes}) == 1 and (name := called(values[-1])) and "," not in name), key=lambda pair: (pair[0].lower(), pair[1].id))
    if lone:
        names = [name for name, _ in lone[:_LONE]]
        told = f"{', '.join(names)} and more rest on one note each" if len(lone) > _LONE else f"{listed(names)} {'rests on one note' if len(lone) == 1 else 'rest on one note each'}"
        sentences.append(Sentence(f"Its {told}", tuple(claim for _, claim in lone[:_LONE])))
    return Draft("agreement", (thing.subject.id,), f"{thing.subject.title}: what several notes agree on", tuple(sentences), len(agreed))
