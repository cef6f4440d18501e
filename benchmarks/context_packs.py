"""What is context stability worth? Packing at equal budgets, ordering with each axis off, answers, and what it costs.

    python benchmarks/context_packs.py DATA_FOLDER [--only spans,frontier,modes,order,signals,answers,timing] [--chunks 100000]

Packing is judged by the tokens of the span questions (recall, precision, intersection over union) against ranked packing,
question by question (paired 95 % intervals); ordering on the sets of fusion.py. Timing makes a home of its own.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from context_timing import measure_timing
from fusion import ROOT, paired_p, quiet, sets

from kb.config import Config, EvidencePacking, cache_folder
from kb.eval.collections import SpanQuestion, load_spans, span_scores
from kb.eval.compare import compare_runs
from kb.eval.judged_sets import spans_set
from kb.eval.judges import judge_suite
from kb.eval.pipeline import RANKING_DEPTH, EvalRequest, evaluate
from kb.eval.resampling import paired_bootstrap_interval
from kb.eval.suite import load_suite
from kb.eval.throwaway import fill_from_folder
from kb.packing.packs import Limits, Pack, Scored, pack_neighbourhoods, step_answerability
from kb.packing.selection import Found, lift_scores, select_neighbourhoods
from kb.packing.stability import Axes, Weights, combine_axes
from kb.records import Chunk, ChunkAxes, SearchMode, SearchRequest
from kb.runtime import Runtime, open_runtime
from kb.search.fuse import fuse
from kb.search.retrieve import retrieve
from kb.search.stability import score_chunks

BUDGETS = (500, 1000, 2000)
# Of a hit, how far its surroundings are scored for packs by stability; and of how many hits.
REACH, CENTRES = 8, 30
AXES = ("vector", "stability", "fit", "drift", "coherence")


@dataclass(frozen=True, slots=True)
class Case:
    """One span question, what was found, and the axes of that and of its surroundings."""

    question: SpanQuestion
    ranking: list[tuple[int, float]]
    axes: Mapping[int, ChunkAxes]


Packer = Callable[[Case, int], list[int]]


class Spans:
    """The span questions over one home, retrieved and scored once."""

    def __init__(self, data: Path, mode: SearchMode = "hybrid") -> None:
        folder = data / "chunking-eval"
        self.kb = spans_set(folder).open(cache_folder(os.environ), Config(), quiet, print)
        rows = self.kb.store._connection.execute("SELECT chunk_id FROM chunks")
        self.chunks: dict[int, Chunk] = self.kb.corpus.fetch_chunks([i for (i,) in rows])
        self.starts: dict[str, list[int]] = {}
        for chunk in self.chunks.values():
            found = self.starts.setdefault(chunk.path.removesuffix(".md"), [])
            found += [chunk.start + offset for offset in self.kb.encoder().token_starts(chunk.text)]
        self.starts = {corpus: sorted(set(found)) for corpus, found in self.starts.items()}
        self.cases = [self._case(question, mode) for question in load_spans(folder)]

    def _case(self, question: SpanQuestion, mode: SearchMode) -> Case:
        found = retrieve(self.kb, SearchRequest(question.text, mode, RANKING_DEPTH))
        ranking = fuse(found, mode, self.kb.config.search).ranking[:RANKING_DEPTH]
        if mode != "hybrid":
            return Case(question, ranking, {})
        ids = [i for i, _ in ranking]
        scores = score_chunks(self.kb, question.text, ids, found.query_vector, found.pool)
        around = [i for i in self.kb.corpus.neighbours.chunks_around(ids[:CENTRES], REACH) if i not in scores.rows]
        beside = score_chunks(self.kb, question.text, around, found.query_vector, found.pool, scores.question)
        return Case(question, ranking, {**beside.rows, **scores.rows})

    def judge(self, case: Case, ids: Sequence[int]) -> tuple[float, float, float, float]:
        """Recall, precision, intersection over union, tokens."""
        chunks = [self.chunks[i] for i in ids]
        places = [(c.path.removesuffix(".md"), c.start, c.end) for c in chunks]
        k = max(1, len(places))
        scores = span_scores(places, case.question, self.starts[case.question.corpus], k)
        figures = [scores[f"{name}@{k}"] or 0.0 for name in ("recall", "precision", "iou")]
        return figures[0], figures[1], figures[2], float(sum(c.token_count for c in chunks))

    def by_rank(self, *, passes_over: bool = False, axis: str | None = None) -> Packer:
        """In the order of the search (or of an axis), until the next chunk overflows; or passing over what does not fit."""

        def pack(case: Case, budget: int) -> list[int]:
            order = [i for i, _ in case.ranking]
            if axis:
                order.sort(key=lambda i: (-(getattr(case.axes[i], axis) or 0.0), i))
            chosen: list[int] = []
            used = 0
            for i in order:
                tokens = self.chunks[i].token_count
                if chosen and used + tokens > budget:
                    if passes_over:
                        continue
                    break
                chosen.append(i)
                used += tokens
            return chosen

        return pack

    def by_relevance(self, lift: float, least_share: float) -> Packer:
        """The program's neighbourhoods."""

        def pack(case: Case, budget: int) -> list[int]:
            found = [
                Found(i, c.doc_id, c.position, c.token_count, score)
                for i, score in case.ranking
                if (c := self.chunks[i])
            ]
            runs = select_neighbourhoods(found, budget, RANKING_DEPTH, lift=lift, least_share=least_share)
            return [each.chunk_id for run in runs for each in run]

        return pack

    def by_stability(self, limits: Limits, *, by_csw: bool = True, gate: bool = True) -> Packer:
        """Packs by context stability: centres by csw or in the order of the search, with the answerability gate or without."""

        def passes(pack: Pack) -> tuple[bool, float]:
            return True, 1.0

        def pack(case: Case, budget: int) -> list[int]:
            scored = {
                i: Scored(i, c.doc_id, c.position, c.token_count, row.stability or 0.5, row.csw)
                for i, row in case.axes.items()
                if (c := self.chunks[i])
            }
            order = [i for i, _ in case.ranking]
            if by_csw:
                order.sort(key=lambda i: (-case.axes[i].csw, i))
            placed = {(s.doc_id, s.position): s for s in scored.values()}
            within = replace(limits, total_tokens=budget)
            packs = pack_neighbourhoods(
                [scored[i] for i in order], placed, within, step_answerability if gate else passes
            )
            return [member.chunk_id for each in packs for member in each.members]

        return pack

    def table(self, packers: Mapping[str, Packer], budgets: Sequence[int] = BUDGETS) -> None:
        """One row a packer and budget; differences to the first packer."""
        print("| packing | budget | recall | precision | IoU | tokens | recall − ranked | precision / ranked |")
        print("|---|--:|--:|--:|--:|--:|---|---|")
        for budget in budgets:
            base: list[tuple[float, float, float, float]] = []
            for label, packer in packers.items():
                rows = [self.judge(case, packer(case, budget)) for case in self.cases]
                base = base or rows
                means = np.mean(rows, axis=0)
                against = "| |" if base is rows else _against(base, rows)
                print(
                    f"| {label} | {budget:,} | {means[0]:.3f} | {means[1]:.4f} | {means[2]:.4f} | {means[3]:.0f} {against}",
                    flush=True,
                )


