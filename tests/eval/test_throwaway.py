"""Homes of collections: made once, by whichever kb comes first, and by two at once."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

from kb.config import Config
from kb.eval.collections import CollectionDocument
from kb.eval.throwaway import DONE, LEFT_AFTER_SECONDS, collection_home, fill_from_documents
from kb.runtime import Runtime

DOCUMENTS = [
    CollectionDocument("a", "Lamp", "The lamp burns at night."),
    CollectionDocument("b", "Pump", "The pump is red."),
]
# Both have found no home before either has filled one; the second is not done while the first reads its own.
MAKE = """
import sys, time
from pathlib import Path
from kb.config import Config
from kb.eval.throwaway import collection_home, fill_from_documents
from tests.eval.test_throwaway import DOCUMENTS

cache, begun, awaited, done = map(Path, sys.argv[1:])

def fill(kb):
    begun.touch()
    while not awaited.exists():
        time.sleep(0.01)
    fill_from_documents(DOCUMENTS, lambda event: None)(kb)

with collection_home(cache, Config(), "pumps", "0" * 64, fill, print) as kb:
    print(kb.corpus.count_documents())
done.touch()
"""


def made(cache: Path) -> Runtime:
    return collection_home(
        cache, Config(), "pumps", "0" * 64, fill_from_documents(DOCUMENTS, lambda event: None), print
    )


def start(folder: Path, *places: Path) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", MAKE, folder / "cache", *places], stdout=-1, stderr=-1, text=True)


def with_encoders(cache: Path, encoder_cache: Path) -> Path:
    """A cache folder with the encoders of the test run: making them takes longer than these tests."""
    cache.mkdir(exist_ok=True)
    (cache / "encoders").symlink_to(encoder_cache / "encoders")
    return cache


def test_two_may_make_the_same_home_at_once(tmp_path: Path, encoder_cache: Path) -> None:
    with_encoders(tmp_path / "cache", encoder_cache)
    first, second, done, end = (tmp_path / name for name in ("first", "second", "done", "end"))
    running = [start(tmp_path, first, second, done)]
    while not first.exists() and running[0].poll() is None:
        time.sleep(0.01)
    running.append(start(tmp_path, second, done, end))
    try:
        for process in running:
            out, errors = process.communicate(timeout=60)
            assert (process.returncode, out.split()[-1:]) == (0, ["2"]), errors
    finally:
        for process in running:
            process.kill()
    [home] = (tmp_path / "cache" / "eval").iterdir()
    assert (home / DONE).exists()


def test_what_was_cut_off_is_made_anew_and_what_was_left_aside_goes(tmp_path: Path, encoder_cache: Path) -> None:
    with_encoders(tmp_path, encoder_cache)
    with made(tmp_path) as kb:
        assert kb.corpus.count_documents() == 2
    [home] = (tmp_path / "eval").iterdir()
    (home / DONE).unlink()
    (home / "kb.sqlite").write_bytes(b"cut off")
    old, young = home.with_name(f"{home.name}.old"), home.with_name(f"{home.name}.young")
    for left in (old, young):
        left.mkdir()
    os.utime(old, (time.time() - LEFT_AFTER_SECONDS - 60,) * 2)
    with made(tmp_path) as kb:
        assert kb.corpus.count_documents() == 2
    assert not old.exists()
    assert young.exists()
