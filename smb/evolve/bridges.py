"""Bridges: documents that share no link and yet speak of the same things.

Owns which pairs of documents belong together without saying so, and what is said of such a pair: what they share, what each
says of it, and what only one of them adds. Never pairs notes that refer to each other, nor copies of one text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from smb.evolve.doc_terms import DocTerms, Told
from smb.evolve.drafts import Draft
from smb.evolve.phrases import shared_phrases
from smb.evolve.snapshot import Edge, Item, Snapshot
from smb.evolve.wording import Sentence, listed, quoted

if TYPE_CHECKING:
    import numpy as np

EACH = 2  # bridges a document may be part of
_ENOUGH = 0.08  # closeness × what is shared, from which a pair is worth a reader's time
_SHARED = 2.0  # weight of the rare terms two documents have to share
_MEETING = 1.7  # weight of what their two closest sentences have to share
_COPY = 0.55  # share of common terms from which one sentence repeats another
_FIGURES = 3  # equal figures from which two notes may describe one thing
_OPEN = 1.5  # how much more a pair connects where one of the two leaves a question open


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
    """Every pair worth telling, strongest first, each document in at most `EACH`. `questions`: document → what it leaves open."""
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
    if not left or not right:
        return None
    named = said.in_titles(a) & said.in_titles(b)  # what both are called says nothing new
    shared = frozenset().union(*(t.terms for t in left)) & frozenset().union(*(t.terms for t in right)) - named
    weight = said.weigh(shared)
    if weight < _SHARED:
        return None
    alike = max(0.0, float(vectors[a] @ vectors[b])) if a in vectors and b in vectors else 0.0
    strength = said.closeness(a, b, shared) * weight**0.5 * (0.4 + alike)
    asks = next((i for i in (a, b) if i in questions), "")
    strength = round(strength * _OPEN if asks else strength, 6)
    if strength < _ENOUGH:
        return None
    met, x, y = max(((round(said.weigh(x.terms & y.terms & shared), 6), x, y) for x in left for y in right), key=lambda m: (m[0], m[1].item.id, m[2].item.id))
    meeting = Meeting(a, b, x, y, shared, strength, asks, questions.get(asks, ""))
    return meeting if met >= _MEETING and any(not term[0].isdigit() for term in meeting.core) else None


def _uncopied(said: DocTerms, a: str, b: str) -> tuple[list[Told], list[Told]]:
    """The claims of each that no claim of the other repeats."""
    copied: set[str] = set()
    for x in said.told[a]:
        for y in said.told[b]:
            if x.item.id == y.item.id or len(x.terms & y.terms) >= _COPY * min(len(x.terms), len(y.terms)):
                copied.update((x.item.id, y.item.id))
    return [t for t in said.told[a] if t.item.id not in copied], [t for t in said.told[b] if t.item.id not in copied]


def draft_of(said: DocTerms, meeting: Meeting, items: Mapping[str, Item]) -> Draft | None:
    """What is said of a pair; None where the two can't be told apart by name."""
    one, other = said.documents[meeting.a], said.documents[meeting.b]
    a, b = items.get(one.primary), items.get(other.primary)
    if a is None or b is None or a.id == b.id or one.title == other.title:
        return None
    words = shared_phrases(said, meeting.left.text, meeting.right.text, meeting.core)
    if not words:
        return None
    both = f"{one.title} and {other.title}"
    chats = one.shape == other.shape == "chat"
    opening = f"{both} come back to the same thing: {listed(words)}" if chats else f"{both} don't refer to each other, but both speak of {listed(words)}"
    sentences = [Sentence(opening, (meeting.left.item, meeting.right.item, a, b))]
    if meeting.question:
        asks, bears = (one, other) if meeting.asks == meeting.a else (other, one)
        sentences.append(Sentence(f"{asks.title} leaves open: {quoted(meeting.question)} What {bears.title} says may bear on it",
                                  (items[asks.primary], meeting.right.item if bears is other else meeting.left.item)))
    for home, told in ((one, meeting.left), (other, meeting.right)):
        sentences.append(Sentence(f"{home.title} says: {quoted(told.text)}", (told.item,), True))
    for home, told, theirs in ((one, meeting.left, meeting.b), (other, meeting.right, meeting.a)):
        sentences += [Sentence(f"Only {home.title} adds: {quoted(more.text)}", (more.item,), True) for more in _adds(said, home.id, told, theirs, meeting)]
    if same := _same_figures(said, meeting):
        sentences.append(Sentence(f"Both give {listed(same[0])}, so they may describe the same thing", tuple(t.item for t in same[1])))
    return Draft("bridge", tuple(sorted((a.id, b.id))), f"{both}: {listed(words[:2])}", tuple(sentences), meeting.strength,
                 documents=(meeting.a, meeting.b), ends=(a, b) if a.id < b.id else (b, a))


def _adds(said: DocTerms, home: str, told: Told, theirs: str, meeting: Meeting) -> list[Told]:
    """The claim of one document that bears most on where the two meet and says what the other does not."""
    foreign = said.terms[theirs]
    ranked = sorted(
        ((-round(said.weigh(t.terms & meeting.core), 6), t.item.id, t) for t in said.told[home]
         if t.item.id != told.item.id and len(t.terms - foreign) >= 3 and len(t.terms & told.terms) < _COPY * len(t.terms)), key=lambda r: r[:2])
    return [t for weight, _, t in ranked[:1] if -weight >= 0.5]


def _same_figures(said: DocTerms, meeting: Meeting) -> tuple[list[str], list[Told]] | None:
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
    return sorted(figures, key=float, reverse=True), cites