def _against(base: Sequence[Sequence[float]], rows: Sequence[Sequence[float]]) -> str:
    recall = [[(row[0], 1.0) for row in side] for side in (base, rows)]
    low, high = paired_bootstrap_interval(recall[0], recall[1], seed=0)
    difference = np.mean([b[0] - a[0] for a, b in zip(base, rows, strict=True)])
    a, b = (np.array([row[1] for row in side]) for side in (base, rows))
    draws = np.random.default_rng(0).integers(0, len(a), (2000, len(a)))
    ratios = np.percentile(b[draws].mean(axis=1) / a[draws].mean(axis=1), [2.5, 97.5])
    return f"| {difference:+.4f} [{low:+.4f}, {high:+.4f}] | {b.mean() / a.mean():.2f} [{ratios[0]:.2f}, {ratios[1]:.2f}] |"


def show_spans(data: Path) -> None:
    """Ranked packing, neighbourhoods, and packs by context stability with one limit after the other taken off."""
    spans = Spans(data)
    open_gate = Limits(least_csw=0.0, most_packs=RANKING_DEPTH)
    spans.table(
        {
            "ranked": spans.by_rank(),
            "ranked, passing over what does not fit": spans.by_rank(passes_over=True),
            "neighbourhoods by relevance (default)": spans.by_relevance(0.1, 0.5),
            "stability packs, as specified": spans.by_stability(Limits()),
            "  without the answerability gate": spans.by_stability(Limits(), gate=False),
            "  and any number of packs, any csw": spans.by_stability(open_gate, gate=False),
            "  and centres in the order of the search": spans.by_stability(open_gate, by_csw=False, gate=False),
            "  and no neighbours": spans.by_stability(
                replace(open_gate, main_stability=1.1, supporting_csw=1.0), by_csw=False, gate=False
            ),
            "chunks by csw": spans.by_rank(axis="csw", passes_over=True),
        }
    )


