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
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from answers import ask, digest_of

import kb
from kb.language.compared import compared_things

MANUALS = Path(__file__).with_name("manuals.jsonl.gz")
ANSWERS = 2  # a quote rated so or better holds the answer
UNRATED = "?"
GATES = (0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85)


def manuals(only: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Those named, or all."""
    with gzip.open(MANUALS, "rt", encoding="utf-8") as lines:
        for line in lines:
            manual = json.loads(line)
            if not only or manual["manual"] in only:
                yield manual


@dataclass(frozen=True, slots=True)
class Told:
    """What became of one question.

    outcome        the first quote's rating where it is answered, "?" without one; "not sure"; "refused"
    is_answerable  one of its quotes is rated 2 or 3
    score          probability that the evidence answers, by the gate
    compares       the difference of two things is asked for
    lacks          "not sure" whatever the score
    rating         of the first quote, though it is "not sure"; None without one
    """

    language: str
    is_answerable: bool
    outcome: str
    score: float
    compares: bool
    lacks: bool
    rating: int | None

    def is_answered(self) -> bool:
        return self.outcome not in ("not sure", "refused")

    def would_be(self, sure_gate: float) -> bool:
        """Whether it would be answered with this gate; where the quotes lack what is asked for it is with none."""
        return self.outcome != "refused" and not self.lacks and self.score >= sure_gate


def ask_all(base: kb.KnowledgeBase, manual: dict[str, Any], unrated: list[str]) -> Iterator[Told]:
    """Ask what was asked about a manual; what has no rating is added to `unrated`."""
    for asked in manual["asked"]:
        reply = ask(base, asked["question"])
        rated: dict[str, int] = asked["rated"]
        told = "refused" if reply.text is None else "answered" if reply.is_sure else "not sure"
        is_answerable = max(rated.values(), default=0) >= ANSWERS
        if told == "answered":
            told = str(rated.get(digest_of(reply.text or ""), UNRATED))
        if told == UNRATED:
            unrated.append(f"{manual['manual']}: {asked['question']}\n\n{reply.text}\n")
        yield Told(
            manual["language"],
            is_answerable,
            told,
            reply.score or 0.0,
            compared_things(asked["question"]) is not None,
            reply.lacks,
            rated.get(digest_of((reply.text or "").partition("\n\n")[2] if told == "not sure" else reply.text or "")),
        )


def show(title: str, told: Sequence[Told]) -> None:
    """A line of shares."""
    good, none = ([row for row in told if row.is_answerable is wanted] for wanted in (True, False))
    counts = Counter(row.outcome for row in good)
    of_good, of_none = max(1, len(good)), max(1, len(none))
    names = {"3": "right and readable", "2": "flawed", "1": "about it", "0": "wrong", UNRATED: "unrated"}
    shares = [f"{names.get(key, key)} {counts[key] / of_good:.2f}" for key in (*names, "not sure", "refused")]
    rest = Counter("answered" if row.is_answered() else row.outcome for row in none)
    wrong = [f"{key} {rest[key] / of_none:.2f}" for key in ("answered", "not sure", "refused")]
    print(
        f"{title:24s} {len(good):4d}: {'  '.join(shares)} | unanswerable {len(none):3d}: {'  '.join(wrong)}", flush=True
    )


def show_gates(title: str, told: Sequence[Told]) -> None:
    """What `rag.sure_gate` would do: answered, right and readable so, and answered without an answer."""
    good, none = ([row for row in told if row.is_answerable is wanted] for wanted in (True, False))
    for gate in GATES:
        answered = [row for row in good if row.would_be(gate)]
        right = sum(row.rating == 3 for row in answered) / max(1, len(good))
        wrong = sum(row.would_be(gate) for row in none) / max(1, len(none))
        share = len(answered) / max(1, len(good))
        print(
            f"{title}, rag.sure_gate {gate:.2f}: answered {share:.3f}, right and readable {right:.3f} | unanswerable answered {wrong:.3f}"
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
    told: list[Told] = []
    for manual in manuals([name for name in chosen.only.split(",") if name]):
        pages = chosen.pages / manual["manual"]
        if not pages.is_dir():
            print(
                f"{manual['manual']}: no {pages}: {manual['repository']} at {manual['commit'][:10]}, {', '.join(manual['folders'])}"
            )
            continue
        with kb.open(chosen.homes / manual["manual"]) as base:
            base.ingest(pages)
            rows = list(ask_all(base, manual, unrated))
        show(manual["manual"], rows)
        told += rows
    for language in dict.fromkeys(row.language for row in told):
        rows = [row for row in told if row.language == language]
        show(f"all, {language}", rows)
        show(f"differences, {language}", [row for row in rows if row.compares])
        show_gates(f"all, {language}", rows)
    if chosen.write:
        chosen.write.write_text("\n".join(unrated), encoding="utf-8")


if __name__ == "__main__":
    main()
