"""What does a knowledge base cost as it grows: one file more, another one, one less; searching, looking, checking?

    python benchmarks/scale.py [--chunks 20000 100000] [--homes DIR] [--runs 3]

Homes are written through the store's own code: Zipfian words, and vectors that are mixtures of real ones (of the passages
of fixtures/corpus) with a little noise. They are kept in --homes for the next run. Each row is a process of its own: its
CPU seconds (user + system, the median), its largest memory, and what it leaves on disk. What the encoder's start costs is
measured in a home of one document, and taken off where a row says so. Below stand the same jobs done with Tantivy and FAISS
alone, in this process.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from kb.config import Config, cache_folder
from kb.drafts import ChunkDraft, DocumentDraft
from kb.embed.registry import open_encoder
from kb.runtime import open_runtime
from kb.store.vectors import short_name

CORPUS = Path(__file__).parents[1] / "fixtures" / "corpus"
CHUNKS_PER_DOCUMENT = 20
WORDS_PER_CHUNK = 130
VOCABULARY = 100_000
SYLLABLES = "ka lo mi ren tu ves dor pin sha gul ber nox fa ti ze ro un hal es qui".split()


@dataclass(frozen=True)
class Cost:
    """CPU seconds, the largest memory in MB, the exit code of a process."""

    seconds: float
    megabytes: float
    code: int


def main() -> None:
    """Make the homes that are missing, then print a table for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chunks", type=int, nargs="+", default=[20_000, 100_000])
    parser.add_argument("--homes", type=Path, default=Path("/tmp/kb-scale"))
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args()
    for chunks in given.chunks:
        home = given.homes / str(chunks)
        if not (home / "index" / "vector.json").exists():
            began = time.process_time()
            fill(home, chunks)
            print(f"filled {home} in {time.process_time() - began:.0f} s of CPU")
        measure(home, chunks, given.runs)
        plain(home, chunks)


# ---- homes


def words(seed: int) -> Iterator[list[str]]:
    """Texts of Zipfian words, for ever."""
    import numpy as np

    names = random.Random(0)
    vocabulary = np.array(["".join(names.choices(SYLLABLES, k=names.randint(1, 4))) for _ in range(VOCABULARY)])
    shares = 1 / (np.arange(VOCABULARY) + 10.0)
    generator, sums = np.random.default_rng(seed), np.cumsum(shares / shares.sum())
    while True:
        drawn = np.searchsorted(sums, generator.random((1000, WORDS_PER_CHUNK)))
        yield from (list(row) for row in vocabulary[np.minimum(drawn, VOCABULARY - 1)])


