"""Search in source code: 60 questions on kb's own code, each with the file that answers it.

    python benchmarks/code.py [FOLDER]

FOLDER is the tree that is searched, this one by default; code_questions.yaml names its files. A question counts as found
where a chunk of its file is among the first k files.
"""

from __future__ import annotations

import argparse
import os
import time
from hashlib import sha256
from pathlib import Path

import yaml

from kb.config import Config, cache_folder
from kb.eval.resampling import bootstrap_interval
from kb.eval.throwaway import collection_home, fill_from_folder
from kb.records import SearchMode, SearchRequest
from kb.search.fuse import fuse
from kb.search.retrieve import retrieve

REPOSITORY = Path(__file__).resolve().parents[1]
MODES: tuple[SearchMode, ...] = ("lexical", "vector", "hybrid")
DEPTH = 100


def rank_of(files: list[str], wanted: str) -> int:
    """The place of a file among the distinct files of a ranking, from 1; 0 where it is not there."""
    distinct = list(dict.fromkeys(files))
    return distinct.index(wanted) + 1 if wanted in distinct else 0


def main() -> None:
    """Print recall at 1 and 5 and MRR by mode, and what hybrid search does not find."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=REPOSITORY)
    folder = parser.parse_args().folder / "kb"
    questions = yaml.safe_load(Path(__file__).with_name("code_questions.yaml").read_text())
    content = sha256(b"\0".join(f.read_bytes() for f in sorted(folder.rglob("*.py")))).hexdigest()
    fill = fill_from_folder(folder, lambda event: None)
    began = time.perf_counter()
    with collection_home(cache_folder(os.environ), Config(), "code", content, fill, print) as kb:
        print(f"{len(questions)} questions, home ready in {time.perf_counter() - began:.0f} s")
        for mode in MODES:
            ranks = []
            for each in questions:
                found = retrieve(kb, SearchRequest(each["q"], mode, DEPTH))
                chunk_ids = [i for i, _ in fuse(found, mode, kb.config.search).ranking[:DEPTH]]
                chunks = kb.corpus.fetch_chunks(chunk_ids)
                ranks.append(rank_of([f"kb/{chunks[i].path}" for i in chunk_ids], each["file"]))
            at_5 = [float(0 < rank <= 5) for rank in ranks]
            low, high = bootstrap_interval([(one, 1.0) for one in at_5], seed=0)
            print(
                f"{mode:<8} recall@1 {sum(rank == 1 for rank in ranks) / len(ranks):.3f}"
                f"  recall@5 {sum(at_5) / len(at_5):.3f} [{low:.3f}, {high:.3f}]"
                f"  MRR {sum(1 / rank for rank in ranks if rank) / len(ranks):.3f}"
            )
        for each, rank in zip(questions, ranks, strict=True):
            if not 0 < rank <= 5:
                print(f"  not in the first 5 by hybrid: {each['q']} ({each['file']}: {rank or 'not found'})")


if __name__ == "__main__":
    main()
