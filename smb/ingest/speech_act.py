"""What is done by saying a sentence: an assertion, a question, an instruction, a hypothesis, or a report of another's.

Owns the grammar that tells them apart, by word classes and word order. Never judges whether an assertion is true or
worth keeping.
"""

from __future__ import annotations

import re
from enum import StrEnum

from smb.ingest.lexicon import (
    AUXILIARIES,
    BASE_VERBS,
    DETERMINERS,
    HYPOTHESIS,
    INSTRUCTIONS,
    LEAD_IN,
    NOT_PAST,
    NOUNS_TOO,
    PAST_VERBS,
    PREPOSITIONS,
    SPEECH,
)


class SpeechAct(StrEnum):
    ASSERTION = "assertion"
    QUESTION = "question"
    INSTRUCTION = "instruction"
    HYPOTHESIS = "hypothesis"
    FRAGMENT = "fragment"


WORD = re.compile(r"[\w'-]+")
CJK = re.compile(r"[぀-ヿ㐀-鿿]")
_QUESTION_CJK = re.compile(r"[？]\s*$|(?:ですか|ますか|でしょうか|だろうか|吗|呢|么)[。?？]?\s*$")
_HYPOTHESIS_CJK = re.compile(r"^(?:もし|仮に|たぶん|如果|假如|假设|也许|可能|要是|若)")
_INSTRUCTION_CJK = re.compile(
    r"(?:てください|して下さい|なさい|ましょう)[。]?$|^(?:找出|返回|注意|点击|运行|使用|执行|输入|输出|打开|选择|要求|不得|直接|将|把)|[请請]"
)
# what a problem asks for or is given: it says what the problem is
POSED_CJK = re.compile(r"^(?:给定|给你|设计|编写|实现|有一?[个些])")

_FINITE_CJK = re.compile(
    r"です|ます|でし|まし|である|だった|した|った|いる|れる|える|する|[うくすつぬむるた]。?$|[是为為有在会會能可将將被把使让讓需应應等于於]|表示|包含|采用|属于|支持|超过"
)
_REPORTED = re.compile(
    r"^(?:According to (?P<by>[^,]{2,40}),\s"
    r"|(?P<who>[A-ZÀ-Þ][\w’'-]*(?:\s(?:de|da|do|van|von)?\s?[A-ZÀ-Þ][\w’'-]*){0,2}|He|She|They|"
    r"The [a-z]+(?: [a-z]+)?(?: of [A-Z][\w ]{2,30}?)?)"
    r"(?:,[^,]{1,40},)?\s(?P<verb>\w+)(?:\s(?:me|us|them|him|her))?(?:\son the phone)?\s(?:that\s)?(?=\w))"
)


def words_of(text: str) -> list[str]:
    """The words of `text`, lower case; contractions and hyphenated words stay whole."""
    lower = text.lower()
    return WORD.findall(lower.replace("’", "'") if "’" in lower else lower)


def is_finite(word: str, before: str) -> bool:
    """Whether `word` (lower case) can be the finite verb of a sentence, given the word before it."""
    if word in AUXILIARIES or word in PAST_VERBS:
        return True
    if word.endswith("ed"):
        return len(word) > 4 and word not in NOT_PAST and before not in DETERMINERS
    if word.endswith("s") and before not in DETERMINERS and before not in PREPOSITIONS:
        return (
            word[:-1] in BASE_VERBS
            or (word.endswith("es") and word[:-2] in BASE_VERBS)
            or (word.endswith("ies") and word[:-3] + "y" in BASE_VERBS)
        )
    return (before.endswith("s") or before in ("we", "i", "they", "people")) and before not in DETERMINERS and word in BASE_VERBS


def finite_at(words: list[str]) -> int:
    """The place of the first word that can be the sentence's finite verb; 0 for none."""
    before = words[0]
    for i in range(1, min(len(words), 28)):
        word = words[i]
        if (word in _CAN_BE_FINITE or word[-1] in "sd") and before not in _RELATIVE and is_finite(word, before):
            return i
        before = word
    return 0


_CAN_BE_FINITE = AUXILIARIES | PAST_VERBS | BASE_VERBS


