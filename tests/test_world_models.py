"""World models: one page that says how a thing is, from all notes that speak of it."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest

from smb import Bank
from smb.evolve.cycle import EvolutionEngine
from smb.evolve.snapshot import Snapshot
from smb.evolve.world_models import WorldModels
from smb.model.currentness import as_object
from smb.model.edges import EdgeType
from smb.model.objects import MemoryObject, MemoryType
from smb.model.revision import RevisionKind, Transaction, new_revision
from worlds import MOMENT, ingest, rows, write

NOTES: dict[str, str | bytes] = {
    "Boats/Heron.md": "---\ndate: 2030-03-01\n---\n# Heron\n\n- **Length:** 9.2 m\n- **Draught:** 1.4 m\n- **Engine:** 18 kW diesel\n- **Berth:** B 12\n\nHeron is the club's training yacht.\n",
    "Survey 2031.md": "---\ndate: 2031-06-04\n---\n# Survey 2031\n\n| Boat | Draught (m) | Engine |\n|---|---|---|\n| Heron | 1.5 | 18 kW diesel |\n| Egret | 0.9 | none |\n",
    "Harbour log.md": "---\ndate: 2031-08-19\n---\n# Harbour log\n\nHeron moved from berth B 12 to berth C 3 on 2031-08-19.\n",
    "Egret.md": "# Egret\n\n- **Length:** 4.1 m\n",
}


@pytest.fixture
def bank(tmp_path: Path) -> Path:
    ingest(tmp_path / "bank", write(tmp_path / "kb", NOTES))
    evolve(tmp_path / "bank")
    return tmp_path / "bank"


def evolve(bank: Path, again: bool = False) -> Any:
    async def main() -> Any:
        async with Bank.open(bank, clock=lambda: MOMENT) as opened:
            if again:
                await opened.catalog.run("UPDATE meta SET value = '0:1' WHERE key LIKE 'evolved.%'")
            engine = EvolutionEngine(Snapshot(opened.catalog, None), [WorldModels()], opened.writer.writing, opened.writer.commit, opened.clock)
            return (await engine.run()).phases[0]

    return asyncio.run(main())


def held(bank: Path) -> list[MemoryObject]:
    async def main() -> list[MemoryObject]:
        async with Bank.open(bank) as opened:
            snapshot = await Snapshot(opened.catalog, None).refresh(0)
            ids = [item.id for item in snapshot.of_type(MemoryType.WORLD_MODEL)]
            return [o for i, history in (await snapshot.histories(ids)).items() if (o := as_object(history, about=i))]

    return sorted(asyncio.run(main()), key=lambda o: o.title)


def page(bank: Path) -> MemoryObject:
    (found,) = held(bank)
    return found


def lines(body: str) -> list[str]:
    return [re.sub(r" \((?:contested: )?\[\[.*", "", line.removeprefix("- ")) for line in body.splitlines() if line and not line.startswith("#")]


def test_a_thing_three_notes_speak_of_has_one_page_of_layer_4(bank: Path) -> None:
    model = page(bank)
    assert model.title == "Heron, as the notes have it" and model.location.startswith("layer-4/world-models/")
    said = lines(model.body)
    assert "Length: 9.2 m" in said and "Engine: 18 kW diesel" in said
    assert "Draught: 1.5 m, from 2031-06-04 or 1.4 m, from 2030-03-01" in said  # nothing says which holds
    assert len(set(model.source_ids)) >= 3


def test_every_line_is_cited_and_derives_from_what_it_cites(bank: Path) -> None:
    model = page(bank)
    pages = {location.rpartition("/")[2].removesuffix(".md") for (location,) in rows(bank, "SELECT location FROM memory_objects")}
    for line in model.body.splitlines():
        if line and not line.startswith("#"):
            links = re.findall(r"\[\[([^|\]]+)\|", line)
            assert links and line.endswith(".") and set(links) <= pages, line
    assert {link.target for link in model.links if link.type is EdgeType.DERIVES_FROM} == set(model.derived_from)


def test_looking_again_at_everything_changes_nothing(bank: Path) -> None:
    assert evolve(bank, again=True).proposed == 0


def test_a_changed_value_restates_the_page_and_stands_under_what_was_before(bank: Path, tmp_path: Path) -> None:
    before = page(bank)
    note = tmp_path / "kb" / "Boats" / "Heron.md"
    note.write_text(note.read_text().replace("9.2 m", "9.4 m"))
    ingest(bank, tmp_path / "kb")
    evolve(bank)
    after = page(bank)
    holds, _, was = after.body.partition("## What was before")
    assert after.id == before.id and "Length: 9.4 m" in lines(holds) and "Length: 9.2 m, from 2030-03-01" in lines(was)


def test_a_thing_too_few_notes_speak_of_loses_its_page(bank: Path, tmp_path: Path) -> None:
    for name in ("Survey 2031.md", "Harbour log.md"):
        (tmp_path / "kb" / name).unlink()
    ingest(bank, tmp_path / "kb")
    evolve(bank)
    assert not held(bank)


def test_a_contested_value_is_marked(bank: Path) -> None:
    sides = [(i,) for (i,) in rows(bank, "SELECT id FROM memory_objects WHERE attribute = 'draught' AND subject = 'heron' ORDER BY id")]

    async def contest() -> None:
        async with Bank.open(bank, clock=lambda: MOMENT) as opened, opened.writer.writing():
            histories = await opened.catalog.histories([i for (i,) in sides])
            await opened.writer.commit(Transaction("evolve", "contradictions", MOMENT, tuple(
                new_revision(RevisionKind.CONTEST, one, "claim", replaces=(histories[one][0].id,), into=(other,), actor="contradictions")
                for one, other in ((sides[0][0], sides[1][0]), (sides[1][0], sides[0][0])))))

    asyncio.run(contest())
    evolve(bank)
    assert re.search(r"Draught: .*\(contested: \[\[", page(bank).body)


def test_a_bank_looked_at_in_part_comes_to_what_a_whole_look_says(bank: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("smb.evolve.combining.revisit.WHOLE", 0)
    write(tmp_path / "kb", {"Survey 2032.md": "---\ndate: 2032-06-04\n---\n# Survey 2032\n\n| Boat | Draught (m) |\n|---|---|\n| Heron | 1.6 |\n"})
    ingest(bank, tmp_path / "kb")
    evolve(bank)
    assert "1.6 m, from 2032-06-04" in page(bank).body
    assert evolve(bank, again=True).proposed == 0
    (tmp_path / "kb" / "Survey 2032.md").unlink()
    ingest(bank, tmp_path / "kb")
    evolve(bank)
    assert "1.6 m" not in page(bank).body
    assert evolve(bank, again=True).proposed == 0


def test_a_value_a_later_note_takes_back_is_not_told_bare(tmp_path: Path) -> None:
    notes: dict[str, str | bytes] = {**NOTES, "Move.md": "---\ndate: 2031-09-01\n---\n# Move\n\nAbout [[Heron]].\n\nThe club boat moved from berth B 12 to berth D 4 on 2031-09-01.\n\n"
             "18 kW diesel was replaced by an electric motor.\n",
             "Plan.md": "---\nstatus: proposed\ndate: 2031-09-02\n---\n# Plan\n\nAbout [[Heron]].\n\nWe move from length 9.2 m to 9.9 m.\n"}
    ingest(tmp_path / "bank", write(tmp_path / "kb", notes))
    evolve(tmp_path / "bank")
    told = lines(page(tmp_path / "bank").body)
    assert any(line.startswith("Engine: 18 kW diesel; later, Move says “18 kW diesel was replaced") for line in told)
    assert any(line.startswith("Berth: B 12; later, Move says “The club boat moved") for line in told)
    assert "Length: 9.2 m, as of 2030-03-01" in told
    assert not evolve(tmp_path / "bank").proposed and not evolve(tmp_path / "bank", again=True).proposed


def test_what_a_later_note_takes_back_is_seen_by_a_look_at_a_part(bank: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("smb.evolve.combining.revisit.WHOLE", 0)
    note = "---\ndate: 2031-09-01\n---\n# Move\n\nAbout [[Heron]].\n\nThe club boat moved from berth B 12 to berth D 4 on 2031-09-01.\n"
    for text, seen in ((note, True), (note.replace("[[Heron]]", "Heron"), False), (note, True), (note.replace("from berth B 12", "from berth B 9"), False)):
        write(tmp_path / "kb", {"Move.md": text})
        ingest(bank, tmp_path / "kb")
        evolve(bank)
        assert ("later, Move says" in page(bank).body) is seen
        assert evolve(bank, again=True).proposed == 0
