"""The questions about invented papers of households and offices → rows with their passages, as the reader is given them.

    python training/papers.py ROWS.jsonl.gz

`papers.jsonl.gz` beside this file has a passage a line, English or Korean, of house rules, minutes, price lists, leaflets, mails …: its
file, title and heading, the text, eight claims in pairs, a true one beside a false one as like it as can be (training/written_answers.py
reads these), and with 440 of the 920 eight questions, of which it answers four. Language models wrote them for kb, the questions by
another one than the passages; none saw kb. Passages with "held" are not learnt from. As for the small files, rows of tables are spelled out.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from small_files import Passage

PAPERS = Path(__file__).with_name("papers.jsonl.gz")


def read_papers() -> Iterator[dict[str, Any]]:
    """A passage each."""
    with gzip.open(PAPERS, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def rows_of(paper: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """In the form of training/written.py; a question whose answer is no longer found as one stretch is left out."""
    passage = Passage.of(paper["title"], [paper["heading"]] if paper["heading"] else [], paper["text"])
    for question in paper["questions"]:
        found = passage.find(question["a"]) if question["a"] is not None else None
        if found or question["a"] is None:
            yield {
                "lang": paper["lang"],
                "source": "papers",
                "heading": passage.heading,
                "passage": passage.spelled,
                "question": question["q"],
                "kind": question["kind"],
                "answers": [[found[0], found[1]]] if found else [],
            }


def main() -> None:
    """Write, count."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", type=Path)
    parser.add_argument("--held", action="store_true", help="those that are not learnt from")
    chosen = parser.parse_args()
    kept = 0
    with gzip.open(chosen.rows, "wt", encoding="utf-8") as out:
        for paper in read_papers():
            if paper["held"] is chosen.held:
                for row in rows_of(paper):
                    kept += 1
                    out.write(json.dumps(row, ensure_ascii=False) + "\n")
    print(f"{kept} questions")


if __name__ == "__main__":
    main()
