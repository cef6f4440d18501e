"""The numpy arrays of a model by name: mapped from a safetensors file, and looked up by their sorted keys.

The format is simple enough to map by hand, so that a suggestion reads only the pages it needs; the safetensors library
only writes.

source  https://huggingface.co/docs/safetensors: 8 bytes of length, a JSON header, the arrays one after the other
"""

from __future__ import annotations

import json
import mmap
from pathlib import Path
from typing import Any

# name → numpy array; the modules that make arrays say which names there are
Arrays = dict[str, Any]

_DTYPES = {"F32": "<f4", "U64": "<u8", "I64": "<i8", "I32": "<i4"}


def map_arrays(path: Path) -> Arrays:
    """The arrays of a safetensors file, mapped into memory, read-only.

    raises  ValueError for a damaged file, OSError
    """
    import numpy as np

    with path.open("rb") as file:
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    start = 8 + int.from_bytes(mapped[:8], "little")
    if start > len(mapped):
        raise ValueError("the file is cut short")
    arrays: Arrays = {}
    for name, entry in json.loads(mapped[8:start]).items():
        if name == "__metadata__":
            continue
        begin, end = entry["data_offsets"]
        dtype = np.dtype(_DTYPES[entry["dtype"]])
        if start + end > len(mapped):
            raise ValueError("the file is cut short")
        flat = np.frombuffer(mapped, dtype, (end - begin) // dtype.itemsize, start + begin)
        arrays[name] = flat.reshape(entry["shape"])
    return arrays


def places_of(wanted: Any, known: Any) -> Any:
    """The position of each wanted number among sorted known ones, (wanted,) int64; -1 for a number that is not known."""
    import numpy as np

    places = np.searchsorted(known, wanted)
    inside = places < len(known)
    inside[inside] = known[places[inside]] == wanted[inside]
    return np.where(inside, places, -1)
