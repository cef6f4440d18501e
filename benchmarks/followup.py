"""Measures what the turns before a follow-up question add to its search, and whether they drag a new topic back.

    python benchmarks/followup.py [MTRAG_FOLDER] [--only fixtures|mtrag] [--mode lexical|hybrid]

Turns of the fixture suite's conversations, and of conversations of others: MTRAG_FOLDER holds files of IBM's
mt-rag-benchmark (Apache-2.0), flat: reference.jsonl of mtragun-human/generation_tasks,
reference_subset_with_human_evaluations.json of mtrag-human/evaluations, and, for each collection, NAME_questions.jsonl and
NAME_qrels.tsv (qrels/dev.tsv) of mtrag-human/retrieval_tasks. Its corpus here is every passage that those two files hold
(about 1,400), and a turn counts where all of its relevant passages are among them. Switches are built: a complete first
question of another conversation of the same collection comes after the turns of this one.

Recall@5 of a passage: the question as typed, as kb searches, and joined with the earlier question in other ways; paired
bootstrap intervals (95 %), turns resampled, against the question as typed and as kb searches, or as another kb did whose
--rows are given as --against. The page that a turn rests on is the first hit of the question that the next may lean on.
"""

from __future__ import annotations

import argparse
import json
import os
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import numpy as np

from kb.ask.complete import continuation_test, name_test
from kb.config import Config, cache_folder
from kb.eval.collections import CollectionDocument
from kb.eval.judges import judge_suite
from kb.eval.resampling import paired_bootstrap_interval
from kb.eval.suite import load_suite
from kb.eval.throwaway import collection_home, fill_from_documents, fill_from_folder
from kb.followup.records import Standalone, context_of, join
from kb.followup.standalone import make_standalone
from kb.records import SearchMode, SearchRequest
from kb.runtime import Runtime
from kb.search.pipeline import search

ROOT = Path(__file__).resolve().parents[1]
COLLECTIONS = ("clapnq", "cloud", "fiqa", "govt")
DEPTH = 5
MODES: tuple[SearchMode, ...] = ("lexical", "hybrid")
AGAINST = "the other kb"
# Questions of a conversation that no topic comes from.
SMALL_TALK = ("ACKNOWLEDGE", "CLARIFY")


@dataclass(frozen=True, slots=True)
class Asked:
    """One turn: the question, the (question, answer) turns before it, and the ids of what is to be found."""

    kind: str
    question: str
    before: tuple[tuple[str, str], ...]
    relevant: frozenset[str]
    group: str
    by_hand: str = ""


@dataclass(frozen=True, slots=True)
class Seen:
    """What a variant may use.

    found   the question as kb completes it
    last    what it leans on, complete
    """

    typed: str
    found: Standalone
    last: str


def fixture_turns(kb: Runtime) -> list[Asked]:
    suite = load_suite(ROOT / "fixtures/suites/sessions.yaml")
    judged = judge_suite(kb, suite).judged
    before: dict[str, list[tuple[str, str]]] = defaultdict(list)
    turns = []
    for query in suite.queries:
        assert query.session
        relevant = judged.get(query.id, {})
        best = frozenset(i for i, grade in relevant.items() if grade == max(relevant.values()))
        kind = query.slices["kind"]
        if best and before[query.session]:
            group = "follow-up" if query.standalone else "switch"
            turns.append(
                Asked(
                    f"fixtures {group} {query.slices['lang']}",
                    query.text,
                    tuple(before[query.session]),
                    best,
                    kind,
                    query.standalone or query.text,
                )
            )
        if query.expect_mode not in SMALL_TALK and kind not in ("greeting", "thanks"):
            before[query.session].append((query.text, ""))
    openings = [(q, judged[q.id]) for q in suite.queries if q.slices["kind"] == "opening" and judged.get(q.id)]
    ends = list(before.items())
    for at, (query, relevant) in enumerate(openings):
        best = frozenset(i for i, grade in relevant.items() if grade == max(relevant.values()))
        other = next(t for s, t in ends[(at * 7 + 3) % len(ends) :] + ends if s != query.session and t)
        turns.append(
            Asked(f"fixtures built switch {query.slices['lang']}", query.text, tuple(other[-2:]), best, "", query.text)
        )
    return turns


def mtrag_turns(folder: Path) -> tuple[list[Asked], list[CollectionDocument]]:
    texts: dict[str, CollectionDocument] = {}
    turns: dict[str, Asked] = {}
    openings: dict[str, list[tuple[str, frozenset[str]]]] = defaultdict(list)
    unseen = [json.loads(line) for line in (folder / "reference.jsonl").open(encoding="utf-8")]
    human = json.loads((folder / "reference_subset_with_human_evaluations.json").read_text(encoding="utf-8"))
    for passage in [c for row in unseen for c in row["contexts"]] + human["documents"]:
        key = str(passage["document_id"])
        texts.setdefault(key, CollectionDocument(key, passage.get("title") or "", passage["text"]))
    relevant: dict[str, set[str]] = defaultdict(set)
    for name in COLLECTIONS:
        for line in (folder / f"{name}_qrels.tsv").read_text(encoding="utf-8").splitlines()[1:]:
            task, passage_id, _ = line.split("\t")
            relevant[task].add(passage_id)
        for line in (folder / f"{name}_questions.jsonl").read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            asked = [text.removeprefix("|user|: ").strip() for text in row["text"].split("\n|user|: ")]
            gold = frozenset(relevant.get(row["_id"], ()))
            if not gold or not gold <= set(texts):
                continue
            if len(asked) == 1:
                openings[name].append((asked[0], gold))
            else:
                before = tuple((text, "") for text in asked[:-1])
                turns[row["_id"]] = Asked("mtrag", asked[-1], before, gold, name)
    for row in unseen:
        said = [turn["text"].strip() for turn in row["input"]]
        gold = frozenset(str(c["document_id"]) for c in row["contexts"])
        name = row["Collection"].replace("ibm", "")
        if not gold:
            continue
        if len(said) > 2:
            before = tuple(zip(said[:-1:2], said[1::2], strict=True))
            kind = ", ".join(row["Multi-Turn"])
            turns[row["task_id"] + "un"] = Asked("mtrag-un", said[-1], before, gold, kind)
        else:
            openings[name].append((said[0], gold))
    ordered = list(turns.values())
    for name in COLLECTIONS:
        of_name = [t for t in ordered if t.group == name] or ordered
        for at, (question, gold) in enumerate(openings[name]):
            other = of_name[(at * 7 + 3) % len(of_name)]
            ordered.append(Asked("mtrag built switch", question, other.before, gold, name))
    return ordered, list(texts.values())


