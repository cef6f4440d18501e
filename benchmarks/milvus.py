"""Milvus beside the local engine: quality on judged sets, the same top ten after a move, and the growth of ingest and search.

    python benchmarks/milvus.py quality [DATA_FOLDER]      nDCG@10 and top ten, on Cranfield, FastAPI's pages and the fixtures
    python benchmarks/milvus.py moved [DATA_FOLDER] [--queries 1000]   the same top ten for sentences of Cranfield, drawn at random
    python benchmarks/milvus.py kills FOLDER [--kills 50]  kb corpus copy, killed at random moments, there and back
    python benchmarks/milvus.py growth [--most CHUNKS]     Milvus Lite and the local engine, with made-up passages

Needs kb-cited[milvus]. Runs on Milvus Lite in a temporary folder; KB_CORPUS__URI names another server for `growth`.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from fastapi_pairs import load_fastapi_pairs
from quality import REPOSITORY, ignore_event, open_filled

from kb.config import Config, CorpusConfig
from kb.copying import copy_corpus
from kb.drafts import ChunkDraft, DocumentDraft
from kb.eval.collections import load_beir
from kb.eval.records import Query
from kb.eval.throwaway import fill_from_documents, fill_from_folder
from kb.records import Filters, SearchMode, SearchRequest
from kb.runtime import Runtime
from kb.search.pipeline import search
from kb.text import split_sentences

MODES: tuple[SearchMode, ...] = ("lexical", "vector", "hybrid")
DEPTH = 10
MOST_QUERIES = 400
NO_FILTERS = Filters()
DIMENSIONS = 384
CHUNKS_PER_DOCUMENT = 50
GROWTH = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
QUERIES = 20
# A passage of made-up words, as frequent as those of English are by Zipf's law.
WORDS_PER_PASSAGE, VOCABULARY = 120, 50_000


@contextmanager
def moved(original: Runtime, folder: Path) -> Iterator[tuple[Runtime, float]]:
    """(a copy of a corpus on Milvus Lite, seconds that copying and comparing took)."""
    corpus = CorpusConfig(engine="milvus", uri=str(folder / "corpus.db"))
    with Runtime(folder / "home", replace(original.config, corpus=corpus), write=True) as copy:
        began = time.perf_counter()
        copy_corpus(original, copy, ("local", "milvus"))
        yield copy, time.perf_counter() - began


def found(kb: Runtime, query: str, mode: SearchMode, filters: Filters) -> list[tuple[str, str, float]]:
    """(path, place, score) of the best ten passages, as they were found."""
    hits = search(kb, SearchRequest(query=query, mode=mode, k=DEPTH, filters=filters, as_found=True)).hits
    return [(hit.path, hit.citation.uri, hit.order_score) for hit in hits]


def is_same(one: Sequence[tuple[str, str, float]], other: Sequence[tuple[str, str, float]]) -> bool:
    """Whether two lists are the same up to ties: each place that one has alone scores what the last of the other does."""
    places, others = {uri for _, uri, _ in one}, {uri for _, uri, _ in other}
    last = min((score for *_, score in one), default=0.0)
    return all(abs(score - last) < 1e-3 for _, uri, score in [*one, *other] if (uri in places) != (uri in others))


def compare(title: str, original: Runtime, queries: Sequence[Query], filters: Filters = NO_FILTERS) -> None:
    """Print nDCG@10 by documents of both engines, where there are judgements, and how many top tens are the same."""
    with tempfile.TemporaryDirectory() as folder, moved(original, Path(folder)) as (copy, seconds):
        chunks = original.corpus.count_chunks()
        print(f"{title}: {chunks} passages, moved and compared in {seconds:.1f} s, {len(queries)} queries", flush=True)
        for mode in MODES:
            rows = []
            same = 0
            for query in queries:
                lists = [found(kb, query.text, mode, filters) for kb in (original, copy)]
                same += is_same(*lists)
                rows.append([ndcg(query.relevant, [path for path, *_ in hits]) for hits in lists])
            local, milvus = np.mean(rows, axis=0)
            share = same / len(queries)
            quality = f"nDCG@10 local {local:.4f}, Milvus {milvus:.4f}; " if any(q.relevant for q in queries) else ""
            print(f"  {mode:8} {quality}same top ten {share:.1%} ({same} of {len(queries)})", flush=True)


def ndcg(judged: Mapping[str, int], paths: Sequence[str]) -> float:
    """nDCG@10 of documents, each at its best passage."""
    best = list(dict.fromkeys(paths))[:DEPTH]
    gains = [(2 ** judged.get(path, 0) - 1) / np.log2(rank + 2) for rank, path in enumerate(best)]
    ideal = sorted((2**grade - 1 for grade in judged.values()), reverse=True)[:DEPTH]
    most = sum(gain / np.log2(rank + 2) for rank, gain in enumerate(ideal))
    return float(sum(gains) / most) if most else 0.0


def measure_quality(data: Path) -> None:
    """Cranfield in English, FastAPI's pages with their Korean and English headings as queries."""
    collection = load_beir(data / "cranfield")
    fill = fill_from_documents(collection.documents, ignore_event)
    with open_filled("cranfield", collection.documents_sha256, fill) as kb:
        compare("Cranfield", kb, collection.queries)
    folder = data / "fastapi-docs-en-ko" / "docs"
    sets = {each.collection.name: each for each in load_fastapi_pairs(folder)}
    content = sets["fastapi-ko"].collection.documents_sha256
    with open_filled("fastapi-docs-en-ko", content, fill_from_folder(folder, ignore_event)) as kb:
        for name in ("fastapi-ko", "fastapi-en"):
            compare(name, kb, sets[name].collection.queries[:MOST_QUERIES], sets[name].filters)


