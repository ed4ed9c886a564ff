"""The catalog's tables, as numbered migrations.

Owns DDL only. A migration says whether it needs the catalog rebuilt from the ledger: everything here is a projection,
so dropping it loses nothing but the scan state, which only saves hashing.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Migration:
    number: int
    rebuild: bool
    script: str


_FIRST = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE transactions (
    seq INTEGER PRIMARY KEY,              -- order of application here; 1, 2, 3, …
    id TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    actor TEXT NOT NULL,
    recorded_at TEXT NOT NULL,
    generation TEXT NOT NULL              -- of the ledger once this one is in
);

CREATE TABLE revisions (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,              -- the first recording of a revision counts
    tx INTEGER NOT NULL,
    kind TEXT NOT NULL,
    object_id TEXT NOT NULL,
    object_type TEXT NOT NULL,
    document_id TEXT NOT NULL,
    recorded_at TEXT NOT NULL,
    head INTEGER NOT NULL,                -- 0 once revoked, merged, split or restated; superseding leaves it
    line TEXT NOT NULL                    -- the ledger line, JSON
);
CREATE INDEX revisions_object ON revisions (object_id);
CREATE INDEX revisions_document ON revisions (document_id) WHERE head = 1;

CREATE TABLE replacements (replaced TEXT NOT NULL, by_id TEXT NOT NULL, PRIMARY KEY (replaced, by_id)) WITHOUT ROWID;
CREATE INDEX replacements_by ON replacements (by_id);

CREATE TABLE documents (
    id TEXT PRIMARY KEY,
    root TEXT NOT NULL,
    path TEXT NOT NULL,
    source TEXT NOT NULL,
    title TEXT NOT NULL,
    encoding TEXT NOT NULL,
    shape TEXT NOT NULL,
    date TEXT NOT NULL,
    valid_from TEXT,
    valid_to TEXT,
    primary_object TEXT NOT NULL,
    tags TEXT NOT NULL,                   -- JSON list
    live INTEGER NOT NULL,                -- 0 once revoked
    recorded_at TEXT NOT NULL
);
CREATE INDEX documents_path ON documents (root, path);
CREATE INDEX documents_source ON documents (source);
CREATE INDEX documents_primary ON documents (primary_object);
CREATE INDEX documents_dated ON documents (valid_from) WHERE live = 1;

CREATE TABLE passages (
    rowid INTEGER PRIMARY KEY,
    id TEXT NOT NULL,                     -- 12 hex over (source, byte_start, byte_end)
    document_id TEXT NOT NULL,
    source TEXT NOT NULL,
    ordinal INTEGER NOT NULL,             -- place within the document version, from 0
    kind TEXT NOT NULL,
    byte_start INTEGER NOT NULL,
    byte_end INTEGER NOT NULL,
    line_start INTEGER NOT NULL,
    line_end INTEGER NOT NULL,
    speaker TEXT NOT NULL,
    text TEXT NOT NULL,                   -- as indexed: lexical.derived_text of the exact bytes
    context TEXT NOT NULL,                -- document title and headings above, joined by ' › '
    ngrams TEXT NOT NULL,
    live INTEGER NOT NULL,                -- 1 while it belongs to the current version of a live document
    vector_row INTEGER                    -- row of the embedding matrix; NULL while not embedded
);
CREATE INDEX passages_document ON passages (document_id, source, ordinal);
CREATE INDEX passages_vector ON passages (vector_row);
CREATE INDEX passages_live ON passages (live);  -- counting them reads no text
CREATE INDEX passages_source ON passages (source, byte_start);
CREATE VIRTUAL TABLE passages_fts USING fts5(
    text, context, ngrams, content='passages', content_rowid='rowid', tokenize="porter unicode61 remove_diacritics 2");

CREATE TABLE memory_objects (
    rowid INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    type TEXT NOT NULL,
    title TEXT NOT NULL,
    confidence REAL NOT NULL,
    status TEXT NOT NULL,
    embedding_id TEXT NOT NULL,
    graph_node_id TEXT NOT NULL,
    source_ids TEXT NOT NULL,             -- JSON list of full source ids
    tags TEXT NOT NULL,                   -- JSON list
    layer INTEGER NOT NULL,
    created TEXT NOT NULL,
    modified TEXT NOT NULL,
    identity TEXT NOT NULL,
    standing TEXT NOT NULL,               -- currentness.Standing as of the latest knowledge
    mode TEXT NOT NULL,
    verification TEXT NOT NULL,
    subject TEXT NOT NULL,                -- folded key, '' where there is none
    attribute TEXT NOT NULL,
    value TEXT NOT NULL,
    about TEXT NOT NULL,                  -- id of the object a claim is about
    attributed_to TEXT NOT NULL,
    valid_from TEXT,
    valid_to TEXT,
    recorded_at TEXT NOT NULL,
    revision TEXT NOT NULL,
    location TEXT NOT NULL,
    body TEXT NOT NULL,
    aliases TEXT NOT NULL,                -- space-joined for FTS; JSON is in the ledger line
    ngrams TEXT NOT NULL,
    supports INTEGER NOT NULL,            -- how many documents state it now
    changed INTEGER NOT NULL,             -- transactions.seq that last touched it
    vector_row INTEGER,
    merged_into TEXT NOT NULL DEFAULT ''
);
CREATE INDEX memory_objects_type ON memory_objects (type);
CREATE INDEX memory_objects_status ON memory_objects (status);
CREATE INDEX memory_objects_standing ON memory_objects (standing, type);
CREATE INDEX memory_objects_layer ON memory_objects (layer);
CREATE INDEX memory_objects_key ON memory_objects (subject, attribute) WHERE attribute != '';
CREATE INDEX memory_objects_changed ON memory_objects (changed);
CREATE INDEX memory_objects_vector ON memory_objects (vector_row);
CREATE VIRTUAL TABLE objects_fts USING fts5(
    title, body, aliases, ngrams, content='memory_objects', content_rowid='rowid', tokenize="porter unicode61 remove_diacritics 2");

CREATE TABLE names (folded TEXT NOT NULL, object_id TEXT NOT NULL, alias INTEGER NOT NULL, PRIMARY KEY (folded, object_id)) WITHOUT ROWID;
CREATE INDEX names_object ON names (object_id);

CREATE TABLE edges (
    source TEXT NOT NULL,
    target TEXT NOT NULL,
    type TEXT NOT NULL,
    held_by TEXT NOT NULL,                -- the object whose statement holds the edge
    weight REAL NOT NULL,
    PRIMARY KEY (source, target, type, held_by)
) WITHOUT ROWID;
CREATE INDEX edges_target ON edges (target, weight);
CREATE INDEX edges_held ON edges (held_by);

CREATE TABLE object_evidence (
    object_id TEXT NOT NULL,
    source TEXT NOT NULL,
    byte_start INTEGER NOT NULL,
    byte_end INTEGER NOT NULL,
    document_id TEXT NOT NULL,
    PRIMARY KEY (source, byte_start, object_id, byte_end, document_id)
) WITHOUT ROWID;
CREATE INDEX object_evidence_object ON object_evidence (object_id);

CREATE TABLE dangling (                   -- links of live documents to paths where no document is known
    document_id TEXT NOT NULL,
    root TEXT NOT NULL,
    target TEXT NOT NULL,                 -- path relative to the root
    link TEXT NOT NULL                    -- JSON: [type, weight, span]
);
CREATE INDEX dangling_target ON dangling (root, target);
CREATE INDEX dangling_document ON dangling (document_id);

CREATE TABLE scanned (                    -- local scan state; losing it costs one hashing run
    root TEXT NOT NULL,
    path TEXT NOT NULL,
    size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    ctime_ns INTEGER NOT NULL,
    source TEXT NOT NULL,                 -- '' where the file was skipped
    outcome TEXT NOT NULL,                -- JSON of the skip and warnings, to report again unread
    PRIMARY KEY (root, path)
) WITHOUT ROWID;

CREATE TABLE rendered (                   -- what the object files looked like when last written
    object_id TEXT PRIMARY KEY,
    location TEXT NOT NULL,
    size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    digest TEXT NOT NULL
) WITHOUT ROWID;
"""

_STRENGTH = """
CREATE TABLE strength (                   -- how use and time weigh an object or passage; no row: plain knowledge nobody judged
    object_id TEXT PRIMARY KEY,
    class TEXT NOT NULL DEFAULT 'semantic',
    sessions INTEGER NOT NULL DEFAULT 0,  -- distinct sessions that state what is or was an episode
    factor REAL NOT NULL DEFAULT 1.0,     -- of its confidence
    blacklisted INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;
"""

_UNLED = """
CREATE TABLE unled (                      -- what a page shows and no edge leads to: the ends of what no longer holds, or was merged
    held_by TEXT NOT NULL,
    target TEXT NOT NULL,
    PRIMARY KEY (held_by, target)
) WITHOUT ROWID;
CREATE INDEX unled_target ON unled (target);
"""

MIGRATIONS: tuple[Migration, ...] = (
    Migration(1, rebuild=True, script=_FIRST),
    Migration(2, rebuild=True, script=""),  # revisions.head: what another object supersedes stays a head
    Migration(3, rebuild=False, script=_STRENGTH),
    Migration(4, rebuild=True, script=_UNLED),
)
