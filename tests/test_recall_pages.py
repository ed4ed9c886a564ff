"""Pages of evolution asked for by name or by kind and subject; exact titles before aliases; what makes a page out of date."""

from __future__ import annotations

import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from test_recall_evolved import Phase, evolve
from worlds import MOMENT, ask, ingest, rows, write

from smb.evolve.phase import Proposals, Wanted
from smb.evolve.snapshot import Snapshot
from smb.interfaces.cli.packet_text import foot, packet_text
from smb.interfaces.cli.page import Page
from smb.model.currentness import stated
from smb.model.edges import EdgeType
from smb.model.errors import SmbError
from smb.model.objects import Link, MemoryType, Mode
from smb.model.revision import RevisionKind, Statement, new_revision
from smb.recall.page_question import page_questions

NOTES = {
    "Mill.md": "# Mill\n\nThe Mill stands in Aldgate.\n\n- **Power:** 4 kW\n\nThe Mill was built in 2024 by René Dahl.\n",
    "René Dahl.md": "# René Dahl\n\nRené Dahl repairs the mill.\n",
    "Rye.md": "# Rye\n\nRye is milled coarse in the Mill.\n\nAna Reis wrote the story of the Mill.\n",
    "石臼.md": "# 石臼\n\n石臼の直径は六十センチである。\n",
}
PAGES = (
    (MemoryType.TIMELINE, "Timeline of Mill", "- 2024: built"), (MemoryType.NARRATIVE, "The story of Mill", "It was built."), (MemoryType.TIMELINE, "Timeline of 石臼", "- 古い"),
    (MemoryType.PLAN, "Open tasks", "- [ ] René Dahl: oil the shaft"), (MemoryType.PLAN, "Tasks of Rye", "- [ ] sow"), (MemoryType.RESEARCH, "Open questions: Mill", "- which stone"),
    (MemoryType.RESEARCH, "Other open questions", "- what else"), (MemoryType.SPECIFICATION, "Decided: Power of the Mill", "4 kW"), (MemoryType.PROJECT, "Project: Rye", "Rye."),
    (MemoryType.INSIGHT, "What changed in the last week", "- Mill"), (MemoryType.INSIGHT, "Notes without a link", "- Rye"), (MemoryType.CONTRADICTION, "Mill, Power: 4 kW or 5 kW?", "4 against 5"),
    (MemoryType.SYNTHESIS, "Rye and Mill: coarse", "Both."), (MemoryType.WORLD_MODEL, "Mill, as the notes have it", "A mill."), (MemoryType.ABSTRACTION, "Rye", "All rye."),
)


async def pages(snapshot: Snapshot) -> Proposals:
    claims = snapshot.stated(MemoryType.CLAIM)
    evidence = await snapshot.evidence(c.id for c in claims)
    return Proposals([
        Wanted(type_, Statement(title, f"trial:{title}", body=body, mode=Mode.INFERRED, confidence=0.6, derived_from=tuple(c.id for c in claims[:2])), evidence[claims[0].id])
        for type_, title, body in PAGES
    ])


