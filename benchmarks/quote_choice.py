"""Which of the best sections is shown first: ratings of first quotes by how many are read whole, and by how much that counts.

    python benchmarks/quote_choice.py PAGES_FOLDER HOMES_FOLDER [--only uv,svelte]

Folders and ratings are those of manuals.py. The evidence of each question is captured once, its best sections are read once, and each way to
choose among them is judged by the rating of what it shows first; that a recap loses is left out. A question counts where one of its quotes is rated 2 or 3. English alone: Korean
quotes are not read again.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from answers import digest_of
from manuals import ANSWERS, manuals

import kb
from kb.llm.extractive import LIKELY, PROVIDER, ExtractiveModel, candidates_of, shown_quote
from kb.llm.extractive_blocks import find_blocks
from kb.llm.extractive_choice import BY_LOGIT, BY_THOUSAND_CHARS, READ_QUOTES, as_read, quotes_of
from kb.llm.extractive_quote import Quote, quote_around
from kb.llm.extractive_rank import Asked, Candidate
from kb.llm.protocol import Done, GenerateRequest, Scorers
from kb.providers import PROVIDERS, Provider
from kb.records import ModelRef

MOST = 6
READ = (1, 2, READ_QUOTES, MOST)
BY_READER, BY_LENGTH = (0.0, 0.05, 0.1, BY_LOGIT, 0.2), (0.0, BY_THOUSAND_CHARS, 0.3, 0.4)


@dataclass(frozen=True, slots=True)
class Section:
    """One that may be shown first: the score of its sentence, the reader's logit of it, characters, and its rating, if it has one."""

    score: float
    logit: float
    chars: int
    rating: int | None


class Keeper(ExtractiveModel):
    """The extractive model, which keeps what it was asked and says nothing."""

    def __init__(self, scorers: Scorers) -> None:
        super().__init__(scorers.encode, read=scorers.read)
        self.scorers = scorers
        self.request: GenerateRequest | None = None

    def reference(self) -> ModelRef:
        return ModelRef("keeper", PROVIDER)

    def generate_stream(self, request: GenerateRequest) -> Iterator[Done]:
        self.request = request
        yield Done("stop", 0, 0)


def sections_of(keeper: Keeper, request: GenerateRequest, rated: dict[str, int]) -> list[Section]:
    """The best MOST, each read."""
    evidence = request.evidence
    blocks = [find_blocks(entry.text, entry.heading_path[-1] if entry.heading_path else "") for entry in evidence]
    candidates = [c for n, entry in enumerate(evidence) for c in candidates_of(n, entry, blocks[n])]
    asked = Asked.of(request.question)
    is_weighed = (request.evidence_score or 0.0) >= LIKELY
    scores = keeper.score(asked, candidates, is_weighed, by_meaning=request.by_meaning)
    order = sorted((i for i, s in enumerate(scores) if s is not None), key=lambda i: (-(scores[i] or 0.0), i))

    def quote_for(candidate: Candidate) -> Quote:
        return quote_around(evidence[candidate.passage].text, blocks[candidate.passage], candidate, asked)

    choices = quotes_of(candidates, scores, order, quote_for, MOST)
    keys = [candidates[choice.at] for choice in choices]
    assert keeper.scorers.read is not None
    logits = keeper.scorers.read(request.question, [as_read(k, c.quote) for k, c in zip(keys, choices, strict=True)])
    assert logits is not None
    shown = [shown_quote(k, evidence[k.passage], c.quote).text for k, c in zip(keys, choices, strict=True)]
    return [
        Section(choice.score, logit, len(choice.quote.text), rated.get(digest_of(text)))
        for choice, logit, text in zip(choices, logits, shown, strict=True)
    ]


def questions_of(manual: dict[str, Any], pages: Path, home: Path) -> Iterator[list[Section]]:
    """The sections of each question that is answered by one of its quotes."""
    opened: list[Keeper] = []

    def open_keeper(config: object, scorers: Scorers, notify: object) -> Keeper:
        opened.append(Keeper(scorers))
        return opened[-1]

    PROVIDERS["extractive"] = Provider(open_keeper, model_id="keeper")
    with kb.open(home) as base:
        base.ingest(pages)
        for asked in manual["asked"]:
            for keeper in opened:
                keeper.request = None
            base.ask(asked["question"])
            request = opened[-1].request if opened else None
            if request and max(asked["rated"].values(), default=0) >= ANSWERS:
                found = sections_of(opened[-1], request, asked["rated"])
                if found:
                    yield found


def show(questions: Sequence[Sequence[Section]], read: int, by_reader: float, by_length: float) -> None:
    """A line: of all questions, the share whose first section is right and readable, holds the answer, has no rating."""

    def worth(section: Section) -> float:
        return section.score + by_reader * section.logit + by_length * section.chars / 1000

    firsts = [max(sections[:read], key=worth).rating for sections in questions]
    right, holds, unrated = (
        sum(wanted(rating) for rating in firsts) / len(firsts)
        for wanted in (lambda r: r == 3, lambda r: r is not None and r >= ANSWERS, lambda r: r is None)
    )
    print(
        f"{read} read, {by_reader:.2f} a logit, {by_length:.2f} a thousand characters: right and readable {right:.3f}, holds the answer {holds:.3f}, unrated {unrated:.3f}"
    )


def main() -> None:
    """Capture, read, choose."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", type=Path)
    parser.add_argument("homes", type=Path)
    parser.add_argument("--only", default="", help="names of manuals, with commas")
    chosen = parser.parse_args()
    questions = []
    for manual in manuals([name for name in chosen.only.split(",") if name]):
        pages = chosen.pages / manual["manual"]
        if manual["language"] == "en" and pages.is_dir():
            questions += list(questions_of(manual, pages, chosen.homes / manual["manual"]))
            print(f"{manual['manual']}: {len(questions)} questions", flush=True)
    for read, by_reader, by_length in itertools.product(READ, BY_READER, BY_LENGTH):
        if read > 1 or not (by_reader or by_length):
            show(questions, read, by_reader, by_length)


if __name__ == "__main__":
    main()
