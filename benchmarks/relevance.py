"""What a relevance decision costs: in one process, as bulk lines, and as a whole process for one call.

    python benchmarks/relevance.py [--decisions 10000] [--runs 5]

The situations are a grid over modes, signals, urgency, pauses and budgets, in an order shuffled with a fixed seed.
Processor time stands beside wall time, since a busy machine shows in the one and not in the other. Bars:
10,000 decisions under 5 s, 0.5 ms at the 99th percentile, 0.15 s for a whole process with one decision.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from tempfile import TemporaryDirectory
from typing import Any

from kb.relevance.decide import decide
from kb.relevance.read_rules import open_rules
from kb.relevance.requests import parse_request
from kb.relevance.signals import Conversation, choose_mode, compute_signals

AXES: dict[str, list[Any]] = {
    "mode": ["RESPOND", "CLARIFY", "ACT", "ACKNOWLEDGE"],
    "greeting_pattern": [True, False],
    "prompt_token_count": [1, 5, 6, 40],
    "context_warmth": [0.1, 0.4, 0.8],
    "working_memory_turns": [0, 1, 3],
    "information_density": [0.1, 0.4, 1.0],
    "fact_count": [0, 2],
    "gist_count": [0, 2],
    "urgency": ["low", "high"],
    "returning_from_silence": [True, False],
    "token_budget_remaining": [1000, 4000, 10_000],
}
BESIDE = ("mode", "urgency", "returning_from_silence", "token_budget_remaining")
PROMPTS = [
    "Hey!",
    "안녕하세요!",
    "How often must the mirror of Marigold be cleaned, and by whom?",
    "and for Windows?",
    "아까 말한 거울은 얼마나 자주 청소해야 하나요?",
    "remember that the mirror is cleaned on Mondays",
    "급해요, 서버가 죽었어요",
    "word " * 500,
]


def make_lines(count: int) -> list[bytes]:
    """Requests as NDJSON lines."""
    grid = [dict(zip(AXES, row, strict=True)) for row in itertools.product(*AXES.values())]
    lines = []
    for point in random.Random(0).choices(grid, k=count):
        request = {name: point[name] for name in ("mode", "returning_from_silence", "token_budget_remaining")}
        request["signals"] = {name: value for name, value in point.items() if name not in BESIDE}
        request["classification"] = {"urgency": point["urgency"]}
        lines.append(json.dumps(request).encode())
    return lines


def report_calls(name: str, call: Callable[[Any], object], inputs: list[Any]) -> None:
    """Time a call on every input, and print a line."""
    walls, processor = [], []
    for given in inputs:
        began, worked = time.perf_counter(), time.thread_time()
        call(given)
        processor.append((time.thread_time() - worked) * 1000)
        walls.append((time.perf_counter() - began) * 1000)
    shown = "   ".join(
        f"{kind} p50 {sorted(times)[len(times) // 2]:.3f} ms, p99 {sorted(times)[int(len(times) * 0.99)]:.3f} ms"
        for kind, times in (("wall", walls), ("processor", processor))
    )
    print(f"{name:<30} {len(walls):6,} in {sum(walls) / 1000:5.2f} s   {shown}")


def report_process(name: str, words: list[str], runs: int, lines: bytes = b"") -> None:
    """Time whole processes, and print the median."""
    walls, processor = [], []
    for _ in range(runs):
        began, worked = time.perf_counter(), _children_seconds()
        subprocess.run(
            [sys.executable, *words], input=lines, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True
        )
        walls.append(time.perf_counter() - began)
        processor.append(_children_seconds() - worked)
    wall, worked = statistics.median(walls), statistics.median(processor)
    print(f"{name:<30} whole process, median of {runs}: wall {wall:.3f} s, processor {worked:.3f} s")


def _children_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    """Print a line a measurement."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--decisions", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    lines = make_lines(options.decisions)
    rules = open_rules(None)
    situations = [parse_request(line)[0] for line in lines]
    report_calls("decide", lambda situation: decide(rules, situation), situations)
    report_calls("decide, explained", lambda situation: decide(rules, situation, explain=True), situations)
    prompts = random.Random(0).choices(PROMPTS, k=options.decisions)
    compute_signals(PROMPTS[0], Conversation())  # the patterns are compiled on first use
    report_calls("signals and mode", lambda prompt: choose_mode(compute_signals(prompt, Conversation())), prompts)
    with TemporaryDirectory() as home:
        relevance = ["-m", "kb", "--home", home, "relevance"]
        report_process(f"--bulk, {len(lines):,} lines", [*relevance, "--bulk"], options.runs, b"\n".join(lines))
        report_process("kb relevance RESPOND", [*relevance, "RESPOND"], options.runs)
        report_process("kb relevance --prompt 'Hey!'", [*relevance, "--prompt", "Hey!"], options.runs)
        report_process("kb --version, to compare", ["-m", "kb", "--version"], options.runs)


if __name__ == "__main__":
    main()
