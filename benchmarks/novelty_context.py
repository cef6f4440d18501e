"""Does knowing the window help? New relevant tokens per 500-token context, with pressure and without; what it costs elsewhere.

    python benchmarks/novelty_context.py [DATA_FOLDER] [--only fixtures,spans,echo,unrelated,sessions] [--tokens 500]

Two-step tasks: the evidence of a first answer is in the window, what is still wanted stands elsewhere. `fixtures` are the
28 tasks of fixtures/suites/two-step.yaml; `spans` are the span questions whose answer stands in two or more chunks: those
of the first span are the window, the tokens of the others are wanted. `echo` are the span questions whose answer is not all
in the first five hits: these five are the window, what they lack is wanted, and the search is widened. `unrelated` gives every question a window of as many
words from a document that no candidate is from: what comes out must be what comes out without one. `sessions` asks the fixture suite's
questions twice in one session, by paraphrases: what pressure on the evidence costs or brings, by the margin of
kb/ask/unseen.py. Intervals are paired bootstraps over the tasks (95 %), p a paired permutation test.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from kb.ask import unseen
from kb.ask.pipeline import ask
from kb.ask.records import AskRequest
from kb.config import Config, cache_folder
from kb.context.pipeline import compose
from kb.context.records import ContextRequest, ContextResponse
from kb.eval.answer_metrics import contains_wanted
from kb.eval.collections import load_spans
from kb.eval.judged_sets import spans_set
from kb.eval.judges import judge_suite
from kb.eval.metrics import mean_interval
from kb.eval.records import Query
from kb.eval.resampling import paired_bootstrap_interval, permutation_p
from kb.eval.suite import load_suite
from kb.eval.throwaway import fill_from_folder
from kb.eval.two_step import facts_held, new_facts
from kb.packing.known_text import known_text_from_blocks
from kb.records import SearchRequest
from kb.runtime import Runtime, open_runtime
from kb.search.depth import candidate_depth
from kb.search.pipeline import search
from kb.text import estimate_tokens

ROOT = Path(__file__).parents[1]


@dataclass(frozen=True, slots=True)
class Task:
    """One two-step task: `score` gives the new relevant tokens in a context."""

    query: str
    blocks: list[str]
    score: Callable[[ContextResponse], float]


def quiet(*_: object) -> None:
    """Says nothing."""


def variants(config: Config) -> dict[str, tuple[Config, bool]]:
    """Name → (settings, whether the window is known)."""

    def novelty(**settings: int) -> Config:
        return replace(config, novelty=replace(config.novelty, **settings))

    def context(**settings: bool) -> Config:
        return replace(config, context=replace(config.context, **settings))

    return {
        "window not known": (config, False),
        "penalty alone": (novelty(min_novel=0), True),
        "penalty and expansion (the default)": (config, True),
        "expansion always": (novelty(min_novel=100), True),
        "window not known, unused shares lent": (context(lend_unused=True), False),
        "default, unused shares lent": (context(lend_unused=True), True),
    }


def compare(kb: Runtime, tasks: Sequence[Task], tokens: int) -> None:
    """Print new relevant tokens of every variant, and its difference to not knowing the window."""
    base: list[float] = []
    original = kb.config
    print(f"{len(tasks)} tasks\n{'':<42} new tokens            against not knowing the window")
    for name, (config, knows) in variants(original).items():
        kb.config = config
        values = []
        for task in tasks:
            window = known_text_from_blocks(task.blocks)
            request = ContextRequest(query=task.query, max_tokens=tokens, known_text=window, use_novelty=knows)
            values.append(task.score(compose(kb, request)))
        base = base or values
        mean = mean_interval(values)
        pairs, first = [(v, 1.0) for v in values], [(v, 1.0) for v in base]
        low, high = paired_bootstrap_interval(first, pairs, 0)
        difference = sum(values) / len(values) - sum(base) / len(base)
        print(
            f"{name:<42} {mean.mean:6.1f} [{mean.ci_low:5.1f}, {mean.ci_high:5.1f}]  "
            f"{difference:+6.1f} [{low:+5.1f}, {high:+5.1f}] p {permutation_p(first, pairs, 0):.3f}",
            flush=True,
        )
    kb.config = original


def fixture_tasks(kb: Runtime) -> list[Task]:
    """The project's own suite."""
    suite = load_suite(ROOT / "fixtures" / "suites" / "two-step.yaml")
    windows = judge_suite(kb, suite).known_chunks
    tasks = []
    for query in suite.queries:
        chunks = kb.corpus.fetch_chunks(windows[query.id])
        blocks = [chunks[i].text for i in windows[query.id]]
        facts = new_facts([label.anchor for label in query.labels if label.anchor], blocks)
        tasks.append(Task(query.text, blocks, lambda found, facts=facts: float(sum(facts_held(found, facts).values()))))
    return tasks


