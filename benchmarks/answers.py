"""What `ask` answers without a language model: 120 natural questions, ClapNQ's, and the fixture suite, beside plain baselines.

    python benchmarks/answers.py DATA_FOLDER HOMES_FOLDER [--only questions,quantities,clapnq,fixtures] [--write FILE] [--every N]

HOMES_FOLDER keeps a knowledge base for each collection: made by the first run, read again by later ones (their documents are
ingested incrementally, so a reader that changed is seen). Figures: the share of answerable questions answered with the gold
text, that answered, shown as the closest passages (not sure) and refused, the same of unanswerable ones, words of an answer, answers with markup in them; for ClapNQ also
F1 of words with the best human answer. Baselines read the same hits: the first sentence of the top hit, the sentence that is
nearest by cosine, rank-bm25's best sentence. --write keeps every answer, for rating by the rubric in benchmarks/README.md;
answers_ratings.json holds what two raters said, by the answer's digest: an answer that changed is unrated until it is rated anew.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from rank_bm25 import BM25Okapi

import kb
from kb.language.registry import LANGUAGES
from kb.text import analyze, analyze_query, split_sentences

QUESTIONS = {kind: Path(__file__).with_name(f"answers_{kind}.yaml") for kind in ("questions", "quantities")}
RATINGS = Path(__file__).with_name("answers_ratings.json")
FIXTURES = Path(__file__).resolve().parents[1] / "fixtures"
# Collection → its folder in DATA_FOLDER; release notes and the table of contents are left out.
FOLDERS = {
    "rust": "rust-book/src",
    "fastapi": "fastapi-docs-en-ko/docs/en/docs",
    "ko": "fastapi-docs-en-ko/docs/ko/docs",
}
LEFT_OUT = ("release-notes.md", "SUMMARY.md")
RECORDS = ("clapnq", "cranfield")  # corpus.jsonl: a page a record
DEBRIS = re.compile(
    r"</?(?:a|br|span|div|img|table|td|tr|abbr|dfn|sup|sub|small|p|details|summary)\b[^>]*>|<[A-Z]\w+(?:\s[^<>]*)?/?>"
    r"|^\s*\[[^\]]+\]:\s|^\s*import .* from|\{\s*#[\w-]+\s*\}|\{\*.*\*\}|^\s*(?:///|:::)|^\s*\|.*\|\s*$",
    re.M,
)
# How the words above quotes begin that lack something, in every language.
LACKING = tuple(
    reply.partition("{")[0]
    for language in LANGUAGES.values()
    for name, reply in language.replies.items()
    if name.startswith("lacks_")
)
GATES = (0.3, 0.4, 0.5, 0.55, 0.6, 0.65, 0.7, 0.8)
_CODE = re.compile(r"^```.*?^```|`[^`\n]+`", re.M | re.S)


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, what must stand in its answer (None: the documents hold none), and human answers where there are some."""

    question: str
    gold: tuple[str, ...] | None
    human: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reply:
    """What somebody answers.

    text     what is shown of the documents, as an answer or as the closest passages; None for a refusal
    is_sure  False for the closest passages
    score    probability that the evidence answers, by the gate; None of a baseline
    lacks    the quotes lack what is asked for, or a name of the question: no answer, whatever the score
    """

    text: str | None
    shown: str = ""
    is_sure: bool = True
    score: float | None = None
    lacks: bool = False

    def answers(self) -> bool:
        return self.text is not None and self.is_sure


def flat(text: str) -> str:
    """One line without the marks around words."""
    return re.sub(r"[*`]", "", " ".join(text.split()))


def holds(text: str, gold: Sequence[str]) -> bool:
    return all(re.search(pattern, flat(text), re.I) for pattern in gold)


def words_f1(text: str, answers: Sequence[str]) -> float:
    """F1 of words against the best of several answers."""
    said = Counter(analyze(text))
    best = 0.0
    for answer in answers:
        wanted = Counter(analyze(answer))
        both = (said & wanted).total()
        best = max(best, 2 * both / max(1, said.total() + wanted.total()))
    return best


def fill(data: Path, homes: Path, name: str) -> Path:
    """The home of a collection, with its documents ingested."""
    pages = homes / "pages" / name
    if not pages.exists():
        pages.mkdir(parents=True)
        if name in RECORDS:
            for line in (data / name / "corpus.jsonl").open(encoding="utf-8"):
                page = json.loads(line)
                title = " ".join(page["title"].split()) or page["_id"]
                (pages / f"{page['_id']}.md").write_text(f"# {title}\n\n{page['text']}\n", encoding="utf-8")
        else:
            shutil.copytree(data / FOLDERS[name], pages, dirs_exist_ok=True, copy_function=shutil.copyfile)
            for left_out in LEFT_OUT:
                (pages / left_out).unlink(missing_ok=True)
    home = homes / name
    with kb.open(home) as base:
        base.ingest(pages)
    return home


