"""Times a question names: "as of 2025-06", "last March", "in the week after the move", 「先月」.

Owns which words tell a time and which stretch they mean from a given day. Never reads a clock: words that count from
today count from the anchor given, else from the date the question itself bears, else they stay unresolved. Weeks begin
on Monday. A bare month is the latest one that has begun.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from smb.model.validity import ALWAYS, UTC, Interval, TimeError, parse_interval
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
    if own is not None and (stamped := _read(own["date"], None)) is not None:
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
    stretch = _read(found["date"], None) if found else None
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


# ------------------------------------------------------------ written dates

_MAYBE = re.compile(  # what every time has something of
    r"\d|day|week|month|year|ago\b|tonight|tomorrow|january|february|march|april|may\b|june|july|august|(?:sept|octo|novem|decem)(?:em)?ber|"
    r"\b(?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\b|before|after|following|since|until|prior|during|at the time|[日天週周星月年前後后]",
    re.I,
)

_MONTHS = "january february march april may june july august september october november december".split()
_NUMBER = {name: n for n, name in enumerate(_MONTHS, 1)} | {name[:3]: n for n, name in enumerate(_MONTHS, 1)} | {"sept": 9}
_DAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
_MONTH = (
    r"(?:january|february|march|april|may|june|july|august|september|october|november|december|"
    r"(?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\b\.?)"
)
_ISO = r"\d{4}-\d{1,2}(?:-\d{1,2}(?:[T ]\d{1,2}:\d{2}(?::\d{2})?(?:Z|[+-]\d{2}:?\d{2})?)?)?(?![A-Za-z0-9_-])"
_FULL = (
    rf"(?:{_ISO}|\d{{4}}/\d{{1,2}}/\d{{1,2}}(?!\d)|\d{{4}}\s?年(?:\s?\d{{1,2}}\s?月(?:\s?\d{{1,2}}\s?[日号號])?)?"
    rf"|\d{{1,2}}(?:st|nd|rd|th)?\s(?:of\s)?{_MONTH},?\s\d{{4}}\b|{_MONTH}\s\d{{1,2}}(?:st|nd|rd|th)?,?\s\d{{4}}\b"
    rf"|{_MONTH},?\s(?:of\s)?\d{{4}}\b|q[1-4][ -]?\d{{4}}\b|\d{{4}}[ -]?q[1-4]\b)"
)
_SMALL = {w: n for n, w in enumerate("zero one two three four five six seven eight nine ten eleven twelve".split())} | {
    "a": 1, "an": 1, "couple of": 2, "a couple of": 2,
}
_CJK_SMALL = {c: n for n, c in enumerate("〇一二三四五六七八九十")} | {"两": 2, "兩": 2}
_COUNT = r"(?:\d{1,4}|" + "|".join(sorted(map(re.escape, _SMALL), key=len, reverse=True)) + ")"
_CJK_COUNT = r"(?:\d{1,4}|[一二三四五六七八九十两兩])"
_RELATIVE = (
    rf"(?:the\sday\s(?:before\syesterday|after\stomorrow)|yesterday|today|tonight|tomorrow"
    rf"|{_COUNT}\s(?:days?|weeks?|months?|years?)\sago"
    rf"|(?:the\s)?(?:last|past|previous)\s{_COUNT}\s(?:days?|weeks?|months?|years?)"
    rf"|(?:the\s)?(?:last|this|next|previous|past)\s(?:week(?:end)?|month|year|{'|'.join(_DAYS)}|{_MONTH})(?!\s\d)"
    rf"|{_MONTH}\s\d{{1,2}}(?:st|nd|rd|th)?\b|\d{{1,2}}(?:st|nd|rd|th)?\s(?:of\s)?{_MONTH}"
    rf"|一昨日|前天|昨日|昨天|今日|今天|明日|明天|先週|上[周週]|上个?星期|今週|本[周週]|这[周週]|来週|下[周週]"
    rf"|先月|上个?月|上個月|今月|本月|这个月|来月|下个?月|去年|昨年|今年|来年|明年"
    rf"|{_CJK_COUNT}\s?(?:日|天|週間|周|個星期|个星期|か月|ヶ月|カ月|个月|個月|年)(?:間)?前|\d{{1,2}}\s?月(?:\s?\d{{1,2}}\s?[日号號])?(?!間|间))"
)
_LOOSE = rf"(?:{_MONTH}|(?:19|20|21)\d\d|{'|'.join(_DAYS)})"  # only after a word that makes it a time
_BARE = {"may", "march", "mar", "sept"}  # words that are also something else, unless something makes them a month
_OWN_DATE = LatePattern(
    rf"\s*[\[(]?(?:(?:today|it|now)\sis\s|asked\s(?:on\s)?|on\s|date:\s*)?(?P<date>{_FULL})\s*(?:[\])]|[:：,.]\s)[\s:,.–—-]*", re.I
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
    rf"(?<![A-Za-z0-9_.])(?P<date>{_FULL}|{_RELATIVE}|{_LOOSE}(?![\w-]))",
    re.I,
)
_PAIR = LatePattern(
    rf"(?<!\w)(?:between|from)\s(?P<a>{_FULL}|{_LOOSE}|{_RELATIVE})\s(?:and|to|until|till|through)\s"
    rf"(?P<b>{_FULL}|{_LOOSE}|{_RELATIVE})|(?P<c>{_FULL})\s?(?:から|至|到|〜|～)\s?(?P<d>{_FULL})", re.I
)


def _pairs(text: str, anchor: datetime | None, begin: int) -> Iterator[TimeExpression]:
    for found in _PAIR.finditer(text, begin):
        last = _read(found["b"] or found["d"], anchor)
        first = _read(found["a"] or found["c"], (last.start if last and last.start else None) or anchor)
        if first and last and first.start and last.end and first.start < last.end:
            yield TimeExpression(found[0], found.start(), found.end(), Relation.IN, Interval(first.start, last.end))


def _dated(text: str, anchor: datetime | None, begin: int) -> Iterator[TimeExpression]:
    for found in _DATED.finditer(text, begin):
        relation = next((r for n, (_, r) in enumerate(_LEADS) if found[f"r{n}"]), None)
        written, end = found["date"], found.end()
        if relation is None:
            if re.fullmatch(_LOOSE, written, re.I):
                continue
            relation = Relation.IN
        elif written.lower() in _BARE and not written[0].isupper():
            continue
        if relation is Relation.IN and not text.isascii():
            for words, follows in _FOLLOWS:
                if after := words.match(text, end):
                    relation, end = follows, after.end()
                    break
        named = _read(written, anchor)
        if named is None and (found[f"r{len(_LEADS) - 1}"] or relation is Relation.UNTIL) and re.fullmatch(_LOOSE, written, re.I):
            continue  # "for Sunday", "by May": nothing to count from, so nothing is said
        yield TimeExpression(text[found.start() : end], found.start(), end, relation, named or ALWAYS)


# ------------------------------------------------------------ what a date means

def _read(written: str, anchor: datetime | None) -> Interval | None:
    """The stretch a date in words names; None where it needs a day to count from and there is none, or is impossible."""
    text = " ".join(written.lower().split()).removeprefix("the last ").removeprefix("the ")
    text = text if not written.lower().startswith("the last ") else f"last {text}"
    try:
        return _absolute(text) or (_relative(text, anchor) if anchor is not None else None)
    except (TimeError, ValueError, OverflowError):
        return None


def _absolute(text: str) -> Interval | None:
    if re.match(r"\d{4}-\d", text) and not re.match(r"\d{4}-?q", text):
        return parse_interval(text.upper())
    if re.fullmatch(r"\d{4}", text):
        return parse_interval(text)
    numbers = re.findall(r"\d+", text)
    if quarter := re.fullmatch(r"(?:q([1-4])[ -]?(\d{4})|(\d{4})[ -]?q([1-4]))", text):
        year, first = int(quarter[2] or quarter[3]), 3 * int(quarter[1] or quarter[4]) - 2
        return Interval(_month(year, first).start, _month(year, first + 2).end)
    if "/" in text or "年" in text[4:6]:
        return parse_interval("-".join([numbers[0], *(n.zfill(2) for n in numbers[1:])])) if len(numbers[0]) == 4 else None
    if (month := _month_in(text)) and numbers and len(numbers[-1]) == 4:
        year = int(numbers[-1])
        return _month(year, month) if len(numbers) == 1 else _day(datetime(year, month, int(numbers[0]), tzinfo=UTC))
    return None


def _relative(text: str, anchor: datetime) -> Interval | None:
    today = anchor.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    for pattern, make in _RULES:
        if found := pattern.fullmatch(text):
            return make(found, today)
    return None


def _day(at: datetime, days: int = 1) -> Interval:
    return Interval(at, at + timedelta(days=days))


def _week(today: datetime, step: int) -> Interval:
    return _day(today - timedelta(days=today.weekday() - 7 * step), 7)


def _month(year: int, month: int) -> Interval:
    year, month = year + (month - 1) // 12, (month - 1) % 12 + 1
    return parse_interval(f"{year:04d}-{month:02d}")


def _year(year: int) -> Interval:
    return parse_interval(f"{year:04d}")


def _month_in(text: str) -> int | None:
    return next((n for word in re.findall(r"[a-z]+", text) if (n := _NUMBER.get(word))), None)


def _count(text: str) -> int:
    return int(text) if text.isdigit() else _SMALL.get(text) or _CJK_SMALL.get(text) or 1


def _unit(text: str) -> str:
    for unit, names in (("day", ("day", "日", "天")), ("week", ("week", "週", "周", "星期")), ("month", ("month", "月"))):
        if any(name in text for name in names):
            return unit
    return "year"


def _ago(found: re.Match[str], today: datetime) -> Interval:
    count = _count(found[1])
    match _unit(found[2]):
        case "day":
            return _day(today - timedelta(days=count))
        case "week":
            return _day(today - timedelta(days=7 * count + 3), 7)  # "two weeks ago" is about that day, a week wide
        case "month":
            return _month(today.year, today.month - count)
        case _:
            return _year(today.year - count)


def _last_many(found: re.Match[str], today: datetime) -> Interval:
    days = {"day": 1, "week": 7, "month": 30, "year": 365}[_unit(found[2])] * _count(found[1])
    return Interval(today - timedelta(days=days), today + timedelta(days=1))


def _turn(found: re.Match[str], today: datetime) -> Interval | None:
    """"last", "this" or "next" with a week, a month, a year, a weekday or a month's name."""
    step, thing = {"this": 0, "next": 1}.get(found[1], -1), found[2]
    if thing == "week":
        return _week(today, step)
    if thing == "weekend":
        saturday = _week(today, step).start + timedelta(days=5)  # type: ignore[operator]
        return _day(saturday, 2)
    if thing == "month":
        return _month(today.year, today.month + step)
    if thing == "year":
        return _year(today.year + step)
    if thing in _DAYS:
        ahead = (_DAYS.index(thing) - today.weekday()) % 7
        return _day(today + timedelta(days=ahead + (7 if step == 1 and ahead == 0 else 0) if step >= 0 else (ahead or 7) - 7 if ahead == 0 else ahead - 7))
    month = _month_in(thing)
    if month is None:
        return None
    if step < 0:
        return _month(today.year - (month >= today.month), month)
    return _month(today.year + (step == 1 and month <= today.month), month)


