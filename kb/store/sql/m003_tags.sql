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
