"""Every engine of the registry, and two toys, by one contract; Tantivy and mapped vectors against rank-bm25 and brute force too."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rank_bm25 import BM25Okapi

from kb.config import SearchConfig
from kb.errors import IndexOutOfDate
from kb.index import tantivy_index, vector_index
from kb.index.keeper import IndexKeeper, Source, open_index, write_index
from kb.index.protocol import Engine, LexicalIndex, VectorIndex
from kb.index.registry import DEFAULT_LEXICAL, DEFAULT_VECTOR, LEXICAL_ENGINES, VECTOR_ENGINES
from kb.index.stamp import Origin, read_stamp
from kb.index.ties import cut_ranking
from kb.search.bounds import background, best_possible
from kb.text import analyze, analyze_query
from tests.contract.toy_engines import TOY_LEXICAL, TOY_VECTOR
from tests.cut import cut_file

WORDS = [
    a + b for a in ("ra", "to", "mi", "ke", "lu", "so", "ni", "va") for b in ("bat", "len", "dor", "pim", "gus", "fen")
]


def texts(count: int, seed: int = 0) -> list[str]:
    generator = random.Random(seed)
    weights = [1 / (i + 1) for i in range(len(WORDS))]
    return [" ".join(generator.choices(WORDS, weights, k=generator.randint(5, 39))) for _ in range(count)]


def build(folder: Path, engine: Engine, rows: list, origin: Origin, settings: SearchConfig) -> Any:
    stamp = write_index(folder, engine, origin, settings, lambda writer: writer.upsert(iter(rows)))
    return open_index(folder, engine, stamp, settings)


def lexical_index(folder: Path, rows: list[tuple[int, int, str, str, str]], heading: float = 1) -> LexicalIndex:
    settings = SearchConfig(heading_weight=heading)
    return build(folder, tantivy_index.TANTIVY, rows, Origin(1, "state"), settings)


def mapped_index(folder: Path, vectors: np.ndarray, ids: list[int], exact_up_to: int = 100_000) -> VectorIndex:
    origin = Origin(1, "state", "digest", vectors.shape[1])
    settings = SearchConfig(exact_up_to_chunks=exact_up_to)
    return build(folder, vector_index.VECTORS, vector_rows(vectors, ids), origin, settings)


def vector_rows(vectors: np.ndarray, ids: Sequence[int]) -> list[tuple[int, bytes]]:
    return [(i, v.astype("<f4").tobytes()) for i, v in zip(ids, vectors, strict=True)]


def unit_vectors(count: int, dimensions: int = 16, seed: int = 0) -> np.ndarray:
    vectors = np.random.default_rng(seed).normal(size=(count, dimensions)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


# ---- the contract of every engine


@dataclass(frozen=True)
class Example:
    """An engine, and rows that it is shown: row(chunk_id, variant) says something else in each of two variants.

    query   one that row(7, 0) answers best
    other   one that row(7, 1) answers best
    equals  a row that scores the same for `query` whatever its chunk_id
    """

    engine: Engine
    origin: Origin
    settings: SearchConfig
    row: Callable[[int, int], tuple]
    equals: Callable[[int], tuple]
    query: Any
    other: Any

    def build(self, folder: Path, rows: Sequence[tuple]) -> Any:
        return build(folder, self.engine, list(rows), self.origin, self.settings)

    @contextmanager
    def change(self, folder: Path) -> Iterator[Any]:
        """A writer that starts from the index in force, and puts what it commits in force."""
        actions: list[tuple[str, Any]] = []

        class Recorder:
            def upsert(self, rows: Sequence[tuple]) -> None:
                actions.append(("upsert", rows))

            def delete(self, chunk_ids: Sequence[int]) -> None:
                actions.append(("delete", chunk_ids))

        yield Recorder()
        base = read_stamp(folder, self.engine.kind)
        assert base is not None
        write_index(
            folder,
            self.engine,
            replace(self.origin, revision=base.revision + 1),
            self.settings,
            lambda writer: [getattr(writer, name)(argument) for name, argument in actions],
            base,
        )

    def open(self, folder: Path) -> Any:
        stamp = read_stamp(folder, self.engine.kind)
        assert stamp is not None
        return open_index(folder, self.engine, stamp, self.settings)

    def within(self, index: Any, chunk_ids: Sequence[int]) -> list[int]:
        """What the index is told to keep within these chunks; `row` puts each chunk into a document of its own."""
        return [i + 1000 for i in chunk_ids] if index.abilities.filters_by == "documents" else list(chunk_ids)


def lexical_example(engine: Engine) -> Example:
    def row(chunk_id: int, variant: int) -> tuple:
        words = f"common filler{chunk_id}" + (" sought sought sought" if chunk_id == 7 else " sought")
        return (chunk_id, chunk_id + 1000, "A title", "Head \n Two parts", words if variant == 0 else "found instead")

    return Example(
        engine,
        Origin(1, "state"),
        SearchConfig(heading_weight=0.5),
        row,
        lambda chunk_id: (chunk_id, chunk_id + 1000, "", "", "sought among equals"),
        ["sought"],
        ["instead"],
    )


def vector_example(engine: Engine, exact_up_to: int = 100_000) -> Example:
    vectors = unit_vectors(2000, 8)

    def row(chunk_id: int, variant: int) -> tuple:
        return (chunk_id, vectors[2 * chunk_id + variant].astype("<f4").tobytes())

    return Example(
        engine,
        Origin(1, "state", "digest", 8),
        SearchConfig(exact_up_to_chunks=exact_up_to),
        row,
        lambda chunk_id: (chunk_id, vectors[0].astype("<f4").tobytes()),
        vectors[14],
        vectors[15],
    )


EXAMPLES = {
    **{name: lexical_example(engine) for name, engine in {**LEXICAL_ENGINES, "toy words": TOY_LEXICAL}.items()},
    **{name: vector_example(engine) for name, engine in {**VECTOR_ENGINES, "toy vectors": TOY_VECTOR}.items()},
    "mapped, approximate": vector_example(VECTOR_ENGINES["mapped"], exact_up_to=10),
}


@pytest.fixture(params=EXAMPLES)
def example(request: pytest.FixtureRequest) -> Example:
    return EXAMPLES[request.param]


def of_kind(kind: str) -> pytest.MarkDecorator:
    """A test of the engines of one kind."""
    names = [name for name, example in EXAMPLES.items() if example.engine.kind == kind]
    return pytest.mark.parametrize("example", names, indirect=True)


def ids(ranking: Sequence[tuple[int, float]]) -> list[int]:
    return [chunk_id for chunk_id, _ in ranking]


def test_the_defaults_are_in_the_registry() -> None:
    assert LEXICAL_ENGINES[DEFAULT_LEXICAL].kind == "lexical"
    assert VECTOR_ENGINES[DEFAULT_VECTOR].kind == "vector"


def test_an_engine_finds_the_best_first(example: Example, tmp_path: Path) -> None:
    index = example.build(tmp_path, [example.row(i, 0) for i in range(1, 60)])
    found = index.search(example.query, 10)
    assert ids(found)[0] == 7
    assert len(found) == 10
    assert list(found) == sorted(found, key=lambda row: (-row[1], row[0]))
    assert all(type(i) is int and type(score) is float for i, score in found)
    assert index.search(example.query, 1) == found[:1]
    assert index.check() == ()


def test_an_engine_filters_before_it_ranks(example: Example, tmp_path: Path) -> None:
    """An approximate engine as well: within a filter the best are the true best."""
    index = example.build(tmp_path, [example.row(i, 0) for i in range(1, 200)])
    everything = dict(index.search(example.query, 199, example.within(index, range(1, 200))))
    assert len(everything) == 199
    allowed = [3, 50, 120, 121, 199]
    found = index.search(example.query, 10, example.within(index, allowed))
    assert ids(found) == sorted(allowed, key=lambda i: (-everything[i], i))
    assert dict(found) == pytest.approx({i: everything[i] for i in allowed}), "a filter must not change scores"
    assert ids(index.search(example.query, 2, example.within(index, allowed))) == ids(found)[:2]
    assert list(index.search(example.query, 10, [])) == []


def test_equal_scores_come_in_chunk_order_at_the_cut_as_well(example: Example, tmp_path: Path) -> None:
    rows = [example.equals(i) for i in range(1, 60)]
    for written in (rows, rows[::-1], [*rows[5:], *rows[:5]]):
        index = example.build(tmp_path, written)
        assert ids(index.search(example.query, 20, example.within(index, range(1, 60)))) == list(range(1, 21))
    with example.change(tmp_path) as writer:
        writer.delete([3, 5])
        writer.upsert([rows[2], rows[0]])  # written after the others, they stand before them again
    index = example.open(tmp_path)
    expected = [1, 2, 3, 4, *range(6, 22)]
    assert ids(index.search(example.query, 20, example.within(index, range(1, 60)))) == expected


def test_what_is_deleted_is_not_found(example: Example, tmp_path: Path) -> None:
    example.build(tmp_path, [example.row(i, 0) for i in range(1, 60)])
    before = read_stamp(tmp_path, example.engine.kind)
    with example.change(tmp_path) as writer:
        writer.delete([7, 8, 9, 30, 4000])
    index, stamp = example.open(tmp_path), read_stamp(tmp_path, example.engine.kind)
    found = index.search(example.query, 60, example.within(index, range(1, 60)))
    assert sorted(ids(found)) == [i for i in range(1, 60) if i not in (7, 8, 9, 30)]
    assert index.check() == ()
    assert before is not None
    assert stamp is not None
    assert (stamp.rows, stamp.revision, stamp.format) == (55, 2, before.format)
    assert len(list(tmp_path.iterdir())) == 2, "the index that was changed is still there"


def test_what_is_upserted_takes_the_place_of_what_was_there(example: Example, tmp_path: Path) -> None:
    example.build(tmp_path, [example.row(i, 0) for i in range(1, 60)])
    with example.change(tmp_path) as writer:
        writer.delete([7, 20])
        writer.upsert([example.row(i, 0) for i in (7, 60)])
        writer.upsert([example.row(7, 1)])
    index, stamp = example.open(tmp_path), read_stamp(tmp_path, example.engine.kind)
    assert stamp is not None
    assert stamp.rows == 59
    assert ids(index.search(example.other, 1)) == [7]
    fresh = example.build(tmp_path / "fresh", [example.row(i, int(i == 7)) for i in range(1, 61) if i != 20])
    everywhere = example.within(index, range(1, 61))
    for query in (example.query, example.other):
        expected, found = fresh.search(query, 60, everywhere), index.search(query, 60, everywhere)
        assert set(ids(found)) == set(ids(expected))
        if index.abilities.forgets:
            assert dict(found) == pytest.approx(dict(expected), rel=1e-5)


def test_a_row_that_comes_twice_is_there_once(example: Example, tmp_path: Path) -> None:
    index = example.build(tmp_path, [example.row(7, 0), example.row(8, 0), example.row(7, 1)])
    assert ids(index.search(example.other, 1)) == [7]
    assert sorted(ids(index.search(example.other, 9, example.within(index, [7, 8])))) in ([7], [7, 8])
    stamp = read_stamp(tmp_path, example.engine.kind)
    assert stamp is not None
    assert stamp.rows == 2


def test_an_empty_index_finds_nothing(example: Example, tmp_path: Path) -> None:
    assert list(example.build(tmp_path, []).search(example.query, 5)) == []
    assert example.open(tmp_path).check() == ()
    with example.change(tmp_path) as writer:
        writer.upsert([example.row(7, 0)])
    assert ids(example.open(tmp_path).search(example.query, 5)) == [7]
    with example.change(tmp_path) as writer:
        writer.delete([7])
    assert list(example.open(tmp_path).search(example.query, 5)) == []


def test_an_index_that_does_not_hold_what_its_stamp_says_is_refused(example: Example, tmp_path: Path) -> None:
    example.build(tmp_path, [example.row(i, 0) for i in range(1, 20)])
    stamp = read_stamp(tmp_path, example.engine.kind)
    assert stamp is not None
    wrong = replace(stamp, rows=20)
    assert len(example.engine.open(tmp_path / stamp.place, wrong, example.settings).check()) == 1
    with pytest.raises(IndexOutOfDate):
        open_index(tmp_path, example.engine, wrong, example.settings)
    files = [path for path in (tmp_path / stamp.place, *(tmp_path / stamp.place).rglob("*")) if path.is_file()]
    for path in files:
        cut_file(path, path.stat().st_size // 2)
    with pytest.raises((IndexOutOfDate, OSError)):
        open_index(tmp_path, example.engine, stamp, example.settings)


@of_kind("lexical")
def test_statistics_of_words_equal_counting(example: Example, tmp_path: Path) -> None:
    """A term in each field, combinations in one; a term that no chunk holds is there with 0."""
    rows = [(n, n, "Vafen", f"rabat \n {text[:12]}", text) for n, text in enumerate(texts(60), start=1)]
    index = example.build(tmp_path, rows)
    terms = [*analyze(" ".join(WORDS[:12])), "vafen", "absent"]
    pairs = [tuple(terms[i : i + 2]) for i in range(5)] + [("vafen",), ("vafen", "absent"), ()]
    statistics = index.statistics(terms, pairs)
    assert statistics.rows == 60
    for field, columns in (("title", (2,)), ("headings", (3,)), ("text", (2, 3, 4))):
        said = [set(analyze(" \n ".join(row[c] for c in columns))) for row in rows]
        assert statistics.holding[field] == {term: sum(term in words for words in said) for term in terms}
        counted = {pair: sum(bool(pair) and set(pair) <= words for words in said) for pair in pairs}
        assert statistics.together[field] == counted
    assert statistics.frequencies()["vafen"] == 60
    assert statistics.frequencies()["absent"] == 0


@of_kind("vector")
def test_statistics_of_vectors_equal_their_mean(example: Example, tmp_path: Path) -> None:
    example.build(tmp_path, [example.row(i, 0) for i in range(1, 60)])
    with example.change(tmp_path) as writer:
        writer.delete([1, 2])
        writer.upsert([example.row(60, 0)])
    statistics = example.open(tmp_path).statistics()
    vectors = np.stack([np.frombuffer(example.row(i, 0)[1], "<f4") for i in range(3, 61)])
    assert statistics.rows == 58
    assert statistics.mean == pytest.approx(vectors.mean(axis=0), abs=1e-5)
    assert background(statistics, example.query) == pytest.approx(float((vectors @ example.query).mean()), abs=1e-4)


@of_kind("vector")
def test_expected_queries_find_what_others_find(example: Example, tmp_path: Path) -> None:
    """Also those that were not expected, and after a filter."""
    index = example.build(tmp_path, [example.row(i, 0) for i in range(1, 900)])
    queries = unit_vectors(5, 8, seed=2)
    alone = [index.search(query, 20) for query in queries]
    index.expect(queries[:4])
    assert [index.search(query, 20) for query in queries] == alone
    if index.abilities.filters_by == "chunks":
        assert ids(index.search(queries[0], 3, [5, 6])) == ids(
            [row for row in index.search(queries[0], 900) if row[0] < 7 and row[0] > 4]
        )
    index.expect(queries[:0])
    assert index.search(queries[0], 20) == alone[0]


@of_kind("vector")
def test_vectors_at_hand_are_those_that_it_holds(example: Example, tmp_path: Path) -> None:
    example.build(tmp_path, [example.row(i, 0) for i in range(1, 60)])
    with example.change(tmp_path) as writer:
        writer.delete([1, 2])
        writer.upsert([example.row(60, 0)])
    found = example.open(tmp_path).vectors_at_hand([60, 3, 1, 99])
    assert found.keys() <= {60, 3}
    for chunk_id, vector in found.items():
        assert vector == pytest.approx(np.frombuffer(example.row(chunk_id, 0)[1], "<f4"), abs=1e-4)


@of_kind("vector")
def test_an_exact_engine_equals_brute_force(example: Example, tmp_path: Path) -> None:
    index = example.build(tmp_path, [example.row(i, 0) for i in range(1, 900)])
    rows = {i: np.frombuffer(example.row(i, 0)[1], "<f4") for i in range(1, 900)}
    shared = 0
    for query in unit_vectors(10, 8, seed=1):
        expected = sorted(rows, key=lambda i: -float(rows[i] @ query))[:10]
        found = ids(index.search(query, 10))
        shared += len(set(found) & set(expected))
        if index.abilities.is_exact:
            assert found == expected
    assert shared >= 90


def test_a_keeper_builds_what_is_not_current_and_opens_it_once(example: Example, tmp_path: Path) -> None:
    told: list[str] = []
    origin, rows = [example.origin], [example.row(i, 0) for i in range(1, 20)]

    @contextmanager
    def snapshot() -> Iterator[None]:
        yield

    source = Source(snapshot, lambda: origin[0], lambda _: iter(rows))
    keeper: IndexKeeper = IndexKeeper(tmp_path, example.engine, example.settings, source, told.append)
    kind = example.engine.kind
    assert keeper.fault() == f"{kind} is out of date"
    index = keeper.index()
    assert ids(index.search(example.query, 1)) == [7]
    assert keeper.index() is index
    assert keeper.fault() is None
    rows, origin[0] = [example.row(7, 1)], replace(example.origin, revision=2)
    assert keeper.fault() == f"{kind} is out of date"
    assert keeper.index() is not index
    assert ids(keeper.index().search(example.other, 5)) == [7]
    stamp = keeper.stamp()
    assert stamp is not None
    place = tmp_path / stamp.place
    for path in (place, *place.rglob("*")):
        if path.is_file():
            path.write_bytes(b"")
    assert keeper.fault() == f"{kind} is damaged"
    again: IndexKeeper = IndexKeeper(tmp_path, example.engine, example.settings, source, told.append)
    assert ids(again.index().search(example.other, 5)) == [7]
    assert told == [
        f"building the {kind} index (there is none that can be read)",
        f"rebuilding the {kind} index (built from revision 1, the documents are at 2)",
        f"building the {kind} index (there is none that can be read)",
    ]


def test_a_cut_among_equals_asks_for_more() -> None:
    """The engine returns whichever equals it likes; those with the lowest ids are kept."""
    held = [(9, 2.0), *((i, 1.0) for i in range(40, 0, -1) if i != 9)]
    asked: list[int] = []

    def find(wanted: int) -> list[tuple[int, float]]:
        asked.append(wanted)
        return held[:wanted]

    assert cut_ranking(find, 3) == [(9, 2.0), (1, 1.0), (2, 1.0)]
    assert asked == [4, 8, 16, 32, 64]
    assert cut_ranking(lambda wanted: [(1, 3.0), (2, 2.0), (3, 1.0)][:wanted], 2) == [(1, 3.0), (2, 2.0)]


# ---- Tantivy and mapped vectors against their references


class LuceneBM25(BM25Okapi):
    """rank-bm25 with the idf that Lucene and Tantivy share; rank-bm25's own goes negative for frequent terms."""

    def _calc_idf(self, nd: dict[str, int]) -> None:
        for word, count in nd.items():
            self.idf[word] = float(np.log(1 + (self.corpus_size - count + 0.5) / (count + 0.5)))


