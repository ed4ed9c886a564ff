"""The value a sentence gives to something that has one: "the notary is *Reyes*", "the libretto is written in *Czech*".

Owns the constructions in which a value is unique by grammar or by the verb, and says which words of the sentence are the value. Never
compares two values.
"""

from __future__ import annotations

from dataclasses import dataclass

from smb.evolve.language.exclusive_values import value_class
from smb.evolve.opposing.stance import is_past
from smb.evolve.language.synonyms import concept
from smb.evolve.language.word_classes import ATTRIBUTES, AUXILIARIES, BE, CONJUNCTIONS, DEFINITE, DETERMINERS, FILLERS, PREPOSITIONS, PRONOUNS, UNIQUE


@dataclass(frozen=True, slots=True)
class SlotValue:
    """`places` are the word places of the value. `unique`: there is one by grammar or by what the words mean; `of_class`: there is one among
    values of a kind (a service uses one database); `names`: unique only where the value is a name."""

    places: frozenset[int]
    unique: bool
    of_class: bool = False
    names: bool = False


_VERBS_WITH = {  # preposition → verbs after which it brings the one value
    "in": "write build store host locate live born found pay study publish hold happen park grow keep sleep set stay bake cook cover log "
          "communicate record start end produce render format package bill trade meet rehearse practice dress",
    "by": "write build make send ship deliver host lead teach own manage maintain design paint compose direct found coach sponsor invent "
          "heat power travel commute pay translate edit publish chair conduct fund cater print insure back train authenticate "
          "communicate record operate supply produce provide handle sign fuel approve review clean process render bill water",
    "with": "build live heat pay serve insure cook fill cover authenticate season fuel clean process render format feed",
    "of": "build make sew",
    "from": "build make ship come depart sew",
    "at": "store host locate live work study hold happen keep sleep stay record start end meet rehearse practice",
    "on": "store host deploy run locate print park keep sleep cook record play drive trade shoot",
    "via": "send ship deliver authenticate communicate distribute",
    "to": "deploy marry report log belong",
    "as": "work format package distribute",
    "for": "work play",
    "into": "translate",
    "after": "name",
    "under": "license distribute",
}
_UNIQUE_VERBS: dict[str, frozenset[str]] = {}  # concept of the verb → prepositions after which its value comes
for _preposition, _verbs in _VERBS_WITH.items():
    for _verb in _verbs.split():
        _UNIQUE_VERBS[concept(_verb)] = _UNIQUE_VERBS.get(concept(_verb), frozenset()) | {_preposition}
_AGENTS = frozenset(("by", "with", "from", "under"))  # of what is done: by whom, with what
_ROLE_VERBS = frozenset(map(concept, "lead manage own maintain coach teach chair direct head conduct edit run captain supervise write design found invent compose paint".split()))
_USING = frozenset(map(concept, "use run take have need".split()))
_VAGUE = frozenset(map(concept, "problem issue reason idea goal result point trick thing way answer question advantage catch solution difference example plan next step aim purpose rule key benefit downside "
                       "challenge option alternative fact truth task rest one list lesson note tip exception first".split()))
_STOP = PREPOSITIONS | CONJUNCTIONS | frozenset((",", ";", ":", "(", ")"))


def slot_value(words: list[str], lower: list[str], verb: int) -> SlotValue | None:
    """The value a sentence gives, None where it gives none that could be unique. `verb` is the place of its verb, -1 for none."""
    if verb < 0 or "not" in lower or len(lower) < 3:
        return None
    if verb == 0:
        return _used(words, lower, 0)
    if lower[verb] in BE:
        return _passive(words, lower, verb) or _copular(words, lower, verb)
    main = main_verb(lower, verb)
    root = concept(lower[main])
    if root in _ROLE_VERBS and _is_name(words, 0, main) and lower[main + 1 : main + 2] and lower[main] != "run":
        return SlotValue(frozenset(range(0, main)), True)
    if root == concept("paint") and value_class(lower[-1]):
        return SlotValue(frozenset((len(lower) - 1,)), True)
    return _after_preposition(lower, main, root) or _used(words, lower, main)


def main_verb(lower: list[str], verb: int) -> int:
    """The place of the word that carries the verb's meaning: "is *written*"."""
    at = verb
    while at + 1 < len(lower) and (lower[at] in AUXILIARIES or lower[at] in FILLERS) and lower[at + 1] not in _STOP and lower[at + 1] not in DETERMINERS:
        at += 1
    return at


def _passive(words: list[str], lower: list[str], verb: int) -> SlotValue | None:
    main = main_verb(lower, verb)
    if main == verb:
        return None
    root = concept(lower[main])
    if root == concept("call") or root == concept("name") and main + 1 < len(lower) and lower[main + 1] not in PREPOSITIONS:
        return SlotValue(_phrase(lower, main + 1), True)
    if root == concept("paint") and main + 1 < len(lower) and lower[main + 1] not in _STOP:
        return SlotValue(_phrase(lower, main + 1), True)
    return _after_preposition(lower, main, root, lower[main].endswith("ed") or is_past(lower[main]))


