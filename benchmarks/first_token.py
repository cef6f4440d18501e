"""How long after a token has arrived at the socket `kb ask` shows it: whole processes, on a terminal and in a pipe.

    python benchmarks/first_token.py [--runs 20]

A recorded Ollama on the loopback notes when it has written the first token (a whole sentence, so that it need not be
held back as a possible refusal); the clock stops when its bytes can be read from the process. What comes before (start,
search, packing) is not in it. The bar: 20 ms. Beside it, how long a listing of 100,000 answers takes.
"""

from __future__ import annotations

import argparse
import os
import pty
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

BAR_MILLISECONDS = 20.0
FIRST = "The mirror must be cleaned fortnightly [#1]. So"
QUESTION = "How often must the mirror of Marigold be cleaned?"


class Noted(bytes):
    """A step that notes when it was handed to the socket."""

    written = 0.0

    def __len__(self) -> int:
        Noted.written = time.perf_counter()
        return super().__len__()


# name → (on a terminal, options): a terminal holds back the first sentence, JSON holds back nothing.
WAYS = {"terminal": (True, []), "pipe": (False, ["--stream"]), "pipe, JSON": (False, ["--stream", "--json"])}


def first_token_seconds(kb: list[str], home: Path, environment: dict[str, str], name: str) -> float:
    """Seconds from the write of the token to its being readable from the process."""
    from tests.llm.recorded_server import MODEL, Pause, RecordedServer, Reply, last_line, line

    is_terminal, options = WAYS[name]
    steps = (Pause(0.3), Noted(line(FIRST)), Pause(0.3), last_line())
    with RecordedServer([Reply(steps)], loaded=8192) as server:
        llm = {"KB_LLM__PROVIDER": "ollama", "KB_LLM__ENDPOINT": server.url, "KB_LLM__MODEL": MODEL}
        words = [*kb, "ask", QUESTION, "--home", str(home), "--mode", "lexical"]
        read_end, write_end = pty.openpty() if is_terminal else os.pipe()
        process = subprocess.Popen(
            [*words, *options],
            stdin=write_end if is_terminal else subprocess.DEVNULL,
            stdout=write_end,
            stderr=subprocess.DEVNULL,
            env=environment | llm,
        )
        os.close(write_end)
        got = b""
        while b"fortnightly" not in got:
            got += os.read(read_end, 4096)
        shown = time.perf_counter()
        process.wait()
        os.close(read_end)
    return shown - Noted.written


def listing_seconds(home: Path, count: int) -> dict[str, float]:
    """Seconds inside one process for what `kb answers` asks of a store with so many answers."""
    from kb.store.answers import AnswerQuery, AnswerRow, find_answer, list_answers, save_answer
    from kb.store.database import open_for_writing

    connection = open_for_writing(home)
    connection.execute("PRAGMA synchronous = OFF")
    plain: dict[str, Any] = dict.fromkeys(AnswerRow.__dataclass_fields__)
    fixed: dict[str, Any] = {
        "raw_answer": "", "model_id": "m", "model_provider": "p", "prompt_template_version": "rag-v1",
        "retrieval_mode": "hybrid", "retrieval_k": 10, "score_gate": 0.05, "chunks_returned": 1, "chunks_used": 1,
        "citations_json": "[]", "packed_json": "[]" + " " * 3000, "latency_ms": 1.0, "corpus_revision": 1,
    }  # fmt: skip
    for number in range(count):
        moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(1.7e9 + 60 * number))
        own = {
            "trace_id": f"01a00000-0000-7000-8000-{number:012x}",
            "question": f"what is word{number % 5000} and how does it work?",
            "answer": f"It is a word{number % 977} that stands in a sentence of about this length, and one more.",
            "grounded": number % 3 > 0,
            "created_at": moment,
        }
        save_answer(connection, AnswerRow(**plain | fixed | own), {"shared": "system"})
    calls = {
        "list, 20 newest": lambda: list_answers(connection, 20),
        "list, 20 refused": lambda: list_answers(connection, 20, AnswerQuery(grounded=False)),
        "list, a day": lambda: list_answers(connection, 2000, AnswerQuery(since="2023-12-01", until="2023-12-01")),
        "search, 20 answers": lambda: list_answers(connection, 100, AnswerQuery(search="word4321")),
        "search, in every answer": lambda: list_answers(connection, 20, AnswerQuery(search="sentence")),
        "show": lambda: find_answer(connection, "01a00000-0000-7000-8000-000000000123"),
    }
    seconds = {}
    for name, call in calls.items():
        times = []
        for _ in range(5):
            began = time.perf_counter()
            call()
            times.append(time.perf_counter() - began)
        seconds[name] = statistics.median(times)
    connection.close()
    return seconds


def main() -> None:
    """Ingest the fixture corpus, time both ways of showing, print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--answers", type=int, default=100_000)
    chosen = parser.parse_args()
    kb = [sys.executable, "-m", "kb"]
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        environment = os.environ | {"PYTHONPATH": str(ROOT), "TERM": "xterm"}
        words = [*kb, "ingest", str(ROOT / "fixtures" / "corpus"), "--home", str(home), "--quiet"]
        subprocess.run(words, check=True, env=environment, stdout=subprocess.DEVNULL)
        print(f"{'first token shown after, ms':<30} {'median':>7} {'p95':>7} {'max':>7}  bar")
        for name in WAYS:
            seconds = sorted(first_token_seconds(kb, home, environment, name) * 1000 for _ in range(chosen.runs))
            p95 = seconds[min(len(seconds) - 1, round(0.95 * len(seconds)))]
            middle = statistics.median(seconds)
            print(f"{name:<30} {middle:7.1f} {p95:7.1f} {seconds[-1]:7.1f}  ≤ {BAR_MILLISECONDS:g}")
        if chosen.answers:
            print(f"{f'{chosen.answers:,} answers, ms':<30} {'median':>7}")
            for name, took in listing_seconds(Path(folder) / "many", chosen.answers).items():
                print(f"{name:<30} {took * 1000:7.1f}")


if __name__ == "__main__":
    main()
