"""Quantities in a sentence: a figure, what it measures, and how exactly it is meant.

Owns number words, units, rates ("a year", "per minute"), ranges, approximations and bounds. A figure that names something ("pi-4",
"version 3", "page 66") is no quantity. Never decides whether two sentences speak of the same thing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from smb.evolve.language.stems import stem
from smb.evolve.language.word_classes import AUXILIARIES, CONJUNCTIONS, DETERMINERS, FILLERS, PREPOSITIONS, PRONOUNS, VERBS
from smb.model.identity import fold
from smb.model.measure import value_of

_ONES = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_WORDS = {w: n for n, w in enumerate(_ONES)} | {w: 20 + 10 * n for n, w in enumerate(_TENS)}
_SCALES = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9, "dozen": 12, "k": 1000, "m": 10**6, "bn": 10**9, "mn": 10**6}
_NUMBER_WORD = rf"(?:(?:{'|'.join(_TENS)})(?:[-\s](?:{'|'.join(_ONES[1:10])}))?|{'|'.join(sorted(_ONES, key=len, reverse=True))}|a(?=\s(?:hundred|thousand|million|dozen)))"
_FIGURE = r"\d{1,3}(?:[,'’  ]\d{3})+(?:\.\d+)?|\d+(?:[.,]\d+)?"
_SCALE = r"(?:\s?(?:k|bn|mn)(?![\w-])|\s(?:hundred|thousand|million|billion|dozen)\b|m(?=\s?(?:euros?|dollars|pounds|€|\$|£|users|people)))"
_ONE = rf"(?:{_FIGURE}|(?<![\w-]){_NUMBER_WORD}(?![\w]))(?:{_SCALE})?"
_SPELLED = {
    "kilometer": "km", "kilometre": "km", "meter": "m", "metre": "m", "centimeter": "cm", "centimetre": "cm", "millimeter": "mm", "millimetre": "mm",
    "milligram": "mg", "microgram": "µg", "m2": "m²", "km2": "km²", "m3": "m³", "kilogram": "kg", "kilo": "kg", "kilogramme": "kg", "gramme": "g", "tonne": "t", "ton": "t", "ounce": "oz", "pound": "lb", "inch": "inches", "foot": "ft", "mile": "miles",
    "millisecond": "ms", "hour": "h", "degree": "°C", "degrees celsius": "°C", "celsius": "°C", "c": "°C", "f": "°F", "fahrenheit": "°F", "euro": "euros", "dollar": "dollars", "byte": "B",
    "kilobyte": "kB", "megabyte": "MB", "gigabyte": "GB", "terabyte": "TB", "gb": "GB", "mb": "MB", "kb": "kB", "tb": "TB", "kilowatt": "kW", "milliliter": "ml", "millilitre": "ml", "week": "weeks",
    "kcal": "kcal", "calorie": "kcal", "calories": "kcal", "percent": "%", "mph": "mph", "km/h": "km/h", "kph": "km/h", "bpm": "bpm", "point": "points", "megapixel": "MP",
    "usd": "USD", "eur": "EUR", "gbp": "GBP", "chf": "CHF", "franc": "CHF", "francs": "CHF", "kilowatts": "kW", "acre": "acres", "hectare": "ha", "volt": "volts", "watt": "watts",
}
_TIMES = {"month": 2629800.0, "months": 2629800.0, "year": 31557600.0, "years": 31557600.0, "yr": 31557600.0, "yrs": 31557600.0, "decade": 315576000.0, "decades": 315576000.0,
          "fortnight": 1209600.0, "night": 86400.0, "nights": 86400.0}
_PER_TIME = {"annum": "year", "sec": "second", "s": "second", "min": "minute", "h": "hour", "hr": "hour", "d": "day", "wk": "week", "mo": "month", "yr": "year", "a": "year"}
_UNIT = r"(?!(?:per|a|an|each|every|in|on|at|of|to|and|or|the|is|are)\b)(?:°\s?[CF]|[€$£¥%℃]|km/h|per\s?cent|k?m[23](?!\w)|[A-Za-zµ]+[²³]?)"
_PER = r"(?:\s?/\s?|\s(?:per|a|an|each|every|the)\s|\sin\s(?:a|one|each|every)\s)(?P<per>[a-z]+)"
_QUANTITY = re.compile(
    rf"(?P<lead>(?P<bound>at-least|at-most|more-than|less-than|over|under|above|below|exceeding|within|[<>≤≥]=?|maximum(?:\sof)?|minimum(?:\sof)?|max\.?|min\.?)\s*)?"
    rf"(?P<about>(?:about|around|approximately|approx\.?|roughly|nearly|almost|some|circa|ca\.?|c\.|close\sto|just\s(?:over|under)|~|≈)\s*)?"
    rf"(?P<money>[€$£¥]\s?|(?:EUR|USD|GBP|CHF)\s)?(?<![\w.])(?<!\w-)(?P<low>-?{_ONE})(?:(?P<to>\s?[–—-]\s?|\sto\s|\sor\s|\sand\s)(?:[€$£¥])?(?P<high>{_ONE}))?"
    rf"(?P<plus>\+)?(?P<tail>(?:-|\s?)(?P<unit>{_UNIT}))?(?P<rest>(?:\s[a-z][\w-]*){{0,2}}?{_PER})?",
    re.IGNORECASE,
)
_CLOCK = re.compile(
    r"(?<![\w:.])(?:(?P<h>\d{1,2})[:.](?P<m>[0-5]\d)(?::[0-5]\d)?(?:\s?(?P<half>[ap])\.?m\b\.?)?(?![\w:%])|(?P<h2>\d{1,2})\s?(?P<half2>[ap])\.?m\b\.?|(?P<at>\bat\s)(?P<h3>\d{1,2})(?=\s*(?:[.,;]|$|on\b|in\sthe\b|every\b|sharp\b|each\b))"
    rf"|(?P<h4>\d{{1,2}}|{'|'.join(_ONES[1:13])})\so['’]?clock|\b(?:at|until|till|by|before|after|from)\s(?P<h5>{'|'.join(_ONES[1:13])})(?=\s*(?:[.,;]|$|on\b|in\sthe\b|every\b|sharp\b|each\b))|\b(?P<noon>noon|midday|midnight)\b)",
    re.IGNORECASE,
)
_STOREYS = frozenset("level act scene chapter platform track lane ward class grade stage episode volume season round phase".split())  # numbered in words, too
_NO_NOUNS = (AUXILIARIES, PREPOSITIONS, DETERMINERS, FILLERS, CONJUNCTIONS, PRONOUNS)
_AMOUNTING = frozenset(map(stem, "equal reach total score hit number average measure weigh cost exceed sell hold seat fit carry sleep employ contain count".split()))
_LABELS = frozenset(
    "version v release chapter section page pages step line figure table appendix part level phase stage room no nr number issue ticket build "
    "type class grade tier model series python windows python php java node django ubuntu debian unit volume season episode kiln machine gate platform route "
    "example option chapter exit highway bus tram error code warning rfc iso http port group row column paragraph act scene article rule item lot case".split())


@dataclass(frozen=True, slots=True)
class Quantity:
    """`kind` is what is measured ("time", "EUR", "" for a plain count), `per` the unit a rate is over. The amount lies in [low, high] in the
    base unit of `kind`; `bound` is "min" or "max" where only that end is said, `about` where it is not exact. `text` is as written."""

    kind: str
    low: float
    high: float
    text: str
    per: str = ""
    bound: str = ""
    about: bool = False

    def comparable(self, other: Quantity) -> bool:
        return self.kind == other.kind and (self.per == other.per or self.per in _PER_SECONDS and other.per in _PER_SECONDS)

    def excludes(self, other: Quantity) -> bool:
        """Whether the two amounts can't be one. Both must be comparable."""
        a, b = self._interval(1.0), other._interval(1.0)
        if self.per != other.per:
            scale = _PER_SECONDS[self.per] / _PER_SECONDS[other.per]
            a = (a[0] / scale, a[1] / scale)
        slack = 0.12 if self.about or other.about else 0.002
        if self.per != other.per:
            slack = max(slack, 0.1)
        if self.kind == "clock":
            slack = 0.03 if self.about or other.about else 0.0
        margin = slack * max(abs(x) for x in (self.low, self.high, other.low, other.high) if x not in (float("inf"), float("-inf")))
        return a[1] + margin < b[0] or b[1] + margin < a[0]

    def _interval(self, scale: float) -> tuple[float, float]:
        low = float("-inf") if self.bound == "max" else self.low * scale
        return low, float("inf") if self.bound == "min" else self.high * scale


