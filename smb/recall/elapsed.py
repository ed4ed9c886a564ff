"""Questions of when and how long: the date of one dated statement, the time between two.

Owns which happenings a question sets against each other and the arithmetic on their dates. Never calculates with one
end, with an end that has several dates, or finer than the dates are known.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from smb.model.validity import Interval
from smb.recall.dated import Dated, dates_of
from smb.recall.late_pattern import LatePattern
from smb.recall.query import Plan
from smb.recall.time_expression import read_times
from smb.stores.catalog_reader import CatalogReader

_TAIL = r"[\s?？.!]*$"
_BETWEEN = LatePattern(rf"\bbetween (?P<a>.+?) and (?P<b>.+?){_TAIL}", re.I)
_FROM_TO = LatePattern(rf"\bfrom (?P<a>.+?) (?:to|until|till) (?P<b>.+?){_TAIL}", re.I)
_AFTER = LatePattern(rf"\bafter (?P<a>.+?),? (?:did|was|were|is|are|does|had) (?P<b>.+?){_TAIL}", re.I)
_AFTER_LATE = LatePattern(rf"(?:did|was|were|is|had|does) (?P<b>.+?) after (?P<a>.+?){_TAIL}", re.I)
_BEFORE = LatePattern(rf"\bbefore (?P<b>.+?),? (?:did|was|were|is|are|does|had) (?P<a>.+?){_TAIL}", re.I)
_BEFORE_LATE = LatePattern(rf"(?:did|was|were|is|had|does) (?P<a>.+?) before (?P<b>.+?){_TAIL}", re.I)
_SINCE = LatePattern(rf"\b(?:since|has it been since|have passed since|passed since|elapsed since) (?P<a>.+?){_TAIL}", re.I)
_AGO = LatePattern(rf"\bago (?:did|was|were|is|had) (?P<a>.+?){_TAIL}", re.I)
_UNTIL = LatePattern(rf"\b(?:until|till) (?P<b>.+?){_TAIL}", re.I)
_OLD = LatePattern(rf"\bhow old (?:is|was|are) (?P<a>.+?){_TAIL}", re.I)
_CJK_BOTH = LatePattern(
    r"(?:从|從)?(?P<a>.+?)(?:から|到|至)(?P<b>.+?)(?:まで|一共|共|是|は|隔|过|過|有|用|经)*(?:何|どのくらい|どれくらい|多久|多少|[几幾])"
)
_CJK_BETWEEN = LatePattern(r"(?P<a>.+?)[と和与與](?P<b>.+?)(?:の間|之间|之間|间隔|相隔|隔)")
_PAIRS = (
    (_BETWEEN, False),
    (_FROM_TO, True),
    (_AFTER, True),
    (_BEFORE, True),
    (_AFTER_LATE, True),
    (_BEFORE_LATE, True),
    (_CJK_BETWEEN, False),
    (_CJK_BOTH, True),
)
MOST_SPLITS = 6
_UNIT = LatePattern(
    r"\b(?:how many|how much|in|number of) (day|week|month|year|hour|minute)s?\b|\b(day|week|month|year)s (?:between|passed|elapsed)\b",
    re.I,
)
_CJK_UNITS = (
    ("週", "week"),
    ("周", "week"),
    ("か月", "month"),
    ("ヶ月", "month"),
    ("カ月", "month"),
    ("个月", "month"),
    ("個月", "month"),
    ("年", "year"),
    ("日", "day"),
    ("天", "day"),
)
_VERB = LatePattern(r"^(?:did|was|were|is|are|does|do|had|has|have|the time (?:of|when))\s+", re.I)


@dataclass(frozen=True, slots=True)
class Ends:
    """The two happenings of a question, as written; "now" for the present."""

    first: str
    second: str
    unit: str = ""
    ordered: bool = False  # the question says which came first


@dataclass(frozen=True, slots=True)
class Elapsed:
    """`value` is the answer ("45 days"), or None with the `reason`. `ends` are the dated statements found for either."""

    value: str | None
    reason: str | None = None
    ends: tuple[Dated, ...] = ()
    known: int = 0  # how many of the two ends have a date


def ends_of(text: str) -> tuple[Ends, ...]:
    """The pairs of ends a question of time may set apart, likeliest first; empty where its words name no two."""
    unit = next((u.lower() for m in _UNIT.finditer(text) for u in m.groups() if u), "")
    if not text.isascii() and not unit:
        unit = next((name for mark, name in _CJK_UNITS if re.search(rf"[何几幾少]{mark}", text)), "")
    found = [Ends(_phrase(m["a"]), _phrase(m["b"]), unit, ordered) for pattern, ordered in _PAIRS for m in _splits(pattern, text)]
    if not found:
        for pattern in (_AGO, _SINCE, _OLD):
            if m := pattern.search(text):
                born = " born" if pattern is _OLD else ""
                return (Ends(_phrase(m["a"]) + born, "now", unit or ("year" if born else ""), True),)
        if m := _UNTIL.search(text):
            return (Ends("now", _phrase(m["b"]), unit, True),)
    return tuple(dict.fromkeys(found))


def _splits(pattern: LatePattern, text: str) -> Iterator[re.Match[str]]:
    """Every way a pattern divides a text: its first part may hold the word that ends it ("after it was moved did …")."""
    found = pattern.search(text)
    while found is not None:
        yield found
        first = "a" if found.start("a") < found.start("b") else "b"
        longer = len(found[first]) + 1
        found = re.compile(pattern.pattern.replace(f"(?P<{first}>.+?)", f"(?P<{first}>.{{{longer},}}?)"), pattern.flags).search(
            text
        )


async def elapsed(plan: Plan, reader: CatalogReader) -> Elapsed:
    """The time between the two ends of a question, or why it can't be told."""
    failed: Elapsed | None = None
    for ends in ends_of(plan.text)[:MOST_SPLITS]:
        result = await _elapsed(ends, plan, reader)
        if result.value is not None:
            return result
        if failed is None or result.known > failed.known:
            failed = result
    return failed or Elapsed(None, "The question names no two happenings to count between.")


