"""A claim taken apart for comparing: what it is about, and the marks by which it can oppose another.

Owns `Analysed`: content words as concepts, quantities, dates, negation with its scope, poles of opposites, quantifier, the value of a
slot, a comparison's two sides, and the stance. Never looks at another claim.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, replace
from itertools import pairwise
from sys import intern

from smb.evolve.language.antonyms import Poles, negated_form, poles, state
from smb.evolve.language.calendar_date import CalendarDate, dates
from smb.evolve.language.exclusive_values import value_class
from smb.evolve.language.implications import implied, ruled_out
from smb.evolve.language.quantity import Quantity, quantities
from smb.evolve.said import Said
from smb.evolve.opposing.slots import SlotValue, main_verb, slot_value
from smb.evolve.opposing.stance import Stance, Time, is_ending, is_past, permission, stance, time_of
from smb.evolve.language.stems import spelled, stem
from smb.evolve.language.synonyms import concept, is_known, joined
from smb.evolve.language.word_classes import (
    ABSTRACT,
    AUXILIARIES,
    BE,
    CONJUNCTIONS,
    DEFINITE,
    DETERMINERS,
    FILLERS,
    GENERIC_HEADS,
    LIGHT,
    PREPOSITIONS,
    PRONOUNS,
    VERBS,
)

MOST_CHARACTERS = 600
MOST_WORDS = 60  # a longer sentence says too many things to be opposed as a whole
CJK = re.compile(r"[぀-ヿ㐀-鿿가-힯]")
_CJK_NOT = r"不(?!过|但|同|仅|断|久|管)|没有?|未(?!来)|ません"
_FOOTNOTE = re.compile(r"\[\^?[\w-]{1,12}\](?!\()")
_MARKUP = re.compile(r"[*`_~]{1,3}(?=\S)|(?<=\S)[*`~]{1,3}|\[\[|\]\]")
_WORD = re.compile(r"#[dnc]|[^\W_][\w+#]*(?:[-'./@:][\w+#]+)*[+#]*|[,;:()]")
_CONTRAST = re.compile(r"(?:,\s(?:and\s)?not\s|\binstead\sof\s|\brather\sthan\s)[^,.;]{1,60}", re.IGNORECASE)
_NOT_ALL = re.compile(r"\bnot\s(?:all|every|everyone|everything|always|everybody|necessarily)\b", re.IGNORECASE)
_STAMP = re.compile(r"^\s*(?:on\s)?(?P<d>\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d)?)\s?[:,–-]?\s+(?=\S)", re.IGNORECASE)
_NEGATION = frozenset("not never no none nobody nothing neither nor cannot without no-longer nowhere".split())
_NT = re.compile(r"\b(ca|do|does|did|is|are|was|were|has|have|had|would|could|should|must|need|wo|ai|might)n['’]t\b", re.IGNORECASE)
_LACK = frozenset(map(stem, "lack".split()))
_QUANTIFIERS: dict[str, tuple[int, int]] = {
    **dict.fromkeys("all every each always everyone everybody everything anyone anybody constantly entirely".split(), (5, 5)),
    **dict.fromkeys("most mostly usually majority".split(), (4, 5)), **dict.fromkeys("many often frequently regularly".split(), (3, 5)),
    **dict.fromkeys("some sometimes several occasionally someone somebody".split(), (1, 5)),
    **dict.fromkeys("rarely seldom hardly barely scarcely minority".split(), (1, 1)),
}
_PERIODS = frozenset("second minute hour day night morning evening week weekend month quarter year monday tuesday wednesday thursday friday saturday sunday spring summer autumn winter time #d".split())
_PARTICLES = frozenset("on off up down over above below inside outside against for".split())
_PER = re.compile(r"\b(?:each|every|per)\s(second|minute|hour|day|night|week|month|quarter|year)\b|\b(yearly|annually|annual|monthly|weekly|daily|hourly)\b", re.IGNORECASE)
_PER_WORD = {"yearly": "year", "annually": "year", "annual": "year", "monthly": "month", "weekly": "week", "daily": "day", "hourly": "hour"}


@dataclass(frozen=True, slots=True)
class Token:
    """A content word. `weight`: 2 for a name, 1 for a word that says what is meant, 0.5 for a head of little meaning ("system"), 0 for one that
    carries none ("use"). `poles` and `state` only where it is said of something, not where it tells which thing is meant ("the old one")."""

    form: str
    concept: str
    weight: float
    at: int
    poles: Poles
    state: str
    kind: str
    negated: str
    after_verb: bool
    in_scope: bool
    counted: bool
    main: bool
    name: bool


@dataclass(frozen=True, slots=True)
class Analysed:
    """`shape` is the sentence with its figures taken out, for scripts without spaces; `comparison` is (concepts before, concepts after "than", poles).
    `steady`: it says what stays as it is; `day_of`: it says the day something is on; `ours`: "we" is its subject; `none_of` and `owned` are pairs of
    (owner, thing) of which it says there is none, or which it speaks of as there."""

    said: Said
    stance: Stance
    time: Time = Time.PRESENT
    tokens: tuple[Token, ...] = ()
    concepts: frozenset[str] = frozenset()
    quantities: tuple[Quantity, ...] = ()
    dates: tuple[CalendarDate, ...] = ()
    stamp: str = ""
    negations: int = 0
    quantifier: tuple[int, int] | None = None
    slot: SlotValue | None = None
    predicates: bool = False
    order: bool = False
    universal: bool = False
    permission: tuple[int, str] = (0, "")
    steady: bool = False
    day_of: bool = False
    ours: bool = False
    none_of: frozenset[tuple[str, str]] = frozenset()
    owned: frozenset[tuple[str, str]] = frozenset()
    lacks: frozenset[str] = frozenset()
    has: frozenset[str] = frozenset()
    comparison: tuple[frozenset[str], frozenset[str], Poles] | None = None
    shape: str = ""
    cjk: bool = False


def analyse(said: Said) -> Analysed:
    """What `oppose` needs of a claim; some 0.2 ms for a sentence."""
    if len(said.text) > MOST_CHARACTERS:
        return Analysed(said, Stance(False))
    text = unicodedata.normalize("NFKC", said.text) if not said.text.isascii() else said.text
    text = _MARKUP.sub("", _FOOTNOTE.sub("", text)).replace("’", "'").strip()
    if CJK.search(text):
        return _analyse_cjk(said, text)
    stamp = ""
    if m := _STAMP.match(text):
        stamp, text = m["d"], text[m.end():]
    text, whole = _NT.sub(_without_nt, text), text.rstrip(" \"')”*_")[-1:] in (".", "!")
    text = joined(text)
    how, text = stance(text, said.attributed_to)
    if not how.firm:
        return Analysed(said, how)
    not_all = _NOT_ALL.search(text) is not None
    text = _NOT_ALL.sub(" ", _CONTRAST.sub(" ", text))
    per = _PER.search(text)
    found_dates, text = dates(text)
    amounts, text = quantities(text)
    if per and len(amounts) == 1 and not amounts[0].per:
        q = amounts[0]
        amounts = [Quantity(q.kind, q.low, q.high, q.text, (per[1] or _PER_WORD[per[2].lower()]).lower(), q.bound, q.about)]
    words = _WORD.findall(text)
    if len(words) > MOST_WORDS:
        return Analysed(said, how)
    lower = [w.lower() for w in words]
    verb = verb_at(words, lower, whole)
    main = main_verb(lower, verb) if verb >= 0 else -1
    if len(lower) > 1 and verb != 0 and lower[0].endswith(("s", "ed")) and (lower[1] in DETERMINERS or lower[1] in ("#n", "#c") or stem(lower[0]) in VERBS and lower[verb] not in AUXILIARIES):
        how = replace(how, deictic=True)  # "Returns a list": of whom is said elsewhere
    slot = slot_value(words, lower, verb)
    tokens, negations, scope_starts = [], 0, None
    for i, form in enumerate(lower):
        if form in (",", ";", ":", "(", ")", "#d", "#n", "#c"):
            continue
        if form in _NEGATION or stem(form) in _LACK or i == 0 and form in ("stop", "cease") and lower[1:] and lower[1].endswith("ing"):
            negations += 1
            scope_starts = i
            continue
        token = _token(words, lower, i, verb, main, scope_starts is not None, how.ended)
        if token is not None:
            tokens.append(token)
    quantifier = next((_QUANTIFIERS[w] for w, after in pairwise((*lower, "")) if w in _QUANTIFIERS and after not in _PERIODS), None)
    if "few" in lower and not (lower.index("few") and lower[lower.index("few") - 1] in ("a", "the", "these", "first", "last")):
        quantifier = (1, 1)
    if not_all:
        quantifier = (0, 4)
    denied = frozenset(t.concept for t in tokens if t.in_scope and t.weight)
    owned = frozenset(t.concept for t in tokens if any(w.endswith(("'s", "s'")) or w == "my" for w in lower[max(0, t.at - 2) : t.at]))
    lacks = ruled_out(_said_of_subject(lower, verb), denied) if negations == bool(denied) and not owned else frozenset()
    has: frozenset[str] = frozenset()
    if not negations and main >= 0:
        has = implied(owned, frozenset(t.concept for t in tokens if t.after_verb), frozenset(t.concept for t in tokens) | {concept(lower[main])})
    universal = not {"never", "cannot", "nobody"}.isdisjoint(lower) or "can" in lower and "not" in lower
    return Analysed(
        said, how, time_of(text, lower, verb), tuple(tokens), frozenset(t.concept for t in tokens), tuple(amounts), tuple(found_dates), stamp, negations,
        quantifier, slot, predicates=verb >= 0 or bool(said.key), order=verb == 0, universal=universal, lacks=lacks, has=has, comparison=_comparison(lower, tokens),
        permission=permission(lower, verb, main), steady=not _STEADY.isdisjoint(lower) and not is_past(lower[verb]), day_of=_is_day_of(lower, verb), ours=lower[:1] == ["we"],
        none_of=_none_of(lower, verb), owned=_owned(lower))


def _is_day_of(lower: list[str], verb: int) -> bool:
    """ "The parents' evening is on #d": of a definite single thing."""
    return verb > 1 and lower[verb] in ("is", "was") and lower[0] in DEFINITE and lower[verb + 1 : verb + 3] == ["on", "#d"] and not lower[verb - 1].endswith("day")


def _none_of(lower: list[str], verb: int) -> frozenset[tuple[str, str]]:
    """ "The farm has no cattle", "there are no cattle on the farm"."""
    if verb < 1 or lower[verb + 1 : verb + 2] != ["no"] or lower[verb] not in ("has", "have", "owns", "own", "is", "are") or _NOT_ALONE & set(lower):
        return frozenset()
    rest = lower[verb + 2 :]
    if lower[verb] in ("is", "are"):
        place = next((i for i, w in enumerate(rest) if w in ("in", "on", "at")), 0)
        if lower[0] != "there" or verb != 1 or place != 1:
            return frozenset()
        owner = rest[-1]
    elif len(rest) != 1:
        return frozenset()
    else:
        owner = lower[verb - 1]
    return frozenset(((_owner(owner), concept(rest[0])),))


def _owned(lower: list[str]) -> frozenset[tuple[str, str]]:
    """ "The farm's cattle …", "our website …", said as of things that are there."""
    found = set()
    for i, (w, after) in enumerate(pairwise((*lower, ""))):
        thing_ends = i + 2 >= len(lower) or lower[i + 2] in AUXILIARIES or lower[i + 2] in PREPOSITIONS or stem(lower[i + 2]) in VERBS
        if (w in ("our", "my") or w.endswith(("'s", "s'"))) and after and thing_ends:
            found.add((_owner(w.removesuffix("'s").removesuffix("'")), concept(after)))
    return frozenset(found)


def _owner(word: str) -> str:
    return {"our": "we", "my": "i"}.get(word) or concept(word)


_NOT_ALONE = frozenset(("but", "other", "more", "longer", "and", "or", "own", "#d"))
_STEADY = frozenset("stay stays remain remains keep keeps leave".split())


def _said_of_subject(lower: list[str], verb: int) -> list[str]:
    """The words that say what somebody is ("is a vegan") or how they eat ("a vegan diet")."""
    ends = (*lower[1:], "")
    return [w for i, (w, after) in enumerate(zip(lower, ends, strict=False)) if after == "diet" or verb >= 0 and lower[verb] in BE and verb < i <= verb + 3 and (
        not after or after in PREPOSITIONS or after in CONJUNCTIONS or after in (",", ";", ")"))]


def _without_nt(m: re.Match[str]) -> str:
    base = {"ca": "can", "wo": "will", "ai": "is"}.get(m[1].lower(), m[1])
    return f"{base} not"


def verb_at(words: list[str], lower: list[str], whole: bool = True) -> int:
    """The place of the sentence's verb: its first auxiliary or verb form after the first word; 0 for an order, which begins with it; -1 for none.
    `whole`: it ends as a sentence does, so that a word of verb form may be its verb."""
    if lower and stem(lower[0]) in VERBS and len(lower) > 1 and lower[0] == words[0].lower() and lower[0].isalpha() and lower[1] not in AUXILIARIES and not lower[0].endswith("s"):
        if lower[1] in DETERMINERS or whole and lower[1].endswith("ing") and poles(lower[0]) or lower[1] not in BE and stem(lower[1]) not in VERBS and not any(w in AUXILIARIES for w in lower):
            return 0
    clauses = int(lower[0] in _SUBORDINATE) if lower else 0
    relative, within = clauses > 0, False
    for i in range(1, len(lower)):
        w = lower[i]
        if w in _SUBORDINATE:
            clauses += 1
            relative = True
        within = within and (w in AUXILIARIES or w in FILLERS or w in _NEGATION or is_past(w))  # the rest of a clause's own verb
        if not within and _is_finite(lower, i):
            if not clauses:
                return i
            clauses -= 1
            within = True
    return next((i for i in range(1, len(lower) - 1) if whole and not relative and _may_be_finite(lower, i)), -1)


def _may_be_finite(lower: list[str], i: int) -> bool:
    """Whether a word that is no known verb stands and ends like one: "the seminar counts towards …"."""
    w, before, after = lower[i], lower[i - 1], lower[i + 1]
    if not w.isalpha() or before in DETERMINERS or before in PREPOSITIONS:
        return False
    if is_past(w) and lower[0] in ("a", "an"):
        return False
    if stem(w) in VERBS and not w.endswith("ing") and (after in DETERMINERS or after in PREPOSITIONS) and before != "to":
        return True
    if before.endswith("s") or not (w.endswith("ed") or w.endswith("s") and not w.endswith(("ss", "us", "is"))):
        return False
    return after in DETERMINERS or after in PREPOSITIONS or after in FILLERS or after in PRONOUNS or after in ("#c", "#n")


_SUBORDINATE = frozenset("that which who whose whom where when while if because although whereas unless until whenever".split())


def _is_finite(lower: list[str], i: int) -> bool:
    w, before = lower[i], lower[i - 1]
    if w in AUXILIARIES:
        return before != "to" and w not in ("be", "been", "being", "having", "doing")
    if is_ending(w) and w != "left" and before not in DETERMINERS:
        return True
    if before in _SUBJECTS:
        return w not in FILLERS and (w not in PREPOSITIONS or w == "like") and w not in _NEGATION
    if before in _HOW_OFTEN and w.isalpha() and w.endswith(("s", "ed")) and w not in FILLERS and i > 1:
        return True
    if not w.replace("-", "").isalpha() or stem(w) not in VERBS or before in DETERMINERS or before in PREPOSITIONS or w.endswith("ing"):
        return False
    if is_past(w):
        return before[-1].isalnum() and before[0] != "#" and lower[0] not in ("a", "an") and "with" not in lower[:i] and "without" not in lower[:i] and (i + 1 == len(lower) or lower[i + 1] != "by")
    return w.endswith("s") or before.endswith("s") or before in FILLERS and i > 1 and (lower[i - 2] in _SUBJECTS or lower[i - 2].endswith("s"))


_HOW_OFTEN = frozenset("always never often rarely seldom usually sometimes frequently hardly".split())
_SUBJECTS = frozenset("i we you they he she it who everyone nobody everybody".split())


def _is_particle_pole(lower: list[str], i: int) -> bool:
    """Whether "on", "up" and the like say a state ("is on in winter") and not a relation ("on the shelf")."""
    if lower[i] not in _PARTICLES or not poles(lower[i]):
        return False
    after = lower[i + 1] if i + 1 < len(lower) else "."
    return i > 0 and (lower[i - 1] in BE or lower[i - 1] in ("stay", "stays", "turned", "switched", "went", "goes", "gone", "must", "left", "already", "currently", "still", "always")) and (
        after in PREPOSITIONS or after in CONJUNCTIONS or after in (".", ",", ";", ")") or after in FILLERS)


def _token(words: list[str], lower: list[str], i: int, verb: int, main: int, in_scope: bool, ended: bool) -> Token | None:
    form = lower[i]
    bare = form[:-2] if form.endswith("'s") else form.rstrip("'")
    bare = spelled(bare)
    axis = poles(bare)
    particle = _is_particle_pole(lower, i)
    if form in PREPOSITIONS and not particle and i != main:
        return None
    if form in DETERMINERS or form in CONJUNCTIONS or form in PRONOUNS:
        return None
    attributive = _tells_which(lower, i, verb) or i > 0 and (lower[i - 1] == "to" or lower[i - 1] == "be" and i > 1 and lower[i - 2] == "to")  # a purpose is no fact
    if form in _QUANTIFIERS or (form in AUXILIARIES or form in FILLERS) and (attributive or not axis or form in ("long", "present", "current")) and form != "may":
        return None
    word = words[i]
    root = bare if any(c.isdigit() for c in bare) else concept(bare)
    capital = any(c.isupper() for c in word[1:]) or any(c.isdigit() for c in word) or (word[0].isupper() and i > 0)
    known_light = root in LIGHT and not (i and (lower[i - 1] in DETERMINERS or lower[i - 1].endswith("'s")))
    if ended and is_ending(bare) and (i >= verb or verb < 0):
        return None
    if form in ("must", "may") or known_light or i == verb == 0 and form == "leave":
        weight = 0.0
    elif capital:
        weight = 2.0
    elif root in GENERIC_HEADS or root in LIGHT:
        weight = 0.25 if root in ABSTRACT else 0.5
    else:
        weight = 1.0
    return Token(intern(bare), intern(root), weight, i, () if attributive else axis, "" if attributive else state(bare), value_class(bare), negated_form(bare),
                 verb >= 0 and i > verb, in_scope, i > 0 and lower[i - 1] == "#c", i == main, _is_name(words, lower, i, verb))


def _is_name(words: list[str], lower: list[str], i: int, verb: int) -> bool:
    """Whether a word before the verb is somebody's name; at the start of a sentence also common words have a capital."""
    word = words[i]
    if not word[0].isupper() or verb >= 0 and i > verb or not word.replace("'", "").isalpha():
        return False
    if i:
        return True
    bare = lower[0].removesuffix("'s")
    told = lower[0].endswith("'s") or verb == 1 or verb == 2 and lower[1] in FILLERS
    return told and not is_known(bare) and stem(bare) not in VERBS and not bare.endswith("s") and not poles(bare) and bare not in FILLERS


