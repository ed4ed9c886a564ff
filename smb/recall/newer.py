"""Newer statements before older ones about the same thing.

Owns the order of two statements that no revision sets against each other: where both match a question about how things
are, and the later one reads as an update of the earlier, it goes first. It says nothing of what is current: neither is
marked superseded, and both stay. Time is the date a note bears, else the place in its document, else the number that alone
tells two file names apart.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from smb.recall.discover import stem
from smb.recall.pack import Unit
from smb.recall.query import Operation, Plan
from smb.recall.rank_objects import Asked
from smb.recall.words import IRREGULAR, STOP_WORDS

COMPARED = 40  # best units that are looked at
# Measured on made-up updates against other pairs of turns about one topic: what separates them is that an update says
# most of what was asked, comes from the same speaker, is near in meaning, and names another figure or a change.
OLDER_COVERS, SHARE = 0.5, 0.45  # of the question, by weight, the older says; of that, the newer
ALIKE, ALIKE_WORDS = 0.35, 0.25  # cosine of the two; without vectors, the share of words they have in common besides the question's
NEAR = 0.55  # share of the older's score the newer needs

Vectors = Callable[[Sequence[int]], Any]

_PRESENT = re.compile(
    r"^\W*(?:and |so |but )?(?:(?:on |in |at |to |for |with |from )?(?:what|which|who|whose|where)(?!\w)|how (?:many|much|often|long|far|big|large|old|fast|high|hot)\b|"
    r"(?:what|who|where)['’]s\b|(?:tell me|give me|show me|remind me)\b)|(?:何|どこ|誰|だれ|いくつ|いくら|どの|什么|什麼|哪|谁|誰|多少|几|幾)", re.I
)
_PAST = re.compile(
    r"\b(?:did|was|were|had|used to|first|original(?:ly)?|initial(?:ly)?|previous(?:ly)?|former(?:ly)?|earlier|before|ago|old|history|"
    r"changed|in the past|at the time|back then|when|would|could|might|should|if|why)\b|以前|最初|当初|昔|原来|之前|本来|だった|ました", re.I
)
_CHANGE = re.compile(
    r"\b(?:now|nowadays|these days|currently|no longer|any ?more|instead|after all|from (?:now|this|next) \w+|moved|switched|changed|swapped|"
    r"replaced|migrated|ported|upgraded|downgraded|renamed|rewr(?:ote|itten)|t(?:ook|aken|akes) over|raised|lowered|increased|decreased|reduced|"
    r"extended|shortened|postponed|grew|went (?:up|down|to|from)|dropped|ditched|gave up|settled|became|updated?|correction|turns? out|bumped)\b"
    r"|今は|現在|もう|新し|変わ|変更|になっ|现在|已经|改为|改成|换成|不再|更新",
    re.I,
)
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_NAME = re.compile(r"(?<=[a-z,;)] )[A-Z][\w'’.-]*[A-Za-z0-9]")
_WORDS = re.compile(r"[^\W_]+")
_PARTS = re.compile(r"(\d+)")


@dataclass(frozen=True, slots=True)
class _Said:
    """One unit as compared: its words and the numbers it names, the question's apart, and where it was said."""

    unit: Unit
    strength: float  # what its passage matches, without what a key adds
    words: frozenset[str]
    cover: float
    numbers: frozenset[str]
    names: frozenset[str]
    changed: bool
    place: int | None  # in its document
    speaker: str
    vector: Any  # float32 (dim,) or None


def mark_updates(
    units: Sequence[Unit], plan: Plan, documents: Mapping[str, sqlite3.Row], asked: Asked, rows: Mapping[int, sqlite3.Row], vectors: Vectors | None
) -> None:  # fmt: skip
    """Names, for a question about the present, in each unit that reads as updated the newest unit that updates it.
    `rows` are the passages read, `vectors(rows)` their embeddings."""
    if not about_now(plan) or len(units) < 2:
        return
    said = _read(units, plan, asked, rows, vectors)
    for older in said:
        newest: _Said | None = None
        for newer in said:
            if newer is not older and updates(newer, older) and later(newer, older, documents) and (newest is None or later(newer, newest, documents)):
                newest = newer
        older.unit.updated_by = newest.unit.id if newest is not None else ""


