"""How many chunks a second get their vectors, beside the plain loop over sentence-transformers with the same model?

    python benchmarks/ingest_rate.py FOLDER [--chunks 500]

FOLDER is ingested by words first, which is timed apart. Then kb makes the vectors, and sentence-transformers makes those of the
same texts with its defaults. Rates are by processor time of all threads, and by the clock; the least cosine between the two
says whether they are the same vectors. all-MiniLM-L6-v2, which both can read: the default encoder's weights are packed.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from kb.config import Config, cache_folder
from kb.embed.model_files import find_model
from kb.embed.registry import open_encoder
from kb.ingest.embed import embed_missing, stored_texts
from kb.ingest.pipeline import ingest
from kb.ingest.prepare import Settings
from kb.ingest.request import IngestRequest
from kb.runtime import open_runtime

MODEL = "all-MiniLM-L6-v2"
BATCH = 32


def seconds(work: Callable[[], object]) -> tuple[float, float]:
    """(processor time of all threads, time by the clock) of one call."""
    began = time.process_time(), time.perf_counter()
    work()
    return time.process_time() - began[0], time.perf_counter() - began[1]


def main() -> None:
    """Print three lines."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--chunks", type=int, default=500, help="vectors are made of at most so many")
    chosen = parser.parse_args()
    config = Config()
    config = replace(config, embedding=replace(config.embedding, model=MODEL))
    encoder = open_encoder(config.embedding, cache_folder(os.environ), print)
    encoder.encode_query("prepare")
    with TemporaryDirectory() as home, open_runtime(Path(home), config, write=True) as kb:
        request = IngestRequest((chosen.folder,), words_only=True)
        words = seconds(lambda: ingest(kb, request, lambda event: None))
        total, settings = kb.corpus.count_chunks(), Settings.of(config, kb.configured_encoder())
        print(
            f"words of {total:,} chunks          {total / words[0]:8.1f} a CPU second {total / words[1]:8.1f} a second"
        )
        done = [0]

        def count(chunks: int) -> None:
            done[0] += chunks

        ours = seconds(lambda: embed_missing(kb, settings, lambda: done[0] >= chosen.chunks, count))
        made = stored_texts(kb, settings, chosen.chunks)
        print(
            f"vectors by kb, {done[0]:,}           {done[0] / ours[0]:8.1f} a CPU second {done[0] / ours[1]:8.1f} a second"
        )

    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(find_model(MODEL, cache_folder(os.environ)).folder), device="cpu")
    texts = [text for text, _ in made]
    model.encode(texts[:2])
    found: list[np.ndarray] = []
    theirs = seconds(lambda: found.append(model.encode(texts, batch_size=BATCH, normalize_embeddings=True)))
    rate = len(texts) / theirs[0]
    print(f"sentence-transformers, {len(texts):,}   {rate:8.1f} a CPU second {len(texts) / theirs[1]:8.1f} a second")
    stored = np.stack([np.frombuffer(vector, dtype="<f4") for _, vector in made])
    least = float((stored * found[0]).sum(axis=1).min())
    print(f"kb makes {done[0] / ours[0] / rate:.2f} × as many a CPU second; least cosine {least:.5f}")


if __name__ == "__main__":
    main()
