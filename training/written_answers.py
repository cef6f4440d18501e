"""The answers written for training → rows with their passages, which are not part of kb.

    PYTHONPATH=. python training/written_answers.py PAGES_FOLDER HOMES_FOLDER DATA_FOLDER ROWS.jsonl.gz

`written_answers.jsonl.gz` beside this file has an answer a line: language, source, digest of its passage, whether the passage says it,
what was done, and the answer. A language model wrote six about each passage, three that say what it says in other words and three
with something in them that it does not say, and eight more about some, as people talk or in pairs; it saw the passage and nothing of kb. Those of
benchmarks/verdicts.jsonl.gz join them: about manuals, of which some are held out, and about documents of DATA_FOLDER, on which
nothing is learnt. Two manuals are not of benchmarks/manuals.jsonl.gz: vite-ko (guide and config of github.com/vitejs/docs-ko at 7cec408,
MIT) and typescript-ko (pages of github.com/typescript-kr/typescript-kr.github.io at 3fad5f8). The passages are chunks of manuals (PAGES_FOLDER, HOMES_FOLDER as for benchmarks/verdicts.py), rows of
DATA_FOLDER/reader/reader.jsonl.gz, and the
paragraphs and small files beside this script. Those of papers.jsonl.gz come with their passages. Those whose passage has changed since are left out and counted.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from papers import read_papers

from benchmarks.verdicts import DOCUMENTS, HELD_OUT, PAIRS, answers, digest_of, passages

HERE = Path(__file__).parent
ANSWERS = HERE / "written_answers.jsonl.gz"


def lines_of(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of a file."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def texts_of(pages: Path, homes: Path, data: Path, manuals: set[str]) -> dict[str, tuple[str, str]]:
    """Digest → (title, text)"""
    found: dict[str, tuple[str, str]] = {}
    for row in lines_of(HERE / "paragraphs.jsonl.gz"):
        found[digest_of(row["text"])] = row["title"], row["text"]
    for row in lines_of(HERE / "small_files.jsonl.gz"):
        found[digest_of(row["content"])] = row["file"], row["content"]
    for row in lines_of(data / "reader/reader.jsonl.gz"):
        found[digest_of(row["passage"])] = row.get("title") or row["source"], row["passage"]
    return found | dict(passages(pages, homes, sorted(manuals), data))


def split_of(row: dict[str, Any]) -> str:
    """learn and pairs, or held out, documents, as spoken and in pairs, on which nothing is learnt."""
    if row.get("spoken"):
        return "as spoken"
    if row["kind"] in PAIRS:
        return "in pairs" if "manual" in row else "pairs"
    manual = row.get("manual", "")
    return "documents" if manual in DOCUMENTS else "held out" if manual in HELD_OUT else "learn"


def of_papers() -> Iterator[dict[str, Any]]:
    """Those about the invented papers, which have their passage beside them."""
    for paper in read_papers():
        title = " ".join(filter(None, (paper["title"], paper["heading"])))
        for claim in paper["claims"]:
            yield {
                "claim": claim["answer"],
                "title": title,
                "text": paper["text"],
                "said": claim["true"],
                "lang": paper["lang"],
                "split": "papers held" if paper["held"] else "papers",
            }


def main() -> None:
    """Join them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("pages", "homes", "data", "rows"):
        parser.add_argument(name, type=Path)
    chosen = parser.parse_args()
    rows = [*lines_of(ANSWERS), *answers()]
    manuals = {name for row in rows if ":" not in (name := row.get("manual") or row["source"])}
    texts = texts_of(chosen.pages, chosen.homes, chosen.data, manuals)
    kept = of_their_own = 0
    with gzip.open(chosen.rows, "wt", encoding="utf-8") as out:
        for row in rows:
            if row["passage"] not in texts:
                continue
            title, text = texts[row["passage"]]
            kept += 1
            joined = {
                "claim": re.sub(r"\s*\[#\d+\]", "", row["answer"]),
                "title": title,
                "text": text,
                "said": row["true"],
                "lang": row["lang"],
                "split": split_of(row),
            }
            out.write(json.dumps(joined, ensure_ascii=False) + "\n")
        for joined in of_papers():
            of_their_own += 1
            out.write(json.dumps(joined, ensure_ascii=False) + "\n")
    print(f"{kept} answers, {len(rows) - kept} without their passage, {of_their_own} about papers")


if __name__ == "__main__":
    main()
