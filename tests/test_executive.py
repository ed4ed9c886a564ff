"""Layer 6: plans from tasks, projects, specifications from decisions, research agendas from what is open."""

from __future__ import annotations

from pathlib import Path

import pytest

from smb.evolve.chronicle.marks import MarkReader
from smb.evolve.plans import Plans
from smb.evolve.projects import Projects
from smb.evolve.research import Research
from smb.evolve.specifications import Specifications
from smb.evolve.verification_gaps import Gaps
from smb.model.objects import MemoryType
from evolved import evolve, new_bank, pages, plain, proposed, quotes_stand
from worlds import ingest, write

NOTES = {
    "projects/Roof.md": "---\ntags: [project]\nstatus: running\nowner: Lea Brandt\ndate: 2031-02-01\n---\n# Roof\n\nThe roof gets new slates. See [[Slate order]].\n\n## Tasks\n\n"
    "- [ ] Order the slates 📅 2031-04-02\n- [x] Measure the roof (done 2031-01-20)\n- [-] Rent a crane\n- [ ] Ask @tom about the gutter\n\n"
    "## Open questions\n\n- Who pays for the scaffold?\n",
    "people/Lea Brandt.md": "---\ntags: [person]\n---\n# Lea Brandt\n\nLea Brandt leads the works.\n",
    "decisions/Slate order.md": "---\ntags: [decision]\ndate: 2031-01-15\n---\n# Slate order\n\n## Status\n\nAccepted\n\n## Context\n\nTiles cracked in the frost.\n\n"
    "## Decision\n\nWe buy slates from Kamp & Sons.\n\n- **Thickness:** 6 mm\n\n## Consequences\n\n- The beams must carry 40 kg more.\n- [ ] Sell the old tiles\n",
    "decisions/Tin roof.md": "---\ntags: [decision]\n---\n# Tin roof\n\n**Status:** superseded by [[Slate order]]\n\n## Decision\n\nThe roof gets tin sheets.\n",
    "decisions/Solar.md": "# Solar\n\n## Status\n\nProposed\n\n## Decision\n\nPanels go on the south side.\n",
    "daily/2031-03-01.md": "# 2031-03-01\n\n- [ ] Water the hedge\n- [ ] Call the mason\n- [ ] Sweep\n",
    "daily/2031-03-02.md": "# 2031-03-02\n\n- [x] Water the hedge\n- [ ] Call the mason\n\nTODO: renew the passport\n\n**Decided:** we meet on Fridays.\n",
    "Help.md": "# Help\n\n## FAQ\n\nHow do I log in? With the key.\n\n```\n- [ ] not a task\nTODO: nor this\n```\n",
    "Garden.md": "# Garden\n\nThe hedge keeps the wind out.\n\n**Open question:** does the hedge need iron?\n",
    "問い.md": "# 庭\n\n## 未解決の点\n\n- 水は足りますか？\n",
}


def phases() -> list[object]:
    marks = MarkReader()
    return [Gaps(), Plans(marks), Projects(marks), Specifications(marks), Research(marks)]


@pytest.fixture
def kb(tmp_path: Path) -> Path:
    return write(tmp_path / "kb", NOTES)


@pytest.fixture
def bank(tmp_path: Path, kb: Path) -> Path:
    ingest(new_bank(tmp_path / "bank"), kb)
    evolve(tmp_path / "bank", phases)
    return tmp_path / "bank"


def body(bank: Path, type_: MemoryType, title: str) -> str:
    return plain(pages(bank, type_)[title].body)


def again(bank: Path, kb: Path) -> dict[str, int]:
    ingest(bank, kb)
    changed = proposed(evolve(bank, phases))
    assert not proposed(evolve(bank, phases, anew=True))
    return changed


def test_a_note_with_several_tasks_has_a_plan_with_their_states_dates_and_owners(bank: Path) -> None:
    told = body(bank, MemoryType.PLAN, "Tasks of Roof")
    assert told.startswith("There are 4 tasks in Roof: 2 open, 1 done, 1 dropped.")
    assert "- [ ] Order the slates — due 2031-04-02" in told and "- [x] Measure the roof — done 2031-01-20" in told
    assert "- [-] Rent a crane" in told and "- [ ] tom: Ask about the gutter" in told


def test_a_task_carried_from_day_to_day_is_told_once_as_the_newest_note_has_it(bank: Path) -> None:
    told = body(bank, MemoryType.PLAN, "Tasks in the folder daily")
    assert told.count("Call the mason") == 1 and "Call the mason (2031-03-02)" in told
    assert "- [x] Water the hedge" in told and "- [ ] Water the hedge" not in told and "- [ ] Renew the passport" in told


def test_all_that_is_open_stands_on_one_page_the_nearest_due_first_and_code_is_none(bank: Path) -> None:
    told = body(bank, MemoryType.PLAN, "Open tasks")
    assert told.split("\n")[4].startswith("- [ ] Order the slates") and "Sell the old tiles (Slate order)" in told
    assert "not a task" not in told and "nor this" not in told and "Water the hedge" not in told


def test_a_project_has_its_state_owner_tasks_questions_decisions_and_people(bank: Path) -> None:
    told = body(bank, MemoryType.PROJECT, "Project: Roof")
    assert "Status: running (Roof)." in told and "Owner: Lea Brandt (Roof)." in told and "It has 4 tasks: 2 open, 1 done, 1 dropped." in told
    assert "Who pays for the scaffold?" in told and "- Slate order (accepted)" in told and "## People\n\nLea Brandt" in told


