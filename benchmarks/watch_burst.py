"""A git checkout of thousands of files under `kb watch`: when can each be searched, how often does it say so, who waits?

    python benchmarks/watch_burst.py [--files 2000] [--readers 2] [--encoder all-MiniLM-L6-v2]

A repository has a branch with one note and one with all files. `kb watch --json` follows its folder while git changes from the
first to the second and back; loops of `kb search --mode lexical` run meanwhile, as whole processes. Printed are the batches that
the watcher told of, the seconds from the end of each checkout until every change could be searched, and the readers' times
before and during the bursts. Every file is looked for at the end by a word of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from kb.config import load_config
from kb.library import KnowledgeBase
from kb.text import query_terms

KB = [sys.executable, "-m", "kb"]
QUIET_SECONDS = 20.0


def main() -> None:
    """Print what became of both checkouts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=2_000)
    parser.add_argument("--readers", type=int, default=2)
    parser.add_argument("--encoder", default="all-MiniLM-L6-v2")
    given = parser.parse_args()
    os.environ["KB_EMBEDDING__MODEL"] = given.encoder
    with TemporaryDirectory() as place:
        folder, home = Path(place) / "notes", Path(place) / "home"
        make_repository(folder, given.files)
        watcher = Watcher(folder, home)
        readers = [Reader(home) for _ in range(given.readers)]
        try:
            watcher.wait_for(lambda: watcher.has_begun)
            time.sleep(QUIET_SECONDS)
            quiet = [seconds for reader in readers for seconds in reader.take()]
            for branch, wanted in (("all", given.files), ("one", 0)):
                git(folder, "checkout", "-q", branch)
                ended, before = time.monotonic(), watcher.batches
                watcher.wait_for(lambda: watcher.documents == 1 + wanted)  # noqa: B023 - waited for in this turn
                print(
                    f"checkout of {'all files' if wanted else 'one file'}: all can be searched by words"
                    f" {time.monotonic() - ended:.1f} s later, {watcher.batches - before} lines; {watcher.counts}"
                )
                if wanted:
                    print(f"found by a word of their own: {found(home, given.files):,} of {given.files:,}")
            busy = [seconds for reader in readers for seconds in reader.take()]
        finally:
            failed = sum(reader.end() for reader in readers)
            watcher.end()
    for name, times in (("quiet", quiet), ("beside the bursts", busy)):
        ordered = sorted(times)
        last = ordered[min(len(ordered) - 1, int(0.99 * len(ordered)))]
        print(f"searches {name:18} {len(times):4}: p50 {statistics.median(times):.2f} s, p99 {last:.2f} s")
    print(f"searches that failed: {failed}")


def git(folder: Path, *arguments: str) -> None:
    """A command of git, as nobody in particular."""
    who = ["-c", "user.name=kb", "-c", "user.email=kb@localhost", "-c", "init.defaultBranch=one"]
    subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True)


def make_repository(folder: Path, files: int) -> None:
    """Branch "one" holds a note, branch "all" so many files more; "one" is checked out."""
    folder.mkdir()
    (folder / "note.md").write_text("# A note\n\nThe lamp is lit at dusk.\n")
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "one")
    git(folder, "checkout", "-qb", "all")
    for number in range(files):
        path = folder / f"{number % 40}" / f"harbour-{number}.md"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"# Harbour {number}\n\nThe keeper of zq{number}x lights the lamp and writes it down.\n" * 3)
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "all")
    git(folder, "checkout", "-q", "one")


def found(home: Path, files: int) -> int:
    """How many of the files are the best hit for the word that only they have."""
    with KnowledgeBase(home, load_config(None, home, {}, {}, print)) as kb:
        index = kb.runtime().lexical_index()  # once: the watcher goes on writing vectors
        best = [index.search(query_terms(f"zq{number}x"), 1) for number in range(files)]
        held = kb.chunks(ranking[0][0] for ranking in best if ranking)
    paths = [held[ranking[0][0]].path if ranking else "" for ranking in best]
    return sum(path.endswith(f"/harbour-{number}.md") for number, path in enumerate(paths))


class Watcher:
    """`kb watch --json`, and what it has told so far."""

    def __init__(self, folder: Path, home: Path) -> None:
        self.batches, self.documents, self.has_begun, self.counts = 0, 0, False, ""
        self._process = subprocess.Popen([*KB, "watch", folder, "--json", "--home", home], stdout=subprocess.PIPE)
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        assert self._process.stdout
        for line in self._process.stdout:
            event = json.loads(line)
            self.has_begun |= event["event"] == "watching"
            if event["event"] == "words":
                counts = event["counts"]
                self.batches += 1
                self.documents += counts.get("new", 0) - counts.get("pruned", 0)
                self.counts = ", ".join(f"{number} {name}" for name, number in counts.items())

    def wait_for(self, is_so: Callable[[], bool]) -> None:
        """Until it is so."""
        while not is_so():
            assert self._process.poll() is None, "kb watch has ended"
            time.sleep(0.02)

    def end(self) -> None:
        """Stop it."""
        self._process.terminate()
        self._process.wait()


class Reader:
    """A loop of searches, each a process."""

    def __init__(self, home: Path) -> None:
        self._home, self._seconds, self._failed, self._is_over = home, list[float](), 0, False
        self._thread = threading.Thread(target=self._loop)
        self._thread.start()

    def _loop(self) -> None:
        command = [*KB, "search", "the lamp is lit", "--mode", "lexical", "--home", str(self._home)]
        while not self._is_over:
            if not (self._home / "index" / "lexical.json").exists():
                time.sleep(0.1)
                continue
            began = time.perf_counter()
            done = subprocess.run(command, capture_output=True, check=False)
            self._seconds.append(time.perf_counter() - began)
            self._failed += done.returncode not in (0, 1)

    def take(self) -> list[float]:
        """The times since this was called last."""
        taken, self._seconds = self._seconds, []
        return taken

    def end(self) -> int:
        """Stop it; how many searches failed."""
        self._is_over = True
        self._thread.join()
        return self._failed


if __name__ == "__main__":
    main()
