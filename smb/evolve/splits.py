"""The splits phase: a concept under whose name notes speak of several things becomes one concept for each.

Owns what is read of an overloaded concept and the revisions of a split: the original is marked split and leads to the narrower ones, which
say what the notes of their sense said; claims about it are about the one their notes speak of. Whether there are several is decided by
`senses`. A split a person has undone is not proposed again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import orjson

from smb.evolve.phase import Proposals, again
from smb.evolve.sameness.senses import Mention, Sense, kind_said, senses_of
from smb.evolve.snapshot import Item, Snapshot
from smb.evolve.language.terms import terms_of
from smb.model.currentness import judge, stated
from smb.model.edges import EdgeType
from smb.model.identity import fold, object_id, relationship_identity
from smb.model.objects import Link, MemoryType, Mode
from smb.model.restatement import said_of
from smb.model.revision import Revision, RevisionKind, Statement, new_revision
from smb.model.verification import Verification
from smb.stores.catalog import Catalog

if TYPE_CHECKING:
    import numpy as np

WIDEST = 60  # notes that speak of a concept; one in more is broad, not overloaded
RARE = 0.05  # of all notes, at most, bear a name or word that holds notes together …
RARE_AT_LEAST = 3  # … or this many
READ = 40  # passages of a note that are read


class ConceptSplitter:
    """The phase. Concepts nothing changed about since it last looked are not looked at again."""

    name = "splits"
    version = 1

    async def propose(self, snapshot: Snapshot) -> Proposals:
        kinds = await self._defined_twice(snapshot)
        if not kinds:
            return Proposals()
        undone = await undone_splits(snapshot.catalog, self.name)
        revisions: list[Revision] = []
        for concept in sorted(kinds.keys() - undone):
            if senses := await self._senses(snapshot, snapshot.items[concept], kinds[concept]):
                revisions += await self._split(snapshot, snapshot.items[concept], senses)
        return Proposals(revisions=list({r.id: r for r in revisions}.values()))

    async def _defined_twice(self, snapshot: Snapshot) -> dict[str, dict[str, set[str]]]:
        """Changed concepts that different notes define as different kinds: concept → document → kinds."""
        about: dict[str, list[Item]] = {}
        for claim in snapshot.stated(MemoryType.CLAIM):
            about.setdefault(claim.about, []).append(claim)
        fresh = {item.id for item in snapshot.changed(MemoryType.CONCEPT)} | {i for i, claims in about.items() if any(map(snapshot.is_new, claims))}
        open_ = [item for item in snapshot.stated(MemoryType.CONCEPT) if item.id in fresh and item.supports > 1 and not item.contested
                 and item.mode is not Mode.AUTHORED and item.verification != Verification.SUPERVISOR_VERIFIED and "(" not in item.title]
        histories = await snapshot.histories(item.id for item in open_)
        claims = await snapshot.documents_of(c.id for item in open_ for c in about.get(item.id, ()))
        found: dict[str, dict[str, set[str]]] = {}
        for item in open_:
            said = [(r.document, r.statement.body) for r in stated(histories[item.id]) if r.object_id == item.id and isinstance(r.statement, Statement)]
            said += [(d, c.title) for c in about.get(item.id, ()) for d in claims.get(c.id, ())]
            for document, text in said:
                if document and (kind := kind_said(item.title, text)):
                    found.setdefault(item.id, {}).setdefault(document, set()).add(kind)
        return {i: kinds for i, kinds in found.items() if len(kinds) > 1 and len(set().union(*kinds.values())) > 1}

    async def _senses(self, snapshot: Snapshot, concept: Item, kinds: Mapping[str, Collection[str]]) -> list[Sense]:
        documents = (await snapshot.documents_of([concept.id])).get(concept.id, ())
        if not 2 <= len(documents) <= WIDEST:
            return []
        mentions, vectors = await _mentions(snapshot, concept, documents, kinds)
        return senses_of(mentions, vectors)

    async def _split(self, snapshot: Snapshot, concept: Item, senses: Sequence[Sense]) -> list[Revision]:
        claims = [c for c in snapshot.stated(MemoryType.CLAIM) if c.about == concept.id]
        titles = {d: f"{concept.title} ({sense.kind})" for sense in senses for d in sense.documents}
        ids = {d: object_id(MemoryType.CONCEPT.value, fold(title)) for d, title in titles.items()}
        edges = {i: relationship_identity(concept.id, EdgeType.CONTAINS.value, i) for i in dict.fromkeys(ids.values())}
        relationships = {i: object_id(MemoryType.RELATIONSHIP.value, e) for i, e in edges.items()}
        histories = await snapshot.histories([concept.id, *ids.values(), *(c.id for c in claims), *relationships.values()])
        live = [r for r in stated(histories[concept.id]) if r.object_id == concept.id and isinstance(r.statement, Statement)]
        if any(r.document not in ids for r in live) or {r.id for r in live} != {r.id for r in judge(histories[concept.id], about=concept.id).supports}:
            return []
        reason = "several things: " + ", ".join(sense.kind for sense in senses)
        split = {"replaces": tuple(sorted(r.id for r in live)), "into": tuple(edges), "reason": reason}
        planned = [new_revision(RevisionKind.SPLIT, concept.id, concept.type.value, actor=self.name, **split)]
        planned += [new_revision(RevisionKind.ASSERT, ids[r.document], concept.type.value, document=r.document, evidence=r.evidence, actor=self.name,
                                 statement=said_of(r.statement, titles[r.document], fold(titles[r.document]))) for r in live]  # type: ignore[arg-type]
        shown = dict(zip(ids.values(), titles.values(), strict=True))
        for part, identity in edges.items():
            statement = Statement(f"{concept.title} contains {shown[part]}", identity, about=concept.id, links=(Link(part, EdgeType.CONTAINS),), confidence=0.9,
                                  mode=Mode.INFERRED)
            planned.append(new_revision(RevisionKind.ASSERT, relationships[part], MemoryType.RELATIONSHIP.value, statement=statement, actor=self.name))
        for claim in claims:
            planned += [_about(r, ids[r.document], self.name) for r in stated(histories[claim.id]) if r.object_id == claim.id and r.document in ids]
        return [again(r, {h.id: h for h in histories.get(r.object_id, ())}) for r in planned]


def _about(r: Revision, part: str, actor: str) -> Revision:
    """A claim's statement said again of the thing its note speaks of; what it superseded it still does."""
    assert isinstance(r.statement, Statement)
    kept = r.replaces if r.kind is RevisionKind.SUPERSEDE else ()
    return new_revision(r.kind, r.object_id, r.object_type, document=r.document, evidence=r.evidence, replaces=(*kept, r.id), reason=r.reason, actor=actor,
                        statement=replace(r.statement, about=part))


