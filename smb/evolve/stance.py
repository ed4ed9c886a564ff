"""Who says a sentence, how firmly, and of which time.

Owns the words of reporting, supposing, changing and ending. Never decides whether two sentences agree.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from smb.evolve.stems import stem


class Time(StrEnum):
    PRESENT = "present"
    PAST = "past"
    PERFECT = "perfect"
    FUTURE = "future"


@dataclass(frozen=True, slots=True)
class Stance:
    """`speaker` is folded; "" where nobody is named. `firm`: it is asserted or ordered, not asked, supposed, hoped or planned. `changes`: its
    words tell of a change. `ended`: what it speaks of is over by its own words. `deictic`: what it speaks of can't be known from it alone."""

    firm: bool
    time: Time
    speaker: str = ""
    first_person: bool = False
    changes: bool = False
    ended: bool = False
    deictic: bool = False


_REPORT = re.compile(
    r"^(?:according to (?P<by>[^,]{2,40}),\s*|(?P<who>(?:[A-ZÀ-Þ][\w.'-]*)(?:\s[A-ZÀ-Þ][\w.'-]*){0,2}|(?:the|my|our)\s\w+|he|she|they|i|we)\s(?:also\s|still\s)?"
    r"(?P<verb>says?|said|thinks?|thought|believes?|believed|claims?|claimed|argues?|argued|feels?|felt|insists?|insisted|reports?|reported|writes|wrote|told\s\w+|tells\s\w+|mentions?|mentioned|"
    r"suggests?|suggested|states?|stated|doubts?|doubted|denies|denied|suspects?|suspected|guess(?:es)?|hopes?|wishes|expects?|warns?|warned|recommends?|recommended|announced|promised)\s(?:that\s|to\s(?:me|us)\sthat\s)?)(?=\w)",
    re.IGNORECASE)
_DOUBTING = re.compile(r"^(?:doubt|deny|denie|suspect|guess|hope|wish|expect|suggest|recommend)", re.IGNORECASE)
_SUPPOSED = re.compile(
    r"\b(?:might|could|would|if|unless|whether|maybe|perhaps|possibly|probably|likely|presumably|supposedly|allegedly|apparently|suppose|supposing|assume|assuming|assumes|imagine|consider|considers|"
    r"considering|considered|thinking\s(?:of|about)|propose|proposes|proposed|proposal|suggestion|hope|hopes|hoping|wish|wishes|plan\sto|plans\sto|planning|planned\sto|want\sto|wants\sto|wanted\sto|"
    r"intend|intends|intended|todo|seems|seem|appears\sto|rumou?r|rumou?red|in\stheory|what\sif|shall\swe|let's|for\sexample|e\.g\.|for\sinstance|as\sif|as\sthough|would-be|unclear|not\ssure|unsure|wonder|"
    r"not\sknow|don't\sknow|imagined|hypothetical(?:ly)?|potential(?:ly)?|ideally|either|even\sthough|tends?\sto|tempted|tried\sto|try\sto|tries\sto)\b", re.IGNORECASE)
_MAY = re.compile(r"\bmay\b(?!\s(?:only|not|at-most|send|use)\b)", re.IGNORECASE)
_CHANGES = re.compile(
    r"\b(?:no-longer|any-more|now|nowadays|switched|changed|moved\s(?:\S+\s){0,4}(?:to|from)|migrated|renamed|became|becomes?|turned\sinto|from\s[^.;]{1,40}\sto\s|replaced|used\sto|until\s(?:now|recently)|since\sthen|"
    r"instead\sof|new\svalue|formerly|previously|was\s[^.;]{1,40}(?:,|\sand)\s(?:is\s)?now|updated?\sto|upgraded\sto|raised\s\S+\s|lowered\s\S+\s|corrected|correction|originally|initially|at\sfirst|yet)\b", re.IGNORECASE)