_PER_SECONDS = {"second": 1.0, "minute": 60.0, "hour": 3600.0, "day": 86400.0, "night": 86400.0, "week": 604800.0, "fortnight": 1209600.0, "month": 2629800.0,
                "quarter": 7889400.0, "year": 31557600.0}
_BOUNDS = {"at-least": "min", "more-than": "min", "over": "min", "above": "min", "exceeding": "min", ">": "min", "≥": "min", ">=": "min", "minimum": "min", "min": "min",
           "minimum of": "min", "at-most": "max", "less-than": "max", "under": "max", "below": "max", "within": "max", "<": "max", "≤": "max", "<=": "max", "maximum": "max",
           "maximum of": "max", "max": "max"}


def quantities(text: str) -> tuple[list[Quantity], str]:
    """The quantities a sentence gives, and the sentence without them: the noun counted stays.

    >>> quantities("The eggs boil for eleven minutes.")[0][0].low
    660.0
    """
    found: list[Quantity] = []
    if not _HAS_NUMBER.search(text):
        return found, text
    text = _SQUARE.sub(lambda m: f"{'km' if m[2] else 'm'}{'²' if m[1].lower() in ('square', 'sq') else '³'}", text)

    def clock(m: re.Match[str]) -> str:
        amount = _clock_minutes(m)
        if amount is None:
            return m[0]
        found.append(Quantity("clock", amount, amount, m[0].strip()))
        return " #n "

    def quantity(m: re.Match[str]) -> str:
        one = _read(m, text)
        if one is None:
            return m[0]
        quantity, kept = one
        found.append(quantity)
        return f" {'#n' if quantity.kind else '#c'} {kept} "

    text = _CLOCK.sub(clock, _ADVERBIAL.sub(lambda m: f"{_TIMES_OVER[m[1].lower()]} times {m[2]}", text))
    return found, _QUANTITY.sub(quantity, text.replace("minus ", "-"))


