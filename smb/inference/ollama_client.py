"""The client of language models: an answer by schema, or as a stream of text, or one error that says what to do.

Owns what is sent to Ollama and what is taken for an answer. A prompt that may not fit is not sent; an answer that is
empty, cut off or of another shape is none; what can pass is tried again, an unusable answer is asked for once more, and
then it is an error. Never keeps a part of a failed answer, and never takes another model than the one chosen.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

from smb.inference import token_estimate, wire
from smb.inference.model_choice import InstalledModel, choose
from smb.inference.model_errors import (
    AnswerEmpty,
    AnswerRejected,
    AnswerTruncated,
    InputTruncated,
    ModelError,
    ModelUnavailable,
    ModelUnfit,
    PromptTooLong,
    brief,
)
from smb.inference.prompts import Prompt
from smb.inference.structured_output import read_json
from smb.inference.thinking import ThinkingFilter
from smb.inference.wire import Limits

if TYPE_CHECKING:
    from ollama import AsyncClient, ChatResponse

T = TypeVar("T")
Item = TypeVar("Item")
Progress = Callable[[str, int, int | None], None]
MESSAGE_TOKENS = 16  # what a template puts around one message, at most
TOKEN_CHARACTERS = 32  # of an answer, on the whole: one token may have more, a text of them doesn't
TOKEN_PARTS = 4  # a stream has a part for each token; a proxy may cut them finer
AGAIN = "Your last answer can't be used: {reason}. Answer the same question again, with JSON of the asked shape and nothing else."
_SHOWN_AGAIN = 2000  # characters of a rejected answer that the model is shown


@dataclass(frozen=True, slots=True)
class ModelInUse:
    """The model all calls of a client go to. `context` is the tokens one call may hold, `longest` what it was made for (0: unsaid)."""

    name: str
    digest: str
    why: str
    context: int
    longest: int

    def actor(self, prompt: Prompt) -> str:
        """Who made what came of a prompt: the model with its digest, and the prompt with its hash."""
        return f"model:{self.name}@{self.digest[:12]} prompt:{prompt.name}@{prompt.hash}"


@dataclass(frozen=True, slots=True)
class Reply(Generic[T]):
    """A checked answer and what it came from. Tokens are the server's counts (0 where it gives none)."""

    value: T
    model: str
    digest: str
    actor: str
    prompt: str  # the hash of the prompt's file
    prompt_tokens: int
    answer_tokens: int
    asked: int  # 1, or 2 where the first answer could not be used


