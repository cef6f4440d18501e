"""Fingerprints in the store: written with a document, gone with it, made anew where they are missing or outdated."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from sqlite_utils import Database

from kb.drafts import ChunkDraft, DocumentDraft
from kb.fingerprint import Shape, fingerprint
from kb.store import documents, saving
from kb.store.database import open_for_writing
from kb.store.fingerprints import fetch_fingerprints
from kb.store.migrations import migrations
from kb.store.schema import FILE_NAME

TEXTS = ("The mirror of Marigold is cleaned twice a year.", "거울은 한 해에 두 번 닦는다.", "---")


@pytest.fixture
def store(tmp_path: Path):
    connection = open_for_writing(tmp_path)
    documents.save_source(connection, "s", "/root")
    yield connection
    connection.close()


def save(connection: sqlite3.Connection, *texts: str, replacing: int | None = None) -> int:
    draft = DocumentDraft("s", "a.md", "a", "markdown", "en", (), 1, 1, "hash", "signature")
    rows = [(ChunkDraft(i, 0, len(text), text, (), 2, 1, 2), f"e:{text}") for i, text in enumerate(texts)]
    return saving.save_document(connection, draft, rows, "digest", {}, replacing).doc_id


def chunk_ids(connection: sqlite3.Connection) -> list[int]:
    return [row[0] for row in connection.execute("SELECT chunk_id FROM chunks ORDER BY position")]


def test_every_chunk_has_its_fingerprint(store: sqlite3.Connection) -> None:
    save(store, *TEXTS)
    ids = chunk_ids(store)
    assert fetch_fingerprints(store, ids) == {i: fingerprint(text) for i, text in zip(ids, TEXTS, strict=True)}
    assert fetch_fingerprints(store, [*ids, 999]) == fetch_fingerprints(store, ids)
    assert fetch_fingerprints(store, []) == {}


def test_they_go_with_their_chunks(store: sqlite3.Connection) -> None:
    doc_id = save(store, *TEXTS)
    before = chunk_ids(store)
    save(store, "another text", replacing=doc_id)
    assert fetch_fingerprints(store, before) == {}
    assert list(fetch_fingerprints(store, chunk_ids(store)).values()) == [fingerprint("another text")]
    saving.remove_documents(store, [doc_id])
    assert store.execute("SELECT count(*) FROM chunk_fingerprints").fetchone() == (0,)


def test_what_an_earlier_kb_left_is_filled_in_when_the_document_is_written_again(store: sqlite3.Connection) -> None:
    doc_id = save(store, *TEXTS)
    ids = chunk_ids(store)
    store.execute("DELETE FROM chunk_fingerprints WHERE chunk_id = ?", [ids[0]])
    store.execute(
        "UPDATE chunk_fingerprints SET fingerprint = CAST(? || substr(fingerprint, 6) AS BLOB) WHERE chunk_id = ?",
        [b"kbfp\x00", ids[1]],
    )
    assert fetch_fingerprints(store, ids) == {ids[2]: fingerprint(TEXTS[2])}
    saved = saving.save_document(
        store,
        DocumentDraft("s", "a.md", "a", "markdown", "en", (), 1, 1, "hash", "signature"),
        [(ChunkDraft(i, 0, len(text), text, (), 2, 1, 2), f"e:{text}") for i, text in enumerate(TEXTS)],
        "digest",
        {},
        doc_id,
    )
    assert saved.chunks_written == 0
    assert chunk_ids(store) == ids
    assert list(fetch_fingerprints(store, ids).values()) == [fingerprint(text) for text in TEXTS]


def test_another_shape_is_not_in_the_store(store: sqlite3.Connection) -> None:
    save(store, *TEXTS)
    assert fetch_fingerprints(store, chunk_ids(store), Shape(7, 128)) == {}
    assert fetch_fingerprints(store, chunk_ids(store), Shape(5, 64)) == {}


def test_a_home_of_an_earlier_kb_gets_the_table_and_keeps_its_chunks(tmp_path: Path) -> None:
    earlier = sqlite3.connect(tmp_path / FILE_NAME)
    migrations.apply(Database(earlier), stop_before="m005_fingerprints")
    earlier.execute("INSERT INTO sources (source, root) VALUES ('s', '/root')")
    earlier.execute(
        "INSERT INTO documents (doc_id, source, path, title, type, language, size_bytes, mtime_ns, content_hash, signature,"
        " indexed_at) VALUES (1, 's', 'a.md', 'a', 'markdown', 'en', 1, 1, 'h', '', '')"
    )
    earlier.executemany(
        "INSERT INTO chunks (doc_id, position, start_char, end_char, start_line, end_line, heading_path, text, text_hash,"
        " embed_hash, token_count) VALUES (1, ?, 0, 1, 1, 1, '[]', ?, '', ?, 2)",
        [(i, text, f"e{i}") for i, text in enumerate(TEXTS)],
    )
    earlier.commit()
    earlier.close()
    connection = open_for_writing(tmp_path)
    assert len(chunk_ids(connection)) == len(TEXTS)
    assert fetch_fingerprints(connection, chunk_ids(connection)) == {}
    connection.close()
