CREATE UNIQUE INDEX answers_by_search_id ON answers (search_id);

CREATE VIEW answer_search_rows AS SELECT search_id, search_terms FROM answers;

CREATE VIRTUAL TABLE answer_search USING fts5 (
    search_terms, content = 'answer_search_rows', content_rowid = 'search_id', tokenize = 'unicode61 remove_diacritics 0'
);

INSERT INTO answer_search (answer_search) VALUES ('rebuild');

CREATE TRIGGER answer_added AFTER INSERT ON answers BEGIN
    INSERT INTO answer_search (rowid, search_terms) VALUES (NEW.search_id, NEW.search_terms);
END;

CREATE TRIGGER answer_removed AFTER DELETE ON answers BEGIN
    INSERT INTO answer_search (answer_search, rowid, search_terms) VALUES ('delete', OLD.search_id, OLD.search_terms);
END;

CREATE TRIGGER answer_changed AFTER UPDATE OF search_id, search_terms ON answers BEGIN
    INSERT INTO answer_search (answer_search, rowid, search_terms) VALUES ('delete', OLD.search_id, OLD.search_terms);
    INSERT INTO answer_search (rowid, search_terms) VALUES (NEW.search_id, NEW.search_terms);
END;

CREATE TRIGGER packed_text_unused AFTER DELETE ON answer_texts BEGIN
    DELETE FROM packed_texts WHERE text_hash = OLD.text_hash
        AND NOT EXISTS (SELECT 1 FROM answer_texts WHERE text_hash = OLD.text_hash);
END
