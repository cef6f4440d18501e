"""Which way of fusing two lists finds most? RRF against convex combinations and feedback, on every judged set at hand.

    python benchmarks/fusion.py DATA_FOLDER

Each set's lists are retrieved once; every fusion is scored on the same lists, against RRF with k = 60, query by query
(mean difference, paired permutation p). Sets: Cranfield (nDCG@10 by document), the span questions (token recall@5), the
project's own suite (nDCG@10 by chunk).
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path

from kb.config import Config, cache_folder
from kb.eval.collections import load_beir, load_spans
from kb.eval.judges import judge_collection, judge_spans, judge_suite
from kb.eval.pipeline import RANKING_DEPTH, Judge
from kb.eval.records import Query
from kb.eval.resampling import permutation_p
from kb.eval.suite import load_suite
from kb.eval.throwaway import collection_home, fill_from_documents, fill_from_folder
from kb.knowledge_base import KnowledgeBase
from kb.records import SearchRequest
from kb.search.fuse import fuse_rankings
from kb.search.pipeline import retrieve

Ranking = list[tuple[int, float]]
Fuse = Callable[[Ranking, Ranking], Ranking]
ROOT = Path(__file__).parents[1]


def by_rrf(k: int, weights: Sequence[float] = (1, 1)) -> Fuse:
    """Reciprocal rank fusion."""
    return lambda lexical, vector: fuse_rankings([lexical, vector] if vector else [lexical, []], k, weights)


def by_convex(weight: float, normalize: Callable[[Ranking], dict[int, float]]) -> Fuse:
    """(1 − weight) · lexical + weight · vector, both normalized; Bruch et al. 2023."""

    def fuse(lexical: Ranking, vector: Ranking) -> Ranking:
        a, b = normalize(lexical), normalize(vector)
        scores = {i: (1 - weight) * a.get(i, 0.0) + weight * b.get(i, 0.0) for i in {*a, *b}}
        return sorted(scores.items(), key=lambda row: (-row[1], row[0]))

    return fuse


def min_max(ranking: Ranking) -> dict[int, float]:
    """The list's worst score is 0, its best 1."""
    if not ranking:
        return {}
    low, high = ranking[-1][1], ranking[0][1]
    return {i: (s - low) / (high - low) if high > low else 1.0 for i, s in ranking}


def by_maximum(ranking: Ranking) -> dict[int, float]:
    """Zero stays zero, the list's best is 1: the theoretical minimum of BM25 is 0, of a useful cosine too."""
    best = max((s for _, s in ranking), default=0.0)
    return {i: max(0.0, s) / best for i, s in ranking} if best > 0 else {}


FUSIONS: dict[str, Fuse] = {
    "rrf k=60": by_rrf(60),
    "lexical alone": lambda lexical, vector: lexical,
    "vector alone": lambda lexical, vector: vector,
    "rrf k=10": by_rrf(10),
    "rrf k=30": by_rrf(30),
    "rrf k=60, weights 1.5 : 1": by_rrf(60, (1.5, 1)),
    "rrf k=60, weights 2 : 1": by_rrf(60, (2, 1)),
    **{f"min-max, vector {w}": by_convex(w, min_max) for w in (0.3, 0.4, 0.5, 0.6)},
    **{f"by maximum, vector {w}": by_convex(w, by_maximum) for w in (0.3, 0.4, 0.5, 0.6, 0.7)},
}


def sets(data: Path) -> Iterator[tuple[str, KnowledgeBase, Sequence[Query], Judge, str]]:
    """Each judged set that is there: name, home, queries, judge, metric."""
    config, cache = Config(), cache_folder(os.environ)
    if (data / "cranfield").is_dir():
        collection = load_beir(data / "cranfield")
        fill = fill_from_documents(collection.documents, lambda event: None)
        kb = collection_home(cache, config, collection.name, collection.documents_sha256, fill, print)
        yield "cranfield", kb, collection.queries, judge_collection(kb, collection), "ndcg@10"
    if (data / "chunking-eval").is_dir():
        folder = data / "chunking-eval"
        questions = load_spans(folder)
        content = sha256(b"\0".join(f.read_bytes() for f in sorted((folder / "corpora").glob("*")))).hexdigest()
        fill = fill_from_folder(folder / "corpora", lambda event: None)
        kb = collection_home(cache, config, folder.name, content, fill, print)
        yield "spans", kb, [Query(id=q.id, text=q.text) for q in questions], judge_spans(kb, questions), "recall@5"
    corpus = ROOT / "fixtures" / "corpus"
    content = sha256(b"\0".join(f.read_bytes() for f in sorted(corpus.rglob("*")) if f.is_file())).hexdigest()
    kb = collection_home(cache, config, "fixtures", content, fill_from_folder(corpus, lambda event: None), print)
    suite = load_suite(ROOT / "fixtures" / "suites" / "corpus.yaml")
    yield "fixtures", kb, suite.queries, judge_suite(kb, suite), "ndcg@10"


def main() -> None:
    """Print one table a set."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    for name, kb, queries, judge, metric in sets(parser.parse_args().data):
        lists = []
        for query in queries:
            found = retrieve(kb, SearchRequest(query.text, "hybrid", RANKING_DEPTH))
            lists.append((query, found.lexical, found.vector))
        baseline: list[float] = []
        print(f"\n{name}, {metric}, {len(queries)} queries")
        for label, fuse in FUSIONS.items():
            scores = []
            for query, lexical, vector in lists:
                ranking = fuse(lexical, vector)[:RANKING_DEPTH]
                value = judge.score(query, ranking, [judge.identify(i) for i, _ in ranking]).get(metric)
                if value is not None:
                    scores.append(value)
            baseline = baseline or scores
            differences = [b - a for a, b in zip(baseline, scores, strict=True)]
            p = paired_p(baseline, scores)
            print(f"{label:<28} {sum(scores) / len(scores):.4f}  {sum(differences) / len(differences):+.4f}  p {p:.3f}")


def paired_p(before: Sequence[float], after: Sequence[float]) -> float:
    """Two-sided paired permutation test of the mean."""
    return permutation_p([(a, 1.0) for a in before], [(b, 1.0) for b in after], seed=0)


if __name__ == "__main__":
    main()
