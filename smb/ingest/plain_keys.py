"""Property lists without markup: `- Key: value` items and lines of `Key: value`.

Owns which lines are properties of the note's subject rather than sentences, definitions, labels or things said, and which
name above a list the list is about. Never reads a chat, a quotation, a task or a numbered step; never drafts an object.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace

from smb.ingest.lexicon import (
    AUXILIARIES,
    BASE_VERBS,
    DETERMINERS,
    FUNCTION_WORDS,
    LABELS,
    NOUNS_TOO,
    ORGANISATION_KEYS,
    PAST_VERBS,
    PERSON_KEYS,
    PLACE_KEYS,
    PLAIN_LABELS,
    PRODUCT_KEYS,
    PRONOUNS,
    STATUS_WORDS,
)
from smb.ingest.note import Block, Note
from smb.ingest.quoting import Quoter
from smb.ingest.signals import SignalKind, struck, values
from smb.ingest.speech_act import SpeechAct, finite_at, speech_act, words_of
from smb.model.identity import fold

MAX_VALUE = 160
MAX_SHORT = 60  # characters of a value that only its siblings tell for one
_KEY = r"[^\W\d_][^\n:：.!?;,\"“”`\[\]{}<>|=@#*_\\()]{0,39}(?:\s?\([^()\n:]{1,16}\))?"
_LINE = re.compile(rf"(?P<key>{_KEY})\s?(?:::?(?=[ \t])|：)[ \t]*(?P<value>\S.*)")
_MARKS = re.compile(r"[>\s]*(?:[-*+][ \t]+)?")
_NUMBERED = re.compile(r"[>\s]*\d+[.)]\s")
_SENTENCE_BREAK = re.compile(r"[.!?] +[A-Z]|[。！？].")
_CODE = re.compile(r"[{};\\]|^[$/%]|\$\(|=>|->|\$\$?[^\d\s]")
_LEAD = re.compile(
    r"(?:(?:about|around|approx\.?|ca\.?|circa|some|at least|at most|up to|from|since|until|by|on|due|expires|renews|[~≈<>≤≥+-])\s?)+", re.I
)
_PHONE = re.compile(r"\+?\(?\d[\d ()/.-]{4,}\d(?:\s?(?:ext|x)\.?\s?\d+)?\Z")
_CLOCK = re.compile(r"(?:[A-Z]\w+(?:\s?[-–]\s?[A-Z]\w+)?,?\s)?\d{1,2}[:.h]\d{2}\b")
_NAME_WORD = r"(?:[A-ZÀ-Þ][\w’'.&/-]*|\d[\w./-]*)"
_NAME = re.compile(rf"[A-ZÀ-Þ][\w’'.&/-]*(?:,?\s(?:(?:of|de|da|do|di|von|van|und|and|to|e|y|&|–|-)\s)?{_NAME_WORD}){{0,9}}\Z")
_DASH = re.compile(r"\s[–—-]\s")
_CJK = re.compile(r"[぀-ヿ㐀-鿿가-힯]")
_NAMED_KEYS = (PERSON_KEYS | ORGANISATION_KEYS | PLACE_KEYS | PRODUCT_KEYS) - {"from", "to", "by", "cc"}
_RECORD_KEYS = frozenset(("name", "person", "contact", "company", "名前", "姓名", "氏名"))
_EXACT = frozenset((SignalKind.DATE, SignalKind.AMOUNT, SignalKind.VERSION, SignalKind.EMAIL, SignalKind.NUMBER))

About = tuple[str, Block]  # a name and the block it stands in


@dataclass(frozen=True, slots=True)
class PlainLine:
    """One line as it stands in a block's plain text: `text[start:end]` is `key: value`; `about` is whom a record of
    several lines is about, and where that stands."""

    key: str
    value: str
    start: int
    end: int
    about: About | None = None


def owners(blocks: tuple[Block, ...]) -> dict[int, About]:
    """What stands right above an item (by `byte_start`) and may be what it is about: the item it is nested in, or a short
    line before its list. Items below a sentence have none."""
    found: dict[int, About] = {}
    above: list[About | None] = [None]  # by level
    for block in blocks:
        if block.kind != "item":
            if not block.level or block.kind == "heading":
                above = [_named_by(block) if block.kind == "paragraph" else None]
            continue
        level = max(block.level, 1)
        del above[level:]
        above += [None] * (level - len(above))
        if (about := above[-1]) is not None:
            found[block.byte_start] = about
        above.append(_named_by(block))
    return found


def _named_by(block: Block) -> About | None:
    name = _heading_like(block.text)
    return (name, block) if name else None


def _heading_like(text: str) -> str:
    """`text` without its colon where it is a short line that says nothing."""
    name = text.rstrip(" :：")
    if not 0 < len(name) <= 48 or len(name.split()) > 5 or name[-1] in ".!?。,;" or ":" in name or "：" in name:
        return ""
    words = words_of(name)
    return name if words and not finite_at(words) else ""


def is_name(text: str) -> bool:
    """Whether `text` is written as a name of two words or more."""
    return " " in text and bool(_NAME.match(text))


def is_value(text: str) -> bool:
    """Whether `text` is by itself a value: a measure, date, number, address, full name or state, not something said."""
    text = text.strip().rstrip(".;")
    return bool(text) and (text.lower() in STATUS_WORDS or is_name(text) or _measured(text))


def plain_lines(note: Note, quoter: Quoter) -> dict[int, list[PlainLine]]:
    """The property lines of the note by the `byte_start` of the block they stand in, in order."""
    if note.shape == "chat" or not any(block.kind in ("item", "paragraph") and _looks_keyed(block.text) for block in note.blocks):
        return {}
    found: dict[int, list[PlainLine]] = {}
    for group, size in _groups(note, quoter):
        for block, line in _accepted(group, size):
            found.setdefault(block.byte_start, []).append(line)
    return _distinct(note, found) if found else found


# which lines stand together

_Group = list[tuple[Block, PlainLine]]


def _groups(note: Note, quoter: Quoter) -> list[tuple[_Group, int]]:
    """Lines shaped like properties, by the list or the run of paragraphs they stand in, with how many lines that has."""
    ended: list[list[tuple[Block, list[PlainLine]]]] = []
    open_: dict[int, list[tuple[Block, list[PlainLine]]]] = {}  # by the level of the list; 0 for paragraphs
    for block in note.blocks:
        listed = block.kind == "item"
        if block.kind == "paragraph" and block.level:  # goes on with an item
            continue
        shaped = _shaped(block, quoter) if listed or block.kind == "paragraph" else []
        level = block.level if listed else 0
        for other in [n for n in open_ if (n == 0 or n > level if listed else n or not shaped)]:
            ended.append(open_.pop(other))
        if listed or shaped:
            open_.setdefault(level, []).append((block, shaped))
    return [
        (group, sum(max(len(lines), 1) for _, lines in run))
        for run in (*ended, *open_.values())
        if (group := [(block, line) for block, lines in run for line in lines])
    ]


def _looks_keyed(text: str) -> bool:
    return (text.find(":", 1, 64) > 0 or text.find("：", 1, 64) > 0) and bool(_LINE.match(text))


def _shaped(block: Block, quoter: Quoter) -> list[PlainLine]:
    """The lines of a block that look like `Key: value`; none where one of a paragraph's lines does not."""
    text = block.text
    if block.quoted or block.task or block.speaker or not _looks_keyed(text) or "%%" in text:
        return []
    raw = quoter.raw(block)
    if _NUMBERED.match(raw):
        return []
    written = [line for n, line in enumerate(raw.strip().splitlines()) if not block.callout or n or "[!" not in line]
    heads = [m["key"].strip() if (m := _LINE.match(line, _MARKS.match(line).end())) else "" for line in written]  # type: ignore[union-attr]
    if block.kind == "item" and not all(heads[1:]):
        heads = heads[:1]
    if not all(heads):
        return []
    starts = [0]
    for head in heads[1:]:
        at = text.find(f" {head}", starts[-1] + 1)
        if at < 0:
            return []
        starts.append(at + 1)
    gone = struck(raw) if "~~" in raw else []
    found = []
    for n, start in enumerate(starts):
        end = starts[n + 1] - 1 if n + 1 < len(starts) else len(text)
        if (m := _LINE.match(text, start, end)) and m["key"].strip() == heads[n]:
            value = m["value"]
            for old in gone:
                value = value.replace(old, " ", 1)
            found.append(PlainLine(heads[n], " ".join(value.split()), start, end))
    return found


