"""Which knowledge bases kb takes for documents of one subject: how near their passages are to each other, as the mean cosine.

    python benchmarks/one_subject.py HOME… [--papers FOLDER]

Of one subject are those from `kb.ask.quotes.ONE_SUBJECT` on. FOLDER: a home is made there of each of the collections of office.jsonl.gz
and of the two of small_files.jsonl.gz. What the bound costs and spares, manuals.py and answers.py print, by `rag.sure_gate`.
"""

from __future__ import annotations

import argparse
import gzip
import json
from base64 import b64decode
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import kb
from kb.ask.quotes import ONE_SUBJECT
from kb.config import Config
from kb.runtime import open_runtime
from kb.search.bounds import alikeness


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("homes", type=Path, nargs="*")
    parser.add_argument("--papers", type=Path, help="where homes of invented papers are made")
    options = parser.parse_args()
    for home in [*options.homes, *(papers(options.papers) if options.papers else ())]:
        with open_runtime(home, Config()) as opened:
            statistics = opened.vector_index().statistics()
        alike = alikeness(statistics)
        told = "too few passages" if alike is None else f"{alike:.3f}{', one subject' if alike >= ONE_SUBJECT else ''}"
        print(f"{home.name:<16} {statistics.rows:>6} passages  {told}")


def papers(folder: Path) -> Iterator[Path]:
    """A home of each collection."""
    collections: dict[str, dict[str, bytes]] = defaultdict(dict)
    for row in rows_of("office.jsonl.gz"):
        for each in row["documents"]:
            content = each["text"].encode() if "text" in each else b64decode(each["base64"])
            collections[row["name"]][each["name"]] = content
    for row in rows_of("small_files.jsonl.gz"):
        collections[f"small files, {row['lang']}"][row["file"]] = row["content"].encode()
    for name, contents in collections.items():
        pages = folder / "pages" / name
        pages.mkdir(parents=True, exist_ok=True)
        for file, content in contents.items():
            (pages / file).write_bytes(content)
        with kb.open(folder / name) as base:
            base.ingest(pages)
        yield folder / name


def rows_of(name: str) -> Iterator[dict[str, Any]]:
    with gzip.open(Path(__file__).with_name(name), "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


if __name__ == "__main__":
    main()
