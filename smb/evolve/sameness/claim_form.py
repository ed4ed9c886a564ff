"""The forms one proposition can be written in, as word sequences that are equal where two sentences say the same.

Owns the reading of a sentence into words (contractions, number formats, units, fillers) and the rearrangements that leave its meaning:
a phrase moved to the front, active and passive, a genitive, the order of two names joined by "and". Never drops a number, a negation,
a quantifier, a modal verb or a name, and never moves a word out of its phrase. English; of other languages only the writing is levelled.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

from smb.evolve.language.terms import stem
from smb.evolve.language.word_forms import american
from smb.model.english import IRREGULAR

PREPOSITIONS = frozenset(
    "about above across after against along among around as at before behind below beneath beside between by despite down during except for from in "
    "inside into near off on onto outside over past since through throughout till to toward towards under until up upon via with within without "
    "when while because if unless although though whenever where".split())
BE = {"is": "present", "are": "present", "am": "present", "was": "past", "were": "past"}
_FILLERS = frozenset("a an the really actually basically simply just indeed also please obviously essentially per".split())
_OPENERS = frozenset("and but so well oh yes".split())
_CONTRACTED = {
    "won't": "will not", "can't": "can not", "cannot": "can not", "shan't": "shall not", "ain't": "is not", "let's": "let us", "'tis": "it is", "gonna": "going to",
    "wanna": "want to",
}
_PRONOUN_IS = re.compile(r"\b(it|he|she|that|there|what|who|here|this|where|how)'s\b(?! (?:been|had|got)\b)")
_CONTRACTION = re.compile(r"\b([a-z]+)(n't|'re|'ve|'ll|'m)\b")
_ENDINGS = {"n't": " not", "'re": " are", "'ve": " have", "'ll": " will", "'m": " am"}
_CARDINALS = {w: str(n) for n, w in enumerate("zero one two three four five six seven eight nine ten eleven twelve".split())}
_UNITS = {
    "percent": "%", "degrees": "°", "degree": "°", "celsius": "c", "fahrenheit": "f", "kilometres": "km", "kilometers": "km", "kilometre": "km", "kilometer": "km",
    "metres": "m", "meters": "m", "metre": "m", "meter": "m", "centimetres": "cm", "centimeters": "cm", "millimetres": "mm", "millimeters": "mm", "grams": "g",
    "gram": "g", "grammes": "g", "kilograms": "kg", "kilogram": "kg", "kilos": "kg", "litres": "l", "liters": "l", "litre": "l", "liter": "l", "millilitres": "ml",
    "milliliters": "ml", "seconds": "s", "second": "s", "minutes": "min", "minute": "min", "mins": "min", "hours": "h", "hour": "h", "hrs": "h", "hr": "h",
    "dollars": "$", "dollar": "$", "usd": "$", "euros": "€", "euro": "€", "eur": "€", "pounds": "£", "gbp": "£", "volts": "v", "volt": "v", "watts": "w", "watt": "w",
    "megabytes": "mb", "gigabytes": "gb", "kilobytes": "kb", "years": "year", "months": "month", "weeks": "week", "days": "day", "yrs": "year",
}
_MEASURES = frozenset((*_UNITS.values(), *"ms kw kwh gb tb kb hz khz mhz ghz oz lb cl dl".split()))
_CASED = re.compile(r"[mMkKgGTPnµ]?(?:W|B|b|V|A|J|Pa|Hz|Wh|bit|bps)\Z")
_TOKEN = re.compile(
    r"(?P<number>(?<![\w.])[-−+]?\d{1,3}(?:[,'’ ]\d{3})+(?:\.\d+)?(?![\w])|(?<![\w.])[-−+]?\d+(?:[.,:]\d+)*(?![\w]*[/_=])(?=\D|\Z))"
    r"|(?P<raw>[^\s\"“”«»()\[\],;]*(?:[_=<>{}@#$~^|\\/]|[^\W\d_]\.[^\W\d_]|\(\))[^\s\"“”«»(),;\[\]]*)"
    r"|(?P<genitive>['’]s?\b(?<=[^\W_]['’]s)|(?<=[^\W_])['’]s\b)"
    r"|(?P<word>[^\W\d_]+(?:\+\+|#)?|\w+)"
    r"|(?P<sign>[%°€$£¥<>≤≥≈~±=?×]|[&|*]+|(?P<comma>[,;])|\+|[-−](?=\s?\d))")
_GENITIVE = "'s"


@lru_cache(maxsize=65_536)
def words_of_claim(text: str) -> tuple[str, ...]:
    """The words of a sentence, levelled: "," where one stood, "'s" for a genitive, fillers gone, numbers and units in one writing."""
    text = unicodedata.normalize("NFKC", text).replace("’", "'").replace("℃", "°C")
    text = re.sub(r"[*`]+|\[\[|\]\]", "", text).strip()
    text = _spelt_out(text)
    out: list[str] = []
    for found in _TOKEN.finditer(text):
        kind, token = found.lastgroup, found[0]
        if kind == "number":
            out.append(re.sub(r"(?<=\d)[,' ](?=\d{3}(?!\d))", "", token.replace("−", "-")).lstrip("+"))
        elif kind == "raw":
            if out and _is_number(out[-1]) and re.fullmatch(r"[^\W\d_]+/[^\W\d_]+", token):
                out += [_UNITS.get(part, part) for part in token.lower().split("/")]
            elif re.fullmatch(r"[$€£]-?\d[\d,.]*", token):
                out += [token[1:].rstrip(".").replace(",", ""), token[0]]
            else:
                out.append(token.rstrip(".:!?'") or token)
        elif kind == "genitive":
            out.append(_GENITIVE)
        elif kind == "comma":
            out.append(",")
        elif kind == "sign":
            joins = token == "&" and text[:found.start()][-1:].isspace() and out and out[-1][-1:].isalnum()
            out.append("and" if joins else token)
        else:
            out += _word(token, out)
    return _trimmed(_money_last(out))


def _spelt_out(text: str) -> str:
    """Contractions as the words they stand for; case is kept elsewhere."""
    def whole(m: re.Match[str]) -> str:
        return _CONTRACTED.get(m[0].lower(), m[0])

    text = re.sub(r"[A-Za-z]+'?[a-z]+|'tis", whole, text)
    text = re.sub(_PRONOUN_IS.pattern, r"\1 is", text, flags=re.I)
    return re.sub(_CONTRACTION.pattern, lambda m: m[1] + _ENDINGS[m[2].lower()], text, flags=re.I)


def _word(token: str, before: list[str]) -> list[str]:
    lower = token.lower()
    measured = bool(before) and _is_number(before[-1])
    if measured and _CASED.match(token) and len(token) <= 3 and not token.islower():
        return [token]
    if before[-1:] == ["°"] or measured and lower in _UNITS:
        return [_UNITS.get(lower, lower)]
    if lower in _CARDINALS:
        return [_CARDINALS[lower]]
    if lower in _FILLERS:
        return ["A"] if token == "A" and before and before[-1] != "," else []
    if lower == "cent" and before[-1:] == ["%"]:
        return []
    if lower == "of" and len(before) > 1 and before[-1] in _MEASURES and _is_number(before[-2]):
        return []
    if len(before) > 1 and before[-1] in _MEASURES and lower in _UNITS and _UNITS[lower] in _MEASURES:
        return [_UNITS[lower]]  # "40 g per litre", "40 g a litre"
    return [american(lower)]


def _is_number(word: str) -> bool:
    return word.lstrip("-")[:1].isdigit()


def _money_last(words: list[str]) -> list[str]:
    """"$ 5" as "5 $"."""
    for n in range(len(words) - 1):
        if words[n] in "€$£¥" and _is_number(words[n + 1]) and not (n and _is_number(words[n - 1])):
            words[n], words[n + 1] = words[n + 1], words[n]
    return words


def _trimmed(words: list[str]) -> tuple[str, ...]:
    while words and (words[0] == "," or words[0] in _OPENERS and len(words) > 3):
        words = words[1:]
    while words and words[-1] == ",":
        words = words[:-1]
    return tuple(words)


@lru_cache(maxsize=65_536)
def forms_of(text: str) -> frozenset[tuple[str, ...]]:
    """Every form of the sentence this knows; two sentences with one in common say the same."""
    words = words_of_claim(text)
    found: set[tuple[str, ...]] = set()
    for turned in _turned(words):
        plain = tuple(w for w in turned if w != ",")
        for said in _genitives(plain):
            found.add(_settled(said))
            found |= {_settled(v) for v in _voices(said)}
    return frozenset(found)


def _turned(words: tuple[str, ...]) -> list[tuple[str, ...]]:
    """The sentence, and the same with a phrase at its front put last."""
    found = [words]
    if words and words[0] in PREPOSITIONS:
        stops = [words.index(",")] if "," in words[:12] else range(2, min(6, len(words) - 1))
        found += [(*words[k:], *words[:k]) for k in stops if k >= 2]
    return found


def _genitives(words: tuple[str, ...]) -> list[tuple[str, ...]]:
    """"kiln's lid is" also as "lid of kiln is"."""
    if words.count(_GENITIVE) != 1:
        return [words]
    at = words.index(_GENITIVE)
    found = [words[:at] + words[at + 1:]]
    end = next((n for n in range(at + 1, min(at + 5, len(words))) if words[n] in BE or words[n] in ("has", "must", "can", "will")), 0)
    if at == 1 and end > at + 1:
        found.append((*words[at + 1:end], "of", words[0], *words[end:]))
    return found


def _voices(words: tuple[str, ...]) -> list[tuple[str, ...]]:
    """A passive with its agent as an active, and an active with each word that may be its verb marked as such."""
    found: list[tuple[str, ...]] = []
    if "by" in words:
        by = words.index("by")
        for n in range(1, by - 1):
            if words[n] in BE and _is_participle(words[n + 1]):
                end = next((m for m in range(by + 1, len(words)) if words[m] in PREPOSITIONS), len(words))
                agent = words[by + 1:end]
                if agent:
                    found.append((*agent, _verb(words[n + 1], BE[words[n]]), *words[:n], *words[n + 2:by], *words[end:]))
        return found
    for n in range(1, min(len(words) - 1, 6)):
        if words[n] not in BE and words[n] not in PREPOSITIONS and words[n].isalpha():
            tense = "past" if _is_past(words[n]) else "present" if words[n].endswith("s") or n == 1 else ""
            if tense:
                found.append((*words[:n], _verb(words[n], tense), *words[n + 1:]))
    return found


def _verb(word: str, tense: str) -> str:
    return f"{stem(word)}|{tense}"


def _is_past(word: str) -> bool:
    return word.endswith("ed") or word in IRREGULAR


def _is_participle(word: str) -> bool:
    return word.endswith(("ed", "en", "wn", "ne")) or word in IRREGULAR


def _settled(words: tuple[str, ...]) -> tuple[str, ...]:
    """The main phrase, then the others by their letters; two words joined by "and" or "or" in that order too."""
    loose = list(words)
    for n in range(1, len(loose) - 1):
        if loose[n] in ("and", "or") and loose[n - 1] > loose[n + 1] and not (n > 1 and _is_number(loose[n - 1]) or _is_number(loose[n + 1])):
            loose[n - 1], loose[n + 1] = loose[n + 1], loose[n - 1]
    phrases: list[list[str]] = [[]]
    for word in loose:
        if word in PREPOSITIONS:
            phrases.append([word])
        else:
            phrases[-1].append(word)
    return tuple(w for phrase in (phrases[0], *sorted(phrases[1:])) for w in phrase)


_UNHEARD = frozenset((*BE, "of", "by", _GENITIVE, ","))


def skeleton(words: Iterable[str]) -> tuple[str, ...]:
    """What all forms of a sentence of these words have in common: their stems, sorted, without those a rearrangement adds."""
    return tuple(sorted(stem(w) for w in words if w not in _UNHEARD))
