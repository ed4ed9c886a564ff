"""The closure pack: which candidates enter a budget of tokens, whole or not at all.

Owns the tokenizer the budget is stated in and the choice. A unit's cost is everything of it the context pack shows:
its label, its text and each quoted span not shown yet. The budget is hard; what does not fit is counted.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from smb.recall.cite import Citation
from smb.recall.dimensions import Dimensions
from smb.recall.score import Signals
from smb.recall.verdicts import Judged

TOKENIZER = "utf8/4"  # stated in every packet
STATED = frozenset({"concept", "entity", "claim"})
MAX_CITATIONS = 3  # spans quoted for one object; the ledger and `smb why` hold them all


def tokens_of(text: str) -> int:
    """Tokens as budgets count them: one for every four bytes of UTF-8, rounded up.

    No model's own tokenizer, so it is the same everywhere and free: English runs at about 4 bytes a token in common
    ones, and a CJK character (3 bytes) at about one.
    """
    return (len(text.encode("utf-8", "surrogatepass")) + 3) // 4


@dataclass(slots=True)
class Unit:
    """One item to be: a passage or an object, with what is attached to it because it stands in the same lines."""

    kind: str
    row: int
    id: str
    type: str
    title: str
    text: str
    score: float
    verdict: str
    routes: dict[str, int]
    document: str = ""
    passage: sqlite3.Row | None = None
    valid_from: str | None = None
    valid_to: str | None = None
    recorded_at: str = ""
    judged: Judged | None = None
    signals: Signals | None = None
    closure: tuple[str, ...] = ()
    attached: list[str] = field(default_factory=list)
    citations: tuple[Citation, ...] = ()
    rank_evidence: float = 0.0  # the score before the profile's dimensions are added
    dimensions: Dimensions | None = None
    updated_by: str = ""  # the unit that reads as a later statement of the same, where there is one

    @property
    def worked_out(self) -> bool:
        """Whether evolution concluded it from other objects; what it made to stand for stated ones is not meant."""
        return self.judged is not None and self.judged.row["mode"] == "inferred" and self.type not in STATED


def label_of(unit: Unit) -> str:
    """The line above an item in the context pack."""
    places = ", ".join(where(c) for c in unit.citations)
    facts = [unit.verdict] * (unit.verdict != "current") + ["worked out"] * unit.worked_out
    return f"[{unit.id}] {places}" + (f" ({', '.join(facts)})" if facts else "")


def where(citation: Citation) -> str:
    lines = f"{citation.line_start}-{citation.line_end}" if citation.line_end > citation.line_start else str(citation.line_start)
    return f"{citation.path}:{lines}"


def cost_of(unit: Unit, shown: set[tuple[str, int, str]]) -> int:
    """Tokens a unit adds to a pack in which the spans `shown` (source, first line, quote) stand already."""
    said = f"{label_of(unit)}\n{unit.text}\n\n"
    return tokens_of(said) + sum(
        tokens_of(f"> {c.quote}\n") for c in unit.citations if span_of(c) not in shown and not within(c.quote, unit.text)
    )


def span_of(citation: Citation) -> tuple[str, int, str]:
    return (citation.source, citation.line_start, citation.quote)


def within(quote: str, text: str) -> bool:
    """Whether a text shows a quote already, white space apart."""
    return " ".join(quote.split()) in " ".join(text.split())


@dataclass(frozen=True, slots=True)
class Group:
    """Units that enter whole or not at all; one that is `needed` leaves no pack where it does not fit."""

    units: Sequence[Unit]
    needed: bool = False


@dataclass(frozen=True, slots=True)
class Pack:
    """`dropped` counts units that were next in rank and did not fit the budget, `out` names them (and those that would
    have made more than `n`) with the reason; `infeasible` is the tokens a needed group would have taken."""

    units: tuple[Unit, ...]
    tokens: int
    dropped: int
    out: tuple[tuple[Unit, str], ...] = ()
    infeasible: int | None = None


def pack(groups: Iterable[Group], n: int, budget: int, chosen: list[Unit] | None = None) -> Pack:
    """Fills the budget in the order given. `chosen` is filled as groups are taken, so that whoever gives them can see.

    At most `n` units, but for a first or needed group that would be cut.
    """
    chosen = [] if chosen is None else chosen
    shown: set[tuple[str, int, str]] = set()
    tokens = dropped = 0
    out: list[tuple[Unit, str]] = []
    for group in groups:
        if len(chosen) >= n and not group.needed:
            break
        held = {unit.id for unit in chosen}
        fresh = [unit for unit in group.units if unit.id not in held]
        if chosen and len(chosen) + len(fresh) > n and not group.needed:
            out += [(unit, "its group would make more than the number asked for") for unit in fresh]
            continue
        cost, added = 0, set(shown)
        for unit in fresh:
            cost += cost_of(unit, added)
            added.update(map(span_of, unit.citations))
        if tokens + cost > budget:
            if group.needed:
                return Pack((), 0, dropped + len(fresh), tuple(out), tokens + cost)
            dropped += len(fresh)
            out += [(unit, f"no room: {cost} tokens, {budget - tokens} left") for unit in fresh]
            continue
        chosen += fresh
        shown, tokens = added, tokens + cost
    return Pack(tuple(chosen), tokens, dropped, tuple(out))
