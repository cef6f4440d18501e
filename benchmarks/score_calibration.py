"""How well does the score of a hit tell the probability that it is relevant, on collections it was not fitted on?

    python benchmarks/score_calibration.py DATA_FOLDER [--fit] [--homes NAME…]

Every collection counts the same, a fifth of its queries are ones it cannot answer, and of every query the first ten hits count.
Each collection is scored by weights fitted on the others (leave one collection out): the expected calibration error (ECE, ten
bins) over all and within each, mean score and share that is relevant, and what the floor does: answerable queries with a right
hit that lose it, queries without an answer that are told so. `--fit` writes the weights of all collections together.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from gate_sets import open_homes
from numpy.typing import NDArray
from scipy.optimize import minimize
from score_sets import COARSE, HITS, UNANSWERABLE, Judged, load_judged

from kb.eval.resampling import RESAMPLES
from kb.search.calibrate import OTHER, RANKS, WEIGHTS_FILE, WORDS

Vector = NDArray[np.float64]
ALL = ("match", "log_match", "log_rank", "share", "lead", "log_terms")
# What says something without a scale, for an encoder that nothing was fitted for; and what is known of any list.
SHAPE, PLACE = ("log_rank", "share", "lead", "log_terms"), ("log_rank", "share", "log_terms")
# A better match, or a better place, never lowers a probability: the order by match is kept.
BOUNDS = dict.fromkeys(("match", "log_match", "share", "lead"), (0.0, None)) | {"log_rank": (None, 0.0)}
PENALTY = 1e-3
# Share of answerable queries with a right hit that the floor may cost, out of fold: half of the 1 % that is promised.
FLOOR_LOSS = 0.005
BINS = 10
WEIGHTS = Path(__file__).parents[1] / "kb" / "search" / WEIGHTS_FILE


@dataclass(frozen=True, slots=True)
class Table:
    """The hits of one kind of list, a row each.

    signals  (n, len(names))
    query    number of the query that a row belongs to
    """

    names: tuple[str, ...]
    signals: Vector
    relevant: Vector
    weight: Vector
    collection: NDArray[np.str_]
    query: NDArray[np.int64]


def make_table(judged: Sequence[Judged], names: tuple[str, ...]) -> Table:
    """Rows of judged queries, weighed so that collections are equal and a fifth of each one's queries has no answer."""
    groups: dict[tuple[str, bool], list[int]] = {}
    for number, query in enumerate(judged):
        groups.setdefault((query.collection, query.answerable), []).append(number)
    signals, relevant, weight, collection, owner = [], [], [], [], []
    for (name, answerable), numbers in groups.items():
        if (name, True) not in groups:
            continue  # an encoder that cannot read the queries of a collection answers none of them
        other = (name, not answerable) in groups
        share = (1 - UNANSWERABLE if other else 1.0) if answerable else UNANSWERABLE
        for number in numbers:
            for row, label in zip(judged[number].signals, judged[number].relevant, strict=True):
                signals.append([getattr(row, signal) for signal in names])
                relevant.append(label)
                weight.append(share / len(numbers) / HITS)
                collection.append(name)
                owner.append(number)
    return Table(
        names,
        np.array(signals),
        np.array(relevant, float),
        np.array(weight),
        np.array(collection),
        np.array(owner),
    )


def fit(table: Table, rows: NDArray[np.bool_]) -> Vector:
    """(1 + len(names),) intercept and weights of a logistic model with an L2 penalty on standardized signals."""
    x, y, w = table.signals[rows], table.relevant[rows], table.weight[rows] / table.weight[rows].sum()
    mean = w @ x
    spread = np.sqrt(w @ (x - mean) ** 2) + 1e-9
    z = (x - mean) / spread

    def loss(p: Vector) -> tuple[float, Vector]:
        logits = z @ p[1:] + p[0]
        wrong = w * (1 / (1 + np.exp(-logits)) - y)
        value = float(w @ (np.logaddexp(0, logits) - y * logits) + PENALTY * p[1:] @ p[1:])
        return value, np.concatenate([[wrong.sum()], z.T @ wrong + 2 * PENALTY * p[1:]])

    bounds = [(None, None), *(BOUNDS.get(name, (None, None)) for name in table.names)]
    p = minimize(loss, np.zeros(1 + len(table.names)), jac=True, method="L-BFGS-B", bounds=bounds).x
    slopes = p[1:] / spread
    return np.concatenate([[p[0] - slopes @ mean], slopes])


def predict(table: Table, p: Vector) -> Vector:
    """(n,) probabilities."""
    scores: Vector = 1 / (1 + np.exp(-(table.signals @ p[1:] + p[0])))
    return scores


def out_of_fold(table: Table) -> Vector:
    """(n,) probabilities of each collection by weights fitted on the others."""
    scores = np.zeros(len(table.relevant))
    for name in np.unique(table.collection):
        own = table.collection == name
        scores[own] = predict(table, fit(table, ~own))[own]
    return scores


