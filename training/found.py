"""Written questions → what `kb search` finds for them in the manual that they are about, as a reader is given it.

    python training/found.py ROWS.jsonl.gz FOUND.jsonl.gz HOME [HOME …]

ROWS are questions joined to their passages by training/written.py, HOMES those that it took the passages from. A row of FOUND is a question that its
passage answers, the passage, and [whether it answers, stretch] of each of the FIRST passages found, best first. A passage answers where it is the question's own,
or holds the words of its answer. Others may answer, too: nobody has read them.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from written import bare

import kb
from kb.search.rerank import stretch_of
from kb.text import analyze_query

FIRST = 20


def rows_of(home: Path, asked: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """One row a question whose passage the home has."""
    with sqlite3.connect(f"file:{home / 'kb.sqlite'}?mode=ro", uri=True) as store:
        own = {bare(text) for (text,) in store.execute("SELECT text FROM chunks")}
    with kb.open(home=home) as base:
        corpus = base.runtime().corpus
        for row in asked:
            if row["passage"] not in own or not row["answers"]:
                continue
            terms = frozenset(analyze_query(row["question"]))
            numbers = [hit.chunk_id for hit in base.search(row["question"], k=FIRST).hits]
            chunks = corpus.fetch_chunks(numbers)
            texts = [(bare(chunks[n].text), bare(stretch_of(chunks[n], terms))) for n in numbers]
            answers = [text for _, text in row["answers"]]
            found = [
                [text == row["passage"] or any(answer in text for answer in answers), stretch]
                for text, stretch in texts
            ]
            yield {"lang": row["lang"], "question": row["question"], "passage": row["passage"], "found": found}


def main() -> None:
    """Search, write, count."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", type=Path)
    parser.add_argument("found", type=Path)
    parser.add_argument("homes", type=Path, nargs="+")
    chosen = parser.parse_args()
    with gzip.open(chosen.rows, "rt", encoding="utf-8") as lines:
        asked = [json.loads(line) for line in lines]
    made = 0
    with gzip.open(chosen.found, "wt", encoding="utf-8") as out:
        for home in chosen.homes:
            for row in rows_of(home, asked):
                out.write(json.dumps(row, ensure_ascii=False) + "\n")
                made += 1
    print(f"{made} questions")


if __name__ == "__main__":
    main()
