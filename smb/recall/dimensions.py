"""The eleven dimensions of an item's use to whoever asks, each a pure function, and their weighted sum.

The formulas are those of REQUIREMENTS.md, section 2, item 3. Eight are of the item alone (`turn_relevance` to `novelty`);
`redundancy`, `contradiction` and `cost` compare it with what is chosen already, and so may `novelty`. Each is in 0…1: what
is bad about an item is a negative weight, never a negative value. Owns no weight (`profiles`) and reads nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from operator import mul
from typing import NamedTuple

UNUSED = 0.5  # successful use of what nobody has judged
INDIRECT = 0.7  # a tag below the goal's, or only around the item; and a goal's share in a part of it
SUPERSEDES, CONTRADICTS, CLASHES = 1.0, 0.9, 0.7


class Dimensions(NamedTuple):
    """One number a dimension: an item's values, or a profile's weights."""

    turn_relevance: float = 0.0
    session_goal: float = 0.0
    global_goal: float = 0.0
    recency: float = 0.0
    successful_use: float = 0.0
    confidence: float = 0.0
    evidence_strength: float = 0.0
    novelty: float = 0.0
    redundancy: float = 0.0
    contradiction: float = 0.0
    cost: float = 0.0


NAMES = Dimensions._fields
PENALTIES = ("redundancy", "contradiction", "cost")


def utility(values: Dimensions, weights: Dimensions) -> float:
    """The weighted sum.

    >>> utility(Dimensions(turn_relevance=0.5, cost=0.1), Dimensions(turn_relevance=1.0, cost=-0.3))
    0.47
    """
    return sum(map(mul, values, weights))


def explanation(values: Dimensions, weights: Dimensions) -> dict[str, dict[str, float]]:
    """Dimension → {"value", "weight", "product"}; the products add up to the utility."""
    return {
        name: {"value": round(value, 6), "weight": weight, "product": round(value * weight, 6)}
        for name, value, weight in zip(NAMES, values, weights, strict=True)
    }


# ---------------------------------------------------------------- of the item alone


def turn_relevance(cosine: float) -> float:
    """The cosine of item and question, clamped to 0…1."""
    return clamped(cosine)


def session_goal(direct: bool, indirect: bool, cosines: Sequence[tuple[float, Sequence[float]]]) -> float:
    """1.0 for an item that bears a goal's own tag, 0.7 for one near it, else the greatest cosine with a goal.

    `cosines` holds, a goal, the cosine with its text and those with the goals that are parts of it; a part counts 0.7.
    """
    if direct:
        return 1.0
    if indirect:
        return INDIRECT
    return max((max(clamped(own), INDIRECT * max(map(clamped, parts), default=0.0)) for own, parts in cosines), default=0.0)


def global_goal(cosines: Iterable[float]) -> float:
    """The greatest cosine with a standing goal; 0 where there is none."""
    return max(map(clamped, cosines), default=0.0)


def recency(hours: float, half_life: float) -> float:
    """exp(-ln 2 · Δh / half-life): 1 now, a half after `half_life` hours; what lies ahead counts as now.

    >>> recency(24.0, 24.0)
    0.5
    """
    return math.exp(-math.log(2) * max(0.0, hours) / half_life)


def successful_use(successes: int, uses: int) -> float:
    """The share of judged uses that were of use; 0.5 where none was judged."""
    return successes / uses if uses else UNUSED


def confidence(stated: float, multiplier: float) -> float:
    """min(1, c × m_v): how sure the statement is, times how well it is verified."""
    return min(1.0, stated * multiplier)


def evidence_strength(references: int, most: int) -> float:
    """Documents that state it, up to the number beyond which more prove nothing."""
    return min(references / most, 1.0)


def novelty(known: bool) -> float:
    """0 for what whoever asks has already, else 1."""
    return 0.0 if known else 1.0


# ---------------------------------------------------------------- against what is chosen


def redundancy(nearest: float, above: float) -> float:
    """The greatest cosine with a chosen item, where that is above the profile's threshold."""
    return clamped(nearest) if nearest > above else 0.0


def contradiction(contested: bool, supersession: bool, contradicts: bool, clashes: bool) -> float:
    """1.0 with a supersession edge to a chosen item, 0.9 with a contradicts edge, 0.7 where one nearly the same is much
    surer (`is_clash`). A contested item is exempt: both its sides are shown."""
    if contested:
        return 0.0
    return SUPERSEDES if supersession else CONTRADICTS if contradicts else CLASHES if clashes else 0.0


def cost(tokens: int, remaining: int) -> float:
    """The share of the remaining budget the item would take, at most 1."""
    return min(1.0, tokens / remaining) if remaining > 0 else 1.0


def clamped(value: float) -> float:
    return 0.0 if value < 0.0 else 1.0 if value > 1.0 else value
