"""Question–passage rows of people → what a reader may be trained on, and what the gate and the reader are measured on.

SQuAD asks hundreds of questions of one article, so it is cut between articles: of a third of them nothing is trained on.
Everywhere else a passage is an article of its own, and a passage that is measured on is trained on with no question.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

Row = Mapping[str, Any]
SQUAD = ("squad-dev", "squad2-dev")
# One article of so many is kept for measuring.
HELD_OUT = 3


@cache
def load_rows(data: Path) -> tuple[Row, ...]:
    """Every row, in the file's order."""
    with gzip.open(data / "reader" / "reader.jsonl.gz", "rt", encoding="utf-8") as file:
        return tuple(json.loads(line) for line in file)


@cache
def held_out_squad(data: Path) -> frozenset[str]:
    """The passages of SQuAD's articles that are kept for measuring.

    Rows do not name their article. Its passages hang together, since a question is paired with two of them.
    """
    rows = [row for row in load_rows(data) if row["source"] in SQUAD]
    first: dict[str, str] = {}
    for group in _of_one_question(rows):
        roots = sorted({_root(first, passage) for passage in group})
        first |= dict.fromkeys(roots, roots[0])
    passages = {row["passage"] for row in rows}
    return frozenset(p for p in passages if int(digest(_root(first, p)), 16) % HELD_OUT == 0)


def digest(text: str) -> str:
    """Its sha256: a choice by it does not depend on the order of a file."""
    return sha256(text.encode()).hexdigest()


def _of_one_question(rows: Sequence[Row]) -> Iterator[list[str]]:
    asked: dict[str, list[str]] = {}
    for row in rows:
        asked.setdefault(row["qid"], []).append(row["passage"])
    yield from asked.values()


def _root(first: dict[str, str], passage: str) -> str:
    while first.setdefault(passage, passage) != passage:
        passage = first[passage]
    return passage