_PAST_ONLY = re.compile(r"\b(?:used\sto|formerly|previously|once\swas|originally|initially|at\sfirst|back\sthen|in\sthe\spast|ago|last\s(?:year|month|week|time|night|spring|summer|autumn|winter|season)|yesterday|earlier|back\sin|former|ex-\w+|until\s(?:now|recently|then))\b", re.IGNORECASE)
_AUX = re.compile(r"\b(?P<future>will|'ll|won't|shall|going\sto)\b|\b(?P<past>was|were|wasn't|weren't|did|didn't|had|hadn't)\b|\b(?P<perfect>has|have|hasn't|haven't|'ve)\b|\b(?P<present>is|are|am|isn't|aren't|'re|'m|does|do|doesn't|don't|can|can't|cannot|must|should|may|mustn't|shouldn't)\b", re.IGNORECASE)
_ENDING = frozenset(map(stem, "resign quit retire give-up stop cease abandon discontinue step-down".split()))
_ENDED = re.compile(r"\b(?:has\s|have\s|had\s|'s\s|'ve\s)?(?:step-down|resigned|quit|retired|give-up|stopped|ceased|abandoned|discontinued|stood\sdown|left)\b", re.IGNORECASE)
_DEICTIC = re.compile(r"^(?:so\s|and\s|but\s|then\s|also,?\s|thus\s|here,?\s|\w+ly,?\s)?(?:it|it's|this|that|these|those|he|she|they|he's|she's|they're|his|her|their|its|here|there's|such|the\s(?:following|above|below|former|latter|same|other|previous|next|first|second|third|last|resulting|result|trick|problem|answer|idea|point|reason|example|solution))\b(?!\s(?:are|is|was)\sno\b)", re.IGNORECASE)
_FIRST = re.compile(r"\b(?:I|I'm|I've|I'd|I'll|[Mm]y|me|mine)\b")
_CLEFT = re.compile(r"^it\s(?:is|was|takes|took|costs?)\b|^there\s(?:is|are|was|were)\b", re.IGNORECASE)


def stance(text: str, attributed_to: str = "") -> tuple[Stance, str]:
    """The stance of a sentence, and the sentence without the words that say whose it is. `text` has its phrases joined."""
    speaker, firm = attributed_to.casefold(), True
    if m := _REPORT.match(text):
        who = (m["by"] or m["who"]).casefold()
        speaker = speaker if who in ("i", "we") else who
        firm = not (m["verb"] and _DOUBTING.match(m["verb"]))
        text = text[m.end():]
    bare = text.rstrip(" \"')”*_")
    firm = firm and not bare.endswith(("?", "？", ":", "…", "...")) and not _SUPPOSED.search(text) and not _MAY.search(text)
    ended = _ENDED.search(text) is not None
    return Stance(firm, _time(text), speaker, _FIRST.search(text) is not None, _CHANGES.search(text) is not None, ended,
                  _DEICTIC.match(text) is not None and not _CLEFT.match(text)), text


def is_ending(word: str) -> bool:
    return word == "left" or stem(word) in _ENDING


def _time(text: str) -> Time:
    if _PAST_ONLY.search(text):
        return Time.PAST
    m = _AUX.search(text)
    first = re.search(r"\b(?:\w{2,}ed|took|went|got|made|gave|came|sent|wrote|sold|bought|built|met|paid|left|held|kept|ran|won|lost|began|became|felt|told|said|saw|ate|drank|drove|flew|grew|led|spent|taught|wore|chose)\b", text)
    if m is None:
        return Time.PAST if first and not re.search(r"\b(?:need|speed|feed|seed|indeed|embed|exceed|shed|bed|red)\b", first[0]) else Time.PRESENT
    if first and first.start() < m.start() and not re.search(r"(?:ed)\s\w+\s?\Z", text[: m.start()]):
        return Time.PAST if not m["present"] and not m["future"] else Time.PRESENT
    return Time.FUTURE if m["future"] else Time.PAST if m["past"] else Time.PERFECT if m["perfect"] else Time.PRESENT
