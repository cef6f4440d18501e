"""What a second reader need not read: how sure the evidence gate is after one chunk and one window, and after three of each.

    python benchmarks/settled.py HOMES_FOLDER [--every N]

HOMES_FOLDER is that of answers.py, whose questions these are. For bounds of `kb.ask.weigh.SETTLED`: how many of the answerable and the
unanswerable English questions are settled by then, CPU seconds that reading the rest would have taken, and how much higher the
gate's probability of them is when all is read.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from answers import FOLDERS, QUESTIONS, RECORDS, natural_questions

import kb
import kb.ask.weigh
from kb.runtime import Runtime

BOUNDS = (0.6, 0.8, 0.9, 0.95, 0.98)


@dataclass(frozen=True, slots=True)
class Read:
    """One ask: the probability after the first part and after both, CPU seconds of each."""

    is_answerable: bool
    probabilities: tuple[float, ...]
    seconds: tuple[float, ...]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("homes", type=Path)
    parser.add_argument("--every", type=int, default=1, metavar="N", help="ask every Nth question")
    options = parser.parse_args()
    kb.ask.weigh.SETTLED = 2.0  # never: all is read
    rows = [row for name in (*FOLDERS, *RECORDS) if name != "ko" for row in ask_all(options.homes, name, options.every)]
    report(rows)


def ask_all(homes: Path, name: str, every: int) -> list[Read]:
    """What was read again for each question about a collection; none for those that nothing was read for."""
    told: list[float] = []
    read: list[float] = []
    score_signals, read_texts = kb.ask.weigh.score_signals, Runtime.read

    def score(signals: Any, **options: Any) -> Any:
        found = score_signals(signals, **options)
        told.append(found.probability)
        return found

    def read_timed(self: Runtime, question: str, texts: Sequence[str], *, again: bool = False) -> Any:
        began = time.process_time()
        logits = read_texts(self, question, texts, again=again)
        if again:
            read.append(time.process_time() - began)
        return logits

    kb.ask.weigh.score_signals, Runtime.read = score, read_timed  # type: ignore[assignment, method-assign]
    rows: list[Read] = []
    try:
        with kb.open(homes / name) as base:
            questions = [asked for kind in QUESTIONS for asked in natural_questions(kind, name)][::every]
            base.ask(questions[0].question)  # opens what is opened once
            for asked in questions[1:]:
                told.clear()
                read.clear()
                base.ask(asked.question)
                if len(told) > 2 and len(read) > 1:
                    rows.append(Read(asked.gold is not None, tuple(told[:2]), tuple(read[:2])))
    finally:
        kb.ask.weigh.score_signals, Runtime.read = score_signals, read_texts  # type: ignore[method-assign]
    return rows


def report(rows: Sequence[Read]) -> None:
    """A line for each bound."""
    for is_answerable in (True, False):
        mine = [row for row in rows if row.is_answerable == is_answerable]
        whole = sum(sum(row.seconds) for row in mine) / len(mine)
        print(
            f"{'with' if is_answerable else 'without'} an answer: {len(mine)} questions, {whole:.2f} s of CPU where all is read"
        )
        for bound in BOUNDS:
            settled = [row for row in mine if row.probabilities[0] >= bound]
            spared = sum(row.seconds[1] for row in settled) / len(mine)
            rise = max((row.probabilities[1] - row.probabilities[0] for row in settled), default=0.0)
            mean = sum(row.probabilities[1] - row.probabilities[0] for row in settled) / max(1, len(settled))
            print(
                f"  {bound:.2f}: {len(settled)} settled, {whole - spared:.2f} s; of these all would raise the probability by {mean:.3f}, {rise:.3f} at most"
            )


if __name__ == "__main__":
    main()