def test_a_folder_below_projects_is_one_project(bank: Path, kb: Path) -> None:
    write(kb, {"projects/Barn/One.md": "# Barn plan\n\n- [ ] Dig\n", "projects/Barn/Two.md": "# Barn log\n\n- [x] Draw\n"})
    again(bank, kb)
    told = body(bank, MemoryType.PROJECT, "Project: Barn")
    assert "of 2 notes" in told and "1 open, 1 done" in told and "Project: Barn plan" not in pages(bank, MemoryType.PROJECT)


def test_a_decision_is_a_specification_with_its_status(bank: Path) -> None:
    told = body(bank, MemoryType.SPECIFICATION, "Decided: Slate order")
    assert "is a decision of 2031-01-15. It is accepted." in told and "- We buy slates from Kamp & Sons." in told and "- Thickness: 6 mm" in told
    assert "- The beams must carry 40 kg more." in told and "- Tiles cracked in the frost." in told and "Sell the old tiles" not in told
    assert "superseded by Slate order, and no longer in force" in body(bank, MemoryType.SPECIFICATION, "Decided: Tin roof")
    assert "“proposed”: it is not in force" in body(bank, MemoryType.SPECIFICATION, "Decided: Solar")
    assert "We meet on Fridays. (2031-03-02)" in body(bank, MemoryType.SPECIFICATION, "Decided outside the records of decisions")


def test_what_notes_leave_open_is_on_an_agenda_and_an_answered_question_is_not(bank: Path) -> None:
    told = "\n".join(plain(page.body) for page in pages(bank, MemoryType.RESEARCH).values())
    assert "Who pays for the scaffold?" in told and "Does the hedge need iron?" in told and "水は足りますか？" in told
    assert "How do I log in" not in told
    assert "One would look at: Slate order" in told


def test_every_quote_of_layer_6_stands_in_its_note(bank: Path) -> None:
    made = [page for type_ in (MemoryType.PLAN, MemoryType.PROJECT, MemoryType.SPECIFICATION, MemoryType.RESEARCH) for page in pages(bank, type_).values()]
    assert len(made) > 8 and quotes_stand(bank, made) and all(page.derived_from for page in made)


def test_a_second_cycle_changes_nothing_even_with_every_stamp_lost(bank: Path) -> None:
    assert not proposed(evolve(bank, phases)) and not proposed(evolve(bank, phases, anew=True))


def test_a_task_that_is_done_is_done_in_every_page_and_pages_keep_their_ids(bank: Path, kb: Path) -> None:
    before = {title: page.id for title, page in pages(bank, MemoryType.PLAN).items()}
    note = kb / "projects/Roof.md"
    note.write_text(note.read_text().replace("- [ ] Order the slates", "- [x] Order the slates"))
    assert set(again(bank, kb)) == {"plans", "projects", "research"}  # the questions of a note are cited in its newest version
    assert {title: page.id for title, page in pages(bank, MemoryType.PLAN).items()} == before
    assert "1 open, 2 done" in body(bank, MemoryType.PLAN, "Tasks of Roof") and "Order the slates" not in body(bank, MemoryType.PLAN, "Open tasks")


def test_a_note_without_marks_changes_no_page(bank: Path, kb: Path) -> None:
    write(kb, {"Shed.md": "# Shed\n\nThe shed holds 12 rakes.\n"})
    assert not again(bank, kb)


def test_a_note_that_goes_takes_its_tasks_decisions_and_questions_along(bank: Path, kb: Path) -> None:
    for name in ("projects/Roof.md", "decisions/Solar.md", "Garden.md"):
        (kb / name).unlink()
    again(bank, kb)
    assert "Tasks of Roof" not in pages(bank, MemoryType.PLAN) and not pages(bank, MemoryType.PROJECT)
    assert "Decided: Solar" not in pages(bank, MemoryType.SPECIFICATION)
    assert all("hedge need iron" not in page.body for page in pages(bank, MemoryType.RESEARCH).values())


def test_owners_are_called_as_the_bank_calls_them_and_one_persons_tasks_stand_together(bank: Path, kb: Path) -> None:
    write(kb, {"A.md": "# A\n\n- [ ] lea brandt: Paint the door\n", "B.md": "# B\n\n- [ ] zoe: Buy nails\n- [x] Zoe: Buy glue\n", "C.md": "# C\n\n- [ ] @Zoe mow\n"})
    again(bank, kb)
    told = body(bank, MemoryType.PLAN, "Open tasks")
    assert "- [ ] Lea Brandt: Paint the door" in told and "- [ ] Zoe: Buy nails" in told and "zoe" not in told
    assert told.index("Zoe: Mow") - told.index("Zoe: Buy nails") < 60
    assert told.split("\n")[0].endswith("tasks of the notes are open; 3 are done, 1 is dropped.")


def test_a_note_in_a_folder_of_projects_that_says_nothing_of_one_is_none_and_one_title_is_one_project(bank: Path, kb: Path) -> None:
    write(kb, {"projects/quote.md": "# oven quote\n\nThe oven costs 900 euros.\n", "projects/Web-site.md": "---\nstatus: running\ndate: 2031-01-01\n---\n# Web-site\n\nIt is red.\n",
               "projects/Website.md": "# Website\n\n- [ ] Draw it\n"})
    again(bank, kb)
    titles = set(pages(bank, MemoryType.PROJECT))
    assert "Project: oven quote" not in titles and len(titles & {"Project: Web-site", "Project: Website"}) == 1
