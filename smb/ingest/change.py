"""What a sentence says has changed: what it was, what it is now, and of what.

Owns the patterns of change ("was A, now B", "from A to B", "B instead of A", "moved it; it is B now", 以前は…現在は, 由…改为).
Never looks at another sentence and never decides what a change retires.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

LEAD = r"(?:after|since|from|as of|following|with)\s[^,;]{2,40}?,?\s"
_WAS_NOW = re.compile(
    rf"^(?P<h>[^;:?!]{{2,70}}?)\s(?P<verb>was|were|used\sto\sbe|cost)\s(?P<a>[^;]{{1,60}}?)"
    rf"(?:(?:[,;]|\s[–—-])\s(?:and\s|but\s)?(?:{LEAD})?(?P<now>(?:it|they|that)(?:\s(?:is|are|costs?)|['’]s)(?:\snow)?|now(?:\s(?:it|they))?(?:\s(?:is|are|costs?))?)"
    rf"|\s(?:and|but)\s(?P<now2>(?:is|are|costs?)\snow|now\s(?:is|are|costs?)))\s(?P<v>.+)$"
)
_CHANGED = (
    r"moved|switched|changed|migrated|relocated|renamed|raised|lowered|increased|reduced|upgraded|downgraded|cut|set|shortened|"
    r"extended|replaced|updated|rebuilt|reconfigured"
)
_MADE = re.compile(rf"^.{{1,40}}?\s(?:has\s|have\s)?(?P<verb>{_CHANGED})\s(?:the\s|our\s)?(?P<h>[^,;:]{{2,60}}?)\sfrom\s(?P<a>.{{1,50}}?)\sto\s(?P<v>[^;:?!]{{1,90}})$")
_POINTS_BACK = re.compile(
    rf"^(?:We|I|They|[A-Z][\w’'-]+)\s(?:have\s|has\s)?(?:{_CHANGED})\s(?:the\s|our\s)?(?P<s>[\w./’' -]{{2,40}}?)"
    rf"(?:\s(?:again|over|yesterday|today|last\s\w+|this\s\w+|(?:on|in)\s[\w -]{{3,16}}))?\s?[;,.–—-]\s(?:and\s|so\s|but\s)?(?:it|they)(?P<rest>(?:['’]s|\s).+)$"
)
_CJK_OF = r"(?P<s>[^、,，。:：はの的是为由从]{1,16})[の的](?P<t>[^、,，。:：はの的是为由从]{1,12}?)"
_CJK = (
    re.compile(
        rf"^{_CJK_OF}(?:は、?)?(?:以前は|以前是|以前为|原来是?|原本是?|曾经?是|过去是)(?P<a>[^、,，。]{{1,30}}?)(?:だったが|であったが|でしたが)?[、,，]"
        r"(?:現在は|今は|现在(?:是|为|改为)?|如今(?:是|为)?|已?(?:改为|改成)|后来?改为)(?P<v>[^、,，。]{1,30}?)(?:である|です|だ|になった)?[。]?$"
    ),
    re.compile(rf"^{_CJK_OF}(?:已经?)?(?:由|从)(?P<a>[^、,，。]{{1,30}}?)(?:改为|改成|变为|变成|调整为|更改为|调到|提高到|降到)(?P<v>[^、,，。]{{1,30}}?)了?[。]?$"),
    re.compile(rf"^{_CJK_OF}(?:已经?|现在)?(?:改为|改成|变为|变成|调整为|更改为)(?P<v>[^、,，。]{{1,30}}?)了?[。]?$"),
    re.compile(rf"^{_CJK_OF}[はをが](?P<a>[^、,，。]{{1,30}}?)から(?P<v>[^、,，。]{{1,30}}?)に(?:変更|変わ|変え|なっ|上が|下が|上げ|下げ|移|改).{{0,8}}[。]?$"),
)
_OLD = re.compile(
    r"\b(?:was|were|used to be|cost)\s(?P<was>[^,;.]{1,60}?(?:[.,]\d+[^,;.]{0,20})?)(?:[,;]|\s[–—-]\s|\sand\s(?:is|are)\snow)"
    r"|\bfrom\s(?P<from>[^;]{1,50}?)\sto\s"
    r"|(?:\binstead of|\brather than|,\s(?:and\s)?not|\bno longer|\bnot)\s(?P<not>[^,;]{1,60}?)(?:\snow|\sany ?more|[.!]?$|[,;])"
)
_TAIL = re.compile(r"\s(?:since|until|till|because|when|as|after|before)\b.*$")


@dataclass(frozen=True, slots=True)
class Change:
    """`head` was `old` ("" where that is not said) and is `new`. `verb` is the word of change, "was" for a contrast."""

    head: str
    new: str
    old: str = ""
    verb: str = "was"


def change_in(text: str) -> Change | None:
    """The change an English sentence without its full stop states, if it names what changed and to what."""
    if (m := _WAS_NOW.match(text)) and ("now" in f"{m['now']} {m['now2']}" or _figure(m["a"]) and _figure(m["v"])):
        return Change(m["h"], m["v"], m["a"], "cost" if m["verb"] == "cost" else "was")
    if m := _MADE.match(text):
        return Change(m["h"], m["v"], m["a"], m["verb"])
    return None


def cjk_change(text: str) -> tuple[str, str, str, str] | None:
    """(subject, attribute, new value, old value or "") of a Chinese or Japanese sentence of change."""
    for pattern in _CJK:
        if m := pattern.match(text):
            return m["s"].strip(), m["t"].strip(), m["v"].strip(), (m["a"].strip() if "a" in pattern.groupindex else "")
    return None


def pointed_back(text: str) -> str:
    """ "We moved the depot; it is in Harrow now" as "depot is in Harrow now"; "" for any other sentence."""
    if not (m := _POINTS_BACK.match(text)):
        return ""
    rest = m["rest"]
    return m["s"] + (f" is{rest[2:]}" if rest[:2] in ("'s", "’s") else rest)


def old_values(sentence: str) -> tuple[str, ...]:
    """The values a sentence says hold no longer, as written."""
    if not sentence.isascii() and (changed := cjk_change(sentence)):
        return (changed[3],) if changed[3] else ()
    found = (m["was"] or m["from"] or m["not"] for m in _OLD.finditer(sentence))
    return tuple(dict.fromkeys(old for text in found if (old := _TAIL.sub("", text).strip(" .")))) 


def denied(sentence: str) -> str:
    """The sentence whose truth "no longer" ends: "It no longer runs." → "It runs."; "" for any other."""
    return sentence.replace(" no longer ", " ", 1) if sentence.count(" no longer ") == 1 else ""


def _figure(text: str) -> bool:
    return any(c.isdigit() for c in text[:8])
