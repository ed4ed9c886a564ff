"""Times and half-open intervals.

Owns how a written date becomes an interval. All instants are aware UTC; the text as written is kept beside them by
whoever stores them. A date without a zone is read as UTC. Never reads a clock.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone

from smb.model.errors import SmbError

UTC = timezone.utc
_DATE = re.compile(
    r"^\s*(\d{4})(?:-(\d{1,2})(?:-(\d{1,2})(?:[T ](\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,6})\d*)?)?\s*(Z|[+-]\d{2}:?\d{2})?)?)?)?\s*$",
    re.IGNORECASE,
)


class TimeError(SmbError):
    """A time that can't be read."""

    exit_code = 2

    def __init__(self, text: str):
        super().__init__(f"{text!r} is not a time. Write a year, a month or a day (2031, 2031-05, 2031-05-08), "
                         "or a day with a time (2031-05-08T13:56, with +02:00 or Z if it isn't UTC).")


@dataclass(frozen=True, slots=True)
class Interval:
    """A half-open stretch of time [start, end); None at an end means unknown or unbounded there."""

    start: datetime | None = None
    end: datetime | None = None

    def contains(self, at: datetime) -> bool:
        return (self.start is None or self.start <= at) and (self.end is None or at < self.end)

    def overlaps(self, other: Interval) -> bool:
        return not self.empty and not other.empty and (self.start is None or other.end is None or self.start < other.end) and (
            other.start is None or self.end is None or other.start < self.end
        )

    def closed_at(self, end: datetime) -> Interval:
        """This interval with its end moved to `end` if that is earlier; empty intervals collapse onto their start."""
        if self.start is not None and end < self.start:
            end = self.start
        return Interval(self.start, end if self.end is None else min(self.end, end))

    @property
    def empty(self) -> bool:
        return self.start is not None and self.end is not None and self.end <= self.start

    @property
    def known(self) -> bool:
        return self.start is not None or self.end is not None


ALWAYS = Interval()


def parse_interval(text: str) -> Interval:
    """The stretch a written ISO date names: a day is 24 hours, a month its days, an instant one second.

    Raises TimeError when `text` is no date or an impossible one (2031-02-30).
    """
    found = _DATE.match(text)
    if not found:
        raise TimeError(text)
    year, month, day, hour, minute, second, fraction, zone = found.groups()
    try:
        if month is None:
            return Interval(datetime(int(year), 1, 1, tzinfo=UTC), datetime(int(year) + 1, 1, 1, tzinfo=UTC))
        if day is None:
            start = datetime(int(year), int(month), 1, tzinfo=UTC)
            return Interval(start, datetime(int(year) + int(month) // 12, int(month) % 12 + 1, 1, tzinfo=UTC))
        start = datetime(int(year), int(month), int(day), int(hour or 0), int(minute or 0), int(second or 0),
                         int((fraction or "0").ljust(6, "0")), tzinfo=_zone(zone))
        start = start.astimezone(UTC)
        return Interval(start, start + (timedelta(days=1) if hour is None else timedelta(seconds=1)))
    except (ValueError, OverflowError) as error:
        raise TimeError(text) from error


def parse_instant(text: str) -> datetime:
    """The first instant of what `text` names (see `parse_interval`). Raises TimeError."""
    start = parse_interval(text).start
    assert start is not None
    return start


def to_iso(at: datetime | None) -> str | None:
    """ISO 8601 with offset, as every surface prints times."""
    return None if at is None else at.isoformat()


def from_iso(text: str | None) -> datetime | None:
    """The inverse of `to_iso`; None stays None."""
    return None if text is None else datetime.fromisoformat(text).astimezone(UTC)


def _zone(text: str | None) -> timezone:
    if text is None or text.upper() == "Z":
        return UTC
    sign = -1 if text[0] == "-" else 1
    digits = text[1:].replace(":", "")
    return timezone(sign * timedelta(hours=int(digits[:2]), minutes=int(digits[2:])))
