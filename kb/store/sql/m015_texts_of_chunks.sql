CREATE TABLE text_chunks (
    chunk_id INTEGER NOT NULL REFERENCES chunks (chunk_id), -- none goes before the text is written out
    text_id INTEGER NOT NULL REFERENCES packed_texts (text_id) ON DELETE CASCADE,
    PRIMARY KEY (chunk_id, text_id)
) WITHOUT ROWID;

CREATE INDEX text_chunks_by_text ON text_chunks (text_id)
