"""What was said later against a value.

Owns how a sentence takes a value back: it was moved, replaced, closed, is no longer so. Sentences count that stand in notes which link
to the thing or are linked from it, date after the value, and record no proposal. Never judges: what they say is shown beside the value.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Mapping

from smb.evolve.combining.values import Given
from smb.evolve.snapshot import Item, Snapshot
from smb.evolve.specifications import NOT_YET, OVER
from smb.model.edges import EdgeType
from smb.model.identity import fold
from smb.model.objects import MemoryType

_CHANGE = re.compile(
    r"\b(?:from .+ to|replac(?:ed|es)|no longer|instead of|rather than|closed|retired|switched off|not any ?more|now (?:gets?|has|have|gives?|is|are) no)\b", re.IGNORECASE)
_ENDED = r"(?:\s+(?:is|are|was|were|has been|have been|been|\w+))?\s+(?:replaced|closed|retired|switched off|abandoned|no longer|not any ?more|now (?:gets?|has|have|gives?|is|are) no)\b"
_PREPOSITION = re.compile(r",? (?:behind|at|on|in|by|with|for|via|through) |, | \(")
_SHORTEST = 2  # characters of a value that is looked for


async def said_later(snapshot: Snapshot, subjects: Collection[str]) -> dict[str, list[Item]]:
    """Thing → the sentences of its notes and of those beside it that take something back, in order of time."""
    beside: dict[str, set[str]] = {i: {i} for i in subjects}
    for edge in await snapshot.edges_at(subjects):
        if edge.type is not EdgeType.EXPLAINS:
            for one, other in ((edge.source, edge.target), (edge.target, edge.source)):
                if one in beside:
                    beside[one].add(other)
    told: dict[str, list[Item]] = defaultdict(list)
    waived: set[str] = set()
    for claim in snapshot.stated(MemoryType.CLAIM):
        about = snapshot.canonical(claim.about)
        if claim.attribute == "status" and fold(claim.value) in OVER | NOT_YET:
            waived.add(about)
        elif claim.valid_from and not claim.attributed_to and _CHANGE.search(claim.title):
            told[about].append(claim)
    return {i: sorted((c for other in near - waived for c in told.get(other, ())), key=lambda c: (c.valid_from or "", c.id)) for i, near in sorted(beside.items())}


async def bearing_on(snapshot: Snapshot, about: Collection[str]) -> set[str]:
    """What is linked with those of `about` that take something back."""
    speaking = {i for c in snapshot.stated(MemoryType.CLAIM) if (i := snapshot.canonical(c.about)) in about and _CHANGE.search(c.title)}
    return {end for edge in await snapshot.edges_at(speaking) for end in (edge.source, edge.target)} - set(about)


def against(given: Given, name: str, later: Mapping[str, list[Item]], subject: Item) -> Item | None:
    """The latest sentence that takes a value back, None where there is none. A bare figure counts beside its attribute only."""
    value = _PREPOSITION.split(given.claim.value.strip().rstrip("."), maxsplit=1)[0]
    if len(value) < _SHORTEST:
        return None
    bare = not any(c.isalpha() for c in value)
    for claim in reversed(later.get(subject.id, ())):
        if (claim.valid_from or "") > (given.claim.valid_from or "") and claim.id != given.claim.id and (not bare or _names(claim.title, name)):
            if _takes_back(value, claim.title):
                return claim
    return None


def _names(sentence: str, name: str) -> bool:
    return bool(name) and re.search(rf"(?<!\w){re.escape(fold(name))}(?!\w)", fold(sentence)) is not None


def _takes_back(value: str, sentence: str) -> bool:
    """Whether `sentence` says that `value` gave way to something.

    >>> _takes_back("8090", "The server moved from port 8090 to port 8443."), _takes_back("8443", "The server moved from port 8090 to port 8443.")
    (True, False)
    """
    old = rf"(?<![\w.]){re.escape(value)}(?![\w]|\.\d)"
    return re.search(
        rf"\bfrom (?:\w+ ){{0,2}}{old}.{{0,40}}? to |{old}{_ENDED}|\b(?:instead of|rather than|no longer|replac(?:es|ed)) (?:\w+ ){{0,2}}{old}", sentence, re.IGNORECASE) is not None