def measure_moved(data: Path, count: int) -> None:
    """Sentences of the collection itself as queries: as many as are wanted, and of every length."""
    collection = load_beir(data / "cranfield")
    fill = fill_from_documents(collection.documents, ignore_event)
    with open_filled("cranfield", collection.documents_sha256, fill) as kb:
        texts = [text for _, text in kb.corpus.fetch_texts(kb.corpus.chunk_places()).values()]
        found = sorted({text[a:b].strip() for text in texts for a, b in split_sentences(text)})
        asked = [sentence for sentence in found if len(sentence.split()) >= 4]
        drawn = random.Random(7).sample(asked, min(count, len(asked)))
        compare("Cranfield, its own sentences", kb, [Query(str(i), text) for i, text in enumerate(drawn)])


# ---- kills


def measure_kills(folder: Path, kills: int) -> None:
    """Copy to Milvus Lite and back, each killed at random moments until it is done; then count what is there."""
    chooser, total = random.Random(1), 0
    with tempfile.TemporaryDirectory() as place:
        home, corpus = Path(place) / "home", Path(place) / "corpus.db"
        call(["ingest", str(folder), "--home", str(home)], None)
        rounds = 0
        while total < kills:
            rounds += 1
            back = Path(place) / f"back{rounds}"
            for source, target in (("local", f"{corpus}#round{rounds}"), (f"{corpus}#round{rounds}", str(back))):
                copy = ["corpus", "copy", source, target, "--json", "--home", str(home)]
                seconds = 3.0
                while total < kills and call(copy, chooser.random() * seconds) is None:
                    total += 1
                    seconds += 1.0
                report = call(copy, None)
            states = [call(["status", "--json", "--home", str(each)], None) or {} for each in (home, back)]
            sizes = [(state["documents"], state["chunks"], state["chunks_without_vector"]) for state in states]
            print(
                f"round {rounds}: {total} kills so far; verified {(report or {})['verified']}; {sizes[0]} and {sizes[1]}",
                flush=True,
            )
            assert sizes[0] == sizes[1]


