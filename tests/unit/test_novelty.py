"""Overlap and penalty: a table of cases, the formula of the penalty, when to widen, and what may be left out."""

from __future__ import annotations

import dataclasses
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kb.config import Config, NoveltyConfig
from kb.fingerprint import FingerprintCache, Shape, fingerprint, sha256_of
from kb.normal_form import normalize
from kb.packing.known_text import KnownText, known_text_from_blocks, known_text_from_text
from kb.packing.known_text_payload import known_text_from_payload, known_text_payload
from kb.packing.novelty import (
    NoveltyCandidate,
    NoveltySettings,
    OverlapAssessment,
    ScoredCandidate,
    adjusted_score,
    assess,
    make_cache,
    may_omit,
    needs_expansion,
    penalize,
    penalty,
    without_duplicates,
)
from kb.packing.overlap import counted_containment

DEFAULTS = NoveltySettings()


def words(count: int, start: int = 0) -> str:
    return " ".join(f"w{number}" for number in range(start, start + count))


def chunk(text: str, score: float = 1.0) -> NoveltyCandidate:
    return NoveltyCandidate("chunk", 1, text, score)


def as_payload(window: KnownText) -> KnownText:
    return known_text_from_payload(known_text_payload(window))


WINDOW = known_text_from_text(f"# Manual\n\n**{words(400)}**\n\n- the {words(300, 1000)}")


# ---- overlap


@pytest.mark.parametrize(
    ("text", "overlap", "reason"),
    [
        (words(50, 100), 1.0, "exact_duplicate"),
        (words(8, 100), 1.0, "exact_duplicate"),  # a short text is compared by shingles of three words
        (words(3, 100), 1.0, "exact_duplicate"),
        ("W17", 1.0, "exact_duplicate"),
        (f"**{words(30, 100)}**", 1.0, "exact_duplicate"),
        (f"> {words(30, 100).upper()}", 1.0, "exact_duplicate"),
        (f'"{words(30, 100)}"', 0.999, "near_duplicate"),
        (f"{words(52, 0)} {words(52, 5000)}", 0.48, "partial"),
        (words(60, 5000), 0.0, "novel"),
        ("w1 w", 0.0, "novel"),
        ("absent", 0.0, "novel"),
        ("", 0.0, "novel"),
        (" \n ", 0.0, "novel"),
        ("---", 0.0, "novel"),
    ],
)
def test_overlap_is_the_share_of_a_text_that_is_in_the_window(text: str, overlap: float, reason: str) -> None:
    found = assess(chunk(text), WINDOW, DEFAULTS)
    assert found.overlap_ratio == pytest.approx(overlap, abs=0.005)
    assert (found.reason, found.exact_match) == (reason, overlap == 1.0)
    assert not found.is_estimate


def test_a_text_in_two_places_is_in_the_window_and_a_short_one_only_if_it_stands_together() -> None:
    assert assess(chunk(f"{words(40, 0)} {words(40, 1100)}"), WINDOW, DEFAULTS).overlap_ratio == pytest.approx(72 / 76)
    parts = (f"the state of {words(60, 200 * i)} of the art {words(60, 200 * i + 100)}" for i in range(5))
    scattered = known_text_from_text(" ".join(parts))
    found = assess(chunk("so much for the state of it, and more of the art here"), scattered, DEFAULTS)
    assert found.overlap_ratio == pytest.approx(1 / 11)


def test_a_passage_over_two_blocks_is_found() -> None:
    window = known_text_from_blocks([words(30), words(30, 30)])
    assert assess(chunk(words(20, 20)), window, DEFAULTS).exact_match


@pytest.mark.parametrize("text", ["마리골드 망원경의 거울은 한 해에 두 번 닦는다", "望遠鏡の鏡は年に二回磨く", "물"])
def test_other_scripts(text: str) -> None:
    inside = known_text_from_text(f"{words(100)} {text} {words(100, 500)}")
    assert assess(chunk(text), inside, DEFAULTS).exact_match
    assert assess(chunk(text), WINDOW, DEFAULTS).overlap_ratio == 0