@pytest.mark.parametrize("query", ["rabat", "rabat tolen", "vafen mipim kegus", "lubat lubat sodor nifen"])
def test_lexical_scores_equal_rank_bm25(query: str, tmp_path: Path) -> None:
    """Fields of up to 39 terms: Tantivy keeps their lengths exactly, longer ones rounded."""
    corpus = texts(400)
    index = lexical_index(tmp_path, [(i, i, "", "", text) for i, text in enumerate(corpus, start=1)], 0)
    reference = LuceneBM25([analyze(t) for t in corpus], k1=1.2, b=0.75).get_scores(analyze_query(query))
    expected = sorted(
        ((float(s), i) for i, s in enumerate(reference, start=1) if s > 0), key=lambda row: (-row[0], row[1])
    )
    found = index.search(analyze_query(query), 400)
    assert len(found) == len(expected)
    assert [s for _, s in found] == pytest.approx([s for s, _ in expected], rel=1e-4)
    by_id = {i: s for s, i in expected}
    assert all(by_id[i] == pytest.approx(s, rel=1e-4) for i, s in found)


@pytest.mark.parametrize("query", ["rabat", "rabat tolen", "vafen mipim kegus", "lubat lubat sodor unheard"])
def test_no_text_passes_the_best_possible_score(query: str, tmp_path: Path) -> None:
    corpus = [*texts(200), "rabat " * 39, "tolen rabat " * 15]
    index = lexical_index(tmp_path, [(i, i, "", "", text) for i, text in enumerate(corpus, start=1)], 0)
    best, with_fields = bounds_of(index, query)
    assert best == with_fields  # headings weigh nothing here
    assert all(score < best for _, score in index.search(analyze_query(query), 300))
    if query == "rabat":  # and one that says nothing else comes near it
        assert index.search(["rabat"], 1)[0][1] > 0.9 * best
    assert best_possible(index.statistics([]), []) == (0, 0)


