"""The order of candidates: from rank evidence and surroundings to one number.

Owns the signals, their weights and the formula. Scores order what verdicts admit; they never admit or exclude, and
nothing here reads the bank. Signals that only suit conversation (a turn answers the one before it, a speaker is asked
about) count in documents shaped as chats between people and nowhere else.
"""

from __future__ import annotations

import math
import sqlite3
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from smb.model.identity import fold
from smb.recall.signpost import Headings, is_navigation
from smb.recall.discover import REACH, Found
from smb.recall.query import Plan
from smb.recall.words import TELLS_TIME

NEAR = (1.0, 0.6, 0.4)  # what a word counts for a passage when it stands 0, 1 or 2 passages away
HELPERS = frozenset("user assistant human ai bot system chatgpt claude gpt model agent".split())
SPREAD = 0.5
SHORT_QUESTION = 240  # characters; a longer turn that ends in a question says things too


@dataclass(frozen=True, slots=True)
class Weights:
    """What each signal, each in 0…1, adds."""

    lexical: float
    window: float
    file: float
    dense: float
    dense_file: float
    side: float = 0.0
    answer: float = 0.0
    asks: float = 0.0
    speaker: float = 0.0
    when: float = 0.0
    heading: float = 0.0
    links: float = 0.0


# The place of words counts for more than BM25 of the one passage: in short passages its length and frequency terms are
# noise, and half of what answers a question stands a line away from the words it uses.
NOTE = Weights(lexical=0.7, window=0.4, file=0.25, dense=0.3, dense_file=0.05, when=0.05, heading=0.5, links=0.3)
CHAT = Weights(
    lexical=0.35,
    window=0.4,
    file=0.25,
    dense=0.3,
    dense_file=0.1,
    side=0.12,
    answer=0.2,
    asks=0.12,
    speaker=0.3,
    when=0.2,
)


@dataclass(slots=True)
class Terms:
    """How the question's words lie in the bank: `weight` is each term's share of the question (by idf, summing to 1)."""

    weight: list[float]
    rows: list[list[int]]
    matched: list[bool]


def weigh(plan: Plan, postings: Sequence[Sequence[int]], passages: int) -> Terms:
    """Shares by idf = ln(1 + (N - n + 0.5) / (n + 0.5)) (Robertson and Sparck Jones, as in BM25); an unknown word weighs most."""
    idf = [math.log(1 + (max(passages, len(rows)) - len(rows) + 0.5) / (len(rows) + 0.5)) for rows in postings]
    total = sum(idf) or 1.0
    return Terms([w / total for w in idf], [list(rows) for rows in postings], [bool(rows) for rows in postings])


@dataclass(slots=True)
class Signals:
    """Of one passage, each in 0…1."""

    lexical: float = 0.0
    window: float = 0.0
    cover: float = 0.0
    file: float = 0.0
    dense: float = 0.0
    dense_file: float = 0.0
    side: float = 0.0
    answer: float = 0.0
    asks: float = 0.0
    speaker: float = 0.0
    when: float = 0.0
    heading: float = 0.0
    links: float = 0.0
    total: float = 0.0


@dataclass(slots=True)
class _Version:
    """One document version among the candidates."""

    start: int
    length: int
    chat: bool
    file: float = 0.0
    dense: float = 0.0
    words: dict[int, list[int]] = field(default_factory=dict)  # passage row → terms in it


def score_passages(
    plan: Plan, found: Found, terms: Terms, lengths: Mapping[tuple[str, str], int], shapes: Mapping[str, str]
) -> dict[int, Signals]:
    """Row → signals, `total` among them, of every passage candidate whose row was read."""
    rows = {row: found.rows[row] for row in found.of("passage") if row in found.rows}
    if not rows:
        return {}
    versions = _versions(rows, terms, lengths, shapes)
    best_lexical = (
        max(
            (routes["lexical"][1] for (kind, _), routes in found.by.items() if kind == "passage" and "lexical" in routes),
            default=0.0,
        )
        or 1.0
    )
    lexical = {
        row: routes["lexical"][1] / best_lexical
        for (kind, row), routes in found.by.items()
        if kind == "passage" and "lexical" in routes
    }
    dense = _dense(rows, found)
    for row, cosine in dense.items():
        version = versions[_version_key(rows[row])]
        version.dense = max(version.dense, cosine)
    scored: dict[int, Signals] = {}
    headings = Headings(plan.terms)
    named = _speakers(plan, rows)
    for row, passage in rows.items():
        version = versions[_version_key(passage)]
        signals = Signals(lexical=lexical.get(row, 0.0), dense=dense.get(row, 0.0), dense_file=version.dense, file=version.file)
        signals.cover, signals.window = _window(row, version, terms)
        if plan.asks_when and passage["kind"] not in ("heading", "code") and TELLS_TIME.search(passage["text"]):
            signals.when = 1.0
        weights = NOTE
        if version.chat and passage["kind"] == "turn":
            weights = CHAT
            _talk(signals, row, version, found, lexical, dense, named)
        else:
            signals.heading = headings.of(passage["context"])
            signals.links = float(is_navigation(passage["text"]))
        signals.total = sum(getattr(weights, name) * getattr(signals, name) * (-1 if name in _AGAINST else 1) for name in _NAMES)
        scored[row] = signals
    return scored


