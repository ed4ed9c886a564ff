"""The models of this machine as the settings name them: which are there, which one is used for what, and whether it works.

Owns the wiring from settings to `smb.inference`. Never reads a prompt or a host from a bank: those are a person's to set, not
a bank's that came with git. Never fetches anything but in `pull`.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from smb.bank_layout import NoBank
from smb.config import DEFAULT_ORIGIN, Settings, models_path, prompts_path
from smb.embedding import MINILM, OLLAMA, Embedding, embedder_of, full_name
from smb.model.errors import SmbError

if TYPE_CHECKING:
    from smb.inference.embedder import Embedder
    from smb.inference.ollama_client import ModelClient

SCHEMA_VERSION = 1
LEAST_VERSION = (0, 5)  # of Ollama: earlier ones know no JSON schema
LEAST_CONTEXT = 4096  # tokens; below it few prompts fit with their answers
COLOURS = {"type": "object", "properties": {"colour": {"type": "string"}}, "required": ["colour"], "additionalProperties": False}
ALIKE = ("The loom stands in Harrow Street.", "Harrow Street is where the loom is.", "Interest rates rose in March.")
Progress = Callable[[str, int, int | None], None]


class UnknownDownload(SmbError):
    exit_code = 2

    def __init__(self, name: str):
        super().__init__(f"smb fetches only {MINILM}. For a model of Ollama's: `ollama pull {name.removeprefix(OLLAMA)}`.")


def model_client(settings: Settings, *, tries: int | None = None) -> ModelClient:
    """A client for the configured host and model; nothing is sent before its first call."""
    from smb.inference.ollama_client import ModelClient
    from smb.inference.wire import Limits

    limits = Limits(call=settings.model_timeout, context=settings.model_context, parallel=settings.model_parallel)
    limits = limits if tries is None else replace(limits, tries=tries)
    return ModelClient(settings.ollama_host, settings.ollama_model, origin=settings.origin("ollama_model"), limits=limits)


class Models:
    """What `smb models` shows and does. Needs no bank; where there is one, its embedder counts."""

    def __init__(self, settings: Settings):
        self._settings = settings
        try:
            self._embedding: Embedding | None = Embedding(settings.bank_dir, None, settings)
        except NoBank:
            self._embedding = None

    async def report(self) -> dict[str, Any]:
        """Every model there is and which one is used for what: {"ok", "host", "version", "installed", "words", "embeddings", "to_do"}.

        `words` and `embeddings` are {"name", "why", "trouble", …}; `ok` is False where what is configured can't be used.
        """
        from smb.inference.model_errors import ModelError

        told: dict[str, Any] = {"schema_version": SCHEMA_VERSION, "ok": True, "host": self._settings.ollama_host, "version": None, "installed": []}
        async with model_client(self._settings) as client:
            try:
                told["version"] = await client.version()
                told["installed"] = [
                    {"name": m.name, "digest": m.digest[:12], "bytes": m.size, "parameters": round(m.parameters), "local": m.local} for m in await client.installed()]
                words = await self._words(client)
            except ModelError as error:
                words = {"name": self._settings.ollama_model or None, "why": "", "trouble": str(error)}
        embeddings = await asyncio.to_thread(self._embeddings)
        told |= {"words": words, "embeddings": embeddings, "minilm": _minilm_there()}
        told["to_do"] = _unique([_old_version(told["version"]), words["trouble"], embeddings["trouble"]])
        told["ok"] = not told["to_do"]
        return told

    async def check(self) -> dict[str, Any]:
        """`report`, and a small question to each model that is used: adds "answered" and "elapsed_ms" to both."""
        told = await self.report()
        if not told["words"]["trouble"]:
            told["words"] |= await self._ask()
        if not told["embeddings"]["trouble"]:
            told["embeddings"] |= await asyncio.to_thread(self._embed)
        told["to_do"] = _unique([*told["to_do"], told["words"]["trouble"], told["embeddings"]["trouble"]])
        told["ok"] = not told["to_do"]
        return told

    async def pull(self, name: str, progress: Progress | None = None) -> dict[str, Any]:
        """Fetches `minilm`: {"name", "folder", "from", "bytes", "sha256"}. Raises UnknownDownload, DownloadFailed."""
        from smb.inference.minilm_download import pull

        if name != MINILM:
            raise UnknownDownload(name)
        folder = models_path() / MINILM
        return {"schema_version": SCHEMA_VERSION, "name": name, "folder": str(folder), **await asyncio.to_thread(pull, folder, progress)}

    async def trouble(self) -> str:
        """Why the language model a person named can't be used; empty where none is named, and nothing is asked then."""
        from smb.inference.model_errors import ModelError

        if not self._settings.ollama_model:
            return ""
        async with model_client(self._settings) as client:
            try:
                await client.in_use()
            except ModelError as error:
                return str(error)
        return ""

    async def _words(self, client: ModelClient) -> dict[str, Any]:
        model = await client.in_use()
        short = f"{model.name} holds only {model.context} tokens: take a model with a longer context, or raise model_context." if model.context < LEAST_CONTEXT else ""
        return {"name": model.name, "why": model.why, "digest": model.digest[:12], "context": model.context, "longest_context": model.longest, "trouble": short}

    async def _ask(self) -> dict[str, Any]:
        from smb.inference import prompts
        from smb.inference.model_errors import ModelError

        prompt = prompts.load("check", prompts_path()).fill(note=prompts.Data("The door of the dye house is blue.", "note"))
        started = time.perf_counter()
        async with model_client(self._settings) as client:
            try:
                reply = await client.structured(prompt, COLOURS, check=lambda value: str(value["colour"]))
                loaded = (await client.running()).get(reply.model, 0)
                asked = (await client.in_use()).context
            except ModelError as error:
                return {"trouble": str(error)}
        wrong = "" if "blue" in reply.value.casefold() else f"{reply.model} called a blue door {reply.value!r}: take a better model."
        cut = f"Ollama loaded {reply.model} with a context of {loaded} tokens where {asked} were asked for: long prompts would be cut." if 0 < loaded < asked else ""
        return {"answered": reply.value, "elapsed_ms": round(1000 * (time.perf_counter() - started)), "trouble": wrong or cut}

    def _embedder(self) -> tuple[str, str, Embedder]:
        """(name, why, embedder) with the patience of somebody who waits."""
        embedding = self._embedding
        if embedding is None:
            name = self._settings.embedding_model
            return full_name(name), _named_by(self._settings.origin("embedding_model")), embedder_of(self._settings, name, questions=True)
        origin = self._settings.origin("embedding_model")
        why = "the bank is embedded with it" if embedding.fingerprint and origin == DEFAULT_ORIGIN else _named_by(origin)
        return full_name(embedding.name), why, embedding.made(embedding.name, questions=True)

    def _embeddings(self) -> dict[str, Any]:
        from smb.inference.embedder import EmbedderUnavailable

        name, why, embedder = self._embedder()
        told = {"name": name, "why": why, "fingerprint": None, "dimension": None, "bank": self._embedding.fingerprint or None if self._embedding else None, "trouble": ""}
        try:
            told |= {"fingerprint": embedder.fingerprint, "dimension": embedder.dimension}
        except EmbedderUnavailable as error:
            return told | {"trouble": str(error)}
        if told["bank"] and told["bank"] != told["fingerprint"]:
            told["trouble"] = f"The bank is embedded with {told['bank']}: `smb rebuild --vectors --embedder {name}` moves it."
        return told

    def _embed(self) -> dict[str, Any]:
        from smb.inference.embedder import EmbedderUnavailable

        name, _, embedder = self._embedder()
        started = time.perf_counter()
        try:
            one, same, other = embedder.embed(ALIKE)
        except EmbedderUnavailable as error:
            return {"trouble": str(error)}
        near, far = float(one @ same), float(one @ other)
        wrong = "" if near > far else f"{name} finds unlike sentences as near as like ones ({far:.2f}, {near:.2f}): take another."
        return {"answered": f"like {near:.2f}, unlike {far:.2f}", "elapsed_ms": round(1000 * (time.perf_counter() - started)), "trouble": wrong}


def _named_by(origin: str) -> str:
    return "the default" if origin == DEFAULT_ORIGIN else f"named by {origin}"


def _minilm_there() -> bool:
    from smb.inference.minilm_download import is_there

    return is_there(models_path() / MINILM)


def _old_version(version: str | None) -> str:
    numbers = tuple(int(part) for part in (version or "").split("-")[0].split(".")[:2] if part.isdecimal())
    if len(numbers) < 2 or numbers >= LEAST_VERSION or numbers == (0, 0):  # 0.0.0 is a build of one's own
        return ""
    return f"Ollama {version} knows no JSON schema: upgrade it to {'.'.join(map(str, LEAST_VERSION))} or later."


def _unique(sentences: list[str]) -> list[str]:
    return list(dict.fromkeys(sentence for sentence in sentences if sentence))
