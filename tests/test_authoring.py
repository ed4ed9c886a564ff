"""What a person changes in an object file is taken for what they meant."""

from __future__ import annotations

from pathlib import Path

import pytest

from worlds import WORKSHOP, ask, ingest, rows, write


@pytest.fixture
def bank(tmp_path: Path) -> Path:
    ingest(tmp_path / "bank", write(tmp_path / "notes", WORKSHOP))
    return tmp_path / "bank"


def file_of(bank: Path, title: str) -> Path:
    ((location,),) = rows(bank, "SELECT location FROM memory_objects WHERE title = ?", title)
    return bank / location


def edit(bank: Path, title: str, old: str, new: str) -> Path:
    path = file_of(bank, title)
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8")
    return path


WIDTH = "SELECT title, value, standing, mode FROM memory_objects WHERE attribute = 'width' ORDER BY title"
BOTH = [("Loom – Width: 120 cm", "120 cm", "superseded", "extracted"), ("Loom – Width: 130 cm", "130 cm", "current", "authored")]


@pytest.mark.parametrize(("old", "new"), [
    ("\n\nLoom – Width: 120 cm\n", "\n\nLoom – Width: 130 cm\n"),  # the sentence
    ('title: "Loom – Width: 120 cm"', 'title: "Loom – Width: 130 cm"'),
    ('value: "120 cm"', 'value: "130 cm"'),
    ("120 cm", "130 cm"),  # everywhere
], ids=["body", "title", "value", "all"])  # fmt: skip
def test_a_claim_that_says_something_else_supersedes_what_it_said(bank: Path, old: str, new: str) -> None:
    edit(bank, "Loom – Width: 120 cm", old, new)
    report = ask(bank, "absorb")
    assert [e["kind"] for e in report["edits"]] == ["edited"] and report["unreadable"] == []
    assert rows(bank, WIDTH) == BOTH
    assert "status: revised" in file_of(bank, "Loom – Width: 120 cm").read_text("utf-8")
    assert "120" not in file_of(bank, "Loom – Width: 130 cm").read_text("utf-8")
    packet = ask(bank, "recall", "width of the loom")
    assert packet["answer"]["value"] == "130 cm"
    assert any("120 cm" in item["text"] for item in packet["superseded"])


def test_an_edit_is_taken_in_once(bank: Path) -> None:
    edit(bank, "Loom – Width: 120 cm", "120 cm", "130 cm")
    first = ask(bank, "absorb")
    again = ask(bank, "absorb")
    assert again["edits"] == [] and again["generation"] == first["generation"]


def test_keys_and_tags_a_person_adds_survive_and_the_claim_stays_the_same(bank: Path) -> None:
    path = edit(bank, "Loom – Width: 120 cm", "mode: extracted", "mode: extracted\ncssclass: wide\ntags: [checked]")
    ask(bank, "absorb")
    text = path.read_text("utf-8")
    assert "cssclass: wide" in text and "checked" in text and "mode: authored" in text
    assert [(t, s) for t, _, s, _ in rows(bank, WIDTH)] == [("Loom – Width: 120 cm", "current")]


def test_an_edit_of_a_concept_keeps_its_id_and_its_evidence(bank: Path) -> None:
    before = rows(bank, "SELECT id FROM memory_objects WHERE title = 'Loom'")
    path = file_of(bank, "Loom")
    path.write_text(path.read_text("utf-8").replace("\n---\n", "\n---\n\nOur widest loom, bought second-hand.\n", 1), "utf-8")
    ask(bank, "absorb")
    assert rows(bank, "SELECT id FROM memory_objects WHERE title = 'Loom'") == before
    assert "Our widest loom" in path.read_text("utf-8") and "evidence:" in path.read_text("utf-8")


def test_a_deleted_object_file_is_a_revoke_and_stays_away(bank: Path, tmp_path: Path) -> None:
    path = file_of(bank, "Loom – Width: 120 cm")
    path.unlink()
    assert [e["kind"] for e in ask(bank, "absorb")["edits"]] == ["deleted"]
    assert [(t, s) for t, _, s, _ in rows(bank, WIDTH)] == [("Loom – Width: 120 cm", "revoked")]
    ask(bank, "rebuild")
    assert not path.exists()
    last = ask(bank, "history", "Loom / width")["revisions"][-1]
    assert (last["kind"], last["actor"]) == ("revoke", "human")


