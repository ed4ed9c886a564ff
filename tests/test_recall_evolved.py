"""Recall over a bank that evolved: what was worked out helps where no one fact is asked for, and is never evidence."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from worlds import MOMENT, ask, ingest, rows, write

from smb import Bank
from smb.evolve.cycle import EvolutionEngine
from smb.evolve.phase import Proposals, Wanted
from smb.evolve.snapshot import Snapshot
from smb.model.currentness import stated
from smb.model.edges import EdgeType
from smb.model.identity import object_id
from smb.model.objects import Link, MemoryObject, MemoryType, Mode
from smb.model.revision import RevisionKind, Statement, new_revision
from smb.recall.query import RecallRequest, plan

NOTES = {
    "firing.md": "# Firing log\n\nKiln North reached 1240 °C at 21:50.\n\nThe Tenmoku glaze needs 1260 °C in Kiln North.\n",
    "glazes.md": "# Glazes\n\nThe Tenmoku glaze needs 1280 °C in Kiln South.\n\nThe Celadon glaze holds 2 % iron.\n",
    "shop.md": "# Shop\n\nThe Tenmoku glaze sells 40 bowls a month.\n\nThe shop opens at 10:00.\n",
    "Tenmoku.md": "# Tenmoku\n\nA black glaze from iron.\n",
    "Temmoku glaze.md": "# Temmoku glaze\n\nA glossy black glaze.\n",
    "Cone.md": "# Cone\n\nA cone is a seat for pots, and a cone is a measure of heat.\n",
}
ANSWER = "how hot does the Tenmoku glaze need Kiln North"
OVERVIEW = "what do we know about the Tenmoku glaze"
Make = Callable[[Snapshot], Any]


class Phase:
    """A phase that wants what `make` says."""

    version = 1

    def __init__(self, make: Make, name: str = "trial"):
        self.make, self.name = make, name

    async def propose(self, snapshot: Snapshot) -> Proposals:
        return await self.make(snapshot)


def evolve(bank: Path, *phases: Phase, moment: datetime = MOMENT) -> None:
    async def main() -> None:
        async with Bank.open(bank, clock=lambda: moment) as opened:
            snapshot = Snapshot(opened.catalog, opened.embedding.matrix)
            await EvolutionEngine(snapshot, phases, opened.writer.writing, opened.writer.commit, opened.clock).run()

    asyncio.run(main())


def about_tenmoku(snapshot: Snapshot) -> list[Any]:
    return [item for item in snapshot.stated(MemoryType.CLAIM) if "Tenmoku" in item.title]


async def synthesis(snapshot: Snapshot) -> Proposals:
    """A synthesis and an insight that hold every word of the claims, with links in the body."""
    claims = about_tenmoku(snapshot)
    all_claims = [c for c in snapshot.stated(MemoryType.CLAIM) if "cone" not in c.title.casefold() and "black glaze" not in c.title]
    evidence = await snapshot.evidence(c.id for c in all_claims)
    body = "The Tenmoku glaze needs great heat. " + " ".join(c.link for c in claims)
    return Proposals([
        Wanted(type_, Statement(f"The Tenmoku glaze as {type_} of Kiln North and its heat", f"trial:{type_}", body=body, mode=Mode.INFERRED, confidence=min(c.confidence for c in claims),
                                derived_from=tuple(c.id for c in claims), links=tuple(Link(c.id, EdgeType.DERIVES_FROM) for c in claims)),
               tuple(span for c in all_claims for span in evidence[c.id]))
        for type_ in (MemoryType.SYNTHESIS, MemoryType.INSIGHT, MemoryType.CLUSTER, MemoryType.COMMUNITY, MemoryType.NARRATIVE, MemoryType.EVOLUTION)
    ])


async def contradiction(snapshot: Snapshot) -> Proposals:
    """The two temperatures against each other: contested, with an object and a question."""
    one, two = (next(c for c in about_tenmoku(snapshot) if heat in c.title) for heat in ("1260", "1280"))
    evidence = await snapshot.evidence([one.id, two.id])
    histories = await snapshot.histories([one.id, two.id])
    links = tuple(Link(c.id, EdgeType.REFERENCES) for c in (one, two))
    made = [
        Wanted(type_, Statement(title, f"trial:{type_}", body=f"{one.link} against {two.link}", mode=Mode.INFERRED, derived_from=(one.id, two.id), links=links),
               (*evidence[one.id], *evidence[two.id]))
        for type_, title in ((MemoryType.CONTRADICTION, "Tenmoku: 1260 or 1280 °C"), (MemoryType.QUESTION, "Does Tenmoku need 1260 or 1280 °C?"))
    ]
    live = tuple(r.id for side in (one, two) for r in stated(histories[side.id]) if r.object_id == side.id)
    return Proposals(made, revisions=[new_revision(RevisionKind.CONTEST, one.id, "claim", replaces=live, into=(two.id,), actor="trial")])


@pytest.fixture
def bank(tmp_path: Path) -> Path:
    ingest(tmp_path / "bank", write(tmp_path / "notes", NOTES))
    return tmp_path / "bank"


def worked_out(packet: dict[str, Any]) -> list[dict[str, Any]]:
    return [item for item in packet["items"] if item["mode"] == "inferred"]


def ids_of(bank: Path, sql: str) -> list[str]:
    return [row[0] for row in rows(bank, f"SELECT id FROM memory_objects WHERE {sql} ORDER BY id")]


# ---------------------------------------------------------------- where it may stand


@pytest.mark.parametrize("question", [ANSWER, "how many glazes are there", "list the glazes", "when did Kiln North reach 1240 °C", "how long did Kiln North take", "who sells Tenmoku"])
@pytest.mark.parametrize("lexical", [False, True])
def test_a_question_for_facts_is_answered_as_if_nothing_had_been_worked_out(bank: Path, question: str, lexical: bool) -> None:
    def seen(packet: dict[str, Any]) -> Any:
        return packet["outcome"], packet["answer"], packet["members_total"], [(i["id"], i["score"], set(i["routes"]), i["closure"]) for i in packet["items"]], packet["superseded"]

    before = seen(ask(bank, "recall", question, n=40, budget=90_000, lexical=lexical))
    evolve(bank, Phase(synthesis), moment=MOMENT + timedelta(days=30))
    assert seen(ask(bank, "recall", question, n=40, budget=90_000, lexical=lexical)) == before


def test_many_worked_out_items_near_the_question_take_no_place_from_the_evidence(bank: Path) -> None:
    async def many(snapshot: Snapshot) -> Proposals:
        return Proposals([Wanted(MemoryType.INSIGHT, Statement(f"How hot the Tenmoku glaze needs Kiln North, {n}", f"trial:{n}", mode=Mode.INFERRED)) for n in range(170)])

    before = {i["id"]: "dense" in i["routes"] for i in ask(bank, "recall", ANSWER, n=40)["items"]}
    evolve(bank, Phase(many))
    assert {i["id"]: "dense" in i["routes"] for i in ask(bank, "recall", ANSWER, n=40)["items"]} == before


def test_an_overview_has_a_few_worked_out_items_beside_the_evidence_and_no_record(bank: Path) -> None:
    evolve(bank, Phase(synthesis))
    packet = ask(bank, "recall", OVERVIEW, n=9)
    assert 0 < len(worked_out(packet)) <= 3 < len(packet["items"])
    assert not any(item["type"] == "evolution" for item in packet["items"])


@pytest.mark.parametrize(("question", "type_"), [("how did the Tenmoku glaze develop over time", "narrative"), (OVERVIEW, "synthesis")])
def test_what_is_made_for_such_a_question_leads_what_was_worked_out(bank: Path, question: str, type_: str) -> None:
    evolve(bank, Phase(synthesis))
    assert worked_out(ask(bank, "recall", question, n=9))[0]["type"] == type_


def test_a_miss_stays_a_miss(bank: Path) -> None:
    async def only(snapshot: Snapshot) -> Proposals:
        return Proposals([Wanted(MemoryType.INSIGHT, Statement("Zeppelin mooring masts", "trial:mast", body="Masts for zeppelins.", mode=Mode.INFERRED))])

    evolve(bank, Phase(only))
    assert ask(bank, "recall", "zeppelin mooring masts")["outcome"] == "miss"
    assert ask(bank, "recall", "zeppelin mooring masts", layer=3)["items"][0]["title"] == "Zeppelin mooring masts"


@pytest.mark.parametrize(("options", "type_"), [({"types": ["synthesis"]}, "synthesis"), ({"layer": 3}, "insight"), ({"types": ["evolution"]}, "evolution")])
def test_a_type_or_layer_asked_for_is_searched_whatever_the_question(bank: Path, options: dict[str, Any], type_: str) -> None:
    evolve(bank, Phase(synthesis))
    assert {item["type"] for item in ask(bank, "recall", ANSWER, **options)["items"]} == {type_}


def test_what_is_worked_out_can_be_counted_by_its_type(bank: Path) -> None:
    evolve(bank, Phase(contradiction))
    for question, total in (("how many contradictions are there", 1), ("list the open questions", 1)):
        packet = ask(bank, "recall", question)
        assert packet["members_total"] == total and packet["items"][0]["mode"] == "inferred", question
    assert ask(bank, "recall", "how many contradictions are there")["answer"]["value"] == "1"


@pytest.mark.parametrize("question", [
    "what do we know about glazes", "tell me about Kiln North", "give me an overview of the shop", "how did the recipe develop over time", "what contradicts the log",
    "summarise the firing log", "which notes disagree about the heat", "テンモクについて教えて", "关于天目釉我们知道什么", "open questions on glazes",
])  # fmt: skip
def test_open_questions_are_seen(question: str) -> None:
    assert plan(RecallRequest(question)).overview and not plan(RecallRequest(question)).scope.stated


@pytest.mark.parametrize("question", [
    "what does Ana know", "how hot is Kiln North", "when did Ana tell Tom about the kiln", "how did Ana change the tyre", "which pattern is on the bowl", "how many open questions are there",
    "what is the history teacher's name", "what do Tenmoku and Celadon have in common", "which book is a good story on kilns", "what did Maren say about the kiln", "窯の温度は何度ですか",
])  # fmt: skip
def test_questions_for_facts_are_none(question: str) -> None:
    assert not plan(RecallRequest(question)).overview and plan(RecallRequest(question)).scope.stated


# ---------------------------------------------------------------- what it says of itself


def test_a_worked_out_item_cites_the_lines_of_its_sources_and_closes_over_what_it_cites(bank: Path) -> None:
    evolve(bank, Phase(synthesis))
    (item,) = ask(bank, "recall", OVERVIEW, types=["synthesis"])["items"]
    cited = ids_of(bank, "type = 'claim' AND title LIKE '%Tenmoku%'")
    assert {c["path"] for c in item["citations"]} == {"firing.md", "glazes.md", "shop.md"}, "one of each source before a second of any"
    assert item["derived_from"] and set(item["derived_from"]) == set(cited) <= set(item["closure"])
    assert "[[" not in item["text"] and "needs 1260 °C" in item["text"]
    assert not item["contested"] and "stale" not in item
    trusts = [i["trust"] for i in ask(bank, "recall", OVERVIEW, types=["claim"])["items"] if i["id"] in cited]
    assert item["trust"] <= min(trusts)


def test_links_are_titles_where_text_is_searched_and_links_in_the_file(bank: Path) -> None:
    evolve(bank, Phase(synthesis))
    ((body,),) = rows(bank, "SELECT body FROM memory_objects WHERE type = 'synthesis'")
    got = ask(bank, "get", ids_of(bank, "type = 'synthesis'")[0])
    assert "[[" not in body and got["body"] == body and "[[" in got["markdown"]
    assert {c["path"] for c in got["citations"]} == {"firing.md", "glazes.md", "shop.md"}
    quoted = MemoryObject("0" * 12, MemoryType.CLAIM, "t", body="a [[b|c]] d")
    assert quoted.text == "t\na [[b|c]] d", "what a note says is as it says it"


def test_why_names_the_files_under_a_worked_out_object(bank: Path) -> None:
    evolve(bank, Phase(synthesis))
    told = ask(bank, "why", ids_of(bank, "type = 'synthesis'")[0])
    paths = {span["path"] for revision in told["revisions"] for span in revision["evidence"]}
    assert paths == {"firing.md", "glazes.md", "shop.md"} and all(span["intact"] for r in told["revisions"] for span in r["evidence"])


def test_it_is_stale_from_a_change_of_what_it_cites_to_the_next_look(bank: Path, tmp_path: Path) -> None:
    evolve(bank, Phase(synthesis))
    write(tmp_path / "notes", {"shop.md": NOTES["shop.md"].replace("40 bowls", "55 bowls")})
    ingest(bank, tmp_path / "notes", moment=MOMENT + timedelta(days=1))
    (item,) = ask(bank, "recall", OVERVIEW, types=["synthesis"])["items"]
    assert item["stale"] is True and "40 bowls" in item["stale_reason"]
    assert not any("stale" in i for i in ask(bank, "recall", OVERVIEW, types=["claim"])["items"])

    async def leave(snapshot: Snapshot) -> Proposals:
        return Proposals()

    evolve(bank, Phase(leave))
    (item,) = ask(bank, "recall", OVERVIEW, types=["synthesis"])["items"]
    assert "stale" not in item, "evolution has looked at the change and stands by it"


def test_it_says_that_it_rests_on_what_is_contested(bank: Path) -> None:
    evolve(bank, Phase(contradiction, "against"), Phase(synthesis))
    (item,) = ask(bank, "recall", OVERVIEW, types=["synthesis"])["items"]
    assert item["contested"] and item["verdict"] == "current"


def test_a_contradiction_asked_about_comes_with_both_sides(bank: Path) -> None:
    evolve(bank, Phase(contradiction))
    packet = ask(bank, "recall", "which notes disagree about the Tenmoku glaze", n=9)
    places = {item["id"]: item["rank"] for item in packet["items"]}
    (contradiction_id,) = ids_of(bank, "type = 'contradiction'")
    sides = ids_of(bank, "standing = 'contested'")
    assert len(sides) == 2 and {contradiction_id, *sides} <= places.keys()
    assert {c["path"] for i in packet["items"] if i["id"] == contradiction_id for c in i["citations"]} == {"firing.md", "glazes.md"}


# ---------------------------------------------------------------- merged and split


async def merge(snapshot: Snapshot) -> Proposals:
    """One concept into the other."""
    gone, kept = (next(c for c in snapshot.stated(MemoryType.CONCEPT) if c.title == title) for title in ("Temmoku glaze", "Tenmoku"))
    history = (await snapshot.histories([gone.id]))[gone.id]
    return Proposals(revisions=[new_revision(RevisionKind.MERGE, gone.id, "concept", replaces=tuple(r.id for r in stated(history)), into=(kept.id,), actor="trial")])


async def split(snapshot: Snapshot) -> Proposals:
    """A concept into two narrower ones."""
    whole = next(c for c in snapshot.stated(MemoryType.CONCEPT) if c.title == "Cone")
    history = (await snapshot.histories([whole.id]))[whole.id]
    parts = [Wanted(MemoryType.CONCEPT, Statement(title, f"trial:{title}", body=body, mode=Mode.INFERRED, confidence=0.8)) for title, body in (
        ("Cone (seat)", "A seat for pots."), ("Cone (heat)", "A measure of heat."))]
    return Proposals(parts, revisions=[new_revision(
        RevisionKind.SPLIT, whole.id, "concept", replaces=tuple(r.id for r in stated(history)), into=tuple(p.id for p in parts), actor="trial")])


@pytest.mark.parametrize("question", ["Temmoku glaze", "what is the glossy black glaze", "what is Temmoku glaze made of"])
def test_a_merged_object_leads_to_what_stands_for_it(bank: Path, question: str) -> None:
    (gone,), (kept,) = ids_of(bank, "type = 'concept' AND title = 'Temmoku glaze'"), ids_of(bank, "type = 'concept' AND title = 'Tenmoku'")
    assert gone in {i["id"] for i in ask(bank, "recall", question, n=20, types=["concept"])["items"]}
    evolve(bank, Phase(merge))
    packet = ask(bank, "recall", question, n=20, types=["concept"])
    shown = [i["id"] for i in (*packet["items"], *packet["superseded"])]
    assert shown.count(kept) == 1 and gone not in shown


def test_before_the_merge_was_known_the_original_stands_for_itself(bank: Path) -> None:
    evolve(bank, Phase(merge), moment=MOMENT + timedelta(days=2))
    (gone,) = ids_of(bank, "type = 'concept' AND title = 'Temmoku glaze'")
    packet = ask(bank, "recall", "Temmoku glaze", known_at=MOMENT.isoformat(), types=["concept"])
    assert gone in {i["id"] for i in packet["items"]}


def test_a_split_object_leads_to_the_narrower_ones(bank: Path) -> None:
    (whole,) = ids_of(bank, "type = 'concept' AND title = 'Cone'")
    evolve(bank, Phase(split))
    packet = ask(bank, "recall", "what is a cone", n=20)
    shown = [i["id"] for i in (*packet["items"], *packet["superseded"])]
    assert whole not in shown and {object_id("concept", f"trial:Cone ({what})") for what in ("seat", "heat")} <= set(shown)
