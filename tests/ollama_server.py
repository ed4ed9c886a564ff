"""A server on loopback that speaks Ollama's protocol, with scripted replies and faults; the official client talks to it unmodified.

`with OllamaServer() as server:` listens at `server.host`. `server.script(...)` queues replies for the next calls of a
path (chat by default), each used once; then `server.brain`, a function of the request's body, answers. Every request is
kept in `server.requests`. Truncates a prompt to `num_ctx` in silence, as the real one does.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import socket
import struct
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from ollama_replies import (  # noqa: F401 - tests take them from here
    DIGEST,
    STAMP,
    VECTORS,
    WORDS,
    CutStream,
    Flood,
    Hang,
    Live,
    Model,
    Raw,
    Redirect,
    Reset,
    Say,
    Scripted,
    Status,
    StreamError,
    Vectors,
    length,
    say_json,
)

Brain = Callable[[Mapping[str, Any]], "Scripted"]


@dataclass(frozen=True)
class Request:
    path: str
    body: dict[str, Any]
    headers: Mapping[str, str] = field(default_factory=dict)


def tokens(text: str) -> int:
    """The server's tokenizer: four letters of a word a token, any other character but spaces a token each."""
    return sum(math.ceil(len(piece) / 4) if piece.isascii() and piece.isalpha() and len(piece) < 24 else len(piece) for piece in re.findall(r"[A-Za-z]+|\S", text))


def embedding(text: str, dimension: int) -> list[float]:
    """A vector of length 1 that depends on the words of `text` only, so that texts with words in common are near."""
    total = [0.0] * dimension
    for word in re.findall(r"\w+", text.lower()) or [""]:
        for n in range(4):
            drawn = hashlib.sha256(f"{n}{word}".encode()).digest()
            total[int.from_bytes(drawn[:4], "big") % dimension] += 1.0 if drawn[4] & 1 else -1.0
    norm = math.sqrt(sum(x * x for x in total)) or 1.0
    return [x / norm for x in total]


class OllamaServer:
    """Started on entry, stopped on exit."""

    def __init__(self, *models: Model, brain: Brain | None = None, latency: float = 0.0, version: str = "0.12.3"):
        self.models = list(models or (WORDS, VECTORS))
        self.brain: Brain = brain or (lambda body: Say("{}"))
        self.latency = latency
        self.version = version
        self.requests: list[Request] = []
        self.refuses_think = False  # answers 400 to any `think`
        self.num_ctx_limit = 0  # a context the server never goes beyond (OLLAMA_CONTEXT_LENGTH)
        self.at_once = self.most_at_once = 0
        self.cancelled = 0  # calls whose client went away while the server was at work
        self.flooded = 0  # bytes of floods that were sent
        self.loaded: dict[str, int] = {}  # model → the context it was last loaded with, as /api/ps tells
        self.lock = threading.Lock()
        self._scripts: dict[str, deque[Scripted]] = defaultdict(deque)
        self._server = _Listener(("127.0.0.1", 0), _Handler)
        self._server.ollama = self
        self.host = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self._stopping = threading.Event()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()

    def stop(self) -> None:
        """From now on connections are refused."""
        if not self._stopping.is_set():
            self._stopping.set()
            if self._thread.is_alive():
                self._server.shutdown()
            self._server.server_close()

    def script(self, *replies: Scripted, to: str = "/api/chat") -> None:
        """The next calls of that path are answered with these, in turn."""
        self._scripts[to].extend(replies)

    def unscript(self) -> None:
        """Forgets the replies that are still queued."""
        self._scripts.clear()

    def next(self, path: str, body: Mapping[str, Any]) -> Scripted | None:
        with self.lock:
            queue = self._scripts[path]
            if queue:
                return queue.popleft()
        return self.brain(body) if path in ("/api/chat", "/api/generate") else None

    def asked(self, path: str = "/api/chat") -> list[dict[str, Any]]:
        """The bodies of the requests to a path, in order."""
        return [request.body for request in self.requests if request.path == path]

    def find(self, name: str) -> Model | None:
        return next((m for m in self.models if m.name == name or m.name == f"{name}:latest"), None)

    def wait(self, seconds: float) -> None:
        self._stopping.wait(seconds)


