"""What the two clients of Ollama share: how they connect, what its failures mean, and when a call is sent again.

Owns the mapping from the official package's exceptions to `model_errors`, and the patience of calls. Never follows a
redirect and never takes a proxy from the environment: what notes say goes to the named host and nowhere else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from smb.inference.model_choice import InstalledModel, parameters_of
from smb.inference.model_errors import (
    AnswerMalformed,
    AnswerTruncated,
    CallTimedOut,
    ModelError,
    ModelMissing,
    ReplyRefused,
    RequestRefused,
    ServerFailed,
    ServerUnreachable,
    brief,
)

if TYPE_CHECKING:
    from ollama import AsyncClient, Client, ResponseError

REPLY_BYTES = 2_000_000  # of a reply, at least: read as JSON it takes some thirty times as much at worst
PASSING = frozenset({408, 425, 429, 500, 502, 503, 504})
_PART_BYTES = 256  # one token of a streamed answer, with what is sent around it
_LONGEST_NAME = 400
_LONGEST_ERROR = 2000
_TIMED_OUT_TRIES = 2  # a call that ran into its time has cost that time already
_TOO_LONG = re.compile(r"(?:exceeds|longer than|too long|too large).{0,40}?(?:context|maximum|batch)|(?:context|input) length", re.IGNORECASE)
_DETERMINISTIC = re.compile(r"grammar|schema|does not support|unsupported|invalid", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Limits:
    """The patience and the sizes of calls: seconds, tokens, calls at once."""

    connect: float = 5.0
    call: float = 300.0  # loading a large model takes a minute before the first word
    tries: int = 3
    pause: float = 0.5  # before the second try; four times as long before each further one
    parallel: int = 2
    context: int = 8192
    answer: int = 1536
    keep_alive: str = "10m"


@dataclass(slots=True)
class ReplyBounds:
    """What a reply of `host` may take: bytes, and seconds from its first to its last."""

    host: str
    bytes: int
    seconds: float

    def refusal(self, headers: Mapping[str, str]) -> ReplyRefused | None:
        """Why a reply with these headers isn't read at all."""
        if headers.get("content-encoding", "").strip().lower() not in ("", "identity"):
            return ReplyRefused(self.host, "it is compressed, though that was not asked for")
        announced = headers.get("content-length", "")
        return self.too_long() if announced.isdecimal() and int(announced) > self.bytes else None

    def too_long(self) -> ReplyRefused:
        return ReplyRefused(self.host, f"it is longer than the {self.bytes / 1e6:.1f} MB smb reads of one")


def async_client(host: str, limits: Limits) -> AsyncClient:
    """The official asynchronous client, for that host only."""
    from ollama import AsyncClient

    from smb.inference.bounded_reply import UNCOMPRESSED, AsyncBoundedTransport

    transport = AsyncBoundedTransport(bounds(host, limits))
    return AsyncClient(host, timeout=_timeout(limits), follow_redirects=False, trust_env=False, headers=UNCOMPRESSED, transport=transport)


def sync_client(host: str, limits: Limits, bounds: ReplyBounds) -> Client:
    """The official blocking client, for that host only."""
    from ollama import Client

    from smb.inference.bounded_reply import UNCOMPRESSED, BoundedTransport

    return Client(host, timeout=_timeout(limits), follow_redirects=False, trust_env=False, headers=UNCOMPRESSED, transport=BoundedTransport(bounds))


def bounds(host: str, limits: Limits) -> ReplyBounds:
    """What a reply may take: no answer has more tokens than the context."""
    return ReplyBounds(host, max(REPLY_BYTES, limits.context * _PART_BYTES), limits.call)


def _timeout(limits: Limits) -> Any:
    import httpx

    return httpx.Timeout(limits.call, connect=limits.connect)


@contextmanager
def failures(host: str, model: str, limits: Limits, what: str) -> Iterator[None]:
    """Raises ModelError for whatever the official client raises inside; `what` is what the server was to do."""
    import httpx
    import ollama

    try:
        yield
    except ollama.ResponseError as error:
        raise from_status(host, model, error.status_code, said_by(error)) from error
    except (TimeoutError, httpx.ReadTimeout, httpx.WriteTimeout, httpx.PoolTimeout) as error:
        raise CallTimedOut(host, what, limits.call) from error
    except httpx.ConnectTimeout as error:
        raise ServerUnreachable(host, f"no connection within {limits.connect:g} s") from error
    except (ConnectionError, httpx.ConnectError) as error:
        raise ServerUnreachable(host, _innermost(error)) from error
    except httpx.TransportError as error:
        raise ServerUnreachable(host, f"the connection broke while it was {what} ({brief(str(error)) or type(error).__name__})") from error
    except httpx.InvalidURL as error:
        raise ServerUnreachable(host, f"no address that can be used ({error})") from error
    except (ValueError, TypeError, AttributeError, RecursionError) as error:  # what the package makes of cut, deep or foreign JSON; pydantic's own is a ValueError
        raise ServerUnreachable(host, f"it does not answer as Ollama does ({type(error).__name__} while it was {what})") from error


