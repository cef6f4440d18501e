"""What it costs to read risky formats in another process: seconds beside reading them in this one.

    python benchmarks/guarded_reading.py DATA_FOLDER [--rounds 5]

Every PDF, Office, EPUB, HTML and notebook file below DATA_FOLDER is read both ways in turn, the other process kept as an
ingest keeps it. Printed: the least wall seconds and processor seconds (of both processes together) of the rounds, and their
ratios; the start of the process, which an ingest pays once, is counted apart.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable
from pathlib import Path

from kb.errors import ParseFailed
from kb.ingest.guarded_reading import FileReader
from kb.ingest.readers import READERS, read_file, reader_for

SAFE = ("markdown", "text", "restructuredtext")
Job = tuple[str, bytes, str]


def jobs_below(data: Path) -> list[Job]:
    """(reader, bytes, path) of the files that an ingest reads in the other process."""
    found = []
    for path in sorted(data.rglob("*")):
        reader = reader_for(path.name)
        if path.is_file() and reader is not None and reader.name not in SAFE:
            found.append((reader.name, path.read_bytes(), path.name))
    return found


def read_all(jobs: list[Job], read: Callable[[str, bytes, str], object]) -> int:
    """Read every file; returns how many could be read."""
    done = 0
    for type_name, raw, path in jobs:
        try:
            read(type_name, raw, path)
        except ParseFailed:
            continue
        done += 1
    return done


def main() -> None:
    """Measure both ways in turn and print the least of each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    jobs = jobs_below(given.data)
    wall: dict[str, list[float]] = {"here": [], "in another process": []}
    began = time.perf_counter()
    with FileReader() as reader:
        reader.read("html", b"<p>start</p>", "start.html")
        started = time.perf_counter() - began
        ways: dict[str, Callable[[str, bytes, str], object]] = {
            "here": lambda type_name, raw, path: read_file(READERS[type_name], raw, path),
            "in another process": reader.read,
        }
        for _ in range(given.rounds):
            for way, read in ways.items():
                began = time.perf_counter()
                done = read_all(jobs, read)
                wall[way].append(time.perf_counter() - began)
    ours, theirs = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    print(f"{len(jobs)} files, {sum(len(raw) for _, raw, _ in jobs) / 1e6:.1f} MB, {done} of them can be read")
    for way, seconds in wall.items():
        print(f"{way:20s} {min(seconds):6.2f} s wall")
    print(
        f"ratio {min(wall['in another process']) / min(wall['here']):.3f}; the process starts in {started:.2f} s, once"
    )
    print(
        f"processor time of all rounds: {ours.ru_utime + ours.ru_stime:.1f} s here, {theirs.ru_utime + theirs.ru_stime:.1f} s there"
    )


if __name__ == "__main__":
    main()