def _tells_which(lower: list[str], i: int, verb: int) -> bool:
    """Whether an adjective picks the thing meant ("the old pump") and is not said of it."""
    after = lower[i + 1] if i + 1 < len(lower) else ""
    before = lower[i - 1] if i else ""
    if i == 0 and verb != 0 and after and after not in AUXILIARIES and after not in PREPOSITIONS:
        return True
    if verb > 0 and i < verb:
        return True
    if not after or after in PREPOSITIONS or after in CONJUNCTIONS or after in FILLERS or after in AUXILIARIES or after in (",", ";", ":", "(", ")", "than", "#d", "#n", "#c") or after in DETERMINERS:
        return before in ("the", "new") and after in ("", "one")
    if after == "one" or before in DEFINITE or before.endswith("'s"):
        return before in DEFINITE or before.endswith("'s")
    return False


_WHICH = frozenset("first second third fourth fifth last".split())  # "the second act is longer than the first"


def _comparison(lower: list[str], tokens: list[Token]) -> tuple[frozenset[str], frozenset[str], Poles] | None:
    """The two sides of "A is faster than B"."""
    if "than" not in lower or lower.count("than") > 1:
        return None
    than = lower.index("than")
    pivots = [t for t in tokens if t.at < than and t.poles and than - t.at <= 4]
    if not pivots:
        return None
    pivot = pivots[-1]
    left = frozenset(t.concept for t in tokens if t.at < pivot.at and t.weight) | _WHICH & set(lower[: pivot.at])
    right = frozenset(t.concept for t in tokens if t.at > than and t.weight) | _WHICH & set(lower[than:])
    return (left, right, pivot.poles) if left and right else None


def _analyse_cjk(said: Said, text: str) -> Analysed:
    firm = not re.search(r"[？?]\s*$|(?:吗|呢|か)[。]?\s*$|如果|假如|也许|可能|もし|かもしれ|でしょう|だろう|予定|计划|打算", text)
    how, _ = stance("", said.attributed_to)
    if not firm:
        return Analysed(said, Stance(False, how.speaker), cjk=True)
    amounts = tuple(Quantity("", float(n), float(n), n) for n in re.findall(r"\d+(?:\.\d+)?", text))
    shape = re.sub(r"[\s、，。,.；;！!]", "", re.sub(r"\d+(?:\.\d+)?", "#", text))
    negations = len(re.findall(_CJK_NOT, shape))
    shape = re.sub(_CJK_NOT, lambda m: "ます" if m[0] == "ません" else "", shape)
    return Analysed(said, Stance(True, how.speaker), quantities=amounts, negations=negations, shape=shape, cjk=True)