def calibration_error(scores: Vector, relevant: Vector, weight: Vector) -> float:
    """Expected calibration error over bins of equal width."""
    place = np.minimum((scores * BINS).astype(int), BINS - 1)
    gaps = [abs((weight[place == b] * (scores - relevant)[place == b]).sum()) for b in range(BINS)]
    return float(sum(gaps) / weight.sum())


def error_interval(table: Table, scores: Vector) -> tuple[float, float]:
    """95 % interval of the error, resampling queries."""
    random, count = np.random.default_rng(0), int(table.query.max()) + 1
    errors = []
    for _ in range(RESAMPLES // 4):
        times = np.bincount(random.integers(0, count, count), minlength=count)[table.query]
        errors.append(calibration_error(scores, table.relevant, table.weight * times))
    low, high = np.percentile(errors, (2.5, 97.5))
    return float(low), float(high)


def choose_floor(table: Table, scores: Vector, judged: Sequence[Judged]) -> tuple[float, float, float]:
    """The floor, the share of answerable queries with a right hit below it, and of unanswerable ones."""
    best = np.zeros(len(judged))
    np.maximum.at(best, table.query, scores)
    right = np.array([any(q.relevant) for q in judged])
    nothing = np.array([not q.answerable for q in judged])
    # A hit with every word of the query is never below the floor.
    is_covered = np.array([q.covered for q in judged])
    floor = float(np.sort(best[right & ~is_covered])[int(FLOOR_LOSS * right.sum())])
    below = (best < floor) & ~is_covered
    return floor, float(below[right].mean()), float(below[nothing].mean())


def report(label: str, judged: Sequence[Judged], names: tuple[str, ...]) -> dict[str, object]:
    """Print what one kind of list scores out of fold; the weights of all collections."""
    fitted_on = [query for query in judged if query.collection not in COARSE]
    table = make_table(fitted_on, names)
    scores = out_of_fold(table)
    floor, lost, told = choose_floor(table, scores, fitted_on)
    low, high = error_interval(table, scores)
    first = table.signals[:, names.index("log_rank")] == 0
    top = calibration_error(scores[first], table.relevant[first], table.weight[first])
    error = calibration_error(scores, table.relevant, table.weight)
    print(f"\n{label}: {len(fitted_on)} queries, ECE {error:.3f} [{low:.3f}, {high:.3f}], first hits {top:.3f}")
    print(
        f"  floor {floor:.3f}: {lost:.2%} of queries with a right hit lose it, {told:.1%} of those without are told so"
    )
    p = fit(table, np.ones(len(table.relevant), bool))
    coarse = [query for query in judged if query.collection in COARSE]
    if any(any(query.relevant) for query in coarse):
        extra = make_table(coarse, names)
        best = np.zeros(len(coarse))
        np.maximum.at(best, extra.query, predict(extra, p))
        right = np.array([any(q.relevant) for q in coarse])
        below = (best < floor) & ~np.array([q.covered for q in coarse])
        print(f"  not fitted on: {right.sum()} queries with a right page, {below[right].mean():.2%} lose it")
    for name in np.unique(table.collection):
        own = table.collection == name
        w = table.weight[own] / table.weight[own].sum()
        error = calibration_error(scores[own], table.relevant[own], w)
        print(f"  {name:<22} ECE {error:.3f}  score {w @ scores[own]:.3f}  relevant {w @ table.relevant[own]:.3f}")
    weights = {name: round(float(value), 4) for name, value in zip(names, p[1:], strict=True)}
    return {"weights": weights, "intercept": round(float(p[0]), 4), "floor": round(floor, 4)}


def main() -> None:
    """Print the tables; write the weights on request."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--fit", action="store_true", help=f"write {WEIGHTS.name}, keeping other encoders' weights")
    parser.add_argument("--homes", nargs="+", default=(), help="only these corpora, as gate_sets.py names them")
    chosen = parser.parse_args()
    homes = open_homes(chosen.data, chosen.homes)
    _, digest, _ = next(iter(homes.values())).stored_encoder()
    judged = list(load_judged(chosen.data, homes))
    of = {kind: [query for query in judged if query.variant == kind] for kind in (WORDS, "vector", "hybrid")}
    models = {WORDS: report("words", of[WORDS], ALL)}
    for kind in ("vector", "hybrid"):
        models[f"{digest}/{kind}"] = report(kind, of[kind], ALL)
        models[f"{OTHER}/{kind}"] = report(f"{kind}, an encoder without weights", of[kind], SHAPE) | {"floor": 0.0}
    models[RANKS] = report("any list, by places alone", judged, PLACE) | {"floor": 0.0}
    if chosen.fit:
        old = json.loads(WEIGHTS.read_text(encoding="utf-8"))["models"] if WEIGHTS.exists() else {}
        text = json.dumps({"fitted_by": "benchmarks/score_calibration.py --fit", "models": old | models}, indent=1)
        WEIGHTS.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
