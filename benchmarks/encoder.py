"""How fast is the encoder against bare sentence-transformers, how long does one query take, and what do 8 bits cost?

    python benchmarks/encoder.py [folder of .md files] [--texts 256]
    python benchmarks/encoder.py --record    (write the embedded encoders' probe vectors into kb/embed/recorded)

Throughput is the best of three rounds in which the candidates take turns, so that another load on the machine falls on
all of them. The query is the median of five processes with a warm page cache.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from e5_reference import encode_with_transformers

from kb.config import EmbeddingConfig
from kb.embed import packed
from kb.embed.batches import load_sentence_transformer, unit_rows
from kb.embed.encoder import TextEncoder
from kb.embed.export import find_export
from kb.embed.fast import QUESTIONS_FOLDER, FastEncoder
from kb.embed.model_files import ENGLISH_MODEL, find_model
from kb.embed.probes import probe_texts, record_path
from kb.embed.registry import open_encoder
from kb.eval.suite import load_suite

TEXT_TOKENS = (120, 200, 240, 160, 220, 250, 180, 210)  # as chunks of a target of 200 come out; 197 on average
ROUNDS = 3
PROCESSES = 5
SUITE = Path(__file__).parents[1] / "fixtures" / "suites" / "corpus.yaml"

query_script = """
from pathlib import Path
from kb.config import EmbeddingConfig
from kb.embed.registry import open_encoder
open_encoder(EmbeddingConfig(), Path({cache!r}), print).encode_query("what does the borrow checker do?")
"""


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("folder", nargs="?", type=Path, default=Path("fixtures/corpus"))
    arguments.add_argument("--texts", type=int, default=256)
    arguments.add_argument("--record", action="store_true")
    given = arguments.parse_args()
    if given.record:
        record_probes()
        return
    with TemporaryDirectory() as folder:
        encoder = open_encoder(EmbeddingConfig(), Path(folder), print)
        print(encoder.describe())
        seconds = [time_query(folder, prepare=encoder) for _ in range(PROCESSES)]
        print(f"one query, whole process  {statistics.median(seconds):.3f} s (median of {PROCESSES})")
        compare_queries(encoder, Path(folder))
        # The library can be asked for this one; what makes vectors of the default encoder is compared by engines.py.
        english = open_encoder(EmbeddingConfig(model=ENGLISH_MODEL), Path(folder), print)
        english.encode_query("makes the export")
        texts = cut_texts(english, given.folder, given.texts)
        print(f"{english.describe()}\n{len(texts)} texts of {min(TEXT_TOKENS)} to {max(TEXT_TOKENS)} tokens")
        compare_throughput(english, texts, Path(folder))


def record_probes() -> None:
    """Write what sentence-transformers or transformers makes of the probe texts, for installations without them."""
    import numpy as np

    for model in (packed.MODEL, ENGLISH_MODEL):
        with TemporaryDirectory() as folder:
            files = find_model(model, Path(folder))
        if files.is_packed:
            vectors = encode_with_transformers(Path(files.folder), probe_texts)
        else:
            reference = load_sentence_transformer(files)
            vectors = unit_rows(reference.encode(list(probe_texts), batch_size=4, show_progress_bar=False))
        record_path(files.digest).parent.mkdir(exist_ok=True)
        np.save(record_path(files.digest), vectors.astype(np.float16))
        print(model, record_path(files.digest))


def cut_texts(encoder: TextEncoder, folder: Path, count: int) -> list[str]:
    """Texts of TEXT_TOKENS, in turn, from the Markdown files of a folder; repeated when there are too few."""
    text = "\n".join(path.read_text(encoding="utf-8", errors="replace") for path in sorted(folder.rglob("*.md")))
    starts = encoder.token_starts(text)
    if len(starts) <= max(TEXT_TOKENS):
        sys.exit(f"too little Markdown in {folder}")
    texts: list[str] = []
    first = 0
    while len(texts) < count:
        last = first + TEXT_TOKENS[len(texts) % len(TEXT_TOKENS)]
        if last >= len(starts):
            first = 0
            continue
        texts.append(text[starts[first] : starts[last]])
        first = last
    return texts


def time_query(cache: str, prepare: TextEncoder) -> float:
    """Seconds from the start of a process to its end, one query encoded in it."""
    prepare.encode_query("makes the export when it is missing")
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", query_script.format(cache=cache)], check=True)
    return time.perf_counter() - start


def compare_queries(encoder: TextEncoder, cache: Path) -> None:
    """Print what a query of the project's own suite costs in the whole graph and in the one with 8 bits, and how alike they are."""
    export = find_export(cache, encoder.digest)
    assert export is not None
    queries = [encoder.query_prefix + query.text for query in load_suite(SUITE).queries]
    whole = FastEncoder(export)
    exact = whole.encode(queries)
    for name, fast in (("whole graph", whole), ("8 bits", FastEncoder(export, QUESTIONS_FOLDER))):
        alone, together = (
            min(milliseconds(encode, len(queries)) for _ in range(ROUNDS))
            for encode in (
                lambda fast=fast: [fast.encode([query]) for query in queries],
                lambda fast=fast: fast.encode(queries),
            )
        )
        likeness = (fast.encode(queries) * exact).sum(axis=1)
        print(
            f"{len(queries)} queries, {name:<12} {alone:5.1f} ms of CPU one by one, {together:5.1f} together   "
            f"cosine {likeness.mean():.5f}, least {likeness.min():.5f}"
        )


def milliseconds(encode: Callable[[], Any], count: int) -> float:
    """CPU time for each of the texts."""
    start = time.process_time()
    encode()
    return (time.process_time() - start) * 1000 / count


def compare_throughput(encoder: TextEncoder, texts: list[str], cache: Path) -> None:
    """Print texts per second of each candidate, its ratio to bare bf16, and its least cosine to bare fp32."""
    import torch

    model = encoder._batches.load()  # the same weights for all
    export = find_export(cache, encoder.digest)
    assert export is not None
    whole = FastEncoder(export)

    def bare(*, bf16: bool) -> Any:
        with torch.autocast("cpu", torch.bfloat16, enabled=bf16):
            found = model.encode(texts, normalize_embeddings=True, show_progress_bar=False, convert_to_tensor=True)
        return found.float().cpu().numpy()

    candidates: dict[str, Callable[[], Any]] = {
        "bare sentence-transformers fp32": lambda: bare(bf16=False),
        "bare sentence-transformers bf16": lambda: bare(bf16=True),
        "encode_documents": lambda: encoder.encode_documents(texts),
        "onnx fp32": lambda: whole.encode([encoder.document_prefix + text for text in texts]),
    }
    best = dict.fromkeys(candidates, float("inf"))
    vectors: dict[str, Any] = {}
    for _ in range(ROUNDS):
        for name, encode in candidates.items():
            start = time.perf_counter()
            vectors[name] = encode()
            best[name] = min(best[name], time.perf_counter() - start)
    for name, seconds in best.items():
        ratio = best["bare sentence-transformers bf16"] / seconds
        cosine = (vectors[name] * vectors["bare sentence-transformers fp32"]).sum(axis=1).min()
        print(f"{name:<32} {len(texts) / seconds:6.1f} texts/s   {ratio:4.2f} x bare bf16   least cosine {cosine:.6f}")


if __name__ == "__main__":
    main()
