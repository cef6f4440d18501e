"""Measures the reader: does its order find more, does it pick the sentence that answers, and what CPU time does it take?

    python benchmarks/reader.py [DATA_FOLDER] [--queries N] [--sentences] [--asks]

Order: nDCG@10 of hybrid search and of the same reordered (kb search --rerank), over documents, with the paired 95 %
interval of the difference; the first N queries of each set. Sentences: of human question–passage rows that no reader of
kb's was trained on, the share in which the sentence that is scored best holds the answer, the mean reciprocal rank of the
first that does, and the AUC of all that do against all that do not: by each reader, by the encoder's cosine, by shared
words. CPU seconds are of the whole process, both cores together. --asks: those of questions about the Rust book, answered with
quotes, without a reader, with ms-marco alone, and with the default.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import yaml
from answers import QUESTIONS
from fastapi_pairs import load_fastapi_pairs
from gate import auc
from gate_sets import ROOT, open_homes, reader_cases
from reader_rows import held_out_squad, load_rows

from kb.ask.pipeline import ask
from kb.ask.records import AskRequest
from kb.config import Config
from kb.config.sections import LlmConfig, ReaderConfig
from kb.eval.metrics import score_rankings
from kb.eval.resampling import paired_bootstrap_interval
from kb.eval.suite import load_suite
from kb.reader.protocol import Reader
from kb.reader.registry import BY_LANGUAGE, OF_LANGUAGES, OFF, open_reader
from kb.records import SearchRequest
from kb.runtime import Runtime
from kb.search.pipeline import search
from kb.text import analyze, analyze_query, split_sentences

# Query → document path → grade.
Judged = Mapping[str, Mapping[str, int]]
HITS = 30
HARD_SOURCES = ("qed-nq", "tydi-goldp-train", "covid-qa", "squad-dev")
ROWS_PER_SOURCE = 120
LEAST_SENTENCES = 4
# Korean passages are two or three sentences long.
LEAST_KOREAN = 2


def judged_sets(data: Path) -> Iterator[tuple[str, Judged]]:
    """(home and what it is asked, judgements) of every set."""
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
    korean = [case for case, _ in reader_cases(data, "reader-ko") if case.is_answerable]
    yield "reader-ko", {case.question: {case.gold[0][0]: 1} for case in korean}
    suite = load_suite(ROOT / "fixtures/suites/corpus.yaml")
    for language in ("en", "ko"):
        asked = [q for q in suite.queries if q.answerable and q.slices.get("lang") == language]
        yield f"fixtures {language}", {q.text: {label.path: 1 for label in q.labels} for q in asked}


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
    """(language and source, question, sentences, which of them hold the answer) of rows that nothing is trained on."""
    counts: dict[str, int] = {}
    for row in load_rows(data):
        source, passage = f"{row['lang']} {row['source']}", row["passage"]
        is_held_out = row["split"] == "dev" or passage in held_out_squad(data)
        if row["source"] not in HARD_SOURCES or not row["answerable"] or not is_held_out:
            continue
        spans = split_sentences(passage)
        holds = [any(s <= a["start"] < e for a in row["answers"]) for s, e in spans]
        least = LEAST_SENTENCES if row["lang"] == "en" else LEAST_KOREAN
        if len(spans) < least or not any(holds) or counts.get(source, 0) == ROWS_PER_SOURCE:
            continue
        counts[source] = counts.get(source, 0) + 1
        yield source, row["question"], [passage[s:e] for s, e in spans], holds


def measure_sentences(kb: Runtime, readers: Sequence[Reader], data: Path) -> None:
    """Prints how well sentences that hold the answer stand above others."""

    def by_words(question: str, sentences: Sequence[str]) -> list[float]:
        terms = frozenset(analyze_query(question))
        return [float(len(terms.intersection(analyze(sentence)))) for sentence in sentences]

    def by_cosine(question: str, sentences: Sequence[str]) -> list[float]:
        vectors = kb.encode_sentences([question, *sentences])
        return [float(c) for c in vectors[1:] @ vectors[0]]

    methods: dict[str, Callable[[str, Sequence[str]], list[float]]] = {"words": by_words, "cosine": by_cosine}
    methods |= {reader.model_id: reader.score for reader in readers}
    found: dict[tuple[str, str], list[tuple[list[float], list[bool]]]] = {}
    seconds = dict.fromkeys(methods, 0.0)
    for source, question, sentences, holds in sentence_rows(data):
        for name, score in methods.items():
            if any(r.model_id == name and not r.can_read(question) for r in readers):
                continue
            began = time.process_time()
            scores = score(question, sentences)
            seconds[name] += time.process_time() - began
            found.setdefault((source, name), []).append((scores, holds))
    print("\nSentences that hold the answer: best one does · mean reciprocal rank · AUC")
    for (source, name), rows in sorted(found.items()):
        places = [1 + sum(s > max(s for s, h in zip(*row, strict=True) if h) for s in row[0]) for row in rows]
        good = np.array([s for row in rows for s, h in zip(*row, strict=True) if h])
        bad = np.array([s for row in rows for s, h in zip(*row, strict=True) if not h])
        first, mrr = np.mean([place == 1 for place in places]), np.mean([1 / place for place in places])
        print(f"  {source:<20} {len(rows):3}  {name:<25} {first:.3f} · {mrr:.3f} · {auc(good, bad):.3f}")
    print("CPU s:", ", ".join(f"{name} {spent:.1f}" for name, spent in seconds.items()))


def measure_asks(data: Path, most: int) -> None:
    """Prints the median CPU seconds of an ask by what reads, each question by all in turn."""
    bases: dict[str, Runtime] = {}
    for model in (OFF, OF_LANGUAGES[0], BY_LANGUAGE):
        config = Config(reader=ReaderConfig(model=model), llm=LlmConfig(provider="extractive"))
        bases[model] = open_homes(data, ["rust-book"], config)["rust-book"]
        ask(bases[model], AskRequest("What opens the models?"))
    seconds: dict[str, list[float]] = {model: [] for model in bases}
    for row in yaml.safe_load(QUESTIONS["questions"].read_text(encoding="utf-8"))["rust"][:most]:
        for model, base in bases.items():
            began = time.process_time()
            ask(base, AskRequest(row["q"]))
            seconds[model].append(time.process_time() - began)
    for model, spent in seconds.items():
        print(f"reader.model {model:<25} {statistics.median(spent):.2f} s of CPU, median of {len(spent)} asks")


def main() -> None:
    """Every table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="?", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--queries", type=int, default=100, help="of each set")
    parser.add_argument("--only", nargs="*", default=(), metavar="SET", help="sets whose order is measured")
    parser.add_argument("--sentences", action="store_true", help="sentences alone")
    parser.add_argument("--asks", action="store_true", help="CPU seconds of an ask alone")
    chosen = parser.parse_args()
    if chosen.asks:
        measure_asks(chosen.data, chosen.queries)
        return
    names = chosen.only or ("clapnq", "cranfield", "fastapi-en", "reader-ko", "fixtures")
    homes = open_homes(chosen.data, ["clapnq", *(name.split()[0] for name in names if not chosen.sentences)])
    if not chosen.sentences:
        homes["clapnq"].read("warm up", ["the first text opens the model"])
        for name, judged in judged_sets(chosen.data):
            first = dict(list(judged.items())[: chosen.queries])
            if not chosen.only or name in chosen.only:
                print(f"{name:<12}{measure_order(homes[name.split()[0]], first)}", flush=True)
    readers = [open_reader(name, homes["clapnq"].cache) for name in OF_LANGUAGES]
    measure_sentences(homes["clapnq"], readers, chosen.data)


if __name__ == "__main__":
    main()