def bounds_of(index: LexicalIndex, query: str) -> tuple[float, float]:
    terms = analyze_query(query)
    return best_possible(index.statistics(terms), terms)


def test_no_chunk_passes_the_best_possible_score_with_fields(tmp_path: Path) -> None:
    rows = [(i, i, text, text, text) for i, text in enumerate([*texts(100), "rabat " * 30], start=1)]
    index = lexical_index(tmp_path, rows, heading=0.5)
    for query in ("rabat", "vafen mipim kegus", "rabat unheard"):
        best, with_fields = bounds_of(index, query)
        assert with_fields == pytest.approx(1.5 * best)
        assert all(score < with_fields for _, score in index.search(analyze_query(query), 200))


def test_lexical_title_and_headings_are_text_and_headings_weigh_more(tmp_path: Path) -> None:
    rows = [(1, 1, "", "", "x y mirror"), (2, 2, "", "mirror", "x y"), (3, 3, "mirror", "", "x y")]
    plain = lexical_index(tmp_path / "a", rows, 0).search(["mirror"], 9)
    assert [i for i, _ in plain] == [1, 2, 3]
    assert len({score for _, score in plain}) == 1
    assert [i for i, _ in lexical_index(tmp_path / "b", rows, 0.5).search(["mirror"], 9)] == [2, 1, 3]


