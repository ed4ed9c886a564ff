"""Cycles of evolution with a scripted language model, and models that judge and write well."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

from ollama_server import OllamaServer, Say, say_json
from worlds import MOMENT, rows

from smb import Bank
from smb.config import Settings
from smb.evolve.judging.verdicts import controls
from smb.inference.ollama_client import ModelClient
from smb.inference.wire import Limits

RIGHT = dict(zip((key for key, _, _ in controls()), ("contradiction", "same", "unrelated", "change over time"), strict=True))
CONTROL_WORDS = {
    "The ferry to the island leaves at 7:15.": "7:15", "The ferry to the island leaves at 8:40.": "8:40", "The library lends sheet music.": "lends sheet music",
    "Sheet music can be borrowed from the library.": "borrowed from the library",
}
OF_CONTROLS = {frozenset((one.text, other.text)): RIGHT[key] for key, one, other in controls()}


def evolve(bank: Path, host: str, *phases: str, model: bool | None = True, anew: bool = False, **options: Any) -> dict[str, Any]:
    """One cycle with the model at `host`; `anew` as if nothing had been looked at before."""

    async def main() -> dict[str, Any]:
        settings = replace(Settings.resolve(bank_dir=bank, environ={"SMB_OLLAMA_HOST": host}), model_timeout=1.0)
        async with Bank.open(bank, clock=lambda: MOMENT, settings=settings) as opened:
            if anew:
                await opened.catalog.run("DELETE FROM meta WHERE key LIKE 'evolved.%'")
                await opened.catalog.run("UPDATE transactions SET actor = 'forgotten' WHERE actor = 'cycle'")
            return await opened.evolve(phases, model=model, **options)

    with patch("smb.evolution.model_client", lambda settings, **_: hasty_client(host)):
        return asyncio.run(main())


def hasty_client(host: str) -> ModelClient:
    return ModelClient(host, limits=Limits(call=1.0, pause=0.01))


def committed(report: Mapping[str, Any]) -> dict[str, int]:
    return {phase["name"]: phase["committed"] for phase in report["phases"] if phase["committed"]}


def note_of(report: Mapping[str, Any], phase: str) -> str:
    return str(next(one["note"] for one in report["phases"] if one["name"] == phase))


def knowledge(bank: Path) -> list[tuple[Any, ...]]:
    """What the bank holds, whenever and in however many cycles it came to it."""
    return rows(bank, "SELECT id, type, title, body, standing, merged_into, identity FROM memory_objects WHERE type != 'evolution' ORDER BY id")


def asks_to_judge(body: Mapping[str, Any]) -> bool:
    return "The first statement" in body["messages"][-1]["content"]


def statements(body: Mapping[str, Any]) -> tuple[str, str]:
    """The two statements of a prompt that asks for a verdict."""
    first, second = re.findall(r"^Statement: (.*)$", body["messages"][-1]["content"], re.M)
    return first, second


class GoodJudge:
    """Right about the pairs with a known answer and about `verdicts` (two statements → verdict and each one's deciding words);
    everything else is unrelated. Where it is to word something it repeats the draft's items."""

    def __init__(self, verdicts: Mapping[tuple[str, str], tuple[str, str, str]] | None = None):
        self.words = dict(CONTROL_WORDS)
        self.verdicts = dict(OF_CONTROLS)
        for (one, other), (verdict, word, other_word) in (verdicts or {}).items():
            self.verdicts[frozenset((one, other))] = verdict
            self.words |= {one: word, other: other_word}

    def __call__(self, body: Mapping[str, Any]) -> Say:
        if not asks_to_judge(body):
            return say_json({"sentences": plain_sentences(body)})
        first, second = statements(body)
        return say_json({"verdict": self.verdicts.get(frozenset((first, second)), "unrelated"), "first_words": self.words.get(first, ""),
                         "second_words": self.words.get(second, "")})


def items_of(body: Mapping[str, Any]) -> dict[int, str]:
    """The numbered items of a prompt that asks for wording, the first line of each."""
    listed = body["messages"][-1]["content"].partition("The items:")[2]
    return {int(n): text for n, text in re.findall(r"^\[(\d+)\] (.*)$", listed, re.M)}


def plain_sentences(body: Mapping[str, Any]) -> list[str]:
    """What a careful writer with no imagination makes of a prompt: each item in a sentence of its own, with who says it."""
    listed = body["messages"][-1]["content"].partition("The items:")[2]
    said = []
    for n, text in items_of(body).items():
        block = listed.partition(f"[{n}] ")[2].partition("\n\n")[0]
        who = re.search(r"^Said by: (.*)$", block, re.M)
        sentence = text.rpartition(": ")[2] if not who else f"{who[1]} said: {text}"
        said.append(f"{sentence.rstrip('.')} [{n}].")
    return said


def asked_to_judge(server: OllamaServer) -> list[frozenset[str]]:
    """The pairs the server was asked about, those with a known answer aside."""
    pairs = [frozenset(statements(body)) for body in server.asked("/api/chat") if asks_to_judge(body)]
    return [pair for pair in pairs if pair not in OF_CONTROLS]
