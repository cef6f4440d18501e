"""The mean of readers' weights that were trained from the same beginning.

python training/average.py OUT.npz READER.npz READER.npz …
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from kb.reader.trained_weights import load_weights, save_weights


def main() -> None:
    """Read, average, write."""
    out, *readers = map(Path, sys.argv[1:])
    found = [load_weights(reader) for reader in readers]
    save_weights(
        {name: np.mean([np.asarray(each[name], np.float32) for each in found], axis=0) for name in found[0]}, out
    )


if __name__ == "__main__":
    main()