class ModelClient:
    """Calls to one Ollama server with one model. An async context manager, for one event loop.

    `model` is the configured name, empty for the best installed; `origin` says who configured it. No request is sent
    before the first call. Every method raises ModelError.
    """

    def __init__(self, host: str, model: str = "", *, origin: str = "the settings", limits: Limits = Limits(),
                 sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        self.host = host
        self.limits = limits
        self._configured, self._origin, self._sleep = model, origin, sleep
        self._client: AsyncClient | None = None
        self._in_use: ModelInUse | None = None
        self._choosing = asyncio.Lock()
        self._slots = asyncio.Semaphore(limits.parallel)
        self._says_think = True  # until the server refuses to be told not to

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._client is not None:
            await self._client.close()
            self._client = None

    # ------------------------------------------------------------ what is there

    async def version(self) -> str:
        """The server's version: that it answers at all."""
        return await self._patiently(lambda: self._told("version", wire.version_from), "telling its version")

    async def installed(self) -> tuple[InstalledModel, ...]:
        """Every model on the server, by name."""
        return await self._patiently(lambda: self._told("tags", wire.installed_from), "listing its models")

    async def in_use(self) -> ModelInUse:
        """The model calls go to, chosen at the first call. Raises ModelMissing, NoModelInstalled, ModelElsewhere, ModelUnfit."""
        async with self._choosing:
            if self._in_use is None:
                choice = choose(self._configured, await self.installed(), self.host, self._origin)
                name = choice.model.name
                shown = await self._patiently(lambda: self._ollama().show(name), f"describing {name}", name)
                if shown.capabilities and "completion" not in shown.capabilities:
                    raise ModelUnfit(name, "write", shown.capabilities)
                longest = wire.context_from(shown)
                context = min(self.limits.context, longest or self.limits.context)
                self._in_use = ModelInUse(name, choice.model.digest, choice.why, context, longest)
            return self._in_use

    async def running(self) -> Mapping[str, int]:
        """Models loaded now and the context each was loaded with (0 where the server doesn't say)."""
        return await self._patiently(lambda: self._told("ps", wire.running_from), "listing what it runs")

    async def _told(self, what: str, read: Callable[[Any], T]) -> T:
        """What the server says of itself. The package refuses a whole list for one odd entry, and knows no version."""
        return read((await self._ollama()._request_raw("GET", f"/api/{what}")).json())

    # ------------------------------------------------------------ asking

    async def structured(self, prompt: Prompt, schema: Mapping[str, Any], *, check: Callable[[Any], T], answer_tokens: int | None = None) -> Reply[T]:
        """The answer to `prompt` as JSON that fits `schema`, passed through `check`.

        `check` gives the typed value, or raises ValueError saying what is wrong; it must change nothing. A first answer
        that can't be used is asked for once more, told why. Raises PromptTooLong, InputTruncated, AnswerRejected,
        ModelUnavailable, RequestRefused.
        """
        model = await self.in_use()
        room = answer_tokens or self.limits.answer
        messages = _messages(prompt)
        self.measure(prompt, room, model)
        async with self._slots:
            response: ChatResponse | None = None
            try:
                response = await self._chat(model, messages, room, schema)
                return self._reply(model, prompt, messages, response, room, schema, check, 1)
            except AnswerRejected as rejected:
                more = 2 * room if isinstance(rejected, AnswerTruncated) else room
                again, fits = self._again(model, messages, response, rejected, room, more)
            response = await self._chat(model, again, fits, schema)
            return self._reply(model, prompt, again, response, fits, schema, check, 2)

    async def stream(self, prompt: Prompt, *, answer_tokens: int | None = None) -> AsyncIterator[str]:
        """The answer to `prompt` in pieces as they are made, without what the model thinks aloud.

        What was given out before an error is worth nothing. Raises what `structured` does, the last of it at the end.
        """
        model = await self.in_use()
        room = answer_tokens or self.limits.answer
        messages = _messages(prompt)
        self.measure(prompt, room, model)
        thinking = ThinkingFilter(model.name)
        said = False
        async with self._slots, aclosing(self._stream(model, messages, room)) as parts:
            last: ChatResponse | None = None
            async for part in parts:
                last = part
                if text := thinking.feed(_sendable(part.message.content or "")):
                    said = said or bool(text.strip())
                    yield text
        if last is None or not last.done:
            raise AnswerTruncated(model.name, "the stream ends before the answer does")
        self._complete(model, messages, last)
        if text := thinking.rest():
            said = said or bool(text.strip())
            yield text
        if not said:
            raise AnswerEmpty(model.name)

    async def each(self, items: Sequence[Item], call: Callable[[Item], Awaitable[T]], *, stage: str = "model",
                   progress: Progress | None = None) -> AsyncIterator[tuple[Item, T | ModelError]]:
        """`call` on every item, several at once; yields each with its result or its ModelError, in the order of `items`.

        Once no call can be answered (ModelUnavailable) the rest are given that error without being called. Closing the
        iterator cancels what runs.
        """
        waiting = deque(items)
        running: deque[tuple[Item, asyncio.Task[T]]] = deque()
        down: ModelUnavailable | None = None
        done = 0
        try:
            while waiting or running:
                while waiting and down is None and len(running) < 2 * self.limits.parallel:
                    item = waiting.popleft()
                    running.append((item, asyncio.ensure_future(call(item))))
                outcome: T | ModelError
                if running:
                    item, task = running.popleft()
                    try:
                        outcome = await task
                    except ModelError as error:
                        outcome = error
                        down = down or (error if isinstance(error, ModelUnavailable) else None)
                else:
                    assert down is not None
                    item, outcome = waiting.popleft(), down
                done += 1
                if progress:
                    progress(stage, done, len(items))
                yield item, outcome
        finally:
            for _, task in running:
                task.cancel()
            await asyncio.gather(*(task for _, task in running), return_exceptions=True)

    def measure(self, prompt: Prompt, answer: int, model: ModelInUse) -> int:
        """Tokens of a prompt, never too few: its bytes, where even these fit. Raises PromptTooLong where they and the answer exceed the context."""
        messages = _messages(prompt)
        most = sum(len(message["content"].encode()) + MESSAGE_TOKENS for message in messages)
        if most + answer <= model.context:
            return most
        tokens = _tokens(messages)
        if tokens + answer > model.context:
            raise PromptTooLong(prompt.name, tokens, answer, model.context)
        return tokens

    # ------------------------------------------------------------ one call

    def _reply(self, model: ModelInUse, prompt: Prompt, messages: Sequence[Mapping[str, str]], response: ChatResponse, room: int,
               schema: Mapping[str, Any], check: Callable[[Any], T], asked: int) -> Reply[T]:
        self._complete(model, messages, response)
        if len(response.message.content or "") > room * TOKEN_CHARACTERS:
            raise _beyond(model, room)
        value = read_json(model.name, response.message.content or "", schema)
        try:
            checked = check(value)
        except ValueError as error:
            raise wire.malformed(model.name, error) from error
        return Reply(checked, model.name, model.digest, model.actor(prompt), prompt.hash, response.prompt_eval_count or 0, response.eval_count or 0, asked)

    def _complete(self, model: ModelInUse, messages: Sequence[Mapping[str, str]], response: ChatResponse) -> None:
        """Raises InputTruncated, AnswerTruncated or AnswerEmpty where a reply is not the whole answer to the whole prompt."""
        read = response.prompt_eval_count or 0
        least = sum(token_estimate.at_least(message["content"]) for message in messages)
        if read and (read < least or read >= model.context):
            raise InputTruncated(model.name, read, least, model.context)
        if not response.done:
            raise AnswerTruncated(model.name, "the server does not call it done")
        if response.done_reason == "length":
            raise AnswerTruncated(model.name, f"it ran into the limit of {response.eval_count or 'its'} tokens")
        if response.done_reason not in (None, "", "stop"):
            raise AnswerTruncated(model.name, f"the server ended it: {brief(response.done_reason)}")
        if not (response.message.content or "").strip() and not response.eval_count:
            raise AnswerEmpty(model.name)

    def _again(self, model: ModelInUse, messages: list[dict[str, str]], response: ChatResponse | None, rejected: AnswerRejected, room: int,
               more: int) -> tuple[list[dict[str, str]], int]:
        """What to send after an unusable answer, and the room for its answer: what was wrong where that can help and fits."""
        said = _sendable((response.message.content or "").strip()[:_SHOWN_AGAIN]) if response else ""
        told = [*messages, {"role": "assistant", "content": said}, {"role": "user", "content": AGAIN.format(reason=_sendable(rejected.reason))}]
        if said and not isinstance(rejected, AnswerTruncated) and _tokens(told) + room <= model.context:
            return told, room
        return messages, max(room, min(more, model.context - _tokens(messages)))

    async def _chat(self, model: ModelInUse, messages: Sequence[Mapping[str, str]], room: int, schema: Mapping[str, Any]) -> ChatResponse:
        async def ask() -> ChatResponse:
            return await self._ollama().chat(model.name, messages, stream=False, format=dict(schema), **self._options(model, room))

        return await self._patiently(lambda: self._unthinking(ask), "answering", model.name)

    async def _stream(self, model: ModelInUse, messages: Sequence[Mapping[str, str]], room: int) -> AsyncIterator[ChatResponse]:
        """Parts of a streamed reply, as long as there is time and room. Tried again only while nothing has come."""
        async def first() -> tuple[AsyncIterator[ChatResponse], ChatResponse | None]:
            parts = await self._ollama().chat(model.name, messages, stream=True, **self._options(model, room))
            return parts, await anext(parts, None)

        now = asyncio.get_running_loop().time
        deadline = now() + self.limits.call * self.limits.tries
        parts, part = await self._patiently(lambda: self._unthinking(first), "answering", model.name)
        async with aclosing(parts):
            came = said = 0
            while part is not None:
                came += 1
                said += len(part.message.content or "") + len(part.message.thinking or "")
                if came > room * TOKEN_PARTS + TOKEN_PARTS or said > room * TOKEN_CHARACTERS:
                    raise _beyond(model, room)
                yield part
                with wire.failures(self.host, model.name, self.limits, "answering"):
                    if now() > deadline:  # parts that have come already are read without a pause in which a timeout could strike
                        raise TimeoutError
                    async with asyncio.timeout_at(deadline):
                        part = await anext(parts, None)

    def _options(self, model: ModelInUse, room: int) -> dict[str, Any]:
        return {
            "think": False if self._says_think else None, "keep_alive": self.limits.keep_alive,
            "options": {"temperature": 0, "seed": 0, "num_ctx": model.context, "num_predict": room},
        }

    async def _unthinking(self, ask: Callable[[], Awaitable[T]]) -> T:
        """`ask`, once more without `think` where the server or the model won't be told."""
        import ollama

        try:
            return await ask()
        except ollama.ResponseError as error:
            if not self._says_think or error.status_code not in (400, 422) or "think" not in wire.said_by(error).lower():
                raise
            self._says_think = False
        return await ask()

    async def _patiently(self, ask: Callable[[], Awaitable[T]], what: str, model: str = "") -> T:
        """`ask` within its time, tried again after failures that can pass. Raises ModelError."""
        tried = 0
        while True:
            try:
                with wire.failures(self.host, model, self.limits, what):
                    async with asyncio.timeout(self.limits.call):
                        return await ask()
            except ModelError as error:
                tried += 1
                pause = wire.pause_before_retry(error, tried, self.limits)
                if pause is None:
                    raise
            await self._sleep(pause)

    def _ollama(self) -> AsyncClient:
        if self._client is None:
            self._client = wire.async_client(self.host, self.limits)
        return self._client


def _messages(prompt: Prompt) -> list[dict[str, str]]:
    said = [("system", prompt.system), ("user", prompt.user)]
    return [{"role": role, "content": _sendable(text)} for role, text in said if text]


def _sendable(text: str) -> str:
    """`text` with lone halves of characters replaced: no encoding has them."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _tokens(messages: Sequence[Mapping[str, str]]) -> int:
    return sum(token_estimate.at_most(message["content"]) + MESSAGE_TOKENS for message in messages)


def _beyond(model: ModelInUse, room: int) -> AnswerTruncated:
    return AnswerTruncated(model.name, f"the server goes on beyond the {room} tokens it was allowed")
