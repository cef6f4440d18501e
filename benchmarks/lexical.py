"""Why the BM25 index is Tantivy: rank-bm25, SQLite FTS5 and the project's own index on the same generated chunks.

    python benchmarks/lexical.py [--chunks 100000]

Chunks of 150 words from a vocabulary with a Zipf-like distribution, queries of six words; build seconds, milliseconds a
query (median and 95th percentile of 30). Analysis is counted in the build of our index and of rank-bm25 alike.
"""

from __future__ import annotations

import argparse
import random
import resource
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from kb.config import SearchConfig
from kb.index.keeper import open_index, write_index
from kb.index.protocol import LexicalIndex
from kb.index.stamp import Origin
from kb.index.tantivy_index import TANTIVY
from kb.text import analyze, analyze_query

WORDS_PER_CHUNK, WORDS_PER_QUERY, QUERIES, DEPTH = 150, 6, 30, 100


def make_texts(count: int) -> tuple[list[str], list[str]]:
    """Chunks and queries."""
    generator = random.Random(0)
    syllables = ["ka", "lo", "mi", "ren", "tu", "ves", "dor", "pin", "sha", "gul", "ber", "nox"]
    vocabulary = list({"".join(generator.choices(syllables, k=generator.randint(1, 5))) for _ in range(60_000)})
    weights = [1 / (i + 10) for i in range(len(vocabulary))]
    texts = [" ".join(generator.choices(vocabulary, weights, k=WORDS_PER_CHUNK)) for _ in range(count)]
    return texts, [" ".join(generator.choices(vocabulary, weights, k=WORDS_PER_QUERY)) for _ in range(QUERIES)]


def report(name: str, build: Callable[[], Any], search: Callable[[Any, str], Any], queries: list[str]) -> None:
    """Time the build and every query, and print a line."""
    began = time.perf_counter()
    index = build()
    built = time.perf_counter() - began
    times = []
    for query in queries:
        began = time.perf_counter()
        search(index, query)
        times.append((time.perf_counter() - began) * 1000)
    times.sort()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    print(
        f"{name:<10} build {built:6.1f} s   query p50 {times[len(times) // 2]:8.2f} ms   p95 {times[-2]:8.2f} ms"
        f"   peak so far {peak:,.0f} MB"
    )


def main() -> None:
    """Print one line an engine; the one that takes most memory comes last."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chunks", type=int, default=100_000)
    texts, queries = make_texts(parser.parse_args().chunks)
    with TemporaryDirectory() as folder:

        def build_ours() -> LexicalIndex:
            rows = ((i, i, "", "", text) for i, text in enumerate(texts))
            settings = SearchConfig(heading_weight=0.0)
            stamp = write_index(Path(folder), TANTIVY, Origin(1, ""), settings, lambda writer: writer.upsert(rows))
            return open_index(Path(folder), TANTIVY, stamp, settings)

        report("tantivy", build_ours, lambda index, query: index.search(analyze_query(query), DEPTH), queries)

    def build_fts() -> sqlite3.Connection:
        connection = sqlite3.connect(":memory:")
        connection.execute("CREATE VIRTUAL TABLE t USING fts5(text, tokenize = 'porter unicode61')")
        connection.executemany("INSERT INTO t (text) VALUES (?)", ((text,) for text in texts))
        return connection

    def search_fts(connection: sqlite3.Connection, query: str) -> Any:
        words = " OR ".join(f'"{word}"' for word in query.split())
        return connection.execute(
            f"SELECT rowid FROM t WHERE t MATCH ? ORDER BY rank LIMIT {DEPTH}", [words]
        ).fetchall()

    report("fts5", build_fts, search_fts, queries)

    def build_reference() -> Any:
        from rank_bm25 import BM25Okapi

        return BM25Okapi([analyze(text) for text in texts])

    report("rank-bm25", build_reference, lambda index, query: index.get_scores(analyze_query(query)), queries)


if __name__ == "__main__":
    main()
