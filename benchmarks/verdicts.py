"""The verdict on answers that a language model wrote about passages of manuals: true ones doubted, false ones with a tick.

    PYTHONPATH=. python benchmarks/verdicts.py PAGES_FOLDER HOMES_FOLDER [--show] [--only en|ko]

verdicts.jsonl.gz has some six answers a passage: three that say what it says in other words, three with something in them that it does not
say, as fluent; the model saw the passage, and neither the check nor what it makes of them. lies.py makes its lies by script, of single
changes that its rules know; these are what people meet. The passages are chunks of the manuals of manuals.py (PAGES_FOLDER, HOMES_FOLDER
as there), known by a digest: the texts are others'. `held` were not looked at while rules were written. Prints shares with 95 % intervals.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import kb
from benchmarks.lies import passage_as_chunk, wilson
from kb.ask.verify import has_tick, verify

ANSWERS = Path(__file__).with_name("verdicts.jsonl.gz")


def answers() -> list[dict[str, Any]]:
    """manual, passage (a digest), lang, held, true, kind (what was done), answer."""
    with gzip.open(ANSWERS, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def passages(pages: Path, homes: Path, manuals: Sequence[str]) -> Iterator[tuple[str, tuple[str, str]]]:
    """(digest, (title, text)) of every chunk of the manuals that are there."""
    for manual in manuals:
        if not (pages / manual).is_dir():
            print(f"{manual}: no {pages / manual}")
            continue
        with kb.open(homes / manual) as base:
            base.ingest(pages / manual)
            ids = [row[0] for row in base.runtime().store._connection.execute("SELECT chunk_id FROM chunks")]
            for chunk in base.chunks(ids).values():
                yield digest_of(chunk.text), (chunk.title, chunk.text)


def digest_of(text: str) -> str:
    """Of a passage."""
    return sha256(text.encode()).hexdigest()[:16]


def main() -> None:
    """Verify every answer against its passage."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", type=Path)
    parser.add_argument("homes", type=Path)
    parser.add_argument("--only", default="", help="a language")
    parser.add_argument("--show", action="store_true", help="every answer that is not held but judged wrongly")
    chosen = parser.parse_args()
    rows = [row for row in answers() if row["lang"].startswith(chosen.only)]
    texts = dict(passages(chosen.pages, chosen.homes, sorted({row["manual"] for row in rows})))
    wrong: dict[tuple[str, str, bool], list[bool]] = defaultdict(list)
    for row in rows:
        if row["passage"] not in texts:
            continue
        title, text = texts[row["passage"]]
        checked = verify(row["answer"], {1: replace(passage_as_chunk(text), title=title)}, None)
        is_wrong = has_tick(checked.verification) != row["true"]
        wrong[row["lang"], "held" if row["held"] else "looked at", row["true"]].append(is_wrong)
        if chosen.show and is_wrong and not row["held"]:
            why = [(s.status, s.score, s.reasons) for s in checked.verification.sentences]
            print(f"{'doubted' if row['true'] else 'a tick'}: {row['kind']}\n  {row['answer']}\n  {why}")
    for (language, half, is_true), found in sorted(wrong.items()):
        low, high = wilson(sum(found), len(found))
        what = "true, doubted" if is_true else "false, with a tick"
        print(f"{language}, {half:9}, {what:18} {sum(found) / len(found):.3f} [{low:.3f}, {high:.3f}] of {len(found)}")


if __name__ == "__main__":
    main()
