"""Which way of fusing two lists finds most? The convex combination against RRF and others, on every judged set at hand.

    python benchmarks/fusion.py DATA_FOLDER [--markdown] [--against "RRF, k = 60"]

Each set is retrieved once; every fusion is scored on the same lists, against one of them (--against), query by query (mean
difference, paired permutation p). Sets: Cranfield and ClapNQ's passages (nDCG@10 by document), the span questions (token
recall@5), FastAPI's pages within and across languages (nDCG@10 by page), the project's own suite (nDCG@10 by chunk).
KB_EMBEDDING__MODEL names another encoder than the default one; --only takes the beginnings of names.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path

import numpy as np
from fastapi_pairs import load_fastapi_pairs

from kb.config import Config, EmbeddingConfig, SearchConfig, cache_folder
from kb.eval.collections import Collection, CollectionDocument
from kb.eval.judged_sets import beir_set, spans_set
from kb.eval.judges import judge_collection, judge_suite
from kb.eval.pipeline import RANKING_DEPTH, Judge
from kb.eval.records import Query
from kb.eval.resampling import permutation_p
from kb.eval.suite import load_suite
from kb.eval.throwaway import collection_home, fill_from_documents, fill_from_folder
from kb.ingest.report import IngestEvent
from kb.records import Filters, SearchRequest
from kb.runtime import Runtime
from kb.search.feedback import cosines_to, mix_in, stacked
from kb.search.fuse import combine_found, fuse, fuse_rankings
from kb.search.records import Candidates
from kb.search.retrieve import retrieve

Ranking = list[tuple[int, float]]
Fuse = Callable[[Candidates], Ranking]
ROOT = Path(__file__).parents[1]


@dataclass(frozen=True, slots=True)
class FusionSet:
    """A judged set whose home is open."""

    name: str
    kb: Runtime
    queries: Sequence[Query]
    judge: Judge
    metric: str = "ndcg@10"
    filters: Filters = field(default_factory=Filters)


def by_settings(**settings: float | str) -> Fuse:
    """As the program does it, with these search settings."""
    return lambda found: fuse(found, "hybrid", replace(SearchConfig(), **settings)).ranking


def by_rrf(k: int, weights: Sequence[float] = (1, 1)) -> Fuse:
    """Reciprocal rank fusion."""
    return lambda found: fuse_rankings([found.lexical, found.vector], k, weights)


def by_convex(weight: float, normalize: Callable[[Ranking], dict[int, float]]) -> Fuse:
    """(1 − weight) · lexical + weight · vector, each list normalized by itself; Bruch et al. 2023."""

    def fuse_lists(found: Candidates) -> Ranking:
        a, b = normalize(found.lexical), normalize(found.vector)
        scores = {i: (1 - weight) * a.get(i, 0.0) + weight * b.get(i, 0.0) for i in {*a, *b}}
        return sorted(scores.items(), key=lambda row: (-row[1], row[0]))

    return fuse_lists


def min_max(ranking: Ranking) -> dict[int, float]:
    """The list's worst score is 0, its best 1."""
    if not ranking:
        return {}
    low, high = ranking[-1][1], ranking[0][1]
    return {i: (s - low) / (high - low) if high > low else 1.0 for i, s in ranking}


def by_maximum(ranking: Ranking) -> dict[int, float]:
    """Zero stays zero, the list's best is 1."""
    best = max((s for _, s in ranking), default=0.0)
    return {i: max(0.0, s) / best for i, s in ranking} if best > 0 else {}


def by_plain_mean(chunks: int, weight: float, vector_share: float = SearchConfig().vector_share) -> Fuse:
    """Feedback as it was before: the plain mean of the best, measured from the query's own zero."""

    def fuse_lists(found: Candidates) -> Ranking:
        first = by_settings(vector_share=vector_share, feedback_chunks=0)(found)
        if found.query_vector is None:
            return first
        best = [(found.pool[i], 1.0) for i, _ in first[:chunks] if i in found.pool]
        pool = stacked(found.pool)
        return combine_found(found, cosines_to(mix_in(found.query_vector, best, weight), pool), vector_share)

    return fuse_lists


