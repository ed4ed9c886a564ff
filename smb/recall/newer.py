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

from smb.model.english import IRREGULAR, STOP_WORDS
from smb.recall.discover import stem
from smb.recall.late_pattern import LatePattern
from smb.recall.pack import Unit
from smb.recall.query import Operation, Plan
from smb.recall.rank_objects import Asked

COMPARED = 24  # best units that are looked at
# Measured on made-up updates against other pairs of turns about one topic: what separates them is that an update says
# most of what was asked, comes from the same speaker, is near in meaning, and names another figure or a change.
OLDER_COVERS = 0.5  # share of the question, by weight, the older says …
SHARE, LEAST_SHARE = 0.45, 0.3  # … and of that the newer
ALIKE, VERY_ALIKE = 0.35, 0.45  # cosine of the two; without vectors, the share of words they have in common
NEAR = 0.55  # share of the older's match with the question the newer needs

Vectors = Callable[[Sequence[int]], Any]

_PRESENT = LatePattern(
    r"^\W*(?:and |so |but )?(?:(?:on |in |at |to |for |with |from )?(?:what|which|who|whose|where)(?!\w)|(?:at )?(?:what time|when) (?:do|does|is|are)\b|how (?:many|much|often|long|far|big|large|old|fast|high|hot)\b|"
    r"(?:what|who|where)['’]s\b|(?:tell me|give me|show me|remind me)\b)|(?:何|どこ|誰|だれ|いくつ|いくら|どの|什么|什麼|哪|谁|誰|多少|几|幾)",
    re.I,
)
_PAST = LatePattern(
    r"\b(?:did|was|were|had|used to|first|original(?:ly)?|initial(?:ly)?|previous(?:ly)?|former(?:ly)?|earlier|before|ago|old|history|"
    r"changed|in the past|at the time|back then|would|could|might|should|if|why)\b|以前|最初|当初|昔|原来|之前|本来|だった|ました",
    re.I,
)
_CHANGE = LatePattern(
    r"\b(?:now|nowadays|these days|currently|no longer|any ?more|instead|after all|from (?:now|this|next) \w+|moved|switched|changed|swapped|"
    r"replaced|migrated|ported|upgraded|downgraded|renamed|rewr(?:ote|itten)|t(?:ook|aken|akes) over|raised|lowered|increased|decreased|reduced|"
    r"extended|shortened|postponed|grew|went (?:up|down|to|from)|dropped|ditched|gave up|settled|became|updated?|correction|turns? out|bumped)\b"
    r"|今は|現在|もう|新し|変わ|変更|になっ|现在|已经|改为|改成|换成|不再|更新",
    re.I,
)
_NUMBER = LatePattern(
    r"\d+(?:[.,:]\d+)*|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|"
    r"twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|dozen|half|quarter|twice|thrice)\b|[一二三四五六七八九十百千万]+",
    re.I,
)
_SAME_IN_PAST = frozenset("read put set hit let hurt quit shut spread cost bet".split())
_PREFIX = LatePattern(
    r"^[^:\n]{0,80}\d{4}-\d{2}(?:-\d{2})?[^:\n]{0,20}: "
)  # a title that tells a claim of one note from another's
_LINKED = LatePattern(r"\[\[[^\]]*\]\]|\]\([^)]*\)|https?://\S+")  # figures in there are names of notes
_WORDS = LatePattern(r"[^\W_]+")
_PARTS = LatePattern(r"(\d+)")


@dataclass(frozen=True, slots=True)
class _Said:
    """One unit as compared: its words and the numbers it names, the question's apart, and where it was said."""

    unit: Unit
    strength: float  # what its passage matches, without what a key adds
    words: frozenset[str]
    cover: float
    numbers: frozenset[str]
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
            if (
                newer is not older
                and updates(newer, older)
                and later(newer, older, documents)
                and (newest is None or later(newer, newest, documents))
            ):
                newest = newer
        older.unit.updated_by = newest.unit.id if newest is not None else ""


