"""The store's schema as numbered steps: an empty or older kb.sqlite → the schema this version needs.

Steps are only ever added at the end; one that has been published is never edited. Imported only by writers: reading
needs no migration and does not pay for sqlite_utils.
"""

from __future__ import annotations

import os
import uuid

from sqlite_utils import Database, Migrations

from kb.store.node_tables import NODE_TABLES
from kb.store.schema import MIGRATION_NAMES, MIGRATION_SET
from kb.store.search_terms import search_terms

migrations = Migrations(MIGRATION_SET)


def apply_migrations(database: Database) -> None:
    """Bring the schema up to date; each step is one transaction and records itself."""
    migrations.apply(database)


@migrations(name=MIGRATION_NAMES[0])
def m001_documents_chunks_answers(database: Database) -> None:
    """Documents keyed by (source, path), chunks, vectors by content, answers, the corpus revision."""
    for statement in _FIRST_SCHEMA.split(";\n\n"):
        database.execute(statement)
    rows = {"store_id": str(uuid.uuid4()), "corpus_revision": "0", "corpus_state": os.urandom(8).hex()}
    for name, value in rows.items():
        database.execute("INSERT INTO meta (name, value) VALUES (?, ?)", [name, value])


@migrations(name=MIGRATION_NAMES[1])
def m002_answer_history(database: Database) -> None:
    """What replaying an answer needs, packed texts stored once, and a full-text index over questions and answers."""
    before, after = _ANSWER_HISTORY
    for statement in before.split(";\n\n"):
        database.execute(statement)
    rows = database.execute("SELECT trace_id, question, answer FROM answers ORDER BY created_at, trace_id").fetchall()
    for number, (trace_id, question, answer) in enumerate(rows, start=1):
        database.execute(
            "UPDATE answers SET search_id = ?, search_terms = ? WHERE trace_id = ?",
            [number, search_terms(question, answer), trace_id],
        )
    for statement in after.split(";\n\n"):
        database.execute(statement)


_FIRST_SCHEMA = """
CREATE TABLE meta (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE sources (
    source TEXT PRIMARY KEY,
    root TEXT                       -- absolute folder; null for text from standard input
) WITHOUT ROWID;

CREATE TABLE documents (
    doc_id INTEGER PRIMARY KEY AUTOINCREMENT,   -- never used twice: an old id finds nothing rather than another text
    source TEXT NOT NULL REFERENCES sources (source),
    path TEXT NOT NULL,
    title TEXT NOT NULL,
    type TEXT NOT NULL,
    language TEXT NOT NULL,
    size_bytes INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    content_hash TEXT NOT NULL,
    signature TEXT NOT NULL,        -- reader, chunker, encoder and settings that made the chunks
    note TEXT,                      -- what the reader left out or guessed
    indexed_at TEXT NOT NULL,
    UNIQUE (source, path)
);

CREATE INDEX documents_by_content ON documents (content_hash);

CREATE TABLE document_tags (
    doc_id INTEGER NOT NULL REFERENCES documents (doc_id) ON DELETE CASCADE,
    tag TEXT NOT NULL,
    PRIMARY KEY (doc_id, tag)
) WITHOUT ROWID;

CREATE INDEX document_tags_by_tag ON document_tags (tag);

CREATE TABLE chunks (
    chunk_id INTEGER PRIMARY KEY AUTOINCREMENT,
    doc_id INTEGER NOT NULL REFERENCES documents (doc_id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    start_char INTEGER NOT NULL,
    end_char INTEGER NOT NULL,
    start_line INTEGER,
    end_line INTEGER,
    page INTEGER,
    section TEXT,
    heading_path TEXT NOT NULL,     -- JSON array of strings
    text TEXT NOT NULL,
    text_hash TEXT NOT NULL,        -- sha256 of text
    embed_hash TEXT NOT NULL,       -- sha256 of the prefix and the text that were embedded
    token_count INTEGER NOT NULL,
    UNIQUE (doc_id, position)
);

CREATE INDEX chunks_by_embed_hash ON chunks (embed_hash);

CREATE TABLE embeddings (
    embedding_id INTEGER PRIMARY KEY,
    encoder_digest TEXT NOT NULL,
    embed_hash TEXT NOT NULL,
    vector BLOB NOT NULL,           -- float32, little endian, unit length
    UNIQUE (embed_hash, encoder_digest)
);

CREATE TABLE answers (
    trace_id TEXT PRIMARY KEY,      -- UUIDv7: sorts by time
    question TEXT NOT NULL,
    answer TEXT NOT NULL,
    raw_answer TEXT NOT NULL,
    grounded INTEGER NOT NULL,
    refusal_reason TEXT,
    model_id TEXT NOT NULL,
    model_provider TEXT NOT NULL,
    model_digest TEXT,
    embedding_model_id TEXT,
    embedding_dimensions INTEGER,
    prompt_template_version TEXT NOT NULL,
    prompt_sha256 TEXT,
    retrieval_mode TEXT NOT NULL,
    retrieval_k INTEGER NOT NULL,
    score_gate REAL NOT NULL,
    top_score REAL,
    evidence_gate REAL,
    evidence_score REAL,
    chunks_returned INTEGER NOT NULL,
    chunks_used INTEGER NOT NULL,
    citations_json TEXT NOT NULL,
    packed_json TEXT NOT NULL,
    packed_chunks_json TEXT,
    prompt_tokens INTEGER,
    completion_tokens INTEGER,
    latency_ms REAL NOT NULL,
    first_token_ms REAL,
    temperature REAL,
    seed INTEGER,
    finish_reason TEXT,
    session_id TEXT,
    corpus_revision INTEGER NOT NULL,
    created_at TEXT NOT NULL
) WITHOUT ROWID
"""

