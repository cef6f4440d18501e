"""Rows of people → examples that a reader learns from: a question, a stretch of text, and whether the text answers it.

What a passage shows is what the reader will be given (kb.reader.windows, two neighbouring sentences). Of each question: a
stretch that holds the answer; the stretch of the same passage that is nearest in words and does not; the passage that is
nearest in words of all others; and the question with a name, a number or a word swapped. Of questions that were written for
training (training/written.py), those that their passage does not answer take the place of the swapped ones. Nothing that
the gate or the curve is measured on is among them. Deterministic by `SEED`.
"""

from __future__ import annotations

import gzip
import itertools
import json
import random
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "benchmarks"))

from gate_sets import READER_SETS, reader_cases  # noqa: E402
from reader_rows import digest, held_out_squad, load_rows  # noqa: E402
from sklearn.feature_extraction.text import TfidfVectorizer  # noqa: E402

from kb.evidence.question import units_of  # noqa: E402
from kb.reader.windows import best_window  # noqa: E402
from kb.text import analyze, analyze_query, split_sentences  # noqa: E402

SEED = 20
STRETCH_CHARS = 400
# Of each source, questions at most: the hard ones count more (its SOURCES.md says which flatter every model).
QUESTIONS = {
    "qed-nq": 4500,
    "tydi-goldp-train": 3000,
    "tydi-goldp-dev": 500,
    "squad-dev": 2000,
    "squad2-dev": 2500,
    "covid-qa": 900,
    "selqa-dev": 500,
    "selqa-test": 900,
    "fairytaleqa": 1200,
    "qamr-dev": 400,
    "qamr-test": 400,
}
# Passages that are nearest in words to a question, of which one that does not hold its answer is a negative.
NEAREST = 6
BOOLQ = "kobest-boolq"
# Questions written for training: what their passage does not answer, by kind; one passage of so many is held out for the curve.
NEAR, SWAPPED = "near", "swapped"
HELD_OUT = 12
# So many passages that a search found and that do not answer are shown beside the one that does, of so many.
FOUND, OF_FOUND = 4, 14
# A quote rated so or better answers.
RIGHT = 2
# So many of the stretches of a passage with a heading are shown with it, as the reader gets them.
WITH_HEADING = 0.8


