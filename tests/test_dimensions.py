"""The eleven dimensions: each formula, and the exact total and explanation of a fixed vector."""

from __future__ import annotations

import math
from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smb.recall import dimensions as d
from smb.recall.profiles import BASE, PRESETS, BadProfile, ProfileCycle, UnknownProfile, resolve

FIXED = d.Dimensions(0.8, 0.7, 0.25, 0.5, 0.75, 0.63, 0.4, 1.0, 0.9, 0.0, 0.125)


def test_a_fixed_vector_has_this_total_and_this_explanation() -> None:
    """By hand: 0.8 + 0.7 + 0.125 + 0.4 + 0.45 + 0.252 + 0.12 + 0.5 - 0.63 - 0 - 0.0375."""
    assert d.utility(FIXED, BASE.weights) == pytest.approx(2.6795, abs=1e-12)
    told = d.explanation(FIXED, BASE.weights)
    assert list(told) == list(d.NAMES) and len(told) == 11
    assert told["turn_relevance"] == {"value": 0.8, "weight": 1.0, "product": 0.8}
    assert told["confidence"] == {"value": 0.63, "weight": 0.4, "product": 0.252}
    assert told["redundancy"] == {"value": 0.9, "weight": -0.7, "product": -0.63}
    assert told["cost"] == {"value": 0.125, "weight": -0.3, "product": -0.0375}
    assert sum(one["product"] for one in told.values()) == pytest.approx(2.6795)


@pytest.mark.parametrize(
    ("name", "total"),
    [("base", 2.6795), ("coding", 3.414), ("research", 3.329), ("manager", 2.6575), ("worker", 3.462), ("personal", 2.7765)],
)
def test_every_preset_weighs_the_same_vector_by_its_own_column(name: str, total: float) -> None:
    """Sums worked out from the table of REQUIREMENTS.md, 2.4."""
    assert d.utility(FIXED, resolve(name, {}).weights) == pytest.approx(total, abs=1e-9)


def test_each_formula() -> None:
    assert (d.turn_relevance(-0.4), d.turn_relevance(0.4), d.turn_relevance(1.2)) == (0.0, 0.4, 1.0)
    assert d.session_goal(True, True, [(0.2, [])]) == 1.0 and d.session_goal(False, True, [(0.9, [])]) == 0.7
    assert d.session_goal(False, False, [(0.2, []), (0.6, [0.5])]) == 0.6, "the greatest cosine"
    assert d.session_goal(False, False, [(0.2, [0.5, 0.8])]) == pytest.approx(0.56), "a part counts 0.7"
    assert d.session_goal(False, False, []) == 0.0
    assert (d.global_goal([0.1, 0.5, -1.0]), d.global_goal([])) == (0.5, 0.0)
    assert (d.recency(0, 24), d.recency(24, 24), d.recency(48, 24), d.recency(-5, 24)) == (1.0, 0.5, 0.25, 1.0)
    assert (d.successful_use(0, 0), d.successful_use(1, 4), d.successful_use(0, 3)) == (0.5, 0.25, 0.0)
    assert (d.confidence(0.9, 0.7), d.confidence(1.5, 0.9)) == (pytest.approx(0.63), 1.0)
    assert (d.evidence_strength(1, 3), d.evidence_strength(7, 3)) == (pytest.approx(1 / 3), 1.0)
    assert (d.novelty(True), d.novelty(False)) == (0.0, 1.0)
    assert (d.redundancy(0.85, 0.85), d.redundancy(0.86, 0.85)) == (0.0, 0.86)
    assert d.contradiction(False, True, True, True) == 1.0 and d.contradiction(False, False, True, True) == 0.9
    assert d.contradiction(False, False, False, True) == 0.7 and d.contradiction(False, False, False, False) == 0.0
    assert d.contradiction(True, True, True, True) == 0.0, "a contested set is exempt"
    assert (d.cost(50, 200), d.cost(300, 200), d.cost(1, 0)) == (0.25, 1.0, 1.0)


