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

from smb.evolve.combining.doc_terms import DocTerms, Told, terms_in
from smb.evolve.combining.drafts import Draft
from smb.evolve.combining.phrases import MOST, shared_phrases
from smb.evolve.language.telling import is_topical
from smb.evolve.snapshot import Doc, Item, Snapshot
from smb.evolve.combining.wording import Sentence, listed, quoted
from smb.model.identity import fold
from smb.model.objects import Mode

if TYPE_CHECKING:
    import numpy as np

BRIDGE = "bridge"
EACH = 2  # bridges a document may be part of
_ENOUGH = 0.18  # closeness × what is shared, from which a pair is worth a reader's time
_SHARED = 1.6  # weight of the rare terms two documents have to share
_MEETING, _ALIKE = 1.4, 0.9  # weight of what their two closest sentences have to share; and where they are alike
_CITED = 3  # objects a bridge cites at least
_FIGURES = 3  # equal figures from which two notes may describe one thing
_NEARER = 0.45  # cosine of two sentences from which they are alike
_NEAR, _FAR = 0.25, 0.2  # cosine of the two sentences, below which the words they share mean two things; and among few notes
_CLOSE = 4.0  # weight of what two sentences share, above which it makes no difference
_ASKED = 0.6  # how rare a word of a question has to be to say what it asks about
_OPEN = 2.0  # how much more a pair connects where one of the two leaves a question open
_LEANT = 6  # by how much less than others it has to, where they meet in more than a word


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


async def linked_documents(snapshot: Snapshot, among: Collection[str] | None = None) -> set[tuple[str, str]]:
    """Pairs of documents one of which refers to the other: an edge to what it is about, or a mention of it. Only pairs of
    documents of `among`, where given."""
    documents = await snapshot.documents()
    subject = {snapshot.canonical(documents[i].primary): i for i in sorted(documents if among is None else among)}
    edges = await _edges_to(snapshot, subject, among is None)
    homes = await snapshot.stated_in() if among is None else await snapshot.documents_of([*subject, *(holder for _, _, holder in edges)])
    found: set[tuple[str, str]] = set()
    for source, target, holder in edges:
        if (home := subject.get(target)) is not None:
            sources = (subject[source],) if source in subject else homes.get(holder, ())
            found.update((min(home, other), max(home, other)) for other in sources if other != home)
    for primary, home in subject.items():
        found.update((min(home, other), max(home, other)) for other in homes.get(primary, ()) if other != home)
    return found


async def _edges_to(snapshot: Snapshot, targets: Collection[str], whole: bool) -> list[tuple[str, str, str]]:
    """(source, target, holder) of the edges notes state."""
    if whole:
        return [(edge.source, edge.target, edge.held_by) for edge in await snapshot.edges()]
    rows = await snapshot.catalog.fetch_in("SELECT source, target, held_by FROM edges WHERE target IN ({marks})", sorted(targets))
    return [(row["source"], row["target"], row["held_by"]) for row in rows
            if (holder := snapshot.items.get(row["held_by"])) is not None and holder.mode is not Mode.INFERRED]


def meetings(said: DocTerms, linked: Collection[tuple[str, str]], vectors: Mapping[str, np.ndarray], questions: Mapping[str, str],
             among: Collection[str] | None = None) -> list[Meeting]:
    """Every pair worth telling, strongest first. `questions`: document → what it leaves open; `vectors`: the
    direction of each document and of each thing said."""
    found = []
    for (a, b), weight in sorted(said.neighbours(among).items()):
        if weight >= said.chance(_SHARED) and (a, b) not in linked and (meeting := _meet(said, a, b, vectors, questions)):
            found.append(meeting)
    return sorted(found, key=lambda m: (-m.strength, m.a, m.b))


def kept_of(found: Sequence[Meeting]) -> list[Meeting]:
    """The strongest, each document in at most `EACH`."""
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
    shared = frozenset(filter(is_topical, shared))
    weight = said.weigh(shared)
    if weight < said.chance(_SHARED):
        return None
    met, x, y = max(((said.weigh(x.terms & y.terms & shared), x, y) for x in left for y in right), key=lambda m: (m[0], m[1].key, m[2].key))
    near = _cosine(vectors, x.key, y.key)
    if met < (_ALIKE if near >= _NEARER else max(_ALIKE, said.chance(_MEETING))) or all(term[0].isdigit() for term in x.terms & y.terms & shared):
        return None
    alike = _cosine(vectors, a, b)
    asks = next((i for i, told, other in ((a, x, b), (b, y, a)) if i in questions and _bears(said, questions[i], told, other)), "")
    lenient = bool(asks) and any(" " in term for term in x.terms & y.terms & shared)
    if near < max(_FAR, said.chance(_NEAR)) and not lenient:
        return None
    strength = said.closeness(a, b, shared) * weight**0.5 * (0.4 + alike) * (0.4 + near) * min(met, _CLOSE) * (_OPEN if lenient else 1.0)
    return Meeting(a, b, x, y, shared, round(strength, 6), asks, questions.get(asks, "")) if strength >= said.chance(_ENOUGH) / (_LEANT if lenient else 1) else None


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
            if x.key == y.key or said.repeats(x.terms, y.terms):
                copied.update((x.key, y.key))
    return [t for t in said.told[a] if t.key not in copied], [t for t in said.told[b] if t.key not in copied]


