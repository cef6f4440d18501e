"""How well readers tell questions that a passage answers from those that only look so.

    python training/compare.py ROWS.jsonl.gz READER [READER …]

ROWS are questions joined to their passages by training/written.py. Prints, for each language that a reader knows, the AUC of
what answers against each kind that does not: `near` and `swapped` are the questions that look answered, under "written".
"""

from __future__ import annotations

import argparse
import os
from collections import defaultdict
from pathlib import Path

import examples
from examples import Example, make_written, written_of
from sklearn.metrics import roc_auc_score

from kb.config import cache_folder
from kb.reader.protocol import Reader
from kb.reader.registry import open_reader


def scored(reader: Reader, made: list[Example]) -> dict[tuple[str, str], list[float]]:
    """(language, kind) → logits; the kind of what answers is ""."""
    asked = defaultdict(list)
    for example in made:
        asked[example.question].append(example)
    found = defaultdict(list)
    for question, mine in asked.items():
        if reader.can_read(question):
            for example, logit in zip(mine, reader.score(question, [e.text for e in mine]), strict=True):
                found[example.language, "" if example.answers else example.kind].append(logit)
    return found


def main() -> None:
    """Read the rows, score, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", type=Path)
    parser.add_argument("readers", nargs="+")
    chosen = parser.parse_args()
    examples.HELD_OUT = 1  # all of them
    made = make_written(written_of(chosen.rows, held_out=True))
    for name in chosen.readers:
        found = scored(open_reader(name, cache_folder(os.environ)), made)
        for language in sorted({language for language, _ in found}):
            good = found[language, ""]
            for (_, kind), bad in sorted((key, value) for key, value in found.items() if key[0] == language and key[1]):
                if min(len(good), len(bad)) < 20:
                    continue
                area = roc_auc_score([1] * len(good) + [0] * len(bad), good + bad)
                print(f"{name} {language} {kind}: {area:.3f} ({len(good)} and {len(bad)})")


if __name__ == "__main__":
    main()