@given(st.floats(0, 1e6), st.floats(0.1, 1e4), st.floats(-1, 1), st.integers(0, 50), st.integers(1, 9))
def test_every_dimension_is_from_nothing_to_one(hours: float, half_life: float, cosine: float, n: int, most: int) -> None:
    for value in (d.recency(hours, half_life), d.turn_relevance(cosine), d.evidence_strength(n, most), d.cost(n, most),
                  d.successful_use(min(n, most), most), d.redundancy(cosine, 0.5)):  # fmt: skip
        assert 0.0 <= value <= 1.0 and math.isfinite(value)


# ---------------------------------------------------------------- profiles


def test_the_presets_say_what_the_table_says() -> None:
    assert list(PRESETS) == ["base", "coding", "research", "manager", "worker", "personal"]
    research = resolve("research", {})
    assert (research.half_life, research.evidence_most, research.budget, research.hops) == (168, 5, 12000, 3)
    assert (research.redundant_above, research.clash_above, research.clash_gap) == (0.8, 0.85, 0.25)
    assert (resolve("worker", {}).weights.global_goal, resolve("worker", {}).budget) == (0.3, 8000), "the document, not the code"
    assert {p.isolation for p in PRESETS.values()} == {"NONE", "LOOSE", "STRICT"}
    for profile in PRESETS.values():
        assert all(getattr(profile.weights, name) <= 0 for name in d.PENALTIES)
        assert all(getattr(profile.weights, name) >= 0 for name in d.NAMES if name not in d.PENALTIES)


def test_a_profile_inherits_and_the_nearest_word_wins() -> None:
    own = {
        "night": {"extends": "worker", "recency": 0.1, "half_life": 6},
        "late": {"extends": "night", "cost": -0.9, "budget": 500},
        "coding": {"novelty": 0.0},
        "plain": {"turn_relevance": 2},
    }
    late = resolve("late", own)
    worker = PRESETS["worker"]
    assert late.name == "late" and late.weights == worker.weights._replace(recency=0.1, cost=-0.9)
    assert (late.half_life, late.budget, late.hops) == (6.0, 500, worker.hops)
    assert resolve("coding", own).weights == PRESETS["coding"].weights._replace(novelty=0.0), "its own name changes the preset"
    assert resolve("plain", own).weights == BASE.weights._replace(turn_relevance=2.0), "nothing named extends base"
    assert resolve("", {}) == BASE


def test_an_unknown_profile_is_a_usage_error_that_lists_those_there_are() -> None:
    for name, own in (("bold", {"mine": {}}), ("mine", {"mine": {"extends": "bold"}})):
        with pytest.raises(UnknownProfile) as told:
            resolve(name, own)
        assert told.value.exit_code == 2 and all(known in str(told.value) for known in (*PRESETS, "mine", "'bold'"))


def test_a_circle_of_profiles_is_an_error_that_names_it() -> None:
    own = {"a": {"extends": "b"}, "b": {"extends": "c"}, "c": {"extends": "a"}}
    with pytest.raises(ProfileCycle, match="a → b → c → a"):
        resolve("a", own)
    with pytest.raises(ProfileCycle):
        resolve("self", {"self": {"extends": "self"}})


@pytest.mark.parametrize(
    "table",
    [{"redundancy": 0.1}, {"recency": -0.1}, {"recency": "much"}, {"recency": True}, {"half_life": 0}, {"half_life": float("nan")}, {"budget": 0},
     {"budget": 1.5}, {"hops": -1}, {"redundant_above": 1.2}, {"isolation": "SOME"}, {"colour": 3}, {"extends": 3}, "table", {"name": 4}, {"weights": {}}],
    ids=str,
)  # fmt: skip
def test_a_profile_that_can_not_be_meant_names_its_entry(table: object) -> None:
    with pytest.raises(BadProfile, match="mine"):
        resolve("mine", {"mine": table})


def test_a_profile_tells_all_of_itself() -> None:
    told = BASE.to_json()
    assert set(told) == {f.name for f in fields(BASE)} and set(told["weights"]) == set(d.NAMES)
