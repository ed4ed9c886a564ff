"""The extractor that needs no model.

Owns the order in which the rules read a note and what of their findings is kept. Never opens a file or a connection:
equal notes give equal extractions.
"""

from __future__ import annotations

from dataclasses import replace

from smb.ingest.extract import Draft, Extraction
from smb.ingest.extract_claims import sentence_claims
from smb.ingest.extract_concepts import concepts, primary
from smb.ingest.extract_entities import entities
from smb.ingest.extract_keyed import keyed_claims
from smb.ingest.extract_relationships import declared, links, sections, stated, together
from smb.ingest.note import Note
from smb.ingest.quoting import LONGEST_QUOTE
from smb.ingest.survey import NameStarts, Survey, survey
from smb.model.edges import EdgeType
from smb.model.identity import fold


class RulesExtractor:
    """Concepts, entities, claims and relationships by deterministic rule. `Extractor`."""

    fingerprint = "rules/1"

    def extract(self, note: Note) -> Extraction:
        """Everything the rules find in `note`, ungated (see `smb.ingest.ground.ground`). Never raises."""
        seen = survey(note)
        link_drafts, edges = links(seen)
        things = [_checkable(seen, draft) for draft in concepts(seen)]
        named, places = entities(seen)
        named = [_checkable(seen, draft) for draft in named]
        taken = {fold(e.title) for e in named}
        things = [c for c in things if fold(c.title) not in taken]
        names = _names(things, named)
        known = {**{n.lower(): t for n, t in seen.names.items()}, **names}
        drafts: list[Draft] = [*things, *named, *keyed_claims(seen), *sentence_claims(seen, NameStarts(names))]
        relations = [*link_drafts, *declared(seen), *stated(seen, known), *sections(seen, things), *together(seen, places)]
        drafts += _once(relations)
        return Extraction(_checkable(seen, primary(seen, edges)), tuple(drafts))


def _checkable(seen: Survey, draft: Draft) -> Draft:
    """`draft` with quotes short enough to check at a glance: of a long block the sentence that names it."""
    if all(len(span.quote) <= LONGEST_QUOTE for span in draft.spans):
        return draft
    return replace(draft, spans=tuple(s for span in draft.spans for s in seen.quoter.shortened(span, draft.title)))


def _names(things: list[Draft], named: list[Draft]) -> dict[str, str]:
    return {d.title.lower(): d.title for d in (*things, *named) if len(d.title) > 2 and "date" not in d.tags}


def _once(relations: list[Draft]) -> list[Draft]:
    """Each (source, edge, target) once; the first, which is the surest, stays. Two things that anything else joins, in either
    direction, are not said to reference each other as well."""
    kept: dict[tuple[str, str, str], Draft] = {}
    joined: set[frozenset[str]] = set()
    for draft in relations:
        assert draft.link is not None
        source, target = fold(draft.source_name), fold(draft.link.target)
        kept.setdefault((source, draft.link.type, target), draft)
        if draft.link.type is not EdgeType.REFERENCES:
            joined.add(frozenset((source, target)))
    return [d for (a, edge, b), d in kept.items() if edge != EdgeType.REFERENCES or frozenset((a, b)) not in joined]
