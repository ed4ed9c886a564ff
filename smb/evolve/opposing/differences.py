"""The marks in which two analysed claims differ: a figure, a date, a denial, an opposite, a state, a quantifier, the value of a slot.

Owns how each is found. Never decides what a difference is worth: that takes all of them together (`opposition`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from smb.evolve.language.antonyms import AxisKind, opposed_poles, same_pole, states_exclude
from smb.evolve.language.calendar_date import CalendarDate
from smb.evolve.language.exclusive_values import values_exclude
from smb.evolve.language.quantity import Quantity
from smb.evolve.opposing.reading import Analysed, Token
from smb.evolve.opposing.stance import Time, acts_in_a_role, is_past
from smb.evolve.language.stems import stem
from smb.evolve.language.synonyms import concept
from smb.evolve.language.word_classes import ONCE

class OppositionKind(StrEnum):
    NUMBER = "number"
    DATE = "date"
    NEGATION = "negation"
    ANTONYM = "antonym"
    STATE = "state"
    VALUE = "value"
    QUANTIFIER = "quantifier"
    IMPLICATION = "implication"


@dataclass(frozen=True, slots=True)
class Difference:
    """`sure`: it can't be otherwise than a contradiction of the two marks. `lasting`: what one says was so remains so, whatever the tenses.
    `always`: the claim that denies for all times ("never", "cannot"). `ends`: one says that what the other speaks of is over."""

    kind: OppositionKind
    reason: str
    sure: bool = True
    lasting: bool = False
    always: Analysed | None = None
    ends: bool = False


_SOME_ONE = re.compile(r"\b(?:have|has|had|is|was)\s(?:an?|another)\s", re.IGNORECASE)
_MAKING = frozenset(map(concept, "write build make design found paint compose invent publish bear create develop bake knit sew carve".split()))  # what was so made is so
_ENDS = frozenset(map(concept, "expire end finish valid".split()))
_LIMIT = concept("limit")
_LASTING = frozenset(("done", "canceled", "retired", "approved", "rejected"))  # what was once so remains so
_NEAR = tuple(frozenset(map(concept, line.split())) for line in (
    "trail hike walk route tour road", "begin found open launch create introduce build", "end finish complete close stop expire valid", "birth celebrate", "big tall", "send ship deliver", "make build create produce",
    "locate base", "need require take", "sleep rest", "hold happen", "keep store put retain", "part include contain", "speak talk", "eat consume", "buy get", "work employ", "teach lecture", "weigh heavy", "live home", "rent lease pay", "last take", "repair service",
    "read book", "sing choir", "sit seat", "drive car", "prefer favorite like", "test check", "delete remove", "error crash", "wear dress", "ask request", "save store", "earn make", "run operate", "vote elect"))

_NEAR_OF = {concept: frozenset(n for n, near in enumerate(_NEAR) if concept in near) for concept in {c for near in _NEAR for c in near}}
_NOWHERE: frozenset[int] = frozenset()


def paired(left: list[Token], right: list[Token], found: list[Difference]) -> float:
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
    return not _NEAR_OF.get(t.concept, _NOWHERE).isdisjoint(_NEAR_OF.get(u.concept, _NOWHERE))


def _contrast(t: Token, u: Token) -> Difference | None:
    if t.state and u.state and states_exclude(t.state, u.state):
        return Difference(OppositionKind.STATE, f"{t.form} against {u.form}", lasting=any(is_past(x.form) and x.state in _LASTING for x in (t, u)))
    kind = opposed_poles(t.poles, u.poles) if t.poles and u.poles else None
    if kind is not None:
        return Difference(OppositionKind.ANTONYM, f"{t.form} against {u.form}", kind is not AxisKind.EVENT)
    if _by_affix(t.form, u.form) or _by_affix(u.form, t.form):
        return Difference(OppositionKind.ANTONYM, f"{t.form} against {u.form}")
    if t.negated and t.negated == stem(u.form) or u.negated and u.negated == stem(t.form):
        return Difference(OppositionKind.ANTONYM, f"{t.form} against {u.form}")
    return None


def _by_affix(one: str, other: str) -> bool:
    """ "Overstaffed" and "understaffed", "harmful" and "harmless"."""
    over = one.startswith("over") and other.startswith("under") and one.endswith(("ed", "weight")) and one[4:] == other[5:]
    return over or one.endswith("ful") and other.endswith("less") and len(one) > 6 and one[:-3] == other[:-4]


def figures(a: Analysed, b: Analysed) -> list[Difference]:
    """The quantities of one measure that exclude each other."""
    found = []
    for q in a.quantities:
        same = [r for r in b.quantities if q.comparable(r)]
        if same and len(same) == sum(q.comparable(p) for p in a.quantities) == 1:
            r = same[0]
            if _excludes(q, r, a, b):
                told = q.kind == "clock" and (Time.PAST in (a.time, b.time) or _one_of_many(a) or _one_of_many(b))
                found.append(Difference(OppositionKind.NUMBER, f"{_said(q)} against {_said(r)}", not told))
        elif same and len(same) > 1:
            found += [Difference(OppositionKind.NUMBER, "several figures", False)] if all(_excludes(q, r, a, b) for r in same) else []
    return found


def _excludes(q: Quantity, r: Quantity, a: Analysed, b: Analysed) -> bool:
    limits = (q.bound or _LIMIT in a.concepts) and (r.bound or _LIMIT in b.concepts) and q.bound != "min" and r.bound != "min" and (_LIMIT in a.concepts or _LIMIT in b.concepts)
    if limits:
        return Quantity(q.kind, q.low, q.high, q.text, q.per).excludes(Quantity(r.kind, r.low, r.high, r.text, r.per))
    return q.excludes(r)


def _one_of_many(a: Analysed) -> bool:
    """ "We have a meeting at 5": there may be another."""
    return _SOME_ONE.search(a.said.text) is not None


def _said(q: Quantity) -> str:
    return " ".join(q.text.replace("at-most", "at most").replace("at-least", "at least").split())


def dated(a: Analysed, b: Analysed) -> Difference | None:
    if len(a.dates) != 1 or len(b.dates) != 1:
        both = a.dates and b.dates
        return Difference(OppositionKind.DATE, "several dates", False) if both and all(d.excludes(e) for d in a.dates for e in b.dates) else None
    d, e = a.dates[0], b.dates[0]
    if not d.excludes(e) or not _one_relation(d, e, a, b):
        return None
    once = a.day_of and b.day_of and not d.text.endswith("s") and not e.text.endswith("s") or a.stance.ended and b.stance.ended or any(t.concept in ONCE for t in (*a.tokens, *b.tokens))
    return Difference(OppositionKind.DATE, f"{d.text} against {e.text}", once)


def _one_relation(d: CalendarDate, e: CalendarDate, a: Analysed, b: Analysed) -> bool:
    if any(t.concept in _ENDS for t in (*a.tokens, *b.tokens)) and {d.relation, e.relation} <= {"", "until", "till", "by", "in"}:
        return True
    loose = {"since", "from", "after"}, {"until", "till", "to", "before", "through"}
    return d.relation == e.relation or not any((d.relation in group) != (e.relation in group) for group in loose)


def denied(a: Analysed, b: Analysed) -> Difference | None:
    """Where one denies what the other says: all that stands under the negation must be in the other."""
    if (a.negations % 2) == (b.negations % 2):
        return None
    no, yes = (a, b) if a.negations % 2 else (b, a)
    scope = [t for t in no.tokens if t.in_scope]
    said = any(t.weight >= 0.5 and (t.concept in yes.concepts or t.poles and any(same_pole(t.poles, u.poles) for u in yes.tokens)) for t in scope)
    alike = a.order == b.order or (b if a.order else a).steady
    sure = a.negations + b.negations == 1 and not (a.stance.ended or b.stance.ended) and alike and (said or {t.concept for t in scope} <= yes.concepts)
    return Difference(OppositionKind.NEGATION, f"{quoted(no)} against {quoted(yes)}", sure, always=no if sure and no.universal and same_person(no, yes) else None)


def forbidden(a: Analysed, b: Analysed) -> Difference | None:
    """Where one lets somebody do what the other forbids: both say it of the same, with the same words."""
    (leave, by), (leave2, by2) = a.permission, b.permission
    if leave * leave2 >= 0 or by == by2 == "can" or {a.negations if leave > 0 else b.negations, 1} != {0, 1} or (b if leave > 0 else a).negations != 1:
        return None
    if (by == by2 or "may" not in (by, by2)) and not all(any(acts_in_a_role(t.form) and not t.name for t in c.tokens if not t.after_verb) for c in (a, b)):
        return None  # "may" and "may not" of a thing are both chance, "can" and "must not" of one person ability and duty
    what, what2 = (frozenset(t.concept for t in c.tokens if t.form not in ("may", "must")) for c in (a, b))
    if what != what2 or len(what) < 2 or any(c.quantifier not in (None, (5, 5)) for c in (a, b)):
        return None
    if [(q.kind, q.low, q.high) for q in a.quantities] != [(q.kind, q.low, q.high) for q in b.quantities] or len(a.dates) != len(b.dates) or any(
            d.excludes(e) for d, e in zip(a.dates, b.dates, strict=True)):
        return None
    return Difference(OppositionKind.NEGATION, f"{quoted(a)} against {quoted(b)}")


def bereft(a: Analysed, b: Analysed) -> Difference | None:
    """Where one says there is none of what the other speaks of as there: "the farm has no cattle", "the farm's cows are brown"."""
    if not (a.none_of & b.owned or b.none_of & a.owned) or Time.FUTURE in (a.time, b.time):
        return None
    return Difference(OppositionKind.IMPLICATION, f"{quoted(a)} against {quoted(b)}", a.time == b.time == Time.PRESENT)


def same_person(a: Analysed, b: Analysed) -> bool:
    """Whether both say something of one person or thing that has a name, or of "me"."""
    named = {t.concept for t in a.tokens if t.name}
    return a.stance.first_person and b.stance.first_person or any(t.name and t.concept in named for t in b.tokens)


def ended(a: Analysed, b: Analysed) -> Difference | None:
    if a.stance.ended == b.stance.ended or a.negations or b.negations:
        return None
    goes_on = b if a.stance.ended else a
    if goes_on.time in (Time.PAST, Time.FUTURE):
        return None
    return Difference(OppositionKind.STATE, f"{quoted(a)} against {quoted(b)}", ends=True)


def both_in_part(a: Analysed, b: Analysed, found: list[Difference]) -> bool:
    """Whether each speaks of a part only, so that an opposite or a denial leaves both true: "some like it", "many hate it"."""
    both = a.quantifier, b.quantifier
    partial = [q for q in both if q is not None and q[0] < 5]
    if len(partial) == 2:
        return bool(found)
    opposite = any(d.kind in (OppositionKind.ANTONYM, OppositionKind.NEGATION) for d in found)
    return bool(partial) and (5, 5) not in both and opposite and not (a.negations or b.negations)


def quantified(a: Analysed, b: Analysed) -> Difference | None:
    """ "All" against "none", "often" against "rarely"."""
    p, q = a.quantifier, b.quantifier
    return Difference(OppositionKind.QUANTIFIER, f"{quoted(a)} against {quoted(b)}") if p and q and (p[1] < q[0] or q[1] < p[0]) else None


def two_values(left: list[Token], right: list[Token], a: Analysed, b: Analysed) -> Difference | None:
    """Where both give a value to one slot, and two values."""
    if a.slot is None or b.slot is None or a.negations or b.negations:
        return None
    mine, theirs = [t for t in left if t.at in a.slot.places], [t for t in right if t.at in b.slot.places]
    all_mine, all_theirs = [t for t in a.tokens if t.at in a.slot.places and t.weight >= 1], [t for t in b.tokens if t.at in b.slot.places and t.weight >= 1]
    if not mine or not theirs:
        return None
    labels = _labels(mine, all_mine, theirs, all_theirs)
    if not labels and (len(mine) < len(all_mine) or len(theirs) < len(all_theirs)):
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
    return Difference(OppositionKind.VALUE, f"{' '.join(t.form for t in mine)} against {' '.join(u.form for u in theirs)}", sure, made)


def _labels(mine: list[Token], all_mine: list[Token], theirs: list[Token], all_theirs: list[Token]) -> bool:
    """Whether the two values are one kind of thing with two labels or of two makes: "cabinet B", "cabinet D"; "the red box", "the blue box"."""
    if len(mine) != 1 or len(theirs) != 1 or len(all_mine) != 2 or len(all_theirs) != 2:
        return False
    t, u = mine[0], theirs[0]
    if values_exclude(t.form, u.form) and t.at < max(x.at for x in all_mine) and u.at < max(x.at for x in all_theirs):
        return True
    short = all(x.weight == 2.0 and (x.form.isdigit() or len(x.form) == 1) and x.at == max(y.at for y in every) for x, every in ((t, all_mine), (u, all_theirs)))
    return short and t.form.isdigit() == u.form.isdigit()


def quoted(a: Analysed) -> str:
    text = " ".join(a.said.text.split())
    return f"“{text if len(text) <= 90 else text[:89] + '…'}”"
