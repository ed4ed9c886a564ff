"""Goals: what a person is after, for a session or for good.

Owns the value and its content-derived id. Goals weigh rank only.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from smb.model.identity import fold_proposition, short_hash


class GoalLevel(StrEnum):
    SESSION = "session"
    GLOBAL = "global"


@dataclass(frozen=True, slots=True)
class Goal:
    """`tags` are the tags of what serves the goal, letter case apart; `parent` the id of the goal it is a part of."""

    id: str
    text: str
    level: GoalLevel = GoalLevel.SESSION
    tags: tuple[str, ...] = ()
    parent: str = ""

    @classmethod
    def of(cls, text: str, level: GoalLevel = GoalLevel.SESSION, tags: tuple[str, ...] = (), parent: str = "") -> Goal:
        """A goal with its id: 12 hex digits over level and text, so the same goal set twice is one."""
        return cls(short_hash("goal", level, fold_proposition(text)), " ".join(text.split()), level, tags, parent)
