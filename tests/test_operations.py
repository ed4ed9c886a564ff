"""COUNT, LIST, when and how long: answered from the ledger or not at all."""

from __future__ import annotations

import pytest
from worlds import ask, ingest, write

from smb.model.validity import parse_interval
from smb.recall.class_question import class_question
from smb.recall.elapsed import between, ends_of, written
from smb.recall.query import Operation


@pytest.fixture(scope="module")
def bank(tmp_path_factory):
    place = tmp_path_factory.mktemp("operations")
    notes = {
        "mills.md": "# Mills\n\n- Upper mill — water, 1780\n- Lower mill: wind\n  - burned once\n- ~~Old mill~~\n- Tide mill (closed)\n",
        "firms.md": "# Firms\n\n## Paper suppliers\n\n| Firm | Town |\n|---|---|\n| Adler | Ulm |\n| Bruun | Aarhus |\n| Cato | Lucca |\n",
        "circle.md": "---\ntitle: Reading Circle\nmembers: [Ida Holm, Pau Riba, Sun Li]\n---\n# Reading Circle\n\nThe circle meets at the mill.\n\n## Rules\n\n1. Come\n2. Listen\n",
        **{
            f"barges/{n}.md": f"---\ntype: barge\n---\n# Barge {n}\n\nBarge {n} carries stone.\n" for n in ("Ann", "Bess", "Cleo")
        },
        "tags/heron.md": "# Heron\n\nSeen at the weir. #bird\n",
        "tags/wren.md": "---\ntags: [bird]\n---\n# Wren\n\nSings in the hedge.\n",
        "trees.md": "# Trees seen\n\nThe Black Oak is a tree. The Lone Elm is an old tree. This is a tree. The moss is not a tree.\n",
        "log.md": "---\ndate: 2031-03-10\n---\n# Log\n\nThe weir was opened on 2031-02-03. The lock was rebuilt in April 2030. The fair ended yesterday.\n",
        "log2.md": "---\ndate: 2031-04-05\n---\n# Later\n\nThe sluice broke on 2031-02-03.\n\nThe sluice broke on 2031-03-01 as well.\n\nThe weir was painted on 2031-02-24.\n",
    }
    write(place / "notes", notes)
    ingest(place / "bank", place / "notes")
    return place / "bank"


@pytest.mark.parametrize(
    ("question", "total"),
    [
        ("how many mills are there?", 3),
        ("how many paper suppliers do we have", 3),
        ("number of barges", 3),
        ("how many birds have we recorded", 2),
        ("how many trees are there", 2),
        ("how many members has the Reading Circle", 3),
        ("how many members are in the Reading Circle?", 3),
        ("how many rules does the Reading Circle have", 2),
        ("list the barges", 3),
        ("who are the members of the Reading Circle", 3),
        ("which birds are there?", 2),
    ],
)
def test_members_are_all_of_those_the_bank_states(bank, question, total):
    packet = ask(bank, "recall", question, n=20)
    assert (packet["outcome"], packet["members_total"], packet["members_visible"]) == ("state", total, total)
    counts = packet["operation"] == "COUNT"
    assert (packet["answer"] or {}).get("value") == (str(total) if counts else None)
    assert not counts or packet["answer"]["citations"]


@pytest.mark.parametrize(
    "question",
    ["how many mills did Ida buy", "how many dragons are there", "how many times did the lock break", "how many members has the choir",
     "how many rules are there in the town hall", "list everything", "how many things are there"],
)  # fmt: skip
def test_what_the_bank_does_not_state_is_not_counted(bank, question):
    packet = ask(bank, "recall", question)
    assert packet["members_total"] is None and packet["answer"] is None


def test_forty_members_with_room_for_ten_are_forty_and_ten(tmp_path):
    write(
        tmp_path / "notes", {"reg.md": "# Boats\n\n" + "".join(f"- Boat number {n} of the northern fleet\n" for n in range(40))}
    )
    ingest(tmp_path / "bank", tmp_path / "notes")
    packet = ask(tmp_path / "bank", "recall", "how many boats are there", n=10)
    assert (packet["members_total"], packet["members_visible"], packet["answer"]["value"], len(packet["items"])) == (
        40,
        10,
        "40",
        10,
    )
    packet = ask(tmp_path / "bank", "recall", "how many boats are there", n=40, budget=200)
    assert packet["members_total"] == 40 and 0 < packet["members_visible"] < 40 and packet["tokens"] <= 200
    assert packet["members_visible"] == len(packet["items"]) and packet["answer"]["value"] == "40"
    packet = ask(tmp_path / "bank", "recall", "how many boats are there", budget=2)
    assert (packet["outcome"], packet["answer"], packet["items"]) == ("budget_infeasible", None, [])


def test_a_list_that_could_be_several_is_not_counted(tmp_path):
    """Two lists under one heading, and lists of one name in many notes, are no one set."""
    write(tmp_path / "notes", {"a.md": "# Valves\n\nNow:\n\n- V1\n- V2\n\nFormer:\n\n- V3\n",
                               **{f"p{n}.md": f"# Plan {n}\n\n## Gates\n\n- G{n}\n- H{n}\n" for n in range(6)}})  # fmt: skip
    ingest(tmp_path / "bank", tmp_path / "notes")
    for question in ("how many valves are there", "how many gates are there"):
        assert ask(tmp_path / "bank", "recall", question)["members_total"] is None


