"""GraphSurroundings packs: the acceptance table, budgets that are never exceeded, and a slow reference."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.packing.packs import Limits, Scored, build_pack, pack_neighbourhoods

B10 = [(0.7, 0.5), (0.6, 0.5), (0.7, 0.6), (0.7, 0.7), (0.3, 0.45), (0.7, 0.5)]


def document(rows: list[tuple[float, float]], tokens: int = 100, doc_id: int = 1) -> list[Scored]:
    return [Scored(doc_id * 100 + i, doc_id, i, tokens, stability, csw) for i, (stability, csw) in enumerate(rows)]


def by_place(chunks: list[Scored]) -> dict[tuple[int, int], Scored]:
    return {(c.doc_id, c.position): c for c in chunks}


@pytest.mark.parametrize(
    ("centre", "budget", "members", "supporting"),
    [(3, 1800, [1, 2, 3, 4], {1, 4}), (2, 1800, [1, 2, 3, 4], {1, 4}), (3, 250, [2, 3], set()), (3, 50, [3], set())],
)
def test_b10_packs(centre: int, budget: int, members: list[int], supporting: set[int]) -> None:
    chunks = document(B10)
    pack = build_pack(chunks[centre], by_place(chunks), Limits(pack_tokens=budget))
    assert [m.position for m in pack.members] == members
    assert {i - 100 for i in pack.supporting} == supporting


def test_b9_answerability() -> None:
    kept, dropped = document([(0.7, 0.45)]), document([(0.7, 0.449)], doc_id=2)
    both = [*kept, *dropped]
    assert [p.centre for p in pack_neighbourhoods(both, by_place(both), Limits())] == kept
    (fallback,) = pack_neighbourhoods(dropped, by_place(dropped), Limits())
    assert fallback.is_fallback
    assert fallback.confidence == 0.0
    low = [*dropped, *document([(0.7, 0.1)], doc_id=3)]
    assert [p.centre for p in pack_neighbourhoods(low, by_place(low), Limits())] == dropped
    assert pack_neighbourhoods([], {}, Limits()) == []


def test_a_support_at_exactly_the_threshold_joins() -> None:
    chunks = document([(0.1, 0.40), (0.9, 0.6), (0.1, 0.3999)])
    pack = build_pack(chunks[1], by_place(chunks), Limits())
    assert [m.position for m in pack.members] == [0, 1]


def test_a_chunk_belongs_to_one_pack_and_a_gap_ends_the_walk() -> None:
    chunks = document([(0.9, 0.6), (0.9, 0.5), (0.9, 0.7), (0.9, 0.5), (0.9, 0.8)])
    missing = [c for c in chunks if c.position != 3]
    ranked = sorted(missing, key=lambda c: -c.csw)
    packs = pack_neighbourhoods(ranked, by_place(missing), Limits())
    assert [[m.position for m in p.members] for p in packs] == [[4], [0, 1, 2]]


def test_weak_centres_are_left_out() -> None:
    chunks = [document([(0.9, csw)], doc_id=i)[0] for i, csw in enumerate((0.8, 0.7, 0.5, 0.46), start=1)]
    packs = pack_neighbourhoods(chunks, by_place(chunks), Limits(least_share=0.8))
    assert [p.csw for p in packs] == [0.8, 0.7]


numbers = st.floats(0, 1)
documents = st.lists(
    st.lists(st.tuples(numbers, st.floats(0, 0.9), st.integers(1, 900)), min_size=1, max_size=8), min_size=1, max_size=4
)


@given(documents, st.integers(1, 3000), st.one_of(st.none(), st.integers(1, 3000)))
def test_budgets_are_never_exceeded(
    rows: list[list[tuple[float, float, int]]], pack_tokens: int, total: int | None
) -> None:
    chunks = [
        Scored(doc * 100 + i, doc, i, tokens, stability, csw)
        for doc, chunk_rows in enumerate(rows)
        for i, (stability, csw, tokens) in enumerate(chunk_rows)
    ]
    ranked = sorted(chunks, key=lambda c: (-c.csw, c.chunk_id))
    limits = Limits(pack_tokens=pack_tokens, total_tokens=total)
    packs = pack_neighbourhoods(ranked, by_place(chunks), limits)
    assert 1 <= len(packs) <= limits.most_packs
    ids = [m.chunk_id for p in packs for m in p.members]
    assert len(ids) == len(set(ids))
    for pack in packs:
        assert pack.tokens <= max(pack_tokens, pack.centre.tokens)
        positions = [m.position for m in pack.members]
        assert positions == list(range(positions[0], positions[0] + len(positions)))
    if total is not None:
        assert sum(p.tokens for p in packs) <= max(total, packs[0].centre.tokens)


def slow_pack(centre: Scored, chunks: list[Scored], limits: Limits) -> list[Scored]:
    """The pack that the rules allow where no other pack and no total is in the way, by scanning the whole list."""
    pack, used = [centre], centre.tokens
    for step in (-1, 1):
        reach = 0
        while True:
            reach += step
            near = [c for c in chunks if c.doc_id == centre.doc_id and c.position == centre.position + reach]
            if not near or used + near[0].tokens > limits.pack_tokens:
                break
            if near[0].stability < 0.65 and near[0].csw < 0.40:
                break
            pack.append(near[0])
            used += near[0].tokens
            if near[0].stability < 0.65:
                break
    return pack


@given(documents)
def test_alone_a_pack_equals_the_slow_reference(rows: list[list[tuple[float, float, int]]]) -> None:
    chunks = [Scored(i, 1, i, tokens, stability, csw) for i, (stability, csw, tokens) in enumerate(rows[0])]
    limits = replace(Limits(), pack_tokens=1000)
    for centre in chunks:
        pack = build_pack(centre, by_place(chunks), limits)
        assert {m.chunk_id for m in pack.members} == {m.chunk_id for m in slow_pack(centre, chunks, limits)}
