CREATE TABLE waiting_chunks (       -- chunks that have no vector of the encoder that the store names
    chunk_id INTEGER PRIMARY KEY REFERENCES chunks (chunk_id) ON DELETE CASCADE
);

CREATE TABLE documents_to_complete ( -- whose chunks, or their vectors, have changed since their cosines were computed
    doc_id INTEGER PRIMARY KEY REFERENCES documents (doc_id) ON DELETE CASCADE
);

CREATE TABLE left_hashes (          -- of vectors that a chunk has left, or that came without one: unused but for other chunks
    embed_hash TEXT PRIMARY KEY
) WITHOUT ROWID;

CREATE TABLE graph_counts (         -- how many rows of graph_names have a kind, and of graph_edges a predicate
    counted TEXT NOT NULL,          -- names, edges
    value TEXT NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (counted, value)
) WITHOUT ROWID;

INSERT INTO waiting_chunks (chunk_id) SELECT chunk_id FROM chunks WHERE NOT EXISTS (
    SELECT 1 FROM embeddings JOIN encoders USING (encoder_id) JOIN meta ON digest = value
    WHERE name = 'encoder_digest' AND embeddings.embed_hash = chunks.embed_hash);

INSERT INTO documents_to_complete (doc_id) SELECT DISTINCT doc_id FROM chunks
    WHERE NOT EXISTS (SELECT 1 FROM chunk_neighbours WHERE chunk_neighbours.chunk_id = chunks.chunk_id);

INSERT INTO left_hashes (embed_hash) SELECT DISTINCT embed_hash FROM embeddings
    WHERE NOT EXISTS (SELECT 1 FROM chunks WHERE chunks.embed_hash = embeddings.embed_hash);

INSERT INTO graph_counts (counted, value, count)
    SELECT 'names', kind, count(*) FROM graph_names GROUP BY kind
    UNION ALL SELECT 'edges', predicate, count(*) FROM graph_edges GROUP BY predicate;

CREATE TRIGGER chunk_waits AFTER INSERT ON chunks WHEN NOT EXISTS (
    SELECT 1 FROM embeddings JOIN encoders USING (encoder_id) JOIN meta ON digest = value
    WHERE name = 'encoder_digest' AND embed_hash = NEW.embed_hash) BEGIN
    INSERT INTO waiting_chunks (chunk_id) VALUES (NEW.chunk_id);
END;

CREATE TRIGGER chunk_to_complete AFTER INSERT ON chunks BEGIN
    INSERT OR IGNORE INTO documents_to_complete (doc_id) VALUES (NEW.doc_id);
END;

CREATE TRIGGER chunk_leaves_vector AFTER DELETE ON chunks BEGIN
    INSERT OR IGNORE INTO left_hashes (embed_hash) VALUES (OLD.embed_hash);
END;

CREATE TRIGGER chunk_changes_vector AFTER UPDATE OF embed_hash ON chunks WHEN NEW.embed_hash IS NOT OLD.embed_hash BEGIN
    INSERT OR IGNORE INTO left_hashes (embed_hash) VALUES (OLD.embed_hash);
    INSERT OR IGNORE INTO documents_to_complete (doc_id) VALUES (NEW.doc_id);
    DELETE FROM waiting_chunks WHERE chunk_id = NEW.chunk_id;
    INSERT INTO waiting_chunks (chunk_id) SELECT NEW.chunk_id WHERE NOT EXISTS (
        SELECT 1 FROM embeddings JOIN encoders USING (encoder_id) JOIN meta ON digest = value
        WHERE name = 'encoder_digest' AND embed_hash = NEW.embed_hash);
END;

CREATE TRIGGER vector_comes AFTER INSERT ON embeddings BEGIN
    DELETE FROM waiting_chunks WHERE chunk_id IN (SELECT chunk_id FROM chunks WHERE embed_hash = NEW.embed_hash)
        AND NEW.encoder_id = (SELECT encoder_id FROM encoders JOIN meta ON digest = value WHERE name = 'encoder_digest');
    INSERT OR IGNORE INTO left_hashes (embed_hash) SELECT NEW.embed_hash
        WHERE NOT EXISTS (SELECT 1 FROM chunks WHERE embed_hash = NEW.embed_hash);
END;

CREATE TRIGGER vector_goes AFTER DELETE ON embeddings BEGIN
    INSERT OR IGNORE INTO waiting_chunks (chunk_id) SELECT chunk_id FROM chunks WHERE embed_hash = OLD.embed_hash
        AND OLD.encoder_id = (SELECT encoder_id FROM encoders JOIN meta ON digest = value WHERE name = 'encoder_digest');
END;

CREATE TRIGGER next_vector_left AFTER DELETE ON next_embed_hashes BEGIN
    INSERT OR IGNORE INTO left_hashes (embed_hash) VALUES (OLD.embed_hash);
END;

CREATE TRIGGER next_vector_replaced BEFORE INSERT ON next_embed_hashes BEGIN
    INSERT OR IGNORE INTO left_hashes (embed_hash)
        SELECT embed_hash FROM next_embed_hashes WHERE chunk_id = NEW.chunk_id;
END;

CREATE TRIGGER encoder_named BEFORE INSERT ON meta WHEN NEW.name = 'encoder_digest'
    AND NEW.value IS NOT (SELECT value FROM meta WHERE name = 'encoder_digest') BEGIN
    DELETE FROM waiting_chunks;
    INSERT INTO waiting_chunks (chunk_id) SELECT chunk_id FROM chunks WHERE NOT EXISTS (
        SELECT 1 FROM embeddings JOIN encoders USING (encoder_id)
        WHERE digest = NEW.value AND embeddings.embed_hash = chunks.embed_hash);
END;

CREATE TRIGGER graph_name_added AFTER INSERT ON graph_names BEGIN
    INSERT INTO graph_counts (counted, value, count) VALUES ('names', NEW.kind, 1)
        ON CONFLICT (counted, value) DO UPDATE SET count = count + 1;
END;

CREATE TRIGGER graph_name_removed AFTER DELETE ON graph_names BEGIN
    UPDATE graph_counts SET count = count - 1 WHERE counted = 'names' AND value = OLD.kind;
END;

CREATE TRIGGER graph_edge_added AFTER INSERT ON graph_edges BEGIN
    INSERT INTO graph_counts (counted, value, count) VALUES ('edges', NEW.predicate, 1)
        ON CONFLICT (counted, value) DO UPDATE SET count = count + 1;
END;

CREATE TRIGGER graph_edge_removed AFTER DELETE ON graph_edges BEGIN
    UPDATE graph_counts SET count = count - 1 WHERE counted = 'edges' AND value = OLD.predicate;
END
