"""Processes that are killed while they bring the indexes up to date: the old state or the new one, and no build of more."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from kb.config import Config
from kb.index.stamp import INDEX_FOLDER
from kb.runtime import Runtime
from tests.contract.test_index import WORDS
from tests.contract.test_index_following import Edited, agree, rankings

ROOT = Path(__file__).parents[2]
KILLS = 3  # benchmarks/index_kills.py makes 300
# Edits and commits for ever, as kb's writers make them: the store first, then the indexes, with the lock.
WRITER = """
import random, sys, time
from pathlib import Path
from kb.config import Config
from kb.store.lock import writer_lock
from tests.contract.test_index_following import Edited
with Edited(Path(sys.argv[1]), Config()) as kb:
    kb.chance, kb.saved = random.Random(time.time_ns()), time.time_ns()
    kb.documents = [document.doc_id for document in kb.corpus.list_documents()]
    kb.fewest = 20  # of fewer, three edits may change more than there is, and an index is built anew
    print("ready", flush=True)
    while True:
        with writer_lock(kb.home, 60, print):
            for _ in range(kb.chance.randint(1, 3)):
                kb.edit()
            kb.refresh_indexes()
"""


def start_writer(home: Path) -> subprocess.Popen[bytes]:
    """A writer at work."""
    process = subprocess.Popen([sys.executable, "-c", WRITER, str(home)], stdout=subprocess.PIPE, cwd=ROOT)
    assert process.stdout
    assert process.stdout.readline() == b"ready\n"
    return process


def kill_writers(home: Path, kills: int, seed: int, tell: Callable[[str], object] = lambda line: None) -> int:
    """Kill a writer again and again, look at what it leaves as a reader does; returns how many kills left work to do."""
    chance, unfinished = random.Random(seed), 0
    with Edited(home, Config()) as kb:
        kb.documents += [kb.save(length=60) for _ in range(30)]
        kb.refresh_indexes()
    for kill in range(kills):
        process = start_writer(home)
        time.sleep(chance.uniform(0, 0.3))
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        told: list[str] = []
        with Runtime(home, Config(), notify=told.append) as reader:
            left = {keeper.kind: keeper.stamp() for keeper in reader.index_keepers()}
            assert all(left.values()), "a kill left no index"
            was_behind = any(
                stamp and not keeper.is_current(stamp)
                for keeper, stamp in zip(reader.index_keepers(), left.values(), strict=True)
            )
            expected = set(reader.corpus.chunk_places())
            assert reader.lexical_index().chunk_ids() == expected
            assert reader.vector_index().chunk_ids() == expected
            # One that is too full of dead rows may be due to be built anew.
            anew = sum(bool(stamp and stamp.dead > 0.3 * stamp.rows) for stamp in left.values())
            assert len(told) <= anew, told
        unfinished += was_behind
        tell(f"kill {kill + 1}: {'behind' if was_behind else 'up to date'}")
    return unfinished


def test_a_kill_leaves_the_old_state_or_the_new_one(tmp_path: Path) -> None:
    home = tmp_path / "home"
    kill_writers(home, KILLS, seed=5)
    same_as_new(home)


def same_as_new(home: Path) -> None:
    """Its indexes rank as ones that are built from nothing, and nothing of killed builds is left by the next change."""
    with Edited(home, Config()) as kb:
        kb.saved = time.time_ns()
        kb.save()
        kb.refresh_indexes()
        queries = WORDS[:30]
        ours = rankings(kb, queries)
        assert len(list((home / INDEX_FOLDER).iterdir())) == 4, "a killed build is still there"
        kb.refresh_indexes(force=True)
        theirs = rankings(kb, queries)
    assert all(agree(a, b) for kind in ours for a, b in zip(ours[kind], theirs[kind], strict=True))


def test_what_a_killed_writer_left_goes_with_the_next_one_also_where_nothing_is_to_be_done(tmp_path: Path) -> None:
    with Edited(tmp_path, Config()) as kb:
        kb.documents += [kb.save(length=5)]
        kb.refresh_indexes()
        before = sorted((tmp_path / INDEX_FOLDER).iterdir())
        for name in ("lexical-0", "vector-0.unfinished"):
            (tmp_path / INDEX_FOLDER / name).mkdir()
        kb.refresh_indexes()
    assert sorted((tmp_path / INDEX_FOLDER).iterdir()) == before