def _read(units: Sequence[Unit], plan: Plan, asked: Asked, rows: Mapping[int, sqlite3.Row], vectors: Vectors | None) -> list[_Said]:
    passages = {row["id"]: row for row in rows.values()}
    best = [u for u in units[:COMPARED] if u.verdict in ("current", "contested") and u.document]
    home = {u.id: next((passages[i] for i in (u.id, *u.attached) if i in passages), None) for u in best}
    embedded = [u for u in best if (row := home[u.id]) is not None and row["vector_row"] is not None]
    known = dict(zip((u.id for u in embedded), vectors([home[u.id]["vector_row"] for u in embedded]), strict=True)) if vectors and embedded else {}
    numbers, own = frozenset(_NUMBER.findall(plan.text)), _words(plan.text)
    return [
        _Said(
            u, u.signals.total if u.signals is not None else u.score, _words(u.text) - own, asked.cover(u.text), frozenset(_NUMBER.findall(u.text)) - numbers, _names(u.text) - own, bool(_CHANGE.search(u.text)),
            row["ordinal"] if (row := home[u.id]) is not None else None, row["speaker"] if row is not None else "", known.get(u.id),
        )
        for u in best
    ]  # fmt: skip


def _names(text: str) -> frozenset[str]:
    """Words with a capital inside a sentence, folded as words are."""
    return frozenset(stem(m[0].casefold()) for m in _NAME.finditer(text) if m[0].casefold() not in STOP_WORDS)


def _words(text: str) -> frozenset[str]:
    return frozenset(stem(IRREGULAR.get(w, w)) for w in _WORDS.findall(text.casefold()) if w not in STOP_WORDS)


def about_now(plan: Plan) -> bool:
    """Whether a question asks what or how much something is, and names no time and no past."""
    if plan.operation not in (Operation.FACT, Operation.COUNT, Operation.LIST) or plan.times or _PAST.search(plan.text):
        return False
    done = any(m["verb"].lower() in IRREGULAR or m["verb"].lower().endswith("ed") for m in _perfects(plan.text))
    return bool(_PRESENT.search(plan.text)) and not done


def _perfects(text: str) -> Iterator[re.Match[str]]:
    """Every word within reach of a "has" or "have": one of them a participle makes it a question of what was done so far."""
    for helper in re.finditer(r"\b(?:has|have)\b", text, re.I):
        for words in range(6):
            if found := re.compile(rf"(?:has|have)\s(?:\S+\s){{{words}}}(?P<verb>[a-z]+)\b", re.I).match(text, helper.start()):
                yield found


def updates(newer: _Said, older: _Said) -> bool:
    """Whether a statement reads as an update of another: of the same speaker, about the same, and it gives another figure,
    names something else, or says that something changed."""
    if older.cover < OLDER_COVERS or newer.cover < SHARE * older.cover or newer.speaker != older.speaker:
        return False
    if newer.strength < NEAR * older.strength or newer.unit.text.rstrip(" *_").endswith(("?", "!", "？", "！")):
        return False
    figures = bool(newer.numbers) and bool(older.numbers) and newer.numbers != older.numbers
    named = bool(newer.names) and bool(older.names) and newer.names.isdisjoint(older.names)
    return (figures or named or newer.changed) and alike(newer, older)


def alike(a: _Said, b: _Said) -> bool:
    """Whether two statements are near in meaning: by cosine where both are embedded, else by the words they share."""
    if a.vector is not None and b.vector is not None:
        return float(a.vector @ b.vector) >= ALIKE
    return len(a.words & b.words) >= ALIKE_WORDS * min(len(a.words), len(b.words))


def later(newer: _Said, older: _Said, documents: Mapping[str, sqlite3.Row]) -> bool:
    """Whether one unit was said after another, as far as can be told."""
    if newer.unit.document == older.unit.document:
        return older.place is not None and newer.place is not None and newer.place > older.place
    a, b = documents.get(newer.unit.document), documents.get(older.unit.document)
    if a is None or b is None:
        return False
    if a["valid_from"] and b["valid_from"]:
        return a["valid_from"] > b["valid_from"]
    return _numbered_after(a["path"], b["path"])


def _numbered_after(path: str, other: str) -> bool:
    """Whether two paths differ in numbers alone and the first has the greater."""
    a, b = _PARTS.split(path), _PARTS.split(other)
    return len(a) == len(b) and a[::2] == b[::2] and [int(n) for n in a[1::2]] > [int(n) for n in b[1::2]]