def test_against_an_empty_window_all_is_new() -> None:
    for window in (known_text_from_text(""), known_text_from_blocks([]), as_payload(known_text_from_text("--"))):
        for text in ("", "---", "one two three four five six"):
            assert assess(chunk(text), window, DEFAULTS).overlap_ratio == 0
            assert penalize([chunk(text, 0.7)], window, DEFAULTS)[0].adjusted_score == 0.7


def test_on_the_payload_path_overlap_is_an_estimate_and_an_equal_block_is_exact() -> None:
    payload = as_payload(known_text_from_blocks([words(150), words(120, 500), "a very short block"]))
    found = assess(chunk(words(100, 20)), payload, DEFAULTS)
    assert found.is_estimate
    assert 0.7 <= found.overlap_ratio <= 0.999
    whole = assess(chunk(words(120, 500)), payload, DEFAULTS)
    assert (whole.exact_match, whole.overlap_ratio, whole.is_estimate) == (True, 1.0, False)
    assert assess(chunk("a very  SHORT block"), payload, DEFAULTS).exact_match
    assert assess(chunk(words(100, 9000)), payload, DEFAULTS).overlap_ratio < 0.05


def test_one_changed_number_is_a_near_duplicate_and_never_an_exact_one() -> None:
    """The pitfall of SimHash over word counts: two log lines that differ in one value. Demoted, not left out."""
    line = " ".join(f"field{i}=value{i}" for i in range(120))
    window = known_text_from_text(f"{words(50)} {line}. {words(50, 500)}")
    block = known_text_from_blocks([line])
    for against in (window, block, as_payload(block)):
        (scored,) = penalize([chunk(line.replace("field60=value60", "field60=other"))], against, DEFAULTS)
        assert not may_omit(scored)
        assert 0.85 <= scored.overlap.overlap_ratio <= 0.999
        assert 0 < scored.adjusted_score < 0.3
    swapped = assess(chunk(" ".join(reversed(line.split()))), block, DEFAULTS)
    assert (swapped.simhash_distance, swapped.overlap_ratio) == (0, 0.90)
    off = dataclasses.replace(DEFAULTS, duplicate_hamming_bits=-1)
    assert assess(chunk(" ".join(reversed(line.split()))), block, off).overlap_ratio == 0


def test_a_signature_that_agrees_everywhere_is_still_no_exact_duplicate() -> None:
    text = words(2000)
    payload = as_payload(known_text_from_blocks([text]))
    other = f"{text}!"  # the same tokens, another sha256
    assert fingerprint(other).long == fingerprint(text).long
    (scored,) = penalize([chunk(other)], payload, DEFAULTS)
    assert scored.overlap.overlap_ratio == 0.999
    assert scored.adjusted_score > 0
    assert not may_omit(scored)


def test_the_cache_is_used_when_it_is_of_the_windows_shape() -> None:
    cache = make_cache(NoveltyConfig())
    for _ in range(2):
        penalize([chunk(words(30)), chunk(words(30, 50))], WINDOW, DEFAULTS, cache)
    assert (cache.hits, cache.misses) == (2, 2)
    assess(chunk(words(30)), known_text_from_text(words(40), Shape(7, 128)), DEFAULTS, cache)
    assert (cache.hits, cache.misses) == (2, 2)


TEXTS = st.lists(
    st.sampled_from("the mirror of marigold is cleaned twice a year -- *and* `so` on 거울".split()), max_size=60
).map(" ".join)


@settings(max_examples=150, deadline=None)
@given(TEXTS, st.lists(TEXTS, max_size=4), st.sampled_from([Shape(), Shape(3, 16), Shape(1, 32), Shape(8, 64)]))
def test_overlap_lies_in_its_range_and_is_the_same_twice(text: str, blocks: list[str], shape: Shape) -> None:
    raw = known_text_from_blocks(blocks, shape)
    for window in (raw, as_payload(raw)):
        found = assess(chunk(text), window, DEFAULTS)
        assert 0 <= found.overlap_ratio <= 1
        assert 0 <= found.penalty <= 0.9
        assert found == assess(chunk(text), window, DEFAULTS)
        assert (found.overlap_ratio == 1) == found.exact_match
    if text in blocks and normalize(text) and fingerprint(text).token_count:
        assert assess(chunk(text), raw, DEFAULTS).exact_match


