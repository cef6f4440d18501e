"""Both indexes against their references: rank-bm25 and brute force; stamps, filters, atomic replacement."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from rank_bm25 import BM25Okapi

from kb.errors import IndexOutOfDate
from kb.index import lexical, vector
from kb.index.lexical import TantivyIndex, build_lexical_index
from kb.index.stamp import IndexStamp, read_stamp, replace_index
from kb.index.vector import FaissIndex, build_vector_index
from kb.text import analyze, analyze_query

WORDS = [
    a + b for a in ("ra", "to", "mi", "ke", "lu", "so", "ni", "va") for b in ("bat", "len", "dor", "pim", "gus", "fen")
]


def texts(count: int, seed: int = 0) -> list[str]:
    generator = random.Random(seed)
    weights = [1 / (i + 1) for i in range(len(WORDS))]
    return [" ".join(generator.choices(WORDS, weights, k=generator.randint(5, 39))) for _ in range(count)]


def lexical_index(folder: Path, rows: list[tuple[int, int, str, str, str]], title: float = 1, heading: float = 1):
    stamp = replace_index(folder, "lexical", lambda path: build_lexical_index(path, rows, 1, "state"))
    return TantivyIndex(folder / stamp.place, title, heading)


def vector_index(folder: Path, vectors: np.ndarray, ids: list[int], exact_up_to: int = 100_000) -> FaissIndex:
    rows = [(i, v.astype("<f4").tobytes()) for i, v in zip(ids, vectors, strict=True)]
    stamp = replace_index(
        folder,
        "vector",
        lambda path: build_vector_index(path, rows, len(rows), vectors.shape[1], "digest", 1, "state", exact_up_to),
    )
    return FaissIndex(folder / stamp.place, stamp)


def unit_vectors(count: int, dimensions: int = 16, seed: int = 0) -> np.ndarray:
    vectors = np.random.default_rng(seed).normal(size=(count, dimensions)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


class LuceneBM25(BM25Okapi):
    """rank-bm25 with the idf that Lucene and Tantivy share; rank-bm25's own goes negative for frequent terms."""

    def _calc_idf(self, nd: dict[str, int]) -> None:
        for word, count in nd.items():
            self.idf[word] = float(np.log(1 + (self.corpus_size - count + 0.5) / (count + 0.5)))


def test_document_frequencies_equal_counting(tmp_path: Path) -> None:
    """The field that holds a term most often counts; a term that no chunk holds is there with 0."""
    rows = [(n, n, "Vafen", "rabat", text) for n, text in enumerate(texts(60), start=1)]
    index = lexical_index(tmp_path, rows)
    terms = [*analyze(" ".join(WORDS[:12])), "vafen", "absent"]
    counted = {term: max(sum(term in analyze(row[field]) for row in rows) for field in (2, 3, 4)) for term in terms}
    assert index.document_frequencies(terms) == counted
    assert (counted["vafen"], counted["absent"], index.count()) == (60, 0, 60)


@pytest.mark.parametrize("query", ["rabat", "rabat tolen", "vafen mipim kegus", "lubat lubat sodor nifen"])
def test_lexical_scores_equal_rank_bm25(query: str, tmp_path: Path) -> None:
    """Fields of up to 39 terms: Tantivy keeps their lengths exactly, longer ones rounded."""
    corpus = texts(400)
    index = lexical_index(tmp_path, [(i, i, "", "", text) for i, text in enumerate(corpus)], 0, 0)
    reference = LuceneBM25([analyze(t) for t in corpus], k1=1.2, b=0.75).get_scores(analyze_query(query))
    expected = sorted(((float(s), i) for i, s in enumerate(reference) if s > 0), key=lambda row: (-row[0], row[1]))
    found = index.search(analyze_query(query), 400)
    assert len(found) == len(expected)
    assert [s for _, s in found] == pytest.approx([s for s, _ in expected], rel=1e-4)
    by_id = {i: s for s, i in expected}
    assert all(by_id[i] == pytest.approx(s, rel=1e-4) for i, s in found)


