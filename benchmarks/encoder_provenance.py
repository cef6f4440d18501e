"""Are the packed weights of the default encoder those of multilingual-e5-small? Its published scores, computed again.

    python benchmarks/encoder_provenance.py --stsb sts-test.csv --korsts sts-test.tsv

STS Benchmark (Cer et al. 2017) and KorSTS (Ham et al. 2020, its translation by people): 1,379 pairs of sentences that people
scored from 0 to 5. Printed is Spearman's correlation of these with the cosine of both sentences' vectors, each with the
model's prefix of a query, with a 95 % interval (resampling pairs), beside the published one; and the same of all-MiniLM-L6-v2,
whose weights are whole. Published: `cosine_spearman` in the results of MTEB (repository embeddings-benchmark/results, revisions
fd1525a9 and e4ce9877 of intfloat/multilingual-e5-small, 8b3219a9 of sentence-transformers/all-MiniLM-L6-v2).
The files are those of the data sets, with tabs: …, score, sentence, sentence.
"""

from __future__ import annotations

import argparse
import csv
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy.stats import spearmanr

from kb.config import EmbeddingConfig, cache_folder
from kb.embed.model_files import ENGLISH_MODEL
from kb.embed.packed import MODEL
from kb.embed.registry import open_encoder

PUBLISHED = {
    "stsb": {MODEL: 0.835893, ENGLISH_MODEL: 0.820325},
    "korsts": {MODEL: 0.770677, ENGLISH_MODEL: 0.423011},
}
# Columns of both files.
SCORE, FIRST, SECOND = 4, 5, 6
# Resampled sets of pairs, for the interval.
RESAMPLES = 1000
# What is encoded with: model, and the prefix of both sentences.
ENCODERS = ((MODEL, "query: "), (ENGLISH_MODEL, ""))

Pairs = Sequence[tuple[float, str, str]]


def read_pairs(path: Path) -> Pairs:
    """(score, sentence, sentence), without the head that one of the files has."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE) if len(row) > SECOND]
    return [(float(row[SCORE]), row[FIRST], row[SECOND]) for row in rows if row[SCORE] != "score"]


def cosines(model: str, prefix: str, pairs: Pairs) -> np.ndarray:
    """(n,) of each pair's vectors."""
    config = replace(EmbeddingConfig(), model=model, query_prefix=prefix)
    encoder = open_encoder(config, cache_folder(os.environ), print)
    sentences = sorted({sentence for _, *both in pairs for sentence in both}, key=len)
    vectors = dict(zip(sentences, encoder.encode_queries(sentences), strict=True))
    return np.array([vectors[a] @ vectors[b] for _, a, b in pairs])


def spearman(scores: np.ndarray, found: np.ndarray) -> tuple[float, float, float]:
    """Correlation and its 95 % interval, resampling pairs."""
    random, count = np.random.default_rng(0), len(scores)
    drawn = [random.integers(0, count, count) for _ in range(RESAMPLES)]
    resampled = [spearmanr(scores[rows], found[rows]).statistic for rows in drawn]
    low, high = np.percentile(resampled, (2.5, 97.5))
    return float(spearmanr(scores, found).statistic), float(low), float(high)


def main() -> None:
    """Print one line a set and encoder."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in PUBLISHED:
        parser.add_argument(f"--{name}", type=Path, help=f"the test part of {name}")
    chosen = parser.parse_args()
    for name, published in PUBLISHED.items():
        path = getattr(chosen, name)
        if path is None:
            continue
        pairs = read_pairs(path)
        scores = np.array([score for score, _, _ in pairs])
        print(f"{name}, {len(pairs):,} pairs")
        for model, prefix in ENCODERS:
            value, low, high = spearman(scores, cosines(model, prefix, pairs))
            print(f"  {model:<24}{value:.4f} [{low:.4f}, {high:.4f}], published {published[model]:.4f}", flush=True)


if __name__ == "__main__":
    main()
