"""What each document says, in terms: the claims it makes and the words they turn on.

Owns how rare a term is among the documents, and which documents share rare ones; of the whole bank, or of the surroundings of
some documents alone. Claims that many documents repeat word for word are nobody's own and are left out, and so is what a
document's properties say of the document. Never looks at what evolution worked out.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from smb.evolve.snapshot import Doc, Item, Snapshot
from smb.evolve.terms import stem, terms_of, words_of
from smb.model.english import STOP_WORDS
from smb.model.identity import fold
from smb.model.objects import MemoryType, Mode

RARE = 12  # documents that may share a term before it links none of them
_HALF = 0.5  # what two neighbouring terms add to their own weights; a figure may be met anywhere
_PRIOR = 20  # documents every term is imagined to be missing from, so that a handful of notes has common words too
_COMMON = 400  # claims of a term that are looked at; one that has more is no rare one
_AROUND = 300  # documents that are read around some


@dataclass(frozen=True, slots=True)
class Told:
    """A claim as one document makes it: `text` without the document's name before it, `terms` its stems and pairs of stems."""

    item: Item
    text: str
    terms: frozenset[str]


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

    def add(self, document: str, claims: Iterable[Item]) -> None:
        told = []
        for claim in claims:
            text = own_words(claim, self.documents[document])
            told.append(Told(claim, text, terms_in(text)))
        self.told[document] = tuple(told)
        self.terms[document] = frozenset[str]().union(*(t.terms for t in told))


def terms_in(text: str) -> frozenset[str]:
    """Stems of its content words and pairs of neighbouring ones; single letters and digits are none."""
    stems = [term for term in terms_of(text) if len(term) > 1]
    return frozenset(stems) | {f"{a} {b}" for a, b in zip(stems, stems[1:]) if a != b}


def own_words(item: Item, document: Doc) -> str:
    """The sentence of a claim without the name of its document, which extraction puts before one that says no subject."""
    return item.title.removeprefix(document.title).lstrip(":– ") if item.title.startswith((f"{document.title}: ", f"{document.title} – ")) else item.title


async def read(snapshot: Snapshot) -> DocTerms:
    """What every live document says."""
    found = DocTerms(await snapshot.documents())
    homes = await snapshot.stated_in()
    own: dict[str, list[Item]] = {i: [] for i in sorted(found.documents)}
    described = await _properties(snapshot, None)
    for claim in snapshot.stated(MemoryType.CLAIM):
        if claim.id not in described and len(homes.get(claim.id, ())) == 1:
            own[homes[claim.id][0]].append(claim)
    for document, claims in own.items():
        found.add(document, claims)
        found.spread.update(found.terms[document])
    return found


async def read_around(snapshot: Snapshot, documents: Collection[str]) -> DocTerms:
    """What `documents` say, and the documents that share rare terms with them; as `read` has it, but for the spread of terms
    only the others use."""
    found = DocTerms(await snapshot.documents())
    told = sorted(i for i in documents if i in found.documents)
    await _add(snapshot, found, told)
    written = {stem(word): word for i in told for t in found.told[i] for word in words_of(t.text) if word not in STOP_WORDS}
    users: dict[str, set[str]] = {}
    for term in sorted(written.keys() & {t for i in told for t in found.terms[i]}):
        users[term] = await _users(snapshot, written[term])
    shared = Counter(user for term in sorted(users) if len(users[term]) <= RARE for user in sorted(users[term]))
    near = sorted(shared.keys() - set(told) & found.documents.keys(), key=lambda i: (-shared[i], i))[:_AROUND]
    await _add(snapshot, found, [i for i in near if i in found.documents])
    for document in found.terms:
        found.spread.update(found.terms[document])
    found.spread.update({term: max(len(homes), found.spread[term]) - found.spread[term] for term, homes in users.items()})
    return found


async def _add(snapshot: Snapshot, found: DocTerms, documents: Collection[str]) -> None:
    rows = await snapshot.catalog.fetch_in("SELECT DISTINCT document_id, object_id FROM object_evidence e JOIN documents d ON d.source = e.source AND d.id = e.document_id "
                                           "WHERE d.id IN ({marks})", documents)
    homes = await snapshot.documents_of(row["object_id"] for row in rows)
    described = await _properties(snapshot, documents)
    own: dict[str, list[Item]] = {i: [] for i in documents}
    for id_ in sorted(homes):
        item = snapshot.items.get(id_)
        if item is not None and item.type is MemoryType.CLAIM and item.mode is not Mode.INFERRED and id_ not in described and len(homes[id_]) == 1 and homes[id_][0] in own:
            own[homes[id_][0]].append(item)
    for document, claims in own.items():
        found.add(document, claims)


async def _users(snapshot: Snapshot, word: str) -> set[str]:
    """The documents whose claims use a word in any of its forms; all that were looked at, where it is a common one."""
    rows = await snapshot.catalog.fetch(
        "SELECT o.id FROM objects_fts f JOIN memory_objects o ON o.rowid = f.rowid WHERE objects_fts MATCH ? AND o.type = ? LIMIT ?",
        (f'title : "{word}"', MemoryType.CLAIM.value, _COMMON))
    ids = [row["id"] for row in rows if row["id"] in snapshot.items]
    if len(rows) == _COMMON:
        return set(ids)
    return {homes[0] for homes in (await snapshot.documents_of(ids)).values() if len(homes) == 1}


async def _properties(snapshot: Snapshot, documents: Collection[str] | None) -> set[str]:
    """Claims that stand in a document's properties: they describe the document (who wrote it, when), not what it is about."""
    sql = ("SELECT DISTINCT e.object_id FROM documents d CROSS JOIN passages p ON p.document_id = d.id AND p.source = d.source AND p.ordinal = 0 AND p.kind = 'properties' "
           "CROSS JOIN object_evidence e ON e.source = p.source AND e.byte_start >= p.byte_start AND e.byte_end <= p.byte_end WHERE d.live = 1")
    rows = await snapshot.catalog.fetch(sql) if documents is None else await snapshot.catalog.fetch_in(f"{sql} AND d.id IN ({{marks}})", sorted(documents))
    return {row["object_id"] for row in rows}
