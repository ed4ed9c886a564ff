"""`smb history` of a key: a table of both clocks, and on a terminal a timeline."""

from __future__ import annotations

import io
from datetime import timedelta

from worlds import MOMENT, ask, ingest, write

from smb.interfaces.cli.history_text import WIDTH, history_text, statements, timeline
from smb.interfaces.cli.page import Page


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def history(place):
    """The history of a key whose value was replaced by a later version of its note."""
    write(place / "notes", {"hall.md": "---\ndate: 2031-01-01\n---\n# Hall\n\n- **Keeper:** Ines\n"})
    ingest(place / "bank", place / "notes")
    write(place / "notes", {"hall.md": "---\ndate: 2031-04-01\n---\n# Hall\n\n- **Keeper:** Tomas\n"})
    ingest(place / "bank", place / "notes", moment=MOMENT + timedelta(days=9))
    return ask(place / "bank", "history", "hall / keeper")


def test_a_keys_history_is_a_table_of_both_clocks(tmp_path):
    answer = history(tmp_path)
    old, new = statements(answer)
    assert (old["value"], old["valid_from"][:10], old["valid_to"][:10], old["verdict"]) == (
        "Ines",
        "2031-01-01",
        "2031-04-01",
        "superseded",
    )
    assert (new["value"], new["valid_from"][:10], new["valid_to"], new["verdict"]) == ("Tomas", "2031-04-01", None, "current")
    assert old["recorded_at"] < new["recorded_at"] and old["place"] == "hall.md:6"
    said = history_text(answer, Page(io.StringIO(), False))
    head, *rows = [line for line in said.splitlines() if "  " in line and not line.startswith("now")]
    assert head.split() == ["held", "from", "to", "learned", "value", "verdict", "where"]
    assert [row.split()[0] for row in rows] == ["2031-01-01", "2031-04-01"] and "━" not in said
    assert all(row.index(word) == head.index("verdict") for row, word in zip(rows, ("superseded", "current"), strict=True)), (
        "in columns"
    )


def test_on_a_terminal_the_times_are_drawn(tmp_path):
    answer = history(tmp_path)
    said = history_text(answer, Page(Terminal(), False))
    assert "━" in said and "◆" in said
    first, second, axis = timeline(statements(answer))
    assert first.index("━") < second.index("━") and first.endswith("Ines") and second.endswith("Tomas")
    assert axis.startswith("2031-01-01") and len(axis) == WIDTH
    assert timeline([{"value": "x", "valid_from": None, "valid_to": None, "recorded_at": "2031-01-01T00:00:00+00:00"}]) == []


def test_an_objects_history_stays_a_list_of_revisions(tmp_path):
    answer = history(tmp_path)
    one = ask(tmp_path / "bank", "history", answer["ids"][0])
    assert "learned" not in (said := history_text(one, Page(io.StringIO(), False))) and one["revisions"][0]["id"][:12] in said
