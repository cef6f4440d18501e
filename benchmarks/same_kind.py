"""Questions about one of several documents of a kind, leases, minutes, manuals, that say only at their heads which one they are.

    PYTHONPATH=. python benchmarks/same_kind.py HOMES_FOLDER [--only NAME…] [--show]

same_kind.jsonl.gz has twelve collections of nine to twelve documents, six English and six Korean, each with 24 questions that name a document's
subject: 15 that one sentence of this document answers, 6 that others of its kind answer and it does not, and 3 about a subject that no document
has. Four language models wrote them, who saw neither kb's code nor its answers. Rules of kb/evidence/subjects.py were made on the first three
of each language; of the other three only totals were looked at. HOMES_FOLDER keeps a home of each collection.

Prints where the first quote stands and how the ask ended: of those with an answer, in the lines that answer, elsewhere in that document, or in another
one; of the others, how many were answered, and how many of these from another document than the one that is named.
"""

from __future__ import annotations

import argparse
import os
from collections import Counter
from pathlib import Path
from typing import Any

from cases import home_of, read_lines

import kb
from kb.ask.records import Answer
from kb.records import Citation

COLLECTIONS = Path(__file__).with_name("same_kind.jsonl.gz")
OUTCOMES = ("answered", "not_sure", "not_in_documents")
PLACES = ("right", "same document", "another document", "nothing")


def main() -> None:
    """Print a table for each language and half."""
    arguments = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    arguments.add_argument("homes", type=Path)
    arguments.add_argument(
        "--only", nargs="+", metavar="NAME", help="only these collections, or all of a language: en, ko"
    )
    arguments.add_argument("--show", action="store_true", help="each question, how it ended, and its first quote")
    chosen = arguments.parse_args()
    os.environ["KB_LLM__PROVIDER"] = "extractive"
    ends: dict[tuple[str, str, str], Counter[tuple[str, str]]] = {}
    for collection in read_lines(COLLECTIONS):
        name = collection["name"]
        if not chosen.only or name in chosen.only or collection["lang"] in chosen.only:
            with kb.open(home_of(collection, chosen.homes)) as base:
                for row in collection["questions"]:
                    answer = base.ask(row["q"])
                    place = place_of(answer, row, collection)
                    kind = "answered" if row["answered"] else row["kind"]
                    counts = ends.setdefault((collection["lang"], collection["half"], kind), Counter())
                    counts[answer.outcome, place] += 1
                    if chosen.show:
                        print(
                            f"{name} | {kind} | {answer.outcome}, {place} | {row['q']} | {answer.answer[:150]!r}",
                            flush=True,
                        )
    for (language, half, kind), counts in sorted(ends.items()):
        told = "; ".join(
            f"{outcome} {sum(counts[outcome, place] for place in PLACES)} ("
            + ", ".join(f"{place} {counts[outcome, place]}" for place in PLACES if counts[outcome, place])
            + ")"
            for outcome in OUTCOMES
        )
        print(f"{language} {half:9s} {kind:9s} of {counts.total():3d}: {told}")


def place_of(answer: Answer, row: dict[str, Any], collection: dict[str, Any]) -> str:
    """Where the first quote stands: "right" where it holds the line that answers, or stands in the document that is named where none does."""
    if not answer.citations:
        return "nothing"
    first = answer.citations[0].citation
    if first.path != row.get("doc"):
        return "another document"
    return "right" if row["answered"] and holds(first, row["says"], collection) else "same document"


def holds(place: Citation, says: str, collection: dict[str, Any]) -> bool:
    """Whether a place has the line that answers."""
    text = next(document["text"] for document in collection["documents"] if document["name"] == place.path)
    line = text[: text.find(says)].count("\n") + 1
    return (place.start_line or 0) <= line <= (place.end_line or 0)


if __name__ == "__main__":
    main()
