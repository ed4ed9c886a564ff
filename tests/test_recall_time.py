"""Time in recall: clocks a question sets, notes that speak from their date on, what lies in the stretch asked about."""

from __future__ import annotations

import json

import pytest
from plain_bank import run_recall

from smb.model.revision import RevisionKind
from smb.model.validity import Interval, parse_instant
from smb.recall.newer import about_now
from smb.recall.query import RecallRequest, plan


def speeds(bank):
    """A speed that was 60 until April and is 90 since, and a dated move in between."""
    old = bank.note("jan.md", "---\ndate: 2031-01-10\n---\n# Press\n\nThe press speed is 60.\n")
    first = bank.say(
        old,
        "claim",
        "The press speed is 60",
        "The press speed is 60.",
        subject="press",
        attribute="speed",
        value="60",
        valid=Interval(parse_instant("2031-01-10")),
    )
    new = bank.note("apr.md", "---\ndate: 2031-04-02\n---\n# Press\n\nThe press speed is 90.\n")
    second = bank.say(new, "claim", "The press speed is 90", "The press speed is 90.", kind=RevisionKind.SUPERSEDE, replaces=(first,),
                      subject="press", attribute="speed", value="90", valid=Interval(parse_instant("2031-04-02")))  # fmt: skip
    move = bank.note("move.md", "# Move\n\nWe moved to the tannery on 2031-03-20.\n")
    bank.say(
        move,
        "claim",
        "We moved to the tannery on 2031-03-20",
        "We moved to the tannery on 2031-03-20.",
        valid=Interval(parse_instant("2031-03-20")),
    )
    return first, second


@pytest.mark.parametrize(
    ("question", "options", "value"),
    [
        ("what is the press speed", {}, "90"),
        ("what was the press speed in February 2031", {}, "60"),
        ("what was the press speed as of 2031-02", {}, "60"),
        ("what was the press speed last February", {"now": "2031-05-01"}, "60"),
        ("what was the press speed before 2031-03-01", {}, "60"),
        ("what was the press speed before the move to the tannery", {}, "60"),
        ("what was the press speed in May 2031", {}, "90"),
        ("what is the press speed since 2031-04", {}, "90"),
        ("what is the press speed after the move to the tannery", {}, "90"),
        ("what was the press speed in February 2031", {"as_of": "2031-06-01"}, "90"),  # the option is the stronger word
    ],
)
def test_a_time_in_the_question_sets_the_clock(tmp_path, question, options, value):
    async def scenario(bank, ask):
        speeds(bank)
        await bank.commit("2031-05-01T00:00:00")
        packet = await ask(question, explain=True, **options)
        assert packet["answer"] and packet["answer"]["value"] == value, (packet["plan"], packet["as_of"])
        assert (packet["as_of"] is None) == (question.startswith("what is") and not options.get("as_of"))

    run_recall(tmp_path, scenario)


def test_a_happening_with_several_dates_or_none_is_left_unresolved(tmp_path):
    async def scenario(bank, ask):
        speeds(bank)
        bank.note("again.md", "# Again\n\nWe moved to the tannery again on 2031-04-20.\n")
        await bank.commit("2031-05-01T00:00:00")
        for question in ("what was the press speed before we moved to the tannery", "what was the press speed before the flood"):
            packet = await ask(question, explain=True)
            (time,) = packet["plan"]["times"]
            assert (time["from"], time["to"], packet["as_of"]) == (None, None, None) and time["event"]

    run_recall(tmp_path, scenario)


def test_notes_speak_from_their_date_on(tmp_path):
    async def scenario(bank, ask):
        bank.note("jan.md", "---\ndate: 2031-01-10\n---\nThe kettle whistles in C.\n")
        bank.note("apr.md", "---\ndate: 2031-04-02\n---\nThe kettle whistles in D.\n")
        bank.note("none.md", "The kettle is of copper.\n")
        await bank.commit("2031-05-01T00:00:00")

        async def paths(**options):
            packet = await ask("kettle", types=("passage",), **options)
            assert all("date:" not in i["text"] for i in packet["items"] if i["verdict"] == "superseded")
            return {i["citations"][0]["path"] for i in packet["items"]}

        assert await paths() == {"jan.md", "apr.md", "none.md"}
        assert await paths(as_of="2031-02-01") == {"jan.md", "none.md"}
        assert await paths(as_of="2030-01-01") == {"none.md"}
        assert await paths(as_of="2031-06-01") == {"jan.md", "apr.md", "none.md"}

    run_recall(tmp_path, scenario)


def test_versions_of_a_note_keep_their_own_time(tmp_path):
    """A later-dated version leaves the older its time; one with the same date corrects it at every time."""

    async def scenario(bank, ask):
        bank.note("a.md", "---\ndate: 2031-01-10\n---\nThe bell hangs in the north tower.\n")
        bank.note("b.md", "---\ndate: 2031-01-10\n---\nThe bell weighs ninety kilos.\n")
        await bank.commit("2031-01-11T00:00:00")
        bank.note("a.md", "---\ndate: 2031-03-01\n---\nThe bell hangs in the south tower.\n")
        bank.note("b.md", "---\ndate: 2031-01-10\n---\nThe bell weighs eighty kilos.\n")
        await bank.commit("2031-03-02T00:00:00")

        async def said(**options):
            return json.dumps([i["text"] for i in (await ask("bell tower kilos", types=("passage",), **options))["items"]])

        now, then, known = await said(), await said(as_of="2031-02-01"), await said(known_at="2031-02-01")
        assert "south" in now and "north" not in now and "eighty" in now and "ninety" not in now
        assert "north" in then and "south" not in then and "eighty" in then and "ninety" not in then
        assert "north" in known and "ninety" in known and "eighty" not in known

    run_recall(tmp_path, scenario)