@pytest.mark.parametrize("query", ["rabat", "rabat tolen", "vafen mipim kegus", "lubat lubat sodor unheard"])
def test_no_text_passes_the_best_possible_score(query: str, tmp_path: Path) -> None:
    corpus = [*texts(200), "rabat " * 39, "tolen rabat " * 15]
    index = lexical_index(tmp_path, [(i, i, "", "", text) for i, text in enumerate(corpus)], 0, 0)
    best, with_fields = index.best_possible(analyze_query(query))
    assert best == with_fields  # title and headings weigh nothing here
    assert all(score < best for _, score in index.search(analyze_query(query), 300))
    if query == "rabat":  # and one that says nothing else comes near it
        assert index.search(["rabat"], 1)[0][1] > 0.9 * best
    assert index.best_possible([]) == (0, 0)


def test_no_chunk_passes_the_best_possible_score_with_fields(tmp_path: Path) -> None:
    rows = [(i, i, text, text, text) for i, text in enumerate([*texts(100), "rabat " * 30])]
    index = lexical_index(tmp_path, rows, title=0.5, heading=1.0)
    for query in ("rabat", "vafen mipim kegus", "rabat unheard"):
        best, with_fields = index.best_possible(analyze_query(query))
        assert with_fields == pytest.approx(2.5 * best)
        assert all(score < with_fields for _, score in index.search(analyze_query(query), 200))


def test_lexical_equal_scores_come_in_id_order(tmp_path: Path) -> None:
    index = lexical_index(tmp_path, [(i, i, "", "", "same words") for i in range(1, 60)])
    assert [i for i, _ in index.search(["same"], 20)] == list(range(1, 21))


def test_lexical_title_and_headings_are_weighted_fields(tmp_path: Path) -> None:
    rows = [(1, 1, "mirror", "", "x y"), (2, 2, "", "mirror", "x y"), (3, 3, "", "", "x mirror")]
    assert {i for i, _ in lexical_index(tmp_path / "a", rows).search(["mirror"], 9)} == {1, 2, 3}
    assert lexical_index(tmp_path / "b", rows, title=5).search(["mirror"], 9)[0][0] == 1
    assert [i for i, _ in lexical_index(tmp_path / "c", rows, 0, 5).search(["mirror"], 9)] == [2, 3]


@pytest.mark.parametrize(
    "word", ['+-&|!(){}[]^"~*?:\\/', "AND OR NOT", "a:b", "text:x", "'", "\\", "100%", "@nasa", "naïve"]
)
def test_lexical_query_syntax_means_nothing(word: str, tmp_path: Path) -> None:
    index = lexical_index(tmp_path, [(1, 1, "", "", f"before {word} after"), (2, 2, "", "", "nothing here")])
    terms = analyze_query(word)
    assert [i for i, _ in index.search(terms, 5)] == ([1] if terms else [])


@pytest.mark.parametrize("exact_up_to", [100_000, 10])
def test_vector_search_equals_brute_force(exact_up_to: int, tmp_path: Path) -> None:
    vectors, ids = unit_vectors(3000), list(range(7, 3007))
    index = vector_index(tmp_path, vectors, ids, exact_up_to)
    hits = 0
    for query in unit_vectors(20, seed=1):
        expected = [ids[i] for i in np.argsort(-(vectors @ query), kind="stable")[:10]]
        found = index.search(query, 10)
        assert [s for _, s in found] == sorted((s for _, s in found), reverse=True)
        assert all(s == pytest.approx(float(vectors[i - 7] @ query), abs=1e-5) for i, s in found)
        hits += len(set(expected) & {i for i, _ in found})
    assert hits >= (200 if exact_up_to > 10 else 180)


@pytest.mark.parametrize("exact_up_to", [100_000, 10])
def test_background_is_the_mean_cosine(exact_up_to: int, tmp_path: Path) -> None:
    vectors = unit_vectors(300) + np.float32(0.2)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    index = vector_index(tmp_path, vectors, list(range(300)), exact_up_to)
    for query in unit_vectors(5, seed=3):
        assert index.background(query) == pytest.approx(float(np.mean(vectors @ query)), abs=1e-4)
    assert vector_index(tmp_path / "none", vectors[:0], []).background(vectors[0]) == 0