@settings(max_examples=100, deadline=None)
@given(TEXTS, TEXTS)
def test_containment_is_that_of_the_sets(text: str, against: str) -> None:
    """The oracle: shingles as tuples of words, for texts that are not short."""
    from kb.fingerprint import tokens_of
    from kb.shingles import token_hashes

    own, other = tokens_of(normalize(text)), tokens_of(normalize(against))
    if len(own) < 20:
        return
    sets = [{tuple(tokens[i : i + 5]) for i in range(len(tokens) - 4)} for tokens in (own, other)]
    expected = len(sets[0] & sets[1]) / len(sets[0])
    window = known_text_from_text(against)
    assert counted_containment(window, token_hashes(normalize(text))) == pytest.approx(expected)


# ---- penalty


@pytest.mark.parametrize(
    ("source", "overlap", "taken"),
    [
        *[("chunk", o, p) for o, p in [(0.1, 0.0402), (0.3, 0.1772), (0.5, 0.3531), (0.6, 0.4516), (0.85, 0.7227)]],
        *[("chunk", o, p) for o, p in [(0.9, 0.7807), (0.999, 0.8988), (0.0, 0.0)]],
        *[("path", o, p) for o, p in [(0.3, 0.1181), (0.6, 0.3011), (0.9, 0.5204)]],
    ],
)
def test_the_published_penalties(source: str, overlap: float, taken: float) -> None:
    assert penalty(source, overlap, DEFAULTS) == pytest.approx(taken, abs=0.00006)  # type: ignore[arg-type]


def overlapping(ratio: float, source: str = "chunk", exact: bool = False) -> OverlapAssessment:
    taken = penalty(source, ratio, DEFAULTS)  # type: ignore[arg-type]
    return OverlapAssessment(exact, 20, ratio, taken, "novel" if ratio < 0.3 else "partial", False)


def scored(ratio: float, exact: bool = False, score: float = 0.8, number: int = 0) -> ScoredCandidate:
    overlap = overlapping(ratio, exact=exact)
    return ScoredCandidate("chunk", number, "text", score, adjusted_score(score, overlap), overlap)


def test_the_adjusted_score() -> None:
    assert adjusted_score(0.8, overlapping(0.6)) == pytest.approx(0.4387, abs=0.0001)
    assert adjusted_score(0.8, overlapping(0.6, "path")) == pytest.approx(0.5591, abs=0.0001)
    assert adjusted_score(0.8, overlapping(1.0, exact=True)) == 0
    assert adjusted_score(0.8, overlapping(0.0)) == 0.8
    grid = [adjusted_score(0.8, overlapping(i / 1000)) for i in range(1001)]
    assert all(a > b for a, b in pairwise(grid))


def test_order_is_kept_and_nothing_is_left_out() -> None:
    candidates = [
        NoveltyCandidate(source, i, text, 0.5)  # type: ignore[arg-type]
        for i, (source, text) in enumerate([("chunk", words(30)), ("path", words(30, 5000)), ("path", words(30))])
    ]
    found = penalize(candidates, WINDOW, DEFAULTS)
    assert [one.candidate_id for one in found] == [0, 1, 2]
    assert [one.adjusted_score for one in found] == [0.0, 0.5, 0.0]
    assert [(one.source, one.text, one.base_score) for one in found] == [
        (one.source, one.text, one.base_score) for one in candidates
    ]


def test_turned_off_no_score_changes() -> None:
    off = NoveltySettings.of(NoveltyConfig(enabled=False))
    (found,) = penalize([chunk(words(30), -0.25)], WINDOW, off)
    assert (found.adjusted_score, found.overlap.penalty) == (-0.25, 0)


