"""Answers about documents that a person or a small organisation has, lease, minutes, price list, manual, through the whole of kb.

    PYTHONPATH=. python benchmarks/office.py [--only NAME…] [--show]

office.jsonl.gz has fourteen collections of ten to thirteen documents each, English and Korean, with 20 to 30 questions about each, seven to ten
of which they do not answer, and 40 to 80 answers as a language model would write them, half of them false in one way or another. Language
models wrote all of it, each collection by one that had seen neither kb's code nor any answer of kb's. Rules of kb/support were mended on
those that are called first to fifth, after their first run; on the sixth and the seventh nothing was, and nobody has read their answers. benchmarks/README.md
has what the first runs printed.

Each answer goes through a server with Ollama's protocol, the passages through kb's own search. Prints how many false and how many true answers
end with ✓, with ≈, doubted, or refused before a model was asked; and how many questions are answered with quotes (exit code 0).
"""

from __future__ import annotations

import argparse
import base64
import gzip
import json
import os
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import kb
from kb.ask.records import Answer
from kb.ask.story import sign_of

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.llm.recorded_server import MODEL, RecordedServer, answer

COLLECTIONS = Path(__file__).with_name("office.jsonl.gz")
NOT_ASKED = ("no_chunks", "score_gate", "weak_evidence")


def main() -> None:
    """Print the shares."""
    arguments = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    arguments.add_argument("--only", nargs="+", metavar="NAME", help="only these collections, as they are printed")
    arguments.add_argument(
        "--show", action="store_true", help="each false answer that stands, each true one that does not"
    )
    chosen = arguments.parse_args()
    with gzip.open(COLLECTIONS, "rt", encoding="utf-8") as lines:
        collections = [json.loads(line) for line in lines]
    for collection in collections:
        if not chosen.only or collection["name"] in chosen.only:
            with tempfile.TemporaryDirectory() as folder:
                report(collection, Path(folder), show=chosen.show)


def report(collection: dict[str, Any], folder: Path, *, show: bool) -> None:
    """The lines of one collection."""
    documents = folder / "documents"
    write_documents(collection, documents)
    os.environ["KB_LLM__PROVIDER"] = "extractive"
    with kb.open(folder / "home") as base:
        base.ingest(documents)
        quoted = [(q["answered"], base.ask(q["q"]).grounded) for q in collection["questions"]]
    for is_answered, name in ((True, "with an answer"), (False, "without one")):
        told = [stands for answered, stands in quoted if answered is is_answered]
        print(f"{collection['name']:12s} questions {name:15s} answered {sum(told)} of {len(told)}", flush=True)
    ends: dict[bool, Counter[str]] = {True: Counter(), False: Counter()}
    for row in collection["answers"]:
        end = end_of(row, folder / "home")
        ends[row["true"]][end] += 1
        if show and (end in ("doubted", "not asked") if row["true"] else end in ("✓", "≈", "⚠")):
            print(f"    {row['true']!s:5} {end:9} {row['kind']}: {row['q']} | {row['a']}", flush=True)
    for is_true, counts in ends.items():
        told = "  ".join(f"{end} {counts[end]}" for end in ("✓", "≈", "⚠", "doubted", "not asked"))
        print(
            f"{collection['name']:12s} {'true' if is_true else 'false':5s} answers {told}  of {counts.total()}",
            flush=True,
        )


def write_documents(collection: dict[str, Any], documents: Path) -> None:
    """The documents of a collection as files of a new folder."""
    documents.mkdir(parents=True)
    for document in collection["documents"]:
        raw = document["text"].encode() if "text" in document else base64.b64decode(document["base64"])
        (documents / document["name"]).write_bytes(raw)


def end_of(row: dict[str, Any], home: Path) -> str:
    """How an answer ends: its sign, doubted, or not asked where the question was refused before."""
    with RecordedServer(chat=[answer(row["a"])]) as server:
        os.environ.update(KB_LLM__PROVIDER="ollama", KB_LLM__ENDPOINT=server.url, KB_LLM__MODEL=MODEL)
        with kb.open(home) as base:
            given: Answer = base.ask(row["q"])
    if given.grounded:
        return sign_of(given.verification.status if given.verification else None)
    return "not asked" if given.refusal_reason in NOT_ASKED else "doubted"


if __name__ == "__main__":
    main()