def show_frontier(data: Path) -> None:
    """Recall against precision as lift and least share vary."""
    spans = Spans(data)
    packers: dict[str, Packer] = {"ranked": spans.by_rank()}
    for lift in (0.0, 0.05, 0.1, 0.2):
        for share in (0.0, 0.4, 0.5, 0.6, 0.7, 0.8):
            packers[f"lift {lift:g}, least share {share:g}"] = spans.by_relevance(lift, share)
    for main in (0.65, 0.75, 0.85):
        limits = Limits(main_stability=main, supporting_csw=0.45, least_csw=0.0, most_packs=RANKING_DEPTH)
        packers[f"by search order, main {main:g}, supporting .45"] = spans.by_stability(
            limits, by_csw=False, gate=False
        )
        stop = replace(limits, least_share=0.9)
        packers[f"by csw, main {main:g}, supporting .45, centres from .9 of the best csw"] = spans.by_stability(
            stop, gate=False
        )
    spans.table(packers, budgets=(2000,))


def show_modes(data: Path) -> None:
    """The same where one retriever's score is the relevance."""
    modes: tuple[SearchMode, ...] = ("lexical", "vector")
    for mode in modes:
        spans = Spans(data, mode)
        print(f"\n{mode}")
        packers: dict[str, Packer] = {"ranked": spans.by_rank()}
        packers |= {f"neighbourhoods, least share {share:g}": spans.by_relevance(0.1, share) for share in (0.35, 0.5)}
        spans.table(packers)


def show_signals(data: Path) -> None:
    """How well each axis tells chunks that hold a part of the answer from others among the first ten: AUC."""
    from sklearn.metrics import roc_auc_score

    spans = Spans(data)
    labels: list[bool] = []
    columns: dict[str, list[float]] = {
        name: [] for name in (*AXES[:4], "csw", "relevance", "share of the best", "lifted")
    }
    for case in spans.cases:
        chunks = [spans.chunks[i] for i, _ in case.ranking]
        lifted = lift_scores(
            [Found(c.chunk_id, c.doc_id, c.position, 0, s) for c, (_, s) in zip(chunks, case.ranking, strict=True)]
        )
        for i, score in case.ranking[:10]:
            chunk, row = spans.chunks[i], case.axes[i]
            is_right = chunk.path.removesuffix(".md") == case.question.corpus
            labels.append(is_right and any(a < chunk.end and chunk.start < b for a, b in case.question.spans))
            for name in (*AXES[:4], "csw"):
                columns[name].append(getattr(row, name) or 0.0)
            columns["relevance"].append(score)
            columns["share of the best"].append(score / case.ranking[0][1])
            columns["lifted"].append(lifted[i])
    print(f"{len(labels):,} hits, {np.mean(labels):.3f} of them right")
    for name, values in columns.items():
        print(
            f"{name:<20} AUC {roc_auc_score(labels, values):.3f}   quartiles {np.percentile(values, [25, 50, 75]).round(3)}"
        )


def show_order(data: Path) -> None:
    """Hits ordered by csw, with each axis off in turn; and relevance with a little of each axis added."""
    for each in sets(data):
        found = []
        places = {
            c: (d, p) for c, d, p in each.kb.store._connection.execute("SELECT chunk_id, doc_id, position FROM chunks")
        }
        for query in each.queries:
            lists = retrieve(each.kb, SearchRequest(query.text, "hybrid", RANKING_DEPTH, each.filters))
            ranking = fuse(lists, "hybrid", each.kb.config.search).ranking
            ids = [i for i, _ in ranking]
            rows = score_chunks(each.kb, query.text, ids, lists.query_vector, lists.pool).rows
            found.append((query, ranking, rows))

        def score(
            scorer: Callable[[list[tuple[int, float]], Mapping[int, ChunkAxes]], dict[int, float]],
            each=each,
            found=found,
        ) -> list[float]:
            values = []
            for query, ranking, rows in found:
                scores = scorer(ranking, rows)
                ranks = {i: n for n, (i, _) in enumerate(ranking)}  # scores stop at 1, the ranking goes on
                ordered = sorted(scores.items(), key=lambda row: (-row[1], ranks[row[0]]))[:RANKING_DEPTH]
                value = each.judge.score(query, ordered, [each.judge.identify(i) for i, _ in ordered]).get(each.metric)
                if value is not None:
                    values.append(value)
            return values

        base = score(lambda ranking, rows: dict(ranking))
        print(f"\n{each.name}, {each.metric}, {len(base)} queries\nrelevance                  {np.mean(base):.4f}")
        variants = {"csw": by_csw(None)} | {f"csw without {axis}": by_csw(axis) for axis in AXES}
        variants |= {f"relevance + .2 {axis}": plus(axis) for axis in (*AXES, "csw")}
        variants["relevance, lifted by .1"] = lambda ranking, rows, places=places: lift_scores(
            [Found(i, *places[i], 0, s) for i, s in ranking]
        )
        for label, scorer in variants.items():
            values = score(scorer)
            print(
                f"{label:<26} {np.mean(values):.4f}  {np.mean(values) - np.mean(base):+.4f}  p {paired_p(base, values):.3f}",
                flush=True,
            )


