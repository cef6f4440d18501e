"""Small files written for training, and the questions about them → rows with their passages, as the reader is given them.

    python training/small_files.py ROWS.jsonl.gz

`small_files.jsonl.gz` beside this file has an invented file a line, English or Korean: a table, notes, a list, a log, with six questions as
docs/reader.md describes them; a language model wrote both for kb. The files are ingested by words into a throw-away home.
Each passage is written with the rows of its tables spelled out (kb.language.tables), and with the answers in that form. A
question that its file does not answer goes to the passage that shares most of its words.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import kb
from kb.language.tables import Table, find_tables, spell_out
from kb.text import analyze, analyze_query

FILES = Path(__file__).with_name("small_files.jsonl.gz")


@dataclass(frozen=True, slots=True)
class Passage:
    """One chunk of a file.

    heading  what the reader is given before it: the last heading, or the file's title where that names columns
    spelled  the text with its tables' rows spelled out
    """

    heading: str
    text: str
    tables: tuple[Table, ...]
    spelled: str

    @classmethod
    def of(cls, title: str, headings: Sequence[str], text: str) -> Passage:
        """A chunk as the store has it."""
        heading = headings[-1] if headings else title
        tables = tuple(find_tables(text, heading))
        is_file = any(table.is_file for table in tables)
        return cls(title if is_file else heading, text, tables, spell_out(text, tables))

    def find(self, answer: str) -> tuple[int, str] | None:
        """Where an answer stands in the spelled text, and how: a row of a table is the whole row; None where it does not."""
        at = self.text.find(answer)
        if at < 0:
            return None
        rows = (row for table in self.tables for row in table.rows if row.start < at + len(answer) and at < row.end)
        row = next(rows, None)
        told = row.spelled() if row else answer
        return (self.spelled.index(told), told) if told in self.spelled else None


def read_passages(files: Sequence[dict[str, Any]], folder: Path) -> dict[str, list[Passage]]:
    """Every file's passages, by its id."""
    for file in files:
        place = folder / "files" / file["id"] / file["file"]
        place.parent.mkdir(parents=True)
        place.write_text(file["content"], encoding="utf-8")
    with kb.open(home=folder / "home") as base:
        base.ingest(folder / "files", words_only=True)
    found: dict[str, list[Passage]] = {}
    with sqlite3.connect(f"file:{folder / 'home' / 'kb.sqlite'}?mode=ro", uri=True) as store:
        chunks = store.execute(
            "SELECT path, title, heading_path, text FROM chunks JOIN documents USING (doc_id) ORDER BY chunk_id"
        )
        for path, title, headings, text in chunks:
            found.setdefault(path.split("/")[0], []).append(Passage.of(title, json.loads(headings), text))
    return found


def rows_of(file: dict[str, Any], passages: Sequence[Passage]) -> Iterator[dict[str, Any]]:
    """One row a question; none for an answer that two passages share."""
    for asked in file["questions"]:
        answers: list[tuple[int, str]] = []
        if asked["a"]:
            at = next((p for p in passages if p.find(asked["a"].strip())), None)
            if at is None:
                continue
            answers = [found for found in [at.find(asked["a"].strip())] if found]
        else:
            terms = frozenset(analyze_query(asked["q"]))
            at = max(passages, key=lambda p: len(terms.intersection(analyze(p.spelled))))
        yield {
            "lang": file["lang"],
            "source": f"{file['lang']}-small-files",
            "heading": at.heading,
            "passage": at.spelled,
            "kind": asked["kind"],
            "question": asked["q"],
            "answers": answers,
        }


def main() -> None:
    """Ingest, join, write, count."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", type=Path)
    chosen = parser.parse_args()
    with gzip.open(FILES, "rt", encoding="utf-8") as lines:
        files = [json.loads(line) for line in lines]
    with tempfile.TemporaryDirectory() as folder:
        passages = read_passages(files, Path(folder))
    rows = [row for file in files for row in rows_of(file, passages[file["id"]])]
    with gzip.open(chosen.rows, "wt", encoding="utf-8") as out:
        out.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    print(f"{len(rows)} questions about {len(files)} files")


if __name__ == "__main__":
    main()
