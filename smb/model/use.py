"""What became of an item of answers on one machine: how often it was of use, and how often it was passed over.

Owns the value; `smb.usage` reads it off the logs, evolution turns it into strength. It weighs rank only.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Use:
    """`uses` are the times somebody said what an item was worth, `successes` those it was of use. `passed_over` counts, since
    the last success, how often it was called useless or stood above what was used instead. `last` is when it was last
    shown or spoken of."""

    successes: int = 0
    uses: int = 0
    passed_over: int = 0
    last: datetime | None = None

    def __add__(self, other: Use) -> Use:
        """The use of two items that turned out to be one."""
        times = [at for at in (self.last, other.last) if at is not None]
        return Use(self.successes + other.successes, self.uses + other.uses, self.passed_over + other.passed_over, max(times, default=None))
