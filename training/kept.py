"""Weights of a training, written twice: in 8 bits, as kb ships them, and in full.

A training at a low rate moves most weights by less than half a step of the 8 bits. One that goes on from what is rounded, and is
rounded to nearly the same steps in the end, loses that: it goes on from the full ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from kb.reader.trained_weights import load_weights, save_weights

FULL = ".pt"


def save_both(weights: Mapping[str, Tensor], path: Path) -> None:
    """Write `path`, in 8 bits, and beside it the same in full.

    weights  name → float32
    """
    own = {name: value.detach().clone() for name, value in weights.items()}
    torch.save(own, path.with_suffix(FULL))
    save_weights({name: value.numpy() for name, value in own.items()}, path)


def load_either(path: Path) -> dict[str, Tensor]:
    """Name → float32, of one of the two files."""
    if path.suffix == FULL:
        found: dict[str, Tensor] = torch.load(path)
        return found
    return {name: torch.tensor(np.asarray(value)) for name, value in load_weights(path).items()}
