"""The phase `contradictions`: one object for one disagreement, with both quotes, kept for ever; and what rests on contested claims."""

from __future__ import annotations

from pathlib import Path

from disputes import GATE, Dispute
from worlds import ask, rows

from smb.evolve.phase import Proposals, Wanted
from smb.evolve.snapshot import Snapshot
from smb.model.identity import object_id
from smb.model.objects import MemoryType, Mode
from smb.model.revision import RevisionKind, Statement, new_revision

LOCKED, UNLOCKED = "The north gate is locked at night.", "The north gate is unlocked at night."
KILNS = {
    "a.md": "The kiln is a good tool to know.\n", "b.md": "The kiln is a heavy tool.\n", "c.md": "Tomatoes need full sun and a stake.\n",
    "d.md": "Retrieval works better with short passages.\n", "e.md": "Auth must be on in prod.\n", "f.md": "Disable auth in prod.\n",
}


def test_two_opposed_notes_give_one_contradiction_and_one_question_however_many_cycles(tmp_path: Path) -> None:
    dispute = Dispute(tmp_path, GATE)
    dispute.cycle()
    for anew in (False, True, True):
        report = dispute.cycle(anew=anew)
        assert not any(phase.committed for phase in report.phases)
    assert len(dispute.held("contradiction")) == len(dispute.held("question")) == 1
    assert dispute.standing(LOCKED) == dispute.standing(UNLOCKED) == "contested"


def test_a_contradiction_gives_both_claims_both_quotes_and_their_places(tmp_path: Path) -> None:
    dispute = Dispute(tmp_path, GATE)
    dispute.cycle()
    (conflict,) = dispute.conflicts()
    sides = {side["text"]: side["citations"] for side in conflict["claims"]}
    assert {text: [(c["path"], c["line_start"], c["quote"]) for c in cited] for text, cited in sides.items()} == {
        LOCKED: [("Gate.md", 3, LOCKED)], UNLOCKED: [("Round.md", 3, UNLOCKED)]}
    page = (dispute.bank / conflict["location"]).read_text()
    assert "Gate.md:3" in page and "Round.md:3" in page and "Open: " in page
    edges = rows(dispute.bank, "SELECT target FROM edges WHERE source = ? AND type = 'contradicts'", conflict["id"])
    assert {target for (target,) in edges} == {side["id"] for side in conflict["claims"]}
    assert rows(dispute.bank, "SELECT target FROM edges WHERE source = ?", conflict["question_id"]) == [(conflict["id"],)]


def test_words_in_words_and_other_topics_contradict_nothing(tmp_path: Path) -> None:
    dispute = Dispute(tmp_path, KILNS)
    dispute.cycle()
    assert not [c for c in dispute.conflicts("all") if "prod" not in c["title"]]


def test_two_machines_no_longer_in_use_are_two_facts(tmp_path: Path) -> None:
    dispute = Dispute(tmp_path, {"1.md": "# Lathe\n\nThe lathe is no longer in use.\n", "2.md": "# Press\n\nThe press is no longer in use.\n"})
    dispute.cycle()
    assert dispute.conflicts("all") == []
    assert set(rows(dispute.bank, "SELECT standing FROM memory_objects WHERE type = 'claim'")) == {("current",)}


def test_the_same_fact_in_two_stretches_of_time_is_no_contradiction(tmp_path: Path) -> None:
    dispute = Dispute(tmp_path, {
        "spring.md": "---\ndate: 2031-03\n---\n# North gate\n\nThe north gate is locked at night.\n",
        "autumn.md": "---\ndate: 2031-09\n---\n# North gate\n\nThe north gate is locked at night.\n"})
    dispute.cycle()
    assert dispute.conflicts("all") == []


def test_two_current_values_of_a_single_valued_key_are_a_contradiction_contested_once(tmp_path: Path) -> None:
    dispute = Dispute(tmp_path, {"a.md": "# Kiln\n\n- **Top temperature:** 1300 °C\n", "kiln b.md": "# Kiln\n\n- **Top temperature:** 1280 °C\n"}, single_valued=("top temperature",))
    dispute.cycle()
    (conflict,) = dispute.conflicts()
    assert conflict["title"] in ("Kiln top temperature: 1300 °C or 1280 °C?", "Kiln top temperature: 1280 °C or 1300 °C?")
    assert conflict["key"] == ["kiln", "top temperature"]
    contests = [r for side in conflict["claims"] for r in dispute.history(side["id"]) if r.kind is RevisionKind.CONTEST]
    assert {r.actor for r in contests} == {"keys"} and len(contests) == 2
    assert not any(phase.committed for phase in dispute.cycle(anew=True).phases)


def test_a_paraphrase_joins_its_side_instead_of_raising_the_matter_again(tmp_path: Path) -> None:
    dispute = Dispute(tmp_path, GATE)
    dispute.cycle()
    (before,) = dispute.conflicts()
    dispute.write({"Watch.md": "# North gate\n\nAt night the north gate is locked.\n"})
    dispute.cycle()
    (after,) = dispute.conflicts("all")
    assert after["id"] == before["id"] and sorted(len(side["citations"]) for side in after["claims"]) == [1, 2]
    assert dispute.standing("At night the north gate is locked.") == "contested"
    assert not any(phase.committed for phase in dispute.cycle(anew=True).phases)


