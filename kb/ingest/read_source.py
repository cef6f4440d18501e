"""One file that a scan found → its bytes, if it is still a plain file inside its root and within the limit of its size.

Between the scan and the reading anything may have happened to it: it may be a pipe now, which would wait for a writer
for ever, a link out of the folder, or a file that grows without an end.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from kb.config import IngestConfig
from kb.errors import ParseFailed
from kb.ingest.readers import READERS


def limit_key(type_name: str) -> str:
    """The key of [ingest] that limits the size of a file of this type."""
    return "max_text_bytes" if READERS[type_name].kind == "text" else "max_binary_bytes"


def read_source(path: Path, root: Path, type_name: str, config: IngestConfig) -> bytes:
    """The bytes of a file.

    path       absolute; may lead through links, as long as they stay inside the root
    root       the folder that the file must lie in
    type_name  a key of READERS: how large it may be
    raises     ParseFailed for what is no longer such a file, OSError for what the system refuses
    """
    real, top = os.path.realpath(path), os.path.realpath(root)
    if os.path.commonpath([real, top]) != top:
        raise ParseFailed("has become a link that leads out of the folder", fix="ingest the folder that holds it")
    descriptor = os.open(real, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise ParseFailed("is no longer a plain file", fix="see what put something else in its place")
        key = limit_key(type_name)
        limit = getattr(config, key)
        raw = file.read(limit + 1)
    if len(raw) > limit:
        raise ParseFailed("has grown past the limit while kb was reading", fix=f"raise ingest.{key}")
    return raw
