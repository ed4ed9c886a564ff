"""Key and value of a sentence whose structure gives one: "the T of X is V", "X runs on port N", "X moved from A to B".

Owns the patterns. Never forces one: a sentence that fits none has no key, and definitions ("X is a V") have none either.
"""

from __future__ import annotations

import re

from smb.ingest.change import Change, change_in, cjk_change, pointed_back
from smb.ingest.lexicon import CONNECTIVES, PREPOSITIONS, PRONOUNS
from smb.ingest.signals import SignalKind, values
from smb.ingest.survey import NameStarts

Key = tuple[str, str, str]  # subject, attribute, value

_S = r"(?:(?:The|the|A|An|Our)\s)?(?P<s>[^,;:.()?!]{2,48}?)"
_V = r"(?P<v>[^;:?!]{1,90})"
_BE = r"(?:is|are|was|were)"
_MOVED = re.compile(
    rf"^{_S}\s(?:has\s|have\s|was\s|were\s|is\s|has\sbeen\s)?(?P<verb>moved|switched|changed|migrated|relocated|renamed|raised|lowered|"
    rf"increased|"
    rf"reduced|upgraded|downgraded|rose|fell|dropped|grew|went\sup|went\sdown|cut)\s(?:back\s|over\s)?(?:from\s(?P<a>.{{1,50}}?)\s)?to\s{_V}$"
)
_HEAD_OF = re.compile(r"^(?:The\s|the\s|Our\s|our\s)?(?P<t>[a-z][\w -]{2,30}?)\s(?:of|for)\s(?:the\s|our\s)?(?P<s>.{2,40})$")
_HEAD_POSSESSIVE = re.compile(r"^(?:The\s|the\s)?(?P<s>[\w’' .-]{2,40}?)(?:'s|’s)\s(?P<t>[a-z][\w -]{2,30})$")
_HEAD_MY = re.compile(r"^(?P<s>My|Our)\s(?P<t>[a-z][\w -]{2,30})$")
_OF = re.compile(
    rf"^(?:The|Our)\s(?P<t>[a-z][\w -]{{2,30}}?)\s(?:of|for)\s(?:the\s|our\s)?(?P<s>[^,;:]{{2,40}}?)\s{_BE}\s(?:now\s)?{_V}$"
)
_POSSESSIVE = re.compile(rf"^(?:The\s)?(?P<s>[\w’' .-]{{2,40}}?)(?:'s|’s)\s(?P<t>[a-z][\w -]{{2,30}}?)\s{_BE}\s(?:now\s)?{_V}$")
_MY = re.compile(rf"^(?P<s>My|Our)\s(?P<t>[a-z][\w -]{{2,30}}?)\s{_BE}\s(?:now\s)?{_V}$")
_MEASURE = re.compile(
    rf"^(?:The\s|Our\s)?(?P<s>[A-Za-z][\w -]{{2,40}}?)\s{_BE}\s(?:now\s|at\smost\s|at\sleast\s|on\s|"
    rf"at\s)?(?P<v>[€$£¥~]?\d[^;:?!]{{0,40}}|"
    r"(?:January|February|March|April|May|June|July|August|September|October|November|December)\s\d.{0,12})$"
)
_VERBS: dict[str, str] = {
    "runs on": "runs on",
    "run on": "runs on",
    "has run on": "runs on",
    "listens on": "listens on",
    "listened on": "listens on",
    "is hosted on": "hosted on",
    "is hosted by": "hosted by",
    "lives in": "location",
    "lived in": "location",
    "is based in": "location",
    "is located in": "location",
    "is located at": "location",
    "works at": "employer",
    "works for": "employer",
    "costs": "cost",
    "cost": "cost",
    "weighs": "weight",
    "measures": "size",
    "is written in": "written in",
    "is called": "name",
    "is named": "name",
    "starts at": "start",
    "starts on": "start",
    "ends on": "end",
    "ends at": "end",
    "opens at": "opens",
    "closes at": "closes",
    "is due on": "due",
    "was founded in": "founded",
    "was founded by": "founded by",
    "was built in": "built",
    "was built by": "built by",
    "was born on": "born",
    "was born in": "born",
    "expires on": "expires",
    "is maintained by": "maintainer",
    "is owned by": "owner",
    "is made by": "maker",
    "is licensed under": "licence",
    "earns": "salary",
    "stores its data in": "stores data in",
    "is responsible for": "responsible for",
    "became": "role",
    "takes": "duration",
    "lasts": "duration",
    "needs": "needs",
    "requires": "requires",
    "defaults to": "default",
    "is set to": "setting",
}
_VERB = re.compile(rf"^{_S}\s(?P<verb>{'|'.join(sorted(map(re.escape, _VERBS), key=len, reverse=True))})\s{_V}$")
_PORT = re.compile(r"^(?:the\s)?(?P<u>port|version|page|room|floor|step|level|line)\s(?P<n>[\w.]+)\b", re.I)
_CUT = re.compile(
    r",\s|\s\(|\s(?:instead of|rather than|because|which|who|but|while|so that|so|since|until|when|if|and|as|after|before|on \d{4}|in \d{4}|"
    r"in (?:Jan|Feb|Mar|Apr|May|Jun|Jul|"
    r"Aug|Sep|Oct|Nov|Dec)\w*)\b|\s[–—-]\s"
)
_CUES = re.compile(
    r"\b(?:is|are|was|were|from|runs?|listens|listened|lives|lived|works|costs?|weighs|measures|starts|ends|opens|closes|"
    r"expires|earns|stores|"
    r"became|takes|lasts|needs|requires|defaults|moved|renamed|rose|fell|changed|switched|upgraded)\b"
)
_CJK_OF = re.compile(
    r"^(?:现在|現在)?(?P<s>[^、,，。:：はの的是为]{1,16})[の的](?P<t>[^、,，。:：はの的是为]{1,12}?)(?:应|應)?(?:は|是|为|為)(?P<v>[^、,，。]{1,30}?)(?:である|"
    r"です|だ)?[。]?$"
)
_CJK_IS = re.compile(r"^(?P<s>[^、,，。はの的是为]{1,20})は(?P<v>[€$]?\d[^、,，。]{0,20}?)(?:である|です|だ)?[。]?$")
_BAD_SUBJECT = (
    PRONOUNS
    | CONNECTIVES
    | frozenset("there here what when where if how why most some all both many few result results it".split())
)
_VALUE_ATTRIBUTES = {
    "location": False,
    "needs": True,
    "requires": True,
    "duration": True,
    "cost": True,
    "weight": True,
    "size": True,
    "salary": True,
}


