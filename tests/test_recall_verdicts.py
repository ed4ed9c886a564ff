"""What recall says is current, superseded or contested, now and at other clocks."""

import json
from dataclasses import replace

from plain_bank import run_recall

from smb.model.revision import RevisionKind
from smb.model.validity import Interval, parse_instant
from smb.recall.discover import Lexical, Neighbourhood


def port_bank(bank):
    old = bank.note("day1.md", "SSH listens on port 22.\n")
    first = bank.say(
        old, "claim", "SSH listens on port 22", "SSH listens on port 22.", subject="ssh", attribute="port", value="22"
    )
    new = bank.note("day90.md", "We moved sshd; the SSH port is 49222 now.\n")
    second = bank.say(
        new,
        "claim",
        "the SSH port is 49222",
        "the SSH port is 49222 now",
        kind=RevisionKind.SUPERSEDE,
        replaces=(first,),
        subject="ssh",
        attribute="port",
        value="49222",
    )
    return first, second


def test_a_stale_value_is_only_among_the_superseded(tmp_path):
    async def scenario(bank, ask):
        first, second = port_bank(bank)
        await bank.commit("2031-05-01T00:00:00")
        packet = await ask("which port is SSH on")
        assert (packet["outcome"], packet["answer"]["value"]) == ("state", "49222")
        assert all("port 22" not in json.dumps(i) for i in packet["items"])
        gone = packet["superseded"]
        assert {i["verdict"] for i in gone} == {"superseded"} and any(i["id"] == first.object_id for i in gone)
        assert next(i for i in gone if i["id"] == first.object_id)["superseded_by"] == [second.object_id]
        shown = await ask("which port is SSH on", include_superseded=True)
        verdicts = [i["verdict"] for i in shown["items"]]
        assert "superseded" in verdicts and verdicts == sorted(verdicts), "after every current one"

    run_recall(tmp_path, scenario)


def test_the_past_is_reproduced_on_both_clocks(tmp_path):
    async def scenario(bank, ask):
        old = bank.note("day1.md", "SSH listens on port 22.\n")
        first = bank.say(
            old,
            "claim",
            "SSH listens on port 22",
            "SSH listens on port 22.",
            subject="ssh",
            attribute="port",
            value="22",
            valid=Interval(parse_instant("2031-01-01")),
        )
        await bank.commit("2031-01-01T00:00:00")
        new = bank.note("day90.md", "The SSH port is 49222 now.\n")
        bank.say(
            new,
            "claim",
            "the SSH port is 49222",
            "The SSH port is 49222 now",
            kind=RevisionKind.SUPERSEDE,
            replaces=(first,),
            subject="ssh",
            attribute="port",
            value="49222",
            valid=Interval(parse_instant("2031-04-01")),
        )
        await bank.commit("2031-04-02T00:00:00")
        asked = "which port is SSH on"
        for options, value in (
            ({}, "49222"),
            ({"as_of": "2031-02-01"}, "22"),
            ({"as_of": "2031-05-01"}, "49222"),
            ({"known_at": "2031-03-01"}, "22"),
            ({"as_of": "2031-05-01", "known_at": "2031-03-01"}, "22"),
        ):
            packet = await ask(asked, **options)
            assert packet["answer"] and packet["answer"]["value"] == value, options
        early = await ask(asked, known_at="2031-03-01")
        assert "49222" not in json.dumps(early["items"]) + json.dumps(early["superseded"]), "nobody knew it then"
        assert (await ask(asked, known_at="2030-01-01"))["outcome"] == "miss"

    run_recall(tmp_path, scenario)


def test_a_former_version_is_seen_only_from_its_time(tmp_path):
    async def scenario(bank, ask):
        bank.note("a.md", "The anvil weighs ninety kilos.\n")
        await bank.commit("2031-01-01T00:00:00")
        document = bank.note("a.md", "The bellows leak.\n")
        await bank.commit("2031-02-01T00:00:00")
        assert (await ask("anvil weighs"))["outcome"] == "miss"
        assert "ninety" in (await ask("anvil weighs", known_at="2031-01-15"))["items"][0]["text"]
        bank.gone(document)
        await bank.commit("2031-03-01T00:00:00")
        assert (await ask("bellows"))["outcome"] == "miss"
        assert (await ask("bellows", known_at="2031-02-15"))["outcome"] == "state"

    run_recall(tmp_path, scenario)


def test_contested_claims_come_with_both_sides(tmp_path):
    async def scenario(bank, ask):
        note = bank.note("mill.md", "The mill has four stones.\n\nThe mill has six stones.\n")
        four = bank.say(
            note,
            "claim",
            "The mill has four stones",
            "The mill has four stones.",
            subject="mill",
            attribute="stones",
            value="four",
        )
        six = bank.say(
            note, "claim", "The mill has six stones", "The mill has six stones.", subject="mill", attribute="stones", value="six"
        )
        await bank.commit("2031-01-01T00:00:00")
        bank.say(
            note,
            "claim",
            "The mill has four stones",
            "The mill has four stones.",
            kind=RevisionKind.CONTEST,
            into=(six.object_id,),
            replaces=(four,),
        )
        bank.say(
            note,
            "claim",
            "The mill has six stones",
            "The mill has six stones.",
            kind=RevisionKind.CONTEST,
            into=(four.object_id,),
            replaces=(six,),
        )
        await bank.commit("2031-01-02T00:00:00")
        packet = await ask("how many stones has the mill")
        assert (packet["outcome"], packet["answer"]) == ("conflict", None)
        assert {i["id"] for i in packet["conflicts"][0]["items"]} == {four.object_id, six.object_id} and len(
            packet["conflicts"]
        ) == 1
        assert packet["conflicts"][0]["key"] == ["mill", "stones"]
        room = sum(len(i["text"]) for i in packet["items"]) // 4
        tight = await ask("how many stones has the mill", budget=room // 2)
        assert len([i for i in tight["items"] if i["verdict"] == "contested"]) != 1, "one side alone never enters"

    run_recall(tmp_path, scenario)


def test_routes_only_propose(tmp_path):
    """The same candidates through another route give the same items in the same verdicts."""

    class Renamed(Lexical):
        async def find(self, plan, reader, found):
            return await Lexical().find(replace(plan, hops=0), reader, found)

    async def scenario(bank, ask):
        port_bank(bank)
        await bank.commit("2031-05-01T00:00:00")
        one = await ask("which port is SSH on", given={"routes": (Lexical(), Neighbourhood())})
        two = await ask("which port is SSH on", given={"routes": (Renamed(), Neighbourhood())})
        assert [(i["id"], i["verdict"]) for i in one["items"]] == [(i["id"], i["verdict"]) for i in two["items"]]
        assert one["superseded"]

    run_recall(tmp_path, scenario)
