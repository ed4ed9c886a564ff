"""Narratives: how a topic developed, every sentence cited."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from smb.evolve.narratives import Narratives
from smb.model.objects import MemoryType
from evolved import evolve, new_bank, pages, plain, proposed, quotes_stand
from worlds import ingest, write

NOTES = {
    "Ferry.md": "---\ndate: 2030-05-01\n---\n# Ferry Osk\n\n- **Top speed:** 14 knots\n\nFerry Osk was launched in 2011.\n",
    "log/2031-02-03.md": "---\ndate: 2031-02-03\n---\n# 2031-02-03\n\nFerry Osk ran aground off Hald.\n",
    "log/2031-02-20.md": "---\ndate: 2031-02-20\n---\n# 2031-02-20\n\nThe yard welded a new plate into Ferry Osk.\n",
    "Speeds.md": "---\ndate: 2031-04-01\n---\n# Speeds\n\n| Ship | Top speed |\n|---|---|\n| Ferry Osk | 11 knots |\n",
    "Mole.md": "# Mole Hald\n\nMole Hald is made of granite.\n\n- **Length:** 210 m\n",
    "Single.md": "# Crane Two\n\nCrane Two came in 2001.\n\nCrane Two was painted in 2005.\n\nCrane Two was sold in 2009.\n",
}
TITLE = "The story of Ferry Osk"


@pytest.fixture
def kb(tmp_path: Path) -> Path:
    return write(tmp_path / "kb", NOTES)


@pytest.fixture
def bank(tmp_path: Path, kb: Path) -> Path:
    ingest(new_bank(tmp_path / "bank", "top speed"), kb)
    return tmp_path / "bank"


def run(bank: Path, **options: bool) -> dict[str, int]:
    return proposed(evolve(bank, lambda: [Narratives()], **options))


def test_a_development_is_told_in_order_with_what_a_value_was_until_when(bank: Path) -> None:
    run(bank)
    told = plain(pages(bank, MemoryType.NARRATIVE)[TITLE].body)
    places = [told.index(part) for part in (  # in the order of time
        "launched in 2011", "Top speed was 14 knots", "ran aground off Hald", "welded a new plate", "Top speed is 11 knots, 14 knots before")]
    assert places == sorted(places)
    assert "until 2031-04-01, then 11 knots" in told and [h for h in told.split("\n") if h.startswith("## ")] == ["## 2011", "## 2030", "## 2031"]


def test_every_step_ends_in_citations_of_claims_the_page_was_worked_out_from(bank: Path) -> None:
    run(bank)
    page = pages(bank, MemoryType.NARRATIVE)[TITLE]
    steps = [p for p in page.body.split("\n\n")[1:] if not p.startswith("## ")]
    assert len(steps) == 5
    for step in steps:
        cited = {page_[-12:] for page_ in re.findall(r"\[\[([^|\]]*)\|", step)}
        assert cited and cited <= set(page.derived_from) and re.search(r"\]\]\)\.?$", step)
    assert quotes_stand(bank, [page])


def test_numbers_and_dates_of_the_text_stand_in_the_quotes_or_are_dates_of_the_claims(bank: Path) -> None:
    run(bank)
    page = pages(bank, MemoryType.NARRATIVE)[TITLE]
    quoted = " ".join(span.quote for span in page.evidence)
    told = re.sub(r"\d{4}(-\d\d){0,2}|\d+ notes", "", plain(page.body))
    assert all(number in quoted for number in re.findall(r"\d+", told))


def test_what_has_no_dates_or_a_single_note_has_no_narrative(bank: Path) -> None:
    run(bank)
    assert set(pages(bank, MemoryType.NARRATIVE)) == {TITLE}


def test_a_second_cycle_changes_nothing_even_with_every_stamp_lost(bank: Path) -> None:
    assert run(bank) and not run(bank) and not run(bank, anew=True)


def test_a_new_turn_is_told_and_one_whose_note_goes_is_not(bank: Path, kb: Path) -> None:
    run(bank)
    write(kb, {"log/2031-09-09.md": "---\ndate: 2031-09-09\n---\n# 2031-09-09\n\nFerry Osk went to the breakers.\n"})
    ingest(bank, kb)
    assert run(bank) == {"narratives": 1}
    assert plain(pages(bank, MemoryType.NARRATIVE)[TITLE].body).rstrip().endswith("Ferry Osk went to the breakers. (2031-09-09)") and not run(bank, anew=True)
    (kb / "log/2031-09-09.md").unlink()
    (kb / "Speeds.md").unlink()
    ingest(bank, kb)
    run(bank)
    assert all("breakers" not in page.body and "11 knots" not in page.body for page in pages(bank, MemoryType.NARRATIVE).values()) and not run(bank, anew=True)


def test_an_edited_value_is_told_as_what_it_is_with_what_it_was(bank: Path, kb: Path) -> None:
    note = kb / "Ferry.md"
    note.write_text(note.read_text().replace("- **Top speed:**", "- **Since:** 2030-04-30\n- **Draught:** 1.2 m\n- **Top speed:**"))
    ingest(bank, kb)
    run(bank)
    note.write_text(note.read_text().replace("1.2 m", "1.4 m"))
    ingest(bank, kb)
    run(bank)
    told = plain(pages(bank, MemoryType.NARRATIVE)[TITLE].body)
    assert "2030-05-01: Draught is 1.4 m, 1.2 m before (Ferry Osk)." in told and "is 1.2 m" not in told and "Since" not in told
    assert not run(bank) and not run(bank, anew=True)


def test_a_step_stands_at_the_day_its_words_name_and_one_that_dangles_is_left_out(bank: Path, kb: Path) -> None:
    write(kb, {"log/2031-08-12.md": "---\ndate: 2031-08-12\n---\n# 2031-08-12\n\nThe yard painted Ferry Osk on Sunday, 2031-08-10.\n\nFerry Osk sold it to Hald.\n",
               "log/2031-08-30.md": "---\ndate: 2031-08-30\n---\n# 2031-08-30\n\nFerry Osk carried 90 cars in July.\n"})
    ingest(bank, kb)
    run(bank)
    told = plain(pages(bank, MemoryType.NARRATIVE)[TITLE].body)
    assert "\nThe yard painted Ferry Osk on Sunday, 2031-08-10." in told and "sold it" not in told and "Noted 2031-08-30: Ferry Osk carried 90 cars in July." in told
    assert not run(bank, anew=True)
