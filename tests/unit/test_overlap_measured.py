"""Overlap on real prose: verbatim copies, edits, unrelated text of the same genre, natural near-duplicates."""

from __future__ import annotations

import json
import random
import statistics
from functools import cache
from pathlib import Path

import pytest

from kb.config import NoveltyConfig
from kb.fingerprint import fingerprint, fingerprint_many
from kb.packing.known_text import KnownText, known_text_from_blocks, known_text_from_text
from kb.packing.known_text_payload import known_text_from_payload, known_text_payload
from kb.packing.novelty import NoveltyCandidate, NoveltySettings, ScoredCandidate, assess, make_cache, penalize

ROOT = Path(__file__).parents[2]
TOPICS = ROOT.parent / "shared" / "data" / "github_explore_topics.json"
SETTINGS = NoveltySettings()
WINDOW_TOKENS = 4000


@cache
def corpus() -> list[str]:
    """The fixture corpus as words, line breaks kept as words of their own, documents in an order of no topic."""
    texts = []
    for path in sorted((ROOT / "fixtures" / "corpus").rglob("*")):
        if path.suffix in {".md", ".txt", ".rst"} and "archive" not in path.parts and "binder" not in path.parts:
            texts.append(path.read_text(encoding="utf-8", errors="replace").replace("\n", " \n "))
    random.Random(5).shuffle(texts)
    return " \n \n ".join(texts).split(" ")


@cache
def window() -> KnownText:
    return known_text_from_text(" ".join(corpus()[:WINDOW_TOKENS]))


@cache
def payload() -> KnownText:
    return known_text_from_payload(known_text_payload(window()))


def cut(words: list[str], start: int, count: int) -> str:
    """A stretch with so many words, line breaks not counted."""
    end, left = start, count
    while left and end < len(words):
        left -= bool(words[end].strip())
        end += 1
    return " ".join(words[start:end])


def judge(text: str, against: KnownText) -> ScoredCandidate:
    return penalize([NoveltyCandidate("chunk", 1, text, 1.0)], against, SETTINGS)[0]


@pytest.mark.parametrize("count", [10, 25, 50, 80, 120, 190, 300, 500])
def test_what_is_copied_verbatim_is_always_suppressed(count: int) -> None:
    rng = random.Random(count)
    words = corpus()[:WINDOW_TOKENS]
    for start in (rng.randrange(len(words) - 2 * count) for _ in range(20)):
        found = judge(cut(words, start, count), window())
        assert found.overlap.overlap_ratio >= 0.95
        assert found.adjusted_score <= 0.25


