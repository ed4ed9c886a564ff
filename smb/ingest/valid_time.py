"""When a claim holds in the world.

Owns the order in which a claim's time is looked for: its own words, the note's properties, a dated heading above it or
the dated file name. Never takes a file's modification time and never today; what nothing dates holds at an unknown time.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable

from smb.ingest.note import Note
from smb.ingest.signals import DATE_WORDS, iso_date, valid_in
from smb.model.evidence import Span
from smb.model.identity import fold
from smb.model.validity import ALWAYS, Interval, TimeError, parse_interval

_FROM, _UNTIL, _OF_THE_NOTE = frozenset(("valid from", "valid since")), frozenset(("valid to", "valid until")), frozenset(("date", "datum", "日付", "日期"))
_DIGITS = re.compile(r"\d{4}")
_WEEKDAY = re.compile(r"^(?:(?:Mon|Tues?|Wed(?:nes)?|Thu(?:rs)?|Fri|Sat(?:ur)?|Sun)(?:day)?[,.]?\s+)", re.I)


class NoteTimes:
    """The times one note gives its claims. `note_date` is the stretch of the date the note itself bears."""

    __slots__ = ("_own", "_sections", "_starts", "note_date")

    def __init__(self, note: Note, note_date: Interval):
        self.note_date = note_date
        self._own = _from_properties(note, note_date)
        self._sections = [] if self._own is not None else _dated_sections(note)
        self._starts = [start for start, _, _ in self._sections]

    def of(self, valid: Interval, words: str, spans: Iterable[Span]) -> Interval:
        """The time of a claim: `valid` where its own words give one, else by `words` that name no year, else the note's.

        `words` are resolved against the note's date; without one they leave the time unknown.
        """
        if valid.known:
            return valid
        if words:
            return valid_in(words, self.note_date)[0] if self.note_date.known else ALWAYS
        if self._own is not None:
            return self._own
        if self._sections and (span := next(iter(spans), None)) is not None:
            return self._above(span.byte_start)
        return Interval(self.note_date.start, None)

    def _above(self, at: int) -> Interval:
        for start, end, dated in reversed(self._sections[: bisect_right(self._starts, at)]):
            if start <= at < end:
                return Interval(dated.start, None)
        return Interval(self.note_date.start, None)


def _from_properties(note: Note, note_date: Interval) -> Interval | None:
    """The time the properties give: `valid_from` and `valid_to` (to the end of that day or month), else `date`."""
    start = end = None
    dated = False
    for prop in note.properties:
        key = fold(prop.key)
        if key in _FROM and (stretch := _parsed(prop.text)):
            start = stretch.start
        elif key in _UNTIL and (stretch := _parsed(prop.text)):
            end = stretch.start if re.search(r"\d[T ]\d", prop.text) else stretch.end
        dated |= key in _OF_THE_NOTE and _parsed(prop.text) is not None
    if start is not None or end is not None:
        return Interval(start, end) if start is None or end is None or start < end else ALWAYS
    return Interval(note_date.start, None) if dated and note_date.known else None


def _parsed(text: str) -> Interval | None:
    try:
        return parse_interval(iso_date(text.strip()))
    except TimeError:
        return None


def _dated_sections(note: Note) -> list[tuple[int, int, Interval]]:
    """(byte_start, byte_end, date) of every section whose heading is dated, outer before inner."""
    found: list[tuple[int, int, Interval]] = []
    open_: list[tuple[int, int, Interval | None]] = []
    headings = [b for b in note.blocks if b.kind == "heading"]
    if not any(_DIGITS.search(b.text) for b in headings):
        return []
    for block in headings:
        while open_ and open_[-1][0] >= block.level:
            _close(open_, found, block.byte_start)
        open_.append((block.level, block.byte_start, heading_date(block.text)))
    while open_:
        _close(open_, found, 1 << 62)
    return sorted(found, key=lambda section: (section[0], -section[1]))


def _close(open_: list[tuple[int, int, Interval | None]], found: list[tuple[int, int, Interval]], end: int) -> None:
    _, start, dated = open_.pop()
    if dated is not None:
        found.append((start, end, dated))


def heading_date(text: str) -> Interval | None:
    """The date a heading bears: the only full day in it, or the month or year that is all of it."""
    if not _DIGITS.search(text):
        return None
    bare = _WEEKDAY.sub("", text.strip())
    days = {m[0] for m in DATE_WORDS.finditer(bare)}
    written = days.pop() if len(days) == 1 else bare
    stretch = _parsed(written)
    if stretch is None or stretch.start is None or stretch.end is None:
        return None
    whole = written == bare.rstrip(" .:")
    return stretch if whole or (stretch.end - stretch.start).days <= 1 else None
