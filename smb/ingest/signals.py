"""Typed signals a text carries, found by deterministic rule: dates, amounts, versions, addresses, cues, speech acts.

Owns what counts as a signal and where in the text it stands. Never judges whether a sentence is worth keeping, never
reads a clock: a date without a year stays without one. Every cue matches whole words only ("no" is not in "know").
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from smb.ingest.lexicon import NEGATIONS
from smb.ingest.speech_act import CJK, WORD, SpeechAct, reported, speech_act, words_of
from smb.model.validity import ALWAYS, Interval, TimeError, parse_interval


class SignalKind(StrEnum):
    DATE = "date"
    AMOUNT = "amount"
    NUMBER = "number"
    VERSION = "version"
    URL = "url"
    EMAIL = "email"
    NEGATION = "negation"
    DECISION = "decision"
    CORRECTION = "correction"
    QUESTION = "question"
    HYPOTHESIS = "hypothesis"
    REPORTED = "reported"


@dataclass(frozen=True, slots=True)
class Signal:
    """`text[start:end]` of the text it was found in. `value` is the normal form of a date (ISO, as far as it goes:
    `2031-05-03`, `2031-05`, `2031`, `--05-03`), and the words themselves otherwise."""

    kind: SignalKind
    start: int
    end: int
    value: str


_MONTH_NAMES = ("january february march april may june july august september october november december").split()
_MONTH_NUMBER = {name: i + 1 for i, name in enumerate(_MONTH_NAMES)} | {name[:3]: i + 1 for i, name in enumerate(_MONTH_NAMES)}
_MONTH_NUMBER["sept"] = 9
_MONTH = (
    "(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?|"
    "Nov(?:ember)?|Dec(?:ember)?)\\.?"
)
_UNITS = (
    "%|‰|°C|°F|°|km/h|m/s|km²|m²|m³|km|cm|mm|µm|nm|kg|mg|µg|ml|dl|cl|kWh|MWh|GWh|kW|MW|kVA|VA|mA|mAh|kHz|MHz|GHz|Hz|hPa|"
    "kPa|Pa|bar|"
    "[kKMGTP]i?B(?:/s)?|[kMG]bit/s|[kMG]bps|bytes?|bits?|kB|px|pixels?|dpi|fps|rpm|ms|µs|ns|secs?|seconds?|mins?|minutes?|"
    "hrs?|hours?|"
    "days?|weeks?|months?|years?|nights?|euros?|EUR|dollars?|USD|cents?|pounds?|GBP|CHF|yen|JPY|CNY|yuan|people|persons?|"
    "users?|customers?|employees|"
    "students|participants|requests?|connections|threads|cores|tokens?|rows|records|files|lines|pages|pieces|orders|places|"
    "items|percent|per cent|"
    "miles?|feet|ft|inches|lbs?|oz|litres?|liters?|metres?|meters?|kilometres?|kilometers?|grams?|tons?|tonnes?|degrees|"
    "watts?|volts?|times|"
    "million|billion|thousand|[mglLtsWVAΩhJN]"
)
_NUM = r"\d+(?:[.,]\d+)*"
_URL = re.compile(r"\b(?:https?|ftp)://[^\s<>\"'`\])，。、]+[^\s<>\"'`\]).,;:!?，。、]")
_EMAIL = re.compile(r"\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_MAYBE = re.compile(r"[\d€$£¥₹vJFMASOND]")  # what a value can begin with; a set, because that is scanned for fastest
_VALUE = re.compile(
    rf"(?P<date>\d{{4}}-(?:0[1-9]|1[0-2])(?:-(?:0[1-9]|[12]\d|3[01])(?:[T ]\d{{1,2}}:\d{{2}}(?::\d{{2}})?)?)?(?![\w-])"
    rf"|\d{{4}}/\d{{1,2}}/\d{{1,2}}(?![\w/])"
    rf"|\d{{1,2}}(?:st|nd|rd|th)?\s(?:of\s)?{_MONTH}(?:,?\s\d{{4}})?\b"
    rf"|{_MONTH}\s\d{{1,2}}(?:st|nd|rd|th)?(?:,?\s\d{{4}})?\b(?![.:]?\d)"
    rf"|{_MONTH}\s\d{{4}}\b"
    r"|\d{4}\s?年(?:\s?\d{1,2}\s?月(?:\s?\d{1,2}\s?日)?)?|\d{1,2}\s?月\s?\d{1,2}\s?日)"
    rf"|(?P<amount>[€$£¥₹]\s?{_NUM}(?:\s?(?:k|m|bn|million|billion)\b)?(?:/\w+)?"
    rf"|{_NUM}\s?(?:[€£¥₹]|(?:{_UNITS})(?:/\w+)?(?![\w]))"
    rf"|{_NUM}\s?(?:ユーロ|ドル|円|元|美元|欧元|人|名|分|秒|時間|小时|分钟|天|日間|か月|个月|年間|％|個|个|本|枚|台|件|次|回|倍))"
    r"|(?P<version>v\d+(?:\.\d+)*(?:-[\w.]+)?\b|\d+\.\d+\.\d+(?:\.\d+)?(?:-[\w.]+)?(?![\w.]*\d)|(?<=[A-Za-z] )"
    r"\d{1,3}\.\d{1,3}\b(?!\s?%))"
    rf"|(?P<number>{_NUM}(?![\w]))"
)
_DIGIT_OR_AT = re.compile(r"[\d@]|://")


_CORRECTION = re.compile(
    r"\b(?:(?:has |have )?moved (?:from|to)|no longer|instead of [^.;]{1,60}\bnow|"
    r"(?:is|are|costs?|runs? on|listens? on) [^.;,\d]{0,8}\d[^.;,]{0,24} now|not any ?more|any ?more|instead of|(?:is|are) now|now (?:is|are|it is|"
    r"costs?|uses?|runs?)|"
    r"changed (?:from|to)|switched (?:from|to)|replaced (?:by|with)|has replaced|have replaced|supersedes|superseded by|"
    r"renamed (?:to|from)|used to (?:be|have|run|cost)|formerly|stepped down|corrected|correction:|raised .{1,40} (?:to)|"
    r"(?:lowered|reduced|increased|dropped|rose|fell|went (?:up|down)) (?:from .{1,30} )?to|until now)\b",
    re.I,
)
_CONTRAST = re.compile(r"\b(?:was|were|cost) [^;,]{0,12}\d[^;,]{0,40}[;,] (?:[^;,]{0,50} )?(?:it is|it's|it’s|they are|it costs|now) [^;,\d]{0,8}\d", re.I)
_CONTRASTED = frozenset(("it", "it's", "they", "now"))
_CORRECTION_WORDS = frozenset(
    "moved longer more anymore instead now changed switched replaced supersedes superseded renamed used "
    "formerly stepped corrected correction raised lowered reduced increased dropped rose fell went until".split()
)
_CORRECTION_CJK = re.compile(
    r"ではなくなっ|もう.{0,10}ない|に変更|に移転|に移っ|以前は|代わりに|已改为|改为|改成|不再|取代|替换为|迁移到|搬到|原来|现在是|現在は|廃止|更正|訂正|[由从].{1,20}(?:改为|变为|变成|调整为|更改为)|から.{1,20}に(?:変わ|変え|なった|上が|下が|上げ|下げ)"
)
_DECISION = re.compile(
    r"\b(?:decided (?:to|that|on|against)|we (?:decided|agreed|chose|will use|settled)|agreed (?:to|that|on)|decision:|"
    r"decided:|resolved (?:to|that)|"
    r"approved|rejected the|chose to|opted (?:for|to)|settled on|signed off|accepted:)",
    re.I,
)
_DECISION_WORDS = frozenset("decided agreed decision resolved approved rejected chose opted settled signed accepted".split())
_DECISION_CJK = re.compile(r"決定し|決めた|に決ま|ことにした|决定|商定|确定采用|批准")
_NEGATION_CJK = re.compile(r"ない(?:。|$|で|と|が)|ません|なかった|なくなった|[不没無未勿]|不是|没有|并非")
_PERIOD = (
    r"(?:\d{4}-\d{2}-\d{2}|\d{4}-\d{2}|\d{1,2}(?:st|nd|rd|th)? %s(?:,? \d{4})|%s \d{1,2}(?:st|nd|rd|th)?,? \d{4}|%s \d{4}|"
    r"(?:19|20)\d{2})(?![\w:°-])"
    % ((_MONTH,) * 3)
)
_VALID = re.compile(
    rf"\b(?:(?:from|between) (?P<a>{_PERIOD}|{_MONTH}) (?:to|until|till|through|and) (?P<b>{_PERIOD})"
    rf"|(?P<since>since|from|as of|starting|effective|valid from) (?P<s>{_PERIOD})"
    rf"|(?P<until>until|till|up to|through|valid until) (?P<u>{_PERIOD})"
    rf"|(?:on|in(?! \d{{4}}-\d\d-)) (?P<on>{_PERIOD}))",
    re.I,
)
_VALID_WORDS = re.compile(r"\b(?:from|between|since|as of|starting|effective|until|till|up to|through|on|in) ", re.I)
_DATE_CJK = r"\d{4}\s?年(?:\s?\d{1,2}\s?月(?:\s?\d{1,2}\s?日)?)?"
_VALID_CJK = re.compile(
    rf"(?:从|自|從)?(?P<a>{_DATE_CJK})(?:から|到|至|〜|～)(?P<b>{_DATE_CJK})|(?:自从?|从)(?P<s1>{_DATE_CJK})|(?P<s2>{_DATE_CJK})(?:から|以降|"
    rf"以来|より|起)"
    rf"|(?P<u>{_DATE_CJK})(?:まで|为止|之前|以前)|(?:直到|至)(?P<u2>{_DATE_CJK})|(?P<on>{_DATE_CJK})に"
)
_BARE_DAY = rf"(?-i:(?:\d{{1,2}}(?:st|nd|rd|th)? {_MONTH}|{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?|{_MONTH})(?![\w:°-]|,? \d|\s[A-Z][a-z]))"
_VALID_BARE = re.compile(  # no year: it is the note's date that tells which
    rf"\b(?:(?:from|between) (?P<a>{_BARE_DAY}) (?:to|until|till|through|and) (?P<b>{_BARE_DAY})"
    rf"|(?:valid )?(?P<since>since|from|as of|starting|effective) (?P<s>{_BARE_DAY})"
    rf"|(?:valid )?(?:until|till|up to|through) (?P<u>{_BARE_DAY}))",
    re.I,
)
_DATE_BARE_CJK = r"(?<![\d年])\d{1,2}\s?月(?:\s?\d{1,2}\s?日)?"
_VALID_BARE_CJK = re.compile(
    rf"(?:从|自|從)?(?P<a>{_DATE_BARE_CJK})(?:から|到|至|〜|～)(?P<b>{_DATE_BARE_CJK})|(?:自从?|从)(?P<s1>{_DATE_BARE_CJK})"
    rf"|(?P<s2>{_DATE_BARE_CJK})(?:から|以降|以来|より|起)|(?P<u>{_DATE_BARE_CJK})(?:まで|为止|之前|以前)|(?:直到|至)(?P<u2>{_DATE_BARE_CJK})"
)
DATE_WORDS = re.compile(
    rf"(?<!\d)(?:\d{{4}}-\d{{2}}(?:-\d{{2}})?(?![\w-])|\d{{4}}/\d{{1,2}}/\d{{1,2}}(?!\d)|{_DATE_CJK}"
    rf"|\d{{1,2}}(?:st|nd|rd|th)? (?:of )?{_MONTH},? \d{{4}}|{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?,? \d{{4}}|{_MONTH} \d{{4}})\b"
)
_DATED_ENTRY = re.compile(r"(\d{4}-\d{2}(?:-\d{2})?)(?: \d{1,2}:\d{2})?\s?(?:[:：]|–|-\s)")
_ENDING = re.compile(r"\b(?:ends?|expires?|closes|runs out|lapses)\s(?:\w+\s){0,2}\Z")
_STATE = re.compile(r"\b(?:was|were)\b(?!\s+(?:\w+ly\s+)?\w+(?:ed|en|ilt|old|ade)\b)", re.I)


def values(text: str) -> list[Signal]:
    """Dates, amounts, versions, URLs, e-mail addresses and bare numbers of `text`, left to right, none overlapping."""
    if not _DIGIT_OR_AT.search(text):
        return []
    found: list[Signal] = []
    if "://" in text:
        found += [Signal(SignalKind.URL, m.start(), m.end(), m[0]) for m in _URL.finditer(text)]
    if "@" in text:
        found += [
            Signal(SignalKind.EMAIL, m.start(), m.end(), m[0]) for m in _EMAIL.finditer(text) if not _inside(found, m.start())
        ]
    addresses, end = found[:], 0
    for start in _MAYBE.finditer(text):
        at = start.start()
        if (
            at < end
            or at
            and (text[at - 1] in "._" or text[at - 1].isalnum() and text[at - 1].isascii())
            or addresses
            and _inside(addresses, at)
        ):
            continue
        m = _VALUE.match(text, at)
        if not m:
            continue
        kind, value, end = SignalKind(m.lastgroup or "number"), m[0], m.end()
        if kind is SignalKind.DATE:
            value = iso_date(value)
        elif (
            kind is SignalKind.NUMBER
            and len(value) == 4
            and value[:2] in ("19", "20")
            and _YEAR_BEFORE.search(text, max(0, at - 10), at)
        ):
            kind = SignalKind.DATE
        found.append(Signal(kind, at, end, value))
    return sorted(found, key=_place) if addresses else found


def _inside(found: list[Signal], at: int) -> bool:
    return any(s.start <= at < s.end for s in found)


def _place(signal: Signal) -> int:
    return signal.start


_YEAR_BEFORE = re.compile(r"\b(?:in|since|until|by|from|of|before|after|during|late|early|mid) \Z", re.I)


def signals(text: str) -> list[Signal]:
    """Every signal of a sentence, by place. Questions, hypotheses and reported speech span the whole sentence."""
    found = values(text)
    words = words_of(text)
    cjk = bool(CJK.search(text))
    for kind, m in ((SignalKind.CORRECTION, correction(text, words)), (SignalKind.DECISION, decision(text, words))):
        if m:
            found.append(Signal(kind, m.start(), m.end(), m[0]))
    for m in WORD.finditer(text.replace("’", "'")):
        if _negates(m[0].lower()):
            found.append(Signal(SignalKind.NEGATION, m.start(), m.end(), m[0]))
    if cjk:
        found += [Signal(SignalKind.NEGATION, m.start(), m.end(), m[0]) for m in _NEGATION_CJK.finditer(text)]
    act = speech_act(text, words)
    if act in (SpeechAct.QUESTION, SpeechAct.HYPOTHESIS):
        found.append(Signal(SignalKind(act.value), 0, len(text), text))
    if reported(text):
        found.append(Signal(SignalKind.REPORTED, 0, len(text), text))
    return sorted(found, key=lambda s: (s.start, s.end, s.kind))


def correction(text: str, words: list[str] | None = None) -> re.Match[str] | None:
    """Where `text` says that something changed ("moved to", "no longer", "was X, now Y", "instead of")."""
    words = words if words is not None else words_of(text)
    if not _CORRECTION_WORDS.isdisjoint(words) and (m := _CORRECTION.search(text)):
        return m
    if (", " in text or "; " in text) and not _CONTRASTED.isdisjoint(words) and (m := _CONTRAST.search(text)):
        return m
    return None if text.isascii() else _CORRECTION_CJK.search(text)


def decision(text: str, words: list[str] | None = None) -> re.Match[str] | None:
    """Where `text` records a decision ("decided to", "agreed on")."""
    if not _DECISION_WORDS.isdisjoint(words if words is not None else words_of(text)) and (m := _DECISION.search(text)):
        return m
    return None if text.isascii() else _DECISION_CJK.search(text)


def negated(text: str, words: list[str] | None = None) -> bool:
    """Whether the sentence denies something. "no longer" and "never" deny; "without" alone does not."""
    words = words if words is not None else words_of(text)
    if not _DENIALS.isdisjoint(words) or ("n't" in text or "n’t" in text) and any(w.endswith("n't") for w in words):
        return True
    return not text.isascii() and bool(CJK.search(text)) and bool(_NEGATION_CJK.search(text))


_DENIALS = NEGATIONS - {"without"}


def _negates(word: str) -> bool:
    return word in NEGATIONS or word.endswith("n't")


def iso_date(text: str) -> str:
    """The ISO form of a written date, as far as it goes: `2031-05-03`, `2031-05`, `2031`, `--05-03`; else `text`."""
    if text[:4].isdigit() and text[4:5] == "-":
        return text
    numbers = [int(n) for n in re.findall(r"\d+", text)]
    if "年" in text or "月" in text:
        if len(numbers) < (1 if "年" in text else 2):
            return text
        if "年" not in text:
            return f"--{numbers[0]:02d}-{numbers[1]:02d}"
        return "-".join([f"{numbers[0]:04d}", *(f"{n:02d}" for n in numbers[1:])])
    if "/" in text:
        return text if len(numbers) < 3 else f"{numbers[0]:04d}-{numbers[1]:02d}-{numbers[2]:02d}"
    name = re.search(r"[A-Za-z]{3,}", re.sub(r"\d+(?:st|nd|rd|th)", "", text).replace(" of ", " "))
    month = _MONTH_NUMBER.get(name[0].lower()) or _MONTH_NUMBER.get(name[0].lower()[:3]) if name else None
    if not month or not numbers:
        return text
    if len(numbers) == 1:
        return f"{numbers[0]:04d}-{month:02d}" if numbers[0] > 31 else f"--{month:02d}-{numbers[0]:02d}"
    day, year = numbers[0], numbers[1]
    return f"{year:04d}-{month:02d}-{day:02d}"


def valid_in(text: str, written: Interval = ALWAYS) -> tuple[Interval, str]:
    """The stretch of time the words of a claim give it, with those words; (ALWAYS, "") where they give none.

    since D: from the start of D on. until D, "ends on D": up to the end of D. from D to E: both. on/in D: from the start of D on
    for what happened then ("was built in 2024" stays true), within D for a past state ("the port was 80 on …"). A
    log entry ("2031-05-08: port changed") holds from its date on. Words without a year ("until May") are read against the
    date `written`: the next May, the last for "since", the nearest for "from"; where that is unknown, (ALWAYS, words).
    """
    if _DIGIT_OR_AT.search(text) is None:
        return _without_year(text, written)
    if not text.isascii() and (m := _VALID_CJK.search(text)):
        start, end = m["a"] or m["s1"] or m["s2"], m["b"] or m["u"] or m["u2"]
        return _interval(start, end, m["on"], False, m[0])
    if m := _DATED_ENTRY.match(text):
        return _interval(None, None, m[1], False, m[1])
    found = [m for m in _VALID.finditer(text)] if _VALID_WORDS.search(text) else []
    if not found:
        return _without_year(text, written)
    start = next((m["a"] or m["s"] for m in found if m["a"] or m["s"]), None)
    end = next((m["b"] or m["u"] for m in found if m["b"] or m["u"]), None)
    on = None
    if not start and not end and (m := next((m for m in found if m["on"]), None)):
        if _ENDING.search(text, 0, m.start()):
            end = m["on"]
        else:
            on = m["on"]
    if start and end and not re.search(r"\d{4}", start):
        start = f"{start} {end[-4:] if end[-4:].isdigit() else end[:4]}"
    cue = next(m for m in found if m["a"] or m["s"] or m["u"] or m["on"])
    return _interval(start, end, on, bool(_STATE.search(text)), cue[0])


def _without_year(text: str, written: Interval) -> tuple[Interval, str]:
    """As `valid_in`, for dates that name no year."""
    if m := _VALID_BARE.search(text):
        start, end, since = m["a"] or m["s"], m["b"] or m["u"], (m["since"] or "").lower()
    elif not text.isascii() and (m := _VALID_BARE_CJK.search(text)):
        start, end, since = m["a"] or m["s1"] or m["s2"], m["b"] or m["u"] or m["u2"], ""
    else:
        return ALWAYS, ""
    at = written.start
    if at is None:
        return ALWAYS, m[0].rstrip(".")
    readings = [stretch for year in (at.year - 1, at.year, at.year + 1) if (stretch := _in_year(start, end, year)) is not None]
    if end and not start:
        fitting = [s for s in readings if s.end is not None and s.end > at][:1]
    elif since == "since":
        fitting = [s for s in readings if s.start is not None and s.start <= at][-1:]
    else:
        fitting = sorted(readings, key=lambda s: max(_days(at, s.start), _days(s.end if end else s.start, at)))[:1]
    return (fitting[0] if fitting else ALWAYS), m[0].rstrip(".")


def _days(since: datetime | None, until: datetime | None) -> int:
    """Days from one to the other, negative where the other comes first."""
    return (until - since).days if since is not None and until is not None else 0


def _in_year(start: str | None, end: str | None, year: int) -> Interval | None:
    """The stretch from `start` to the end of `end`, both without a year, beginning in `year`; None if there is no such day."""
    first, last = _month_day(start), _month_day(end)
    try:
        begins = parse_interval(f"{year}-{first}").start if first else None
        ends = parse_interval(f"{year + (1 if first and last and last < first else 0)}-{last}").end if last else None
    except TimeError:
        return None
    return Interval(begins, ends)


def _month_day(text: str | None) -> str:
    """`05` or `05-03` of "May", "3 May", "5月3日"; "" for None."""
    if not text:
        return ""
    numbers = [int(n) for n in re.findall(r"\d+", text)]
    if "月" in text:
        return "-".join(f"{n:02d}" for n in numbers)
    name = re.search(r"[A-Za-z]{3,}", re.sub(r"\d+(?:st|nd|rd|th)", "", text))
    month = _MONTH_NUMBER[name[0].lower()[:3]] if name else 0
    return f"{month:02d}-{numbers[0]:02d}" if numbers else f"{month:02d}"


def _interval(start: str | None, end: str | None, on: str | None, state: bool, text: str) -> tuple[Interval, str]:
    try:
        if on:
            stretch = parse_interval(iso_date(on))
            return (stretch if state else Interval(stretch.start, None)), text
        first = parse_interval(iso_date(start)).start if start else None
        last = parse_interval(iso_date(end)).end if end else None
    except TimeError:
        return ALWAYS, ""
    if first and last and last <= first:
        return ALWAYS, ""
    return (Interval(first, last), text) if first or last else (ALWAYS, "")


def struck(raw: str) -> list[str]:
    """The texts struck through (`~~old~~`) in raw markdown."""
    return re.findall(r"~~([^~\n]{1,200})~~", raw) if "~~" in raw else []
