"""What the context nodes cost and save, per mode: with the parser, and with `relevance.enabled = false`.

    python benchmarks/nodes.py [--runs 5] [--documents fixtures/corpus]

A home is made from the documents, with facts, a profile, open items and a session of earlier turns, since in an empty one
every node is silent and nothing could be saved. For each mode one prompt is asked in the session, in process, with the
embedded model: tokens of the nodes in the prompt, SQL statements (sqlite3's trace callback, of the whole ask), texts
encoded, and milliseconds, medians. The savings that the specification of the context nodes claims stand beside. Then whole processes: a greeting, a lexical
search, a one-shot question on a clean home with and without the parser's part.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from kb.ask.pipeline import ask
from kb.ask.records import Answer, AskRequest
from kb.ask.relevance_decision import decide_relevance
from kb.config import Config, LlmConfig, ProfileConfig, RelevanceConfig
from kb.ingest.pipeline import ingest
from kb.ingest.request import IngestRequest
from kb.runtime import Runtime, open_runtime

ROOT = Path(__file__).parents[1]
SESSION = "bench"
TURNS = (
    "How often must the mirror of Marigold be cleaned?",
    "At what wind speed must the dome close?",
    "Who keeps the key of the archive?",
)
FACTS = (
    "The office wifi is called Plover",
    "Standup is at nine on Mondays",
    "The mirror was recoated in spring",
    "My locker is number 12",
)
PROFILE = ProfileConfig(
    name="Ana",
    traits="astronomer, reads Korean",
    style="short, with examples",
    identity="Kib, a librarian",
    modulation="dry",
)
TODO = "# Todo\n\n- [ ] order mirror cleaner\n- [ ] call the boatman\n- [x] pay the baker\n"
# mode → a prompt that the rules give this mode, and the saving that the specification claims for it.
PROMPTS = {
    "RESPOND": ("When must the dome be closed?", "-"),
    "RESPOND (greeting)": (
        "Hey there, when must the dome be closed?",
        "800-2,000 tokens, 1 vector search, focus queries",
    ),
    "CLARIFY": ("what about that one?", "500-1,500 tokens, 1 vector search, skill queries"),
    "ACT": ("please remember that the dome is closed in storms", "300-800 tokens, identity/trait lookups"),
    "ACKNOWLEDGE": ("Hey!", "1,500-3,000 tokens, 5 Redis reads, 1 vector search, skill queries"),
}
HINTS = {"CLARIFY": "CLARIFY"}


@dataclass(frozen=True, slots=True)
class Cost:
    """What one ask took."""

    mode: str
    included: int
    estimated: int
    tokens: int
    statements: int
    encoded: int
    ms: float


class CountingEncoder:
    """The encoder with a count of the texts it was given."""

    def __init__(self, kb: Runtime) -> None:
        self.count = 0
        self._inner = kb.encoder()

    def __getattr__(self, name: str) -> object:
        return getattr(self._inner, name)

    def encode_query(self, text: str) -> object:
        """One text."""
        self.count += 1
        return self._inner.encode_query(text)

    def encode_sentences(self, texts: list[str]) -> object:
        """Several."""
        self.count += len(texts)
        return self._inner.encode_sentences(texts)


def make_home(home: Path, documents: Path, *, is_clean: bool) -> None:
    """Documents; unless clean, facts, open items and a session's turns as well."""
    config = Config(llm=LlmConfig(provider="extractive"))
    with open_runtime(home, config, write=True) as kb:
        paths = [documents]
        if not is_clean:
            (home / "todo").mkdir()
            (home / "todo" / "todo.md").write_text(TODO)
            paths.append(home / "todo")
            for fact in FACTS:
                kb.journal.add_memory(fact, None, "2026-11-21T00:00:00Z")
        for path in paths:
            ingest(kb, IngestRequest((path,)), lambda event: None)
    if not is_clean:
        with open_runtime(home, config) as kb:
            for question in TURNS:
                ask(kb, AskRequest(question, session_id=SESSION))


