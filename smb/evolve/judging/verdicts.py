"""How two statements stand to each other, as a language model judges it.

Owns the question, the shape of the answer, and what makes a verdict count: the words that decide it stand in the quotes, and the
same comes out whichever statement is named first. A model that errs on pairs with a known answer judges nothing. Never looks a
pair up and never makes anything of a verdict.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from smb.evolve.language.terms import terms_of
from smb.model.english import NEGATIONS
from smb.model.identity import fold_proposition, sha256_hex, short_hash

if TYPE_CHECKING:
    from smb.inference.ollama_client import ModelClient
    from smb.inference.prompts import Prompt, Template

VERSION = "1"  # of the gates and of what is shown of a statement
ANSWER_TOKENS = 300
LONGEST = 600  # characters shown of a quote
Answer = dict[str, Any]  # one answer as `SCHEMA` has it


class Verdict(StrEnum):
    CONTRADICTION = "contradiction"
    CHANGE = "change over time"
    SCOPE = "different scope"
    SAME = "same"
    UNRELATED = "unrelated"


_TELLING = (Verdict.CONTRADICTION, Verdict.SAME)  # what anything follows from
_WORDS = {"type": "string", "maxLength": LONGEST}
SCHEMA: Mapping[str, Any] = {
    "type": "object", "additionalProperties": False, "required": ["verdict", "first_words", "second_words"],
    "properties": {"verdict": {"enum": [v.value for v in Verdict]}, "first_words": _WORDS, "second_words": _WORDS},
}


@dataclass(frozen=True, slots=True)
class Side:
    """What a model is shown of a statement. `quotes` are verbatim; `around` are lines on where, when and by whom it is said."""

    text: str
    quotes: tuple[str, ...]
    around: tuple[str, ...] = ()

    @property
    def shown(self) -> str:
        quotes = dict.fromkeys(" ".join(q.split())[:LONGEST] for q in self.quotes)
        return "\n".join((f"Statement: {' '.join(self.text.split())[:LONGEST]}", *(f"Quote: {q}" for q in quotes), *self.around))


@dataclass(frozen=True, slots=True)
class Judged:
    """A verdict that counts, with the words of each side that decide it."""

    verdict: Verdict
    words: tuple[str, str]


def fingerprint(model: str, template: Template) -> str:
    """Names the judge: equal ones judge alike, as far as a model does. `model` with its digest."""
    return short_hash("judge", VERSION, model, template.hash)


def key_of(one: Side, other: Side) -> str:
    """64 hex digits for the question whether two sides go together; another one when either is shown differently."""
    return sha256_hex(f"{one.shown}\x1f{other.shown}".encode("utf-8", "surrogatepass"))


async def asked(client: ModelClient, template: Template, one: Side, other: Side) -> tuple[str, list[Answer]]:
    """(actor, answers): in this order, and in the other where anything would follow from the first. Raises ModelError."""
    first = await client.structured(_prompt(template, one, other), SCHEMA, check=_unchecked, answer_tokens=ANSWER_TOKENS)
    if first.value["verdict"] not in _TELLING:
        return first.actor, [first.value]
    second = await client.structured(_prompt(template, other, one), SCHEMA, check=_unchecked, answer_tokens=ANSWER_TOKENS)
    return first.actor, [first.value, second.value]


def verdict_of(answers: Sequence[Answer], one: Side, other: Side) -> Judged | None:
    """What the answers about `one` and `other` come to; None where they are at odds, or rest on words that aren't there."""
    if len(answers) != 2 or answers[0]["verdict"] != answers[1]["verdict"] or answers[0]["verdict"] not in _TELLING:
        return None
    verdict = Verdict(answers[0]["verdict"])
    pairs = [(answers[0]["first_words"], answers[0]["second_words"]), (answers[1]["second_words"], answers[1]["first_words"])]
    if not all(_stands(mine, one) and _stands(theirs, other) for mine, theirs in pairs):
        return None
    if verdict is Verdict.CONTRADICTION and not all(_differ(mine, theirs, one, other) for mine, theirs in pairs):
        return None
    return Judged(verdict, (_plain(pairs[0][0]), _plain(pairs[0][1])))


