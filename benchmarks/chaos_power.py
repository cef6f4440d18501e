"""Pull the plug: the writes that the disk had not confirmed are lost, and the store must open at a state that was acknowledged.

    python benchmarks/chaos_power.py [--cuts 200] [--commands 30]

strace notes every write, truncation, fsync and removal that `kb remember` and `kb ingest` make to the store, one command
after another, and when each command had ended. Then, for a moment drawn at random, the files are built as a disk could hold them: what stood
before a file's last fsync whole, of what was written since a random part, each write whole, torn or lost. Every store must
open, be sound in SQLite's eyes and by its seals, and hold the facts and documents 0 to m, with m at least what was
acknowledged before the last fsync of kb.sqlite. Half of the commands run while another connection is open, which keeps the
log. Needs strace. The files of the indexes: benchmarks/chaos_indexes.py.
"""

from __future__ import annotations

import argparse
import random
import re
import shutil
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from kb.errors import KbError
from kb.store.database import find_faults, open_for_writing
from kb.store.schema import FILE_NAME
from kb.store.soundness import find_altered

SECTOR_BYTES = 512
WORK = """
import os, sqlite3, sys
from kb.cli.main import run
home, commands, notes = sys.argv[1], int(sys.argv[2]), sys.argv[3]
os.mkdir(notes)
other = sqlite3.connect(os.path.join(home, "kb.sqlite"))
for number in range(commands):
    if number == commands // 2:
        other.execute("SELECT count(*) FROM facts").fetchall()
    if run(["remember", f"Fact {number} is known.", "--home", home], False):
        sys.exit("kb remember failed")
    with open(os.path.join(notes, f"{number:04d}.md"), "w") as note:
        note.write(f"# Note {number}\\n\\nNote {number} is kept.\\n")
    if run(["ingest", notes, "--words-only", "--quiet", "--home", home], False):
        sys.exit("kb ingest failed")
    os.write(2, f"acknowledged {number}\\n".encode())
os._exit(0)
"""
CALL = re.compile(
    r"^\d+ +(?P<name>\w+)\((?:(?P<fd>\d+)<(?P<path>[^>]*)>)?(?:\"(?P<named>[^\"]*)\")?(?P<rest>.*)\) += (?P<result>-?\d+)"
)
WRITTEN = re.compile(r'^, "((?:\\x[0-9a-f]{2})*)", \d+(?:, (\d+))?$')


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened to a file of the store: write, cut, sync, remove; or `ack`, with the number in `at`."""

    kind: str
    file: str = ""
    at: int = 0
    content: bytes = b""


def record(home: Path, commands: int, log: Path) -> list[Event]:
    """What so many `kb remember` and `kb ingest` did to the files of a home, in order.

    raises  CalledProcessError where strace or a command fails
    """
    calls = "trace=pwrite64,write,fsync,fdatasync,ftruncate,unlink"
    words = ["strace", "-f", "-y", "-qq", "-xx", "-s", "1000000", "-e", calls, "-o", log, sys.executable, "-c", WORK]
    subprocess.run([*words, str(home), str(commands), str(home.parent / "notes")], check=True, capture_output=True)
    return [event for event in map(read_call, log.read_text().splitlines()) if event]


def read_call(line: str) -> Event | None:
    """A line of strace as an event; None for what does not concern the store, or failed."""
    found = CALL.match(line)
    if found is None or int(found["result"]) < 0:
        return None
    path = found["path"] or found["named"] or ""
    path = bytes.fromhex(path.replace("\\x", "")).decode() if path.startswith("\\x") else path
    file, name, rest = Path(path).name, found["name"], found["rest"]
    written = WRITTEN.match(rest)
    content = bytes.fromhex(written[1].replace("\\x", "")) if written else b""
    if name == "write" and content.startswith(b"acknowledged "):
        return Event("ack", at=int(content.split()[1]))
    if file not in (FILE_NAME, f"{FILE_NAME}-wal"):
        return None
    if name == "pwrite64" and written:
        return Event("write", file, int(written[2]), content)
    kinds = {"fsync": "sync", "fdatasync": "sync", "unlink": "remove", "ftruncate": "cut"}
    return Event(kinds[name], file, int(rest.lstrip(", ")) if name == "ftruncate" else 0) if name in kinds else None


def cut_off(
    before: dict[str, bytes], events: Sequence[Event], dice: random.Random, is_disk_honest: bool = True
) -> dict[str, bytes]:
    """The files as a disk could hold them when the power fails after these events."""
    files = {name: bytearray(content) for name, content in before.items()}
    syncs = [(event.file, number) for number, event in enumerate(events) if event.kind == "sync" and is_disk_honest]
    last_sync = dict(syncs)
    for number, event in enumerate(events):
        if event.kind == "remove":
            files.pop(event.file, None)
        elif event.kind == "cut":
            content = files.setdefault(event.file, bytearray())
            content[:] = content[: event.at].ljust(event.at, b"\0")
        elif event.kind == "write":
            kept = event.content
            if number > last_sync.get(event.file, -1):
                kept = dice.choice((kept, b"", kept[: dice.randrange(0, len(kept) + 1, SECTOR_BYTES)]))
            content = files.setdefault(event.file, bytearray())
            if len(content) < event.at + len(kept):
                content.extend(bytes(event.at + len(kept) - len(content)))
            content[event.at : event.at + len(kept)] = kept
    return {name: bytes(content) for name, content in files.items()}


def open_after(place: Path, files: dict[str, bytes], promised: int) -> str:
    """What became of the store: "sound", or what is wrong with it."""
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    for name, content in files.items():
        (place / name).write_bytes(content)
    try:
        with closing(open_for_writing(place)) as store:
            faults, altered = find_faults(store), find_altered(store)
            known = [text for (text,) in store.execute("SELECT text FROM facts ORDER BY fact_id")]
            paths = [path for (path,) in store.execute("SELECT path FROM documents ORDER BY path")]
    except (KbError, sqlite3.DatabaseError) as error:
        return f"does not open: {error}"
    if faults or altered.facts or altered.documents:
        return f"damaged: {faults}, facts {altered.facts}, documents {altered.documents}"
    wanted = [f"Fact {number} is known." for number in range(len(known))]
    if (known, paths) != (wanted, [f"{number:04d}.md" for number in range(len(paths))]):
        return f"not a state that was acknowledged: {known}, {paths}"
    if len(known) - len(paths) not in (0, 1):  # a fact is told before its note is taken in
        return f"not a state that was acknowledged: {len(known)} facts, {len(paths)} documents"
    return "sound" if len(paths) >= promised else f"lost {promised - len(paths)} acknowledged documents"


def pull_the_plug(cuts: int, commands: int, seed: int, *, is_disk_honest: bool = True) -> Counter[str]:
    """How often each thing became of the store.

    is_disk_honest  False: nothing is kept by an fsync, which no store survives; shows that the cuts cut
    """
    dice = random.Random(seed)
    ends: Counter[str] = Counter()
    with TemporaryDirectory() as folder:
        home = Path(folder, "home")
        open_for_writing(home).close()
        before = {file.name: file.read_bytes() for file in home.iterdir() if file.name == FILE_NAME}
        events = record(home, commands, Path(folder, "calls"))
        if sum(event.kind == "ack" for event in events) != commands:
            raise RuntimeError("strace has not noted every command")
        for _ in range(cuts):
            seen = events[: dice.randrange(len(events) + 1)]
            syncs = [n for n, event in enumerate(seen) if event.kind == "sync" and event.file == FILE_NAME]
            promised = sum(event.kind == "ack" for event in seen[: syncs[-1] if syncs else 0])
            ends[open_after(Path(folder, "after"), cut_off(before, seen, dice, is_disk_honest), promised)] += 1
    return ends


def main() -> None:
    """Print how the stores opened."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cuts", type=int, default=200)
    parser.add_argument("--commands", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    for end, count in pull_the_plug(given.cuts, given.commands, given.seed).most_common():
        print(f"{count:>6} {end}")


if __name__ == "__main__":
    main()
