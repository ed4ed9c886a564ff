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
