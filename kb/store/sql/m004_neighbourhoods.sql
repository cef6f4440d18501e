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