_ANSWER_HISTORY = (
    """
ALTER TABLE answers ADD COLUMN verification_json TEXT;

ALTER TABLE answers ADD COLUMN prompt_truncated INTEGER;

ALTER TABLE answers ADD COLUMN prompt_json TEXT;

ALTER TABLE answers ADD COLUMN filters_json TEXT;

ALTER TABLE answers ADD COLUMN replay_of TEXT;

ALTER TABLE answers ADD COLUMN search_id INTEGER;

ALTER TABLE answers ADD COLUMN search_terms TEXT;

CREATE TABLE packed_texts (
    text_hash TEXT PRIMARY KEY,     -- sha256 of text
    text TEXT NOT NULL              -- what a prompt held: a passage, or a template's system prompt
);

CREATE TABLE answer_texts (
    trace_id TEXT NOT NULL REFERENCES answers (trace_id) ON DELETE CASCADE,
    text_hash TEXT NOT NULL REFERENCES packed_texts (text_hash),
    PRIMARY KEY (trace_id, text_hash)
) WITHOUT ROWID;

CREATE INDEX answer_texts_by_hash ON answer_texts (text_hash);

CREATE INDEX answers_by_time ON answers (created_at, trace_id, grounded, search_id)   -- what a listing filters by
""",
    """
CREATE UNIQUE INDEX answers_by_search_id ON answers (search_id);

CREATE VIEW answer_search_rows AS SELECT search_id, search_terms FROM answers;

CREATE VIRTUAL TABLE answer_search USING fts5 (
    search_terms, content = 'answer_search_rows', content_rowid = 'search_id', tokenize = 'unicode61 remove_diacritics 0'
);

INSERT INTO answer_search (answer_search) VALUES ('rebuild');

CREATE TRIGGER answer_added AFTER INSERT ON answers BEGIN
    INSERT INTO answer_search (rowid, search_terms) VALUES (NEW.search_id, NEW.search_terms);
END;

CREATE TRIGGER answer_removed AFTER DELETE ON answers BEGIN
    INSERT INTO answer_search (answer_search, rowid, search_terms) VALUES ('delete', OLD.search_id, OLD.search_terms);
END;

CREATE TRIGGER answer_changed AFTER UPDATE OF search_id, search_terms ON answers BEGIN
    INSERT INTO answer_search (answer_search, rowid, search_terms) VALUES ('delete', OLD.search_id, OLD.search_terms);
    INSERT INTO answer_search (rowid, search_terms) VALUES (NEW.search_id, NEW.search_terms);
END;

CREATE TRIGGER packed_text_unused AFTER DELETE ON answer_texts BEGIN
    DELETE FROM packed_texts WHERE text_hash = OLD.text_hash
        AND NOT EXISTS (SELECT 1 FROM answer_texts WHERE text_hash = OLD.text_hash);
END
""",
)


@migrations(name=MIGRATION_NAMES[2])
def m003_tags(database: Database) -> None:
    """The imported tag vocabulary with its items, and tags applied to documents apart from their own."""
    for statement in _TAGS_SCHEMA.split(";\n\n"):
        database.execute(statement)


@migrations(name=MIGRATION_NAMES[3])
def m004_neighbourhoods(database: Database) -> None:
    """Cosines between chunks that stand side by side, sums of projects, and the log of what was packed."""
    for statement in _NEIGHBOURHOODS.split(";\n\n"):
        database.execute(statement)


@migrations(name=MIGRATION_NAMES[4])
def m005_fingerprints(database: Database) -> None:
    """What each chunk's text is recognised by; filled as documents are written."""
    database.execute(_FINGERPRINTS)


@migrations(name="m006_graph")
def m006_graph(database: Database) -> None:
    """What documents are called, what they mention, and the relations they state."""
    for statement in _GRAPH.split(";\n\n"):
        database.execute(statement)


@migrations(name="m007_nodes")
def m007_nodes(database: Database) -> None:
    """What the context nodes read: facts, gists, open items, measured tokens; and which nodes an answer had."""
    for statement in NODE_TABLES.split(";\n\n"):
        database.execute(statement)


