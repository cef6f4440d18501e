"""The questions and small files that were written to train and to measure: complete, of all kinds, answers where they are said to be."""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
TRAINING = ROOT / "training"
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


def test_manuals_have_questions_and_ratings_and_no_text_of_others() -> None:
    with gzip.open(ROOT / "benchmarks" / "manuals.jsonl.gz", "rt", encoding="utf-8") as file:
        manuals = [json.loads(line) for line in file]
    assert Counter(manual["language"] for manual in manuals) == {"en": 20, "ko": 4}
    assert {frozenset(manual) for manual in manuals} == {
        frozenset(("manual", "language", "repository", "commit", "folders", "asked"))
    }
    assert all(re.fullmatch("[0-9a-f]{40}", manual["commit"]) and manual["folders"] for manual in manuals)
    for manual in manuals:
        assert len({asked["question"] for asked in manual["asked"]}) == 60, manual["manual"]
        for asked in manual["asked"]:
            assert set(asked) == {"question", "kind", "rated"}
            assert all(re.fullmatch("[0-9a-f]{16}", digest) for digest in asked["rated"])
            assert set(asked["rated"].values()) <= {0, 1, 2, 3}


def small_files(folder: str) -> list[dict[str, Any]]:
    with gzip.open(ROOT / folder / "small_files.jsonl.gz", "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


# Of each kind of question, how many are asked of each file: 4 more were written to train on.
MEASURED = {"plain": 2, "own words": 1, "near": 1, "swapped": 2}
TRAINED = MEASURED | {"own words": 4, "near": 2}


@pytest.mark.parametrize(("folder", "asked"), [("training", TRAINED), ("benchmarks", MEASURED)])
def test_every_answer_stands_in_its_small_file(folder: str, asked: dict[str, int]) -> None:
    files = small_files(folder)
    assert {file["lang"] for file in files} == {"en", "ko"}
    assert len({file["id"] for file in files}) == len(files)
    for file in files:
        kinds = Counter(row["kind"] for row in file["questions"])
        assert kinds == asked, file["id"]
        for row in file["questions"]:
            assert row["q"].strip()
            assert (row["a"] in file["content"]) if row["kind"] in ANSWERED else row["a"] is None


def test_no_small_file_that_is_measured_is_trained_on() -> None:
    trained, measured = small_files("training"), small_files("benchmarks")
    for part in ("id", "file", "content"):
        assert not {file[part] for file in trained} & {file[part] for file in measured}


def test_every_answer_stands_in_its_paragraph() -> None:
    with gzip.open(TRAINING / "paragraphs.jsonl.gz", "rt", encoding="utf-8") as file:
        articles = [json.loads(line) for line in file]
    assert {article["lang"] for article in articles} == {"en", "ko"}
    assert len({article["id"] for article in articles}) == len(articles)
    for article in articles:
        for row in article["questions"]:
            assert (row["a"] in article["text"]) if row["kind"] in ANSWERED else row["a"] is None
        if article["lang"] == "en":
            # The question itself is ClapNQ's, and not kept here.
            assert article["answers"] in article["text"]
            assert [row["kind"] for row in article["questions"]] == ["swapped"]
            assert len({article["text"], *article["others"]}) == 3
        else:
            assert {row["kind"] for row in article["questions"]} == ANSWERED | NOT_ANSWERED