def mixtures(seed: int) -> Iterator[Any]:
    """Unit vectors, each of three real ones of different weights and a little noise, for ever."""
    import numpy as np

    encoder = open_encoder(Config().embedding, cache_folder(os.environ), print)
    texts = [part for file in sorted(CORPUS.rglob("*.md")) for part in file.read_text().split("\n\n") if len(part) > 80]
    real = encoder.encode_documents(texts[:600])
    generator = np.random.default_rng(seed)
    while True:
        chosen, weights = generator.integers(0, len(real), (1000, 3)), generator.dirichlet([1.0, 0.6, 0.3], 1000)
        rows = np.einsum("nk,nkd->nd", weights, real[chosen]) + 0.01 * generator.normal(size=(1000, real.shape[1]))
        yield from (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype("<f4")


def fill(home: Path, chunks: int) -> None:
    """Documents through the store's own code, then both indexes; the seconds of each index are printed."""
    config = Config()
    encoder = open_encoder(config.embedding, cache_folder(os.environ), print)
    texts, vectors = words(1), mixtures(1)
    with open_runtime(home, config, write=True) as kb:
        kb.corpus.save_source("generated", "/generated")
        kb.corpus.stamp_encoder(
            (encoder.model_id, encoder.digest, encoder.dimensions), (encoder.query_prefix, encoder.document_prefix)
        )
        for number in range(chunks // CHUNKS_PER_DOCUMENT):
            rows, blobs = [], {}
            for position in range(CHUNKS_PER_DOCUMENT):
                text, name = " ".join(next(texts)), short_name(f"{number}-{position}".encode().ljust(16))
                rows.append((ChunkDraft(position, 0, len(text), text, (f"Part {position}",), 200, 1, 2), name))
                blobs[name] = next(vectors).tobytes()
            draft = DocumentDraft("generated", f"d{number}.md", f"Title {number}", "markdown", "en", (), 1, 1, "h", "s")
            kb.corpus.save_document(draft, rows, encoder.digest, blobs)
        for kind, refresh in (("lexical", kb.refresh_lexical), ("vector", kb.refresh_vectors)):
            began = time.process_time()
            refresh()
            print(f"{kind} index of {chunks:,} chunks: {time.process_time() - began:.1f} s of CPU")


# ---- kb


# A process begins with the largest memory of the one that starts it: this one has 10 MB.
STARTER = """
import json, os, sys
nowhere = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_WRONLY, 0) for fd in (1, 2)]
pid = os.posix_spawn(sys.executable, [sys.executable, "-m", "kb", *sys.argv[1:]], os.environ, file_actions=nowhere)
_, status, usage = os.wait4(pid, 0)
print(json.dumps([usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1000, os.waitstatus_to_exitcode(status)]))
"""


def run(*arguments: str | Path) -> Cost:
    """A kb process."""
    command = [sys.executable, "-c", STARTER, *map(str, arguments)]
    seconds, megabytes, code = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    return Cost(seconds, megabytes, code)


def measure(home: Path, chunks: int, runs: int) -> None:
    """A table of what each command costs; the home is as before in the end, but for its revision."""
    size = {name: sum(f.stat().st_size for f in home.glob(name) if f.is_file()) for name in ("kb.sqlite*", "index/*/*")}
    sizes = ", ".join(f"{bytes_ / chunks / 1000:.2f} KB per chunk in {name}" for name, bytes_ in size.items())
    print(f"\n{chunks:,} chunks: {sizes}\n{'':34} CPU s   MB")

    def row(name: str, costs: list[Cost], less: float = 0.0) -> float:
        seconds = statistics.median(cost.seconds for cost in costs)
        failed = "".join(f"  exit {cost.code}" for cost in costs if cost.code not in (0, 1))
        beyond = f"   {seconds - less:6.2f} beyond the encoder's start" if less else ""
        print(f"{name:34} {seconds:5.2f} {max(cost.megabytes for cost in costs):5.0f}{beyond}{failed}")
        return seconds

    query = " ".join(next(words(2))[:4])
    with TemporaryDirectory() as place:
        notes, small = Path(place) / "notes", Path(place) / "small"
        notes.mkdir()
        write = iter(words(3))

        def change() -> None:
            (notes / "note.md").write_text(f"# A note\n\n{' '.join(next(write))}.\n")

        def cost_of(target: Path, prepare: Callable[[], object], *command: str | Path) -> list[Cost]:
            costs = []
            for _ in range(runs):
                prepare()
                costs.append(run(*command, "--home", target))
            return costs

        def add_again() -> None:
            run("rm", "--source", "notes", "--home", target)
            change()

        starts = {}
        for target in (small, home):
            change()
            run("ingest", notes, "--home", target)
            print(f"-- {'a home of one document' if target == small else 'this home'}")
            added = cost_of(target, add_again, "ingest", notes)
            starts["add"] = row("one file added", added, starts.get("add", 0.0))
            starts["edit"] = row("one file edited", cost_of(target, change, "ingest", notes), starts.get("edit", 0.0))
            kept = cost_of(target, lambda: None, "ingest", notes)
            starts["same"] = row("nothing changed", kept, starts.get("same", 0.0))

            def bring_back(target: Path = target) -> None:
                run("ingest", notes, "--home", target)

            row("one file deleted", cost_of(target, bring_back, "rm", "--source", "notes"))
        for name, command in {
            "lexical": ("search", query, "--mode", "lexical"),
            "hybrid": ("search", query),
            "status": ("status",),
            "show": ("show", "d7.md"),
            "doctor": ("doctor",),
        }.items():
            row(name, cost_of(home, lambda: None, *command))


# ---- the libraries alone


def plain(home: Path, chunks: int) -> None:
    """One row deleted and one added, with Tantivy and FAISS alone, on indexes of the same size."""
    import faiss
    import numpy as np
    import tantivy

    faiss.omp_set_num_threads(1)
    texts, vectors = words(1), mixtures(1)
    with TemporaryDirectory(dir=home.parent) as place:
        builder = tantivy.SchemaBuilder()
        builder.add_unsigned_field("id", indexed=True, fast=True)
        builder.add_text_field("text", tokenizer_name="whitespace", index_option="freq")
        index = tantivy.Index(builder.build(), path=place)
        rows = [next(vectors) for _ in range(chunks)]

        def add(writer: Any, number: int) -> None:
            document = tantivy.Document()
            document.add_unsigned("id", number)
            document.add_text("text", " ".join(next(texts)))
            writer.add_document(document)

        def build() -> None:
            writer = index.writer(512_000_000, 1)
            for number in range(chunks):
                add(writer, number)
            writer.commit()
            writer.wait_merging_threads()

        def change() -> None:
            writer = index.writer(512_000_000, 1)
            writer.delete_documents_by_query(tantivy.Query.term_query(index.schema, "id", chunks // 2))
            add(writer, chunks)
            writer.commit()
            writer.wait_merging_threads()

        file = f"{place}/vectors.faiss"
        matrix = np.stack(rows)

        def build_flat() -> None:
            flat = faiss.IndexIDMap2(faiss.IndexFlatIP(matrix.shape[1]))
            flat.add_with_ids(matrix, np.arange(chunks))
            faiss.write_index(flat, file)

        def change_flat() -> None:
            flat = faiss.read_index(file)
            flat.remove_ids(np.array([chunks // 2]))
            flat.add_with_ids(matrix[:1], np.array([chunks]))
            faiss.write_index(flat, file)

        print("-- the libraries alone")
        for name, job in {
            "Tantivy: build": build,
            "Tantivy: delete, add, commit": change,
            "FAISS, flat: build, write": build_flat,
            "FAISS, flat: read, change, write": change_flat,
            "FAISS, flat: read, search once": lambda: faiss.read_index(file).search(matrix[:1], 100),
        }.items():
            began = time.process_time()
            job()
            print(f"{name:34} {time.process_time() - began:5.2f}")
        print(f"{'their largest memory':34}       {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000:5.0f}")


if __name__ == "__main__":
    main()
