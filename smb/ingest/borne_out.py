"""Whether a sentence bears out what a model says of it: that this value is that thing's, that these two stand in that relation.

Owns the tests a reader would make who knows nothing of the matter. Never reads beyond the sentence.
"""

from __future__ import annotations

import re

from smb.ingest.lexicon import CORPORATE, HONORIFICS, KIND_WORDS, PERSON_VERBS, PLACE_CUES, STREETS
from smb.ingest.signals import values
from smb.model.edges import EdgeType
from smb.model.english import IRREGULAR, STOP_WORDS
from smb.model.identity import fold
from smb.model.measure import value_of

_CLAUSE = re.compile(r";\s+|,?\s+(?:while|whereas|but)\s+|,?\s+and\s+(?=(?:[A-Z][\w-]*|the|a|an|its|his|her|their|our|my|it|he|she|they|we|I)\b(?:\s+\S+){0,4}?\s+(?:\w+s|\w+ed|is|are|was|were|has|had|\d\S*)\b)|,\s+(?=[A-Z][\w-]*\s+(?:\w+\s+){0,2}\d)")
_NAMED_FOR = {  # what a measure is called, by what it measures
    "temperature": "temperature heat cone firing", "length": "length height width depth diameter distance size reach span thickness altitude elevation",
    "mass": "weight mass load", "time": "duration time age length interval period timeout delay latency runtime uptime", "volume": "volume capacity size",
    "area": "area size surface", "power": "power output draw consumption", "energy": "energy consumption capacity", "current": "current draw", "voltage": "voltage supply",
    "frequency": "frequency rate clock speed", "pressure": "pressure", "data": "size memory storage capacity limit disk ram quota bandwidth", "share": "share rate percentage proportion humidity yield discount",
    "EUR": "price cost fee salary budget rent rate amount total pay", "USD": "price cost fee salary budget rent rate amount total pay",
    "GBP": "price cost fee salary budget rent rate amount total pay", "JPY": "price cost fee salary budget rent rate amount total pay",
    "CHF": "price cost fee salary budget rent rate amount total pay", "CNY": "price cost fee salary budget rent rate amount total pay",
}
_DATED = frozenset("date day year month start end birthday deadline due since founded opening launch birth release".split())
_CUES: dict[EdgeType, tuple[str, str]] = {  # what stands between source and target in that order, and in the other
    EdgeType.SUPPORTS: (r"support|confirm|back(?:s|ed) up|evidence for|corroborat", r"(?:supported|confirmed|backed|corroborated) by"),
    EdgeType.CONTRADICTS: (r"contradict|disagree|conflicts? with|refut|disput", r"contradict|disagree|conflicts? with|(?:refuted|disputed) by"),
    EdgeType.EXTENDS: (r"extend|builds? on|adds? to|expands? on|augment", r"(?:extended|expanded|augmented) by"),
    EdgeType.DERIVES_FROM: (r"deriv\w+ from|based on|depends? on|made (?:from|of|out of)|requires?|generated from|comes? from|rests? on|forked from|needs?", r"(?:basis|source|origin) (?:of|for)|(?:yields?|gives? rise to|produces?)"),
    EdgeType.INSPIRED_BY: (r"inspired by|modelled (?:on|after)|modeled (?:on|after)|in the style of", r"inspired|inspires"),
    EdgeType.EVOLVES_INTO: (r"evolv\w+ into|became|becomes?|turned into|renamed (?:to|as)|replaced by|succeeded by|superseded by|grew into", r"(?:replaces?|replaced|succeeds?|succeeded|supersedes?|superseded|evolved from|formerly|grew out of)"),
    EdgeType.CONTAINS: (r"contain|includ|consists? of|compris|houses?|holds?|has|have|made up of|composed of", r"(?:is |are |was |were )?(?:a )?(?:part|piece|member|component|section|chapter) of|(?:inside|within|belongs? to|contained in|included in)"),
    EdgeType.EXPLAINS: (r"explain|describ|defin|documents?|covers?|shows? how", r"(?:explained|described|defined|documented|covered) (?:in|by)"),
}
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")


