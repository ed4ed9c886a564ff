"""Whether two names are names of one thing.

Owns the decision for concepts and entities, from their names and what is known of each. What differs in a number, a letter that
labels, a mark or a word is another thing, whatever else agrees; what differs in the writing only is the same, unless what is known of
the two speaks against it; what may be the same (an acronym, a slip, an abbreviation) needs something that speaks for it. Never looks
at similarity of meaning: slow and fast cooling are close and not the same.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum

from smb.evolve.sameness.acronyms import expansions, is_acronym, is_numeronym, letters_of, names_in, stands_for
from smb.evolve.sameness.name_parts import NameParts, parts_of
from smb.evolve.language.terms import stem, terms_of
from smb.evolve.language.word_forms import is_abbreviation, is_plural, is_slip, is_spelling
from smb.model.identity import fold
from smb.model.objects import MemoryType
from smb.model.validity import Interval


@dataclass(frozen=True, slots=True)
class Named:
    """A concept or entity with what is known of it. `aliases` are names its notes declare, not the names of their files; `properties` the
    folded attributes of its keyed claims and their folded values; `valid` when it is said to hold; `neighbours` and `documents` ids;
    `text` what its notes say it is; `own_note` whether a document is about it."""

    id: str
    title: str
    type: MemoryType = MemoryType.CONCEPT
    aliases: tuple[str, ...] = ()
    tags: frozenset[str] = frozenset()
    properties: Mapping[str, frozenset[str]] = field(default_factory=dict)
    valid: tuple[Interval, ...] = ()
    neighbours: frozenset[str] = frozenset()
    documents: frozenset[str] = frozenset()
    text: str = ""
    own_note: bool = False


@dataclass(frozen=True, slots=True)
class Sameness:
    """Why two things are one. What is not `sure` is for somebody else to judge."""

    reason: str
    sure: bool = True


class Agreement(IntEnum):
    """How far what is known of two things speaks for their being one."""

    AGAINST = -1
    NOTHING = 0
    SOME = 1  # where they stand: a tag, a note, a link
    TOLD = 2  # something of what is said of them
    MUCH = 3


@dataclass(frozen=True, slots=True)
class _Likeness:
    """How two names are alike, and how much has to speak for it; `sure` is False where that is never enough."""

    reason: str
    needs: Agreement = Agreement.NOTHING
    sure: bool = True


_DEFINING = frozenset(
    "type kind category class genus species born birthday birth date date of birth died email e mail address phone url website isbn issn doi id number "
    "serial serial number version model symbol formula atomic number postcode iban vin license plate height born in discoverer author country capital".split())
_DIRECTED = frozenset("to from vs versus in for with without over on by at as into of after before".split())
_COMPANY = frozenset("inc ltd llc gmbh corp corporation limited plc ag sa bv oy ab company co".split())
_CODE = re.compile(r"[a-z][A-Z]|_|::|\(\)|[<>=$\\]|\b[cC]lass(?:es)?\b")
_HANDLE = re.compile(r"^@?(?P<local>[\w.+-]{3,})(?:@[\w-]+(?:\.[\w-]+)+)?$")


def same_name(one: Named, other: Named) -> Sameness | None:
    """Why two things are one, by their names; None where they are two. Symmetric."""
    if one.id > other.id:
        one, other = other, one
    alike = _alike(one, other)
    if alike is None:
        return None
    for_it = agreement(one, other)
    if for_it is Agreement.AGAINST or for_it < alike.needs:
        return None
    return Sameness(alike.reason, alike.sure)


# ---------------------------------------------------------------- what is known of two things

def agreement(one: Named, other: Named) -> Agreement:
    """What speaks for two things being one, or against it: times that never meet, properties that differ, or so many of each that are
    never the other's."""
    if one.valid and other.valid and not any(a.overlaps(b) for a in one.valid for b in other.valid):
        return Agreement.AGAINST
    shared = one.properties.keys() & other.properties.keys()
    alike = {a for a in shared if one.properties[a] & other.properties[a]}
    if shared - alike and (not alike or (shared - alike) & _DEFINING):
        return Agreement.AGAINST
    names = {*terms_of(one.title), *terms_of(other.title)}
    said, told = set(terms_of(one.text)) - names, set(terms_of(other.text)) - names
    common, fewer = len(said & told), min(len(said), len(told))
    points = 2 * len(alike) + min(2, len((one.neighbours & other.neighbours) - {one.id, other.id}))
    points += 2 if common >= 3 and common >= 0.3 * fewer else common >= 2 or bool(common) and common >= 0.3 * fewer
    near = bool(one.tags & other.tags or one.documents & other.documents or other.id in one.neighbours or one.id in other.neighbours)
    if not points and not near and not shared and min(len(one.properties), len(other.properties)) >= 2:
        return Agreement.AGAINST
    if not points:
        return Agreement.SOME if near else Agreement.NOTHING
    return Agreement.MUCH if points + near > 1 else Agreement.TOLD


