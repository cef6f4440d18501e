"""The questions written for training → rows with their passages, which are not part of kb.

    python training/written.py DATA_FOLDER ROWS.jsonl.gz --home en/KB_HOME --home ko/KB_HOME

`written_questions.jsonl.gz` beside this file has a question a line: language, source, heading, digest of its passage, kind, and
where the passage answers it ([start, length] in characters; none where it does not). The questions were written for kb, by
a language model that read each passage; kinds and instructions are in docs/reader.md. Their passages are rows of DATA_FOLDER and
chunks of the manuals in SOURCES, ingested by words (`kb ingest FOLDER --words-only`) into the homes given. Questions whose passage has changed
since are left out and counted.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path

QUESTIONS = Path(__file__).with_name("written_questions.jsonl.gz")
# Source → repository, commit, folders and licence of what the questions are about.
SOURCES = {
    "en-astro": ("withastro/docs", "741c1b8", "src/content/docs/en", "MIT"),
    "en-covid": ("the reader's rows", "", "COVID-QA", "CC-BY-4.0"),
    "en-handbook": ("18F/handbook", "1e49556", "pages", "CC0-1.0"),
    "en-helm": ("helm/helm-www", "227f414", "docs", "MIT"),
    "en-qed": ("the reader's rows", "", "QED, Natural Questions", "CC-BY-SA-3.0"),
    "en-react": ("reactjs/react.dev", "12d692d", "src/content/learn", "CC-BY-4.0"),
    "en-restic": ("restic/restic", "a80be14", "doc", "BSD-2-Clause"),
    "en-selqa": ("the reader's rows", "", "SelQA", "CC-BY-SA-3.0"),
    "en-squad": ("the reader's rows", "", "SQuAD 1.1", "CC-BY-SA-4.0"),
    "en-tydi": ("the reader's rows", "", "TyDi QA", "CC-BY-SA-3.0"),
    "en-webpack": ("webpack/webpack.js.org", "9c0ce6f", "src/content", "CC-BY-4.0"),
    "ko-astro": ("withastro/docs", "741c1b8", "src/content/docs/ko", "MIT"),
    "ko-helm": ("helm/helm-www", "227f414", "i18n/ko/docusaurus-plugin-content-docs/version-3", "MIT"),
    "ko-kobest": ("the reader's rows", "", "KoBEST BoolQ", "CC-BY-SA-4.0"),
    "ko-react": ("reactjs/ko.react.dev", "2e8c873", "src/content/learn, src/content/reference", "CC-BY-4.0"),
    "ko-tf": ("tensorflow/docs-l10n", "7cb584a", "site/ko/guide, site/ko/tfx/guide", "Apache-2.0"),
    "ko-tydi": ("the reader's rows", "", "TyDi QA", "CC-BY-SA-3.0"),
    "ko-vue": ("vuejs-translations/docs-ko", "6e646ac", "src/guide, src/api", "CC-BY-4.0"),
}
_ANCHOR = re.compile(r"\s*\{[#/][^}]*\}")


def passage_digest(text: str) -> str:
    """Names a passage: 16 hex digits."""
    return hashlib.sha256(" ".join(text.split()).encode()).hexdigest()[:16]


def bare(text: str) -> str:
    """A chunk's text without the anchors of its headings, which some manuals show."""
    return _ANCHOR.sub("", text).strip()


def passages(data: Path, homes: list[Path]) -> Iterator[str]:
    """Every text that a question may be about."""
    for name, field in (("reader", "passage"), ("support", "evidence")):
        with gzip.open(data / "reader" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as file:
            yield from (row[field] for row in map(json.loads, file))
    for home in homes:
        with sqlite3.connect(f"file:{home / 'kb.sqlite'}?mode=ro", uri=True) as store:
            yield from (bare(text) for (text,) in store.execute("SELECT text FROM chunks"))


def main() -> None:
    """Join, write, count."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("rows", type=Path)
    parser.add_argument(
        "--questions", type=Path, default=QUESTIONS, help="others: those that the readers are compared on"
    )
    parser.add_argument("--home", type=Path, action="append", default=[])
    chosen = parser.parse_args()
    texts = {passage_digest(text): text for text in passages(chosen.data, chosen.home)}
    kept = lost = 0
    with (
        gzip.open(chosen.questions, "rt", encoding="utf-8") as questions,
        gzip.open(chosen.rows, "wt", encoding="utf-8") as out,
    ):
        for row in map(json.loads, questions):
            text = texts.get(row.pop("passage"))
            if text is None:
                lost += 1
                continue
            kept += 1
            answers = [[start, text[start : start + length]] for start, length in row.pop("answers")]
            out.write(json.dumps({**row, "passage": text, "answers": answers}, ensure_ascii=False) + "\n")
    print(f"{kept} questions with their passages, {lost} without")


if __name__ == "__main__":
    main()