_TAGS_SCHEMA = """
CREATE TABLE tags (
    tag TEXT PRIMARY KEY,
    category TEXT,
    count INTEGER,                  -- items that carry it; null where nobody counted
    rating REAL                     -- probability that it is sensitive; null where it was not rated
);

CREATE TABLE tag_aliases (
    alias TEXT NOT NULL,            -- normalized, spaces as underscores
    tag TEXT NOT NULL REFERENCES tags (tag) ON DELETE CASCADE,
    PRIMARY KEY (alias, tag)
);

CREATE INDEX tag_aliases_by_tag ON tag_aliases (tag);

CREATE TABLE tag_items (
    item_id INTEGER PRIMARY KEY,
    tags TEXT NOT NULL              -- JSON array of canonical tags
);

CREATE TABLE applied_tags (
    doc_id INTEGER NOT NULL REFERENCES documents (doc_id) ON DELETE CASCADE,
    tag TEXT NOT NULL,
    score REAL NOT NULL,            -- the suggestion's, higher is surer
    PRIMARY KEY (doc_id, tag)
) WITHOUT ROWID;

CREATE INDEX applied_tags_by_tag ON applied_tags (tag)
"""

_NEIGHBOURHOODS = """
CREATE TABLE chunk_neighbours (
    chunk_id INTEGER PRIMARY KEY REFERENCES chunks (chunk_id) ON DELETE CASCADE,
    encoder_digest TEXT NOT NULL,
    doc_id INTEGER NOT NULL,
    position INTEGER NOT NULL,
    chunk_count INTEGER NOT NULL,   -- of its document
    before REAL,                    -- cosine to the chunk before; null at the beginning
    after REAL
);

CREATE INDEX chunk_neighbours_by_document ON chunk_neighbours (doc_id);

CREATE TABLE projects (
    encoder_digest TEXT NOT NULL,
    source TEXT NOT NULL,
    folder TEXT NOT NULL,           -- at the top of the source, '' for files that are in none
    chunk_count INTEGER NOT NULL,
    vector_sum BLOB NOT NULL,       -- float64, little endian
    PRIMARY KEY (encoder_digest, source, folder)
) WITHOUT ROWID;

CREATE TABLE episodes (
    episode_id INTEGER PRIMARY KEY,
    trace_id TEXT NOT NULL REFERENCES answers (trace_id) ON DELETE CASCADE,
    domain TEXT NOT NULL,
    query_json TEXT NOT NULL,       -- what the question was taken apart into
    axes_json TEXT NOT NULL,        -- per chunk: its axes and its score
    packed_json TEXT NOT NULL,      -- chunk_ids of each pack
    outcome TEXT NOT NULL,          -- grounded, or why it was refused
    created_at TEXT NOT NULL
);

CREATE UNIQUE INDEX episodes_by_trace ON episodes (trace_id);

CREATE TABLE stability_quantiles (
    domain TEXT PRIMARY KEY,
    samples INTEGER NOT NULL,
    q25 REAL,                       -- null where there were too few samples
    q50 REAL,
    q75 REAL,
    threshold REAL NOT NULL,
    computed_at TEXT NOT NULL
) WITHOUT ROWID
"""

_FINGERPRINTS = """
CREATE TABLE chunk_fingerprints (
    chunk_id INTEGER PRIMARY KEY REFERENCES chunks (chunk_id) ON DELETE CASCADE,
    fingerprint BLOB NOT NULL       -- kb.fingerprint.pack
)
"""

_GRAPH = """
CREATE TABLE graph_names (
    key TEXT NOT NULL,              -- what names are compared by
    kind TEXT NOT NULL,             -- document, heading, tag, project, entity
    weight INTEGER NOT NULL,        -- minus how often: the documents that say it most come first
    place INTEGER NOT NULL,         -- hash of source and path: an order that no ingest changes
    doc_id INTEGER NOT NULL REFERENCES documents (doc_id) ON DELETE CASCADE,
    form TEXT NOT NULL,             -- path, title, alias, stem, heading, tag, project, matter, link, code, relation, name
    label TEXT NOT NULL,
    line INTEGER,
    position INTEGER,
    PRIMARY KEY (key, kind, weight, place, doc_id)
) WITHOUT ROWID;

CREATE INDEX graph_names_by_document ON graph_names (doc_id, kind, weight, key);

CREATE TABLE graph_edges (
    edge_id INTEGER PRIMARY KEY,
    doc_id INTEGER NOT NULL REFERENCES documents (doc_id) ON DELETE CASCADE,
    place INTEGER NOT NULL,
    subject_kind TEXT NOT NULL,     -- self, document, project, entity
    subject_key TEXT NOT NULL,
    subject_label TEXT NOT NULL,
    subject_sure INTEGER NOT NULL,
    predicate TEXT NOT NULL,
    is_link INTEGER NOT NULL,       -- 0 for relations, which come first, 1 for links_to
    object_kind TEXT NOT NULL,
    object_key TEXT NOT NULL,
    object_label TEXT NOT NULL,
    object_sure INTEGER NOT NULL,
    line INTEGER,
    position INTEGER
);

CREATE INDEX graph_edges_by_document ON graph_edges (doc_id, is_link);

CREATE INDEX graph_edges_by_subject ON graph_edges (subject_key, is_link, place) WHERE subject_key <> '';

CREATE INDEX graph_edges_by_object ON graph_edges (object_key, is_link, place)
"""
