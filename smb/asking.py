"""`smb ask`: an answer in words, from what recall opened and nothing else.

Owns when a model is asked at all, what it is shown, and the citation lock: a sentence is passed on when it cites items that
were opened and says nothing hard that they don't say (`smb.model.citation_lock`). A miss, too little, and a conflict are
answered without a model. Never writes to the bank.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smb.model.citation_lock import Cited, Dropped, answers, sentence_ends, sentences_of

if TYPE_CHECKING:
    from smb.inference.ollama_client import ModelClient, ModelInUse
    from smb.inference.prompts import Prompt

NOT_ANSWERED = "NOT ANSWERED"
ANSWER_TOKENS = 700
_ITEM_CHARACTERS = 2400
_REASONS = {
    "miss": "Nothing in the bank is about this.",
    "insufficient": "What the bank holds does not settle this.",
    "conflict": "Notes disagree about this; both sides stand below.",
    "budget_infeasible": "What would have to be shown together does not fit the budget; ask with a larger --budget.",
}
Say = Callable[[str], None]


@dataclass(slots=True)
class _Heard:
    """The answer as it comes in: what was passed on and what was dropped, sentence by sentence."""

    items: Mapping[int, str]
    question: str
    say: Say | None
    rest: str = ""
    kept: list[Cited] = field(default_factory=list)
    dropped: list[Dropped] = field(default_factory=list)

    def feed(self, piece: str) -> None:
        """Takes a piece; a sentence is judged once the next one has begun, so that marks behind its full stop belong to it."""
        self.rest += piece
        ends = [end for end in sentence_ends(self.rest) if self.rest[end:].strip() and not self.rest[end:].lstrip().startswith("[")]
        if ends:
            self._judge(self.rest[: ends[-1]])
            self.rest = self.rest[ends[-1] :]

    def end(self) -> None:
        self._judge(self.rest)
        self.rest = ""

    def _judge(self, text: str) -> None:
        for sentence in sentences_of(text):
            if sentence.strip(" .*\"'").upper() == NOT_ANSWERED:
                continue
            judged = answers(sentence, self.items, self.question)
            if isinstance(judged, Dropped):
                self.dropped.append(judged)
                continue
            self.kept.append(judged)
            if self.say:
                self.say(shown(judged) + " ")


async def answer(packet: Mapping[str, Any], client: ModelClient, overrides: Path | None, say: Say | None = None) -> dict[str, Any]:
    """The answer to a recalled packet: {"outcome": answered | abstained, "reason", "answer", "sentences": [{text, citations}],
    "dropped": [{text, reason}], "items", "conflicts", "model", "prompt", "recall"}. `say` is given each sentence that holds, as it comes.
    Raises ModelError."""
    told: dict[str, Any] = {
        "query": packet["query"], "outcome": "abstained", "reason": None, "answer": None, "sentences": [], "dropped": [], "items": [],
        "conflicts": packet["conflicts"], "model": None, "prompt": None, "recall": packet["outcome"], "generation": packet["generation"],
        "stale": packet["stale"], "degraded": packet["degraded"],
    }
    if packet["outcome"] != "state" or not packet["items"]:
        return told | {"reason": packet["reason"] or _REASONS.get(packet["outcome"], _REASONS["miss"]), "items": [_brief(n, item) for n, item in enumerate(packet["items"], 1)]}
    model = await client.in_use()
    opened = [*packet["items"], *packet["superseded"][:5]]
    prompt, used = _prompt(packet["query"], opened, client, model, overrides)
    heard = _Heard({n: _text(item) for n, item in enumerate(used, 1)}, packet["query"], say)
    async for piece in client.stream(prompt, answer_tokens=ANSWER_TOKENS):
        heard.feed(piece)
    heard.end()
    told |= {
        "items": [_brief(n, item) for n, item in enumerate(used, 1)], "model": f"{model.name}@{model.digest[:12]}", "prompt": f"{prompt.name}@{prompt.hash}",
        "dropped": [{"text": one.text, "reason": one.reason} for one in heard.dropped],
    }
    if not heard.kept:
        why = "The model found no answer in what the bank holds." if not heard.dropped else "No sentence of the model's answer held: " + heard.dropped[0].reason + "."
        return told | {"reason": why}
    return told | {
        "outcome": "answered", "answer": " ".join(shown(one) for one in heard.kept),
        "sentences": [{"text": one.text, "citations": [{"n": n, "id": used[n - 1]["id"], "cited": used[n - 1]["citations"][:1]} for n in one.cites]} for one in heard.kept],
    }


def shown(sentence: Cited) -> str:
    """A sentence with its citations behind it."""
    return f"{sentence.text} [{', '.join(map(str, sentence.cites))}]"


def _prompt(question: str, opened: Sequence[Mapping[str, Any]], client: ModelClient, model: ModelInUse, overrides: Path | None) -> tuple[Prompt, Sequence[Mapping[str, Any]]]:
    """The prompt with as many of the items, best first, as fit the model. Raises PromptTooLong where not even one does."""
    from smb.inference.model_errors import PromptTooLong
    from smb.inference.prompts import Data, load

    template = load("answer", overrides)
    for count in range(len(opened), 0, -1):
        used = opened[:count]
        listed = "\n\n".join(f"[{n}] {_text(item)}" for n, item in enumerate(used, 1))
        prompt = template.fill(question=Data(question, "question"), items=Data(listed, "items"))
        try:
            client.measure(prompt, ANSWER_TOKENS, model)
        except PromptTooLong:
            if count == 1:
                raise
            continue
        return prompt, used
    raise AssertionError("a packet that is a state has items")


def _text(item: Mapping[str, Any]) -> str:
    """What the model is shown of an item, and all that a sentence citing it may rest on: its words, where they stand, when they held."""
    place = next((f"{c['path']}, line {c['line_start']}" for c in item["citations"]), item["title"])
    marks = [mark for mark in (
        "no longer so" if item["verdict"] in ("superseded", "expired", "revoked") else "", "worked out" if item["mode"] == "inferred" else "",
        f"since {item['valid_from'][:10]}" if item["valid_from"] else "", f"until {item['valid_to'][:10]}" if item["valid_to"] else "") if mark]
    quotes = [c["quote"] for c in item["citations"] if c["quote"] not in item["text"]]
    text = "\n".join(dict.fromkeys((item["title"], item["text"], *quotes)))[:_ITEM_CHARACTERS]
    return f"({'; '.join((place, *marks))}) {text}"


def _brief(n: int, item: Mapping[str, Any]) -> dict[str, Any]:
    return {"n": n, **{name: item[name] for name in ("id", "kind", "type", "title", "verdict", "citations")}}
