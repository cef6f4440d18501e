"""The store: documents by path, vectors by content, revisions that rise only with change, filters, damage."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.drafts import ChunkDraft, DocumentDraft
from kb.errors import CorruptStore, InvalidInput, NotFound, NotIndexed
from kb.records import Filters
from kb.store import chunks, documents, left_to_do, saving
from kb.store.database import (
    corpus_state,
    open_for_reading,
    open_for_writing,
    snapshot,
    transaction,
)
from kb.store.filters import _literal_piece, allowed_documents, chunk_ids_of, glob_pattern

VECTOR = np.ones(4, np.float32).tobytes()


def draft(path: str, tags: tuple[str, ...] = (), **changes: object) -> DocumentDraft:
    values: dict[str, object] = {
        "source": "s",
        "path": path,
        "title": path,
        "type": "markdown",
        "language": "en",
        "tags": tags,
        "size_bytes": 10,
        "mtime_ns": 1_700_000_000 * 10**9,
        "content_hash": f"hash of {path}",
        "signature": "sig",
    }
    return DocumentDraft(**(values | changes))  # type: ignore[arg-type]


def save(connection: sqlite3.Connection, document: DocumentDraft, *texts: str, replacing: int | None = None) -> int:
    if document.source not in documents.source_roots(connection):
        documents.save_source(connection, document.source, "/root")
    rows = [
        (ChunkDraft(i, i * 10, i * 10 + 5, t, ("H", f"h{i}"), 2, i + 1, i + 2), f"e:{t}") for i, t in enumerate(texts)
    ]
    vectors = {f"e:{t}": VECTOR for t in texts}
    return saving.save_document(connection, document, rows, "digest", vectors, replacing).doc_id


@pytest.fixture
def store(tmp_path: Path):
    connection = open_for_writing(tmp_path)
    yield connection
    connection.close()


def test_reading_never_creates(tmp_path: Path) -> None:
    with pytest.raises(NotIndexed):
        open_for_reading(tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_an_empty_file_is_no_knowledge_base(tmp_path: Path) -> None:
    (tmp_path / "kb.sqlite").touch()
    with pytest.raises(NotIndexed):
        open_for_reading(tmp_path)


def test_garbage_is_reported_with_a_way_out(tmp_path: Path) -> None:
    (tmp_path / "kb.sqlite").write_bytes(b"garbage " * 2000)
    with pytest.raises(CorruptStore):
        open_for_reading(tmp_path)
    with pytest.raises(CorruptStore):
        open_for_writing(tmp_path)


def test_a_store_from_a_newer_kb_is_left_alone(tmp_path: Path, store: sqlite3.Connection) -> None:
    store.execute("INSERT INTO _sqlite_migrations (migration_set, name, applied_at) VALUES ('kb', 'm999', 'x')")
    with pytest.raises(CorruptStore, match="newer"):
        open_for_reading(tmp_path)


def test_a_document_comes_back_as_it_was(store: sqlite3.Connection) -> None:
    doc_id = save(store, draft("a#b.md", ("x", "y")), "one", "two")
    (document,) = documents.list_documents(store)
    assert (document.doc_id, document.path, document.tags) == (doc_id, "a#b.md", ("x", "y"))
    found = chunks.fetch_chunks(store, document.chunk_ids)
    assert [found[i].text for i in document.chunk_ids] == ["one", "two"]
    first = found[document.chunk_ids[0]]
    assert first.heading_path == ("H", "h0")
    assert first.citation.uri == "a%23b.md#L1-L2"
    assert dict(chunks.vector_rows(store, "digest")) == dict.fromkeys(document.chunk_ids, VECTOR)


def test_revision_and_state_change_with_every_change_and_only_then(store: sqlite3.Connection) -> None:
    states = [corpus_state(store)]
    doc_id = save(store, draft("a.md"), "one")
    states.append(corpus_state(store))
    save(store, draft("a.md"), "two", replacing=doc_id)
    states.append(corpus_state(store))
    stamp = documents.document_stamps(store, "s")[0]
    documents.touch_document(store, doc_id, stamp)
    assert corpus_state(store) == states[-1]
    saving.remove_documents(store, [doc_id])
    states.append(corpus_state(store))
    assert [s.revision for s in states] == [0, 1, 2, 3]
    assert len({s.token for s in states}) == 4


def test_replacing_keeps_the_document_and_never_reuses_a_chunk_id(store: sqlite3.Connection) -> None:
    doc_id = save(store, draft("a.md"), "one", "two")
    before = documents.list_documents(store)[0].chunk_ids
    assert save(store, draft("b.md"), "one", replacing=doc_id) == doc_id
    (document,) = documents.list_documents(store)
    assert document.path == "b.md"
    assert not set(before) & set(document.chunk_ids)
    assert chunks.fetch_chunks(store, before) == {}


def test_twins_are_two_documents_and_one_vector(store: sqlite3.Connection) -> None:
    first = save(store, draft("a.md", content_hash="same"), "one")
    save(store, draft("b.md", content_hash="same"), "one")
    assert store.execute("SELECT count(*) FROM embeddings").fetchone() == (1,)
    saving.remove_documents(store, [first])
    assert left_to_do.remove_unused_embeddings(store) == 0
    assert len(list(chunks.vector_rows(store, "digest"))) == 1


def test_what_is_removed_leaves_no_vector(store: sqlite3.Connection) -> None:
    doc_id = save(store, draft("a.md"), "one", "two")
    saving.remove_documents(store, [doc_id])
    assert left_to_do.remove_unused_embeddings(store) == 2
    assert documents.source_roots(store) == {}


def test_a_failing_transaction_leaves_nothing(store: sqlite3.Connection) -> None:
    def fail() -> None:
        with transaction(store):
            store.execute("INSERT INTO sources VALUES ('x', NULL)")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert documents.source_roots(store) == {}


def test_a_reader_sees_one_corpus_while_a_writer_commits(tmp_path: Path, store: sqlite3.Connection) -> None:
    save(store, draft("a.md"), "one")
    reader = open_for_reading(tmp_path)
    with snapshot(reader):
        assert chunks.count_chunks(reader) == 1
        save(store, draft("b.md"), "two")
        assert chunks.count_chunks(reader) == 1
    assert chunks.count_chunks(reader) == 2
    reader.close()


def test_chunks_without_a_vector_are_counted_and_healed(store: sqlite3.Connection) -> None:
    save(store, draft("a.md"), "one", "two")
    assert left_to_do.count_missing_vectors(store, "digest") == 0
    assert left_to_do.count_missing_vectors(store, "other") == 2
    rows = chunks.unembedded_chunks(store, left_to_do.chunks_without_vector(store, "other"))
    assert [r.text for r in rows] == ["one", "two"]
    chunks.save_vectors(
        store, "other", {r.chunk_id: f"new:{r.text}" for r in rows}, {f"new:{r.text}": VECTOR for r in rows}
    )
    assert left_to_do.count_missing_vectors(store, "other") == 0


def test_files_changed_last_get_their_vectors_first(store: sqlite3.Connection) -> None:
    for path, mtime_ns in (("old.md", 1), ("new.md", 3), ("between.md", 2)):
        save(store, replace(draft(path), mtime_ns=mtime_ns), f"{path} one", f"{path} two")
    waiting = left_to_do.chunks_without_vector(store, "other")
    texts = {chunk_id: chunk.text for chunk_id, chunk in chunks.fetch_chunks(store, waiting).items()}
    assert [texts[i] for i in waiting] == [
        f"{name}.md {part}" for name in ("new", "between", "old") for part in ("one", "two")
    ]


DAY = 86_400 * 10**9
FILTERED = {
    "docs/guide/a.md": (("rust", "book"), "markdown", "en", 1_700_000_000 * 10**9),
    "docs/b.pdf": (("rust",), "pdf", "en", 1_700_000_000 * 10**9 + DAY),
    "notes/c.md": ((), "markdown", "ko", 1_700_000_000 * 10**9 + 2 * DAY),
}


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (Filters(tags=("book",)), ["docs/guide/a.md"]),
        (Filters(tags=("BOOK", "nothing")), ["docs/guide/a.md"]),
        (Filters(tags=("rust",), types=("pdf",)), ["docs/b.pdf"]),
        (Filters(paths=("docs/**",)), ["docs/b.pdf", "docs/guide/a.md"]),
        (Filters(paths=("*.md",)), ["docs/guide/a.md", "notes/c.md"]),
        (Filters(paths=("docs/*",)), ["docs/b.pdf"]),
        (Filters(paths=("docs/",)), ["docs/b.pdf", "docs/guide/a.md"]),
        (Filters(languages=("ko",)), ["notes/c.md"]),
        (Filters(sources=("s",)), ["docs/b.pdf", "docs/guide/a.md", "notes/c.md"]),
        (Filters(sources=("other",)), []),
        (Filters(since="2023-11-15"), ["docs/b.pdf", "notes/c.md"]),
        (Filters(until="2023-11-14"), ["docs/guide/a.md"]),
        (Filters(since="2023-11-15", until="2023-11-15"), ["docs/b.pdf"]),
    ],
)
def test_filters(filters: Filters, expected: list[str], store: sqlite3.Connection) -> None:
    for path, (tags, kind, language, mtime) in FILTERED.items():
        save(store, draft(path, tags, type=kind, language=language, mtime_ns=mtime), f"text of {path}")
    allowed = allowed_documents(store, filters)
    assert allowed is not None
    assert sorted(d.path for d in documents.list_documents(store, allowed)) == expected
    assert len(chunk_ids_of(store, allowed)) == len(expected)


def test_no_filter_is_no_list_and_a_bad_date_is_said(store: sqlite3.Connection) -> None:
    assert allowed_documents(store, Filters()) is None
    with pytest.raises(InvalidInput, match="--since"):
        allowed_documents(store, Filters(since="someday"))


@pytest.mark.parametrize(
    ("glob", "path", "matches"),
    [
        ("*.md", "a.md", True),
        ("*.md", "x/y/a.md", True),
        ("x/*.md", "x/y/a.md", False),
        ("x/**/*.md", "x/a.md", True),
        ("x/**/*.md", "x/y/z/a.md", True),
        ("x/?.md", "x/a.md", True),
        ("x/[ab].md", "x/b.md", True),
        ("x/[!ab].md", "x/b.md", False),
        ("a.b", "axb", False),
        ("./x/a.md", "x/a.md", True),
        ("x", "x", True),
        ("*", "deep/in/here", True),
        ("a+b (1).md", "a+b (1).md", True),
        ("[", "[", True),
    ],
)
def test_globs(glob: str, path: str, matches: bool) -> None:
    assert bool(glob_pattern(glob).fullmatch(path)) is matches


def test_finding_a_document_by_what_a_user_types(store: sqlite3.Connection) -> None:
    first = save(store, draft("docs/a.md"), "1")
    save(store, draft("notes/a.md"), "2")
    assert documents.find_document(store, "docs/a.md").doc_id == first
    assert documents.find_document(store, "s/docs/a.md").doc_id == first
    assert documents.find_document(store, f"doc:{first}").doc_id == first
    with pytest.raises(NotFound, match="2 paths"):
        documents.find_document(store, "a.md")
    with pytest.raises(NotFound) as caught:
        documents.find_document(store, "docs/b.md")
    assert "docs/a.md" in caught.value.fix


@pytest.mark.parametrize(
    ("parts", "uri"),
    [
        ((12, 34, None, None), "p.md#L12-L34"),
        ((7, 7, None, None), "p.md#L7"),
        ((None, None, 13, None), "p.md#page=13"),
        ((None, None, None, "cell 3"), "p.md"),
        ((None, None, None, None), "p.md"),
    ],
)
def test_citation_uris(parts: tuple[int | None, int | None, int | None, str | None], uri: str) -> None:
    assert chunks.make_citation("p.md", *parts).uri == uri
    assert chunks.make_citation("100%#.md", *parts).uri == uri.replace("p.md", "100%25%23.md")


def test_the_same_chunks_keep_their_ids_and_raise_no_revision(store: sqlite3.Connection) -> None:
    """A reader that was bumped, or a file touched: nothing to index again."""
    doc_id = save(store, draft("a.md", ("x",)), "one", "two")
    before, state = documents.list_documents(store)[0].chunk_ids, corpus_state(store)
    save(store, draft("a.md", ("x",), signature="newer", mtime_ns=5), "one", "two", replacing=doc_id)
    assert documents.list_documents(store)[0].chunk_ids == before
    assert corpus_state(store) == state
    assert documents.document_stamps(store)[0].signature == "newer"


def test_a_move_keeps_the_chunks_and_is_a_change(store: sqlite3.Connection) -> None:
    doc_id = save(store, draft("a.md"), "one", "two")
    before, state = documents.list_documents(store)[0].chunk_ids, corpus_state(store)
    save(store, draft("b/a.md"), "one", "two", replacing=doc_id)
    assert documents.list_documents(store)[0].chunk_ids == before
    assert corpus_state(store) != state


PIECES: st.SearchStrategy[list[str]] = st.lists(
    st.sampled_from(["a", "b.md", "/", "*", "**", "**/", "?", "[ab]", "./"]), min_size=1, max_size=6
)


@given(PIECES, st.lists(st.sampled_from(["a", "b.md", "ab", "/", "a/"]), min_size=1, max_size=5))
def test_a_path_that_a_glob_matches_holds_its_piece(parts: list[str], path: list[str]) -> None:
    glob, name = "".join(parts), "".join(path)
    if glob_pattern(glob).fullmatch(name):
        assert _literal_piece(glob) in name
