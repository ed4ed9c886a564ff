"""Forms of one word: plural and singular, British and American spelling, slips of the pen, common abbreviations.

Owns when two single words are written forms of the same one. Never compares names of several words: `same_name` does. English
words only: other scripts and languages fall through unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

LONG = 8  # letters of a word in which one slip leaves no doubt which word is meant
CROWD = 48  # words alike but for a letter; where there are more they are no slips
LONGER = 11  # letters of a word in which two do

_IRREGULAR = dict(pair.split("/") for pair in (
    "men/man women/woman children/child mice/mouse feet/foot teeth/tooth geese/goose oxen/ox criteria/criterion phenomena/phenomenon "
    "indices/index vertices/vertex matrices/matrix appendices/appendix analyses/analysis crises/crisis theses/thesis hypotheses/hypothesis "
    "syntheses/synthesis diagnoses/diagnosis parentheses/parenthesis oases/oasis leaves/leaf knives/knife shelves/shelf halves/half "
    "wolves/wolf wives/wife loaves/loaf thieves/thief calves/calf elves/elf scarves/scarf radii/radius fungi/fungus cacti/cactus "
    "nuclei/nucleus stimuli/stimulus alumni/alumnus algae/alga formulae/formula larvae/larva vertebrae/vertebra schemata/schema "
    "bacteria/bacterium curricula/curriculum strata/stratum memoranda/memorandum symposia/symposium spectra/spectrum quizzes/quiz "
    "buses/bus gases/gas lenses/lens viruses/virus statuses/status corpora/corpus genera/genus axes/axis automata/automaton").split())
# plurals that name another thing than their singular does, or are no plurals
_APART = frozenset(
    "arms brains cards colors colours contents customs dues forces funds glasses goods grounds humanities letters lights looks manners means "
    "minutes news notions papers premises pants proceeds quarters relations sales savings scales securities series shorts species spectacles "
    "spirits stairs statistics terms thanks times tropics troops utilities values waters windows wits woods words works".split())
_NO_PLURAL = re.compile(r"(?:ss|us|is|ics|ous|[^aeiouy]as|ias)\Z")

_AMERICAN: tuple[tuple[re.Pattern[str], str], ...] = tuple((re.compile(p), to) for p, to in (
    (r"^(.{3,})is(e|ed|es|er|ers|ing|able|ation|ations)$", r"\1iz\2"),
    (r"^(.{2,})lys(e|ed|er|ers|ing)$", r"\1lyz\2"),
    (r"^(.{3,}|od)our(ed|ing|s|ful|able|less|ite|ites|hood|al|er|ers|)$", r"\1or\2"),
    (r"^(cen|me|kilome|millime|centime|thea|li|milli?li|spec|lus|sep|meag|maneuv|manoeuv)(t|)re(s?)$", r"\1\2er\3"),
    (r"^(.+)(fi|cali|sa)bre(s?)$", r"\1\2ber\3"),
    (r"^(fi|cali|sa)bre(s?)$", r"\1ber\2"),
    (r"^(.{3,})ogue(s?)$", r"\1og\2"),
    (r"^(def|off|lic|pret)ence(s?)$", r"\1ense\2"),
    (r"^(.*[aeiou][^aeiou]+[aeiou])ll(ed|ing|ings|er|ers|or|ors|ation)$", r"\1l\2"),
    (r"^sulph(.*)$", r"sulf\1"),
    (r"^(fulfil|enrol|instal|distil)ment(s?)$", r"\1lment\2"),
    (r"^(ski|wi)lful(.*)$", r"\1llful\2"),
    (r"^(judg|acknowledg)ement(s?)$", r"\1ment\2"),
    (r"^mould(.*)$", r"mold\1"), (r"^plough(.*)$", r"plow\1"), (r"^sceptic(.*)$", r"skeptic\1"), (r"^cosy$", "cozy"),
    (r"^grey(.*)$", r"gray\1"), (r"^ageing$", "aging"), (r"^programme(s?)$", r"program\1"), (r"^artefact(s?)$", r"artifact\1"),
    (r"^aluminium$", "aluminum"), (r"^yoghurt(s?)$", r"yogurt\1"), (r"^pyjamas$", "pajamas"), (r"^moustache(s?)$", r"mustache\1"),
))
_LIGATURES = re.compile(r"(?<=an)ae(?=m|sth)|(?<=h)ae(?=m)|(?<=p)ae(?=d)|(?<=arch)ae(?=o)|(?<=leuk)ae(?=m)|(?<=gyn)ae(?=c)|^ae(?=sthet)|(?<=medi)ae(?=v)"
                        r"|(?<=diarrh)oe(?=a)|^oe(?=soph|strog)|(?<=f)oe(?=tus|tal)|(?<=man)oe(?=uv)")

# beginnings and endings that make another word of a stem: a difference that lies in one of these is no slip
_BEGINNINGS = ("hypo/hyper inter/intra inter/intro intra/intro macro/micro anti/ante anti/auto poly/post pre/pro per/pre over/under mono/homo "
               "ortho/octo di/tri bi/tri").split()
_ENDINGS = ("ate/ite ane/ene ane/yne ene/yne ol/al ide/ite ine/ane er/or er/ed er/ee or/ed ic/al ence/ent ance/ant ent/ant able/ible on/an ton/son "
            "ed/es ing/ed y/ies a/e a/o e/o ise/ism ism/ist ist/ise tion/tor ive/ion ity/ist ary/ery ally/al ful/fil").split()
_SPELT = frozenset(frozenset(pair.split("/")) for pair in "er/or ence/ent ance/ant ent/ant able/ible ary/ery".split())

_ABBREVIATIONS = {short: full for short, full in (pair.split("/") for pair in (
    "config/configuration repo/repository db/database doc/document docs/documentation app/application apps/applications auth/authentication "
    "dev/development prod/production env/environment info/information intro/introduction max/maximum min/minimum temp/temperature "
    "spec/specification specs/specifications admin/administrator lib/library libs/libraries dir/directory pkg/package dept/department "
    "govt/government univ/university mgmt/management mgr/manager eng/engineering ref/reference refs/references vs/versus corp/corporation "
    "assoc/association intl/international tech/technology ops/operations perf/performance stats/statistics infra/infrastructure "
    "sync/synchronization async/asynchronous impl/implementation param/parameter params/parameters arg/argument args/arguments "
    "func/function var/variable vars/variables msg/message num/number qty/quantity approx/approximate avg/average calc/calculation "
    "lab/laboratory math/mathematics maths/mathematics photo/photograph phone/telephone fridge/refrigerator").split())}


def singulars(word: str) -> frozenset[str]:
    """What `word`, lower case, may be the plural of; empty where it can be no plural."""
    if word in _APART or len(word) < 4 or not word.isascii() or not word.isalpha():
        return frozenset((_IRREGULAR[word],)) if word in _IRREGULAR else frozenset()
    if word in _IRREGULAR:
        return frozenset((_IRREGULAR[word], *_regular(word))) if word.endswith("s") else frozenset((_IRREGULAR[word],))
    return frozenset(_regular(word))


def _regular(word: str) -> tuple[str, ...]:
    if not word.endswith("s") or _NO_PLURAL.search(word):
        return ()
    if word.endswith("ies"):
        return (word[:-3] + "y", word[:-1])
    if word.endswith(("ches", "shes", "sses", "xes", "zes", "oes", "ses")):
        return (word[:-2], word[:-1])
    return (word[:-1],)


def irregular_singular(word: str) -> str:
    """The singular of a lower-case irregular plural; other words as they are."""
    return _IRREGULAR.get(word, word)


def is_plural(one: str, other: str) -> bool:
    """Whether one of two lower-case words is the plural of the other."""
    return one != other and (other in singulars(one) or one in singulars(other))


@cache
def american(word: str) -> str:
    """A lower-case word in American spelling; a word that is the same everywhere stays."""
    if len(word) < 4 or not word.isascii():
        return word
    word = _LIGATURES.sub("e", word)
    for pattern, to in _AMERICAN:
        word = pattern.sub(to, word)
    return word


def is_spelling(one: str, other: str) -> bool:
    """Whether two lower-case words differ as British and American spelling do."""
    return one != other and american(one) == american(other)


def is_abbreviation(one: str, other: str) -> bool:
    """Whether one of two lower-case words is a common short form of the other."""
    return _ABBREVIATIONS.get(one) == other or _ABBREVIATIONS.get(other) == one


def spelt_out(word: str) -> str:
    """The long form of a lower-case word that is a common short form; other words as they are."""
    return _ABBREVIATIONS.get(word, word)


def slips(one: str, other: str) -> int:
    """Letters left out, put in, changed or swapped with their neighbour between two words: 0, 1 or 2, and 3 for more.

    Optimal string alignment, https://en.wikipedia.org/wiki/Damerau-Levenshtein_distance
    """
    if abs(len(one) - len(other)) > 2:
        return 3
    before, above = [], list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        row = [i]
        for j, b in enumerate(other, 1):
            cost = min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and one[i - 2] == b:
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
        if min(row) > 2:
            return 3
        before, above = above, row
    return min(above[-1], 3)


def is_slip(one: str, other: str) -> bool:
    """Whether one of two lower-case words is the other misspelt: long, one letter amiss (two in a very long one), not at the
    beginning, not in an ending that makes another word, and just one of them a word; of two that are none, letters swapped."""
    short, long = sorted((one, other), key=lambda w: (len(w), w))
    if len(short) < LONG - 1 or len(long) < LONG or not (one.isascii() and other.isascii() and one.isalpha() and other.isalpha()):
        return False
    if one[:2] != other[:2] and sorted(one[:3]) != sorted(other[:3]):
        return False
    apart = slips(one, other)
    if apart == 0 or apart > (2 if len(short) >= LONGER else 1):
        return False
    known = [w for w in (one, other) if is_word(w)]
    swapped = len(one) == len(other) and apart == 1 and sorted(one) == sorted(other)
    if len(known) == 2 or not known and not swapped or _affixed(one, other, bool(known)):
        return False
    return not is_plural(one, other)


def slips_among(words: Iterable[str]) -> dict[str, str]:
    """Of lower-case words those that are slips of another of them, or it of them → that one."""
    cut: dict[str, list[str]] = {}
    for word in sorted({w for w in words if len(w) >= LONG - 1 and w.isascii() and w.isalpha()}):
        rests = {word, *_cuts(word)}
        if len(word) > LONGER and not is_word(word):  # the one misspelt: two letters of it may be amiss
            rests.update(c for rest in _cuts(word) for c in _cuts(rest))
        for rest in rests:
            cut.setdefault(rest, []).append(word)
    near = sorted({(a, b) for members in cut.values() if 1 < len(members) <= CROWD for n, a in enumerate(members) for b in members[n + 1:]})
    found: dict[str, str] = {}
    for a, b in near:
        if is_slip(a, b):
            found.setdefault(a, b)
    return found


def _cuts(word: str) -> list[str]:
    """What is left of a word without one of its letters after the first."""
    return [word[:i] + word[i + 1:] for i in range(1, len(word))]


def _affixed(one: str, other: str, known: bool) -> bool:
    """Whether two words differ in a beginning or an ending that changes the meaning. Where one of them is a `known` word,
    endings that are often misspelt may be."""
    for pairs, start in ((_BEGINNINGS, True), (_ENDINGS, False)):
        for pair in pairs:
            a, b = pair.split("/")
            if known and frozenset((a, b)) in _SPELT:
                continue
            for x, y in ((one, other), (other, one)):
                if start and x.startswith(a) and y.startswith(b) and x[len(a):] == y[len(b):]:
                    return True
                if not start and x.endswith(a) and y.endswith(b) and x[: len(x) - len(a)] == y[: len(y) - len(b)]:
                    return True
    return not known and (one[:-1] == other[:-1] or one[:-1] == other or other[:-1] == one)


def is_word(word: str) -> bool:
    """Whether a dictionary has this lower-case word, or what it is the regular form of."""
    words = _dictionary()
    return word in words or any(s in words for s in singulars(word))


@cache
def _dictionary() -> frozenset[str]:
    """The word list of pyspellchecker; its checker would count all letters first."""
    import gzip
    from importlib.resources import files

    import orjson

    return frozenset(orjson.loads(gzip.decompress((files("spellchecker") / "resources" / "en.json.gz").read_bytes())))
