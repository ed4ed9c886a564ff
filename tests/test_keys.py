"""Single-valued keys: the list in bank.toml, what is proposed for it, and what a change of it does to the bank."""

from __future__ import annotations

import json
import re
import shutil
from datetime import timedelta
from pathlib import Path

import pytest

from shell import Ran, run
from smb.bank_layout import read_toml
from smb.keys import ListHidden, NoKey, NotListed
from worlds import MOMENT, ask, catalog, ingest, rows, truth, write

BOATS = {
    f"{day}.md": f"---\ndate: {day}\n---\n# Survey\n\n| Boat | Berth | Crew |\n|---|---|---|\n" + "".join(f"| {boat} | {berth} | {crew} |\n" for boat, berth, crew in rows_)
    for day, rows_ in {
        "2031-01-01": [("Alca", "7 west", "Ines"), ("Brant", "8 west", "Tom"), ("Coot", "9 west", "Uta")],
        "2031-02-01": [("Alca", "12 east", "Ines"), ("Brant", "8 west", "Ana"), ("Coot", "9 west", "Uta")],
    }.items()
} | {"crew.md": "---\ndate: 2031-02-01\n---\n# Crew\n\n| Boat | Crew |\n|---|---|\n| Brant | Bo |\n| Alca | Kim |\n| Coot | Lu |\n"}


@pytest.fixture
def bank(tmp_path: Path) -> Path:
    ingest(tmp_path / "bank", write(tmp_path / "notes", BOATS))
    return tmp_path / "bank"


def berths(bank: Path) -> dict[str, str]:
    return {f"{subject} {value}": s for subject, value, s in rows(bank, "SELECT subject, value, standing FROM memory_objects WHERE attribute = 'berth'")}


def test_nothing_is_listed_and_what_looks_single_valued_is_proposed_with_counts(bank: Path) -> None:
    """The berth changes with the date only; the crew has several at one date and is not proposed."""
    answer = ask(bank, "keys")
    assert answer["single_valued"] == []
    proposed = {p["name"]: p for p in answer["proposed"]}
    assert proposed["berth"] == {"name": "berth", "subjects": 3, "changing": 1, "exceptions": 0} and "crew" not in proposed
    assert set(berths(bank).values()) == {"current"}


def test_adding_a_key_holds_for_what_the_bank_has_and_removing_it_takes_that_back(bank: Path) -> None:
    before = berths(bank)
    added = ask(bank, "set_key", "Berth", single_valued=True)
    assert (added["superseded"], added["contested"], added["current"]) == (1, 0, 0)
    assert berths(bank) == before | {"alca 7 west": "superseded"}
    assert rows(bank, "SELECT kind FROM transactions ORDER BY seq DESC LIMIT 1") == [("keys",)]
    assert ask(bank, "keys")["single_valued"] == [{"name": "Berth", "claims": 4}]
    revisions = rows(bank, "SELECT id FROM revisions")
    again = ask(bank, "set_key", "berth", single_valued=True)
    assert again["superseded"] == 0 and rows(bank, "SELECT id FROM revisions") == revisions
    assert ask(bank, "set_key", "berth", single_valued=False)["current"] == 1
    assert berths(bank) == before and read_toml(bank).single_valued == ()


def test_values_that_nothing_orders_are_contested_when_the_key_is_added(bank: Path) -> None:
    assert ask(bank, "set_key", "crew", single_valued=True)["contested"] == 6
    standing = dict(rows(bank, "SELECT value, standing FROM memory_objects WHERE attribute = 'crew' AND subject = 'brant'"))
    assert standing == {"Tom": "superseded", "Ana": "contested", "Bo": "contested"}
    assert ask(bank, "set_key", "crew", single_valued=False)["contested"] == 0
    assert {s for s, in rows(bank, "SELECT standing FROM memory_objects WHERE attribute = 'crew'")} == {"current"}