def _read(
    units: Sequence[Unit], plan: Plan, asked: Asked, rows: Mapping[int, sqlite3.Row], vectors: Vectors | None
) -> list[_Said]:
    passages = {row["id"]: row for row in rows.values()}
    covers = {
        u.id: u.signals.cover if u.signals is not None and u.passage is not None else asked.cover(u.text)
        for u in units[:COMPARED]
    }
    best = [
        u
        for u in units[:COMPARED]
        if u.verdict in ("current", "contested") and u.document and covers[u.id] >= LEAST_SHARE * OLDER_COVERS
    ]
    if len(best) < 2:
        return []
    home = {u.id: next((passages[i] for i in (u.id, *u.attached) if i in passages), None) for u in best}
    embedded = [u for u in best if (row := home[u.id]) is not None and row["vector_row"] is not None]
    known = (
        dict(zip((u.id for u in embedded), vectors([home[u.id]["vector_row"] for u in embedded]), strict=True))
        if vectors and embedded
        else {}
    )
    numbers = _figures(plan.text)
    return [
        _Said(
            u, u.signals.total if u.signals is not None else u.score, frozenset() if known else _words(u.text), covers[u.id], _figures(u.text) - numbers, bool(_CHANGE.search(u.text)),
            row["ordinal"] if (row := home[u.id]) is not None else None, row["speaker"] if row is not None else "", known.get(u.id),
        )
        for u in best
    ]  # fmt: skip


def _figures(text: str) -> frozenset[str]:
    return frozenset(figure.lower() for figure in _NUMBER.findall(_PREFIX.sub("", _LINKED.sub(" ", text))))


def _words(text: str) -> frozenset[str]:
    return frozenset(stem(IRREGULAR.get(w, w)) for w in _WORDS.findall(text.casefold()) if w not in STOP_WORDS)


def about_now(plan: Plan) -> bool:
    """Whether a question asks what or how much something is, and names no time and no past."""
    if (
        plan.operation is Operation.TEMPORAL_ARITHMETIC
        or plan.times
        or plan.as_of.valid_at is not None
        or _PAST.search(plan.text)
    ):
        return False
    done = any(
        m["verb"].lower() in IRREGULAR or m["verb"].lower() in _SAME_IN_PAST or m["verb"].lower().endswith("ed")
        for m in _perfects(plan.text)
    )
    return bool(_PRESENT.search(plan.text)) and not done


def _perfects(text: str) -> Iterator[re.Match[str]]:
    """Every word within reach of a "has" or "have": one of them a participle makes it a question of what was done so far."""
    for helper in re.finditer(r"\b(?:has|have)\b", text, re.I):
        for words in range(6):
            if found := re.compile(rf"(?:has|have)\s(?:\S+\s){{{words}}}(?P<verb>[a-z]+)\b", re.I).match(text, helper.start()):
                yield found


def updates(newer: _Said, older: _Said) -> bool:
    """Whether a statement reads as an update of another: of the same speaker, about the same, and it gives another figure, or
    says that something changed and is nearer still."""
    if older.cover < OLDER_COVERS or newer.speaker != older.speaker or newer.strength < NEAR * older.strength:
        return False
    if newer.unit.text.rstrip(" *_").endswith(("?", "!", "？", "！")):
        return False
    covers, likeness = newer.cover / older.cover, alike(newer, older)
    if newer.numbers and older.numbers and not newer.numbers <= older.numbers:
        return likeness >= ALIKE and covers >= SHARE or likeness >= VERY_ALIKE and covers >= LEAST_SHARE
    return newer.changed and likeness >= VERY_ALIKE and covers >= SHARE


def alike(a: _Said, b: _Said) -> float:
    """How near two statements are in meaning: their cosine where both are embedded, else the share of words in common."""
    if a.vector is not None and b.vector is not None:
        return float(a.vector @ b.vector)
    return len(a.words & b.words) / max(1, min(len(a.words), len(b.words)))


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