def measure(home: Path, prompt: str, hint: str | None, runs: int, *, enabled: bool) -> Cost:
    """Medians of one prompt, asked again and again without being stored."""
    config = Config(llm=LlmConfig(provider="extractive"), profile=PROFILE, relevance=RelevanceConfig(enabled=enabled))
    request = AskRequest(prompt, session_id=SESSION, intent=hint, is_evaluation=True)
    costs: list[Cost] = []
    with open_runtime(home, config) as kb:
        ask(kb, request)  # what is loaded once in a process
        encoder = CountingEncoder(kb)
        kb._encoder = encoder  # type: ignore[assignment]
        kb._model = None
        statements: list[str] = []
        kb.store._connection.set_trace_callback(statements.append)
        for _ in range(runs):
            statements.clear()
            kb.forget_sentences()
            kb._last_query = None
            encoder.count = 0
            began = time.perf_counter()
            answer = ask(kb, request)
            took = (time.perf_counter() - began) * 1000
            costs.append(cost_of(answer, len(statements), encoder.count, took))
    return replace(costs[0], ms=statistics.median(cost.ms for cost in costs))


def cost_of(answer: Answer, statements: int, encoded: int, ms: float) -> Cost:
    """An answer's record as figures."""
    found = answer.relevance
    assert found is not None
    tokens = sum(node.tokens for node in found.nodes)
    return Cost(found.mode, len(found.included), found.est_tokens, tokens, statements, encoded, ms)


def print_table(home: Path, runs: int) -> None:
    """One line a mode and setting, and what the parser saved."""
    print(
        f"{'prompt of':<20} {'parser':<7} {'nodes':>5} {'estimated':>9} {'tokens':>6} {'SQL':>5} {'encoded':>7} {'ms':>7}"
    )
    saved = []
    for name, (prompt, claimed) in PROMPTS.items():
        without = measure(home, prompt, HINTS.get(name), runs, enabled=False)
        given = measure(home, prompt, HINTS.get(name), runs, enabled=True)
        for label, cost in (("off", without), ("on", given)):
            print(
                f"{name:<20} {label:<7} {cost.included:>5} {cost.estimated:>9,} {cost.tokens:>6,} {cost.statements:>5}"
                f" {cost.encoded:>7} {cost.ms:>7.1f}   {cost.mode}"
            )
        saved.append((name, claimed, without, given))
    print(f"\n{'saved in':<20} {'estimated':>9} {'measured':>8} {'SQL':>5} {'encoded':>7} {'ms':>7}   claimed")
    for name, claimed, without, given in saved:
        print(
            f"{name:<20} {without.estimated - given.estimated:>9,} {without.tokens - given.tokens:>8,}"
            f" {without.statements - given.statements:>5} {without.encoded - given.encoded:>7} {without.ms - given.ms:>7.1f}   {claimed}"
        )


def print_parser(home: Path, runs: int) -> None:
    """What deciding costs a question that stands alone, in a process that has decided before."""
    with open_runtime(home, Config()) as kb:
        request = AskRequest(TURNS[0], is_evaluation=True)
        decide_relevance(kb, request)
        times = []
        for _ in range(runs * 40):
            began = time.perf_counter()
            decide_relevance(kb, request)
            times.append((time.perf_counter() - began) * 1000)
    times.sort()
    print(f"\ndeciding, once warm: p50 {times[len(times) // 2]:.2f} ms, p99 {times[int(len(times) * 0.99)]:.2f} ms")


def print_process(name: str, words: list[str], runs: int) -> None:
    """Whole processes: median and least."""
    environment = {**os.environ, "KB_LLM__PROVIDER": "extractive"}
    walls, worked = [], []
    for _ in range(runs):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        began = time.perf_counter()
        subprocess.run([sys.executable, "-m", "kb", *words], env=environment, capture_output=True, check=False)
        walls.append(time.perf_counter() - began)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        worked.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    print(
        f"{name:<40} wall {statistics.median(walls):.3f} s (least {min(walls):.3f}), processor {statistics.median(worked):.3f} s"
    )


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--documents", type=Path, default=ROOT / "fixtures" / "corpus")
    options = parser.parse_args()
    with TemporaryDirectory() as folder:
        full, clean = Path(folder) / "full", Path(folder) / "clean"
        make_home(full, options.documents, is_clean=False)
        make_home(clean, options.documents, is_clean=True)
        print_table(full, options.runs)
        print_parser(clean, options.runs)
        print()
        print_process("kb ask 'Hey!'", ["--home", str(clean), "ask", "Hey!"], options.runs)
        print_process("kb ask '안녕하세요!'", ["--home", str(clean), "ask", "안녕하세요!"], options.runs)
        print_process(
            "kb search, lexical", ["--home", str(clean), "search", "mirror", "--mode", "lexical"], options.runs
        )
        print_process("kb ask, one-shot, hybrid", ["--home", str(clean), "ask", TURNS[0]], options.runs)
        print_process("kb --version", ["--version"], options.runs)


if __name__ == "__main__":
    main()
