"""Laws of the packet over random ledgers: the budget, whole closures, shared spans once, the same bytes, no network."""

from __future__ import annotations

import json
import socket

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from plain_bank import run_recall

from smb.interfaces.cli.packet_markdown import CLOSE, OPEN, context_pack
from smb.model.revision import RevisionKind
from smb.recall.cite import Citation
from smb.recall.pack import Group, Unit, cost_of, pack, span_of, tokens_of

WORDS = "loom shed dye wool bath cloth weaver frame pedal yarn".split()
QUESTIONS = ["what is the width of the loom", "how many looms are there", "when was the loom moved", "how many days between the fire and the move",
             "list the looms", "what is the colour of the shed in March 2031", "wool and yarn", "who weaves"]  # fmt: skip

sentences = st.lists(st.sampled_from(WORDS), min_size=2, max_size=8).map(lambda ws: f"The {' '.join(ws)} is here.")
notes = st.lists(sentences, min_size=1, max_size=5, unique=True)
keys = st.tuples(st.sampled_from(["loom", "shed"]), st.sampled_from(["width", "colour"]), st.sampled_from(["red", "blue", "2 m"]))


@st.composite
def ledgers(draw):
    """(notes as lists of sentences, and for each sentence maybe a key and what it does to an earlier claim)."""
    made = draw(st.lists(notes, min_size=1, max_size=4))
    claims = [
        draw(st.one_of(st.none(), st.tuples(keys, st.sampled_from(["say", "say", "supersede", "contest"]))))
        for note in made
        for _ in note
    ]
    return made, claims


async def fill(bank, ledger):
    made, claims = ledger
    said, turn = [], iter(claims)
    for n, note in enumerate(made):
        text = f"---\ndate: 2031-0{n + 1}-0{n + 1}\n---\n# Note {n}\n\n" + "\n\n".join(note) + "\n"
        document = bank.note(f"n{n}.md", text)
        for place, sentence in enumerate(note):
            if (claim := next(turn)) is None:
                continue
            (subject, attribute, value), act = claim
            older = next(
                (r for r in reversed(said) if r.statement.subject == subject and r.statement.attribute == attribute), None
            )
            says = dict(subject=subject, attribute=attribute, value=value)
            title = f"{n}.{place} {sentence}"
            if act == "supersede" and older is not None:
                said.append(bank.say(document, "claim", title, sentence, kind=RevisionKind.SUPERSEDE, replaces=(older,), **says))
                continue
            said.append(bank.say(document, "claim", title, sentence, **says))
            if act == "contest" and older is not None:
                bank.say(
                    document,
                    "claim",
                    title,
                    sentence,
                    kind=RevisionKind.CONTEST,
                    replaces=(said[-1],),
                    into=(older.object_id,),
                    **says,
                )
                bank.say(
                    document,
                    "claim",
                    older.statement.title,
                    sentence,
                    kind=RevisionKind.CONTEST,
                    replaces=(older,),
                    into=(said[-1].object_id,),
                    **says,
                )
        await bank.commit(f"2031-0{n + 1}-0{n + 1}T12:00:00")


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(ledgers(), st.sampled_from(QUESTIONS), st.integers(1, 400), st.integers(1, 8), st.sampled_from([None, "2031-02-15"]))
def test_every_packet_keeps_the_laws(tmp_path_factory, monkeypatch, ledger, question, budget, n, as_of):
    def refused(*_):
        raise AssertionError("recall opened a connection")

    monkeypatch.setattr(socket.socket, "connect", refused)
    monkeypatch.setattr(socket, "getaddrinfo", refused)

    async def scenario(bank, ask):
        await fill(bank, ledger)
        packet = await ask(question, budget=budget, n=n, as_of=as_of, explain=True)
        items = packet["items"]
        block = block_of(packet)
        assert packet["tokens"] <= budget
        assert not items or tokens_of(block) <= packet["tokens"], "what is rendered is what was counted"
        held = {i["id"] for i in items}
        for item in items:
            assert item["citations"] and item["closure"][0] == item["id"]
            for c in item["citations"]:
                lines = bank.sources[c["source"]].decode().split("\n")
                assert c["quote"] in "\n".join(lines[c["line_start"] - 1 : c["line_end"]])
            assert item["verdict"] in ("current", "contested")
        for conflict in packet["conflicts"]:
            assert len(conflict["items"]) > 1 and {i["id"] for i in conflict["items"]} <= held, "a contested set is whole"
        if packet["members_total"] is not None:
            assert 0 <= packet["members_visible"] <= packet["members_total"]
        assert (packet["answer"] is None) or packet["outcome"] == "state" and packet["answer"]["citations"]
        assert packet["outcome"] not in ("miss", "budget_infeasible", "insufficient") or packet["reason"]
        assert packet["outcome"] != "budget_infeasible" or not items
        assert held.isdisjoint(one["id"] for one in packet["left_out"] if one["score"] is not None)
        again = await ask(question, budget=budget, n=n, as_of=as_of, explain=True)
        assert json.dumps({**packet, "elapsed_ms": 0}) == json.dumps({**again, "elapsed_ms": 0})

    run_recall(tmp_path_factory.mktemp("law"), scenario)


def block_of(packet):
    """The data block of the context pack without the answer, which is worked out from what the items say."""
    said = context_pack(packet | {"answer": None})
    return said.split(OPEN)[1].split(CLOSE)[0].strip("\n") if OPEN in said else ""


# ------------------------------------------------------------ the pack alone


def unit(n, words, spans):
    made = Unit("object", n, f"u{n}", "claim", f"t{n}", "word " * words, 1.0, "current", {})
    made.citations = tuple(
        Citation("p.md", "kb", "d", "s" * 64, line, line, f"quoted line {line} of the source") for line in spans
    )
    return made


units = st.builds(
    lambda n, words, spans: unit(n, words, spans),
    st.integers(0, 40),
    st.integers(1, 30),
    st.lists(st.integers(1, 6), max_size=3, unique=True),
)


@given(
    st.lists(st.tuples(st.lists(units, min_size=1, max_size=3), st.booleans()), max_size=8),
    st.integers(1, 12),
    st.integers(0, 250),
)
def test_groups_enter_whole_or_not_at_all(groups, n, budget):
    offered = [
        Group(list({u.id: u for u in held}.values()), needed) for held, needed in sorted(groups, key=lambda g: not g[1])
    ]  # needed ones come first
    packed = pack(iter(offered), n, budget)
    ids = [u.id for u in packed.units]
    assert packed.tokens <= budget and len(ids) == len(set(ids))
    shown: set = set()
    spent = 0
    for one in packed.units:
        spent += cost_of(one, shown)
        shown.update(map(span_of, one.citations))
    assert spent == packed.tokens, "each shared span counts once"
    if packed.infeasible is not None:
        assert not packed.units and packed.infeasible > budget
        return
    for group in offered:
        inside = [u.id in ids for u in group.units]
        if group.needed:
            assert all(inside)


@pytest.mark.parametrize("budget", [0, 1])
def test_a_needed_group_without_room_leaves_nothing(budget):
    packed = pack(iter([Group([unit(1, 5, [1])]), Group([unit(2, 5, [2])], needed=True)]), 10, budget)
    assert (packed.units, packed.tokens) == ((), 0) and packed.infeasible