def span_tasks(kb: Runtime, folder: Path, *, echo: bool = False) -> list[Task]:
    """Span questions with spans outside the window: the chunks of the first span, or, for an echo, the first five hits."""
    by_corpus: dict[str, list[tuple[int, int, int]]] = {}
    rows = kb.store._connection.execute(
        "SELECT chunk_id, path, start_char, end_char FROM chunks JOIN documents USING (doc_id)"
    )
    for chunk_id, path, start, end in rows:
        by_corpus.setdefault(path.removesuffix(".md"), []).append((chunk_id, start, end))
    tasks = []
    for question in load_spans(folder):
        chunks = by_corpus[question.corpus]
        (a, b), *others = question.spans
        held = [(i, s, e) for i, s, e in chunks if s < b and a < e]
        window = [i for i, _, _ in held]
        if echo:
            window = [hit.chunk_id for hit in search(kb, SearchRequest(question.text, k=kb.config.context.k)).hits]
            held, others = [row for row in chunks if row[0] in window], list(question.spans)
        wanted = [(x, y) for x, y in others if not any(s < y and x < e for _, s, e in held)]
        if not wanted:
            continue
        texts = kb.corpus.fetch_chunks(window)
        path = f"{question.corpus}.md"
        tasks.append(
            Task(
                question.text,
                [texts[i].text for i in window],
                lambda found, path=path, wanted=wanted: tokens_in(kb, found, path, wanted),
            )
        )
    return tasks


def tokens_in(kb: Runtime, found: ContextResponse, path: str, wanted: Sequence[tuple[int, int]]) -> float:
    """Tokens of the wanted stretches that a context's passages hold, each counted once."""
    chunks = kb.corpus.fetch_chunks([p.chunk_id for p in found.passages])
    characters: set[int] = set()
    letters: dict[int, str] = {}
    for passage in found.passages:
        chunk = chunks[passage.chunk_id]
        if passage.path.endswith(path):
            start = chunk.start + max(0, chunk.text.find(passage.text))
            for a, b in wanted:
                inside = range(max(a, start), min(b, start + len(passage.text)))
                characters.update(inside)
                letters.update((i, passage.text[i - start]) for i in inside)
    return float(estimate_tokens("".join(letters[i] for i in sorted(characters))))


def show_unrelated(kb: Runtime, tasks: Sequence[Task], others: Sequence[str], tokens: int) -> None:
    """Every task with a window that has nothing to do with it: what changes."""
    same, losses = 0, []
    for task, other in zip(tasks, others, strict=True):
        plain = compose(kb, ContextRequest(query=task.query, max_tokens=tokens))
        pressed = compose(
            kb, ContextRequest(query=task.query, max_tokens=tokens, known_text=known_text_from_blocks([other]))
        )
        same += plain.text == pressed.text
        losses.append(task.score(pressed) - task.score(plain))
    mean = mean_interval(losses)
    print(f"unrelated window: {same} of {len(tasks)} blocks are byte for byte the same")
    print(f"                  new relevant tokens {mean.mean:+.2f} [{mean.ci_low:+.2f}, {mean.ci_high:+.2f}]")


def unrelated_texts(kb: Runtime, tasks: Sequence[Task]) -> list[str]:
    """For each task, as many words as its window has, of a document that none of the first hits is from."""
    paths = [p for (p,) in kb.store._connection.execute("SELECT path FROM documents ORDER BY doc_id")]
    words: dict[str, list[str]] = {}
    for path, text in kb.store._connection.execute(
        "SELECT path, text FROM chunks JOIN documents USING (doc_id) ORDER BY position"
    ):
        words.setdefault(path, []).extend(text.split())
    found = []
    for number, task in enumerate(tasks):
        depth = candidate_depth(kb.config.context.k)
        near = {hit.path for hit in search(kb, SearchRequest(task.query, k=depth)).hits}
        far = [p for p in paths if p not in near]
        source = words[far[number % len(far)]]
        size = sum(len(block.split()) for block in task.blocks)
        at = (number * 977) % max(1, len(source) - size)
        found.append(" ".join(source[at : at + size]))
    return found