def by_neighbours(share: float, neighbours: int = 5) -> Fuse:
    """Each passage's score mixed with those of the found passages that are nearest to it; Diaz: Regularizing Ad Hoc Retrieval
    Scores, CIKM 2005. Likeness is the cosine above the mean of all, to the power of four.
    """

    def fuse_lists(found: Candidates) -> Ranking:
        ranking = by_settings(feedback_chunks=0)(found)
        if found.query_vector is None or found.mean is None or len(ranking) <= neighbours:
            return ranking
        rows = np.stack([found.pool[i] for i, _ in ranking])
        scores, zero = np.array([score for _, score in ranking]), float(found.mean @ found.mean)
        alike = np.clip((rows @ rows.T - zero) / (1 - zero), 0, 1) ** 4
        np.fill_diagonal(alike, 0)
        alike[alike < np.partition(alike, -neighbours, axis=1)[:, [-neighbours]]] = 0
        mixed = (1 - share) * scores + share * (alike @ scores) / np.maximum(alike.sum(axis=1), 1e-9)
        return sorted(
            ((i, float(score)) for (i, _), score in zip(ranking, mixed, strict=True)), key=lambda row: (-row[1], row[0])
        )

    return fuse_lists


def by_z_scores(weight: float) -> Fuse:
    """Each list's scores less their mean, over their deviation; what a list does not have gets its least."""

    def normalize(ranking: Ranking) -> tuple[dict[int, float], float]:
        scores = np.array([score for _, score in ranking] or [0.0])
        spread = float(scores.std()) or 1.0
        found = {i: (score - float(scores.mean())) / spread for i, score in ranking}
        return found, min(found.values(), default=0.0)

    def fuse_lists(found: Candidates) -> Ranking:
        (a, least_a), (b, least_b) = normalize(list(found.lexical)), normalize(list(found.vector))
        scores = {i: (1 - weight) * a.get(i, least_a) + weight * b.get(i, least_b) for i in {*a, *b}}
        return sorted(scores.items(), key=lambda row: (-row[1], row[0]))

    return fuse_lists


FUSIONS: dict[str, Fuse] = {
    "RRF, k = 60": by_rrf(60),
    "words alone": lambda found: found.lexical,
    "vectors alone": lambda found: found.vector,
    "RRF, k = 10": by_rrf(10),
    "RRF, k = 60, words 2 : 1": by_rrf(60, (2, 1)),
    "convex, min-max, vectors .5": by_convex(0.5, min_max),
    "convex, list's best, vectors .5": by_convex(0.5, by_maximum),
    "convex, z-scores, vectors .5": by_z_scores(0.5),
    "convex, best possible, .5": by_settings(vector_share=0.5, feedback_chunks=0),
    "convex, best possible, .6": by_settings(feedback_chunks=0),
    "convex, best possible, .7": by_settings(vector_share=0.7, feedback_chunks=0),
    "  .6, scores of 5 neighbours × .2": by_neighbours(0.2),
    "  .55, plain mean of 3 × .2 (before)": by_plain_mean(3, 0.2, vector_share=0.55),
    "  .6, plain mean of 3 × .2": by_plain_mean(3, 0.2),
    "  .6, plain mean of 5 × .5": by_plain_mean(5, 0.5),
    "  .6, feedback 10 × .3 at most": by_settings(feedback_weight=0.3),
    "  .6, feedback 5 × .45 at most": by_settings(feedback_chunks=5),
    "  .6, feedback 10 × .45 at most (default)": by_settings(),
    "  .5, feedback 10 × .45 at most": by_settings(vector_share=0.5),
    "  .55, feedback 10 × .45 at most": by_settings(vector_share=0.55),
    "  .65, feedback 10 × .45 at most": by_settings(vector_share=0.65),
}


def quiet(event: IngestEvent) -> None:
    """No progress."""


def sets(data: Path, only: tuple[str, ...]) -> Iterator[FusionSet]:
    """Each judged set that is there, and whose folder begins as asked."""
    model = os.environ.get("KB_EMBEDDING__MODEL", EmbeddingConfig().model)
    config, cache = replace(Config(), embedding=replace(EmbeddingConfig(), model=model)), cache_folder(os.environ)
    if "cranfield".startswith(only) and (data / "cranfield").is_dir():
        judged = beir_set(data / "cranfield")
        kb = judged.open(cache, config, quiet, print)
        yield FusionSet("Cranfield", kb, judged.queries, judged.judge(kb))
    if "spans".startswith(only) and (data / "chunking-eval").is_dir():
        judged = spans_set(data / "chunking-eval")
        kb = judged.open(cache, config, quiet, print)
        yield FusionSet("spans", kb, judged.queries, judged.judge(kb), "recall@5")
    if "fixtures".startswith(only):
        corpus = ROOT / "fixtures" / "corpus"
        content = sha256(b"\0".join(f.read_bytes() for f in sorted(corpus.rglob("*")) if f.is_file())).hexdigest()
        kb = collection_home(cache, config, "fixtures", content, fill_from_folder(corpus, quiet), print)
        suite = load_suite(ROOT / "fixtures" / "suites" / "corpus.yaml")
        yield FusionSet("fixtures", kb, suite.queries, judge_suite(kb, suite))
    if "clapnq".startswith(only) and (data / "clapnq").is_dir():
        yield clapnq(data / "clapnq", config, cache)
    if "fastapi".startswith(only) and (data / "fastapi-docs-en-ko" / "docs").is_dir():
        folder = data / "fastapi-docs-en-ko" / "docs"
        for each in load_fastapi_pairs(folder):
            collection, fill = each.collection, fill_from_folder(folder, quiet)
            kb = collection_home(cache, config, "fastapi-docs-en-ko", collection.documents_sha256, fill, print)
            judge = judge_collection(kb, collection)
            yield FusionSet(collection.name, kb, collection.queries, judge, filters=each.filters)


