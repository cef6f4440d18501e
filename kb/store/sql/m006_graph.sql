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
