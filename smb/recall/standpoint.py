"""From where a question is asked: the profile, the goals, what was of use before, what is known already, and when "now" is.

Owns the value and where its clock comes from. Never the machine's clock: without `--now` a bank is read from the newest
time it holds itself, so the same bank and question give the same packet.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from smb.model.goal import Goal
from smb.model.validity import from_iso
from smb.recall.profiles import BASE, Profile, resolve
from smb.recall.query import Plan
from smb.stores.catalog_reader import CatalogReader


@dataclass(frozen=True, slots=True)
class Clock:
    """What recency counts from. Dates that notes bear count from the newest of them, recorded times from the newest of
    those: a diary read in years after its last entry still has a newest page."""

    dated: datetime | None = None
    recorded: datetime | None = None


@dataclass(frozen=True, slots=True)
class Standpoint:
    """`uses` maps an id to (successes, uses) fed back; `seen` are ids whoever asks has in hand already."""

    profile: Profile = BASE
    goals: tuple[Goal, ...] = ()
    uses: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    seen: frozenset[str] = frozenset()
    clock: Clock = Clock()

    async def at(self, asked: Plan, reader: CatalogReader) -> Standpoint:
        """With its clock set: the question's own now, else the time it asks about, else the bank's newest."""
        if (now := asked.now or asked.as_of.valid_at or asked.as_of.known_at) is not None:
            return replace(self, clock=Clock(now, now))
        return self if self.clock != Clock() else replace(self, clock=await newest(reader))


def standpoint(
    profile: str, own: Mapping[str, Any], goal: str, goals: Sequence[Goal], uses: Mapping[str, tuple[int, int]], seen: Iterable[str]
) -> Standpoint:
    """The standpoint of a caller: a profile by name with bank.toml's tables `own`, a goal for this call before those kept.

    Raises what `profiles.resolve` does.
    """
    said = (Goal.of(goal),) if goal.strip() else ()
    return Standpoint(resolve(profile, own), (*said, *goals), uses, frozenset(seen))


async def newest(reader: CatalogReader) -> Clock:
    """The newest recorded time, and the newest date of a live document that is not ahead of it."""
    dated, recorded = await reader.newest()
    return Clock(from_iso(dated or recorded), from_iso(recorded))