SIGNALS = (*Weights.__slots__, "cover")
_NAMES = tuple(Weights.__slots__)
_AGAINST = frozenset(("asks", "links"))


def _version_key(row: sqlite3.Row) -> tuple[str, str]:
    return (row["document_id"], row["source"])


def _versions(
    rows: Mapping[int, sqlite3.Row], terms: Terms, lengths: Mapping[tuple[str, str], int], shapes: Mapping[str, str]
) -> dict[tuple[str, str], _Version]:
    versions: dict[tuple[str, str], _Version] = {}
    speakers: dict[tuple[str, str], set[str]] = {}
    for row, passage in rows.items():
        key = _version_key(passage)
        if key not in versions:
            versions[key] = _Version(
                row - passage["ordinal"], lengths.get(key, passage["ordinal"] + 1), shapes.get(passage["document_id"]) == "chat"
            )
        speakers.setdefault(key, set()).add(fold(passage["speaker"]))
    usual = sum(v.length for v in versions.values()) / len(versions)
    for key, version in versions.items():
        version.chat = version.chat and not speakers[key] & HELPERS
        for n, held in enumerate(terms.rows):
            first, last = bisect_left(held, version.start), bisect_left(held, version.start + version.length)
            for place in range(first, last):
                version.words.setdefault(held[place], []).append(n)
            if count := last - first:
                version.file += terms.weight[n] * count / (count + 0.5 + 0.75 * version.length / usual)
    best = max((v.file for v in versions.values()), default=0.0) or 1.0
    for version in versions.values():
        version.file /= best
    return versions


def _window(row: int, version: _Version, terms: Terms) -> tuple[float, float]:
    """(share of the question's words in the passage itself, the same with those around it at the worth of `NEAR`)."""
    held: dict[int, float] = {}
    for step in range(-REACH, REACH + 1):
        for n in version.words.get(row + step, ()):
            held[n] = max(held.get(n, 0.0), NEAR[abs(step)])
    return sum(terms.weight[n] for n, near in held.items() if near == 1.0), sum(
        terms.weight[n] * near for n, near in held.items()
    )


def _dense(rows: Mapping[int, sqlite3.Row], found: Found) -> dict[int, float]:
    """Cosines spread over 0…1 between the least and the greatest among the candidates, where those lie SPREAD apart; of
    candidates all about equally near, none is far ahead for it."""
    if found.similarity is None:
        return {}
    known = len(found.similarity)
    cosine = {
        row: float(found.similarity[p["vector_row"]])
        for row, p in rows.items()
        if p["vector_row"] is not None and p["vector_row"] < known
    }
    low, high = min(cosine.values(), default=0.0), max(cosine.values(), default=0.0)
    return {row: (c - low) / max(high - low, SPREAD) for row, c in cosine.items()}


def _speakers(plan: Plan, rows: Mapping[int, sqlite3.Row]) -> set[str]:
    """The speakers the question names, if it names one of those who speak in the candidates and not several."""
    asked = set(plan.names)
    named = {
        speaker
        for speaker in {fold(p["speaker"]) for p in rows.values() if p["speaker"]}
        if speaker in asked or speaker.split(" ")[0] in asked
    }
    return named if len(named) == 1 else set()


def _talk(
    signals: Signals,
    row: int,
    version: _Version,
    found: Found,
    lexical: Mapping[int, float],
    dense: Mapping[int, float],
    named: set[str],
) -> None:
    passage = found.rows[row]
    for step in (-1, 1):
        if version.start <= row + step < version.start + version.length:
            signals.side += (lexical.get(row + step, 0.0) + dense.get(row + step, 0.0)) / 2
            if step < 0 and (before := found.rows.get(row - 1)) and _asks(before["text"]):
                signals.answer = lexical.get(row - 1, 0.0)
    signals.asks = float(_asks(passage["text"]))
    signals.speaker = float(fold(passage["speaker"]) in named)


def _asks(text: str) -> bool:
    return len(text) <= SHORT_QUESTION and text.rstrip(" *_)]").endswith(("?", "？"))
