"""A sentence-transformers model → one ONNX graph on disk, made once and compared with the original model.

`<cache>/encoders/<digest>/` holds model.onnx (pooling inside the graph), weights.bin, tokenizer.json (or
pieces.npy, a unigram vocabulary) and export.json. A BERT is written from its weights (1 s; packed ones 3 s); any other model
is traced by torch (7 s). A model that cannot be exported
leaves `<digest>.failed.json` with the reason there.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from functools import cache as cache_result
from functools import partial
from pathlib import Path
from typing import Any

from kb.arrays import FloatMatrix
from kb.embed.batches import load_sentence_transformer, quiet
from kb.embed.bert import WORDS, Bert, write_bert
from kb.embed.bert_folder import can_write_bert, read_bert
from kb.embed.centre import unrelated_sentences, write_centre
from kb.embed.everyday_questions import KOREAN
from kb.embed.fast import QUESTIONS_FOLDER, Export, FastEncoder
from kb.embed.graphs import make_folder, save_optimized
from kb.embed.model_files import ModelFiles, read_json
from kb.embed.packed import REQUIREMENT, SPECIAL_IDS, PackedWords, read_packed
from kb.embed.probes import is_recorded, probe_texts, reference_vectors
from kb.embed.quantized import write_quantized
from kb.embed.tokens import load_tokenizer
from kb.embed.unigram import Unigram, write_pieces
from kb.errors import ExtraMissing

EXPORT_FORMAT = 4  # raise it when the graph or its options change: older exports are then replaced
LEAST_PARITY = 0.9999  # cosine to the original; float32 graphs reach .999999
LEAST_LIKENESS = 0.9995  # median cosine of the graph in 8 bits to the whole one; questions have .9998
OPSET = 17  # the newest one the TorchScript exporter writes without conversion

graph_inputs = ("input_ids", "attention_mask", "token_type_ids")


class ExportFailed(Exception):
    """A model cannot be exported; caught in this package, shown as a notice and by kb doctor."""


def find_export(cache: Path, digest: str) -> Export | None:
    """The finished export of a model, None when there is none of the present format."""
    folder = export_folder(cache, digest)
    with suppress(OSError, ValueError, TypeError, KeyError):
        found = json.loads((folder / "export.json").read_text())
        if found.pop("format") == EXPORT_FORMAT:
            return Export(**(found | {"folder": str(folder), "inputs": tuple(found["inputs"])}))
    return None


def export_folder(cache: Path, digest: str) -> Path:
    """Where the export of a model is, once it was made."""
    return _exports(cache) / digest


def speed_file(cache: Path, digest: str) -> Path:
    """What is kept of how fast this machine makes its vectors (`kb/embed/speed.py`)."""
    return _exports(cache) / f"{digest}.speed.json"


def find_failure(cache: Path, digest: str) -> str | None:
    """Why the export of this model failed with the libraries installed now; None when it never did."""
    with suppress(OSError, ValueError, KeyError):
        found = json.loads(_failure_note(cache, digest).read_text())
        if found["libraries"] == _libraries():
            return str(found["reason"])
    return None


def needs_torch(files: ModelFiles) -> bool:
    """True when exporting a model needs torch: to trace its graph, or to check it where its vectors are not recorded."""
    return not (files.is_packed or (is_recorded(files.digest) and can_write_bert(files)))


def discard_export(cache: Path, digest: str) -> None:
    """Remove an unusable export, so that it is made again."""
    shutil.rmtree(export_folder(cache, digest), ignore_errors=True)


def make_export(files: ModelFiles, cache: Path, load: Callable[[], Any] | None = None) -> Export:
    """Export a model and check it; an export that another process finished meanwhile is taken instead.

    load    returns the SentenceTransformer where it is needed; None loads one
    raises  ExportFailed with the reason, which is kept for kb doctor too; ExtraMissing where torch is needed and missing
    """
    load = cache_result(load or partial(load_sentence_transformer, files))

    def is_made() -> bool:
        if find_export(cache, files.digest):
            return True
        if not files.is_packed and (reason := find_failure(cache, files.digest)):
            raise ExportFailed(reason)
        return False

    def fill(folder: Path) -> None:
        try:
            _fill(folder, files, load)
        except ExtraMissing:
            raise
        except Exception as error:  # torch, onnx and onnxruntime raise anything; sentence-transformers still works
            reason = str(error).strip().splitlines()[0][:300] if str(error).strip() else type(error).__name__
            if not files.is_packed:  # it has no other way, so that it is tried again each time
                note = {"reason": reason, "libraries": _libraries()}
                _failure_note(cache, files.digest).write_text(json.dumps(note, indent=1))
            raise ExportFailed(reason) from error

    try:
        make_folder(export_folder(cache, files.digest), is_made, fill)
    except OSError as error:
        raise ExportFailed(f"{_exports(cache)} cannot be written: {error.strerror or error}") from error
    if found := find_export(cache, files.digest):
        return found
    raise ExportFailed(f"{export_folder(cache, files.digest)} was removed as soon as it was made")


def _fill(folder: Path, files: ModelFiles, load: Callable[[], Any]) -> None:
    with quiet():
        export = _write_export(load, files, folder)
        parity = measure_parity(export, reference_vectors(files, load))
    if not parity >= LEAST_PARITY:  # NaN fails too
        raise ExportFailed(f"its vectors differ from the model's (cosine {parity:.6f}, least {LEAST_PARITY})")
    if files.is_packed:
        _check_questions(export, files)
        encode = FastEncoder(export).encode
        write_centre(lambda texts: encode([files.query_prompt + text for text in texts]), folder)
    content = asdict(export) | {"parity": parity, "format": EXPORT_FORMAT}
    del content["folder"]
    (folder / "export.json").write_text(json.dumps(content, indent=1))


def _write_export(load: Callable[[], Any], files: ModelFiles, folder: Path) -> Export:
    raw = folder / "raw.onnx"
    if files.is_packed:
        return _write_packed(files, folder, raw)
    if can_write_bert(files):
        names = write_bert(read_bert(files), raw)
        about = read_json(Path(files.folder) / "tokenizer_config.json")
        tokenizer, left_pad = load_tokenizer(Path(files.folder)), about.get("padding_side") == "left"
        pad_id = tokenizer.token_to_id(_word(about.get("pad_token"))) or 0
    else:
        model = load()
        names = _trace(model, raw)
        tokenizer, left_pad = model.tokenizer.backend_tokenizer, model.tokenizer.padding_side == "left"
        pad_id = int(model.tokenizer.pad_token_id or 0)
    save_optimized(raw, folder)
    raw.unlink()
    tokenizer.save(str(folder / "tokenizer.json"))
    return Export(str(folder), names, files.dimensions, files.max_length, pad_id, left_pad, parity=0.0)


def _write_packed(files: ModelFiles, folder: Path, raw: Path) -> Export:
    if not is_recorded(files.digest):
        raise ExportFailed(f"{files.folder} is damaged, or holds other weights than {REQUIREMENT}")
    packed = read_packed(Path(files.folder))
    names = write_bert(packed.bert, raw)
    save_optimized(raw, folder)
    raw.unlink()
    write_pieces(packed.pieces, folder)
    _write_for_questions(packed.bert, files, folder)
    return Export(str(folder), names, files.dimensions, files.max_length, SPECIAL_IDS[1], left_pad=False, parity=0.0)


def _write_for_questions(bert: Bert, files: ModelFiles, folder: Path) -> None:
    """The graph in 8 bits, its ranges measured on short texts, long ones and odd ones."""
    import numpy as np

    questions = folder / QUESTIONS_FOLDER
    questions.mkdir()
    words = PackedWords(Path(files.folder))
    batches = []
    for row in Unigram(folder, files.max_length).encode(_measured_on(files), files.max_length):
        ids = np.array([row])
        batches.append(
            {WORDS: words.rows(ids), "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        )
    raw = questions / "raw.onnx"
    write_quantized(bert, batches, raw)
    save_optimized(raw, questions)
    raw.unlink()


def _measured_on(files: ModelFiles) -> list[str]:
    long = " ".join(unrelated_sentences), " ".join(KOREAN)
    return [files.query_prompt + text for text in (*unrelated_sentences, *KOREAN, *long, *probe_texts)]


def _check_questions(export: Export, files: ModelFiles) -> None:
    """Leave the graph in 8 bits away where it is not like the whole one."""
    import numpy as np

    texts = [files.query_prompt + text for text in unrelated_sentences]
    likeness = FastEncoder(export).encode(texts) * FastEncoder(export, QUESTIONS_FOLDER).encode(texts)
    if not float(np.median(likeness.sum(axis=1))) >= LEAST_LIKENESS:  # NaN fails too
        shutil.rmtree(Path(export.folder) / QUESTIONS_FOLDER)


def _word(token: Any) -> str:
    """A special token's text: tokenizer_config.json has it as text, or as an object with its text."""
    return str(token.get("content") if isinstance(token, dict) else token or "[PAD]")


