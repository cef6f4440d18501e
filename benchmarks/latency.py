"""What a user waits for: whole processes, median of five, on a home of many chunks.

    python benchmarks/latency.py [--chunks 20000] [--home DIR]

The home is filled with generated text and with vectors of random direction: latency does not depend on what they say,
and encoding 20,000 chunks would take ten minutes. It is kept in --home for the next run when that is given.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BARS_SECONDS = {"kb --help": 0.15, "lexical": 0.13, "hybrid": 0.5}
WORDS_PER_CHUNK = 130
CHUNKS_PER_DOCUMENT = 20


def fill_home(home: Path, chunks: int) -> None:
    """Documents straight into the store, as ingest would write them, with unit vectors of the real encoder's digest."""
    import numpy as np

    from kb.config import Config, cache_folder
    from kb.drafts import ChunkDraft, DocumentDraft
    from kb.embed.registry import open_encoder
    from kb.runtime import open_runtime

    encoder = open_encoder(Config().embedding, cache_folder(os.environ), print)
    encoder.encode_query("prepare")
    generator = random.Random(0)
    syllables = ["ka", "lo", "mi", "ren", "tu", "ves", "dor", "pin", "sha", "gul", "ber", "nox"]
    vocabulary = ["".join(generator.choices(syllables, k=generator.randint(1, 4))) for _ in range(30_000)]
    weights = [1 / (i + 10) for i in range(len(vocabulary))]
    vectors = np.random.default_rng(0).normal(size=(chunks, encoder.dimensions)).astype("<f4")
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    with open_runtime(home, Config(), write=True) as kb:
        kb.corpus.save_source("generated", "/generated")
        kb.corpus.stamp_encoder((encoder.model_id, encoder.digest, encoder.dimensions))
        for number, start in enumerate(range(0, chunks, CHUNKS_PER_DOCUMENT)):
            rows, blobs = [], {}
            for position, index in enumerate(range(start, min(start + CHUNKS_PER_DOCUMENT, chunks))):
                text = " ".join(generator.choices(vocabulary, weights, k=WORDS_PER_CHUNK))
                rows.append((ChunkDraft(position, 0, len(text), text, ("Heading",), 200, 1, 2), f"h{index}"))
                blobs[f"h{index}"] = vectors[index].tobytes()
            draft = DocumentDraft("generated", f"d{number}.md", f"Title {number}", "markdown", "en", (), 1, 1, "h", "s")
            kb.corpus.save_document(draft, rows, encoder.digest, blobs)
        kb.refresh_indexes()


def measure(words: list[str], runs: int = 5) -> tuple[float, float, float]:
    """Seconds of a whole process: minimum, median, maximum, after one run that is not counted."""
    seconds = []
    for _ in range(runs + 1):
        began = time.perf_counter()
        subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        seconds.append(time.perf_counter() - began)
    counted = seconds[1:]
    return min(counted), statistics.median(counted), max(counted)


def main() -> None:
    """Fill a home, time the commands, print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chunks", type=int, default=20_000)
    parser.add_argument("--home", type=Path)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = chosen.home or Path(folder)
        if not (home / "kb.sqlite").exists():
            began = time.perf_counter()
            fill_home(home, chosen.chunks)
            print(f"filled {home} with {chosen.chunks:,} chunks in {time.perf_counter() - began:.0f} s")
        kb = str(Path(sys.executable).with_name("kb"))
        search = [kb, "search", "kalo miren tudor question of ves", "--home", str(home)]
        commands = {
            "python -c pass": [sys.executable, "-c", "pass"],
            "kb --help": [kb, "--help"],
            "lexical": [*search, "--mode", "lexical"],
            "lexical --json": [*search, "--mode", "lexical", "--json"],
            "vector": [*search, "--mode", "vector"],
            "hybrid": search,
            "hybrid, filtered": [*search, "--path", "d1*.md"],
            "ask, extractive": [kb, "ask", "what is kalo miren tudor?", "--home", str(home), "--model", "extractive"],
            "status": [kb, "status", "--home", str(home)],
        }
        print(f"{'command':<20} {'min':>7} {'median':>7} {'max':>7}  bar")
        for name, words in commands.items():
            low, middle, high = measure(words)
            bar = BARS_SECONDS.get(name)
            print(f"{name:<20} {low:7.3f} {middle:7.3f} {high:7.3f}  {f'≤ {bar}' if bar else ''}")


if __name__ == "__main__":
    main()