def draft_of(said: DocTerms, meeting: Meeting, subjects: Mapping[str, Item], others: Sequence[Meeting] = ()) -> Draft | None:
    """What is said of a pair; None where the two can't be told apart by name. `subjects`: document → what it is about; `others`:
    meetings a third document is taken from where the two alone hold too little to cite."""
    meeting = meeting if _when(said.documents[meeting.a]) <= _when(said.documents[meeting.b]) else meeting.turned
    one, other = said.documents[meeting.a], said.documents[meeting.b]
    a, b = subjects.get(one.id), subjects.get(other.id)
    if a is None or b is None or a.id == b.id or one.title == other.title:
        return None
    same = _same_figures(said, meeting)
    words = [*(same[0] if same else ()), *shared_phrases(said, meeting.left.text, meeting.right.text, meeting.core)][:MOST]
    if not words or not same and not meeting.question and len(words) == 1 and fold(words[0]) in (meeting.left.item.subject, meeting.right.item.subject):
        return None  # one thing in two lists
    both = _both(one.title, other.title)
    chats = one.shape == other.shape == "chat"
    opening = f"{both} come back to the same thing: {listed(words)}" if chats else f"{both} don't refer to each other, but both speak of {listed(words)}"
    sentences = [Sentence(opening, tuple(dict.fromkeys((a, b, meeting.left.item, meeting.right.item))), spans=(*meeting.left.spans, *meeting.right.spans))]
    if meeting.question:
        asks, bears, told = (one, other, meeting.right) if meeting.asks == meeting.a else (other, one, meeting.left)
        sentences.append(Sentence(f"{asks.title} leaves open {quoted(meeting.question)}, and what {bears.title} says may bear on it", (subjects[asks.id], told.item)))
    sentences += [_says(home, "says", told) for home, told in ((one, meeting.left), (other, meeting.right))]
    for home, told, theirs in ((one, meeting.left, meeting.b), (other, meeting.right, meeting.a)):
        sentences += [_says(home, "alone adds", more) for more in _adds(said, home.id, told, theirs, meeting)]
    if len({item for sentence in sentences for item in sentence.cites}) < _CITED:
        sentences += _more(said, meeting, subjects, others)
    if same:
        sentences.append(Sentence(f"Both give {listed(same[0])}, so they may describe the same thing", tuple(t.item for t in same[1]),
                                  spans=tuple(span for t in same[1] for span in t.spans)))
    ends = (a, b) if a.id < b.id else (b, a)
    return Draft(BRIDGE, tuple(end.id for end in ends), f"{both}: {listed(words[:2])}", tuple(sentences), meeting.strength, ends)


def _says(document: Doc, says: str, told: Told) -> Sentence:
    return Sentence(f"{document.title} {says}: {quoted(told.text)}", (told.item,), True, told.spans)


def _more(said: DocTerms, meeting: Meeting, subjects: Mapping[str, Item], others: Sequence[Meeting]) -> list[Sentence]:
    """A claim more of either document, or what a third says that meets one of them."""
    pair = (meeting.a, meeting.b)
    for home in pair:
        for told in said.told[home]:
            if told.item.id != subjects[home].id and told not in (meeting.left, meeting.right):
                return [_says(said.documents[home], "also says", told)]
    for third in others:
        if (third.a in pair) != (third.b in pair):
            home, told = (third.b, third.right) if third.a in pair else (third.a, third.left)
            if home in subjects:
                return [_says(said.documents[home], "says as well", told)]
    return []


def _when(document: Doc) -> str:
    return document.date.start.isoformat() if document.date.start else ""


def _both(one: str, other: str) -> str:
    """The two titles; what both begin with, up to a comma, once."""
    shared = commonprefix([one, other]).rpartition(", ")
    return f"{one} and {other[len(shared[0]) + len(shared[1]):] if shared[0] else other}"


def _adds(said: DocTerms, home: str, told: Told, theirs: str, meeting: Meeting) -> list[Told]:
    """The claim of one document that bears most on where the two meet and says what the other does not."""
    foreign = said.terms[theirs]
    ranked = sorted(((-said.weigh(t.terms & meeting.core), t.key, t) for t in said.told[home]
                     if t.key != told.key and len(t.terms - foreign) >= 3 and not said.repeats(t.terms, told.terms)), key=lambda r: r[:2])
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
