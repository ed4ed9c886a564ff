"""Bridges: documents that share no link and yet speak of the same things.

Owns which pairs of documents belong together without saying so, and what is said of such a pair: what they share, what each
says of it, and what only one of them adds. Never pairs notes that refer to each other, nor copies of one text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from os.path import commonprefix
from typing import TYPE_CHECKING

from smb.evolve.doc_terms import DocTerms, Told, terms_in
from smb.evolve.drafts import Draft
from smb.evolve.phrases import MOST, shared_phrases
from smb.evolve.snapshot import Doc, Edge, Item, Snapshot
from smb.evolve.wording import Sentence, listed, quoted

if TYPE_CHECKING:
    import numpy as np

BRIDGE = "bridge"
EACH = 2  # bridges a document may be part of
_ENOUGH = 0.18  # closeness × what is shared, from which a pair is worth a reader's time
_SHARED = 1.6  # weight of the rare terms two documents have to share
_MEETING = 1.4  # weight of what their two closest sentences have to share
_COPY = 0.55  # share of common terms from which one sentence repeats another
_FIGURES = 3  # equal figures from which two notes may describe one thing
_NEAR = 0.25  # cosine of the two sentences, below which the words they share mean two things
_CLOSE = 4.0  # weight of what two sentences share, above which it makes no difference
_ASKED = 0.6  # how rare a word of a question has to be to say what it asks about
_OPEN = 2.0  # how much more a pair connects where one of the two leaves a question open
_LEANT = 4  # by how much less than others it has to


@dataclass(frozen=True, slots=True)
class Meeting:
    """Where two documents meet: their two closest sentences that are no copies, all terms they share, and how strongly.
    `asks` is the document of the two that leaves `question` open; both empty where neither does."""

    a: str
    b: str
    left: Told
    right: Told
    shared: frozenset[str]
    strength: float
    asks: str = ""
    question: str = ""

    @property
    def turned(self) -> Meeting:
        return replace(self, a=self.b, b=self.a, left=self.right, right=self.left)

    @property
    def core(self) -> frozenset[str]:
        """What the two closest sentences share."""
        return self.left.terms & self.right.terms & self.shared


async def linked_documents(snapshot: Snapshot) -> set[tuple[str, str]]:
    """Pairs of documents one of which refers to the other: an edge to what it is about, or a mention of it."""
    documents, stated_in = await snapshot.documents(), await snapshot.stated_in()
    subject = {document.primary: i for i, document in sorted(documents.items())}
    found: set[tuple[str, str]] = set()
    for edge in await snapshot.edges():
        found |= _across(edge, subject, stated_in)
    for primary, home in subject.items():
        found.update((min(home, other), max(home, other)) for other in stated_in.get(primary, ()) if other != home)
    return found


def _across(edge: Edge, subject: Mapping[str, str], stated_in: Mapping[str, tuple[str, ...]]) -> set[tuple[str, str]]:
    target = subject.get(edge.target)
    if target is None:
        return set()
    homes = (subject[edge.source],) if edge.source in subject else stated_in.get(edge.held_by, ())
    return {(min(home, target), max(home, target)) for home in homes if home != target}


def meetings(said: DocTerms, linked: Collection[tuple[str, str]], vectors: Mapping[str, np.ndarray], questions: Mapping[str, str],
             among: Collection[str] | None = None) -> list[Meeting]:
    """Every pair worth telling, strongest first, each document in at most `EACH`. `questions`: document → what it leaves open; `vectors`: the
    direction of each document and of each claim."""
    found = []
    for (a, b), weight in sorted(said.neighbours(among).items()):
        if weight >= _SHARED and (a, b) not in linked and (meeting := _meet(said, a, b, vectors, questions)):
            found.append(meeting)
    found.sort(key=lambda m: (-m.strength, m.a, m.b))
    parts: Counter[str] = Counter()
    kept = []
    for meeting in found:
        if parts[meeting.a] < EACH and parts[meeting.b] < EACH:
            parts.update((meeting.a, meeting.b))
            kept.append(meeting)
    return kept


def _meet(said: DocTerms, a: str, b: str, vectors: Mapping[str, np.ndarray], questions: Mapping[str, str]) -> Meeting | None:
    left, right = _uncopied(said, a, b)
    if not left or not right or said.names(a, b) or said.names(b, a):
        return None
    named = said.in_titles(a) & said.in_titles(b)  # what both are called says nothing new
    shared = frozenset[str]().union(*(t.terms for t in left)) & frozenset[str]().union(*(t.terms for t in right)) - named
    weight = said.weigh(shared)
    if weight < _SHARED:
        return None
    met, x, y = max(((said.weigh(x.terms & y.terms & shared), x, y) for x in left for y in right), key=lambda m: (m[0], m[1].item.id, m[2].item.id))
    if met < _MEETING or all(term[0].isdigit() for term in x.terms & y.terms & shared):
        return None
    alike, near = _cosine(vectors, a, b), _cosine(vectors, x.item.id, y.item.id)
    asks = next((i for i, told, other in ((a, x, b), (b, y, a)) if i in questions and _bears(said, questions[i], told, other)), "")
    if near < _NEAR and not asks:
        return None
    strength = said.closeness(a, b, shared) * weight**0.5 * (0.4 + alike) * (0.4 + near) * min(met, _CLOSE) * (_OPEN if asks else 1.0)
    return Meeting(a, b, x, y, shared, round(strength, 6), asks, questions.get(asks, "")) if strength >= (_ENOUGH / _LEANT if asks else _ENOUGH) else None


def _cosine(vectors: Mapping[str, np.ndarray], a: str, b: str) -> float:
    return max(0.0, float(vectors[a] @ vectors[b])) if a in vectors and b in vectors else 0.0


def _bears(said: DocTerms, question: str, told: Told, other: str) -> bool:
    """Whether a question is about what its note says where it meets the other, or about what the other says."""
    asked = {term for term in terms_in(question) if " " not in term and not term[0].isdigit() and said.weight(term) >= _ASKED}
    return bool(asked & told.terms) or said.weigh(asked & said.terms[other]) >= 2 * _ASKED


def _uncopied(said: DocTerms, a: str, b: str) -> tuple[list[Told], list[Told]]:
    """The claims of each that no claim of the other repeats."""
    copied: set[str] = set()
    for x in said.told[a]:
        for y in said.told[b]:
            if x.item.id == y.item.id or len(x.terms & y.terms) >= _COPY * min(len(x.terms), len(y.terms)):
                copied.update((x.item.id, y.item.id))
    return [t for t in said.told[a] if t.item.id not in copied], [t for t in said.told[b] if t.item.id not in copied]


def draft_of(said: DocTerms, meeting: Meeting, subjects: Mapping[str, Item]) -> Draft | None:
    """What is said of a pair; None where the two can't be told apart by name. `subjects`: document → what it is about."""
    meeting = meeting if _when(said.documents[meeting.a]) <= _when(said.documents[meeting.b]) else meeting.turned
    one, other = said.documents[meeting.a], said.documents[meeting.b]
    a, b = subjects.get(one.id), subjects.get(other.id)
    if a is None or b is None or a.id == b.id or one.title == other.title:
        return None
    same = _same_figures(said, meeting)
    words = [*(same[0] if same else ()), *shared_phrases(said, meeting.left.text, meeting.right.text, meeting.core)][:MOST]
    if not words:
        return None
    both = _both(one.title, other.title)
    chats = one.shape == other.shape == "chat"
    opening = f"{both} come back to the same thing: {listed(words)}" if chats else f"{both} don't refer to each other, but both speak of {listed(words)}"
    sentences = [Sentence(opening, (a, b, meeting.left.item, meeting.right.item))]
    if meeting.question:
        asks, bears, told = (one, other, meeting.right) if meeting.asks == meeting.a else (other, one, meeting.left)
        sentences.append(Sentence(f"{asks.title} leaves open {quoted(meeting.question)}, and what {bears.title} says may bear on it", (subjects[asks.id], told.item)))
    for home, told in ((one, meeting.left), (other, meeting.right)):
        sentences.append(Sentence(f"{home.title} says: {quoted(told.text)}", (told.item,), True))
    for home, told, theirs in ((one, meeting.left, meeting.b), (other, meeting.right, meeting.a)):
        sentences += [Sentence(f"Only {home.title} adds: {quoted(more.text)}", (more.item,), True) for more in _adds(said, home.id, told, theirs, meeting)]
    if same:
        sentences.append(Sentence(f"Both give {listed(same[0])}, so they may describe the same thing", tuple(t.item for t in same[1])))
    return Draft(BRIDGE, tuple(sorted((a.id, b.id))), f"{both}: {listed(words[:2])}", tuple(sentences), meeting.strength,
                 documents=(meeting.a, meeting.b), ends=(a, b) if a.id < b.id else (b, a))


