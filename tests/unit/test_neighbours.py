"""Neighbour cosines and project centroids: kept step by step, they equal what is computed from scratch."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kb.drafts import ChunkDraft, DocumentDraft
from kb.store import documents, saving
from kb.store.database import open_for_writing, stamp_encoder
from kb.store.left_to_do import note_anew
from kb.store.neighbours import (
    chunks_around,
    has_several_projects,
    heal_neighbours,
    neighbours_of,
    read_projects,
)
from kb.store.vectors import read_vectors


def save(
    connection: sqlite3.Connection, path: str, angles: list[int], *, source: str = "s", replacing: int | None = None
) -> int:
    """A document whose chunks are unit vectors at these angles; a negative one has no vector."""
    if source not in documents.source_roots(connection):
        documents.save_source(connection, source, "/root")
    draft = DocumentDraft(
        source=source, path=path, title=path, type="markdown", language="en", tags=(), size_bytes=1, mtime_ns=1,
        content_hash=path, signature="",
    )  # fmt: skip
    rows = [
        (ChunkDraft(i, i * 10, i * 10 + 5, f"{path} {angle} {i}", (), 2, i, i), f"e{angle}")
        for i, angle in enumerate(angles)
    ]
    vectors = {
        f"e{a}": np.array([np.cos(np.radians(a)), np.sin(np.radians(a))], "<f4").tobytes() for a in angles if a >= 0
    }
    return saving.save_document(connection, draft, rows, "d", vectors, replacing).doc_id


@pytest.fixture
def store(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    connection = open_for_writing(tmp_path)
    stamp_encoder(connection, ("model", "d", 2))
    yield connection
    connection.close()


def all_ids(connection: sqlite3.Connection) -> list[int]:
    return [i for (i,) in connection.execute("SELECT chunk_id FROM chunks ORDER BY chunk_id")]


def from_scratch(connection: sqlite3.Connection) -> dict[tuple[str, str], tuple[int, list[float]]]:
    """Project sums by one loop over everything that is stored."""
    sums: dict[tuple[str, str], tuple[int, list[float]]] = {}
    several = len(documents.source_roots(connection)) > 1
    for source, path, blob in connection.execute(
        "SELECT source, path, vector FROM documents JOIN chunks USING (doc_id) JOIN embeddings USING (embed_hash)"
    ):
        folder = path.split("/")[0] if "/" in path and not several else ""
        count, total = sums.get((source, folder), (0, [0.0, 0.0]))
        vector = read_vectors([blob])[0].tolist()
        sums[source, folder] = (count + 1, [a + b for a, b in zip(total, vector, strict=True)])
    return sums


def check_projects(connection: sqlite3.Connection) -> None:
    kept = read_projects(connection, "d")
    wanted = from_scratch(connection)
    assert kept.keys() == wanted.keys()
    for key, (count, total) in wanted.items():
        assert kept[key].chunk_count == count
        assert kept[key].vector_sum.tolist() == pytest.approx(total, abs=1e-5)


def test_cosines_are_those_of_the_document(store: sqlite3.Connection) -> None:
    save(store, "a.md", [0, 60, 90])
    save(store, "b.md", [0])
    found = neighbours_of(store, "d", all_ids(store))
    a, b, c, alone = found.values()
    assert (a.before, c.after, alone.before, alone.after) == (None, None, None, None)
    assert [a.after, b.before, b.after, c.before] == pytest.approx([0.5, 0.5, 0.86603, 0.86603])
    assert [n.chunk_count for n in found.values()] == [3, 3, 3, 1]


def test_what_is_not_stored_is_computed_and_nothing_is_written(store: sqlite3.Connection) -> None:
    save(store, "a.md", [0, 60, 90])
    stored = neighbours_of(store, "d", all_ids(store))
    store.execute("DELETE FROM chunk_neighbours")
    assert neighbours_of(store, "d", all_ids(store)) == stored
    assert store.execute("SELECT count(*) FROM chunk_neighbours").fetchone() == (0,)
    store.execute("DELETE FROM projects")
    note_anew(store)
    assert heal_neighbours(store, "d") == 1
    assert neighbours_of(store, "d", all_ids(store)) == stored
    check_projects(store)
    assert heal_neighbours(store, "d") == 0


def test_another_encoders_rows_are_replaced(store: sqlite3.Connection) -> None:
    save(store, "a.md", [0, 60])
    store.execute("INSERT INTO encoders (encoder_id, digest) VALUES (9, 'old')")
    store.execute("UPDATE chunk_neighbours SET encoder_id = 9, after = 0.9 WHERE position = 0")
    store.execute("UPDATE projects SET encoder_digest = 'old'")
    heal_neighbours(store, "d")
    assert next(iter(neighbours_of(store, "d", all_ids(store)).values())).after == pytest.approx(0.5)
    check_projects(store)


def test_a_chunk_without_vector_keeps_its_document_out(store: sqlite3.Connection) -> None:
    save(store, "a.md", [0, -1, 60])
    assert read_projects(store, "d") == {}
    found = list(neighbours_of(store, "d", all_ids(store)).values())
    assert [(n.before, n.after) for n in found] == [(None, None)] * 3
    assert [n.chunk_count for n in found] == [3] * 3


def test_a_project_is_a_source_or_a_folder_at_the_top(store: sqlite3.Connection) -> None:
    save(store, "x/a.md", [0])
    assert not has_several_projects(store)
    save(store, "y/b/c.md", [30, 60])
    assert has_several_projects(store)
    assert {key: p.chunk_count for key, p in read_projects(store, "d").items()} == {("s", "x"): 1, ("s", "y"): 2}
    save(store, "z/a.md", [0], source="t")
    assert {key: p.chunk_count for key, p in read_projects(store, "d").items()} == {("s", ""): 3, ("t", ""): 1}


def test_chunks_around(store: sqlite3.Connection) -> None:
    save(store, "a.md", [0, 1, 2, 3, 4])
    save(store, "b.md", [5, 6])
    first, *_, last = all_ids(store)
    assert chunks_around(store, [first + 1, last], 1) == [first, first + 1, first + 2, last - 1, last]


steps = st.lists(
    st.tuples(st.integers(0, 3), st.lists(st.integers(0, 5).map(lambda n: n * 30), max_size=4), st.booleans()),
    max_size=8,
)


@given(steps)
@settings(max_examples=30, deadline=None)
def test_step_by_step_equals_from_scratch(work: list[tuple[int, list[int], bool]]) -> None:
    """Documents that come, change, move to another folder and go leave the sums of what is there."""
    with tempfile.TemporaryDirectory() as folder:
        connection = open_for_writing(Path(folder))
        known: dict[int, int] = {}
        for number, angles, is_moved in work:
            if not angles and number in known:
                saving.remove_documents(connection, [known.pop(number)])
            elif angles:
                path = f"{'x' if is_moved else 'y'}/{number}.md"
                known[number] = save(connection, path, angles, replacing=known.get(number))
            check_projects(connection)
        stored = neighbours_of(connection, "d", all_ids(connection))
        connection.execute("DELETE FROM chunk_neighbours")
        assert neighbours_of(connection, "d", all_ids(connection)) == stored
        connection.close()
