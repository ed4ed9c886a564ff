"""Which class of memory an object is: what happened, what is so, how something is done, what is always to be done.

REQUIREMENTS.md, section 2, item 9. Owns the rule, a function of an object's type and of the places that state it, and the reading
of those places. A class says how an object ages; it is no revision and decides nothing about what is true.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum

from smb.evolve.snapshot import Doc, Item, Snapshot
from smb.model.identity import fold
from smb.model.objects import MemoryType

PROMOTED_AT = 3  # distinct sessions that state an episode make it knowledge


class MemoryClass(StrEnum):
    EPISODIC = "episodic"
    SEMANTIC = "semantic"
    PROCEDURAL = "procedural"
    POLICY = "policy"
    WORKING_MEMORY = "working memory"


@dataclass(frozen=True, slots=True)
class Stated:
    """One place that states an object: the document with the day it bears ("" without one), whether it tells of a day or a talk,
    the passage's kind and text, and the titles above it, the document's first."""

    document: str
    day: str = ""
    episode: bool = False
    kind: str = ""
    text: str = ""
    context: Sequence[str] = ()


_OF_TYPE = {MemoryType.PLAN: MemoryClass.PROCEDURAL, MemoryType.EVOLUTION: MemoryClass.EPISODIC}
_INSTRUCTS = re.compile(
    r"\b(?:how[ -]?to|steps?|procedures?|instructions?|recipes?|method|set-?up|installation|installing|walk-?through|tutorial|runbook|playbook|"
    r"getting started|quick ?start|checklist|directions|usage)\b|手順|やり方|方法|作り方|使い方|步骤|步驟|操作|教程|做法", re.IGNORECASE)
_STEP = re.compile(r"\s*\d{1,3}[.)、．]\s*\S")
_OPEN_TASK = re.compile(r"\s*(?:[-*+]|\d+[.)])\s+\[ \]")
_PAST = r"(?:been|had|saw|went|did|got|(?!feed|need|seed|embed|exceed|proceed|shed|speed)\w+ed)\b"
_RULE = re.compile(
    r"^\W*(?:please )?(?:always|never|do not|don['’]t|under no circumstances|no one may|nobody may)\s+(?!(?:been|had|have|has|saw|went|\w+[^\Ws]s)\b)\w+"
    r"|^\W*(?:we|you|everyone|everybody|nobody|no one)\s+(?:always|never)\s+(?!" + _PAST + r")\w+"
    r"|^\W*(?:we|you|everyone|everybody|nobody|no one|(?:all|every|each|any|no)\s+[\w -]{2,40}?)\s(?:must|may not)\s+(?!have\b)\w+|\bmust (?:never|always)\s+\w+"
    r"|(?:必ず|絶対に|決して).*(?:こと|する|ない|ください)|(?:して|ては)(?:は)?(?:いけない|ならない)|禁止|(?:必须|必須|务必|務必|不得|绝不|絕不|严禁|嚴禁)", re.IGNORECASE)
_TEXT = 40  # characters of a passage that show whether it is a step or a task
_JOURNAL = re.compile(
    r"(?:^|[/\W_])(?:journals?|diary|diaries|daily|dailies|logs?|logbook|stand-?ups?|minutes|meetings?)(?:[/\W_]|$)|日記|日记|日志|日誌|議事録|会议"
    r"|(?:19|20)\d\d[-_.]?\d\d[-_.]?\d\d", re.IGNORECASE)
_ASKS = re.compile(r"[?？]\s*$")


def class_of(type_: MemoryType, title: str, places: Collection[Stated] = (), by_owner: bool = True) -> tuple[MemoryClass, int]:
    """(the class, the distinct sessions that state it where it is or was an episode, else 0).

    `by_owner` says that it is nobody else's word. What one place states as plain knowledge is no episode.
    """
    if type_ in _OF_TYPE:
        return _OF_TYPE[type_], 0
    if type_ is MemoryType.CONCEPT:
        return (MemoryClass.PROCEDURAL if _how_to(title) else MemoryClass.SEMANTIC), 0
    if type_ is not MemoryType.CLAIM or not places:
        return MemoryClass.SEMANTIC, 0
    if by_owner and any(not place.episode and is_rule(title.removeprefix(f"{place.context[0]}: " if place.context else "")) for place in places):
        return MemoryClass.POLICY, 0
    if all(_OPEN_TASK.match(place.text) for place in places):
        return MemoryClass.WORKING_MEMORY, 0
    if all(place.kind == "item" and _STEP.match(place.text) and any(map(_INSTRUCTS.search, place.context)) for place in places):
        return MemoryClass.PROCEDURAL, 0
    if all(place.episode for place in places):
        sessions = len({place.day or place.document for place in places})
        return (MemoryClass.SEMANTIC if sessions >= PROMOTED_AT else MemoryClass.EPISODIC), sessions
    return MemoryClass.SEMANTIC, 0


def is_rule(sentence: str) -> bool:
    """Whether a sentence says what always or never is to be done.

    >>> is_rule("Never fire above 1290 °C."), is_rule("It must have rained."), is_rule("I never saw Braga.")
    (True, False, False)
    """
    return bool(_RULE.search(sentence)) and not _ASKS.search(sentence)


async def classes(snapshot: Snapshot, items: Collection[Item]) -> dict[str, tuple[MemoryClass, int]]:
    """Id → what `class_of` says of each."""
    places = await _places(snapshot, [item.id for item in items if item.type is MemoryType.CLAIM])
    return {item.id: class_of(item.type, item.title, places.get(item.id, ()), not item.attributed_to) for item in items}


async def _places(snapshot: Snapshot, claims: Collection[str]) -> dict[str, list[Stated]]:
    """The places of live documents that state each claim."""
    catalog, documents = snapshot.catalog, await snapshot.documents()
    rows = await catalog.fetch_in(
        "SELECT e.object_id, e.document_id, p.kind, p.speaker, p.context, substr(p.text, 1, ?) AS text FROM object_evidence e JOIN passages p ON p.rowid = "
        "(SELECT q.rowid FROM passages q WHERE q.source = e.source AND q.byte_start <= e.byte_start AND q.document_id = e.document_id AND q.live = 1 "
        "ORDER BY q.byte_start DESC LIMIT 1) WHERE e.document_id != '' AND e.object_id IN ({marks}) ORDER BY e.object_id, e.document_id, p.rowid", claims, _TEXT)
    found: dict[str, list[Stated]] = {}
    days: dict[str, tuple[str, bool]] = {}
    for row in rows:
        if (document := documents.get(row["document_id"])) is None:
            continue
        if document.id not in days:
            days[document.id] = _day(document)
        day, episode = days[document.id]
        found.setdefault(row["object_id"], []).append(
            Stated(document.id, day, episode or bool(row["speaker"]), row["kind"], row["text"], row["context"].split(" › ")))
    return found


def _day(document: Doc) -> tuple[str, bool]:
    """(the day a document bears or "", whether it is a talk or a journal's page)."""
    day = document.date.start.date().isoformat() if document.date.start is not None else ""
    return day, document.shape == "chat" or bool(day) and any(map(_JOURNAL.search, (document.path, document.title)))


def _how_to(title: str) -> bool:
    return bool(re.match(r"how ?to\b", fold(title))) or title.endswith(("の手順", "のやり方", "の作り方", "の使い方"))
