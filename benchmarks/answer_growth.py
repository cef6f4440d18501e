"""What an answer costs in the store: bytes of kb.sqlite per answer, by table, over real answers.

    python benchmarks/answer_growth.py --home HOME [--questions benchmarks/answers_questions.yaml] [--collection rust]

The home is copied; every question is asked of the copy once, with the extractive model. The file is measured before and
after without its free pages, so that half-filled pages count. The bar is 6,000 bytes.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import yaml

import kb
from kb.records import SearchMode
from kb.store.schema import FILE_NAME

BAR_BYTES = 6_000


def used_bytes(home: Path) -> int:
    """The pages of the store that are in use, in bytes."""
    with closing(sqlite3.connect(home / FILE_NAME)) as store:
        page, count, free = (
            store.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_size", "page_count", "freelist_count")
        )
    return int(page * (count - free))


def bytes_by_table(home: Path) -> dict[str, int]:
    """Pages of each table and index, in bytes; empty where SQLite was built without dbstat."""
    with closing(sqlite3.connect(home / FILE_NAME)) as store:
        try:
            return dict(store.execute("SELECT name, pgsize FROM dbstat WHERE aggregate = TRUE"))
        except sqlite3.OperationalError:
            return {}


def row_bytes(home: Path) -> int:
    """Bytes of all rows, without the empty part of pages; 0 where SQLite was built without dbstat."""
    with closing(sqlite3.connect(home / FILE_NAME)) as store:
        try:
            return int(store.execute("SELECT sum(payload) FROM dbstat").fetchone()[0])
        except sqlite3.OperationalError:
            return 0


@dataclass(frozen=True, slots=True)
class Growth:
    """What some answers cost, in bytes.

    mean    of each, with the empty part of pages; by_table is what each table and index has of it
    single  the rows of each answer, smallest first
    """

    mean: float
    by_table: Mapping[str, float]
    single: Sequence[int]


def growth(home: Path, questions: Sequence[str], mode: SearchMode | None = None) -> Growth:
    """What it costs to ask these questions once each; the home is left with the answers."""
    before, tables = used_bytes(home), bytes_by_table(home)
    rows = [row_bytes(home)]
    with kb.open(home) as base:
        for question in questions:
            base.ask(question, mode=mode)
            rows.append(row_bytes(home))
    asked = len(questions)
    each = {name: (size - tables.get(name, 0)) / asked for name, size in bytes_by_table(home).items()}
    return Growth(
        mean=(used_bytes(home) - before) / asked,
        by_table={name: size for name, size in each.items() if size},
        single=sorted(after - earlier for earlier, after in pairwise(rows)),
    )


def main() -> None:
    """Print a line a table, and the sum."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--questions", type=Path, default=Path(__file__).with_name("answers_questions.yaml"))
    parser.add_argument("--collection", default="rust")
    given = parser.parse_args()
    os.environ["KB_LLM__PROVIDER"] = "extractive"
    questions = [one["q"] for one in yaml.safe_load(given.questions.read_text(encoding="utf-8"))[given.collection]]
    with TemporaryDirectory() as folder:
        home = Path(folder, "home")
        shutil.copytree(given.home, home)
        grown = growth(home, questions)
    for name, size in sorted(grown.by_table.items(), key=lambda row: -row[1]):
        print(f"{name:<34} {size:9,.0f}")
    tenth = grown.single[int(0.9 * len(questions))]
    print(
        f"{len(questions)} answers, bytes for each: {grown.mean:,.0f}, rows of nine in ten below {tenth:,}, bar {BAR_BYTES:,}"
    )


if __name__ == "__main__":
    main()
