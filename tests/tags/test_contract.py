"""The rules of the retrieval contract, A1 to A8, with neighbours and context given as tables."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kb.tags.records import Candidate, Suggestions, SuggestOptions
from kb.tags.suggest import fuse, missing_context, suggest
from kb.tags.words import expand_phrases, lookup_of, normalize_phrase
from tests.tags.stubs import TableContext, TableNeighbours, vocabulary_of

PETS = vocabulary_of("dog", "cat", "bird", "shirt", aliases={"k9": ["dog"], "pet": ["dog", "cat"]})


def ask(
    phrases: list[str], neighbours=None, context=None, vocabulary=PETS, blocked=frozenset(), **options
) -> Suggestions:
    source = TableNeighbours(neighbours or {})
    return suggest(phrases, vocabulary, source, context, SuggestOptions(**options), frozenset(blocked))


def rows(found: Suggestions, phrase: str = "p"):
    return {row.tag: row for report in found.phrases or () if report.normalized == phrase for row in report.candidates}


def test_a1_phrases_are_normalized_and_get_their_head_nouns() -> None:
    assert expand_phrases(["Big  Shirt ", "grey shirt", "GREY SHIRT"]) == ["big shirt", "grey shirt", "shirt"]


@pytest.mark.parametrize(
    ("phrases", "expected"),
    [
        (["big_shirt"], ["big shirt"]),
        (["big_shirt", "Big Shirt"], ["big shirt", "shirt"]),
        (["big_shirt red"], ["big shirt red", "red"]),
        (["made of"], ["made of"]),
        (["plan b"], ["plan b"]),
        (["in the"], ["in the"]),
        (["shirt", "big shirt"], ["shirt", "big shirt"]),
        (["", "  ", "_"], []),
        (["큰 망원경"], ["큰 망원경", "망원경"]),
        (["검은 개들"], ["검은 개들", "개들"]),
        (["ＡＢＣ shirt"], ["abc shirt", "shirt"]),
        (["a\u2003b\tshirt"], ["a b shirt", "shirt"]),
    ],
)
def test_a1_which_words_are_heads(phrases: list[str], expected: list[str]) -> None:
    assert expand_phrases(phrases) == expected


def test_a1_a_lookup_has_underscores() -> None:
    assert lookup_of("big grey shirt") == "big_grey_shirt"


def test_a2_neighbours_are_projected_and_the_best_token_wins() -> None:
    found = ask(["p"], {"p": [("zzz", 0.99), ("k9", 0.90), ("dog", 0.80)]})
    (row,) = rows(found).values()
    assert (row.tag, row.score_fasttext, row.alias_token) == ("dog", 0.90, "k9")
    assert [c.tag for c in found.candidates] == ["dog"]


def test_a2_an_alias_of_several_tags_brings_them_all() -> None:
    found = rows(ask(["p"], {"p": [("pet", 0.7)]}))
    assert {tag: row.alias_token for tag, row in found.items()} == {"dog": "pet", "cat": "pet"}


def test_a3_what_a_phrase_names_is_there_with_one() -> None:
    row = rows(ask(["shirt"]), "shirt")["shirt"]
    assert (row.score_fasttext, row.alias_token) == (1.0, "shirt")
    row = rows(ask(["k9"], {"k9": [("dog", 0.4)]}), "k9")["dog"]
    assert (row.score_fasttext, row.alias_token) == (1.0, "k9")


def test_a3_a_hyphen_in_a_tag_is_met_by_a_space_in_a_phrase() -> None:
    vocabulary = vocabulary_of("machine-learning", "a-b", "a_b")
    assert (
        rows(ask(["Machine  Learning"], vocabulary=vocabulary), "machine learning")["machine-learning"].score_fasttext
        == 1
    )
    assert vocabulary.project("a-b") == ("a-b",)
    assert vocabulary.project("a_b") == vocabulary.project("a b") == ("a_b",)


@pytest.mark.parametrize(
    ("known", "expected"), [([i / 10 for i in range(1, 11)], 0.19), ([0.3], 0.3), ([], 0.0), ([-0.5, 0.5], -0.4)]
)
def test_a4_a_tag_without_context_gets_the_tenth_percentile(known: list[float], expected: float) -> None:
    assert missing_context(known) == pytest.approx(expected)
    tags = [f"t{i}" for i in range(len(known))]
    vocabulary = vocabulary_of(*tags, "none", "term")
    context = TableContext(dict(zip(tags, known, strict=True)), ["p"])
    near = {"p": [(tag, 0.5) for tag in [*tags, "none"]]}
    found = rows(ask(["p"], near, context, vocabulary, per_phrase_final_k=50))
    assert found["none"].score_context == pytest.approx(expected)
    assert found["none"].context_imputed
    assert not any(found[tag].context_imputed for tag in tags)


def test_a4_the_percentile_is_taken_after_blocking_and_before_cutting() -> None:
    vocabulary = vocabulary_of("a", "b", "c", "x")
    context = TableContext({"a": 0.9, "b": 0.5, "c": 0.1}, ["p"])
    near = {"p": [("a", 0.9), ("b", 0.8), ("c", 0.7), ("x", 1.9)]}
    assert rows(ask(["p"], near, context, vocabulary, per_phrase_final_k=2))["x"].score_context == pytest.approx(0.18)
    found = rows(ask(["p"], near, context, vocabulary, blocked={"c"}, per_phrase_final_k=2))
    assert found["x"].score_context == pytest.approx(0.54)


@pytest.mark.parametrize(("weight", "expected"), [(0.5, 0.5), (0.25, 0.65), (0.0, 0.8), (1.0, 0.2)])
def test_a5_fusion(weight: float, expected: float) -> None:
    assert fuse(0.8, 0.2, weight) == pytest.approx(expected)
    context = TableContext({"dog": 0.2}, ["p"])
    found = ask(["p"], {"p": [("dog", 0.8)]}, context, context_weight=weight)
    assert found.candidates[0].score_combined == pytest.approx(expected)


def test_a5_without_context_the_score_is_the_neighbours() -> None:
    for context in (None, TableContext({"dog": 0.2}, [])):
        found = ask(["p"], {"p": [("dog", 0.8), ("cat", 0.6)]}, context)
        assert not found.query_has_context
        assert [(c.score_combined, c.score_context) for c in found.candidates] == [(0.8, None), (0.6, None)]


def test_a5_negative_cosines_stay() -> None:
    found = ask(["p"], {"p": [("dog", -0.4)]}, TableContext({"dog": -0.2}, ["p"]))
    assert found.candidates[0].score_combined == pytest.approx(-0.3)


ABC = vocabulary_of("a", "b", "c", "d", aliases={"p": ["c"], "q": ["c", "d"]})
NEAR = [("a", 0.9), ("b", 0.8)]


def pinned(phrase: str, k: int, blocked: frozenset[str] = frozenset()) -> list[str]:
    context = TableContext({"a": 0.9, "b": 0.8, "c": -0.8, "d": -0.9}, [phrase])
    found = ask([phrase], {phrase: NEAR}, context, ABC, blocked, per_phrase_final_k=k)
    return [row.tag for report in found.phrases or () for row in report.candidates]


def test_a6_pinned_tags_stay() -> None:
    assert pinned("p", 2) == ["a", "c"]
    assert pinned("p", 1) == ["c"]
    assert pinned("p", 3) == ["a", "b", "c"]
    assert pinned("q", 1) == ["c", "d"]
    assert pinned("q", 3) == ["a", "c", "d"]


def test_a6_blocking_beats_injection_and_pinning() -> None:
    assert pinned("p", 2, frozenset({"c"})) == ["a", "b"]
    assert pinned("q", 1, frozenset({"c"})) == ["d"]
    assert ask(["c"], vocabulary=ABC, blocked={"c"}).candidates == ()


def test_a6_a_minimal_count_beats_pinning_too_but_unknown_counts_pass() -> None:
    vocabulary = vocabulary_of("dog", "cat", counts={"dog": 3})
    found = ask(["dog", "cat"], vocabulary=vocabulary, min_count=4)
    assert [c.tag for c in found.candidates] == ["cat"]
    assert len(ask(["dog"], vocabulary=vocabulary, min_count=3).candidates) == 1


def test_a6_pinning_stays_in_its_phrase() -> None:
    context = TableContext({"a": 0.9, "b": 0.8, "c": -0.8}, ["p"])
    found = ask(["p", "other"], {"p": NEAR, "other": [*NEAR, ("c", 0.1)]}, context, ABC, per_phrase_final_k=2)
    assert list(rows(found, "p")) == ["a", "c"]
    assert list(rows(found, "other")) == ["a", "b"]


def test_a7_phrases_merge_by_the_best_of_each_score() -> None:
    # Without rows of their own the context is imputed per phrase: the only way for it to differ between phrases.
    vocabulary = vocabulary_of("t", "x", "y")
    near = {"p": [("t", 0.9), ("x", 0.5)], "q": [("t", 0.4), ("y", 0.5)]}
    context = TableContext({"x": 0.1, "y": 0.8}, ["p"])
    found = ask(["p", "q"], near, context, vocabulary)
    (row,) = [c for c in found.candidates if c.tag == "t"]
    assert row.sources == ("p", "q")
    assert (row.score_fasttext, row.score_context) == (0.9, 0.8)
    assert row.score_combined == pytest.approx(0.6)


def test_a7_global_k_cuts_even_what_was_pinned() -> None:
    found = ask(["shirt", "p"], {"p": [("dog", 1.0), ("cat", 1.0)]}, TableContext({"shirt": -1.0}, ["p"]), global_k=2)
    assert [c.tag for c in found.candidates] == ["cat", "dog"]


def test_a8_a_phrase_that_is_nowhere() -> None:
    found = ask(["qqqqqq"], context=TableContext({"dog": 0.2}, ["dog"]))
    assert (found.candidates, found.query_has_context) == ((), False)
    (report,) = found.phrases or ()
    assert (report.oov_terms, report.tfidf_vocab) == (("qqqqqq",), False)


def test_aliases_are_unknown_to_the_context() -> None:
    found = ask(["k9"], context=TableContext({"dog": 0.2}, ["dog"]))
    assert found.phrases is not None
    assert found.phrases[0].oov_terms == ("k9",)
    assert found.candidates[0] == Candidate(
        tag="dog", score_combined=1.0, score_fasttext=1.0, score_context=None, count=None, sources=("k9",)
    )


def test_context_tags_give_a_context_and_add_no_candidates() -> None:
    context = TableContext({"dog": 0.2, "cat": 0.4}, ["cat"])
    found = ask(["k9"], context=context, context_tags=("cat",))
    assert found.query_has_context
    assert [(c.tag, c.score_context) for c in found.candidates] == [("dog", 0.2)]


def test_ties_fall_to_the_more_frequent_tag_then_to_the_name() -> None:
    vocabulary = vocabulary_of("a", "b", "c", "d", counts={"c": 9, "b": 1, "a": 1})
    found = ask(["p"], {"p": [(tag, 0.5) for tag in "dcba"]}, vocabulary=vocabulary)
    assert [c.tag for c in found.candidates] == ["c", "a", "b", "d"]


WORDS = st.lists(
    st.sampled_from(["dog", "k9", "pet", "cat", "big dog", "grey shirt", "zzz", "shirt", "bird"]), max_size=6
)
TABLE = {
    "dog": [("cat", 0.5), ("bird", 0.4)],
    "big_dog": [("dog", 0.7), ("k9", 0.7)],
    "zzz": [("pet", 0.3), ("nothing", 0.9)],
    "shirt": [("dog", -0.1)],
}


@settings(deadline=None)
@given(WORDS, st.randoms(), st.integers(1, 4), st.integers(1, 6))
def test_the_order_of_phrases_does_not_matter(phrases: list[str], dice, final_k: int, global_k: int) -> None:
    context = TableContext({"dog": 0.9, "cat": 0.1, "bird": -0.3}, ["dog", "shirt"])
    other = list(phrases)
    dice.shuffle(other)
    first, second = (
        ask(order, TABLE, context, per_phrase_final_k=final_k, global_k=global_k) for order in (phrases, other)
    )
    assert first.candidates == second.candidates
    assert {r.normalized: r.candidates for r in first.phrases or ()} == {
        r.normalized: r.candidates for r in second.phrases or ()
    }


@settings(deadline=None)
@given(WORDS, st.sets(st.sampled_from(["dog", "cat", "shirt"])))
def test_blocked_tags_never_come(phrases: list[str], blocked: set[str]) -> None:
    found = ask(phrases, TABLE, TableContext({"dog": 0.9}, ["dog"]), blocked=frozenset(blocked))
    assert blocked.isdisjoint(c.tag for c in found.candidates)
    assert blocked.isdisjoint(row.tag for report in found.phrases or () for row in report.candidates)


@settings(deadline=None)
@given(st.text(max_size=30))
def test_normalizing_twice_is_normalizing_once(text: str) -> None:
    once = normalize_phrase(text)
    assert normalize_phrase(once) == once
    once.encode()
