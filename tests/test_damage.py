"""What breaks is said, nothing hangs, and truth survives it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from worlds import WORKSHOP, ask, catalog, ingest, rows, truth, write


@pytest.fixture
def bank(tmp_path: Path) -> Path:
    ingest(tmp_path / "bank", write(tmp_path / "notes", WORKSHOP))
    return tmp_path / "bank"


def smb(bank: Path, *args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "smb", *args, "--bank", str(bank)], capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL,
                          env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[1]), "NO_COLOR": "1"}, cwd=bank.parent)


def garble(path: Path, start: int, length: int = 6000) -> None:
    data = bytearray(path.read_bytes())
    data[start : start + length] = bytes(range(256)) * (length // 256 + 1)
    path.write_bytes(bytes(data))


@pytest.mark.parametrize("damage", ["head", "middle", "cut", "empty"])
def test_a_damaged_catalog_ends_nothing_and_is_made_again(damage: str, bank: Path) -> None:
    before = truth(bank)
    path = bank / "index" / "metadata.db"
    for suffix in ("-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    match damage:
        case "head":
            garble(path, 0)
        case "middle":
            garble(path, 60_000, 40_000)
        case "cut":
            path.write_bytes(path.read_bytes()[:30_000])
        case _:
            path.write_bytes(b"")
    assert smb(bank, "recall", "loom width").returncode in (0, 1)
    assert smb(bank, "rebuild").returncode == 0
    assert truth(bank) == before and ask(bank, "doctor")["ok"]
    assert ask(bank, "recall", "width of the loom")["answer"]["value"] == "120 cm"


def test_a_rebuild_that_cant_finish_leaves_the_old_index_standing(bank: Path, tmp_path: Path) -> None:
    (source,) = (bank / "layer-0" / "source").glob("*-dye-log.md")
    source.chmod(0o644)
    source.unlink()
    ran = smb(bank, "rebuild")
    assert ran.returncode == 1 and "internal" not in ran.stderr
    assert ask(bank, "recall", "width of the loom")["answer"]["value"] == "120 cm"
    assert not ask(bank, "doctor")["ok"]
    ingest(bank, tmp_path / "notes")
    assert ask(bank, "doctor")["ok"]
    assert smb(bank, "rebuild").returncode == 0


def test_a_mended_note_is_no_longer_skipped(bank: Path, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    kept = (notes / "Loom.md").read_bytes()
    (notes / "Loom.md").write_bytes(b"\0\0\0")
    assert ingest(bank, notes)["status"] == "partial"
    (notes / "Loom.md").write_bytes(kept)
    assert [ingest(bank, notes)["status"] for _ in range(3)] == ["ok"] * 3


def test_what_lies_under_a_folder_that_cant_be_read_is_not_removed(bank: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    notes = tmp_path / "notes"
    real = os.scandir

    def refusing(path: object) -> object:
        if str(path).endswith("people"):
            raise PermissionError(13, "Permission denied", str(path))
        return real(path)  # type: ignore[call-overload]

    monkeypatch.setattr(os, "scandir", refusing)
    report = ingest(bank, notes)
    assert report["removed"] == 0 and [s["path"] for s in report["skipped"]] == ["people"]


def test_notes_that_swap_names_are_seen_though_size_and_time_are_the_same(bank: Path, tmp_path: Path) -> None:
    notes = write(tmp_path / "pair", {"a.md": "Apples keep at 4 °C.\n", "b.md": "Quince keep at 7 °C.\n"})
    for name in ("a.md", "b.md"):
        os.utime(notes / name, (1e9, 1e9))
    ingest(bank, notes)
    (notes / "a.md").rename(notes / "c.md")
    (notes / "b.md").rename(notes / "a.md")
    (notes / "c.md").rename(notes / "b.md")
    assert ingest(bank, notes)["changed"] == 2
    assert rows(bank, "SELECT path FROM documents d JOIN passages p ON p.document_id = d.id WHERE p.live = 1 AND d.live = 1 AND p.text LIKE 'Quince%'") == [("a.md",)]


def test_a_notes_folder_that_moved_is_the_same_root(bank: Path, tmp_path: Path) -> None:
    before = rows(bank, "SELECT id, root, path, live FROM documents ORDER BY id")
    (tmp_path / "notes").rename(tmp_path / "my notes")
    report = ingest(bank, tmp_path / "my notes")
    assert (report["added"], report["removed"], report["unchanged"]) == (0, 0, 5)
    assert rows(bank, "SELECT id, root, path, live FROM documents ORDER BY id") == before


def test_a_folder_reached_through_a_link_and_then_directly_is_read_once(bank: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    write(home / "real", {"q.md": "Quince keep at 7 °C.\n"})
    (home / "link").symlink_to("real")
    ingest(bank, home / "link")
    ingest(bank, home)
    assert rows(bank, "SELECT count(*) FROM documents WHERE live = 1 AND path LIKE '%q.md'") == [(1,)]


def test_reading_one_file_does_not_make_its_folder_a_root_to_read_later(bank: Path, tmp_path: Path) -> None:
    home = write(tmp_path / "home", {"todo.md": "Buy 3 kg of lime.\n", "diary.md": "Nobody may read that I am 9 feet tall.\n"})
    ingest(bank, home / "todo.md")
    ingest(bank)
    assert rows(bank, "SELECT count(*) FROM documents WHERE path = 'diary.md'") == [(0,)]


def test_what_a_person_deleted_does_not_come_back_with_the_next_edit_of_the_note(bank: Path, tmp_path: Path) -> None:
    ((location,),) = rows(bank, "SELECT location FROM memory_objects WHERE attribute = 'width'")
    (bank / location).unlink()
    ask(bank, "absorb")
    write(tmp_path / "notes", {"Loom.md": str(WORKSHOP["Loom.md"]).replace("Harrow Street", "Mill Lane")})
    ingest(bank, tmp_path / "notes")
    assert rows(bank, "SELECT standing FROM memory_objects WHERE attribute = 'width'") == [("revoked",)]


def test_a_hand_edit_not_taken_in_yet_outlives_the_index(bank: Path) -> None:
    path = next(bank.glob("layer-1/claims/loom-width*.md"))
    path.write_text(path.read_text("utf-8").replace("\n\nLoom – Width: 120 cm\n", "\n\nLoom – Width: 131 cm\n"), "utf-8")
    shutil.rmtree(bank / "index")
    report = ask(bank, "rebuild")
    assert [e["kind"] for e in report["absorbed"]] == ["edited"]
    assert ("131 cm", "current") in rows(bank, "SELECT value, standing FROM memory_objects WHERE attribute = 'width'")


@pytest.mark.parametrize("reference", ["", " ", "\udcff", "no such thing", "Loom.md:999"])
def test_a_reference_that_leads_nowhere_is_a_clear_error(reference: str, bank: Path) -> None:
    from smb.model.errors import SmbError

    for method in ("get", "why", "history"):
        with pytest.raises(SmbError):
            ask(bank, method, reference)


def test_a_file_that_is_no_note_is_told_so(bank: Path, tmp_path: Path) -> None:
    plain = tmp_path / "x.txt"
    plain.write_text("no note")
    for place in (plain, bank, bank / "bank.toml"):
        ran = smb(bank, "ingest", str(place))
        assert ran.returncode == 2 and "smb:" in ran.stderr


def test_doctor_names_lost_object_files_and_a_foreign_embedder(bank: Path) -> None:
    shutil.rmtree(bank / "layer-1")
    text = (bank / "bank.toml").read_text()
    (bank / "bank.toml").write_text(text.replace('fingerprint = "', 'fingerprint = "other-'))
    found = {f["check"] for f in ask(bank, "doctor")["findings"]}
    assert {"object.lost", "embedder.mismatch"} <= found


def test_a_pipe_named_smbignore_does_not_hang(bank: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "notes" / ".smbignore")
    assert smb(bank, "ingest", str(tmp_path / "notes")).returncode == 0


def test_a_bank_that_cant_be_written_can_be_read(bank: Path) -> None:
    from smb.stores import catalog as module

    for suffix in ("-wal", "-shm"):
        (bank / "index" / f"metadata.db{suffix}").unlink(missing_ok=True)
    real = os.access
    module.os.access = lambda path, mode: mode != os.W_OK and real(path, mode)  # root may write everything
    try:
        assert ask(bank, "recall", "width of the loom")["answer"]["value"] == "120 cm"
    finally:
        module.os.access = real
    assert json.dumps(catalog(bank))
