"""kb mcp as an agent meets it: how soon and how dear a search is, what a question costs in tokens, calls that make no sense.

    python benchmarks/agents.py [--only start,search,tokens,fuzz] [--calls 2000] [--home HOME]

`start`: seconds from the start of the process to the end of the handshake, and to the first search's result, on stdio; beside
it the processor time that importing the SDK takes, which no server can begin without; memory. `search`: milliseconds of
processor time that the server spends on a warm search, beside the library's own in this process. `tokens`: an agent that has
the first evidence of a two-step task (fixtures/suites/two-step.yaml) calls `context` with growing budgets until the rest is
there: tokens of all blocks per answered question, with what it has handed over as `seen` and without. `fuzz`: calls of
tests/journey/mcp_fuzz.py, and what they end in.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.shared.exceptions import MCPError

from kb.config import Config
from kb.eval.judges import judge_suite
from kb.eval.resolve import collapse
from kb.eval.suite import load_suite
from kb.eval.two_step import new_facts
from kb.library import KnowledgeBase
from kb.text import estimate_tokens
from tests.forked_kb import FRESH
from tests.journey.mcp_client import http_server
from tests.journey.mcp_fuzz import random_call

ROOT = Path(__file__).parents[1]
QUESTIONS = (
    "How is the mirror cleaned?",
    "What closes the dome in strong wind?",
    "Who repairs the tide clock?",
    "How often is the mirror of Marigold cleaned?",
    "What does lampd need?",
    "When does the ferry sail in winter?",
)
WARM_CALLS = 60
STARTS = 3
# Budgets that an agent tries one after another.
BUDGETS = (150, 300, 600, 1200)


def server(home: Path, **more: str) -> StdioServerParameters:
    """The command that a client starts."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "KB_LLM__PROVIDER": "extractive", **more}
    words = ["-m", "kb", "mcp", "--home", str(home)]
    return StdioServerParameters(command=sys.executable, args=words, env=environment)


async def measure_start(home: Path) -> None:
    """Print how soon a server answers, and how much memory it takes."""
    code = (
        "import time, mcp.server.lowlevel, mcp.server.stdio, mcp.server.streamable_http_manager\n"
        "t = time.process_time(); print(t)"
    )
    figures: dict[str, list[float]] = {}
    for _ in range(STARTS):
        used = subprocess.check_output([sys.executable, "-c", code])
        figures.setdefault("interpreter and SDK alone, processor", []).append(float(used))
        began = time.perf_counter()
        async with Client(server(home), mode="legacy") as client:
            pid = _children()[-1]
            figures.setdefault("start to handshake", []).append(time.perf_counter() - began)
            shaken = time.perf_counter()
            await client.call_tool("search", {"query": QUESTIONS[0]})
            figures.setdefault("handshake to first result", []).append(time.perf_counter() - shaken)
            figures.setdefault("start to first result", []).append(time.perf_counter() - began)
            figures.setdefault("start to first result, processor", []).append(seconds_of(pid))
            memory = [megabytes_of(pid)]
            for number in (1, 2):
                asks = (client.call_tool("ask", {"question": question}) for question in QUESTIONS[:number])
                await asyncio.gather(*asks)
                memory.append(megabytes_of(pid))
    print(f"seconds, median of {STARTS} starts (machine load {os.getloadavg()[0]:.1f}):")
    for name, values in figures.items():
        print(f"  {name:<38} {statistics.median(values):.2f}")
    print(f"  MB after a search, an answer, two answers at once: {', '.join(f'{mb:.0f}' for mb in memory)}")