def _unchecked(value: Answer) -> Answer:
    return value


def _prompt(template: Template, first: Side, second: Side) -> Prompt:
    from smb.inference.prompts import Data

    return template.fill(first=Data(first.shown, "first"), second=Data(second.shown, "second"))


def _plain(text: str) -> str:
    return " ".join(text.split())


def _stands(words: str, side: Side) -> bool:
    """Whether a quote of a side has these words, whole."""
    sought = fold_proposition(words)
    if not any(c.isalnum() for c in sought):
        return False
    for text in side.quotes:
        held = fold_proposition(text)
        at = held.find(sought)
        while at >= 0:
            before, after = held[at - 1 : at], held[at + len(sought) : at + len(sought) + 1]
            if not sought.isascii() or not (before.isalnum() and sought[0].isalnum()) and not (after.isalnum() and sought[-1].isalnum()):
                return True
            at = held.find(sought, at + 1)
    return False


def _differ(mine: str, theirs: str, one: Side, other: Side) -> bool:
    """Whether the deciding words name what differs: one of them has a word, a figure or a denial the other side has nowhere."""
    return fold_proposition(mine) != fold_proposition(theirs) and bool(_marks(mine) - _marks(other.text) or _marks(theirs) - _marks(one.text))


def _marks(text: str) -> set[str]:
    folded = fold_proposition(text).replace("’", "'")
    return {*terms_of(folded), *(word for word in folded.split() if word.strip(".,;:!?") in NEGATIONS or "n't" in word)}


# ---------------------------------------------------------------- pairs with a known answer

_CONTROLS: tuple[tuple[Side, Side, frozenset[Verdict]], ...] = (
    (Side("The ferry to the island leaves at 7:15.", ("The ferry to the island leaves at 7:15.",), ("Note: Ferry",)),
     Side("The ferry to the island leaves at 8:40.", ("The ferry to the island leaves at 8:40.",), ("Note: Ferry",)), frozenset({Verdict.CONTRADICTION})),
    (Side("The library lends sheet music.", ("The library lends sheet music.",), ("Note: Library",)),
     Side("Sheet music can be borrowed from the library.", ("Sheet music can be borrowed from the library.",), ("Note: Library",)), frozenset({Verdict.SAME})),
    (Side("The pond is 4 m deep.", ("The pond is 4 m deep.",), ("Note: Pond",)),
     Side("The oven is not used in July.", ("The oven is not used in July.",), ("Note: Bakery",)), frozenset({Verdict.UNRELATED, Verdict.SCOPE})),
    (Side("Rosa leads the choir.", ("Rosa leads the choir.",), ("Note: Choir", "Dated: 2011")),
     Side("Since 2019 Milo leads the choir.", ("Since 2019 Milo leads the choir.",), ("Note: Choir", "Dated: 2019")), frozenset({Verdict.CHANGE, Verdict.SCOPE})),
)


def controls() -> list[tuple[str, Side, Side]]:
    """Pairs (key, side, side) a judge must be right about before it is asked anything."""
    return [(key_of(one, other), one, other) for one, other, _ in _CONTROLS]


def is_fit(answers: Mapping[str, Sequence[Answer]]) -> bool:
    """Whether a judge was right about every control it answered, and answered all. `answers` by key."""
    for one, other, right in _CONTROLS:
        said = answers.get(key_of(one, other), ())
        if not said:
            return False
        if right <= frozenset(_TELLING):
            judged = verdict_of(said, one, other)
            if judged is None or judged.verdict not in right:
                return False
        elif any(answer["verdict"] in _TELLING for answer in said):
            return False
    return True
