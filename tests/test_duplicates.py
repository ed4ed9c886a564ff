"""The duplicates phase on real banks: what is one becomes one, what is two stays two, and every merge can be taken back."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path
from typing import Any

import pytest

from smb import Bank
from smb.evolve.cycle import EvolutionEngine
from smb.evolve.duplicates import DuplicateDetector
from smb.evolve.sameness.merging import Member, groups_of, merges
from smb.evolve.sameness.same_name import Sameness
from smb.evolve.snapshot import Snapshot
from worlds import MOMENT, ask, catalog, ingest, rows, write

NOTES = {
    "Glaze recipe.md": "# Glaze recipe\n\nA glaze recipe lists oxides by weight. See [[Kiln yard]].\n",
    "old/Glaze recipes.md": "---\ntags: [clay]\n---\n# Glaze recipes\n\nGlaze recipes list oxides by weight, tin among them. See [[Kiln yard]].\n",
    "Kiln yard.md": "# Kiln yard\n\nThe kiln yard lies behind the mill. The [[Glaze recipe]] hangs there.\n",
    "Colour wheel.md": "# Colour wheel\n\nThe colour wheel orders hues in a ring.\n",
    "Color wheel.md": "# Color wheel\n\nA color wheel orders hues.\n",
    "Furnace 1.md": "# Furnace 1\n\nFurnace 1 burns gas behind the mill.\n",
    "Furnace 2.md": "# Furnace 2\n\nFurnace 2 burns gas behind the mill.\n",
    "Vats.md": "# Vats\n\nMadder doesn't need iron in Harrow.\n\nIndigo needs 40 g of lime per litre.\n",
    "Dyes.md": "# Dyes\n\nMadder does not need iron in Harrow.\n\nIndigo needs 45 g of lime per litre.\n",
}


def evolve(bank: Path, **options: Any) -> Any:
    async def main() -> Any:
        async with Bank.open(bank, clock=lambda: MOMENT) as opened:
            engine = EvolutionEngine(Snapshot(opened.catalog, opened.embedding.matrix), [DuplicateDetector()], opened.writer.writing, opened.writer.commit, opened.clock)
            return (await engine.run(**options)).phases[0]

    return asyncio.run(main())


def standing(bank: Path) -> dict[str, str]:
    return dict(rows(bank, "SELECT title, standing FROM memory_objects WHERE type IN ('concept', 'entity', 'claim')"))


def merged(bank: Path) -> dict[str, str]:
    """Title of each merged object → title of what stands for it. A merged object keeps the title it had."""
    return dict(rows(bank, "SELECT o.title, i.title FROM memory_objects o JOIN memory_objects i ON i.id = o.merged_into"))


def id_of(bank: Path, title: str) -> str:
    return rows(bank, "SELECT id FROM memory_objects WHERE title = ? ORDER BY type", title)[0][0]


def shown(bank: Path, title: str) -> dict[str, Any]:
    return ask(bank, "get", id_of(bank, title))


@pytest.fixture
def kb(tmp_path: Path) -> Path:
    return write(tmp_path / "kb", NOTES)


@pytest.fixture
def bank(tmp_path: Path, kb: Path) -> Path:
    ingest(tmp_path / "bank", kb)
    return tmp_path / "bank"


def test_what_is_one_becomes_one_and_what_is_two_stays_two(bank: Path) -> None:
    evolve(bank)
    assert {frozenset(pair) for pair in merged(bank).items()} == {
        frozenset(("Glaze recipes", "Glaze recipe")), frozenset(("Color wheel", "Colour wheel")),
        frozenset(("Madder does not need iron in Harrow.", "Madder doesn't need iron in Harrow."))}
    assert merged(bank)["Glaze recipes"] == "Glaze recipe"
    assert standing(bank)["Furnace 1"] == standing(bank)["Furnace 2"] == "current"
    assert [s for t, s in standing(bank).items() if t.startswith("Indigo")] == ["current", "current"]


def test_what_stands_for_others_has_all_they_had_and_they_stay_reachable(bank: Path) -> None:
    evolve(bank)
    into = shown(bank, "Glaze recipe")
    assert "Glaze recipes" in into["aliases"] and "clay" in into["tags"]
    assert rows(bank, "SELECT supports FROM memory_objects WHERE title = 'Glaze recipe'")[0][0] == 3
    assert rows(bank, "SELECT json_array_length(source_ids) FROM memory_objects WHERE title = 'Glaze recipe'") == [(3,)]
    original = id_of(bank, "Glaze recipes")
    gone = shown(bank, "Glaze recipes")
    assert gone["status"] == "merged" and [one["title"] for one in gone["into"]] == ["Glaze recipe"] and not into["into"]
    assert any("merge" in str(step) for step in ask(bank, "history", original)["revisions"])


def test_a_second_cycle_commits_nothing(bank: Path) -> None:
    evolve(bank)
    before = catalog(bank)
    assert evolve(bank).committed == 0
    assert catalog(bank) == before


def test_a_bank_made_again_from_its_ledger_holds_the_same_merges(bank: Path) -> None:
    evolve(bank)
    before = catalog(bank)
    ask(bank, "rebuild")
    assert catalog(bank)["memory_objects"] == before["memory_objects"] and catalog(bank)["names"] == before["names"]


def test_a_changed_note_keeps_its_statement_with_what_stands_for_it(bank: Path, kb: Path) -> None:
    evolve(bank)
    write(kb, {"old/Glaze recipes.md": NOTES["old/Glaze recipes.md"] + "\nCobalt makes it blue.\n", "Dyes.md": NOTES["Dyes.md"] + "\nWeld fades.\n"})
    ingest(bank, kb)
    assert standing(bank)["Glaze recipes"] == "merged" and len(merged(bank)) == 3
    into = id_of(bank, "Glaze recipe")
    assert rows(bank, "SELECT supports FROM memory_objects WHERE id = ?", into)[0][0] == 3
    live = {r[0] for r in rows(bank, "SELECT e.source FROM object_evidence e JOIN documents d ON d.source = e.source WHERE e.object_id = ? AND d.path LIKE 'old/%'", into)}
    assert len(live) == 1
    assert evolve(bank).committed == 0


def test_an_unchanged_statement_of_a_changed_note_is_not_said_again(bank: Path, kb: Path) -> None:
    evolve(bank)
    (before,) = rows(bank, "SELECT count(*) FROM revisions")[0]
    ingest(bank, kb)
    assert rows(bank, "SELECT count(*) FROM revisions")[0][0] == before


def test_a_note_that_goes_takes_only_its_own_share_along(bank: Path, kb: Path) -> None:
    evolve(bank)
    (kb / "old/Glaze recipes.md").unlink()
    ingest(bank, kb)
    into = shown(bank, "Glaze recipe")
    assert "Glaze recipes" not in into["aliases"] and "clay" not in into["tags"] and into["status"] == "active"
    (kb / "Glaze recipe.md").unlink()
    (kb / "Kiln yard.md").unlink()
    ingest(bank, kb)
    assert standing(bank)["Glaze recipe"] == "revoked"


def test_a_name_that_comes_back_after_all_its_notes_were_gone_is_said_of_what_stands_for_it(bank: Path, kb: Path) -> None:
    evolve(bank)
    shutil.rmtree(kb / "old")
    ingest(bank, kb)
    write(kb, {"new/Glaze recipes.md": "# Glaze recipes\n\nGlaze recipes list oxides.\n"})
    ingest(bank, kb)
    assert standing(bank)["Glaze recipes"] == "merged"
    assert "Glaze recipes" in shown(bank, "Glaze recipe")["aliases"]


def test_an_undone_merge_brings_the_original_back_and_is_never_proposed_again(bank: Path, kb: Path) -> None:
    before = {t: s for t, s in catalog(bank).items() if t in ("memory_objects", "names", "edges")}
    evolve(bank)
    ask(bank, "undo", who="Mara")
    after = catalog(bank)
    assert {r[0]: r for r in after["names"]} == {r[0]: r for r in before["names"]} and after["edges"] == before["edges"]
    assert standing(bank)["Glaze recipes"] == standing(bank)["Glaze recipe"] == "current"
    assert evolve(bank).committed == 0
    write(kb, {"old/Glaze recipes.md": NOTES["old/Glaze recipes.md"] + "\nCobalt makes it blue.\n", "Glaze recipe.md": NOTES["Glaze recipe.md"] + "\nTin makes it white.\n"})
    ingest(bank, kb)
    assert evolve(bank).committed == 0 and standing(bank)["Glaze recipes"] == "current"


def test_what_stands_for_others_stays_so_when_more_notes_speak_of_another(bank: Path, kb: Path) -> None:
    evolve(bank)
    into = merged(bank)["Color wheel"] if "Color wheel" in merged(bank) else merged(bank)["Colour wheel"]
    write(kb, {f"more/{n}.md": f"# Remark {n}\n\nThe [[Colour wheels]] hang in hall {n}.\n" for n in range(4)})
    write(kb, {"Colour wheels.md": "# Colour wheels\n\nColour wheels order hues in rings.\n"})
    ingest(bank, kb)
    evolve(bank)
    assert merged(bank)["Colour wheels"] == into


def test_what_is_new_is_compared_with_what_was_there(bank: Path, kb: Path) -> None:
    evolve(bank)
    write(kb, {"Furnaces.md": "# The kiln yard\n\nThe kiln yard behind the mill is paved. It holds the [[Glaze recipe]].\n", "c.md": "# Tests\n\nIn Harrow, madder does not need iron.\n"})
    ingest(bank, kb)
    evolve(bank)
    assert merged(bank)["The kiln yard"] == "Kiln yard"
    assert sum(t.startswith(("Madder do", "In Harrow")) for t in merged(bank)) == 2


def test_two_things_of_one_name_with_other_properties_stay_two(tmp_path: Path) -> None:
    kb = write(tmp_path / "kb", {
        "Harrow blade.md": "# Harrow blade\n\n- **Kind:** tool\n- **Steel:** carbon\n",
        "Harrow blades.md": "# Harrow blades\n\n- **Kind:** band\n- **Singer:** Mara Quill\n"})
    ingest(tmp_path / "bank", kb)
    evolve(tmp_path / "bank")
    assert merged(tmp_path / "bank") == {}


def test_an_acronym_is_merged_where_any_note_says_what_it_stands_for(tmp_path: Path) -> None:
    notes = {"CVD.md": "# CVD\n\nIt needs a closed vat.\n", "Cold vapour dyeing.md": "# Cold vapour dyeing\n\nHangs wool above steam.\n", "x.md": "# Log\n\nStarted.\n"}
    kb = write(tmp_path / "kb", notes)
    ingest(tmp_path / "bank", kb)
    evolve(tmp_path / "bank")
    assert merged(tmp_path / "bank") == {}
    write(kb, {"x.md": "# Log\n\nWe tried cold vapour dyeing (CVD) in May.\n", "CVD.md": notes["CVD.md"] + "\nMind the lid.\n"})
    ingest(tmp_path / "bank", kb)
    evolve(tmp_path / "bank")
    assert set(merged(tmp_path / "bank")) | set(merged(tmp_path / "bank").values()) == {"CVD", "Cold vapour dyeing"}


def test_files_whose_names_fold_alike_stay_five_documents_each_with_its_own_text(tmp_path: Path) -> None:
    texts = {"my_file.md": "Alum.\n", "my-file.md": "Borax.\n", "my file.md": "Copper.\n", "dir-/a.md": "Dammar.\n", "dir/a.md": "Emery.\n"}
    kb = write(tmp_path / "kb", {name: f"The drawer holds {text.lower()}" for name, text in texts.items()})
    ingest(tmp_path / "bank", kb)
    evolve(tmp_path / "bank")
    (kb / "dir-/a.md").unlink()
    ingest(tmp_path / "bank", kb)
    evolve(tmp_path / "bank")
    live = dict(rows(tmp_path / "bank", "SELECT d.path, p.text FROM documents d JOIN passages p ON p.document_id = d.id AND p.live = 1 WHERE d.live = 1"))
    assert live == {name: f"The drawer holds {text.strip().lower()}" for name, text in texts.items() if name != "dir-/a.md"}
    assert merged(tmp_path / "bank") == {}


# ---------------------------------------------------------------- groups

YES = Sameness("plural")


def test_what_is_the_same_as_two_that_differ_is_merged_with_neither() -> None:
    assert groups_of({("a", "b"): YES, ("b", "c"): YES}) == []
    assert groups_of({("a", "b"): YES, ("b", "c"): YES, ("a", "c"): YES}) == [["a", "b", "c"]]
    assert groups_of({("a", "b"): YES, ("b", "c"): YES, ("a", "c"): YES}, {frozenset("ac")}) == []
    assert groups_of({("a", "b"): YES, ("c", "d"): YES}, {frozenset("ab")}) == [["c", "d"]]


def test_the_best_supported_stands_for_the_others_then_the_earliest_and_what_stood_for_others_before_them_all() -> None:
    same = {("a", "b"): YES, ("b", "c"): YES, ("a", "c"): Sameness("close", sure=False)}
    members = {i: Member(i, supports=n, born=born) for i, n, born in (("a", 1, "2030"), ("b", 2, "2031"), ("c", 2, "2030"))}
    assert merges([["a", "b", "c"]], same, members) == [("b", "c", "plural")]
    members["b"] = Member("b", stands=True)
    assert merges([["a", "b", "c"]], same, members) == [("c", "b", "plural"), ("a", "b", "plural")]
    members["c"] = Member("c", fixed=True)
    assert merges([["a", "b", "c"]], same, members) == [("a", "b", "plural")]
