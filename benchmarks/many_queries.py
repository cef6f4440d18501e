"""What one query of many costs: milliseconds of processor time and on the clock, in one process that is warm.

    python benchmarks/many_queries.py [--chunks 20000] [--home DIR] [--queries 200]

Prints kb search --bulk in both modes, and of the lexical part alone beside plain Tantivy. The home is that of
benchmarks/latency.py.
"""

from __future__ import annotations

import argparse
import os
import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.latency import fill_home
from kb.config import load_config
from kb.library import KnowledgeBase
from kb.text import query_terms

BARS_MS = {"lexical": 2.0, "hybrid": 9.0}
BATCH = 32


def milliseconds(work: Callable[[], object], queries: int) -> tuple[float, float]:
    """Processor time of all threads, and time on the clock, for each query, the best of three."""
    processor = clock = float("inf")
    for _ in range(3):
        began = time.process_time(), time.perf_counter()
        work()
        processor = min(processor, time.process_time() - began[0])
        clock = min(clock, time.perf_counter() - began[1])
    return processor * 1000 / queries, clock * 1000 / queries


def words_of(kb: KnowledgeBase, count: int) -> list[str]:
    """Queries of two to six words of the home's own passages."""
    generator = random.Random(1)
    texts = [chunk.text.split() for chunk in kb.chunks(range(1, 2_001, 7)).values()]
    return [" ".join(generator.sample(generator.choice(texts), generator.randint(2, 6))) for _ in range(count)]


def main() -> None:
    """Fill a home where there is none, time both modes, print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chunks", type=int, default=20_000)
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--home", type=Path)
    chosen = parser.parse_args()
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as the command does
    with tempfile.TemporaryDirectory() as folder:
        home = chosen.home or Path(folder)
        if not (home / "kb.sqlite").exists():
            fill_home(home, chosen.chunks)
        with KnowledgeBase(home, load_config(None, home, {}, {}, print)) as kb:
            queries = words_of(kb, chosen.queries)
            kb.runtime().encode_ahead(queries[:BATCH])  # opens the encoder as kb search --bulk does
            index = kb.runtime().lexical_index()

            def hybrid() -> None:
                for start in range(0, len(queries), BATCH):
                    kb.runtime().encode_ahead(queries[start : start + BATCH])
                    for query in queries[start : start + BATCH]:
                        kb.search(query)

            figures = {
                "the lexical index alone": lambda: [index.search(query_terms(q), 100) for q in queries],
                "lexical": lambda: [kb.search(q, mode="lexical") for q in queries],
                "hybrid, one by one": lambda: [kb.search(q) for q in queries],
                "hybrid": hybrid,
            }
            for name, work in figures.items():
                bar = BARS_MS.get(name)
                processor, clock = milliseconds(work, len(queries))
                print(
                    f"{name:<24} {processor:6.2f} ms of processor, {clock:6.2f} on the clock  {f'≤ {bar:g}' if bar else ''}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
