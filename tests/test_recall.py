"""Recall over a real catalog: what is found and by which route."""

import json

import numpy as np
import pytest
from plain_bank import run_recall, workshop, LOOM

from smb.model.edges import EdgeType
from smb.model.identity import object_id, sha256_hex
from smb.model.objects import Link
from smb.recall.discover import Graph, Keyed, Lexical, Neighbourhood, RouteUnavailable


def test_every_question_finds_its_lines_and_quotes_them(tmp_path):
    async def scenario(bank, ask):
        await workshop(bank)
        for question, path, line, words in (
            ("how wide is the Big Loom, its width", "rooms/loom.md", 3, "210 cm"),
            ("濃度", "dyes.md", 5, "三割"),
            ("染料の濃度は", "dyes.md", 5, "三割"),
            ("濃", "dyes.md", 5, "三割"),
            ("pre-mordant", "dyes.md", 3, "Madder"),
            ("breast beam repair", "rooms/loom.md", 10, "Odile replaced"),
        ):
            packet = await ask(question)
            cited = packet["items"][0]["citations"][0]
            assert (packet["outcome"], cited["path"], cited["line_start"]) == ("state", path, line), question
            assert words in cited["quote"]
            source = bank.sources[cited["source"]].decode().split("\n")
            assert cited["quote"] in "\n".join(source[cited["line_start"] - 1 : cited["line_end"]])

    run_recall(tmp_path, scenario)


@pytest.mark.parametrize(
    "question",
    ["don't", "check:open", "(open", "open AND", "C++", "*", '"', "NEAR(", "col : x", "word " * 2500, "\x00", "%", "a" * 9000],
)
def test_no_question_is_a_query_language(tmp_path, question):
    async def scenario(bank, ask):
        await workshop(bank)
        assert (await ask(question))["outcome"] in ("state", "miss", "insufficient")

    run_recall(tmp_path, scenario)


def test_a_topic_never_ingested_is_a_miss_and_empty(tmp_path):
    async def scenario(bank, ask):
        await workshop(bank)
        packet = await ask("zyzzyva quux")
        assert (packet["outcome"], packet["items"], packet["degraded"], packet["stale"]) == ("miss", [], [], False)
        assert packet["reason"]

    run_recall(tmp_path, scenario)


def test_the_same_question_gives_the_same_bytes(tmp_path):
    async def scenario(bank, ask):
        await workshop(bank)
        packets = [json.dumps({**await ask("what did Odile do with the loom", explain=True), "elapsed_ms": 0}) for _ in range(2)]
        assert packets[0] == packets[1]

    run_recall(tmp_path, scenario)


def test_an_answer_beside_the_question_that_matches_is_found_in_talk(tmp_path):
    async def scenario(bank, ask):
        await workshop(bank)
        packet = await ask("how did Bram fix the pedal")
        assert [i["citations"][0]["line_start"] for i in packet["items"][:3]].count(7) == 1, (
            "the turn shares no word but the name"
        )

    run_recall(tmp_path, scenario)


def test_a_keyed_fact_is_answered_by_the_ledger(tmp_path):
    async def scenario(bank, ask):
        loom = bank.note("rooms/loom.md", LOOM)
        bank.say(loom, "entity", "Big Loom", "The Big Loom", aliases=("grande",))
        claim = bank.say(
            loom,
            "claim",
            "Big Loom – Width: 210 cm",
            "- **Width:** 210 cm",
            subject="big loom",
            attribute="width",
            value="210 cm",
        )
        await bank.commit("2031-05-01T00:00:00")
        for question in ("what is the width of the Big Loom", "width of grande"):
            packet = await ask(question)
            assert packet["items"][0]["id"] == claim.object_id
            assert (packet["answer"]["value"], packet["answer"]["id"], packet["members_total"]) == ("210 cm", claim.object_id, 1)
            assert "keyed" in packet["items"][0]["routes"]
        assert (await ask("who wove on the Big Loom"))["answer"] is None

    run_recall(tmp_path, scenario)


def test_a_claim_and_its_passage_are_one_item(tmp_path):
    async def scenario(bank, ask):
        loom = bank.note("rooms/loom.md", LOOM)
        one = bank.say(loom, "claim", "The Big Loom came from Lyon", "The Big Loom came from Lyon")
        two = bank.say(loom, "claim", "The Big Loom stands in the barn", "stands in the barn")
        await bank.commit("2031-05-01T00:00:00")
        packet = await ask("which loom came from Lyon and stands in the barn", hops=0)
        on_line = [i for i in packet["items"] if i["citations"][0]["line_start"] == 6]
        assert [i["kind"] for i in on_line] == ["passage"], "neither claim says all that the passage says of the question"
        assert set(on_line[0]["attached"]) == {one.object_id, two.object_id}
        packet = await ask("loom Lyon")
        assert packet["items"][0]["id"] == one.object_id and two.object_id in packet["items"][0]["attached"]

    run_recall(tmp_path, scenario)