@of_kind("lexical")
def test_a_repeated_term_counts_more(example: Example, tmp_path: Path) -> None:
    rows = [(1, 1, "", "", "rabat x y z"), (2, 2, "", "", "tolen x y z")]
    index = example.build(tmp_path, rows)
    assert ids(index.search(["rabat", "tolen"], 2)) == [1, 2]
    assert ids(index.search(["rabat", "tolen", "tolen"], 2)) == [2, 1]


def test_the_weight_of_a_repeated_term_saturates(tmp_path: Path) -> None:
    index = lexical_index(tmp_path, [(1, 1, "", "", "rabat"), (2, 2, "", "", "x")])
    scores = [index.search(["rabat"] * n, 1)[0][1] for n in (1, 2, 9, 90)]
    assert [score / scores[0] for score in scores] == pytest.approx([1, 1.8, 81 / 17, 810 / 98], rel=1e-5)
    best, _ = best_possible(index.statistics(["rabat"]), ["rabat"] * 9)
    assert scores[2] < best == pytest.approx(81 / 17 * best_possible(index.statistics(["rabat"]), ["rabat"])[0])


@pytest.mark.parametrize(
    "word", ['+-&|!(){}[]^"~*?:\\/', "AND OR NOT", "a:b", "text:x", "'", "\\", "100%", "@nasa", "naïve"]
)
def test_lexical_query_syntax_means_nothing(word: str, tmp_path: Path) -> None:
    index = lexical_index(tmp_path, [(1, 1, "", "", f"before {word} after"), (2, 2, "", "", "nothing here")])
    terms = analyze_query(word)
    assert [i for i, _ in index.search(terms, 5)] == ([1] if terms else [])