_SQUARE = re.compile(r"\b(square|sq|cubic)\.?\s(kilo)?met(?:er|re)s?\b", re.IGNORECASE)
_MONEY = re.compile(r"\b(?:costs?|pays?|paid|price[ds]?|fees?|charged?|charges|rent|salary|wages?|earns?|bills?|budget|fine|debt|worth|sold|bought|tickets?|invoices?|deposit|loan)\b", re.IGNORECASE)
_TIMES_OVER = {"once": "1", "twice": "2", "thrice": "3"}
_ADVERBIAL = re.compile(r"\b(once|twice|thrice)\s((?:a|an|per|each|every)\s)", re.IGNORECASE)
_HAS_NUMBER = re.compile(rf"\d|\b(?:once|twice|thrice|{'|'.join((*_WORDS, 'dozen', 'hundred', 'thousand', 'million', 'noon', 'midnight', 'midday'))})\b", re.IGNORECASE)


def _clock_minutes(m: re.Match[str]) -> float | None:
    if m["noon"]:
        return 0.0 if m["noon"].lower() == "midnight" else 720.0
    hour_text = m["h"] or m["h2"] or m["h3"] or m["h4"] or m["h5"]
    hour = int(hour_text) if hour_text.isdigit() else _WORDS[hour_text.lower()]
    half = (m["half"] or m["half2"] or "").lower()
    if hour > 24 or (m["h"] and "." in m[0].split()[0] and not half):
        return None
    if half == "p" and hour < 12:
        hour += 12
    if half == "a" and hour == 12:
        hour = 0
    return 60.0 * hour + int(m["m"] or 0)


