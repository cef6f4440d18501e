"""What context stability costs in a large home: scoring 200 candidates, scoring and packing, choosing by relevance.

Called by context_packs.py; the home is made of random words and vectors.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import numpy as np

from kb.config import Config
from kb.packing.packs import Limits
from kb.packing.selection import Found, select_neighbourhoods
from kb.runtime import Runtime, open_runtime
from kb.search.passage_packs import pack_found
from kb.search.stability import score_chunks
from kb.store.database import raise_revision, transaction, write_meta
from kb.store.vectors import file_vectors

DIMENSIONS, CHUNKS_PER_DOCUMENT, WORDS_PER_CHUNK, CANDIDATES, ROUNDS = 384, 20, 140, 200, 100
DIGEST = "random"
# Words of three to five syllables, as long as English ones are on the page.
SYLLABLES = tuple(a + b for a in "bdfgklmnprstvz" for b in "aeiou")


def measure_timing(chunk_count: int) -> None:
    """Print median and 95th percentile in milliseconds."""
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        with open_runtime(home, Config(), write=True, notify=lambda message: None) as kb:
            began = time.perf_counter()
            fill(kb, chunk_count, rng)
            print(f"{chunk_count:,} chunks written in {time.perf_counter() - began:.1f} s")
            began = time.perf_counter()
            kb.corpus.neighbours.heal_neighbours(DIGEST)
            print(f"cosines and centroids computed in {time.perf_counter() - began:.1f} s")
        with open_runtime(home, Config(), notify=lambda message: None) as kb:
            kb.index_keepers()[0].refresh(announce=False)
            report(kb, chunk_count, rng)


def make_words() -> np.ndarray:
    """5,000 made-up words, the same every time."""
    rng = np.random.default_rng(1)
    return np.array(["".join(rng.choice(SYLLABLES, rng.integers(2, 5))) for _ in range(5000)])


def make_question() -> str:
    """A question whose content words stand in a few texts each."""
    words = make_words()
    return f"How does the Router {words[17]} handle {words[230]} in {words[5]}, and why does {words[41]} fail?"


def fill(kb: Runtime, chunk_count: int, rng: np.random.Generator) -> None:
    """Documents of random words in one source with ten folders."""
    words = make_words()
    documents = chunk_count // CHUNKS_PER_DOCUMENT
    with transaction(kb.store._connection):
        kb.store._connection.execute("INSERT INTO sources (source, root) VALUES ('s', null)")
        write_meta(kb.store._connection, "encoder_digest", DIGEST)
        write_meta(kb.store._connection, "encoder_dimensions", DIMENSIONS)
        for doc_id in range(1, documents + 1):
            path = f"f{doc_id % 10}/d{doc_id}.md"
            kb.store._connection.execute(
                "INSERT INTO documents (doc_id, source, path, title, type, language, size_bytes, mtime_ns, content_hash,"
                " signature, indexed_at) VALUES (?, 's', ?, ?, 'markdown', 'en', 1, 1, ?, '', '')",
                [doc_id, path, f"Router {doc_id}", path],
            )
            vectors = rng.standard_normal((CHUNKS_PER_DOCUMENT, DIMENSIONS)).astype("<f4")
            vectors += 2 * vectors.mean(axis=0)
            vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
            for position in range(CHUNKS_PER_DOCUMENT):
                text = " ".join(rng.choice(words, WORDS_PER_CHUNK))
                key = sha256(f"{doc_id}/{position}".encode()).hexdigest()
                start = position * 1000
                kb.store._connection.execute(
                    "INSERT INTO chunks (doc_id, position, start_char, end_char, start_line, end_line, heading_path, text,"
                    " embed_hash, token_count) VALUES (?, ?, ?, ?, ?, ?, '[\"Setup\"]', ?, ?, 200)",
                    [doc_id, position, start, start + len(text), position + 1, position + 1, text, key],
                )
                file_vectors(kb.store._connection, DIGEST, {key: vectors[position].tobytes()})
        raise_revision(kb.store._connection)


def report(kb: Runtime, chunk_count: int, rng: np.random.Generator) -> None:
    """Time each job on candidates drawn anew every round."""
    query = rng.standard_normal(DIMENSIONS).astype(np.float32)
    query /= np.linalg.norm(query)
    limits, question = Limits(total_tokens=2000), make_question()
    jobs: dict[str, list[float]] = {}

    def timed(label: str, work: Callable[..., object], *arguments: object) -> None:
        began = time.perf_counter()
        work(*arguments)
        jobs.setdefault(label, []).append((time.perf_counter() - began) * 1000)

    for number in range(ROUNDS + 5):
        if number == 5:
            jobs.clear()
        ids = [int(i) for i in rng.choice(chunk_count, CANDIDATES, replace=False) + 1]
        ranking = [(i, 1.0 - n / CANDIDATES) for n, i in enumerate(ids)]
        pool = kb.stored_vectors(ids)
        timed("scoring 200 candidates", score_chunks, kb, question, ids, query, pool)
        timed("scoring 10 hits", score_chunks, kb, question, ids[:10], query, pool)
        timed("scoring 200 and packing by stability", pack_found, kb, question, ranking, query, pool, limits)
        timed("scoring 30 and packing by stability", pack_found, kb, question, ranking[:30], query, pool, limits)
        timed("choosing neighbourhoods by relevance from 30", choose, kb, ranking[:30])
    for label, values in jobs.items():
        print(f"{label:<46} p50 {np.percentile(values, 50):6.2f} ms   p95 {np.percentile(values, 95):6.2f} ms")


def choose(kb: Runtime, ranking: list[tuple[int, float]]) -> object:
    """As `kb ask` does: the candidates' chunks are read, runs are chosen."""
    chunks = kb.corpus.fetch_chunks([i for i, _ in ranking])
    found = [Found(i, chunks[i].doc_id, chunks[i].position, chunks[i].token_count, s) for i, s in ranking]
    return select_neighbourhoods(found, 2000, 10)
