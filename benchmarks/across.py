"""Questions in one language asked of documents in another: does the evidence gate tell what the documents are about from the rest?

    python benchmarks/across.py DATA_FOLDER [--fit] [--ask]

Korean questions of English documents, and English ones of Korean documents. About the documents: titles of FastAPI's pages in the other
language, and questions that people ask of them (korean_questions.yaml, answers_questions.yaml). Not about them: the same asked of other homes,
and questions of the reader's rows asked of all homes. Figures are out of fold: titles are scored by weights fitted on the questions and the
other way round, and what is not about a home by weights fitted on the other homes. --fit writes the weights of all into
kb/evidence/weights.json. --ask: what an ask without a language model makes of the questions, and of ASKED that are not about the documents. Homes
are those of gate_sets.py.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import yaml
from fastapi_pairs import load_fastapi_pairs
from gate import GATE, WEIGHTS, auc
from gate_sets import open_homes, reader_cases
from numpy.typing import NDArray
from scipy.optimize import minimize

from kb.ask.pipeline import ask
from kb.ask.records import AskRequest
from kb.ask.weigh import subject_of
from kb.config import Config
from kb.evidence.gate import ACROSS, GateModel
from kb.evidence.records import Signals
from kb.language.registry import has_letters
from kb.records import SearchRequest
from kb.search.pipeline import search

Vector = NDArray[np.float64]
HERE = Path(__file__).resolve().parent
# Of the reader's questions.
UNRELATED = 150
PENALTY, K = 1e-4, 10
# Unrelated questions that are asked outright.
ASKED = 60


@dataclass(frozen=True, slots=True)
class Direction:
    """Questions in one language about documents in another.

    titles   the set of FastAPI's pairs
    about    the home that they are about
    others   homes in the same language that they are not about
    """

    language: str
    titles: str
    about: str
    others: tuple[str, ...]


DIRECTIONS = (
    Direction("ko", "fastapi-ko-en", "fastapi-en", ("rust-book", "cranfield")),
    Direction("en", "fastapi-en-ko", "fastapi-ko", ("reader-ko",)),
)


def asked(data: Path, way: Direction) -> Iterator[tuple[str, str, str, bool]]:
    """(set, home, question, whether the home's documents are about it)."""
    for each in load_fastapi_pairs(data / "fastapi-docs-en-ko" / "docs"):
        for query in each.collection.queries if each.collection.name == way.titles else ():
            if has_letters("ko", query.text) == (way.language == "ko"):
                yield from _asked_of_all("titles", way, query.text)
    for question in _questions(way.language):
        yield from _asked_of_all("questions", way, question)
    unrelated = [case.question for case, _ in reader_cases(data, f"reader-{way.language}") if case.question][:UNRELATED]
    for home in (way.about, *way.others):
        yield from ((f"others of {home}", home, question, False) for question in unrelated)


def _asked_of_all(name: str, way: Direction, question: str) -> Iterator[tuple[str, str, str, bool]]:
    for home in (way.about, *way.others):
        yield name, home, question, home == way.about


def _questions(language: str) -> list[str]:
    """What people ask of FastAPI's pages."""
    if language == "ko":
        found: list[str] = yaml.safe_load((HERE / "korean_questions.yaml").read_text(encoding="utf-8"))["questions"]
        return found
    entries = yaml.safe_load((HERE / "answers_questions.yaml").read_text(encoding="utf-8"))["fastapi"]
    return [entry["q"] for entry in entries if "gold" in entry]


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


def measure(data: Path, way: Direction, *, should_fit: bool) -> None:
    """Print one direction's figures, and write its weights where asked."""
    rows = list(asked(data, way))
    subject = np.zeros(len(rows))
    homes_of = open_homes(data, (way.about, *way.others), Config())
    for number, (_, home, question, _) in enumerate(rows):
        hits = search(homes_of[home], SearchRequest(question, "hybrid", K, as_found=True)).hits
        subject[number] = subject_of(homes_of[home], question, [hit.chunk_id for hit in hits])
    sets, homes = np.array([row[0] for row in rows]), np.array([row[1] for row in rows])
    about = np.array([float(row[3]) for row in rows])
    scores = np.zeros(len(rows))
    for name in np.unique(sets):
        for home in np.unique(homes[sets == name]):
            mine = (sets == name) & (homes == home)
            known = (sets != name) & ((about == 1) | (homes != home))
            if not (about[known] == 0).any():  # one home alone that the questions are not about
                known = sets != name
            model = fit(subject[known], about[known])
            scores[mine] = [model.probability(Signals(subject=value)) for value in subject[mine]]
    print(
        f"{way.language}: AUC {auc(scores[about == 1], scores[about == 0]):.3f}; subject at 5, 50, 95 %; refused at {GATE:g}:"
    )
    for name in np.unique(sets):
        for home in np.unique(homes[sets == name]):
            mine = (sets == name) & (homes == home)
            kind = "about it" if about[mine][0] else "not about it"
            low, mid, high = np.quantile(subject[mine], (0.05, 0.5, 0.95))
            print(f"  {low:.3f} {mid:.3f} {high:.3f}", end="")
            print(f"  {name:20} {home:10} {kind:13} {(scores[mine] < GATE).sum():4} of {mine.sum():4}")
    if should_fit:
        model, digest = fit(subject, about), homes_of[way.about].stored_encoder()[1]
        raw = json.loads(WEIGHTS.read_text(encoding="utf-8"))
        entry = {"weights": dict(model.weights), "intercept": model.intercept, "typical": dict(model.typical)}
        raw["models"][f"{digest}{ACROSS}/{way.language}"] = {
            "made_by": "benchmarks/across.py --fit",
            "cases": len(rows),
        } | entry
        WEIGHTS.write_text(json.dumps(raw, indent=1) + "\n", encoding="utf-8")


def ask_all(data: Path, way: Direction) -> None:
    """Print the outcomes of one direction's questions."""
    home = open_homes(data, (way.about,), Config())[way.about]
    unrelated, about = [], []
    for name, of, question, _ in asked(data, way):
        if of == way.about and name != "titles":
            (about if name == "questions" else unrelated).append(question)
    for title, questions in (("about it", about), ("not about it", unrelated[:ASKED])):
        outcomes = Counter(ask(home, AskRequest(question, is_evaluation=True)).outcome for question in questions)
        print(f"{way.language} on {way.about}, {title}: {dict(outcomes)} of {len(questions)}")


def main() -> None:
    """Both directions."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--ask", action="store_true")
    chosen = parser.parse_args()
    for way in DIRECTIONS:
        if chosen.ask:
            ask_all(chosen.data, way)
        else:
            measure(chosen.data, way, should_fit=chosen.fit)


if __name__ == "__main__":
    main()
