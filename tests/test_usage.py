"""Goals and feedback: kept in `usage/`, local, and never more than an order."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from shell import Ran, settle
from worlds import MOMENT, ask, ingest, truth, write

from smb.stores.usage_log import UsageLog
from smb.usage import AmbiguousGoal, EmptyGoal, UnknownGoal, UnknownSignal, Usage, UselessTag

NOTES = {
    "Kiln.md": "---\ntags: [firing]\n---\n# Kiln\n\nThe shelf in the kiln room holds cones and posts.\n",
    "Glaze.md": "---\ntags: [colour]\n---\n# Glaze\n\nThe shelf in the glaze room holds oxides and sieves.\n",
}
QUESTION = "what does the shelf hold"


@pytest.fixture
def bank(tmp_path: Path) -> Path:
    ingest(tmp_path / "bank", write(tmp_path / "notes", NOTES))
    return tmp_path / "bank"


def items(bank: Path, **options: Any) -> dict[str, dict[str, Any]]:
    """Path → the first item from there, with its explanation."""
    found: dict[str, dict[str, Any]] = {}
    for item in ask(bank, "recall", QUESTION, explain=True, **options)["items"]:
        found.setdefault(item["citations"][0]["path"], item)
    return found


def value(item: dict[str, Any], dimension: str) -> float:
    return item["dimensions"][dimension]["value"]


# ---------------------------------------------------------------- goals


def test_a_goal_lasts_until_it_is_done_and_has_the_same_id_everywhere(tmp_path: Path) -> None:
    usage = Usage(tmp_path)
    first = usage.add_goal("Fix  the kiln", "session", ("#Firing",), "", MOMENT)
    again = usage.add_goal("fix the kiln", "session", ("firing",), "", MOMENT)
    part = usage.add_goal("order elements", "session", (), first.id[:6], MOMENT)
    assert first.id == again.id and first.tags == ("firing",) and part.parent == first.id
    assert [g.id for g in Usage(tmp_path).goals()] == [first.id, part.id]
    assert Usage(tmp_path / "elsewhere").add_goal("FIX the kiln", "session", (), "", MOMENT).id == first.id
    usage.finish_goal(first.id[:5], MOMENT)
    assert [g.id for g in Usage(tmp_path).goals()] == [part.id]
    usage.add_goal("fix the kiln", "session", (), "", MOMENT)
    assert len(Usage(tmp_path).goals()) == 2, "set again, it is open again"


def test_what_can_not_be_meant_is_refused(tmp_path: Path) -> None:
    usage = Usage(tmp_path)
    with pytest.raises(EmptyGoal):
        usage.add_goal("  ", "session", (), "", MOMENT)
    with pytest.raises(UselessTag):
        usage.add_goal("x", "global", ("a",), "", MOMENT)
    for wrong in ("", "zz", "0"):
        with pytest.raises((UnknownGoal, AmbiguousGoal)):
            usage.finish_goal(wrong, MOMENT)
    with pytest.raises(UnknownSignal):
        usage.feedback("a", "liked", MOMENT)
    assert not (tmp_path / "usage").exists()


def test_a_goal_of_the_call_and_a_kept_one_raise_what_serves_them(bank: Path) -> None:
    plain = items(bank)
    assert {value(i, "session_goal") for i in plain.values()} == {0.0}
    for options in ({"goal": "mix a glaze from oxides"}, {"goal": "fire the kiln with cones"}):
        served = items(bank, **options)
        nearer, other = ("Glaze.md", "Kiln.md") if "glaze" in options["goal"] else ("Kiln.md", "Glaze.md")
        assert value(served[nearer], "session_goal") > value(served[other], "session_goal")
        assert list(served)[0] == nearer, "near equals are decided by the goal"
    ask(bank, "goal_add", "mix a glaze from oxides", level="global")
    kept = items(bank)
    assert value(kept["Glaze.md"], "global_goal") > value(kept["Kiln.md"], "global_goal") and value(kept["Glaze.md"], "session_goal") == 0
    ask(bank, "goal_done", ask(bank, "goal_list")["goals"][0]["id"])
    assert items(bank) == plain


def test_a_tag_of_the_goal_counts_whole_on_the_item_and_less_around_it(bank: Path) -> None:
    ask(bank, "goal_add", "something else entirely", tags=("firing",))
    packet = ask(bank, "recall", QUESTION, explain=True, n=50)
    found = {(i["kind"], value(i, "session_goal")) for i in packet["items"] if i["citations"][0]["path"] == "Kiln.md"}
    assert found <= {("passage", 1.0), ("object", 0.7), ("object", 1.0)} and found
    ask(bank, "goal_add", "something else entirely", tags=("fir",))
    packet = ask(bank, "recall", QUESTION, explain=True, n=50)
    assert all(value(i, "session_goal") < 0.7 for i in packet["items"]), "a tag is a word, not a beginning"


# ---------------------------------------------------------------- feedback


def test_feedback_counts_and_a_recall_is_no_use(bank: Path) -> None:
    before = items(bank)
    assert {value(i, "successful_use") for i in before.values()} == {0.5}
    assert items(bank) == before, "asking changed nothing"
    kiln = before["Kiln.md"]["id"]
    told = [ask(bank, "feedback", kiln, signal) for signal in ("used", "used", "ignored", "used")]
    assert [(t["successes"], t["uses"]) for t in told] == [(1, 1), (2, 2), (2, 3), (3, 4)]
    after = items(bank)
    assert value(after["Kiln.md"], "successful_use") == 0.75 and value(after["Glaze.md"], "successful_use") == 0.5
    assert {i["verdict"] for i in after.values()} == {"current"}
    assert list(after)[0] == "Kiln.md"


def test_feedback_on_a_passage_counts_for_the_claim_in_its_lines(bank: Path) -> None:
    item = items(bank)["Glaze.md"]
    assert item["kind"] == "object" and item["attached"]
    ask(bank, "feedback", item["attached"][0], "ignored")
    assert value(items(bank)["Glaze.md"], "successful_use") == 0.0


def test_losing_usage_changes_no_answer_and_the_ledger_never_hears_of_it(bank: Path) -> None:
    before, kept = items(bank), truth(bank)
    ask(bank, "goal_add", "anything", tags=("firing",))
    ask(bank, "feedback", before["Kiln.md"]["id"], "used")
    assert truth(bank) == kept
    for file in (bank / "usage").iterdir():
        file.unlink()
    assert items(bank) == before


def test_what_was_seen_already_is_no_news(bank: Path) -> None:
    kiln = items(bank)["Kiln.md"]
    seen = items(bank, seen=[kiln["id"]])
    assert (value(kiln, "novelty"), value(seen["Kiln.md"], "novelty"), value(seen["Glaze.md"], "novelty")) == (1.0, 0.0, 1.0)
    assert list(seen)[0] == "Glaze.md"


# ---------------------------------------------------------------- the file


def test_a_torn_or_foreign_line_is_passed_over_and_the_next_one_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "usage" / "x.jsonl"
    log = UsageLog(path)
    log.append({"n": 1})
    with path.open("ab") as file:
        file.write(b'[3]\nnonsense\n{"n": 2')
    assert log.entries() == [{"n": 1}]
    log.append({"n": 3})
    assert log.entries() == [{"n": 1}, {"n": 3}] == UsageLog(path).entries()
    path.write_bytes(b"")
    assert log.entries() == []


def test_only_what_was_added_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    writer, reader = UsageLog(path), UsageLog(path)
    for n in range(5):
        writer.append({"n": n})
        assert [e["n"] for e in reader.entries()] == list(range(n + 1))


# ---------------------------------------------------------------- the command line


def test_goals_and_feedback_on_the_command_line(bank: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settle(tmp_path, monkeypatch)
    where = ["--bank", str(bank)]
    made = json.loads(Ran("goal", "add", "mix", "a glaze", "--tag", "colour", "--json", *where).out)["goal"]
    assert (made["text"], made["level"], made["tags"]) == ("mix a glaze", "session", ["colour"])
    listed = Ran("goal", "list", *where)
    assert made["id"] in listed.out and "mix a glaze" in listed.out and "#colour" in listed.out
    assert Ran("goal", "done", made["id"], *where).code == 0 and "No goal is open" in Ran("goal", "list", *where).out
    assert Ran("goal", "done", made["id"], *where).code == 1
    assert Ran("goal", "add", "x", "--level", "yearly", *where).code == 2
    item = items(bank)["Kiln.md"]["id"]
    assert "of use 1 of 1" in Ran("feedback", item, "used", *where).out
    assert Ran("feedback", item, "liked", *where).code == 2 and Ran("feedback", "ffffffffffff", "used", *where).code == 1


def test_decisions_on_the_command_line(bank: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settle(tmp_path, monkeypatch)
    where = ["--bank", str(bank)]
    claim = items(bank)["Kiln.md"]["id"]
    assert Ran("verify", claim, *where).code == 2, "nobody named"
    signed = Ran("verify", claim, "--as", "ana", "--note", "looked", *where)
    assert signed.code == 0 and "supervisor-verified" in signed.out and "verified by ana" in signed.out
    assert "supervisor-verified" in Ran("why", claim, *where).out and "verified by ana" in Ran("why", claim, *where).out
    assert Ran("reject", claim, "--as", "ana", *where).code == 2 and Ran("reject", claim, "--reason", "", "--as", "ana", *where).code == 2
    refused = Ran("reject", claim, "--reason", "no", "--as", "bo", *where)
    assert refused.code == 1 and "authority" in refused.err and refused.err.count("\n") == 1
    rejected = Ran("reject", claim, "--reason", "moved out", "--as", "ana", *where)
    assert rejected.code == 0 and "rejected" in rejected.out and "moved out" in rejected.out
    again = Ran("verify", claim, "--as", "ana", *where)
    assert again.code == 1 and "final" in again.err


def test_profiles_on_the_command_line(bank: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settle(tmp_path, monkeypatch)
    where = ["--bank", str(bank)]
    with (bank / "bank.toml").open("a") as file:
        file.write('\n[profiles.mine]\nextends = "coding"\nrecency = 0.5\n')
    told = json.loads(Ran("recall", QUESTION, "--profile", "mine", "--explain", "--json", *where).out)
    assert told["profile"]["name"] == "mine" and told["budget"] == 8000
    assert (told["profile"]["weights"]["recency"], told["profile"]["weights"]["turn_relevance"]) == (0.5, 1.5)
    assert json.loads(Ran("recall", QUESTION, "--json", *where).out)["budget"] == 2000
    assert json.loads(Ran("recall", QUESTION, "--profile", "mine", "--budget", "77", "--json", *where).out)["budget"] == 77
    wrong = Ran("recall", QUESTION, "--profile", "bold", *where)
    assert wrong.code == 2 and "worker" in wrong.err and "mine" in wrong.err
