"""The main job: notes in, evidence kept, the bank follows what happens to the notes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from smb.ingest.scan import scan
from smb.ingest.scope import NothingToIngest
from smb.lookup import UnknownReference
from worlds import WORKSHOP, ask, catalog, ingest, rows, truth, write


@pytest.fixture
def kb(tmp_path: Path) -> Path:
    return write(tmp_path / "notes", WORKSHOP)


@pytest.fixture
def bank(tmp_path: Path) -> Path:
    return tmp_path / "bank"


def counts(report: dict) -> tuple[int, ...]:
    return tuple(report[k] for k in ("seen", "added", "changed", "moved", "unchanged", "removed"))


def standing(bank: Path, where: str, *params: object) -> dict[str, str]:
    return dict(rows(bank, f"SELECT title, standing FROM memory_objects WHERE {where}", *params))


def test_every_source_is_kept_byte_for_byte_and_can_not_be_written(kb: Path, bank: Path) -> None:
    report = ingest(bank, kb)
    assert counts(report) == (5, 5, 0, 0, 0, 0) and report["status"] == "ok"
    kept = list((bank / "layer-0" / "source").iterdir())
    assert {p.read_bytes() for p in kept} == {p.read_bytes() for p in kb.rglob("*.md")}
    assert all(p.stat().st_mode & 0o222 == 0 for p in kept)
    assert {"concept", "claim", "entity", "relationship"} <= report["objects"].keys()


def test_a_second_run_changes_nothing_at_all(kb: Path, bank: Path) -> None:
    first = ingest(bank, kb)
    before = truth(bank), catalog(bank)
    again = ingest(bank, kb)
    assert counts(again) == (5, 0, 0, 0, 5, 0) and again["generation"] == first["generation"]
    assert (truth(bank), catalog(bank)) == before


def test_touching_a_file_is_not_a_change(kb: Path, bank: Path) -> None:
    first = ingest(bank, kb)
    for path in kb.rglob("*.md"):
        path.touch()
    assert ingest(bank, kb)["generation"] == first["generation"]


def test_every_quote_is_at_its_bytes(kb: Path, bank: Path) -> None:
    ingest(bank, kb)
    found = 0
    for (line,) in rows(bank, "SELECT line FROM revisions"):
        for source, start, end, first, last, quote in json.loads(line).get("evidence", ()):
            (path,) = (bank / "layer-0" / "source").glob(f"{source[:12]}-*")
            data = path.read_bytes()
            assert data[start:end].decode() == quote
            assert data[:start].count(b"\n") + 1 == first and first + data[start:end].count(b"\n") == last
            found += 1
    assert found > 10


def test_an_edited_value_supersedes_the_older_one(kb: Path, bank: Path) -> None:
    ingest(bank, kb)
    write(kb, {"Loom.md": str(WORKSHOP["Loom.md"]).replace("120 cm", "150 cm")})
    assert counts(ingest(bank, kb)) == (5, 0, 1, 0, 4, 0)
    assert standing(bank, "attribute = 'width'") == {"Loom – Width: 120 cm": "superseded", "Loom – Width: 150 cm": "current"}
    history = ask(bank, "history", "Loom / Width")
    assert [r["kind"] for r in history["revisions"]] == ["assert", "supersede"]
    assert [p for p, in rows(bank, "SELECT text FROM passages WHERE live = 1 AND text LIKE '%Width%'")] == ["- **Width:** 150 cm"]


def test_a_value_corrected_under_the_same_date_held_at_no_time(kb: Path, bank: Path) -> None:
    """It has no end: the dates of its note are also those of the value that took its place."""
    text = "---\ndate: 2031-02-03\n---\n# Wheel\n\n- **Spokes:** 12\n"
    for spokes in ("12", "14"):
        write(kb, {"Wheel.md": text.replace("12", spokes)})
        ingest(bank, kb)
    assert rows(bank, "SELECT value, standing, valid_from, valid_to FROM memory_objects WHERE attribute = 'spokes' ORDER BY value") == [
        ("12", "superseded", "2031-02-03T00:00:00+00:00", None), ("14", "current", "2031-02-03T00:00:00+00:00", None)]
    write(kb, {"Wheel.md": text.replace("12", "16").replace("02-03", "03-03")})
    ingest(bank, kb)
    assert rows(bank, "SELECT valid_to FROM memory_objects WHERE value = '14'") == [("2031-03-03T00:00:00+00:00",)]


def test_why_of_a_key_is_the_chain_of_the_claims_that_stand_for_it(kb: Path, bank: Path) -> None:
    ingest(bank, kb)
    write(kb, {"Loom.md": str(WORKSHOP["Loom.md"]).replace("120 cm", "150 cm")})
    ingest(bank, kb)
    ids = dict(rows(bank, "SELECT value, id FROM memory_objects WHERE attribute = 'width'"))
    told = ask(bank, "why", "Loom / Width")
    assert (told["key"], told["ids"], told["verdict"]) == (["loom", "width"], [ids["150 cm"]], "current")
    assert told | {"key": None} == ask(bank, "why", ids["150 cm"])
    write(kb, {"other.md": "---\ntitle: Loom\n---\n- **Width:** 90 cm\n"})
    ingest(bank, kb)
    several = ask(bank, "why", "Loom/width")
    standing_ids = {i for i, s in rows(bank, "SELECT id, standing FROM memory_objects WHERE attribute = 'width'") if s in ("current", "contested")}
    assert set(several["ids"]) == standing_ids and len(standing_ids) == 2
    assert {span["quote"] for r in several["revisions"] for span in r["evidence"]} >= {"- **Width:** 150 cm", "- **Width:** 90 cm"}
    write(kb, {"Loom.md": "# Loom\n", "other.md": "# Other\n"})
    ingest(bank, kb)
    assert set(ask(bank, "why", "loom / width")["ids"]) == set(dict(rows(bank, "SELECT id, id FROM memory_objects WHERE attribute = 'width'")))
    with pytest.raises(UnknownReference, match="SUBJECT / ATTRIBUTE"):
        ask(bank, "why", "loom / height")


def test_returning_to_the_old_text_brings_the_old_value_back(kb: Path, bank: Path) -> None:
    ingest(bank, kb)
    for width in ("150 cm", "120 cm", "150 cm"):
        write(kb, {"Loom.md": str(WORKSHOP["Loom.md"]).replace("120 cm", width)})
        ingest(bank, kb)
        current = [t for t, s in standing(bank, "attribute = 'width'").items() if s == "current"]
        assert current == [f"Loom – Width: {width}"]


def test_a_line_taken_out_is_revoked_and_put_back_is_current_again(kb: Path, bank: Path) -> None:
    ingest(bank, kb)
    write(kb, {"Dye log.md": str(WORKSHOP["Dye log.md"]).replace("Indigo needs 40 g of lime per litre.\n", "")})
    ingest(bank, kb)
    assert set(standing(bank, "title LIKE 'Indigo needs%'").values()) == {"revoked"}
    write(kb, {"Dye log.md": WORKSHOP["Dye log.md"]})
    ingest(bank, kb)
    assert set(standing(bank, "title LIKE 'Indigo needs%'").values()) == {"current"}


def test_a_move_keeps_document_source_and_objects(kb: Path, bank: Path) -> None:
    first = ingest(bank, kb)
    before = rows(bank, "SELECT id, source FROM documents WHERE path = 'Loom.md'")
    objects = rows(bank, "SELECT id, standing FROM memory_objects ORDER BY id")
    (kb / "tools").mkdir()
    (kb / "Loom.md").rename(kb / "tools" / "Loom.md")
    report = ingest(bank, kb)
    assert counts(report) == (5, 0, 0, 1, 4, 0) and report["generation"] != first["generation"]
    assert rows(bank, "SELECT id, source FROM documents WHERE live = 1 AND path = 'tools/Loom.md'") == before
    assert rows(bank, "SELECT id, standing FROM memory_objects ORDER BY id") == objects
    paths = [r["says"]["path"] for r in ask(bank, "history", before[0][0])["revisions"]]
    assert paths == ["Loom.md", "tools/Loom.md"]


def test_a_new_note_at_the_old_path_of_a_moved_one_is_another_document(kb: Path, bank: Path) -> None:
    ingest(bank, kb)
    (kb / "Loom.md").rename(kb / "Old loom.md")
    ingest(bank, kb)
    write(kb, {"Loom.md": "# A new loom\n\nThe new loom is 90 cm wide.\n"})
    ingest(bank, kb)
    found = rows(bank, "SELECT id, path FROM documents WHERE live = 1 AND path LIKE '%oom.md'")
    assert len({i for i, _ in found}) == 2 and {p for _, p in found} == {"Loom.md", "Old loom.md"}


def test_a_deleted_note_takes_only_what_it_alone_supported(kb: Path, bank: Path) -> None:
    ingest(bank, kb)
    (kb / "Loom.md").unlink()
    report = ingest(bank, kb)
    assert counts(report) == (4, 0, 0, 0, 4, 1)
    assert standing(bank, "attribute = 'width'") == {"Loom – Width: 120 cm": "revoked"}
    assert standing(bank, "type = 'entity' AND title = 'Dara Wenn'") == {"Dara Wenn": "current"}
    assert rows(bank, "SELECT count(*) FROM passages p JOIN documents d ON d.id = p.document_id WHERE p.live = 1 AND d.path = 'Loom.md'") == [(0,)]
    write(kb, {"Loom.md": WORKSHOP["Loom.md"]})
    assert counts(ingest(bank, kb)) == (5, 1, 0, 0, 4, 0)
    assert standing(bank, "attribute = 'width'") == {"Loom – Width: 120 cm": "current"}


def test_a_subset_ingest_never_deletes_outside_what_it_scanned(kb: Path, bank: Path) -> None:
    ingest(bank, kb)
    (kb / "Loom.md").unlink()
    (kb / "people" / "Dara Wenn.md").unlink()
    report = ingest(bank, kb / "people")
    assert (report["seen"], report["removed"]) == (0, 1)
    assert rows(bank, "SELECT path FROM documents WHERE live = 0") == [("people/Dara Wenn.md",)]
    single = ingest(bank, kb / "Dye log.md")
    assert (single["seen"], single["unchanged"], single["removed"]) == (1, 1, 0)


def test_paths_are_relative_to_the_root_first_ingested(kb: Path, bank: Path) -> None:
    ingest(bank, kb / "people")
    ingest(bank, kb)
    assert sorted(rows(bank, "SELECT root, path FROM documents WHERE path LIKE '%Dara%' AND live = 1")) == [("people", "Dara Wenn.md")]


def test_two_folders_of_one_name_are_two_roots(tmp_path: Path, bank: Path) -> None:
    one = write(tmp_path / "a" / "notes", {"x.md": "Apples are stored at 4 °C.\n"})
    two = write(tmp_path / "b" / "notes", {"y.md": "Pears are stored at 2 °C.\n"})
    ingest(bank, one)
    report = ingest(bank, two)
    assert report["added"] == 1 and report["removed"] == 0
    assert {r for r, in rows(bank, "SELECT root FROM documents WHERE live = 1")} == {"notes", "notes-2"}


def test_a_name_declared_an_alias_later_is_merged(kb: Path, bank: Path, tmp_path: Path) -> None:
    write(kb, {"a.md": "# Repair day\n\n[[D. Wenn]] repaired the loom on 2031-04-02.\n"})
    ingest(bank, kb)
    assert standing(bank, "title = 'D. Wenn'") == {"D. Wenn": "current"}
    write(kb, {"people/Dara Wenn.md": "---\ntags: [person]\naliases: [D. Wenn]\n---\n# Dara Wenn\n\nDara Wenn repairs the loom every April.\n"})
    ingest(bank, kb)
    assert set(standing(bank, "title = 'D. Wenn'").values()) == {"merged"}
    edge = "SELECT count(*) FROM edges e JOIN memory_objects t ON t.id = e.target JOIN memory_objects s ON s.id = e.source WHERE t.title = '{}' AND s.title = 'Repair day'"
    assert rows(bank, edge.format("Dara Wenn"))[0][0] >= 1 and rows(bank, edge.format("D. Wenn")) == [(0,)]
    (quotes,) = rows(bank, "SELECT count(*) FROM object_evidence e JOIN memory_objects o ON o.id = e.object_id JOIN documents d ON d.source = e.source "
                           "WHERE o.title = 'Dara Wenn' AND d.path = 'a.md'")
    assert quotes[0] >= 1
    assert ingest(bank, kb)["unchanged"] == 6
    write(kb, {"people/Dara Wenn.md": "---\ntags: [person]\naliases: [D. Wenn]\n---\n# Dara Wenn\n\nDara Wenn repairs both looms every April.\n"})
    ingest(bank, kb)
    assert set(standing(bank, "title = 'D. Wenn'").values()) == {"merged"}
    write(kb, {"people/Dara Wenn.md": "---\ntags: [person]\n---\n# Dara Wenn\n\nDara Wenn repairs both looms every April.\n"})
    ingest(bank, kb)
    assert standing(bank, "title = 'D. Wenn'") == {"D. Wenn": "current"}
    assert rows(bank, edge.format("D. Wenn"))[0][0] >= 1 and rows(bank, edge.format("Dara Wenn")) == [(0,)]


def test_a_link_to_a_note_that_comes_later_becomes_an_edge_then(kb: Path, bank: Path) -> None:
    (kb / "Dye log.md").unlink()
    ingest(bank, kb)
    edge = "SELECT count(*) FROM edges e JOIN memory_objects s ON s.id = e.source JOIN memory_objects t ON t.id = e.target WHERE s.title = 'Dara Wenn' AND t.title = 'Dye log'"
    assert rows(bank, edge) == [(0,)] and rows(bank, "SELECT target FROM dangling") == [("Dye log.md",)]
    write(kb, {"Dye log.md": WORKSHOP["Dye log.md"]})
    ingest(bank, kb)
    assert rows(bank, edge) == [(1,)]
    write(kb, {"people/Dara Wenn.md": "---\ntags: [person]\n---\n# Dara Wenn\n\nDara Wenn repairs the loom every April.\n"})
    ingest(bank, kb)
    assert rows(bank, edge) == [(0,)]


def test_one_bad_file_stops_nothing_and_is_reported_every_time(kb: Path, bank: Path) -> None:
    write(kb, {"picture.md": b"\x89PNG\r\n\x1a\n\x00\x00\x00"})
    for _ in range(2):
        report = ingest(bank, kb)
        assert report["status"] == "partial" and report["seen"] == 6
        assert [(s["path"], s["reason"]) for s in report["skipped"]] == [("picture.md", "binary")]
        assert report["seen"] == sum(report[k] for k in ("added", "changed", "moved", "unchanged")) + len(report["skipped"])


def test_a_note_that_turns_unreadable_is_skipped_and_not_revoked(kb: Path, bank: Path) -> None:
    ingest(bank, kb)
    write(kb, {"Loom.md": b"\x00\x01\x02binary"})
    report = ingest(bank, kb)
    assert report["removed"] == 0 and [s["path"] for s in report["skipped"]] == ["Loom.md"]
    assert rows(bank, "SELECT live FROM documents WHERE path = 'Loom.md'") == [(1,)]


def test_a_dry_run_counts_and_writes_nothing(kb: Path, bank: Path) -> None:
    ingest(bank, kb)
    before = truth(bank)
    (kb / "Loom.md").rename(kb / "Loom 2.md")
    (kb / "empty.md").unlink()
    write(kb, {"new.md": "A new note with 3 facts.\n", "Dye log.md": "# Dye log\n"})
    report = ingest(bank, kb, dry_run=True)
    assert counts(report) == (5, 1, 1, 1, 2, 1) and truth(bank) == before


@pytest.mark.parametrize("gone", ["vanished", "a folder now"])
def test_a_dry_run_reports_what_it_can_not_read(kb: Path, bank: Path, monkeypatch: pytest.MonkeyPatch, gone: str) -> None:
    """A file may go between the scan and the reading of it."""
    def scan_then_lose(*args: Any, **options: Any) -> Any:
        found = scan(*args, **options)
        (kb / "Loom.md").unlink()
        if gone != "vanished":
            (kb / "Loom.md").mkdir()
        return found

    monkeypatch.setattr("smb.ingest.pipeline.scan", scan_then_lose)
    report = ingest(bank, kb, dry_run=True)
    assert [(s["path"], s["reason"], bool(s["detail"])) for s in report["skipped"]] == [("Loom.md", "unreadable", True)]
    assert counts(report) == (5, 4, 0, 0, 0, 0) and report["status"] == "partial"


def test_a_dry_run_moves_a_vanished_note_once(kb: Path, bank: Path) -> None:
    ingest(bank, kb)
    (kb / "Loom.md").unlink()
    write(kb, {"one.md": WORKSHOP["Loom.md"], "two.md": WORKSHOP["Loom.md"]})
    dry = ingest(bank, kb, dry_run=True)
    assert counts(dry) == counts(ingest(bank, kb)) == (6, 1, 0, 1, 4, 0)


def test_a_bank_inside_the_notes_is_never_ingested(kb: Path) -> None:
    assert ingest(kb / "bank", kb)["seen"] == 5
    assert ingest(kb / "bank", kb)["seen"] == 5


def test_a_folder_that_is_not_there_is_a_usage_error(bank: Path, tmp_path: Path) -> None:
    with pytest.raises(NothingToIngest) as caught:
        ingest(bank, tmp_path / "nowhere")
    assert caught.value.exit_code == 2


def test_the_originals_are_never_touched(kb: Path, bank: Path) -> None:
    before = {p: (p.read_bytes(), p.stat().st_mtime_ns) for p in kb.rglob("*") if p.is_file()}
    ingest(bank, kb)
    ingest(bank, kb)
    assert {p: (p.read_bytes(), p.stat().st_mtime_ns) for p in kb.rglob("*") if p.is_file()} == before
