"""Rows of token ids → one logit each, through an ONNX graph: what the readers of this folder share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from kb.embed.batches import count_threads, plan_batches
from kb.errors import ModelError

# Padded tokens of a batch: more do not become faster, and small batches spread evenly over the cores.
TOKENS_PER_BATCH = 1024
TEXTS_PER_BATCH = 32


def open_session(graph: Path, model: str, fix: str) -> Any:
    """The onnxruntime session of a graph.

    raises  ModelError, with this fix, where it cannot be loaded
    """
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = count_threads()
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    try:
        return onnxruntime.InferenceSession(str(graph), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime has exceptions of its own
        raise ModelError(
            f"the reader {model} cannot be loaded: {str(error).splitlines()[0][:300]}",
            fix=fix,
            folder=str(graph.parent),
        ) from error


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