@pytest.mark.parametrize("count", [10, 50, 190, 500])
def test_a_copy_of_whole_lines_is_an_exact_duplicate(count: int) -> None:
    rng = random.Random(count)
    lines = " ".join(corpus()[:WINDOW_TOKENS]).split("\n")
    for start in (rng.randrange(len(lines) // 2) for _ in range(20)):
        end = start + 1
        while len(" ".join(lines[start:end]).split()) < count:
            end += 1
        text = "\n".join(lines[start:end])
        if fingerprint(text).token_count:
            assert judge(text, window()).adjusted_score == 0


@pytest.mark.parametrize(("count", "least"), [(15, 0.97), (60, 0.97), (200, 0.97)])
def test_unrelated_text_of_the_same_genre_is_untouched(count: int, least: float) -> None:
    rng = random.Random(count)
    outside = corpus()[WINDOW_TOKENS:]
    overlaps = [
        judge(cut(outside, rng.randrange(len(outside) - 2 * count), count), window()).overlap.overlap_ratio
        for _ in range(200)
    ]
    assert sum(overlap < 0.30 for overlap in overlaps) / len(overlaps) >= least


def test_the_more_is_edited_the_less_overlaps() -> None:
    rng = random.Random(7)
    words = [word for word in corpus() if word.strip()]
    means = []
    for percent in (0, 2, 5, 10, 20):
        overlaps = []
        for _ in range(100):
            start = rng.randrange(WINDOW_TOKENS - 800)
            text = words[start : start + 200]
            against = known_text_from_text(" ".join(words[max(0, start - 300) : start + 600]))
            for place in rng.sample(range(200), 2 * percent):
                text[place] = f"edit{rng.randrange(10**6)}"
            overlaps.append(judge(" ".join(text), against).overlap.overlap_ratio)
        means.append(statistics.mean(overlaps))
    assert means == sorted(means, reverse=True)
    assert means[0] >= 0.99
    assert 0.6 <= means[2] <= 0.95
    assert 0.15 <= means[4] <= 0.55


def test_on_the_payload_path_copies_are_recognised_and_unrelated_text_is_not() -> None:
    rng = random.Random(11)
    inside, outside = corpus()[:WINDOW_TOKENS], corpus()[WINDOW_TOKENS:]
    copies, others = [], []
    for _ in range(120):
        count = rng.randint(25, 190)
        for words, found in ((inside, copies), (outside, others)):
            text = cut(words, rng.randrange(len(words) - 2 * count), count)
            if fingerprint(text).token_count >= 25:
                found.append(judge(text, payload()).overlap.overlap_ratio)
    assert sum(overlap >= 0.70 for overlap in copies) >= 0.95 * len(copies)
    assert sum(overlap < 0.30 for overlap in others) >= 0.95 * len(others)


def test_a_warm_cache_is_asked_once_for_each_candidate() -> None:
    cache_of_texts = make_cache(NoveltyConfig())
    texts = [cut(corpus(), 200 * i, 190) for i in range(20)]
    cache_of_texts.fingerprint_many(texts)
    cold = (cache_of_texts.hits, cache_of_texts.misses)
    penalize([NoveltyCandidate("chunk", 1, text, 1.0) for text in texts], window(), SETTINGS, cache_of_texts)
    assert (cache_of_texts.hits - cold[0], cache_of_texts.misses - cold[1]) == (len(texts), 0)


# ---- near-duplicates as they occur


def test_a_revision_in_the_window_of_what_it_revises() -> None:
    """Every twentieth word is another one; the other text is of the same corpus and no revision."""
    older, other = corpus()[:3000], corpus()[6000:9000]
    newer = [word if number % 20 else f"revised{number}" for number, word in enumerate(older)]
    against = known_text_from_text(" ".join(older))
    revised = [assess(NoveltyCandidate("chunk", 1, text, 1.0), against, SETTINGS) for text in passages(" ".join(newer))]
    unrelated = [
        assess(NoveltyCandidate("chunk", 1, text, 1.0), against, SETTINGS) for text in passages(" ".join(other))
    ]
    assert statistics.median(one.overlap_ratio for one in revised) > 0.5
    assert all(one.overlap_ratio < 0.30 for one in unrelated)
    by_payload = known_text_from_payload(known_text_payload(against))
    estimates = [
        assess(NoveltyCandidate("chunk", 1, text, 1.0), by_payload, SETTINGS) for text in passages(" ".join(newer))
    ]
    errors = [abs(a.overlap_ratio - b.overlap_ratio) for a, b in zip(revised, estimates, strict=True)]
    assert statistics.mean(errors) < 0.1


def passages(text: str) -> list[str]:
    words = text.split()
    return [" ".join(words[i : i + 150]) for i in range(0, len(words) - 150, 150)]


@pytest.mark.skipif(not TOPICS.exists(), reason="the pages of other people are not on this machine")
def test_pages_of_one_collection_do_not_press_each_other_down() -> None:
    pages = [
        " ".join(str(value) for value in topic.values() if isinstance(value, str))
        for topic in json.loads(TOPICS.read_text()).values()
    ]
    pages = [page for page in dict.fromkeys(pages) if len(page.split()) >= 20]
    against = known_text_from_blocks(pages[::20])
    rest = [page for number, page in enumerate(pages) if number % 20 and number % 3 == 0]
    found = [assess(NoveltyCandidate("chunk", 1, page, 1.0), against, SETTINGS).overlap_ratio for page in rest]
    assert sum(overlap < 0.30 for overlap in found) >= 0.97 * len(found)
    assert len(fingerprint_many(pages)) == len(pages)