def ask(base: kb.KnowledgeBase, question: str) -> Reply:
    answer = base.ask(question)
    is_answered = answer.refusal_reason is None
    is_shown = is_answered or any(cited.marker is not None for cited in answer.citations)
    shown = f"[{answer.outcome}; {answer.refusal_reason}; evidence {answer.retrieval.evidence_score}]\n{answer.answer}"
    lacks = answer.answer.startswith(LACKING)
    return Reply(answer.answer if is_shown else None, shown, is_answered, answer.retrieval.evidence_score, lacks)


def baselines(base: kb.KnowledgeBase, question: str) -> dict[str, Reply]:
    hits = base.search(question).hits
    if not hits:
        return dict.fromkeys(("first sentence", "nearest sentence", "best by bm25"), Reply(None))
    held = base.chunks([int(hit.chunk_id) for hit in hits])
    chunks = [held[int(hit.chunk_id)] for hit in hits]
    texts = [re.sub(r"^#+ .*$", "", chunk.text, flags=re.M).strip() for chunk in chunks]
    per_hit = [[text[a:b] for a, b in split_sentences(text)] for text in texts]
    sentences = [sentence for several in per_hit for sentence in several if any(map(str.isalnum, sentence))]
    first = next((sentence for sentence in per_hit[0]), sentences[0])
    vectors = base.runtime().encode_sentences([question, *sentences])
    nearest = sentences[int(np.argmax(vectors[1:] @ vectors[0]))]
    scores = BM25Okapi([analyze(s) or [""] for s in sentences]).get_scores(analyze_query(question))
    return {
        "first sentence": Reply(first),
        "nearest sentence": Reply(nearest),
        "best by bm25": Reply(sentences[int(np.argmax(scores))]),
    }


def has_debris(text: str) -> bool:
    return DEBRIS.search(_CODE.sub("", text)) is not None


def show(title: str, rows: Sequence[tuple[Asked, dict[str, Reply]]]) -> None:
    """One line of figures for each system."""
    if not rows:
        return
    print(f"\n{title}: {len(rows)} questions, {sum(asked.gold is None for asked, _ in rows)} of them without an answer")
    for system in rows[0][1]:
        pairs = [(asked, replies[system]) for asked, replies in rows]
        good = [(asked, reply) for asked, reply in pairs if asked.gold is not None]
        none = [reply for asked, reply in pairs if asked.gold is None]
        said = [reply.text for _, reply in pairs if reply.text is not None]
        figures = {}
        if good:
            figures["contains gold"] = np.mean([r.answers() and holds(r.text or "", a.gold or ()) for a, r in good])
            figures["answered"] = np.mean([reply.answers() for _, reply in good])
            unsure = [(a, r) for a, r in good if r.text is not None and not r.is_sure]
            figures["not sure, gold shown"] = sum(holds(r.text or "", a.gold or ()) for a, r in unsure) / len(good)
            figures["not sure"] = len(unsure) / len(good)
            figures["refused"] = np.mean([reply.text is None for _, reply in good])
            if all(asked.human for asked, _ in good):
                figures["F1"] = np.mean([words_f1(r.text or "", a.human) for a, r in good])
        if none:
            figures["unanswerable answered"] = np.mean([reply.answers() for reply in none])
            figures["unanswerable not sure"] = np.mean([reply.text is not None and not reply.is_sure for reply in none])
        figures["words"] = float(np.median([len(text.split()) for text in said])) if said else 0.0
        figures["markup"] = np.mean([has_debris(text) for text in said]) if said else 0.0
        print(f"  {system:18s} " + "  ".join(f"{name} {value:.3f}" for name, value in figures.items()), flush=True)


def digest_of(text: str) -> str:
    """Of the first quote, which is what is rated."""
    first = re.split(
        "|".join(f"\n\n{re.escape(language.replies['see_also'])}\n" for language in LANGUAGES.values()), text
    )[0]
    return hashlib.sha256(flat(re.sub(r"\[#\d+\]", "", first)).encode()).hexdigest()[:16]


def show_ratings(title: str, rows: Sequence[tuple[Asked, dict[str, Reply]]]) -> None:
    """What each rater said of the answers to answerable questions: A right and readable, B right, C not; a refusal is N."""
    rated: dict[str, str] = json.loads(RATINGS.read_text())
    good = [(asked, replies["kb"]) for asked, replies in rows if asked.gold is not None]
    told = [rated.get(f"{a.question}#{digest_of(r.text or '')}", "??") if r.answers() else "NN" for a, r in good]
    for rater in range(2):
        counts = Counter(letters[rater] for letters in told)
        print(f"  {title}, rater {rater + 1}, of {len(good)}: {dict(sorted(counts.items()))}")


