"""Korean questions asked of Korean documents that no weight was fitted on: what does ask answer, and what does it refuse?

    python benchmarks/korean_gate.py HOMES_FOLDER

HOMES_FOLDER is that of answers.py: its home "ko" has FastAPI's Korean pages. Asked are the hundred questions of
korean_questions.yaml, those of answers_questions.yaml and of gate_korean.yaml about these pages. Prints, for each set and
kind, how many questions each outcome has; asks a copy of the home, since answers are stored.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from gate_sets import ANSWERABLE

import kb

HERE = Path(__file__).resolve().parent
OUTCOMES = ("answered", "not_sure", "not_in_documents")


def asked() -> Iterator[tuple[str, str]]:
    """(set and kind, question)."""
    for question in _load("korean_questions.yaml")["questions"]:
        yield f"as people ask: {ANSWERABLE}", question
    for entry in _load("answers_questions.yaml")["ko"]:
        yield f"natural: {ANSWERABLE if entry.get('gold') else 'not in the documents'}", entry["q"]
    for entry in _load("gate_korean.yaml"):
        if entry["home"] == "fastapi-ko":
            yield f"written for kb: {entry['kind']}", entry["question"]


def _load(name: str) -> Any:
    return yaml.safe_load((HERE / name).read_text(encoding="utf-8"))


def main() -> None:
    """Ask, count, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("homes", type=Path)
    chosen = parser.parse_args()
    counts: dict[str, Counter[str]] = {}
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(chosen.homes / "ko", Path(folder) / "ko")
        with kb.open(home=Path(folder) / "ko") as base:
            for name, question in asked():
                counts.setdefault(name, Counter())[base.ask(question).outcome] += 1
    print(f"{'':34}" + "".join(f"{outcome:>18}" for outcome in OUTCOMES))
    for name, found in counts.items():
        print(f"{name:34}" + "".join(f"{found[outcome]:>18}" for outcome in OUTCOMES))


if __name__ == "__main__":
    main()
