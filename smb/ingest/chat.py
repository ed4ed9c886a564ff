"""Transcripts: notes made of turns.

Owns how a turn is told (`**Name:** text`, `**Name** (10:32): text`, `[10:32] Name: text`, `Name: text`) and when a note
is a chat. Never guesses a speaker from what is said.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

from smb.ingest.passages import ContentPlaces, part
from smb.ingest.plain_keys import is_value
from smb.ingest.segment import Piece
from smb.ingest.source_text import SourceText

_TIME = r"(?:\d{4}-\d{2}-\d{2}[T ,]*)?(?:\d{1,2}[./]\d{1,2}[./]\d{2,4},?\s*)?\d{1,2}:\d{2}(?::\d{2})?(?:\s?[APap]\.?[Mm]\.?)?"
_NAME = r"[^\W\d_][^*:<>\[\](){}|`\n]{0,39}?"
_TURN = re.compile(
    rf"""(?:[\[(]{_TIME}[\])]\s*[-–]?\s*|{_TIME}\s*[-–]\s*)?        # [10:32] or 12.05.31, 10:32 -
    (?: \*\*(?P<bold>{_NAME})\s*:\s*\*\*                             # **Name:**
      | \*\*(?P<strong>{_NAME})\*\*\s*(?:[\[(]{_TIME}[\])])?\s*:     # **Name** (10:32):
      | (?P<plain>{_NAME})\s*(?:[\[(]{_TIME}[\])])?\s*:(?!//)        # Name:
    )(?=[ \t\n]|$)[ \t]*""",
    re.VERBOSE,
)
_LONGEST_NAME_WORDS = 4


def as_chat(pieces: list[Piece], source: SourceText) -> list[Piece] | None:
    """The pieces with their turns told apart, or None when they are no chat.

    A chat has at least four turns, which are most of its text blocks, and at least two speakers who come back within
    one section: a list of `**Label:** value` names each label once. Where most who come back only ever "say" a value by
    itself (a number, a date, a name), or most turns of a plain list are no sentences, they are properties.
    """
    candidates = [p for p in pieces if p.kind in ("paragraph", "item") and p.level <= 1 and not p.quoted and not p.callout]
    texts = sum(p.kind not in ("heading", "html") for p in pieces)
    if not candidates or len(candidates) * 2 <= texts:
        return None
    split: dict[int, list[Piece]] = {}
    said: Counter[tuple[tuple[int, ...], str]] = Counter()
    turns = others = 0
    for piece in candidates:
        parts = _turns(piece, source)
        if not parts:
            others += 1
            continue
        split[id(piece)] = parts
        for turn in parts:
            turns += 1
            said[piece.headings, turn.speaker] += 1
    others += texts - len(candidates)
    returning = Counter(headings for (headings, _), count in said.items() if count >= 2)
    if turns < 4 or turns <= others or not returning or max(returning.values()) < 2:
        return None
    if len(said) * 2 > turns + 1:
        return None
    listed = all(piece.kind == "item" and piece.content[0] not in "*[(0123456789" for piece in candidates if id(piece) in split)
    if _are_properties([turn for parts in split.values() for turn in parts], listed):
        return None
    return [turn for piece in pieces for turn in split.get(id(piece), [piece])]


def _are_properties(turns: list[Piece], listed: bool) -> bool:
    """Whether what looks like turns is the same properties of several things. `listed`: as the items of a list, without markup."""
    said: dict[str, list[str]] = {}
    for turn in turns:
        said.setdefault(turn.speaker, []).append(turn.content)
    back = [contents for contents in said.values() if len(contents) > 1]
    if 2 * sum(all(_is_value(content) for content in contents) for contents in back) > len(back):
        return True
    if not listed:
        return False
    told = [content for contents in back for content in contents]
    return 2 * sum(content.endswith(("?", "!", ".")) or len(content.split()) > 2 and not _is_value(content) for content in told) < len(told)


_LINK = re.compile(r"\[\[[^\[\]]+\]\]|\[[^\[\]]+\]\([^()]+\)|<?https?://\S+")


def _is_value(content: str) -> bool:
    return is_value(content) or bool(_LINK.fullmatch(content))


def _turns(piece: Piece, source: SourceText) -> list[Piece]:
    """The turns in a piece: one if it begins with a speaker, several if further lines do too; none otherwise."""
    content = piece.content
    found = _TURN.match(content)
    if not found or not _speaker(found):
        return []
    starts = [found]
    if "\n" in content:
        at = content.find("\n")
        while at >= 0:
            if (later := _TURN.match(content, at + 1)) and _speaker(later) and later.lastgroup == found.lastgroup:
                starts.append(later)
            at = content.find("\n", at + 1)
    turns = []
    places = ContentPlaces(piece, source)
    for place, start in enumerate(starts):
        end = starts[place + 1].start() if place + 1 < len(starts) else len(content)
        turn = part(places, start.start(), end, whole_start=place == 0) if len(starts) > 1 else piece
        text = content[start.end() : end].strip()
        turns.append(replace(turn, kind="turn", content=text, speaker=_speaker(start)))
    return turns


def _speaker(found: re.Match[str]) -> str:
    name = (found["bold"] or found["strong"] or found["plain"] or "").strip()
    return name if name and len(name.split()) <= _LONGEST_NAME_WORDS and not name.endswith(("http", "https")) else ""
