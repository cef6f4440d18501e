"""Search quality: Cranfield, questions with character spans, FastAPI's pages in English and Korean, the fixture suite.

    python benchmarks/quality.py [DATA_FOLDER] [--only cranfield,spans,fastapi,fixtures] [--markdown]

Everything goes through kb.eval, as `kb eval` does. Homes are cached by content beside those of the CLI: the first run
encodes, later ones only search. --markdown prints the README's table. Sets that are not there are skipped and named.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

from fastapi_pairs import load_fastapi_pairs

from kb.config import Config, EmbeddingConfig, cache_folder
from kb.eval.collections import load_beir, load_spans, spans_sha256
from kb.eval.compare import compare_runs
from kb.eval.judges import judge_collection, judge_spans, judge_suite
from kb.eval.pipeline import EvalRequest, Judge, evaluate
from kb.eval.records import Comparison, Interval, MetricDifference, Query, Run
from kb.eval.suite import load_suite
from kb.eval.throwaway import collection_home, fill_from_documents, fill_from_folder
from kb.ingest.report import IngestEvent
from kb.records import SearchMode
from kb.runtime import Runtime

REPOSITORY = Path(__file__).resolve().parents[1]
MODES: tuple[SearchMode, ...] = ("lexical", "vector", "hybrid")
RANKING_METRICS = ("ndcg@10", "recall@10", "recall@100", "mrr")
SPAN_METRICS = ("recall@5", "precision@5", "iou@5", "recall@10", "precision@10", "iou@10")


@dataclass(frozen=True, slots=True)
class Measured:
    """One set of queries in every mode.

    headline  the metric that decides which single retriever is best, and that the README shows
    seconds   per mode, after the home was opened
    """

    title: str
    metrics: tuple[str, ...]
    runs: tuple[Run, ...]
    seconds: tuple[float, ...]

    @property
    def headline(self) -> str:
        return self.metrics[0]


def measure_cranfield(data: Path, runs_home: Path) -> Iterator[Measured]:
    """The BEIR layout, judged by documents."""
    collection = load_beir(data / "cranfield")
    with open_filled(
        "cranfield", collection.documents_sha256, fill_from_documents(collection.documents, ignore_event)
    ) as kb:
        judge = judge_collection(kb, collection)
        request = EvalRequest("cranfield", collection.sha256, collection.queries)
        yield measure(kb, "Cranfield", request, judge, RANKING_METRICS, runs_home)


def measure_spans(data: Path, runs_home: Path) -> Iterator[Measured]:
    """Questions with exact spans, judged by tokens."""
    folder = data / "chunking-eval"
    questions = load_spans(folder)
    texts, content = spans_sha256(folder)
    with open_filled(folder.name, texts, fill_from_folder(folder / "corpora", ignore_event)) as kb:
        queries = tuple(Query(id=q.id, text=q.text, slices={"corpus": q.corpus}) for q in questions)
        request = EvalRequest(folder.name, content, queries)
        yield measure(kb, "Span questions", request, judge_spans(kb, questions), SPAN_METRICS, runs_home)


def measure_fastapi(data: Path, runs_home: Path) -> Iterator[Measured]:
    """Headings as queries, judged by pages; one home for all sets, each searched through a filter on paths."""
    titles = {
        "fastapi-ko": "FastAPI: Korean headings → Korean pages",
        "fastapi-en": "FastAPI: English headings → English pages",
        "fastapi-ko-en": "FastAPI: Korean titles → English pages",
        "fastapi-ko-en-all": "FastAPI: Korean titles → English pages, Korean ones in the way",
        "fastapi-en-ko": "FastAPI: English titles → Korean pages",
        "fastapi-ko-questions": "FastAPI: Korean questions → Korean pages",
    }
    folder = data / "fastapi-docs-en-ko" / "docs"
    sets = load_fastapi_pairs(folder)
    content = sets[0].collection.documents_sha256
    with open_filled("fastapi-docs-en-ko", content, fill_from_folder(folder, ignore_event)) as kb:
        for each in sets:
            name, queries = each.collection.name, each.collection.queries
            judge = judge_collection(kb, each.collection)
            request = EvalRequest(name, content, queries, filters=each.filters)
            yield measure(kb, titles[name], request, judge, RANKING_METRICS, runs_home)


def measure_fixtures(data: Path, runs_home: Path) -> Iterator[Measured]:
    """The repository's own suite, search metrics only; it needs no data folder."""
    suite, folder = load_suite(REPOSITORY / "fixtures/suites/corpus.yaml"), REPOSITORY / "fixtures/corpus"
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    parts = (part for file in files for part in (str(file.relative_to(folder)).encode(), file.read_bytes()))
    with open_filled("fixtures", sha256(b"\0".join(parts)).hexdigest(), fill_from_folder(folder, ignore_event)) as kb:
        judge = judge_suite(kb, suite)
        request = EvalRequest(suite.name, suite.sha256, suite.queries)
        yield measure(kb, "Fixture suite", request, judge, RANKING_METRICS, runs_home)


