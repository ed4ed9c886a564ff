"""A server that means harm, or is none of Ollama's: whatever it sends, a call ends soon, in little memory, with an answer or a named error."""

from __future__ import annotations

import gzip
import json
import sys
import time
import tracemalloc
from typing import Any

import numpy as np
import pytest

from ollama_server import DIGEST, Flood, Model, OllamaServer, Raw, Say, Status, Vectors, say_json
from smb.inference import model_errors as e
from smb.inference import token_estimate
from smb.inference.embedder import EmbedderUnavailable
from smb.inference.model_choice import parameters_of
from smb.inference.ollama_client import ModelClient
from smb.inference.ollama_embedder import OllamaEmbedder
from smb.inference.prompts import Prompt
from smb.inference.wire import REPLY_BYTES, Limits
from test_ollama_client import CALLS, ask, read, run

ANY = {"type": "object", "properties": {"colour": {}}, "required": ["colour"]}
TAKEN = 20_000_000  # bytes a server gets rid of at most: what is read, and what lies in the sockets' buffers


def part(text: str, **more: Any) -> bytes:
    return json.dumps({"message": {"role": "assistant", "content": text, **more}, "done": False}).encode() + b"\n"


# ------------------------------------------------------------ no end


@pytest.mark.parametrize("sent", [part(""), part("x" * 1000 + " "), part("", thinking="hm, " * 50), part("é")])
def test_an_answer_that_never_ends_is_ended(sent: bytes) -> None:
    with OllamaServer() as server:
        server.script(Flood(b"", sent))
        started = time.monotonic()
        with pytest.raises(e.AnswerTruncated, match="beyond the 1536 tokens"):
            run(server, read)
        assert time.monotonic() - started < 10 and server.flooded < TAKEN and len(server.asked()) == 1


def test_time_runs_while_parts_come_without_a_pause() -> None:
    with OllamaServer(Model("qwen3:8b", context=200_000)) as server:
        server.script(*[Flood(b"", part(""))] * 2)
        with pytest.raises(e.CallTimedOut):
            run(server, lambda client: drained(client, 100_000), limits=Limits(call=0.15, tries=1, context=120_000))


async def drained(client: ModelClient, room: int) -> None:
    async for _ in client.stream(Prompt("p", "h", "", "on and on"), answer_tokens=room):
        pass


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("start", [b'{"models":[', b'{"message":{"role":"assistant","content":"', b'{"error":"'])
def test_a_reply_that_floods_is_left_off(call: str, start: bytes) -> None:
    path, use = CALLS[call]
    with OllamaServer() as server:
        server.script(Flood(start, b"a" * 65536), to=path)
        with pytest.raises(e.ReplyRefused, match="longer than the 2.1 MB") as raised:
            run(server, use)
        assert server.host in str(raised.value) and raised.value.exit_code == 8
        assert server.flooded < TAKEN and len([r for r in server.requests if r.path == path]) == 1


@pytest.mark.parametrize("code", [404, 500])
def test_an_error_that_floods_is_left_off(code: int) -> None:
    with OllamaServer() as server:
        server.script(Status(code, "model " * 500_000))
        with pytest.raises(e.ReplyRefused):
            run(server, ask)


def test_what_an_error_says_is_read_to_a_length_and_obeyed_by_no_terminal() -> None:
    with OllamaServer() as server:
        server.script(Status(400, "\x1b[2J\x1b]0;mine\x07 model " + "model " * 300_000), Status(400, raw=b"[" * 100_000), Status(400, raw=b'{"error":' + b'{"a":' * 900 + b"1" + b"}" * 901))
        started = time.monotonic()
        for kind in (e.RequestRefused, e.ServerUnreachable, e.ModelError):
            with pytest.raises(kind) as raised:
                run(server, ask, limits=Limits(tries=1))
            assert str(raised.value).isprintable() and len(str(raised.value)) < 500
        assert time.monotonic() - started < 10


# ------------------------------------------------------------ larger than it looks


@pytest.mark.parametrize("call", CALLS)
def test_a_compressed_reply_is_never_unpacked(call: str) -> None:
    path, use = CALLS[call]
    bomb = gzip.compress(b"a" * 60_000_000)
    with OllamaServer() as server:
        for coding in ("gzip", "x-gzip, identity", "br"):
            server.script(Raw(bomb, {"Content-Encoding": coding}), to=path)
            with pytest.raises(e.ReplyRefused, match="compressed"):
                run(server, use)
        assert {r.headers["accept-encoding"] for r in server.requests} == {"identity"}


