"""The list of passages by a query's tags: documents by weight, passages by the other lists."""

from __future__ import annotations

import math

import pytest

from kb.search.expand import rank_passages, weigh_documents


def test_a_rare_tag_weighs_more_than_a_common_one() -> None:
    weights = weigh_documents(
        {"rare": 1.0, "common": 1.0, "nowhere": 1.0}, {"rare": {1}, "common": {1, 2, 3}, "nowhere": set()}, 9
    )
    assert weights == {
        1: pytest.approx(math.log(10) + math.log(4)),
        2: pytest.approx(math.log(4)),
        3: pytest.approx(math.log(4)),
    }
    assert weigh_documents({"a": 0.5}, {"a": {7}}, 1) == {7: pytest.approx(0.5 * math.log(2))}


def test_passages_of_one_document_follow_the_other_lists() -> None:
    chunks = {1: [10, 11, 12], 2: [20], 3: []}
    rankings = [[(12, 9.0), (20, 8.0)], [(11, 0.9), (12, 0.8)]]
    ranked = rank_passages({1: 2.0, 2: 3.0, 3: 9.0}, chunks, rankings)
    assert ranked == [(20, 3.0), (11, 2.0), (12, 2.0), (10, 2.0)]
    assert rank_passages({}, chunks, rankings) == []
