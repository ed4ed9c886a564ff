"""What the server of `ollama_server` has installed, and what a call to it can be answered with: words, vectors, faults."""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from typing import Any

DIGEST = "0123456789abcdef" * 4
STAMP = "2031-05-01T12:00:00Z"


@dataclass(frozen=True)
class Model:
    """One installed model. `context` is what it was made for; `dimension` makes it an embedding model."""

    name: str
    parameters: str = "8.2B"
    context: int = 32768
    dimension: int = 0
    size: int = 5_000_000_000
    digest: str = DIGEST
    capabilities: tuple[str, ...] | None = ("completion",)


WORDS = Model("qwen3:8b")
VECTORS = Model("nomic-embed-text:latest", "137M", 2048, 768, 274_000_000, "fedcba9876543210" * 4, ("embedding",))


# ------------------------------------------------------------ what a call can be answered with


@dataclass(frozen=True)
class Say:
    """An answer in words. `thinking` goes into the message's own field; None counts are left out."""

    content: str
    done_reason: str | None = "stop"
    done: bool = True
    thinking: str | None = None
    prompt_tokens: int | None = -1  # -1: counted
    answer_tokens: int | None = -1
    delay: float = 0.0


def say_json(value: Any) -> Say:
    return Say(json.dumps(value, ensure_ascii=False))


def length(content: str = "") -> Say:
    """An answer that ran into the limit of its tokens."""
    return Say(content, done_reason="length")


@dataclass(frozen=True)
class Live:
    """An answer sent while it is made: its pieces (an empty one is not sent), then how it ended, as a Say without words.

    The generator is closed when the client goes away.
    """

    pieces: Generator[str | Say, None, None]


@dataclass(frozen=True)
class Status:
    """An error by HTTP status; `said` is Ollama's {"error": …}, `raw` another body."""

    code: int
    said: str = "the server said no"
    raw: bytes | None = None


@dataclass(frozen=True)
class Raw:
    """A body as it is, with status 200 and these headers above others."""

    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Flood:
    """A reply that never ends: `start`, then `part` again and again with `pause` seconds between, until the client goes away."""

    start: bytes
    part: bytes
    pause: float = 0.0


@dataclass(frozen=True)
class Reset:
    """The connection is reset, after so many bytes of a reply."""

    after: int = 0


@dataclass(frozen=True)
class CutStream:
    """A stream (or a body of that length) that just stops after so many words."""

    content: str
    words: int = 1


@dataclass(frozen=True)
class StreamError:
    """A stream with {"error": …} in it after so many words."""

    content: str
    words: int = 1
    said: str = "an error was encountered while running the model"


@dataclass(frozen=True)
class Hang:
    """No byte for so many seconds, then the connection ends."""

    seconds: float = 5.0


@dataclass(frozen=True)
class Vectors:
    """An embed reply: these vectors whatever was asked."""

    rows: list[list[float]]


@dataclass(frozen=True)
class Redirect:
    to: str


Scripted = Say | Live | Status | Raw | Flood | Reset | CutStream | StreamError | Hang | Vectors | Redirect
