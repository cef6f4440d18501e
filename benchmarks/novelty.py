"""Novelty: what is copied is suppressed, what is unrelated is not, and what it costs.

    python benchmarks/novelty.py [folder of documents …] [--window-tokens 4000] [--draws 100]

Every folder is a genre: documents in an order of chance, the first 4,000 tokens are the window, passages are drawn from
it (verbatim, edited) and from the other documents (unrelated). Without a folder: the fixture corpus. `raw` knows the
window's text, `payload` only its fingerprints. Passages that repeat each other in earnest (revisions of one licence, a
page's usual last lines) count as unrelated too: the printed shares are what a reader would see, not errors alone.
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kb import shingles
from kb.config import NoveltyConfig
from kb.fingerprint import fingerprint, fingerprint_many
from kb.normal_form import normalize
from kb.packing import overlap
from kb.packing.known_text import KnownText, known_text_from_blocks, known_text_from_text
from kb.packing.known_text_payload import known_text_from_payload, known_text_payload, read_payload
from kb.packing.novelty import NoveltyCandidate, NoveltySettings, assess, make_cache, penalize
from kb.shingles import minhash, shingle_hashes, simhash64, token_hashes
from kb.wire import to_json

ROOT = Path(__file__).parents[1]
LENGTHS = (10, 15, 20, 25, 50, 80, 120, 190, 300, 500)
SUFFIXES = {".md", ".txt", ".rst"}
SETTINGS = NoveltySettings()
# Windows per genre, each of other documents.
WINDOWS = 10
CHUNK_TOKENS = 190


@dataclass
class Case:
    """One window of a genre, known by its text and by its fingerprints, and the words of what is not in it."""

    words: list[str]
    others: list[list[str]]
    raw: KnownText
    payload: KnownText


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--window-tokens", type=int, default=4000)
    parser.add_argument("--draws", type=int, default=100, help="passages of each length and genre")
    given = parser.parse_args()
    folders = given.folders or [ROOT / "fixtures" / "corpus"]
    for folder in folders:
        documents = read_documents(folder)
        cases = [make_case(documents, given.window_tokens, seed) for seed in range(WINDOWS)]
        cases = [case for case in cases if case is not None]
        if not cases:
            print(f"\n{folder}: too little text for a window of {given.window_tokens:,} tokens")
            continue
        print(f"\n## {folder.name}: {len(documents)} documents, {len(cases)} windows of {given.window_tokens:,} tokens")
        print_by_length(cases, given.draws)
        print_scattered(cases, given.draws)
        print_without_care(cases, given.draws)
        print_edits(cases, given.draws)
    print_errors()
    print_times([document for folder in folders for document in read_documents(folder)])


def read_documents(folder: Path) -> list[list[str]]:
    """Documents as words, line breaks kept as words of their own; the same text under two names once."""
    texts = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink() and (path.suffix in SUFFIXES or path.suffix[1:2].isdigit()):
            text = path.read_text(encoding="utf-8", errors="replace")
            texts.setdefault(fingerprint(text).sha256, text)
    return [text.replace("\n", " \n ").split(" ") for text in texts.values() if len(text.split()) >= 100]


def make_case(documents: Sequence[list[str]], window_tokens: int, seed: int) -> Case | None:
    order = list(documents)
    random.Random(seed).shuffle(order)
    words: list[str] = []
    others: list[list[str]] = []
    left = window_tokens
    for document in order:
        if left > 0:
            taken = stretch(document, 0, left)
            words += [*taken, "\n", "\n"]
            left -= sum(map(bool, map(str.strip, taken)))
        else:
            others.append(document)
    if left > 0 or not others:
        return None
    raw = known_text_from_text(" ".join(words))
    return Case(words, others, raw, known_text_from_payload(read_payload(to_json(known_text_payload(raw)))))


def stretch(words: list[str], start: int, count: int) -> list[str]:
    """So many words from a place on, line breaks not counted."""
    end = start
    while count and end < len(words):
        count -= bool(words[end].strip())
        end += 1
    return words[start:end]


def draw(rng: random.Random, words: list[str], count: int) -> str | None:
    """A stretch from somewhere; None when the text is too short."""
    for _ in range(50):
        found = stretch(words, rng.randrange(len(words)), count)
        if sum(bool(word.strip()) for word in found) == count and token_hashes(normalize(" ".join(found))).size:
            return " ".join(found)
    return None


def print_by_length(cases: Sequence[Case], draws: int) -> None:
    """Verbatim copies: suppressed when a quarter of the score or less is left. Unrelated: untouched below .30."""
    print(
        "\n| tokens | verbatim, raw: suppressed | exact | payload: ≥ .60 | ≥ .70 | mean | unrelated, raw: < .30 | payload |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for length in LENGTHS:
        rng = random.Random(length)
        copies, others = [], []
        for number in range(draws):
            case = cases[number % len(cases)]
            inside, outside = draw(rng, case.words, length), draw(rng, rng.choice(case.others), length)
            if inside:
                copies.append(
                    [assess(NoveltyCandidate("chunk", 1, inside, 1.0), w, SETTINGS) for w in (case.raw, case.payload)]
                )
            if outside:
                others.append(
                    [assess(NoveltyCandidate("chunk", 1, outside, 1.0), w, SETTINGS) for w in (case.raw, case.payload)]
                )
        suppressed = share(raw.exact_match or 1 - raw.penalty <= 0.25 for raw, _ in copies)
        exact = share(raw.exact_match for raw, _ in copies)
        six, seven = (share(p.overlap_ratio >= least for _, p in copies) for least in (0.6, 0.7))
        mean = statistics.mean(p.overlap_ratio for _, p in copies)
        untouched = [share(one[path].overlap_ratio < 0.30 for one in others) for path in (0, 1)]
        print(f"| {length} | {suppressed:.3f} | {exact:.3f} | {six:.3f} | {seven:.3f} | {mean:.2f} |", end="")
        print(f" {untouched[0]:.3f} | {untouched[1]:.3f} |")


def print_scattered(cases: Sequence[Case], draws: int) -> None:
    """Unrelated short passages, if their trigrams counted wherever they stand in the window: what one place spares."""
    parts = []
    for length in (10, 15):
        rng = random.Random(length)
        overlaps = []
        for number in range(draws):
            case = cases[number % len(cases)]
            text = draw(rng, rng.choice(case.others), length)
            own = np.unique(shingle_hashes(token_hashes(normalize(text or "")), 3))
            if len(own):
                overlaps.append(float(np.isin(own, case.raw.ordered_shingles(3)[0]).mean()))
        parts.append(f"{length} tokens {share(one < 0.30 for one in overlaps):.3f}")
    print(f"\nunrelated and below .30, if trigrams counted wherever they stand: {', '.join(parts)}")


def print_without_care(cases: Sequence[Case], draws: int) -> None:
    """Estimates for short passages as the formula gives them, whatever the number of matches behind them."""
    parts = []
    careful, overlap.FEW_MATCHES = overlap.FEW_MATCHES, -1
    for length in (15, 25):
        rng = random.Random(length)
        copies, others = [], []
        for number in range(draws):
            case = cases[number % len(cases)]
            for text, found in (
                (draw(rng, case.words, length), copies),
                (draw(rng, rng.choice(case.others), length), others),
            ):
                if text:
                    found.append(assess(NoveltyCandidate("chunk", 1, text, 1.0), case.payload, SETTINGS).overlap_ratio)
        near, far = share(one >= 0.70 for one in copies), share(one < 0.30 for one in others)
        parts.append(f"{length} tokens: copies from .70 on {near:.3f}, unrelated below .30 {far:.3f}")
    overlap.FEW_MATCHES = careful
    print(f"\npayload, few matches taken as they are: {'; '.join(parts)}")


def share(values: object) -> float:
    known = [bool(value) for value in values]  # type: ignore[attr-defined]
    return sum(known) / len(known) if known else float("nan")


def print_edits(cases: Sequence[Case], draws: int) -> None:
    """Copies of 200 tokens with some of them replaced."""
    parts = []
    for percent in (0, 2, 5, 10, 20):
        rng = random.Random(percent)
        overlaps = []
        for number in range(draws):
            case = cases[number % len(cases)]
            text = (draw(rng, case.words, 200) or "").split()
            for place in rng.sample(range(len(text)), len(text) * percent // 100):
                text[place] = f"edit{rng.randrange(10**6)}"
            candidate = NoveltyCandidate("chunk", 1, " ".join(text), 1.0)
            overlaps.append([assess(candidate, w, SETTINGS).overlap_ratio for w in (case.raw, case.payload)])
        raw, payload = np.mean(overlaps, axis=0)
        parts.append(f"{percent} %: {raw:.2f} (payload {payload:.2f})")
    print(f"\nedited tokens of 200, mean overlap: {'; '.join(parts)}")


def print_errors() -> None:
    """MinHash against the true index; SimHash after one substitution and between strangers, on numbered words."""
    rng = np.random.default_rng(0)
    print("\n## Errors of 400 random pairs")
    for jaccard in (0.05, 0.3, 0.5, 0.85, 0.99):
        union = 400
        shared = round(union * jaccard)
        errors = []
        for _ in range(400):
            values = rng.integers(1, 2**63, union, dtype=np.uint64)
            half = shared + (union - shared) // 2
            a, b = values[:half], np.concatenate([values[:shared], values[half:]])
            errors.append(float(np.mean(minhash(a, 128) == minhash(b, 128))) - shared / union)
        bound = (jaccard * (1 - jaccard) / 128) ** 0.5
        print(f"MinHash at {jaccard}: mean {np.mean(errors):+.4f}, std {np.std(errors):.4f} (binomial {bound:.4f})")
    for tokens in (20, 50, 100, 200):
        near = []
        for _ in range(400):
            words = [f"w{number}" for number in rng.zipf(1.3, tokens) % 5000]
            other = [*words]
            other[int(rng.integers(tokens))] = "substituted"
            bits = [simhash64(token_hashes(" ".join(text))) for text in (words, other)]
            near.append((bits[0] ^ bits[1]).bit_count() <= 3)
        print(f"SimHash within 3 bits after one of {tokens} tokens was replaced: {np.mean(near):.2f}")


def best_ms(work: Callable[[], object], runs: int = 7) -> float:
    """The best of some runs, in milliseconds: what is above it is other work on the machine."""
    seconds = []
    for _ in range(runs):
        began = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - began)
    return min(seconds) * 1000


def ms_each(work: Callable[[list[str]], object], texts: list[str]) -> float:
    """Milliseconds a text, from the best run of every 64 texts: a busy machine spoils some runs of each, not all."""
    parts = [texts[start : start + 64] for start in range(0, len(texts), 64)]
    return sum(best_ms(lambda part=part: work(part)) for part in parts) / len(texts)  # type: ignore[misc]


def print_times(documents: Sequence[list[str]]) -> None:
    """Milliseconds per fingerprint and per window."""
    words = [word for document in documents for word in document]
    texts: list[str] = []
    start = 0
    while start < len(words) and len(texts) < 2000:
        part = stretch(words, start, CHUNK_TOKENS)
        texts.append(" ".join(part))
        start += len(part)
    texts = [*texts, *texts[: max(0, 320 - len(texts))]]
    print(f"\n## Times, {len(texts)} chunks of {CHUNK_TOKENS} tokens")

    def one_at_a_time(part: list[str]) -> None:
        for text in part:
            fingerprint(text)

    print(f"fingerprint, together: {ms_each(fingerprint_many, texts):.4f} ms a chunk", end="")
    print(f", one at a time {ms_each(one_at_a_time, texts):.4f}", end="")
    print(f", of it normal form {ms_each(lambda part: [normalize(text) for text in part], texts):.4f}", end="")
    shingles._token_hashes.clear()
    began = time.process_time()
    fingerprint_many(texts)
    print(f"; with every word met for the first time {(time.process_time() - began) / len(texts) * 1000:.4f}")
    window_text = " ".join(stretch(words * (1 + 6000 // len(words)), 0, 5000))
    blocks = [" ".join(stretch(words, i, 250)) for i in range(0, len(words), 250)][:20]
    candidates = [NoveltyCandidate("chunk", i, text, 1.0) for i, text in enumerate(texts[10:30])]

    def cold_request() -> None:
        shingles._token_hashes.clear()
        penalize(candidates, known_text_from_text(window_text), SETTINGS)

    print(f"window of 5,000 tokens and 20 candidates: {best_ms(cold_request):.1f} ms, no word met before", end="")
    window, cache = known_text_from_text(window_text), make_cache(NoveltyConfig())
    penalize(candidates, window, SETTINGS, cache)
    payload = known_text_from_payload(known_text_payload(window))
    print(
        f"; candidates alone, cache warm {best_ms(lambda: penalize(candidates, window, SETTINGS, cache)):.1f}", end=""
    )
    print(f"; by payload {best_ms(lambda: penalize(candidates, payload, SETTINGS, cache)):.1f}")
    print(f"window alone: {best_ms(lambda: known_text_from_text(window_text)):.1f} ms", end="")
    print(f", of 20 blocks {best_ms(lambda: known_text_from_blocks(blocks)):.1f} ms", end="")
    print(f", payload of {len(to_json(known_text_payload(window))) / 1000:,.0f} kB")
    huge = window_text * (50_000_000 // len(window_text))
    began = time.perf_counter()
    cut = known_text_from_text(huge)
    print(f"window of {len(huge):,} characters: {time.perf_counter() - began:.1f} s, {cut.dropped_chars:,} dropped")


if __name__ == "__main__":
    main()