def speech_act(text: str, words: list[str] | None = None) -> SpeechAct:
    """What is done by saying `text`. FRAGMENT: it has no finite verb with something before it, or leads in to a list."""
    stripped = text.rstrip()
    if not stripped:
        return SpeechAct.FRAGMENT
    if stripped[-1] in "?？" or stripped.endswith(('?"', "?)", "?”")):
        return SpeechAct.QUESTION
    if stripped[-1] in ":：,，;；、…":
        return SpeechAct.FRAGMENT
    if not text.isascii() and CJK.search(text):
        return _speech_act_cjk(stripped)
    words = words if words is not None else words_of(text)
    if len(words) < 3:
        return SpeechAct.FRAGMENT
    first = words[0]
    if first in HYPOTHESIS and first not in ("would", "should", "could", "might", "seems"):
        return SpeechAct.HYPOTHESIS
    if _instructs(stripped, words):
        return SpeechAct.INSTRUCTION
    finite = finite_at(words)
    if finite and not _SUBORDINATORS.isdisjoint(words[1:finite]):
        return SpeechAct.FRAGMENT  # "0 if it was found": the only verb is in the clause
    if finite and words[finite].endswith("ed") and f", {words[finite]} " in text and not AUXILIARIES.intersection(words):
        return SpeechAct.FRAGMENT  # "Prices for May, delivered to the door"
    if finite == len(words) - 1 and words[finite].endswith("ed") and "with" in words[:finite]:
        return SpeechAct.FRAGMENT  # "A shed with a loom installed"
    if (
        finite
        and first in ("a", "an")
        and words[finite].endswith("ed")
        and finite + 1 < len(words)
        and words[finite + 1] in PREPOSITIONS
    ):
        finite = next(
            (i for i in range(finite + 1, len(words)) if words[i] in AUXILIARIES and words[i - 1] not in _RELATIVE), 0
        )  # a participle
    if first in ("i'm", "i've", "i'd", "we're", "we've", "it's", "there's", "they're", "he's", "she's"):
        finite = 1
    if not finite:
        return SpeechAct.FRAGMENT
    if (
        words[finite] in ("would", "could", "might", "may")
        and not words[min(finite + 1, len(words) - 1)][0].isdigit()
        and not _SOLID_AFTER_MODAL.intersection(words)
        and not (words[finite] == "may" and finite <= 3 and _permits(words, finite))
    ):
        return SpeechAct.HYPOTHESIS
    if "if" in words[1:] and ("would" in words or "could" in words or "might" in words):
        return SpeechAct.HYPOTHESIS
    if first in ("maybe", "perhaps", "probably", "possibly") or "perhaps" in words or "maybe" in words:
        return SpeechAct.HYPOTHESIS
    return SpeechAct.ASSERTION


_SUBORDINATORS = frozenset(("if", "unless", "because", "whether"))
_RELATIVE = frozenset(("that", "which", "who", "to"))
_SOLID_AFTER_MODAL = frozenset(("not", "no", "only", "be", "used"))  # "may be used", "could not": checkable after all


def _permits(words: list[str], modal: int) -> bool:
    """Whether "may" allows somebody something ("Guests may bring dogs") rather than supposes: many who act, and no word of doubt."""
    who = words[modal - 1]
    return (who in ("you", "everyone", "everybody", "anyone", "nobody") or who.endswith("s") and not who.endswith(("ss", "us", "is"))) and _DOUBT.isdisjoint(words)


_DOUBT = frozenset("if when sometimes also still well yet occur happen fail have cause vary differ seem appear contain".split())


def _instructs(text: str, words: list[str]) -> bool:
    at = 3 if words[:3] == ["from", "now", "on"] else 0
    last = at + 2
    while at < last and at + 1 < len(words) and words[at] in LEAD_IN:
        if words[at] in ("don't", "let's", "please"):
            return True
        at += 1
    if at < len(words) and _imperative(words, at):
        return True
    if words[0] == "to" and words[1] in BASE_VERBS:
        return True
    if ("don't" in words or "not" in words or "sure" in words or "never" in words) and _BIDS.search(text):
        return True
    comma = text.find(", ", 0, 120)
    if comma > 0 and words[0] in _CLAUSE_OPENERS:
        after = words_of(text[comma + 2 : comma + 60])
        while after and after[0] in LEAD_IN:
            after = after[1:]
        if after and (after[0] in ("you", "see", "refer") or (len(after) > 1 and _imperative(after, 0))):
            return True
    return False


_BIDS = re.compile(
    r"\b(?:[Dd]on['’]t forget|[Mm]ake sure|[Bb]e sure) (?:to|that|you|the)\b|[:;] (?:do not|don['’]t|never|always) [a-z]+"
)
_CLAUSE_OPENERS = PREPOSITIONS | frozenset("when if once after before where because while to unless for".split())


def _imperative(words: list[str], at: int) -> bool:
    word = words[at]
    if word not in INSTRUCTIONS:
        return False
    after = words[at + 1] if at + 1 < len(words) else ""
    if word in NOUNS_TOO and after not in DETERMINERS and after not in PREPOSITIONS - {"of", "in", "for"}:
        return (
            not any(is_finite(w, b) for b, w in zip(words[at + 1 : at + 6], words[at + 2 : at + 7]))
            and after not in AUXILIARIES
            and after not in ("of", "in", "for")
        )
    return after not in AUXILIARIES


def _speech_act_cjk(text: str) -> SpeechAct:
    if _QUESTION_CJK.search(text):
        return SpeechAct.QUESTION
    if _HYPOTHESIS_CJK.search(text):
        return SpeechAct.HYPOTHESIS
    if _INSTRUCTION_CJK.search(text):
        return SpeechAct.INSTRUCTION
    if POSED_CJK.match(text):
        return SpeechAct.ASSERTION if len(text) >= 12 else SpeechAct.INSTRUCTION
    return SpeechAct.ASSERTION if _FINITE_CJK.search(text) and len(text) >= 6 else SpeechAct.FRAGMENT


def reported(text: str) -> tuple[str, str] | None:
    """(who said it, what was said) for "X says that …" and "According to X, …"; None for anything else."""
    m = _REPORTED.match(text)
    if not m or (m["verb"] and m["verb"].lower() not in SPEECH):
        return None
    return (m["by"] or m["who"]).strip(), text[m.end() :].strip()
