CREATE TABLE revisions (
    revision INTEGER PRIMARY KEY,
    state TEXT NOT NULL,            -- the corpus_state of that revision
    lexical_change INTEGER NOT NULL,    -- the last change_id of each log when that revision was written
    vector_change INTEGER NOT NULL
);

CREATE TABLE lexical_changes (      -- chunks whose row in the lexical index is another one now, or gone
    change_id INTEGER PRIMARY KEY AUTOINCREMENT,
    chunk_id INTEGER NOT NULL,
    doc_id INTEGER NOT NULL
);

CREATE TABLE vector_changes (       -- the same of the vector index
    change_id INTEGER PRIMARY KEY AUTOINCREMENT,
    chunk_id INTEGER NOT NULL,
    doc_id INTEGER NOT NULL
);

INSERT INTO revisions (revision, state, lexical_change, vector_change)
    SELECT CAST(value AS INTEGER), (SELECT value FROM meta WHERE name = 'corpus_state'), 0, 0
    FROM meta WHERE name = 'corpus_revision';

CREATE TRIGGER chunk_added AFTER INSERT ON chunks BEGIN
    INSERT INTO lexical_changes (chunk_id, doc_id) VALUES (NEW.chunk_id, NEW.doc_id);
    INSERT INTO vector_changes (chunk_id, doc_id) SELECT NEW.chunk_id, NEW.doc_id
        WHERE EXISTS (SELECT 1 FROM embeddings WHERE embed_hash = NEW.embed_hash);
END;

CREATE TRIGGER chunk_removed AFTER DELETE ON chunks BEGIN
    INSERT INTO lexical_changes (chunk_id, doc_id) VALUES (OLD.chunk_id, OLD.doc_id);
    INSERT INTO vector_changes (chunk_id, doc_id) SELECT OLD.chunk_id, OLD.doc_id
        WHERE EXISTS (SELECT 1 FROM embeddings WHERE embed_hash = OLD.embed_hash);
END;

CREATE TRIGGER chunk_rewritten AFTER UPDATE OF doc_id, heading_path, text ON chunks BEGIN
    INSERT INTO lexical_changes (chunk_id, doc_id) VALUES (NEW.chunk_id, NEW.doc_id);
END;

CREATE TRIGGER chunk_embedded AFTER UPDATE OF embed_hash ON chunks WHEN NEW.embed_hash IS NOT OLD.embed_hash BEGIN
    INSERT INTO vector_changes (chunk_id, doc_id) VALUES (NEW.chunk_id, NEW.doc_id);
END;

CREATE TRIGGER document_renamed AFTER UPDATE OF title ON documents WHEN NEW.title IS NOT OLD.title BEGIN
    INSERT INTO lexical_changes (chunk_id, doc_id) SELECT chunk_id, doc_id FROM chunks WHERE doc_id = NEW.doc_id;
END;

CREATE TRIGGER vector_added AFTER INSERT ON embeddings
WHEN NEW.encoder_digest = (SELECT value FROM meta WHERE name = 'encoder_digest') BEGIN
    INSERT INTO vector_changes (chunk_id, doc_id) SELECT chunk_id, doc_id FROM chunks WHERE embed_hash = NEW.embed_hash;
END;

CREATE TRIGGER vector_removed AFTER DELETE ON embeddings BEGIN
    INSERT INTO vector_changes (chunk_id, doc_id) SELECT chunk_id, doc_id FROM chunks WHERE embed_hash = OLD.embed_hash;
END;

CREATE TRIGGER vector_replaced AFTER UPDATE OF vector ON embeddings BEGIN
    INSERT INTO vector_changes (chunk_id, doc_id) SELECT chunk_id, doc_id FROM chunks WHERE embed_hash = NEW.embed_hash;
END
