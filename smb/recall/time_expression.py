"""Times a question names: "as of 2025-06", "last March", "in the week after the move", 「先月」.

Owns which words of a question are a time, and how it bears on what is asked. Never reads a clock: words that count from
today count from the day given, else from the date the question itself bears, else they stay unresolved.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from smb.model.validity import ALWAYS, Interval
from smb.recall.date_words import FULL, LOOSE, RELATIVE, stretch_of
from smb.recall.late_pattern import LatePattern

MICRO = timedelta(microseconds=1)


class Relation(StrEnum):
    AS_OF = "as of"
    IN = "in"
    BEFORE = "before"
    UNTIL = "until"
    AFTER = "after"
    SINCE = "since"


@dataclass(frozen=True, slots=True)
class TimeExpression:
    """`text` is `question[start:end]`. `named` is the stretch its date names, `event` what to look up in the bank where it
    names a happening instead; `reach` (days) says how far around that the question looks ("in the week after …": 7)."""

    text: str
    start: int
    end: int
    relation: Relation
    named: Interval = ALWAYS
    event: str = ""
    reach: int = 0

    @property
    def resolved(self) -> bool:
        return self.named.known

    @property
    def window(self) -> Interval:
        """The stretch the question asks about; ALWAYS while unresolved."""
        if not self.resolved:
            return ALWAYS
        reach = timedelta(days=self.reach)
        match self.relation:
            case Relation.AS_OF | Relation.IN:
                return self.named
            case Relation.BEFORE:
                end = self.named.start
                return Interval(end - reach if reach and end else None, end)
            case Relation.UNTIL:
                return Interval(None, self.named.end)
            case Relation.AFTER:
                start = self.named.end or self.named.start
                return Interval(start, start + reach if reach and start else None)
            case Relation.SINCE:
                return Interval(self.named.start, None)

    def found(self, named: Interval) -> TimeExpression:
        """The same words once the bank has said when the event was."""
        return replace(self, named=named)


def read_times(text: str, now: datetime | None = None, *, events: bool = True) -> tuple[TimeExpression, ...]:
    """The times `text` names, in order, none overlapping; `now` is what "today" is (else the text's own date, if it opens
    with one). With `events`, happenings after "before", "after", "during", "since" and "until" too."""
    if not _MAYBE.search(text):
        return ()
    own = _OWN_DATE.match(text)
    anchor = now
    if own is not None and (stamped := stretch_of(own["date"], None)) is not None:
        anchor = anchor or stamped.start
    begin = own.end() if own is not None and anchor is not None else 0
    found: list[TimeExpression] = []
    for made in (*_pairs(text, anchor, begin), *_dated(text, anchor, begin), *(_events(text, begin) if events else ())):
        if not any(one.start < made.end and made.start < one.end for one in found):
            found.append(made)
    return tuple(sorted(found, key=lambda one: one.start))


def own_date(text: str) -> datetime | None:
    """The day a question says it is asked on ("[2031-05-08] what …", "Today is 8 May 2031. …"), if it does."""
    found = _OWN_DATE.match(text) if _MAYBE.search(text) else None
    stretch = stretch_of(found["date"], None) if found else None
    return stretch.start if stretch else None


def window_of(times: tuple[TimeExpression, ...]) -> Interval:
    """What all resolved times leave together; ALWAYS where there is none or they exclude each other."""
    window = ALWAYS
    for one in times:
        if one.resolved:
            start = max((t for t in (window.start, one.window.start) if t), default=None)
            end = min((t for t in (window.end, one.window.end) if t), default=None)
            window = Interval(start, end)
    return ALWAYS if window.empty else window


# ------------------------------------------------------------ dates

_MAYBE = re.compile(  # what every time has something of
    r"\d|day|week|month|year|ago\b|tonight|tomorrow|january|february|march|april|may\b|june|july|august|(?:sept|octo|novem|decem)(?:em)?ber|"
    r"\b(?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\b|before|after|following|since|until|prior|during|at the time|[日天週周星月年前後后]",
    re.I,
)

_BARE = {"may", "march", "mar", "sept"}  # words that are also something else, unless something makes them a month
_OWN_DATE = LatePattern(
    rf"\s*[\[(]?(?:(?:today|it|now)\sis\s|asked\s(?:on\s)?|on\s|date:\s*)?(?P<date>{FULL})\s*(?:[\])]|[:：,.]\s)[\s:,.–—-]*",
    re.I,
)
_LEADS: tuple[tuple[str, Relation], ...] = (
    (r"as\s(?:of|at|on)|at\sthe\send\sof|截至|截止到?", Relation.AS_OF),
    (r"(?:just\s|right\s|shortly\s)?before|prior\sto|earlier\sthan", Relation.BEFORE),
    (r"(?:just\s|right\s|shortly\s)?after|later\sthan|following", Relation.AFTER),
    (r"since|from|starting|自从?|从|從", Relation.SINCE),
    (r"until|till|up\sto|by|through", Relation.UNTIL),
    (r"in|on|during|at|within|around|over|for|back\sin|在|于|於", Relation.IN),
)
_LEAD = "|".join(f"(?P<r{n}>{words})" for n, (words, _) in enumerate(_LEADS))
_FOLLOWS: tuple[tuple[LatePattern, Relation], ...] = (
    (LatePattern(r"\s?(?:の時点|時点|现在|現在)(?:で|の)?"), Relation.AS_OF),
    (LatePattern(r"\s?(?:より前|以前|之前|の前|前)(?!に?は?ある)"), Relation.BEFORE),
    (LatePattern(r"\s?(?:以降|以来|から|以后|之后|以後|之後|起)"), Relation.SINCE),
    (LatePattern(r"\s?(?:まで|为止|為止)"), Relation.UNTIL),
)
_DATED = LatePattern(
    rf"(?:(?<![\w])(?:{_LEAD})\s?(?:(?:early|mid|late|the\s(?:start|beginning|middle|end)\sof)[\s-])?)?"
    rf"(?<![A-Za-z0-9_.])(?P<date>{FULL}|{RELATIVE}|{LOOSE}(?![\w-]))",
    re.I,
)
_PAIR = LatePattern(
    rf"(?<!\w)(?:between|from)\s(?P<a>{FULL}|{LOOSE}|{RELATIVE})\s(?:and|to|until|till|through)\s"
    rf"(?P<b>{FULL}|{LOOSE}|{RELATIVE})|(?P<c>{FULL})\s?(?:から|至|到|〜|～)\s?(?P<d>{FULL})",
    re.I,
)


def _pairs(text: str, anchor: datetime | None, begin: int) -> Iterator[TimeExpression]:
    for found in _PAIR.finditer(text, begin):
        last = stretch_of(found["b"] or found["d"], anchor)
        first = stretch_of(found["a"] or found["c"], (last.start if last and last.start else None) or anchor)
        if first and last and first.start and last.end and first.start < last.end:
            yield TimeExpression(found[0], found.start(), found.end(), Relation.IN, Interval(first.start, last.end))


def _dated(text: str, anchor: datetime | None, begin: int) -> Iterator[TimeExpression]:
    for found in _DATED.finditer(text, begin):
        relation = next((r for n, (_, r) in enumerate(_LEADS) if found[f"r{n}"]), None)
        written, end = found["date"], found.end()
        if relation is None:
            if re.fullmatch(LOOSE, written, re.I):
                continue
            relation = Relation.IN
        elif written.lower() in _BARE and not written[0].isupper():
            continue
        if relation is Relation.IN and not text.isascii():
            for words, follows in _FOLLOWS:
                if after := words.match(text, end):
                    relation, end = follows, after.end()
                    break
        named = stretch_of(written, anchor)
        if named is None and (found[f"r{len(_LEADS) - 1}"] or relation is Relation.UNTIL) and re.fullmatch(LOOSE, written, re.I):
            continue  # "for Sunday", "by May": nothing to count from, so nothing is said
        yield TimeExpression(text[found.start() : end], found.start(), end, relation, named or ALWAYS)


# ------------------------------------------------------------ happenings

_EVENT = LatePattern(
    r"\b(?:(?P<around>(?:in|during|within|on)\sthe\s(?P<reach>day|week|fortnight|month|year)s?\s(?:right\s|just\s)?)?(?P<rel>before|after|following|"
    r"since|until|prior\sto)|(?P<during>during|at\sthe\stime\sof))\s(?P<event>(?:the|our|my|his|her|its|their|we|i|he|she|they|it)\s[^,;.?!？。]{2,80}"
    r"|[A-Z][^,;.?!？。]{2,80})"
)
_EVENT_CJK = LatePattern(
    r"(?P<event>[^\s、，。？?はがのに在]{2,12}?)(?:の?(?P<before>前に?|之前|以前)|の?(?P<after>後に?|あと|之后|之後|以后|以後))"
)
_EVENT_ENDS = LatePattern(
    r"\s(?:what|who|whom|whose|which|where|when|how|why|did|do|does|was|were|is|are|has|have|had|and then)\b.*", re.I | re.S
)
_REACH = {"day": 1, "week": 7, "fortnight": 14, "month": 30, "year": 365}
_RELATION = {
    "before": Relation.BEFORE,
    "prior to": Relation.BEFORE,
    "after": Relation.AFTER,
    "following": Relation.AFTER,
    "since": Relation.SINCE,
    "until": Relation.UNTIL,
}


def _events(text: str, begin: int) -> Iterator[TimeExpression]:
    for found in _EVENT.finditer(text, begin):
        relation = _RELATION[" ".join(found["rel"].split())] if found["rel"] else Relation.IN
        event = _EVENT_ENDS.sub("", found["event"], 1).strip()
        end = found.start("event") + len(event)
        yield TimeExpression(
            text[found.start() : end], found.start(), end, relation, event=event, reach=_REACH.get(found["reach"] or "", 0)
        )
    if not text.isascii():
        for found in _EVENT_CJK.finditer(text, begin):
            if not found["event"][-1].isdigit() and not re.fullmatch(RELATIVE, found["event"]):
                relation = Relation.BEFORE if found["before"] else Relation.AFTER
                yield TimeExpression(found[0], found.start(), found.end(), relation, event=found["event"])
