"""Claims of chat turns: what speakers say of themselves and of things, each attributed to its speaker.

Owns how a spoken sentence is weighed: its content words, first person, figures, names, changes and decisions count for
it, speaking to the other against it. Greetings and exclamations weigh nothing. Never reads a note that is not a chat.
"""

from __future__ import annotations

import re

from smb.ingest.extract import Draft
from smb.ingest.keyed_sentence import key_of
from smb.ingest.lexicon import DANGLING, FIRST_PERSON, FUNCTION_WORDS, PAST_VERBS
from smb.ingest.signals import SignalKind, correction, decision, negated, valid_in
from smb.ingest.survey import NameStarts, Survey
from smb.model.objects import MemoryType

WEIGHT = {
    SignalKind.DATE: 2.0,
    SignalKind.AMOUNT: 2.0,
    SignalKind.VERSION: 1.5,
    SignalKind.URL: 1.0,
    SignalKind.EMAIL: 1.0,
    SignalKind.NUMBER: 1.0,
}
NAMED = re.compile(r"[a-z,;] [A-ZÀ-Þ][\w’'-]*[a-z]")
THRESHOLD = 1.2
_POINTING = DANGLING - {"his", "her", "their", "its", "he", "she"}
FILLER = frozenset(
    "wow thanks thank hey hi hello yeah yes no ok okay sure cool great nice bye haha lol totally absolutely definitely awesome "
    "congrats sounds glad same really oh aw aww welcome hope love that's thats woohoo yay sorry good".split()
)


def turn_claim(seen: Survey, sentence: str, words: list[str], own: NameStarts, speaker: str) -> tuple[float, Draft] | None:
    """The claim `speaker` makes by an assertion, without its span, and its score; None where there is too little in it.

    Its title names the speaker, since "I moved in May" says another thing in another mouth.
    """
    first = words[0]
    mine = first in FIRST_PERSON or left_out_i(words)
    if len(words) < 4 or first in FILLER or first in _POINTING:
        return None
    content = sum(1 for w in words if w not in FUNCTION_WORDS and w not in FILLER)
    if content < 2:
        return None
    changed, decided, denied = correction(sentence, words), decision(sentence, words), negated(sentence, words)
    score = min(content, 10) / 5 + (1.0 if mine else 0.5 if not FIRST_PERSON.isdisjoint(words) else 0.0)
    score += 2.0 * bool(changed) + 2.0 * bool(decided) + denied + 0.75 * bool(NAMED.search(sentence))
    score += sum({v.kind: WEIGHT[v.kind] for v in seen.values(sentence)}.values())
    score -= 1.0 * ("you" in words or "you're" in words or "your" in words)
    if score < THRESHOLD:
        return None
    subject, attribute, value = key_of(sentence, speaker, own) or ("", "", "")
    valid, valid_text = valid_in(sentence)
    draft = Draft(
        MemoryType.CLAIM,
        f"{speaker}: {sentence}",
        (),
        tags=("correction",) * bool(changed) + ("decision",) * bool(decided),
        subject=speaker if mine else subject,
        attribute=attribute,
        value=value,
        attributed_to=speaker,
        negated=denied,
        confidence=round(min(0.65, 0.4 + score / 25), 2),
        valid=valid,
        valid_text=valid_text,
    )
    return score, draft


def left_out_i(words: list[str]) -> bool:
    """Whether the "I" of spoken language is left out: "Lost my job", "Just got back", "Been busy"."""
    word = words[1] if words[0] in ("just", "also", "finally", "recently", "yesterday") and len(words) > 1 else words[0]
    return (
        word in PAST_VERBS
        and word not in ("put", "set", "hit", "read", "cost", "cut", "let")
        or word == "been"
        or word.endswith("ed")
        and len(word) > 4
        and word not in ("need", "speed")
    )
