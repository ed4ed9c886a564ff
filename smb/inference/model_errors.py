"""Every way a call to a model can fail, as a sentence that says what to do.

Owns the tree below. `passing` says whether the same call may succeed later with nothing changed here; what isn't passing
is never sent again by itself.

    ModelError
    ├── ModelUnavailable             no call of any kind can be answered now
    │   ├── ServerUnreachable        passing: refused, reset, cut off
    │   ├── ServerFailed             passing: 429 and 5xx
    │   ├── CallTimedOut             passing
    │   ├── ReplyRefused             too long or compressed: what Ollama never sends
    │   ├── ModelMissing             the model asked for is not installed
    │   ├── NoModelInstalled         none was asked for, and none of the known ones is there
    │   ├── ModelElsewhere           the model runs on somebody else's computer
    │   └── ModelUnfit               the model can't do what it is wanted for
    ├── RequestRefused               a 4xx: the request itself is at fault
    ├── PromptTooLong                measured before it is sent
    ├── InputTruncated               the server read less than it was sent
    └── AnswerRejected               there is an answer, and it can't be used
        ├── AnswerEmpty
        ├── AnswerTruncated
        └── AnswerMalformed          no JSON, two answers, the schema itself, the wrong shape
"""

from __future__ import annotations

from collections.abc import Sequence

from smb.model.errors import SmbError

_CHECK = "`smb models check` shows what is the matter."


class ModelError(SmbError):
    """A call to a model that came to nothing."""

    passing = False


class ModelUnavailable(ModelError):
    """No call can be answered for now."""

    exit_code = 8


class ServerUnreachable(ModelUnavailable):
    passing = True

    def __init__(self, host: str, detail: str):
        super().__init__(f"Ollama at {host} can't be reached: {detail}. Start it with `ollama serve`, or set SMB_OLLAMA_HOST.")


class ServerFailed(ModelUnavailable):
    passing = True

    def __init__(self, host: str, status: int, said: str):
        self.status = status
        super().__init__(f"Ollama at {host} failed with status {status}: {brief(said)}. Try again later; its own log says more.")


class CallTimedOut(ModelUnavailable):
    passing = True

    def __init__(self, host: str, what: str, seconds: float):
        super().__init__(
            f"Ollama at {host} did not finish {what} within {seconds:g} s. Allow more with `smb config set model_timeout SECONDS`, or take a smaller model."
        )


class ReplyRefused(ModelUnavailable):
    """A reply that isn't read, for what it would take."""

    def __init__(self, host: str, why: str):
        super().__init__(f"A reply from {host} was refused: {why}. Nothing of it is kept. See that Ollama itself listens there, or set SMB_OLLAMA_HOST.")


class ModelMissing(ModelUnavailable):
    def __init__(self, name: str, host: str):
        self.name = name
        super().__init__(f"The model {name} is not installed at {host}. Get it with `ollama pull {name}`, or choose another with SMB_OLLAMA_MODEL.")


class NoModelInstalled(ModelUnavailable):
    def __init__(self, host: str, suggestion: str, installed: Sequence[str]):
        there = f"Of what is installed ({', '.join(installed)}) none is on smb's list: name one with SMB_OLLAMA_MODEL, or get" if installed else "Get"
        super().__init__(f"Ollama at {host} has no language model smb would choose by itself. {there} one with `ollama pull {suggestion}`.")


class ModelElsewhere(ModelUnavailable):
    def __init__(self, name: str):
        super().__init__(f"The model {name} runs on somebody else's computer, and a memory bank stays on yours. Name a local one with SMB_OLLAMA_MODEL.")


class ModelUnfit(ModelUnavailable):
    def __init__(self, name: str, wanted: str, can: Sequence[str]):
        super().__init__(f"The model {name} can't {wanted}: its capabilities are {', '.join(can)}. Name another one.")


class RequestRefused(ModelError):
    def __init__(self, host: str, status: int, said: str):
        self.status, self.said = status, said
        super().__init__(f"Ollama at {host} refused the request with status {status}: {brief(said)}. {_CHECK}")


class PromptTooLong(ModelError):
    """`tokens` is estimated, and errs on the long side."""

    def __init__(self, name: str, tokens: int, answer: int, context: int):
        self.tokens, self.answer, self.context = tokens, answer, context
        super().__init__(
            f"The prompt {name} takes up to {tokens} tokens and its answer {answer}, but the context holds {context}. "
            "Send less at once, or allow more with `smb config set model_context TOKENS` where the model can."
        )


class InputTruncated(ModelError):
    def __init__(self, model: str, read: int, sent: int, context: int):
        super().__init__(
            f"{model} read {read} tokens of a prompt of at least {sent}, in a context of {context}: the server cut it. "
            "Nothing of the answer is kept. Set model_context to what the server allows (OLLAMA_CONTEXT_LENGTH)."
        )


class AnswerRejected(ModelError):
    """An answer that can't be used; nothing of it is kept. `reason` is what the model is told when it is asked once more."""

    def __init__(self, model: str, reason: str):
        self.model, self.reason = model, reason
        super().__init__(f"{model} gave no usable answer: {reason}. Nothing of it is kept; a larger model may do better.")


class AnswerEmpty(AnswerRejected):
    def __init__(self, model: str):
        super().__init__(model, "it is empty")


class AnswerTruncated(AnswerRejected):
    def __init__(self, model: str, detail: str):
        super().__init__(model, f"it is cut off ({detail})")


class AnswerMalformed(AnswerRejected):
    """Not what was asked for: `reason` says in which way."""


def brief(said: str, limit: int = 200) -> str:
    """What a server said, on one line, without its last full stop and without what a terminal would obey."""
    line = " ".join("".join(c if c.isprintable() else " " for c in said[: 20 * limit]).split()).rstrip(".")
    return line if len(line) <= limit else f"{line[: limit - 1]}…"
