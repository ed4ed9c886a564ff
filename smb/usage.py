"""What is wanted and what was of use on this machine: goals and feedback, kept in `usage/`.

Owns the meaning of the two logs (`goals.jsonl`, `feedback.jsonl`). Local and git-ignored: what one person is after and
found useful is no knowledge and no authority, so it is not in the ledger; it orders answers here, and losing it costs
nothing but that order. A recall is no use of anything: only what is fed back counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from smb.model.errors import SmbError
from smb.model.goal import Goal, GoalLevel
from smb.model.validity import to_iso
from smb.stores.usage_log import UsageLog

SIGNALS = ("used", "ignored")


class EmptyGoal(SmbError):
    exit_code = 2

    def __init__(self) -> None:
        super().__init__('The goal is empty. Say what you are after: smb goal add "fix the kiln controller".')


class UnknownGoal(SmbError):
    def __init__(self, reference: str):
        super().__init__(f"There is no open goal {reference!r}. `smb goal list` shows them with their ids.")


class AmbiguousGoal(SmbError):
    def __init__(self, reference: str, found: Sequence[str]):
        super().__init__(f"{reference!r} could be any of the goals {', '.join(found)}. Give more of the id.")


class UselessTag(SmbError):
    exit_code = 2

    def __init__(self) -> None:
        super().__init__("Tags say what serves a session's goal; a global goal goes by its words alone. Leave out --tag or --level global.")


class UnknownSignal(SmbError):
    exit_code = 2

    def __init__(self, signal: str):
        super().__init__(f"{signal!r} is no feedback; say {' or '.join(SIGNALS)}.")


class Usage:
    """The logs of the bank at `bank`."""

    def __init__(self, bank: Path):
        self._goals, self._feedback = UsageLog(bank / "usage" / "goals.jsonl"), UsageLog(bank / "usage" / "feedback.jsonl")

    # ------------------------------------------------------------ goals

    def goals(self) -> tuple[Goal, ...]:
        """The open goals, in the order they were set. One set again after it was done is open again."""
        held: dict[str, Goal] = {}
        for entry in self._goals.entries():
            if "done" in entry:
                held.pop(str(entry["done"]), None)
            elif isinstance(text := entry.get("goal"), str) and entry.get("level") in tuple(GoalLevel):
                tags = entry.get("tags") if isinstance(entry.get("tags"), list) else []
                goal = Goal.of(text, GoalLevel(entry["level"]), tuple(map(str, tags)), str(entry.get("parent", "")))
                held[goal.id] = goal
        return tuple(held.values())

    def add_goal(self, text: str, level: str, tags: Sequence[str], parent: str, now: datetime) -> Goal:
        """Sets a goal; with the same words again it takes the new tags and parent. Raises EmptyGoal, UselessTag, UnknownGoal."""
        if not text.strip():
            raise EmptyGoal
        if tags and level != GoalLevel.SESSION:
            raise UselessTag
        folded = tuple(dict.fromkeys(tag.lstrip("#").casefold() for tag in tags))
        goal = Goal.of(text, GoalLevel(level), folded, self.goal(parent).id if parent else "")
        if goal not in self.goals():
            said = {"goal": goal.text, "level": goal.level, "tags": goal.tags, "parent": goal.parent}
            self._goals.append({**{name: value for name, value in said.items() if value}, "id": goal.id, "at": to_iso(now)})
        return goal

    def finish_goal(self, reference: str, now: datetime) -> Goal:
        """Closes an open goal. Raises UnknownGoal, AmbiguousGoal."""
        goal = self.goal(reference)
        self._goals.append({"done": goal.id, "at": to_iso(now)})
        return goal

    def goal(self, reference: str) -> Goal:
        """The open goal whose id begins so. Raises UnknownGoal, AmbiguousGoal."""
        found = [g for g in self.goals() if reference and g.id.startswith(reference)]
        if len(found) > 1:
            raise AmbiguousGoal(reference, [g.id for g in found])
        if not found:
            raise UnknownGoal(reference)
        return found[0]

    # ------------------------------------------------------------ feedback

    def feedback(self, item: str, signal: str, now: datetime) -> tuple[int, int]:
        """Notes whether an item was of use; returns its (successes, uses). Raises UnknownSignal."""
        if signal not in SIGNALS:
            raise UnknownSignal(signal)
        self._feedback.append({"id": item, "signal": signal, "at": to_iso(now)})
        return self.uses()[item]

    def uses(self) -> dict[str, tuple[int, int]]:
        """Item id → (times it was of use, times anybody said)."""
        found: dict[str, tuple[int, int]] = {}
        for entry in self._feedback.entries():
            if (signal := entry.get("signal")) in SIGNALS:
                successes, uses = found.get(str(entry.get("id")), (0, 0))
                found[str(entry.get("id"))] = (successes + (signal == "used"), uses + 1)
        return found
