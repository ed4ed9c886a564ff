"""Which claims come to be compared, and which places tell that two claims have two subjects."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from disputes import Dispute
from hypothesis import given, settings
from hypothesis import strategies as st

from smb.evolve.opposing.candidate_pairs import ALIKE, NEAREST, Groups, candidate_pairs


def vectors(seed: int, count: int, topics: int = 4) -> np.ndarray:
    rng = np.random.default_rng(seed)
    found = rng.normal(size=(topics, 16))[rng.integers(0, topics, count)] + 0.6 * rng.normal(size=(count, 16))
    return (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float32)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 999), st.integers(2, 60))
def test_pairs_by_likeness_are_the_nearest_of_either_and_no_others(seed: int, count: int) -> None:
    held = vectors(seed, count)
    likeness = held @ held.T
    np.fill_diagonal(likeness, -2)
    least = np.maximum(np.sort(likeness, axis=1)[:, -min(NEAREST, count)], ALIKE)
    found = {tuple(pair) for pair in candidate_pairs(held, Groups({}, {}, {})).tolist()}
    for a, b in combinations(range(count), 2):
        above = max(likeness[a, b] - least[a], likeness[a, b] - least[b])
        assert abs(above) < 2e-4 or ((a, b) in found) == (above > 0)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 999), st.integers(2, 40))
def test_a_new_claim_meets_at_least_what_a_whole_look_gives_it(seed: int, count: int) -> None:
    held = vectors(seed, count)
    groups = Groups({"key": list(range(0, count, 3))}, {"subject": list(range(0, count, 2))}, {})
    whole = {tuple(pair) for pair in candidate_pairs(held, groups).tolist()}
    fresh = {tuple(pair) for pair in candidate_pairs(held, groups, [0]).tolist()}
    assert {pair for pair in whole if 0 in pair} <= fresh and all(0 in pair for pair in fresh)


def test_notes_all_alike_make_a_bounded_number_of_pairs() -> None:
    count = 1500
    held = np.tile(vectors(0, 1), (count, 1))
    everybody = list(range(count))
    assert len(candidate_pairs(held, Groups({"key": everybody}, {"subject": everybody}, {"word": everybody}))) <= 3 * NEAREST * count


@pytest.mark.parametrize(("one", "other", "opposed"), [
    ("Plan.md", "Standup 3 March.md", True),  # of "the launch" two such notes speak as of one
    ("Lemon cake.md", "Rye bread.md", False),  # "the launch" of two things is two
    ("2031-04-03.md", "2031-04-04.md", False),  # two days, two states of affairs
])
def test_the_title_before_a_claim_counts_where_it_names_a_thing(tmp_path: Path, one: str, other: str, opposed: bool) -> None:
    dispute = Dispute(tmp_path, {one: "The launch is on March 5.\n", other: "The launch is on April 9.\n"})
    dispute.cycle()
    assert bool(dispute.conflicts()) is opposed


def test_headings_of_one_note_are_two_subjects(tmp_path: Path) -> None:
    dispute = Dispute(tmp_path, {"Pump.md": "# Pump\n\n## Idle\n\nThe default value is 1000 ms.\n\n## Load\n\nThe default value is 5000 ms.\n"})
    dispute.cycle()
    assert dispute.conflicts("all") == []
