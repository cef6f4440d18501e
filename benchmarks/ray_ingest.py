"""Ingest on Ray beside the same ingest without it: the rate, and what is left after processes were killed.

    python benchmarks/ray_ingest.py rate FOLDER [--files 400]
    python benchmarks/ray_ingest.py kills FOLDER [--kills 50] [--files 120] [--seed 1]

Needs kb-cited[ray]. `rate` runs `kb ingest` and `kb ingest --ray auto` in turn, each in a process and a home of its own, and
prints chunks a second of the whole command and without its start; processor time is that of all processes. `kills` ingests
with --ray auto while a reader, an encoder or the command itself is killed at a random moment, starts the command again
where it was the command, and compares the corpus with one that was never disturbed: hashes of all that a document holds,
and cosines of the vectors.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from kb.config import Config
from kb.runtime import Runtime

KINDS = ("reader", "encoder", "command")
# How their processes are called; one that has nothing to read for a moment is idle.
NAMES = {"reader": ("ray::examine_there", "ray::IDLE"), "encoder": ("ray::EncoderThere",)}
# Cosines of the same text in batches of other lengths, and in 16 bits.
LEAST_COSINE = 0.9999


@dataclass(frozen=True, slots=True)
class Timed:
    """One ingest: chunks saved.

    whole  seconds of the command
    work   of those from its scan to its end
    cpu    processor seconds of all its processes, those of Ray too, as they were at the last line it printed
    """

    whole: float
    work: float
    cpu: float
    chunks: int


def command(home: Path, folder: Path, *options: str) -> list[str]:
    """kb ingest, as it is called from a shell."""
    return [sys.executable, "-m", "kb", "--home", str(home), "ingest", str(folder), "--json", *options]


def copy_files(folder: Path, target: Path, most: int) -> None:
    """The first files of a folder, in the order of their paths."""
    for path in islice(sorted(p for p in folder.rglob("*") if p.is_file()), most):
        place = target / path.relative_to(folder)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, place)


def timed(home: Path, folder: Path, *options: str) -> Timed:
    """Run it to its end."""
    began, used = time.perf_counter(), dict[int, float]()
    with subprocess.Popen(command(home, folder, *options), stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        scanned, last = began, ""
        for line in process.stdout:
            if '"scan_completed"' in line:
                scanned = time.perf_counter()
            for pid in [process.pid, *(pid for pid, _ in processes_below(process.pid))]:
                used[pid] = max(used.get(pid, 0.0), processor_seconds(pid))
            last = line
        ended = time.perf_counter()
    whole = time.perf_counter() - began
    return Timed(whole, ended - scanned, sum(used.values()), json.loads(last)["chunks_written"])


def processor_seconds(pid: int) -> float:
    """What a process has used so far; 0 where it is gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure_rate(folder: Path, rounds: int) -> None:
    """Print both, in turns, and the ratio of the medians."""
    found: dict[str, list[Timed]] = {"here": [], "ray": []}
    for _ in range(rounds):
        for name, options in (("here", ()), ("ray", ("--ray", "auto"))):
            with TemporaryDirectory() as home:
                one = timed(Path(home) / "home", folder, *options)
            found[name].append(one)
            print(
                f"{name:5} {one.chunks:6,} chunks in {one.whole:6.1f} s, {one.chunks / one.whole:6.1f} a second;"
                f" after the scan {one.chunks / one.work:6.1f} a second; {one.cpu:6.1f} s of CPU",
                flush=True,
            )
    for what in ("work", "whole"):
        here, ray = (float(np.median([getattr(one, what) for one in found[name]])) for name in ("here", "ray"))
        print(
            f"Ray's rate is {here / ray:.2f} of that without it ({'whole command' if what == 'whole' else 'after the scan'})"
        )


# ---- kills


