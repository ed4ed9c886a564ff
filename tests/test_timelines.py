"""Timelines: what is dated of a thing, in order of valid time."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smb.evolve.chronicle.named import Names
from smb.evolve.snapshot import Item
from smb.evolve.language.terms import words_of
from smb.evolve.timelines import Timelines
from smb.model.identity import fold
from smb.model.objects import MemoryType, Mode
from smb.model.revision import RevisionKind, new_revision
from evolved import commit, evolve, new_bank, pages, plain, proposed, quotes_stand
from worlds import ingest, rows, write

NOTES = {
    "Pump Nine.md": "---\ndate: 2031-01-10\n---\n# Pump Nine\n\n- **Flow limit:** 40 l/min\n- **Colour:** green\n\nPump Nine was built in 2019 by Arven Works.\n",
    "journal/2031-03-02.md": "---\ndate: 2031-03-02\ntags: [journal]\n---\n# 2031-03-02\n\nThe seal of Pump Nine leaked at noon.\n",
    "journal/2031-03-05.md": "---\ndate: 2031-03-05\ntags: [journal]\n---\n# 2031-03-05\n\nIda Roth replaced the seal of Pump Nine.\n",
    "Limits.md": "---\ndate: 2031-06-01\n---\n# Limits\n\n| Machine | Flow limit |\n|---|---|\n| Pump Nine | 35 l/min |\n",
    "Pump Nine seal report.md": "# Pump Nine seal report\n\nThe report has 3 pages.\n",
    "Pump Nineteen.md": "# Pump Nineteen\n\nPump Nineteen stands in the yard.\n",
}

NAMES = st.sampled_from(("Pump Nine", "pump nine seal", "Straße 4", "STRASSE 4", "Kiln-North", "北窯", "北窯の蓋", "Ida", "ida roth", "C++", "O'Neill", "İzmir"))


def thing(n: int, title: str) -> Item:
    return Item(str(n), MemoryType.ENTITY, title, 0.5, False, Mode.EXTRACTED, "", "", "", "", "", "", None, None, "", "", "", 1, 1, None, (), "")


@pytest.fixture
def kb(tmp_path: Path) -> Path:
    return write(tmp_path / "kb", NOTES)


@pytest.fixture
def bank(tmp_path: Path, kb: Path) -> Path:
    ingest(new_bank(tmp_path / "bank", "flow limit"), kb)
    return tmp_path / "bank"


def run(bank: Path, **options: bool) -> dict[str, int]:
    return proposed(evolve(bank, lambda: [Timelines()], **options))


def lines(bank: Path, title: str = "Timeline of Pump Nine") -> list[str]:
    return [line for line in plain(pages(bank, MemoryType.TIMELINE)[title].body).split("\n") if line.startswith("- ")]


def test_dated_claims_of_a_thing_stand_in_order_of_time_each_with_its_date_and_its_note(bank: Path) -> None:
    run(bank)
    told = lines(bank)
    assert [line.split("**")[1] for line in told] == ["2019", "2031-01-10", "2031-03-02", "2031-03-05", "2031-06-01"]
    assert "built in 2019 by Arven Works. (Pump Nine)" in told[0] and "The seal of Pump Nine leaked at noon. (2031-03-02)" in told[2]


def test_a_value_that_gave_way_is_marked_and_so_is_the_one_that_took_its_place(bank: Path) -> None:
    run(bank)
    told = lines(bank)
    assert "40 l/min" in told[1] and "no longer so since 2031-06-01" in told[1]
    assert "35 l/min" in told[-1] and "it was 40 l/min before" in told[-1]


def test_a_property_that_never_changed_is_no_step_and_a_thing_without_dates_has_no_timeline(bank: Path) -> None:
    run(bank)
    assert not any("green" in line for line in lines(bank))
    assert "Timeline of Pump Nineteen" not in pages(bank, MemoryType.TIMELINE)


def test_a_page_cites_its_claims_and_its_quotes_stand_in_the_notes(bank: Path) -> None:
    run(bank)
    page = pages(bank, MemoryType.TIMELINE)["Timeline of Pump Nine"]
    assert len(page.derived_from) == 5 == len(page.evidence) and quotes_stand(bank, [page])
    lowest = min(confidence for (confidence,) in rows(bank, f"SELECT confidence FROM memory_objects WHERE id IN ({','.join('?' * 5)})", *page.derived_from))
    assert page.confidence == pytest.approx(lowest)


def test_a_disputed_claim_is_marked_as_long_as_it_is_disputed(bank: Path) -> None:
    run(bank)
    ((leaked,),) = rows(bank, "SELECT id FROM memory_objects WHERE type = 'claim' AND title LIKE '%leaked%'")
    ((replaced,),) = rows(bank, "SELECT id FROM memory_objects WHERE type = 'claim' AND title LIKE '%replaced the seal%'")
    contest = new_revision(RevisionKind.CONTEST, leaked, "claim", into=(replaced,), actor="Ida")
    commit(bank, contest)
    run(bank)
    assert [("contested" in line) for line in lines(bank)] == [False, False, True, False, False] and not run(bank, anew=True)
    commit(bank, new_revision(RevisionKind.REVOKE, leaked, "claim", replaces=(contest.id,), actor="Ida"))
    run(bank)
    assert not any("contested" in line for line in lines(bank)) and not run(bank, anew=True)


def test_a_second_cycle_changes_nothing_even_with_every_stamp_lost(bank: Path) -> None:
    assert run(bank) and not run(bank) and not run(bank, anew=True)


def test_a_new_note_restates_the_page_it_belongs_to_and_no_other_look_would_add_to_it(bank: Path, kb: Path) -> None:
    run(bank)
    before = pages(bank, MemoryType.TIMELINE)["Timeline of Pump Nine"].id
    write(kb, {"journal/2031-07-01.md": "---\ndate: 2031-07-01\n---\n# 2031-07-01\n\nPump Nine ran all night.\n\nPump Nineteen was sold.\n\n"
               "Ida Roth filed the Pump Nine seal report.\n"})
    ingest(bank, kb)
    assert run(bank) == {"timelines": 1}
    assert "Pump Nine ran all night." in lines(bank)[-1] and pages(bank, MemoryType.TIMELINE)["Timeline of Pump Nine"].id == before
    assert not any("Nineteen" in line or "report" in line for line in lines(bank))  # other things, though their names begin alike
    assert not run(bank, anew=True)


def test_a_note_that_goes_takes_its_lines_and_in_the_end_the_page_along(bank: Path, kb: Path) -> None:
    run(bank)
    (kb / "journal/2031-03-02.md").unlink()
    ingest(bank, kb)
    run(bank)
    assert not any("leaked" in line for line in lines(bank)) and not run(bank, anew=True)
    shutil.rmtree(kb / "journal")
    (kb / "Limits.md").unlink()
    ingest(bank, kb)
    run(bank)
    assert "Timeline of Pump Nine" not in pages(bank, MemoryType.TIMELINE) and not run(bank, anew=True)


@given(st.lists(NAMES, min_size=1, max_size=6, unique=True), st.lists(NAMES | st.sampled_from(("the", "ran", "は", ", ")), max_size=8), st.sets(st.integers(0, 5)))
def test_a_text_that_names_something_passes_the_quick_test_for_it_and_only_what_stands_in_it_is_named(titles: list[str], parts: list[str], chosen: set[int]) -> None:
    items = [thing(n, title) for n, title in enumerate(titles)]
    names = Names(items, {item.id: (fold(item.title),) for item in items})
    text = " ".join(parts)
    named = names.named_in(text)
    ids = {str(n) for n in chosen}
    assert not named & ids or names.filter(ids)(text)
    assert all(" ".join(words_of(fold(items[int(i)].title))) in " ".join(words_of(fold(text))) for i in named)


def test_within_a_longer_name_none_is_looked_for_and_a_common_word_names_nothing() -> None:
    items = [thing(n, title) for n, title in enumerate(("Pump Nine", "Pump Nine seal", "seal", "Arven", "窯"))]
    names = Names(items, {item.id: (fold(item.title),) for item in items})
    assert names.named_in("The pump nine seal, and Pump Nine's hose, from Arven") == {"0", "1", "3"}
    assert names.named_in("a seal") == set() and names.named_in("2031-05-01") == set()


def test_two_banks_of_the_same_notes_hold_the_same_pages(bank: Path, kb: Path, tmp_path: Path) -> None:
    ingest(new_bank(tmp_path / "other", "flow limit"), kb)
    run(bank)
    run(tmp_path / "other")
    here, there = pages(bank, MemoryType.TIMELINE), pages(tmp_path / "other", MemoryType.TIMELINE)
    assert here.keys() == there.keys() and all(here[t].body == there[t].body and here[t].id == there[t].id for t in here)
