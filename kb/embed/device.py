"""Where large batches are computed: on a GPU that torch can use, else on the processor.

A query never goes to a GPU: its vector is there sooner than torch is imported.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path

# Padded tokens that go through the model together. CPU time per text, MiniLM in bf16 on one thread, 40 to 250 tokens:
# 820 tokens 35.9 ms, 1640 36.2, 3300 37.4, 6600 39.9 (the activations leave the caches); model.encode in batches of 32
# 44.6. Small batches also spread evenly over the cores.
TOKENS_PER_BATCH = 1024
TEXTS_PER_BATCH = 32
# A GPU wants thousands of tokens at a time. Chosen without one at hand, so nothing of it is measured.
GPU_TOKENS_PER_BATCH = 32_768
GPU_TEXTS_PER_BATCH = 512
# One batch is computed while the next one's tokens are looked up.
GPU_BATCHES_AT_ONCE = 2
# 48 threads were seen to corrupt the heap, and more than these gain nothing for small models.
MOST_THREADS = 16
# What Linux shows of NVIDIA's GPUs, and of a GPU under WSL.
_GPU_FILES = ("nvidia[0-9]*", "dxg")


@dataclass(frozen=True, slots=True)
class Device:
    """Where batches are computed, and how large they are.

    name              as torch calls it: "cpu", "cuda"
    bf16              whether it multiplies bf16 in hardware; elsewhere autocast is slower than float32
    tokens_per_batch  tokens per batch at most, with padding; one longer text is a batch of its own
    texts_per_batch   texts per batch at most
    batches_at_once   each in a thread of its own
    """

    name: str
    bf16: bool
    tokens_per_batch: int = TOKENS_PER_BATCH
    texts_per_batch: int = TEXTS_PER_BATCH
    batches_at_once: int = 1

    @property
    def is_gpu(self) -> bool:
        """Whether it is no processor: the model has to be moved there, and each batch."""
        return self.name != "cpu"


def find_device() -> Device:
    """The first GPU that torch can use, else the processor. CUDA_VISIBLE_DEVICES=-1 hides GPUs, as for every program."""
    if may_have_gpu():
        import torch

        if torch.cuda.is_available():
            bf16 = bool(torch.cuda.is_bf16_supported())
            return Device("cuda", bf16, GPU_TOKENS_PER_BATCH, GPU_TEXTS_PER_BATCH, GPU_BATCHES_AT_ONCE)
    return Device("cpu", has_bf16(), batches_at_once=count_threads())


def may_have_gpu(devices: Path = Path("/dev")) -> bool:
    """Whether the system shows a GPU; torch, whose import takes seconds, says whether it can be used."""
    return any(next(devices.glob(pattern), None) for pattern in _GPU_FILES)


@cache
def has_bf16() -> bool:
    """Whether the CPU multiplies bf16 in hardware. Elsewhere autocast is slower than float32."""
    try:
        flags = Path("/proc/cpuinfo").read_text(errors="replace").split()
    except OSError:
        return False
    return "avx512_bf16" in flags or "amx_bf16" in flags


def count_threads() -> int:
    """Cores this process may use, MOST_THREADS at most, and OMP_NUM_THREADS at most where that is set, as for other libraries."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    asked_for = os.environ.get("OMP_NUM_THREADS", "")
    if asked_for.isdecimal() and int(asked_for):
        allowed = min(allowed, int(asked_for))
    return min(allowed, MOST_THREADS)