def bears_value(sentence: str, subject: str, attribute: str, value: str) -> str:
    """Why the sentence does not say that `attribute` of `subject` is `value`; "" where it may well. A `subject` the sentence does
    not name (it leans on the note's title) is taken to stand at its beginning."""
    text, name, said = fold(sentence), fold(subject), fold(value)
    clauses = [fold(part) for part in _CLAUSE.split(sentence) if part and part.strip()]
    if len(clauses) > 1 and name in text and not any(name in clause and said in clause for clause in clauses):
        return f"{value} is said of something else than {subject}"
    words = {_stem(w) for w in _WORD.findall(text)}
    asked = [_stem(w) for w in _WORD.findall(fold(attribute)) if w not in STOP_WORDS]
    if not any(w in words for w in asked) and not _is_called(attribute, value):
        return f"the sentence does not speak of {attribute}"
    rivals = [fold(sentence[s.start : s.end]) for s in values(sentence) if value_of(sentence[s.start : s.end]).kind == value_of(value).kind]
    if len(set(rivals)) > 1 and said in text and name in text:
        between = _between(text, name, said)
        if any(rival != said and rival not in said and rival in between for rival in rivals):
            return f"another value stands nearer to {subject}"
    return ""


def bears_relation(sentence: str, source: str, edge: EdgeType, target: str) -> bool:
    """Whether the words between two names say that relation, in that direction."""
    if edge not in _CUES:
        return True
    forward, backward = _CUES[edge]
    text = fold(sentence)
    for one in _places(text, fold(source)):
        for other in _places(text, fold(target)):
            between = text[one.stop : other.start] if one.stop <= other.start else text[other.stop : one.start] if other.stop <= one.start else ""
            if re.search(rf"\b(?:{forward if one.start < other.start else backward})", between):
                return True
    return False


def bears_kind(sentence: str, name: str, kind: str) -> bool:
    """Whether the words of a name and those beside it say that it is a person, an organisation, a place or a product."""
    own, text = set(_WORD.findall(fold(name))), fold(sentence)
    at = text.find(fold(name))
    before, after = _WORD.findall(text[:at])[-3:], _WORD.findall(text[at + len(fold(name)) :])[:3]
    said = {KIND_WORDS.get(word, "") for word in (*before, *after, *own)}
    if kind in said:
        return True
    if kind == "person":
        shaped = len(name.split()) > 1 and not any(c.isdigit() for c in name) and all(word[0].isupper() for word in name.split())
        return shaped and bool({"by", "with", *HONORIFICS} & set(before[-1:]) or own & HONORIFICS or PERSON_VERBS & set(after[:1]))
    if kind == "organisation":
        return bool(own & CORPORATE)
    return kind == "place" and bool(own & (STREETS | PLACE_CUES) or {"in", "at", "near"} & set(before[-1:]))


def _places(text: str, name: str) -> list[range]:
    return [range(m.start(), m.end()) for m in re.finditer(re.escape(name), text)] if name else []


def _is_called(attribute: str, value: str) -> bool:
    """Whether what `value` measures goes by such a name."""
    words = {_stem(w) for w in _WORD.findall(fold(attribute))}
    if any(signal.kind.value == "date" for signal in values(value)):
        return bool(words & {_stem(w) for w in _DATED})
    return bool(words & {_stem(w) for w in _NAMED_FOR.get(value_of(value).kind.partition("/")[0], "").split()})


def _between(text: str, one: str, other: str) -> str:
    a, b = text.find(one), text.find(other)
    return text[a + len(one) : b] if a < b else text[b + len(other) : a]


def _stem(word: str) -> str:
    word = IRREGULAR.get(word, word)
    for ending in ("ings", "ing", "ers", "er", "ed", "es", "s", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word
