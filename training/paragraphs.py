"""Encyclopaedic paragraphs written for training, and the questions about them → rows, as training/written.py makes them.

    python training/paragraphs.py ROWS.jsonl.gz [--clapnq FOLDER]

`paragraphs.jsonl.gz` beside this file has an article a line; a language model wrote the paragraphs for kb. Of a Korean one, one paragraph and six
questions. Of an English one, the number of a question that people typed (ClapNQ's training part, which kb does not hold), a paragraph that answers it,
two of the same article that do not, and the question about another thing. FOLDER is a checkout of primeqa/clapnq; without it
English articles are left out and counted.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

ARTICLES = Path(__file__).with_name("paragraphs.jsonl.gz")
QUESTIONS = ("retrieval/train/question_train_answerable.tsv", "retrieval/train/question_train_unanswerable.tsv")


def read_questions(folder: Path) -> dict[str, str]:
    """Number → question, as people typed it."""
    rows = (line.split("\t") for name in QUESTIONS for line in (folder / name).read_text(encoding="utf-8").split("\n"))
    return {row[0]: row[1] for row in rows if len(row) > 1}


def rows_of(article: Mapping[str, Any], typed: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """One row a question and paragraph; all rows of an article are one group. None where its question is not there."""
    number = article.get("clapnq")
    asked = [q | {"passage": article["text"]} for q in article["questions"]]
    if number is not None:
        if number not in typed:
            return
        asked.append({"kind": "own words", "q": typed[number], "a": article["answers"], "passage": article["text"]})
        asked += [{"kind": "near", "q": typed[number], "a": None, "passage": text} for text in article["others"]]
    for one in asked:
        passage = one["passage"]
        yield {
            "lang": article["lang"],
            "source": f"{article['lang']}-paragraphs",
            "group": article["id"],
            "heading": article["title"],
            "passage": passage,
            "kind": one["kind"],
            "question": one["q"],
            "answers": [[passage.index(one["a"]), one["a"]]] if one["a"] else [],
        }


def main() -> None:
    """Join, write, count."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", type=Path)
    parser.add_argument("--clapnq", type=Path)
    chosen = parser.parse_args()
    typed = read_questions(chosen.clapnq) if chosen.clapnq else {}
    with gzip.open(ARTICLES, "rt", encoding="utf-8") as lines:
        articles = [json.loads(line) for line in lines]
    made = [list(rows_of(article, typed)) for article in articles]
    with gzip.open(chosen.rows, "wt", encoding="utf-8") as out:
        out.writelines(json.dumps(row, ensure_ascii=False) + "\n" for rows in made for row in rows)
    print(f"{sum(map(len, made))} rows of {sum(map(bool, made))} articles, {sum(not rows for rows in made)} left out")


if __name__ == "__main__":
    main()
