"""What notes say a thing is: "X is a Y", "a Y called X", "Ys such as X and Z", "X is part of Y", and names that say it themselves.

Owns reading these from sentences and titles, English only. Never decides which of several to believe, never arranges them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from smb.evolve.language.word_forms import is_word, singulars
from smb.model.english import STOP_WORDS
from smb.model.identity import fold


class Sort(StrEnum):
    """Whether the lower thing is a kind or instance of the upper one, or a part of it."""

    KIND = "kind"
    PART = "part"


@dataclass(frozen=True, slots=True)
class Said:
    """`lower` (a name as written) is a kind or part of `upper` (the noun phrase as written), in the words `quote`."""

    lower: str
    upper: str
    sort: Sort
    quote: str


_IS = re.compile(
    r"(?:The |An? |the |an? )?(?P<x>[^.,;:!?()]{2,60}?)(?: \([^)]{1,40}\))? (?:is|are|was|were|denotes) "
    r"(?P<hedge>(?:essentially |basically |simply |just |also |really |still |now |currently |usually |typically |actually |itself )*)"
    r"(?P<of>an? (?:kind|type|sort|form|variety|class|species|instance|example|family) of (?:an? |the )?|one of (?:the |our |my )?|an? |the )(?P<np>.+)")
_PART_OF = re.compile(
    r"(?:The |An? |the |an? )?(?P<x>[^.,;:!?()]{2,60}?) (?:is|are|was|were|forms?) (?:an? |the )?(?:(?:integral|important|essential|core|main|small|large|central) )?"
    r"(?:part|component|module|section|piece|member|element|subset) of (?P<np>.+)")
_SUCH_AS = re.compile(r"(?P<np>(?:[\w’'+#-]+ ){0,3}[\w’'+#-]+s),? (?:such as|including|for example|e\.g\.),? (?P<xs>[^.;:()]{2,120})")
_HINT = re.compile(
    r" (?:is|are|was|were|denotes) (?:\w+ ){0,2}?(?:an?|one) | (?:part|component|module|section|piece|member|element|subset) of | such as | including | for example | e\.g\.")
_END_OF_PHRASE = re.compile(
    r"[,.;:!?()\[\]“”\"—–]|\s-\s| (?:that|which|who|whom|whose|where|when|for|from|in|on|at|to|with|without|by|used|based|built|made|written|designed|"
    r"provided|released|running|using|containing|consisting|called|named|as|and|or|but|because|since|so|if|it|we|you|they|is|are|was|can|has|have|"
    r"representing|describing|between|about|into|like|such|than|under|over|via|per|consisting|allowing|enabling|developed|created|added|introduced|"
    r"specified|defined|supported|inside|within|across|through|of)\b")
_LIST = re.compile(r",? and |,? or |, ")
_ARTICLE = re.compile(r"^(?:an?|the|our|my|your|their|its|this|these|those|some|many|other|various|several|any|all|most|certain|both)\s+", re.IGNORECASE)
# heads that say nothing of what a thing is, and adjectives that grade rather than describe it
_LIGHT = frozenset(
    "way kind part thing example case lot number set piece result one bit matter question problem issue means use need fact reason place point time "
    "step start end beginning note list name word term idea option choice solution alternative version variant member element item instance value "
    "reference mistake good great first second third last next same different difference pleasure pain joy list collection series group pair range "
    "combination mix variety couple few synonym abbreviation shorthand alias equivalent replacement placeholder default must requirement limit help "
    "trick hack thread follow follow-up continuation summary extension function value".split())
_GRADING = frozenset(
    "new brand-new neat great good nice cool small large big tiny huge simple simplest basic popular powerful useful handy fascinating amazing excellent "
    "exciting interesting common typical standard special modern fast quick little old fantastic wonderful beautiful clever better best first latest "
    "newer older legacy very really most more much so quite pretty fully fairly extremely single particular major minor main key additional optional "
    "required recommended relatively highly well-known famous important well fun complex experimental recent growing".split())


def of_sentence(text: str, is_name: Callable[[str], bool]) -> list[Said]:
    """What one sentence says of the kinds and parts of things that have a name in the bank."""
    found: list[Said] = []
    if not _HINT.search(text):
        return found
    if " of " in text and (m := _PART_OF.match(text)):
        if is_name(m["x"].strip()) and (upper := _phrase(m["np"])):
            found.append(Said(m["x"].strip(), upper, Sort.PART, text))
    elif m := _IS.match(text):
        lone = m["of"] in ("a ", "an ") or " of " in m["of"]
        if lone and is_name(m["x"].strip()) and (upper := _phrase(m["np"], plural=m["of"].startswith("one of"))):
            found.append(Said(m["x"].strip(), upper, Sort.KIND, text))
    for m in _SUCH_AS.finditer(text):
        named = [x for x in (_ARTICLE.sub("", x.strip()) for x in _LIST.split(m["xs"])) if x and is_name(x)]
        if named and (upper := _phrase(m["np"], plural=True)):
            found += [Said(x, upper, Sort.KIND, text) for x in named]
    return found


def _phrase(text: str, plural: bool = False) -> str:
    """The noun phrase `text` begins with, in the singular and without what only grades it; "" where it says nothing."""
    end = _END_OF_PHRASE.search(text)
    words = (text[: end.start()] if end else text).split()
    while words and (_ARTICLE.match(words[0] + " ") or words[0].lower() in _GRADING):
        words = words[1:]
    words = words[-3:]
    while words and words[0].lower() in STOP_WORDS:
        words = words[1:]
    if not words:
        return ""
    last = words[-1].lower()
    if plural:
        last = min((s for s in singulars(last) if is_word(s)), default=last, key=len) if last.islower() else last
    if last in _LIGHT or last in _GRADING or last in STOP_WORDS or not is_word(last) or len(last) < 3 or last.endswith(("ly", "ed")):
        return ""
    return " ".join([*words[:-1], last if words[-1].islower() or plural else words[-1]])


def of_name(title: str, is_name: Callable[[str], bool]) -> str:
    """The name that `title` itself puts it under, "" where none: "slow cooling" is a cooling, "Error C21" an error, if these are
    names. Only names of plain words: "GitHub Actions" are no actions."""
    words = title.split()
    if len(words) < 2 or len(words) > 6 or any(c in title for c in ":;,()[]<>\"/|"):
        return ""
    if re.search(r"\d", words[-1]) and not words[-1].isdigit() and is_name(" ".join(words[:-1])):
        return " ".join(words[:-1])
    if len(words) > 3 or words[0][0].isupper() and words[0].endswith("ing") or not all(_is_plain(word) for word in words):
        return ""
    for start in range(1, len(words)):
        rest = " ".join(words[start:])
        if is_name(rest):
            return rest
    return ""


def _is_plain(word: str) -> bool:
    low = word.lower()
    return word[1:].islower() and all(is_word(part) and part not in STOP_WORDS for part in low.split("-"))


def folded_kind(phrase: str) -> str:
    """A kind as compared: folded, its last word in the singular."""
    head, _, last = fold(phrase).rpartition(" ")
    singular = min((s for s in singulars(last) if is_word(s)), default=last, key=len)
    return f"{head} {singular}".strip()