def _read(m: re.Match[str], text: str) -> tuple[Quantity, str] | None:
    low = _amount(m["low"])
    if low is None or _names_something(m, text):
        return None
    unit, kept = m["unit"] or "", ""
    money = (m["money"] or "").strip()
    per = m["per"] or ""
    per = _PER_TIME.get(per, per)
    rest = m["rest"] or ""
    high, joiner = m["high"], (m["to"] or "").strip().lower()
    if joiner == "and":
        return None if m["high"] and not _between(m, text) else _plain(m, low, text)
    kind, worth = unit_of(money or unit)
    if unit.lower() in ("pound", "pounds") and _MONEY.search(text):
        kind, worth = "GBP", 1.0
    if not kind and unit and not money:
        kept, unit = unit, ""
        if m["tail"] and m["tail"][0].isalpha():
            return None
    elif money and unit:
        kept = unit
    if per and per not in _PER_SECONDS and not rest.lstrip().startswith(("/", "per ")):
        kept, per = f"{kept} {rest}".strip(), ""
    elif per:
        kept = f"{kept} {rest[: m.start('per') - m.start('rest')]}".strip()
        kept = re.sub(r"(?:\s?/\s?|\b(?:per|a|an|each|every|the|in (?:a|one|each|every))\s*)$", "", kept, flags=re.IGNORECASE)
        if per not in _PER_SECONDS:
            kept = f"{kept} {per}".strip()
    top = _amount(high) if high else low
    if top is None:
        return None
    scaled = _scale_of(high or "")
    if high and top < low and scaled == 1 and not (money or unit or per):
        return None  # "mixer 543-0"
    if high and scaled != 1 and _scale_of(m["low"]) == 1 and low < top / scaled * 10:
        low *= scaled
    bound = _BOUNDS.get((m["bound"] or "").strip().rstrip(".").lower(), "min" if m["plus"] else "")
    about = bool(m["about"])
    low, top = sorted((low * worth, top * worth))
    ends = m.end("tail") if m["tail"] and kind and not money else m.end("high") if m["high"] else m.end("low")
    return Quantity(kind, low, top, f"{text[m.start() : ends].strip()}{f' a {per}' if per else ''}", per, bound, about), kept


def _between(m: re.Match[str], text: str) -> bool:
    return text[: m.start()].rstrip().lower().endswith("between")


def _plain(m: re.Match[str], low: float, text: str) -> tuple[Quantity, str] | None:
    """ "between 3 and 5 metres"."""
    high = _amount(m["high"])
    kind, worth = unit_of(m["unit"] or "")
    if high is None:
        return None
    low, high = sorted((low * worth, high * worth))
    return Quantity(kind, low, high, m[0].strip(), "", "", bool(m["about"])), "" if kind else (m["unit"] or "")