@pytest.mark.parametrize("exact_up_to", [100_000, 10])
def test_vector_search_equals_brute_force(exact_up_to: int, tmp_path: Path) -> None:
    vectors, chunk_ids = unit_vectors(3000), list(range(7, 3007))
    index = mapped_index(tmp_path, vectors, chunk_ids, exact_up_to)
    hits = 0
    for query in unit_vectors(20, seed=1):
        expected = [chunk_ids[i] for i in np.argsort(-(vectors @ query), kind="stable")[:10]]
        found = index.search(query, 10)
        assert [s for _, s in found] == sorted((s for _, s in found), reverse=True)
        assert all(s == pytest.approx(float(vectors[i - 7] @ query), abs=3e-5) for i, s in found)  # 16 bits
        hits += len(set(expected) & {i for i, _ in found})
    assert hits >= (200 if exact_up_to > 10 else 180)


def test_lexical_filter_is_applied_before_retrieval(tmp_path: Path) -> None:
    index = lexical_index(tmp_path, [(i, i % 7, "", "", "word " * (i % 5 + 1)) for i in range(500)])
    found = index.search(["word"], 400, [3])
    assert {i % 7 for i, _ in found} == {3}
    assert len(found) == 71
    full = dict(index.search(["word"], 500))
    assert all(full[i] == pytest.approx(s) for i, s in found), "a filter must not change scores"
    assert index.search(["word"], 10, []) == []