# Name → what must exist in the data folder (None: nothing), and what runs it.
SETS: dict[str, tuple[str | None, Callable[[Path, Path], Iterator[Measured]]]] = {
    "cranfield": ("cranfield", measure_cranfield),
    "spans": ("chunking-eval", measure_spans),
    "fastapi": ("fastapi-docs-en-ko/docs", measure_fastapi),
    "fixtures": (None, measure_fixtures),
}


def ignore_event(event: IngestEvent) -> None:
    """No progress: the seconds are printed at the end."""


def open_filled(name: str, content: str, fill: Callable[[Runtime], None]) -> Runtime:
    """The throw-away home of a set in the user's cache, filled when this content is new; says how long that took."""
    began = time.perf_counter()
    model = os.environ.get("KB_EMBEDDING__MODEL", EmbeddingConfig().model)
    config = replace(Config(), embedding=replace(EmbeddingConfig(), model=model))
    kb = collection_home(cache_folder(os.environ), config, name, content, fill, say)
    chunks = kb.store._connection.execute("SELECT count(*) FROM chunks").fetchone()[0]
    say(f"{name}: {chunks:,} chunks, home ready in {time.perf_counter() - began:.1f} s")
    return kb


def measure(
    kb: Runtime, title: str, request: EvalRequest, judge: Judge, metrics: tuple[str, ...], runs_home: Path
) -> Measured:
    """Every query in every mode, through kb.eval."""
    runs: list[Run] = []
    seconds = []
    for mode in MODES:
        began = time.perf_counter()
        runs += evaluate(kb, replace(request, modes=(mode,)), judge, runs_home)
        seconds.append(time.perf_counter() - began)
    return Measured(title, metrics, tuple(runs), tuple(seconds))


def best_single(measured: Measured) -> Run:
    """The better of the two retrievers on this very set; chosen after the fact, which favours it against hybrid."""
    return max(measured.runs[:2], key=lambda run: run.metrics[measured.headline].mean or 0.0)


def print_measured(measured: Measured) -> None:
    """The means with their 95 % intervals, then hybrid against the best single retriever, and against words by slice."""
    judged = measured.runs[0].metrics[measured.headline].n
    print(f"\n{measured.title}: {judged} judged queries")
    print(f"{'':<10}" + "".join(f"{name:>23}" for name in measured.metrics) + f"{'p50 ms':>9}{'s':>7}")
    for run, seconds in zip(measured.runs, measured.seconds, strict=True):
        cells = "".join(f"{format_interval(run.metrics[name]):>23}" for name in measured.metrics)
        print(f"{run.mode:<10}{cells}{run.latency_ms.p50 or 0:9.1f}{seconds:7.1f}")
    single, hybrid = best_single(measured), measured.runs[-1]
    comparison = compare_runs(single, hybrid, metrics=measured.metrics)
    for difference in comparison.metrics:
        print(f"  hybrid - {single.mode:<8}{describe(difference)}")
    lexical = measured.runs[0]
    print_slices(compare_runs(lexical, hybrid, metrics=[measured.headline]), lexical.mode)


