"""The client of language models, through the unmodified official package, against a server on loopback that fails in every way."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from ollama_server import (
    WORDS,
    CutStream,
    Hang,
    Model,
    OllamaServer,
    Raw,
    Redirect,
    Reset,
    Say,
    Status,
    StreamError,
    length,
    say_json,
)
from smb.inference import model_errors as e
from smb.inference.ollama_client import ModelClient
from smb.inference.prompts import Data, Prompt, load
from smb.inference.wire import Limits

SCHEMA = {"type": "object", "properties": {"colour": {"type": "string"}}, "required": ["colour"], "additionalProperties": False}
PROMPT = load("check").fill(note=Data("The door is blue."))
LIMITS = Limits(connect=5.0, call=20.0, pause=0.001)
HASTY = Limits(connect=5.0, call=0.5, pause=0.001)  # for what hangs; a busy machine takes its time for the rest


def run(server: OllamaServer, use: Callable[[ModelClient], Awaitable[Any]], model: str = "", limits: Limits = LIMITS) -> Any:
    async def main() -> Any:
        async with ModelClient(server.host, model, limits=limits) as client:
            return await use(client)

    return asyncio.run(main())


def ask(client: ModelClient) -> Awaitable[Any]:
    return client.structured(PROMPT, SCHEMA, check=lambda value: value["colour"])


async def read(client: ModelClient) -> str:
    return "".join([piece async for piece in client.stream(PROMPT)])


# ------------------------------------------------------------ what comes back


def test_an_answer_comes_with_its_model_its_prompt_and_its_tokens() -> None:
    with OllamaServer() as server:
        server.script(say_json({"colour": "blue"}))
        reply = run(server, ask)
    assert (reply.value, reply.model, reply.prompt, reply.asked) == ("blue", "qwen3:8b", PROMPT.hash, 1)
    assert reply.actor == f"model:qwen3:8b@{WORDS.digest[:12]} prompt:check@{PROMPT.hash}"
    assert reply.prompt_tokens > 20 and reply.answer_tokens > 0
    (sent,) = server.asked()
    assert sent["format"] == SCHEMA and sent["think"] is False and sent["stream"] is False and sent["keep_alive"]
    assert sent["options"] == {"temperature": 0, "seed": 0, "num_ctx": 8192, "num_predict": 1536}


@pytest.mark.parametrize("faults", [[Status(500)], [Status(429), Status(503)], [Reset(), Reset(300)], [Hang(3)], [Raw(b'{"model":'), CutStream("x y z")], [Status(502, raw=b"<html>bad gateway</html>")]])
def test_what_can_pass_is_tried_again(faults: list[Any]) -> None:
    with OllamaServer() as server:
        server.script(*faults, say_json({"colour": "blue"}))
        assert run(server, ask, limits=HASTY if faults == [Hang(3)] else LIMITS).value == "blue"
        assert len(server.asked()) == len(faults) + 1


REJECTED: dict[str, tuple[Any, type[e.ModelError]]] = {
    "length": (length('{"colour": "bl'), e.AnswerTruncated),
    "length with whole JSON": (length('{"colour": "blue"}'), e.AnswerTruncated),
    "empty with length": (length(), e.AnswerTruncated),
    "empty": (Say(""), e.AnswerEmpty),
    "empty but thought": (Say("", thinking="it is blue", answer_tokens=40), e.AnswerEmpty),
    "white space": (Say(" \n"), e.AnswerEmpty),
    "unclosed thinking": (Say('<think>{"colour": "blue"}'), e.AnswerTruncated),
    "only thinking": (Say("<think>blue</think>"), e.AnswerEmpty),
    "schema": (say_json(SCHEMA), e.AnswerMalformed),
    "another shape": (say_json({"color": "blue"}), e.AnswerMalformed),
    "cut JSON": (Say('{"colour": "bl'), e.AnswerTruncated),
    "prose": (Say("The door is blue."), e.AnswerMalformed),
    "not done": (Say('{"colour": "blue"}', done=False, done_reason=None), e.AnswerTruncated),
    "unloaded": (Say('{"colour": "blue"}', done_reason="unload"), e.AnswerTruncated),
    "two answers": (Say('{"colour": "blue"} or {"colour": "red"}'), e.AnswerMalformed),
}


@pytest.mark.parametrize("name", REJECTED)
def test_an_unusable_answer_is_asked_for_once_more_and_then_an_error(name: str) -> None:
    reply, error = REJECTED[name]
    with OllamaServer() as server:
        server.script(reply, say_json({"colour": "blue"}))
        found = run(server, ask)
        assert (found.value, found.asked) == ("blue", 2)
        server.script(reply, reply, say_json({"colour": "never asked for"}))
        with pytest.raises(error):
            run(server, ask)
        assert len(server.asked()) == 4


def test_the_second_asking_says_what_was_wrong_and_gives_a_cut_answer_more_room() -> None:
    with OllamaServer() as server:
        server.script(say_json({"color": "x"}), say_json({"colour": "blue"}), length('{"colo'), say_json({"colour": "blue"}))
        run(server, ask)
        run(server, ask)
        _, told, _, wider = server.asked()
    assert told["messages"][2] == {"role": "assistant", "content": '{"color": "x"}'} and "colour" in told["messages"][3]["content"]
    assert len(wider["messages"]) == 2 and wider["options"]["num_predict"] == 3072


def test_a_check_that_refuses_is_an_unusable_answer() -> None:
    def check(value: Any) -> str:
        if value["colour"] != "blue":
            raise ValueError("the note says another colour")
        return "blue"

    with OllamaServer() as server:
        server.script(say_json({"colour": "red"}), say_json({"colour": "blue"}), *[say_json({"colour": "red"})] * 2)
        assert run(server, lambda c: c.structured(PROMPT, SCHEMA, check=check)).asked == 2
        assert "the note says another colour" in server.asked()[1]["messages"][-1]["content"]
        with pytest.raises(e.AnswerMalformed, match="another colour"):
            run(server, lambda c: c.structured(PROMPT, SCHEMA, check=check))


@pytest.mark.parametrize("fault", [Status(400, "bad request"), Status(404, "404 page not found"), Status(403), Status(500, "failed to parse grammar"), Redirect("http://127.0.0.1:9/api/chat")])
def test_what_cannot_pass_is_not_tried_again(fault: Any) -> None:
    with OllamaServer() as server:
        server.script(fault)
        with pytest.raises(e.RequestRefused):
            run(server, ask)
        assert len(server.asked()) == 1


def test_a_server_that_will_not_be_told_not_to_think_is_asked_without_it() -> None:
    with OllamaServer() as server:
        server.refuses_think = True
        server.script(*[say_json({"colour": "blue"})] * 2)

        async def twice(client: ModelClient) -> None:
            await ask(client)
            await ask(client)

        run(server, twice)
        assert [("think" in body and body["think"]) for body in server.asked()].count(False) >= 2 and len(server.asked()) == 3


# ------------------------------------------------------------ every fault on every call


CALLS: dict[str, tuple[str, Callable[[ModelClient], Awaitable[Any]]]] = {
    "version": ("/api/version", lambda c: c.version()),
    "installed": ("/api/tags", lambda c: c.installed()),
    "in_use by tags": ("/api/tags", lambda c: c.in_use()),
    "in_use by show": ("/api/show", lambda c: c.in_use()),
    "running": ("/api/ps", lambda c: c.running()),
    "structured": ("/api/chat", ask),
    "stream": ("/api/chat", read),
}
FAULTS: dict[str, tuple[Any, type[e.ModelError]]] = {
    "reset": (Reset(), e.ServerUnreachable),
    "reset in the body": (Reset(200), e.ServerUnreachable),
    "500": (Status(500), e.ServerFailed),
    "503 without words": (Status(503, raw=b""), e.ServerFailed),
    "429": (Status(429), e.ServerFailed),
    "hang": (Hang(3), e.CallTimedOut),
    "half JSON": (Raw(b'{"models": ['), e.ServerUnreachable),
    "another JSON": (Raw(b"[1, 2]\n"), e.ServerUnreachable),
    "no JSON": (Raw(b"<html>hello</html>"), e.ServerUnreachable),
    "no UTF-8": (Raw(b'{"models": "\xff\xfe"}'), e.ServerUnreachable),
    "400": (Status(400), e.RequestRefused),
}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("call", CALLS)
def test_every_fault_on_every_call_is_a_named_error(call: str, fault: str) -> None:
    path, use = CALLS[call]
    reply, error = FAULTS[fault]
    with OllamaServer() as server:
        server.script(*[reply] * 3, to=path)
        with pytest.raises(error) as raised:
            run(server, use, limits=HASTY if error is e.CallTimedOut else LIMITS)
        assert server.host in str(raised.value)
        asked = len([r for r in server.requests if r.path == path])
        assert asked == (1 if error is e.RequestRefused else 2 if error is e.CallTimedOut else 3)


@pytest.mark.parametrize("call", CALLS)
def test_a_server_that_is_not_there_is_named_with_what_to_do(call: str) -> None:
    with OllamaServer() as server:
        server.stop()
        with pytest.raises(e.ServerUnreachable, match="ollama serve"):
            run(server, CALLS[call][1])


def test_a_model_that_is_gone_is_named_with_the_command_that_gets_it() -> None:
    with OllamaServer() as server:
        async def use(client: ModelClient) -> None:
            await client.in_use()
            server.models.clear()
            await ask(client)

        with pytest.raises(e.ModelMissing, match="ollama pull qwen3:8b"):
            run(server, use)


# ------------------------------------------------------------ streams


def test_a_stream_gives_the_answer_without_the_thinking() -> None:
    with OllamaServer() as server:
        server.script(Say("<think> is it 3 < 4 ? yes </think> 3 < 4 and <b>bold</b> stays"), Say("plain"))
        assert run(server, read) == " 3 < 4 and <b>bold</b> stays"
        assert run(server, read) == "plain"


@pytest.mark.parametrize("fault, error", [
    (CutStream("one two three", 2), e.AnswerTruncated), (StreamError("one two", 1), e.AnswerTruncated), (length("one two"), e.AnswerTruncated),
    (Say(""), e.AnswerEmpty), (Say("<think>x"), e.AnswerTruncated), (Say("<think>x</think> "), e.AnswerEmpty), (Say("x </think> y"), e.AnswerMalformed)])
def test_a_stream_that_breaks_ends_in_an_error_and_is_not_begun_again(fault: Any, error: type[e.ModelError]) -> None:
    with OllamaServer() as server:
        server.script(fault)
        with pytest.raises(error):
            run(server, read)
        assert len(server.asked()) == 1


def test_a_stream_is_tried_again_while_nothing_has_come() -> None:
    with OllamaServer() as server:
        server.script(Status(500), Reset(), Say("whole"))
        assert run(server, read) == "whole"


# ------------------------------------------------------------ sizes


def test_a_prompt_that_may_not_fit_is_not_sent() -> None:
    for text in ("word " * 9000, "漢字" * 3000, "5JQx9" * 2000, "🎉" * 3000):
        with OllamaServer() as server:
            with pytest.raises(e.PromptTooLong, match=r"\d+ tokens and its answer 1536, but the context holds 8192") as raised:
                run(server, lambda c, text=text: c.structured(Prompt("p", "h", "", text), SCHEMA, check=lambda v: v))
            assert server.asked() == [] and raised.value.tokens > 8192 - 1536


def test_the_context_is_never_more_than_the_model_was_made_for() -> None:
    with OllamaServer(Model("qwen3:1.7b", "1.7B", 4096)) as server:
        server.script(say_json({"colour": "blue"}))
        run(server, ask)
        assert server.asked()[0]["options"]["num_ctx"] == 4096


@pytest.mark.parametrize("call", [lambda c, p: c.structured(p, SCHEMA, check=lambda v: v), lambda c, p: drained(c.stream(p))])
def test_a_prompt_the_server_cut_is_noticed(call: Any) -> None:
    """The real server truncates in silence; the tokens it says it read give it away."""
    with OllamaServer() as server:
        server.num_ctx_limit = 512
        server.brain = lambda body: say_json({"colour": "blue"})
        with pytest.raises(e.InputTruncated, match="512"):
            run(server, lambda c: call(c, Prompt("p", "h", "", "the door is blue " * 400)))


async def drained(stream: Any) -> None:
    async for _ in stream:
        pass


# ------------------------------------------------------------ many calls


def test_calls_are_bounded_and_results_come_in_order() -> None:
    with OllamaServer(latency=0.02) as server:
        server.brain = lambda body: say_json({"colour": body["messages"][-1]["content"]})
        told: list[tuple[str, int, int | None]] = []

        async def use(client: ModelClient) -> list[Any]:
            async def call(n: int) -> str:
                return (await client.structured(Prompt("p", "h", "", str(n)), SCHEMA, check=lambda v: v["colour"])).value

            return [(item, outcome) async for item, outcome in client.each(range(12), call, stage="read", progress=lambda *p: told.append(p))]

        assert run(server, use, limits=Limits(parallel=3)) == [(n, str(n)) for n in range(12)]
        assert server.most_at_once == 3 and told == [("read", n, 12) for n in range(1, 13)]


def test_one_failure_is_one_item_s_and_a_server_that_is_down_is_asked_no_more() -> None:
    with OllamaServer() as server:
        def brain(body: Any) -> Any:
            n = int(body["messages"][1]["content"])
            return Say("") if n == 1 else Status(503) if n == 4 else say_json({"colour": str(n)})

        server.brain = brain

        async def use(client: ModelClient) -> list[Any]:
            async def call(n: int) -> str:
                return (await client.structured(Prompt("p", "h", "s", str(n)), SCHEMA, check=lambda v: v["colour"])).value

            return [outcome async for _, outcome in client.each(range(40), call)]

        found = run(server, use, limits=Limits(parallel=1, pause=0.001))
        assert found[0] == "0" and isinstance(found[1], e.AnswerEmpty) and found[2:4] == ["2", "3"]
        assert isinstance(found[4], e.ServerFailed) and all(isinstance(one, e.ServerFailed) for one in found[7:]) and len(found) == 40
        assert len({body["messages"][1]["content"] for body in server.asked()}) <= 7


@pytest.mark.parametrize("use", [ask, read])
def test_a_cancelled_call_ends_at_once_and_closes_its_connection(use: Callable[[ModelClient], Awaitable[Any]]) -> None:
    with OllamaServer() as server:
        server.script(Hang(20))

        async def cancelled(client: ModelClient) -> None:
            task = asyncio.ensure_future(use(client))
            while not server.asked():
                await asyncio.sleep(0.005)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

        started = time.monotonic()
        run(server, cancelled, limits=Limits(call=30))
        assert time.monotonic() - started < 5
        while server.at_once and time.monotonic() - started < 5:
            time.sleep(0.01)
        assert server.cancelled == 1


def test_notes_go_to_the_named_host_whatever_the_environment_says(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.setenv("OLLAMA_HOST", "http://127.0.0.1:9")
    with OllamaServer() as server:
        server.script(say_json({"colour": "blue"}))
        assert run(server, ask).value == "blue"
