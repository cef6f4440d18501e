"""kb serve under load: searchers at once and a writer beside them, against the warm library in one process.

    python benchmarks/serve.py [--searchers 50] [--seconds 60] [--home HOME]

Each searcher asks its next question as soon as the last one is answered; the writer stores a text of its own every second.
Printed: requests, errors, median and 99th percentile in milliseconds, requests a second, and the server's processor time a
request. `library` is one caller in this process before the server starts.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import resource
import statistics
import sys
import tempfile
import time
from pathlib import Path

import httpx

from kb.config import Config
from kb.library import KnowledgeBase
from tests.forked_kb import FRESH
from tests.journey.mcp_client import http_server

ROOT = Path(__file__).parents[1]
QUESTIONS = (
    "How is the mirror cleaned?",
    "What closes the dome in strong wind?",
    "Who repairs the tide clock?",
    "What does lampd need?",
    "When does the ferry sail in winter?",
)
LIBRARY_CALLS = 100
WRITE_EVERY_SECONDS = 1.0


def report(name: str, waits: list[float], failed: int, seconds: float, cpu: float) -> None:
    """One row of the table."""
    ordered = sorted(waits)
    p99 = ordered[min(len(ordered) - 1, int(0.99 * len(ordered)))]
    print(
        f"{name:<10} {len(waits):>6} requests {failed:>3} errors  p50 {1e3 * statistics.median(ordered):7.1f} ms  "
        f"p99 {1e3 * p99:7.1f} ms  {len(waits) / seconds:6.1f}/s  {1e3 * cpu / max(len(waits), 1):5.1f} ms CPU"
    )


def measure_library(home: Path) -> None:
    """One caller, warm."""
    with KnowledgeBase(home, Config()) as base:
        for question in QUESTIONS:
            base.search(question)
        waits, used, began = [], resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
        for number in range(LIBRARY_CALLS):
            at = time.perf_counter()
            base.search(f"{QUESTIONS[number % len(QUESTIONS)]} {number}")
            waits.append(time.perf_counter() - at)
        now = resource.getrusage(resource.RUSAGE_SELF)
    cpu = now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime
    report("library", waits, 0, time.perf_counter() - began, cpu)


async def load(address: str, home: Path, searchers: int, seconds: float) -> tuple[list[float], list[str], int]:
    """(how long each request waited, what failed, how many texts were written)."""
    ends = time.perf_counter() + seconds
    waits: list[float] = []
    failed: list[str] = []

    async def search(number: int) -> None:
        async with httpx.AsyncClient(timeout=60) as client:
            turn = 0
            while time.perf_counter() < ends:
                turn += 1
                query = f"{QUESTIONS[(number + turn) % len(QUESTIONS)]} {number} {turn}"
                at = time.perf_counter()
                try:
                    found = await client.get(f"{address}/api/search", params={"query": query})
                    if found.status_code != 200:
                        failed.append(found.text)
                except httpx.HTTPError as error:
                    failed.append(repr(error))
                waits.append(time.perf_counter() - at)

    written = 0

    def write() -> None:
        nonlocal written
        with KnowledgeBase(home, Config()) as base:
            while time.perf_counter() < ends:
                base.ingest_text(f"Note {written}: the lamp is lit at {written} o'clock.", f"Note {written}")
                written += 1
                time.sleep(WRITE_EVERY_SECONDS)

    await asyncio.gather(asyncio.to_thread(write), *(search(number) for number in range(searchers)))
    return waits, failed, written


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--searchers", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--home", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = given.home or Path(folder) / "home"
        if given.home is None:
            with KnowledgeBase(home, Config()) as base:
                base.ingest(ROOT / "fixtures" / "corpus")
        measure_library(home)
        with http_server(
            home, {**os.environ, "PYTHONPATH": str(ROOT)}, "serve", "--http", "0", command=FRESH
        ) as address:
            httpx.get(f"{address}api/search", params={"query": "warm"}, timeout=60)
            used = resource.getrusage(resource.RUSAGE_CHILDREN)
            waits, failed, written = asyncio.run(load(address.rstrip("/"), home, given.searchers, given.seconds))
        now = resource.getrusage(resource.RUSAGE_CHILDREN)  # the server has ended: all of its time is in it
        cpu = now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime
        report("kb serve", waits, len(failed), given.seconds, cpu)
        print(f"{given.searchers} searchers, {written} texts written meanwhile; load {os.getloadavg()[0]:.1f}")
        for line in failed[:5]:
            print(line[:300], file=sys.stderr)


if __name__ == "__main__":
    main()
