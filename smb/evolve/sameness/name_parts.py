"""A name taken apart: what is compared word by word, and what must be equal whatever else differs.

Owns the reading of one name. Numbers, versions, dates, single letters, Roman numerals and marks such as `++` or `#` tell names
apart, so they are never loosened; articles, titles of persons, case, accents and separators are. Never compares two names.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

_ARTICLES = frozenset(("the", "a", "an"))
_HONORIFICS = frozenset("dr prof professor doctor mr mrs ms miss mx sir dame lord lady rev hon".split())
_DEGREES = frozenset("phd md msc bsc mba dds esq".split())
_GENDERED = {"mr": "m", "sir": "m", "lord": "m", "mrs": "f", "ms": "f", "miss": "f", "dame": "f", "lady": "f"}
_CARDINALS = {word: str(n) for n, word in enumerate("zero one two three four five six seven eight nine ten eleven twelve".split())}
_ROMAN = re.compile(r"(?=[MDCLXVI])(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})\Z")
_LETTERS_APART = str.maketrans({"ø": "o", "Ø": "O", "ł": "l", "Ł": "L", "đ": "d", "Đ": "D", "ß": "ss", "æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE", "ı": "i"})
_TOKEN = re.compile(r"\d+(?:[.,:]\d+)*|[^\W\d_]+(?:['’][^\W\d_]+)*|[^\w\s]+|_+")
_NEUTRAL = frozenset("-‐‑‒–—―_/\\,;:.!?'’‘\"“”«»()[]{}·•、。「」『』（）…`*")
_UNIT = re.compile(r"[mMkKgGtTpPnuµ]?(?:W|Wh|B|b|V|A|J|N|Pa|Hz|F|H|S|m|g|s|l|L|Ω|bit|ps)\Z")
_COMPACT = re.compile(r"(?:[A-Z]\.){2,}[A-Z]?\.?")
_PICTURE = re.compile("[\u2600-\u27bf\U0001f300-\U0001faff]+[\ufe0e\ufe0f]?\\s+")
_REGIONS = re.compile("[\U0001f1e6-\U0001f1ff]")


@dataclass(frozen=True, slots=True)
class NameParts:
    """`words` in order, lower case, without accents; `figures` are (place in words, figure) of what counts or labels: numbers, letters
    standing alone, Roman numerals; `marks` the signs that carry meaning, in order; `written` the words as written; `joints` tell
    of each word whether it was written onto the one before with a hyphen or the like; `person` its titles' gender, `qualifier` what
    stood in brackets at the end, `inverted` the words that stood before and after a single comma."""

    words: tuple[str, ...]
    written: tuple[str, ...]
    figures: tuple[tuple[int, str], ...] = ()
    marks: tuple[str, ...] = ()
    joints: tuple[bool, ...] = ()
    article: bool = False
    honoured: bool = False
    gender: str = ""
    inverted: int = 0
    units: tuple[str, ...] = ()

    @property
    def fixed(self) -> tuple[object, ...]:
        """What two names of one thing have in common to the letter."""
        return (tuple(figure for _, figure in self.figures), self.marks, self.units)

    @property
    def joined(self) -> str:
        return "".join(self.words)


def without_accents(text: str) -> str:
    """Latin letters without their accents; every other script as it is."""
    if text.isascii():
        return text
    out: list[str] = []
    base_is_latin = False
    for c in unicodedata.normalize("NFD", text.translate(_LETTERS_APART)):
        if unicodedata.combining(c):
            if base_is_latin:
                continue
        else:
            base_is_latin = c.isascii() and c.isalpha()
        out.append(c)
    return unicodedata.normalize("NFC", "".join(out))


@lru_cache(maxsize=32_768)
def parts_of(name: str) -> NameParts:
    """`name` taken apart; of one without letters or digits the marks."""
    text = without_accents(unicodedata.normalize("NFKC", name)).strip()
    if (picture := _PICTURE.match(text)) and not _REGIONS.search(text):
        text = text[picture.end():] or text
    text = _COMPACT.sub(lambda m: m[0].replace(".", ""), text)
    words: list[str] = []
    written: list[str] = []
    figures: list[tuple[int, str]] = []
    marks: list[str] = []
    joints: list[bool] = []
    units: list[str] = []
    article = honoured = False
    gender, comma, commas, end = "", 0, 0, -1
    tokens = list(_TOKEN.finditer(text))
    for n, found in enumerate(tokens):
        token = found[0]
        bare = token.replace("’", "'")
        if not (bare[0].isalnum()):
            kept = "".join(c for c in bare if c not in _NEUTRAL)
            if bare == "&" and words and n + 1 < len(tokens) and tokens[n + 1][0][0].isalnum():
                words.append("and")
                written.append("and")
                joints.append(False)
            elif kept:
                marks.append(kept)
            elif words and n + 1 == len(tokens) and bare[0] in "-/*":
                marks.append(bare)
            elif not words and bare[-1] in "/-" and not found.start() and text[found.end():found.end() + 1].isalnum():
                marks.append(bare)  # /GL and --force are options
            elif bare == "." and found.end() < len(text) and text[found.end()].isalnum() and (not found.start() or text[found.start() - 1].isspace()):
                marks.append(".")
            if bare == ",":
                comma, commas = len(words), commas + 1
            continue
        lower = bare.lower()
        follows = found.start() == end + 1 and text[end] in "-‐‑–_/" if end > 0 else False
        end = found.end()
        if lower.endswith("'s"):
            bare, lower = bare[:-2], lower[:-2]
        lower = lower.replace("'", "")
        bare = bare.replace("'", "")
        more = n + 1 < len(tokens)
        if not words and lower in _ARTICLES and more and (lower != "a" or not _labelled(text[found.end():])):
            article = True
            continue
        if lower in _HONORIFICS and not words and len(tokens) > n + 1:
            honoured, gender = True, _GENDERED.get(lower, gender)
            continue
        if lower in _DEGREES and len(words) >= 2 and not more:
            honoured = True
            continue
        if bare[0].isdigit():
            figures.append((len(words), _number(bare)))
        elif lower in _CARDINALS:
            figures.append((len(words), _CARDINALS[lower]))
            lower = _CARDINALS[lower]
        elif len(bare) == 1 and bare.isascii():
            figures.append((len(words), lower))
        elif _ROMAN.match(bare) and words and bare.isupper():
            figures.append((len(words), f"roman {lower}"))
        elif words and words[-1][0].isdigit() and _UNIT.match(bare):
            units.append(bare)
        words.append(_number(lower) if bare[0].isdigit() else lower)
        written.append(bare)
        joints.append(follows)
    if not words:
        return NameParts((), (), (), (text,))
    inverted = comma if commas == 1 and 0 < comma < len(words) else 0
    return NameParts(tuple(words), tuple(written), tuple(figures), tuple(marks), tuple(joints), article, honoured, gender, inverted, tuple(units))


def _labelled(rest: str) -> bool:
    """Whether an "A" labels ("A/B testing", "A4", "A-level") rather than begins a noun phrase."""
    return not rest.startswith(" ")


def _number(text: str) -> str:
    """A number as compared: thousands without their commas, everything else as written (3.1 is not 3.10)."""
    if re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", text):
        return text.replace(",", "")
    return text
