"""How a sentence speaks of its writer: not at all, in an aside, as what holds of them, or as a story of what they did.

Owns the grammar that tells these apart and what each costs a claim: what somebody did on the way is seldom worth keeping,
what holds of them often is. Never judges what is said.
"""

from __future__ import annotations

import re
from enum import StrEnum

from smb.ingest.lexicon import DETERMINERS, NOT_PAST, PAST_VERBS, PREPOSITIONS
from smb.ingest.speech_act import finite_at, is_finite


class Telling(StrEnum):
    NOT = ""
    ASIDE = "aside"  # "I" in a later clause: "the tap broke and I left"
    STATE = "state"  # what holds of them: "We use 40 spools a week"
    STORY = "story"  # what they did or want to do: "I decided to try the other one"


_COST = {Telling.NOT: 0.0, Telling.ASIDE: 0.75, Telling.STATE: 1.0}
_COST_OF_ASIDE = 2.0  # where it tells what "I" did: "the tap broke, so I tried the other"
_COST_OF_OWN = {Telling.NOT: 0.0, Telling.ASIDE: 0.25, Telling.STATE: 0.25}


def cost(telling: Telling, teller: str, own: bool) -> float:
    """What the telling takes from a sentence's score; `own`: in a note that is its writer's record, such as a day's."""
    if telling is Telling.ASIDE and teller and not own:
        return _COST_OF_ASIDE
    if telling is not Telling.STORY:
        return (_COST_OF_OWN if own else _COST)[telling]
    return (2.0 if own else 3.0) if teller == "i" else 0.5 if own else 1.5


def telling(sentence: str, words: list[str]) -> tuple[Telling, str]:
    """How the sentence speaks of its writer and as whom ("i", "we" or ""), by the subject of its main clause. "our" and "us"
    make nobody a subject."""
    if words[0] in PAST_VERBS or words[0].endswith("ed"):  # "Did a quick test of it": the "I" is left out
        if len(words) > 1 and (words[1] in DETERMINERS or words[1] in ("about", "out", "up")):
            return Telling.STORY, "i"
    if words[0] == "my":
        at = finite_at(words)
        return Telling.STORY if at and (words[at] in PAST_VERBS or words[at].endswith("ed")) else Telling.STATE, "i"
    if _TELLERS.isdisjoint(words):
        return (Telling.NOT if _OF_ME.isdisjoint(words) else Telling.ASIDE), ""
    free = words[0] in _SUBORDINATE_FIRST or ", I" in sentence and (words[0] in PREPOSITIONS or words[0].endswith(("ing", "ed")))
    for i, word in enumerate(words[:18]):
        if word in _TELLERS:
            who = "i" if word[0] == "i" else "we"
            story = _is_story(words, i) or who == "i" and _tells_later(words, i + 1)
            return (Telling.STORY if story else Telling.STATE), who
        if i and not free and is_finite(word, words[i - 1]):
            return Telling.ASIDE, "i" if _tells_later(words, i + 1) else ""
    return Telling.ASIDE, ""


def _tells_later(words: list[str], after: int) -> bool:
    """Whether "I" tells what was done in a clause of its own from word `after` on."""
    return any(
        words[i][0] == "i" and words[i] in _TELLERS and words[i - 1] in _CLAUSES and _is_story(words, i)
        for i in range(after, len(words))
    )


_CLAUSES = frozenset("so and but then which since because as until before after when while".split())


def _is_story(words: list[str], at: int) -> bool:
    if words[at] in _CONTRACTED:
        return True
    verb = next((w for w in words[at + 1 : at + 5] if w not in _ADVERBS), "")
    if verb == "have" and (after := next((w for w in words[at + 2 : at + 6] if w not in _ADVERBS and w != "have"), "")):
        return after in PAST_VERBS or after.endswith("ed") or after == "been"
    return verb in PAST_VERBS or verb in _PAST or verb in _INTENT or verb.endswith("ed") and verb not in NOT_PAST


def tried_only(sentence: str) -> bool:
    """Whether what "I" decided is a step on the way ("decided to try …") rather than something to hold to."""
    return bool(_TRIED.search(sentence))


def changes_course(sentence: str) -> bool:
    """Whether what the writer did first of all is the change that the sentence tells: "I switched to …"."""
    return bool(_CHANGED.match(sentence))


_TELLERS = frozenset("i i'm i've i'd i'll we we're we've we'd we'll".split())
_CONTRACTED = _TELLERS - {"i", "we"}
_OF_ME = frozenset("me my myself".split())
_SUBORDINATE_FIRST = frozenset("when after once since as while because before until although though if".split())
_ADVERBS = frozenset("also just then never not recently previously only still always usually often now first finally".split())
_INTENT = frozenset("want wanted need needed try hope hoped wonder wondered figured like plan planned guess think".split())
_PAST = frozenset("was were did had didn't wasn't weren't hadn't couldn't could am".split())
_TRIED = re.compile(
    r"\b(?:decided|chose|opted|resolved) to (?:\w+ly )?(?:try|see|use|make|have|take|give|go|look|find|figure|check|create|"
    r"build|write|put|get|add|do|set|run|start|test|ask|let|dig|play|turn|experiment|\w+ (?:this|that|it|them))\b"
)
_CHANGED = re.compile(
    r"^(?:[\w,]+ ){0,4}?(?:I|[Ww]e) (?:\w+ly |also |just |then |have |finally )*(?:switched|moved|changed|replaced|no longer)\b"
)
