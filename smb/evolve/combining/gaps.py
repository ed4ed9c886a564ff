"""Gaps: what one note leaves open.

Owns which questions of a note count as open ones, and which attribute a thing lacks that all its like have. Never answers: it says
where to look.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Sequence

from smb.evolve.combining.drafts import Draft
from smb.evolve.snapshot import Snapshot
from smb.evolve.combining.values import Thing, named
from smb.evolve.combining.wording import Sentence, listed

GAP = "gap"
LIKE = (3, 12)  # how many things may be alike for a missing attribute of another to be telling
_ALIKE = 3  # attributes they have to have in common with it
_SAME = 0.6  # and what share of its own
_LONG = 200  # characters of a question
_SENTENCE = re.compile(r"[^.!?。！？\n]*[?？]")
_OPEN = re.compile(
    r"\b(?:open|unanswered|unsettled|undecided|unclear|unknown|nobody knows|to ask|not (?:yet )?(?:answered|settled|decided|known|clear|stated)|tbd|todo)\b"
    r"|#open\b|\[!question\]|\?\?", re.I)
_LEAD = re.compile(r"^\W*(?:(?:open|unanswered|unclear|to ask)(?: (?:question|point)s?)?\b[^:：?]{0,20}[:：]|\[!question\][-+]?)\W*", re.I)
_MARKS = re.compile(r"[*_`#]+")


async def open_questions(snapshot: Snapshot, documents: Collection[str] | None) -> dict[str, str]:
    """The first question each note says is open; of `documents` alone where given. Questions put in talk are none."""
    sql = ("SELECT p.document_id, p.text FROM documents d CROSS JOIN passages p ON p.document_id = d.id AND p.source = d.source WHERE +p.live = 1 AND d.live = 1 "
           "AND d.shape != 'chat' AND p.kind IN ('paragraph', 'item', 'quote') AND (p.text LIKE '%?%' OR p.text LIKE '%？%') ")
    rows = await snapshot.catalog.fetch(f"{sql} ORDER BY p.document_id, p.ordinal") if documents is None else await snapshot.catalog.fetch_in(
        f"{sql} AND d.id IN ({{marks}}) ORDER BY p.document_id, p.ordinal", sorted(documents))
    found: dict[str, str] = {}
    for row in rows:
        if row["document_id"] not in found and _OPEN.search(row["text"]) and (question := _question(row["text"])):
            found[row["document_id"]] = question
    return found


def _question(text: str) -> str:
    for m in _SENTENCE.finditer(" ".join(_MARKS.sub("", text).split())):
        question = _LEAD.sub("", m[0]).strip(" -–>[]x")
        if 12 <= len(question) <= _LONG and "://" not in question and "=" not in question:
            return question[:1].upper() + question[1:]
    return ""


def lacking(things: Sequence[Thing], only: Collection[str] | None = None) -> list[Draft]:
    """Things whose like, of other documents among them, all have an attribute they lack; for the things `only`, where given."""
    having: dict[str, list[int]] = defaultdict(list)
    for n, thing in enumerate(things):
        for attribute in thing.attributes:
            having[attribute].append(n)
    found = []
    for n, thing in enumerate(things):
        if len(thing.attributes) < _ALIKE or only is not None and thing.subject.id not in only:
            continue
        common = Counter(m for attribute in thing.attributes if len(having[attribute]) <= LIKE[1] + 1 for m in having[attribute] if m != n)
        alike = sorted(m for m, count in common.items() if count >= _ALIKE and count >= _SAME * len(thing.attributes))
        if not LIKE[0] <= len(alike) <= LIKE[1]:
            continue
        missing = sorted(set.intersection(*(set(things[m].attributes) for m in alike)) - set(thing.attributes))
        sources = sorted({home for m in (*alike, n) for home in things[m].homes})
        if missing and len(sources) >= 2 and not set(thing.homes) >= set(sources):
            found.append(_lack(thing, [things[m] for m in alike], missing))
    return found


def _lack(thing: Thing, alike: Sequence[Thing], missing: Sequence[str]) -> Draft:
    sentences = []
    for attribute in missing[:4]:
        given = [other.attributes[attribute][-1] for other in alike[:4]]
        values = listed([f"{other.subject.title} ({g.claim.value})" for other, g in zip(alike, given)])
        sentences.append(Sentence(f"No note gives the {named(given)} of {thing.subject.title}, but it is given of {values}",
                                  (thing.subject, *(g.claim for g in given))))
    names = listed([named(alike[0].attributes[a]) for a in missing[:2]])
    return Draft(GAP, (thing.subject.id,), f"{thing.subject.title}: {names} not stated", tuple(sentences), len(alike))
