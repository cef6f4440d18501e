"""A store of 32-bit vectors and long hashes → one of 16 bits and short ones: the same documents, vectors and seals."""

from __future__ import annotations

import sqlite3
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest

from kb.fixed_point import MOST
from kb.ingest.prepare import Settings
from kb.store.chunks import fetch_chunks, vector_rows
from kb.store.database import applied_migrations, open_for_writing
from kb.store.migrations import apply_migrations
from kb.store.records import teach_records
from kb.store.schema import FILE_NAME, MIGRATION_NAMES
from kb.store.seals import broken_documents, seal_all
from kb.store.soundness import find_altered, find_unreadable

TEXTS = [f"Passage {n} of the keeper's log, which says what the lamp burnt in one night." for n in range(600)]
SETTINGS = Settings(10, 20, True, "passage: ", "digest", lambda text: [], {})


def vectors() -> np.ndarray:
    found = np.random.default_rng(0).normal(size=(len(TEXTS), 64)).astype("<f4")
    return found / np.linalg.norm(found, axis=1, keepdims=True)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """As it was before m017."""
    connection = sqlite3.connect(tmp_path / FILE_NAME, isolation_level=None)
    connection.execute("PRAGMA synchronous = OFF")  # a thousand transactions
    teach_records(connection)
    apply_migrations(connection, MIGRATION_NAMES[: MIGRATION_NAMES.index("m017_less_room")])
    connection.execute(
        "INSERT INTO meta (name, value) VALUES ('encoder_digest', 'digest'), ('encoder_dimensions', '64')"
    )
    connection.execute(
        "INSERT INTO documents (doc_id, source, path, title, type, language, size_bytes, mtime_ns, content_hash, signature,"
        " indexed_at) VALUES (1, 's', 'a.md', 'A', 'markdown', 'en', 1, 1, 'c', 'g', '2026-01-01T00:00:00Z')"
    )
    for number, (text, vector) in enumerate(zip(TEXTS, vectors(), strict=True)):
        filed = sha256(f"passage: \0{text}".encode()).hexdigest()
        connection.execute(
            "INSERT INTO chunks (doc_id, position, start_char, end_char, heading_path, text, text_hash, embed_hash,"
            " token_count) VALUES (1, ?, 0, 1, '[]', ?, ?, ?, 1)",
            [number, text, sha256(text.encode()).hexdigest(), filed],
        )
        connection.execute(
            "INSERT INTO embeddings (encoder_digest, embed_hash, vector) VALUES ('digest', ?, ?)",
            [filed, vector.astype("<f4").tobytes()],
        )
    connection.execute("INSERT INTO chunk_neighbours VALUES (1, 'digest', 1, 0, 600, NULL, 0.5)")
    connection.executemany("INSERT INTO chunk_fingerprints VALUES (?, zeroblob(1085))", [(n,) for n in range(1, 601)])
    seal_all(connection)
    connection.close()
    return tmp_path


def test_all_is_there_and_takes_half_the_room(home: Path) -> None:
    before = (home / FILE_NAME).stat().st_size
    connection = open_for_writing(home)
    assert applied_migrations(connection) == list(MIGRATION_NAMES)
    found = np.stack([np.frombuffer(vector, "<f4") for _, vector in vector_rows(connection, "digest")])
    assert np.abs(found - vectors()).max() <= 1 / MOST
    assert fetch_chunks(connection, [7])[7].text_hash == sha256(TEXTS[6].encode()).hexdigest()
    names = [name for (name,) in connection.execute("SELECT embed_hash FROM chunks ORDER BY position")]
    assert names == [SETTINGS.embed_hash(text) for text in TEXTS], "a text is filed as it will be when it is read again"
    assert connection.execute(
        "SELECT digest, after FROM chunk_neighbours JOIN encoders USING (encoder_id)"
    ).fetchall() == [("digest", 0.5)]
    assert (list(broken_documents(connection)), find_unreadable(connection)) == ([], [])
    connection.close()
    assert (home / FILE_NAME).stat().st_size < 0.5 * before


def test_what_was_damaged_before_is_found_afterwards(home: Path) -> None:
    connection = sqlite3.connect(home / FILE_NAME, isolation_level=None)
    connection.execute("UPDATE chunks SET start_line = 9 WHERE chunk_id = 1")
    connection.execute("UPDATE chunks SET text_hash = 'no hash' WHERE chunk_id = 2")
    connection.execute("UPDATE embeddings SET vector = zeroblob(7) WHERE embedding_id = 3")
    connection.close()
    connection = open_for_writing(home)
    assert list(find_altered(connection).documents) == [1]
    assert len(list(vector_rows(connection, "digest"))) == len(TEXTS) - 1
    connection.close()