class Broken:
    name = "dense"

    async def find(self, plan, reader, found):
        raise RouteUnavailable(self.name, "embedding_mismatch")


def test_a_route_that_fails_is_named_and_the_answer_still_comes(tmp_path):
    async def scenario(bank, ask):
        await workshop(bank)
        packet = await ask("breast beam", given={"routes": (Lexical(), Broken(), Keyed(), Graph(), Neighbourhood())})
        assert packet["degraded"] == [{"route": "dense", "reason": "embedding_mismatch"}] and packet["items"]
        whole = await ask("breast beam")
        assert [i["id"] for i in whole["items"]] == [i["id"] for i in packet["items"]] and whole["degraded"] == []

    run_recall(tmp_path, scenario)


class TrigramEmbedder:
    """Texts as counts of hashed letter trigrams: enough for cosine to see through missing letters."""

    fingerprint, dimension = "trigrams/1", 512

    def embed(self, texts):
        counts = np.zeros((len(texts), self.dimension), np.float32)
        for n, text in enumerate(texts):
            for at in range(len(text) - 2):
                counts[n, int(sha256_hex(text[at : at + 3].lower().encode())[:6], 16) % self.dimension] += 1
        return counts / np.maximum(np.linalg.norm(counts, axis=1, keepdims=True), 1e-9)


class ListMatrix:
    fingerprint = "trigrams/1"

    def __init__(self):
        self.texts = []

    def __len__(self):
        return len(self.texts)

    def rows_for(self, texts):
        self.texts += texts
        return list(range(len(self.texts) - len(texts), len(self.texts)))

    def scores(self, vector):
        return TrigramEmbedder().embed(self.texts) @ vector

    def vectors(self, rows):
        return TrigramEmbedder().embed([self.texts[row] for row in rows])


def test_the_dense_route_finds_what_shares_no_word(tmp_path):
    matrix = ListMatrix()

    async def scenario(bank, ask):
        await workshop(bank)
        with_vectors = {"matrix": matrix, "embedder": TrigramEmbedder()}
        packet = await ask("Maddergives redafter premordantbath", given=with_vectors)
        assert list(packet["items"][0]["routes"]) == ["dense"] and "Madder" in packet["items"][0]["text"]
        assert (await ask("Maddergives redafter premordantbath", lexical=True, given=with_vectors))["outcome"] == "miss"
        other = TrigramEmbedder()
        other.fingerprint = "trigrams/2"
        packet = await ask("madder", given={"matrix": matrix, "embedder": other})
        assert (
            packet["degraded"] == [{"route": "dense", "reason": "embedding_mismatch"}] and "Madder" in packet["items"][0]["text"]
        )

    run_recall(tmp_path, scenario, matrix.rows_for)


def test_a_neighbour_in_the_graph_is_found_and_labelled(tmp_path):
    async def scenario(bank, ask):
        note = bank.note("guild.md", "# Guild\n\nTordis keeps the seal.\n\nVanadium is stored below.\n")
        bank.say(note, "entity", "Tordis", "Tordis", links=(Link(object_id("concept", "Vanadium store"), EdgeType.RELATED_TO),))
        far = object_id("concept", "Cellar")
        store = bank.say(note, "concept", "Vanadium store", "Vanadium is stored below.", links=(Link(far, EdgeType.RELATED_TO),))
        bank.say(note, "concept", "Cellar", "below")
        await bank.commit("2031-01-01T00:00:00")
        near = {i["id"]: i["routes"] for i in (await ask("Tordis"))["items"]}
        assert (near[store.object_id], near[far]) == ({"graph": 1}, {"graph": 2})
        assert far not in {i["id"] for i in (await ask("Tordis", hops=1))["items"]}
        assert store.object_id not in {i["id"] for i in (await ask("Tordis", hops=0))["items"]}

    run_recall(tmp_path, scenario)


def test_a_reply_to_a_matching_question_goes_before_the_turn_it_follows(tmp_path):
    async def scenario(bank, ask):
        bank.note(
            "talk.md",
            "- **Ida:** I had soup.\n- **Tor:** Blue, I think.\n- **Ida:** Which glaze did the big jar get?\n"
            "- **Tor:** Blue, I think.\n- **Ida:** I had bread.\n",
        )
        await bank.commit("2031-05-01T00:00:00")
        scores = {i["citations"][0]["line_start"]: i["score"] for i in (await ask("glaze of the big jar"))["items"]}
        assert scores[4] > scores[2]

    run_recall(tmp_path, scenario)
