"""The duplicates phase: concepts, entities and claims that are one thing become one object.

Owns which objects are compared and what is known of each. What is the same is decided by `same_name` and `same_claim`, from words and
what notes state; likeness of meaning alone merges nothing. An original stays where it was, merged and reachable, and revoking the merge
brings it back; a merge a person has undone is not proposed again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

import orjson

from smb.evolve.sameness.acronyms import expansions, is_acronym, is_numeronym, letters_of, names_in, stands_for
from smb.evolve.sameness.claim_blocks import claim_pairs
from smb.evolve.sameness.merging import Member, Pair, completed, groups_of, merge_revisions, merges
from smb.evolve.sameness.name_blocks import keys_of, may_meet, pairs_of, slips_in
from smb.evolve.sameness.name_parts import parts_of
from smb.evolve.phase import Proposals
from smb.evolve.sameness.same_claim import same_claim
from smb.evolve.sameness.same_name import Named, Sameness, same_name
from smb.evolve.snapshot import Item, Snapshot
from smb.evolve.language.word_forms import is_word, singulars
from smb.model.currentness import stated
from smb.model.identity import fold
from smb.model.objects import MemoryType, Mode
from smb.model.revision import RevisionKind, Statement
from smb.model.verification import Verification
from smb.stores.catalog import Catalog

NAMED = (MemoryType.CONCEPT, MemoryType.ENTITY)
FEW = 64  # changed objects up to which only what may meet them is looked at
TOLD = 8  # claims about a thing that are read to see what it is
DEFINING = 200  # passages read to see what an acronym stands for


class DuplicateDetector:
    """The phase. Pairs of objects of which neither changed since it last looked are not compared again."""

    name = "duplicates"
    version = 1

    async def propose(self, snapshot: Snapshot) -> Proposals:
        barred = await undone_merges(snapshot.catalog, self.name)
        same = {**await same_names(snapshot), **await same_claims(snapshot)}
        if not same:
            return Proposals()
        groups = groups_of(same, barred)
        members = await members_of(snapshot, [i for group in groups for i in group])
        planned = merges(groups, same, members)
        histories = await snapshot.histories({i for original, into, _ in planned for i in (original, into)})
        revisions = [r for original, into, reason in planned for r in merge_revisions(original, into, reason, histories, self.name)]
        return Proposals(revisions=list({r.id: r for r in revisions}.values()))


async def undone_merges(catalog: Catalog, actor: str) -> set[frozenset[str]]:
    """Pairs whose merge somebody else than this phase has taken back."""
    rows = await catalog.fetch(
        "SELECT m.object_id, m.line, c.id, c.line AS closer FROM revisions m JOIN replacements p ON p.replaced = m.id JOIN revisions c ON c.id = p.by_id "
        "WHERE m.kind = ? AND m.document_id = '' AND c.kind = ? AND NOT EXISTS (SELECT 1 FROM replacements q JOIN revisions u ON u.id = q.by_id "
        "WHERE q.replaced = c.id AND u.kind = ?)", (RevisionKind.MERGE.value, RevisionKind.REVOKE.value, RevisionKind.REVOKE.value))
    return {frozenset((row["object_id"], into)) for row in rows if orjson.loads(row["closer"]).get("actor") != actor
            for into in orjson.loads(row["line"]).get("into", ())}


# ---------------------------------------------------------------- concepts and entities

async def same_names(snapshot: Snapshot) -> dict[Pair, Sameness]:
    """Pairs (a < b) of concepts and entities that are one, those of which neither changed left out."""
    items = {item.id: item for item in snapshot.stated(*NAMED)}
    fresh = frozenset(i for i, item in items.items() if snapshot.is_new(item))
    if not fresh:
        return {}
    looked_at = items.values()
    if len(fresh) <= FEW:
        meets = may_meet(items[i].title for i in sorted(fresh))
        looked_at = [item for item in looked_at if item.id in fresh or meets(item.title)]
    slips = slips_in(item.title for item in looked_at)
    keys = {i: keys_of(items[i].title, slips=slips) for i in fresh}
    acronyms = any(key.startswith("short ") for i in fresh for key in keys[i])  # two long names don't meet by their initials
    keys |= {item.id: keys_of(item.title, slips=slips, acronyms=acronyms) for item in looked_at if item.id not in fresh}
    pairs = set(pairs_of(keys, fresh))
    pairs |= {p for p in await _alias_pairs(snapshot.catalog, fresh) if p[0] in items and p[1] in items}
    if not pairs:
        return {}
    known = await known_of(snapshot, sorted(pairs))
    found = {pair: why for pair in sorted(pairs) if (why := same_name(known[pair[0]], known[pair[1]])) is not None}
    return completed(found, lambda a, b: same_name(known[a], known[b]))


async def _alias_pairs(catalog: Catalog, fresh: Collection[str]) -> set[Pair]:
    """Pairs of which one has an alias that is the other's title."""
    rows = await catalog.fetch_in(
        "SELECT a.object_id, t.object_id FROM names a JOIN names t ON t.folded = a.folded AND t.alias = 0 AND t.object_id != a.object_id "
        "WHERE a.alias = 1 AND a.object_id IN ({marks})", sorted(fresh))
    rows += await catalog.fetch_in(
        "SELECT a.object_id, t.object_id FROM names t JOIN names a ON a.folded = t.folded AND a.alias = 1 AND a.object_id != t.object_id "
        "WHERE t.alias = 0 AND t.object_id IN ({marks})", sorted(fresh))
    return {(min(row[0], row[1]), max(row[0], row[1])) for row in rows}