def test_what_lies_in_the_stretch_goes_first(tmp_path):
    async def scenario(bank, ask):
        for day in ("2031-01-10", "2031-02-14", "2031-03-03"):
            bank.note(f"{day}.md", f"---\ndate: {day}\n---\nThe choir sang in the yard.\n")
        await bank.commit("2031-05-01T00:00:00")
        for question, first in (("where in the yard was the choir in February 2031", "2031-02-14.md"), ("where in the yard was the choir after 2031-03-01", "2031-03-03.md"),
                                ("where in the yard was the choir before 2031-01-20", "2031-01-10.md"), ("the choir in the yard yesterday", "2031-02-14.md")):  # fmt: skip
            packet = await ask(question, types=("passage",), now="2031-02-15")
            assert packet["items"][0]["citations"][0]["path"] == first, question

    run_recall(tmp_path, scenario)


def test_the_machines_clock_says_nothing(tmp_path, monkeypatch):
    """Without --now "yesterday" stays unresolved, and the packet is the same whenever it is made."""

    async def scenario(bank, ask):
        speeds(bank)
        await bank.commit("2031-05-01T00:00:00")
        one = await ask("what was the press speed yesterday", explain=True)
        assert one["as_of"] is None and one["plan"]["times"][0]["from"] is None

    run_recall(tmp_path, scenario)


# ------------------------------------------------------------ newer before older


def chat(day, *turns):
    return f"---\ndate: {day}\n---\n" + "".join(
        f"- **{'Ada' if n % 2 == 0 else 'Ben'}:** {turn}\n" for n, turn in enumerate(turns)
    )


@pytest.mark.parametrize(
    ("question", "old", "new"),
    [
        ("How many hens do we keep?", "We keep 12 hens behind the barn.", "With the new ones we keep 17 hens."),
        ("What does the ferry ticket cost?", "The ferry ticket costs 14 euros.", "They raised the ferry ticket to 18."),
        ("Where is the choir practice?", "The choir practice is in the chapel.", "The choir practice moved to the school hall."),
    ],
)
def test_an_update_of_a_statement_goes_before_it(tmp_path, question, old, new):
    async def scenario(bank, ask):
        bank.note("a.md", chat("2031-01-10", "Hello there.", "Good morning.", old, "Lovely.", "Bye now."))
        bank.note("b.md", chat("2031-03-10", "Hello again.", "Good evening.", new, "I see.", "Bye then."))
        await bank.commit("2031-05-01T00:00:00")
        packet = await ask(question)
        texts = [i["text"] for i in packet["items"]]
        place = {name: next(n for n, t in enumerate(texts) if said in t) for name, said in (("old", old), ("new", new))}
        assert place["new"] < place["old"]
        past = await ask(
            question.replace("do we", "did we").replace("does", "did").replace("is the", "was the").replace("cost", "cost first")
        )
        assert [i["text"] for i in past["items"]].index(texts[place["old"]]) >= 0, "and a question of the past is left as it is"

    run_recall(tmp_path, scenario)


def test_a_keyed_value_that_a_later_note_seems_to_change_is_no_answer(tmp_path):
    async def scenario(bank, ask):
        note = bank.note("jan.md", "---\ndate: 2031-01-10\n---\nThe size of the training set is 40 boxes.\n")
        bank.say(
            note,
            "claim",
            "The size of the training set is 40 boxes",
            "The size of the training set is 40 boxes.",
            subject="training set",
            attribute="size",
            value="40 boxes",
        )
        await bank.commit("2031-02-01T00:00:00")
        assert (await ask("what is the size of the training set"))["answer"]["value"] == "40 boxes"
        bank.note("mar.md", "---\ndate: 2031-03-10\n---\nThe training set has grown to a size of 55 boxes.\n")
        await bank.commit("2031-04-01T00:00:00")
        packet = await ask("what is the size of the training set")
        assert (
            packet["answer"] is None
            and packet["reason"]
            and "55" in packet["items"][0]["text"]
            and "40" in packet["items"][1]["text"]
        )

    run_recall(tmp_path, scenario)


@pytest.mark.parametrize(
    ("question", "now"),
    [
        ("which port does the server use", True),
        ("how many hens do we keep", True),
        ("when does the train leave", True),
        ("which port did the server use", False),
        ("what was the first price", False),
        ("which books has Ada read", False),
        ("what has Ada painted", False),
        ("how many members does the club have", True),
        ("what is the price in May 2031", False),
        ("would Ada like a cat", False),
        ("何人いますか", True),
    ],
)
def test_only_questions_of_the_present_are_reordered(question, now):
    assert about_now(plan(RecallRequest(question))) is now


def test_a_topic_never_ingested_is_a_miss_with_a_time_too(tmp_path):
    async def scenario(bank, ask):
        speeds(bank)
        await bank.commit("2031-05-01T00:00:00")
        for question in ("where was the zeppelin in March 2031", "which zeppelin flew on 2031-03-20"):
            packet = await ask(question)
            assert (packet["outcome"], packet["items"]) == ("miss", []), question

    run_recall(tmp_path, scenario)