def _latest(month: int, day: int | None, today: datetime) -> Interval:
    """A month, or a day of it, without a year: the latest that has begun."""
    year = today.year - ((month, day or 1) > (today.month, today.day))
    return _month(year, month) if day is None else _day(datetime(year, month, day, tzinfo=UTC))


def _weekday(found: re.Match[str], today: datetime) -> Interval:
    back = (today.weekday() - _DAYS.index(found[1])) % 7
    return _day(today - timedelta(days=back or 7))


def _named_month(found: re.Match[str], today: datetime) -> Interval | None:
    month, numbers = _month_in(found[0]), re.findall(r"\d+", found[0])
    return _latest(month, int(numbers[0]) if numbers else None, today) if month else None


def _around(days: int) -> Callable[[re.Match[str], datetime], Interval]:
    return lambda _, today: _day(today + timedelta(days=days))


_Rule = tuple[LatePattern, Callable[[re.Match[str], datetime], Interval | None]]
_RULES: tuple[_Rule, ...] = (
    (LatePattern("day before yesterday|一昨日|前天"), _around(-2)),
    (LatePattern("yesterday|昨日|昨天"), _around(-1)),
    (LatePattern("today|tonight|今日|今天"), _around(0)),
    (LatePattern("tomorrow|明日|明天"), _around(1)),
    (LatePattern("day after tomorrow"), _around(2)),
    (LatePattern(rf"({_COUNT}) (days?|weeks?|months?|years?) ago"), _ago),
    (LatePattern(rf"({_CJK_COUNT})\s?(日|天|週間|周|個星期|个星期|か月|ヶ月|カ月|个月|個月|年)間?前"), _ago),
    (LatePattern(rf"(?:last|past|previous) ({_COUNT}) (days?|weeks?|months?|years?)"), _last_many),
    (LatePattern(r"(last|this|next|previous|past) (\w+)\.?"), _turn),
    (LatePattern("先週|上[周週]|上个?星期"), lambda _, today: _week(today, -1)),
    (LatePattern("今週|本[周週]|这[周週]"), lambda _, today: _week(today, 0)),
    (LatePattern("来週|下[周週]"), lambda _, today: _week(today, 1)),
    (LatePattern("先月|上个?月|上個月"), lambda _, today: _month(today.year, today.month - 1)),
    (LatePattern("今月|本月|这个月"), lambda _, today: _month(today.year, today.month)),
    (LatePattern("来月|下个?月"), lambda _, today: _month(today.year, today.month + 1)),
    (LatePattern("去年|昨年"), lambda _, today: _year(today.year - 1)),
    (LatePattern("今年"), lambda _, today: _year(today.year)),
    (LatePattern("来年|明年"), lambda _, today: _year(today.year + 1)),
    (LatePattern(r"(\d{1,2})\s?月(?:\s?(\d{1,2})\s?[日号號])?"), lambda m, today: _latest(int(m[1]), int(m[2]) if m[2] else None, today)),
    (LatePattern(f"({'|'.join(_DAYS)})"), _weekday),
    (LatePattern(rf"{_MONTH}(?: \d{{1,2}}(?:st|nd|rd|th)?)?|\d{{1,2}}(?:st|nd|rd|th)? (?:of )?{_MONTH}"), _named_month),
)

