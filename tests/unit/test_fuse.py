"""Both fusions: RRF by the published numbers and its plain sum, the convex combination by hand and by its properties."""

import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.config import SearchConfig
from kb.search.expand import Expansion
from kb.search.fuse import ceiling_of, combine_scores, fuse, fuse_rankings, ranks_of
from kb.search.records import Candidates

A, B, C, D = 1, 2, 3, 4


def ranking(*ids: int) -> list[tuple[int, float]]:
    return [(chunk_id, 100.0 - rank) for rank, chunk_id in enumerate(ids)]


def at(rank: int, chunk_id: int = 99) -> list[tuple[int, float]]:
    """A list that holds chunk_id at a rank, others before it."""
    return ranking(*range(1000, 1000 + rank - 1), chunk_id)


@pytest.mark.parametrize(
    ("ranks", "score"),
    [((1, 2), 0.991935), ((1, 1), 1.0), ((1, None), 0.5), ((1, 3), 0.984127), ((10, 10), 0.871429)],
)
def test_scores_of_the_contract(ranks: tuple[int, int | None], score: float) -> None:
    lists = [at(rank) if rank else [] for rank in ranks]
    assert dict(fuse_rankings(lists))[99] == pytest.approx(score, abs=1e-6)


def test_weights() -> None:
    assert dict(fuse_rankings([at(1), []], weights=[2, 1]))[99] == pytest.approx(2 / 3)


def test_equals_the_plain_sum() -> None:
    """The sum of reciprocal ranks, written down plainly, times 61 / 2."""
    generator = random.Random(0)
    for _ in range(200):
        lists = [ranking(*generator.sample(range(30), generator.randint(1, 20))) for _ in range(2)]
        plain = {
            chunk_id: sum(
                1 / (60 + [i for i, _ in rows].index(chunk_id) + 1) for rows in lists if chunk_id in dict(rows)
            )
            for chunk_id in {i for rows in lists for i, _ in rows}
        }
        assert dict(fuse_rankings(lists)) == pytest.approx({i: s * 30.5 for i, s in plain.items()})


def test_order_of_equal_lists_does_not_matter_for_scores() -> None:
    first, second = ranking(A, B, C), ranking(B, A, D)
    assert dict(fuse_rankings([first, second])) == pytest.approx(dict(fuse_rankings([second, first])))


def test_ties_fall_to_the_lexical_rank_then_the_id() -> None:
    assert [i for i, _ in fuse_rankings([ranking(B, A), ranking(A, B)])] == [B, A]
    assert [i for i, _ in fuse_rankings([ranking(D), ranking(C)])] == [D, C]
    assert [i for i, _ in fuse_rankings([[], ranking(C)])] == [C]


def test_agreement_beats_a_lone_first_rank() -> None:
    lists = [[(A, 9.0), (C, 8.0), (B, 7.0)], [(D, 9.0), (5, 8.0), (B, 7.0)]]
    assert fuse_rankings(lists)[0][0] == B


def test_the_better_rank_of_a_repeated_id_counts() -> None:
    assert ranks_of([(A, 3.0), (B, 2.0), (A, 1.0)]) == {A: 1, B: 2}


def test_the_best_of_any_two_lists_scores_at_least_half() -> None:
    """Why a gate on this score can never refuse."""
    generator = random.Random(1)
    for _ in range(500):
        lists = [ranking(*generator.sample(range(50), generator.randint(0, 10))) for _ in range(2)]
        fused = fuse_rankings(lists)
        assert not fused or fused[0][1] >= 0.5


def test_empty() -> None:
    assert fuse_rankings([[], []]) == []


def convex(lexical: list[tuple[int, float]], cosines: dict[int, float], **given_: float) -> list[tuple[int, float]]:
    known = {"best_lexical": 10.0, "background": 0.2, "vector_share": 0.45}
    return combine_scores(lexical, cosines, **(known | given_))


