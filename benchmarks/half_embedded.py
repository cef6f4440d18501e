"""Does a hybrid search that has vectors of some passages alone find less than words? It must not, at any share.

    python benchmarks/half_embedded.py DATA_FOLDER [--home DIR] [--shares 0,10,25,50,75,90,100]

Cranfield, nDCG@10 over its 225 queries, with the vectors of a random part of the passages left; `--home` is a home that
holds the collection already, and is copied. Printed beside words alone, with the paired permutation p of the difference.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import sqlite3
import tempfile
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from kb.config import Config, cache_folder
from kb.eval.judged_sets import beir_set
from kb.eval.pipeline import RANKING_DEPTH, Judge
from kb.eval.records import Query
from kb.eval.resampling import permutation_p
from kb.eval.throwaway import collection_home
from kb.records import SearchMode, SearchRequest
from kb.runtime import Runtime, open_runtime
from kb.search.pipeline import rank_chunks

METRIC = "ndcg@10"


def score(kb: Runtime, queries: Sequence[Query], judge: Judge, mode: SearchMode) -> list[float]:
    """The metric of each query."""
    found = []
    for query in queries:
        request = SearchRequest(query.text, mode, RANKING_DEPTH, min_score=0.0)
        ranking = [(i, s) for i, s in rank_chunks(kb, request).ranking][:RANKING_DEPTH]
        value = judge.score(query, ranking, [judge.identify(i) for i, _ in ranking]).get(METRIC)
        found += [] if value is None else [value]
    return found


def keep_vectors(home: Path, share: float) -> None:
    """Take the vectors of all but a random share of a home's passages away."""
    with closing(sqlite3.connect(home / "kb.sqlite")) as connection, connection:
        hashes = [row[0] for row in connection.execute("SELECT DISTINCT embed_hash FROM embeddings ORDER BY 1")]
        random.Random(0).shuffle(hashes)
        gone = hashes[round(share * len(hashes)) :]
        connection.executemany("DELETE FROM embeddings WHERE embed_hash = ?", [(h,) for h in gone])
    shutil.rmtree(home / "index", ignore_errors=True)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--home", type=Path)
    parser.add_argument("--shares", default="0,10,25,50,75,90,100")
    chosen = parser.parse_args()
    config = Config()
    judged = beir_set(chosen.data / "cranfield")
    home = chosen.home
    if home is None:
        with collection_home(
            cache_folder(os.environ),
            config,
            judged.name,
            judged.documents_sha256,
            judged.fill(lambda event: None),
            print,
        ) as filled:
            home = filled.home
    words: list[float] = []
    print(f"{'vectors':<12} {METRIC}  against words")
    for share in (int(part) / 100 for part in chosen.shares.split(",")):
        with tempfile.TemporaryDirectory() as folder:
            part = Path(folder) / "home"
            part.mkdir()
            shutil.copy(home / "kb.sqlite", part / "kb.sqlite")
            keep_vectors(part, share)
            with open_runtime(part, config, write=True) as kb:
                kb.refresh_indexes()
                judge = judged.judge(kb)
                if not words:
                    words = score(kb, judged.queries, judge, "lexical")
                    print(f"{'words alone':<12} {sum(words) / len(words):.4f}", flush=True)
                hybrid = score(kb, judged.queries, judge, "hybrid")
        difference = (sum(hybrid) - sum(words)) / len(words)
        p = permutation_p([(a, 1.0) for a in words], [(b, 1.0) for b in hybrid], seed=0)
        print(f"{share:<12.0%} {sum(hybrid) / len(hybrid):.4f}  {difference:+.4f}  p {p:.3f}", flush=True)


if __name__ == "__main__":
    main()
