"""The probability of a hit: kept in the order of the match, the same for the same list, without a floor where none is known."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from kb.records import SearchMode
from kb.search.calibrate import RANKS, WORDS, calibrate, load_models, signals_of, variant_of
from kb.search.records import Candidates, Fused

DIGEST = next(name.partition("/")[0] for name in load_models() if "/" in name and not name.startswith("other"))


def listed(matches: dict[int, float], *, vectors: bool = True, bounded: bool = True) -> Fused:
    found = Candidates(["a", "b", "c"], None, query_vector=np.ones(2, np.float32) if vectors else None)
    ranking = sorted(matches.items(), key=lambda row: -row[1])
    return Fused(found, ranking, "convex", matches if bounded else {}, {})


MATCHES = {i: 0.9 / i for i in range(1, 15)}


@pytest.mark.parametrize("mode", ["lexical", "vector", "hybrid"])
@pytest.mark.parametrize("digest", [DIGEST, "0" * 64])
def test_a_better_match_is_never_less_probable(mode: SearchMode, digest: str) -> None:
    chances = list(calibrate(listed(MATCHES), mode, digest).probability.values())
    assert all(0 < chance < 1 for chance in chances)
    assert all(better >= worse for better, worse in pairwise(chances))


def test_the_order_of_the_list_does_not_change_a_probability() -> None:
    """RRF orders by ranks; how probable a hit is depends on its match."""
    by_match = listed(MATCHES)
    turned = Fused(by_match.candidates, by_match.ranking[::-1], "rrf", by_match.relevance, {})
    assert calibrate(turned, "hybrid", DIGEST).probability == calibrate(by_match, "hybrid", DIGEST).probability


@pytest.mark.parametrize(
    ("fused", "mode", "variant"),
    [
        (listed(MATCHES), "hybrid", "hybrid"),
        (listed(MATCHES), "vector", "vector"),
        (listed(MATCHES), "lexical", WORDS),
        (listed(MATCHES, vectors=False), "hybrid", WORDS),
        (listed(MATCHES, bounded=False), "hybrid", RANKS),
    ],
)
def test_the_weights_are_those_of_what_was_searched(fused: Fused, mode: SearchMode, variant: str) -> None:
    assert variant_of(fused, mode) == variant


def test_what_nothing_was_fitted_for_has_no_floor() -> None:
    assert calibrate(listed(MATCHES), "hybrid", "0" * 64).floor == 0
    assert calibrate(listed(MATCHES, bounded=False), "hybrid", DIGEST).floor == 0
    assert 0 < calibrate(listed(MATCHES), "hybrid", DIGEST).floor < 0.5


def test_signals_by_hand() -> None:
    signals = signals_of(listed({7: 0.5, 8: 0.25}))
    assert (signals[7].log_rank, signals[7].share, signals[7].lead, signals[7].log_terms) == (0, 1, 0.5, 2)
    assert (signals[8].log_rank, signals[8].share, signals[8].lead, signals[8].match) == (1, 0.5, 0.25, 0.25)


def test_every_set_of_weights_keeps_the_order() -> None:
    for model in load_models().values():
        assert all(model.weights.get(name, 0) >= 0 for name in ("match", "log_match", "share", "lead"))
        assert model.weights.get("log_rank", 0) <= 0


def test_an_empty_list() -> None:
    assert calibrate(listed({}), "hybrid", DIGEST).probability == {}
