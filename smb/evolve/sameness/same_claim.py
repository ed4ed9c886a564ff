"""Whether two claims are one proposition.

Owns the decision for claims, from their sentences and what is known of each. Two sentences are one claim only where they are forms of
one another (`claim_form`) and nothing around them tells them apart: speaker, validity, scope, whom "it" or "today" means. Never by
similarity alone: what is only close is not sure.
"""

from __future__ import annotations

import re

from smb.evolve.sameness.claim_form import PREPOSITIONS, forms_of, words_of_claim
from smb.evolve.sameness.same_name import Sameness
from smb.evolve.said import Said
from smb.evolve.language.terms import stem, terms_of
from smb.evolve.language.word_forms import is_slip
from smb.model.english import IRREGULAR
from smb.model.identity import fold
from smb.model.measure import value_of
from smb.model.validity import Interval

CLOSE = 0.93  # cosine above which two claims with equal figures, names and negations may say the same
_POINTING = frozenset("it its he his she her they their this that these those here there such one i we my our us me you your former latter both".split())
_FIRST = frozenset("i we my our us me mine ours".split())
_RELATIVE = frozenset(
    "today yesterday tomorrow tonight now currently recently lately soon ago last next this week weekend morning evening afternoon yet still already".split())
_MONTHS = frozenset("january february march april may june july august september october november december jan feb mar apr jun jul aug sep sept oct nov dec "
                    "monday tuesday wednesday thursday friday saturday sunday".split())
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d\Z")
_SCOPES = frozenset("staging production prod dev development test testing local beta alpha draft legacy old new guest guests admin admins mobile desktop windows "
                    "linux macos android ios before after planned proposed".split())
_KEY_WORDS = frozenset(stem(w) for w in "is are was were has have of at equals be , 's in on to set with a the".split())
_SPACED = re.compile(r"[^\W\d_]+")
_TURNING = frozenset("not no never none nobody nothing neither nor without all every each some any most many few several only always often sometimes rarely seldom "
                     "usually must may might can could should would will shall probably perhaps possibly maybe if unless likely cannot except but than".split())


def same_claim(one: Said, other: Said, cosine: float = 0.0) -> Sameness | None:
    """Why two claims are one; None where they are two. `cosine` is that of their embeddings; it never makes anything sure. Symmetric."""
    if fold(one.attributed_to) != fold(other.attributed_to) or not _may_hold_together(one.valid, other.valid):
        return None
    if one.key and other.key and one.key == other.key and not _one_value(one, other):
        return None
    if not _same_place(one, other) or not _same_moment(one, other):
        return None
    words, others = words_of_claim(one.text), words_of_claim(other.text)
    if words == others:
        return Sameness("same words")
    if forms_of(one.text) & forms_of(other.text):
        return Sameness("same words in another order")
    if one.key and one.key == other.key and _beside_key(one) == _beside_key(other):
        return Sameness("same key and value")
    if _misspelt(words, others):
        return Sameness("misspelling")
    if cosine >= CLOSE and _hard(one.text) == _hard(other.text):
        return Sameness("close in meaning", sure=False)
    return None


def _may_hold_together(one: Interval, other: Interval) -> bool:
    """Two times that both are known are the same time, or no time at all is said of one."""
    return not (one.known and other.known) or one == other


def _one_value(one: Said, other: Said) -> bool:
    value = value_of(one.value)
    return words_of_claim(one.value) == words_of_claim(other.value) or value.kind != "text" and value == value_of(other.value)


def _beside_key(said: Said) -> frozenset[str]:
    """What a keyed sentence says beside its subject, attribute and value: a condition, a scope, a remark."""
    known = {stem(w) for text in (*said.key, said.value) for w in words_of_claim(text)}
    return frozenset(s for w in words_of_claim(said.text) if (s := stem(w)) not in known and s not in _KEY_WORDS)


def _same_place(one: Said, other: Said) -> bool:
    """Whether what the sentences leave to their surroundings is the same there."""
    if set(one.documents) & set(other.documents) and one.context == other.context:
        return True
    theirs = [_scope(said) for said in (one, other)]
    if theirs[0] != theirs[1]:
        return False
    text = one.text if len(one.text) <= len(other.text) else other.text
    spoken = [w.lower() for w in _SPACED.findall(text)]
    if not spoken:
        return True
    if set(spoken) & _FIRST:
        return bool(one.attributed_to) or _shared_context(one, other)
    if spoken[0] in _POINTING or any(w in ("it", "he", "she", "they", "this") for w in spoken[:4]):
        return bool(one.about and one.about == other.about) and _shared_context(one, other)
    if spoken[0] == "the" or {"the"} & set(spoken[:3]):
        return bool(one.about and one.about == other.about) or _shared_context(one, other) or _particular(one.text)
    return True


def _scope(said: Said) -> frozenset[str]:
    """Figures and words of the title and headings around a claim that narrow where it holds, unless it says them itself."""
    own = {w.lower() for w in re.findall(r"\w+", said.text)}
    around = {w.lower() for heading in said.context for w in re.findall(r"[^\W_]+(?:\.\d+)*", heading)}
    return frozenset(w for w in around - own if w in _SCOPES or any(c.isdigit() for c in w))


def _shared_context(one: Said, other: Said) -> bool:
    if set(one.documents) & set(other.documents):
        return True
    around = [{t for heading in said.context for t in terms_of(heading)} for said in (one, other)]
    return bool(set(one.tags) & set(other.tags)) or bool(around[0] & around[1])


def _particular(text: str) -> bool:
    """Whether a sentence says enough of its own: a name or a figure of some length beside ordinary words, or many of these."""
    words = re.findall(r"[^\W_]+(?:[.,]\d+)*", text)
    named = any(w[:1].isupper() for w in words[1:]) or any(sum(c.isdigit() for c in w) >= 3 for w in words)
    return named or len(terms_of(text)) >= 7


def _same_moment(one: Said, other: Said) -> bool:
    """Whether what the sentences leave to their dates is the same then. What happened, told under two dates, happened twice unless the
    year is told too."""
    words = {w.lower() for w in re.findall(r"\w+", one.text)}
    dated = any(_YEAR.match(w) for w in words)
    if set(one.documents) & set(other.documents) or one.valid.known and one.valid == other.valid:
        return True
    known, equal = one.date.known and other.date.known, one.date == other.date
    if words & _RELATIVE:
        return known and equal
    if dated:
        return True
    if words & _MONTHS:
        return equal
    return not known or equal or not any(w in ("was", "were", "did", "had") or w.endswith("ed") or w in IRREGULAR for w in words)


def _misspelt(words: tuple[str, ...], others: tuple[str, ...]) -> bool:
    if len(words) != len(others) or len(words) < 4:
        return False
    apart = [(a, b) for a, b in zip(words, others, strict=True) if a != b]
    return len(apart) == 1 and is_slip(*apart[0])


def _hard(text: str) -> tuple[object, ...]:
    """What must not differ between two sentences that say the same, whatever their words: figures, names, what negates, counts or hedges."""
    words = words_of_claim(text)
    names = {w for w in re.findall(r"[^\W\d_]+", text)[1:] if w[:1].isupper()}
    return (sorted(w for w in words if any(c.isdigit() for c in w)), names, {w for w in words if w in _TURNING}, words[-1:] == ("?",),
            sorted(w for w in words if w in PREPOSITIONS & _TURNING))