def test_a_file_that_cant_be_read_is_reported_and_left_alone(bank: Path) -> None:
    path = edit(bank, "Loom – Width: 120 cm", "type: claim", "type: [claim")
    kept = path.read_bytes()
    assert [u["path"] for u in ask(bank, "absorb")["unreadable"]] == [str(path.relative_to(bank))]
    ask(bank, "rebuild")
    assert path.read_bytes() == kept


def test_an_edit_is_never_rendered_over_by_an_ingest(bank: Path, tmp_path: Path) -> None:
    edit(bank, "Loom – Width: 120 cm", "\n\nLoom – Width: 120 cm\n", "\n\nLoom – Width: 125 cm\n")
    write(tmp_path / "notes", {"Loom.md": str(WORKSHOP["Loom.md"]).replace("Harrow Street", "Mill Lane")})
    ingest(bank, tmp_path / "notes")
    assert ("Loom – Width: 125 cm", "125 cm", "current", "authored") in rows(bank, WIDTH)


def test_what_a_person_writes_into_a_relationship_is_kept_below_what_it_joins(bank: Path) -> None:
    page = file_of(bank, "Dara Wenn references Loom")
    ends = page.read_text("utf-8").split("---\n\n", 1)[1]
    page.write_text(page.read_text("utf-8") + "\nHe comes by bike.\n", "utf-8")
    assert [e["kind"] for e in ask(bank, "absorb")["edits"]] == ["edited"]
    text = page.read_text("utf-8")
    assert text.endswith(f"---\n\n{ends}\nHe comes by bike.\n") and "mode: authored" in text
    told = ask(bank, "rebuild")
    assert (told["files_written"], told["absorbed"], page.read_text("utf-8")) == (0, [], text)


@pytest.mark.parametrize(("old", "new"), [("]] references [[", "]] explains [["), ("|Loom]].", "|The wide loom]]."), ("[[loom-", "[[dye-log-0")])
def test_the_line_of_what_a_relationship_joins_is_refused_by_name_and_left_alone(bank: Path, tmp_path: Path, old: str, new: str) -> None:
    page = edit(bank, "Dara Wenn references Loom", old, new)
    if old == "[[loom-":  # another page altogether
        page.write_text(page.read_text("utf-8").replace("|Loom]].", "x|Loom]]."), "utf-8")
    kept = page.read_bytes()
    assert [u["path"] for u in ask(bank, "absorb")["unreadable"]] == [str(page.relative_to(bank))]
    ask(bank, "rebuild")
    assert page.read_bytes() == kept


def test_a_relationship_shows_a_new_title_of_what_it_joins_and_that_is_no_edit(bank: Path, tmp_path: Path) -> None:
    page = file_of(bank, "Dara Wenn references Loom")
    old = page.read_bytes()
    edit(bank, "Loom", "title: Loom", "title: The wide loom")
    ask(bank, "absorb")
    assert "|The wide loom]]." in page.read_text("utf-8")
    page.write_bytes(old)
    assert ask(bank, "absorb")["edits"] == []
    ask(bank, "rebuild")
    assert "|The wide loom]]." in page.read_text("utf-8")


def test_the_deleted_page_of_what_no_longer_holds_stays_away(bank: Path, tmp_path: Path) -> None:
    (tmp_path / "notes" / "Dye log.md").unlink()
    ingest(bank, tmp_path / "notes")
    page = file_of(bank, "Dye log")
    assert "status: deprecated" in page.read_text("utf-8")
    page.unlink()
    assert [e["kind"] for e in ask(bank, "absorb")["edits"]] == ["deleted"]
    ask(bank, "rebuild")
    assert not page.exists() and ask(bank, "absorb")["edits"] == []
    write(tmp_path / "notes", {"Dye log.md": WORKSHOP["Dye log.md"]})
    ingest(bank, tmp_path / "notes")
    assert page.exists()