def _after_preposition(lower: list[str], main: int, root: str, passive: bool = False) -> SlotValue | None:
    """ "… is written in VALUE", "… stores its data in VALUE"."""
    preps = _UNIQUE_VERBS.get(root, frozenset()) | (_AGENTS if passive else frozenset())
    for i in range(main + 1, len(lower)):
        if (lower[i] in preps or lower[i] == "with" and lower[0] in ("we", "i")) and (value := _phrase(lower, i + 1)):
            return SlotValue(value, True)
        if lower[i] in CONJUNCTIONS or lower[i] in (";", ":"):
            return None
    return None


def _used(words: list[str], lower: list[str], main: int) -> SlotValue | None:
    """ "we use VALUE for the ledger", "the ledger uses VALUE"."""
    if concept(lower[main]) not in _USING:
        return None
    value = _phrase(lower, main + 1)
    if not value:
        return None
    for_what = max(value) + 1 < len(lower) and lower[max(value) + 1] in ("for", "as")
    return SlotValue(value, False, of_class=True, names=for_what and _is_name(words, min(value), max(value) + 1))


def _copular(words: list[str], lower: list[str], verb: int) -> SlotValue | None:
    start = verb + 1
    while start < len(lower) and lower[start] in FILLERS:
        start += 1
    if start >= len(lower):
        return None
    subject = range(0, verb)
    if lower[start] in ("in", "at", "on", "from", "under", "behind", "near", "by"):
        value = _phrase(lower, start + 1)
        return SlotValue(value, True) if value and lower[0] not in ("there", "it") else None
    if concept(lower[start]) in ATTRIBUTES and lower[start + 1 : start + 2] in (["of"], ["for"]) and _is_name(words, 0, verb):
        return SlotValue(frozenset(subject), True)  # "Noor is treasurer of the club"
    definite = lower[start] in DEFINITE or any(w.endswith("'s") for w in lower[start:-1])
    if definite and _single(lower, range(start, len(lower))) and lower[0] not in DETERMINERS:
        return SlotValue(frozenset(subject), True) if _is_name(words, 0, verb) or _unique(lower, range(start, len(lower))) else None
    value = _phrase(lower, start)
    if not value:
        return None
    if _unique(lower, subject):
        return SlotValue(value, True)
    if lower[0] in ("the", "my", "our", "his", "her", "their") or any(w.endswith("'s") for w in lower[:verb]):
        if lower[start] not in ("a", "an") and _single(lower, subject):
            return SlotValue(value, False, of_class=True, names=_is_name(words, min(value), max(value) + 1) and start + 1 <= len(lower))
    return SlotValue(value, False, of_class=True)


def _head(lower: list[str], places: range) -> str:
    """The head of a noun phrase: its last word before a preposition."""
    head = ""
    for i in places:
        if lower[i] in _STOP:
            break
        head = lower[i]
    return head


def _single(lower: list[str], places: range) -> bool:
    head = _head(lower, places)
    return bool(head) and (not head.endswith("s") or head.endswith("ss") or head.endswith("'s")) and concept(head) not in _VAGUE


def _unique(lower: list[str], places: range) -> bool:
    """Whether a noun phrase means one thing: "the only X", "my favourite X", "the colour of X", "X's name"."""
    phrase = [lower[i] for i in places]
    head = _head(lower, places)
    if not phrase or not _single(lower, places):
        return False
    known = phrase[0] in DEFINITE or any(w.endswith("'s") for w in phrase) or "of" in phrase
    return known and (any(w in UNIQUE for w in phrase[:-1]) or concept(head) in ATTRIBUTES)


def _is_name(words: list[str], start: int, stop: int) -> bool:
    """Whether the words from `start` to before `stop` are one name."""
    part = [w for w in words[start:stop] if w.lower() not in FILLERS]
    return 0 < len(part) <= 4 and all(w[0].isupper() or any(c.isupper() or c.isdigit() for c in w) for w in part) and part[0].lower() not in DETERMINERS | PRONOUNS | PREPOSITIONS


def _phrase(lower: list[str], start: int) -> frozenset[int]:
    """The places of the content words of the phrase at `start`."""
    found = []
    for i in range(start, len(lower)):
        if lower[i] in _STOP:
            break
        if lower[i] not in DETERMINERS and lower[i] not in PRONOUNS and lower[i] not in AUXILIARIES and lower[i] not in FILLERS:
            found.append(i)
    return frozenset(found) if len(found) <= 4 else frozenset()
