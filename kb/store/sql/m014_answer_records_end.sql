INSERT INTO episodes SELECT * FROM episodes_before;

DROP TABLE episodes_before;

DROP TABLE answer_texts_before;

DROP TABLE packed_texts_before;

DROP TABLE answers_before;

CREATE UNIQUE INDEX episodes_by_trace ON episodes (trace_id);

CREATE INDEX answer_texts_by_text ON answer_texts (text_id);

CREATE INDEX answers_by_time ON answers (created_at, trace_id, grounded);

CREATE INDEX answers_by_session ON answers (session_id, created_at, trace_id, replay_of)
    WHERE session_id IS NOT NULL AND replay_of IS NULL;

CREATE TRIGGER packed_text_unused AFTER DELETE ON answer_texts BEGIN
    DELETE FROM packed_texts WHERE text_id = OLD.text_id
        AND NOT EXISTS (SELECT 1 FROM answer_texts WHERE text_id = OLD.text_id);
END
