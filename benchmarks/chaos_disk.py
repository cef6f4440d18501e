"""Fill the disk at every step: a message with the path and the free space, nothing lost, and healed when there is room.

    python benchmarks/chaos_disk.py [--sizes 20] [--milvus]

For each of so many amounts of free room, from nothing to 4 MB, on file systems of their own (tmpfs, which needs root on Linux):
an ingest into a new home; then, on a home that is there, a search without indexes, a question, a backup, a removal and the
migration of a store of the first version. Each must end with exit code 0, 1 or 2, an error in two lines that name path and
megabytes; documents and answers must be those of before; with room again the same command must end as on a large disk, and
`kb doctor` with 0. A removal must succeed on every disk, and an answer be shown.

With --milvus the documents are in a file of Milvus Lite, in the home; there is no old store of it to migrate, and since Lite writes when it
opens a file, a question and a removal may be refused.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.chaos_damage import run_here
from kb.embed.model_files import ENGLISH_MODEL
from kb.store.schema import FILE_NAME

MOST_BYTES = 4_000_000
ROOM = "64m"
NOTES = 24
QUESTION = "How often is mirror 7 cleaned?"


@dataclass(frozen=True, slots=True)
class Step:
    """One command on a disk with little room.

    words     what is called; {disk}, {home} and {notes} are replaced
    needs     the home it works on: "" none, "notes" one with documents, "old" one of the first version
    succeeds  it must end with 0, however little room there is
    """

    name: str
    words: tuple[str, ...]
    needs: str = "notes"
    succeeds: bool = False


STEPS = (
    Step("ingest", ("ingest", "{notes}", "--quiet"), needs=""),
    Step("index", ("reindex",)),
    Step("search without indexes", ("search", "mirror", "--mode", "lexical", "--json")),
    Step("ask", ("ask", QUESTION, "--mode", "lexical", "--json"), succeeds=True),
    Step("backup", ("backup", "{disk}/copy.sqlite")),
    Step("rm", ("rm", "note-003.md"), succeeds=True),
    Step("migration", ("doctor", "--repair"), needs="old"),
)


@contextmanager
def small_disk(folder: Path) -> Iterator[Path]:
    """A file system of its own."""
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={ROOM}", "tmpfs", str(folder)], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)
        folder.rmdir()


def leave(disk: Path, free_bytes: int) -> Path:
    """Use the disk up to so many bytes."""
    filling = disk / "filling"
    with filling.open("wb", buffering=0) as file:
        file.write(b"\0" * max(0, shutil.disk_usage(disk).free - free_bytes))
        while shutil.disk_usage(disk).free > free_bytes:
            file.write(b"\0" * 4096)
    return filling


def call(words: list[str]) -> tuple[int, str, str]:
    """A command line: in this process, or in one of its own, since Milvus Lite keeps what it opened."""
    if "KB_CORPUS__URI" not in os.environ:
        return run_here(words)
    done = subprocess.run([sys.executable, "-m", "kb", *words], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def use_milvus(home: Path) -> None:
    """The corpus of the commands to come: a file in this home."""
    os.environ |= {"KB_CORPUS__ENGINE": "milvus", "KB_CORPUS__URI": str(home / "corpus.db")}


def content_of(home: Path) -> tuple[list[str], int]:
    """(paths of the documents, number of answers); nothing for a store that is not there."""
    if os.environ.get("KB_CORPUS__ENGINE") == "milvus":
        listed, answers = (
            [
                json.loads(call([*words, "--json", "--home", str(home)])[1] or "{}")
                for words in (["list"], ["answers", "list"])
            ]
            if home.exists()
            else ({}, {})
        )
        return sorted(row["path"] for row in listed.get("documents", ())), len(answers.get("answers", ()))
    if not (home / FILE_NAME).exists():
        return [], 0
    with closing(sqlite3.connect(home / FILE_NAME)) as store:
        try:
            paths = [path for (path,) in store.execute("SELECT path FROM documents ORDER BY path")]
            return paths, store.execute("SELECT count(*) FROM answers").fetchone()[0]
        except sqlite3.OperationalError:
            return [], 0


def try_step(step: Step, disk: Path, ready: Path | None, notes: Path, free_bytes: int) -> str:
    """What came of a step with so much room: "done", "refused", or what was wrong, as a phrase."""
    home = disk / "home"
    if "KB_CORPUS__URI" in os.environ:
        use_milvus(home)
    if ready:
        shutil.copytree(ready, home)
    if step.name == "search without indexes":
        shutil.rmtree(home / "index", ignore_errors=True)
    before = content_of(home)
    filling = leave(disk, free_bytes)
    words = [part.format(disk=disk, home=home, notes=notes) for part in step.words] + ["--home", str(home)]
    code, out, err = call(words)
    free = shutil.disk_usage(disk).free
    wrong = find_wrong(step, code, err, disk)
    if "the disk is full" in err and free < free_bytes:
        wrong = wrong or "freed nothing"
    if step.name == "ask" and code != 2 and "14 days" not in out:
        wrong = wrong or f"no answer shown: {err}"
    filling.unlink()
    mend(home)
    after = content_of(home)
    if ready and step.name != "rm" and after < before:
        wrong = wrong or f"lost {len(before[0])} → {len(after[0])} documents, {before[1]} → {after[1]} answers"
    is_again = step.name == "rm" or (step.name == "backup" and code == 0)
    healed = ["list"] if is_again else words
    code_again, _, err_again = call([*healed, *([] if "--home" in healed else ["--home", str(home)])])
    if code_again != 0:
        wrong = wrong or f"with room again exit code {code_again}: {err_again[-300:]}"
    if call(["search", "mirror", "--mode", "lexical", "--home", str(home)])[0] not in (0, 1):
        wrong = wrong or "no search with room again"
    if (health := call(["doctor", "--json", "--home", str(home)])[0]) != 0:
        wrong = wrong or f"doctor {health} with room again"
    return wrong or ("done" if code == 0 else "refused")


def mend(home: Path) -> None:
    """Do what kb's error says: Milvus Lite leaves an index that a full disk cut short, and opens nothing then."""
    if "KB_CORPUS__URI" in os.environ and "*.idx" in call(["search", "mirror", "--home", str(home)])[2]:
        for index in home.rglob("*.idx"):
            index.unlink()