def megabytes_of(pid: int) -> float:
    """Resident memory of a process."""
    row = next(line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmRSS"))
    return int(row.split()[1]) / 1024


def seconds_of(pid: int) -> float:
    """Processor seconds that a process and its threads have used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def measure_search(home: Path) -> None:
    """Print what a warm search costs, of the server and of the library."""
    with KnowledgeBase(home, Config()) as base:
        for question in QUESTIONS:
            base.search(question, k=5)
        began = resource.getrusage(resource.RUSAGE_SELF)
        for number in range(WARM_CALLS):
            base.search(f"{QUESTIONS[number % len(QUESTIONS)]} {number}", k=5)
        ended = resource.getrusage(resource.RUSAGE_SELF)
    library = (ended.ru_utime + ended.ru_stime - began.ru_utime - began.ru_stime) / WARM_CALLS
    print(f"library: {1e3 * library:.1f} ms of processor time a search")
    async with Client(server(home)) as client:
        await time_client("stdio", client, _children()[-1])
    with http_server(home, {**os.environ, "PYTHONPATH": str(ROOT)}, "mcp", "--http", "0", command=FRESH) as address:
        async with Client(address) as client:
            await time_client("http", client, _children()[-1])


def _children() -> list[int]:
    return [int(pid) for pid in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()]


async def time_client(name: str, client: Client, pid: int) -> None:
    """Print the figures of one transport."""
    for question in QUESTIONS:
        await client.call_tool("search", {"query": question})
    used, waits = seconds_of(pid), []
    for number in range(WARM_CALLS):
        began = time.perf_counter()
        await client.call_tool("search", {"query": f"{QUESTIONS[number % len(QUESTIONS)]} {number}"})
        waits.append(time.perf_counter() - began)
    each = (seconds_of(pid) - used) / WARM_CALLS
    print(f"{name:<8} {1e3 * each:.1f} ms of processor time, {1e3 * statistics.median(waits):.1f} ms waited (median)")


async def measure_tokens(home: Path) -> None:
    """Print tokens per answered question over `context`, with what the agent has handed over and without."""
    suite = load_suite(ROOT / "fixtures" / "suites" / "two-step.yaml")
    with KnowledgeBase(home, Config()) as base:
        kb = base.runtime()
        windows = judge_suite(kb, suite).known_chunks
        held = {i: [c.text for c in kb.corpus.fetch_chunks(chunks).values()] for i, chunks in windows.items()}
    async with Client(server(home)) as client:
        for hands_over in (False, True):
            spent, answered, calls = 0, 0, 0
            for query in suite.queries:
                blocks = list(held[query.id])
                facts = set(new_facts([label.anchor for label in query.labels if label.anchor], blocks))
                for budget in BUDGETS:
                    seen = {"seen": blocks} if hands_over else {}
                    arguments: dict[str, Any] = {"query": query.text, "max_tokens": budget, **seen}
                    block = (await client.call_tool("context", arguments)).structured_content["text"]
                    calls, spent, blocks = calls + 1, spent + estimate_tokens(block), [*blocks, block]
                    facts -= {fact for fact in facts if fact in collapse(block.replace("\n> ", "\n"))}
                    if not facts:
                        answered += 1
                        break
            name = "with seen" if hands_over else "without"
            print(
                f"{name:<10} {answered} of {len(suite.queries)} answered, {calls} calls, {spent:,} tokens, "
                f"{spent / max(answered, 1):,.0f} per answered question"
            )


async def fuzz(home: Path, calls: int) -> None:
    """Make senseless calls; print what they end in, and every bug."""
    chance, ends, bugs = random.Random(19), Counter[str](), 0
    with tempfile.TemporaryFile("w+") as log:
        async with Client(stdio_client(server(home, KB_READER__MODEL="none"), errlog=log)) as client:
            for _ in range(calls):
                tool, arguments = random_call(chance)
                try:
                    found = await client.call_tool(tool, arguments)
                except MCPError as error:
                    ends[f"protocol error {error.code}"] += 1
                    continue
                text = found.content[0].text
                if "kb has a bug" in text:
                    bugs += 1
                    print(tool, arguments, text)
                ends["error" if found.is_error else "result"] += 1
            await client.call_tool("search", {"query": QUESTIONS[0]})
    print(f"{calls} calls: {dict(ends)}; {bugs} bugs; the server goes on")


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="start,search,tokens,fuzz")
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--home", type=Path)
    given = parser.parse_args()
    wanted = given.only.split(",")
    with tempfile.TemporaryDirectory() as folder:
        home = given.home or Path(folder) / "home"
        if given.home is None:
            with KnowledgeBase(home, Config()) as base:
                base.ingest(ROOT / "fixtures" / "corpus")
        for name, work in (("start", measure_start), ("search", measure_search), ("tokens", measure_tokens)):
            if name in wanted:
                asyncio.run(work(home))
        if "fuzz" in wanted:
            asyncio.run(fuzz(home, given.calls))


if __name__ == "__main__":
    main()
