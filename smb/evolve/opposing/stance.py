"""Who says a sentence, how firmly, and of which time.

Owns the words of reporting, supposing, changing and ending. Never decides whether two sentences agree.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from smb.evolve.language.stems import PAST_FORMS, stem


class Time(StrEnum):
    PRESENT = "present"
    PAST = "past"
    PERFECT = "perfect"
    FUTURE = "future"


@dataclass(frozen=True, slots=True)
class Stance:
    """`speaker` is folded; "" where nobody is named. `firm`: it is asserted or ordered, not asked, supposed, hoped or planned. `changes`: its
    words tell of a change. `ended`: what it speaks of is over by its own words. `deictic`: what it speaks of can't be known from it alone.
    `only_may`: its "may" can be one of chance, so that only a prohibition opposes it."""

    firm: bool
    speaker: str = ""
    first_person: bool = False
    changes: bool = False
    ended: bool = False
    deictic: bool = False
    only_may: bool = False


_REPORT = re.compile(
    r"^(?:[Aa]ccording\sto (?P<by>[^,]{2,40}),\s*|(?P<who>[A-ZÀ-Þ][\w.'-]*(?:\s[A-ZÀ-Þ][\w.'-]*){0,2}|(?:[Tt]he|[Mm]y|[Oo]ur)\s\w+|[Hh]e|"
    r"[Ss]he|[Tt]hey|I|[Ww]e)\s(?:also\s|still\s)?"
    r"(?P<verb>(?:says?|said|thinks?|thought|believes?|believed|claims?|claimed|doubts?|doubted|guess(?:es)?)(?:\sthat)?(?=\s\w+\s)|"
    r"(?:argues?|argued|feels?|felt|insists?|insisted|reports?|reported|writes?|wrote|"
    r"told\s\w+|tells\s\w+|mentions?|mentioned|suggests?|suggested|states?|stated|denies|denied|suspects?|suspected|hopes?|wishes|expects?|"
    r"warns?|warned|recommends?|recommended|announced|promised|"
    r"remembers?|recalls?|noted|notes|explained|explains|confirmed|confirms|admits|admitted)\sthat)\s)(?=\w)")
_DOUBTING = re.compile(r"^(?:doubt|denied|denies|suspect|guess|hope|wish|expect|suggest|recommend)", re.IGNORECASE)
_SUPPOSED = re.compile(
    r"\b(?:might|could|would|if|unless|whether|maybe|perhaps|possibly|probably|likely|presumably|supposedly|allegedly|apparently|suppose|"
    r"supposing|assume|assuming|assumes|imagine|consider|considers|"
    r"considering|thinking\s(?:of|about)|propose|proposes|proposed|hope|hopes|hoping|wish|wishes|plan\sto|plans\sto|planning|planned\sto|"
    r"want\sto|wants\sto|wanted\sto|"
    r"intend|intends|intended|todo|seems|seem|appears\sto|rumou?r|rumou?red|in\stheory|what\sif|shall\swe|let's|for\sexample|e\.g\.|"
    r"for\sinstance|as\sif|as\sthough|would-be|unclear|not\ssure|unsure|wonder|"
    r"(?:i|we)\s(?:do\s)?not\sknow|not\sknow\s(?:if|whether|how|when|what|why|who|where)|imagined|hypothetical(?:ly)?|potential(?:ly)?|ideally|either|even\sthough|tends?\sto|tempted|tried\sto|try\sto|"
    r"tries\sto)\b", re.IGNORECASE)
_MAY = re.compile(r"\bmay\b(?!\sonly\b)")
_PERMITS = re.compile(
    r"\bmay\b.*\bat-most\b|\b(?:you|users?|members|visitors|guests|customers|clients|employees|students|pupils|children|dogs|everyone|anyone|"
    r"nobody)\smay\b")
_CHANGES = re.compile(
    r"\b(?:no-longer|any-more|now|nowadays|switched|changed|moved\s(?:\S+\s){0,4}(?:to|from)|migrated|renamed|became|becomes?|turned\sinto|"
    r"from\s[^.;]{1,40}\sto\s|replaced|used\sto|until\s(?:now|recently)|since\sthen|"
    r"instead\sof|new\svalue|formerly|previously|was\s[^.;]{1,40}(?:,|\sand)\s(?:is\s)?now|updated?\sto|upgraded\sto|raised\s\S+\s|"
    r"lowered\s\S+\s|corrected|correction|originally|initially|at\sfirst|yet)\b", re.IGNORECASE)
_PAST_ONLY = re.compile(
    r"\b(?:used\sto|formerly|previously|once\swas|originally|initially|at\sfirst|back\sthen|in\sthe\spast|ago|last\s(?:year|month|week|time|"
    r"night|spring|summer|autumn|winter|season)|yesterday|earlier|back\sin|former|ex-\w+|until\s(?:now|recently|then))\b", re.IGNORECASE)
_ENDING = frozenset(map(stem, "resign quit retire give-up stop cease abandon discontinue step-down".split()))
_ENDED = re.compile(
    r"\b(?:has\s|have\s|had\s|'s\s|'ve\s)?(?:step-down|resigned|quit|retired|give-up|stopped|ceased|abandoned|discontinued|stood\sdown)\b|"
    r"\b(?<!the\s)(?<!my\s)(?<!our\s)(?<!to\s)(?<!is\s)(?<!are\s)(?<!was\s)(?<!were\s)(?<!on\s)left(?=\s(?:the|our|his|her|their|in|for|as|"
    r"at)\b|\s?[.!]?$)", re.IGNORECASE)
_DEICTIC = re.compile(
    r"^(?:otherwise|unlike|besides|except|apart\sfrom|in\s(?:either|such|both|all|some|other|most)\scases?|in\scontrast|similarly|likewise|"
    r"conversely|alternatively)\b|^(?:so\s|and\s|but\s|then\s|also,?\s|thus\s|here,?\s|\w+ly,?\s)?(?:it|it's|this|that|these|those|he|she|"
    r"he's|she's|his|her|its|here|there's|such|the\s(?:following|above|below|former|latter|resulting|result|trick|problem|answer|idea|point|"
    r"reason|example|solution|(?:same|other|previous|next|first|second|third|last)(?=\s(?:is|was|are|were|one|of)\b)))\b(?!\s(?:are|is|"
    r"was)\sno\b)", re.IGNORECASE)
_POINTS = re.compile(
    r"\b(?:this|these|those|today|tonight|tomorrow|yesterday|hereby|herein|shown\s(?:above|below)|the\s(?:following|above|below))\b", re.IGNORECASE)
_FIRST = re.compile(r"\b(?:I|I'm|I've|I'd|I'll|[Mm]y|me|mine)\b")
_CLEFT = re.compile(r"^it\s(?:(?:is|was)\s(?:in|on|at|an?|the|about|only|\d)|takes|took|costs?)\b|^there\s(?:is|are|was|were)\b", re.IGNORECASE)


def stance(text: str, attributed_to: str = "") -> tuple[Stance, str]:
    """The stance of a sentence, and the sentence without the words that say whose it is. `text` has its phrases joined."""
    speaker, firm = attributed_to.casefold(), True
    if m := _REPORT.match(text):
        who = (m["by"] or m["who"]).casefold()
        speaker = speaker if who in ("i", "we") else who
        firm = not (m["verb"] and _DOUBTING.match(m["verb"]))
        text = text[m.end():]
    bare = text.rstrip(" \"')”*_")
    firm = firm and not bare.endswith(("?", "？", ":", "…", "...")) and not _SUPPOSED.search(text)
    only_may = _MAY.search(text) is not None and not _PERMITS.search(text)
    ended = _ENDED.search(text) is not None
    return Stance(firm, speaker, _FIRST.search(text) is not None, _CHANGES.search(text) is not None, ended,
                  _DEICTIC.match(text) is not None and not _CLEFT.match(text) or _POINTS.search(text) is not None, only_may), text


def permission(lower: Sequence[str], verb: int, main: int) -> tuple[int, str]:
    """(+1, its modal verb) where a sentence lets its subject do something, (-1, …) where it forbids it, (0, "") where it does neither: a
    "may" of chance, and what merely happens to one, is no leave."""
    none = 0, ""
    if verb < 1 or main <= verb or lower[verb] not in ("may", "can", "cannot", "must") or "only" in lower or lower[0] in _NOBODY_NAMED:
        return none
    if "be" in lower[verb:main] and not is_past(lower[main]) or stem(lower[main]) in _BEFALLS:
        return none
    denied = lower[verb] == "cannot" or not {"not", "never"}.isdisjoint(lower[verb:main]) or lower[0] in ("no", "nobody", "none", "neither")
    if lower[verb] == "must" and not denied:
        return none
    return -1 if denied else 1, "can" if lower[verb] == "cannot" else lower[verb]


def acts_in_a_role(word: str) -> bool:
    """Whether a lower-case word means people in a role, who are given leave: "nurses", "trainees", "the verger"."""
    return stem(word) in _ROLES or word.rstrip("s").endswith(("ee", "ist", "ian", "man", "men", "holder", "owner", "keeper", "worker"))


_NOBODY_NAMED = frozenset("it this that there these those".split())
_BEFALLS = frozenset(map(stem, (
    "be have lose fail leak rise fall happen occur break cause crash forget differ vary change contain seem notice see know want need like feel find experience encounter suffer die "
    "hurt appear result lead become vanish expire take cost last hear fear think believe include depend require exist remain get receive come help seem look mean belong return").split()))
_ROLES = frozenset(map(stem, (
    "guest member user pupil student child people person adult staff dog visitor client customer nurse tenant volunteer intern apprentice driver player teacher parent resident doctor surgeon "
    "patient passenger cyclist pedestrian sailor skipper crew farmer gardener baker lawyer clerk cashier singer actor coach referee spectator contractor supplier manager director admin "
    "administrator developer engineer reviewer editor author moderator subscriber customer participant applicant candidate witness juror priest verger guard conductor porter midwife "
    "everyone everybody anyone nobody we you i").split()))


def is_ending(word: str) -> bool:
    return word == "left" or stem(word) in _ENDING


def time_of(text: str, lower: Sequence[str], verb: int) -> Time:
    """The time of a sentence of these words, by its verb at place `verb` (-1 for none)."""
    if _PAST_ONLY.search(text):
        return Time.PAST
    if verb < 0:
        return Time.PRESENT
    form = lower[verb]
    if form in ("will", "shall", "'ll"):
        return Time.FUTURE
    if form in ("was", "were", "did", "had"):
        return Time.PAST
    if form in ("has", "have"):
        after = [w for w in lower[verb + 1 : verb + 4] if w not in ("not", "never", "already", "just", "also", "always", "been", "since", "still", "ever")]
        return Time.PERFECT if "been" in lower[verb + 1 : verb + 4] or after and is_past(after[0]) else Time.PRESENT
    if form in ("is", "are", "am") and "going" in lower[verb + 1 : verb + 3] and "to" in lower[verb + 2 : verb + 4]:
        return Time.FUTURE
    return Time.PAST if is_past(form) else Time.PRESENT


def is_past(form: str) -> bool:
    """Whether a verb form is a past or a participle."""
    return form.endswith("ed") and form not in ("need", "feed", "speed", "exceed", "embed") or form in PAST_FORMS