def test_no_charset_of_a_server_is_followed() -> None:
    end = {"message": {"role": "assistant", "content": "the loom"}, "done": True, "done_reason": "stop"}
    with OllamaServer() as server:
        for charset in ("utf-16", "zlib", "rot13"):
            server.script(Raw(json.dumps(end).encode() + b"\n", {"Content-Type": f"application/x-ndjson; charset={charset}", "Set-Cookie": "a=b", "Location": "http://x/"}))
            assert run(server, read) == "the loom"
        assert not any("cookie" in r.headers for r in server.requests)


@pytest.mark.parametrize("filling", [b"[],", b"{},", b'"",', b"0,"])
def test_the_largest_reply_takes_less_than_100_megabytes(filling: bytes) -> None:
    body = b'{"models":[' + filling * ((REPLY_BYTES - 100) // len(filling)) + b"1]}"
    with OllamaServer() as server:
        server.script(Raw(body), to="/api/tags")
        tracemalloc.start()
        try:
            assert run(server, lambda client: client.installed()) == ()
            assert tracemalloc.get_traced_memory()[1] < 100_000_000
        finally:
            tracemalloc.stop()


def test_an_answer_longer_than_its_tokens_can_be_is_none() -> None:
    with OllamaServer() as server:
        server.brain = lambda body: say_json({"colour": "blue " * 50_000})
        with pytest.raises(e.AnswerTruncated, match="beyond the 3072 tokens"):
            run(server, ask)
        assert len(server.asked()) == 2


# ------------------------------------------------------------ deeper than it can be read


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("body", [b"[" * 200_000, b'{"models":' * 100_000, b'{"message":{"content":"","tool_calls":' + b"[" * 900 + b"]" * 900 + b"}}\n"])
def test_a_reply_nested_too_deeply_is_not_ollama_s(call: str, body: bytes) -> None:
    path, use = CALLS[call]
    with OllamaServer() as server:
        server.script(Raw(body), to=path)
        with pytest.raises(e.ServerUnreachable, match="does not answer as Ollama does") as raised:
            run(server, use, limits=Limits(tries=1))
        assert raised.value.exit_code == 8


@pytest.mark.parametrize("depth", [200, 400, 600, 700, 800, 850, 900, 950, 1000, 5000, 20_000])
def test_an_answer_nested_deeply_is_read_or_rejected(depth: int) -> None:
    for answer in (f'{{"colour": {"[" * depth}{"]" * depth}}}', '{"colour": ' * depth + "1" + "}" * depth, "[" * depth + "]" * depth):
        with OllamaServer() as server:
            server.brain = lambda body, answer=answer: Say(answer)
            try:
                run(server, lambda client: client.structured(Prompt("p", "h", "", "deep"), ANY, check=lambda value: value, answer_tokens=6000))
            except e.AnswerRejected:
                pass


# ------------------------------------------------------------ odd lists

GOOD = {"name": "qwen3:8b", "model": "qwen3:8b", "size": 5_000_000_000, "digest": DIGEST, "details": {"family": "qwen3", "parameter_size": "8.2B"}}
ODD: list[Any] = [
    GOOD | {"size": -1}, GOOD | {"size": "5 GB"}, GOOD | {"size": None}, GOOD | {"size": 1.5e9}, GOOD | {"digest": None}, GOOD | {"digest": ""}, GOOD | {"digest": [DIGEST]},
    GOOD | {"model": None}, GOOD | {"model": ""}, GOOD | {"model": 7}, GOOD | {"model": "\x1b[31mevil\nname\u202e"}, GOOD | {"model": "x" * 5000}, {}, [], None, "qwen3:8b", 0,
]
FINE: list[dict[str, Any]] = [
    GOOD | {"details": None}, GOOD | {"details": "none"}, GOOD | {"details": {"family": None, "parameter_size": 8}}, GOOD | {"modified_at": "some day"}, GOOD | {"details": {"parameter_size": "8.2.1B"}},
]


@pytest.mark.parametrize("odd", ODD)
def test_an_odd_entry_of_the_list_hides_no_other(odd: Any) -> None:
    with OllamaServer() as server:
        server.script(*[Raw(json.dumps({"models": [odd, GOOD, odd]}).encode())] * 2, to="/api/tags")
        server.script(say_json({"colour": "blue"}))
        assert [(m.name, round(m.parameters)) for m in run(server, lambda client: client.installed())] == [("qwen3:8b", 8_200_000_000)]
        assert run(server, ask).value == "blue"


@pytest.mark.parametrize("entry", FINE)
def test_an_entry_that_says_little_is_a_model_all_the_same(entry: dict[str, Any]) -> None:
    with OllamaServer() as server:
        server.script(Raw(json.dumps({"models": [entry]}).encode()), to="/api/tags")
        server.script(Raw(json.dumps({"models": [None, {"name": "a:1b", "context_length": "x"}, entry | {"context_length": 4096}]}).encode()), to="/api/ps")
        assert [m.name for m in run(server, lambda client: client.installed())] == ["qwen3:8b"]
        assert run(server, lambda client: client.running()) == {"a:1b": 0, "qwen3:8b": 4096}


def test_a_server_without_models_has_none_whichever_way_it_says_so() -> None:
    with OllamaServer() as server:
        server.script(Raw(b'{"models": []}'), Raw(b'{"models": null}'), to="/api/tags")
        assert run(server, lambda client: client.installed()) == run(server, lambda client: client.installed()) == ()


def test_sizes_are_read_from_whatever_is_written() -> None:
    assert [round(parameters_of(text)) for text in ("8.2B", "137M", "1.2.3B", ".B", "", None, "NaNB")] == [8_200_000_000, 137_000_000, 2_300_000_000, 0, 0, 0, 0]


# ------------------------------------------------------------ vectors


def embedder(server: OllamaServer, **limits: Any) -> OllamaEmbedder:
    return OllamaEmbedder(server.host, limits=Limits(**{"call": 20.0, "pause": 0.001, "tries": 1} | limits))


@pytest.mark.parametrize("fault", [
    Flood(b'{"embeddings":[[', b"0.1," * 16384), Flood(b"", b"[" * 65536), Raw(gzip.compress(b"0" * 60_000_000), {"Content-Encoding": "gzip"}), Raw(b"[" * 200_000),
    Raw(b'{"embeddings":' + b"[" * 900 + b"]" * 900 + b"}"), Raw(json.dumps({"embeddings": [[0.1] * 400_000]}).encode())])
def test_vectors_that_never_end_or_cannot_be_read_are_none(fault: Any) -> None:
    with OllamaServer() as server:
        asked = embedder(server)
        assert asked.dimension == 768
        server.script(fault, to="/api/embed")
        with pytest.raises(EmbedderUnavailable):
            asked.embed(["The loom stands in Harrow Street."])
        assert server.flooded < TAKEN
        assert asked.embed(["The loom stands in Harrow Street."]).shape == (1, 768)


def test_vectors_that_trickle_run_out_of_time() -> None:
    with OllamaServer() as server:
        asked = embedder(server, call=0.5)
        assert asked.dimension == 768
        server.script(Flood(b'{"embeddings":[[', b"0.1,", pause=0.05), to="/api/embed")
        with pytest.raises(EmbedderUnavailable, match="within 0.5 s"):
            asked.embed(["The loom"])


def test_a_full_batch_of_the_widest_vectors_is_read() -> None:
    with OllamaServer(Model("nomic-embed-text:latest", "7B", 32768, 4096, capabilities=("embedding",))) as server:
        server.script(Vectors([[-1.2345678901234567e-05] * 4096] * 32), to="/api/embed")
        assert np.allclose(np.linalg.norm(embedder(server).embed([f"note {n}" for n in range(32)]), axis=1), 1, atol=1e-5)


@pytest.mark.parametrize("width", [10**9, 8193])
def test_a_width_no_model_has_is_refused_before_anything_is_made_of_it(width: int) -> None:
    with OllamaServer(Model("nomic-embed-text:latest", "7B", 2048, width, capabilities=("embedding",))) as server:
        with pytest.raises(EmbedderUnavailable, match="wide"):
            embedder(server).embed(["The loom"])


# ------------------------------------------------------------ what a call costs


def test_a_prompt_far_below_the_context_is_measured_by_its_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    async def measured(client: ModelClient, text: str) -> int:
        return client.measure(Prompt("p", "h", "Read.", text), 1536, await client.in_use())

    with OllamaServer() as server:
        long = run(server, lambda client: measured(client, "the door is blue " * 900))
        assert 900 * 4 < long < 8192 - 1536
        with pytest.raises(e.PromptTooLong):
            run(server, lambda client: measured(client, "漢字" * 3000))
        monkeypatch.setattr(token_estimate, "at_most", lambda text: pytest.fail("estimated"))
        assert run(server, lambda client: measured(client, "漢字" * 100)) == 600 + 5 + 32


def test_calls_look_for_no_module(monkeypatch: pytest.MonkeyPatch) -> None:
    """A module that isn't installed is looked for at every call again, all along the path."""
    looked: list[str] = []

    class Spy:
        def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
            looked.append(name)

    async def thrice(client: ModelClient) -> None:
        for turn in range(3):
            await ask(client)
            if not turn:
                monkeypatch.setattr(sys, "meta_path", [Spy(), *sys.meta_path])

    with OllamaServer() as server:
        server.brain = lambda body: say_json({"colour": "blue"})
        run(server, thrice)
    assert looked == []
