"""The smallest things that can be measured: a suite over the fixture corpus, a BEIR folder, a folder of span questions, a run.

Written to a folder of the test's own, so that a test may break them.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from kb.eval.runs import save_run
from kb.store.store import Store
from tests.eval.sample_runs import make_run

SUITE_TEXT = """\
name: small
version: 1
queries:
  - id: cleaning
    query: "How often must the mirror of Marigold be cleaned?"
    lang: en
    relevant:
      - {path: guide/marigold-telescope.md, anchor: "The mirror must be cleaned every 14 days.", grade: 2}
    must_contain: {any: ["14 days", "14일"]}
  - id: cleaning-ko
    query: "마리골드 거울은 며칠마다 청소해야 하나요?"
    lang: ko
    relevant:
      - {path: ko/마리골드-망원경.md, anchor: "거울은 14일마다 청소해야 한다.", grade: 2}
    must_contain: {any: ["14 days", "14일"]}
  - id: checklist
    query: "daily checklist mirrors every second Thursday"
    lang: en
    relevant:
      - {path: ops/daily-checklist.md, anchor: "Mirrors: Marigold every second Thursday, Thistle every third"}
  - id: submarine
    query: "What is the top speed of the observatory's submarine?"
    lang: en
    answerable: false
"""
SUITE_QUERIES = 4

BEIR_DOCUMENTS = {
    "d1": ("Wing flutter", "The flutter of a swept wing at high speed is damped by mass balance."),
    "d2": ("Boundary layer", "A laminar boundary layer turns turbulent behind the shock."),
    "d3": ("Heat shields", "Ablation of a heat shield carries heat away from the capsule."),
    "d4": ("Baking", "Bread dough rises for an hour in a warm place."),
    "d5": ("", "Parachutes slow the capsule before it lands in the sea."),
}
BEIR_QUERIES = {"q1": "flutter of a swept wing", "q2": "heat shield ablation", "q3": "parachutes of the capsule"}
BEIR_QRELS = [("q1", "d1", 1), ("q2", "d3", 2), ("q3", "d5", 1), ("q3", "d3", 0), ("q3", "not-in-the-corpus", 1)]

SPAN_TEXT = (
    "The lantern of the east pier burns whale oil.\n\nThe keeper winds the clock of the tower every Sunday at noon.\n"
)


def write_suite(folder: Path, text: str = SUITE_TEXT) -> Path:
    """The file of a suite."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "small.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def write_beir(folder: Path) -> Path:
    """A BEIR folder: five documents, three queries; one judgement names a document that is not there."""
    (folder / "qrels").mkdir(parents=True, exist_ok=True)
    documents = [{"_id": i, "title": title, "text": text} for i, (title, text) in BEIR_DOCUMENTS.items()]
    write_json_lines(folder / "corpus.jsonl", documents)
    write_json_lines(folder / "queries.jsonl", [{"_id": i, "text": text} for i, text in BEIR_QUERIES.items()])
    rows = [("query-id", "corpus-id", "score"), *BEIR_QRELS]
    (folder / "qrels" / "test.tsv").write_text("".join("\t".join(map(str, row)) + "\n" for row in rows))
    return folder


def write_json_lines(path: Path, rows: Sequence[Any]) -> None:
    """One JSON value a line."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def write_spans(folder: Path) -> Path:
    """A folder of span questions: one text of one chunk, a question about a sentence and one about the whole."""
    (folder / "corpora").mkdir(parents=True, exist_ok=True)
    (folder / "corpora" / "pier.md").write_text(SPAN_TEXT, encoding="utf-8")
    sentence = SPAN_TEXT.index("The keeper")
    questions = [
        ("What does the pier have?", [(0, len(SPAN_TEXT.rstrip()))]),
        ("When does the keeper wind the clock?", [(sentence, len(SPAN_TEXT.rstrip()))]),
    ]
    with (folder / "questions_df.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["question", "references", "corpus_id"])
        for question, spans in questions:
            references = [{"content": SPAN_TEXT[a:b], "start_index": a, "end_index": b} for a, b in spans]
            writer.writerow([question, json.dumps(references), "pier"])
    return folder


def write_run(folder: Path) -> Path:
    """A run kept in a file."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "run.jsonl"
    save_run(path, make_run("hybrid", "search", queries=6))
    return path


def write_sessions(folder: Path) -> Path:
    """A conversation of two turns."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "sessions.yaml"
    path.write_text(
        "queries:\n"
        "  - {id: a-1, session: a, query: hello, answerable: false, expect_mode: ACKNOWLEDGE}\n"
        "  - {id: a-2, session: a, query: mirror, answerable: false}\n"
    )
    return path


def make_backup(folder: Path) -> Path:
    """An empty knowledge base and a backup of it: the backup."""
    copy = folder / "copy.sqlite"
    if not copy.exists():
        with Store(folder, write=True) as store:
            store.write_copy(copy)
    return copy


MEASURABLE: dict[str, Callable[[Path], Path]] = {
    "backup": make_backup,
    "suite": write_suite,
    "sessions": write_sessions,
    "beir": write_beir,
    "spans": write_spans,
    "run": write_run,
}