@pytest.mark.parametrize("exact_up_to", [100_000, 10])
def test_vector_filter_is_applied_before_retrieval(exact_up_to: int, tmp_path: Path) -> None:
    vectors, ids = unit_vectors(3000), list(range(3000))
    index = vector_index(tmp_path, vectors, ids, exact_up_to)
    allowed = ids[::300]
    query = unit_vectors(1, seed=2)[0]
    expected = sorted(allowed, key=lambda i: -float(vectors[i] @ query))
    assert [i for i, _ in index.search(query, 10, allowed)] == expected
    assert index.search(query, 10, []) == []


def test_lexical_filter_is_applied_before_retrieval(tmp_path: Path) -> None:
    index = lexical_index(tmp_path, [(i, i % 7, "", "", "word " * (i % 5 + 1)) for i in range(500)])
    found = index.search(["word"], 400, [3])
    assert {i % 7 for i, _ in found} == {3}
    assert len(found) == 71
    full = dict(index.search(["word"], 500))
    assert all(full[i] == pytest.approx(s) for i, s in found), "a filter must not change scores"
    assert index.search(["word"], 10, []) == []


def test_empty_indexes_find_nothing(tmp_path: Path) -> None:
    assert lexical_index(tmp_path, []).search(["word"], 5) == []
    assert vector_index(tmp_path, np.empty((0, 8), np.float32), []).search(unit_vectors(1, 8)[0], 5) == []


def test_a_failed_build_leaves_the_old_index_in_force(tmp_path: Path) -> None:
    lexical_index(tmp_path, [(1, 1, "", "", "old")])
    before = read_stamp(tmp_path, "lexical")

    def broken(path: Path) -> IndexStamp:
        path.mkdir()
        raise RuntimeError("killed")

    with pytest.raises(RuntimeError):
        replace_index(tmp_path, "lexical", broken)
    assert read_stamp(tmp_path, "lexical") == before
    assert before is not None
    assert TantivyIndex(tmp_path / before.place, 1, 1).search(["old"], 1)
    assert len(list(tmp_path.iterdir())) == 2


def test_a_replaced_index_leaves_nothing_behind(tmp_path: Path) -> None:
    for word in ("one", "two", "three"):
        lexical_index(tmp_path, [(1, 1, "", "", word)])
    assert len(list(tmp_path.iterdir())) == 2


def test_stamps_match_only_the_corpus_they_were_made_from(tmp_path: Path) -> None:
    lexical_index(tmp_path, [(1, 1, "", "", "x")])
    stamp = read_stamp(tmp_path, "lexical")
    assert stamp is not None
    assert stamp.matches(1, "state", lexical.FORMAT)
    assert not stamp.matches(2, "state", lexical.FORMAT)
    assert not stamp.matches(1, "other", lexical.FORMAT)
    assert not stamp.matches(1, "state", "older format")
    (tmp_path / "lexical.json").write_text("{broken")
    assert read_stamp(tmp_path, "lexical") is None


def test_a_vector_index_that_does_not_hold_what_its_stamp_says_is_refused(tmp_path: Path) -> None:
    vector_index(tmp_path, unit_vectors(5), [1, 2, 3, 4, 5])
    stamp = read_stamp(tmp_path, vector.NAME)
    assert stamp is not None
    path = tmp_path / stamp.place
    with pytest.raises(IndexOutOfDate):
        FaissIndex(path, IndexStamp(**{f: getattr(stamp, f) for f in stamp.__slots__} | {"rows": 6}))
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(IndexOutOfDate):
        FaissIndex(path, stamp)


def test_in_how_many_chunks_a_term_stands(tmp_path: Path) -> None:
    rows = [(1, 1, "night", "", "night sky night"), (2, 1, "", "", "a sky"), (3, 2, "", "dome", "sea")]
    index = lexical_index(tmp_path, rows)
    assert index.document_frequencies(["night", "sky", "dome", "absent"]) == {
        "night": 1,
        "sky": 2,
        "dome": 1,
        "absent": 0,
    }
    assert index.count() == 3
