"""Vectors of the next encoder beside those in use: begun, gone on with, given up, switched."""

from __future__ import annotations

import sqlite3
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest

from kb.store.chunks import vector_rows
from kb.store.database import corpus_state, open_for_writing, stamp_encoder, stored_encoder, stored_prefixes
from kb.store.encoder_change import (
    begin_change,
    chunks_without_next,
    give_up_change,
    next_encoder,
    save_next_vectors,
    switch_encoder,
)
from kb.store.left_to_do import remove_unused_embeddings
from kb.store.saving import remove_documents
from kb.store.vectors import file_vectors

OLD, NEW = ("old", "o" * 64, 2), ("new", "n" * 64, 3)
PREFIXES = ("query: ", "passage: ")
# Three dimensions of 4 bytes; an old one has two.
VECTOR, OLD_VECTOR = struct.pack("<3f", 1, 0, 0), struct.pack("<2f", 0, 1)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """Three documents of one chunk each, with vectors of the old encoder."""
    connection = open_for_writing(tmp_path)
    connection.execute("INSERT INTO sources (source, root) VALUES ('s', '/')")
    stamp_encoder(connection, OLD)
    for n in (1, 2, 3):
        connection.execute(
            "INSERT INTO documents (doc_id, source, path, title, type, language, size_bytes, mtime_ns, content_hash,"
            " signature, indexed_at) VALUES (?, 's', ?, 'T', 'text', 'en', 1, 1, 'c', 'g', '2026-01-01')",
            [n, f"{n}.txt"],
        )
        connection.execute(
            "INSERT INTO chunks (chunk_id, doc_id, position, start_char, end_char, heading_path, text, embed_hash,"
            " token_count) VALUES (?, ?, 0, 0, 1, '[]', 'x', ?, 1)",
            [n, n, f"old{n}"],
        )
        file_vectors(connection, OLD[1], {f"old{n}": OLD_VECTOR})
    yield connection
    connection.close()


def keep(store: sqlite3.Connection, *chunk_ids: int) -> None:
    save_next_vectors(store, NEW[1], {n: f"new{n}" for n in chunk_ids}, {f"new{n}": VECTOR for n in chunk_ids})


def test_the_old_vectors_are_in_use_until_the_switch(store: sqlite3.Connection) -> None:
    before = corpus_state(store)
    assert begin_change(store, NEW, PREFIXES) == 0
    keep(store, 1, 2)
    assert [row.chunk_id for row in chunks_without_next(store, 0, 9)] == [3]
    assert chunks_without_next(store, 3, 9) == []
    assert remove_unused_embeddings(store) == 0, "neither encoder's vectors are unused"
    assert not switch_encoder(store), "one chunk has none"
    assert corpus_state(store) == before
    assert len(list(vector_rows(store, OLD[1]))) == 3
    keep(store, 3)
    assert switch_encoder(store)
    assert corpus_state(store).revision == before.revision + 1
    assert (stored_encoder(store), stored_prefixes(store)) == (NEW, PREFIXES)
    assert dict(vector_rows(store, NEW[1])) == {1: VECTOR, 2: VECTOR, 3: VECTOR}
    assert next_encoder(store) is None
    assert remove_unused_embeddings(store) == 3
    assert not switch_encoder(store), "nothing has begun"


def test_the_same_change_goes_on_and_another_begins_anew(store: sqlite3.Connection) -> None:
    begin_change(store, NEW, PREFIXES)
    keep(store, 1, 2)
    assert begin_change(store, NEW, PREFIXES) == 2
    assert begin_change(store, NEW, ("query: ", "other: ")) == 0
    keep(store, 1)
    assert begin_change(store, ("third", "3" * 64, 4), PREFIXES) == 0
    assert remove_unused_embeddings(store) == 2, "those of the change that was given up"


def test_removed_documents_and_given_up_changes_leave_nothing(store: sqlite3.Connection) -> None:
    begin_change(store, NEW, PREFIXES)
    keep(store, 1, 2, 3)
    remove_documents(store, [1])
    found = next_encoder(store)
    assert found is not None
    assert found.chunks_done == 2
    keep(store, 1)  # a batch that was under way when the document went
    assert store.execute("SELECT count(*) FROM next_embed_hashes").fetchone() == (2,)
    give_up_change(store)
    assert next_encoder(store) is None
    assert remove_unused_embeddings(store) == 4, "three new ones, and the old one of the removed document"
    assert stored_encoder(store) == OLD
