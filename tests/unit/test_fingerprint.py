"""Fingerprints: the algorithms against their published forms, error bounds, bytes, and the cache."""

from __future__ import annotations

import hashlib
import statistics

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kb.fingerprint import (
    FP_VERSION,
    Fingerprint,
    FingerprintCache,
    Shape,
    fingerprint,
    fingerprint_many,
    normalize,
)
from kb.shingles import minhash, multipliers, shingle_hashes, shingles_behind, simhash64, token_hashes


def md5_features(words: list[str]) -> np.ndarray:
    """The features of the simhash package: the low 64 bits of md5."""
    return np.array([int.from_bytes(hashlib.md5(w.encode()).digest()[-8:], "big") for w in words], np.uint64)


@pytest.mark.parametrize(
    ("words", "value"),
    [(["aaa", "bbb"], 57087923692560392), ([str(i) for i in range(500)], 7984652473404407437)],
)
def test_simhash_is_that_of_the_simhash_package(words: list[str], value: int) -> None:
    assert simhash64(md5_features(words)) == value


def test_simhash_equals_the_package_on_word_frequencies() -> None:
    package = pytest.importorskip("simhash", reason="simhash is a development dependency")
    rng = np.random.default_rng(1)
    for length in (1, 2, 3, 10, 61, 300):
        words = [f"w{i}" for i in rng.zipf(1.5, length) % 97]
        counts = {word: words.count(word) for word in words}
        assert simhash64(md5_features(words)) == package.Simhash(counts).value


def random_pair(rng: np.random.Generator, shared: int, own: int) -> tuple[np.ndarray, np.ndarray]:
    values = rng.integers(1, 2**63, shared + 2 * own, dtype=np.uint64)
    return values[: shared + own], np.concatenate([values[:shared], values[shared + own :]])


def estimate(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.mean(minhash(a, 128) == minhash(b, 128)))


def test_minhash_errs_as_128_permutations_must() -> None:
    rng = np.random.default_rng(2)
    pairs = [random_pair(rng, 100, 50) for _ in range(400)]  # Jaccard .5
    errors = [estimate(a, b) - 0.5 for a, b in pairs]
    assert abs(statistics.mean(errors)) < 0.01
    assert 0.035 <= statistics.stdev(errors) <= 0.055
    a, b = pairs[0]
    assert estimate(a, b) == estimate(b, a)
    assert estimate(a, a) == 1.0
    assert estimate(*random_pair(rng, 0, 200)) < 0.05


def test_minhash_on_texts_agrees_with_datasketch() -> None:
    """Other permutations, the same quantity: both err alike around the true index, on shingles of real words."""
    package = pytest.importorskip("datasketch", reason="datasketch is a development dependency")
    rng = np.random.default_rng(3)
    ours, theirs, true = [], [], []
    for trial in range(60):
        words = [f"word{i}" for i in rng.integers(0, 400, 160)]
        other = [w if rng.random() > trial / 200 else f"other{i}" for i, w in enumerate(words)]
        sets = [{" ".join(text[i : i + 5]) for i in range(len(text) - 4)} for text in (words, other)]
        true.append(len(sets[0] & sets[1]) / len(sets[0] | sets[1]))
        signatures = [np.frombuffer(fingerprint(" ".join(text)).long.minhash, "<u4") for text in (words, other)]
        ours.append(float(np.mean(signatures[0] == signatures[1])))
        made = [package.MinHash(num_perm=128) for _ in sets]
        for one, shingles in zip(made, sets, strict=True):
            for shingle in shingles:
                one.update(shingle.encode())
        theirs.append(made[0].jaccard(made[1]))
    our_error = float(np.mean(np.abs(np.subtract(ours, true))))
    their_error = float(np.mean(np.abs(np.subtract(theirs, true))))
    assert our_error < 0.045
    assert our_error < their_error * 1.5 + 0.005
    assert np.corrcoef(ours, theirs)[0, 1] > 0.97


