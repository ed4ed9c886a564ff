"""What is wanted and what was of use on this machine: goals and feedback, kept in `usage/`.

Owns the meaning of the three logs (`goals.jsonl`, `feedback.jsonl`, `recalls.jsonl`). Local and git-ignored: what one person is after and
found useful is no knowledge and no authority, so it is not in the ledger; it orders answers here, and losing it costs
nothing but that order. A recall is no use of anything: only what is fed back counts, and what stood above it in the same
answer and was passed over.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from smb.model.errors import SmbError
from smb.model.goal import Goal, GoalLevel
from smb.model.use import Use
from smb.model.validity import from_iso, to_iso
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
        self._goals, self._feedback, self._recalls = (UsageLog(bank / "usage" / f"{name}.jsonl") for name in ("goals", "feedback", "recalls"))

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

    # ------------------------------------------------------------ what became of what was shown

    def note_recall(self, items: Iterable[str], now: datetime) -> None:
        """Notes which items an answer showed, best first, and nothing of what was asked. A bank that can't be written is left alone."""
        with suppress(OSError):
            self._recalls.append({"ids": list(items), "at": to_iso(now)})

    def record(self) -> dict[str, Use]:
        """Item id → what became of it. Shown alone is nothing: of an answer somebody said was of use, what stood above the item
        used was seen and passed over; what stood below may never have been looked at."""
        shown = [(str(e["at"]), [str(i) for i in e["ids"]]) for e in self._recalls.entries() if isinstance(e.get("ids"), list) and e.get("at")]
        shown.sort(key=lambda pair: pair[0])
        answers: dict[str, list[int]] = {}
        for n, (_, ids) in enumerate(shown):
            for id_ in ids:
                answers.setdefault(id_, []).append(n)
        held: dict[str, Use] = {}
        settled: set[tuple[int, str]] = set()
        for entry in self._feedback.entries():
            id_, signal, at = str(entry.get("id")), entry.get("signal"), str(entry.get("at"))
            if signal not in SIGNALS:
                continue
            before = held.get(id_, Use())
            used, when = signal == "used", _instant(at)
            passed_over = 0 if used else before.passed_over + 1
            held[id_] = Use(before.successes + used, before.uses + 1, passed_over, when or before.last)
            places = answers.get(id_, ())
            place = bisect_right(places, at, key=lambda n: shown[n][0]) - 1
            if place < 0:
                continue
            answer = places[place]
            settled.add((answer, id_))
            for other in shown[answer][1][: shown[answer][1].index(id_)] if used else ():
                if (answer, other) not in settled:
                    settled.add((answer, other))
                    held[other] = held.get(other, Use()) + Use(passed_over=1, last=when)
        return {id_: use + Use(last=_instant(shown[answers[id_][-1]][0])) if id_ in answers else use for id_, use in held.items()}


def _instant(iso: str) -> datetime | None:
    try:
        return from_iso(iso)
    except ValueError:
        return None