def key_of(sentence: str, me: str, own: NameStarts) -> Key | None:
    """(subject, attribute, value) of an asserted sentence; `me` is who "my" and "our" speak of, `own` the note's names.

    A subject that names nothing outside the note ("the limit", "the test") is an attribute of `me` instead, so that two
    notes' limits are two keys.
    """
    text = sentence.rstrip(" .!。")
    if not text.isascii() and "分别" not in text and (found := _cjk(sentence)):
        return found
    if len(text) > 160 or not _CUES.search(text) or " no longer " in text:
        return None
    plain = pointed_back(text)
    if not plain and (change := change_in(text)) and (key := _changed(change)):
        return _placed(key, me, own)
    for pattern, read in ((_MOVED, _moved), (_OF, _of), (_POSSESSIVE, _of), (_MY, _of), (_VERB, _verb), (_MEASURE, _measure)):
        if (m := pattern.match(plain or text)) and (key := read(m)) and (placed := _placed(key, me, own, bool(plain))):
            return placed
    return None


def _cjk(sentence: str) -> Key | None:
    if changed := cjk_change(sentence):
        return changed[:3]
    m = _CJK_OF.match(sentence) or _CJK_IS.match(sentence)
    if m is None or m["v"][-1] in "たいるくう":  # a predicate, not a value
        return None
    return m["s"].strip(), m["t"].strip() if "t" in m.re.groupindex else "値", m["v"].strip()


def _placed(key: Key, me: str, own: NameStarts, named: bool = False) -> Key | None:
    """The key with its subject as the bank knows it: the note's own title, `me`, or, where it names nothing, an attribute."""
    subject, attribute, value = key
    subject = me if subject in ("My", "Our") else _subject(subject)
    value = _value(value)
    if not subject or not value or len(attribute.split()) > 5:
        return None
    if title := own.title(subject.lower()):
        return title, attribute, value
    if not named and subject != me and _is_local(subject, attribute):
        return me, subject if attribute == "value" else f"{subject} {attribute}", value
    return subject, attribute, value


def _is_local(subject: str, attribute: str) -> bool:
    words = subject.split()
    named = any(c.isupper() or c.isdigit() for c in subject)
    return not named and len(words) < (3 if attribute == "value" else 2)


