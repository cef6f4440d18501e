CREATE TABLE next_embed_hashes (
    chunk_id INTEGER PRIMARY KEY REFERENCES chunks (chunk_id) ON DELETE CASCADE,
    embed_hash TEXT NOT NULL        -- under which the next encoder's vector of the chunk is filed
);

CREATE INDEX next_embed_hashes_by_hash ON next_embed_hashes (embed_hash)
