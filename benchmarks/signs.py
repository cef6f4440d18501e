"""What kb's Korean readers tell apart on this processor, by a graph whose weights have signs and by one whose weights have none.

    python benchmarks/signs.py DATA_FOLDER [--rows 400]

Processors without VNNI cut sums of products with signs (`kb/embed/signs.py`); on one that adds them up exactly both columns are
the same. What differs is printed last: the probabilities of the second graph against those of the first. AUC: of a question with its passage against the next question's passage (reader.jsonl.gz), and of claims that are supported
against others (support.jsonl.gz); kb-claims has learnt from some of these, so the figures compare graphs, not readers.
"""

from __future__ import annotations

import argparse
import gzip
import json
import shutil
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import rankdata

from kb.embed.signs import are_sums_cut
from kb.reader import trained
from kb.reader.protocol import Reader
from kb.reader.registry import CLAIMS_READER, open_claims_reader, open_reader

# Others of the corpus as near as an article is to its neighbour are few: longer texts tell more.
MOST_CHARS = 600


def rows_of(path: Path, source: str, count: int) -> list[dict[str, Any]]:
    """The Korean rows of a source, evenly taken."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        found = [row for row in map(json.loads, lines) if row["lang"] == "ko" and row["source"].startswith(source)]
    return found[:: max(1, len(found) // count)][:count]


def auc(scores: Sequence[float], is_good: Sequence[bool]) -> float:
    good = np.array(is_good)
    ranks = rankdata(scores)[good]
    return float((ranks.sum() - good.sum() * (good.sum() + 1) / 2) / (good.sum() * (~good).sum()))


def main() -> None:
    """Make both graphs, read, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--rows", type=int, default=400)
    chosen = parser.parse_args()
    asked = rows_of(chosen.data / "reader" / "reader.jsonl.gz", "tydi", chosen.rows)
    others = [*asked[1:], asked[0]]
    claims = rows_of(chosen.data / "reader" / "support.jsonl.gz", "", chosen.rows)
    questions = [
        (a["question"], [a["passage"][:MOST_CHARS], b["passage"][:MOST_CHARS]])
        for a, b in zip(asked, others, strict=True)
    ]
    print(f"sums with signs are {'cut' if are_sums_cut() else 'exact'} on this processor")
    kept: list[tuple[list[float], list[float]]] = []
    for is_signless in (False, True):
        trained.are_sums_cut = lambda without=is_signless: without  # type: ignore[misc]
        folder = Path(tempfile.mkdtemp())
        reader, claims_reader = open_reader("kb-reader", folder), open_claims_reader(CLAIMS_READER, folder)
        for each in (reader, claims_reader):
            each.score("prepare", ["prepare"])
        began = time.process_time()
        told = [score for question, texts in questions for score in reader.score(question, texts)]
        of_questions = auc(told, [True, False] * len(questions))
        supported = [row["label"] == "supported" for row in claims]
        kept.append((told, read_each(claims_reader, claims)))
        of_claims = auc(kept[-1][1], supported)
        seconds = time.process_time() - began
        name = "without signs" if is_signless else "with signs"
        print(f"{name:14s} kb-reader {of_questions:.3f}  kb-claims {of_claims:.3f}  {seconds:.0f} s of CPU")
        del reader, claims_reader
        shutil.rmtree(folder)
    for name, first, second in zip(("kb-reader", "kb-claims"), *kept, strict=True):
        apart = np.abs(probabilities(first) - probabilities(second))
        print(f"{name}: probabilities {apart.mean():.3f} apart, of one in ten more than {np.quantile(apart, 0.9):.3f}")


def probabilities(logits: Sequence[float]) -> np.ndarray[Any, np.dtype[np.float64]]:
    return 1 / (1 + np.exp(-np.array(logits)))


def read_each(reader: Reader, claims: Sequence[dict[str, Any]]) -> list[float]:
    return [reader.score(row["claim"], [row["evidence"][:MOST_CHARS]])[0] for row in claims]


if __name__ == "__main__":
    main()
