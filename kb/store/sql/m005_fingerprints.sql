CREATE TABLE chunk_fingerprints (
    chunk_id INTEGER PRIMARY KEY REFERENCES chunks (chunk_id) ON DELETE CASCADE,
    fingerprint BLOB NOT NULL       -- kb.fingerprint.pack
)
