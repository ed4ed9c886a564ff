"""The taxonomy: kinds and parts read from definitions, lists, names, links and folders, arranged in trees without cycles."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smb.evolve.grouping.hierarchy import PHRASE, Relation
from smb.evolve.grouping.kinds import Sort, folded_kind, of_name, of_sentence
from smb.evolve.taxonomy import TaxonomyBuilder, forest
from smb.model.edges import EdgeType
from smb.model.objects import MemoryType, Mode
from evolved import evolve, quotes_stand
from grouped_world import contained, made
from worlds import ingest, rows, write

BOATS = {
    "boat.md": "# boat\n\nA boat is a small vessel for lakes and rivers.\n",
    "canoe.md": "# canoe\n\nA canoe is a narrow boat that is moved with a paddle.\n",
    "punt.md": "# punt\n\nA punt is a flat boat for shallow rivers. Some boats, such as skiffs and dories, have no paddle.\n",
    "skiff.md": "# skiff\n\nThe skiff was built in March.\n",
    "sailing boat.md": "# sailing boat\n\nIt needs wind.\n",
    "paddle.md": "# paddle\n\nA paddle is part of a canoe.\n",
    "GitHub boat.md": "# Boat Actions\n\nSomething else.\n",
}


def phases() -> list[TaxonomyBuilder]:
    return [TaxonomyBuilder()]


def bank_of(root: Path, notes: dict[str, str]) -> Path:
    ingest(root / "bank", write(root / "kb", notes))
    evolve(root / "bank", phases)
    return root / "bank"


def named(title: str) -> bool:
    return True


@pytest.mark.parametrize(("text", "lower", "upper"), [
    ("A canoe is a narrow boat that is moved with a paddle.", "canoe", "narrow boat"),
    ("Engobe is a liquid clay coat for pots.", "Engobe", "liquid clay coat"),
    ("The setter (old type) is one of the printing machines of the shop.", "setter", "printing machine"),
    ("Basalt is a kind of volcanic rock.", "Basalt", "volcanic rock"),
    ("Iris is also a new and popular plant.", "Iris", ""),
    ("The setter is broken.", "", ""),
    ("A stack is like a pile of trays.", "stack", ""),
    ("Slow cooling is a way to end a firing.", "", ""),
    ("Is the canoe a boat?", "", ""),
])
def test_a_definition_gives_the_noun_phrase_that_says_what_a_thing_is(text: str, lower: str, upper: str) -> None:
    found = [(s.lower, s.upper) for s in of_sentence(text, named) if s.sort is Sort.KIND]
    assert found == ([(lower, upper)] if upper else [])


def test_a_list_of_examples_gives_each_of_them_and_part_of_gives_a_part() -> None:
    found = of_sentence("Rowing boats, such as skiffs, dories and punts, are kept ashore.", lambda name: name in ("skiffs", "dories", "punts"))
    assert [(s.lower, s.upper) for s in found] == [("skiffs", "Rowing boat"), ("dories", "Rowing boat"), ("punts", "Rowing boat")]
    part, = of_sentence("A paddle is an important part of every canoe.", named)
    assert (part.lower, part.sort) == ("paddle", Sort.PART) and part.upper.endswith("canoe")


@pytest.mark.parametrize(("title", "under"), [("slow cooling", "cooling"), ("Error C2061", "Error"), ("GitHub Actions", ""), ("cooling", ""), ("Introspecting cooling", ""),
                                              ("How to end cooling", ""), ("cooling (slow)", "")])
def test_a_compound_name_is_a_kind_of_its_last_words_where_they_are_plain_words(title: str, under: str) -> None:
    assert of_name(title, lambda words: words.lower() in ("cooling", "error", "actions")) == under


def test_kinds_are_compared_in_the_singular() -> None:
    assert folded_kind("Printing Machines") == folded_kind("printing machine")


def test_a_page_a_root_shows_kinds_and_parts_as_an_indented_tree_with_reasons(tmp_path: Path) -> None:
    bank = bank_of(tmp_path, BOATS)
    page = made(bank, MemoryType.TAXONOMY)["Kinds of boats"]
    lines = page.body.split("\n")
    canoe = next(n for n, line in enumerate(lines) if line.startswith("- [[") and "|canoe]]" in line)
    assert "“A canoe is a narrow boat" in lines[canoe] and lines[canoe + 1].startswith("  - [[") and "|paddle]] (part)" in lines[canoe + 1]
    assert contained(bank, MemoryType.TAXONOMY)["Kinds of boats"] >= {"boat", "canoe", "punt", "skiff", "sailing boat", "paddle"}
    assert "Boat Actions" not in page.body and quotes_stand(bank, [page])


def test_each_step_no_link_states_is_an_edge_with_its_reason(tmp_path: Path) -> None:
    bank = bank_of(tmp_path, BOATS)
    edges = {title: page for title, page in made(bank, MemoryType.RELATIONSHIP).items() if page.mode is Mode.INFERRED}
    assert "boat contains canoe" in edges and "A canoe is a narrow boat" in edges["boat contains canoe"].body
    assert [link.type for link in edges["boat contains canoe"].links] == [EdgeType.CONTAINS]
    assert rows(bank, "SELECT count(*) FROM edges e JOIN memory_objects a ON a.id = e.source JOIN memory_objects b ON b.id = e.target "
                      "WHERE e.type = 'contains' AND a.title = 'boat' AND b.title = 'canoe'") == [(1,)]


def test_a_second_look_changes_nothing_and_a_note_that_goes_takes_only_its_own_along(tmp_path: Path) -> None:
    bank = bank_of(tmp_path, BOATS)
    assert evolve(bank, phases, anew=True)[0].proposed == 0
    (tmp_path / "kb" / "canoe.md").write_text("# canoe\n\nThe canoe was sold.\n")
    ingest(bank, tmp_path / "kb")
    evolve(bank, phases)
    assert "canoe" not in contained(bank, MemoryType.TAXONOMY)["Kinds of boats"] and "boat contains canoe" not in made(bank, MemoryType.RELATIONSHIP)
    assert "boat contains punt" in made(bank, MemoryType.RELATIONSHIP)
    assert evolve(bank, phases, anew=True)[0].proposed == 0


def test_what_several_notes_call_by_a_noun_without_a_note_is_a_root_too(tmp_path: Path) -> None:
    bank = bank_of(tmp_path, {f"{name}.md": f"# {name}\n\n{name} is a weaving machine of the {what} kind.\n" for name, what in (("Aurel", "old"), ("Benno", "new"), ("Carla", "third"))})
    assert contained(bank, MemoryType.TAXONOMY) == {"Kinds of weaving machines": {"Aurel", "Benno", "Carla"}}


def test_the_note_of_a_folder_holds_what_the_folders_notes_are_about(tmp_path: Path) -> None:
    bank = bank_of(tmp_path, {"garden/garden.md": "# Garden\n\nBehind the house.\n", **{f"garden/{name}.md": f"# {name}\n\nPlanted in May.\n" for name in ("Bean", "Leek", "Pea")},
                              "attic/Trunk.md": "# Trunk\n\nLocked.\n"})
    assert contained(bank, MemoryType.TAXONOMY) == {"What belongs to Garden": {"Garden", "Bean", "Leek", "Pea"}}


def test_a_large_tree_is_shown_in_part(tmp_path: Path) -> None:
    bank = bank_of(tmp_path, {"tool.md": "# tool\n\nOne works with it.\n", **{f"t{n}.md": f"# Tool{chr(97 + n)}\n\nTool{chr(97 + n)} is a tool of the shop.\n" for n in range(26)}})
    page = made(bank, MemoryType.TAXONOMY)["Kinds of tools"]
    assert page.body.count("\n- ") == 15 and page.body.endswith("And 11 more.") and len(page.links) == 27


def test_two_definitions_in_a_circle_keep_the_surer_one(tmp_path: Path) -> None:
    weak, strong = (Relation(a, b, Sort.KIND, trust, "it says so", a) for a, b, trust in (("x", "y", 0.5), ("y", "x", 0.9)))
    assert forest([weak, strong]) == {"y": strong}


@given(st.lists(st.builds(Relation, st.sampled_from("abcdef"), st.sampled_from(["a", "b", "c", "d", "e", "f", PHRASE + "thing"]), st.sampled_from(Sort),
                          st.sampled_from([0.4, 0.6, 0.9]), st.just("so"), st.just("a")), max_size=24), st.randoms())
def test_a_forest_has_no_cycle_and_does_not_depend_on_order(relations: list[Relation], random: object) -> None:
    relations = [r for r in relations if r.lower != r.upper]
    parents = forest(relations)
    for start in parents:
        seen = {start}
        at = parents[start].upper
        while at in parents:
            assert at not in seen
            seen.add(at)
            at = parents[at].upper
    random.shuffle(relations)  # type: ignore[attr-defined]
    assert forest(relations) == parents
