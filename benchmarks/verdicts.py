"""The verdict on answers that a language model wrote about passages of documents: true ones doubted, false ones with a tick.

    PYTHONPATH=. python benchmarks/verdicts.py PAGES_FOLDER HOMES_FOLDER DATA [--show] [--only en|ko] [--reader] [--fit]

verdicts.jsonl.gz has some six answers a passage: three that say what it says in other words, three with something in them that it does not
say, as fluent; the model saw the passage, and neither the check nor what it makes of them. lies.py makes its lies by script, of single
changes that its rules know; these are what people meet. The passages are chunks of the manuals of manuals.py (PAGES_FOLDER, HOMES_FOLDER
as there) and of DATA, known by a digest: the texts are others'. Prints shares with 95 % intervals, of six kinds:

looked at   while rules were written, or learnt by the reader of claims (training/train_support.py)
held out    manuals of which it has learnt nothing; nobody looked at the answers before the thresholds of `likely` were set
as spoken   remarks, gists, short ones and what is widely known, about passages of which the reader has learnt other answers
in pairs    each true answer with a false one as like it as can be, about manuals held out: what meaning alone tells apart
documents   the Rust book and FastAPI's, which the rules and the reader know from lies by script (lies.py) alone
notices     48 invented passages, a rule book, minutes, opening hours … (notices.jsonl.gz), of which the readers have learnt nothing; rules
            were mended on most of their true answers and half of the false ones

--fit writes the weights with which a reading counts (kb/support/weights.json), from the answers about manuals held out, looked at or not,
sentences of their passages that a script edits, and the cases of lies.py --half dev.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

import kb
from benchmarks.lies import MARKUP, SHAPES, make_cases, passage_as_chunk, wilson
from benchmarks.lies_edits import LIES, TRUTHS
from kb.arrays import ReadClaims
from kb.ask.records import Verification
from kb.ask.verify import has_tick, stands, verify
from kb.config import cache_folder
from kb.language.registry import has_letters
from kb.reader.claims import open_claims
from kb.support import check
from kb.support.claims import find_claims
from kb.text import split_sentences

ANSWERS = Path(__file__).with_name("verdicts.jsonl.gz")
NOTICES = Path(__file__).with_name("notices.jsonl.gz")
WEIGHTS = Path(check.__file__).with_name("weights.json")
# Of these the reader of claims has learnt no answer.
HELD_OUT = frozenset("18f-guides digitalgov nushell prometheus svelte vite helm-ko vue-ko".split())
# Written together, a true one and a false one; of the training's some are, too.
PAIRS = frozenset(("gist", "one fact in other words", "who and how", "with a lead or a hedge"))
# Documents of DATA, and where they are.
DOCUMENTS = {
    "rust-book": "rust-book/src",
    "fastapi": "fastapi-docs-en-ko/docs/en",
    "fastapi-ko": "fastapi-docs-en-ko/docs/ko",
}
# Of sentences that a script edits, so many are said, and not made false.
TRUE_SHARE = 0.65
PENALTY, STEPS, RATE = 0.5, 8000, 0.5
# Cases for the fit beside the answers: edited sentences, and of each kind of lies.py. Those count half as much again: where they counted
# half, a word exchanged in a copy was let through where a reader liked it.
EDITED, OF_EACH_KIND, SCRIPT_WEIGHT = 400, 40, 1.5
# What words count beside a reader is set, not fitted: these answers are all about their passage, and one writer's. On claims of
# others that people have labelled (attribution.py) words tell what the reader does not.
WORDS_WEIGHT = 0.2

# How an answer ends: every sentence backed; standing without a tick, the most of it said in other words; not standing.
TICK, IN_OTHER_WORDS, DOUBTED = "tick", "no tick", "doubted"

Texts = tuple[str, str]


def answers() -> list[dict[str, Any]]:
    """manual, passage (a digest), lang, held (not looked at), spoken, true, kind (what was done), answer."""
    with gzip.open(ANSWERS, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def notices() -> Iterator[tuple[dict[str, Any], Texts]]:
    """(an answer as of `answers`, (title, text) of its passage)"""
    with gzip.open(NOTICES, "rt", encoding="utf-8") as lines:
        for notice in map(json.loads, lines):
            row = {"manual": "notices", "passage": digest_of(notice["passage"]), "lang": notice["lang"], "held": False}
            yield from ((row | answer, ("", notice["passage"])) for answer in notice["answers"])


def passages(
    pages: Path, homes: Path, manuals: Sequence[str], data: Path | None = None
) -> Iterator[tuple[str, tuple[str, str]]]:
    """(digest, (title, text)) of every chunk of the manuals that are there."""
    for manual in manuals:
        folder = data / DOCUMENTS[manual] if data and manual in DOCUMENTS else pages / manual
        if not folder.is_dir():
            print(f"{manual}: no {folder}")
            continue
        with kb.open(homes / manual) as base:
            base.ingest(folder)
            ids = [row[0] for row in base.runtime().store._connection.execute("SELECT chunk_id FROM chunks")]
            for chunk in base.chunks(ids).values():
                yield digest_of(chunk.text), (chunk.title, chunk.text)


def digest_of(text: str) -> str:
    """Of a passage."""
    return sha256(text.encode()).hexdigest()[:16]


def edit_sentences(
    passages: Sequence[tuple[str, Texts]], count: int, rng: random.Random
) -> Iterator[tuple[str, Texts, bool, str]]:
    """Sentences of passages, said nearly as they stand or made false by a script, each with its passage.

    passages  (language, (text, title))
    returns   about `count` of (claim, (text, title), whether it is said, language)
    """
    for _ in range(count):
        language, texts = rng.choice(passages)
        sentences = [" ".join(texts[0][a:b].split()) for a, b in split_sentences(texts[0])]
        sentences = [s for s in sentences if 25 <= len(s) <= 300 and s[-1] in ".!" and not MARKUP.match(s)]
        is_true = rng.random() < TRUE_SHARE
        edit = rng.choice([*(TRUTHS if is_true else LIES)[language].values()])
        rng.shuffle(sentences)
        for sentence in sentences:
            found = edit(sentence, rng, sentences)
            if found is not None and (is_true or found != sentence):
                yield found, texts, is_true, language
                break


def kind_of(row: Mapping[str, Any]) -> str:
    """See the module."""
    if row["manual"] == "notices":
        return "notices"
    if row.get("spoken"):
        return "as spoken"
    if row["kind"] in PAIRS:
        return "in pairs"
    if row["manual"] in DOCUMENTS:
        return "documents"
    return "held out" if row["manual"] in HELD_OUT and row["held"] else "looked at"


def report(
    rows: Sequence[Mapping[str, Any]], texts: Mapping[str, tuple[str, str]], read: ReadClaims | None, *, show: bool
) -> None:
    """A line per language, kind and truth."""
    ends: dict[tuple[str, str, bool], list[str]] = defaultdict(list)
    if read:
        read([("the", ("the",))])  # opens it
    began = time.process_time()
    for row in rows:
        title, text = texts[row["passage"]]
        checked = verify(row["answer"], {1: replace(passage_as_chunk(text), title=title)}, None, read)
        end = end_of(checked.verification)
        ends[row["lang"], kind_of(row), row["true"]].append(end)
        if kind_of(row) in ("as spoken", "in pairs"):
            ends[row["lang"], row["kind"], row["true"]].append(end)
        if show and kind_of(row) == "looked at" and end == (DOUBTED if row["true"] else TICK):
            why = [(s.status, s.score, s.reasons) for s in checked.verification.sentences]
            print(f"{'doubted' if row['true'] else 'a tick'}: {row['kind']}\n  {row['answer']}\n  {why}")
    print(f"CPU of checking an answer: {(time.process_time() - began) / max(1, len(rows)) * 1000:.0f} ms")
    for (language, kind, is_true), found in sorted(ends.items()):
        told = []
        for end in (TICK, IN_OTHER_WORDS, DOUBTED):
            count = found.count(end)
            low, high = wilson(count, len(found))
            told.append(f"{end} {count / len(found):.3f} [{low:.3f}, {high:.3f}]")
        print(f"{language}, {kind:28}, {'true' if is_true else 'false':5}  {'  '.join(told)}  of {len(found)}")


def end_of(verification: Verification) -> str:
    """What a user sees of an answer."""
    return TICK if has_tick(verification) else IN_OTHER_WORDS if stands(verification) else DOUBTED


def cases(
    rows: Sequence[Mapping[str, Any]], texts: Mapping[str, Texts], data: Path
) -> Iterator[tuple[str, Texts, bool, float]]:
    """(answer, (text, title), whether it is true, weight) of what the weights are fitted on."""
    held = sorted({(row["lang"], texts[row["passage"]][::-1]) for row in rows})
    for row in rows:
        yield row["answer"], texts[row["passage"]][::-1], row["true"], 1.0
    for claim, told, is_true, _ in edit_sentences(held, EDITED, random.Random(7)):
        yield claim, told, is_true, 1.0
    for case in make_cases(data, "dev", None, OF_EACH_KIND):
        if case.kind not in (*SHAPES, "verbatim"):
            yield case.answer, (case.passage, ""), case.is_true, SCRIPT_WEIGHT


def fit(found: Sequence[tuple[str, Texts, bool, float]], read: ReadClaims) -> check.Model:
    """A logistic regression over the doubtfullest sentence of each answer without a fault: that of a false one is the false one."""
    values, labels, weight = [], [], []
    for answer, told, is_true, counts in found:
        sentences = [claim.text for claim in find_claims(answer)]
        readings = [r for _, r in check.read_claims(sentences, [told] * len(sentences), None, read)]
        if any(reading.faults for reading in readings):
            continue
        least = min((r for r in readings if r.reader is not None), key=lambda r: r.reader or 0.0, default=None)
        if least is not None:
            values.append((1.0, *check.read_features_of(least)))
            labels.append(float(is_true))
            weight.append(counts)
    x, y, w = np.array(values), np.array(labels), np.array(weight)
    weights = np.zeros(x.shape[1])
    weights[-1] = WORDS_WEIGHT
    for _ in range(STEPS):
        expected = 1 / (1 + np.exp(-x @ weights))
        step = RATE * (x.T @ (w * (expected - y)) + PENALTY * np.array([0.0, *weights[1:]])) / len(y)
        weights[:-1] -= step[:-1]
    return check.Model(round(float(weights[0]), 3), tuple(round(float(w), 3) for w in weights[1:]))


def write(name: str, model: check.Model) -> None:
    """Into weights.json, beside the others."""
    stored = json.loads(WEIGHTS.read_text(encoding="utf-8"))
    weights = dict(zip(check.READ, model.weights, strict=True))
    stored["models"][name] = {"recipe": "benchmarks/verdicts.py --fit", "bias": model.bias, "weights": weights}
    WEIGHTS.write_text(json.dumps(stored, indent=2) + "\n", encoding="utf-8")
    check.load_models.cache_clear()
    print(name, model)


def main() -> None:
    """Verify every answer against its passage."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("pages", "homes", "data"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--only", default="", help="a language")
    parser.add_argument("--show", action="store_true", help="every answer that was looked at and is judged wrongly")
    parser.add_argument("--reader", action="store_true", help="with the readers of claims")
    parser.add_argument("--fit", action="store_true")
    chosen = parser.parse_args()
    rows = [row for row in answers() if row["lang"].startswith(chosen.only)]
    texts = dict(passages(chosen.pages, chosen.homes, sorted({row["manual"] for row in rows}), chosen.data))
    rows = [row for row in rows if row["passage"] in texts]
    told = [(row, text) for row, text in notices() if row["lang"].startswith(chosen.only)]
    rows += [row for row, _ in told]
    texts |= {row["passage"]: text for row, text in told}
    read = open_claims(cache_folder(os.environ), print) if chosen.reader or chosen.fit else None
    if chosen.fit and read:
        found = list(
            cases([row for row in rows if row["manual"] in HELD_OUT and kind_of(row) != "in pairs"], texts, chosen.data)
        )
        for is_korean in (False, True):
            own = [case for case in found if has_letters("ko", case[0]) == is_korean]
            write(check.reader_weights(is_korean=is_korean), fit(own, read))
    report(rows, texts, read, show=chosen.show)


if __name__ == "__main__":
    main()