def test_permutations_are_the_same_on_every_machine() -> None:
    assert multipliers(4).tolist() == multipliers(128)[:4].tolist()
    assert all(int(factor) % 2 for factor in multipliers(128))
    assert multipliers(3).tolist() == [3215619749, 2524656179, 3382911079]


def test_a_fingerprint_is_the_same_for_ever() -> None:
    """A change here needs another FP_VERSION: what callers have kept is compared with what is computed."""
    found = fingerprint("The mirror of Marigold is cleaned twice a year, 거울은 한 해에 두 번.")
    assert FP_VERSION == "kb-fp-1"
    assert (
        hashlib.sha256(repr(found).encode()).hexdigest()
        == "b2f96f3fd7f4d2e897b151052437500cdb4d058e6558d925d0790f63e4f2fc63"
    )


def test_a_signature_tells_its_shingles() -> None:
    shingles = shingle_hashes(token_hashes("one two three four five six seven eight"), 5)
    behind = set(shingles_behind(minhash(shingles, 128)).tolist())
    assert behind == {int(value) >> 32 for value in shingles}


def test_counts() -> None:
    found = fingerprint("a b c a b c a b c")
    assert (found.token_count, found.long.shingle_count, found.short.shingle_count) == (9, 3, 3)
    assert (found.long.k, found.short.k) == (5, 3)
    assert fingerprint("a b c d").long.shingle_count == 0
    assert fingerprint("a b c d").short.shingle_count == 2


@pytest.mark.parametrize("text", ["", " \n\t ", "---", "!!! ...", "***"])
def test_a_text_without_a_word_has_nothing_to_compare(text: str) -> None:
    found = fingerprint(text)
    assert (found.token_count, found.simhash64, found.long.shingle_count) == (0, 0, 0)
    assert set(found.long.minhash) == {0xFF}


def test_only_what_is_hashed_into_shingles_is_capped() -> None:
    base = "word " * 4000
    one, other = fingerprint(base + "first end"), fingerprint(base + "second end")
    assert one.long == other.long
    assert one.sha256 != other.sha256


def test_a_lone_surrogate_is_no_crash() -> None:
    assert fingerprint("broken \ud800 text here now").token_count == 5


@settings(max_examples=50)
@given(st.lists(st.text(max_size=80), max_size=5), st.sampled_from([Shape(), Shape(7, 64), Shape(2, 16)]))
def test_one_by_one_and_together_are_the_same(texts: list[str], shape: Shape) -> None:
    together = fingerprint_many(texts, shape)
    assert together == [fingerprint(text, shape) for text in texts]
    assert together == [fingerprint(normalize(text), shape) for text in texts]
    assert all(one.shape == shape for one in together)


def test_the_cache_keeps_the_newest_used_and_forgets_the_old() -> None:
    cache = FingerprintCache(max_entries=2, ttl_seconds=1000)
    first = cache.fingerprint("One  two")
    assert cache.fingerprint("one two") is first
    cache.fingerprint("three")
    cache.fingerprint("one two")
    cache.fingerprint("four")
    assert (len(cache), cache.hits, cache.misses) == (2, 2, 3)
    assert cache.fingerprint("one two") is first
    cache.fingerprint("three")
    assert cache.misses == 4


def test_the_cache_forgets_with_time_and_can_be_off() -> None:
    for cache in (FingerprintCache(ttl_seconds=-1), FingerprintCache(max_entries=0)):
        assert [cache.fingerprint("a b c") == fingerprint("a b c") for _ in range(2)] == [True, True]
        assert cache.hits == 0


def test_equal_texts_equal_fingerprints() -> None:
    texts = ["**Set** `x` to 5", "set x to 5", "set\nx   to 5"]
    assert len({one.sha256 for one in fingerprint_many(texts)}) == 1
    assert isinstance(fingerprint_many([]), list)
    assert len({hash(one) for one in fingerprint_many(texts)}) == 1
    assert isinstance(fingerprint(texts[0]), Fingerprint)
