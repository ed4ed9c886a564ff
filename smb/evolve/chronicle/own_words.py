"""What a sentence says by itself: the day it names for what happened, and whether it can be told without the note around it.

Owns both readings. A day counts where the sentence says on which it was, at its beginning or its end; a month or a day of the week
without its year only says that the day is not the note's. Never resolves a pronoun.
"""

from __future__ import annotations

import re
from datetime import datetime, timezone

from smb.evolve.language.calendar_date import CalendarDate, dates
from smb.evolve.language.word_classes import BE, CONJUNCTIONS, DETERMINERS

_ON = re.compile(r"(?:\bon|\bam|\ble|\bel|\bem)\s+(?:the\s+)?(?:\w+day,?\s+)?\Z", re.IGNORECASE)
_LEADING = re.compile(r"(?:on\s+)?(?:\w+day,?\s+)?\Z", re.IGNORECASE)
_TRAILING = re.compile(r"[\s.!)]*\Z")
_VAGUE = re.compile(
    r"\b(?:in|last|early in|late in|at the end of|at the beginning of) (?:January|February|March|April|May|June|July|August|September|October|November|December)\b(?!,? \d)"
    r"|\b(?:on|last) (?:Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday)\b(?!,? \d)|\b(?:yesterday|the day before|last (?:week|month|night))\b", re.IGNORECASE)
_SPEAKER = re.compile(r"[^\W\d_][\w .'’-]{0,30}:\s+")
_CLAUSE = re.compile(r"[,;:.!?–—(]")
_WORD = re.compile(r"[^\W_]+(?:['’.+#-]+[^\W_]+)*")
_REFERRING = frozenset("it they them he she him this that these those".split())
_OF_OTHERS = frozenset(("it", "them", "him"))


def own_day(text: str) -> datetime | None:
    """The day a sentence says something was on, None where it names none, or several.

    >>> own_day("Ada fitted the new pump on Tuesday, 2032-02-10.").date().isoformat()
    '2032-02-10'
    """
    found = [d for d in dates(text)[0] if d.year]
    if len(found) != 1 or not found[0].day or (day := _day(found[0])) is None:
        return None
    before, _, after = text.partition(found[0].text)
    stands = _ON.search(before) and _TRAILING.match(after) or _LEADING.match(before) and before.strip() and after[:1] in (",", " ")
    return day if stands else None


def _day(date: CalendarDate) -> datetime | None:
    try:
        return datetime(date.year, date.month, date.day, tzinfo=timezone.utc)
    except ValueError:
        return None


def is_vague(text: str) -> bool:
    """Whether a sentence says when it was without saying of which year or week: "in January", "on Tuesday"."""
    return bool(_VAGUE.search(text)) and not any(d.year for d in dates(text)[0])


def is_dangling(text: str) -> bool:
    """Whether a sentence speaks of something that only the sentences before it name.

    >>> is_dangling("Ada entered it in the log."), is_dangling("Ada cleaned the pump and painted it.")
    (True, False)
    """
    text = _SPEAKER.sub("", text, count=1)
    clause = text[: m.start()] if (m := _CLAUSE.search(text)) else text
    words = _WORD.findall(clause)
    low = [word.lower() for word in words]
    if low and low[0] in _REFERRING:
        return low[0] not in ("this", "that", "these", "those") or len(low) > 1 and low[1] in BE | {"will", "has", "had", "can", "means"}
    subject = next((n for n, word in enumerate(words) if word == low[n]), len(words))  # the name a sentence begins with
    for n, word in enumerate(low):
        if word in _OF_OTHERS and n > subject:
            named = any(w in DETERMINERS or words[subject + k] != w for k, w in enumerate(low[subject:n]))
            return not named and low[n - 1] not in CONJUNCTIONS
    return False