def find_wrong(step: Step, code: int, err: str, disk: Path) -> str:
    """What is wrong with the end of a command, "" for nothing."""
    if "Traceback" in err or "kb has a bug" in err:
        return f"disorderly: {err[-300:]}"
    if step.succeeds and code != 0 and "KB_CORPUS__URI" not in os.environ:
        return f"exit code {code}: {err[-300:]}"
    if code not in (0, 1, 2):
        return f"exit code {code}"
    if code == 2 and not (str(disk) in err and "MB" in err):
        return f"an error without path or free space: {err[-300:]}"
    return ""


def fill_disks(sizes: int, tell: Callable[[str], object] = print, *, milvus: bool = False) -> Counter[tuple[str, str]]:
    """(step, what came of it) → how often."""
    os.environ |= {"KB_EMBEDDING__MODEL": ENGLISH_MODEL, "KB_READER__MODEL": "none", "KB_LLM__PROVIDER": "extractive"}
    ends: Counter[tuple[str, str]] = Counter()
    with TemporaryDirectory() as place:
        notes = Path(place, "notes")
        notes.mkdir()
        for number in range(NOTES):
            told = "\n\n".join(f"Log {part} of mirror {number}: {number * part} drops." for part in range(6))
            text = f"# Mirror {number}\n\nMirror {number} is cleaned every {number + 7} days.\n\n{told}\n"
            (notes / f"note-{number:03d}.md").write_text(text)
        ready = {"": None, "notes": Path(place, "ready"), "old": Path(place, "old")}
        if milvus:
            use_milvus(Path(place, "ready"))
        call(["ingest", str(notes), "--quiet", "--home", str(ready["notes"])])
        call(["ask", QUESTION, "--mode", "lexical", "--home", str(ready["notes"])])
        make_old(Path(place, "old"))
        for size in range(sizes):
            free_bytes = int(MOST_BYTES * (size / max(1, sizes - 1)) ** 2) // 4096 * 4096
            for step in (step for step in STEPS if not (milvus and step.needs == "old")):
                with small_disk(Path(place, "disk")) as disk:
                    end = try_step(step, disk, ready[step.needs], notes, free_bytes)
                ends[step.name, end] += 1
                if end not in ("done", "refused"):
                    tell(f"{step.name} with {free_bytes:,} bytes: {end}")
    return ends


def make_old(home: Path) -> None:
    """A home with a store of the first version."""
    home.mkdir()
    sql = Path(__file__).parents[1] / "fixtures" / "stores" / "m001.sql"
    with closing(sqlite3.connect(home / FILE_NAME)) as store:
        store.executescript(sql.read_text(encoding="utf-8"))


def main() -> None:
    """Print a line a step."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, default=20)
    parser.add_argument("--milvus", action="store_true")
    given = parser.parse_args()
    ends = fill_disks(given.sizes, milvus=given.milvus)
    for step in STEPS:
        told = {end: count for (name, end), count in ends.items() if name == step.name}
        fine = {end: told.pop(end, 0) for end in ("done", "refused")}
        print(f"{step.name:<24} {fine['done']:>3} done {fine['refused']:>3} refused {sum(told.values()):>3} wrong")


if __name__ == "__main__":
    main()
