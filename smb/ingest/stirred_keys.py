"""Which keys a batch stirs, and what the catalog holds of them.

Owns the few batched queries that bring `supersede.settle` what it has to see, and the stamp of up to where the keys of the
catalog are settled. Never decides what supersedes what; never commits.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from smb.model.identity import fold, short_hash
from smb.model.objects import MemoryType
from smb.model.revision import Revision, RevisionKind, Statement
from smb.stores.catalog import Catalog

CLAIM = MemoryType.CLAIM.value
STAMP = "keys.settled"
ACTOR = "keys"
_ROWS = "SELECT id, title, subject, attribute, value, tags, standing FROM memory_objects WHERE type = 'claim' AND "
_CLOSED = ("superseded", "contested")


@dataclass(frozen=True, slots=True)
class _Member:
    """A claim of a key, planned or known; `linked` says that something stands against it or has superseded it."""

    id: str
    subject: str
    attribute: str
    value: str
    corrects: bool
    linked: bool = False


class StirredKeys:
    """Settles the keys a plan touches. `single_valued`: attributes that have one value at a time, as written."""

    def __init__(self, catalog: Catalog, single_valued: Iterable[str] = ()):
        self.catalog = catalog
        self.single_valued = frozenset(map(fold, single_valued))
        self._rules = short_hash(*sorted(self.single_valued))

    async def behind(self) -> bool:
        """Whether something was recorded, or the list of single-valued keys changed, since the keys were last settled."""
        return await self.catalog.meta(STAMP) != await self._now()

    async def mark(self) -> None:
        """Notes that all the catalog holds is settled; the caller is in a transaction of the catalog."""
        await self.catalog.set_meta(STAMP, await self._now())

    async def _now(self) -> str:
        return f"{(await self.catalog.latest())[0]}:{self._rules}"

    async def settled(self, planned: Sequence[Revision]) -> list[Revision]:
        """`planned`, its claims linked to what they supersede, with the revisions that what is known needs because of
        them or of what was recorded since the last time."""
        from smb.ingest.supersede import denied_object, related_subjects, settle

        rows = await self._unsettled()
        planned = [*planned, *await self._lapses(planned, rows)]
        claims = [r for r in planned if r.object_type == CLAIM]
        told = [(r, r.statement) for r in claims if isinstance(r.statement, Statement)]
        told_ids = {r.object_id for r, _ in told}
        taken = {r.object_id for r in claims if r.kind is RevisionKind.REVOKE} - told_ids
        rows += await self.catalog.fetch_in(_ROWS + "id IN ({marks})", taken)
        spoken = [(r.object_id, s.title) for r, s in told if "correction" in s.tags] + [(row["id"], row["title"]) for row in rows if _corrects(row)]
        pairs = {i for id_, title in spoken if (denied := denied_object(title)) for i in (id_, denied)}
        if new := told_ids | {row["id"] for row in rows}:
            pairs |= await self._restated(claims) | await self._denials(new)
        stirred = {s.subject for _, s in told if s.attribute} | {row["subject"] for row in rows if row["attribute"]}
        if not stirred and not pairs:
            return list(planned)
        asked = {form for subject in stirred for form in related_subjects(subject)}
        rows += await self.catalog.fetch_in(_ROWS + "attribute != '' AND subject IN ({marks})", sorted(asked))
        members = {row["id"]: _known(row) for row in rows if row["attribute"]}
        members |= {r.object_id: _planned(r, s, members.get(r.object_id)) for r, s in told if s.attribute}
        ids = self._needed(members.values(), stirred) | pairs
        if not ids:
            return list(planned)
        histories = await self.catalog.histories(ids)
        others = {r.object_id for history in histories.values() for r in history} - ids
        histories |= await self.catalog.histories(others)
        ids |= others
        history = {r.id: r for revisions in histories.values() for r in revisions}
        aside = [r for r in planned if r.object_type != CLAIM or r.object_id not in ids]
        return aside + settle(history.values(), [r for r in claims if r.object_id in ids], self.single_valued)

    async def _unsettled(self) -> list[Any]:
        """What changed in the catalog since it was last settled; all of it, if other rules held then."""
        seq, _, rules = (await self.catalog.meta(STAMP) or "").partition(":")
        latest, _ = await self.catalog.latest()
        if not latest or (seq == str(latest) and rules == self._rules):
            return []
        since = int(seq) if rules == self._rules and seq.isdigit() and int(seq) <= latest else 0
        return await self.catalog.fetch(_ROWS + "changed > ?", (since,))

    async def _lapses(self, planned: Sequence[Revision], rows: Sequence[Any]) -> list[Revision]:
        """The end of what a person decided of claims that no note states any more, and the return of what is stated again."""
        from smb.model.disagreement import lapses

        claims = [r for r in planned if r.object_type == CLAIM]
        touched = {r.object_id for r in claims} | {row["id"] for row in rows}
        touched |= {row["object_id"] for row in await self.catalog.fetch_in(
            "SELECT DISTINCT object_id FROM revisions WHERE id IN ({marks})", sorted({t for r in claims for t in r.replaces}))}
        decided = sorted({row["object_id"] for row in await self.catalog.fetch_in(
            "SELECT object_id FROM revisions WHERE document_id = '' AND kind IN ('assert', 'supersede') AND object_id IN ({marks})", sorted(touched))})
        histories = await self.catalog.histories(decided)
        return [r for i in decided for r in lapses([*histories[i], *claims], i, ACTOR)]

    async def _restated(self, claims: Iterable[Revision]) -> set[str]:
        """Ids of claims that are stated again after another claim superseded them, and of those others."""
        replaced = {t for r in claims if r.statement is not None for t in r.replaces}
        rows = await self.catalog.fetch_in(
            "SELECT o.object_id, c.object_id FROM replacements p JOIN revisions c ON c.id = p.by_id JOIN revisions o ON o.id = p.replaced "
            "WHERE c.kind = 'supersede' AND c.object_id != o.object_id AND p.replaced IN ({marks})", replaced)
        return {i for row in rows for i in row}

    async def _denials(self, planned: Collection[str]) -> set[str]:
        """Ids of known "no longer" claims that end one of `planned`, and of what they end."""
        from smb.ingest.supersede import denied_object

        rows = await self.catalog.fetch(_ROWS + "rowid IN (SELECT rowid FROM objects_fts WHERE objects_fts MATCH '\"no longer\"')")
        found = ((row["id"], denied_object(row["title"])) for row in rows)
        return {i for pair in found if pair[1] in planned for i in pair}

    def _needed(self, members: Iterable[_Member], stirred: Collection[str]) -> set[str]:
        """The claims that have to be looked at: those of a stirred key in which two claims may have to do with each other."""
        from smb.ingest.supersede import UNNAMED, related_subjects

        keys: dict[tuple[str, str], list[_Member]] = {}
        unnamed: list[_Member] = []
        subjects: dict[str, list[_Member]] = {}
        for m in members:
            keys.setdefault((m.subject, m.attribute), []).append(m)
            if m.corrects and m.attribute in UNNAMED:
                unnamed.append(m)
        needed: set[str] = set()
        for (subject, attribute), group in keys.items():
            if subject in stirred and (any(m.linked for m in group) or len(group) > 1 and len({fold(m.value) for m in group}) > 1 and (
                    attribute in self.single_valued or any(m.corrects for m in group))):
                needed.update(m.id for m in group)
        if unnamed:
            for m in (m for group in keys.values() for m in group):
                subjects.setdefault(m.subject, []).append(m)
            for correction in unnamed:
                meant = [m for subject in related_subjects(correction.subject) for m in subjects.get(subject, ()) if m.attribute not in UNNAMED]
                if meant and (correction.subject in stirred or any(m.subject in stirred for m in meant)):
                    needed.update(m.id for m in (correction, *meant))
        return needed


def _corrects(row: Any) -> bool:
    return "correction" in orjson.loads(row["tags"])


def _known(row: Any) -> _Member:
    return _Member(row["id"], row["subject"], row["attribute"], row["value"], _corrects(row), row["standing"] in _CLOSED)


def _planned(revision: Revision, said: Statement, known: _Member | None) -> _Member:
    return _Member(revision.object_id, said.subject, said.attribute, said.value, "correction" in said.tags, known is not None and known.linked)
