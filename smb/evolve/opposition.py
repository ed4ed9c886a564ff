"""Whether two claims contradict each other, by rules and without a model.

Owns the decision. Two claims oppose each other where, word for word or by words that say the same, they speak of one thing and differ in
exactly one mark that can't have two values at a time: a figure, a date, a denial, an opposite, a state, a quantifier, or the value of
something that has one. Whatever else is said by one of them alone makes it at most a candidate; whatever is said by each of them
differently makes them claims about two things. Questions, suppositions and plans oppose nothing; two values at two times are a change.

Pure and symmetric. Never sees a whole bank: which pairs to look at is for the caller, `blocking_keys` helps.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations

from smb.evolve.antonyms import AxisKind, opposed_poles, same_pole, states_exclude
from smb.evolve.calendar_date import CalendarDate
from smb.evolve.exclusive_values import values_exclude
from smb.evolve.quantity import Quantity
from smb.evolve.reading import Analysed, Token, analyse
from smb.evolve.said import Said
from smb.evolve.stance import Time, is_past
from smb.evolve.stems import stem
from smb.evolve.synonyms import concept
from smb.evolve.word_classes import CURRENCIES, MEASURED, ONCE, PERSON_NOUNS
from smb.model.measure import value_of

__all__ = ["Analysed", "Opposition", "OppositionKind", "analyse", "blocking_keys", "oppose", "opposition"]


class OppositionKind(StrEnum):
    NUMBER = "number"
    DATE = "date"
    NEGATION = "negation"
    ANTONYM = "antonym"
    STATE = "state"
    VALUE = "value"
    QUANTIFIER = "quantifier"


@dataclass(frozen=True, slots=True)
class Opposition:
    """`reasons` say in a few words what decides it. `sure`: a contradiction by the rules alone; else a candidate to be judged."""

    kind: OppositionKind
    reasons: tuple[str, ...]
    sure: bool


@dataclass(frozen=True, slots=True)
class _Difference:
    kind: OppositionKind
    reason: str
    sure: bool = True
    lasting: bool = False
    always: Analysed | None = None
    ends: bool = False


_MAKING = frozenset(map(concept, "write build make design found paint compose invent publish bear create develop bake knit sew carve".split()))  # what was so made is so
_ENDS = frozenset(map(concept, "expire end finish valid".split()))
_LIMIT = concept("limit")
_LASTING = frozenset(("done", "canceled", "retired", "approved", "rejected"))  # what was once so remains so
_NEAR = tuple(frozenset(map(concept, line.split())) for line in (
    "trail hike walk route tour road", "begin found open launch create introduce build", "end finish complete close stop expire valid", "birth celebrate", "big tall", "send ship deliver", "make build create produce",
    "locate base", "need require take", "sleep rest", "hold happen", "keep store put retain", "part include contain", "speak talk", "eat consume", "buy get", "work employ", "teach lecture", "weigh heavy", "live home", "rent lease pay", "last take", "repair service",
    "read book", "sing choir", "sit seat", "drive car", "prefer favorite like", "test check", "delete remove", "error crash", "wear dress", "ask request", "save store", "earn make", "run operate", "vote elect"))


def opposition(one: Said, other: Said, single_valued: Collection[str] = ()) -> Opposition | None:
    """How two claims contradict each other; None where the rules see no contradiction. `single_valued` are folded attributes."""
    return oppose(analyse(one), analyse(other), single_valued)


def oppose(a: Analysed, b: Analysed, single_valued: Collection[str] = ()) -> Opposition | None:
    """As `opposition`, of claims that are analysed already."""
    if a.said.text == b.said.text or not (a.stance.firm and b.stance.firm) or a.cjk != b.cjk or not _one_time(a, b) or not _one_voice(a, b):
        return None
    if b.said.text < a.said.text:
        a, b = b, a
    if a.cjk:
        found = _cjk(a, b)
    elif a.said.key and b.said.key:
        found = _keyed(a, b, single_valued) if a.said.key == b.said.key else None
    else:
        found = _worded(a, b)
    if found and found.sure and (_tells_change(a, b) or not _same_referents(a, b)):
        return Opposition(found.kind, found.reasons, False)
    return found


def blocking_keys(a: Analysed) -> frozenset[str]:
    """Keys of which two surely opposed claims share at least one: pairs of what they are about, or the one thing they are about."""
    if not a.stance.firm:
        return frozenset()
    if a.cjk:
        return frozenset((a.shape[:8],)) if a.shape else frozenset()
    about = sorted({t.concept for t in sorted(a.tokens, key=lambda t: (-t.weight, t.at))[:8] if t.weight >= 0.5})
    return frozenset((*(" ".join(pair) for pair in combinations(about, 2)), *about[: len(about) if len(about) <= 3 else 0], *(t.concept for t in a.tokens if t.weight == 2.0)))


# ---------------------------------------------------------------- one time, one voice, one thing

def _one_time(a: Analysed, b: Analysed) -> bool:
    """Whether both can be meant to hold at one time."""
    if a.said.valid.known and b.said.valid.known and not a.said.valid.overlaps(b.said.valid):
        return False
    return not (a.stamp and b.stamp and a.stamp != b.stamp)


def _one_voice(a: Analysed, b: Analysed) -> bool:
    """Not where two people speak, each for themself: that is a difference of opinion."""
    if a.stance.speaker and b.stance.speaker and a.stance.speaker != b.stance.speaker:
        return False
    return bool(a.stance.speaker) == bool(b.stance.speaker) or not (a.stance.first_person and b.stance.first_person)


def _tells_change(a: Analysed, b: Analysed) -> bool:
    """Whether the words of the later dated claim tell of a change, so that the other may have been so before."""
    if not (a.stance.changes or b.stance.changes):
        return False
    if not (a.said.date.known and b.said.date.known):
        return False
    return a.said.date != b.said.date


def _same_referents(a: Analysed, b: Analysed) -> bool:
    """Not where a claim speaks of "it" or "this", or is no sentence: what is meant stands elsewhere."""
    return not a.stance.deictic and not b.stance.deictic and (a.predicates or a.cjk) and (b.predicates or b.cjk)


# ---------------------------------------------------------------- claims with a key

def _keyed(a: Analysed, b: Analysed, single_valued: Collection[str]) -> Opposition | None:
    value, value2 = value_of(a.said.value), value_of(b.said.value)
    if value == value2:
        return None
    subject, attribute = a.said.key  # type: ignore[misc]
    single = attribute in single_valued
    reason = f"{subject}, {attribute}: {a.said.value} against {b.said.value}"
    if value.kind == value2.kind != "text" and len(a.quantities) == len(b.quantities) == 1:
        q, q2 = a.quantities[0], b.quantities[0]
        if q.comparable(q2) and not q.excludes(q2):
            return None
        return Opposition(OppositionKind.NUMBER, (reason,), single)
    return Opposition(OppositionKind.VALUE, (reason,), True) if single else None


# ---------------------------------------------------------------- claims in words

def _worded(a: Analysed, b: Analysed) -> Opposition | None:
    if not a.concepts & b.concepts:
        return None
    if a.comparison and b.comparison:
        return _compared(a, b)
    shared = a.concepts & b.concepts
    certainty = sum(t.weight or 0.25 for t in a.tokens if t.concept in shared)
    left = [t for t in a.tokens if t.concept not in b.concepts]
    right = [t for t in b.tokens if t.concept not in a.concepts]
    if len(left) > 6 or len(right) > 6:
        return None
    found: list[_Difference] = []
    paired = _paired(left, right, found)
    certainty += paired
    found += _figures(a, b) or []
    dated = _dated(a, b)
    if dated:
        found.append(dated)
    denied = _denied(a, b)
    if denied:
        found.append(denied)
    ended = _ended(a, b)
    if ended:
        found.append(ended)
    quantified = _quantified(a, b, found)
    if quantified is False:
        return None
    if isinstance(quantified, _Difference):
        found = [quantified]
    if not found:
        slot = _slots(left, right, a, b)
        if slot is None:
            return None
        found.append(slot)
    decisive = _one_decisive(found)
    if decisive is None or not _tenses_meet(a, b, decisive):
        return None
    specific = paired >= 1 or _specific(a, shared, decisive.kind is OppositionKind.VALUE)
    return _weighed(a, b, left, right, decisive, certainty, specific)


def _specific(a: Analysed, shared: frozenset[str], by_value: bool) -> bool:
    """Whether a word they share says by itself what they are about: not the verb, the value, or what is counted, unless more goes with it."""
    value = a.slot.places if a.slot and by_value else ()
    alike = [t for t in a.tokens if t.concept in shared and t.weight >= 0.5 and t.at not in value]
    return any(t.weight >= 1 and not t.counted and (not t.main or t.concept in ONCE) for t in alike) or len(alike) > 1 and any(t.counted for t in alike)


def _paired(left: list[Token], right: list[Token], found: list[_Difference]) -> float:
    """Takes words that answer each other out of both lists: those that say the same, whose weight it returns, and those that say the
    opposite, which it notes."""
    certainty = 0.0
    for t in list(left):
        for u in right:
            same = _says_same(t, u)
            difference = None if same else _contrast(t, u)
            if same or difference:
                left.remove(t)
                right.remove(u)
                if difference:
                    found.append(difference)
                else:
                    certainty += min(t.weight, u.weight)
                break
    return certainty


def _says_same(t: Token, u: Token) -> bool:
    if t.poles and u.poles and same_pole(t.poles, u.poles) and opposed_poles(t.poles, u.poles) is None or t.state and t.state == u.state:
        return True
    return any(t.concept in near and u.concept in near for near in _NEAR)


def _contrast(t: Token, u: Token) -> _Difference | None:
    if t.state and u.state and states_exclude(t.state, u.state):
        return _Difference(OppositionKind.STATE, f"{t.form} against {u.form}", lasting=any(is_past(x.form) and x.state in _LASTING for x in (t, u)))
    kind = opposed_poles(t.poles, u.poles) if t.poles and u.poles else None
    if kind is not None:
        return _Difference(OppositionKind.ANTONYM, f"{t.form} against {u.form}", kind is not AxisKind.EVENT)
    if t.negated and t.negated == _stem_of(u) or u.negated and u.negated == _stem_of(t):
        return _Difference(OppositionKind.ANTONYM, f"{t.form} against {u.form}")
    return None


def _stem_of(t: Token) -> str:
    return stem(t.form)


def _figures(a: Analysed, b: Analysed) -> list[_Difference]:
    """The quantities of one measure that exclude each other."""
    found = []
    for q in a.quantities:
        same = [r for r in b.quantities if q.comparable(r)]
        if same and len(same) == sum(q.comparable(p) for p in a.quantities) == 1:
            r = same[0]
            if _excludes(q, r, a, b):
                told = q.kind == "clock" and Time.PAST in (a.time, b.time)
                found.append(_Difference(OppositionKind.NUMBER, f"{_said(q)} against {_said(r)}", not told))
        elif same and len(same) > 1:
            found += [_Difference(OppositionKind.NUMBER, "several figures", False)] if all(_excludes(q, r, a, b) for r in same) else []
    return found


def _excludes(q: Quantity, r: Quantity, a: Analysed, b: Analysed) -> bool:
    limits = (q.bound or _LIMIT in a.concepts) and (r.bound or _LIMIT in b.concepts) and q.bound != "min" and r.bound != "min" and (_LIMIT in a.concepts or _LIMIT in b.concepts)
    if limits:
        return Quantity(q.kind, q.low, q.high, q.text, q.per).excludes(Quantity(r.kind, r.low, r.high, r.text, r.per))
    return q.excludes(r)


def _said(q: Quantity) -> str:
    return " ".join(q.text.replace("at-most", "at most").replace("at-least", "at least").split())


def _dated(a: Analysed, b: Analysed) -> _Difference | None:
    if len(a.dates) != 1 or len(b.dates) != 1:
        both = a.dates and b.dates
        return _Difference(OppositionKind.DATE, "several dates", False) if both and all(d.excludes(e) for d in a.dates for e in b.dates) else None
    d, e = a.dates[0], b.dates[0]
    if not d.excludes(e) or not _one_relation(d, e, a, b):
        return None
    once = a.stance.ended and b.stance.ended or any(t.concept in ONCE for t in (*a.tokens, *b.tokens))
    return _Difference(OppositionKind.DATE, f"{d.text} against {e.text}", once)


def _one_relation(d: CalendarDate, e: CalendarDate, a: Analysed, b: Analysed) -> bool:
    if any(t.concept in _ENDS for t in (*a.tokens, *b.tokens)) and {d.relation, e.relation} <= {"", "until", "till", "by", "in"}:
        return True
    loose = {"since", "from", "after"}, {"until", "till", "to", "before", "through"}
    return d.relation == e.relation or not any((d.relation in group) != (e.relation in group) for group in loose)


def _denied(a: Analysed, b: Analysed) -> _Difference | None:
    """Where one denies what the other says: all that stands under the negation must be in the other."""
    if (a.negations % 2) == (b.negations % 2):
        return None
    no, yes = (a, b) if a.negations % 2 else (b, a)
    scope = [t for t in no.tokens if t.in_scope]
    sure = a.negations + b.negations == 1 and a.order == b.order and (bool(scope) or no.concepts <= yes.concepts)
    return _Difference(OppositionKind.NEGATION, f"{_short(no)} against {_short(yes)}", sure, always=no if sure and no.universal and _same_person(no, yes) else None)


def _same_person(a: Analysed, b: Analysed) -> bool:
    """Whether both say something of one person or thing that has a name, or of "me"."""
    named = {t.concept for t in a.tokens if t.weight == 2.0 and not t.after_verb}
    return a.stance.first_person and b.stance.first_person or any(t.weight == 2.0 and t.concept in named and not t.after_verb for t in b.tokens)


def _ended(a: Analysed, b: Analysed) -> _Difference | None:
    if a.stance.ended == b.stance.ended or a.negations or b.negations:
        return None
    goes_on = b if a.stance.ended else a
    if goes_on.time in (Time.PAST, Time.FUTURE):
        return None
    return _Difference(OppositionKind.STATE, f"{_short(a)} against {_short(b)}", ends=True)


def _quantified(a: Analysed, b: Analysed, found: list[_Difference]) -> _Difference | bool | None:
    """A difference of "all", "some", "none"; False where each speaks of a part only, so that both may be true."""
    p, q = a.quantifier, b.quantifier
    partial = [x for x in (p, q) if x is not None and x[0] < 5]
    if found:
        if len(partial) == 2 or partial and (5, 5) not in (p, q) and any(d.kind in (OppositionKind.ANTONYM, OppositionKind.NEGATION) for d in found) and not (a.negations or b.negations):
            return False
        return None
    if p and q and (p[1] < q[0] or q[1] < p[0]):
        return _Difference(OppositionKind.QUANTIFIER, f"{_short(a)} against {_short(b)}")
    return None


def _slots(left: list[Token], right: list[Token], a: Analysed, b: Analysed) -> _Difference | None:
    """Where both give a value to one slot, and two values."""
    if a.slot is None or b.slot is None or a.negations or b.negations:
        return None
    mine, theirs = [t for t in left if t.at in a.slot.places], [t for t in right if t.at in b.slot.places]
    all_mine, all_theirs = [t for t in a.tokens if t.at in a.slot.places and t.weight >= 1], [t for t in b.tokens if t.at in b.slot.places and t.weight >= 1]
    if not mine or not theirs or len(mine) < len(all_mine) or len(theirs) < len(all_theirs):
        return None
    of_kind = any(values_exclude(t.form, u.form) for t in mine for u in theirs)
    known = [t.kind for t in mine if t.kind], [t.kind for t in theirs if t.kind]
    if known[0] and known[1] and not of_kind:
        return None
    sure = of_kind or a.slot.unique and b.slot.unique or (a.slot.unique or a.slot.names) and (b.slot.unique or b.slot.names)
    for t in mine:
        left.remove(t)
    for u in theirs:
        right.remove(u)
    made = any(t.main and t.concept in _MAKING and t.concept in b.concepts for t in a.tokens)
    return _Difference(OppositionKind.VALUE, f"{' '.join(t.form for t in mine)} against {' '.join(u.form for u in theirs)}", sure, made)


def _one_decisive(found: list[_Difference]) -> _Difference | None:
    """The one difference that decides; None where there are two, which undo each other or make two stories of it."""
    if len(found) == 1:
        return found[0]
    return None


def _tenses_meet(a: Analysed, b: Analysed, difference: _Difference) -> bool:
    """A past and a present are two times, unless what is said is of no time ("never", a date, an end)."""
    if difference.kind is OppositionKind.DATE or difference.lasting:
        return True
    if a.stance.ended or b.stance.ended:
        return a.stance.ended != b.stance.ended
    times = {a.time, b.time}
    if Time.FUTURE in times and len(times) > 1:
        return False
    if Time.PAST in times and Time.PRESENT in times:
        return difference.always is not None
    return True


def _weighed(a: Analysed, b: Analysed, left: list[Token], right: list[Token], difference: _Difference, certainty: float, specific: bool) -> Opposition | None:
    """What remains on either side decides whether they speak of one thing."""
    measured = _measure_words(a, b) if difference.kind is OppositionKind.NUMBER else frozenset()
    if difference.always is not None:  # "never", "cannot": whatever else goes with it, it is not so
        left, right = ([t for t in rest if claim is difference.always or not t.after_verb] for rest, claim in ((left, a), (right, b)))
    if difference.ends:
        measured = frozenset(t.concept for t in (*left, *right) if t.state == "active")
    mine = [t.weight for t in left if t.concept not in measured]
    theirs = [t.weight for t in right if t.concept not in measured]
    top, top2 = max(mine, default=0.0), max(theirs, default=0.0)
    if top >= 1 and top2 >= 1 or sum(w >= 1 for w in (*mine, *theirs)) > 2:
        return None
    if certainty < 1 or not specific or any(_other_person(x, y, rest) for x, y, rest in ((a, b, right), (b, a, left))):
        return None
    sure = difference.sure and top < 1 and top2 < 1 and not (top and top2) and (certainty >= 2 or not top and not top2)
    if any(t.form == "must" for t in (*left, *right)) and not (a.order or b.order):
        sure = False
    return Opposition(difference.kind, (difference.reason,), sure)


def _measure_words(a: Analysed, b: Analysed) -> frozenset[str]:
    kinds: set[str] = set()
    for q in (*a.quantities, *b.quantities):
        kinds.add("money" if q.kind in CURRENCIES else q.kind)
        if q.per:
            kinds.add("rate")
        if q.bound:
            kinds.add("bound")
    return frozenset().union(*(MEASURED.get(kind, frozenset()) for kind in kinds))


def _other_person(speaks: Analysed, other: Analysed, rest: list[Token]) -> bool:
    """Whether one speaks of "I" and the other of somebody by name."""
    return speaks.stance.first_person and not other.stance.first_person and any(t.weight == 2.0 or t.concept in PERSON_NOUNS for t in rest)


def _compared(a: Analysed, b: Analysed) -> Opposition | None:
    """ "A is faster than B" against "A is slower than B" or "B is faster than A"."""
    (left, right, poles), (left2, right2, poles2) = a.comparison, b.comparison  # type: ignore[misc]
    only, only2 = left - left2, left2 - left
    if not only and not only2:
        swapped = False
        if right - right2 and right2 - right:
            return None
    elif only <= right2 and only2 <= right:
        swapped = True
    else:
        return None
    axis = opposed_poles(poles, poles2)
    agree = same_pole(poles, poles2)
    if axis is None and not agree:
        return None
    odd = (axis is not None) + swapped + a.negations + b.negations
    if odd % 2 == 0 or a.negations + b.negations and axis is not None:
        return None
    return Opposition(OppositionKind.ANTONYM if axis else OppositionKind.NEGATION if not swapped else OppositionKind.ANTONYM, (f"{_short(a)} against {_short(b)}",), True)


def _cjk(a: Analysed, b: Analysed) -> Opposition | None:
    """Sentences that are one but for a figure or a word of denial."""
    if a.shape == b.shape and len(a.shape) >= 5 and len(a.quantities) == len(b.quantities):
        differ = [(q, r) for q, r in zip(a.quantities, b.quantities, strict=True) if q.low != r.low]
        if len(differ) == 1:
            return Opposition(OppositionKind.NUMBER, (f"{differ[0][0].text} against {differ[0][1].text}",), len(a.quantities) == 1)
    return None


def _short(a: Analysed) -> str:
    text = " ".join(a.said.text.split())
    return f"“{text if len(text) <= 90 else text[:89] + '…'}”"