# ---------------------------------------------------------------- names

def _alike(one: Named, other: Named) -> _Likeness | None:
    if (found := _by_alias(one, other)) is not None:
        return found
    entity = MemoryType.ENTITY in (one.type, other.type)
    best: _Likeness | None = None
    for a in names_in(one.title):
        for b in names_in(other.title):
            found = _titles(a, b, entity) or _acronym(a, b, one, other)
            if found is not None and (best is None or found.needs < best.needs):
                best = found
    if best is None or best.needs is not Agreement.NOTHING:
        return best
    strange = one.type is not other.type and fold(one.title) != fold(other.title)
    single = best.reason in ("plural", "article") and len(parts_of(one.title).words) == 1 and one.text and other.text
    loose = single or best.reason == "separators" and (one.text or other.text)
    if strange or loose and not (_heads_a_note(one) and _heads_a_note(other)):
        return _Likeness(best.reason, Agreement.SOME, best.sure)
    return best


def _heads_a_note(named: Named) -> bool:
    """Whether a note of prose is about it, not a term defined in passing and not an identifier."""
    return named.own_note and not named.title[:1].islower()


def _by_alias(one: Named, other: Named) -> _Likeness | None:
    for a, b in ((one, other), (other, one)):
        theirs = parts_of(b.title)
        for alias in a.aliases:
            mine = parts_of(alias)
            if mine.words == theirs.words and mine.fixed == theirs.fixed and not _numbered(parts_of(a.title), theirs):
                return _Likeness(f"alias of {a.title}", Agreement.SOME if b.own_note else Agreement.NOTHING)
    return None


def _numbered(one: NameParts, other: NameParts) -> bool:
    """Whether two names are one name with different numbers or letters: Kiln and Kiln 1."""
    bare = [tuple(w for n, w in enumerate(p.words) if n not in {place for place, _ in p.figures}) for p in (one, other)]
    return one.figures != other.figures and bare[0] == bare[1]


def _titles(a: str, b: str, entity: bool) -> _Likeness | None:
    one, other = parts_of(a), parts_of(b)
    if one.gender and other.gender and one.gender != other.gender:
        return None
    if one.marks != other.marks or not one.words or not other.words:
        return _handle(a, b, one, other) if entity else None
    if (found := _spaced(one, other, a, b)) is not None:
        return found
    if one.fixed == other.fixed:
        if (found := _word_by_word(one, other, a, b, entity)) is not None:
            return found
        if (found := _reordered(one, other, a, b, entity)) is not None:
            return found
    return _longer(one, other) if entity else None


