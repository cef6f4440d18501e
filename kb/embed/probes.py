"""Texts on which an exported model must give the same vectors as the original, and recorded vectors of the original.

The default encoder's vectors are recorded (benchmarks/encoder.py --record), so that checking it needs no torch.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from kb.arrays import FloatMatrix
from kb.embed.batches import unit_rows
from kb.embed.model_files import ModelFiles

# Each <digest of the encoder>.npy is (texts, d) float16, unit rows: rounding costs 1e-7 of a cosine.
RECORDED = Path(__file__).parent / "recorded"

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


def is_recorded(digest: str) -> bool:
    """Whether the vectors of this encoder were recorded."""
    return record_path(digest).is_file()


def reference_vectors(files: ModelFiles, load: Callable[[], Any]) -> FloatMatrix:
    """The probe texts' vectors as sentence-transformers makes them: (texts, d) float32, unit rows.

    load  returns the SentenceTransformer; called where the vectors are not recorded
    """
    import numpy as np

    if is_recorded(files.digest):
        return unit_rows(np.load(record_path(files.digest)).astype(np.float32))
    return unit_rows(load().encode(list(probe_texts), batch_size=4, show_progress_bar=False))


def record_path(digest: str) -> Path:
    """The file for the recorded vectors of an encoder."""
    return RECORDED / f"{digest}.npy"
