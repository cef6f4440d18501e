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