def test_a_list_edited_by_hand_or_pulled_is_followed_by_the_next_ingest(bank: Path, tmp_path: Path) -> None:
    file = bank / "bank.toml"
    file.write_text(file.read_text().replace("single_valued = []", 'single_valued = [\n  "berth",  # one each\n]'))
    ingest(bank, tmp_path / "notes")
    assert berths(bank)["alca 7 west"] == "superseded"
    generation = ask(bank, "status")["generation"]
    ingest(bank, tmp_path / "notes")
    assert ask(bank, "status")["generation"] == generation
    ask(bank, "set_key", "crew", single_valued=True)
    assert read_toml(bank).single_valued == ("berth", "crew") and file.read_text().count("single_valued") == 1


def test_after_keys_were_settled_a_rebuild_gives_the_same_bank(bank: Path) -> None:
    for name in ("berth", "crew"):
        ask(bank, "set_key", name, single_valued=True)
    ask(bank, "set_key", "berth", single_valued=False)
    ask(bank, "sync")
    before = truth(bank), catalog(bank)
    ask(bank, "rebuild")
    assert (truth(bank), catalog(bank)) == before


def test_what_another_clone_learned_is_settled_by_the_next_ingest_and_both_come_to_the_same(tmp_path: Path) -> None:
    """Neither saw the other's note when it read its own."""
    one, two = tmp_path / "one", tmp_path / "two"
    ingest(one, write(tmp_path / "zero", {"z.md": "# Pier\n"}))
    ask(one, "set_key", "depth", single_valued=True)
    shutil.copytree(one, two)
    ingest(one, write(tmp_path / "mine", {"a.md": "---\ntitle: Pier\ndate: 2031-01-01\n---\n- **Depth:** 3 m\n"}), moment=MOMENT + timedelta(days=1))
    ingest(two, write(tmp_path / "yours", {"b.md": "---\ntitle: Pier\ndate: 2031-02-01\n---\n- **Depth:** 4 m\n"}), moment=MOMENT + timedelta(days=2))
    for _ in range(2):
        for place, other in ((one, two), (two, one)):
            for folder in ("ledger", "layer-0"):
                shutil.copytree(other / folder, place / folder, dirs_exist_ok=True, copy_function=keep)
        for place in (one, two):
            ingest(place, tmp_path / "zero", moment=MOMENT + timedelta(days=3))
    depth = "SELECT value, standing FROM memory_objects WHERE attribute = 'depth'"
    assert dict(rows(one, depth)) == dict(rows(two, depth)) == {"3 m": "superseded", "4 m": "current"}
    assert ask(one, "status")["generation"] == ask(two, "status")["generation"]


def keep(source: str, target: str) -> str:
    return target if Path(target).exists() else str(shutil.copy2(source, target))


def test_every_other_line_of_bank_toml_stays(bank: Path) -> None:
    file = bank / "bank.toml"
    file.write_text(file.read_text() + "\n[settings]\nrecall_profile = \"coding\"  # ours\n")
    before = file.read_text()
    ask(bank, "set_key", 'the "big" key', single_valued=True)
    assert read_toml(bank).single_valued == ('the "big" key',)
    ask(bank, "set_key", 'The "big" key', single_valued=False)
    assert file.read_text() == before


def test_what_can_not_be_done_is_said(bank: Path) -> None:
    with pytest.raises(NotListed, match="there are none"):
        ask(bank, "set_key", "berth", single_valued=False)
    with pytest.raises(NoKey):
        ask(bank, "set_key", "  ", single_valued=True)
    file = bank / "bank.toml"
    file.write_text("keys.single_valued = []\n" + file.read_text().partition("[keys]")[0])
    with pytest.raises(ListHidden, match="by hand"):
        ask(bank, "set_key", "berth", single_valued=True)


def test_the_command_lists_adds_and_removes(bank: Path) -> None:
    shown = Ran("--bank", bank, "config", "keys")
    assert re.search(r"berth +3 subjects, 1 changed with the date", shown.out) and shown.code == 0
    added = json.loads(Ran("--bank", bank, "config", "keys", "add", "berth", "--json").out)
    assert added["single_valued"] == ["berth"] and added["superseded"] == 1
    assert "1 current again" in Ran("--bank", bank, "config", "keys", "remove", "berth").out
    missing = run("--bank", bank, "config", "keys", "remove", "berth")
    assert missing.returncode == 1 and "not among the single-valued keys" in missing.stderr
