"""What a question asks for, worked out by rules alone.

Owns the request as the caller puts it and the plan the routes follow. Never reads the bank, so the same question gives
the same plan everywhere. A long question keeps its first MAX_TERMS distinct content words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from smb.model.currentness import AsOf
from smb.model.english import NEGATIONS, STOP_WORDS
from smb.model.errors import SmbError
from smb.model.identity import fold
from smb.model.validity import ALWAYS, Interval, parse_interval
from smb.recall.late_pattern import LatePattern
from smb.recall.time_expression import MICRO, Relation, TimeExpression, own_date, read_times, window_of
from smb.recall.words import ARITHMETIC, COUNT, IMPLIED, LIST, LOOKUP, OVERVIEW, OVERVIEW_KINDS, OVERVIEW_WORDS
from smb.stores.catalog_reader import Scope
from smb.stores.lexical import match_query, ngrams

MAX_TERMS = 32  # distinct content words of a question that are searched
MAX_CHARACTERS = 12_000  # of a question that are looked at at all
NAME_WORDS = 5  # longest name looked up
MAX_NAMES = 400
UNSPACED_RUN, UNSPACED_NAME = 40, 8  # characters of an unspaced run that are looked at, and of a name in it

_QUOTED = LatePattern(r"\"([^\"\n]{2,99})\"|“([^”\n]{2,99})”|«([^»\n]{2,120})»|「([^」\n]{2,60})」|`([^`\n]{2,120})`")
_WORD = LatePattern(r"[^\W_]+(?:[-'’._+#/@:][^\W_]+)*\+{0,2}#?")
_POSSESSIVE = LatePattern(r"['’]s$", re.IGNORECASE)
_PARTS = LatePattern(r"[^\W_]+")


class EmptyQuery(SmbError):
    exit_code = 2

    def __init__(self) -> None:
        super().__init__('The question is empty. Say what to look for: smb recall "which kiln is hottest".')


class Operation(StrEnum):
    FACT = "FACT"
    COUNT = "COUNT"
    LIST = "LIST"
    TEMPORAL_LOOKUP = "TEMPORAL_LOOKUP"
    TEMPORAL_ARITHMETIC = "TEMPORAL_ARITHMETIC"


@dataclass(frozen=True, slots=True)
class RecallRequest:
    """One question and how it is to be answered; the fields are the options of `smb recall` (DESIGN.md, section 8).

    `types`, `tags`, `sources` (path globs or prefixes) and `layers` narrow what may be found: any of each, all together.
    `budget` is in tokens of `pack.tokens_of`. `now` is the caller's clock; only a reading of recency uses it.
    """

    query: str
    n: int = 10
    budget: int = 2000
    as_of: datetime | None = None
    known_at: datetime | None = None
    now: datetime | None = None
    types: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    layers: tuple[int, ...] = ()
    hops: int = 2
    min_score: float | None = None
    include_superseded: bool = False
    explain: bool = False
    lexical: bool = False

    @classmethod
    def of(cls, query: str, **options: Any) -> RecallRequest:
        """A request from options as interfaces have them: None for "not given", times as text or datetime, `source` and
        `layer` for one of each. A `known_at` that names a day or a month means its end. Raises TimeError."""
        given = {name: value for name, value in options.items() if value is not None}
        for one, many in (("source", "sources"), ("layer", "layers"), ("type", "types"), ("tag", "tags")):
            if one in given:
                value = given.pop(one)
                given[many] = (*given.get(many, ()), *((value,) if isinstance(value, (str, int)) else value))
        for name in ("types", "tags", "sources", "layers"):
            if name in given:
                given[name] = tuple(str(v) if isinstance(v, str) else v for v in given[name])
        for name in ("as_of", "known_at", "now"):
            if isinstance(at := given.get(name), str):
                interval = parse_interval(at)
                given[name] = interval.end - timedelta(microseconds=1) if name == "known_at" and interval.end else interval.start
        return cls(query, **given)


@dataclass(frozen=True, slots=True)
class Plan:
    """`terms` are content words in order, `phrases` what was quoted, `names` folded n-grams to look up as names;
    `implied` the attributes it asks for without naming them ("where": location). `cut` says words were left out.

    `times` are the times the question names. `during` is the stretch a question about a past state asks for ("in March
    2031", "before the move"): verdicts are given for its end, and what held only within it, or says nothing of when it
    holds, is let through. ALWAYS with `--as-of`, "as of" or no such time: then the clocks alone decide.

    `overview` says that no one fact is asked for: then what evolution worked out may stand beside what notes state. Else the
    scope admits it only where `--type` or `--layer` asks for it. `kinds` are the types made for what it asks.
    """

    text: str
    operation: Operation
    terms: tuple[str, ...]
    phrases: tuple[str, ...]
    names: tuple[str, ...]
    as_of: AsOf
    scope: Scope
    hops: int
    cut: bool
    implied: tuple[str, ...] = ()
    times: tuple[TimeExpression, ...] = ()
    during: Interval = ALWAYS
    negated: bool = False
    overview: bool = False
    kinds: frozenset[str] = frozenset()
    now: datetime | None = None

    @property
    def window(self) -> Interval:
        """The stretch the question's times leave; ALWAYS where it names none that is known."""
        return window_of(self.times)

    @property
    def untimed(self) -> str:
        """The question without the words that tell its times."""
        text = self.text
        for one in reversed(self.times):
            text = f"{text[: one.start]} {text[one.end :]}"
        return text

    @property
    def clocks(self) -> AsOf:
        """The clocks that versions of notes are read at: a note written later may look back on the stretch asked about."""
        return AsOf(None, self.as_of.known_at) if self.during.known else self.as_of

    def at(self, times: tuple[TimeExpression, ...]) -> Plan:
        """The plan with times the bank has helped to resolve, and the clocks that follow from them."""
        if self.as_of.valid_at is not None or self.operation is Operation.TEMPORAL_ARITHMETIC:
            return replace(self, times=times)
        told = [one for one in times if one.resolved and one.relation not in (Relation.AFTER, Relation.SINCE)]
        if not told:
            return replace(self, times=times)
        valid_at, during = _clock(told, window_of(times))
        return replace(
            self, times=times, during=during, as_of=AsOf(valid_at, self.as_of.known_at), scope=replace(self.scope, past=True)
        )

    @property
    def match(self) -> str:
        """The FTS5 expression of all terms and phrases; '' where nothing can be searched."""
        return match_query([*self.phrases, *self.terms])

    @property
    def asks_when(self) -> bool:
        return self.operation in (Operation.TEMPORAL_LOOKUP, Operation.TEMPORAL_ARITHMETIC)


def plan(request: RecallRequest) -> Plan:
    """The plan for a request. Raises EmptyQuery when there is nothing to look for."""
    text = " ".join(request.query.split())
    if not text:
        raise EmptyQuery
    looked_at = text[:MAX_CHARACTERS]
    words = [_POSSESSIVE.sub("", word) for word in _WORD.findall(looked_at)]
    terms = (
        _distinct(_searchable(word for word in words if fold(word) not in STOP_WORDS))
        or _distinct(_searchable(words))
        or (looked_at[:64],)
    )
    overview = operation_of(text) in (Operation.FACT, Operation.LIST) and bool(OVERVIEW.search(looked_at))
    if overview:
        terms = tuple(term for term in terms if not OVERVIEW_WORDS.match(term)) or terms
    phrases = _distinct(next(filter(None, groups)) for groups in _QUOTED.findall(looked_at))
    operation = operation_of(text)
    times = read_times(looked_at, request.now, events=operation is not Operation.TEMPORAL_ARITHMETIC)
    made = Plan(
        text=text,
        operation=operation,
        terms=terms[:MAX_TERMS],
        phrases=phrases[:8],
        names=_names(words, phrases),
        as_of=AsOf(request.as_of, request.known_at),
        scope=Scope(
            request.types,
            request.tags,
            request.sources,
            request.layers,
            past=request.as_of is not None or request.known_at is not None,
            stated=not overview and not request.types and not any(request.layers),
        ),
        hops=max(0, request.hops),
        cut=len(terms) > MAX_TERMS or len(text) > MAX_CHARACTERS,
        implied=tuple(dict.fromkeys(word for pattern, words in IMPLIED if pattern.search(looked_at) for word in words)),
        negated=any(fold(word) in NEGATIONS or fold(word).endswith(("n't", "n’t")) for word in words),
        overview=overview,
        kinds=next((kinds for pattern, kinds in OVERVIEW_KINDS if pattern.search(looked_at)), frozenset()) if overview else frozenset(),
        now=request.now or own_date(looked_at),
    )
    return made.at(times)


def content_words(text: str) -> tuple[str, ...]:
    """The searchable words of a phrase, question words and the like dropped; empty where nothing else is left."""
    words = [_POSSESSIVE.sub("", word) for word in _WORD.findall(text)]
    return _distinct(_searchable(word for word in words if fold(word) not in STOP_WORDS))


def _clock(told: list[TimeExpression], window: Interval) -> tuple[datetime | None, Interval]:
    """(the instant verdicts are given for, the stretch asked about) of times that are known."""
    for one in told:
        if one.relation is Relation.AS_OF:
            return one.named.start, ALWAYS
    return (window.end - MICRO, window) if window.end is not None else (None, ALWAYS)


def operation_of(question: str) -> Operation:
    """Which of the five surfaces a question asks for; FACT where nothing says otherwise.

    >>> operation_of("how many kilns are there").value, operation_of("since when is Ana in Braga").value
    ('COUNT', 'TEMPORAL_LOOKUP')
    """
    head = question[:400]
    if ARITHMETIC.search(head):
        return Operation.TEMPORAL_ARITHMETIC
    if COUNT.search(head):
        return Operation.COUNT
    if LOOKUP.match(head.lstrip(" \"'“¿(")) or re.search(
        r"\b(?:what|which) (?:date|day|month|year)\b|\bwhen (?:did|was|is|were|does|do|will|has|are)\b", head, re.IGNORECASE
    ):
        return Operation.TEMPORAL_LOOKUP
    if LIST.search(head):
        return Operation.LIST
    return Operation.FACT


def _searchable(words: Iterable[str]) -> Iterator[str]:
    """Words as they can be found: a run of an unspaced script as its bigrams, a compound also as its parts."""
    for word in words:
        grams = "" if word.isascii() else ngrams(word)
        if grams:
            pieces = grams.split(" ")
            telling = [g for g in pieces if len(g) > 1 and not all("\u3041" <= c <= "\u309f" for c in g)]
            yield from telling or pieces
            continue
        yield word
        if len(parts := _PARTS.findall(word)) > 1:
            yield from (part for part in parts if len(part) > 1 and part.lower() not in STOP_WORDS)


def _distinct(words: Iterable[str]) -> tuple[str, ...]:
    seen: dict[str, str] = {}
    for word in words:
        seen.setdefault(word.casefold(), word)
    return tuple(seen.values())


def _names(words: list[str], phrases: tuple[str, ...]) -> tuple[str, ...]:
    """Folded runs of one to NAME_WORDS words, shortest first, then stretches of unspaced script, then what was quoted.

    A single stop word is no name.
    """
    found: dict[str, None] = {}
    held = words[: MAX_TERMS * 3]
    for length in range(1, min(NAME_WORDS, len(held)) + 1):
        for start in range(len(held) - length + 1):
            name = fold(" ".join(held[start : start + length]))
            if length > 1 or name not in STOP_WORDS:
                found[name] = None
    unspaced = [word for word in held if not word.isascii() and ngrams(word)]
    for word in unspaced[:8]:
        run = fold(word)[:UNSPACED_RUN]
        found.update(dict.fromkeys(run[i : i + n] for n in range(1, UNSPACED_NAME + 1) for i in range(len(run) - n + 1)))
    return tuple(dict.fromkeys((*map(fold, phrases), *list(found)[:MAX_NAMES])))