def processes_below(pid: int) -> Iterator[tuple[int, str]]:
    """(pid, command line) of all processes that a process has started, and those of theirs."""
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
            parents.setdefault(parent, []).append(int(entry.name))
    waiting = [pid]
    while waiting:
        for child in parents.get(waiting.pop(), ()):
            waiting.append(child)
            try:
                yield child, Path(f"/proc/{child}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                continue


def kill_one(process: subprocess.Popen[str], kind: str, chooser: random.Random) -> bool:
    """Kill a process of a kind; False where there is none now."""
    if kind == "command":
        process.kill()
        return True
    pids = [pid for pid, line in processes_below(process.pid) if line.startswith(NAMES[kind])]
    if not pids:
        return False
    try:
        os.kill(chooser.choice(pids), signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


def disturbed(home: Path, folder: Path, kills: int, chooser: random.Random, done: Counter[str]) -> int:
    """Ingest into a home until it is done, with so many kills at most; returns how often the command was started."""
    starts = 0
    while True:
        starts += 1
        with subprocess.Popen(
            command(home, folder, "--ray", "auto"), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        ) as process:
            assert process.stdout
            left = chooser.randint(1, 8)
            for line in process.stdout:
                left -= '"document_finished"' in line
                if left <= 0 and sum(done.values()) < kills:
                    kind = chooser.choice(KINDS)
                    time.sleep(chooser.random() * 0.3)
                    if kill_one(process, kind, chooser):
                        done[kind] += 1
                        left = chooser.randint(1, 8)
                        if kind == "command":
                            break  # what it has printed before is still to be read
        if process.returncode == 0:
            return starts
        assert process.returncode == -signal.SIGKILL, f"the command ended with {process.returncode}"


def differences(one: Path, other: Path) -> list[str]:
    """Documents that two homes do not hold alike."""
    with Runtime(one, Config()) as first, Runtime(other, Config()) as second:
        held = [{(s.source, s.path): s for s in kb.corpus.document_stamps()} for kb in (first, second)]
        found = [f"{path}: only in one" for _, path in held[0].keys() ^ held[1].keys()]
        if len(first.corpus.document_stamps()) != len(held[0]) or len(second.corpus.document_stamps()) != len(held[1]):
            found.append("a file is there twice")
        for key in held[0].keys() & held[1].keys():
            documents = [
                kb.corpus.stored_document(stamps[key].doc_id) for kb, stamps in zip((first, second), held, strict=True)
            ]
            assert documents[0]
            assert documents[1]
            vectors = [document.vectors for document in documents]
            without = [replace(document, vectors={}) for document in documents]
            if without[0].digest() != without[1].digest() or vectors[0].keys() != vectors[1].keys():
                found.append(f"{key[1]}: other contents")
            elif any(cosine(vectors[0][h], vectors[1][h]) < LEAST_COSINE for h in vectors[0]):
                found.append(f"{key[1]}: other vectors")
        return found


def cosine(one: bytes, other: bytes) -> float:
    """Of two stored vectors."""
    a, b = (np.frombuffer(vector, "<f4") for vector in (one, other))
    return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))


def measure_kills(folder: Path, kills: int, seed: int) -> None:
    """Kill until there were so many, in one home after the other, and print what is left."""
    chooser, total, homes, starts = random.Random(seed), Counter[str](), 0, 0
    with TemporaryDirectory() as place:
        calm = Path(place) / "calm"
        timed(calm, folder, "--ray", "auto")
        while sum(total.values()) < kills:
            home = Path(place) / f"home{homes}"
            before = sum(total.values())
            starts += disturbed(home, folder, kills, chooser, total)
            homes += 1
            faults = differences(calm, home)
            print(
                f"home {homes}: {sum(total.values()) - before} kills, {len(faults)} differences {faults[:3]}",
                flush=True,
            )
            shutil.rmtree(home)
    print(f"{sum(total.values())} kills ({dict(total)}) in {homes} homes, {starts} starts of the command")


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("rate", "kills"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--files", type=int, help="so many files of the folder; 400 for rate, 120 for kills")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with TemporaryDirectory() as place:
        files = Path(place) / "files"
        copy_files(given.folder, files, given.files or (400 if given.what == "rate" else 120))
        if given.what == "rate":
            measure_rate(files, given.rounds)
        else:
            measure_kills(files, given.kills, given.seed)


if __name__ == "__main__":
    main()
