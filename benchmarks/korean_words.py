"""Korean questions by words alone: as typed, without their frame, and with morphemes and counts.

    python benchmarks/korean_words.py HOME QUESTIONS.yaml

HOME is a home with the Korean pages of FastAPI's documentation. QUESTIONS is `gate_korean.yaml`, or a file whose key
`questions` maps each question to its page, or pages. nDCG@10 by page; differences to the queries as typed, paired
permutation test. Without kiwipiepy the last row is the second, with counts.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path

import yaml

from kb.config import Config
from kb.eval.collections import Collection
from kb.eval.judges import judge_collection
from kb.eval.pipeline import RANKING_DEPTH
from kb.eval.records import Query
from kb.eval.resampling import permutation_p
from kb.index.protocol import LexicalIndex
from kb.language.morphemes import MARK
from kb.runtime import Runtime, open_runtime
from kb.search.query_words import read_query
from kb.text import query_terms

METRIC = "ndcg@10"
WAYS: dict[str, Callable[[str, LexicalIndex], list[str]]] = {
    "as typed, bigrams": lambda text, index: query_terms(text),
    "without frame, bigrams": lambda text, index: [
        term for term in read_query(text, index).terms if not term.startswith(MARK) or term == MARK
    ],
    "with morphemes and counts (default)": lambda text, index: read_query(text, index).terms,
}


def load_questions(file: Path, kb: Runtime) -> Iterator[Query]:
    """Each question with its pages as the home names them; one without a page there is left out."""
    content = yaml.safe_load(file.read_text(encoding="utf-8"))
    if isinstance(content, dict):
        asked = list(content["questions"].items())
    else:
        asked = [
            (e["question"], e["document"]) for e in content if (e["home"], e["kind"]) == ("fastapi-ko", "answerable")
        ]
    paths = [document.path for document in kb.corpus.list_documents()]
    for number, (text, page) in enumerate(asked):
        pages = [page] if isinstance(page, str) else page
        relevant = {path: 1 for path in paths for page in pages if path == page or path.endswith(f"/{page}")}
        if relevant:
            yield Query(str(number), text, relevant=relevant)


def main() -> None:
    """Print one row a way of reading the queries."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("home", type=Path)
    parser.add_argument("questions", type=Path)
    chosen = parser.parse_args()
    with open_runtime(chosen.home, Config()) as kb:
        queries = tuple(load_questions(chosen.questions, kb))
        judge, index = judge_collection(kb, Collection("korean", (), queries, "", "")), kb.lexical_index()
        before: list[float] = []
        print(f"{len(queries)} questions, {METRIC}")
        for way, read in WAYS.items():
            scores = []
            for query in queries:
                found = index.search(read(query.text, index), RANKING_DEPTH)
                scores.append(judge.score(query, found, [judge.identify(i) for i, _ in found])[METRIC] or 0.0)
            before = before or scores
            mean = sum(scores) / len(scores)
            p = permutation_p([(x, 1.0) for x in before], [(x, 1.0) for x in scores], seed=0)
            print(f"{way:<36} {mean:.4f}  {mean - sum(before) / len(before):+.4f}  p {p:.3f}")


if __name__ == "__main__":
    main()