def _word_by_word(one: NameParts, other: NameParts, a: str, b: str, entity: bool) -> _Likeness | None:
    """Two names of as many words, each the other's or a form of it."""
    if len(one.words) != len(other.words):
        return None
    if one.words == other.words:
        return _written(one, other, a, b)
    code, person = bool(_CODE.search(a) or _CODE.search(b)), entity and _like_person(one) and _like_person(other)
    reasons: list[str] = []
    needs, sure = Agreement.NOTHING, True
    head = next((n - 1 for n, w in enumerate(one.words) if w in _DIRECTED and n), len(one.words) - 1)
    for n, (x, y) in enumerate(zip(one.words, other.words, strict=True)):
        if x == y or _prolonged(x) == _prolonged(y):
            reasons += ["spelling"] if x != y else []
        elif is_spelling(x, y):
            reasons.append("spelling")
            sure = sure and not person
            needs = max(needs, Agreement.MUCH if person else Agreement.NOTHING)
        elif not code and not person and _is_plural(x, y, one.written[n], other.written[n]):
            reasons.append("plural")
            sure = sure and not (entity and len(one.words) == 1 and one.written[n][1:].islower())  # Adam and Adams
            needs = max(needs, Agreement.SOME if entity or n != head else Agreement.NOTHING)
        elif is_slip(x, y) and not code and (not entity or _plain_slip(x, y, person)):
            reasons.append("misspelling")
            needs = max(needs, Agreement.MUCH if entity else Agreement.SOME)
        elif is_abbreviation(x, y):
            reasons.append("abbreviation")
            needs = max(needs, Agreement.SOME)
        else:
            return None
    if len([r for r in reasons if r != "spelling"]) > 1 and "misspelling" in reasons:
        return None
    return _Likeness(" and ".join(dict.fromkeys(reasons)), needs, sure)


def _written(one: NameParts, other: NameParts, a: str, b: str) -> _Likeness | None:
    """The same words: what differs is how they are written."""
    if one.honoured != other.honoured and len(one.words) < 2:
        return None
    for x, y in zip(one.written, other.written, strict=True):
        if x != y and len(x) <= 5 and sum(c.isupper() for c in x) >= 2 and sum(c.isupper() for c in y) >= 2:
            return _Likeness("case", Agreement.MUCH, sure=False)  # iOS and IOS
    if one.honoured != other.honoured:
        return _Likeness("title of a person")
    if one.article != other.article:
        return _Likeness("article") if len(one.joined) > 1 else None
    return _Likeness("same name" if fold(a) == fold(b) else "case, accents or separators")


def _spaced(one: NameParts, other: NameParts, a: str, b: str) -> _Likeness | None:
    """The same letters, with words written together in one of the names: e-mail, email; data base, database."""
    if len(one.words) == len(other.words) or one.joined != other.joined or any(c.isdigit() for c in one.joined) or one.units != other.units:
        return None
    longer, shorter = (one, other) if len(one.words) > len(other.words) else (other, one)
    loose = _loose_joins(longer, shorter)
    if loose is None or "_" in a + b or "::" in a + b:
        return None
    if _CODE.search(a) or _CODE.search(b):
        return _Likeness("separators", Agreement.MUCH)
    if not loose:
        return _Likeness("separators") if len(one.joined) >= 5 else None
    return _Likeness("separators", Agreement.NOTHING if min(loose) >= 3 and len(one.joined) >= 8 else Agreement.SOME if min(loose) >= 3 else Agreement.MUCH)


def _loose_joins(longer: NameParts, shorter: NameParts) -> list[int] | None:
    """Lengths of the words of `longer` that stand apart by a space where `shorter` has one word; None where the words don't fit."""
    lengths: list[int] = []
    at = 0
    for whole in shorter.words:
        built = ""
        while built != whole:
            if at >= len(longer.words) or not whole.startswith(built):
                return None
            if built and not longer.joints[at]:
                lengths += [len(longer.words[at - 1]), len(longer.words[at])]
            built += longer.words[at]
            at += 1
    return lengths


def _reordered(one: NameParts, other: NameParts, a: str, b: str, entity: bool) -> _Likeness | None:
    """The same words in another order, where the order says nothing: after a comma, with "of", around "and"."""
    for x, y in ((one, other), (other, one)):
        if x.inverted and not y.inverted:
            turned = _with_words(x, x.words[x.inverted:] + x.words[: x.inverted], x.written[x.inverted:] + x.written[: x.inverted])
            if (found := _word_by_word(turned, y, a, b, entity)) is not None:
                return _Likeness("word order", found.needs)
        if not entity and x.words.count("of") == 1 and "of" not in y.words:
            place = x.words.index("of")
            after = x.words[place + 1:]
            after = after[1:] if after[:1] == ("the",) else after
            if place and after and not {*x.words[:place], *after} & _DIRECTED:
                words = after + x.words[:place]
                if len(words) == len(y.words) and all(v == w or is_plural(v, w) for v, w in zip(words, y.words, strict=True)):
                    return _Likeness("word order", Agreement.SOME)
    if len(one.words) < 2 or sorted(one.words) != sorted(other.words) or set(one.words) & _DIRECTED or one.inverted or other.inverted:
        return None
    if "and" in one.words or "or" in one.words:
        joint = "and" if "and" in one.words else "or"
        at = one.words.index(joint)
        return _Likeness("word order") if other.words == one.words[at + 1:] + (joint,) + one.words[:at] else None
    return _Likeness("word order", Agreement.MUCH, sure=len(one.words) > 2 or entity)