@pytest.mark.parametrize(
    ("bm25", "cosine", "score"),
    [
        (10.0, 1.0, 1.0),  # the best possible in both
        (5.0, 0.6, 0.55 * 0.5 + 0.45 * 0.5),
        (5.0, None, 0.5),  # no vector yet, and no other passage to go by: words alone
        (None, 0.6, 0.225),  # no word
        (0.0, 0.2, 0.0),  # no nearer than any passage
        (0.0, -0.9, 0.0),  # further than that is no worse
        (25.0, 0.2, 1.0),  # title, headings and text: shown as 1
    ],
)
def test_convex_by_hand(bm25: float | None, cosine: float | None, score: float) -> None:
    found = convex([] if bm25 is None else [(A, bm25)], {} if cosine is None else {A: cosine})
    assert found == [(A, pytest.approx(score))]


def test_convex_order_goes_on_above_one() -> None:
    assert [i for i, _ in convex([(B, 30.0), (A, 20.0)], {})] == [B, A]


def test_a_passage_without_a_vector_counts_as_others_with_as_many_of_the_words() -> None:
    both = {A: 0.2 + 0.8 * 0.6, B: 0.2 + 0.8 * 0.2}  # on their way from the background to identity: .6 and .2
    scores = dict(convex([(A, 8.0), (C, 6.0), (B, 4.0), (D, 0.0)], both))
    assert scores[C] == pytest.approx(0.55 * 0.6 + 0.45 * 0.4), "half-way between the two"
    assert scores[D] == pytest.approx(0.0), "never below the background"
    falling = {A: 0.2 + 0.8 * 0.2, B: 0.2 + 0.8 * 0.6}
    scores = dict(convex([(A, 8.0), (C, 6.0), (B, 4.0), (D, 2.0)], falling))
    assert [scores[i] for i in (C, D)] == pytest.approx([0.55 * 0.6 + 0.45 * 0.4, 0.55 * 0.2 + 0.45 * 0.4])


def test_without_any_vector_the_order_is_that_of_words() -> None:
    words = [(C, 9.0), (A, 4.0), (B, 4.0), (D, 0.5)]
    assert [i for i, _ in convex(words, {})] == [C, A, B, D]


def test_convex_ties_fall_to_the_lexical_rank_then_the_id() -> None:
    assert [i for i, _ in convex([(B, 4.0), (A, 4.0)], {A: 0.5, B: 0.5})] == [B, A]
    assert [i for i, _ in convex([], {D: 0.5, C: 0.5})] == [C, D]


@pytest.mark.parametrize(
    ("best", "with_fields", "share", "ceiling"),
    [(10.0, 10.0, 0.45, 1.0), (10.0, 25.0, 0.45, 0.55 * 2.5 + 0.45), (10.0, 25.0, 0.0, 2.5), (0.0, 0.0, 0.45, 1.0)],
)
def test_the_ceiling_is_what_the_sum_can_reach(best: float, with_fields: float, share: float, ceiling: float) -> None:
    assert ceiling_of(best, with_fields, share) == pytest.approx(ceiling)
    found = combine_scores(
        [(A, with_fields)], {A: 1.0}, best_lexical=best, background=0.2, vector_share=share, ceiling=ceiling
    )
    assert found[0][1] == pytest.approx(1.0 if best else share)


def test_convex_without_anything() -> None:
    assert convex([], {}) == []
    assert convex([(A, 1.0)], {}, best_lexical=0.0) == []
    assert convex([], {A: 1.0}, background=1.0) == [(A, 0.0)]


lists = st.dictionaries(st.integers(1, 30), st.floats(0, 20), max_size=20)
vectors = st.dictionaries(st.integers(1, 30), st.floats(-1, 1), max_size=20)


