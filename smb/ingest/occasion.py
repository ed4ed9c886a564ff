"""What sort of title a note has: a thing's name, or that of an occasion or an activity.

Owns how the two are told by title, tags, folder and shape. Never reads a note's text.
"""

from __future__ import annotations

import re

from smb.ingest.lexicon import BASE_VERBS
from smb.ingest.note import Note
from smb.ingest.signals import SignalKind, values

_OCCASIONS = frozenset(
    "meeting session standup minutes call sync retro retrospective interview chat conversation daily weekly "
    "journal diary agenda debrief reunião sitzung besprechung réunion 会议 会議 日记 日記 例会 打ち合わせ".split()
)
_OCCASION_KINDS = _OCCASIONS | frozenset(
    "meetings sessions standups chats conversations interviews journals dailies calls logs transcript transcripts".split()
)
_WORDS = re.compile(r"[^\W_][\w’'-]*")
_GERUND = re.compile(r"^(?:(?:\w+ly|not|quickly|just)\s)?[A-Za-z]{2,}ing\b")
_NOUNS_IN_ING = frozenset("thing string king ring wing spring building meeting morning evening ceiling wedding during".split())


def is_occasion(note: Note, title: str) -> bool:
    """Whether the note is of a day, a meeting, a session or a talk rather than of a thing."""
    if note.shape == "chat":
        return True
    found = values(title)
    dates = [v for v in found if v.kind is SignalKind.DATE]
    if dates and sum(v.end - v.start for v in dates) + 12 >= len(title):
        return True
    words = [w for w in _WORDS.findall(title.lower()) if not w.isdigit()]
    if words and (words[0] in _OCCASIONS and found or words[-1] in _OCCASIONS and (found or note.date_text)):
        return True
    if any(tag.rpartition("/")[2].lower() in _OCCASION_KINDS for tag in note.tags):
        return True
    if any(p.key.lower() in ("type", "kind", "category") and p.text.lower() in _OCCASION_KINDS for p in note.properties):
        return True
    return note.path.lower().rpartition("/")[0].rpartition("/")[2] in _OCCASION_KINDS


def is_activity(title: str) -> bool:
    """Whether the title names something done ("Firing the kiln", "How to fire it", "Fire the kiln at night")."""
    words = [w.lower() for w in _WORDS.findall(title)[:2]]
    if len(words) < 2:
        return False
    if words[0] == "how" or _GERUND.match(title) and words[0] not in _NOUNS_IN_ING:
        return True
    return words[0] in BASE_VERBS and words[1] in ("a", "an", "the", "to", "your", "my", "if", "with", "and", "all", "in", "on")
