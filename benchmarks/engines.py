"""Which engine makes the vectors of passages fastest, and are they the same vectors?

    python benchmarks/engines.py [FOLDER] [--model multilingual-e5-small all-MiniLM-L6-v2] [--texts 64]

Passages are the chunks of FOLDER's Markdown and text files (fixtures/corpus). Each engine encodes them twice, the better run
counts: processor milliseconds of all threads a passage, and how many passages a CPU second it makes as a multiple of the plain
loop: float32, batches of 32, longest texts first, as sentence-transformers' encode() does by default (whose classes cannot read the
packed weights of multilingual-e5-small: there the loop runs over transformers' model with the same weights). Cosines are to the
plain loop's vectors. OpenVINO is tried where it is installed.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from kb.arrays import FloatMatrix
from kb.config import Config, cache_folder
from kb.embed.batches import BatchEncoder, load_sentence_transformer, plan_batches, unit_rows
from kb.embed.device import Device, count_threads
from kb.embed.encoder import open_text_encoder
from kb.embed.export import export_folder, find_export
from kb.embed.fast import FastEncoder
from kb.embed.packed_torch import load_packed
from kb.embed.registry import expect_many_queries
from kb.extras import is_installed
from kb.ingest.pipeline import ingest
from kb.ingest.request import IngestRequest
from kb.runtime import open_runtime

CORPUS = Path(__file__).parents[1] / "fixtures" / "corpus"
PLAIN_BATCH = 32
Work = Callable[[Sequence[str]], FloatMatrix]


def main() -> None:
    """Print a table for each model."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", default=CORPUS)
    parser.add_argument("--model", nargs="+", default=["multilingual-e5-small", "all-MiniLM-L6-v2"])
    parser.add_argument("--texts", type=int, default=64)
    given = parser.parse_args()
    passages = passages_of(given.folder, given.texts)
    for model in given.model:
        print(f"\n{model}, {len(passages)} passages of {np.mean([len(p) for p in passages]):.0f} characters")
        print(f"{'':44} ms CPU   × plain  least cosine")
        plain: tuple[float, FloatMatrix] | None = None
        for name, work in engines(model).items():
            work(passages[:4])
            runs = [measured(work, passages) for _ in range(2)]
            ms, vectors = min(runs, key=lambda run: run[0])
            plain = plain or (ms, vectors)
            cosine = float((vectors * plain[1]).sum(axis=1).min())
            print(f"{name:44} {ms:6.1f}   {plain[0] / ms:7.2f}  {cosine:12.6f}", flush=True)


def passages_of(folder: Path, most: int) -> list[str]:
    """Chunks of a folder, spread over it, in no order of length."""
    with TemporaryDirectory() as home, open_runtime(Path(home), Config(), write=True) as kb:
        ingest(kb, IngestRequest((folder,), words_only=True), lambda event: None)
        held = [chunk.text for chunk in kb.corpus.fetch_chunks(range(1, kb.corpus.count_chunks() + 1)).values()]
    return held[:: max(1, len(held) // most)][:most]


def measured(work: Work, passages: Sequence[str]) -> tuple[float, FloatMatrix]:
    """(milliseconds of processor time a passage, the vectors)."""
    began = time.process_time()
    vectors = work(passages)
    return (time.process_time() - began) * 1000 / len(passages), vectors


def engines(model: str) -> dict[str, Work]:
    """Name → texts to unit vectors, (n, d) float32; the plain loop first."""
    config, cache = replace(Config().embedding, model=model), cache_folder(os.environ)
    encoder = open_text_encoder(config, cache, print)
    encoder.encode_query("prepare")
    files, export = encoder.files, find_export(cache, encoder.digest)
    assert export is not None
    folder = export_folder(cache, encoder.digest)

    def load(what: Any) -> Any:
        return load_packed(what, folder) if files.is_packed else load_sentence_transformer(what)

    def batches(bf16: bool) -> Work:
        return BatchEncoder(files, device=Device("cpu", bf16, batches_at_once=count_threads()), load=load).encode

    found: dict[str, Work] = {
        "the plain loop, torch": plain_loop(load(files)),
        "ONNX, opened for one query": FastEncoder(export).encode,
    }
    expect_many_queries()
    found["ONNX, opened for many"] = FastEncoder(export).encode
    found["torch, float32, batches of like length"] = batches(bf16=False)
    found["torch, bf16 autocast, the same batches"] = batches(bf16=True)
    if is_installed("openvino"):
        found["OpenVINO, batches of like length"] = openvino(
            Path(export.folder) / "model.onnx", export, FastEncoder(export)
        )
    return found


def plain_loop(model: Any) -> Work:
    """encode() of sentence-transformers, or what it does: batches by length in characters, padded to the longest, float32."""
    import torch

    def work(texts: Sequence[str]) -> FloatMatrix:
        if hasattr(model, "encode"):
            found: FloatMatrix = model.encode(list(texts), batch_size=PLAIN_BATCH, normalize_embeddings=True)
            return found
        order = sorted(range(len(texts)), key=lambda row: -len(texts[row]))
        vectors: dict[int, Any] = {}
        for start in range(0, len(texts), PLAIN_BATCH):
            rows = order[start : start + PLAIN_BATCH]
            with torch.inference_mode():
                hidden = model(model.preprocess([texts[row] for row in rows]))["sentence_embedding"].float().numpy()
            vectors.update(zip(rows, unit_rows(hidden), strict=True))
        return np.stack([vectors[row] for row in range(len(texts))])

    return work


def openvino(path: Path, export: Any, tokens: Any) -> Work:
    """The same graph on OpenVINO's CPU device, in float32."""
    import openvino as ov

    core = ov.Core()
    hints = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": int(os.environ.get("OMP_NUM_THREADS", "2"))}
    compiled = core.compile_model(str(path), "CPU", hints)

    def work(texts: Sequence[str]) -> FloatMatrix:
        ids = tokens._token_ids(list(texts))
        vectors = np.zeros((len(texts), export.dimensions), np.float32)
        for rows in plan_batches([len(row) for row in ids], PLAIN_BATCH):
            width = len(ids[rows[0]])
            padded = np.full((len(rows), width), export.pad_id, np.int64)
            mask = np.zeros_like(padded)
            for at, row in enumerate(rows):
                padded[at, : len(ids[row])], mask[at, : len(ids[row])] = ids[row], 1
            features = {"input_ids": padded, "attention_mask": mask, "token_type_ids": np.zeros_like(padded)}
            vectors[rows] = unit_rows(compiled({name: features[name] for name in export.inputs})[0])
        return vectors

    return work


if __name__ == "__main__":
    main()