# ------------------------------------------------------------ happenings

_EVENT = LatePattern(
    r"\b(?:(?P<around>(?:in|during|within|on)\sthe\s(?P<reach>day|week|fortnight|month|year)s?\s(?:right\s|just\s)?)?(?P<rel>before|after|following|"
    r"since|until|prior\sto)|(?P<during>during|at\sthe\stime\sof))\s(?P<event>(?:the|our|my|his|her|its|their|we|i|he|she|they|it)\s[^,;.?!？。]{2,80}"
    r"|[A-Z][^,;.?!？。]{2,80})"
)
_EVENT_CJK = LatePattern(r"(?P<event>[^\s、，。？?はがのに在]{2,12}?)(?:の?(?P<before>前に?|之前|以前)|の?(?P<after>後に?|あと|之后|之後|以后|以後))")
_EVENT_ENDS = LatePattern(r"\s(?:what|who|whom|whose|which|where|when|how|why|did|do|does|was|were|is|are|has|have|had|and then)\b.*", re.I | re.S)
_REACH = {"day": 1, "week": 7, "fortnight": 14, "month": 30, "year": 365}
_RELATION = {"before": Relation.BEFORE, "prior to": Relation.BEFORE, "after": Relation.AFTER, "following": Relation.AFTER,
             "since": Relation.SINCE, "until": Relation.UNTIL}


def _events(text: str, begin: int) -> Iterator[TimeExpression]:
    for found in _EVENT.finditer(text, begin):
        relation = _RELATION[" ".join(found["rel"].split())] if found["rel"] else Relation.IN
        event = _EVENT_ENDS.sub("", found["event"], 1).strip()
        end = found.start("event") + len(event)
        yield TimeExpression(text[found.start() : end], found.start(), end, relation, event=event, reach=_REACH.get(found["reach"] or "", 0))
    if not text.isascii():
        for found in _EVENT_CJK.finditer(text, begin):
            if not found["event"][-1].isdigit() and not re.fullmatch(_RELATIVE, found["event"]):
                relation = Relation.BEFORE if found["before"] else Relation.AFTER
                yield TimeExpression(found[0], found.start(), found.end(), relation, event=found["event"])
