"""What each document says, in terms: the claims it makes and the words they turn on.

Owns how rare a term is among the documents, and which documents share rare ones. Claims that many documents repeat word for
word are nobody's own and are left out. Never looks at what evolution worked out.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from smb.evolve.snapshot import Doc, Item, Snapshot
from smb.evolve.terms import terms_of
from smb.model.objects import MemoryType

RARE = 12  # documents that may share a term before it links none of them
_REPEATED = 2  # documents that may make one claim before it counts as boilerplate
_HALF = 0.5  # two neighbouring terms add to their own weights; a figure may be met anywhere
_PRIOR = 20  # documents every term is imagined to be missing from, so that a handful of notes has common words too


@dataclass(frozen=True, slots=True)
class Told:
    """A claim as one document makes it: `text` without the document's name before it, `terms` its stems and pairs of stems."""

    item: Item
    text: str
    terms: frozenset[str]


@dataclass(slots=True)
class DocTerms:
    """`told`: document → its own claims; `terms`: document → all it says, its title included; `spread`: term → how many
    documents use it."""

    documents: Mapping[str, Doc]
    told: dict[str, tuple[Told, ...]] = field(default_factory=dict)
    terms: dict[str, frozenset[str]] = field(default_factory=dict)
    spread: Counter[str] = field(default_factory=Counter)

    def weight(self, term: str) -> float:
        """1.0 for a term two documents share, near 0 for one all use; half of it for a pair of terms and for a bare figure."""
        rarity = math.log((len(self.documents) + _PRIOR) / max(self.spread[term], 1)) / math.log((len(self.documents) + _PRIOR) / 2)
        return max(0.0, min(rarity, 1.0)) * (_HALF if " " in term or term[0].isdigit() else 1.0)

    def weigh(self, terms: Iterable[str]) -> float:
        return sum(map(self.weight, sorted(terms)))

    def closeness(self, a: str, b: str, shared: Collection[str]) -> float:
        """Cosine of what two documents say, of which they share `shared`; 0 to 1."""
        lengths = self.weigh(self.terms[a]) * self.weigh(self.terms[b])
        return self.weigh(shared) / math.sqrt(lengths) if lengths else 0.0

    def in_titles(self, document: str) -> frozenset[str]:
        return terms_in(self.documents[document].title)

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


def terms_in(text: str) -> frozenset[str]:
    """Stems of its content words and pairs of neighbouring ones; single letters and digits are none."""
    stems = [term for term in terms_of(text) if len(term) > 1]
    return frozenset(stems) | {f"{a} {b}" for a, b in zip(stems, stems[1:]) if a != b}


def own_words(item: Item, document: Doc) -> str:
    """The sentence of a claim without the name of its document, which extraction puts before one that says no subject."""
    return item.title.removeprefix(document.title).lstrip(":– ") if item.title.startswith((f"{document.title}: ", f"{document.title} – ")) else item.title


async def read(snapshot: Snapshot) -> DocTerms:
    """What every live document says."""
    documents, stated_in = await snapshot.documents(), await snapshot.stated_in()
    described = await _properties(snapshot)
    return _read(documents, [claim for claim in snapshot.stated(MemoryType.CLAIM) if claim.id not in described], stated_in)


async def _properties(snapshot: Snapshot) -> set[str]:
    """Claims that stand in a document's properties: they describe the document (who wrote it, when), not what it is about."""
    rows = await snapshot.catalog.fetch(
        "SELECT DISTINCT e.object_id FROM documents d CROSS JOIN passages p ON p.document_id = d.id AND p.source = d.source AND p.ordinal = 0 AND p.kind = 'properties' "
        "CROSS JOIN object_evidence e ON e.source = p.source AND e.byte_start >= p.byte_start AND e.byte_end <= p.byte_end WHERE d.live = 1")
    return {row["object_id"] for row in rows}


def _read(documents: Mapping[str, Doc], claims: Sequence[Item], stated_in: Mapping[str, tuple[str, ...]]) -> DocTerms:
    found = DocTerms(documents)
    told: dict[str, list[Told]] = defaultdict(list)
    for claim in claims:
        homes = stated_in.get(claim.id, ())
        if 1 <= len(homes) <= _REPEATED:
            for home in homes:
                text = own_words(claim, documents[home])
                told[home].append(Told(claim, text, terms_in(text)))
    for id_ in sorted(documents):
        found.told[id_] = tuple(told.get(id_, ()))
        found.terms[id_] = terms_in(documents[id_].title).union(*(t.terms for t in found.told[id_]))
        found.spread.update(found.terms[id_])
    return found
