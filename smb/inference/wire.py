"""What the two clients of Ollama share: how they connect, what its failures mean, and when a call is sent again.

Owns the mapping from the official package's exceptions to `model_errors`, and the patience of calls. Never follows a
redirect and never takes a proxy from the environment: what notes say goes to the named host and nowhere else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from smb.inference.model_errors import (
    AnswerMalformed,
    AnswerTruncated,
    CallTimedOut,
    ModelError,
    ModelMissing,
    RequestRefused,
    ServerFailed,
    ServerUnreachable,
    brief,
)

if TYPE_CHECKING:
    from ollama import AsyncClient, Client

    from smb.inference.model_choice import InstalledModel

PASSING = frozenset({408, 425, 429, 500, 502, 503, 504})
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


def async_client(host: str, limits: Limits) -> AsyncClient:
    """The official asynchronous client, for that host only."""
    from ollama import AsyncClient

    return AsyncClient(host, timeout=_timeout(limits), follow_redirects=False, trust_env=False)


def sync_client(host: str, limits: Limits) -> Client:
    """The official blocking client, for that host only."""
    from ollama import Client

    return Client(host, timeout=_timeout(limits), follow_redirects=False, trust_env=False)


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
        raise from_status(host, model, error.status_code, str(error.error)) from error
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
    except (ValueError, TypeError, AttributeError) as error:  # what the package makes of cut or foreign JSON; pydantic's own error is a ValueError
        raise ServerUnreachable(host, f"it does not answer as Ollama does ({type(error).__name__} while it was {what})") from error


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
    """The models of a reply to /api/tags, by name."""
    from smb.inference.model_choice import InstalledModel, parameters_of

    return tuple(sorted((
        InstalledModel(m.model, m.digest or "", int(m.size or 0), (m.details.family if m.details else "") or "",
                       parameters_of(m.details.parameter_size if m.details else None))
        for m in listed.models if m.model), key=lambda m: m.name))


def context_from(shown: Any) -> int:
    """The longest context a model was made for, from /api/show; 0 where the server doesn't say."""
    lengths = [value for key, value in (shown.modelinfo or {}).items() if key.endswith(".context_length") and isinstance(value, int)]
    return max(lengths, default=0)


def malformed(model: str, error: ValueError) -> AnswerMalformed:
    """A `check` that refused a value, as an answer that can't be used."""
    return AnswerMalformed(model, brief(str(error)) or "a check refused it")


def _innermost(error: BaseException) -> str:
    """The operating system's own words, under what the libraries wrapped around them."""
    seen: BaseException = error
    while (inner := seen.__cause__ or seen.__context__) is not None:
        seen = inner
    return brief(getattr(seen, "strerror", None) or str(seen) or type(seen).__name__)