@pytest.fixture(scope="module")
def bank(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("pages")
    ingest(place / "bank", write(place / "notes", NOTES))
    evolve(place / "bank", Phase(pages))
    return place / "bank"


@pytest.mark.parametrize(("question", "title"), [
    ("timeline of Mill", "Timeline of Mill"), ("Show me the history of the mill, please", ""), ("the mill's history", "Timeline of Mill"), ("story of the Mill", "The story of Mill"),
    ("how did the mill develop over time?", "The story of Mill"), ("石臼の歴史", "Timeline of 石臼"), ("open tasks", "Open tasks"), ("what are my to-dos", "Open tasks"), ("what is left to do", "Open tasks"),
    ("what tasks are open for Rene Dahl", "Open tasks"), ("what does René have to do?", "Open tasks"), ("tasks of Rye", "Tasks of Rye"), ("plans for rye", "Tasks of Rye"),
    ("open questions about the Mill", "Open questions: Mill"), ("what is still unclear about the mill?", "Open questions: Mill"), ("which open questions are there", "Open questions: Mill"),
    ("what did we decide about the power", "Decided: Power of the Mill"), ("decisions", "Decided: Power of the Mill"), ("project Rye", "Project: Rye"), ("how is the rye project going", "Project: Rye"),
    ("what changed lately", "What changed in the last week"), ("What changed in the last week", "What changed in the last week"), ("what has changed in the Mill?", "Timeline of Mill"),
    ("which contradictions are there", "Mill, Power: 4 kW or 5 kW?"), ("where do the notes disagree", "Mill, Power: 4 kW or 5 kW?"), ("how do the Mill and Rye relate", "Rye and Mill: coarse"),
    ("what is the connection between rye and the mill", "Rye and Mill: coarse"), ("what do we know about the Mill", "Mill, as the notes have it"), ("Notes without a link", "Notes without a link"),
])  # fmt: skip
def test_a_question_that_names_a_page_has_it_first(bank: Path, question: str, title: str) -> None:
    packet = ask(bank, "recall", question)
    first = packet["items"][0]
    if title:
        assert (first["title"], first["mode"]) == (title, "inferred")
        assert first["citations"] and first["routes"]
    assert packet["answer"] is None and sum("derived_from" in item for item in packet["items"]) <= 3 + bool(packet["members_total"])


@pytest.mark.parametrize("question", ["who wrote the story of the Mill", "how many open tasks are there", "when did the story of the Mill begin", "where does the Mill stand", "power of the Mill", "Rye",
                                      "open tasks of Zeppelin", "timeline of Zeppelin", "how do rye and zeppelins relate", "plan", "who changed the mill"])  # fmt: skip
def test_a_question_for_a_value_or_for_nothing_there_is_has_no_page(bank: Path, question: str) -> None:
    packet = ask(bank, "recall", question)
    if question == "plan":
        assert packet["items"][0]["title"] == "Open tasks"
    else:
        assert not packet["items"] or "derived_from" not in packet["items"][0]
    if question == "power of the Mill":
        assert packet["answer"]["value"] == "4 kW"
        assert not any("derived_from" in item for item in packet["items"])


def test_a_page_out_of_scope_is_not_brought_in_and_one_asked_for_by_type_is(bank: Path) -> None:
    assert {i["type"] for i in ask(bank, "recall", "timeline of Mill", types=["claim"])["items"]} == {"claim"}
    assert ask(bank, "recall", "timeline of Mill", types=["narrative", "timeline"])["items"][0]["title"] == "Timeline of Mill"
    before = (MOMENT - timedelta(days=1)).isoformat()
    assert not any("derived_from" in i for i in ask(bank, "recall", "timeline of Mill", known_at=before)["items"])


@pytest.mark.parametrize("text", ["the " * 75, "what do " + "a and " * 45, "show me the " * 20 + "timeline of " + "b " * 20, "tasks are open " * 20, "how do " + "x to " * 50 + "y"])
def test_a_question_meant_to_take_long_is_read_at_once(text: str) -> None:
    started = time.perf_counter()
    list(page_questions(text[:300]))
    assert time.perf_counter() - started < 1


# ---------------------------------------------------------------- exact titles


TWO = {
    "Tim Baker.md": "# Tim Baker\n\nTim Baker kneads.\n\n- Phone: 555-0022\n",
    "tim-baker-2.md": "---\naliases: [Tim Baker]\n---\n# Tim Bäcker\n\nTim Bäcker bakes.\n\n- Phone: 555-0023\n",
    "only.md": "---\naliases: [the miller]\n---\n# Uma Sørby\n\nUma Sørby mills.\n\n- Phone: 555-0031\n",
}


def test_what_is_titled_so_is_meant_before_what_has_it_as_an_alias(tmp_path: Path) -> None:
    bank = tmp_path / "bank"
    ingest(bank, write(tmp_path / "notes", TWO))
    for question, value in (("phone of Tim Baker", "555-0022"), ("phone of Tim Bäcker", "555-0023"), ("phone of the miller", "555-0031")):
        assert ask(bank, "recall", question)["answer"]["value"] == value
    assert ask(bank, "get", "Tim Baker")["title"] == "Tim Baker"
    assert ask(bank, "get", "tim bäcker")["title"] == "Tim Bäcker"
    assert ask(bank, "get", "the miller")["title"] == "Uma Sørby"


def test_two_things_of_one_alias_are_still_asked_about(tmp_path: Path) -> None:
    bank = tmp_path / "bank"
    ingest(bank, write(tmp_path / "notes", {f"{n}.md": f"---\naliases: [the boss]\n---\n# {n} Smith\n\n{n} Smith is a person.\n" for n in ("Ann", "Bob")}))
    with pytest.raises(SmbError, match="could be any of"):
        ask(bank, "get", "the boss")


# ---------------------------------------------------------------- out of date, contradictions, the last line


def test_a_contest_of_what_a_page_cites_is_no_change_of_it_and_the_conflict_bears_the_contradictions_title(tmp_path: Path) -> None:
    bank = tmp_path / "bank"
    ingest(bank, write(tmp_path / "notes", NOTES | {"Log.md": "# Log\n\nThe Mill was built in 2025 by René Dahl.\n"}))

    async def page(snapshot: Snapshot) -> Proposals:
        built = [c for c in snapshot.stated(MemoryType.CLAIM) if "was built in" in c.title]
        evidence = await snapshot.evidence(c.id for c in built)
        return Proposals([Wanted(MemoryType.TIMELINE, Statement("Timeline of Mill", "page:1", body="Built.", mode=Mode.INFERRED, derived_from=tuple(c.id for c in built)), evidence[built[0].id])])

    async def contest(snapshot: Snapshot) -> Proposals:
        one, two = sorted((c for c in snapshot.stated(MemoryType.CLAIM) if "was built in" in c.title), key=lambda c: c.title)
        histories, evidence = await snapshot.histories([one.id, two.id]), await snapshot.evidence([one.id, two.id])
        made = Wanted(MemoryType.CONTRADICTION, Statement("Mill, built: 2024 or 2025?", "against:1", mode=Mode.INFERRED, derived_from=(one.id, two.id),
                                                          links=tuple(Link(c.id, EdgeType.CONTRADICTS) for c in (one, two))), evidence[one.id])
        live = tuple(r.id for r in stated(histories[one.id]) if r.object_id == one.id)
        return Proposals([made], revisions=[new_revision(RevisionKind.CONTEST, one.id, "claim", replaces=live, into=(two.id,), actor="against")])

    evolve(bank, Phase(page, "page"))
    evolve(bank, Phase(contest, "against"), moment=MOMENT + timedelta(days=1))
    packet = ask(bank, "recall", "timeline of Mill")
    first = packet["items"][0]
    assert first["title"] == "Timeline of Mill" and first["contested"] and "stale" not in first
    (conflict,) = ask(bank, "recall", "The Mill was built in which year", n=5)["conflicts"]
    assert conflict["title"] == "Mill, built: 2024 or 2025?"
    assert "Conflict: Mill, built: 2024 or 2025?" in packet_text(ask(bank, "recall", "The Mill was built in which year", n=5), Page(None, False))
    write(tmp_path / "notes", {"Log.md": "# Log\n\nThe Mill is shut.\n"})
    ingest(bank, tmp_path / "notes", moment=MOMENT + timedelta(days=2))
    assert "was built in 2025" in ask(bank, "recall", "timeline of Mill")["items"][0]["stale_reason"]


@pytest.mark.parametrize(("told", "said"), [
    ({"members_total": 1, "members_visible": 1}, "9 of 2000 tokens"), ({"members_total": None}, "9 of 2000 tokens"),
    ({"members_total": 3, "members_visible": 3, "operation": "LIST"}, "the answer has 3 items · 9 of 2000 tokens"),
    ({"members_total": 12, "members_visible": 10, "operation": "LIST"}, "the answer has 12 items, 10 of them shown · 9 of 2000 tokens"),
    ({"members_total": 1, "members_visible": 1, "operation": "LIST"}, "the answer has 1 item · 9 of 2000 tokens"),
])  # fmt: skip
def test_the_last_line_says_what_it_counts(told: dict[str, Any], said: str) -> None:
    assert foot({"operation": "FACT", "items": [{}], "conflicts": [], "tokens": 9, "budget": 2000, "dropped": 0} | told) == said


def test_names_of_pages_are_those_the_phases_give(bank: Path) -> None:
    assert {title for (title,) in rows(bank, "SELECT title FROM memory_objects WHERE mode = 'inferred' AND type != 'evolution'")} == {title for _, title, _ in PAGES}
