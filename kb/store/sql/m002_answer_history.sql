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
