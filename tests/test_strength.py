"""Strength and class of memory: made from use and documents, weighing rank alone."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from worlds import MOMENT, ask, ingest, rows, truth, write

from smb import Bank
from smb.evolve.cycle import EvolutionEngine
from smb.evolve.memory_class import MemoryClass, Stated, class_of, is_rule
from smb.evolve.promotion import Promotion
from smb.evolve.snapshot import Snapshot
from smb.evolve.strength import BLACKLISTED_AT, FLOOR, Strength, factor_of, is_blacklisted
from smb.model.objects import MemoryType
from smb.model.use import Use
from smb.usage import Usage

NOTES = {
    "Kiln.md": "# Kiln\n\nThe kiln shelf holds forty cones.\n\nThe kiln shelf holds two posts.\n",
    "Glaze.md": "# Glaze\n\nThe glaze shelf holds nine oxides.\n",
    "rules.md": "# House rules\n\nEvery visitor must sign the book at the gate.\n\nThe hall is 12 m long.\n",
    "How to rinse.md": "# How to rinse a vat\n\n## Steps\n\n1. Drain the vat.\n2. The soft brush takes the crust off the vat wall.\n",
}
DAY = "# {day}\n\nKiln North reached 1240 °C at 21:50.\n\n{what} fired the shelf.\n"
QUESTION = "what does the kiln shelf hold"


@pytest.fixture
def bank(tmp_path: Path) -> Path:
    ingest(tmp_path / "bank", write(tmp_path / "notes", NOTES))
    return tmp_path / "bank"


def evolve(bank: Path, used: Mapping[str, Use] | None = None, **options: Any) -> dict[str, str]:
    """Phase → what it noted, of a cycle of these two."""

    async def main() -> dict[str, str]:
        async with Bank.open(bank, clock=lambda: MOMENT) as opened:
            phases = [Strength(opened.usage.record() if used is None else used, MOMENT), Promotion()]
            engine = EvolutionEngine(Snapshot(opened.catalog, None), phases, opened.writer.writing, opened.writer.commit, opened.clock)
            return {phase.name: phase.note for phase in (await engine.run(**options)).phases}

    return asyncio.run(main())


def table(bank: Path) -> dict[str, tuple[Any, ...]]:
    """Title or id → (class, sessions, factor, blacklisted)."""
    return {r[0]: r[1:] for r in rows(bank, "SELECT coalesce(o.title, s.object_id), s.class, s.sessions, s.factor, s.blacklisted FROM strength s LEFT JOIN memory_objects o ON o.id = s.object_id")}


def claim(bank: Path, title: str) -> str:
    return str(rows(bank, "SELECT id FROM memory_objects WHERE title = ? AND type = 'claim'", title)[0][0])


# ---------------------------------------------------------------- the numbers


@pytest.mark.parametrize(
    ("confidence", "use", "class_", "factor"),
    [
        (0.5, Use(), MemoryClass.EPISODIC, 1.0),
        (0.5, Use(3, 3), MemoryClass.SEMANTIC, 1.6),
        (0.5, Use(2, 4), MemoryClass.SEMANTIC, 1.3),
        (0.5, Use(2, 2), MemoryClass.SEMANTIC, 1.0),
        (0.5, Use(1, 3), MemoryClass.SEMANTIC, 1.0),
        (0.9, Use(4, 4), MemoryClass.SEMANTIC, round(1 / 0.9, 4)),
        (0.5, Use(0, 2, 2), MemoryClass.SEMANTIC, 0.81),
        (0.5, Use(0, 2, 2, MOMENT - timedelta(days=90)), MemoryClass.SEMANTIC, 0.81),
        (0.5, Use(0, 1, 1, MOMENT - timedelta(days=10)), MemoryClass.EPISODIC, round(0.95**10, 4)),
        (0.5, Use(0, 90, 90), MemoryClass.SEMANTIC, FLOOR),
        (0.5, Use(0, 9, 9), MemoryClass.PROCEDURAL, 1.0),
        (0.5, Use(0, 9, 9), MemoryClass.POLICY, 1.0),
        (0.5, Use(3, 3, 0, MOMENT - timedelta(days=10)), MemoryClass.EPISODIC, round(1 + 0.6 * 0.95**10, 4)),
        (0.5, Use(3, 3, 1), MemoryClass.SEMANTIC, 1.44),
    ],
)
def test_a_factor_follows_from_use_class_and_days(confidence: float, use: Use, class_: MemoryClass, factor: float) -> None:
    assert factor_of(confidence, use, class_, MOMENT) == pytest.approx(factor, abs=1e-4)


@given(st.floats(0, 1), st.integers(0, 50), st.integers(0, 50), st.integers(0, 50), st.sampled_from(list(MemoryClass)), st.integers(0, 9000))
def test_strengthened_confidence_is_never_above_one_and_no_factor_below_the_floor(c: float, s: int, more: int, over: int, class_: MemoryClass, days: int) -> None:
    factor = factor_of(c, Use(s, s + more, over, MOMENT - timedelta(days=days)), class_, MOMENT)
    assert FLOOR <= factor and c * factor <= 1.0 + 1e-3


def test_five_times_passed_over_without_success_is_blacklisted_and_a_rule_never() -> None:
    assert not is_blacklisted(Use(0, 4, BLACKLISTED_AT - 1), MemoryClass.SEMANTIC)
    assert is_blacklisted(Use(0, 0, BLACKLISTED_AT), MemoryClass.SEMANTIC)
    assert not is_blacklisted(Use(1, 9, 8), MemoryClass.SEMANTIC) and not is_blacklisted(Use(0, 9, 9), MemoryClass.POLICY)


# ---------------------------------------------------------------- what became of what was shown


def test_a_recall_alone_is_nothing_and_only_what_stood_above_the_item_used_was_passed_over(tmp_path: Path) -> None:
    usage = Usage(tmp_path)
    usage.note_recall(["a", "b", "c"], MOMENT)
    assert usage.record() == {}
    usage.feedback("b", "used", MOMENT + timedelta(seconds=5))
    assert usage.record() == {"b": Use(1, 1, 0, MOMENT + timedelta(seconds=5)), "a": Use(0, 0, 1, MOMENT + timedelta(seconds=5))}
    usage.feedback("b", "used", MOMENT + timedelta(seconds=9))
    assert usage.record()["a"].passed_over == 1, "one answer passes an item over once"
    usage.feedback("a", "used", MOMENT + timedelta(seconds=12))
    assert usage.record()["a"] == Use(1, 1, 0, MOMENT + timedelta(seconds=12))
    usage.feedback("a", "ignored", MOMENT + timedelta(days=1))
    assert usage.record()["a"] == Use(1, 2, 1, MOMENT + timedelta(days=1)) and "c" not in usage.record()


def test_a_recall_is_noted_without_its_question_unless_the_settings_say_no(bank: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = [item["id"] for item in ask(bank, "recall", QUESTION)["items"]]
    (line,) = (bank / "usage" / "recalls.jsonl").read_text().splitlines()
    assert json.loads(line)["ids"] == shown and "shelf" not in line
    monkeypatch.setenv("SMB_MEMORY_BANK_DIR", str(bank))
    settings = bank.parent / "config" / "smb" / "config.toml"
    write(settings.parent, {"config.toml": "log_recalls = false\n"})
    monkeypatch.setenv("XDG_CONFIG_HOME", str(settings.parent.parent))
    ask(bank, "recall", QUESTION)
    assert len((bank / "usage" / "recalls.jsonl").read_text().splitlines()) == 1


def test_a_log_that_can_not_be_written_fails_no_recall(bank: Path) -> None:
    (bank / "usage" / "recalls.jsonl").mkdir(parents=True)
    assert ask(bank, "recall", QUESTION)["outcome"] == "state"


# ---------------------------------------------------------------- classes


def test_classes_follow_from_type_and_place(bank: Path, tmp_path: Path) -> None:
    write(tmp_path / "notes", {"journal/2031-03-01.md": DAY.format(day="2031-03-01", what="Ida")})
    ingest(bank, tmp_path / "notes")
    assert evolve(bank)["promotion"]
    found = {title: row[0] for title, row in table(bank).items()}
    assert found["House rules: Every visitor must sign the book at the gate."] == "policy" and not any("12 m" in title for title in found)
    assert found["How to rinse a vat"] == "procedural" and any("soft brush" in t and c == "procedural" for t, c in found.items())
    assert found["Kiln North reached 1240 °C at 21:50."] == "episodic"


def test_an_episode_stated_on_three_days_becomes_knowledge_and_falls_back_when_a_day_goes(bank: Path, tmp_path: Path) -> None:
    for day, what in (("2031-03-01", "Ida"), ("2031-03-02", "Tom"), ("2031-03-04", "Pau")):
        write(tmp_path / "notes", {f"journal/{day}.md": DAY.format(day=day, what=what)})
        ingest(bank, tmp_path / "notes")
        note = evolve(bank)["promotion"]
    assert table(bank)["Kiln North reached 1240 °C at 21:50."][:2] == ("semantic", 3) and "promoted" in note
    assert evolve(bank)["promotion"] == "nothing changed"
    (tmp_path / "notes" / "journal" / "2031-03-02.md").unlink()
    ingest(bank, tmp_path / "notes")
    evolve(bank)
    assert table(bank)["Kiln North reached 1240 °C at 21:50."][:2] == ("episodic", 2)


def test_an_open_task_is_in_work_until_it_is_done() -> None:
    assert class_of(MemoryType.CLAIM, "Kiln South needs elements.", [Stated("d", kind="item", text="- [ ] Kiln South needs elements.")])[0] is MemoryClass.WORKING_MEMORY
    assert class_of(MemoryType.CLAIM, "Kiln South needs elements.", [Stated("d", kind="item", text="- [x] Kiln South needs elements.")])[0] is MemoryClass.SEMANTIC


def test_one_day_told_by_three_pages_is_one_session() -> None:
    places = [Stated(f"d{n}", "2031-03-01", True) for n in range(3)]
    assert class_of(MemoryType.CLAIM, "It rained.", places) == (MemoryClass.EPISODIC, 1)
    assert class_of(MemoryType.CLAIM, "It rained.", [*places, Stated("d9")]) == (MemoryClass.SEMANTIC, 0)


@pytest.mark.parametrize("text", ["Always rinse the vat.", "Never feed it twice a day", "Don't open the door.", "Everyone must sign the book.",
                                  "No visitor may not wear shoes.", "We never deploy on Fridays.", "燃料は必ず保管庫に戻すこと", "展厅内禁止吸烟"])  # fmt: skip
def test_a_standing_rule_is_one(text: str) -> None:
    assert is_rule(text)


@pytest.mark.parametrize("text", ["I have never been to Braga.", "It must have rained.", "Never have I seen such a vat.", "We never liked it.",
                                  "Must we go?", "Always returns null.", "The tower is always lit."])  # fmt: skip
def test_what_only_sounds_like_a_rule_is_none(text: str) -> None:
    assert not is_rule(text)


# ---------------------------------------------------------------- the table, and what it does to recall


def test_without_use_a_cycle_changes_no_answer_and_commits_nothing(bank: Path) -> None:
    before, ledger = ask(bank, "recall", QUESTION, explain=True), truth(bank)
    evolve(bank)
    after = ask(bank, "recall", QUESTION, explain=True)
    assert before | {"elapsed_ms": 0} == after | {"elapsed_ms": 0} and truth(bank) == ledger


def test_use_raises_confidence_and_disuse_lowers_it_never_verdicts(bank: Path) -> None:
    cones, posts = claim(bank, "The kiln shelf holds forty cones."), claim(bank, "The kiln shelf holds two posts.")
    evolve(bank, {cones: Use(4, 4), posts: Use(0, 2, 2)})
    items = {item["id"]: item for item in ask(bank, "recall", QUESTION, explain=True)["items"]}
    base = dict(rows(bank, "SELECT id, confidence FROM memory_objects"))
    assert items[cones]["dimensions"]["confidence"]["value"] == pytest.approx((base[cones] + 0.3) * 0.7, abs=1e-3), "self-supported: 0.7"
    assert items[posts]["trust"] == pytest.approx(base[posts] * 0.7 * 0.81, abs=1e-3)
    assert {item["verdict"] for item in items.values()} == {"current"}
    got = ask(bank, "get", posts)
    assert (got["class"], got["strength"], got["blacklisted"], got["confidence"]) == ("semantic", 0.81, False, base[posts])


def test_what_is_blacklisted_is_left_out_until_it_is_named(bank: Path) -> None:
    posts = claim(bank, "The kiln shelf holds two posts.")
    evolve(bank, {posts: Use(0, 5, 5)})
    packet = ask(bank, "recall", QUESTION, explain=True)
    assert packet["items"] and not any("two posts" in item["text"] for item in packet["items"])
    assert any(one["id"] == posts and "by name" in one["reason"] for one in packet["left_out"])
    for question, options in (("the kiln shelf holds two posts", {}), (QUESTION, {"types": ["claim"]}), (f"{QUESTION}, as {posts} says", {})):
        assert any("two posts" in item["text"] for item in ask(bank, "recall", question, **options)["items"]), question
    assert "two posts" in ask(bank, "get", posts)["title"]


def test_what_was_of_use_again_is_no_longer_blacklisted_and_the_table_follows(bank: Path) -> None:
    posts = claim(bank, "The kiln shelf holds two posts.")
    assert "1 blacklisted" in evolve(bank, {posts: Use(0, 5, 5)})["strength"]
    evolve(bank, {posts: Use(1, 6, 0)})
    assert "The kiln shelf holds two posts." not in table(bank)
    evolve(bank, {posts: Use(0, 5, 5)}, dry_run=True)
    assert "The kiln shelf holds two posts." not in table(bank), "a dry run writes nothing"


def test_a_blacklisted_item_that_is_all_there_is_is_shown(tmp_path: Path) -> None:
    ingest(tmp_path / "bank", write(tmp_path / "notes", {"kiln.md": "The kiln shelf holds two posts.\n"}))
    shown = [item["id"] for item in ask(tmp_path / "bank", "recall", "what does the shelf hold")["items"]]
    evolve(tmp_path / "bank", {id_: Use(0, 6, 6) for id_ in shown})
    assert [item["id"] for item in ask(tmp_path / "bank", "recall", "what does the shelf hold")["items"]] == shown != []


def test_a_rebuild_keeps_strength_and_the_next_cycle_makes_classes_again(bank: Path) -> None:
    posts = claim(bank, "The kiln shelf holds two posts.")
    evolve(bank, {posts: Use(0, 5, 5)})
    before = table(bank)
    ask(bank, "rebuild")
    assert table(bank) == before
    evolve(bank, {posts: Use(0, 5, 5)})
    assert table(bank) == before
