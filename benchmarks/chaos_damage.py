"""Flip one byte of a home at a time: what a user sees then, and whether kb doctor --deep finds it.

    python benchmarks/chaos_damage.py --home HOME --flips 1000 [--definitions]

Every flip that changes an answer of search, list, show, status or answers must be found, and none may end in a traceback.
The home is copied; `--mode lexical` leaves the encoder out. `--definitions` flips only bytes of the statements that define the
store's tables, indexes and triggers: a thousandth of a home, and what every command goes by.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import random
import shutil
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

# (exit code, stdout, stderr) of a command line
Run = Callable[[list[str]], tuple[int, str, str]]
# Times, places in the file system and names of this process differ between two runs of the same thing.
VOLATILE = frozenset({"took_ms", "home", "store_bytes", "index_bytes", "answers_bytes", "writer", "trace_id"})


@dataclass(frozen=True, slots=True)
class Flip:
    """One flipped byte and what came of it.

    is_seen      a command shows something else than before, an error aside
    is_found     kb doctor --deep reports a fault
    is_refused   a command ended in an error
    disorderly   the output of a command that ended in a traceback, or in what kb calls a bug
    """

    file: str
    at: int
    is_seen: bool
    is_found: bool
    is_refused: bool
    disorderly: str


def files_of(home: Path) -> list[Path]:
    """The files of a home that hold something: lock files, logs of commands and the reserve are left out."""
    left_out = ("write.lock", "commands.log", ".lock", "reserve")
    return sorted(f for f in home.rglob("*") if f.is_file() and f.stat().st_size and not f.name.endswith(left_out))


def commands_of(query: str, mode: str) -> list[list[str]]:
    """What a user looks at."""
    return [
        ["search", query, "--mode", mode, "-k", "50", "--json"],
        ["list", "--json"],
        ["show", "doc:1", "--json"],
        ["answers", "list", "--json"],
        ["status", "--json"],
    ]


def look(run: Run, home: Path, commands: list[list[str]]) -> list[tuple[int, Any, str]]:
    """Exit code, what was printed, and stderr, of each command."""
    found = []
    for words in commands:
        code, out, err = run([*words, "--home", str(home)])
        lines = out.strip().splitlines()
        found.append((code, _stable(json.loads(lines[-1])) if lines else None, err))
    return found


def _stable(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _stable(part) for name, part in value.items() if name not in VOLATILE}
    return [_stable(part) for part in value] if isinstance(value, list) else value


def any_place(home: Path, dice: random.Random) -> Iterator[tuple[Path, int]]:
    """Random bytes of a home, all equally likely: file and offset, without end."""
    files = files_of(home)
    sizes = [file.stat().st_size for file in files]
    while True:
        file = dice.choices(files, sizes)[0]
        yield file, dice.randrange(file.stat().st_size)


def definitions(home: Path, dice: random.Random) -> Iterator[tuple[Path, int]]:
    """Random bytes of the store's own definitions, as they stand in its file, without end."""
    file = home / "kb.sqlite"
    with contextlib.closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        statements = [sql.encode() for (sql,) in connection.execute("SELECT sql FROM sqlite_schema") if sql]
    content = file.read_bytes()
    # One that runs over the end of its page is not found in one piece.
    places = [start + i for sql in statements if (start := content.find(sql)) >= 0 for i in range(len(sql))]
    while True:
        yield file, dice.choice(places)


def flip_bytes(
    home: Path,
    flips: int,
    seed: int,
    query: str,
    mode: str,
    run: Run,
    places: Callable[[Path, random.Random], Iterator[tuple[Path, int]]] = any_place,
) -> list[Flip]:
    """Flip one bit in each of some random bytes of a copy of a home; each from the sound copy."""
    dice = random.Random(seed)
    commands = commands_of(query, mode)
    results = []
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "home")
        shutil.copytree(home, copy)
        before = look(run, copy, commands)
        for file, at in islice(places(home, dice), flips):
            bit = 1 << dice.randrange(8)
            name = file.relative_to(home)
            shutil.rmtree(copy)
            shutil.copytree(home, copy)
            content = bytearray(file.read_bytes())
            content[at] ^= bit
            (copy / name).write_bytes(content)
            code, out, err = run(["doctor", "--deep", "--json", "--home", str(copy)])
            seen = look(run, copy, commands)
            errors = [(out, err), *((str(shown), error) for _, shown, error in seen)]
            disorderly = next((e for _, e in errors if "Traceback" in e or "kb has a bug" in e), "")
            results.append(
                Flip(
                    file=str(name),
                    at=at,
                    is_seen=any(c != 2 and (c, s) != (b, t) for (c, s, _), (b, t, _) in zip(seen, before, strict=True)),
                    is_found=code == 3,
                    is_refused=any(c == 2 for c, *_ in seen),
                    disorderly=disorderly,
                )
            )
    return results


def run_here(words: list[str]) -> tuple[int, str, str]:
    """A command line in this process."""
    from kb.cli.main import run

    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = int(run(words, json=True))
    return code, out.getvalue(), err.getvalue()


def main() -> None:
    """Print how many flips were seen, found, refused and disorderly, by file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--flips", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--query", default="wind limits of the telescope")
    parser.add_argument("--mode", default="hybrid")
    parser.add_argument("--definitions", action="store_true")
    given = parser.parse_args()
    places = definitions if given.definitions else any_place
    results = flip_bytes(given.home, given.flips, given.seed, given.query, given.mode, run_here, places)
    missed = [flip for flip in results if flip.is_seen and not flip.is_found]
    bad = [flip for flip in results if flip.disorderly]
    for flip in missed:
        print(f"seen, not found: {flip.file} at {flip.at}")
    for flip in bad:
        print(f"disorderly: {flip.file} at {flip.at}: {flip.disorderly[-300:]}")
    print(Counter(Path(flip.file).suffix or Path(flip.file).name.split("-")[0] for flip in results))
    print(
        f"{len(results)} flips: {sum(f.is_found for f in results)} found, {sum(f.is_seen for f in results)} seen, "
        f"{sum(f.is_refused for f in results)} refused, {len(missed)} seen and not found, {len(bad)} disorderly"
    )


if __name__ == "__main__":
    main()
