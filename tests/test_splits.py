"""The splits phase: a name of two things becomes two concepts, a broad thing stays one."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from smb import Bank
from smb.evolve.cycle import EvolutionEngine
from smb.evolve.duplicates import DuplicateDetector
from smb.evolve.sameness.senses import Mention, kind_said, senses_of
from smb.evolve.snapshot import Snapshot
from smb.evolve.splits import ConceptSplitter
from worlds import MOMENT, ask, catalog, ingest, rows, write

MERCURY = {
    "sky/Mercury.md": "# Mercury\n\nMercury is the smallest planet of the solar system.\n\nMercury orbits the sun in 88 days.\n\nMercury is covered with craters.\n",
    "sky/Dusk.md": "# Dusk watch\n\nWe saw [[Mercury]] above the horizon, west of Venus, through the telescope of the observatory.\n",
    "sky/Probe.md": "# Probe\n\nThe probe flew past [[Mercury]] and mapped craters along its orbit around the sun.\n",
    "bench/Mercury.md": "# Mercury\n\nMercury is a metal that is liquid at room temperature.\n\nMercury dissolves gold into an amalgam.\n\nMercury vapour is toxic.\n",
    "bench/Spill.md": "# Spill\n\nThe thermometer broke and [[Mercury]] ran over the bench; its vapour is toxic, we bound it with sulfur.\n",
    "bench/Amalgam.md": "# Amalgam\n\nMiners used [[Mercury]] to dissolve gold; the amalgam was heated and the metal left as vapour.\n",
}
BROAD = {
    "Pottery.md": "# Pottery\n\nPottery is the craft of forming vessels from clay.\n\nPottery needs a wheel.\n\nPottery is fired twice.\n",
    "Glaze.md": "# Glaze chemistry\n\nSilica and flux melt on [[Pottery]] at cone 6.\n",
    "Market.md": "# Market\n\nThe stall sold [[Pottery]] on Saturday. Prices went up.\n",
    "more/Pottery.md": "# Pottery\n\nPottery is a business with thin margins.\n\nPottery pays the rent.\n\nPottery sells in June.\n",
    "Firing.md": "# Firing\n\n[[Pottery]] cools slowly or cracks.\n",
}


def evolve(bank: Path, *phases: Any) -> Any:
    async def main() -> Any:
        async with Bank.open(bank, clock=lambda: MOMENT) as opened:
            engine = EvolutionEngine(Snapshot(opened.catalog, opened.embedding.matrix), phases or [ConceptSplitter()], opened.writer.writing, opened.writer.commit, opened.clock)
            return (await engine.run()).phases[0]

    return asyncio.run(main())


def concepts(bank: Path, prefix: str) -> dict[str, str]:
    return dict(rows(bank, "SELECT title, standing FROM memory_objects WHERE type = 'concept' AND title LIKE ?", prefix + "%"))


@pytest.fixture
def kb(tmp_path: Path) -> Path:
    return write(tmp_path / "kb", MERCURY)


@pytest.fixture
def bank(tmp_path: Path, kb: Path) -> Path:
    ingest(tmp_path / "bank", kb)
    return tmp_path / "bank"


def test_a_name_of_two_things_becomes_two_concepts_named_by_their_kind(bank: Path) -> None:
    evolve(bank)
    assert concepts(bank, "Mercury") == {"Mercury": "split", "Mercury (planet)": "current", "Mercury (metal)": "current"}
    told = dict(rows(bank, "SELECT o.title, group_concat(DISTINCT d.path) FROM memory_objects o JOIN object_evidence e ON e.object_id = o.id "
                           "JOIN documents d ON d.id = e.document_id WHERE o.title LIKE 'Mercury (%' GROUP BY o.id"))
    assert {path.split("/")[0] for path in told["Mercury (planet)"].split(",")} == {"sky"}
    assert {path.split("/")[0] for path in told["Mercury (metal)"].split(",")} == {"bench"} and told["Mercury (metal)"].count(",") == 2


def test_the_original_contains_the_narrower_ones_and_stays_reachable(bank: Path) -> None:
    evolve(bank)
    (original,) = rows(bank, "SELECT id FROM memory_objects WHERE title = 'Mercury' AND type = 'concept'")[0]
    contained = rows(bank, "SELECT o.title FROM edges e JOIN memory_objects o ON o.id = e.target WHERE e.source = ? AND e.type = 'contains' ORDER BY o.title", original)
    assert contained == [("Mercury (metal)",), ("Mercury (planet)",)]
    assert ask(bank, "get", original)["status"] == "split"


def test_claims_are_about_the_thing_their_note_speaks_of(bank: Path) -> None:
    evolve(bank)
    about = dict(rows(bank, "SELECT c.title, o.title FROM memory_objects c JOIN memory_objects o ON o.id = c.about WHERE c.type = 'claim' AND c.title LIKE 'Mercury%'"))
    assert about and {title: about[title] for title in about if "88 days" in title or "gold" in title} == {
        title: "Mercury (planet)" if "88 days" in title else "Mercury (metal)" for title in about if "88 days" in title or "gold" in title}
    assert "Mercury" not in about.values()


def test_a_second_cycle_commits_nothing_and_nothing_is_merged_again(bank: Path) -> None:
    evolve(bank)
    before = catalog(bank)
    assert evolve(bank).committed == 0
    evolve(bank, DuplicateDetector())
    assert catalog(bank)["memory_objects"] == before["memory_objects"]


def test_a_changed_note_stays_with_its_sense(bank: Path, kb: Path) -> None:
    evolve(bank)
    write(kb, {"bench/Spill.md": MERCURY["bench/Spill.md"] + "\nThe floor was cleaned.\n", "sky/Mercury.md": MERCURY["sky/Mercury.md"] + "\nMercury has no moons.\n"})
    ingest(bank, kb)
    assert concepts(bank, "Mercury") == {"Mercury": "split", "Mercury (planet)": "current", "Mercury (metal)": "current"}
    assert rows(bank, "SELECT supports FROM memory_objects WHERE title LIKE 'Mercury (%'") == [(3,), (3,)]
    about = rows(bank, "SELECT DISTINCT o.title FROM memory_objects c JOIN memory_objects o ON o.id = c.about WHERE c.type = 'claim' AND c.standing = 'current' AND c.title LIKE 'Mercury%' ORDER BY 1")
    assert about == [("Mercury (metal)",), ("Mercury (planet)",)]
    assert evolve(bank).committed == 0


def test_a_split_taken_back_brings_the_concept_back_and_is_not_proposed_again(bank: Path, kb: Path) -> None:
    before = catalog(bank)["edges"]
    evolve(bank)
    ask(bank, "undo", who="Mara")
    assert concepts(bank, "Mercury") == {"Mercury": "current", "Mercury (planet)": "revoked", "Mercury (metal)": "revoked"}
    assert catalog(bank)["edges"] == before
    write(kb, {"sky/Mercury.md": MERCURY["sky/Mercury.md"] + "\nMercury has no moons.\n"})
    ingest(bank, kb)
    assert evolve(bank).committed == 0


def test_a_broad_concept_stays_one(tmp_path: Path) -> None:
    ingest(tmp_path / "bank", write(tmp_path / "kb", BROAD))
    assert evolve(tmp_path / "bank").committed == 0


def test_a_bridge_between_the_notes_of_two_senses_keeps_them_together(tmp_path: Path) -> None:
    notes = {**MERCURY, "bench/Spill.md": MERCURY["bench/Spill.md"] + "\nSee [[Dusk watch]].\n"}
    ingest(tmp_path / "bank", write(tmp_path / "kb", notes))
    assert evolve(tmp_path / "bank").committed == 0


# ---------------------------------------------------------------- senses

@pytest.mark.parametrize(("name", "sentence", "kind"), [
    ("Java", "Java is a programming language.", "language"), ("Java", "Java is an island of Indonesia.", "island"), ("Kiln", "A kiln is a furnace for pots.", "furnace"),
    ("Kiln", "The kiln is a bottleneck.", ""), ("Kiln", "The kiln is a furnace.", ""), ("Kiln", "A kiln is hot.", ""), ("Kiln", "Kiln firing is an art.", ""),
    ("Python", "Python is a tool for data work.", ""), ("Bass", "Bass are a family of fish.", "family"), ("Seal", "A seal is a small, heavy stamp used on wax.", "stamp"), ("", "", ""), ("Java", "Java is a high-level, object-oriented language.", "language"), ("Python", "Pythons are large snakes.", "snakes"),
    ("Kernel", "A kernel is the edible seed inside a nut.", "seed"), ("Loom", "A loom worked by pedals.", "loom"), ("Mercury", "In chemistry, Mercury is a metal.", "metal"), ("Mercury", "Mercury is a planet, the smallest one.", "planet")])
def test_a_definition_says_of_what_kind_a_thing_is(name: str, sentence: str, kind: str) -> None:
    assert kind_said(name, sentence) == kind


def mention(document: str, *kinds: str, claims: int = 3, **more: Any) -> Mention:
    return Mention(document, frozenset(kinds), claims, **{k: frozenset(v) for k, v in more.items()})


def vectors(*groups: int) -> np.ndarray:
    """A vector of length 1 for each note: those of one group alike, those of two hardly."""
    found = np.array([[1.0 if g == axis else 0.15 for axis in range(8)] + [0.1 * (n + 1)] for n, g in enumerate(groups)], np.float32)
    return found / np.linalg.norm(found, axis=1, keepdims=True)


def test_two_kinds_in_notes_that_nothing_holds_together_are_two_senses() -> None:
    two = [mention("d1", "planet"), mention("d2", "metal")]
    assert [(s.kind, s.documents) for s in senses_of(two, vectors(0, 1))] == [("metal", ("d2",)), ("planet", ("d1",))]
    four = [*two, mention("d3", claims=0), mention("d4", claims=0)]
    assert [s.documents for s in senses_of(four, vectors(0, 1, 0, 1))] == [("d2", "d4"), ("d1", "d3")]


@pytest.mark.parametrize("mentions", [
    [mention("d1", "planet"), mention("d2", "planet")],
    [mention("d1", "planet"), mention("d2", "metal", claims=2)],
    [mention("d1", "planet", names="v"), mention("d2", "metal", names="v")],
    [mention("d1", "planet", linked=["d2"]), mention("d2", "metal")],
    [mention("d1", "planet", words=["orbit", "iron", "core"]), mention("d2", "metal", words=["orbit", "iron", "core"])],
    [mention("d1", "planet"), mention("d2", "metal"), mention("d3")],
], ids=["one kind", "too little said", "a name in common", "a link", "words in common", "a note that might be either"])
def test_anything_that_holds_the_notes_together_keeps_one_sense(mentions: list[Mention]) -> None:
    assert senses_of(mentions, vectors(*range(len(mentions)))) == []


def test_notes_alike_in_meaning_are_one_sense() -> None:
    assert senses_of([mention("d1", "planet"), mention("d2", "world")], vectors(0, 0)) == []