VARIANTS: dict[str, Callable[[Seen], str]] = {
    "as typed": lambda seen: seen.typed,
    "as kb searches": lambda seen: seen.found.question,
    "always joined": lambda seen: join(seen.last, seen.typed),
}


def find(kb: Runtime, text: str, mode: SearchMode, by_path: bool) -> tuple[list[str], int | None]:
    hits = search(kb, SearchRequest(text, mode, DEPTH, as_found=True)).hits
    return [hit.citation.path.rsplit("/", 1)[-1] if by_path else str(hit.chunk_id) for hit in hits], (
        hits[0].chunk_id if hits else None
    )


def run_turn(kb: Runtime, turn: Asked, mode: SearchMode, by_path: bool) -> tuple[dict[str, float], Standalone]:
    """Recall of every variant, and the question as kb completes it."""
    is_name, last = name_test(kb), ""
    for question, _ in turn.before:
        last = make_standalone(question, last, is_name).question
    _, top = find(kb, last, mode, by_path)
    found = make_standalone(turn.question, last, is_name, continuation_test(kb, [top] if top else []))
    seen = Seen(turn.question, found, last)
    texts = {name: make(seen) for name, make in VARIANTS.items()}
    if turn.by_hand:
        texts["completed by hand"] = turn.by_hand
    hits = {text: find(kb, text, mode, by_path)[0] for text in set(texts.values())}
    scores = {
        name: sum(i in hits[text] for i in turn.relevant) / min(len(turn.relevant), DEPTH)
        for name, text in texts.items()
    }
    return scores, found


def report(title: str, rows: Sequence[dict[str, float]]) -> None:
    """Means, and what each gains over the question as typed and over kb's (or over that of the rows of --against)."""
    print(f"\n{title} ({len(rows)})")
    bases = [name for name in ("as typed", AGAINST, "as kb searches") if name in rows[0]][:2]
    for name in rows[0]:
        values = [(row[name], 1.0) for row in rows]
        cells = [f"{np.mean([row[name] for row in rows]):.3f}"]
        for base in bases:
            low, high = paired_bootstrap_interval([(row[base], 1.0) for row in rows], values, 0)
            cells.append(f"{np.mean([row[name] - row[base] for row in rows]):+.3f} [{low:+.3f}, {high:+.3f}]")
        print(f"  {name:32}" + "   ".join(cells))


def homes(folder: Path | None, only: str) -> Iterator[tuple[Runtime, list[Asked], bool]]:
    cache = cache_folder(os.environ)
    if only != "mtrag":
        corpus = ROOT / "fixtures/corpus"
        key = sha256(b"".join(f.read_bytes() for f in sorted(corpus.rglob("*")) if f.is_file())).hexdigest()
        kb = collection_home(cache, Config(), "followup-fixtures", key, fill_from_folder(corpus, lambda e: None), print)
        yield kb, fixture_turns(kb), False
    if folder and only != "fixtures":
        turns, texts = mtrag_turns(folder)
        key = sha256("\0".join(t.text for t in texts).encode()).hexdigest()
        fill = fill_from_documents(texts, lambda e: None)
        yield collection_home(cache, Config(), "followup-mtrag", key, fill, print), turns, True


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--only", choices=("fixtures", "mtrag"), default="")
    parser.add_argument("--mode", choices=MODES)
    parser.add_argument("--rows", type=Path, help="write every turn's scores to this file")
    parser.add_argument("--against", type=Path, help="compare with the rows of another kb")
    arguments = parser.parse_args()
    earlier = json.loads(arguments.against.read_text(encoding="utf-8")) if arguments.against else {}
    kept: dict[str, float] = {}
    for kb, turns, by_path in homes(arguments.folder, arguments.only):
        for mode in [mode for mode in MODES if arguments.mode in (None, mode)]:
            groups: dict[str, list[dict[str, float]]] = defaultdict(list)
            for at, turn in enumerate(turns):
                scores, found = run_turn(kb, turn, mode, by_path)
                key = f"{mode} {turn.kind} {at} {turn.question}"
                kept[key] = scores["as kb searches"]
                if key in earlier:
                    scores[AGAINST] = earlier[key]
                groups[turn.kind].append(scores)
                is_sentence = not context_of(found.question, turn.question)
                how = "complete" if found.why == "complete" else "sentence" if is_sentence else "joined"
                groups[f"{turn.kind}: {how}"].append(scores)
            for title, rows in sorted(groups.items()):
                report(f"{mode}: {title}", rows)
    if arguments.rows:
        arguments.rows.write_text(json.dumps(kept, ensure_ascii=False), encoding="utf-8")


if __name__ == "__main__":
    main()
