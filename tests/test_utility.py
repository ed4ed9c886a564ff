"""The order of choice: what is chosen lowers what repeats or contradicts it, and no weight admits or excludes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_bank import run_recall
from worlds import ask, ingest, write

from smb.model.edges import EdgeType
from smb.model.identity import object_id
from smb.model.objects import Link
from smb.model.revision import RevisionKind, new_revision
from smb.recall import dimensions as d
from smb.recall.pack import Unit, tokens_of
from smb.recall.profiles import BASE, PRESETS, resolve
from smb.recall.standpoint import Standpoint
from smb.recall.utility import PROFILE_SHARE, Utility

PROFILES = tuple(PRESETS)


def value(item: dict[str, Any], dimension: str) -> float:
    return item["dimensions"][dimension]["value"]


def unit(n: int, evidence: float, text: str, row: int | None) -> Unit:
    return Unit("passage", n, f"{n:012x}", "paragraph", "", text, evidence, "current", {}, passage={"vector_row": row})  # type: ignore[arg-type]


def utility(vectors: np.ndarray, profile: str = "base", budget: int = 60) -> Utility:
    return Utility(Standpoint(resolve(profile, {})), budget, {}, {}, np.zeros(len(vectors), np.float32), lambda rows: vectors[list(rows)])


@given(st.data(), st.sampled_from(PROFILES))
@settings(max_examples=80, deadline=None)
def test_the_lazy_choice_is_the_greedy_one(data: st.DataObject, profile: str) -> None:
    """At every step what comes has the best total of all that are left, each worked out anew from the definitions."""
    count = data.draw(st.integers(1, 8))
    corners = st.lists(st.sampled_from((-1.0, 0.0, 0.1, 1.0)), min_size=3, max_size=3)
    vectors = np.array([data.draw(corners) for _ in range(count)], np.float32) + np.float32(0.01)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    evidence, texts = st.sampled_from((0.1, 0.12, 0.5, 0.55)), st.sampled_from(("Same words.", "Other words, more of them."))
    made = utility(vectors, profile)
    ranked = made.weigh([unit(n, data.draw(evidence), data.draw(texts), n) for n in range(count)])
    alone = {u.id: u.dimensions for u in ranked}
    weights, above = resolve(profile, {}).weights, resolve(profile, {}).redundant_above
    chosen: list[Unit] = []

    def total(one: Unit) -> float:
        cosines = [round(float(vectors[one.row] @ vectors[c.row]), 6) for c in chosen]
        remaining = made.budget - sum(tokens_of(c.text) for c in chosen)
        now = alone[one.id]._replace(
            novelty=float(all(c.text != one.text for c in chosen)),
            redundancy=d.redundancy(max(cosines, default=0.0), above),
            cost=max(alone[one.id].cost, d.cost(tokens_of(one.text), remaining)),
        )
        return one.rank_evidence + PROFILE_SHARE * d.utility(now, weights)

    left = {u.id: u for u in ranked}
    for one in made.order(ranked, chosen, {}):
        assert one.score == pytest.approx(total(one), abs=2e-6) == pytest.approx(max(map(total, left.values())), abs=2e-6)
        del left[one.id]
        if data.draw(st.booleans()):  # the pack may have no room for it
            chosen.append(one)
    assert not left, "every unit comes once"


SAME = {
    "a.md": "# Loft\n\nThe beam of the loft was cut from larch in spring.\n",
    "b.md": "# Barn\n\nThe beam of the loft was cut from larch in spring.\n",
    "c.md": "# Yard\n\nThe gate of the yard has a beam of oak and an iron latch.\n",
}


def test_what_repeats_a_chosen_item_is_redundant_and_no_news(tmp_path: Path) -> None:
    ingest(tmp_path / "bank", write(tmp_path / "notes", SAME))
    items = ask(tmp_path / "bank", "recall", "what was the beam cut from", explain=True, types=("passage",))["items"]
    first, *rest = [i for i in items if "larch" in i["text"]]
    assert (value(first, "redundancy"), value(first, "novelty")) == (0.0, 1.0)
    assert rest and all(value(i, "redundancy") > 0.99 and value(i, "novelty") == 0.0 for i in rest)
    other = next(i for i in items if "oak" in i["text"])
    assert (value(other, "redundancy"), value(other, "novelty")) == (0.0, 1.0)
    for item in items:
        total = item["rank_evidence"] + PROFILE_SHARE * sum(one["product"] for one in item["dimensions"].values())
        assert list(item["dimensions"]) == list(d.NAMES) and item["score"] == pytest.approx(total, abs=1e-5)
    assert [i["score"] for i in items] == sorted((i["score"] for i in items), reverse=True)


def test_a_profile_orders_and_never_admits_or_excludes(tmp_path: Path) -> None:
    ingest(tmp_path / "bank", write(tmp_path / "notes", SAME))
    found = [ask(tmp_path / "bank", "recall", "beam of the loft", profile=name, n=100, budget=50_000) for name in PROFILES]
    assert len({tuple(sorted((i["id"], i["verdict"]) for i in packet["items"])) for packet in found}) == 1
    assert [packet["profile"] for packet in found] == [{"name": name} for name in PROFILES]


def test_recency_counts_from_now_and_without_it_from_the_newest_note(tmp_path: Path) -> None:
    notes = {f"{day}.md": f"---\ndate: {day}\n---\n# Log\n\nThe damper stood at {n} notches.\n" for n, day in enumerate(("2030-03-01", "2030-03-04", "2030-03-07"), 3)}
    ingest(tmp_path / "bank", write(tmp_path / "notes", notes))

    def recencies(**options: Any) -> dict[str, float]:
        items = ask(tmp_path / "bank", "recall", "damper notches", explain=True, profile="manager", types=("passage",), **options)["items"]
        return {i["citations"][0]["path"]: value(i, "recency") for i in items if "damper" in i["text"]}

    assert recencies() == {"2030-03-07.md": 1.0, "2030-03-04.md": 0.5, "2030-03-01.md": 0.25}, "72 hours halve it"
    assert recencies(now="2030-03-10T00:00:00Z") == {"2030-03-07.md": 0.5, "2030-03-04.md": 0.25, "2030-03-01.md": 0.125}


def kilns(bank: Any, **says: Any) -> tuple[Any, Any]:
    note = bank.note("kiln.md", "The kiln is fired with wood.\n\nThe kiln is fired with gas.\n")
    other = object_id("claim", "The kiln is fired with wood")
    links = {"links": (Link(other, EdgeType.CONTRADICTS),)} if says.pop("linked", False) else {}
    wood = bank.say(note, "claim", "The kiln is fired with wood", "The kiln is fired with wood", confidence=0.95)
    gas = bank.say(note, "claim", "The kiln is fired with gas", "The kiln is fired with gas", confidence=0.9, **links, **says)
    return wood, gas


def test_a_contradicts_edge_to_a_chosen_item_counts_and_a_contested_set_is_exempt(tmp_path: Path) -> None:
    async def scenario(bank: Any, ask: Any) -> None:
        wood, gas = kilns(bank, linked=True)
        await bank.commit("2031-01-01T00:00:00")
        found = [value(i, "contradiction") for i in (await ask("how is the kiln fired", explain=True))["items"] if i["type"] == "claim"]
        assert sorted(found) == [0.0, 0.9], "the second one only"
        for revision, against in ((wood, gas), (gas, wood)):
            bank.pending.append(new_revision(RevisionKind.CONTEST, revision.object_id, "claim", into=(against.object_id,), reason="fuel"))
        await bank.commit("2031-01-02T00:00:00")
        packet = await ask("how is the kiln fired", explain=True)
        claims = [i for i in packet["items"] if i["type"] == "claim"]
        assert {i["verdict"] for i in claims} == {"contested"} and [value(i, "contradiction") for i in claims] == [0.0, 0.0]

    run_recall(tmp_path, scenario)


def test_what_a_chosen_item_superseded_says_so(tmp_path: Path) -> None:
    async def scenario(bank: Any, ask: Any) -> None:
        note = bank.note("kiln.md", "The kiln is fired with wood.\n\nThe kiln is fired with gas.\n")
        old = bank.say(note, "claim", "The kiln is fired with wood", "The kiln is fired with wood")
        bank.say(note, "claim", "The kiln is fired with gas", "The kiln is fired with gas", kind=RevisionKind.SUPERSEDE, replaces=(old,))
        await bank.commit("2031-01-01T00:00:00")
        packet = await ask("how is the kiln fired", explain=True)
        (gone,) = [i for i in packet["superseded"] if i["id"] == old.object_id]
        assert value(gone, "contradiction") == 1.0 and gone["dimensions"]["contradiction"]["product"] == -1.0

    run_recall(tmp_path, scenario)


def test_one_nearly_the_same_and_much_surer_weighs_against_the_other() -> None:
    near = np.array([[1.0, 0.0], [0.99, 0.1411], [0.0, 1.0]], np.float32)
    made = utility(near)
    units = made.weigh([unit(n, 0.9 - n / 10, f"text {n}", n) for n in range(3)])
    for one, sure in zip(units, (0.8, 0.4, 0.1), strict=True):
        one.dimensions = one.dimensions._replace(confidence=sure)  # type: ignore[union-attr]
    chosen: list[Unit] = []
    found = {}
    for one in made.order(units, chosen, {}):
        found[one.row] = one.dimensions.contradiction  # type: ignore[union-attr]
        chosen.append(one)
    assert found == {0: 0.0, 1: 0.7, 2: 0.0} and BASE.clash_above == 0.9 and BASE.clash_gap == 0.3