def _changed(change: Change) -> Key | None:
    subject, attribute = _head(change.head)
    if change.verb == "cost" and attribute == "value":
        attribute = "cost"
    if attribute == "value":
        return _become(subject, change.verb, change.new)
    return (subject, attribute, change.new) if attribute.split()[0] not in _EMPTY_HEADS or attribute.startswith("number") and change.new[0].isdigit() else None


def _head(text: str) -> tuple[str, str]:
    """(subject, attribute) of what a sentence of change speaks of; the attribute is "value" where it names none."""
    m = _HEAD_OF.match(text) or _HEAD_POSSESSIVE.match(text) or _HEAD_MY.match(text)
    return (m["s"], m["t"]) if m else (text, "value")


def _moved(m: re.Match[str]) -> Key | None:
    subject, attribute = _head(m["s"])
    return _become(subject, m["verb"], m["v"]) if attribute == "value" else (subject, attribute, m["v"])


def _become(subject: str, verb: str, new: str) -> Key | None:
    """The key of something that `verb` made `new`."""
    if port := _PORT.match(new):
        return subject, port["u"].lower(), port["n"]
    if attribute := _BECOMES.get(verb):
        return subject, attribute, re.sub(r"^(?:in|to|at|on)\s", "", new) if attribute == "location" else new
    if verb == "was" and not re.match(r"(?:in|at|on)\s[A-Z]", new) and not re.match(r"[€$£¥~]?\d", new):
        return None
    if verb == "was" and new[:1] in "iao":
        return subject, "location", new.partition(" ")[2]
    return (subject, "value", new) if re.match(r"[€$£¥~]?\d", new) else None


_BECOMES = {"moved": "location", "relocated": "location", "migrated": "location", "renamed": "name", "switched": "uses", "replaced": "uses",
            "upgraded": "version", "downgraded": "version"}
_EMPTY_HEADS = frozenset(
    "rest number kind sort type list set way purpose reason use idea point goal aim result".split()
)


def _of(m: re.Match[str]) -> Key | None:
    if m["t"].split()[0] in _EMPTY_HEADS and (m["t"] != "number" or not m["v"][0].isdigit()):
        return None
    value = m["v"]
    first = value.split()[0].lower()
    if first in (
        "not",
        "a",
        "an",
        "to",
        "that",
        "what",
        "how",
        "very",
        "too",
        "as",
        "only",
        "also",
        "still",
        "always",
        "no",
        "being",
    ) or first.endswith(("ing", "ed")):
        return None
    if len(value.split()) > 10 or value[0] in "\"“'":
        return None
    return m["s"], m["t"], value


def _verb(m: re.Match[str]) -> Key | None:
    attribute, value = _VERBS[m["verb"]], m["v"]
    if attribute == "listens on":
        port = _PORT.match(value)
        return (m["s"], port["u"].lower(), port["n"]) if port else None
    if attribute == "role":
        role = re.sub(r"^(?:a|an|the)\s", "", value)
        return (m["s"], "role", role) if m["s"][:1].isupper() and len(role.split()) <= 4 and not role.endswith("ed") else None
    measured = _VALUE_ATTRIBUTES.get(attribute)
    if measured and not re.match(r"(?:about|around|some|at least|at most|only|up to)?\s?[€$£¥~]?\d", value):
        return None
    if not measured and len(value.split()) > 8:
        return None
    return m["s"], attribute, value


def _measure(m: re.Match[str]) -> Key | None:
    found = values(m["v"])
    if not found or found[0].start > 1 or all(v.kind is SignalKind.NUMBER for v in found) and len(m["v"]) > 12:
        return None
    if found[0].kind is SignalKind.DATE:
        return m["s"], "date", m["v"]
    return m["s"], "value", m["v"]


def _subject(subject: str) -> str:
    words = subject.split()
    if words and words[0].lower() in ("the", "a", "an", "our"):
        words = words[1:]
    if (
        not words
        or len(words) > 6
        or words[0].lower() in PREPOSITIONS
        or any(w.lower() in _BAD_SUBJECT for w in words)
        or words[0].lower() in _BAD_SUBJECT
    ):
        return ""
    return " ".join(words)


def _value(value: str) -> str:
    cut = _CUT.search(value)
    value = (value[: cut.start()] if cut else value).strip(" ,.").removesuffix(" now")
    return value if 0 < len(value) <= 70 else ""
