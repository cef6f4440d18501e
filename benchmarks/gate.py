"""Measures the evidence gate: does its score tell answerable questions from others, and what does the default gate refuse?

    python benchmarks/gate.py [DATA_FOLDER] [--fit] [--markdown] [--latency]

Cases come from gate_sets.py, each asked of a real home through the real search. Every figure is out of fold: scored by
weights fitted without the question's gold document (5 folds), or, in the transfer table, without its whole set. --fit
writes kb/evidence/weights.json from all cases as well; the fixture suite and the Korean questions are never fitted on.
AUC differences to the baselines carry a paired 95 % bootstrap interval. --latency times what the gate adds to an ask on a
home of 20,000 real chunks.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from gate_fit import RECIPES, Fitted, Vector, fit, is_fitted_on, out_of_fold, to_matrix
from gate_latency import print_latency
from gate_sets import ANSWERABLE, NEAR, REMOVED, SAME_TOPIC, WRONG, Case, load_cases, open_homes
from scipy.stats import rankdata

from kb.ask.pack import pack_chunks
from kb.ask.weigh import weigh_chunks
from kb.config import Config
from kb.evidence.gate import SPREAD, WORDS, check_names
from kb.evidence.records import Signals
from kb.language.sentences import sentences_of
from kb.llm.protocol import Evidence
from kb.records import Chunk, RankedChunk, Ranking, SearchMode, SearchRequest, SearchTrace
from kb.runtime import Runtime
from kb.search.fuse import fuse
from kb.search.retrieve import retrieve

ROOT = Path(__file__).resolve().parents[1]
WEIGHTS = ROOT / "kb/evidence/weights.json"
GATE = Config().rag.evidence_gate
K = Config().rag.k
BOOTSTRAPS = 1000
# Packed passages whose every sentence the best-sentence baseline may choose from.
NEAREST = 3


@dataclass(frozen=True, slots=True)
class Weighed:
    """A case's signals in hybrid mode (words alone where the encoder cannot read the question) and in lexical mode.

    best_sentence  cosine of the best sentence, the baseline; NaN where it was not computed: the signal stands in
    """

    case: Case
    hybrid: Signals
    lexical: Signals
    best_sentence: float


def weigh_all(cases: Sequence[Case], homes: dict[str, Runtime]) -> list[Weighed]:
    """Every case through search, packing and weighing, as an ask does it."""
    found = []
    for case in cases:
        kb = homes[case.home]
        hybrid, packed, query = weigh_case(kb, case, "hybrid")
        lexical, _, _ = weigh_case(kb, case, "lexical")
        is_paired = case.set == "clapnq" and case.kind in (ANSWERABLE, SAME_TOPIC)
        best = best_sentence(kb, case.question, packed) if is_paired and query else np.nan
        found.append(Weighed(case, hybrid, lexical, best))
    return found


def weigh_case(kb: Runtime, case: Case, mode: SearchMode) -> tuple[Signals, list[Chunk], bool]:
    """Signals, the packed chunks, and whether vectors took part."""
    found = retrieve(kb, SearchRequest(case.question, mode, K))
    if case.kind == REMOVED:
        gone = answering_chunks(kb, case)
        found = replace(
            found,
            lexical=[row for row in found.lexical if row[0] not in gone],
            vector=[row for row in found.vector if row[0] not in gone],
            pool={i: vector for i, vector in found.pool.items() if i not in gone},
        )
    fused = fuse(found, mode, Config().search)
    ranking = fused.ranking[:K]
    chunks = kb.corpus.fetch_chunks([chunk_id for chunk_id, _ in ranking])
    packed = [p.chunk for p in pack_chunks([(chunks[i], s) for i, s in ranking], kb.config.rag.max_context_tokens)]
    trace = SearchTrace(
        lexical=rows_of(found.lexical),
        vector=rows_of(found.vector),
        query_terms=(),
        filtered_documents=None,
        stage_ms={},
    )
    with_vectors = mode == "hybrid" and not found.note
    pairs = [(chunk, fused.cosines.get(chunk.chunk_id)) for chunk in packed]
    weighed = weigh_chunks(kb, case.question, pairs, trace, with_vectors=with_vectors)
    return weighed.signals, packed, with_vectors


def rows_of(ranking: Ranking) -> tuple[RankedChunk, ...]:
    return tuple(RankedChunk(chunk_id=i, rank=n, score=s) for n, (i, s) in enumerate(ranking, start=1))


def answering_chunks(kb: Runtime, case: Case) -> set[int]:
    """The chunks that hold any of the gold passages."""
    found: set[int] = set()
    for path, start, end in case.gold:
        rows = kb.store._connection.execute(
            "SELECT chunk_id FROM chunks JOIN documents USING (doc_id)"
            " WHERE path = ? AND (? < 0 OR (start_char < ? AND end_char > ?))",
            [path, end, end, start],
        )
        found.update(row[0] for row in rows)
    return found


def best_sentence(kb: Runtime, question: str, packed: Sequence[Chunk]) -> float:
    """The baseline: best cosine among all sentences of the NEAREST packed passages."""
    query = kb.encode_query(question)
    vectors = kb.stored_vectors(chunk.chunk_id for chunk in packed)
    nearest = sorted((c for c in packed if c.chunk_id in vectors), key=lambda c: -float(vectors[c.chunk_id] @ query))
    evidence = [Evidence(n, c.text, c.heading_path) for n, c in enumerate(nearest[:NEAREST], start=1)]
    texts = [sentence.under_heading() for sentence in sentences_of(evidence)]
    return float((kb.encode_sentences(texts) @ query).max()) if texts else 0.0


# ---- figures


def auc(good: Vector, bad: Vector) -> float:
    """Share of pairs in order, ties half; NaN without a pair."""
    if not len(good) or not len(bad):
        return float("nan")
    ranks = rankdata(np.r_[good, bad])
    return float((ranks[: len(good)].sum() - len(good) * (len(good) + 1) / 2) / (len(good) * len(bad)))


def paired_difference(good: Vector, bad: Vector, base_good: Vector, base_bad: Vector) -> tuple[float, float]:
    """95 % interval of the difference of two AUCs on the same cases, resampled together."""
    generator = np.random.default_rng(0)
    differences = []
    for _ in range(BOOTSTRAPS):
        a, b = generator.integers(0, len(good), len(good)), generator.integers(0, len(bad), len(bad))
        differences.append(auc(good[a], bad[b]) - auc(base_good[a], base_bad[b]))
    low, high = np.quantile(differences, [0.025, 0.975])
    return float(low), float(high)


@dataclass(frozen=True, slots=True)
class Kind:
    """One row of the report: which cases are told from which."""

    title: str
    good: Vector
    bad: Vector


def kinds_of(cases: Sequence[Case]) -> Iterator[Kind]:
    """Answerable against each kind; same topic and gold removed against the questions of the same sets."""
    sets, kinds = np.array([c.set for c in cases]), np.array([c.kind for c in cases])
    english = np.array([is_fitted_on(c) for c in cases])
    yes = kinds == ANSWERABLE
    for title, good, bad in (
        ("wrong corpus", english & yes, english & (kinds == WRONG)),
        ("same topic, unanswerable", (sets == "clapnq") & yes, kinds == SAME_TOPIC),
        ("near miss (name or number swapped)", english & yes, english & (kinds == NEAR)),
        ("gold passage removed", english & yes & (sets != "cranfield"), english & (kinds == REMOVED)),
        ("Korean: wrong corpus", (sets == "korean") & yes, (sets == "korean") & (kinds == WRONG)),
        ("Korean: near miss", (sets == "korean") & yes, (sets == "korean") & (kinds == NEAR)),
        *(
            (f"fixture suite, {lang}", (sets == f"fixtures-{lang}") & yes, (sets == f"fixtures-{lang}") & ~yes)
            for lang in ("en", "ko")
        ),
    ):
        if good.any() and bad.any():
            yield Kind(title, np.flatnonzero(good), np.flatnonzero(bad))


def print_kinds(weighed: Sequence[Weighed], scores: Vector, signals: Sequence[Signals], title: str) -> list[list[str]]:
    """AUC beside the baselines, with the paired interval of the difference; refusals at the default gate."""
    names = ("cosine", "sentence_cosine", "passage_coverage")
    matrix = to_matrix(signals, names)
    everything = np.array([w.best_sentence for w in weighed])
    matrix[:, 1] = np.where(np.isnan(everything), matrix[:, 1], everything)
    print(f"\n{title}: AUC (difference to each baseline, paired 95 % interval); at gate {GATE:g}")
    rows = []
    for kind in kinds_of([w.case for w in weighed]):
        good, bad = scores[kind.good], scores[kind.bad]
        cells = [kind.title, f"{len(good)} / {len(bad)}", f"{auc(good, bad):.3f}"]
        for column in range(len(names)):
            a, b = matrix[kind.good, column], matrix[kind.bad, column]
            if np.isnan(a).any() or np.isnan(b).any():
                cells.append("–")
                continue
            low, high = paired_difference(good, bad, a, b)
            cells.append(f"{auc(a, b):.3f} ({auc(good, bad) - auc(a, b):+.3f} [{low:+.3f}, {high:+.3f}])")
        wrong, right = int((good < GATE).sum()), int((bad < GATE).sum())
        precision, recall = right / max(1, right + wrong), right / len(bad)
        f1 = 2 * precision * recall / (precision + recall) if right else 0.0
        cells += [f"{precision:.2f}", f"{recall:.2f}", f"{f1:.2f}", f"{wrong / len(good):.3f}"]
        rows.append(cells)
        print("  ".join(cells))
    return rows


def print_answerable(cases: Sequence[Case], *columns: tuple[str, Vector]) -> None:
    """False refusals of every set at the default gate."""
    print(f"\nFalse refusals at gate {GATE:g}: {', '.join(title for title, _ in columns)}")
    for name in dict.fromkeys(c.set for c in cases):
        rows = [i for i, c in enumerate(cases) if c.set == name and c.is_answerable]
        print(f"  {name:<22} {len(rows):4}  " + "  ".join(f"{(s[rows] < GATE).mean():.3f}" for _, s in columns))


def print_reliability(cases: Sequence[Case], scores: Vector, title: str) -> None:
    """Predicted against observed, cases weighted as they are fitted (half of the weight is answerable)."""
    from gate_fit import case_weights

    rows = [i for i, c in enumerate(cases) if is_fitted_on(c)]
    weights = case_weights([cases[i] for i in rows], RECIPES[title])
    scores, answers = scores[rows], np.array([cases[i].is_answerable for i in rows])
    print(f"\nReliability, {title}: predicted, observed, cases")
    for low in np.arange(0, 1, 0.1):
        inside = (scores >= low) & (scores < low + 0.1)
        if inside.any():
            predicted, observed = (np.average(v[inside], weights=weights[inside]) for v in (scores, answers))
            print(f"  {low:.1f}–{low + 0.1:.1f}  {predicted:.2f}  {observed:.2f}  {inside.sum()}")


def print_markdown(rows: Sequence[Sequence[str]]) -> None:
    """The README's table."""
    print(
        "\n| unanswerable because | answerable / not | AUC | top cosine | best sentence | IDF coverage | refused | false refusals |"
    )
    print("|---|--:|--:|--:|--:|--:|--:|--:|")
    for title, count, score, cosine, sentence, covered, _, recall, _, wrong in rows:
        bases = " | ".join(cell.split(" ")[0] for cell in (cosine, sentence, covered))
        print(f"| {title} | {count} | **{score}** | {bases} | {float(recall):.0%} | {float(wrong):.1%} |")


