"""Claims of chat turns: what speakers say of themselves and of things, each attributed to its speaker.

Owns how a spoken sentence is weighed: its content words, first person, figures, names, changes and decisions count for
it, speaking to the other against it. Greetings and exclamations weigh nothing. Never reads a note that is not a chat.
"""

from __future__ import annotations

import re

from smb.ingest.extract import Draft
from smb.ingest.keyed_sentence import key_of
from smb.ingest.lexicon import AUXILIARIES, DANGLING, FIRST_PERSON, FUNCTION_WORDS, PAST_VERBS
from smb.ingest.pointing import NAMED
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
THRESHOLD = 1.6
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
    mine = first in FIRST_PERSON or left_out_i(words) or _me_after(words)
    if len(words) < 4 or first in FILLER or first.partition("'")[0] in _POINTING or _EMPTY_OBJECT.search(sentence):
        return None
    content = sum(1 for w in words if w not in FUNCTION_WORDS and w not in FILLER and w not in _FEELINGS and w not in _ABSTRACT)
    if content < 2:
        return None
    changed, decided, denied = correction(sentence, words), decision(sentence, words), negated(sentence, words)
    solid = seen.values(sentence)
    named, timed = bool(NAMED.search(sentence)), bool(_WHEN.search(sentence))
    score = min(content, 10) / 5 + (1.0 if mine else 0.5 if not FIRST_PERSON.isdisjoint(words) else 0.0)
    score += 2.0 * bool(changed) + 2.0 * bool(decided) + 0.5 * denied + 0.75 * named
    score += sum({v.kind: WEIGHT[v.kind] for v in solid}.values())
    event = not _PAST.isdisjoint(words) or any(w.endswith("ed") and len(w) > 4 for w in words)
    if event and (timed or _WHERE.search(sentence)):
        score += 1.0
    elif timed and mine:
        score += 0.75
    if not (solid or named or timed or event) and not _FEELINGS.isdisjoint(words):
        score -= 1.0
    if not (mine or solid or named or timed):  # "Seeing them is great", "Stories can change people": a remark
        score -= 1.0 if first.endswith("ing") or not event else 0.25
    if _STATE_OF_MIND.search(sentence) and not (solid or timed):
        score -= 1.5
    if _THAT.search(sentence):  # "that sign looks serious": what only the two can see
        score -= 1.5
    if not _GENERAL.isdisjoint(zip(words, words[1:])):  # "we can", "we all"
        score -= 1.0
    if first in ("i'll", "we'll") and not timed:
        score -= 0.75
    score -= 1.0 * ("you" in words or "you're" in words or "your" in words or "ya" in words)
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


def _me_after(words: list[str]) -> bool:
    """Whether "I" or "we" follows an opening of a few words: "By the way, I went …", "Last week we moved …"."""
    at = next((i for i, w in enumerate(words[:6]) if w in _ME), 0)
    return at > 0 and not any(w in AUXILIARIES or w in PAST_VERBS for w in words[:at])


_ME = frozenset("i i'm i've i'd i'll we we're we've we'd we'll".split())
_PAST = PAST_VERBS | {"was", "were", "had", "did"}
_FEELINGS = frozenset(
    "feel feels felt feeling feelings glad happy grateful thankful lucky proud excited amazing amazed inspiring inspired "
    "inspires important special meaningful powerful wonderful beautiful fun stunning gorgeous believe think hope know means "
    "mean agree appreciate support encouragement joy peace strength motivates reminder reminds precious blessed touched "
    "happiness so much really truly awesome thrilled scared passionate obsessed upset worried nervous relieved fantastic "
    "incredible perfect best better good great nice cool".split()
)
_ABSTRACT = frozenset(
    "love acceptance support journey life world people person way ways thing things difference change changes growth "
    "understanding positivity connection expression beauty courage lot lots bit stuff time times moment moments place real "
    "big huge different new make makes making made get gets getting got give gives giving go goes going keep keeps take "
    "takes help helps helping see seeing look looking everyone others each other always never still ever one ones".split()
)
_GENERAL = frozenset((who, verb) for who in ("we", "we're", "you", "it", "they") for verb in ("can", "all", "should", "could"))
_STATE_OF_MIND = re.compile(
    r"\b(?:I|[Ww]e)(?:['’](?:m|re|ve been)| am| was| were| feel| felt| have been| find it| found it)"
    r"(?: (?:so|really|truly|just|very|super|also|still|always|feeling|all|both|totally|definitely|even|more))*"
    r" (?:\w+(?:ed|ful|ive|ous|less|some)|glad|happy|proud|lucky|sad|scared|keen|ready|off|sure|here|there)\b"
    r"|\b(?:I|[Ww]e) (?:really |just |so |only )?(?:love how|love that|love seeing|hope|wish|wanted to (?:say|tell|share|let)|"
    r"could feel|can feel|can picture|can['’]t imagine|know|believe|guess|appreciate|missed it)\b|\b(?:never forget|reminder)\b"
)
_THAT = re.compile(
    r"\b(?:that|those|this|these) (?!is\b|was\b|I\b|we\b|the\b|you\b|it\b|my\b|they\b|\w+s\b|morning|week|month|year|summer|"
    r"weekend|day|evening|time|afternoon|winter|spring|fall)[a-z]+"
)
_EMPTY_OBJECT = re.compile(
    r"^(?:I|We)(?:['’](?:ve|d|ll))? (?:\w+ly |just |also |really |never |always )*"
    r"(?:\w+) (?:it|this|that|them|so)(?: (?:too|so much|a lot|all|now|again|for sure|together|out|up|soon))?(?:,[^,]*)?[.!]*$"
)
_WHEN = re.compile(
    r"\b(?:yesterday|today|tonight|tomorrow|ago|(?:last|next|this|past) (?:\w+ ){0,2}(?:night|week|weekend|month|year|summer|"
    r"winter|spring|fall|autumn|mon|tues?|wed|thu|thurs?|fri|sat|sun|\w+day)|since (?:\w+ )?(?:\d+|i was|childhood|\w+day)|"
    r"recently|the other day|(?:mon|tues|wednes|thurs|fri|satur|sun)day|years? old|as a (?:kid|child|teenager)|when i was)\b",
    re.I,
)
_WHERE = re.compile(
    r"\b(?:in|at|to|from|near) (?:the |a |an |my |our )?(?:\w+ )?(?:[A-ZÀ-Þ]\w+|park|beach|school|church|mountains?|"
    r"city|town|center|centre|museum|studio|lake|river|forest|hospital|university|college|country|house|home|cafe|café|shop|"
    r"store|gym|library|restaurant|garden|parade|concert|festival|conference|meeting|class|workshop)\b"
)


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