# which of them are properties


def _accepted(group: _Group, size: int) -> _Group:
    """The lines that are properties: two or more of a list that is mostly such lines, or one whose value is unmistakable."""
    fit = [(block, line) for block, line in group if _is_property_key(line.key) and _is_short(line.value)]
    strong = [_is_strong(block, line) for block, line in fit]
    listed = len(fit) >= 2 and 2 * len(fit) >= size
    if listed and (any(strong) or len(fit) >= 3 and all(len(line.value.split()) <= 3 for _, line in fit)):
        uniform = len(fit) == size
        return [
            pair
            for pair, sure in zip(fit, strong, strict=True)
            if (sure or _is_brief(pair[1].value)) and (uniform or _capital(pair[1].key))
        ]
    return [pair for pair, sure in zip(fit, strong, strict=True) if sure and _capital(pair[1].key) and _stands_alone(*pair)]


def _capital(key: str) -> bool:
    return not key[0].islower()


def _is_property_key(key: str) -> bool:
    """Whether a key names a property: one to four words that are no sentence, no label and no code."""
    words = key.lower().replace("(", " ").replace(")", " ").split()
    first = words[0]
    if len(words) > 4 or _DASH.search(key) or fold(key) in LABELS or first in FUNCTION_WORDS or first in PLAIN_LABELS or fold(key) in PLAIN_LABELS:
        return False
    if any(a.islower() and b.isupper() for word in key.split() for a, b in zip(word, word[1:], strict=False)):
        return False  # a name of code
    if all(word in LABELS for word in words) or words[-1] in ("here", "yet", "below", "above", "problem", "question", "example"):
        return False
    if len(words) > 1 and first in BASE_VERBS and first not in NOUNS_TOO:
        return False
    rest = words[1:]
    if any(word in AUXILIARIES or word in PRONOUNS or word in DETERMINERS and word != "the" for word in rest):
        return False
    if _CJK.search(key) and len(key) > 10:
        return False
    return len(words) < 3 or not any(word in PAST_VERBS for word in rest)


