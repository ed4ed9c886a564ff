"""What each document says, in terms: the claims it makes and the words they turn on.

Owns how rare a term is among the documents, and which documents share rare ones; of the whole bank, or of the surroundings of
some documents alone. Claims that many documents repeat word for word are nobody's own and are left out, and so is what a
document's properties say of the document. Never looks at what evolution worked out.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from smb.evolve.combining.originals import originals
from smb.evolve.combining.revisit import WHOLE
from smb.evolve.combining.sentences import sentences_of
from smb.evolve.snapshot import Doc, Item, Snapshot
from smb.evolve.language.terms import stem, terms_of, words_of
from smb.model.english import STOP_WORDS
from smb.model.evidence import Span
from smb.model.identity import fold
from smb.model.objects import MemoryType, Mode

RARE = 12  # documents that may share a term before it links none of them
_HALF = 0.5  # what two neighbouring terms add to their own weights; a figure may be met anywhere
_PRIOR = 20  # documents every term is imagined to be missing from, so that a handful of notes has common words too
_SAME = 0.95, 0.4  # share of common terms from which one sentence repeats another; and by how much less it is among many notes
_TERSE = 4  # claims of a document, below which its sentences are read as well
_HANDFUL, _MANY = 10, 50  # documents: from about so many on, accidents are the rule
_ADDRESS = re.compile(r"\w+://\S+")
_COMMON = 400  # claims of a term that are looked at; one that has more is no rare one
_AROUND = 300  # documents that are read around some


@dataclass(frozen=True, slots=True)
class Told:
    """A claim as one document makes it, or what it says its subject is: `text` without the document's name before it, `terms` its
    stems and pairs of stems. A sentence no claim was made of stands under the subject, with its place in the source as `span`.
    `row` is where its embedding stands."""

    item: Item
    text: str
    terms: frozenset[str]
    row: int | None
    span: Span | None = None

    @property
    def spans(self) -> tuple[Span, ...]:
        return (self.span,) if self.span else ()

    @property
    def key(self) -> str:
        return f"{self.item.id}#{self.span.byte_start}" if self.span else self.item.id


@dataclass(slots=True)
class DocTerms:
    """`told`: document → its own claims; `terms`: document → all these say; `spread`: term → how many documents use it."""

    documents: Mapping[str, Doc]
    told: dict[str, tuple[Told, ...]] = field(default_factory=dict)
    terms: dict[str, frozenset[str]] = field(default_factory=dict)
    spread: Counter[str] = field(default_factory=Counter)

    def weight(self, term: str) -> float:
        """1.0 for a term two documents share, near 0 for one all use; half of it for a pair of terms and for a bare figure."""
        most = len(self.documents) + _PRIOR
        rarity = math.log(most / min(max(self.spread[term], 2), most)) / math.log(most / 2)
        return rarity**2 * (_HALF if " " in term or term[0].isdigit() else 1.0)

    def weigh(self, terms: Iterable[str]) -> float:
        return round(sum(map(self.weight, sorted(terms))), 6)

    def closeness(self, a: str, b: str, shared: Collection[str]) -> float:
        """How much of what two documents say they share, 0 to 1."""
        return self.weigh(shared) / math.sqrt(max(len(self.terms[a]) * len(self.terms[b]), 1))

    def chance(self, least: float) -> float:
        """A threshold for a bank of many notes, as it is for this one: few notes have few chances to meet by accident."""
        return least * min(1.0, (len(self.documents) + _HANDFUL) / _MANY)

    def repeats(self, one: frozenset[str], other: frozenset[str]) -> bool:
        """Whether one of two sentences says little that the other does not."""
        return len(one & other) >= (_SAME[0] - self.chance(_SAME[1])) * min(len(one), len(other))

    def in_titles(self, document: str) -> frozenset[str]:
        return terms_in(self.documents[document].title)

    def names(self, document: str, other: str) -> bool:
        """Whether a claim of one document has the title of the other, of two words at least."""
        title = fold(self.documents[other].title)
        return len(terms_of(title)) > 1 and any(title in fold(told.text) for told in self.told[document])

    def neighbours(self, among: Collection[str] | None = None) -> dict[tuple[str, str], float]:
        """Pairs of documents that share rare terms → what these weigh; only pairs with a document of `among` where given."""
        users: dict[str, list[str]] = defaultdict(list)
        for document in sorted(self.terms):
            for term in self.terms[document]:
                if 2 <= self.spread[term] <= RARE:
                    users[term].append(document)
        found: dict[tuple[str, str], float] = defaultdict(float)
        for term in sorted(users):
            weight, group = self.weight(term), users[term]
            for n, a in enumerate(group):
                for b in group[n + 1:]:
                    if among is None or a in among or b in among:
                        found[a, b] += weight
        return found

    def add(self, document: str, claims: Iterable[Item], more: Iterable[Told]) -> None:
        """What `document` says: its own claims, and of `more` what none of these says."""
        told = []
        for claim in claims:
            text = own_words(claim, self.documents[document])
            told.append(Told(claim, text, terms_in(text), claim.row))
        for other in more:
            if other.terms and not any(self.repeats(other.terms, t.terms) for t in told):
                told.append(other)
        self.told[document] = tuple(told)
        self.terms[document] = frozenset[str]().union(*(t.terms for t in told))


def terms_in(text: str) -> frozenset[str]:
    """Stems of its content words and pairs of neighbouring ones; addresses on the web, single letters and digits are none."""
    stems = [term for term in terms_of(_ADDRESS.sub(" ", text)) if len(term) > 1]
    return frozenset(stems) | {f"{a} {b}" for a, b in zip(stems, stems[1:]) if a != b}


def own_words(item: Item, document: Doc) -> str:
    """The sentence of a claim without the name of its document, which extraction puts before one that says no subject."""
    return item.title.removeprefix(document.title).lstrip(":– ") if item.title.startswith((f"{document.title}: ", f"{document.title} – ")) else item.title


async def read(snapshot: Snapshot) -> DocTerms:
    """What every live document says."""
    found = DocTerms(await snapshot.documents())
    homes = await snapshot.stated_in()
    first = await originals(snapshot)
    own: dict[str, list[Item]] = {i: [] for i in sorted(set(first.values()))}
    described = await _properties(snapshot, None)
    for claim in snapshot.stated(MemoryType.CLAIM):
        if claim.id not in described and len(told := {first[home] for home in homes.get(claim.id, ())}) == 1:
            own[told.pop()].append(claim)
    await _fill(snapshot, found, own)
    for document in found.terms:
        found.spread.update(found.terms[document])
    return found


async def _fill(snapshot: Snapshot, found: DocTerms, own: Mapping[str, list[Item]]) -> None:
    subjects = {i: item for i in own if (item := snapshot.items.get(snapshot.canonical(found.documents[i].primary))) is not None}
    bodies = await snapshot.bodies(item.id for item in subjects.values())
    told: dict[str, list[Told]] = {}
    for document, subject in subjects.items():
        body = bodies.get(subject.id, "")
        told[document] = [Told(subject, body, terms_in(body), subject.row)] if body else []
    if len(snapshot.items) <= WHOLE:
        terse = sorted(i for i in subjects if len(own[i]) < _TERSE)
        for document, sentences in (await sentences_of(snapshot, terse)).items():
            told[document] += [Told(subjects[document], span.quote, terms_in(span.quote), row, span) for span, row in sentences]
    for document, claims in own.items():
        found.add(document, claims, told.get(document, ()))


async def read_around(snapshot: Snapshot, documents: Collection[str]) -> DocTerms:
    """What `documents` say, and the documents that share rare terms with them; as `read` has it, but for the spread of terms
    only the others use."""
    found = DocTerms(await snapshot.documents())
    first = await originals(snapshot)
    told = sorted({first[i] for i in documents if i in first})
    await _add(snapshot, found, told, first)
    written = {stem(word): word for i in told for t in found.told[i] for word in words_of(t.text) if word not in STOP_WORDS}
    primary = {snapshot.canonical(found.documents[i].primary): i for i in sorted(set(first.values()))}
    users: dict[str, set[str]] = {}
    for term in sorted(written.keys() & {t for i in told for t in found.terms[i]}):
        users[term] = await _users(snapshot, term, written[term], primary, first)
    shared = Counter(user for term in sorted(users) if len(users[term]) <= RARE for user in sorted(users[term]))
    near = sorted(shared.keys() & found.documents.keys() - set(told), key=lambda i: (-shared[i], i))[:_AROUND]
    await _add(snapshot, found, near, first)
    for document in found.terms:
        found.spread.update(found.terms[document])
    found.spread.update({term: max(len(homes), found.spread[term]) - found.spread[term] for term, homes in users.items()})
    return found


async def _add(snapshot: Snapshot, found: DocTerms, documents: Collection[str], first: Mapping[str, str]) -> None:
    rows = await snapshot.catalog.fetch_in(
        "SELECT DISTINCT e.object_id FROM object_evidence e JOIN documents d ON d.source = e.source AND d.id = e.document_id WHERE d.id IN ({marks})", documents)
    homes = await snapshot.documents_of(row["object_id"] for row in rows)
    described = await _properties(snapshot, documents)
    own: dict[str, list[Item]] = {i: [] for i in documents}
    for id_ in sorted(homes):
        item = snapshot.items.get(id_)
        if item is None or item.type is not MemoryType.CLAIM or item.mode is Mode.INFERRED or id_ in described:
            continue
        if len(told := {first[home] for home in homes[id_]}) == 1 and (home := told.pop()) in own:
            own[home].append(item)
    await _fill(snapshot, found, own)


async def _users(snapshot: Snapshot, term: str, word: str, primary: Mapping[str, str], first: Mapping[str, str]) -> set[str]:
    """The documents that use `term`, written `word` or in any of its forms; all that were looked at, where it is a common one.
    `primary`: object → the document that is about it; `first`: document → the first of its bytes."""
    rows = await snapshot.catalog.fetch(
        "SELECT o.id, o.type, o.body FROM objects_fts f CROSS JOIN memory_objects o ON o.rowid = f.rowid "
        "WHERE objects_fts MATCH ? AND o.mode != ? AND o.type IN (?, ?, ?) LIMIT ?",
        (f'{{title body}} : "{word}"', Mode.INFERRED.value, MemoryType.CLAIM.value, MemoryType.CONCEPT.value, MemoryType.ENTITY.value, _COMMON))
    held = [row for row in rows if row["id"] in snapshot.items]
    if len(rows) == _COMMON:
        return {row["id"] for row in held}
    claims = await snapshot.documents_of(row["id"] for row in held if row["type"] == MemoryType.CLAIM.value)
    told = [{first[home] for home in homes} for homes in claims.values()]
    return {home for homes in told if len(homes) == 1 for home in homes} | {
        primary[row["id"]] for row in held if row["id"] in primary and row["type"] != MemoryType.CLAIM.value and term in terms_in(row["body"])}


async def _properties(snapshot: Snapshot, documents: Collection[str] | None) -> set[str]:
    """Claims that stand in a document's properties: they describe the document (who wrote it, when), not what it is about."""
    sql = ("SELECT DISTINCT e.object_id FROM documents d CROSS JOIN passages p ON p.document_id = d.id AND p.source = d.source AND p.ordinal = 0 AND p.kind = 'properties' "
           "CROSS JOIN object_evidence e ON e.source = p.source AND e.byte_start >= p.byte_start AND e.byte_end <= p.byte_end WHERE d.live = 1")
    rows = await snapshot.catalog.fetch(sql) if documents is None else await snapshot.catalog.fetch_in(f"{sql} AND d.id IN ({{marks}})", sorted(documents))
    return {row["object_id"] for row in rows}