def test_a_contradiction_follows_a_merged_claim(tmp_path: Path) -> None:
    dispute = Dispute(tmp_path, GATE)
    dispute.cycle()
    (before,) = dispute.conflicts()
    dispute.write({"Watch.md": "# North gate\n\nThe north gate stays locked at night.\n"})
    old, new = dispute.id_of(LOCKED), dispute.id_of("The north gate stays locked at night.")
    merged = dispute.history(old)
    dispute.commit(new_revision(RevisionKind.MERGE, old, "claim", replaces=tuple(r.id for r in merged if r.statement), into=(new,), actor="duplicates"))
    dispute.cycle()
    (after,) = dispute.conflicts("all")
    assert after["id"] == before["id"] and after["resolved"] is None and new in {side["id"] for side in after["claims"]}
    assert dispute.standing("The north gate stays locked at night.") == "contested"
    dispute.commit(new_revision(RevisionKind.MERGE, new, "claim", replaces=tuple(r.id for r in dispute.history(new) if r.statement), into=(dispute.id_of(UNLOCKED),), actor="duplicates"))
    dispute.cycle()
    assert dispute.conflicts() == [] and dispute.conflicts("all")[0]["resolution"]["how"] == "merged"
    assert dispute.standing(UNLOCKED) == "current"


def test_a_side_taken_out_of_the_notes_settles_it_and_back_in_opens_it_again(tmp_path: Path) -> None:
    dispute = Dispute(tmp_path, GATE)
    dispute.cycle()
    (before,) = dispute.conflicts()
    dispute.drop("Round.md")
    assert dispute.conflicts() == []  # before any cycle
    dispute.cycle()
    (settled,) = dispute.conflicts("resolved")
    assert settled["id"] == before["id"] and settled["resolution"]["how"] == "revoked" and "removed" in settled["resolution"]["reason"]
    assert dispute.standing(LOCKED) == "current" and dispute.held("question") == [] and len(dispute.held("contradiction")) == 1
    assert "Settled" in (dispute.bank / before["location"]).read_text()
    dispute.write(GATE)
    dispute.cycle()
    assert [c["id"] for c in dispute.conflicts()] == [before["id"]] and len(dispute.held("question")) == 1
    assert dispute.standing(LOCKED) == "contested"


def test_a_clone_finds_the_same_contradiction(tmp_path: Path) -> None:
    one, two = Dispute(tmp_path / "one", GATE), Dispute(tmp_path / "two")
    two.write(dict(reversed(GATE.items())))
    one.cycle()
    two.cycle()
    assert [c["id"] for c in one.conflicts()] == [c["id"] for c in two.conflicts()]


def test_many_notes_of_one_form_make_few_pairs(tmp_path: Path) -> None:
    notes = {f"{n}.md": f"# Machine {n}\n\nMachine {n} weighs {n + 10} kg and stands in hall {n % 7}.\n" for n in range(120)}
    dispute = Dispute(tmp_path, notes)
    dispute.cycle()
    assert dispute.conflicts("all") == []


# ---------------------------------------------------------------- what rests on a contested claim

class Summing:
    """Keeps a synthesis that cites every claim, and a narrative that cites the synthesis."""

    name, version = "summing", 1

    async def propose(self, snapshot: Snapshot) -> Proposals:
        cited = tuple(claim.id for claim in snapshot.stated(MemoryType.CLAIM))
        synthesis = Statement("All that is said", "summing:all", mode=Mode.INFERRED, derived_from=cited)
        narrative = Statement("How it came", "summing:story", mode=Mode.INFERRED, derived_from=(object_id("synthesis", "summing:all"),))
        return Proposals([Wanted(MemoryType.SYNTHESIS, synthesis), Wanted(MemoryType.NARRATIVE, narrative)])


def test_contested_spreads_to_what_is_derived_and_ends_with_the_contest(tmp_path: Path) -> None:
    dispute = Dispute(tmp_path, GATE)
    dispute.cycle(Summing())
    assert dispute.standing("All that is said") == dispute.standing("How it came") == "contested"
    (conflict,) = dispute.conflicts()
    assert {dispute.standing(title) for title in dispute.held("contradiction") + dispute.held("question")} == {"current"}
    assert not any(phase.committed for phase in dispute.cycle(Summing(), anew=True).phases)
    answer = ask(dispute.bank, "recall", "all that is said", types=["synthesis"])
    assert [item["verdict"] for item in answer["items"]] == ["contested"] and answer["conflicts"] == []
    dispute.resolve(conflict["id"], keep="a")
    dispute.cycle(Summing())
    assert dispute.standing("All that is said") == dispute.standing("How it came") == "current"
    assert not any(phase.committed for phase in dispute.cycle(Summing(), anew=True).phases)
