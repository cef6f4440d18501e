"""Rated quotes of benchmarks/manuals.jsonl.gz → what a reader is given of them, out of the manuals.

    python training/rated.py PAGES_FOLDER HOMES_FOLDER ROWS.jsonl.gz [--only uv,svelte]

PAGES_FOLDER holds the pages of each manual, as benchmarks/manuals.py has it. A row of ROWS is a question, the manual, and [rating, text] of each quote
of the packed passages that was rated, be it a paragraph or a section. Of the manuals in HELD_OUT nothing is learnt.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "benchmarks"))

from answers import digest_of  # noqa: E402
from manuals import manuals  # noqa: E402

import kb  # noqa: E402
from kb.llm import extractive  # noqa: E402
from kb.llm.extractive_blocks import find_blocks  # noqa: E402
from kb.llm.extractive_quote import quote_around  # noqa: E402
from kb.llm.extractive_rank import Asked, Candidate  # noqa: E402
from kb.llm.extractive_read import stretch_of  # noqa: E402
from kb.llm.protocol import Done, GenerateRequest  # noqa: E402
from kb.providers import PROVIDERS, Provider  # noqa: E402
from kb.records import ModelRef  # noqa: E402

# Nothing is learnt from these, so that benchmarks/manuals.py can tell what a reader is worth.
HELD_OUT = frozenset("svelte typescript prometheus brew digitalgov 18f-guides helm-ko".split())
# Of a section so much is read: a reader takes in about as much.
SECTION_CHARS = 900


class Keeper:
    """A language model that keeps what it is asked and says nothing."""

    title = "keeper"

    def __init__(self) -> None:
        self.request: GenerateRequest | None = None

    def reference(self) -> ModelRef:
        return ModelRef("keeper", extractive.PROVIDER)  # such a model is given whole sections

    def describe(self) -> str:
        return self.title

    def context_tokens(self) -> int:
        return extractive.CONTEXT_TOKENS

    def generate_stream(self, request: GenerateRequest) -> Iterator[Done]:
        self.request = request
        yield Done("stop", 0, 0)


def texts_of(question: str, request: GenerateRequest, rated: dict[str, int]) -> Iterator[tuple[int, str]]:
    """The rating of each quote of the evidence that has one, and what a reader is given of it."""
    asked = Asked.of(question)
    found: dict[str, tuple[int, str]] = {}
    for number, entry in enumerate(request.evidence):
        blocks = find_blocks(entry.text, entry.heading_path[-1] if entry.heading_path else "")
        for candidate in extractive.candidates_of(number, entry, blocks):
            for with_section in (False, True):
                quote = quote_around(entry.text, blocks, candidate, replace(asked, is_english=with_section))
                digest = digest_of(extractive.shown_quote(candidate, entry, quote).text)
                if digest in rated and digest not in found:
                    text = _section(candidate, quote.text) if with_section else stretch_of(candidate)
                    found[digest] = rated[digest], text
    yield from found.values()


def _section(candidate: Candidate, quote: str) -> str:
    heading = candidate.heading.rpartition(" > ")[2]
    text = " ".join(quote.split())[:SECTION_CHARS]
    return f"{heading}: {text}" if heading else text


def rows_of(manual: dict[str, Any], pages: Path, home: Path, keeper: Keeper) -> Iterator[dict[str, Any]]:
    """One row a question."""
    with kb.open(home) as base:
        base.ingest(pages)
        for asked in manual["asked"]:
            keeper.request = None
            base.ask(asked["question"])
            request = keeper.request
            shown = list(texts_of(asked["question"], request, asked["rated"])) if request else []
            yield {
                "manual": manual["manual"],
                "lang": manual["language"],
                "question": asked["question"],
                "shown": shown,
            }


def main() -> None:
    """Ask, join, write, count."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", type=Path)
    parser.add_argument("homes", type=Path)
    parser.add_argument("rows", type=Path)
    parser.add_argument("--only", default="", help="names of manuals, with commas")
    chosen = parser.parse_args()
    keeper = Keeper()
    PROVIDERS["extractive"] = Provider(lambda config, scorers, notify: keeper, model_id="keeper")
    with gzip.open(chosen.rows, "wt", encoding="utf-8") as out:
        for manual in manuals([name for name in chosen.only.split(",") if name]):
            found = 0
            for row in rows_of(manual, chosen.pages / manual["manual"], chosen.homes / manual["manual"], keeper):
                out.write(json.dumps(row, ensure_ascii=False) + "\n")
                found += len(row["shown"])
            total = sum(len(asked["rated"]) for asked in manual["asked"])
            print(f"{manual['manual']}: {found} of {total} rated quotes", flush=True)


if __name__ == "__main__":
    main()
