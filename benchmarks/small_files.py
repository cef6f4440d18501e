"""Small files of people's own (notes, tables, lists) and questions about them: what does ask answer, and what does it refuse?

    python benchmarks/small_files.py [--write ANSWERS.jsonl]

`small_files.jsonl.gz` beside this file has invented files, English and Korean, a third of them CSV; a language model wrote them for
kb, and six questions about each: two in words near to the file's and one in words of one who has forgotten them, which it
answers; one about something else of the same thing and two about another thing, which it does not answer. No reader was trained on
them. Each language is ingested into a home of its own, without a server. Prints, by form and kind, the share of questions whose file is among the
first hits, and of each outcome. An answer holds what was marked as the answer where MOST of its words stand in the first quote.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import kb
from kb.language.registry import LANGUAGES

FILES = Path(__file__).with_name("small_files.jsonl.gz")
ANSWERED, UNANSWERED = ("plain", "own words"), ("near", "swapped")
# At least the one that is set: what is answered below it is not answered in the run.
GATES = (0.55, 0.6, 0.65, 0.7, 0.75, 0.8)
# So many of the words that were marked as the answer make it held.
MOST = 0.7
_PIPED_RULE = re.compile(r"^\|[ :|-]+\|$", re.M)


@dataclass(frozen=True, slots=True)
class Asked:
    """rank   place of the file among the hits, 1-based; 0 where it is not among ten
    score  probability that the passages answer, by the evidence gate
    """

    language: str
    form: str
    kind: str
    question: str
    gold: str | None
    rank: int
    outcome: str
    answer: str
    score: float

    def is_held(self) -> bool:
        """True where the first quote holds what was marked as the answer."""
        wanted = _words(self.gold or "")
        first = re.split("|".join(re.escape(LANGUAGES[code].replies["see_also"]) for code in LANGUAGES), self.answer)[0]
        return len(wanted & _words(first)) >= MOST * len(wanted)


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))


def form_of(name: str, content: str) -> str:
    """How a file is laid out: a table alone, one among text, or notes."""
    if name.endswith((".csv", ".tsv")):
        return "table"
    return "text with a table" if _PIPED_RULE.search(content) else "notes"


def ask_all(language: str, files: Sequence[dict[str, Any]], folder: Path) -> Iterator[Asked]:
    """Ingest the files of a language and ask every question about them."""
    for file in files:
        place = folder / "files" / file["id"] / file["file"]
        place.parent.mkdir(parents=True)
        place.write_text(file["content"], encoding="utf-8")
    with kb.open(home=folder / "home") as base:
        base.ingest(folder / "files")
        for file in files:
            for row in file["questions"]:
                hits = [hit.citation.path.split("/")[0] for hit in base.search(row["q"], k=10).hits]
                answer = base.ask(row["q"])
                rank = hits.index(file["id"]) + 1 if file["id"] in hits else 0
                form = form_of(file["file"], file["content"])
                yield Asked(
                    language,
                    form,
                    row["kind"],
                    row["q"],
                    row["a"],
                    rank,
                    answer.outcome,
                    answer.answer,
                    answer.retrieval.evidence_score or 0.0,
                )


def lines_of(rows: Sequence[Asked]) -> Iterator[str]:
    """The table, a line for each language, form and kind."""
    yield (
        f"{'':36}{'n':>5}{'first hit':>11}{'of ten':>8}{'answered':>10}{'rightly':>9}{'not sure':>10}"
        f"{'shown':>7}{'refused':>9}"
    )
    for language in ("en", "ko"):
        for kind in (*ANSWERED, *UNANSWERED):
            for form in ("table", "text with a table", "notes", ""):
                mine = [r for r in rows if r.language == language and r.kind == kind and form in ("", r.form)]
                if not mine:
                    continue
                has_answer = kind in ANSWERED
                told = [r for r in mine if r.outcome == "answered"]
                unsure = [r for r in mine if r.outcome == "not_sure"]

                def part(found: Sequence[Asked], of: Sequence[Asked] = tuple(mine)) -> str:
                    return f"{len(found) / len(of):.2f}"

                yield (
                    f"{language} {kind}, {form or 'all':<22}".ljust(36)
                    + f"{len(mine):>5}"
                    + f"{part([r for r in mine if r.rank == 1]) if has_answer else '':>11}"
                    + f"{part([r for r in mine if r.rank]) if has_answer else '':>8}"
                    + f"{part(told):>10}"
                    + f"{part([r for r in told if r.is_held()]) if has_answer else '':>9}"
                    + f"{part(unsure):>10}"
                    + f"{part([r for r in unsure if r.is_held()]) if has_answer else '':>7}"
                    + f"{part([r for r in mine if r.outcome == 'not_in_documents']):>9}"
                )


def gates_of(rows: Sequence[Asked]) -> Iterator[str]:
    """What `rag.sure_gate` would do to what is answered: with the answer, or though none is there."""
    for language in ("en", "ko"):
        for gate in GATES:
            told = [r for r in rows if r.language == language and r.outcome == "answered" and r.score >= gate]
            shares = []
            for kinds in (ANSWERED, UNANSWERED):
                of = [r for r in rows if r.language == language and r.kind in kinds]
                answered = [r for r in told if r.kind in kinds]
                held = f" (rightly {sum(r.is_held() for r in answered) / len(of):.3f})" if kinds == ANSWERED else ""
                shares.append(f"{len(answered) / len(of):.3f}{held}")
            yield f"{language}, rag.sure_gate {gate:.2f}: answered {shares[0]}, of those without an answer {shares[1]}"


def main() -> None:
    """Ingest, ask, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", type=Path, help="keep every question with its answer, a JSON object a line")
    chosen = parser.parse_args()
    with gzip.open(FILES, "rt", encoding="utf-8") as lines:
        files = [json.loads(line) for line in lines]
    rows: list[Asked] = []
    for language in ("en", "ko"):
        with tempfile.TemporaryDirectory() as folder:
            rows += ask_all(language, [f for f in files if f["lang"] == language], Path(folder))
    print("\n".join([*lines_of(rows), *gates_of(rows)]))
    if chosen.write:
        kept = ({name: getattr(row, name) for name in row.__dataclass_fields__} for row in rows)
        chosen.write.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in kept), encoding="utf-8")


if __name__ == "__main__":
    main()