def _with_words(parts: NameParts, words: tuple[str, ...], written: tuple[str, ...]) -> NameParts:
    return NameParts(words, written, marks=parts.marks, joints=(False,) * len(words), article=parts.article, honoured=parts.honoured, gender=parts.gender)


def _longer(one: NameParts, other: NameParts) -> _Likeness | None:
    """Entities of which one name has a word more that tells little: a company's form, a middle initial."""
    long, short = (one, other) if len(one.words) > len(other.words) else (other, one)
    if len(long.words) == len(short.words) + 1:
        if long.words[-1] in _COMPANY and long.words[:-1] == short.words and long.figures == short.figures:
            return _Likeness("form of a company", Agreement.SOME)
        middle = long.words[1:-1]
        if len(short.words) == 2 and len(middle[0]) == 1 and (long.words[0], long.words[-1]) == short.words and _like_person(short):
            return _Likeness("middle initial", Agreement.MUCH)
    return None


def _handle(a: str, b: str, one: NameParts, other: NameParts) -> _Likeness | None:
    """A handle or mail address made of the letters of a name of several words."""
    for handle, name in ((a, other), (b, one)):
        found = _HANDLE.match(handle)
        if found and "@" in handle and len(name.words) >= 2 and not name.marks and re.sub(r"[._+-]", "", found["local"]).lower() == name.joined:
            return _Likeness("handle", Agreement.MUCH)
    return None


def _acronym(a: str, b: str, one: Named, other: Named) -> _Likeness | None:
    for short, long in ((a, b), (b, a)):
        if is_numeronym(short, long):
            return _Likeness(f"short for {long}")
        if not is_acronym(short):
            continue
        fits = stands_for(short, long)
        told = [expansions(f"{n.title}. {n.text}").get(letters_of(short), frozenset()) for n in (one, other)]
        told += [frozenset(" ".join(parts_of(alias).words) for alias in n.aliases if stands_for(short, alias)) for n in (one, other)]
        meant = frozenset().union(*told)
        if meant:
            name = " ".join(stem(w) for w in parts_of(long).words)
            if any(" ".join(stem(w) for w in m.split()) == name for m in meant):
                return _Likeness(f"acronym of {long}")
            return None
        if fits:
            return _Likeness(f"acronym of {long}", Agreement.TOLD if len(letters_of(short)) > 2 else Agreement.MUCH)
    return None


def _is_plural(x: str, y: str, written: str, other: str) -> bool:
    """Whether one word is the plural of the other. Of an acronym a small s makes it: APIs is that of API, CSS not that of CS."""
    longer, shorter = sorted((written, other), key=len, reverse=True)
    if shorter.isupper() and len(shorter) > 1:
        return longer == f"{shorter}s" and len(shorter) > 2
    return is_plural(x, y) and not longer.isupper()


def _plain_slip(x: str, y: str, person: bool) -> bool:
    """Of two spellings of a proper name, one that is a slip of the other: of a person's only letters swapped."""
    return not person or sorted(x) == sorted(y)


def _like_person(parts: NameParts) -> bool:
    return 2 <= len(parts.words) <= 4 and not any(w[0].isdigit() for w in parts.words) and all(w[:1].isupper() or not w.isascii() for w in parts.written)


def _prolonged(word: str) -> str:
    """Katakana words are written with and without the long mark at the end."""
    return word[:-1] if len(word) > 3 and word.endswith("ー") else word
