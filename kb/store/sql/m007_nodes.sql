CREATE TABLE facts (
    fact_id INTEGER PRIMARY KEY AUTOINCREMENT,  -- never used twice: an old id finds nothing rather than another fact
    text TEXT NOT NULL,
    text_key TEXT NOT NULL,         -- the text without what makes no difference: case, spacing, the last stop
    search_terms TEXT NOT NULL,
    session_id TEXT,                -- null: holds in every session
    created_at TEXT NOT NULL
);

CREATE INDEX facts_by_key ON facts (text_key);

CREATE VIRTUAL TABLE fact_search USING fts5 (
    search_terms, content = 'facts', content_rowid = 'fact_id', tokenize = 'unicode61 remove_diacritics 0'
);

CREATE TRIGGER fact_added AFTER INSERT ON facts BEGIN
    INSERT INTO fact_search (rowid, search_terms) VALUES (NEW.fact_id, NEW.search_terms);
END;

CREATE TRIGGER fact_removed AFTER DELETE ON facts BEGIN
    INSERT INTO fact_search (fact_search, rowid, search_terms) VALUES ('delete', OLD.fact_id, OLD.search_terms);
END;

CREATE TABLE gists (
    doc_id INTEGER PRIMARY KEY REFERENCES documents (doc_id) ON DELETE CASCADE,
    version INTEGER NOT NULL,       -- of the way it was made
    text TEXT NOT NULL              -- empty for a document without a sentence
);

CREATE TABLE open_items (
    doc_id INTEGER NOT NULL REFERENCES documents (doc_id) ON DELETE CASCADE,
    position INTEGER NOT NULL,      -- order within the document
    line INTEGER,                   -- 1-based; null where the format has no lines
    text TEXT NOT NULL,
    PRIMARY KEY (doc_id, position)
) WITHOUT ROWID;

CREATE TABLE node_tokens (
    node TEXT PRIMARY KEY,
    runs INTEGER NOT NULL,          -- those in which it had something to say
    tokens INTEGER NOT NULL         -- of all those runs together
) WITHOUT ROWID;

CREATE INDEX documents_by_time ON documents (indexed_at);

ALTER TABLE answers ADD COLUMN relevance_json TEXT;

ALTER TABLE answers ADD COLUMN nodes_json TEXT;

ALTER TABLE answers ADD COLUMN rests_on_json TEXT;

ALTER TABLE answers ADD COLUMN standalone_question TEXT;

CREATE INDEX answers_by_session ON answers (session_id, created_at, trace_id, replay_of)
    WHERE session_id IS NOT NULL AND replay_of IS NULL   -- what a session's turns are