async def known_of(snapshot: Snapshot, pairs: Iterable[Pair]) -> dict[str, Named]:
    """What is known of everything in `pairs`."""
    held = list(pairs)
    ids = sorted({i for pair in held for i in pair})
    items = {i: snapshot.items[i] for i in ids}
    documents, docs = await snapshot.documents_of(ids), await snapshot.documents()
    own = {doc.primary: doc.id for doc in docs.values()}
    declared = await _declared(snapshot.catalog, {own[i]: i for i in ids if i in own})
    bodies, histories = await snapshot.bodies(ids), await snapshot.histories(ids)
    about, properties = _claims_about(snapshot, items)
    neighbours = await _neighbours(snapshot.catalog, ids)
    meant = await _meanings(snapshot.catalog, [(items[a].title, items[b].title) for a, b in held])
    found = {}
    for i, item in items.items():
        aliases = dict.fromkeys(a for r in stated(histories[i]) if r.object_id == i and isinstance(r.statement, Statement) for a in r.statement.aliases)
        names = names_in(item.title)
        allowed = declared.get(i)
        sure = tuple(a for a in aliases if allowed is None or fold(a) in allowed or any(stands_for(a, n) or is_numeronym(a, n) for n in names))
        said = [bodies.get(i, ""), *about.get(i, ()), *(m for name in names if is_acronym(name) for m in meant.get(letters_of(name), ()))]
        found[i] = Named(
            i, item.title, item.type, sure, frozenset(map(fold, item.tags)), properties.get(i, {}), (item.valid,) if item.valid.known else (),
            frozenset(neighbours.get(i, ())), frozenset(documents.get(i, ())), "\n".join(filter(None, said)), i in own)
    return found


async def _declared(catalog: Catalog, documents: Mapping[str, str]) -> dict[str, set[str]]:
    """What has a note of its own → the aliases its front matter gives it, folded; headings and file names are none."""
    found: dict[str, set[str]] = {}
    for row in await catalog.fetch_in("SELECT document_id, line FROM revisions WHERE object_type = 'document' AND head = 1 AND document_id IN ({marks})", sorted(documents)):
        said = orjson.loads(row["line"]).get("says") or {}
        found.setdefault(documents[row["document_id"]], set()).update(map(fold, said.get("aliases", ())))
    return found


def _claims_about(snapshot: Snapshot, items: Mapping[str, Item]) -> tuple[dict[str, list[str]], dict[str, dict[str, frozenset[str]]]]:
    """What claims say of each of `items`, and its properties. A keyed claim speaks of what bears its subject's name, of two that do of the
    one it is about."""
    named: dict[str, list[str]] = {}
    for i, item in items.items():
        named.setdefault(fold(item.title), []).append(i)
    about: dict[str, list[str]] = {}
    properties: dict[str, dict[str, set[str]]] = {}
    for claim in snapshot.stated(MemoryType.CLAIM):
        if claim.about in items and len(about.get(claim.about, ())) < TOLD:
            about.setdefault(claim.about, []).append(claim.title)
        if claim.attribute and (bearers := named.get(claim.subject)):
            for i in bearers if len(bearers) == 1 else set(bearers) & {claim.about}:
                properties.setdefault(i, {}).setdefault(claim.attribute, set()).add(fold(claim.value))
    return about, {i: {a: frozenset(values) for a, values in said.items()} for i, said in properties.items()}


