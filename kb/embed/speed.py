"""Which way makes many vectors faster on this machine: measured once, on a few texts of the first large job, and kept in the cache.

Where the processor has bf16, torch takes half the time of float32 with it, and nothing comes near; elsewhere torch and
onnxruntime differ by an eighth. OpenVINO was no faster than the better of them (benchmarks/engines.py).
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

SAMPLE_TEXTS = 12
SAMPLE_CHARS = 700
LIBRARIES = ("torch", "onnxruntime")
TORCH, ONNX = LIBRARIES

Encode = Callable[[Sequence[str]], Any]


def faster_of(
    file: Path, texts: Sequence[str], ways: Mapping[str, Encode], clock: Callable[[], float] = time.perf_counter
) -> str:
    """The name of the faster way.

    file   keeps what was measured, with the versions of the libraries; it may be removed at any time
    texts  of the job
    ways   name → encodes texts
    clock  seconds
    """
    seconds = read_seconds(file)
    if seconds is None or seconds.keys() != ways.keys():
        sample = [text[:SAMPLE_CHARS] for text in texts[:SAMPLE_TEXTS]]
        seconds = {name: _measure(way, sample, clock) for name, way in ways.items()}
        write_seconds(file, seconds)
    return min(seconds, key=seconds.__getitem__)


def _measure(encode: Encode, texts: Sequence[str], clock: Callable[[], float]) -> float:
    """Seconds for a text: the better of two goes, after one text that has everything loaded."""
    encode(texts[:1])
    best = float("inf")
    for _ in range(2):
        began = clock()
        encode(texts)
        best = min(best, clock() - began)
    return best / max(1, len(texts))


def read_seconds(file: Path) -> dict[str, float] | None:
    """Way → seconds for a text; None where nothing was measured with the libraries of today."""
    try:
        kept = json.loads(file.read_text())
        return {str(way): float(x) for way, x in kept["seconds"].items()} if kept["versions"] == _versions() else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def write_seconds(file: Path, seconds: dict[str, float]) -> None:
    """Keep them; where that is not possible, the next job measures again."""
    unfinished = file.with_name(f"{file.name}.{os.getpid()}")
    try:
        unfinished.write_text(json.dumps({"versions": _versions(), "seconds": seconds}))
        unfinished.replace(file)
    except OSError:
        return


def _versions() -> dict[str, str]:
    from importlib.metadata import version  # 10 ms, and every query imports this module

    return {library: version(library) for library in LIBRARIES}