def test_only_exact_duplicates_are_left_out_and_best_effort_keeps_them_where_there_is_nothing_else() -> None:
    duplicates = [scored(1.0, exact=True, number=1), scored(1.0, exact=True, number=2)]
    near = scored(0.999, number=3)
    assert without_duplicates([*duplicates, near], DEFAULTS) == [near]
    assert without_duplicates(duplicates, DEFAULTS) == []
    best_effort = dataclasses.replace(DEFAULTS, best_effort=True)
    assert without_duplicates(duplicates, best_effort) == duplicates
    assert without_duplicates([*duplicates, near], best_effort) == [near]


# ---- when to widen


@pytest.mark.parametrize(
    ("overlaps", "k", "expected"),
    [
        ([], 5, False),
        ([0.0, 0.0, 0.9, 0.9, 0.9], 5, False),
        ([0.0, 0.9, 0.9, 0.9, 0.9], 5, True),
        ([0.9] * 5, 5, True),
        ([0.4] * 5, 5, True),
        ([0.29, 0.29, 0.9], 5, False),
        ([0.3, 0.29, 0.9], 5, True),
        ([0.9, 0.9, 0.0, 0.0], 2, True),
        ([0.0], 1, False),
        ([0.9], 1, True),
        ([0.0], 5, True),
    ],
)
def test_when_the_first_pass_only_repeats(overlaps: list[float], k: int, expected: bool) -> None:
    assert needs_expansion([scored(ratio) for ratio in overlaps], k, DEFAULTS) is expected


# ---- settings: every key does what it says


def test_the_settings_are_the_configured_ones() -> None:
    assert NoveltySettings.of(Config().novelty) == DEFAULTS
    config = NoveltyConfig(shingle_size=7, minhash_permutations=64, min_novel=0, chunk_weight=0.5)
    found = NoveltySettings.of(config)
    assert found.shape == Shape(7, 64)
    assert not needs_expansion([scored(0.9)] * 5, 5, found)
    assert penalty("chunk", 1.0, found) == 0.5
    assert penalty("path", 1.0, dataclasses.replace(found, path_weight=0.1)) == 0.1
    assert penalty("chunk", 0.5, NoveltySettings(exponent=1.0)) == pytest.approx(0.45)
    cache = make_cache(NoveltyConfig(shingle_size=7, minhash_permutations=64))
    assert isinstance(cache, FingerprintCache)
    assert (cache.shape, cache.max_entries, cache.ttl_seconds) == (Shape(7, 64), 10_000, 1200)


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        (NoveltySettings(), "partial"),
        (NoveltySettings(novel_overlap=0.6), "novel"),
        (NoveltySettings(trigger_overlap=0.4), "self_referential"),
        (NoveltySettings(near_duplicate_overlap=0.45), "near_duplicate"),
    ],
)
def test_thresholds_name_the_overlap(settings: NoveltySettings, reason: str) -> None:
    half = f"{words(52, 0)} {words(52, 5000)}"
    assert assess(chunk(half), WINDOW, settings).reason == reason


def test_shingle_size_and_permutations_change_the_comparison() -> None:
    text = " ".join(f"w{i} w{i + 1} gap{i}" for i in range(0, 200, 2))  # no three words in a row are the window's
    by_two = known_text_from_text(words(400), Shape(2, 128))
    assert assess(chunk(text), by_two, DEFAULTS).overlap_ratio > 0.3
    assert assess(chunk(text), known_text_from_text(words(400)), DEFAULTS).overlap_ratio == 0
    coarse = as_payload(known_text_from_text(words(150), Shape(5, 16)))
    estimate = assess(chunk(words(75) + " " + words(75, 5000)), coarse, DEFAULTS).overlap_ratio
    assert estimate > 0
    jaccards = {round(number / 16, 4) for number in range(17)}
    from kb.packing.overlap import estimated_containment

    assert estimated_containment(coarse, fingerprint(words(150), Shape(5, 16))) in jaccards | {1.0}


def test_sha256_is_of_the_whole_text_however_long() -> None:
    text = words(6000)  # beyond what is hashed into shingles
    window = known_text_from_blocks([text])
    assert assess(chunk(text), window, DEFAULTS).exact_match
    assert not assess(chunk(f"{text} more"), as_payload(window), DEFAULTS).exact_match
    assert sha256_of(normalize(text)) in as_payload(window).digests