@dataclass(frozen=True, slots=True)
class Example:
    """
    group   examples of one question, swapped or not, which are compared with each other
    rating  of a rated quote, 0 to 3: 2 and 3 answer; None of every other example
    """

    group: int
    question: str
    text: str
    answers: bool
    language: str
    kind: str
    rating: int | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with the passage it is about, and where its answers are; () where the passage has none."""

    question: str
    passage: str
    answers: tuple[tuple[int, str], ...]
    language: str
    source: str
    heading: str = ""


@dataclass(frozen=True, slots=True)
class Written:
    """The questions that were written about one passage.

    answered  the passage answers them
    others    (kind, question, passage): it does not; another passage of the same article, where one is given
    """

    answered: tuple[Asked, ...]
    others: tuple[tuple[str, str, str], ...]


def measured_passages(data: Path) -> frozenset[str]:
    """Every passage that the gate is measured with, as gold or as filler, and those of the curve."""
    shown = {text for name in READER_SETS for _, text in reader_cases(data, name) if text}
    asked = {case.question for name in READER_SETS for case, _ in reader_cases(data, name) if case.question}
    of_asked = {row["passage"] for row in load_rows(data) if row["question"] in asked}
    dev = {row["passage"] for row in load_rows(data) if row["split"] == "dev"}
    return frozenset(shown | of_asked | dev) | held_out_squad(data)


def questions_of(data: Path, *, held_out: bool) -> list[Asked]:
    """Questions to train on, or those of the curve (the rows' own dev split)."""
    measured = measured_passages(data)
    clapnq = {json.loads(line)["text"].lower().strip(" ?") for line in (data / "clapnq/queries.jsonl").open()}
    found = []
    seen = set()
    for row in load_rows(data):
        is_about = row["answerable"] or row["source"] == "squad2-dev"
        key = (row["question"], row["passage"])
        if not is_about or key in seen or row["question"].lower().strip(" ?") in clapnq:
            continue
        if (row["split"] == "dev") != held_out or (not held_out and row["passage"] in measured):
            continue
        seen.add(key)
        answers = tuple((a["start"], a["text"]) for a in row["answers"])
        found.append(Asked(row["question"], row["passage"], answers, row["lang"], row["source"]))
    found.sort(key=lambda a: digest(a.question + a.passage))
    if held_out:
        return found
    counts: dict[tuple[str, str], int] = {}
    kept = []
    for asked in found:
        n = counts[asked.language, asked.source] = counts.get((asked.language, asked.source), 0) + 1
        if n <= QUESTIONS[asked.source]:
            kept.append(asked)
    return kept


def yes_no_of(data: Path) -> list[Asked]:
    """Korean yes–no questions and statements, each with the passage that decides it, which counts as its answer."""
    found = []
    with gzip.open(data / "reader" / "support.jsonl.gz", "rt", encoding="utf-8") as file:
        for row in map(json.loads, file):
            if row["source"].startswith(BOOLQ) and row["split"] == "train":
                found.append(Asked(row["claim"], row["evidence"], ((0, ""),), "ko", BOOLQ))
    return sorted(found, key=lambda a: digest(a.question))


def written_of(rows: Path, *, held_out: bool) -> list[Written]:
    """Questions that training/written.py joined to their passages, in the order of the passages' digests.

    rows  one JSON object a line: lang, source, heading, passage, question, kind, answers ([start, text] each), and the group that it
          belongs to where that is more than one passage
    """
    groups: dict[str, list[dict[str, Any]]] = {}
    with gzip.open(rows, "rt", encoding="utf-8") as file:
        for row in map(json.loads, file):
            groups.setdefault(row.get("group") or row["passage"], []).append(row)
    found = []
    for group in sorted(groups, key=digest):
        if (int(digest(group), 16) % HELD_OUT == 0) != held_out:
            continue
        mine = groups[group]
        answered = tuple(
            Asked(r["question"], r["passage"], tuple(map(tuple, r["answers"])), r["lang"], r["source"], r["heading"])
            for r in mine
            if r["answers"]
        )
        if answered:
            others = ((r["kind"], r["question"], r["passage"]) for r in mine if not r["answers"])
            found.append(Written(answered, tuple(others)))
    return found


def make_written(written: Sequence[Written], first_group: int = 0) -> list[Example]:
    """Groups of examples, one for each passage: what it answers is compared with what it does not."""
    rng = random.Random(SEED)
    asked = [one for about in written for one in about.answered]
    nearest = {}
    for language in ("en", "ko"):
        mine = [a for a in asked if a.language == language]
        nearest |= dict(zip(map(id, mine), _nearest(mine), strict=True)) if mine else {}
    headings = {a.passage: a.heading for a in asked}
    names = {lang: _names([a for a in asked if a.language == lang]) for lang in ("en", "ko")}
    found: list[Example] = []
    for number, about in enumerate(written, start=first_group):
        own, language = about.answered[0].passage, about.answered[0].language
        for one in about.answered:
            for question, text, answers, kind in _of_question(one, nearest[id(one)], names[language], rng):
                heading = headings[own] if kind != "other passage" else _heading_of(text, headings)
                found.append(Example(number, question, _under(heading, text, rng), answers, language, kind))
        for kind, question, passage in about.others:
            terms = frozenset(analyze_query(question))
            stretch = best_window(terms, passage, STRETCH_CHARS)
            pair = max(_pairs(passage), key=lambda text: (_shared(terms, text), text))
            for text in dict.fromkeys((stretch, pair)):
                shown = _under(headings[own], text, rng)
                found.append(Example(number, question, shown, False, language, f"written: {kind}"))
    return found


def make_found(rows: Path, *, held_out: bool) -> list[Example]:
    """Groups of examples: the first passage found that answers a question, and FOUND of the others (training/found.py)."""
    rng = random.Random(SEED)
    made: list[Example] = []
    with gzip.open(rows, "rt", encoding="utf-8") as file:
        for number, row in enumerate(map(json.loads, file)):
            good = [text for answers, text in row["found"] if answers]
            bad = [text for answers, text in row["found"] if not answers][:OF_FOUND]
            bad = rng.sample(bad, min(len(bad), FOUND))
            if good and (int(digest(row["passage"]), 16) % HELD_OUT == 0) == held_out:
                shown = [(good[0], True), *((text, False) for text in bad)]
                made += [
                    Example(number, row["question"], text, answers, row["lang"], "found") for text, answers in shown
                ]
    return made


def make_rated(rows: Path, manuals: frozenset[str], *, held_out: bool) -> list[Example]:
    """Groups of examples: the rated quotes of a question (training/rated.py), each text once.

    manuals  that are held out
    """
    made: list[Example] = []
    with gzip.open(rows, "rt", encoding="utf-8") as file:
        for number, row in enumerate(map(json.loads, file)):
            if (row["manual"] in manuals) == held_out:
                texts = {text: rating for rating, text in reversed(row["shown"])}
                made += [
                    Example(number, row["question"], text, rating >= RIGHT, row["lang"], "rated", rating)
                    for text, rating in texts.items()
                ]
    return made


def _heading_of(text: str, headings: Mapping[str, str]) -> str:
    return next((heading for passage, heading in headings.items() if text in passage), "")


def _under(heading: str, text: str, rng: random.Random) -> str:
    return f"{heading}: {text}" if heading and rng.random() < WITH_HEADING else text


def make_examples(asked: Sequence[Asked], first_group: int = 0) -> list[Example]:
    """Groups of examples, in the order of the questions."""
    rng = random.Random(SEED)
    found: list[Example] = []
    nearest = {}
    for language in ("en", "ko"):
        mine = [a for a in asked if a.language == language]
        nearest |= dict(zip(map(id, mine), _nearest(mine), strict=True))
    names = {lang: _names([a for a in asked if a.language == lang]) for lang in ("en", "ko")}
    for number, about in enumerate(asked, start=first_group):
        made = list(_of_question(about, nearest[id(about)], names[about.language], rng))
        found += [Example(number, *parts, about.language, kind) for *parts, kind in made]
    return found


def _of_question(
    about: Asked, nearest: Sequence[str], names: Sequence[str], rng: random.Random
) -> Iterator[tuple[str, str, bool, str]]:
    """(question, text, whether it answers, kind)."""
    question = about.question
    terms = frozenset(analyze_query(question))
    stretch = best_window(terms, about.passage, STRETCH_CHARS)
    pairs = _pairs(about.passage)
    holding = [text for text in pairs if _holds(about, text)] if about.answers else []
    if about.answers:
        holds = _holds(about, stretch)
        yield question, stretch, holds, "stretch"
        if holding and (len(holding[0]) < len(about.passage) - 20 or not holds):
            yield question, max(holding, key=lambda t: (_shared(terms, t), t)), True, "pair"
        lacking = [text for text in pairs if not _holds(about, text)]
        if lacking and about.source != BOOLQ:
            yield question, max(lacking, key=lambda t: (_shared(terms, t), t)), False, "same passage"
        gold = stretch if holds else holding[0] if holding else ""
        swapped = _swap(question, gold, names, about.language, rng) if gold else None
        if swapped:
            yield swapped, gold, False, "swapped"
    else:
        yield question, stretch, False, "person's near miss"
    texts = [a[1].lower() for a in about.answers if a[1]]
    others = [p for p in nearest if p != about.passage and not any(t in p.lower() for t in texts)]
    # Answers as short as a digit stand everywhere.
    others = others or [p for p in nearest if p != about.passage][-1:]
    if about.language == "ko" or about.answers:
        for passage in others[: 2 if about.language == "ko" else 1]:
            yield question, best_window(terms, passage, STRETCH_CHARS), False, "other passage"


def _holds(about: Asked, text: str) -> bool:
    start = about.passage.find(text)
    return any(start <= at < start + len(text) and (not a or a in text) for at, a in about.answers) or (
        about.source == BOOLQ
    )


def _pairs(passage: str) -> list[str]:
    """Every two neighbouring sentences."""
    spans = split_sentences(passage)
    if len(spans) < 2:
        return [passage]
    return [passage[a[0] : b[1]][:STRETCH_CHARS] for a, b in itertools.pairwise(spans)]


def _shared(terms: frozenset[str], text: str) -> int:
    return len(terms.intersection(analyze(text)))


def _nearest(asked: Sequence[Asked]) -> list[list[str]]:
    """For each question the passages that share most of its words, the nearest first."""
    passages = sorted({a.passage for a in asked})
    vectorizer = TfidfVectorizer(analyzer=analyze, sublinear_tf=True, dtype=np.float32)
    matrix = vectorizer.fit_transform(passages).T.tocsr()
    questions = vectorizer.transform([a.question for a in asked])
    found = []
    for start in range(0, len(asked), 500):
        scores = (questions[start : start + 500] @ matrix).toarray()
        best = np.argsort(-scores, axis=1, kind="stable")[:, :NEAREST]
        found += [[passages[i] for i in row] for row in best]
    return found


def _names(asked: Sequence[Asked]) -> list[str]:
    """What swaps are drawn from: names inside sentences; in Korean the longest word of each question, without its ending."""
    if asked and asked[0].language == "ko":
        return sorted({u.text for a in asked for u in units_of(a.question) if len(u.text) > 1})
    return sorted({name for a in asked for name in re.findall(r"(?<=[a-z,] )[A-Z][a-z]{3,}", a.passage)})


def _swap(question: str, gold: str, names: Sequence[str], language: str, rng: random.Random) -> str | None:
    """The question about something that the text does not speak of; None where it names nothing that the text holds."""
    units = [u for u in units_of(question) if u.text in question]
    rng.shuffle(units)
    for unit in units:
        word = unit.text
        if unit.kind == "number" and re.fullmatch(r"\d+", word):
            other = str(int(word) + rng.choice([-7, -3, -2, -1, 1, 2, 4, 9, 11]))
        elif language == "ko":
            fits = [n for n in (rng.choice(names) for _ in range(30)) if abs(len(n) - len(word)) <= 1]
            if len(word) < 2 or word not in gold or not fits:
                continue
            other = fits[0]
        elif len(word) > 3 and re.search(rf"\b{re.escape(word.capitalize())}\b", gold):
            other = rng.choice(names)
            other = other if word[0].isupper() else other.lower()
        else:
            continue
        if other.lower() not in gold.lower() and other.lower() != word.lower():
            return re.sub(rf"\b{re.escape(word)}" + (r"\b" if language == "en" else ""), other, question, count=1)
    return None
