"""Measures the verdict on models' answers: lies that it shows with a tick, and true answers that it doubts, by kind.

    .venv/bin/python benchmarks/lies.py DATA [--half held] [--wordnet FOLDER] [--show 3] [--each 150] [--seed 23] [--encoder] [--reader]

Sentences of documents are made false, or said in other words (benchmarks/lies_edits.py), and put into an answer that
cites their passage: as a sentence, in a heading, a list, a table, a question, before a colon, behind a marker in code. The
halves have different documents and different words. Human answers of ClapNQ are truths too. A lie is caught where the
answer gets no tick; a truth is doubted where it gets none. The intervals are Wilson's, 95 %. FOLDER holds WordNet's data
files: its pairs of opposites then replace the written ones.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import os
import random
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.lies_edits import ANTONYMS, LIES, TRUTHS, Edit, exchange, wordnet_antonyms
from benchmarks.support import clean
from kb.arrays import Encode, ReadClaims
from kb.ask.verify import has_tick, stands, verify
from kb.config import cache_folder
from kb.reader.claims import open_claims
from kb.records import Chunk
from kb.store.chunks import make_citation
from kb.text import split_sentences

EACH = 40
SEED = 23
AROUND = 3
ROOT = Path(__file__).parents[1]
MARKUP = re.compile(r"\s*[#|\-*/!<{>=]|.*(?:\]\(|\{\{|<)")


@dataclass(frozen=True, slots=True)
class Case:
    """An answer, the passage that is packed as [#1], and what is known of it."""

    language: str
    kind: str
    is_true: bool
    answer: str
    passage: str


def passages(data: Path, language: str, half: str) -> Iterator[list[str]]:
    """Passages as lists of sentences."""
    for text in _texts(data, language, half):
        sentences = [" ".join(text[a:b].split()) for a, b in split_sentences(text)]
        kept = [s for s in sentences if 25 <= len(s) <= 300 and s[-1] in ".!" and not MARKUP.match(s) and "`" not in s]
        if len(kept) >= 2:
            yield kept


def _texts(data: Path, language: str, half: str) -> Iterator[str]:
    if half == "held" and language == "ko":
        yield from _reader_passages(data, "ko")
        return
    if half == "held":
        files = [*sorted((data / "rust-book" / "src").glob("ch*.md"))]
        files += [
            data / "chunking-eval" / "corpora" / name
            for name in ("wikitexts.md", "finance.md", "state_of_the_union.md")
        ]
        yield from (p for file in files for p in _paragraphs(file))
        return
    if language == "en":
        yield from (
            clean(json.loads(line)["text"]) for line in (data / "clapnq" / "corpus.jsonl").open(encoding="utf-8")
        )
        folders = [ROOT / "fixtures" / "corpus" / part for part in ("guide", "ops", "notes")]
        folders.append(data / "fastapi-docs-en-ko" / "docs" / "en")
    else:
        folders = [data / "fastapi-docs-en-ko" / "docs" / "ko", ROOT / "fixtures" / "corpus" / "ko"]
    for folder in folders:
        for file in sorted([*folder.rglob("*.md"), *folder.rglob("*.txt")]):
            yield from _paragraphs(file)


def _paragraphs(file: Path) -> Iterator[str]:
    text = re.sub(r"(?ms)^```.*?^```", "", file.read_text(encoding="utf-8"))
    text = re.sub(r"\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])", r"\1", text).replace("`", "")
    yield from (p for p in re.split(r"\n\s*\n", text) if len(p) < 4000)


def _reader_passages(data: Path, language: str) -> Iterator[str]:
    seen: set[str] = set()
    with gzip.open(data / "reader" / "reader.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            if row["lang"] == language and row["passage"] not in seen:
                seen.add(row["passage"])
                yield row["passage"]


def human_answers(data: Path) -> Iterator[Case]:
    """ClapNQ's answers, each with its gold passage."""
    texts = {}
    for line in (data / "clapnq" / "corpus.jsonl").open(encoding="utf-8"):
        passage = json.loads(line)
        texts[passage["_id"]] = f"{passage['title']}\n\n{clean(passage['text'])}"
    for line in (data / "clapnq" / "queries.jsonl").open(encoding="utf-8"):
        row = json.loads(line)
        answer = clean(row["answers"][0]) if row["answerable"] and row["answers"] else ""
        sentences = [answer[a:b].strip() for a, b in split_sentences(answer)]
        if answer and all(len(s.split()) >= 5 and s[-1] == "." for s in sentences):
            yield Case(
                "en", "human answer", True, " ".join(f"{s[:-1]} [#1]." for s in sentences), texts[row["passage"][0]]
            )


def make_cases(data: Path, half: str, wordnet: Path | None, each: int = EACH, seed: int = SEED) -> Iterator[Case]:
    """Every case of a half, at most `each` of a kind; the seed chooses the sentences."""
    pairs = wordnet_antonyms(wordnet) if wordnet else ANTONYMS[half]
    for language in ("en", "ko"):
        sentences = [
            (s, p[max(0, i - AROUND) : i + AROUND + 1]) for p in passages(data, language, half) for i, s in enumerate(p)
        ]
        random.Random(seed).shuffle(sentences)
        lies = dict(LIES[language])
        if language == "en":
            lies["antonym"] = exchange(pairs, both_ways=True)
        for kind, edit in lies.items():
            made = _edited(sentences, edit, kind, each, seed)
            yield from (Case(language, kind, False, _cite(lie), passage) for _, lie, passage in made)
        for kind, edit in TRUTHS[language].items():
            made = _edited(sentences, edit, kind, each, seed)
            yield from (Case(language, kind, True, _cite(said), passage) for _, said, passage in made)
        wrong = lies["number"]
        for kind, shape in SHAPES.items():
            for true, lie, passage in _edited(sentences, wrong, kind, each, seed):
                for claim in (lie, true):
                    answer = shape.format(true=_bare(true), lie=_bare(claim), **TABLE[language])
                    yield Case(language, kind, claim is true, answer, passage)
    if half == "dev":
        yield from list(human_answers(data))[: 4 * each]


# The lie and its true sentence in one answer.
SHAPES = {
    "in a heading": "## {lie}\n\n{true} [#1].",
    "in a list": "Here is what the documents say:\n\n- {true} [#1]\n- {lie} [#1]\n",
    "in a table": "| {point} | {detail} |\n|---|---|\n| {one} | {lie} [#1] |\n",
    "in a question": "Did you know that {lie}? {true} [#1].",
    "before a colon": "{lie}:\n\n- {true} [#1]",
    "marker in code": "{lie}.\n\n```\n[#1]\n```\n\n{true} [#1].",
}
TABLE = {
    "en": {"point": "point", "detail": "detail", "one": "one"},
    "ko": {"point": "구분", "detail": "내용", "one": "첫째"},
}


def _edited(
    sentences: Iterable[tuple[str, list[str]]], edit: Edit, kind: str, each: int, seed: int
) -> Iterator[tuple[str, str, str]]:
    dice = random.Random(f"{seed} {kind}")
    made = 0
    for sentence, passage in sentences:
        changed = edit(sentence, dice, passage)
        if changed is None or (changed == sentence and kind != "verbatim"):
            continue
        made += 1
        yield sentence, changed, " ".join(passage)
        if made == each:
            return


def _bare(sentence: str) -> str:
    return sentence.rstrip(".").replace("|", "/")


def _cite(sentence: str) -> str:
    return f"{sentence[:-1]} [#1]{sentence[-1]}" if sentence[-1] in ".!" else f"{sentence} [#1]"


def passage_as_chunk(text: str) -> Chunk:
    """A passage as `verify` wants it."""
    return Chunk(
        chunk_id=1, doc_id=1, source="s", path="a.md", title="", heading_path=(), text=text, position=0, start=0, end=len(text),
        citation=make_citation("a.md", 1, 1, None, None), token_count=len(text) // 4, text_hash="", tags=(), indexed_at="",
    )  # fmt: skip


def wilson(hits: int, of: int) -> tuple[float, float]:
    """The 95 % interval of a share."""
    z, p = 1.96, hits / of
    middle, spread = p + z * z / (2 * of), z * math.sqrt(p * (1 - p) / of + z * z / (4 * of * of))
    return max(0.0, (middle - spread) / (1 + z * z / of)), min(1.0, (middle + spread) / (1 + z * z / of))


def report(cases: list[Case], encode: Encode | None, read: ReadClaims | None, show: int) -> None:
    """A line per kind."""
    found: dict[tuple[bool, str, str], list[tuple[bool, bool, Case, str]]] = {}
    for case in cases:
        checked = verify(case.answer, {1: passage_as_chunk(case.passage)}, encode, read)
        why = "; ".join(f"{s.status} {s.score} {s.reasons}" for s in checked.verification.sentences)
        is_ticked, is_shown = has_tick(checked.verification), stands(checked.verification)
        row = (is_shown if case.is_true else is_ticked, is_shown and not is_ticked, case, why)
        found.setdefault((case.is_true, case.language, case.kind), []).append(row)
    for is_true in (False, True):
        print(
            f"| {'truths' if is_true else 'lies'} | n | {'doubted' if is_true else 'shown with a tick'} | 95 % | shown, no tick |\n"
            "|---|--:|--:|---|--:|"
        )
        rows = {key: value for key, value in found.items() if key[0] == is_true}
        together = {
            (is_true, language, "all"): [r for k, v in rows.items() if k[1] == language for r in v]
            for language in ("en", "ko")
        }
        for (_, language, kind), results in (rows | together).items():
            if not results:
                continue
            bad = [r for r in results if r[0] != is_true]
            low, high = wilson(len(bad), len(results))
            no_tick = sum(r[1] for r in results) / len(results)
            share = f"{len(bad) / len(results):.1%} | {low:.1%}–{high:.1%} | {no_tick:.1%}"
            print(f"| {language} {kind} | {len(results)} | {share} |")
            for _, _, case, why in bad[:show] if kind != "all" else []:
                print(f"      {case.answer!r}\n        {why}\n        {case.passage[:700]!r}")


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--half", choices=("dev", "held"), default="dev")
    parser.add_argument("--wordnet", type=Path, default=None)
    parser.add_argument("--show", type=int, default=0)
    parser.add_argument("--each", type=int, default=EACH, help="cases of a kind at most")
    parser.add_argument("--seed", type=int, default=SEED, help="of the sentences that are taken")
    parser.add_argument("--only", default="")
    parser.add_argument("--encoder", action="store_true")
    parser.add_argument("--reader", action="store_true", help="with the readers of claims")
    options = parser.parse_args()
    encode: Encode | None = None
    if options.encoder:
        from benchmarks.cached_encoder import CachedEncoder

        encode = CachedEncoder()
    cases = [
        c
        for c in make_cases(options.data, options.half, options.wordnet, options.each, options.seed)
        if options.only in f"{c.language} {c.kind}"
    ]
    read = open_claims(cache_folder(os.environ), print) if options.reader else None
    report(cases, encode, read, options.show)


if __name__ == "__main__":
    main()