async def _elapsed(ends: Ends, plan: Plan, reader: CatalogReader) -> Elapsed:
    found: list[Dated] = []
    stretches: list[Interval] = []
    reasons: list[str] = []
    for phrase in (ends.first, ends.second):
        stretch, dated, reason = await _end(phrase, plan, reader)
        found += dated
        stretches += [stretch] if stretch is not None else []
        reasons += [reason] if reason else []
    if len(stretches) < 2:
        return Elapsed(None, " ".join(reasons), tuple(found), len(stretches))
    value, reason = between(stretches[0], stretches[1], ends.unit, ends.ordered)
    return Elapsed(value, reason, tuple(found), 2)


async def happened(plan: Plan, reader: CatalogReader) -> Dated | None:
    """The one dated statement that answers a question of when; None where there is none or they differ."""
    found = await dates_of(plan.untimed, plan, reader)
    return found[0] if len(found) == 1 else None


def written(stretch: Interval) -> str:
    """A stretch as its ISO name where it is a day, a month, a year or an instant, else as start/last day.

    >>> from smb.model.validity import parse_interval
    >>> written(parse_interval("2031-05")), written(parse_interval("2031-05-08"))
    ('2031-05', '2031-05-08')
    """
    start, end = stretch.start, stretch.end
    if start is None or end is None:
        return (start or end).date().isoformat()  # type: ignore[union-attr]
    days = (end - start).days
    if days == 0:
        return start.isoformat()
    if days == 1:
        return start.date().isoformat()
    if start.day == 1 and end.day == 1:
        months = (end.year - start.year) * 12 + end.month - start.month
        if months == 1:
            return f"{start:%Y-%m}"
        if months == 12 and start.month == 1:
            return f"{start:%Y}"
    return f"{start.date().isoformat()}/{(end - timedelta(days=1)).date().isoformat()}"


def between(first: Interval, second: Interval, unit: str = "", ordered: bool = False) -> tuple[str | None, str | None]:
    """(the quantity with its unit, why there is none): from the start of one stretch to that of the other.

    A month or a year counts as known to the month or the year: then nothing finer is said.
    """
    if first.start is None or second.start is None:
        return None, "One end has no date."
    a, b = first.start, second.start
    if b < a:
        if ordered:
            return None, f"The first ({written(first)}) is dated after the second ({written(second)})."
        a, b, first, second = b, a, second, first
    coarse = max(_grain(first), _grain(second))
    wanted = {"minute": 0, "hour": 0, "day": 1, "week": 2, "month": 3, "year": 4}.get(unit, -1)
    if wanted >= 0 and coarse > wanted and not (wanted == 2 and coarse <= 2):
        return None, f"The dates ({written(first)}, {written(second)}) are not known finely enough to count in {unit}s."
    if wanted < 0:
        unit = ("day", "day", "day", "month", "year")[coarse]
    return _quantity(a, b, unit), None


def _grain(stretch: Interval) -> int:
    """0 an instant, 1 a day, 2 about a week, 3 a month, 4 more."""
    if stretch.end is None or stretch.start is None:
        return 1
    days = (stretch.end - stretch.start).days
    return 0 if days < 1 else 1 if days == 1 else 2 if days <= 10 else 3 if days <= 93 else 4


def _quantity(a: datetime, b: datetime, unit: str) -> str:
    days = (b.date() - a.date()).days
    match unit:
        case "minute":
            return _some(int((b - a).total_seconds() // 60), "minute")
        case "hour":
            return _some(int((b - a).total_seconds() // 3600), "hour")
        case "week":
            return _some(days // 7, "week") + (f" {_some(days % 7, 'day')}" if days % 7 else "")
        case "month" | "year":
            months = (b.year - a.year) * 12 + b.month - a.month - (b.day < a.day)
            return (
                _some(months, "month")
                if unit == "month"
                else _some(months // 12, "year") + (f" {_some(months % 12, 'month')}" if months % 12 and months < 24 else "")
            )
        case _:
            return _some(days, "day")


def _some(count: int, unit: str) -> str:
    return f"{count} {unit}" + ("" if count == 1 else "s")


async def _end(phrase: str, plan: Plan, reader: CatalogReader) -> tuple[Interval | None, list[Dated], str | None]:
    """(when an end was, the statements that say so, why it isn't known)."""
    if phrase == "now":
        if plan.now is None:
            return None, [], "It counts from today, and no --now says which day that is."
        return Interval(plan.now, plan.now + timedelta(days=1)), [], None
    named = read_times(f"on {phrase}", plan.now, events=False)
    if named and named[0].resolved and named[0].end >= len(phrase):
        return named[0].named, [], None
    found = await dates_of(phrase, plan, reader)
    if len(found) == 1:
        return found[0].when, found, None
    if found:
        dates = ", ".join(sorted(written(one.when) for one in found)[:4])
        return None, found, f"Notes give several dates for “{phrase}”: {dates}."
    return None, [], f"No dated statement was found for “{phrase}”."


def _phrase(text: str) -> str:
    return _VERB.sub("", text.strip(" ?？.,。、")).strip()