def test_a_failed_build_leaves_the_old_index_in_force(tmp_path: Path) -> None:
    lexical_index(tmp_path, [(1, 1, "", "", "old")])
    before = read_stamp(tmp_path, "lexical")

    def broken(writer: Any) -> None:
        writer.upsert([(1, 1, "", "", "new")])
        raise RuntimeError("killed")

    with pytest.raises(RuntimeError):
        write_index(tmp_path, tantivy_index.TANTIVY, Origin(2, "state"), SearchConfig(), broken)
    assert read_stamp(tmp_path, "lexical") == before
    assert before is not None
    assert open_index(tmp_path, tantivy_index.TANTIVY, before, SearchConfig()).search(["old"], 1)
    assert len(list(tmp_path.iterdir())) == 2


def test_a_replaced_index_leaves_nothing_behind(tmp_path: Path) -> None:
    for word in ("one", "two", "three"):
        lexical_index(tmp_path, [(1, 1, "", "", word)])
    assert len(list(tmp_path.iterdir())) == 2


def test_stamps_match_only_the_corpus_they_were_made_from(tmp_path: Path) -> None:
    lexical_index(tmp_path, [(1, 1, "", "", "x")])
    stamp = read_stamp(tmp_path, "lexical")
    assert stamp is not None
    assert stamp.matches(Origin(1, "state"), tantivy_index.FORMAT)
    assert not stamp.matches(Origin(2, "state"), tantivy_index.FORMAT)
    assert not stamp.matches(Origin(1, "other"), tantivy_index.FORMAT)
    assert not stamp.matches(Origin(1, "state", "an encoder"), tantivy_index.FORMAT)
    assert not stamp.matches(Origin(1, "state"), "older format")
    (tmp_path / "lexical.json").write_text("{broken")
    assert read_stamp(tmp_path, "lexical") is None
