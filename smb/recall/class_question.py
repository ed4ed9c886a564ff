"""What a COUNT or LIST question asks for: a class of things, and whose.

Owns the reading of the question ("how many kilns does the guild have" is the class "kilns" of "the guild"). Pure, and
timid: where words are left over that it can't place, it says so, and the count is then left open.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from smb.model.identity import fold
from smb.recall.discover import stem
from smb.recall.late_pattern import LatePattern
from smb.recall.query import Operation

_WORD = LatePattern(r"[^\W_]+(?:[-'’._+#/&][^\W_]+)*")
_LEADS = (
    r"how many (?:of )?(?:the |our |my |different |distinct )*",
    r"(?:the )?(?:total )?(?:number|count) of (?:the |our |my |different |distinct )*",
    r"(?:please )?(?:list|name|enumerate|show(?: me)?|give(?: me)?|tell me)(?: all| every| each)?(?: of)?(?: the| our| my)*\s",
    r"(?:what|which|who) (?:are|were) (?:all )?(?:of )?(?:the |our |my )?(?:names of (?:the |our |my |all )*)?",
    r"(?:what|which)\s",
)
_LEAD = LatePattern(rf"^\W*(?:{'|'.join(_LEADS)})", re.I)
_ANYWHERE = LatePattern(r"\b(?:how many|number of|count of|all (?:of )?the)\s(?:the |our |my |different |distinct )*", re.I)
_CJK = (
    LatePattern(
        r"^(?:(?P<owner>.{1,20}?)(?:に|には)(?P<np>[^はがにの]{1,12})(?:は|が)(?:いくつ|何[人個件本枚台匹冊])"
        r"|(?P<np2>[^はがに]{1,20})(?:は|が)(?:全部で)?(?:いくつ|何[人個件本枚台匹冊]))"
    ),
    LatePattern(
        r"^(?:(?:一共|总共|共)?有?(?:多少|几|幾)(?:个|個|名|位|台|件|本)?(?P<np2>[^？?吗嗎]{1,12})"
        r"|(?P<owner>.{1,20}?)(?:一共|总共|共)?有(?:多少|几|幾)(?:个|個|名|位|台|件|本)?(?P<np>[^？?吗嗎]{1,12}))"
    ),
    LatePattern(r"^(?:列出|列举|列舉)(?:所有的?|全部的?)?(?P<np>[^？?。]{1,12})"),
    LatePattern(
        r"^(?:すべての|全ての)(?P<np>[^を一はが？?。]{1,12})|^(?P<np2>[^を一はが？?。]{1,12})(?:の一覧|を(?:すべて|全て)?(?:挙げ|列挙|リスト))"
    ),
)
_ENDS = frozenset(
    "is are was were do does did has have had can will would should could there exist exists in of for at on from that which who whose "
    "with by about we i you under inside within belong belongs to".split()
)
_LIGHT = frozenset(
    "is are was were be been there do does did has have had exist exists in of for at on from we i you our my the a an all total altogether "
    "now currently today known listed recorded mentioned use uses used contain contains include includes own owns belong belongs to bank "
    "notes us me it its inside within under so far still please right moment present named called".split()
)
_TIMES = frozenset(
    "times time ways long often much days day weeks week months month years year hours hour minutes minute".split()
)
_GENERIC = frozenset("thing things one ones other others more less kind kinds sort sorts type types".split())
_RELATIONS: tuple[tuple[LatePattern, str, bool], ...] = (  # pattern, edge, whether it leads away from the named thing
    (LatePattern(r"\b(?:what|which \w+|list what|who) (?:is|are) (?:in|part of|inside) (?P<o>.+)", re.I), "contains", True),
    (LatePattern(r"\bwhat does (?P<o>.+?) (?:contain|consist of|include)\b", re.I), "contains", True),
    (LatePattern(r"\bwhat (?:depends|relies|rests) on (?P<o>.+)", re.I), "derives_from", False),
    (LatePattern(r"\bwhat does (?P<o>.+?) (?:depend|rely|rest) on\b", re.I), "derives_from", True),
    (LatePattern(r"\b(?:what|which notes?) (?:links? to|refers? to|references?) (?P<o>.+)", re.I), "references", False),
    (LatePattern(r"\bwhat does (?P<o>.+?) (?:link to|refer to|reference)\b", re.I), "references", True),
    (LatePattern(r"\bwhat extends (?P<o>.+)", re.I), "extends", False),
    (LatePattern(r"\bwhat (?:replaced|superseded) (?P<o>.+)", re.I), "evolves_into", True),
)


@dataclass(frozen=True, slots=True)
class ClassQuestion:
    """`phrase` is the class as written, `stems` its words for comparison, `owner` whose (as written, "" for anybody's).
    `edge` and `outward` are filled instead of a class where the question names a relationship of `owner`."""

    phrase: str
    stems: tuple[str, ...]
    owner: str = ""
    edge: str = ""
    outward: bool = True

    @property
    def forms(self) -> tuple[str, ...]:
        """The class as folded names: as written, and with its last word in the other number."""
        name = fold(self.phrase)
        head, _, last = name.rpartition(" ")
        ends = {last}
        if last.isascii():
            ends |= _other_number(last)
        return tuple(dict.fromkeys(f"{head} {end}".strip() for end in sorted(ends, key=lambda e: (e != last, e)) if end))


def class_question(text: str, operation: Operation) -> ClassQuestion | None:
    """What a COUNT or LIST question (its words of time taken out) asks for; None where its words can't all be placed or it asks no class."""
    if operation not in (Operation.COUNT, Operation.LIST):
        return None
    text = " ".join(text.split()).strip(" ?？.!。")
    for pattern, edge, outward in _RELATIONS:
        if found := pattern.search(text):
            return ClassQuestion("", (), _owner(found["o"]), edge, outward)
    if not text.isascii():
        for pattern in _CJK:
            if found := pattern.match(text):
                groups = found.groupdict()
                phrase = (groups.get("np") or groups.get("np2") or "").strip("のは的 ")
                return ClassQuestion(phrase, (fold(phrase),), (groups.get("owner") or "").strip("の的 ")) if phrase else None
    lead = _LEAD.match(text) or _ANYWHERE.search(text)
    if not lead:
        return None
    words = list(_WORD.finditer(text, lead.end()))
    size = next((n for n, word in enumerate(words) if word[0].lower() in _ENDS), len(words))
    if not 0 < size <= 4:
        return None
    named = [word[0] for word in words[:size]]
    while named and named[-1].lower() in ("now", "currently", "today", "altogether", "total"):
        named.pop()
    if not named or named[-1].lower() in _TIMES | _GENERIC:
        return None
    return ClassQuestion(
        " ".join(named),
        tuple(stem(fold(word)) for word in named),
        _owner(text[words[size].start() :] if size < len(words) else ""),
    )


def _owner(rest: str) -> str:
    """What is left of the question once the words that only link are off both its ends and its verbs out."""
    words = [word[0] for word in _WORD.finditer(rest)]
    while words and words[0].lower() in _LIGHT:
        words.pop(0)
    while words and words[-1].lower() in _LIGHT:
        words.pop()
    return re.sub(r"['’]s$", "", " ".join(words))


def _other_number(word: str) -> set[str]:
    """The singular of an English plural, the plural of a singular: every regular way it could be written."""
    if word in _UNEVEN:
        return {_UNEVEN[word]}
    if word.endswith("ies"):
        return {word[:-3] + "y", word[:-1]}
    if word.endswith("es"):
        return {word[:-2], word[:-1]}
    if word.endswith("s") and not word.endswith("ss"):
        return {word[:-1]}
    return {word[:-1] + "ies"} if word.endswith("y") else {word + "s", word + "es"}


_UNEVEN = {
    a: b
    for one, many in (
        ("person", "people"),
        ("man", "men"),
        ("woman", "women"),
        ("child", "children"),
        ("mouse", "mice"),
        ("shelf", "shelves"),
        ("knife", "knives"),
        ("leaf", "leaves"),
        ("wife", "wives"),
        ("company", "companies"),
        ("index", "indices"),
        ("criterion", "criteria"),
    )
    for a, b in ((one, many), (many, one))
}
