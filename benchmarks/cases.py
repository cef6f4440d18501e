"""Questions that bring a case of their own, which a rule of the documents decides: an amount, an age, a day, a time that no passage has.

    PYTHONPATH=. python benchmarks/cases.py HOMES_FOLDER [--only NAME…] [--show]

cases.jsonl.gz has ten such questions about each collection of office.jsonl.gz, seven that a rule decides and three that none does, and of each of
the seven a true and a false answer as a language model would write it. Two language models wrote them, one in English and one in Korean, who saw
the documents and neither kb's code nor its answers. Prints how many are answered with quotes, how many answers end with ✓, with ≈, doubted,
or refused before a model was asked. HOMES_FOLDER keeps a home of each collection.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

from office import COLLECTIONS, end_of, write_documents

import kb

CASES = Path(__file__).with_name("cases.jsonl.gz")
ENDS = ("✓", "≈", "⚠", "doubted", "not asked")


def main() -> None:
    """Print the shares of each language, the collections that nobody has read apart."""
    arguments = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    arguments.add_argument("homes", type=Path)
    arguments.add_argument(
        "--only", nargs="+", metavar="NAME", help="only these collections, or all of a language: en, ko"
    )
    arguments.add_argument(
        "--show", action="store_true", help="each question that ends otherwise than it should, each answer"
    )
    chosen = arguments.parse_args()
    rows = read_lines(CASES)
    quoted: Counter[tuple[str, bool, bool]] = Counter()
    ends: dict[tuple[str, bool], Counter[str]] = defaultdict(Counter)
    for collection in read_lines(COLLECTIONS):
        name = collection["name"]
        if chosen.only and not {name, name[-2:]} & set(chosen.only):
            continue
        home = home_of(collection, chosen.homes)
        own = [row for row in rows if row["collection"] == name]
        os.environ["KB_LLM__PROVIDER"] = "extractive"
        with kb.open(home) as base:
            for row in own:
                is_given = base.ask(row["q"]).grounded
                quoted[name[-2:], row["answered"], is_given] += 1
                if chosen.show and is_given != row["answered"]:
                    print(f"    {'answered' if is_given else 'not answered'}: {name}: {row['q']}", flush=True)
        for row in own:
            for is_true in (True, False) if row["answered"] else ():
                text = row["true" if is_true else "false"]
                end = end_of({"q": row["q"], "a": text}, home)
                ends[name[-2:], is_true][end] += 1
                if chosen.show:
                    print(f"    {is_true!s:5} {end:9} {name}: {row['q']} | {text}", flush=True)
        print(f"{name} is done", flush=True)
    for language in ("en", "ko"):
        for answered in (True, False):
            given, held = quoted[language, answered, True], quoted[language, answered, False]
            if given + held:
                print(
                    f"{language} {'a rule decides' if answered else 'no rule does':15s} answered {given} of {given + held}"
                )
        for is_true in (True, False):
            if counts := ends[language, is_true]:
                told = "  ".join(f"{end} {counts[end]}" for end in ENDS)
                print(f"{language} {'true' if is_true else 'false':5s} answers {told}  of {counts.total()}")


def read_lines(path: Path) -> list[dict[str, Any]]:
    """The JSON of each line of a compressed file."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def home_of(collection: dict[str, Any], homes: Path) -> Path:
    """The home of a collection, made where it is not there yet."""
    folder = homes / collection["name"].replace(", ", "_")
    if not (folder / "home").exists():
        write_documents(collection, folder / "documents")
        with kb.open(folder / "home") as base:
            base.ingest(folder / "documents")
    return folder / "home"


if __name__ == "__main__":
    main()
