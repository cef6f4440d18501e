"""A sentence-transformers model → one ONNX graph on disk, made once, checked against the original before it is used.

`<cache>/encoders/<digest>/` holds model.onnx (pooling and normalization inside the graph), weights.bin, tokenizer.json
and export.json. A model that cannot be exported leaves `<digest>.failed.json` with the reason beside it.
"""

from __future__ import annotations

import json
import secrets
import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kb.embed.batches import load_sentence_transformer, quiet, unit_rows
from kb.embed.fast import Export, FastEncoder
from kb.embed.model_files import ModelFiles

if TYPE_CHECKING:
    from kb.arrays import FloatMatrix

EXPORT_FORMAT = 1  # raise when the graph or the options it is saved with change: older exports are made anew
LEAST_PARITY = 0.9999  # cosine to the original; float32 graphs reach .999999
OPSET = 17  # the newest one the TorchScript exporter writes without conversion

graph_inputs = ("input_ids", "attention_mask", "token_type_ids")
probe_texts = (
    "a",
    ".",
    " ",
    "What does the borrow checker do?",
    "Ownership is a set of rules that govern how a Rust program manages memory.",
    'fn main() { let x: Vec<u8> = vec![1, 2, 3]; println!("{x:?}"); }',
    "소유권은 러스트 프로그램의 메모리 관리법을 지배하는 규칙 모음입니다.",
    "日本語の文章と中文混在，还有 emoji 🎉🚀.",
    "Ça déjà vu — naïve façade; Straße, Ελληνικά, русский текст",
    "| a | b |\n|---|---|\n| 1 | 2 |",
    "control \x00\x07 characters\tand\r\nline ends",
    "x" * 300,
    "https://example.org/a/b?c=d&e=%20f#g 192.168.0.1 v1.2.3-rc.4",
    "The quick brown fox jumps over the lazy dog. " * 12,
    "A long text that is certainly cut at the limit of the model, whatever it is. " * 200,
    "데이터베이스 색인은 검색을 빠르게 합니다. " * 60,
)


class ExportFailed(Exception):
    """Why a model has no fast path; caught in this package, shown as a notice and by doctor."""


def find_export(cache: Path, digest: str) -> Export | None:
    """The finished export of a model, None when there is none of the present format."""
    folder = _exports(cache) / digest
    with suppress(OSError, ValueError, TypeError, KeyError):
        found = json.loads((folder / "export.json").read_text())
        if found.pop("format") == EXPORT_FORMAT:
            return Export(**(found | {"folder": str(folder), "inputs": tuple(found["inputs"])}))
    return None


def find_failure(cache: Path, digest: str) -> str | None:
    """Why the export of this model failed with the libraries installed now; None when it never did."""
    with suppress(OSError, ValueError, KeyError):
        found = json.loads(_failure_note(cache, digest).read_text())
        if found["libraries"] == _libraries():
            return str(found["reason"])
    return None


def discard_export(cache: Path, digest: str) -> None:
    """Remove an export that turned out not to be usable, so that it is made again."""
    shutil.rmtree(_exports(cache) / digest, ignore_errors=True)


def make_export(files: ModelFiles, cache: Path, load: Callable[[], Any] | None = None) -> Export:
    """Export a model, check it, and put it in its place; when another process did meanwhile, take that one.

    load    gives the loaded SentenceTransformer; None loads one for this
    raises  ExportFailed with the reason, which is also kept for doctor
    """
    from filelock import FileLock

    exports = _exports(cache)
    try:
        exports.mkdir(parents=True, exist_ok=True)
        with FileLock(exports / f"{files.digest}.lock"):
            if found := find_export(cache, files.digest):
                return found
            if reason := find_failure(cache, files.digest):
                raise ExportFailed(reason)
            model = load() if load else load_sentence_transformer(files)
            try:
                return _export_into_place(model, files, exports)
            except (
                Exception
            ) as error:  # whatever torch, onnx or onnxruntime object to: sentence-transformers still works
                reason = str(error).strip().splitlines()[0][:300] if str(error).strip() else type(error).__name__
                note = {"reason": reason, "libraries": _libraries()}
                _failure_note(cache, files.digest).write_text(json.dumps(note, indent=1))
                raise ExportFailed(reason) from error
    except OSError as error:
        raise ExportFailed(f"{exports} cannot be written: {error.strerror or error}") from error


