"""How transactions become rows of the catalog.

Owns the one function that writes them, `apply`; it is idempotent and free of the order in which transactions arrive,
and everything happens in one SQLite transaction with the stamp. The caller holds the bank's writer lock.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import astuple, dataclass, field

import orjson

from smb.model.currentness import Verdict, as_object, judge, stated
from smb.model.errors import SmbError
from smb.model.evidence import DocumentVersion
from smb.model.identity import fold, generation_of, short_hash
from smb.model.objects import MemoryObject
from smb.model.revision import DOCUMENT, Revision, RevisionKind, Statement, Transaction, revision_from_json, revision_to_json
from smb.model.validity import from_iso, to_iso
from smb.stores.catalog import Catalog
from smb.stores.catalog_links import Folded, apply_links, merged_into
from smb.stores.lexical import derived_text, ngrams

VectorRows = Callable[[Sequence[str]], Sequence[int]]
NOT_EMBEDDED = frozenset({"code", "heading", "html", "properties", "title"})


class IdentityCollision(SmbError):
    def __init__(self, object_id: str, one: str, two: str):
        super().__init__(f"Two different things share the id {object_id}: {one!r} and {two!r}. Rename one of them in its note.")


@dataclass(slots=True)
class Applied:
    """What one `apply` touched."""

    transactions: int = 0
    objects: set[str] = field(default_factory=set)
    documents: set[str] = field(default_factory=set)
    passages: int = 0


async def apply(
    catalog: Catalog, transactions: Iterable[Transaction], read_source: Callable[[str], bytes], vector_rows: VectorRows | None = None,
    make_durable: Callable[[], None] | None = None,
) -> Applied:
    """Writes what `transactions` say. `read_source(id)` gives a source's bytes; `vector_rows(texts)` the rows of their
    embeddings (None leaves them to be embedded later), `make_durable()` makes those rows durable before the catalog names
    them."""
    applied = Applied()
    known = await catalog.applied()
    waiting = [t for t in transactions if t.id not in known]
    if not waiting:
        return applied
    await catalog.begin()
    try:
        for transaction in waiting:
            known.add(transaction.id)
            await _apply_one(catalog, transaction, generation_of(known), read_source, vector_rows, applied)
        if make_durable is not None:
            make_durable()
        await catalog.commit()
    except BaseException:
        await catalog.rollback()
        catalog.fresh.clear()
        raise
    return applied


async def _apply_one(catalog: Catalog, tx: Transaction, generation: str, read_source: Callable[[str], bytes],
                     vector_rows: VectorRows | None, applied: Applied) -> None:
    (seq,) = (await catalog.fetch("SELECT coalesce(max(seq), 0) + 1 FROM transactions"))[0]
    at = to_iso(tx.recorded_at) or ""
    await catalog.run("INSERT INTO transactions VALUES (?, ?, ?, ?, ?, ?)", (seq, tx.id, tx.kind, tx.actor, at, generation))
    new, earlier, closed = await _insert_revisions(catalog, tx, seq, at)
    applied.transactions += 1
    statements = [r for r in new if r.object_type != DOCUMENT]
    touched = {r.object_id for r in statements} | {i for r in statements for i in r.into} | earlier
    versions = [r for r in new if r.object_type == DOCUMENT]
    await _apply_documents(catalog, versions, closed, at, read_source, vector_rows, applied)
    await _apply_objects(catalog, touched, statements, closed, seq, vector_rows)
    applied.objects |= touched


async def _insert_revisions(catalog: Catalog, tx: Transaction, seq: int, at: str) -> tuple[list[Revision], set[str], set[str]]:
    """Inserts what is new; returns it, the objects of other revisions it replaces, and what came closed already."""
    seen = {row["id"]: row["recorded_at"] for row in await catalog.fetch_in("SELECT id, recorded_at FROM revisions WHERE id IN ({marks})", [r.id for r in tx.revisions])}
    older = [r for r in tx.revisions if seen.get(r.id, "") > at]  # two clones said the same; the first recording counts
    await catalog.run_many("UPDATE revisions SET recorded_at = ?, tx = ? WHERE id = ?", [(at, seq, r.id) for r in older])
    new = [r for r in {r.id: r for r in tx.revisions}.values() if r.id not in seen]
    closers = await catalog.fetch_in(
        "SELECT p.replaced, c.kind, c.object_id FROM replacements p LEFT JOIN revisions c ON c.id = p.by_id WHERE p.replaced IN ({marks})", [r.id for r in new])
    closed = {row["replaced"] for row in closers}
    told = {r.id: r for r in new}
    replaced = {i for r in new for i in r.replaces}
    known = {i: told[i].object_id for i in replaced & told.keys()} | {row["id"]: row["object_id"] for row in await catalog.fetch_in(
        "SELECT id, object_id FROM revisions WHERE id IN ({marks})", replaced - told.keys())}
    ended = {i for r in new for i in r.replaces if r.kind.value in _ENDS or known.get(i) == r.object_id}
    ended |= {row["replaced"] for row in closers if row["kind"] in _ENDS or row["object_id"] == told[row["replaced"]].object_id}
    await catalog.run_many(
        "INSERT INTO revisions (id, tx, kind, object_id, object_type, document_id, recorded_at, head, line) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        ((r.id, seq, r.kind.value, r.object_id, r.object_type, r.document, at, int(r.id not in ended), orjson.dumps(revision_to_json(r)).decode()) for r in new),
    )
    await catalog.run_many("INSERT OR IGNORE INTO replacements VALUES (?, ?)", ((old, r.id) for r in new for old in r.replaces))
    await catalog.run_in("UPDATE revisions SET head = 0 WHERE id IN ({marks})", ended - told.keys())
    await _reopen(catalog, [r.id for r in new])
    touched = await _depending(catalog, replaced) if replaced else set()
    return new, touched | {r.object_id for r in older if r.object_type != DOCUMENT}, closed


_ENDS = frozenset({RevisionKind.REVOKE.value, RevisionKind.MERGE.value, RevisionKind.SPLIT.value})


async def _reopen(catalog: Catalog, new: Iterable[str]) -> None:
    """Says again which statements are heads where a merge, split or revoke came or went by a revoke; `new` holds the ids just told."""
    ids = list(new)
    freed = "SELECT DISTINCT o.object_id FROM replacements a JOIN revisions c ON c.id = a.replaced AND c.kind IN ('merge', 'split', 'revoke') " \
            "JOIN revisions by ON by.id = a.by_id AND by.kind = 'revoke' JOIN replacements b ON b.by_id = c.id JOIN revisions o ON o.id = b.replaced WHERE "
    rows = await catalog.fetch_in(freed + "a.by_id IN ({marks})", ids) + await catalog.fetch_in(freed + "c.id IN ({marks})", ids)
    below = await catalog.fetch_in(  # what a revoke of a revoke brings back ends something in its turn
        "SELECT DISTINCT t.object_id FROM revisions r JOIN replacements p ON p.by_id = r.id JOIN revisions t ON t.id = p.replaced WHERE r.object_id IN ({marks})",
        {row["object_id"] for row in rows})
    for object_id, history in (await catalog.histories({row["object_id"] for row in (*rows, *below)})).items():
        standing = {r.id for r in stated(history)}
        await catalog.run_many("UPDATE revisions SET head = ? WHERE id = ?", [
            (int(r.id in standing), r.id) for r in history if r.object_id == object_id and isinstance(r.statement, Statement)])


async def _depending(catalog: Catalog, replaced: Iterable[str]) -> set[str]:
    """The objects whose verdict hangs on whether the `replaced` revisions count: their own, those they supersede, and, where
    they are revokes, what hangs on what those revoke."""
    objects: set[str] = set()
    waiting, seen = set(replaced), set(replaced)
    while waiting:
        rows = await catalog.fetch_in("SELECT object_id FROM revisions WHERE object_type != 'document' AND id IN ({marks})", waiting)
        rows_below = await catalog.fetch_in(
            "SELECT c.kind, p.replaced, r.object_id FROM revisions c JOIN replacements p ON p.by_id = c.id JOIN revisions r ON r.id = p.replaced "
            "WHERE c.object_type != 'document' AND c.id IN ({marks})", waiting)
        objects |= {row["object_id"] for row in (*rows, *rows_below)}
        waiting = {row["replaced"] for row in rows_below if row["kind"] == RevisionKind.REVOKE.value} - seen
        seen |= waiting
    return objects


# ---------------------------------------------------------------- documents and passages

async def _apply_documents(catalog: Catalog, versions: list[Revision], closed: set[str], at: str, read_source: Callable[[str], bytes],
                           vector_rows: VectorRows | None, applied: Applied) -> None:
    ids = list(dict.fromkeys(r.object_id for r in versions))
    if not ids:
        return
    applied.documents.update(ids)
    known = await _told_before(catalog, ids) | {r.object_id for r in versions if r.id in closed}
    heads: dict[str, list[Revision]] = {}
    ever: dict[str, list[Revision]] = {}
    for row in await catalog.fetch_in("SELECT object_id, recorded_at, head, line FROM revisions WHERE object_id IN ({marks})", [i for i in ids if i in known]):
        revision = revision_from_json(orjson.loads(row["line"]), from_iso(row["recorded_at"]))
        ever.setdefault(row["object_id"], []).append(revision)
        if row["head"]:
            heads.setdefault(row["object_id"], []).append(revision)
    by_document: dict[str, list[Revision]] = {}
    for revision in versions:
        by_document.setdefault(revision.object_id, []).append(revision)
    told = {(r.object_id, r.statement.source): r.statement for r in versions if isinstance(r.statement, DocumentVersion)}
    await _insert_passages(catalog, [(document, version) for (document, _), version in told.items()], known, read_source, vector_rows, applied)
    live_rows, moved, dangling = [], [], []
    for document, said in by_document.items():
        replaced = {i for r in said for i in r.replaces}
        standing = heads.get(document) if document in known else [r for r in said if r.id not in replaced]
        latest = _latest_version(standing or [])
        shown = latest or _latest_version(ever.get(document, said))
        if shown is None:
            moved.append(document)
            continue
        v = shown.statement
        assert isinstance(v, DocumentVersion)
        live_rows.append((document, v.root, v.path, v.source, v.title, v.encoding, v.shape, v.date, to_iso(v.valid.start), to_iso(v.valid.end),
                          v.primary, orjson.dumps(v.tags).decode(), int(latest is not None), to_iso(shown.recorded_at) or at))
        if latest is not None:
            dangling += [(document, v.root, d.target, orjson.dumps([d.type, d.weight, *astuple(d.span)]).decode()) for d in v.dangling]
    await catalog.run_in("DELETE FROM dangling WHERE document_id IN ({marks})", known)
    await catalog.run_many("INSERT INTO dangling VALUES (?, ?, ?, ?)", dangling)
    await catalog.run_many("INSERT OR REPLACE INTO documents VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", live_rows)
    await catalog.run_in("UPDATE documents SET live = 0 WHERE id IN ({marks})", moved)
    await catalog.run_many("UPDATE passages SET live = (source = ?) WHERE document_id = ?", [(r[3] if r[12] else "", r[0]) for r in live_rows if r[0] in known])
    await catalog.run_in("UPDATE passages SET live = 0 WHERE document_id IN ({marks})", moved)


async def _told_before(catalog: Catalog, ids: Iterable[str]) -> set[str]:
    """Which of `ids` an earlier transaction said something about."""
    rows = await catalog.fetch_in(
        "SELECT DISTINCT object_id FROM revisions WHERE tx < (SELECT max(seq) FROM transactions) AND object_id IN ({marks})", ids)
    return {row["object_id"] for row in rows}


def _latest_version(revisions: Iterable[Revision]) -> Revision | None:
    told = [r for r in revisions if isinstance(r.statement, DocumentVersion)]
    return max(told, key=lambda r: (to_iso(r.recorded_at) or "~", r.id), default=None)


async def _insert_passages(catalog: Catalog, versions: list[tuple[str, DocumentVersion]], known: set[str], read_source: Callable[[str], bytes],
                           vector_rows: VectorRows | None, applied: Applied) -> None:
    """Passages of document versions; those of one already there (the same bytes, a new title or path) are said again."""
    for document, version in versions:
        if document in known:
            old = await catalog.fetch("SELECT rowid, text, context, ngrams FROM passages WHERE document_id = ? AND source = ?", (document, version.source))
            await catalog.run_many("INSERT INTO passages_fts (passages_fts, rowid, text, context, ngrams) VALUES ('delete', ?, ?, ?, ?)", [tuple(r) for r in old])
            await catalog.run("DELETE FROM passages WHERE document_id = ? AND source = ?", (document, version.source))
    (rowid,) = (await catalog.fetch("SELECT coalesce(max(rowid), 0) FROM passages"))[0]
    rows: list[list[object]] = []
    wanted: list[tuple[int, str]] = []
    for document, version in versions:
        data = read_source(version.source) if version.passages else b""
        contexts: dict[tuple[str, ...], str] = {}
        for n, p in enumerate(version.passages):
            rowid += 1
            text = derived_text(data[p.byte_start : p.byte_end].decode(version.encoding, "replace"))
            context = contexts.get(p.headings)
            if context is None:
                context = contexts[p.headings] = " › ".join((version.title, *(h for h in p.headings if h != version.title)))
            if p.kind not in NOT_EMBEDDED:
                wanted.append((len(rows), text))
            rows.append([rowid, short_hash(version.source, str(p.byte_start), str(p.byte_end)), document, version.source, n, p.kind, p.byte_start,
                         p.byte_end, p.line_start, p.line_end, p.speaker, text, context, "" if text.isascii() else ngrams(text), 1, None])
    if vector_rows:
        for (place, _), row in zip(wanted, vector_rows([text for _, text in wanted]), strict=True):
            rows[place][15] = row
    await catalog.run_many("INSERT INTO passages VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
    await catalog.run_many("INSERT INTO passages_fts (rowid, text, context, ngrams) VALUES (?, ?, ?, ?)", [(r[0], *r[11:14]) for r in rows])
    applied.passages += len(rows)


# ---------------------------------------------------------------- objects

_COLUMNS = ("id, type, title, confidence, status, embedding_id, graph_node_id, source_ids, tags, layer, created, modified, identity, standing, mode, "
            "verification, subject, attribute, value, about, attributed_to, valid_from, valid_to, recorded_at, revision, location, body, aliases, "
            "ngrams, supports, changed, vector_row, merged_into")


async def _apply_objects(catalog: Catalog, touched: set[str], statements: list[Revision], closed: set[str], seq: int, vector_rows: VectorRows | None) -> None:
    if not touched:
        return
    held = {row["id"]: row for row in await catalog.fetch_in(
        "SELECT rowid, id, identity, title, body, aliases, ngrams, vector_row, merged_into FROM memory_objects WHERE id IN ({marks})", sorted(touched))}
    said: dict[str, list[Revision]] = {}
    for revision in statements:
        said.setdefault(revision.object_id, []).append(revision)
    by_id = {r.id: r for r in statements}
    told = await _told_before(catalog, sorted(touched)) | {r.object_id for r in statements if r.id in closed}
    local = {i for i in touched if i not in told and i in said} - {o for r in statements for t in r.replaces if t in by_id and (o := by_id[t].object_id)}
    histories = {i: said[i] for i in local} | await catalog.histories(touched - local)
    folded: list[Folded] = []
    for object_id in sorted(touched):
        history = histories[object_id]
        verdict = judge(history, about=object_id)
        if (found := as_object(history, about=object_id, verdict=verdict)) is not None:
            folded.append((found, verdict))
            catalog.fresh[object_id] = found
            old = held.get(object_id)
            if old is not None and old["identity"] != found.identity and fold(old["identity"]) != fold(found.identity):
                raise IdentityCollision(object_id, old["identity"], found.identity)
    texts = [(o.text, o) for o, _ in folded if (old := held.get(o.id)) is None or old["vector_row"] is None or (old["title"], old["body"]) != (o.title, o.prose)]
    vectors = {o.id: row for (_, o), row in zip(texts, vector_rows([t for t, _ in texts]), strict=True)} if vector_rows else {}
    (next_row,) = (await catalog.fetch("SELECT coalesce(max(rowid), 0) + 1 FROM memory_objects"))[0]
    unsaid, rows, indexed = [], [], []
    for o, verdict in folded:
        old = held.get(o.id)
        aliases = " ".join(o.aliases)
        grams = "" if o.text.isascii() and aliases.isascii() else ngrams(f"{o.text} {aliases}")
        rowid = next_row if old is None else old["rowid"]
        next_row += old is None
        vector = vectors.get(o.id, old["vector_row"] if old is not None else None)
        rows.append((rowid, *_row(o, verdict, aliases, grams, seq, vector)))
        searched = (o.title, o.prose, aliases, grams)
        if old is not None:
            before = (old["title"], old["body"], old["aliases"], old["ngrams"])
            if before == searched:
                continue
            unsaid.append((rowid, *before))
        indexed.append((rowid, *searched))
    await catalog.run_many("INSERT INTO objects_fts (objects_fts, rowid, title, body, aliases, ngrams) VALUES ('delete', ?, ?, ?, ?, ?)", unsaid)
    await catalog.run_many(f"INSERT OR REPLACE INTO memory_objects (rowid, {_COLUMNS}) VALUES ({', '.join('?' * 34)})", rows)
    await catalog.run_many("INSERT INTO objects_fts (rowid, title, body, aliases, ngrams) VALUES (?, ?, ?, ?, ?)", indexed)
    await apply_links(catalog, folded, {i: row["merged_into"] for i, row in held.items()}, {i: row["title"] for i, row in held.items()}, histories)


def _row(o: MemoryObject, verdict: Verdict, aliases: str, grams: str, seq: int, vector: int | None) -> tuple[object, ...]:
    subject, attribute = o.key if o.key else ("", "")
    return (o.id, o.type.value, o.title, o.confidence, o.status.value, o.embedding_id, o.graph_node_id, orjson.dumps(o.source_ids).decode(),
            orjson.dumps(o.tags).decode(), int(o.layer), o.created, o.modified, o.identity, verdict.standing.value, o.mode.value, o.verification.value,
            subject, attribute, o.value, o.about, o.attributed_to, o.valid_from, o.valid_to, o.recorded_at, o.revision, o.location, o.prose,
            aliases, grams, o.supports, seq, vector, merged_into(verdict))
