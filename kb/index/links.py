"""The files of an index → a folder that shares them, as the beginning of the next one.

For files that are only ever written once or replaced by a rename: a hard link costs nothing, and what stays the same is
stored once. Where a file system knows no links the files are copied.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from pathlib import Path


def link_files(base: Path, path: Path, names: Iterable[str] | None = None) -> None:
    """Make the files of a folder appear in another one too.

    names   of the files; None for all but lock files, which belong to the folder they are in
    raises  OSError
    """
    wanted = names if names is not None else sorted(file.name for file in base.iterdir() if file.suffix != ".lock")
    for name in wanted:
        try:
            os.link(base / name, path / name)
        except OSError:
            shutil.copy2(base / name, path / name)
