DROP TRIGGER answer_added;

DROP TRIGGER answer_removed;

DROP TRIGGER answer_changed;

DROP TRIGGER packed_text_unused;

DROP TABLE answer_search;

DROP VIEW answer_search_rows;

ALTER TABLE answers RENAME TO answers_before;

ALTER TABLE packed_texts RENAME TO packed_texts_before;

ALTER TABLE answer_texts RENAME TO answer_texts_before;

ALTER TABLE episodes RENAME TO episodes_before;

CREATE TABLE answers (
    answer_id INTEGER PRIMARY KEY,  -- rises with time
    trace_id TEXT NOT NULL UNIQUE,  -- UUIDv7: sorts by time
    question TEXT NOT NULL,
    answer TEXT NOT NULL,
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
    prompt_tokens INTEGER,
    completion_tokens INTEGER,
    latency_ms REAL NOT NULL,
    first_token_ms REAL,
    temperature REAL,
    seed INTEGER,
    finish_reason TEXT,
    session_id TEXT,
    corpus_revision INTEGER NOT NULL,
    created_at TEXT NOT NULL,
    prompt_truncated INTEGER,
    replay_of TEXT,
    rests_on_json TEXT,
    standalone_question TEXT,
    reader TEXT,
    relevance_mode TEXT,            -- the mode in relevance_json, for counting
    seal TEXT
);

CREATE TABLE answer_records (
    piece_id INTEGER PRIMARY KEY,
    answer_id INTEGER NOT NULL REFERENCES answers (answer_id) ON DELETE CASCADE,
    piece BLOB NOT NULL             -- in order, the record of the answer: its long columns and search terms, by name
);

CREATE INDEX answer_records_by_answer ON answer_records (answer_id);

CREATE TABLE packed_texts (
    text_id INTEGER PRIMARY KEY,
    text_hash BLOB NOT NULL UNIQUE, -- sha256 of the text
    text BLOB NOT NULL              -- what a prompt held: a passage, or a template's system prompt; kb/store/records.py
);

CREATE TABLE answer_texts (
    answer_id INTEGER NOT NULL REFERENCES answers (answer_id) ON DELETE CASCADE,
    text_id INTEGER NOT NULL REFERENCES packed_texts (text_id),
    PRIMARY KEY (answer_id, text_id)
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

CREATE VIRTUAL TABLE answer_search USING fts5 (
    search_terms, content = '', tokenize = 'unicode61 remove_diacritics 0'
)