def _export_into_place(model: Any, files: ModelFiles, exports: Path) -> Export:
    for left_over in exports.glob(f"{files.digest}.*.unfinished"):  # of a killed process: this one holds the lock
        shutil.rmtree(left_over, ignore_errors=True)
    unfinished = exports / f"{files.digest}.{secrets.token_hex(4)}.unfinished"
    unfinished.mkdir()
    try:
        with quiet():
            export = _write_graph(model, files, unfinished)
            parity = measure_parity(model, export)
        if not parity >= LEAST_PARITY:  # NaN fails too
            raise ExportFailed(f"its vectors differ from the model's (cosine {parity:.6f}, least {LEAST_PARITY})")
        content = asdict(export) | {"parity": parity, "format": EXPORT_FORMAT}
        del content["folder"]
        (unfinished / "export.json").write_text(json.dumps(content, indent=1))
        final = exports / files.digest
        shutil.rmtree(final, ignore_errors=True)  # one of an older format, or half removed
        unfinished.rename(final)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    return Export(**(asdict(export) | {"folder": str(final), "parity": parity}))


def _write_graph(model: Any, files: ModelFiles, folder: Path) -> Export:
    """Trace the whole model, tokens to vector: whatever pooling and dense layers it has are in the graph."""
    import torch

    class Graph(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, *tensors: Any) -> Any:
            features = dict(zip(names, tensors, strict=True))
            for module in self.model:
                features = module(features)
            return features["sentence_embedding"]

    sample = model.preprocess(["a text", "another text, which is a little longer"])
    names = [name for name in graph_inputs if name in sample]
    axes = {name: {0: "batch", 1: "length"} for name in names} | {"vector": {0: "batch"}}
    raw = folder / "raw.onnx"
    with torch.no_grad():
        torch.onnx.export(
            Graph().eval(),
            tuple(sample[name] for name in names),
            str(raw),
            dynamo=False,  # the dynamo exporter takes 8.6 s for the same graph, this one 1.7
            input_names=names,
            output_names=["vector"],
            dynamic_axes=axes,
            opset_version=OPSET,
        )
    _optimize(raw, folder / "model.onnx")
    raw.unlink()
    tokenizer = model.tokenizer
    tokenizer.backend_tokenizer.save(str(folder / "tokenizer.json"))
    left_pad = tokenizer.padding_side == "left"
    return Export(
        folder=str(folder),
        inputs=tuple(names),
        dimensions=files.dimensions,
        max_length=files.max_length,
        pad_id=int(tokenizer.pad_token_id or 0),
        left_pad=left_pad,
        parity=0.0,
    )


def _optimize(raw: Path, optimized: Path) -> None:
    """Fuse once, here, and keep the weights in a file of their own: it is mapped, not read, when a session opens.

    Session creation, measured: raw 0.21-0.29 s, optimized 0.19, with mapped weights 0.12, without prepacking 0.03.
    """
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    # ALL would add layouts for this CPU only, and the cache folder may be shared between machines.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    options.optimized_model_filepath = str(optimized)
    options.add_session_config_entry("session.optimized_model_external_initializers_file_name", "weights.bin")
    options.add_session_config_entry("session.optimized_model_external_initializers_min_size_in_bytes", "1024")
    onnxruntime.InferenceSession(str(raw), options, providers=["CPUExecutionProvider"])


def measure_parity(model: Any, export: Export) -> float:
    """Least cosine between the export and sentence-transformers over the probe texts, one by one and as a batch."""
    import numpy as np

    texts = list(probe_texts)
    fast = FastEncoder(export)
    wanted: FloatMatrix = unit_rows(model.encode(texts, batch_size=4, show_progress_bar=False))
    single = np.stack([fast.encode([text])[0] for text in texts])
    return float(min((single * wanted).sum(axis=1).min(), (fast.encode(texts) * wanted).sum(axis=1).min()))


def _exports(cache: Path) -> Path:
    return cache / "encoders"


def _failure_note(cache: Path, digest: str) -> Path:
    return _exports(cache) / f"{digest}.failed.json"


def _libraries() -> dict[str, str]:
    from importlib.metadata import version  # 13 ms, and every query imports this module

    names = ("torch", "onnx", "onnxruntime", "sentence-transformers")
    return {name: version(name) for name in names} | {"format": str(EXPORT_FORMAT)}
