"""Do indexes that were changed edit by edit rank as ones that are built from nothing?

    python benchmarks/index_edits.py --home DIR [--edits 500] [--each 5] [--queries 200]

On a copy of a home of benchmarks/scale.py: documents are added, replaced and removed at random, with a commit of both indexes
after each few edits. Then the first 50 of each query, by words, by vectors and by both, are compared with those of indexes
that are built from nothing, up to scores that are the same to float's precision.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.scale import mixtures, words
from kb.config import Config
from kb.drafts import ChunkDraft, DocumentDraft
from kb.runtime import Runtime, open_runtime


def main() -> None:
    """Edit a copy, compare, print the counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--edits", type=int, default=500)
    parser.add_argument("--each", type=int, default=5)
    parser.add_argument("--queries", type=int, default=200)
    given = parser.parse_args()
    # Loaded here: the tests are not installed with the package.
    from tests.contract.test_index_following import agree, rankings

    texts, chance = words(11), random.Random(11)
    queries = [" ".join(next(texts)[: chance.randint(1, 6)]) for _ in range(given.queries)]
    with TemporaryDirectory(dir=given.home.parent) as place:
        home = Path(place) / "home"
        shutil.copytree(given.home, home)
        with open_runtime(home, Config(), write=True) as kb:
            kb.refresh_indexes()
            began = time.process_time()
            edit(kb, given.edits, given.each)
            spent = time.process_time() - began
            ours = rankings(kb, queries)
            stamp = kb.index_keepers()[0].stamp()
            began = time.process_time()
            kb.refresh_indexes(force=True)
            built = time.process_time() - began
            theirs = rankings(kb, queries)
    dead = stamp.dead if stamp else 0
    print(
        f"{given.edits} edits, a commit for each {given.each}: {spent:.1f} s of CPU; from nothing: {built:.1f} s; {dead} dead rows"
    )
    for kind, found in ours.items():
        same = sum(agree(a, b) for a, b in zip(found, theirs[kind], strict=True))
        print(f"{kind:8} {same} of {len(queries)} queries have the same first 50")


def edit(kb: Runtime, edits: int, each: int) -> None:
    """Add, replace and remove documents of one to twenty chunks."""
    texts, vectors, chance = words(12), mixtures(12), random.Random(12)
    doc_ids = [document.doc_id for document in kb.corpus.list_documents()]
    digest = kb.stored_encoder()[1]
    kb.corpus.save_source("edited", None)
    for number in range(edits):
        what = chance.choice(("add", "replace", "remove"))
        chosen = chance.randrange(len(doc_ids))
        if what == "remove":
            kb.corpus.remove_documents([doc_ids.pop(chosen)])
        else:
            rows, blobs = [], {}
            for position in range(chance.randint(1, 20)):
                text, name = " ".join(next(texts)[: chance.randint(5, 130)]), f"e{number}-{position}"
                rows.append((ChunkDraft(position, 0, len(text), text, ("Edited",), 200, 1, 2), name))
                blobs[name] = next(vectors).tobytes()
            draft = DocumentDraft("edited", f"{number}.md", "Edited", "markdown", "en", (), 1, 1, f"{number}", "s")
            saved = kb.corpus.save_document(draft, rows, digest, blobs, doc_ids[chosen] if what == "replace" else None)
            doc_ids += [saved.doc_id] if what == "add" else []
        if number % each == each - 1:
            kb.refresh_indexes()


if __name__ == "__main__":
    main()
