"""What derived text rests on: the quotes, sources and dates of the objects it cites.

Owns the refusal of sentences whose figures no cited quote has, and which quotes a derived object shows. Never writes a sentence.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from smb.evolve.snapshot import Doc, Item, Snapshot
from smb.evolve.combining.wording import Sentence, grounded, page
from smb.model.currentness import judge
from smb.model.evidence import Span
from smb.model.objects import MemoryType

QUOTES = 12  # quotes a derived object shows


@dataclass(frozen=True, slots=True)
class Support:
    """`quotes` and `documents` of each cited object; an object that lapsed keeps the quotes it had."""

    quotes: Mapping[str, tuple[Span, ...]]
    documents: Mapping[str, tuple[Doc, ...]]

    def held(self, sentences: Iterable[Sentence]) -> list[Sentence]:
        """The sentences whose figures stand in what they cite."""
        return [sentence for sentence in sentences
                if grounded(sentence, [*(span.quote for span in sentence.spans), *(text for item in sentence.cites for text in self._known(item))])]

    def _known(self, item: Item) -> list[str]:
        return [item.title, (item.valid_from or "")[:10], (item.valid_to or "")[:10], *(document.title for document in self.documents.get(item.id, ())),
                *(span.quote for span in self.quotes.get(item.id, ()))]

    def page(self, sentences: Sequence[Sentence]) -> str:
        """The sentences, claims cited by the title of their document and other objects by their own."""
        claims = {item.id for sentence in sentences for item in sentence.cites if item.type is MemoryType.CLAIM}
        return page(sentences, {i: documents[0].title for i, documents in self.documents.items() if i in claims})

    def sources(self, cited: Collection[Item]) -> set[str]:
        return {span.source for item in cited for span in self.quotes.get(item.id, ())}

    def homes(self, item: Item) -> set[str]:
        return {document.id for document in self.documents.get(item.id, ())}

    def first(self, item: Item) -> Doc | None:
        """The first live document that states it."""
        return next(iter(self.documents.get(item.id, ())), None)

    def evidence(self, cited: Collection[Item], sentences: Iterable[Sentence] = ()) -> tuple[Span, ...]:
        """The quotes of the sentences' own and the first quote of each object, those of claims first, at most `QUOTES`."""
        ranked = sorted(cited, key=lambda item: item.type is not MemoryType.CLAIM)
        own = [span for sentence in sentences for span in sentence.spans]
        return tuple(dict.fromkeys([*own, *(self.quotes[item.id][0] for item in ranked if self.quotes.get(item.id))]))[:QUOTES]

    def dates(self, cited: Collection[Item]) -> tuple[tuple[str, str], ...]:
        """The front-matter line that says from when to when its dated sources date; none where none is dated."""
        known = [d.date for item in cited for d in self.documents.get(item.id, ())[:1]]
        starts = sorted(i.start.date().isoformat() for i in known if i.start is not None)
        return (("source_dates", f"source_dates: {json.dumps([starts[0], starts[-1]])}"),) if starts else ()


async def quotes_of(snapshot: Snapshot, ids: Collection[str]) -> Support:
    documents = await snapshot.documents()
    homes = await snapshot.documents_of(ids)
    quotes = {}
    for id_, history in (await snapshot.histories(ids)).items():
        told = judge(history, about=id_).supports or [r for r in history if r.object_id == id_]
        spans = dict.fromkeys(span for r in told for span in r.evidence)
        quotes[id_] = tuple(sorted(spans, key=lambda s: (s.source, s.byte_start)))
    return Support(quotes, {i: tuple(documents[d] for d in held) for i, held in homes.items()})
