"""Measures the reader: does its order find more, does it pick the sentence that answers, and what CPU time does it take?

    python benchmarks/reader.py [DATA_FOLDER] [--queries N]

Order: nDCG@10 of hybrid search and of the same reordered (kb search --rerank), over documents, with the paired 95 %
interval of the difference; the first N queries of each set. Sentences: of human question–passage rows, the share in which
the sentence that is scored best holds the answer: by the reader, by the encoder's cosine, by shared words. CPU seconds are
of the whole process, both cores together.
"""

from __future__ import annotations

import argparse
import gzip
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from fastapi_pairs import load_fastapi_pairs
from gate_sets import ROOT, open_homes

from kb.eval.metrics import score_rankings
from kb.eval.resampling import paired_bootstrap_interval
from kb.eval.suite import load_suite
from kb.records import SearchRequest
from kb.runtime import Runtime
from kb.search.pipeline import search
from kb.text import analyze, analyze_query, split_sentences

# Query → document path → grade.
Judged = Mapping[str, Mapping[str, int]]
HITS = 30
HARD_SOURCES = ("qed-nq", "tydi-goldp-train", "covid-qa", "squad-dev")
ROWS_PER_SOURCE = 60
LEAST_SENTENCES = 4


def judged_sets(data: Path) -> Iterator[tuple[str, Judged]]:
    """(home, judgements) of every set."""
    rows = [json.loads(line) for line in (data / "clapnq/queries.jsonl").open(encoding="utf-8")]
    yield "clapnq", {r["text"]: dict.fromkeys(r["passage"], 1) for r in rows if r["answerable"]}
    texts = {
        str(r["_id"]): r["text"] for r in map(json.loads, (data / "cranfield/queries.jsonl").open(encoding="utf-8"))
    }
    grades: dict[str, dict[str, int]] = {}
    for line in (data / "cranfield/qrels/test.tsv").read_text().splitlines():
        query, document, grade = line.split("\t")
        if grade.lstrip("-").isdigit() and int(grade) > 0 and query in texts:
            grades.setdefault(texts[query], {})[document] = int(grade)
    yield "cranfield", grades
    for pairs in load_fastapi_pairs(data / "fastapi-docs-en-ko/docs"):
        if pairs.collection.name == "fastapi-en":
            queries = pairs.collection.queries
            yield (
                "fastapi-en",
                {q.text: {label.path.removeprefix("en/"): 1 for label in q.labels} for q in queries},
            )
    suite = load_suite(ROOT / "fixtures/suites/corpus.yaml")
    english = [q for q in suite.queries if q.answerable and q.slices.get("lang") == "en"]
    yield "fixtures", {q.text: {label.path: 1 for label in q.labels} for q in english}


def measure_order(kb: Runtime, judged: Judged) -> str:
    """nDCG@10 without and with the reader, the difference, and the CPU seconds that a query took more."""
    rankings: dict[bool, dict[str, list[str]]] = {False: {}, True: {}}
    seconds = {False: 0.0, True: 0.0}
    for query in judged:
        for read in (False, True):
            began = time.process_time()
            hits = search(kb, SearchRequest(query, "hybrid", HITS, rerank=read)).hits
            seconds[read] += time.process_time() - began
            rankings[read][query] = [hit.path for hit in hits]
    scores = {read: score_rankings(judged, rankings[read]) for read in (False, True)}
    plain, again = (np.array([scores[read][q]["ndcg@10"] for q in judged], dtype=float) for read in (False, True))
    low, high = paired_bootstrap_interval([(p, 1.0) for p in plain], [(a, 1.0) for a in again], 0)
    return (
        f"{len(judged):4} queries  nDCG@10 {plain.mean():.3f} → {again.mean():.3f}"
        f"  {again.mean() - plain.mean():+.3f} [{low:+.3f}, {high:+.3f}]"
        f"  {(seconds[True] - seconds[False]) / len(judged):.2f} s of CPU more"
    )


def sentence_rows(data: Path) -> Iterator[tuple[str, str, list[str], list[bool]]]:
    """(source, question, sentences, which of them hold the answer)."""
    counts: dict[str, int] = {}
    with gzip.open(data / "reader" / "reader.jsonl.gz", "rt", encoding="utf-8") as file:
        for row in map(json.loads, file):
            source, passage = row["source"], row["passage"]
            if row["lang"] != "en" or source not in HARD_SOURCES or not row["answerable"]:
                continue
            spans = split_sentences(passage)
            holds = [any(s <= a["start"] < e for a in row["answers"]) for s, e in spans]
            if len(spans) < LEAST_SENTENCES or not any(holds) or counts.get(source, 0) == ROWS_PER_SOURCE:
                continue
            counts[source] = counts.get(source, 0) + 1
            yield source, row["question"], [passage[s:e] for s, e in spans], holds


def measure_sentences(kb: Runtime, data: Path) -> None:
    """Prints the share of rows in which the best sentence holds the answer."""

    def by_words(question: str, sentences: Sequence[str]) -> list[float]:
        terms = frozenset(analyze_query(question))
        return [float(len(terms.intersection(analyze(sentence)))) for sentence in sentences]

    def by_cosine(question: str, sentences: Sequence[str]) -> list[float]:
        vectors = kb.encode_sentences([question, *sentences])
        return [float(c) for c in vectors[1:] @ vectors[0]]

    def by_reader(question: str, sentences: Sequence[str]) -> list[float]:
        return kb.read(question, sentences) or [0.0] * len(sentences)

    methods: dict[str, Callable[[str, Sequence[str]], list[float]]] = {
        "words": by_words,
        "cosine": by_cosine,
        "reader": by_reader,
    }
    right: dict[str, dict[str, list[bool]]] = {}
    for source, question, sentences, holds in sentence_rows(data):
        for name, score in methods.items():
            scores = score(question, sentences)
            right.setdefault(source, {}).setdefault(name, []).append(holds[scores.index(max(scores))])
    print("\nThe best sentence holds the answer")
    for source, found in right.items():
        shares = "  ".join(f"{name} {np.mean(hits):.0%}" for name, hits in found.items())
        print(f"  {source:<18} {len(found['reader']):3}  {shares}")


def main() -> None:
    """Every table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="?", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--queries", type=int, default=100, help="of each set")
    chosen = parser.parse_args()
    names = ("clapnq", "cranfield", "fastapi-en", "fixtures")
    homes = open_homes(chosen.data, names)
    homes["clapnq"].read("warm up", ["the first text opens the model"])
    for name, judged in judged_sets(chosen.data):
        first = dict(list(judged.items())[: chosen.queries])
        print(f"{name:<11}{measure_order(homes[name], first)}", flush=True)
    measure_sentences(homes["clapnq"], chosen.data)


if __name__ == "__main__":
    main()
