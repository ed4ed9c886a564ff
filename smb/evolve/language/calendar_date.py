"""Dates in a sentence, as far as they are said: a year, a month, a day, a weekday, a quarter.

Owns their written forms. "March" and "5 March" may be one date; "5 March" and "6 March" can't. Never reads a clock, so "tomorrow" is no date.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_MONTHS = "january february march april may june july august september october november december".split()
_MONTH = r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
_ORDINALS = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth seventeenth "
    "eighteenth nineteenth twentieth twenty-first twenty-second twenty-third twenty-fourth twenty-fifth twenty-sixth twenty-seventh "
    "twenty-eighth twenty-ninth thirtieth thirty-first").split()
_ORDINAL = "|".join(sorted(_ORDINALS, key=len, reverse=True)).replace("-", r"[-\s]")
_WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
_DAY = rf"(?:\d{{1,2}}(?:st|nd|rd|th)?|{_ORDINAL})"
_YEAR = r"(?:1[5-9]|20|21)\d\d"
_DATE = re.compile(
    rf"\b(?P<y1>{_YEAR})-(?P<m1>\d\d)(?:-(?P<d1>\d\d))?(?:T[\d:.Z+-]+)?\b"
    rf"|\b(?P<d5>\d{{1,2}})[./](?P<m5>\d{{1,2}})[./](?P<y5>{_YEAR})\b"
    rf"|\b(?:the\s)?(?P<d2>{_DAY})\s(?:of\s)?(?P<m2>{_MONTH})\b\.?(?:,?\s(?P<y2>{_YEAR})\b)?"
    rf"|\b(?P<m3>{_MONTH})\.?\s(?:the\s)?(?P<d3>{_DAY})\b(?!\s?[:%])(?:,?\s(?P<y3>{_YEAR})\b)?"
    rf"|\b(?:the\s)?(?P<qw>first|second|third|fourth)\squarter\b(?:\sof\s(?P<y8>{_YEAR}))?"
    rf"|\b(?P<q>Q[1-4])(?:\s(?P<y7>{_YEAR}))?\b"
    rf"|\b(?P<m4>{_MONTH})\b\.?,?(?:\sof)?\s(?P<y4>{_YEAR})\b"
    rf"|\b(?P<w>{'|'.join(_WEEKDAYS)})s?\b"
    rf"|(?P<pre>\b(?:in|of|since|from|until|till|by|before|after|during|year|early|late|mid|around|about)[\s-](?:the\s(?:year|summer|spring|winter|autumn|fall)\s(?:of\s)?)?)(?P<y6>{_YEAR})\b(?!\s?[a-z°€$%]{{1,3}}\b(?<!it|is|we|he|at|to|in|on|by|of|as|so|an|my|up|or|if))"
    rf"|\b(?P<m6>(?-i:January|February|March|April|May|June|July|August|September|October|November|December))\b(?!\s[a-z]+ed\b)",
    re.IGNORECASE,
)
_YEAR_IS = re.compile(rf"(\byear\b.{{0,40}}\s(?:is|was)|\bit\s(?:is|was)(?=\s\d{{4}}\s(?:when|that)))\s({_YEAR})\b", re.IGNORECASE)
_HINT = re.compile(rf"\d{{4}}|\bq[1-4]\b|quarter|{'|'.join(_WEEKDAYS)}|\b{_MONTH}\b|\d[./]\d", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class CalendarDate:
    """What is said of a date: 0 where it is not. `weekday` and `quarter` count from 1."""

    year: int = 0
    month: int = 0
    day: int = 0
    weekday: int = 0
    quarter: int = 0
    text: str = ""
    relation: str = ""

    def excludes(self, other: CalendarDate) -> bool:
        """Whether what both say differs; one that says more than the other excludes nothing."""
        quarter, quarter2 = self.quarter or -(-self.month // 3), other.quarter or -(-other.month // 3)
        pairs = ((self.year, other.year), (self.month, other.month), (self.day, other.day), (self.weekday, other.weekday), (quarter, quarter2))
        return any(a and b and a != b for a, b in pairs)

    def comparable(self, other: CalendarDate) -> bool:
        return bool(self.year and other.year or self.month and other.month or self.weekday and other.weekday or self.day and other.day or self.quarter and other.quarter)


def dates(text: str) -> tuple[list[CalendarDate], str]:
    """The dates a sentence gives, and the sentence without them.

    >>> dates("We open on the ninth of May.")[0][0].day
    9
    """
    found: list[CalendarDate] = []
    if not _HINT.search(text):
        return found, text

    def one(m: re.Match[str]) -> str:
        if m["m6"] and m["m6"] == "May" and not re.search(r"\b(?:in|of|since|until|till|by|early|late|mid|for|this|next|last|every|each|is|and|to|from|during)\s\Z", text[: m.start()], re.IGNORECASE):
            return m[0]
        year = int(m["y1"] or m["y2"] or m["y3"] or m["y4"] or m["y5"] or m["y6"] or m["y7"] or m["y8"] or 0)
        month = int(m["m1"] or m["m5"] or 0) or _month(m["m2"] or m["m3"] or m["m4"] or m["m6"] or "")
        day = int(m["d1"] or m["d5"] or 0) or _day(m["d2"] or m["d3"] or "")
        if month > 12 or day > 31:
            return m[0]
        weekday = _WEEKDAYS.index(m["w"].lower()) + 1 if m["w"] else 0
        before = re.search(r"\b(since|until|till|by|before|after|from|to|through|due)\s(?:the\s)?\Z", text[: m.start()] + (m["pre"] or ""), re.IGNORECASE)
        found.append(CalendarDate(year, month, day, weekday, int(m["q"][1]) if m["q"] else _ORDINALS.index(m["qw"].lower()) + 1 if m["qw"] else 0, m[0].strip(), before[1].lower() if before else ""))
        return f"{m['pre'] or ''} #d "

    text = _DATE.sub(one, text)
    if _YEAR_IS.search(text):
        text = _YEAR_IS.sub(lambda m: (found.append(CalendarDate(year=int(m[2]), text=m[2])), f"{m[1]} #d")[1], text)  # type: ignore[func-returns-value]
    return found, text


def _month(text: str) -> int:
    return next((n for n, name in enumerate(_MONTHS, 1) if text and name.startswith(text.lower()[:3])), 0)


def _day(text: str) -> int:
    if not text:
        return 0
    if text[0].isdigit():
        return int(re.sub(r"\D", "", text))
    return _ORDINALS.index(re.sub(r"\s", "-", text.lower())) + 1
