"""Pull the plug while indexes are written: what was lost of them is noticed and built anew, and never believed.

    python benchmarks/chaos_indexes.py [--cuts 200]

Only large indexes are synced (kb/index/stamp.py), so of the others every page may be lost. A home is copied before and after a
few edits and their commit. Of the two copies, homes are built as a disk could hold them: the store of then or of now, each
stamp of then or of now, and each file whole, with lost pages, cut off, empty or gone. The rankings of every such home must
be those of indexes that are built from nothing.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

from kb.config import Config
from kb.index.stamp import INDEX_FOLDER
from kb.store.schema import FILE_NAME

PAGE_BYTES = 4096
EDITS = 6
QUERIES = ("rabat", "tolen kegus", "mipim")


def lose_pages(content: bytes, dice: random.Random) -> bytes | None:
    """A file that was never synced, as a disk could hold it; None for one that is not there."""
    fate = dice.choice(("pages", "pages", "cut", "empty", "gone"))
    if not content:
        return content
    if fate == "pages":
        torn = bytearray(content)
        for at in range(0, len(torn), PAGE_BYTES):
            if dice.random() < 0.5:
                torn[at : at + PAGE_BYTES] = bytes(len(torn[at : at + PAGE_BYTES]))
        return bytes(torn)
    return {"cut": content[: dice.randrange(len(content))], "empty": b"", "gone": None}[fate]


def cut_off(place: Path, then: Path, now: Path, dice: random.Random) -> str:
    """Build the home that a power failure between two states leaves; returns whose store it has."""
    shutil.rmtree(place, ignore_errors=True)
    (place / INDEX_FOLDER).mkdir(parents=True)
    whose, harmed_share = dice.choice(("then", "now")), dice.random() ** 3
    shutil.copy((then if whose == "then" else now) / FILE_NAME, place / FILE_NAME)
    for home in (then, now):
        for file in sorted((home / INDEX_FOLDER).rglob("*")):
            name = file.relative_to(home)
            if file.is_dir():
                (place / name).mkdir(exist_ok=True)
            # A stamp is renamed into its place: of two, one is there.
            elif file.suffix != ".json" or not (place / name).exists() or dice.random() < 0.5:
                content = file.read_bytes()
                left = lose_pages(content, dice) if dice.random() < harmed_share else content
                if left is not None:
                    (place / name).write_bytes(left)
    return whose


def pull_the_plug(cuts: int, seed: int) -> Counter[str]:
    """How often each thing became of the indexes: read as they were, or built anew; "wrong" where a ranking differed."""
    sys.path.insert(0, str(Path(__file__).parents[1]))  # the tests are not installed with the package
    from tests.contract.test_index_following import Edited, agree, rankings

    dice = random.Random(seed)
    ends: Counter[str] = Counter()
    with TemporaryDirectory() as folder:
        copies = {name: Path(folder, name) for name in ("then", "now")}
        expected = {}
        with Edited(Path(folder, "home"), Config()) as kb:
            kb.documents += [kb.save() for _ in range(30)]
            for copy in copies.values():
                for _ in range(EDITS):
                    kb.edit()
                kb.refresh_indexes()
                kb.store.checkpoint()
                shutil.copytree(kb.home, copy)
        for name, copy in copies.items():
            fresh = Path(folder, "fresh")
            fresh.mkdir()
            shutil.copy(copy / FILE_NAME, fresh / FILE_NAME)
            with Edited(fresh, Config()) as kb:
                expected[name] = rankings(kb, QUERIES)
            shutil.rmtree(fresh)
        for _ in range(cuts):
            place, told = Path(folder, "after"), []
            whose = cut_off(place, copies["then"], copies["now"], dice)
            with Edited(place, Config()) as kb:
                kb.notify = told.append
                found = rankings(kb, QUERIES)
            same = all(
                agree(ours, theirs)
                for kind in found
                for ours, theirs in zip(found[kind], expected[whose][kind], strict=True)
            )
            built = sum("build" in line for line in told)
            ends[f"{built} of 2 built anew" if same else "wrong"] += 1
    return ends


def main() -> None:
    """Print what became of the indexes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cuts", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    for end, count in sorted(pull_the_plug(given.cuts, given.seed).items()):
        print(f"{count:>6} {end}")


if __name__ == "__main__":
    main()
