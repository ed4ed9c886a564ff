"""Whether two claims contradict each other, by rules and without a model.

Owns the decision. Two claims oppose each other where, word for word or by words that say the same, they speak of one thing and differ in
exactly one mark that can't have two values at a time: a figure, a date, a denial, an opposite, a state, a quantifier, or the value of
something that has one. Whatever else is said by one of them alone makes it at most a candidate; whatever is said by each of them
differently makes them claims about two things. Questions, suppositions and plans oppose nothing; two values at two times are a change.

Pure and symmetric. Never sees a whole bank: which pairs to look at is for the caller, `blocking_keys` helps.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from itertools import combinations

from smb.evolve.language.antonyms import opposed_poles, same_pole
from smb.evolve.opposing.differences import Difference, OppositionKind, bereft, both_in_part, dated, denied, ended, figures, forbidden, paired, quantified, quoted, same_person, two_values
from smb.evolve.opposing.reading import Analysed, Token, analyse
from smb.evolve.said import Said
from smb.evolve.opposing.stance import Time
from smb.evolve.language.word_classes import CURRENCIES, EMPTY, MEASURED, ONCE, PERSON_NOUNS
from smb.model.measure import value_of

MOST_LEFT = 6  # words of one claim without a like in the other
__all__ = ["Analysed", "Opposition", "OppositionKind", "analyse", "blocking_keys", "oppose", "opposition"]


@dataclass(frozen=True, slots=True)
class Opposition:
    """`reasons` say in a few words what decides it. `sure`: a contradiction by the rules alone; else a candidate to be judged."""

    kind: OppositionKind
    reasons: tuple[str, ...]
    sure: bool


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
    elif a.permission[0] * b.permission[0] < 0 and (refused := forbidden(a, b)):
        found = Opposition(refused.kind, (refused.reason,), True)
    elif a.stance.only_may or b.stance.only_may:
        return None
    elif a.said.key and a.said.key == b.said.key and (_tabled(a) or _tabled(b) or a.said.key[1] in single_valued):
        found = _keyed(a, b, single_valued)
    elif _tabled(a) and _tabled(b):
        found = None
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
    if a.stance.deictic or b.stance.deictic:
        return False
    return all(c.predicates or c.cjk or _verb_known_by(c, other) for c, other in ((a, b), (b, a)))


def _verb_known_by(a: Analysed, other: Analysed) -> bool:
    """Whether a claim is the other without its "not", so that its verb is a verb, though no list has it."""
    if a.negations or not other.predicates or other.negations != 1 or len(a.tokens) < 2:
        return False
    return any(t.main and t.in_scope for t in other.tokens) and [t.concept for t in a.tokens] == [t.concept for t in other.tokens]


# ---------------------------------------------------------------- claims with a key

def _tabled(a: Analysed) -> bool:
    """Whether a claim is a cell of a table or a list of properties, "subject – attribute: value"."""
    return bool(a.said.key) and " – " in a.said.text and a.said.text.endswith(a.said.value)


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
    shared = a.concepts & b.concepts
    if not shared:
        return None
    if (a.lacks & b.has or b.lacks & a.has) and same_person(a, b):
        return Opposition(OppositionKind.IMPLICATION, (f"{quoted(a)} against {quoted(b)}",), True)
    if (lost := bereft(a, b)) is not None:
        return Opposition(lost.kind, (lost.reason,), lost.sure)
    if a.comparison and b.comparison:
        return _compared(a, b)
    left = [t for t in a.tokens if t.concept not in b.concepts]
    right = [t for t in b.tokens if t.concept not in a.concepts]
    if len(left) > MOST_LEFT or len(right) > MOST_LEFT:
        return None
    found: list[Difference] = []
    alike = paired(left, right, found)
    found += [d for d in (*figures(a, b), dated(a, b), denied(a, b), ended(a, b)) if d is not None]
    if both_in_part(a, b, found):
        return None
    if not found:
        found = [d for d in (quantified(a, b),) if d is not None] or [d for d in (two_values(left, right, a, b),) if d is not None]
    if len(found) != 1 or not _tenses_meet(a, b, found[0]):  # two differences undo each other, or make two stories of it
        return None
    decisive = found[0]
    if decisive.kind is OppositionKind.ANTONYM and any(x.order and not x.steady and y.steady for x, y in ((a, b), (b, a))):
        decisive = replace(decisive, sure=True)  # "stays locked" against "unlock": no event that comes after another
    certainty = alike + sum(t.weight or 0.25 for t in a.tokens if t.concept in shared)
    if alike < 1 and not _specific(a, b, shared, decisive, not any(t.weight for t in (*left, *right))):
        return None
    return _weighed(a, b, left, right, decisive, certainty)


def _specific(a: Analysed, b: Analysed, shared: frozenset[str], decisive: Difference, alone: bool) -> bool:
    """Whether a word they share says by itself what they are about: not the verb, the value, or what is counted. A thing of a common kind
    ("the plan") will do where nothing else is said of either (`alone`)."""
    value = a.slot.places if a.slot and decisive.kind is OppositionKind.VALUE else ()
    verbs = {t.concept for t in b.tokens if t.main}
    alike = [t for t in a.tokens if t.concept in shared and t.weight >= 0.5 and t.at not in value]
    if any(t.weight >= 1 and not t.counted and (not t.main or t.concept in ONCE or t.concept not in verbs) for t in alike):
        return True
    if alone and a.ours and b.ours and any(t.counted and t.weight >= 1 for t in alike):
        return True
    if alone and any(one.quantifier == (5, 5) and other.negations for one, other in ((a, b), (b, a))):
        return len(shared) > 1 and any(t.weight >= 1 for t in alike)
    return alone and any(not t.main and not t.counted for t in alike) or len(alike) > 1 and any(t.counted for t in alike)


def _tenses_meet(a: Analysed, b: Analysed, difference: Difference) -> bool:
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


def _weighed(a: Analysed, b: Analysed, left: list[Token], right: list[Token], difference: Difference, certainty: float) -> Opposition | None:
    """What remains on either side decides whether they speak of one thing."""
    measured = _measure_words(a, b, left, right) if difference.kind is OppositionKind.NUMBER else frozenset()
    if measured is None:
        return None
    if difference.always is not None:  # "never", "cannot": whatever else goes with it, it is not so
        left, right = ([t for t in rest if claim is difference.always or not t.after_verb] for rest, claim in ((left, a), (right, b)))
    if difference.ends:
        measured = frozenset(t.concept for t in (*left, *right) if t.state == "active")
    denied = difference.kind is OppositionKind.NEGATION  # what is denied must be what is said: a light word counts then
    mine, theirs = ([t.weight or 0.5 * (denied and t.concept not in EMPTY and not t.poles) for t in rest if t.concept not in measured] for rest in (left, right))
    top, top2 = max(mine, default=0.0), max(theirs, default=0.0)
    if top >= 1 and top2 >= 1 or sum(w >= 1 for w in (*mine, *theirs)) > 2:
        return None
    if any(_other_person(x, y, rest) for x, y, rest in ((a, b, right), (b, a, left))):
        return None
    sure = difference.sure and top < 1 and top2 < 1 and not (top and top2) and (certainty >= 2 or not top and not top2)
    if a.negations and b.negations and difference.kind in (OppositionKind.NUMBER, OppositionKind.DATE, OppositionKind.VALUE) and _under_not(a) != _under_not(b):
        sure = False  # "no cover, with heating: 9 hours", "cover, no heating: 4 hours"
    if difference.always is not None and any(mine if difference.always is a else theirs):
        sure = False
    if difference.kind is OppositionKind.ANTONYM and a.order != b.order and not (b if a.order else a).steady and not _obliged(b if a.order else a):
        sure = False  # what is to be done is not done yet
    if difference.kind is not OppositionKind.DATE and any(t.form == "must" for t in (*left, *right)) and not (a.order or b.order):
        sure = False
    return Opposition(difference.kind, (difference.reason,), sure)


def _under_not(a: Analysed) -> frozenset[str]:
    return frozenset(t.concept for t in a.tokens if t.in_scope)


def _obliged(a: Analysed) -> bool:
    return any(t.form == "must" for t in a.tokens)


def _measure_words(a: Analysed, b: Analysed, left: list[Token], right: list[Token]) -> frozenset[str] | None:
    """The words that say no more than the unit does; None where the two claims measure in different ways, the length and the depth."""
    kinds = {"money" if q.kind in CURRENCIES else q.kind for q in (*a.quantities, *b.quantities)}
    groups = [group for kind in sorted(kinds) for group in MEASURED.get(kind, ())]
    mine, theirs = ([group for group in groups if any(t.concept in group for t in rest)] for rest in (left, right))
    if mine and theirs and not any(group in theirs for group in mine):
        return None
    if any(q.per for q in (*a.quantities, *b.quantities)):
        groups += MEASURED["rate"]
    if any(q.bound for q in (*a.quantities, *b.quantities)):
        groups += MEASURED["bound"]
    return frozenset().union(*groups)


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
    return Opposition(OppositionKind.ANTONYM if axis else OppositionKind.NEGATION if not swapped else OppositionKind.ANTONYM, (f"{quoted(a)} against {quoted(b)}",), True)


def _cjk(a: Analysed, b: Analysed) -> Opposition | None:
    """Sentences that are one but for a figure or a word of denial."""
    if a.shape == b.shape and len(a.shape) >= 5 and len(a.quantities) == len(b.quantities):
        differ = [(q, r) for q, r in zip(a.quantities, b.quantities, strict=True) if q.low != r.low]
        if len(differ) == 1:
            return Opposition(OppositionKind.NUMBER, (f"{differ[0][0].text} against {differ[0][1].text}",), len(a.quantities) == 1 and a.negations == b.negations)
        if not differ and abs(a.negations - b.negations) == 1:
            return Opposition(OppositionKind.NEGATION, (f"{quoted(a)} against {quoted(b)}",), True)
    return None
