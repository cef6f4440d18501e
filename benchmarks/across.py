"""Korean questions asked of English documents: does the evidence gate tell what the documents are about from what they are not?

    python benchmarks/across.py DATA_FOLDER HOMES_FOLDER [--fit]

HOMES_FOLDER is that of answers.py: homes "fastapi", "rust" and "cranfield". About the documents: Korean titles of FastAPI's pages and the
questions of korean_questions.yaml, asked of the English pages. Not about them: the same asked of the other two homes, and questions of the
reader's Korean rows asked of all three. Figures are out of fold: titles are scored by weights fitted on the questions and the other
way round, and what is not about a home by weights fitted on the other homes. --fit writes the weights of all into
kb/evidence/weights.json.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from fastapi_pairs import load_fastapi_pairs
from gate import GATE, WEIGHTS, auc
from gate_sets import reader_cases
from numpy.typing import NDArray
from scipy.optimize import minimize

import kb
from kb.ask.weigh import subject_of
from kb.evidence.gate import ACROSS, GateModel
from kb.evidence.records import Signals
from kb.language.registry import has_letters

Vector = NDArray[np.float64]
ABOUT, SETS = "fastapi", {"fastapi-ko-en": "titles", "fastapi-ko-questions": "questions"}
OTHERS = ("rust", "cranfield")
# Of the reader's Korean questions.
UNRELATED = 150
PENALTY, K = 1e-4, 10


def asked(data: Path) -> Iterator[tuple[str, str, str, bool]]:
    """(set, home, question, whether the home's documents are about it)."""
    for each in load_fastapi_pairs(data / "fastapi-docs-en-ko" / "docs"):
        for query in each.collection.queries if each.collection.name in SETS else ():
            if has_letters("ko", query.text):
                yield SETS[each.collection.name], ABOUT, query.text, True
                for home in OTHERS:
                    yield SETS[each.collection.name], home, query.text, False
    unrelated = [case.question for case, _ in reader_cases(data, "reader-ko") if case.question][:UNRELATED]
    for home in (ABOUT, *OTHERS):
        yield from ((f"others of {home}", home, question, False) for question in unrelated)


def fit(subject: Vector, is_about: Vector) -> GateModel:
    """A logistic model of one signal; both classes count the same. Where a search finds nothing, 0, an ask comes to no gate."""
    subject, is_about = subject[subject > 0], is_about[subject > 0]
    weight = np.where(is_about, 0.5 / is_about.sum(), 0.5 / (~is_about.astype(bool)).sum())

    def loss(parameters: Vector) -> float:
        logit = np.clip(parameters[0] * subject + parameters[1], -60, 60)
        wrong = np.log1p(np.exp(-logit)) * is_about + np.log1p(np.exp(logit)) * (1 - is_about)
        return float((weight * wrong).sum() + PENALTY * (parameters[0] / 100) ** 2)

    found = minimize(loss, np.array([50.0, -8.0]), method="Nelder-Mead", options={"maxiter": 4000}).x
    typical = float(subject[is_about == 1].mean())
    return GateModel({"subject": float(found[0])}, float(found[1]), {"subject": typical})


def main() -> None:
    """Measure, and fit where asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("homes", type=Path)
    parser.add_argument("--fit", action="store_true")
    chosen = parser.parse_args()
    rows = list(asked(chosen.data))
    subject = np.zeros(len(rows))
    for home in (ABOUT, *OTHERS):
        with kb.open(home=chosen.homes / home) as base:
            digest = base.runtime().stored_encoder()[1]
            for number, (_, of, question, _) in enumerate(rows):
                if of == home:
                    hits = base.search(question, k=K, mode="hybrid").hits
                    subject[number] = subject_of(base.runtime(), question, [hit.chunk_id for hit in hits])
    sets, homes = np.array([row[0] for row in rows]), np.array([row[1] for row in rows])
    about = np.array([float(row[3]) for row in rows])
    scores = np.zeros(len(rows))
    for name in np.unique(sets):
        for home in np.unique(homes[sets == name]):
            mine = (sets == name) & (homes == home)
            model = fit(
                subject[(sets != name) & ((about == 1) | (homes != home))],
                about[(sets != name) & ((about == 1) | (homes != home))],
            )
            scores[mine] = [model.probability(Signals(subject=value)) for value in subject[mine]]
    print(f"AUC {auc(scores[about == 1], scores[about == 0]):.3f}; by set and home, refused at {GATE:g}:")
    for name in np.unique(sets):
        for home in np.unique(homes[sets == name]):
            mine = (sets == name) & (homes == home)
            kind = "about it" if about[mine][0] else "not about it"
            low, mid, high = np.quantile(subject[mine], (0.05, 0.5, 0.95))
            print(f"  {low:.3f} {mid:.3f} {high:.3f}", end="")
            print(f"  {name:20} {home:10} {kind:13} {(scores[mine] < GATE).sum():4} of {mine.sum():4}")
    if chosen.fit:
        model = fit(subject, about)
        raw = json.loads(WEIGHTS.read_text(encoding="utf-8"))
        entry = {"weights": dict(model.weights), "intercept": model.intercept, "typical": dict(model.typical)}
        raw["models"][f"{digest}{ACROSS}"] = {"made_by": "benchmarks/across.py --fit", "cases": len(rows)} | entry
        WEIGHTS.write_text(json.dumps(raw, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