# ---- weights


def to_json(fitted: Fitted) -> dict[str, object]:
    """Weights of less than a hundredth are dropped: bounded fits leave them at 0."""
    kept = {n: (w, t) for n, w, t in zip(fitted.names, fitted.weights, fitted.typical, strict=True) if w >= 0.01}
    check_names({name: w for name, (w, _) in kept.items()})
    return {
        "weights": {name: round(float(w), 4) for name, (w, _) in kept.items()},
        "typical": {name: round(float(t), 4) for name, (_, t) in kept.items()},
        "intercept": round(fitted.intercept, 4),
    }


def write_weights(weighed: Sequence[Weighed], encoder: tuple[str, str]) -> None:
    """Fit on every case that may be fitted on, and write the package's file."""
    usable = [w for w in weighed if is_fitted_on(w.case)]
    cases = [w.case for w in usable]
    hybrid, lexical = [w.hybrid for w in usable], [w.lexical for w in usable]
    models = {
        encoder[1]: {"encoder": encoder[0]} | to_json(fit(cases, hybrid, RECIPES["vectors"])),
        WORDS: to_json(fit(cases, lexical, RECIPES["words"])),
        SPREAD: to_json(fit(cases, hybrid, RECIPES["spread"])),
    }
    made = {"made_by": "benchmarks/gate.py --fit", "cases": len(cases), "models": models}
    WEIGHTS.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    """Weigh all cases, then fit or report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="?", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--fit", action="store_true", help="write the weights too")
    parser.add_argument("--markdown", action="store_true", help="print the README's table too")
    parser.add_argument("--latency", action="store_true", help="time what the gate adds, nothing else")
    chosen = parser.parse_args()
    if not (chosen.data / "clapnq").is_dir():
        parser.error(f"no {chosen.data / 'clapnq'}")
    began = time.perf_counter()
    homes = open_homes(chosen.data)
    if chosen.latency:
        print_latency(homes)
        return
    cases = load_cases(chosen.data, homes)
    weighed = weigh_all(cases, homes)
    if chosen.fit:
        model_id, digest, _ = homes["clapnq"].stored_encoder()
        write_weights(weighed, (model_id, digest))
    report(weighed, markdown=chosen.markdown)
    print(f"{time.perf_counter() - began:.0f} s in all", file=sys.stderr)


def report(weighed: Sequence[Weighed], *, markdown: bool) -> None:
    """Every table."""
    cases, hybrid = [w.case for w in weighed], [w.hybrid for w in weighed]
    lexical = [w.lexical for w in weighed]
    # What an ask does: a question that the encoder cannot read goes by words in hybrid mode too.
    is_read = np.array([s.cosine is not None for s in hybrid])

    def both(*, by_set: bool) -> tuple[Vector, Vector]:
        words = out_of_fold(cases, lexical, RECIPES["words"], by_set=by_set)
        return np.where(is_read, out_of_fold(cases, hybrid, RECIPES["vectors"], by_set=by_set), words), words

    scores, words = both(by_set=False)
    rows = print_kinds(weighed, scores, hybrid, "Hybrid mode, out of fold by gold document")
    print_kinds(weighed, words, lexical, "Lexical mode (words alone), out of fold by gold document")
    moved, moved_words = both(by_set=True)
    print_kinds(weighed, moved, hybrid, "Hybrid mode, fitted without the question's set")
    spread = np.maximum(words, out_of_fold(cases, hybrid, RECIPES["spread"], by_set=False))
    print_kinds(weighed, np.where(is_read, spread, words), hybrid, "As for an encoder without weights: words or margin")
    columns = (("by document", scores), ("by set", moved), ("words", words), ("words by set", moved_words))
    print_answerable(cases, *columns, ("no weights", spread))
    print_reliability(cases, scores, "vectors")
    print_reliability(cases, words, "words")
    if markdown:
        print_markdown(rows)


if __name__ == "__main__":
    main()
