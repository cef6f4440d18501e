"""What triggers note of vectors, cosines and the graph is what a look at everything finds, after any edits."""

from __future__ import annotations

import sqlite3
import struct
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kb.drafts import ChunkDraft, DocumentDraft, EdgeDraft, EndDraft, GraphDraft, NameDraft
from kb.store import chunks, documents, encoder_change, saving
from kb.store.database import open_for_writing, stamp_encoder, stored_encoder
from kb.store.graph import count_graph
from kb.store.left_to_do import (
    chunks_without_vector,
    count_missing_vectors,
    count_wrong_notes,
    note_anew,
    remove_unused_embeddings,
)
from kb.store.neighbours import heal_neighbours
from kb.store.soundness import find_unreadable, look_over

ENCODERS = (("first", "f" * 64, 2), ("second", "s" * 64, 2))
VECTOR = struct.pack("<2f", 1, 0)
# A document's number, and its chunks: a text, and whether its vector is there when it is saved.
DOCUMENT = st.tuples(st.integers(0, 3), st.lists(st.tuples(st.integers(0, 4), st.booleans()), max_size=3))


def save(store: sqlite3.Connection, number: int, texts: list[tuple[int, bool]]) -> None:
    path = f"{number}.md"
    rows = store.execute("SELECT doc_id FROM documents WHERE path = ?", [path]).fetchall()
    draft = DocumentDraft("s", path, path, "markdown", "en", (), 1, 1, "c", "g")
    drafts = [(ChunkDraft(i, 0, 1, f"{text}", (), 1), f"e{text}") for i, (text, _) in enumerate(texts)]
    vectors = {f"e{text}": VECTOR for text, has_vector in texts if has_vector}
    names = tuple(NameDraft("entity", f"n{text}", f"n{text}", "name") for text, _ in texts)
    end = EndDraft("entity", "e", "E", True)
    edges = (EdgeDraft(end, "links_to", end),) if texts else ()
    digest = stored_encoder(store)[1]
    saving.save_document(store, draft, drafts, digest, vectors, rows[0][0] if rows else None, GraphDraft(names, edges))


def embed(store: sqlite3.Connection) -> None:
    digest = stored_encoder(store)[1]
    for chunk_id in chunks_without_vector(store, digest)[:2]:
        chunks.save_vectors(store, digest, {chunk_id: f"new{chunk_id}"}, {f"new{chunk_id}": VECTOR})


def change_encoder(store: sqlite3.Connection, *, to_the_end: bool) -> None:
    other = next(encoder for encoder in ENCODERS if encoder != stored_encoder(store))
    encoder_change.begin_change(store, other, ("", ""))
    for (chunk_id,) in store.execute("SELECT chunk_id FROM chunks").fetchall():
        encoder_change.save_next_vectors(store, other[1], {chunk_id: f"x{chunk_id}"}, {f"x{chunk_id}": VECTOR})
    if not (to_the_end and encoder_change.switch_encoder(store)):
        encoder_change.give_up_change(store)


STEPS = st.one_of(
    st.tuples(st.just("save"), DOCUMENT),
    st.tuples(st.sampled_from(["remove", "embed", "heal", "change", "give up", "stamp", "unused"]), st.integers(0, 3)),
)


@settings(max_examples=30)
@given(st.lists(STEPS, max_size=12))
def test_notes_are_what_everything_shows(steps: list[tuple[str, object]]) -> None:
    with tempfile.TemporaryDirectory() as folder, closing(open_for_writing(Path(folder))) as store:
        documents.save_source(store, "s", "/")
        stamp_encoder(store, ENCODERS[0])
        for step, given_ in steps:
            if step == "save" and isinstance(given_, tuple):
                save(store, *given_)
            elif step == "remove":
                saving.remove_documents(
                    store, [row[0] for row in store.execute("SELECT doc_id FROM documents LIMIT 1")]
                )
                documents.save_source(store, "s", "/")
            elif step == "embed":
                embed(store)
            elif step == "heal":
                heal_neighbours(store, stored_encoder(store)[1])
            elif step == "unused":
                remove_unused_embeddings(store)
            elif step == "stamp":
                stamp_encoder(store, ENCODERS[int(given_ == 1)])
            else:
                change_encoder(store, to_the_end=step == "change")
            assert count_wrong_notes(store) == 0
        remove_unused_embeddings(store)
        used = {row[0] for row in store.execute("SELECT embed_hash FROM chunks")}
        assert {row[0] for row in store.execute("SELECT embed_hash FROM embeddings")} <= used


@pytest.fixture
def store(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    with closing(open_for_writing(tmp_path)) as connection:
        documents.save_source(connection, "s", "/")
        stamp_encoder(connection, ENCODERS[0])
        save(connection, 0, [(0, True), (1, False), (2, False)])
        yield connection


def test_a_chunk_waits_until_its_vector_comes(store: sqlite3.Connection) -> None:
    assert count_missing_vectors(store, ENCODERS[0][1]) == 2
    assert count_missing_vectors(store, ENCODERS[1][1]) == 3, "another encoder has made none"
    embed(store)
    assert chunks_without_vector(store, ENCODERS[0][1]) == []
    assert count_graph(store) == ({"entity": 3}, {"links_to": 1})


@pytest.mark.parametrize(
    "damage",
    [
        "DELETE FROM waiting_chunks",
        "INSERT INTO waiting_chunks SELECT min(chunk_id) FROM chunks",
        "DELETE FROM documents_to_complete",
        "UPDATE graph_counts SET count = count + 1",
        "INSERT INTO embeddings (encoder_id, embed_hash, vector) VALUES (1, 'unused', x''); DELETE FROM left_hashes",
    ],
)
def test_wrong_notes_are_found_and_put_right(store: sqlite3.Connection, damage: str) -> None:
    store.executescript(damage)
    assert count_wrong_notes(store) > 0
    note_anew(store)
    assert count_wrong_notes(store) == 0


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE documents SET title = x'00'",
        "UPDATE chunks SET heading_path = '{' WHERE position = 2",
        "PRAGMA foreign_keys = OFF; DELETE FROM documents",
    ],
)
def test_a_look_at_a_part_sees_damage_there(store: sqlite3.Connection, damage: str) -> None:
    assert look_over(store, 10) == []
    store.executescript(damage)
    assert look_over(store, 10)


def test_of_a_large_table_some_rows_are_looked_at(store: sqlite3.Connection) -> None:
    store.execute("UPDATE chunks SET text = x'00' WHERE position = 2")
    assert look_over(store, 2) == []
    assert find_unreadable(store, 3) == ["1 unreadable values in chunks.text"]


def test_a_sample_is_spread_over_many_chunks(store: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    save(store, 1, [(3, True)] * 30)
    digest = stored_encoder(store)[1]
    few = chunks.sample_vectors(store, digest, 4)
    monkeypatch.setattr(chunks, "FEW_CHUNKS", 5)
    many = chunks.sample_vectors(store, digest, 4)
    assert len(few) == len(many) == 4
    assert many == chunks.sample_vectors(store, digest, 4)
