"""Recall (CASES.md, section D) through the whole product: each case's kind, with instances of our own."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from shell import Ran
from worlds import MOMENT, ask, ingest, write


def bank_of(place, notes):
    write(place / "notes", notes)
    ingest(place / "bank", place / "notes")
    return place / "bank"


# ------------------------------------------------------------ D01 cjk-lexical


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("釉薬の粘度は中程度である。再焼成batch-x7後", "粘度"),
        ("釉薬の粘度は中程度である。再焼成batch-x7後", "粘度は"),
        ("釉薬の粘度は中程度である。再焼成batch-x7後", "x7"),
        ("釉薬の粘度は中程度である。再焼成batch-x7後", "batch"),
        ("釉薬の粘度は中程度である。再焼成batch-x7後", "粘"),
        ("水车的转速是每分钟十二转", "转速"),
        ("水车的转速是每分钟十二转", "水车转速是多少"),
        ("물레방아의 회전수는 십이입니다", "회전수"),
        ("กังหันน้ำหมุนช้า", "กังหันน้ำ"),
        ("ｶﾀｶﾅの記録", "カタカナ"),
        ("カタカナの記録", "ｶﾀｶﾅ"),
    ],
)
@pytest.mark.parametrize("lexical", [True, False])
def test_text_without_spaces_is_found_by_any_part(tmp_path, text, query, lexical):
    bank = bank_of(tmp_path, {"a.md": f"# 記録\n\n{text}\n", "b.md": "# Other\n\nNothing of that here.\n"})
    packet = ask(bank, "recall", query, lexical=lexical)
    assert packet["outcome"] == "state" and any(text[:4] in c["quote"] for i in packet["items"] for c in i["citations"])


# ------------------------------------------------------------ D02 query-is-not-a-query-language


@pytest.fixture(scope="module")
def marks(tmp_path_factory):
    return bank_of(
        tmp_path_factory.mktemp("marks"),
        {"a.md": "# Marks\n\nWe pre-soak the rye. C++ and C# don't mix. lid:shut is a label. A 50% mix, a/b.\n"},
    )


@pytest.mark.parametrize(
    "query",
    ["pre-soak", "don't", "lid:shut", "(shut", "shut AND", "C++", "*", "NOT", "NEAR(a b)", '"shut', "a OR", "{text} : x", "^a", "shut*", "--", ";", "'; DROP TABLE passages; --",
     "a^2", "\\", "%", "_", "~x", "x" * 10_000, "pre-soak " * 1_200, "\u0000", "🦭", "‮rtl", "-n", "NULL", "text:rye ngrams:rye"],
)  # fmt: skip
@pytest.mark.parametrize("lexical", [True, False])
def test_no_question_is_a_query_language(marks, query, lexical):
    packet = ask(marks, "recall", query, lexical=lexical)
    assert packet["outcome"] in ("state", "miss") and packet["degraded"] == []


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("pre-soak", "pre-soak"),
        ("pre soak the rye", "pre-soak"),
        ("lid:shut", "lid:shut"),
        ("C++", "C++"),
        ("c#", "C#"),
        ("50%", "50%"),
    ],
)
def test_marks_in_words_are_found_as_written(marks, query, said):
    found = ask(marks, "recall", query, lexical=True)
    assert found["outcome"] == "state" and any(said in c["quote"] for c in found["items"][0]["citations"])


@pytest.mark.parametrize("query", ["", "   ", "\t\n"])
def test_an_empty_question_is_a_usage_error(marks, query):
    ran = Ran("recall", query, "--bank", marks)
    assert ran.code == 2 and "empty" in ran.err and "sqlite" not in ran.err.lower()


# ------------------------------------------------------------ D03 stale-outranks-current


@pytest.mark.parametrize(
    ("old", "new", "question", "was", "now"),
    [
        (
            "The oven runs on gas.",
            "The oven no longer runs on gas. The oven runs on wood.",
            "what does the oven run on",
            "gas",
            "wood",
        ),
        ("The gate code is 4411.", "The gate code was 4411, now it is 9020.", "what is the gate code", "4411", "9020"),
        ("- **Keeper:** Ines", "- **Keeper:** ~~Ines~~ Tom", "who is the keeper", "Ines", "Tom"),
    ],
)
def test_the_old_value_is_only_among_the_superseded(tmp_path, old, new, question, was, now):
    """Whatever way the change is said, where it is said so, the old value is never above the current one."""
    first = f"---\ndate: 2031-01-01\n---\n# Oven house\n\n{old}\n"
    second = f"---\ndate: 2031-04-01\n---\n# Oven house\n\n{new}\n"
    bank = bank_of(tmp_path, {"house.md": first})
    write(tmp_path / "notes", {"house.md": second})
    ingest(bank, tmp_path / "notes", moment=MOMENT + timedelta(days=90))
    packet = ask(bank, "recall", question)
    assert packet["outcome"] == "state" and any(now in i["text"] for i in packet["items"][:2])
    stale = [i for i in packet["items"] if was in i["text"] and now not in i["text"]]
    assert all("no longer" in i["text"] for i in stale), "the old value beside the new with nothing to tell them apart"
    shown = ask(bank, "recall", question, include_superseded=True)
    verdicts = [i["verdict"] for i in shown["items"]]
    assert verdicts == sorted(verdicts, key=lambda v: v not in ("current", "contested")), "after every current one"
    then = ask(bank, "recall", question, known_at=MOMENT.isoformat())
    assert was in json.dumps(then["items"]) and now not in json.dumps(then["items"])


def test_what_a_concept_is_described_by_lapses_with_the_claim(tmp_path):
    """A concept whose one sentence is superseded keeps its name and not the sentence."""
    bank = bank_of(tmp_path, {"a.md": "---\ndate: 2031-01-01\n---\n# SSH\n\nSSH listens on port 2022.\n",
                              "b.md": "---\ndate: 2031-04-01\n---\n# Move of SSH\n\nWe moved sshd. SSH no longer listens on port 2022. SSH listens on port 4022 now.\n"})  # fmt: skip
    packet = ask(bank, "recall", "which port is SSH on")
    assert packet["answer"]["value"] == "4022"
    assert [
        i
        for i in packet["items"]
        if i["type"] == "concept" and "2022." in i["text"] and "4022" not in i["text"] and "no longer" not in i["text"]
    ] == []


# ------------------------------------------------------------ D05 budget-is-a-hard-ceiling


def test_the_budget_is_never_passed(tmp_path):
    lines = "".join(f"- **Chisel {n} width:** {n + 3} mm of hard steel from the northern forge\n" for n in range(300))
    bank = bank_of(tmp_path, {"chisels.md": f"# Chisels\n\n{lines}"})
    for budget in (1, 30, 500, 3_000):
        packet = ask(bank, "recall", "chisel width steel", budget=budget, n=400)
        assert packet["tokens"] <= budget and packet["dropped"] > 0 and packet["tokenizer"]
        assert all(i["citations"] for i in packet["items"])
        assert (packet["outcome"] == "budget_infeasible") == (not packet["items"])
        if budget == 1:
            assert packet["reason"] and packet["items"] == []
    explained = ask(bank, "recall", "chisel width steel", budget=60, n=400, explain=True)
    assert any("no room" in one["reason"] for one in explained["left_out"])


# ------------------------------------------------------------ D06 miss-is-not-empty-success


def test_a_miss_a_failed_route_and_a_stale_index_are_told_apart(tmp_path):
    bank = bank_of(tmp_path, {"a.md": "# Rye\n\nRye is sown in autumn.\n"})
    assert (ask(bank, "recall", "quixotic zeppelins")["outcome"], ask(bank, "recall", "quixotic zeppelins")["degraded"]) == (
        "miss",
        [],
    )
    whole = ask(bank, "recall", "rye autumn")
    assert (whole["outcome"], whole["stale"], whole["degraded"]) == ("state", False, [])
    config = bank / "bank.toml"
    text = config.read_text()
    config.write_text(
        text.replace("wordllama", "otherllama") if "wordllama" in text else text + '\n[embedder]\nfingerprint = "other/1"\n'
    )
    broken = ask(bank, "recall", "rye autumn")
    assert broken["outcome"] == "state" and [d["route"] for d in broken["degraded"]] == ["dense"] and broken["items"]
    assert len({(p["outcome"], bool(p["degraded"]), p["stale"]) for p in (ask(bank, "recall", "quixotic"), whole, broken)}) == 3


def test_explain_says_why_something_is_not_among_the_items(tmp_path):
    bank = bank_of(tmp_path, {"a.md": "# Rye\n\nRye is sown in autumn.\n\nRye is cut in July.\n\nRye bread keeps for days.\n"})
    packet = ask(bank, "recall", "rye", n=1, explain=True)
    reasons = {one["reason"] for one in packet["left_out"]}
    assert "beyond the number asked for" in reasons and packet["plan"]["terms"] == ["rye"]
    best = packet["items"][0]["score"]
    strict = ask(bank, "recall", "rye", min_score=best + 0.001, explain=True)
    assert strict["outcome"] == "miss" and {one["reason"] for one in strict["left_out"]} >= {"below the least score"}
    text = Ran("recall", "rye", "-n", "1", "--explain", "--bank", bank).out
    assert "How it was read" in text and "Left out" in text and "beyond the number asked for" in text