def show_gates(title: str, rows: Sequence[tuple[Asked, dict[str, Reply]]]) -> None:
    """What `rag.sure_gate` would do: questions with an answer that are answered (with the gold text), and those without one."""
    pairs = [(asked, replies["kb"]) for asked, replies in rows]
    good = [(a, r) for a, r in pairs if a.gold is not None]
    none = [r for a, r in pairs if a.gold is None]
    print(f"  {title}, answered (with gold) · unanswerable answered, by rag.sure_gate:")
    for gate in GATES:
        told = [(a, r) for a, r in good if r.text is not None and not r.lacks and (r.score or 0.0) >= gate]
        gold = sum(holds(r.text or "", a.gold or ()) for a, r in told)
        wrong = sum(r.text is not None and not r.lacks and (r.score or 0.0) >= gate for r in none)
        print(f"    {gate:.2f}: {len(told)} ({gold}) of {len(good)} · {wrong} of {len(none)}")


def run(
    base: kb.KnowledgeBase, questions: Sequence[Asked], keep: Callable[[Asked, Reply], None], with_baselines: bool
) -> Iterator[tuple[Asked, dict[str, Reply]]]:
    for asked in questions:
        reply = ask(base, asked.question)
        keep(asked, reply)
        yield asked, {"kb": reply} | (baselines(base, asked.question) if with_baselines else {})


def natural_questions(kind: str, name: str) -> list[Asked]:
    entries: list[dict[str, Any]] = yaml.safe_load(QUESTIONS[kind].read_text(encoding="utf-8")).get(name, [])
    return [Asked(e["q"], tuple(e["gold"]) if "gold" in e else None) for e in entries]


def clapnq_questions(data: Path, every: int) -> list[Asked]:
    """Every nth question; contains gold: a fifth of the longest words and numbers of the human answer is a weak test, so F1."""
    found = []
    for line in (data / "clapnq" / "queries.jsonl").open(encoding="utf-8"):
        query = json.loads(line)
        if query["answerable"]:
            found.append(Asked(query["text"], (), tuple(query["answers"])))
    return found[::every]


def fixture_questions() -> list[Asked]:
    entries = yaml.safe_load((FIXTURES / "suites" / "corpus.yaml").read_text(encoding="utf-8"))["queries"]
    found = []
    for entry in entries:
        if entry.get("answerable") is False:
            found.append(Asked(entry["query"], None))
        elif entry.get("must_contain"):
            wanted = entry["must_contain"]
            one_of = [re.escape(flat(text)) for text in wanted.get("any", [])]
            gold = [re.escape(flat(text)) for text in wanted.get("all", [])] + (["|".join(one_of)] if one_of else [])
            found.append(Asked(entry["query"], tuple(gold)))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("homes", type=Path)
    parser.add_argument("--only", default="questions,clapnq,fixtures")
    parser.add_argument("--write", type=Path)
    parser.add_argument("--baselines", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--every", type=int, default=3, help="of ClapNQ's questions, every nth")
    arguments = parser.parse_args()
    kinds = arguments.only.split(",")
    written: list[str] = []

    def keep(asked: Asked, reply: Reply) -> None:
        mark = "none expected" if asked.gold is None else "gold" if holds(reply.text or "", asked.gold) else "no gold"
        written.append(f"## {len(written) + 1}. {asked.question}  ({mark})\n\n{reply.shown}\n")

    for kind in (kind for kind in QUESTIONS if kind in kinds):
        english: list[tuple[Asked, dict[str, Reply]]] = []
        for name in (*FOLDERS, *RECORDS):
            if not (questions := natural_questions(kind, name)):
                continue
            with kb.open(fill(arguments.data, arguments.homes, name)) as base:
                rows = list(run(base, questions, keep, arguments.baselines))
            show(name, rows)
            if name == "ko":
                show_gates("Korean", rows)
                show_ratings("Korean", rows)
            english += rows if name != "ko" else []
        show("English", english)
        show_gates("English", english)
        show_ratings("English", english)
    if "clapnq" in kinds:
        with kb.open(fill(arguments.data, arguments.homes, "clapnq")) as base:
            questions = clapnq_questions(arguments.data, arguments.every)
            show("ClapNQ", list(run(base, questions, lambda asked, reply: None, arguments.baselines)))
    if "fixtures" in kinds:
        with kb.open(arguments.homes / "fixtures") as base:
            base.ingest(FIXTURES / "corpus")
            show("fixtures", list(run(base, fixture_questions(), lambda asked, reply: None, arguments.baselines)))
    if arguments.write:
        arguments.write.write_text("\n".join(written), encoding="utf-8")


if __name__ == "__main__":
    main()
