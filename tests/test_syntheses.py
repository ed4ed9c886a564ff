"""Syntheses: what notes say together, sentence by sentence with citations, and the edges they discover."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smb import Bank
from smb.evolve.cycle import EvolutionEngine
from smb.evolve.snapshot import Item, Snapshot
from smb.evolve.syntheses import SynthesisGenerator
from smb.evolve.combining.wording import SHOWN, Sentence, grounded, page, quoted
from smb.model.currentness import as_object
from smb.model.edges import EdgeType
from smb.model.objects import MemoryObject, MemoryType, Mode
from smb.model.revision import RevisionKind, Transaction, new_revision
from worlds import MOMENT, ingest, rows, write

BENCH = "The dead hives stood on the north bench behind the barn wall."
NOTES: dict[str, str | bytes] = {
    "Winter losses.md": "---\nauthor: Ilse Brand\ndate: 2031-04-02\n---\n# Winter losses\n\n"
                        f"Four of nine hives died between December and March. {BENCH} Varroa counts in October were below 2 %.\n\nOpen question: why did the hives die this winter?\n",
    "Barn thermometer.md": "---\nauthor: Ilse Brand\ndate: 2031-02-11\n---\n# Barn thermometer\n\n"
                           "The thermometer on the north bench behind the barn wall showed -11 °C for nine nights.\n",
    "Jam.md": "---\nauthor: Ilse Brand\n---\n# Jam\n\nQuince jam needs 700 g of sugar per kilogram. It keeps for two years in a dark cupboard.\n",
    "Press.md": "# Press\n\n- **Pressure:** 4 bar\n- **Volume:** 20 L\n\nThe press was bought second-hand in 2027.\n",
    "Cellar book.md": "---\ndate: 2031-05-01\n---\n# Cellar book\n\n| Device | Pressure (bar) | Volume (L) |\n|---|---|---|\n| Press | 4 | 20 |\n| Pump | 2 | 3 |\n",
}


@pytest.fixture
def bank(tmp_path: Path) -> Path:
    ingest(tmp_path / "bank", write(tmp_path / "kb", NOTES))
    evolve(tmp_path / "bank")
    return tmp_path / "bank"


def evolve(bank: Path, again: bool = False) -> Any:
    """One cycle of the phase alone; `again`: as if it had never looked."""

    async def main() -> Any:
        async with Bank.open(bank, clock=lambda: MOMENT) as opened:
            if again:
                await opened.catalog.run("UPDATE meta SET value = '0:1' WHERE key LIKE 'evolved.%'")
            engine = EvolutionEngine(Snapshot(opened.catalog, opened.embedding.matrix), [SynthesisGenerator()], opened.writer.writing, opened.writer.commit, opened.clock)
            return (await engine.run()).phases[0]

    return asyncio.run(main())


def held(bank: Path, type_: MemoryType = MemoryType.SYNTHESIS) -> list[MemoryObject]:
    """What the phase holds of a type, by title."""

    async def main() -> list[MemoryObject]:
        async with Bank.open(bank) as opened:
            snapshot = await Snapshot(opened.catalog, None).refresh(0)
            ids = [item.id for item in snapshot.of_type(type_) if item.identity]
            return [o for i, history in (await snapshot.histories(ids)).items() if (o := as_object(history, about=i))]

    return sorted(asyncio.run(main()), key=lambda o: o.title)


def cited(bank: Path, synthesis: MemoryObject) -> dict[str, tuple[Item, list[str]]]:
    """Page → the object a synthesis may link to, with its quotes and title."""

    async def main() -> dict[str, tuple[Item, list[str]]]:
        async with Bank.open(bank) as opened:
            snapshot = await Snapshot(opened.catalog, None).refresh(0)
            items = {**await snapshot.superseded(), **snapshot.items}
            quotes = {i: [span.quote for r in history for span in r.evidence] for i, history in (await snapshot.histories(synthesis.derived_from)).items()}
            return {items[i].page: (items[i], [items[i].title, (items[i].valid_from or "")[:10], *quotes[i]]) for i in synthesis.derived_from}

    return asyncio.run(main())


def sentences(body: str) -> list[str]:
    return [line.removeprefix("- ") for line in body.splitlines() if line and not line.startswith("#")]


def bridge(bank: Path) -> MemoryObject:
    (found,) = [s for s in held(bank) if s.identity.startswith("syntheses:bridge:")]
    return found


def test_two_related_notes_without_a_link_give_a_synthesis_in_layer_4(bank: Path) -> None:
    synthesis = bridge(bank)
    assert synthesis.location.startswith("layer-4/syntheses/")
    assert synthesis.title.startswith("Barn thermometer and Winter losses: north bench behind the barn wall")
    assert BENCH.rstrip(".") in synthesis.body and "-11 °C" in synthesis.body
    assert len(synthesis.derived_from) >= 3 and len(set(synthesis.source_ids)) >= 2
    assert not any(synthesis.body in text.decode() if isinstance(text, bytes) else synthesis.body in text for text in NOTES.values())
    assert 'source_dates: ["2031-02-11", "2031-04-02"]' in [line for _, line in synthesis.extra]


def test_an_open_question_stands_beside_what_may_bear_on_it(bank: Path) -> None:
    assert "Winter losses leaves open “Why did the hives die this winter?”, and what Barn thermometer says may bear on it" in bridge(bank).body


def test_the_edge_discovered_has_ends_that_share_no_document_and_a_reason(bank: Path) -> None:
    (relation,) = held(bank, MemoryType.RELATIONSHIP)
    (link,) = relation.links
    assert link.type is EdgeType.RELATED_TO and relation.derived_from and "don't refer to each other" in relation.body
    assert (relation.about, link.target, "related_to") in rows(bank, "SELECT source, target, type FROM edges WHERE held_by = ?", relation.id)
    homes = [{d for (d,) in rows(bank, "SELECT document_id FROM object_evidence WHERE object_id = ?", end)} for end in (relation.about, link.target)]
    assert homes[0] and homes[1] and not homes[0] & homes[1]


def test_every_sentence_ends_with_citations_that_exist_and_hold_its_figures(bank: Path) -> None:
    assert len(held(bank)) >= 2
    for synthesis in held(bank):
        known = cited(bank, synthesis)
        titles = " ".join(title for (title,) in rows(bank, "SELECT title FROM documents"))
        for sentence in sentences(synthesis.body):
            m = re.fullmatch(r"(.*) \((?:contested: )?((?:\[\[[^\]]+\]\](?:, )?)+)\)\.", sentence)
            assert m, sentence
            pages = re.findall(r"\[\[([^|\]]+)\|", m[2])
            assert pages and set(pages) <= known.keys(), sentence
            said = " ".join([titles, *(text for _, texts in known.values() for text in texts)])
            assert set(re.findall(r"\d+", m[1])) <= set(re.findall(r"\d+", said)), sentence


def test_a_synthesis_derives_from_all_it_cites_and_is_no_surer_than_the_least(bank: Path) -> None:
    for synthesis in held(bank):
        assert {link.target for link in synthesis.links if link.type is EdgeType.DERIVES_FROM} == set(synthesis.derived_from)
        known = cited(bank, synthesis)
        assert synthesis.confidence == min(item.confidence for item, _ in known.values())


def test_values_two_notes_give_alike_are_said_once_with_both(bank: Path) -> None:
    (agreement,) = [s for s in held(bank) if s.identity.startswith("syntheses:agreement:")]
    assert agreement.title == "Press: what several notes agree on"
    assert "Press and Cellar book both give 4 bar as the pressure of Press" in agreement.body


def test_looking_again_at_everything_changes_nothing(bank: Path) -> None:
    assert evolve(bank, again=True).proposed == 0


def test_notes_that_link_to_each_other_are_no_discovery(bank: Path, tmp_path: Path) -> None:
    note = tmp_path / "kb" / "Winter losses.md"
    note.write_text(note.read_text() + "\nSee [[Barn thermometer]].\n")
    ingest(bank, tmp_path / "kb")
    evolve(bank)
    assert not [s for s in held(bank) if ":bridge:" in s.identity] and not held(bank, MemoryType.RELATIONSHIP)


def test_a_changed_note_restates_the_synthesis_under_its_id(bank: Path, tmp_path: Path) -> None:
    before = bridge(bank)
    note = tmp_path / "kb" / "Barn thermometer.md"
    note.write_text(note.read_text().replace("-11 °C for nine", "-14 °C for twelve"))
    ingest(bank, tmp_path / "kb")
    stale = rows(bank, "SELECT o.modified > s.recorded_at OR o.standing = 'revoked' FROM edges e JOIN memory_objects s ON s.id = e.source JOIN memory_objects o ON o.id = e.target "
                       "WHERE e.source = ? AND e.type = 'derives_from'", before.id)
    assert (1,) in stale  # a reader sees it between the change and the next cycle
    evolve(bank)
    after = bridge(bank)
    assert after.id == before.id and "-14 °C" in after.body and "-11 °C" not in after.body


def test_a_deleted_note_withdraws_what_rests_on_it(bank: Path, tmp_path: Path) -> None:
    (tmp_path / "kb" / "Barn thermometer.md").unlink()
    ingest(bank, tmp_path / "kb")
    evolve(bank)
    assert not [s for s in held(bank) if ":bridge:" in s.identity] and not held(bank, MemoryType.RELATIONSHIP)
    assert [s for s in held(bank) if ":agreement:" in s.identity]


def test_a_person_who_takes_a_synthesis_away_is_not_told_it_again(bank: Path) -> None:
    gone = bridge(bank)

    async def revoke() -> None:
        async with Bank.open(bank, clock=lambda: MOMENT) as opened, opened.writer.writing():
            await opened.writer.commit(Transaction("undo", "Ana", MOMENT, (
                new_revision(RevisionKind.REVOKE, gone.id, "synthesis", replaces=(gone.revision,), actor="Ana"),)))

    asyncio.run(revoke())
    assert evolve(bank, again=True).dropped == 1
    assert not [s for s in held(bank) if ":bridge:" in s.identity]


def test_values_over_time_are_a_trend_with_every_date_and_citation(tmp_path: Path) -> None:
    notes = {f"log/{day}.md": f"---\ndate: {day}\n---\n# Hive scale {day}\n\n| Hive | Weight (kg) |\n|---|---|\n| Hive Anna | {kg} |\n" for day, kg in
             (("2030-05-01", 31), ("2030-06-01", 38), ("2030-07-01", 46))}
    ingest(tmp_path / "bank", write(tmp_path / "kb", {**notes, "Hive Anna.md": "# Hive Anna\n\nHive Anna stands by the gate.\n"}))
    evolve(tmp_path / "bank")
    (trend,) = [s for s in held(tmp_path / "bank") if s.identity.startswith("syntheses:trend:")]
    assert trend.title == "Hive Anna, weight: from 31 kg to 46 kg" and "The weight of Hive Anna rose from 31 kg to 46 kg" in trend.body
    assert [line[2:12] for line in trend.body.splitlines() if line.startswith("- ")] == ["2030-05-01", "2030-06-01", "2030-07-01"]


def test_what_all_the_like_have_and_one_lacks_is_a_gap(tmp_path: Path) -> None:
    def sheet(name: str, **values: str) -> str:
        return f"# {name}\n\n" + "".join(f"- **{key}:** {value}\n" for key, value in values.items())

    full = {name: sheet(name, Width=f"{n} cm", Depth=f"{n + 1} cm", Weight=f"{n} kg", Limit=f"{n}0 kg") for n, name in enumerate(("Shelf oak", "Shelf elm", "Shelf ash"), 3)}
    notes = {f"{name}.md": text for name, text in full.items()} | {"Shelf yew.md": sheet("Shelf yew", Width="9 cm", Depth="8 cm", Weight="7 kg")}
    ingest(tmp_path / "bank", write(tmp_path / "kb", notes))
    evolve(tmp_path / "bank")
    (gap,) = [s for s in held(tmp_path / "bank") if s.identity.startswith("syntheses:gap:")]
    assert gap.title == "Shelf yew: limit not stated" and "No note gives the limit of Shelf yew" in gap.body and "Shelf oak (30 kg)" in gap.body


def test_a_second_copy_of_a_folder_says_nothing_new(bank: Path, tmp_path: Path) -> None:
    before = [(s.id, s.title, lines) for s in held(bank) if (lines := s.body.count("\n"))]
    ingest(bank, write(tmp_path / "copy", NOTES))
    evolve(bank)
    assert [(s.id, s.title, s.body.count("\n")) for s in held(bank)] == before


def test_unrelated_notes_give_nothing(tmp_path: Path) -> None:
    ingest(tmp_path / "bank", write(tmp_path / "kb", {
        "a.md": "# Tides\n\nThe harbour falls dry for three hours at spring tide.\n", "b.md": "# Ledger\n\nEvery posting needs two accounts.\n", "c.md": "# 空\n\n空は青い。\n",
        "d.md": "", "e.md": "# 🐝\n\n🐝 are fine today, I think.\n"}))
    evolve(tmp_path / "bank")
    assert not held(tmp_path / "bank") and not held(tmp_path / "bank", MemoryType.RELATIONSHIP)


def test_a_bank_looked_at_in_part_comes_to_what_a_whole_look_says(bank: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("smb.evolve.combining.revisit.WHOLE", 0)
    write(tmp_path / "kb", {"Hive tool.md": "# Hive tool\n\nRust on the steel comes off with 5 % vinegar.\n",
                            "Barn thermometer.md": str(NOTES["Barn thermometer.md"]).replace("-11 °C for nine", "-14 °C for twelve")})
    ingest(bank, tmp_path / "kb")
    evolve(bank)
    assert "-14 °C" in bridge(bank).body
    assert evolve(bank, again=True).proposed == 0
    (tmp_path / "kb" / "Winter losses.md").unlink()
    ingest(bank, tmp_path / "kb")
    evolve(bank)
    assert not [s for s in held(bank) if ":bridge:" in s.identity]
    assert evolve(bank, again=True).proposed == 0


def item(n: int, title: str) -> Item:
    return Item(str(n), MemoryType.CLAIM, title, 0.7, n % 3 == 0, Mode.EXTRACTED, "", "", "", "", "", "", None, None, "", "", "", 1, 1, None, (), f"page-{n}")


TITLES = st.text(st.characters(blacklist_categories=("Cs", "Cc")), max_size=300)


@given(st.lists(st.tuples(TITLES, st.lists(TITLES, min_size=1, max_size=4), st.booleans()), min_size=1, max_size=6))
def test_whatever_is_said_no_sentence_is_without_a_citation_at_its_end(told: list[tuple[str, list[str], bool]]) -> None:
    sentences = [Sentence(quoted(text), tuple(item(n, title) for n, title in enumerate(titles)), bullet) for text, titles, bullet in told]
    lines = [line for line in page(sentences, {}).split("\n") if line]
    assert len(lines) == len(sentences)
    assert all(re.search(r"\[\[page-\d\|[^\[\]|]*\]\]\)\.$", line) for line in lines)
    assert all(len(quoted(text)) <= SHOWN + 3 for text, _, _ in told)


@given(st.integers(0, 10**9), TITLES)
def test_a_figure_that_stands_in_no_quote_is_not_said(figure: int, quote: str) -> None:
    sentence = Sentence(f"It weighs {figure} kg", (item(1, "x"),))
    assert grounded(sentence, [quote]) == (str(figure) in re.findall(r"\d+", quote))
    assert grounded(sentence, [quote, f"{figure} kg"])


@pytest.mark.parametrize("notes", [
    {"Prices.md": "# Prices\n\n| Item | Price |\n|---|---|\n| Harvest loaf | 4 euros |\n", "Allergens.md": "# Allergens\n\nHarvest loaf contains walnuts.\n"},
    {"Rota.md": "# Rota\n\nThe oven is cleaned on Thursdays for 20 min.\n", "Van.md": "# Van\n\nOn Thursday the van is cleaned for 20 min.\n"}], ids=["one thing in two lists", "a weekday"])
def test_notes_that_share_a_row_a_weekday_or_a_unit_give_nothing(notes: dict[str, str], tmp_path: Path) -> None:
    ingest(tmp_path / "bank", write(tmp_path / "kb", notes))
    evolve(tmp_path / "bank")
    assert not held(tmp_path / "bank")
