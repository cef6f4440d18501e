"""What novelty pressure adds to a request, in milliseconds, on a home of 100,000 chunks.

    python benchmarks/novelty_latency.py [--chunks 100000] [--home DIR] [--rounds 200]

A 5,000-token window and 20 candidates. Warm: the process has compared these chunks before. Cold: it has not. Both make the window of its text anew, as every request does. Then one round of expansion (three more hybrid
searches, their candidates pressed, both pools fused), a whole `kb context` with and without the window, and a whole search.
The home is that of latency.py: words drawn at random, vectors of random direction.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
from latency import fill_home

from kb.config import Config
from kb.context.expand import expand
from kb.context.pipeline import compose
from kb.context.records import ContextRequest
from kb.graph.adjacent import AdjacentTerm
from kb.packing.known_text import KnownText, known_text_from_text
from kb.records import SearchRequest
from kb.runtime import Runtime, open_runtime
from kb.search.novelty import penalize_chunks, process_cache
from kb.search.pipeline import search

WINDOW_TOKENS, CANDIDATES = 5_000, 20
BARS_MS = {"added, warm": 20, "added, cold": 60, "a round of expansion": 120}


def measure(kb: Runtime, rounds: int) -> None:
    """Print median and 95th percentile of every job."""
    times: dict[str, list[float]] = {}

    def timed(label: str, work: Callable[[], object]) -> object:
        began = time.perf_counter()
        result = work()
        times.setdefault(label, []).append((time.perf_counter() - began) * 1000)
        return result

    texts = [text for (text,) in kb.store._connection.execute("SELECT text FROM chunks LIMIT 2000")]
    generator = random.Random(1)
    terms = [
        AdjacentTerm("kalomi", "relates_to_project", "project", 0.5),
        AdjacentTerm("renves", "depends_on", "entity", 0.4),
    ]
    for number in range(rounds + 5):
        if number == 5:  # what is opened once is open by now
            times.clear()
        query = " ".join(generator.sample(generator.choice(texts).split(), 5))
        window_text = " ".join(generator.choices(texts, k=1 + WINDOW_TOKENS // 130))
        window_text = " ".join(window_text.split()[:WINDOW_TOKENS])
        request = SearchRequest(query, k=CANDIDATES)
        response = timed("a hybrid search of 20", lambda request=request: search(kb, request))
        ranking = [(hit.chunk_id, hit.score) for hit in response.hits]  # type: ignore[attr-defined]

        def pressed(ranking: list[tuple[int, float]] = ranking, text: str = window_text) -> object:
            return penalize_chunks(kb, ranking, 5, known_text_from_text(text))

        timed("added, warm", pressed)
        with_none = kb.config
        kb.config = replace(
            with_none, novelty=replace(with_none.novelty, minhash_permutations=127)
        )  # none is kept of these
        process_cache.cache_clear()
        timed(
            "added, cold",
            lambda ranking=ranking, text=window_text: penalize_chunks(kb, ranking, 5, cold_window(kb, text)),
        )
        kb.config = with_none
        window = known_text_from_text(window_text)
        first = penalize_chunks(kb, ranking, 5, window)
        asked = replace(request, k=5)
        timed("a round of expansion", partial(expand, kb, asked, first, window, terms, None))
        plain = ContextRequest(query=query)
        timed("kb context", lambda plain=plain: compose(kb, plain))
        timed("kb context, window", lambda plain=plain, window=window: compose(kb, replace(plain, known_text=window)))
    print(f"{'':<24} {'p50 ms':>8} {'p95 ms':>8}  bar (p95)")
    for label, values in times.items():
        p50, p95 = np.percentile(values, (50, 95))
        print(f"{label:<24} {p50:8.1f} {p95:8.1f}  {f'< {BARS_MS[label]}' if label in BARS_MS else ''}")


def cold_window(kb: Runtime, text: str) -> KnownText:
    """A window of another shape than those before have."""
    from kb.packing.novelty import NoveltySettings

    return known_text_from_text(text, NoveltySettings.of(kb.config.novelty).shape)


def main() -> None:
    """Fill a home where there is none, time the jobs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--home", type=Path)
    parser.add_argument("--rounds", type=int, default=200)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = chosen.home or Path(folder)
        if not (home / "kb.sqlite").exists():
            began = time.perf_counter()
            fill_home(home, chosen.chunks)
            print(f"filled with {chosen.chunks:,} chunks in {time.perf_counter() - began:.0f} s")
        with open_runtime(home, Config()) as kb:
            measure(kb, chosen.rounds)


if __name__ == "__main__":
    main()
