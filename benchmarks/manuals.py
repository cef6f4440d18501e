"""First quotes of `ask` on twenty-four manuals that no rule of kb was made with, beside what a rater said of each.

    python benchmarks/manuals.py PAGES_FOLDER HOMES_FOLDER [--only uv,svelte] [--write FILE]

manuals.jsonl.gz has sixty questions a manual, asked without the manual in view, as a language model thought that users would, and how good an answer
each quote is that kb found for them: 3 right and readable, 2 flawed, 1 about it, 0 none. A quote is known by its digest: the texts are
others'. PAGES_FOLDER holds a folder of pages by the name of each manual, out of the repository, commit and folders that the file names. A quote that
kb did not show when these were rated is unrated. kb-reader has learnt from other questions about pages of seven of them (README.md). A question is answerable where one of its quotes is rated 2 or 3.
--write keeps what is unrated, for a rater.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from answers import ask, digest_of

import kb

MANUALS = Path(__file__).with_name("manuals.jsonl.gz")
ANSWERS = 2  # a quote rated so or better holds the answer
UNRATED = "?"


def manuals(only: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Those named, or all."""
    with gzip.open(MANUALS, "rt", encoding="utf-8") as lines:
        for line in lines:
            manual = json.loads(line)
            if not only or manual["manual"] in only:
                yield manual


def ask_all(base: kb.KnowledgeBase, manual: dict[str, Any], unrated: list[str]) -> tuple[Counter[str], Counter[str]]:
    """What became of answerable questions (the first quote's rating, "not sure", "refused") and of the others."""
    good: Counter[str] = Counter()
    none: Counter[str] = Counter()
    for asked in manual["asked"]:
        reply = ask(base, asked["question"])
        rated: dict[str, int] = asked["rated"]
        told = "refused" if reply.text is None else "answered" if reply.is_sure else "not sure"
        if max(rated.values(), default=0) < ANSWERS:
            none[told] += 1
            continue
        if told == "answered":
            told = str(rated.get(digest_of(reply.text or ""), UNRATED))
        if told == UNRATED:
            unrated.append(f"{manual['manual']}: {asked['question']}\n\n{reply.text}\n")
        good[told] += 1
    return good, none


def show(title: str, good: Counter[str], none: Counter[str]) -> None:
    """A line of shares."""
    of_good, of_none = max(1, good.total()), max(1, none.total())
    names = {"3": "right and readable", "2": "flawed", "1": "about it", "0": "wrong", UNRATED: "unrated"}
    told = [f"{names.get(key, key)} {good[key] / of_good:.2f}" for key in (*names, "not sure", "refused")]
    rest = [f"{key} {none[key] / of_none:.2f}" for key in ("answered", "not sure", "refused")]
    print(
        f"{title:24s} {good.total():4d}: {'  '.join(told)} | unanswerable {none.total():3d}: {'  '.join(rest)}",
        flush=True,
    )


def main() -> None:
    """Ingest, ask, count."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", type=Path)
    parser.add_argument("homes", type=Path)
    parser.add_argument("--only", default="", help="names of manuals, with commas")
    parser.add_argument("--write", type=Path, help="a file for the quotes that are unrated")
    chosen = parser.parse_args()
    unrated: list[str] = []
    totals: dict[str, tuple[Counter[str], Counter[str]]] = {}
    for manual in manuals([name for name in chosen.only.split(",") if name]):
        pages = chosen.pages / manual["manual"]
        if not pages.is_dir():
            print(
                f"{manual['manual']}: no {pages}: {manual['repository']} at {manual['commit'][:10]}, {', '.join(manual['folders'])}"
            )
            continue
        with kb.open(chosen.homes / manual["manual"]) as base:
            base.ingest(pages)
            good, none = ask_all(base, manual, unrated)
        show(manual["manual"], good, none)
        of_all = totals.setdefault(manual["language"], (Counter(), Counter()))
        of_all[0].update(good)
        of_all[1].update(none)
    for language, (good, none) in totals.items():
        show(f"all, {language}", good, none)
    if chosen.write:
        chosen.write.write_text("\n".join(unrated), encoding="utf-8")


if __name__ == "__main__":
    main()