async def _neighbours(catalog: Catalog, ids: Collection[str]) -> dict[str, set[str]]:
    """What notes link each to; nothing evolution linked."""
    found: dict[str, set[str]] = {}
    for here, there in (("source", "target"), ("target", "source")):
        for row in await catalog.fetch_in(
                f"SELECT e.{here} AS here, e.{there} AS there FROM edges e JOIN memory_objects h ON h.id = e.held_by "
                f"WHERE h.mode != '{Mode.INFERRED}' AND e.{here} IN ({{marks}})", ids):
            found.setdefault(row["here"], set()).add(row["there"])
    return found


async def _meanings(catalog: Catalog, titles: Iterable[Pair]) -> dict[str, list[str]]:
    """Letters of the acronyms among `titles` that may stand for their partner → sentences in which a note says what they stand for."""
    letters = {letters_of(n) for one, other in titles for a, b in ((one, other), (other, one)) for n in names_in(a) for m in names_in(b)
               if is_acronym(n) and stands_for(n, m)}
    found: dict[str, list[str]] = {}
    for word in sorted(letters):
        rows = await catalog.fetch(
            "SELECT p.text FROM passages_fts f JOIN passages p ON p.rowid = f.rowid WHERE passages_fts MATCH ? AND p.live = 1 ORDER BY f.rowid LIMIT ?",
            (f'text : "{word}"', DEFINING))
        names = sorted({name for row in rows for name in expansions(row["text"]).get(word, ())})
        found[word] = [f"{name} ({word.upper()})" for name in names]
    return found


# ---------------------------------------------------------------- claims

async def same_claims(snapshot: Snapshot) -> dict[Pair, Sameness]:
    """Pairs (a < b) of claims that are one, those of which neither changed left out."""
    items = {item.id: item for item in snapshot.stated(MemoryType.CLAIM)}
    if not (pairs := await claim_pairs(snapshot, items)):
        return {}
    said = {s.id: replace(s, about=snapshot.canonical(s.about)) for s in await snapshot.said({i for pair in pairs for i in pair})}
    found = {(a, b): why for a, b in pairs if (why := same_claim(said[a], said[b])) is not None}
    return completed(found, lambda a, b: same_claim(said[a], said[b]))


# ---------------------------------------------------------------- what stands for what

async def members_of(snapshot: Snapshot, ids: Collection[str]) -> dict[str, Member]:
    catalog = snapshot.catalog
    born = {row["id"]: row["created"] for row in await catalog.fetch_in("SELECT id, created FROM memory_objects WHERE id IN ({marks})", sorted(ids))}
    standing = {row["merged_into"] for row in await catalog.fetch("SELECT DISTINCT merged_into FROM memory_objects WHERE merged_into != ''")}
    opposed = {i for row in await catalog.fetch(
        "SELECT e.source, e.target FROM edges e JOIN memory_objects h ON h.id = e.held_by WHERE h.type = ?", (MemoryType.CONTRADICTION.value,)) for i in row}
    members = {}
    for i in ids:
        item = snapshot.items[i]
        fixed = item.contested or i in opposed or item.mode is Mode.AUTHORED or item.verification == Verification.SUPERVISOR_VERIFIED
        named = item.type is not MemoryType.CLAIM
        members[i] = Member(i, fixed, i in standing, named and _misspelt(item.title), item.supports, born.get(i, ""), _form(item.title) if named else 0)
    return members


def _misspelt(title: str) -> bool:
    """Whether a name has a long word no dictionary has: of two spellings the one to give up."""
    return any(w.isascii() and w.isalpha() and len(w) > 7 and not is_word(w.lower()) for w in title.split())


def _form(title: str) -> int:
    """0 for a name in its plain form, 1 with an article, a title of a person, a comma or a plural, 2 for an acronym."""
    parts = parts_of(title)
    if is_acronym(title):
        return 2
    return int(parts.article or parts.honoured or bool(parts.inverted) or bool(parts.words and singulars(parts.words[-1])))