def clapnq(folder: Path, config: Config, cache: Path) -> FusionSet:
    """Questions of Natural Questions, each asking for the passage it was put to, answerable from it or not."""
    rows = [json.loads(line) for line in (folder / "corpus.jsonl").read_text().splitlines()]
    documents = tuple(CollectionDocument(row["_id"], row["title"], row["text"]) for row in rows)
    asked = [json.loads(line) for line in (folder / "queries.jsonl").read_text().splitlines()]
    queries = tuple(Query(q["_id"], q["text"], relevant=dict.fromkeys(q["passage"], 1)) for q in asked)
    content = sha256((folder / "corpus.jsonl").read_bytes()).hexdigest()
    kb = collection_home(cache, config, "clapnq", content, fill_from_documents(documents, quiet), print)
    judge = judge_collection(kb, Collection("clapnq", documents, queries, content, content))
    return FusionSet("ClapNQ", kb, queries, judge)


def main() -> None:
    """Print one table a set, or one of all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--markdown", action="store_true", help="one table of all sets, as in benchmarks/README.md")
    parser.add_argument("--only", default="")
    parser.add_argument("--against", default=next(iter(FUSIONS)), help="the row that the others are compared with")
    chosen = parser.parse_args()
    only = tuple(chosen.only.split(","))
    if chosen.against not in (labels := {label.strip(): label for label in FUSIONS}):
        parser.error(f"no row {chosen.against}; there are {', '.join(labels)}")
    cells: dict[str, list[str]] = {label: [] for label in FUSIONS}
    names = []
    for each in sets(chosen.data, only):
        names.append(f"{each.name}, {each.metric}, {len(each.queries)}")
        if not chosen.markdown:
            print(f"\n{names[-1]} queries")
        for label, (mean, difference, p) in measure(each, labels[chosen.against]).items():
            cells[label].append(f"{mean:.3f}" + (f" (p {p:.3f})" if difference else ""))
            if not chosen.markdown:
                print(f"{label:<42} {mean:.4f}  {difference:+.4f}  p {p:.3f}", flush=True)
    if chosen.markdown:
        print(f"| fusion | {' | '.join(names)} |\n|---|{'---|' * len(names)}")
        for label, row in cells.items():
            print(f"| {label} | {' | '.join(row)} |")


def measure(each: FusionSet, base: str) -> dict[str, tuple[float, float, float]]:
    """label → mean, difference to the base, paired p."""
    each.kb.encode_ahead([query.text for query in each.queries])
    found = [(q, retrieve(each.kb, SearchRequest(q.text, "hybrid", RANKING_DEPTH, each.filters))) for q in each.queries]
    baseline: list[float] = []
    figures = {}
    for label in dict.fromkeys([base, *FUSIONS]):
        scores = []
        for query, lists in found:
            ranking = FUSIONS[label](lists)[:RANKING_DEPTH]
            value = each.judge.score(query, ranking, [each.judge.identify(i) for i, _ in ranking]).get(each.metric)
            if value is not None:
                scores.append(value)
        baseline = baseline or scores
        mean = sum(scores) / len(scores)
        figures[label] = (mean, mean - sum(baseline) / len(baseline), paired_p(baseline, scores))
    return figures


def paired_p(before: Sequence[float], after: Sequence[float]) -> float:
    """Two-sided paired permutation test of the mean."""
    return permutation_p([(a, 1.0) for a in before], [(b, 1.0) for b in after], seed=0)


if __name__ == "__main__":
    main()
