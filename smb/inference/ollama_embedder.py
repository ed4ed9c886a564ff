"""An embedder that asks Ollama: `ollama:MODEL`.

Owns the words a model wants before a note and before a question, and how a text longer than the model takes becomes one
vector: the mean of its parts'. Never lets the server cut a text in silence, and never sends again what it has refused.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from smb.inference import token_estimate, wire
from smb.inference.embedder import EmbedderUnavailable, TextRefused
from smb.inference.model_choice import EMBEDDING, named
from smb.inference.model_errors import ModelElsewhere, ModelError, ModelMissing, RequestRefused
from smb.inference.split_text import parts_of
from smb.inference.wire import Limits

if TYPE_CHECKING:
    import numpy as np
    from ollama import Client

T = TypeVar("T")
PREFIX = "ollama:"
QUICK = Limits(connect=2.0, call=20.0, tries=1)  # for a question, which somebody waits for
_TEXTS_AT_ONCE = 32
_TOKENS_AT_ONCE = 16_384
_NUMBER_BYTES = 32  # one number of a vector as JSON, at most
_WIDEST = 8192  # numbers in a vector; no model comes near
_UNSAID_CONTEXT = 512  # of a model whose server doesn't say: what the oldest of them take


@dataclass(frozen=True, slots=True)
class Wording:
    """What a family of models was trained to see before a text; part of the fingerprint by its name."""

    rule: str
    note: str = ""
    question: str = ""


_SEARCH = "Represent this sentence for searching relevant passages: "
_WORDINGS = {  # by the beginning of a model's name, as the models' own cards have it
    "nomic-embed-text": Wording("nomic", "search_document: ", "search_query: "),
    "mxbai-embed-large": Wording("mxbai", "", _SEARCH),
    "snowflake-arctic-embed": Wording("arctic", "", _SEARCH),
    "embeddinggemma": Wording("gemma", "title: none | text: ", "task: search result | query: "),
}


@dataclass(frozen=True, slots=True)
class _Described:
    name: str
    digest: str
    dimension: int
    limit: int


class OllamaEmbedder:
    """The server is asked at the first use of any property or method, each of which may raise EmbedderUnavailable.

    With `questions` what is embedded are questions: the same model and fingerprint, the other wording.
    """

    def __init__(self, host: str, model: str = EMBEDDING, *, limits: Limits = Limits(call=120.0), questions: bool = False,
                 sleep: Callable[[float], None] = time.sleep) -> None:
        self.host, self.model = host, model
        self._limits, self._sleep = limits, sleep
        self._wording = wording_of(model)
        self._prefix = self._wording.question if questions else self._wording.note
        self._bounds = wire.bounds(host, limits)
        self._client: Client | None = None
        self._described: _Described | None = None

    @property
    def fingerprint(self) -> str:
        """`ollama:NAME@DIGEST/DIMENSION/RULE`: another build of a model of the same name is another embedder."""
        model = self._description()
        return f"{PREFIX}{model.name}@{model.digest[:12]}/{model.dimension}/{self._wording.rule}"

    @property
    def dimension(self) -> int:
        return self._description().dimension

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """float32 (len(texts), dimension), rows of length 1; zero for white space.

        Raises EmbedderUnavailable; TextRefused where the server answers but won't embed one of the texts.
        """
        import numpy as np

        model = self._description()
        room = max(16, model.limit - token_estimate.at_most(self._prefix) - 8)
        parts: list[str] = []
        owners: list[int] = []
        for number, text in enumerate(texts):
            cut = parts_of(text.encode("utf-8", "replace").decode(), room, token_estimate.at_most)
            parts += cut
            owners += [number] * len(cut)
        sums = np.zeros((len(texts), model.dimension), np.float64)
        for start, end in _batches(parts):
            for owner, vector in zip(owners[start:end], self._vectors(parts[start:end], model), strict=True):
                sums[owner] += vector
        lengths = np.linalg.norm(sums, axis=1, keepdims=True)
        return (sums / np.where(lengths > 0, lengths, 1)).astype(np.float32)

    def _vectors(self, parts: Sequence[str], model: _Described) -> np.ndarray:
        """float64 (len(parts), dimension), rows of length 1. Where the server finds the parts too long, each is embedded alone, in halves."""
        import numpy as np

        try:
            return self._request(parts, model)
        except RequestRefused as error:
            if not wire.too_long(error.said):
                raise self._refused(error, parts) from error
            if len(parts) > 1:
                return np.concatenate([self._vectors([part], model) for part in parts])
            halves = parts_of(parts[0], 1, lambda text: 2 if text is parts[0] else 1)
            if len(halves) < 2:
                raise self._refused(error, parts) from error
            mean = self._vectors(halves, model).mean(axis=0, keepdims=True)
            return mean / (np.linalg.norm(mean) or 1)

    def _request(self, parts: Sequence[str], model: _Described) -> np.ndarray:
        """One call. Raises RequestRefused, EmbedderUnavailable."""
        import numpy as np

        reply = self._patiently(lambda client: client.embed(
            model.name, [self._prefix + part for part in parts], truncate=False, options={"num_ctx": model.limit},
            keep_alive=self._limits.keep_alive), f"embedding {len(parts)} texts")
        rows = reply.embeddings
        if len(rows) != len(parts) or any(len(row) != model.dimension for row in rows):
            widths = sorted({len(row) for row in rows})
            raise self._unavailable(f"it gave {len(rows)} vectors of {widths} numbers for {len(parts)} texts of {model.dimension}", "Nothing of it is kept.")
        vectors = np.asarray(rows, np.float64)
        if not np.isfinite(vectors).all():
            raise self._unavailable("it gave vectors that are no numbers", "Nothing of it is kept.")
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors / np.where(lengths > 0, lengths, 1)

    def _description(self) -> _Described:
        if self._described is None:
            try:
                installed = self._patiently(lambda client: wire.installed_from(client._request_raw("GET", "/api/tags").json()), "listing its models")
                found = named(self.model, installed, self.host)
                shown = self._patiently(lambda client: client.show(found.name), f"describing {found.name}")
                if shown.capabilities and "embedding" not in shown.capabilities:
                    raise self._unavailable(f"{found.name} makes no embeddings", f"Take one that does: `ollama pull {EMBEDDING}`.")
                limit = wire.context_from(shown) or _UNSAID_CONTEXT
                dimension = wire.dimension_from(shown) or self._width(found.name, limit)
                if dimension > _WIDEST:
                    raise self._unavailable(f"its vectors are {dimension} numbers wide, and smb takes {_WIDEST}", "Take another model.")
                self._bounds.bytes = max(wire.REPLY_BYTES // 8, _TEXTS_AT_ONCE * dimension * _NUMBER_BYTES)
                self._described = _Described(found.name, found.digest, dimension, limit)
            except ModelMissing as error:
                raise self._unavailable(f"the model is not installed at {self.host}", f"Get it with `ollama pull {self.model}`.") from error
            except ModelElsewhere as error:
                raise self._unavailable("it runs on somebody else's computer", "A memory bank stays on yours: choose a local model.") from error
            except RequestRefused as error:
                raise self._unavailable(str(error).rstrip("."), "") from error
        return self._described

    def _width(self, name: str, limit: int) -> int:
        """Numbers in a vector, from one, where the server doesn't say."""
        reply = self._patiently(lambda client: client.embed(name, ["a"], options={"num_ctx": limit}), "embedding one letter")
        if len(reply.embeddings) != 1 or not reply.embeddings[0]:
            raise self._unavailable("it gave no vector", "")
        return len(reply.embeddings[0])

    def _patiently(self, ask: Callable[[Any], T], what: str) -> T:
        """`ask` of the client, tried again after failures that can pass. Raises EmbedderUnavailable, RequestRefused, ModelMissing."""
        if self._client is None:
            self._client = wire.sync_client(self.host, self._limits, self._bounds)
        tried = 0
        while True:
            try:
                with wire.failures(self.host, self.model, self._limits, what):
                    return ask(self._client)
            except (RequestRefused, ModelMissing):
                raise
            except ModelError as error:
                tried += 1
                pause = wire.pause_before_retry(error, tried, self._limits)
                if pause is None:
                    raise self._unavailable(str(error).rstrip("."), "") from error
            self._sleep(pause)

    def _unavailable(self, reason: str, remedy: str) -> EmbedderUnavailable:
        return EmbedderUnavailable(f"{PREFIX}{self.model}", reason, remedy)

    def _refused(self, error: RequestRefused, parts: Sequence[str]) -> TextRefused:
        return TextRefused(f"{PREFIX}{self.model}", str(error).rstrip("."), f"It was asked to embed {len(parts)} texts.")


def wording_of(model: str) -> Wording:
    """The wording of a model's family; nothing is put before the texts of one unknown here."""
    name = model.rpartition("/")[2]
    return next((wording for start, wording in _WORDINGS.items() if name.startswith(start)), Wording("plain"))


def _batches(parts: Sequence[str]) -> list[tuple[int, int]]:
    """Where one request ends and the next begins: (start, end) places."""
    found: list[tuple[int, int]] = []
    start = size = 0
    for place, part in enumerate(parts):
        tokens = token_estimate.at_most(part)
        if place > start and (place - start == _TEXTS_AT_ONCE or size + tokens > _TOKENS_AT_ONCE):
            found.append((start, place))
            start, size = place, 0
        size += tokens
    return [*found, (start, len(parts))] if len(parts) > start else found
