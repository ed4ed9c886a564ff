"""When something happened: the dated statements of the bank that say all of a phrase.

Owns which date a statement gives: the one its own words name, counted from its note's date where they say "yesterday",
else the heading above it, else, surely enough only where nothing better is said, the date of its note. Never guesses: a
statement with two dates gives none.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from smb.model.english import IRREGULAR, NEGATIONS
from smb.model.identity import fold
from smb.model.validity import Interval, from_iso
from smb.recall.discover import stem
from smb.recall.late_pattern import LatePattern
from smb.recall.query import Plan, content_words
from smb.recall.time_expression import Relation, read_times
from smb.recall.verdicts import Judged, judge_objects, sources_known
from smb.stores.catalog_reader import CatalogReader
from smb.stores.lexical import match_query

LOOKED_AT = 40  # objects, and passages, that share most words with the phrase
_WORDS = LatePattern(r"[^\W_]+")
_SENTENCES = LatePattern(r"(?<=[.!?。！？])\s+|(?<=[。！？])|\n")
_LEAVES = frozenset("happen happened occur occurred take took place date day month year time first last exactly".split())


@dataclass(frozen=True, slots=True)
class Dated:
    """One dated statement: the stretch it names, its words, and the object or passage it is. `said` tells whether its own
    words or heading give the date, rather than its note."""

    when: Interval
    text: str
    said: bool
    passage: sqlite3.Row | None = None
    object_row: int | None = None
    judged: Judged | None = None


async def dates_of(phrase: str, plan: Plan, reader: CatalogReader) -> list[Dated]:
    """The statements that say all of a phrase, those whose own words date them if there are any, else those whose note
    does; one a stretch (objects before passages), a stretch that lies around another left out."""
    words = tuple(w for w in content_words(phrase) if fold(w) not in _LEAVES) or content_words(phrase)
    if not words or not (match := match_query(words)):
        return []
    found = [*await _objects(words, match, plan, reader), *await _passages(words, match, plan, reader)]
    best = [one for one in found if one.said] or found
    distinct: dict[Interval, Dated] = {}
    for one in best:
        distinct.setdefault(one.when, one)
    return [
        one
        for one in distinct.values()
        if not any(other is not one and _within(other.when, one.when) for other in distinct.values())
    ]


def says(words: Iterable[str], text: str, around: str = "") -> bool:
    """Whether all words are in a text or what is around it, at least one of them in the text itself."""
    own, near = _bases(text), _bases(around)
    wanted = [(word, _bases(word)) for word in words]
    inside = [(bases <= own) or (not word.isascii() and word in text) for word, bases in wanted]
    return any(inside) and all(
        ok or bases <= own | near or (not word.isascii() and word in around)
        for ok, (word, bases) in zip(inside, wanted, strict=True)
    )


def date_said(text: str, written: datetime | None) -> Interval | None:
    """The one stretch a statement's words date it to; `written` is the day its note bears. None for none, or several."""
    named = {
        one.named
        for one in read_times(text, written, events=False)
        if one.resolved and one.relation in (Relation.IN, Relation.AS_OF, Relation.SINCE)
    }
    named = {one for one in named if not any(other != one and _within(other, one) for other in named)}
    return next(iter(named)) if len(named) == 1 else None


def _bases(text: str) -> set[str]:
    return {stem(_base(word)) for word in _WORDS.findall(text.casefold())}


def _base(word: str) -> str:
    """A verb in its plain form, where it is an irregular past, "re" before it or not."""
    if word.startswith("re") and word[2:] in IRREGULAR:
        return f"re{IRREGULAR[word[2:]]}"
    return IRREGULAR.get(word, word)


def _within(inner: Interval, outer: Interval) -> bool:
    """Whether a known stretch lies wholly inside another."""
    return bool(inner.start and inner.end and outer.start and outer.end and outer.start <= inner.start and inner.end <= outer.end)


def _denied(text: str, plan: Plan) -> bool:
    words = fold(text).split()
    return not plan.negated and any(word in NEGATIONS or word.endswith(("n't", "n’t")) for word in words)


async def _objects(words: Sequence[str], match: str, plan: Plan, reader: CatalogReader) -> list[Dated]:
    if not plan.scope.objects:
        return []
    rows = await reader.objects([row for row, _ in await reader.lexical_objects(match, plan.scope, LOOKED_AT)])
    judged = await judge_objects([row for row in rows if row["type"] == "claim"], plan.as_of, reader, plan.during)
    held = {
        row: one
        for row, one in judged.items()
        if one.holds and says(words, f"{one.title}\n{one.body}") and not _denied(one.title, plan)
    }
    homes: dict[str, str] = {}
    for line in await reader.evidence_of([one.row["id"] for one in held.values()]):
        homes.setdefault(line["object_id"], line["document_id"])
    written = await _written(homes.values(), reader)
    found = []
    for row, one in held.items():
        day = written.get(homes.get(one.row["id"], ""))
        said = date_said(one.value, day.start if day else None) if one.value else None
        said = said or date_said(one.title, day.start if day else None)
        if said is not None:
            found.append(Dated(said, one.title, True, object_row=row, judged=one))
        elif day is not None and one.valid_from is not None and from_iso(one.valid_from) == day.start:
            found.append(Dated(day, one.title, False, object_row=row, judged=one))
    return found


async def _passages(words: Sequence[str], match: str, plan: Plan, reader: CatalogReader) -> list[Dated]:
    if not plan.scope.passages:
        return []
    rows = await reader.passages([row for row, _ in await reader.lexical_passages(match, plan.scope, LOOKED_AT)])
    if plan.scope.past:
        known = await sources_known({row["document_id"] for row in rows}, plan.clocks, reader)
        rows = [row for row in rows if row["source"] in known.get(row["document_id"], ())]
    written = await _written({row["document_id"] for row in rows}, reader)
    found = []
    for row in rows:
        around = f"{row['context']}\n{row['speaker']}"
        if row["kind"] in ("code", "properties", "heading", "title"):
            continue
        day = written.get(row["document_id"])
        start = day.start if day else None
        for sentence in _SENTENCES.split(row["text"]):
            if (
                not sentence.strip()
                or sentence.rstrip(" *_").endswith(("?", "？"))
                or _denied(sentence, plan)
                or not says(words, sentence, around)
            ):
                continue
            said = date_said(sentence, start) or next(
                (d for part in reversed(row["context"].split(" › ")[1:]) if (d := date_said(part, start))), None
            )
            if said is not None:
                found.append(Dated(said, sentence.strip(), True, passage=row))
            elif day is not None:
                found.append(Dated(day, sentence.strip(), False, passage=row))
    return found


async def _written(documents: Iterable[str], reader: CatalogReader) -> dict[str, Interval]:
    """Document id → the stretch its own date names, where it bears one."""
    rows = await reader.documents(sorted(set(documents)))
    return {
        row["id"]: Interval(start, from_iso(row["valid_to"]))
        for row in rows
        if (start := from_iso(row["valid_from"])) is not None
    }