def show_sessions(kb: Runtime) -> None:
    """The suite's questions asked in sessions of two: the same need in other words, and one need after another."""
    suite = load_suite(ROOT / "fixtures" / "suites" / "corpus.yaml")
    answerable = [q for q in suite.queries if q.answerable and (q.must_contain.all or q.must_contain.any)]
    groups: dict[str, list[Query]] = {}
    for query in answerable:
        groups.setdefault(query.group or query.id, []).append(query)
    again = [
        (a, b)
        for queries in groups.values()
        for a in queries
        for b in queries
        if a.id != b.id and a.slices.get("lang") == b.slices.get("lang")
    ]
    firsts = [queries[0] for queries in groups.values()]
    after = [(a, b) for a, b in zip(firsts, firsts[1:] + firsts[:1], strict=True)]
    same = [(query, query) for query in answerable]
    for name, pairs in (("the same question", same), ("the same need", again), ("another need", after)):
        alone = {b.id: answers_well(kb, b, []) for _, b in pairs}
        print(
            f"\n{name}: {len(pairs)} pairs; asked alone {sum(alone[b.id] for _, b in pairs) / len(pairs):.3f} say what they must"
        )
        for margin in (-1.0, 0.0, 0.02, 0.05, 0.1, 0.2, 1.0):
            unseen.MARGIN = margin
            results = [answers_in_session(kb, a, b) for a, b in pairs]
            right = sum(r for r, _ in results) / len(pairs)
            fresh = sum(used == "fresh" for _, used in results) / len(pairs)
            lost = sum(alone[b.id] and not r for (_, b), (r, _) in zip(pairs, results, strict=True))
            won = sum(r and not alone[b.id] for (_, b), (r, _) in zip(pairs, results, strict=True))
            print(
                f"margin {margin:5.2f}: {right:.3f} right, {lost} lost, {won} won, {fresh:.3f} from new evidence",
                flush=True,
            )


def answers_well(kb: Runtime, query: Query, blocks: list[str]) -> bool:
    """Whether the answer says what it must, the blocks being known to the reader."""
    return answer_with(kb, query, blocks)[0]


def answer_with(kb: Runtime, query: Query, blocks: list[str]) -> tuple[bool, str]:
    """(the answer says what it must, which evidence was used)."""
    window = known_text_from_blocks(blocks) if blocks else None
    answer = ask(kb, AskRequest(query.text, known_text=window, is_evaluation=True))
    says = answer.grounded and contains_wanted(answer.answer, query.must_contain)
    return says, answer.novelty.used if answer.novelty else ""


def answers_in_session(kb: Runtime, first: Query, second: Query) -> tuple[bool, str]:
    """The second question's, after what the first answer cited has been shown."""
    return answer_with(kb, second, shown_by(kb, first))


_shown: dict[str, list[str]] = {}


def shown_by(kb: Runtime, query: Query) -> list[str]:
    """The chunks that an answer cites lines of, as a session would keep them."""
    if query.id not in _shown:
        answer = ask(kb, AskRequest(query.text, is_evaluation=True))
        _shown[query.id] = [text for c in answer.citations if c.marker for text in chunks_at(kb, c.citation)]
    return _shown[query.id]


def chunks_at(kb: Runtime, place: object) -> Iterator[str]:
    """The texts of the chunks that hold a part of a place."""
    rows = kb.store._connection.execute(
        "SELECT text, start_line, end_line FROM chunks JOIN documents USING (doc_id) WHERE path = ?",
        [place.path],  # type: ignore[attr-defined]
    )
    first, last = place.start_line, place.end_line or place.start_line  # type: ignore[attr-defined]
    for text, start, end in rows:
        if first is None or start is None or (start <= last and first <= (end or start)):
            yield text


def main() -> None:
    """Print the parts that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="?")
    parser.add_argument("--only", default="fixtures,spans,echo,unrelated,sessions")
    parser.add_argument("--tokens", type=int, default=500)
    chosen = parser.parse_args()
    parts = chosen.only.split(",")
    config = replace(Config(), llm=replace(Config().llm, provider="extractive"))
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        with open_runtime(home, config, write=True, notify=quiet) as kb:
            fill_from_folder(ROOT / "fixtures" / "corpus", quiet)(kb)
        with open_runtime(home, config, notify=quiet) as kb:
            tasks = fixture_tasks(kb)
            if "fixtures" in parts:
                print(f"\n## fixtures/suites/two-step.yaml, {chosen.tokens} tokens")
                compare(kb, tasks, chosen.tokens)
            if "unrelated" in parts:
                show_unrelated(kb, tasks, unrelated_texts(kb, tasks), chosen.tokens)
            if "sessions" in parts:
                print("\n## sessions")
                show_sessions(kb)
    if chosen.data is None or not {"spans", "echo", "unrelated"} & set(parts):
        return
    folder = chosen.data / "chunking-eval"
    with spans_set(folder).open(cache_folder(os.environ), config, quiet, print) as kb:
        tasks = span_tasks(kb, folder)
        if "spans" in parts:
            print(f"\n## span questions, {chosen.tokens} tokens")
            compare(kb, tasks, chosen.tokens)
        if "echo" in parts:
            print(f"\n## the first five hits in the window, {chosen.tokens} tokens")
            compare(kb, span_tasks(kb, folder, echo=True), chosen.tokens)
        if "unrelated" in parts:
            show_unrelated(kb, tasks, unrelated_texts(kb, tasks), chosen.tokens)


if __name__ == "__main__":
    main()
