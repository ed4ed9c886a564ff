"""Scoring profiles: how much each dimension counts for whom.

Owns the base, the five presets (all numbers from the table of REQUIREMENTS.md, section 2, item 4) and their
inheritance: base → preset → `[profiles.NAME]` of bank.toml, whose `extends` names what it starts from. What the table
leaves open of base is that of the presets it lies nearest to. A profile weighs; it can't admit or exclude.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from smb.model.errors import SmbError
from smb.recall.dimensions import NAMES, PENALTIES, Dimensions


class UnknownProfile(SmbError):
    exit_code = 2

    def __init__(self, name: str, known: list[str]):
        super().__init__(f"There is no profile {name!r}. There are {', '.join(known)}; bank.toml can add one: [profiles.{name or 'NAME'}].")


class ProfileCycle(SmbError):
    def __init__(self, chain: list[str]):
        super().__init__(f"The profiles of bank.toml extend each other in a circle: {' → '.join(chain)}. Let one extend base.")


class BadProfile(SmbError):
    def __init__(self, name: str, key: str, detail: str):
        super().__init__(f"bank.toml: [profiles.{name}] {key}: {detail}.")


@dataclass(frozen=True, slots=True)
class Profile:
    """`weights` a dimension (penalties at most 0). `half_life` is in hours, `evidence_most` the documents that make
    evidence as strong as it counts, `budget` in tokens and `hops` graph steps where the request names none.
    `redundant_above`, `clash_above` are cosines, `clash_gap` a difference of confidence. `isolation` and `graph_mode`
    belong to agents' scopes, which recall does not have yet: they are told, not used.
    """

    name: str
    weights: Dimensions
    half_life: float
    evidence_most: int
    budget: int
    isolation: str
    graph_mode: str
    hops: int
    redundant_above: float
    clash_above: float
    clash_gap: float

    def to_json(self) -> dict[str, Any]:
        """As a packet tells it."""
        said = {field.name: getattr(self, field.name) for field in fields(self)}
        return {**said, "weights": dict(self.weights._asdict())}


BASE = Profile(
    "base", Dimensions(1.0, 1.0, 0.5, 0.8, 0.6, 0.4, 0.3, 0.5, -0.7, -1.0, -0.3), half_life=69.0, evidence_most=3, budget=2000,
    isolation="NONE", graph_mode="HYBRID", hops=2, redundant_above=0.85, clash_above=0.9, clash_gap=0.3,
)  # fmt: skip
PRESETS = {
    profile.name: profile
    for profile in (
        BASE,
        Profile("coding", Dimensions(1.5, 1.2, 0.3, 1.2, 0.8, 0.3, 0.2, 0.6, -0.8, -1.0, -0.4), 24.0, 2, 8000, "LOOSE", "LOCAL", 1, 0.85, 0.9, 0.3),
        Profile("research", Dimensions(0.8, 1.0, 0.8, 0.5, 0.6, 0.8, 0.9, 0.7, -0.5, -1.0, -0.2), 168.0, 5, 12000, "NONE", "GLOBAL", 3, 0.8, 0.85, 0.25),
        Profile("manager", Dimensions(0.7, 1.5, 1.0, 0.6, 0.5, 0.5, 0.7, 0.4, -0.9, -1.0, -0.5), 72.0, 3, 8000, "LOOSE", "HYBRID", 2, 0.9, 0.9, 0.3),
        Profile("worker", Dimensions(1.3, 1.4, 0.3, 1.3, 0.7, 0.4, 0.3, 0.5, -0.7, -1.0, -0.4), 12.0, 2, 8000, "LOOSE", "LOCAL", 1, 0.85, 0.9, 0.3),
        Profile("personal", Dimensions(1.0, 0.8, 0.4, 0.9, 0.9, 0.3, 0.2, 0.5, -0.6, -1.0, -0.3), 720.0, 2, 8000, "STRICT", "HYBRID", 2, 0.85, 0.9, 0.35),
    )
}  # fmt: skip
_WORDS = {"isolation": ("NONE", "LOOSE", "STRICT"), "graph_mode": ("LOCAL", "HYBRID", "GLOBAL")}
_COUNTS = {"evidence_most": 1, "budget": 1, "hops": 0}  # whole numbers, and the least of each
_SHARES = ("redundant_above", "clash_above", "clash_gap")


def resolve(name: str, own: Mapping[str, Any]) -> Profile:
    """The profile `name` ("" is base) with what bank.toml's `[profiles]` tables `own` say of it.

    A table of a preset's own name changes that preset. Raises UnknownProfile, ProfileCycle, BadProfile.
    """
    return _resolve(name or BASE.name, own, [])


def _resolve(name: str, own: Mapping[str, Any], chain: list[str]) -> Profile:
    if name in chain:
        raise ProfileCycle([*chain, name])
    if name not in own:
        if name not in PRESETS:
            raise UnknownProfile(name, sorted({*PRESETS, *own}))
        return PRESETS[name]
    table = own[name]
    if not isinstance(table, Mapping):
        raise BadProfile(name, "it", f"is a table: write [profiles.{name}] on a line of its own")
    parent = table.get("extends", name if name in PRESETS else BASE.name)
    if not isinstance(parent, str):
        raise BadProfile(name, "extends", f"{parent!r} is not a profile's name")
    start = PRESETS[name] if parent == name and name in PRESETS else _resolve(parent, own, [*chain, name])
    weights: dict[str, float] = {}
    others: dict[str, Any] = {}
    for key, value in table.items():
        if key in NAMES:
            weights[key] = _weight(name, key, value)
        elif key != "extends":
            others[key] = _other(name, key, value)
    return replace(start, name=name, weights=start.weights._replace(**weights), **others)


def _weight(name: str, key: str, value: Any) -> float:
    number = _number(name, key, value)
    if key in PENALTIES and number > 0 or key not in PENALTIES and number < 0:
        raise BadProfile(name, key, f"{value} has the wrong sign: {', '.join(PENALTIES)} are penalties, at most 0; the others at least 0")
    return number


def _other(name: str, key: str, value: Any) -> Any:
    if key in _WORDS:
        if value not in _WORDS[key]:
            raise BadProfile(name, key, f"{value!r} is none of {', '.join(_WORDS[key])}")
        return value
    if key in _COUNTS:
        if not isinstance(value, int) or isinstance(value, bool) or value < _COUNTS[key]:
            raise BadProfile(name, key, f"{value!r} is not a whole number from {_COUNTS[key]} up")
        return value
    number = _number(name, key, value)
    if key == "half_life" and number > 0 or key in _SHARES and 0 <= number <= 1:
        return number
    if key == "half_life" or key in _SHARES:
        raise BadProfile(name, key, f"{value} is out of range ({'hours above 0' if key == 'half_life' else '0 to 1'})")
    known = ["extends", *NAMES, "half_life", *_COUNTS, *_SHARES, *_WORDS]
    raise BadProfile(name, key, f"there is no such entry; there are {', '.join(known)}")


def _number(name: str, key: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not -100 <= value <= 1e6:
        raise BadProfile(name, key, f"{value!r} is not a number")
    return float(value)
