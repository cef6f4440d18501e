"""Weights that a training keeps: in full as they are, in 8 bits as kb ships them."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "training"))
torch = pytest.importorskip("torch", reason="training needs torch")
from kept import load_either, save_both  # noqa: E402


def test_what_goes_on_from_the_full_file_has_lost_nothing(tmp_path: Path) -> None:
    random = np.random.default_rng(3)
    matrix = torch.tensor(random.normal(size=(8, 16)).astype(np.float32))
    bias = torch.tensor(random.normal(size=8).astype(np.float32))
    save_both({"matrix": matrix, "bias": bias}, tmp_path / "kept.npz")
    full, rounded = (load_either(tmp_path / f"kept{end}") for end in (".pt", ".npz"))
    assert torch.equal(full["matrix"], matrix)
    assert torch.equal(full["bias"], bias)
    assert torch.equal(rounded["bias"], bias)
    step = matrix.abs().max(dim=1).values / 127
    assert not torch.equal(rounded["matrix"], matrix)
    assert bool(((rounded["matrix"] - matrix).abs() <= step[:, None] * 1.001).all())