def _is_short(value: str) -> bool:
    """Whether a value can be one at all: no sentence, question, definition, code, nor what leads on."""
    if not 0 < len(value) <= MAX_VALUE or "?" in value or "？" in value or value[-1] in ":：,…" or _SENTENCE_BREAK.search(value):
        return False
    if _CODE.search(value) or not any(c.isalnum() for c in value) or value[0] in "([<|=*#\"“'":
        return False
    words = words_of(value)
    if len(words) > 5 and (words[0] in ("a", "an", "the") or value.endswith((".", "。", "!"))) and not value[0].isdigit():
        return False
    return len(words) < 3 or speech_act(value, words) is SpeechAct.FRAGMENT or len(words) <= 8 and value[0] in "+~€$£¥0123456789"


def _is_brief(value: str) -> bool:
    if _CJK.search(value):
        return len(value) <= 20
    return len(value) <= MAX_SHORT and len(value.split()) <= 8 and (not value.endswith(".") or len(value.split()) <= 3)


def _is_strong(block: Block, line: PlainLine) -> bool:
    """Whether the value tells by itself that it is one."""
    value = line.value.rstrip(" .;")
    return is_value(value) or bool(_NAME.match(value)) or value.startswith(("http://", "https://", *_linked(block)))


def _linked(block: Block) -> list[str]:
    return [name for name in (*(w.text for w in block.web), *(link.alias or link.target for link in block.links)) if name]


def _measured(value: str) -> bool:
    found = values(value)
    return bool(found) and found[0].start <= _lead(value) and found[0].kind in _EXACT or bool(_CLOCK.match(value) or _PHONE.match(value))


def _lead(value: str) -> int:
    return m.end() if (m := _LEAD.match(value)) else 0


def _stands_alone(block: Block, line: PlainLine) -> bool:
    """Whether a line without siblings is a property: all of its value is a measure, date, address, state or full name."""
    value = line.value.rstrip(" .;")
    key = line.key.lower()
    if value.lower() in STATUS_WORDS or _PHONE.match(value) or key in _NAMED_KEYS and (_NAME.match(value) or _linked(block)):
        return True
    if is_name(value):
        return block.kind == "item" and len(key.split()) <= 2
    found = [s for s in values(value) if s.kind in _EXACT]
    if not found or len(words_of(value)) > 6:
        return False
    if len(found) == 1 and found[0].kind is SignalKind.NUMBER and len(value) > len(found[0].value) + 12:
        return False
    return found[0].start <= _lead(value)


# keys that come back


def _distinct(note: Note, found: dict[int, list[PlainLine]]) -> dict[int, list[PlainLine]]:
    """`found` without keys that come back in one place with nothing to tell whose each is; records that each begin with a
    name are told apart by it."""
    above = owners(note.blocks)
    places: dict[tuple[str, ...], _Group] = {}
    for block in note.blocks:
        if block.byte_start in found:
            owner = above.get(block.byte_start)
            place = (*block.headings, owner[0] if owner else "")
            places.setdefault(place, []).extend((block, line) for line in found[block.byte_start])
    kept: dict[int, list[PlainLine]] = {}
    for lines in places.values():
        count = Counter(key for key, _ in {(fold(line.key), line.value) for _, line in lines})
        first = fold(lines[0][1].key)
        records = count[first] > 1 and first in _RECORD_KEYS
        about: About | None = None
        for block, line in lines:
            key = fold(line.key)
            if records and key == first:
                about = (line.value, block)
            elif records:
                kept.setdefault(block.byte_start, []).append(replace(line, about=about))
            elif count[key] == 1:
                kept.setdefault(block.byte_start, []).append(line)
    return kept