def said_by(error: ResponseError) -> str:
    """The words of an error, as far as anybody would read them."""
    return error.error[:_LONGEST_ERROR] if isinstance(error.error, str) else "what it says is no text"


def from_status(host: str, model: str, status: int, said: str) -> ModelError:
    """What an HTTP status and its words mean. -1 is an error within a stream that began well."""
    if status == 404 and re.search(r"\bmodel\b.*\bnot found|try pulling", said, re.IGNORECASE):
        return ModelMissing(model, host)
    if status == -1:
        return AnswerTruncated(model, f"the server stopped: {brief(said)}")
    if status in PASSING and not too_long(said) and not (status == 500 and _DETERMINISTIC.search(said)):
        return ServerFailed(host, status, said)
    return RequestRefused(host, status, said)


def too_long(said: str) -> bool:
    """Whether a server's words say that the input is longer than the model takes; servers say so with 400 and with 500."""
    return bool(_TOO_LONG.search(said))


def pause_before_retry(error: ModelError, tried: int, limits: Limits) -> float | None:
    """Seconds to wait before another try after `tried` of them failed; None when there is to be none."""
    if not error.passing or tried >= (min(limits.tries, _TIMED_OUT_TRIES) if isinstance(error, CallTimedOut) else limits.tries):
        return None
    return limits.pause * 4 ** (tried - 1)


def installed_from(listed: Any) -> tuple[InstalledModel, ...]:
    """The models of a reply to /api/tags, by name. An entry that isn't as Ollama writes it is left out; ValueError where there is no list."""
    found = []
    for entry in _entries(listed):
        match entry:
            case {"model": str(name), "digest": str(digest), "size": int(size)} if size >= 0 and digest and _nameable(name) and _nameable(digest):
                details = entry.get("details")
                said = {key: value for key, value in details.items() if isinstance(value, str)} if isinstance(details, dict) else {}
                found.append(InstalledModel(name, digest, size, said.get("family", ""), parameters_of(said.get("parameter_size"))))
    return tuple(sorted(found, key=lambda model: model.name))


def running_from(listed: Any) -> dict[str, int]:
    """The context of each model in a reply to /api/ps, 0 where it isn't said. As `installed_from`."""
    contexts = {}
    for entry in _entries(listed):
        match entry:
            case {"model": str(name)} | {"name": str(name)} if _nameable(name):
                context = entry.get("context_length")
                contexts[name] = context if isinstance(context, int) and context > 0 else 0
    return contexts


def _entries(listed: Any) -> list[Any]:
    """What a reply lists as models. ValueError where it lists none, not even an empty list."""
    if not isinstance(listed, dict) or not isinstance(listed.get("models", ""), list | None):
        raise ValueError("no list of models")
    return listed["models"] or []


def version_from(raw: Any) -> str:
    """The version a reply to /api/version tells. Raises ValueError."""
    match raw:
        case {"version": str(version)} if _nameable(version):
            return version
    raise ValueError("no version")


def context_from(shown: Any) -> int:
    """The longest context a model was made for, from /api/show; 0 where the server doesn't say."""
    return max(_numbers(shown, ".context_length"), default=0)


def dimension_from(shown: Any) -> int:
    """Numbers in a vector of an embedding model, from /api/show; 0 where the server doesn't say."""
    return next(iter(_numbers(shown, ".embedding_length")), 0)


def _numbers(shown: Any, ending: str) -> list[int]:
    return [value for key, value in sorted((shown.modelinfo or {}).items()) if key.endswith(ending) and isinstance(value, int) and value > 0]


def _nameable(name: str) -> bool:
    """Whether a name can be shown and typed again."""
    return 0 < len(name) <= _LONGEST_NAME and name.isprintable() and not any(map(str.isspace, name))


def malformed(model: str, error: ValueError) -> AnswerMalformed:
    """A `check` that refused a value, as an answer that can't be used."""
    return AnswerMalformed(model, brief(str(error)) or "a check refused it")


def _innermost(error: BaseException) -> str:
    """The operating system's own words, under what the libraries wrapped around them."""
    seen: BaseException = error
    while (inner := seen.__cause__ or seen.__context__) is not None:
        seen = inner
    return brief(getattr(seen, "strerror", None) or str(seen) or type(seen).__name__)