def call(words: list[str], seconds: float | None) -> dict[str, Any] | None:
    """What a command printed last; None where it was killed after so many seconds."""
    process = subprocess.Popen([sys.executable, "-m", "kb", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        out, err = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return None
    assert process.returncode == 0, err.decode()
    lines = out.decode().splitlines()
    return dict(json.loads(lines[-1])) if lines and lines[-1].startswith("{") else {}


# ---- growth


def passages(
    count: int, seed: int = 0
) -> Iterator[tuple[DocumentDraft, list[tuple[ChunkDraft, str]], dict[str, bytes]]]:
    """Documents of made-up passages with random vectors of unit length."""
    numbers, chooser = np.random.default_rng(seed), random.Random(seed)
    ranks = np.arange(1, VOCABULARY + 1)
    shares = (1 / ranks) / (1 / ranks).sum()
    for start in range(0, count, CHUNKS_PER_DOCUMENT):
        size = min(CHUNKS_PER_DOCUMENT, count - start)
        words = numbers.choice(VOCABULARY, size=(size, WORDS_PER_PASSAGE), p=shares)
        matrix = numbers.standard_normal((size, DIMENSIONS)).astype("<f4")
        matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
        name = f"{start:09}-{chooser.randrange(10**6)}"
        draft = DocumentDraft("made-up", f"{name}.md", name, "markdown", "en", (), 1, start, name, "growth")
        texts = [" ".join(f"w{word}" for word in row) for row in words]
        chunks = [
            (ChunkDraft(i, i, i + 1, t, (), WORDS_PER_PASSAGE, i + 1, i + 1), f"{name}{i}") for i, t in enumerate(texts)
        ]
        yield draft, chunks, {f"{name}{i}": row.tobytes() for i, row in enumerate(matrix)}


def measure_growth(most: int, limit_seconds: float) -> None:
    """Print seconds of ingest and milliseconds of search at each size, of both engines, until a limit of time."""
    for engine in ("local", "milvus"):
        with tempfile.TemporaryDirectory() as folder:
            uri = os.environ.get("KB_CORPUS__URI", f"{folder}/corpus.db")
            corpus = CorpusConfig(engine="milvus", uri=uri) if engine == "milvus" else CorpusConfig()
            with Runtime(Path(folder) / "home", replace(Config(), corpus=corpus), write=True) as kb:
                grow(kb, engine, most, limit_seconds)


def grow(kb: Runtime, engine: str, most: int, limit_seconds: float) -> None:
    kb.corpus.stamp_encoder(("made-up", "growth", DIMENSIONS), ("", ""))
    kb.corpus.save_source("made-up", None)
    sizes, began, written = [size for size in GROWTH if size <= most], time.perf_counter(), 0
    before = time.process_time()
    documents = passages(most)
    for size in sizes:
        while written < size:
            draft, chunks, vectors = next(documents)
            kb.corpus.save_document(draft, chunks, "growth", vectors, None, None, None)
            written += len(chunks)
        kb.refresh_indexes()
        seconds = time.perf_counter() - began
        words, near = time_searches(kb)
        cpu = time.process_time() - before
        print(
            f"{engine:7} {written:9,} passages in {seconds:7.1f} s ({cpu:.0f} s of CPU), search by words {words:7.1f} ms, by vectors {near:7.1f} ms",
            flush=True,
        )
        if seconds > limit_seconds:
            print(f"{engine:7} stopped: more than {limit_seconds:.0f} s", flush=True)
            return


def time_searches(kb: Runtime) -> tuple[float, float]:
    """Milliseconds of a search by three words and by a vector, medians."""
    numbers, lexical, vector = np.random.default_rng(7), kb.lexical_index(), kb.vector_index()
    words = [[f"w{n}" for n in numbers.integers(1, 2_000, 3)] for _ in range(QUERIES)]
    rows = numbers.standard_normal((QUERIES, DIMENSIONS)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return _median_ms([partial(lexical.search, q, 100) for q in words]), _median_ms(
        [partial(vector.search, r, 100) for r in rows]
    )


def _median_ms(calls: Sequence[Callable[[], object]]) -> float:
    times = []
    for call in calls:
        began = time.perf_counter()
        call()
        times.append((time.perf_counter() - began) * 1000)
    return float(np.median(times))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("quality", "moved", "kills", "growth"))
    parser.add_argument("data", nargs="?", type=Path, default=REPOSITORY.parent / "shared" / "data")
    parser.add_argument("--most", type=int, default=GROWTH[-1])
    parser.add_argument("--limit", type=float, default=300.0, help="seconds for each engine")
    parser.add_argument("--queries", type=int, default=1_000)
    parser.add_argument("--kills", type=int, default=50)
    given = parser.parse_args()
    if given.what == "quality":
        measure_quality(given.data)
    elif given.what == "moved":
        measure_moved(given.data, given.queries)
    elif given.what == "kills":
        measure_kills(given.data, given.kills)
    else:
        measure_growth(given.most, given.limit)


if __name__ == "__main__":
    main()
