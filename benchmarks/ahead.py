"""What does encoding while files are being read gain, and does it keep words from being found?

    python benchmarks/ahead.py FOLDER [--runs 2]

FOLDER is ingested into new homes, with the thread that encodes ahead and without it, in turns, each in a process of its own.
Seconds by the clock until all of it was searchable by words, and until the end; processor seconds of all threads.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from kb.config import Config
from kb.ingest import ahead
from kb.ingest.pipeline import ingest
from kb.ingest.report import IngestEvent
from kb.ingest.request import IngestRequest
from kb.runtime import open_runtime


def main() -> None:
    """A table of medians."""
    if sys.argv[1:2] == ["--once"]:
        once(sys.argv[2], sys.argv[3] == "ahead")
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--runs", type=int, default=2)
    given = parser.parse_args()
    found: dict[str, list[list[float]]] = {"after": [], "ahead": []}
    for _ in range(given.runs):
        for way, rows in found.items():
            command = [sys.executable, __file__, "--once", str(given.folder), way]
            rows.append(json.loads(subprocess.run(command, capture_output=True, check=True).stdout.splitlines()[-1]))
    print("encoding   words found s   all done s   CPU s   chunks")
    for way, rows in found.items():
        words, done, cpu, chunks = (statistics.median(column) for column in zip(*rows, strict=True))
        print(f"{way:10} {words:13.1f} {done:12.1f} {cpu:7.1f} {chunks:8.0f}")


def once(folder: str, with_ahead: bool) -> None:
    """One ingest, as a line of JSON."""
    if not with_ahead:
        ahead.LEAST_TEXTS = sys.maxsize
    words = [0.0]
    began, cpu = time.perf_counter(), time.process_time()

    def on_event(event: IngestEvent) -> None:
        if event.event == "words_indexed":
            words[0] = time.perf_counter() - began

    with TemporaryDirectory() as home, open_runtime(Path(home), Config(), write=True) as kb:
        ingest(kb, IngestRequest((Path(folder),)), on_event)
        done = time.perf_counter() - began
        print(json.dumps([words[0], done, time.process_time() - cpu, kb.corpus.count_chunks()]))


if __name__ == "__main__":
    main()