def _trace(model: Any, path: Path) -> tuple[str, ...]:
    """Trace the whole model from tokens to vector, with its pooling and dense layers."""
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
    names = tuple(name for name in graph_inputs if name in sample)
    axes = {name: {0: "batch", 1: "length"} for name in names} | {"vector": {0: "batch"}}
    with torch.no_grad():
        torch.onnx.export(
            Graph().eval(),
            tuple(sample[name] for name in names),
            str(path),
            dynamo=False,  # the dynamo exporter takes 8.6 s for the same graph, this one 1.7
            input_names=names,
            output_names=["vector"],
            dynamic_axes=axes,
            opset_version=OPSET,
        )
    return names


def measure_parity(export: Export, wanted: FloatMatrix) -> float:
    """Least cosine between the export and the model's own vectors of the probe texts, one by one and as a batch."""
    import numpy as np

    texts = list(probe_texts)
    fast = FastEncoder(export)
    single = np.stack([fast.encode([text])[0] for text in texts])
    return float(min((single * wanted).sum(axis=1).min(), (fast.encode(texts) * wanted).sum(axis=1).min()))


def _exports(cache: Path) -> Path:
    return cache / "encoders"


def _failure_note(cache: Path, digest: str) -> Path:
    return _exports(cache) / f"{digest}.failed.json"


def _libraries() -> dict[str, str]:
    from importlib.metadata import PackageNotFoundError, version  # 13 ms, and every query imports this module

    found = {"format": str(EXPORT_FORMAT)}
    for name in ("torch", "onnx", "onnxruntime", "sentence-transformers"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = ""
    return found