def by_csw(off: str | None) -> Callable[[list[tuple[int, float]], Mapping[int, ChunkAxes]], dict[int, float]]:
    """Context stability, one axis left out and its weight with the others."""

    def scorer(ranking: list[tuple[int, float]], rows: Mapping[int, ChunkAxes]) -> dict[int, float]:
        ids = sorted(rows)
        columns = {}
        for axis in AXES:
            values = [getattr(rows[i], axis) for i in ids]
            absent = axis == off or any(v is None for v in values)
            columns[axis] = None if absent else np.array(values, dtype=np.float64)
        weights = Weights()
        if (
            columns["fit"] is None
        ):  # the one axis that needs no vector cannot be absent; without weight it counts nothing
            columns["fit"], weights = np.zeros(len(ids)), Weights(0.35, 0.25, 0.0, 0.10, 0.10)
        return dict(zip(ids, combine_axes(Axes(**columns), weights).tolist(), strict=True))

    return scorer


def plus(axis: str) -> Callable[[list[tuple[int, float]], Mapping[int, ChunkAxes]], dict[int, float]]:
    """Relevance with a fifth of one axis added."""
    return lambda ranking, rows: {
        i: score + 0.2 * ((getattr(rows[i], axis) or 0.0) if i in rows else 0.0) for i, score in ranking
    }


def show_answers(data: Path) -> None:
    """The fixture suite, asked with each packing: what the answers hold, how they are backed, what is refused."""
    suite = load_suite(ROOT / "fixtures" / "suites" / "corpus.yaml")
    runs = {}
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        config = replace(Config(), llm=replace(Config().llm, provider="extractive"))
        with open_runtime(home, config, write=True, notify=print) as kb:
            fill_from_folder(ROOT / "fixtures" / "corpus", quiet)(kb)
        variants: list[tuple[EvidencePacking, float]] = [("ranked", 0.0)]
        variants += [("neighbourhoods", share) for share in (0.3, 0.4, 0.5, 0.6)]
        variants += [("stability", 0.0)]
        for packing, share in variants:
            chosen = replace(config, rag=replace(config.rag, packing=packing, least_share=share))
            kb = Runtime(home, chosen)
            request = EvalRequest(suite.name, suite.sha256, suite.queries, answers=True)
            (run,) = evaluate(kb, request, judge_suite(kb, suite), Path(folder))
            label = packing + (f", {share:g}" if share else "")
            runs[label] = run
            kb.close()
    first = next(iter(runs.values()))
    for label, run in runs.items():
        print(f"\n{label}")
        shown = {name: value for name, value in run.metrics.items() if "@" not in name and value.mean is not None}
        print("  ".join(f"{name} {value.mean:.3f}" for name, value in shown.items()))
    for label, run in list(runs.items())[1:]:
        print(f"\n{label} − ranked")
        for row in compare_runs(first, run).metrics:
            if row.difference and "@" not in row.metric:
                print(
                    f"{row.metric:<22} {row.mean_a:.3f} → {row.mean_b:.3f}  {row.difference:+.3f} [{row.ci_low:+.3f}, {row.ci_high:+.3f}] p {row.p:.3f}"
                )


PARTS: dict[str, Callable[[Path], None]] = {
    "spans": show_spans,
    "frontier": show_frontier,
    "modes": show_modes,
    "signals": show_signals,
    "order": show_order,
    "answers": show_answers,
}


def main() -> None:
    """Print the parts that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--only", default=",".join([*PARTS, "timing"]))
    parser.add_argument("--chunks", type=int, default=100_000, help="size of the home that is timed")
    chosen = parser.parse_args()
    for name in chosen.only.split(","):
        print(f"\n## {name}", flush=True)
        if name == "timing":
            measure_timing(chosen.chunks)
        else:
            PARTS[name](chosen.data)


if __name__ == "__main__":
    main()
