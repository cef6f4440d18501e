"""Everything that docs/promises.md promises, attacked at length: a table of what was done how often, and what came of it.

    python benchmarks/chaos.py [--part damage] [--share 0.1]

Each part is a script of its own (chaos_*.py), which says more while it runs. About an hour on two cores; --share makes each
part so much shorter. The home that is damaged and asked has the fixture corpus, three answers and a fact. A part that needs
root (disk) or strace (power) fails where there is none.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[1]
SETTINGS = {"KB_EMBEDDING__MODEL": "all-MiniLM-L6-v2", "KB_READER__MODEL": "none", "KB_LLM__PROVIDER": "extractive"}
QUESTIONS = ("How often must the mirror of Marigold be cleaned?", "What are the wind limits?", "Who keeps the bees?")


@dataclass(frozen=True, slots=True)
class Part:
    """One attack: what it does, by which script, how often (the option and its number).

    said  how many of its last lines say what came of it
    """

    what: str
    script: str
    option: str
    times: int
    needs_home: bool = False
    said: int = 1


PARTS: Mapping[str, Part] = {
    "damage": Part("one byte of a home flipped", "chaos_damage.py", "--flips", 1000, True),
    "disk": Part("sizes of a disk, seven commands on each", "chaos_disk.py", "--sizes", 20, said=7),
    "files": Part("hostile files, and damaged ones", "chaos_files.py", "--mutations", 3000, said=3),
    "indexes": Part("power cut while indexes are written", "chaos_indexes.py", "--cuts", 200, said=3),
    "power": Part("power cut while the store is written", "chaos_power.py", "--cuts", 200),
    "servers": Part("replies of a model server that lies", "chaos_servers.py", "--replies", 1000, True),
}


def attack(part: Part, home: Path, share: float) -> tuple[int, list[str]]:
    """(how often, what the script said last) of one part."""
    times = max(1, round(part.times * share))
    words = [sys.executable, str(ROOT / "benchmarks" / part.script), part.option, str(times)]
    if part.needs_home:
        words += ["--home", str(home)]
    environment = {**os.environ, **SETTINGS, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(words, env=environment, text=True, stdout=subprocess.PIPE, check=False)
    lines = [line for line in done.stdout.splitlines() if line.strip()]
    return times, lines if done.returncode == 0 else [*lines, f"exit code {done.returncode}"]


def make_home(home: Path) -> None:
    """The fixture corpus, three answers and a fact."""
    environment = {**os.environ, **SETTINGS, "PYTHONPATH": str(ROOT)}
    calls = [["ingest", str(ROOT / "fixtures" / "corpus"), "--quiet"]]
    calls += [["ask", question, "--mode", "lexical"] for question in QUESTIONS]
    calls += [["remember", "The key is under the mat."]]
    for words in calls:
        command = [sys.executable, "-m", "kb", *words, "--home", str(home)]
        subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)


def main() -> None:
    """Print what each part says, and the table last."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=PARTS, action="append")
    parser.add_argument("--share", type=float, default=1.0)
    given = parser.parse_args()
    rows = []
    with TemporaryDirectory() as folder:
        home = Path(folder, "home")
        make_home(home)
        for name in given.part or PARTS:
            part = PARTS[name]
            times, lines = attack(part, home, given.share)
            print("\n".join(lines), end="\n\n", flush=True)
            rows.append(f"| {part.what} | {times:,} | {'; '.join(lines[-part.said :])} |")
    print("| attack | times | came of it |\n|---|---|---|")
    print("\n".join(rows))


if __name__ == "__main__":
    main()
