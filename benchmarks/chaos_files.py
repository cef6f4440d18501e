"""What does a hostile file cost, and does it cost any other file?

    python benchmarks/chaos_files.py [--mutations 3000] [--only PART-OF-A-NAME]

Every file of tests/ingest/hostile.py lies in a folder with two sound ones, and is ingested by a process of its own, in a dry
run, because the encoder costs by the length of the text: its processor time without that of the two sound files alone, its
largest memory (the reading process included), and what became of it. Then damaged copies of one sound file of each format are read, chunked and searched for names. The bars:
10 s and 1 GB for each, both sound files found each time, no traceback, and every damaged file ends in text or in a reason.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

from kb.config import Config, cache_folder
from kb.embed.registry import open_encoder
from kb.errors import ParseFailed
from kb.ingest.guarded_reading import FileReader
from kb.ingest.plan import Candidate
from kb.ingest.prepare import LoadedFile, Settings, hash_bytes, prepare
from kb.ingest.readers import reader_for
from kb.ingest.sources import Target

BAR_SECONDS = 10.0
BAR_BYTES = 1_000_000_000
GOOD = {
    "before.md": "# Otters\n\nOtters hold hands.\n",
    "zz.html": "<html><body><p>Comets are snowballs.</p></body></html>",
}


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--mutations", type=int, default=3000)
    arguments.add_argument("--only", default="", help="hostile files with this in their name")
    given = arguments.parse_args()
    # Loaded here: the tests are not installed with the package.
    sys.path.insert(0, str(Path(__file__).parents[1]))
    attack(given.only)
    if given.mutations:
        damage(given.mutations)


def attack(only: str) -> None:
    """A line per hostile file: seconds, megabytes, and what became of it."""
    from tests.ingest.hostile import FILES, make_names, make_places

    with TemporaryDirectory() as place:
        cost_alone = ingest(Path(place) / "alone", None, b"")[0]
        over = 0
        print("| file | bytes | CPU s | MB | result |\n|---|---|---|---|---|")
        for name, make in FILES.items():
            if only in name:
                raw = make()
                seconds, peak, result = ingest(Path(place) / name, name, raw)
                seconds -= cost_alone
                is_over = seconds > BAR_SECONDS or peak > BAR_BYTES
                over += is_over
                print(
                    f"| {name} | {len(raw):,} | {seconds:.1f} | {peak / 1e6:,.0f} | {result}{' **over**' * is_over} |",
                    flush=True,
                )
        if not only:
            folder = Path(place) / "places" / "notes"
            folder.mkdir(parents=True)
            count = len(make_places(folder, Path(place) / "outside")) + make_names(folder)
            seconds, peak, result = ingest(folder.parent, None, b"")
            print(f"| {count} places and names | | {seconds - cost_alone:.1f} | {peak / 1e6:,.0f} | {result} |")
    print(f"\n{over} over {BAR_SECONDS:.0f} s or {BAR_BYTES / 1e9:.0f} GB\n")


def ingest(place: Path, name: str | None, raw: bytes) -> tuple[float, int, str]:
    """(processor seconds, peak bytes, what became of the file) of an ingest of two sound files and this one."""
    folder = place / "notes"
    folder.mkdir(parents=True, exist_ok=True)
    for good, text in GOOD.items():
        (folder / good).write_text(text)
    if name:
        (folder / name).write_bytes(raw)
    command = [sys.executable, "-m", "kb", "--home", str(place / "home"), "ingest", str(folder), "--dry-run", "--json"]
    out = place / "out"
    with open(out, "wb") as file:
        process = subprocess.Popen(command, stdout=file, stderr=subprocess.STDOUT)
        _, _, used = os.wait4(process.pid, 0)
    said = out.read_text()
    report = json.loads(said.splitlines()[-1]) if said.splitlines() else {}
    left_out = {one["path"]: one["reason"] for one in report.get("not_indexed", ())}
    result = left_out.get(name or "", "read") if name else f"{report['counts']['new']} read, {len(left_out)} left out"
    if "Traceback" in said or not report or set(GOOD) & set(left_out):
        result = f"**harm**: {said[-200:]}"
    unit = 1 if sys.platform == "darwin" else 1024
    return used.ru_utime + used.ru_stime, used.ru_maxrss * unit, result[:110].replace("|", "¦").replace("\n", " ")


def damage(count: int) -> None:
    """Read damaged copies of sound files as an ingest does, and count how each ended."""
    from tests.ingest.corpora import FORMATS
    from tests.ingest.hostile import docx, epub, mutate, xlsx

    chance = random.Random(16)
    whole = [(path.name, path.read_bytes()) for path in sorted(FORMATS.iterdir()) if path.name.startswith("sample.")]
    whole += [
        ("a.docx", docx("<w:p><w:r><w:t>Otters hold hands</w:t></w:r></w:p>" * 50)),
        ("a.xlsx", xlsx("".join(f'<row r="{n}"><c r="A{n}"><v>{n}</v></c></row>' for n in range(1, 99)))),
        ("a.epub", epub("<h1>Otters</h1><p>They hold hands.</p>" * 50)),
    ]
    config = Config()
    settings = Settings.of(config, open_encoder(config.embedding, cache_folder(os.environ), lambda line: None))
    ends: Counter[str] = Counter()
    slowest, slowest_name = 0.0, ""
    with FileReader() as reader:
        for number in range(count):
            name, raw = chance.choice(whole)
            broken = mutate(raw, chance)
            kind = reader_for(name)
            if kind is None:
                continue
            target = Target("notes", Path("/"), Path("/"))
            found = Candidate(target, name, Path(name), kind.name, len(broken), 0, None)
            began = time.process_time()
            try:
                prepare(LoadedFile(found, broken, hash_bytes(broken)), settings, reader)
                ends["read"] += 1
            except ParseFailed as error:
                ends[type(error).__name__] += 1
            except Exception as error:
                ends[f"**{type(error).__name__} in {name} {number}: {error}**"] += 1
            if time.process_time() - began > slowest:
                slowest, slowest_name = time.process_time() - began, f"{name} {number}"
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"{count:,} damaged files: " + ", ".join(f"{n:,} {end}" for end, n in ends.most_common()))
    print(f"slowest in this process {slowest:.1f} s ({slowest_name}); all in the other {used.ru_utime:.0f} s", end="; ")
    print(f"its largest memory {used.ru_maxrss * (1 if sys.platform == 'darwin' else 1024) / 1e6:,.0f} MB")


if __name__ == "__main__":
    main()