def print_slices(comparison: Comparison, single: str) -> None:
    """The headline by slice, unless the set is one slice."""
    total = comparison.metrics[0].n
    for name, differences in comparison.slices.items():
        for difference in differences:
            if 0 < difference.n < total:
                print(f"  {name:<26} hybrid - {single:<8}{describe(difference)}")


def describe(difference: MetricDifference) -> str:
    """Both means, B − A with its interval and p, and how many queries got better, worse or stayed."""
    if difference.difference is None or difference.p is None:
        return f"{difference.metric}: undefined"
    return (
        f"{difference.metric:<12} {difference.mean_a:.3f} → {difference.mean_b:.3f}  {difference.difference:+.3f} "
        f"[{difference.ci_low:+.3f}, {difference.ci_high:+.3f}] {format_p(difference.p)}  "
        f"better {difference.wins}, worse {difference.losses} ({difference.losses / difference.n:.0%}), "
        f"same {difference.ties}"
    )


def format_interval(interval: Interval) -> str:
    """`.436 [.405, .468]`, or a dash where the metric is undefined."""
    if interval.mean is None:
        return "–"
    return f"{interval.mean:.3f} [{interval.ci_low:.3f}, {interval.ci_high:.3f}]"


def format_p(p: float) -> str:
    """Three decimals: a permutation test of 10,000 draws has no more to say."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def print_markdown(all_measured: Sequence[Measured]) -> None:
    """The README's table: sets × modes in each set's headline, and whether hybrid differs from the best single one."""
    print("\n| set | queries | metric | lexical | vector | hybrid | hybrid against the best single |")
    print("|---|--:|---|--:|--:|--:|---|")
    for measured in all_measured:
        means = [run.metrics[measured.headline] for run in measured.runs]
        figures = [f"{one.mean:.3f}" if one.mean is not None else "–" for one in means]
        best = max(figures)
        cells = " | ".join(f"**{figure}**" if figure == best else figure for figure in figures)
        change = compare_runs(best_single(measured), measured.runs[-1], metrics=[measured.headline]).metrics[0]
        against = f"{change.difference:+.3f}, {format_p(change.p)}" if change.p is not None else "–"
        name = measured.headline.replace("ndcg", "nDCG")
        print(f"| {measured.title} | {means[0].n} | {name} | {cells} | {against} |")


def say(message: str) -> None:
    """To stderr: stdout is the tables."""
    print(message, file=sys.stderr, flush=True)


def main() -> None:
    """Measure the sets that are there and print them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="?", type=Path, default=REPOSITORY.parent / "shared" / "data")
    parser.add_argument("--only", default=",".join(SETS), help="comma-separated: " + ", ".join(SETS))
    parser.add_argument("--markdown", action="store_true", help="print the README's table too")
    chosen = parser.parse_args()
    names = chosen.only.split(",")
    if unknown := [name for name in names if name not in SETS]:
        parser.error(f"no set {', '.join(unknown)}; there are {', '.join(SETS)}")
    began = time.perf_counter()
    all_measured: list[Measured] = []
    with tempfile.TemporaryDirectory() as runs_home:
        for name in names:
            needed, run_set = SETS[name]
            if needed and not (chosen.data / needed).exists():
                say(f"{name}: skipped, no {chosen.data / needed}")
                continue
            for measured in run_set(chosen.data, Path(runs_home)):
                all_measured.append(measured)
                print_measured(measured)
                sys.stdout.flush()
    if chosen.markdown:
        print_markdown(all_measured)
    say(f"{time.perf_counter() - began:.0f} s in all")


if __name__ == "__main__":
    main()