def test_members_are_counted_at_the_clocks_of_the_question(tmp_path):
    write(tmp_path / "notes", {"gulls.md": "---\ndate: 2031-01-01\n---\n# Gulls\n\n- Agda\n- Bo\n"})
    from datetime import timedelta

    from worlds import MOMENT

    ingest(tmp_path / "bank", tmp_path / "notes")
    write(tmp_path / "notes", {"gulls.md": "---\ndate: 2031-04-01\n---\n# Gulls\n\n- Agda\n- Bo\n- Cid\n"})
    ingest(tmp_path / "bank", tmp_path / "notes", moment=MOMENT + timedelta(days=2))
    for options, total in (
        ({}, 3),
        ({"as_of": "2031-02-01"}, 2),
        ({"as_of": "2031-05-01"}, 3),
        ({"known_at": MOMENT.isoformat()}, 2),
    ):
        assert ask(tmp_path / "bank", "recall", "how many gulls are there", **options)["members_total"] == total, options
    assert ask(tmp_path / "bank", "recall", "how many gulls were there as of 2031-02-01")["members_total"] == 2
    assert ask(tmp_path / "bank", "recall", "how many gulls", as_of="2030-01-01")["members_total"] is None


# ------------------------------------------------------------ when, how long


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("when was the weir opened?", "2031-02-03"),
        ("when was the lock rebuilt", "2030-04"),
        ("when did the fair end", "2031-03-09"),
        ("when did the sluice break", None),
        ("when was the weir sold", None),
    ],
)
def test_when_is_the_date_of_the_one_dated_statement(bank, question, value):
    packet = ask(bank, "recall", question)
    assert packet["operation"] == "TEMPORAL_LOOKUP"
    assert (packet["answer"] or {}).get("value") == value
    assert value is None or packet["items"][0]["citations"][0]["quote"] in str(packet["answer"]["citations"])


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("how many days between the opening of the weir and the weir being painted", "21 days"),
        ("how many weeks passed from when the weir was opened to when the weir was painted", "3 weeks"),
        ("how long after the weir was opened did the fair end", "34 days"),
        ("how many days between the opening of the weir and 2031-02-10", "7 days"),
        ("how many months from the rebuilding of the lock to the weir being painted", "10 months"),
    ],
)
def test_how_long_is_reckoned_from_two_dated_statements(bank, question, value):
    packet = ask(bank, "recall", question)
    assert (packet["operation"], packet["outcome"], packet["answer"]["value"]) == ("TEMPORAL_ARITHMETIC", "state", value)
    assert packet["answer"]["citations"]


@pytest.mark.parametrize(
    ("question", "missing"),
    [
        ("how many days between the opening of the weir and the flood", "the flood"),
        ("how long after the weir was opened did the sluice break", "several dates"),
        ("how many days between the rebuilding of the lock and the weir being painted", "finely"),
        ("how many days ago was the weir opened", "--now"),
        ("how long after the weir was painted was the weir opened", "after the second"),
    ],
)
def test_one_end_missing_is_insufficient_and_nothing_is_reckoned(bank, question, missing):
    packet = ask(bank, "recall", question)
    assert (packet["outcome"], packet["answer"]) == ("insufficient", None) and missing in packet["reason"]


def test_both_ends_are_one_group(bank):
    question = "how many days between the opening of the weir and the weir being painted"
    whole = ask(bank, "recall", question, n=1)
    assert len(whole["items"]) == 2 and whole["answer"]["value"] == "21 days"
    tight = ask(bank, "recall", question, budget=whole["tokens"] - 1)
    assert (tight["outcome"], tight["answer"], tight["items"]) == ("budget_infeasible", None, [])


def test_now_counts_only_when_it_is_given(bank):
    assert ask(bank, "recall", "how many days ago was the weir opened", now="2031-02-13")["answer"]["value"] == "10 days"
    packet = ask(bank, "recall", "[2031-02-13] how many days ago was the weir opened?")
    assert packet["answer"]["value"] == "10 days"


@pytest.mark.parametrize(
    ("first", "second", "unit", "value"),
    [
        ("2031-01-31", "2031-03-01", "", "29 days"),
        ("2031-01-31", "2031-03-01", "month", "1 month"),
        ("2030-02-01", "2031-08-01", "year", "1 year 6 months"),
        ("2031-02", "2031-05", "", "3 months"),
        ("2031-02", "2031-05", "day", None),
        ("2031-01-01T10:00", "2031-01-01T13:30", "hour", "3 hours"),
        ("2031-01-01", "2031-01-02", "hour", None),
    ],
)
def test_nothing_is_reckoned_finer_than_it_is_known(first, second, unit, value):
    assert between(parse_interval(first), parse_interval(second), unit)[0] == value


def test_a_stretch_is_written_as_short_as_it_is_exact():
    assert [written(parse_interval(t)) for t in ("2031", "2031-02", "2031-02-03")] == ["2031", "2031-02", "2031-02-03"]


def test_questions_are_taken_apart():
    (ends,) = ends_of("how many weeks between the fair and the flood?")
    assert (ends.first, ends.second, ends.unit) == ("the fair", "the flood", "week")
    asked = class_question("who are the members of the Reading Circle?", Operation.LIST)
    assert (asked.phrase, asked.owner) == ("members", "Reading Circle")
    assert class_question("列出所有船", Operation.LIST).phrase == "船"
