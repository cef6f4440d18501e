DROP TRIGGER chunk_added;

DROP TRIGGER chunk_removed;

DROP TRIGGER chunk_embedded;

DROP TRIGGER vector_added;

DROP TRIGGER vector_removed;

DROP TRIGGER vector_replaced;

DROP TABLE chunk_fingerprints;

CREATE TABLE encoders (
    encoder_id INTEGER PRIMARY KEY,
    digest TEXT NOT NULL UNIQUE
);

INSERT INTO encoders (digest)
    SELECT encoder_digest FROM embeddings UNION SELECT encoder_digest FROM chunk_neighbours;

ALTER TABLE embeddings RENAME TO embeddings_before;

CREATE TABLE embeddings (
    embedding_id INTEGER PRIMARY KEY,
    encoder_id INTEGER NOT NULL REFERENCES encoders (encoder_id),
    embed_hash TEXT NOT NULL,       -- of the prefix and the text that were embedded, as kb.ingest.prepare makes it
    vector BLOB NOT NULL,           -- its scale, float32, and its numbers, int16, little endian; unit length
    UNIQUE (embed_hash, encoder_id)
);

INSERT INTO embeddings (embedding_id, encoder_id, embed_hash, vector)
    SELECT embedding_id, encoder_id, short_hash(embed_hash), packed(vector)
    FROM embeddings_before JOIN encoders ON digest = encoder_digest ORDER BY embedding_id;

DROP TABLE embeddings_before;

ALTER TABLE chunk_neighbours RENAME TO chunk_neighbours_before;

DROP INDEX chunk_neighbours_by_document;

CREATE TABLE chunk_neighbours (
    chunk_id INTEGER PRIMARY KEY REFERENCES chunks (chunk_id) ON DELETE CASCADE,
    encoder_id INTEGER NOT NULL REFERENCES encoders (encoder_id),
    doc_id INTEGER NOT NULL,
    position INTEGER NOT NULL,
    chunk_count INTEGER NOT NULL,   -- of its document
    before REAL,                    -- cosine to the chunk before; null at the beginning
    after REAL
);

CREATE INDEX chunk_neighbours_by_document ON chunk_neighbours (doc_id);

INSERT INTO chunk_neighbours (chunk_id, encoder_id, doc_id, position, chunk_count, before, after)
    SELECT chunk_id, encoder_id, doc_id, position, chunk_count, before, after
    FROM chunk_neighbours_before JOIN encoders ON digest = encoder_digest ORDER BY chunk_id;

DROP TABLE chunk_neighbours_before;

ALTER TABLE chunks ADD COLUMN text_digest BLOB NOT NULL DEFAULT x'';

UPDATE chunks SET embed_hash = short_hash(embed_hash), text_digest = unhexed(text_hash);

ALTER TABLE chunks DROP COLUMN text_hash;

UPDATE next_embed_hashes SET embed_hash = short_hash(embed_hash);

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

CREATE TRIGGER chunk_embedded AFTER UPDATE OF embed_hash ON chunks WHEN NEW.embed_hash IS NOT OLD.embed_hash BEGIN
    INSERT INTO vector_changes (chunk_id, doc_id) VALUES (NEW.chunk_id, NEW.doc_id);
END;

CREATE TRIGGER vector_added AFTER INSERT ON embeddings
WHEN NEW.encoder_id = (SELECT encoder_id FROM encoders JOIN meta ON digest = value WHERE name = 'encoder_digest') BEGIN
    INSERT INTO vector_changes (chunk_id, doc_id) SELECT chunk_id, doc_id FROM chunks WHERE embed_hash = NEW.embed_hash;
END;

CREATE TRIGGER vector_removed AFTER DELETE ON embeddings BEGIN
    INSERT INTO vector_changes (chunk_id, doc_id) SELECT chunk_id, doc_id FROM chunks WHERE embed_hash = OLD.embed_hash;
END;

CREATE TRIGGER vector_replaced AFTER UPDATE OF vector ON embeddings BEGIN
    INSERT INTO vector_changes (chunk_id, doc_id) SELECT chunk_id, doc_id FROM chunks WHERE embed_hash = NEW.embed_hash;
END
