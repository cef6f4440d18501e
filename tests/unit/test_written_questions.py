"""The questions that were written to train the reader: complete, of both kinds, and without the texts they are about."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path

import pytest

TRAINING = Path(__file__).parents[2] / "training"
ANSWERED, NOT_ANSWERED = {"plain", "own words"}, {"near", "swapped"}


@pytest.mark.parametrize("name", ["written_questions", "held_out_questions"])
def test_every_question_says_whether_and_where_its_passage_answers(name: str) -> None:
    with gzip.open(TRAINING / f"{name}.jsonl.gz", "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    assert {frozenset(row) for row in rows} == {
        frozenset(("lang", "source", "heading", "passage", "kind", "question", "answers"))
    }
    assert {row["kind"] for row in rows if row["answers"]} == ANSWERED
    assert {row["kind"] for row in rows if not row["answers"]} == NOT_ANSWERED
    assert all(start >= 0 and length > 0 for row in rows for start, length in row["answers"])
    assert all(len(row["passage"]) == 16 and row["question"].strip() for row in rows)
    assert max(Counter((row["passage"], row["question"]) for row in rows).values()) == 1