class _Listener(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64
    ollama: OllamaServer

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients go away in tests; that is no news."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Listener

    def log_message(self, format: str, *args: Any) -> None: ...

    def do_GET(self) -> None:
        self._serve({})

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self._serve(json.loads(body) if body else {})

    def _serve(self, body: dict[str, Any]) -> None:
        ollama = self.server.ollama
        if ollama._stopping.is_set():
            return self._reset(0)
        with ollama.lock:
            ollama.requests.append(Request(self.path, body, dict(self.headers.items())))
            ollama.at_once += 1
            ollama.most_at_once = max(ollama.most_at_once, ollama.at_once)
        try:
            if ollama.latency and self.path in ("/api/chat", "/api/generate", "/api/embed"):
                time.sleep(ollama.latency)
            self._answer(ollama, body)
        finally:
            with ollama.lock:
                ollama.at_once -= 1

    def _answer(self, ollama: OllamaServer, body: dict[str, Any]) -> None:
        if self.path in ("/api/chat", "/api/generate", "/api/embed", "/api/show"):
            model = ollama.find(str(body.get("model", "")))
            if model is None:
                return self._error(404, f"model '{body.get('model')}' not found")
            if "think" in body and body["think"] is not None and ollama.refuses_think:
                return self._error(400, f'"{body["model"]}" does not support thinking')
        reply = ollama.next(self.path, body)
        match reply:
            case Status(code, said, raw):
                return self._send(code, raw if raw is not None else json.dumps({"error": said}).encode())
            case Raw(data, headers):
                return self._send(200, data, headers)
            case Flood():
                return self._flood(ollama, reply)
            case Redirect(to):
                self.send_response(307)
                self.send_header("Location", to)
                self.send_header("Content-Length", "0")
                return self.end_headers()
            case Reset(after):
                return self._reset(after)
            case Hang(seconds):
                if self._gone_within(seconds):
                    ollama.cancelled += 1
                self.close_connection = True
                return None
        match self.path:
            case "/api/version":
                self._json({"version": ollama.version})
            case "/api/tags":
                self._json({"models": [_listed(m) for m in ollama.models]})
            case "/api/ps":
                self._json({"models": [{**_listed(m), "context_length": ollama.loaded[m.name], "expires_at": STAMP, "size_vram": 0} for m in ollama.models if m.name in ollama.loaded]})
            case "/api/show":
                self._json(_shown(model))
            case "/api/chat" | "/api/generate":
                self._words(ollama, model, body, reply)
            case "/api/embed":
                self._embed(model, body, reply)
            case _:
                self._error(404, "404 page not found")

    # ------------------------------------------------------------ words

    def _words(self, ollama: OllamaServer, model: Model, body: dict[str, Any], reply: Scripted) -> None:
        chat = self.path == "/api/chat"
        sent = "\n".join(m.get("content") or "" for m in body.get("messages", ())) if chat else f"{body.get('system') or ''}\n{body.get('prompt') or ''}"
        context = min(filter(None, (int((body.get("options") or {}).get("num_ctx") or 4096), model.context, ollama.num_ctx_limit)))
        ollama.loaded[model.name] = context
        read = min(tokens(sent), context)

        def part(text: str, **more: Any) -> dict[str, Any]:
            held = {"message": {"role": "assistant", "content": text}} if chat else {"response": text}
            return {"model": body["model"], "created_at": STAMP, **held, "done": False, **more}

        def last(said: Say, text: str) -> dict[str, Any]:
            counts = {"prompt_eval_count": read if said.prompt_tokens == -1 else said.prompt_tokens,
                      "eval_count": tokens(said.content) + 1 if said.answer_tokens == -1 else said.answer_tokens}
            end = part(text, done=said.done, done_reason=said.done_reason, total_duration=1, **counts)
            if said.thinking is not None:
                (end["message"] if chat else end)["thinking"] = said.thinking
            return {key: value for key, value in end.items() if value is not None}

        streamed = body.get("stream", True)
        if isinstance(reply, Say):
            if reply.delay and self._gone_within(reply.delay):
                ollama.cancelled += 1
                return
            if streamed:
                self._chunks([part(word) for word in re.findall(r"\S*\s*", reply.content) if word] + [last(reply, "")])
            else:
                self._json(last(reply, reply.content))
        elif isinstance(reply, Live):
            made = self._made(ollama, reply)
            if streamed:
                self._chunks(part(one) if isinstance(one, str) else last(one, "") for one in made)
            elif (whole := list(made)) and isinstance(said := whole[-1], Say):
                self._json(last(said, "".join(map(str, whole[:-1]))))
        elif isinstance(reply, (CutStream, StreamError)):
            words = [part(word) for word in re.findall(r"\S+\s*", reply.content)[: reply.words]]
            if isinstance(reply, StreamError):
                self._chunks([*words, {"error": reply.said}]) if streamed else self._error(500, reply.said)
            elif streamed:
                self._chunks(words)
            else:
                self._cut(json.dumps(last(Say(reply.content), reply.content)).encode())

    def _made(self, ollama: OllamaServer, reply: Live) -> Iterator[str | Say]:
        """The pieces as they come, until the client goes away."""
        done = False
        try:
            for one in reply.pieces:
                if self._gone_within(0):
                    return
                if one:
                    yield one
            done = True
        finally:
            if not done:
                ollama.cancelled += 1
                self.close_connection = True
            reply.pieces.close()

    def _chunks(self, parts: Iterable[dict[str, Any]]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/x-ndjson")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for one in parts:
            line = json.dumps(one, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"
            self.wfile.write(b"%x\r\n%s\r\n" % (len(line), line))
            self.wfile.flush()
        self.wfile.write(b"0\r\n\r\n")

    def _flood(self, ollama: OllamaServer, reply: Flood) -> None:
        """Ends with the client, or at a size no client should have taken."""
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        piece = reply.start or reply.part
        try:
            while not ollama._stopping.is_set() and ollama.flooded < 300_000_000:
                self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
                ollama.flooded += len(piece)
                piece = reply.part
                if reply.pause and self._gone_within(reply.pause):
                    break
        except OSError:
            ollama.cancelled += 1
        self.close_connection = True

    def _cut(self, data: bytes) -> None:
        """Half of a body whose length was announced whole."""
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data[: len(data) // 2])
        self.close_connection = True

    # ------------------------------------------------------------ vectors

    def _embed(self, model: Model, body: dict[str, Any], reply: Scripted | None) -> None:
        texts = [body["input"]] if isinstance(body["input"], str) else list(body["input"])
        context = min(int((body.get("options") or {}).get("num_ctx") or model.context), model.context)
        if isinstance(reply, Vectors):
            rows = reply.rows
        elif not model.dimension:
            return self._error(400, "this model does not support embeddings")
        elif body.get("truncate") is False and any(tokens(text) > context for text in texts):
            return self._error(400, "the input length exceeds the context length")
        else:
            rows = [embedding(text, body.get("dimensions") or model.dimension) for text in texts]
        self._json({"model": body["model"], "embeddings": rows, "total_duration": 1, "prompt_eval_count": sum(map(tokens, texts))})

    # ------------------------------------------------------------ bytes

    def _json(self, value: Any) -> None:
        self._send(200, json.dumps(value).encode())

    def _error(self, code: int, said: str) -> None:
        self._send(code, json.dumps({"error": said}).encode())

    def _send(self, code: int, data: bytes, headers: Mapping[str, str] = {}) -> None:
        self.send_response(code)
        for name, value in ({"Content-Type": "application/json; charset=utf-8", "Content-Length": str(len(data))} | dict(headers)).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def _reset(self, after: int) -> None:
        if after:
            self.wfile.write((b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n" + b'{"model":"x","message":' * 4000)[:after])
            self.wfile.flush()
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()
        self.close_connection = True

    def _gone_within(self, seconds: float) -> bool:
        """Waits, at most until the client goes away; whether it did."""
        end = time.monotonic() + seconds
        self.connection.setblocking(False)
        try:
            while not self.server.ollama._stopping.is_set():
                try:
                    if self.connection.recv(1, socket.MSG_PEEK) == b"":
                        return True
                except BlockingIOError:
                    if time.monotonic() >= end:
                        return False
                    time.sleep(0.005)
                except OSError:
                    return True
            return False
        finally:
            self.connection.setblocking(True)


def _listed(model: Model) -> dict[str, Any]:
    details = {"format": "gguf", "family": model.name.partition(":")[0], "families": None, "parameter_size": model.parameters, "quantization_level": "Q4_K_M"}
    return {"name": model.name, "model": model.name, "modified_at": STAMP, "size": model.size, "digest": model.digest, "details": details}


def _shown(model: Model) -> dict[str, Any]:
    family = model.name.partition(":")[0]
    info = {"general.architecture": family, f"{family}.context_length": model.context, f"{family}.embedding_length": model.dimension or 4096}
    shown = {"modelfile": "", "parameters": "", "template": "{{ .Prompt }}", "details": _listed(model)["details"], "model_info": info, "modified_at": STAMP}
    return shown | ({"capabilities": list(model.capabilities)} if model.capabilities is not None else {})
