"""What an index was built from, and how a new one takes the place of the old: temporary name, rename, then the stamp.

A home's `index/` holds at most one finished index per kind, in a file or folder of its own name, and `<kind>.json`,
which names it. The stamp is replaced last and in one step, so a killed build leaves the old index in force.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

INDEX_FOLDER = "index"  # inside a home


@dataclass(frozen=True, slots=True)
class Origin:
    """What an index is to be built from: a corpus and, for vectors, an encoder.

    revision, state  which corpus
    encoder_digest   whose vectors, "" for the lexical index
    dimensions       length of the vectors, 0 for the lexical index
    """

    revision: int
    state: str
    encoder_digest: str = ""
    dimensions: int = 0


@dataclass(frozen=True, slots=True)
class IndexStamp:
    """What an index was built from, and what is in it.

    place            name of the file or folder inside `index/`
    revision, state  the corpus it was built from
    format           the builder's own version: analyzer and layout
    rows             how many chunks are in it
    encoder_digest   whose vectors, "" for the lexical index
    dimensions       length of the vectors, 0 for the lexical index
    kind             flat, ivf, tantivy
    recall           share of the exact 10 nearest that an approximate index finds, 1.0 for an exact one
    mean_vector      mean of the vectors in it, () for the lexical index
    """

    place: str
    revision: int
    state: str
    format: str
    rows: int
    encoder_digest: str = ""
    dimensions: int = 0
    kind: str = ""
    recall: float = 1.0
    mean_vector: tuple[float, ...] = ()

    def matches(self, origin: Origin, format: str) -> bool:
        """True when an index with this stamp may be searched for this corpus."""
        built_from = (self.revision, self.state, self.encoder_digest)
        return self.format == format and built_from == (origin.revision, origin.state, origin.encoder_digest)


def read_stamp(folder: Path, name: str) -> IndexStamp | None:
    """The stamp of the index in force, None when there is none that can be read."""
    try:
        stamp = IndexStamp(**json.loads((folder / f"{name}.json").read_text()))
    except (OSError, ValueError, TypeError):
        return None
    return stamp if (folder / stamp.place).exists() else None


def replace_index(folder: Path, name: str, build: Callable[[Path], IndexStamp]) -> IndexStamp:
    """Build under a temporary name, rename, stamp, and clear away what was there before.

    build    writes the index at the path it is given, and returns its stamp with any `place`
    returns  the stamp in force
    """
    folder.mkdir(parents=True, exist_ok=True)
    place = f"{name}-{os.urandom(6).hex()}"
    unfinished = folder / f"{place}.unfinished"
    try:
        stamp = IndexStamp(**(asdict(build(unfinished)) | {"place": place}))
        unfinished.rename(folder / place)
    except BaseException:
        _remove(unfinished)
        raise
    stamp_file = folder / f"{place}.json.unfinished"
    stamp_file.write_text(json.dumps(asdict(stamp), indent=1))
    stamp_file.replace(folder / f"{name}.json")
    _clear_old(folder, name, place)
    return stamp


def _clear_old(folder: Path, name: str, place: str) -> None:
    """Remove earlier indexes of this kind, and leftovers of killed builds once they are old enough to be nobody's."""
    for entry in folder.iterdir():
        if not entry.name.startswith(f"{name}-") or entry.name == place:
            continue
        if entry.name.endswith(".unfinished") and not _is_stale(entry):
            continue
        _remove(entry)


def _is_stale(entry: Path, seconds: float = 3600.0) -> bool:
    """An unfinished build may belong to a process that is still at work."""
    import time

    try:
        return time.time() - entry.stat().st_mtime > seconds
    except OSError:
        return False


def _remove(path: Path) -> None:
    if path.is_dir():
        import shutil

        shutil.rmtree(path, ignore_errors=True)
    else:
        try:
            os.unlink(path)
        except OSError:
            return