async def undone_splits(catalog: Catalog, actor: str) -> set[str]:
    """Objects whose split somebody else than this phase has taken back."""
    rows = await catalog.fetch(
        "SELECT s.object_id, c.line FROM revisions s JOIN replacements p ON p.replaced = s.id JOIN revisions c ON c.id = p.by_id WHERE s.kind = ? AND c.kind = ? "
        "AND NOT EXISTS (SELECT 1 FROM replacements q JOIN revisions u ON u.id = q.by_id WHERE q.replaced = c.id AND u.kind = ?)",
        (RevisionKind.SPLIT.value, RevisionKind.REVOKE.value, RevisionKind.REVOKE.value))
    return {row["object_id"] for row in rows if orjson.loads(row["line"]).get("actor") != actor}


async def _mentions(snapshot: Snapshot, concept: Item, documents: Sequence[str], kinds: Mapping[str, Collection[str]]) -> tuple[list[Mention], np.ndarray]:
    """What each note says of the concept, and a vector of length 1 for each (float32 (n, d))."""
    import numpy as np

    live, stated_in = await snapshot.documents(), await snapshot.stated_in()
    rare = max(RARE_AT_LEAST, int(RARE * len(live)))
    wanted = set(documents)
    names: dict[str, set[str]] = {}
    for i, held in stated_in.items():
        item = snapshot.items.get(i)
        if item is not None and item.type in (MemoryType.CONCEPT, MemoryType.ENTITY) and i != concept.id and len(held) <= rare and fold(item.title) != fold(concept.title):
            for d in wanted.intersection(held):
                names.setdefault(d, set()).add(i)
    claims = Counter(d for c in snapshot.stated(MemoryType.CLAIM) if c.about == concept.id for d in wanted.intersection(stated_in.get(c.id, ())))
    primary = {live[d].primary: d for d in live if live[d].primary != concept.id}
    linked: dict[str, set[str]] = {d: set() for d in documents}
    for edge in await snapshot.edges():
        a, b = primary.get(edge.source), primary.get(edge.target)
        if a in wanted and b in wanted and a != b:
            linked[a].add(b)
            linked[b].add(a)
    texts, vectors = await _passages(snapshot, concept, documents)
    own = set(terms_of(concept.title))
    common = Counter(t for text in texts for t in set(terms_of(text)))
    mentions = [Mention(d, frozenset(kinds.get(d, ())), claims[d], frozenset(names.get(d, ())), frozenset(linked[d]),
                        frozenset(t for t in terms_of(text) if t not in own and len(t) > 2 and common[t] <= max(RARE_AT_LEAST, len(documents) // 2)))
                for d, text in zip(documents, texts, strict=True)]
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return mentions, vectors / np.where(lengths == 0, 1, lengths)


async def _passages(snapshot: Snapshot, concept: Item, documents: Sequence[str]) -> tuple[list[str], np.ndarray]:
    """The text of each note where it speaks of the concept, of a note about it the whole beginning; and the mean of its vectors."""
    import numpy as np

    about = {d for d, doc in (await snapshot.documents()).items() if doc.primary == concept.id}
    spoken: dict[str, list[tuple[int, int]]] = {}
    for row in await snapshot.catalog.fetch("SELECT document_id, byte_start, byte_end FROM object_evidence WHERE object_id = ?", (concept.id,)):
        spoken.setdefault(row["document_id"], []).append((row["byte_start"], row["byte_end"]))
    texts: list[str] = []
    means: list[np.ndarray] = []
    for d in documents:
        rows = await snapshot.catalog.fetch(
            "SELECT text, vector_row, byte_start, byte_end FROM passages WHERE document_id = ? AND live = 1 AND kind NOT IN ('code', 'properties', 'html') "
            "ORDER BY ordinal", (d,))
        near = rows if d in about else [r for r in rows if any(r["byte_start"] < end and start < r["byte_end"] for start, end in spoken.get(d, ()))] or rows
        near = near[:READ]
        texts.append("\n".join(r["text"] for r in near))
        found = [r["vector_row"] for r in near if r["vector_row"] is not None]
        means.append(snapshot.matrix.vectors(found).mean(axis=0) if found and snapshot.matrix is not None and len(snapshot.matrix) else np.zeros(1, np.float32))
    width = max((len(m) for m in means), default=1)
    return texts, np.array([np.pad(m, (0, width - len(m))) for m in means], np.float32)
