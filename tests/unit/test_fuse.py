"""Normalized reciprocal rank fusion: the published numbers, and its plain sum as the reference."""

import random

import pytest

from kb.search.fuse import fuse_rankings, ranks_of

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
    """E3: the sum of reciprocal ranks, written down plainly, times 61 / 2."""
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