def _when(document: Doc) -> str:
    return document.date.start.isoformat() if document.date.start else ""


def _both(one: str, other: str) -> str:
    """The two titles; what both begin with, up to a comma, once."""
    shared = commonprefix([one, other]).rpartition(", ")
    return f"{one} and {other[len(shared[0]) + len(shared[1]):] if shared[0] else other}"


def _adds(said: DocTerms, home: str, told: Told, theirs: str, meeting: Meeting) -> list[Told]:
    """The claim of one document that bears most on where the two meet and says what the other does not."""
    foreign = said.terms[theirs]
    ranked = sorted(
        ((-round(said.weigh(t.terms & meeting.core), 6), t.item.id, t) for t in said.told[home]
         if t.item.id != told.item.id and len(t.terms - foreign) >= 3 and len(t.terms & told.terms) < _COPY * len(t.terms)), key=lambda r: r[:2])
    return [t for weight, _, t in ranked[:1] if -weight >= 0.5]


def _same_figures(said: DocTerms, meeting: Meeting) -> tuple[list[str], list[Told]] | None:
    """Figures both documents give, with their units as written, and the claims that give them; None where there are few."""
    figures = sorted((t for t in meeting.shared if t.replace(".", "", 1).isdigit()), key=lambda t: (said.spread[t], t))[:5]
    if len(figures) < _FIGURES:
        return None
    cites: list[Told] = []
    for home in (meeting.a, meeting.b):
        waiting = set(figures)
        for told in said.told[home]:
            if waiting & told.terms:
                cites.append(told)
                waiting -= told.terms
    return [_measured(figure, cites) for figure in sorted(figures, key=float, reverse=True)], cites


def _measured(figure: str, cites: Sequence[Told]) -> str:
    found = (re.search(rf"(?<![\w.]){re.escape(figure)}(?:\s?(?:°\s?[CF]|%)|\s(?:[a-zA-Z]{{1,3}})\b)?", told.text) for told in cites)
    return max((m[0] for m in found if m), key=len, default=figure)
