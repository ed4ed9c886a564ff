"""Dates in words: how one is written in English, Chinese and Japanese, and which stretch of time it means.

Owns the calendar of a question: ISO dates, names of months and days, "two weeks ago", 「先月」. Never reads a clock: what
counts from today counts from the day it is given. Weeks begin on Monday; a bare month is the latest that has begun.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, timedelta

from smb.model.validity import UTC, Interval, TimeError, parse_interval
from smb.recall.late_pattern import LatePattern

_MONTHS = "january february march april may june july august september october november december".split()
_NUMBER = {name: n for n, name in enumerate(_MONTHS, 1)} | {name[:3]: n for n, name in enumerate(_MONTHS, 1)} | {"sept": 9}
_DAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
_MONTH = (
    r"(?:january|february|march|april|may|june|july|august|september|october|november|december|"
    r"(?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\b\.?)"
)
_ISO = r"\d{4}-\d{1,2}(?:-\d{1,2}(?:[T ]\d{1,2}:\d{2}(?::\d{2})?(?:Z|[+-]\d{2}:?\d{2})?)?)?(?![A-Za-z0-9_-])"
FULL = (
    rf"(?:{_ISO}|\d{{4}}/\d{{1,2}}/\d{{1,2}}(?!\d)|\d{{4}}\s?年(?:\s?\d{{1,2}}\s?月(?:\s?\d{{1,2}}\s?[日号號])?)?"
    rf"|\d{{1,2}}(?:st|nd|rd|th)?\s(?:of\s)?{_MONTH},?\s\d{{4}}\b|{_MONTH}\s\d{{1,2}}(?:st|nd|rd|th)?,?\s\d{{4}}\b"
    rf"|{_MONTH},?\s(?:of\s)?\d{{4}}\b|q[1-4][ -]?\d{{4}}\b|\d{{4}}[ -]?q[1-4]\b)"
)
_SMALL = {w: n for n, w in enumerate("zero one two three four five six seven eight nine ten eleven twelve".split())} | {
    "a": 1,
    "an": 1,
    "couple of": 2,
    "a couple of": 2,
}
_CJK_SMALL = {c: n for n, c in enumerate("〇一二三四五六七八九十")} | {"两": 2, "兩": 2}
_COUNT = r"(?:\d{1,4}|" + "|".join(sorted(map(re.escape, _SMALL), key=len, reverse=True)) + ")"
_CJK_COUNT = r"(?:\d{1,4}|[一二三四五六七八九十两兩])"
RELATIVE = (
    rf"(?:the\sday\s(?:before\syesterday|after\stomorrow)|yesterday|today|tonight|tomorrow"
    rf"|{_COUNT}\s(?:days?|weeks?|months?|years?)\sago"
    rf"|(?:the\s)?(?:last|past|previous)\s{_COUNT}\s(?:days?|weeks?|months?|years?)"
    rf"|(?:the\s)?(?:last|this|next|previous|past)\s(?:week(?:end)?|month|year|{'|'.join(_DAYS)}|{_MONTH})(?!\s\d)"
    rf"|{_MONTH}\s\d{{1,2}}(?:st|nd|rd|th)?\b|\d{{1,2}}(?:st|nd|rd|th)?\s(?:of\s)?{_MONTH}"
    rf"|一昨日|前天|昨日|昨天|今日|今天|明日|明天|先週|上[周週]|上个?星期|今週|本[周週]|这[周週]|来週|下[周週]"
    rf"|先月|上个?月|上個月|今月|本月|这个月|来月|下个?月|去年|昨年|今年|来年|明年"
    rf"|{_CJK_COUNT}\s?(?:日|天|週間|周|個星期|个星期|か月|ヶ月|カ月|个月|個月|年)(?:間)?前|\d{{1,2}}\s?月(?:\s?\d{{1,2}}\s?[日号號])?(?!間|间))"
)
LOOSE = rf"(?:{_MONTH}|(?:19|20|21)\d\d|{'|'.join(_DAYS)})"  # only after a word that makes it a time


def stretch_of(written: str, anchor: datetime | None) -> Interval | None:
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
    """ "last", "this" or "next" with a week, a month, a year, a weekday or a month's name."""
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
        return _day(
            today
            + timedelta(
                days=ahead + (7 if step == 1 and ahead == 0 else 0)
                if step >= 0
                else (ahead or 7) - 7
                if ahead == 0
                else ahead - 7
            )
        )
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
    (
        LatePattern(r"(\d{1,2})\s?月(?:\s?(\d{1,2})\s?[日号號])?"),
        lambda m, today: _latest(int(m[1]), int(m[2]) if m[2] else None, today),
    ),
    (LatePattern(f"({'|'.join(_DAYS)})"), _weekday),
    (LatePattern(rf"{_MONTH}(?: \d{{1,2}}(?:st|nd|rd|th)?)?|\d{{1,2}}(?:st|nd|rd|th)? (?:of )?{_MONTH}"), _named_month),
)
