"""Every engine of a corpus keeps, replaces, filters, finds and removes documents in the same way."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kb.corpora import IndexesDoor
from kb.drafts import DocumentNotes, OpenItem
from kb.errors import InvalidInput, NotFound
from kb.records import Filters
from kb.store.protocol import CorpusDoor
from kb.store.tags import StoredVocabulary
from tests.contract.corpora import ENCODER, ENGINES, a_document, open_corpus, save

DAY = 86_400 * 10**9


def unit(*numbers: float) -> bytes:
    row = np.array(numbers, np.float32)
    return (row / np.linalg.norm(row)).astype("<f4").tobytes()


@pytest.fixture(scope="module")
def milvus_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("milvus") / "corpus.db"


@pytest.fixture(params=ENGINES)
def opened(
    request: pytest.FixtureRequest, milvus_file: Path, tmp_path: Path
) -> Iterator[tuple[CorpusDoor, IndexesDoor]]:
    with open_corpus(request.param, milvus_file, tmp_path / "home") as both:
        yield both


@pytest.fixture
def corpus(opened: tuple[CorpusDoor, IndexesDoor]) -> CorpusDoor:
    return opened[0]


def test_a_document_comes_back_as_it_was(corpus: CorpusDoor) -> None:
    assert not corpus.has_documents()
    doc_id = save(corpus, a_document("a#b.md", ("y", "x"), language="ko"), "one", "둘 two")
    (document,) = corpus.list_documents()
    assert (document.doc_id, document.path, document.tags, document.language) == (doc_id, "a#b.md", ("x", "y"), "ko")
    chunks = corpus.chunks_of_document(doc_id)
    assert [chunk.chunk_id for chunk in chunks] == list(document.chunk_ids)
    assert [chunk.text for chunk in chunks] == ["one", "둘 two"]
    second = chunks[1]
    assert (second.citation.uri, second.heading_path, second.position) == ("a%23b.md#L2-L3", ("H", "h1"), 1)
    assert (second.start, second.end, second.token_count, second.tags) == (10, 15, 2, ("x", "y"))
    assert corpus.fetch_chunks([*document.chunk_ids, 12345]) == {c.chunk_id: c for c in chunks}
    assert corpus.find_document("s/a#b.md") == corpus.find_document(f"doc:{doc_id}") == document
    assert corpus.texts_around(doc_id, 0, 1) == ["one", "둘 two"]
    assert corpus.first_chunks([doc_id, 12345]) == {doc_id: chunks[0]}
    assert corpus.first_chunks([]) == {}
    assert corpus.chunks_at_lines("a#b.md", 3, 9) == [("/root", False, "둘 two")]
    assert corpus.neighbours.chunks_around([document.chunk_ids[0]], 5) == list(document.chunk_ids)
    with pytest.raises(NotFound):
        corpus.find_document("c.md")


def test_replacing_keeps_the_id_and_leaves_nothing_of_the_old_text(opened: tuple[CorpusDoor, IndexesDoor]) -> None:
    corpus, indexes = opened
    save(corpus, a_document("other.md"), "nothing of it")
    first = save(corpus, a_document("a.md"), "old words", "more old words")
    old = corpus.find_document("a.md").chunk_ids
    again = save(corpus, a_document("b.md", content_hash="new"), "fresh text", replacing=first)
    assert again == first
    assert corpus.existing_chunks(old) <= set(corpus.find_document("b.md").chunk_ids)
    assert [c.text for c in corpus.chunks_of_document(first)] == ["fresh text"]
    assert corpus.count_chunks() == 2
    indexes.refresh_lexical()
    index = indexes.lexical.index()
    assert not index.search(["old"], 10)
    assert [i for i, _ in index.search(["fresh"], 10)] == list(corpus.find_document("b.md").chunk_ids)


def test_a_document_that_did_not_change_is_not_written(corpus: CorpusDoor) -> None:
    doc_id = save(corpus, a_document("a.md"), "one")
    before, chunk_ids = corpus.state(), corpus.find_document("a.md").chunk_ids
    save(corpus, a_document("a.md"), "one", replacing=doc_id)
    assert corpus.state() == before
    save(corpus, a_document("a.md", ("new",)), "one", replacing=doc_id)
    assert corpus.state().revision == before.revision + 1
    assert corpus.state().token != before.token
    assert corpus.find_document("a.md").chunk_ids == chunk_ids
    assert corpus.find_document("a.md").tags == ("new",)


def test_words_are_found_by_bm25_with_headings_and_repeats(opened: tuple[CorpusDoor, IndexesDoor]) -> None:
    corpus, indexes = opened
    texts = [f"{'heron ' * (n % 4)} the river {n} of tide and reed {'x ' * n}" for n in range(40)]
    for n, text in enumerate(texts):
        save(corpus, a_document(f"{n}.md", title=f"note {n}"), text)
    indexes.refresh_lexical()
    index = indexes.lexical.index()
    statistics = index.statistics(["heron", "river", "nowhere"], [("heron", "reed")])
    assert statistics.rows == 40
    assert statistics.holding["text"] == {"heron": 30, "river": 40, "nowhere": 0}
    assert statistics.holding["title"]["heron"] == 0
    assert statistics.together["text"]["heron", "reed"] == 30
    ranking = index.search(["heron", "river"], 5)
    assert len(ranking) == 5
    assert [score for _, score in ranking] == sorted((score for _, score in ranking), reverse=True)
    best = corpus.fetch_texts([ranking[0][0]])[ranking[0][0]][1]
    assert best.count("heron") == 3
    repeated = dict(index.search(["heron", "heron"], 50))
    plain = dict(index.search(["heron"], 50))
    assert repeated.keys() == plain.keys()
    assert all(repeated[i] == pytest.approx(1.8 * plain[i], rel=1e-4) for i in plain)
    assert index.chunk_ids() == {i for d in corpus.list_documents() for i in d.chunk_ids}


def test_vectors_follow_their_texts(opened: tuple[CorpusDoor, IndexesDoor]) -> None:
    corpus, indexes = opened
    doc_id = save(corpus, a_document("a.md"), "east", "north", "east again")
    chunk_ids = list(corpus.find_document("a.md").chunk_ids)
    assert corpus.chunks_without_vector(ENCODER[1]) == chunk_ids
    assert corpus.count_missing_vectors(ENCODER[1]) == 3
    assert [row.text for row in corpus.unembedded_chunks(chunk_ids[:2])] == ["east", "north"]
    made = {"e:east": unit(1, 0, 0, 0), "e:north": unit(0, 1, 0, 0), "e:east again": unit(0.9, 0.1, 0, 0)}
    first = {name: vector for name, vector in made.items() if name != "e:east again"}
    corpus.save_vectors(ENCODER[1], {chunk_ids[0]: "e:east", chunk_ids[1]: "e:north"}, first)
    assert corpus.count_missing_vectors(ENCODER[1]) == 1
    corpus.save_vectors(ENCODER[1], {chunk_ids[2]: "e:east again"}, made)
    assert corpus.stored_hashes(ENCODER[1], [*made, "e:else"]) == set(made)
    assert corpus.stored_hashes("another encoder", made) == set()
    held = [(i, np.frombuffer(vector, "<f4").tolist()) for i, vector in corpus.vector_rows(ENCODER[1])]
    expected = [pytest.approx(np.frombuffer(vector, "<f4").tolist(), abs=3e-5) for vector in made.values()]  # 16 bits
    assert held == list(zip(chunk_ids, expected, strict=True))
    indexes.refresh_vectors()
    index = indexes.vector.index()
    ranking = index.search(np.frombuffer(unit(1, 0, 0, 0), "<f4"), 2)
    assert [i for i, _ in ranking] == [chunk_ids[0], chunk_ids[2]]
    assert ranking[0][1] == pytest.approx(1, abs=1e-5)
    assert index.statistics().rows == 3
    assert index.statistics().mean[1] == pytest.approx((1 + 0.1 / np.hypot(0.9, 0.1)) / 3, abs=1e-5)
    near = corpus.neighbours.neighbours_of(ENCODER[1], [chunk_ids[1]])[chunk_ids[1]]
    assert (near.position, near.chunk_count, near.before) == (1, 3, 0.0)
    # The same text elsewhere needs no new vector, and the old one goes with its document.
    save(corpus, a_document("b.md"), "north")
    assert corpus.count_missing_vectors(ENCODER[1]) == 0
    corpus.remove_documents([doc_id])
    corpus.remove_unused_embeddings()
    assert corpus.stored_hashes(ENCODER[1], made) == {"e:north"}


FILTERS = [
    (Filters(types=("Code",)), {"c.py"}),
    (Filters(sources=("T",)), {"d.md"}),
    (Filters(languages=("KO-kr",)), {"b.md"}),
    (Filters(tags=("RED",)), {"a.md", "b.md"}),
    (Filters(tags=("red", "given")), {"a.md", "b.md", "d.md"}),
    (Filters(paths=("*.md",), types=("markdown",)), {"a.md", "b.md", "d.md"}),
    (Filters(since="2023-11-16"), {"b.md"}),
    (Filters(until="2023-11-14"), {"a.md", "c.py", "d.md"}),
    (Filters(tags=('no "such" tag',)), set()),
]


@pytest.fixture
def filled(opened: tuple[CorpusDoor, IndexesDoor]) -> tuple[CorpusDoor, IndexesDoor]:
    corpus, indexes = opened
    save(corpus, a_document("a.md", ("Red", "blue")), "common word")
    save(corpus, a_document("b.md", ("red",), language="ko", mtime_ns=1_700_000_000 * 10**9 + 2 * DAY), "common word")
    save(corpus, a_document("c.py", type="code"), "common word")
    doc_id = save(corpus, a_document("d.md", source="t"), "common word")
    corpus.tags.replace_applied_tags({doc_id: [("Given", 0.9), ("a", 0.8)]})
    indexes.refresh_lexical()
    return corpus, indexes


def test_filters_hold_before_the_ranking(filled: tuple[CorpusDoor, IndexesDoor]) -> None:
    corpus, indexes = filled
    for filters, expected in FILTERS:
        allowed = corpus.allowed_documents(filters)
        assert allowed is not None
        assert {d.path for d in corpus.list_documents(allowed)} == expected, filters
        assert len(allowed) == len(expected), filters
        hits = indexes.lexical.index().search(["common"], 1, allowed)
        assert len(hits) == min(1, len(expected)), filters
        assert {path for _, path in corpus.places_of([i for i, _ in hits])} <= expected, filters
        assert len(corpus.chunk_ids_of(allowed)) == len(expected)
    assert corpus.allowed_documents(Filters()) is None
    with pytest.raises(InvalidInput):
        corpus.allowed_documents(Filters(since="whenever"))


def test_values_counts_and_titles(filled: tuple[CorpusDoor, IndexesDoor]) -> None:
    corpus, _ = filled
    values = corpus.filter_values()
    assert (values["source"], values["type"], values["lang"]) == (["s", "t"], ["markdown", "code"], ["en", "ko"])
    assert {"blue", "Given", "a"} < set(values["tag"])
    assert corpus.count_documents_by("source") == {"s": 3, "t": 1}
    assert corpus.count_documents_by("type") == {"code": 1, "markdown": 3}
    assert (corpus.count_documents(), corpus.count_chunks()) == (4, 4)
    assert corpus.document_titles(2) == ["a.md", "b.md"]
    assert [stamp.path for stamp in corpus.document_stamps("s")] == ["a.md", "b.md", "c.py"]
    assert len(corpus.newest_documents("2020-01-01T00:00:00Z", 3)) == 3
    assert set(corpus.chunk_places().values()) == {"a.md", "b.md", "c.py", "d.md"}
    assert corpus.chunk_starts()["a.md"] == [(0, "common word")]
    assert len(list(corpus.lexical_rows())) == 4


def test_tags_are_applied_and_taken_back(filled: tuple[CorpusDoor, IndexesDoor]) -> None:
    corpus, _ = filled
    document = corpus.find_document("d.md")
    assert (document.tags, document.applied_tags) == ((), ("Given", "a"))
    assert corpus.tags.documents_by_tag(["given", "RED"])["given"] == {document.doc_id}
    assert len(corpus.tags.documents_by_tag(["RED"])["RED"]) == 2
    save(corpus, a_document("d.md", source="t", content_hash="2"), "other words", replacing=document.doc_id)
    assert corpus.tags.applied_tags() == {document.doc_id: ("Given", "a")}
    corpus.tags.replace_applied_tags({document.doc_id: []})
    assert corpus.tags.applied_tags() == {}
    assert not corpus.allowed_documents(Filters(tags=("given",)))
    vocabulary = StoredVocabulary((("t", None, 3, 0.5), ("태그", "c", None, None)), (("u", "t"),), (("t",), ()))
    corpus.tags.save_vocabulary(vocabulary, "digest", "file", "now")
    assert corpus.tags.read_vocabulary() == vocabulary
    corpus.tags.forget_vocabulary()
    assert corpus.tags.imported_vocabulary() is None
    assert corpus.tags.read_vocabulary() == StoredVocabulary((), (), ())


def test_a_touched_file_changes_nothing_that_is_found_but_its_date(filled: tuple[CorpusDoor, IndexesDoor]) -> None:
    corpus, indexes = filled
    before = corpus.state()
    (stamp,) = [stamp for stamp in corpus.document_stamps("s") if stamp.path == "a.md"]
    corpus.touch_document(stamp.doc_id, replace(stamp, mtime_ns=stamp.mtime_ns + 5 * DAY, size_bytes=11))
    assert corpus.state() == before
    late = corpus.allowed_documents(Filters(since="2023-11-18"))
    assert late is not None
    assert list(late) == [stamp.doc_id]
    assert len(indexes.lexical.index().search(["common"], 9, late)) == 1


def test_removing_takes_everything_of_a_document(filled: tuple[CorpusDoor, IndexesDoor]) -> None:
    corpus, indexes = filled
    corpus.note_stopped("t", "bad.pdf", "state", "reason")
    assert corpus.stopped_files() == {("t", "bad.pdf"): ("state", "reason")}
    gone = corpus.find_document("d.md")
    assert corpus.remove_documents([gone.doc_id, 4711]) == 1
    indexes.refresh_lexical()
    assert corpus.fetch_chunks(gone.chunk_ids) == {}
    assert corpus.source_roots() == {"s": "/root"}
    assert corpus.stopped_files() == {}
    assert indexes.lexical.index().statistics(["common"]).rows == 3
    assert len(indexes.lexical.index().search(["common"], 9)) == 3


def test_counts_made_anew_are_those_that_were_kept(filled: tuple[CorpusDoor, IndexesDoor]) -> None:
    corpus, indexes = filled
    save(corpus, a_document("e.md"), "common and rare " * 30)
    indexes.refresh_lexical()
    kept = indexes.lexical.index().statistics(["common", "rare", "word"])
    assert indexes.refresh_lexical(force=True).rows == 5
    assert indexes.lexical.index().statistics(["common", "rare", "word"]) == kept
    assert kept.holding["text"] == {"common": 5, "rare": 1, "word": 4}
    assert indexes.lexical.fault({i for d in corpus.list_documents() for i in d.chunk_ids}) is None


def test_notes_are_kept_and_completed(corpus: CorpusDoor) -> None:
    doc_id = save(corpus, a_document("a.md"), "one")
    notes = DocumentNotes(3, "what it is about", (OpenItem(4, "call"), OpenItem(None, "write")))
    assert corpus.notes.heal_notes(3, lambda chunks, type: notes) == 1
    assert corpus.notes.heal_notes(3, lambda chunks, type: notes) == 0
    assert corpus.notes.count_gists(9) == 1
    assert [gist.text for gist in corpus.notes.fetch_gists([doc_id])] == ["what it is about"]
    total, items = corpus.notes.list_open_items(1)
    assert (total, [(item.line, item.text) for item in items]) == (2, [(4, "call")])


def test_the_secret_and_the_encoder_stay(corpus: CorpusDoor) -> None:
    assert corpus.fence_secret() == corpus.fence_secret()
    assert len(corpus.fence_secret()) == 32
    assert (corpus.stored_encoder(), corpus.stored_prefixes()) == (ENCODER, ("", ""))
