"""Do readers fail, wait or build anything while a writer commits?

    python benchmarks/readers_writer.py [--home DIR] [--chunks 20000] [--readers 8] [--commits 30] [--seconds 75]

Readers are loops of whole `kb search` processes, half by words and half by words and vectors. The writer saves one
document after the other through the store's own code, with the lock that every kb command takes, and brings both indexes
up to date. First the readers run alone, then with the writer. A home that is not there is filled by benchmarks/scale.py.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.scale import fill, mixtures, words
from kb.config import Config
from kb.drafts import ChunkDraft, DocumentDraft
from kb.runtime import open_runtime
from kb.store.lock import writer_lock

BUILDS = ("building the", "rebuilding the", "cannot be opened")


@dataclass
class Seen:
    """What a loop of searches saw: seconds of each, what failed, lines that tell of a build, searches that were behind."""

    seconds: list[float] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    builds: int = 0
    behind: int = 0


def main() -> None:
    """Two rows: without the writer, and with it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", type=Path, default=Path("/tmp/kb-scale/20000"))
    parser.add_argument("--chunks", type=int, default=20_000)
    parser.add_argument("--readers", type=int, default=8)
    parser.add_argument("--commits", type=int, default=30)
    parser.add_argument("--seconds", type=float, default=75)
    given = parser.parse_args()
    if not (given.home / "index" / "vector.json").exists():
        fill(given.home, given.chunks)
    print(
        f"{given.readers} readers, {given.seconds:.0f} s:   searches   p50     p99    errors  builds  behind  commits"
    )
    quiet = watch(given.home, given.readers, given.seconds, 0)
    busy = watch(given.home, given.readers, given.seconds, given.commits)
    print(f"p99 with the writer: {busy / quiet:.2f} times the quiet one")


def watch(home: Path, readers: int, seconds: float, commits: int) -> float:
    """Run the loops and print a row; returns the 99th percentile."""
    until, seen, written = time.monotonic() + seconds, [Seen() for _ in range(readers)], [0]
    threads = [
        threading.Thread(target=search, args=(home, until, one, "lexical" if number % 2 else "hybrid"))
        for number, one in enumerate(seen)
    ]
    if commits:
        threads.append(threading.Thread(target=write, args=(home, until, commits, written)))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    times = sorted(x for one in seen for x in one.seconds)
    p50, p99 = times[len(times) // 2], times[int(len(times) * 0.99)]
    failed = [line for one in seen for line in one.failed]
    counts = f"{len(failed):6} {sum(o.builds for o in seen):7} {sum(o.behind for o in seen):7} {written[0]:8}"
    print(f"{'with a writer' if commits else 'quiet':24} {len(times):8} {p50:6.2f} {p99:7.2f}  {counts}")
    for line in failed[:5]:
        print(f"    {line}")
    return p99


def search(home: Path, until: float, seen: Seen, mode: str) -> None:
    """One reader: a process for each search."""
    queries = words(5)
    while time.monotonic() < until:
        query = " ".join(next(queries)[:3])
        began = time.monotonic()
        done = subprocess.run(
            [sys.executable, "-m", "kb", "search", query, "--mode", mode, "--json", "--home", str(home)],
            capture_output=True,
            text=True,
            check=False,
        )
        seen.seconds.append(time.monotonic() - began)
        seen.builds += any(build in done.stderr for build in BUILDS)
        if done.returncode != 0:
            seen.failed.append(f"exit {done.returncode}: {done.stderr.strip()[-200:]}")
        else:
            seen.behind += "behind" in (json.loads(done.stdout.splitlines()[-1]).get("note") or "")


def write(home: Path, until: float, commits: int, written: list[int]) -> None:
    """The writer, a process of its own as well."""
    seconds = until - time.monotonic()
    process = subprocess.run(
        [sys.executable, __file__, "--as-writer", str(home), str(commits), str(seconds)],
        check=True,
        capture_output=True,
    )
    written[0] = int(process.stdout.split()[-1])


def be_writer(home: Path, commits: int, seconds: float) -> None:
    """Commit so often in so many seconds: a document more, another one in its place, or one less."""
    texts, vectors, done, end = words(7), mixtures(7), 0, time.monotonic() + seconds
    pause, doc_ids = seconds / commits, []
    with open_runtime(home, Config(), write=True) as kb:
        encoder = kb.stored_encoder()
        kb.corpus.save_source("written", None)
        while time.monotonic() < end and done < commits:
            began = time.monotonic()
            with writer_lock(home, 60, lambda line: None):
                if done % 3 == 2:
                    kb.corpus.remove_documents([doc_ids.pop(0)])
                else:
                    replacing = doc_ids[-1] if done % 3 == 1 else None
                    text = " ".join(next(texts))
                    names = {f"w{time.time_ns()}": next(vectors).tobytes()}
                    rows = [(ChunkDraft(0, 0, len(text), text, ("Note",), 200, 1, 2), name) for name in names]
                    path = f"{time.time_ns()}.md"
                    draft = DocumentDraft("written", path, "Note", "markdown", "en", (), 1, 1, path, "s")
                    saved = kb.corpus.save_document(draft, rows, encoder[1], names, replacing)
                    doc_ids += [] if replacing else [saved.doc_id]
                kb.refresh_indexes()
            done += 1
            time.sleep(max(0.0, pause - (time.monotonic() - began)))
        with writer_lock(home, 60, lambda line: None):
            kb.corpus.remove_documents(doc_ids)
            kb.refresh_indexes()
    print(done)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--as-writer"]:
        be_writer(Path(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4]))
    else:
        main()
