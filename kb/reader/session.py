"""Rows of token ids → one logit each, through an ONNX graph: what the readers of this folder share."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar
from weakref import WeakValueDictionary

from kb.embed.batches import plan_batches
from kb.embed.graphs import open_graph
from kb.errors import ModelError

# Padded tokens of a batch: more do not become faster, and small batches spread evenly over the cores.
TOKENS_PER_BATCH = 1024
TEXTS_PER_BATCH = 32
FOLDER = "encoders"  # beside the graphs of encoders
LAYOUT = 2  # raise it when the files of a graph change: older ones are then left


Opened = TypeVar("Opened")
_opened: WeakValueDictionary[tuple[Any, ...], Any] = WeakValueDictionary()
_opening = Lock()


def open_once(make: Callable[..., Opened], *given: Any) -> Opened:
    """What `make` makes of what is given, one for all threads of a process, for as long as one of them holds it.

    raises  what making it raises
    """
    with _opening:
        found: Opened | None = _opened.get((make, *given))
        if found is None:
            found = _opened[make, *given] = make(*given)
        return found


def graph_folder(cache: Path, digest: str, kind: str = "") -> Path:
    """Where the optimized graph of a reader is, once it was made; `kind` tells graphs of the same reader apart."""
    return cache / FOLDER / f"reader-{digest}-{LAYOUT}{kind}"


def open_session(graph: Path, model: str, fix: str, *, is_optimized: bool = True) -> Any:
    """The onnxruntime session of a graph, which takes four times as long where it was not optimized before.

    raises  ModelError, with this fix, where it cannot be loaded
    """
    try:
        return open_graph(graph, is_final=is_optimized, is_prepacked=True)
    except Exception as error:  # onnxruntime has exceptions of its own
        raise ModelError(
            f"the reader {model} cannot be loaded: {str(error).splitlines()[0][:300]}",
            fix=fix,
            folder=str(graph.parent),
        ) from error


def digest_of(files: Iterable[Path], before: str = "") -> str:
    """sha256 over a text and the contents of files."""
    total = hashlib.sha256(before.encode())
    for path in files:
        with path.open("rb") as file:
            total.update(hashlib.file_digest(file, "sha256").digest())
    return total.hexdigest()


def padded(rows: Sequence[Sequence[int]], filler: int) -> tuple[Any, Any]:
    """Token ids and the mask of what is no filler, (rows, longest) int64 each.

    rows  the longest first
    """
    import numpy as np

    ids = np.full((len(rows), len(rows[0])), filler, dtype=np.int64)
    mask = np.zeros_like(ids)
    for number, row in enumerate(rows):
        ids[number, : len(row)] = row
        mask[number, : len(row)] = 1
    return ids, mask


def run_in_batches(lengths: Sequence[int], run: Callable[[Sequence[int]], Sequence[float]]) -> list[float]:
    """One logit for each row, in the order given.

    lengths  tokens of each row
    run      rows of about one length, the longest first → their logits
    """
    scores = [0.0] * len(lengths)
    for rows in plan_batches(lengths, TEXTS_PER_BATCH, TOKENS_PER_BATCH):
        for row, logit in zip(rows, run(rows), strict=True):
            scores[row] = float(logit)
    return scores
