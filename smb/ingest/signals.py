"""Typed signals a text carries, found by deterministic rule: dates, amounts, versions, addresses, cues, speech acts.

Owns what counts as a signal and where in the text it stands. Never judges whether a sentence is worth keeping, never
reads a clock: a date without a year stays without one. Every cue matches whole words only ("no" is not in "know").
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from smb.ingest.lexicon import (
    AUXILIARIES, BASE_VERBS, DETERMINERS, HYPOTHESIS, INSTRUCTIONS, LEAD_IN, NEGATIONS, NOT_PAST, NOUNS_TOO, PAST_VERBS,
    PREPOSITIONS, SPEECH,
)
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


class SpeechAct(StrEnum):
    ASSERTION = "assertion"
    QUESTION = "question"
    INSTRUCTION = "instruction"
    HYPOTHESIS = "hypothesis"
    FRAGMENT = "fragment"


_MONTH_NAMES = ("january february march april may june july august september october november december").split()
_MONTH_NUMBER = {name: i + 1 for i, name in enumerate(_MONTH_NAMES)} | {name[:3]: i + 1 for i, name in enumerate(_MONTH_NAMES)}
_MONTH_NUMBER["sept"] = 9
_MONTH = ("(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?|"
          "Nov(?:ember)?|Dec(?:ember)?)\\.?")
_UNITS = (
    "%|‰|°C|°F|°|km/h|m/s|km²|m²|m³|km|cm|mm|µm|nm|kg|mg|µg|ml|dl|cl|kWh|MWh|GWh|kW|MW|kVA|VA|mA|mAh|kHz|MHz|GHz|Hz|hPa|kPa|Pa|bar|"
    "[kKMGTP]i?B(?:/s)?|[kMG]bit/s|[kMG]bps|bytes?|bits?|kB|px|pixels?|dpi|fps|rpm|ms|µs|ns|secs?|seconds?|mins?|minutes?|hrs?|hours?|"
    "days?|weeks?|months?|years?|nights?|euros?|EUR|dollars?|USD|cents?|pounds?|GBP|CHF|yen|JPY|CNY|yuan|people|persons?|users?|customers?|employees|"
    "students|participants|requests?|connections|threads|cores|tokens?|rows|records|files|lines|pages|pieces|orders|places|items|percent|per cent|"
    "miles?|feet|ft|inches|lbs?|oz|litres?|liters?|metres?|meters?|kilometres?|kilometers?|grams?|tons?|tonnes?|degrees|watts?|volts?|times|"
    "million|billion|thousand|[mglLtsWVAΩhJN]")
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
    r"|(?P<version>v\d+(?:\.\d+)*(?:-[\w.]+)?\b|\d+\.\d+\.\d+(?:\.\d+)?(?:-[\w.]+)?(?![\w.]*\d)|(?<=[A-Za-z] )\d{1,3}\.\d{1,3}\b(?!\s?%))"
    rf"|(?P<number>{_NUM}(?![\w]))")
_DIGIT_OR_AT = re.compile(r"[\d@]|://")

_WORD = re.compile(r"[\w'-]+")
_CJK = re.compile(r"[぀-ヿ㐀-鿿]")

_CORRECTION = re.compile(
    r"\b(?:(?:has |have )?moved (?:from|to)|no longer|not any ?more|any ?more|instead of|(?:is|are) now|now (?:is|are|it is|costs?|uses?|runs?)|"
    r"changed (?:from|to)|switched (?:from|to)|replaced (?:by|with)|has replaced|have replaced|supersedes|superseded by|"
    r"renamed (?:to|from)|used to (?:be|have|run|cost)|formerly|stepped down|corrected|correction:|raised .{1,40} (?:to)|"
    r"(?:lowered|reduced|increased|dropped|rose|fell|went (?:up|down)) (?:from .{1,30} )?to|until now)\b", re.I)
_CORRECTION_WORDS = frozenset(
    "moved longer more anymore instead now changed switched replaced supersedes superseded renamed used "
    "formerly stepped corrected correction raised lowered reduced increased dropped rose fell went until".split())
_CORRECTION_CJK = re.compile(r"ではなくなっ|もう.{0,10}ない|に変更|に移転|に移っ|以前は|代わりに|已改为|改为|改成|不再|取代|替换为|迁移到|搬到|原来|现在是|現在は|廃止|更正|訂正")
_DECISION = re.compile(
    r"\b(?:decided (?:to|that|on|against)|we (?:decided|agreed|chose|will use|settled)|agreed (?:to|that|on)|decision:|decided:|resolved (?:to|that)|"
    r"approved|rejected the|chose to|opted (?:for|to)|settled on|signed off|accepted:)", re.I)
_DECISION_WORDS = frozenset("decided agreed decision resolved approved rejected chose opted settled signed accepted".split())
_DECISION_CJK = re.compile(r"決定し|決めた|に決ま|ことにした|决定|商定|确定采用|批准")
_NEGATION_CJK = re.compile(r"ない(?:。|$|で|と|が)|ません|なかった|なくなった|[不没無未勿]|不是|没有|并非")
_QUESTION_CJK = re.compile(r"[？]\s*$|(?:ですか|ますか|でしょうか|だろうか|吗|呢|么)[。?？]?\s*$")
_HYPOTHESIS_CJK = re.compile(r"^(?:もし|仮に|たぶん|如果|假如|假设|也许|可能|要是|若)")
_INSTRUCTION_CJK = re.compile(r"(?:てください|して下さい|なさい|ましょう)[。]?$|^(?:给定|给你|设计|编写|找出|返回|注意|点击|运行|使用|执行|实现|输入|输出|打开|选择|要求|不得|直接|将|把)|[请請]")
_FINITE_CJK = re.compile(r"です|ます|でし|まし|である|だった|した|った|いる|れる|える|する|[うくすつぬむるた]。?$|[是为為有在会會能可将將被把使让讓需应應等于於]|表示|包含|采用|属于|支持|超过")
_REPORTED = re.compile(
    r"^(?:According to (?P<by>[^,]{2,40}),\s"
    r"|(?P<who>[A-ZÀ-Þ][\w’'-]*(?:\s(?:de|da|do|van|von)?\s?[A-ZÀ-Þ][\w’'-]*){0,2}|He|She|They|The [a-z]+(?: [a-z]+)?(?: of [A-Z][\w ]{2,30}?)?)"
    r"(?:,[^,]{1,40},)?\s(?P<verb>\w+)(?:\s(?:me|us|them|him|her))?(?:\son the phone)?\s(?:that\s)?(?=\w))")

_PERIOD = r"(?:\d{4}-\d{2}-\d{2}|\d{4}-\d{2}|\d{1,2}(?:st|nd|rd|th)? %s(?:,? \d{4})|%s \d{1,2}(?:st|nd|rd|th)?,? \d{4}|%s \d{4}|(?:19|20)\d{2})(?![\w:°-])" % ((_MONTH,) * 3)
_VALID = re.compile(
    rf"\b(?:(?:from|between) (?P<a>{_PERIOD}|{_MONTH}) (?:to|until|till|through|and) (?P<b>{_PERIOD})"
    rf"|(?P<since>since|from|as of|starting|effective|valid from) (?P<s>{_PERIOD})"
    rf"|(?P<until>until|till|up to|through|valid until) (?P<u>{_PERIOD})"
    rf"|(?:on|in(?! \d{{4}}-\d\d-)) (?P<on>{_PERIOD}))", re.I)
_VALID_WORDS = re.compile(r"\b(?:from|between|since|as of|starting|effective|until|till|up to|through|on|in) ", re.I)
_DATE_CJK = r"\d{4}\s?年(?:\s?\d{1,2}\s?月(?:\s?\d{1,2}\s?日)?)?"
_VALID_CJK = re.compile(
    rf"(?:从|自|從)?(?P<a>{_DATE_CJK})(?:から|到|至|〜|～)(?P<b>{_DATE_CJK})|(?:自从?|从)(?P<s1>{_DATE_CJK})|(?P<s2>{_DATE_CJK})(?:から|以降|以来|より|起)"
    rf"|(?P<u>{_DATE_CJK})(?:まで|为止|之前|以前)|(?:直到|至)(?P<u2>{_DATE_CJK})|(?P<on>{_DATE_CJK})に")
_ENDING = re.compile(r"\b(?:ends?|expires?|closes|runs out|lapses)\s(?:\w+\s){0,2}\Z")
_STATE = re.compile(r"\b(?:was|were)\b(?!\s+(?:\w+ly\s+)?\w+(?:ed|en|ilt|old|ade)\b)", re.I)


def words_of(text: str) -> list[str]:
    """The words of `text`, lower case; contractions and hyphenated words stay whole."""
    lower = text.lower()
    return _WORD.findall(lower.replace("’", "'") if "’" in lower else lower)


def values(text: str) -> list[Signal]:
    """Dates, amounts, versions, URLs, e-mail addresses and bare numbers of `text`, left to right, none overlapping."""
    if not _DIGIT_OR_AT.search(text):
        return []
    found: list[Signal] = []
    if "://" in text:
        found += [Signal(SignalKind.URL, m.start(), m.end(), m[0]) for m in _URL.finditer(text)]
    if "@" in text:
        found += [Signal(SignalKind.EMAIL, m.start(), m.end(), m[0]) for m in _EMAIL.finditer(text) if not _inside(found, m.start())]
    addresses, end = found[:], 0
    for start in _MAYBE.finditer(text):
        at = start.start()
        if at < end or at and (text[at - 1] in "._" or text[at - 1].isalnum() and text[at - 1].isascii()) or addresses and _inside(addresses, at):
            continue
        m = _VALUE.match(text, at)
        if not m:
            continue
        kind, value, end = SignalKind(m.lastgroup or "number"), m[0], m.end()
        if kind is SignalKind.DATE:
            value = iso_date(value)
        elif kind is SignalKind.NUMBER and len(value) == 4 and value[:2] in ("19", "20") and _YEAR_BEFORE.search(text, max(0, at - 10), at):
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
    cjk = bool(_CJK.search(text))
    for kind, m in ((SignalKind.CORRECTION, correction(text, words)), (SignalKind.DECISION, decision(text, words))):
        if m:
            found.append(Signal(kind, m.start(), m.end(), m[0]))
    for m in _WORD.finditer(text.replace("’", "'")):
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
    if not _CORRECTION_WORDS.isdisjoint(words if words is not None else words_of(text)) and (m := _CORRECTION.search(text)):
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
    if not _DENIALS.isdisjoint(words) or "n't" in text and any(w.endswith("n't") for w in words):
        return True
    return not text.isascii() and bool(_CJK.search(text)) and bool(_NEGATION_CJK.search(text))


_DENIALS = NEGATIONS - {"without"}


def _negates(word: str) -> bool:
    return word in NEGATIONS or word.endswith("n't")


def is_finite(word: str, before: str) -> bool:
    """Whether `word` (lower case) can be the finite verb of a sentence, given the word before it."""
    if word in AUXILIARIES or word in PAST_VERBS:
        return True
    if word.endswith("ed"):
        return len(word) > 4 and word not in NOT_PAST and before not in DETERMINERS
    if word.endswith("s") and before not in DETERMINERS and before not in PREPOSITIONS:
        return word[:-1] in BASE_VERBS or (word.endswith("es") and word[:-2] in BASE_VERBS) or (word.endswith("ies") and word[:-3] + "y" in BASE_VERBS)
    return (before.endswith("s") or before in ("we", "i", "they", "people")) and before not in DETERMINERS and word in BASE_VERBS


def speech_act(text: str, words: list[str] | None = None) -> SpeechAct:
    """What is done by saying `text`. FRAGMENT: it has no finite verb with something before it, or leads in to a list."""
    stripped = text.rstrip()
    if not stripped:
        return SpeechAct.FRAGMENT
    if stripped[-1] in "?？" or stripped.endswith(('?"', "?)", "?”")):
        return SpeechAct.QUESTION
    if stripped[-1] in ":：,，;；、…":
        return SpeechAct.FRAGMENT
    if not text.isascii() and _CJK.search(text):
        return _speech_act_cjk(stripped)
    words = words if words is not None else words_of(text)
    if len(words) < 3:
        return SpeechAct.FRAGMENT
    first = words[0]
    if first in HYPOTHESIS and first not in ("would", "should", "could", "might", "seems"):
        return SpeechAct.HYPOTHESIS
    if _instructs(stripped, words):
        return SpeechAct.INSTRUCTION
    finite = next((i for i in range(1, min(len(words), 28)) if is_finite(words[i], words[i - 1]) and words[i - 1] not in _RELATIVE), 0)
    if finite and not _SUBORDINATORS.isdisjoint(words[1:finite]):
        return SpeechAct.FRAGMENT  # "0 if it was found": the only verb is in the clause
    if finite and first in ("a", "an") and words[finite].endswith("ed") and finite + 1 < len(words) and words[finite + 1] in PREPOSITIONS:
        finite = next((i for i in range(finite + 1, len(words)) if words[i] in AUXILIARIES and words[i - 1] not in _RELATIVE), 0)  # a participle
    if first in ("i'm", "i've", "i'd", "we're", "we've", "it's", "there's", "they're", "he's", "she's"):
        finite = 1
    if not finite:
        return SpeechAct.FRAGMENT
    if words[finite] in ("would", "could", "might", "may") and not words[min(finite + 1, len(words) - 1)][0].isdigit() and not _SOLID_AFTER_MODAL.intersection(words):
        return SpeechAct.HYPOTHESIS
    if "if" in words[1:] and ("would" in words or "could" in words or "might" in words):
        return SpeechAct.HYPOTHESIS
    if first in ("maybe", "perhaps", "probably", "possibly") or "perhaps" in words or "maybe" in words:
        return SpeechAct.HYPOTHESIS
    return SpeechAct.ASSERTION


_SUBORDINATORS = frozenset(("if", "unless", "because", "whether"))
_RELATIVE = frozenset(("that", "which", "who", "to"))
_SOLID_AFTER_MODAL = frozenset(("not", "no", "only", "be", "used"))  # "may be used", "could not": checkable after all


def _instructs(text: str, words: list[str]) -> bool:
    at = 0
    while at < 2 and at + 1 < len(words) and words[at] in LEAD_IN:
        if words[at] in ("don't", "let's", "please"):
            return True
        at += 1
    if _imperative(words, at):
        return True
    if words[0] == "to" and words[1] in BASE_VERBS:
        return True
    comma = text.find(", ", 0, 120)
    if comma > 0 and words[0] in _CLAUSE_OPENERS:
        after = words_of(text[comma + 2 : comma + 60])
        while after and after[0] in LEAD_IN:
            after = after[1:]
        if after and (after[0] in ("you", "see", "refer") or (len(after) > 1 and _imperative(after, 0))):
            return True
    return False


_CLAUSE_OPENERS = PREPOSITIONS | frozenset("when if once after before where because while to unless for".split())


def _imperative(words: list[str], at: int) -> bool:
    word = words[at]
    if word not in INSTRUCTIONS:
        return False
    after = words[at + 1] if at + 1 < len(words) else ""
    if word in NOUNS_TOO and after not in DETERMINERS and after not in PREPOSITIONS - {"of", "in", "for"}:
        return not any(is_finite(w, b) for b, w in zip(words[at + 1 : at + 6], words[at + 2 : at + 7])) and after not in AUXILIARIES and after not in ("of", "in", "for")
    return after not in AUXILIARIES


def _speech_act_cjk(text: str) -> SpeechAct:
    if _QUESTION_CJK.search(text):
        return SpeechAct.QUESTION
    if _HYPOTHESIS_CJK.search(text):
        return SpeechAct.HYPOTHESIS
    if _INSTRUCTION_CJK.search(text):
        return SpeechAct.INSTRUCTION
    return SpeechAct.ASSERTION if _FINITE_CJK.search(text) and len(text) >= 6 else SpeechAct.FRAGMENT


def reported(text: str) -> tuple[str, str] | None:
    """(who said it, what was said) for "X says that …" and "According to X, …"; None for anything else."""
    m = _REPORTED.match(text)
    if not m or (m["verb"] and m["verb"].lower() not in SPEECH):
        return None
    return (m["by"] or m["who"]).strip(), text[m.end() :].strip()


def iso_date(text: str) -> str:
    """The ISO form of a written date, as far as it goes: `2031-05-03`, `2031-05`, `2031`, `--05-03`; else `text`."""
    if text[:4].isdigit() and text[4:5] == "-":
        return text
    numbers = [int(n) for n in re.findall(r"\d+", text)]
    if "年" in text or "月" in text:
        if "年" not in text:
            return f"--{numbers[0]:02d}-{numbers[1]:02d}"
        return "-".join([f"{numbers[0]:04d}", *(f"{n:02d}" for n in numbers[1:])])
    if "/" in text:
        return f"{numbers[0]:04d}-{numbers[1]:02d}-{numbers[2]:02d}"
    name = re.search(r"[A-Za-z]{3,}", re.sub(r"\d+(?:st|nd|rd|th)", "", text).replace(" of ", " "))
    month = _MONTH_NUMBER.get(name[0].lower()) or _MONTH_NUMBER.get(name[0].lower()[:3]) if name else None
    if not month or not numbers:
        return text
    if len(numbers) == 1:
        return f"{numbers[0]:04d}-{month:02d}" if numbers[0] > 31 else f"--{month:02d}-{numbers[0]:02d}"
    day, year = numbers[0], numbers[1]
    return f"{year:04d}-{month:02d}-{day:02d}"


def valid_in(text: str) -> tuple[Interval, str]:
    """The stretch of time the words of a claim give it, with those words; (ALWAYS, "") where they give none.

    since D: from the start of D on. until D, "ends on D": up to the end of D. from D to E: both. on/in D: from the start of D on
    for what happened then ("was built in 2024" stays true), within D for a past state ("the port was 80 on …").
    """
    if _DIGIT_OR_AT.search(text) is None:
        return ALWAYS, ""
    if not text.isascii() and (m := _VALID_CJK.search(text)):
        start, end = m["a"] or m["s1"] or m["s2"], m["b"] or m["u"] or m["u2"]
        return _interval(start, end, m["on"], False, m[0])
    found = [m for m in _VALID.finditer(text)] if _VALID_WORDS.search(text) else []
    if not found:
        return ALWAYS, ""
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
