"""Cuts a file as a crash or a broken disk leaves it, where this process may hold the whole one mapped."""

from __future__ import annotations

import shutil
from pathlib import Path


def cut_file(path: Path, size_bytes: int) -> None:
    """Put the first bytes of a file in its place. Cut where it lies, it would end every process that has it mapped."""
    part = path.with_name(f"{path.name}.part")
    shutil.copyfile(path, part)
    with part.open("r+b") as file:
        file.truncate(size_bytes)
    shutil.copymode(path, part)
    part.replace(path)
