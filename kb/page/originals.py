"""A PDF of the corpus → its bytes as they were ingested, and the pictures of its pages, drawn in a process with limits.

What is read is the stored path of a document and nothing else, and only while the file still has the stored hash.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path

from kb.config import IngestConfig
from kb.errors import KbError, NotFound
from kb.frozen import dataclass
from kb.ingest.guarded_reading import FileReader
from kb.ingest.read_source import read_source
from kb.ingest.reader_protocol import Drawing
from kb.library import KnowledgeBase
from kb.records import Document

# Pictures and hashes that are kept; a picture is some 200 kB.
PICTURES_KEPT = 48
HASHES_KEPT = 1000
WIDTH_PIXELS = 1100


@dataclass(frozen=True, slots=True)
class Original:
    """The file of a document.

    root         of its source
    content_hash as it was ingested
    trouble      why it cannot be drawn, None where it can
    """

    root: Path
    path: Path
    content_hash: str
    config: IngestConfig
    trouble: str | None = None

    def read(self) -> bytes:
        """Its bytes.

        raises  NotFound where it is gone, or another file by now
        """
        try:
            raw = read_source(self.path, self.root, "pdf", self.config)
        except (OSError, ValueError, KbError) as error:
            raise NotFound(GONE, fix=TEXT_ALONE) from error
        if hashlib.sha256(raw).hexdigest() != self.content_hash:
            raise NotFound(CHANGED, fix=TEXT_ALONE)
        return raw


GONE = "The file is not where it was, so its pages cannot be drawn."
CHANGED = "The file has changed since it was ingested, so its pages cannot be drawn."
TEXT_ALONE = "This is its text as it was ingested."
_hashes: OrderedDict[tuple[str, int, int, int], str] = OrderedDict()


def find_original(base: KnowledgeBase, document: Document) -> Original | None:
    """The file of a document, with what is in the way of drawing it; None for text that is in no file."""
    root = base.root(document.source)
    if root is None:
        return None
    found = Original(root, root / document.path, document.content_hash, base.config.ingest)
    return Original(found.root, found.path, found.content_hash, found.config, _trouble(found))


def _trouble(original: Original) -> str | None:
    """Why a file cannot be drawn; its hash is computed once for each state of the file."""
    try:
        about = os.stat(original.path)
    except (OSError, ValueError):
        return GONE
    state = (str(original.path), about.st_size, about.st_mtime_ns, about.st_ino)
    if state not in _hashes:
        try:
            original.read()
            _hashes[state] = original.content_hash
        except NotFound as error:
            return error.problem
        while len(_hashes) > HASHES_KEPT:
            _hashes.popitem(last=False)
    return None if _hashes[state] == original.content_hash else CHANGED


class Pictures:
    """Draws pages of PDFs, one after another, for any thread; keeps the last ones."""

    def __init__(self) -> None:
        self._reader = FileReader()
        self._turn = threading.Lock()
        self._kept: OrderedDict[tuple[str, int, tuple[str, ...]], bytes] = OrderedDict()

    def draw(self, original: Original, name: str, page: int, marked: Sequence[str]) -> bytes:
        """A page as PNG, with these texts marked.

        raises  NotFound where the file is another by now; ParseFailed for a page that is not there or cannot be drawn
        """
        key = (original.content_hash, page, tuple(marked))
        with self._turn:
            if key not in self._kept:
                raw = original.read()
                self._kept[key] = self._reader.draw(raw, name, Drawing(page, tuple(marked), WIDTH_PIXELS))
                while len(self._kept) > PICTURES_KEPT:
                    self._kept.popitem(last=False)
            return self._kept[key]

    def close(self) -> None:
        """End the process that draws."""
        with self._turn:
            self._reader.close()