@given(lists, vectors, st.floats(0.1, 30), st.floats(-0.5, 0.95), st.floats(0, 1))
def test_convex_is_a_share_and_grows_with_both(
    bm25: dict[int, float], cosines: dict[int, float], best: float, background: float, share: float
) -> None:
    lexical = sorted(bm25.items(), key=lambda row: (-row[1], row[0]))
    settings = {"best_lexical": best, "background": background, "vector_share": share}
    found = combine_scores(lexical, cosines, **settings)
    assert {i for i, _ in found} == {*bm25, *cosines}
    assert all(0 <= score <= 1 for _, score in found)
    assert [score for _, score in found] == sorted((score for _, score in found), reverse=True)
    for chunk_id, score in found:
        if chunk_id not in cosines:
            continue  # what it counts for is a guess until it has a vector
        more = cosines | {chunk_id: min(1.0, cosines[chunk_id] + 0.1)}
        assert dict(combine_scores(lexical, more, **settings))[chunk_id] >= score - 1e-12


CANDIDATES = Candidates(
    terms=["a"], documents=None, lexical=[(A, 3.0), (B, 1.0)], best_lexical=6.0, best_with_fields=12.0
)


def test_relevance_by_words_alone_is_a_share_of_the_best_possible() -> None:
    fused = fuse(CANDIDATES, "lexical", SearchConfig())
    assert fused.ranking == CANDIDATES.lexical
    assert fused.relevance == {A: 3 / 12, B: 1 / 12}


def test_relevance_by_vectors_alone_begins_at_the_background() -> None:
    found = replace(CANDIDATES, lexical=(), vector=[(A, 0.6), (B, 0.2), (C, 0.1)], background=0.2)
    assert fuse(found, "vector", SearchConfig()).relevance == pytest.approx({A: 0.5, B: 0.0, C: 0.0})


def test_feedback_by_hand() -> None:
    """As much of the first passage as it matches, and meaning from what the mixture has in common with all."""
    query, other, third = np.eye(3, dtype=np.float32)
    mean = (query + other) / np.sqrt(8, dtype=np.float32)
    found = replace(
        CANDIDATES,
        lexical=[(A, 6.0), (B, 2.0)],
        query_vector=query,
        pool={A: other, B: third},
        background=float(query @ mean),
        mean=mean,
    )
    settings = replace(SearchConfig(), feedback_chunks=5, feedback_weight=0.45, vector_share=0.5)
    # A matches by .5, so the mixture has .8 · .5 of it: (.6, .4, 0) / √.52, whose cosine to A is .4 / √.52, to all 1 / √8 / √.52.
    cosine, background = 0.4 / 0.52**0.5, 1 / 8**0.5 / 0.52**0.5
    fused = fuse(found, "hybrid", settings)
    assert fused.trace is not None
    assert fused.trace.feedback == (A,)
    assert fused.relevance[A] == pytest.approx((0.5 + 0.5 * (cosine - background) / (1 - background)) / 1.5, abs=1e-6)
    assert fused.relevance[B] == pytest.approx(0.5 * 2 / 6 / 1.5, abs=1e-6)
    # At most the configured share: (.9, .1, 0) is nearer to all than to A.
    fused = fuse(found, "hybrid", replace(settings, feedback_weight=0.1))
    assert fused.relevance[A] == pytest.approx(0.5 / 1.5, abs=1e-6)


def test_what_only_tags_led_to_has_no_relevance() -> None:
    found = replace(CANDIDATES, tags=Expansion(("t",), ((C, 1.0), (A, 0.5)), 0.25))
    fused = fuse(found, "hybrid", SearchConfig())
    assert fused.kind == "rrf"
    assert fused.relevance == {A: 3 / 12, B: 1 / 12, C: 0.0}


def test_without_bounds_lists_are_fused_by_ranks_and_nothing_is_said_of_relevance() -> None:
    fused = fuse(replace(CANDIDATES, has_bounds=False), "hybrid", SearchConfig())
    assert (fused.kind, fused.relevance, fused.trace) == ("rrf", {}, None)