def _names_something(m: re.Match[str], text: str) -> bool:
    """Whether the figure is part of a name or a label: "pi-4", "Python 3.11", "page 66", "#12"."""
    before = text[: m.start("low")]
    if m["bound"] or m["about"] or m["money"]:
        return False
    if before and not before[-1].isspace() and before[-1] not in "(~[–—-€$£¥≈<>≤≥=\"'":
        return True
    if m["low"].lower() in ("one", "zero") and not (m["unit"] and unit_of(m["unit"])[0]):
        return True
    word = re.search(r"([\w.+-]+)[\s]?\Z", before)
    if before.rstrip().endswith(":") and m["low"].isdigit() and not m["unit"] and "–" not in before:
        return True
    if word and word[1].lower() in _STOREYS and m["low"].lower() in _WORDS:
        return True
    if word and m["low"][0].isdigit():
        prior = word[1]
        if prior.lower() in _LABELS or _names_subject(prior.lower(), m, text) or _labels(prior.lower(), m, text) or (prior[0].isupper() and before.strip() != prior and not (m["unit"] and unit_of(m["unit"])[0])):
            return True
    after = text[m.end("low") : m.end("low") + 2]
    return after[:1] in ("x", "_") or (after[:1] in (".", ":") and after[1:2].isdigit())


def _names_subject(prior: str, m: re.Match[str], text: str) -> bool:
    """Whether a bare figure stands between a noun and its verb: "Ward 3 has 24 beds", "invoice 2231 is outstanding"."""
    after = re.match(r"\s([a-z]+)\b", text[m.end("low") :])
    if not after or not m["low"].isdigit() or m["high"] or not prior.isalpha() or prior.endswith("s") or any(prior in words for words in _NO_NOUNS) or stem(prior) in _AMOUNTING:
        return False
    unit = after[1]
    return unit in AUXILIARIES or len(unit) > 3 and unit.endswith(("s", "ed")) and stem(unit) in VERBS and not unit_of(unit)[0]


def _labels(prior: str, m: re.Match[str], text: str) -> bool:
    """Whether a bare figure after a noun names it ("run example 2"): nothing is counted after it."""
    if m["unit"] or not m["low"].isdigit() or prior in AUXILIARIES or prior in PREPOSITIONS or prior in DETERMINERS or prior in FILLERS or prior in CONJUNCTIONS or stem(prior) in _AMOUNTING:
        return False
    return not re.match(r"\s?[A-Za-z%°]", text[m.end("low") :])


def _scale_of(text: str) -> float:
    m = re.search(rf"{_SCALE}\Z", text, re.IGNORECASE)
    return float(_SCALES.get(m[0].strip().lower(), 1)) if m else 1.0


@lru_cache(maxsize=4096)
def _amount(text: str) -> float | None:
    scale = _scale_of(text)
    bare = re.sub(rf"{_SCALE}\Z", "", text, flags=re.IGNORECASE).strip().lower() if scale != 1 else text.strip().lower()
    if bare == "a":
        return scale
    if bare[:1].isalpha():
        parts = re.split(r"[-\s]", bare)
        return None if any(p not in _WORDS for p in parts) else float(sum(_WORDS[p] for p in parts)) * scale
    plain = re.sub(r"[’'  ]|,(?=\d{3}(?:\D|\Z))", "", bare).replace(",", ".")
    try:
        return float(plain) * scale
    except ValueError:
        return None


@lru_cache(maxsize=8192)
def unit_of(unit: str) -> tuple[str, float]:
    """(kind, worth in the kind's base unit) of a written unit; ("", 1.0) for a word that is none."""
    lower = unit.lower()
    if lower in _TIMES:
        return "time", _TIMES[lower]
    if not unit or lower in _NO_UNITS:
        return "", 1.0
    spelled = _SPELLED.get(lower) or (_SPELLED.get(lower[:-1]) if lower.endswith("s") and len(lower) > 3 else None) or re.sub(r"\s", "", unit)
    value = value_of(f"1 {spelled}")
    if value.kind == fold(spelled) and spelled not in _OWN_KIND:
        return "", 1.0
    return value.kind, float(value.form)


_NO_UNITS = frozenset("a an i it is as at or and of to in on by the m t d s b l h v k p x".split()) - frozenset("m t h s l".split())
_OWN_KIND = frozenset(("K", "°F", "km/h", "mph", "kcal", "bpm", "points", "MP", "acres", "ha"))
