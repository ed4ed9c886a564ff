"""`smb conflicts`: what is listed, what a person may decide, and that a decision is a revision which lasts, counts and can be taken back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from disputes import GATE, Dispute
from shell import Ran, run
from worlds import ask, rows

from smb.conflicts import NotAResolution, SideGone, UnknownConflict
from smb.signing import NotEntitled, SignerMissing

LOCKED, UNLOCKED = "The north gate is locked at night.", "The north gate is unlocked at night."
KILN = {"a.md": "# Kiln\n\n- **Top temperature:** 1300 °C\n", "kiln b.md": "# Kiln\n\n- **Top temperature:** 1280 °C\n"}


@pytest.fixture
def gate(tmp_path: Path) -> Dispute:
    dispute = Dispute(tmp_path, GATE)
    dispute.cycle()
    return dispute


def only(dispute: Dispute, which: str = "all") -> dict:
    (conflict,) = dispute.conflicts(which)
    return conflict


def side(conflict: dict, text: str) -> str:
    return next(name for name, one in zip("ab", conflict["claims"], strict=True) if one["text"] == text)


def test_the_side_kept_supersedes_the_other_and_the_contradiction_stays(gate: Dispute) -> None:
    conflict = only(gate)
    told = gate.resolve(conflict["id"], keep=side(conflict, LOCKED), reason="saw the key")
    assert told["changed"] and told["resolution"] == {"how": "kept", "by": "Ana", "reason": "saw the key", "keep": gate.id_of(LOCKED), "scopes": []}
    assert gate.standing(LOCKED) == "current" and gate.standing(UNLOCKED) == "superseded"
    assert gate.conflicts() == [] and only(gate)["resolved"]
    assert "saw the key" in (gate.bank / conflict["location"]).read_text()
    assert not any(phase.committed for phase in gate.cycle().phases)
    answer = ask(gate.bank, "recall", "is the north gate locked at night?")
    assert answer["outcome"] == "state" and gate.id_of(UNLOCKED) in {item["id"] for item in answer["superseded"]}


def test_a_recall_shows_both_sides_of_an_open_one_as_a_conflict(gate: Dispute) -> None:
    answer = ask(gate.bank, "recall", "is the north gate locked at night?")
    assert answer["outcome"] == "conflict"
    assert {item["text"] for item in answer["conflicts"][0]["items"]} == {LOCKED, UNLOCKED}


def test_a_decision_outlives_edits_of_the_notes_it_is_about(gate: Dispute) -> None:
    conflict = only(gate)
    gate.resolve(conflict["id"], keep=side(conflict, LOCKED))
    gate.write({"Gate.md": f"# North gate\n\nA new first line.\n\n{LOCKED}\n", "Round.md": f"# North gate\n\nAnother one.\n\n{UNLOCKED}\n"})
    gate.cycle()
    assert gate.standing(LOCKED) == "current" and gate.standing(UNLOCKED) == "superseded" and gate.conflicts() == []


def test_what_was_decided_against_and_is_said_by_a_new_note_is_open_again(gate: Dispute) -> None:
    conflict = only(gate)
    gate.resolve(conflict["id"], keep=side(conflict, LOCKED))
    gate.write({"Third.md": f"# North gate\n\n{UNLOCKED}\n"})
    assert [c["id"] for c in gate.conflicts()] == [conflict["id"]]
    gate.cycle()
    assert gate.standing(LOCKED) == gate.standing(UNLOCKED) == "contested"


def test_both_hold_with_their_scopes(gate: Dispute) -> None:
    conflict = only(gate)
    told = gate.resolve(conflict["id"], scopes=("on weekdays", "during the fair"))
    assert told["resolution"]["scopes"] == ["on weekdays", "during the fair"]
    bodies = dict(rows(gate.bank, "SELECT id, body FROM memory_objects WHERE type = 'claim' AND body != ''"))
    assert [bodies[one["id"]].rpartition("Scope: ")[2] for one in told["claims"]] == ["on weekdays", "during the fair"]
    for anew in (False, True):
        assert not any(phase.committed for phase in gate.cycle(anew=anew).phases)
    assert {one["standing"] for one in only(gate)["claims"]} == {"current"}


def test_what_is_dismissed_is_never_raised_again_not_even_in_a_clone_or_by_a_paraphrase(gate: Dispute, tmp_path: Path) -> None:
    conflict = only(gate)
    gate.resolve(conflict["id"], dismiss=True, reason="two gates")
    gate.write({"Watch.md": "# North gate\n\nAt night the north gate is locked.\n"})
    gate.cycle(anew=True)
    assert gate.conflicts() == [] and len(gate.conflicts("all")) == 1
    assert {row[0] for row in rows(gate.bank, "SELECT standing FROM memory_objects WHERE type = 'claim'")} == {"current"}
    clone = Dispute.__new__(Dispute)
    clone.bank, clone.notes = gate.clone(tmp_path / "clone"), gate.notes
    clone.cycle(anew=True)
    assert clone.conflicts() == [] and only(clone)["resolution"]["how"] == "dismissed"


def test_a_dismissed_pair_of_single_valued_keys_is_not_contested_by_the_next_ingest(tmp_path: Path) -> None:
    dispute = Dispute(tmp_path, KILN, single_valued=("top temperature",))
    dispute.cycle()
    dispute.resolve(only(dispute)["id"], dismiss=True)
    standings = "SELECT standing FROM memory_objects WHERE attribute = 'top temperature'"
    assert {row[0] for row in rows(dispute.bank, standings)} == {"current"}
    dispute.write({"a.md": KILN["a.md"] + "\nIt stands in the yard.\n"})
    dispute.cycle()
    assert {row[0] for row in rows(dispute.bank, standings)} == {"current"} and dispute.conflicts() == []
    dispute.write({"c.md": "# Kiln\n\n- **Top temperature:** 1250 °C\n"})
    dispute.cycle()
    assert {row[0] for row in rows(dispute.bank, standings)} == {"contested"} and len(dispute.conflicts()) == 2 and len(dispute.conflicts("all")) == 3


def test_a_later_decision_is_added_and_counts_instead(gate: Dispute) -> None:
    conflict = only(gate)
    gate.resolve(conflict["id"], keep=side(conflict, LOCKED))
    gate.resolve(conflict["id"], keep=side(conflict, UNLOCKED), who="Ben", reason="the key is lost")
    assert gate.standing(UNLOCKED) == "current" and gate.standing(LOCKED) == "superseded"
    assert only(gate)["resolution"]["by"] == "Ben"
    assert {r.actor for r in gate.history(conflict["id"])} == {"contradictions", "Ana", "Ben"}
    gate.resolve(conflict["id"], dismiss=True)
    assert {gate.standing(LOCKED), gate.standing(UNLOCKED)} == {"current"}
    assert not gate.resolve(conflict["id"], dismiss=True)["changed"]


def test_an_undone_decision_leaves_the_contradiction_open_as_before(gate: Dispute) -> None:
    conflict = only(gate)
    told = gate.resolve(conflict["id"], keep="a")
    ask(gate.bank, "undo", told["transaction"])
    assert only(gate, "open")["id"] == conflict["id"]
    assert gate.standing(LOCKED) == gate.standing(UNLOCKED) == "contested" and len(gate.held("question")) == 1
    gate.cycle(anew=True)
    assert gate.standing(LOCKED) == gate.standing(UNLOCKED) == "contested"


def test_a_contradiction_whose_file_a_person_deletes_is_dismissed(gate: Dispute) -> None:
    conflict = only(gate)
    (gate.bank / conflict["location"]).unlink()
    ask(gate.bank, "absorb")
    gate.cycle(anew=True)
    assert gate.conflicts() == [] and only(gate)["resolution"]["how"] == "dismissed"
    assert {gate.standing(LOCKED), gate.standing(UNLOCKED)} == {"current"}


def test_what_can_not_be_decided_is_said(gate: Dispute) -> None:
    id_ = only(gate)["id"]
    with pytest.raises(UnknownConflict, match="conflicts --all"):
        gate.resolve("ffffff", dismiss=True)
    for wanted in ({}, {"keep": "a", "dismiss": True}, {"keep": "zzz"}, {"scopes": ("here", " ")}, {"dismiss": True, "reason": " "}):
        with pytest.raises(NotAResolution):
            gate.resolve(id_, **wanted)
    with pytest.raises(SignerMissing):
        gate.resolve(id_, dismiss=True, who=" ")
    gate.drop("Round.md")
    with pytest.raises(SideGone, match="revoked"):
        gate.resolve(id_, keep=side(only(gate), UNLOCKED))


def pump(a: str, c: str) -> dict[str, str]:
    return {"a.md": f"# Pump\n\n- **Power:** {a}\n", "c.md": f"---\ntitle: Pump\n---\n# Pump\n\n- **Power:** {c}\n"}


def powers(dispute: Dispute) -> dict[str, str]:
    return dict(rows(dispute.bank, "SELECT value, standing FROM memory_objects WHERE attribute = 'power'"))


def test_a_value_that_was_kept_stands_while_a_note_states_it_and_again_when_one_does(tmp_path: Path) -> None:
    dispute = Dispute(tmp_path, pump("32 kW", "36 kW"), single_valued=("power",))
    dispute.cycle()
    dispute.resolve(only(dispute)["id"], keep=dispute.id_of("Pump – Power: 32 kW"))
    dispute.write(pump("32 kW\n\nIt is loud.", "36 kW"))
    assert powers(dispute) == {"32 kW": "current", "36 kW": "superseded"}
    dispute.drop("a.md")
    assert powers(dispute) == {"32 kW": "revoked", "36 kW": "current"}
    dispute.write(pump("32 kW", "36 kW"))
    dispute.cycle()
    assert powers(dispute) == {"32 kW": "current", "36 kW": "superseded"} and dispute.conflicts() == []


@pytest.mark.parametrize("evolves", [False, True])
def test_no_value_is_contested_by_one_that_no_note_says_any_more(tmp_path: Path, evolves: bool) -> None:
    dispute = Dispute(tmp_path, pump("32 kW", "36 kW"), single_valued=("power",))
    dispute.cycle()
    dispute.resolve(only(dispute)["id"], keep=dispute.id_of("Pump – Power: 32 kW"))
    dispute.write(pump("32 kW", "40 kW"))
    if evolves:
        dispute.cycle()
        (conflict,) = dispute.conflicts()
        assert {side["value"]: [(c["path"], c["line_start"]) for c in side["citations"]] for side in conflict["claims"]} == {
            "32 kW": [("a.md", 3)], "40 kW": [("c.md", 6)]}
        assert all(side["value"] in conflict["title"] for side in conflict["claims"])
    dispute.write(pump("40 kW", "40 kW"))
    assert powers(dispute) == {"32 kW": "superseded", "36 kW": "superseded", "40 kW": "current"} and dispute.conflicts() == []
    dispute.cycle()
    assert dispute.conflicts() == [] and all(one["resolution"]["reason"] for one in dispute.conflicts("all"))
    answer = ask(dispute.bank, "recall", "what is the power of the pump?")
    assert answer["answer"]["value"] == "40 kW" and {c["path"] for c in answer["answer"]["citations"]} == {"a.md", "c.md"}


def test_what_holds_in_two_scopes_is_recalled_with_both(tmp_path: Path) -> None:
    dispute = Dispute(tmp_path, pump("32 kW", "36 kW"), single_valued=("power",))
    dispute.cycle()
    conflict = only(dispute)
    dispute.resolve(conflict["id"], scopes=("lid shut", "lid open"))
    said = {f"{side['value']} ({scope})" for side, scope in zip(conflict["claims"], ("lid shut", "lid open"), strict=True)}
    answer = ask(dispute.bank, "recall", "power of the pump")
    assert answer["outcome"] == "state" and {item["value"] for item in answer["items"][:2]} == said and all(value in answer["reason"] for value in said)
    assert all("\n\nScope" not in item["text"] and item["citations"] for item in answer["items"][:2])
    dispute.drop("a.md")
    assert [value for value, standing in powers(dispute).items() if standing == "current"] == [next(v for v in said if v.startswith("36"))]


def test_several_values_of_a_key_that_is_not_listed_are_told_as_such(tmp_path: Path) -> None:
    dispute = Dispute(tmp_path, pump("32 kW", "36 kW"))
    answer = ask(dispute.bank, "recall", "power of the pump")
    assert answer["outcome"] == "conflict" and "`smb config keys add power`" in answer["reason"]
    assert "config keys add power" in Ran("recall", "power of the pump", "--bank", str(dispute.bank)).out


def test_a_decision_that_overrides_another_says_which(gate: Dispute) -> None:
    conflict = only(gate)
    assert gate.resolve(conflict["id"], keep="a", reason="saw it")["overridden"] is None
    done = Ran("conflicts", "resolve", conflict["id"], "--dismiss", "--reason", "two gates", "--as", "Ben", "--bank", str(gate.bank))
    assert "overrides: a kept · by Ana · saw it" in done.out


def test_an_unknown_kind_is_refused_with_the_kinds(gate: Dispute) -> None:
    refused = run("conflicts", "--kind", "nonsense", "--bank", str(gate.bank))
    assert refused.returncode == 2 and "negation" in refused.stderr


def test_the_page_of_an_answered_question_bids_nobody_answer_it(gate: Dispute) -> None:
    conflict = only(gate)
    gate.resolve(conflict["id"], keep="a")
    ((body,),) = rows(gate.bank, "SELECT body FROM memory_objects WHERE id = ?", conflict["question_id"])
    assert "settles it" not in body


def test_who_decides_needs_the_authority(gate: Dispute) -> None:
    with (gate.bank / "bank.toml").open("a") as file:
        file.write("\n[authority]\nbot = 10\nchief = 80\n")
    conflict = only(gate)
    with pytest.raises(NotEntitled):
        gate.resolve(conflict["id"], dismiss=True, who="bot")
    gate.resolve(conflict["id"], keep="a", who="chief")
    with pytest.raises(NotEntitled, match="chief"):
        gate.resolve(conflict["id"], keep="b", who="Ana")
    gate.resolve(conflict["id"], dismiss=True, who="chief")
    ask(gate.bank, "verify", gate.id_of(LOCKED), who="chief")
    with pytest.raises(NotEntitled, match="chief"):
        gate.resolve(conflict["id"], keep=side(conflict, UNLOCKED), who="Ana")


def test_the_list_is_filtered(gate: Dispute) -> None:
    assert gate.conflicts(about="north GATE") and not gate.conflicts(about="kiln")
    kind = only(gate)["kind"]
    assert gate.conflicts(kind=kind) and not gate.conflicts(kind="date")
    assert gate.conflicts("resolved") == []


def test_on_the_command_line(gate: Dispute) -> None:
    bank = str(gate.bank)
    listed = json.loads(Ran("conflicts", "--bank", bank, "--json").out)
    assert isinstance(listed, list) and {"id", "claims", "kind", "question_id", "opened", "resolved"} <= listed[0].keys()
    text = Ran("conflicts", "--bank", bank).out
    assert "Gate.md:3" in text and "Round.md:3" in text and "smb conflicts resolve" in text
    refused = run("conflicts", "resolve", listed[0]["id"], "--keep", "x", "--reason", "y", "--as", "Ana", "--bank", bank)
    assert refused.returncode == 2 and "is none of its claims" in refused.stderr
    done = Ran("conflicts", "resolve", listed[0]["id"], "--both", "in winter", "in summer", "--reason", "seasons", "--as", "Ana", "--bank", bank)
    assert done.code == 0 and "in winter / in summer" in done.out and "smb undo" in done.out
    assert "no contradictions" in Ran("conflicts", "--bank", bank).out
    assert "seasons" in Ran("conflicts", "--resolved", "--bank", bank).out
    assert json.loads(Ran("conflicts", "--all", "--kind", listed[0]["kind"], "--about", "gate", "--json", "--bank", bank).out)[0]["resolved"]
