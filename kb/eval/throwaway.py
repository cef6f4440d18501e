"""A collection → a throw-away home under the cache folder, made once per content and settings."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from tempfile import mkdtemp

from kb.config import Config, CorpusConfig
from kb.embed.registry import open_encoder
from kb.errors import KbError
from kb.eval.collections import CollectionDocument
from kb.ingest.pipeline import ingest, ingest_documents
from kb.ingest.prepare import Settings
from kb.ingest.readers import READERS
from kb.ingest.report import IngestEvent
from kb.ingest.request import IngestRequest
from kb.runtime import Notify, Runtime, open_runtime
from kb.store.store import Store

OnEvent = Callable[[IngestEvent], None]
DONE = "complete"
SOURCE = "collection"
# A home that a kb was killed over while it was filled.
LEFT_AFTER_SECONDS = 86_400


def collection_home(
    cache: Path,
    config: Config,
    name: str,
    content_sha256: str,
    fill: Callable[[Runtime], None],
    notify: Notify,
) -> Runtime:
    """The home of a collection, open for reading; it is filled when this content and these settings are new.

    fill  ingests the collection into an empty home
    """
    config = replace(config, corpus=CorpusConfig())  # a collection is nobody else's, wherever the user's corpus is
    home = cache / "eval" / f"{_safe(name)}-{_key(cache, config, content_sha256)}"
    if not (home / DONE).exists():
        _make(home, config, fill, notify)
    else:
        with Store(home, write=True) as store:  # a home of an older kb gets today's schema
            store.corpus.neighbours.heal_neighbours(store.corpus.stored_encoder()[1])
    return open_runtime(home, config, notify=notify)


def _make(home: Path, config: Config, fill: Callable[[Runtime], None], notify: Notify) -> None:
    """A home filled aside and put in its place whole: another kb may be making the same one."""
    home.parent.mkdir(parents=True, exist_ok=True)
    for left in home.parent.glob(f"{home.name}.*"):
        with suppress(FileNotFoundError):  # another kb has just put it in its place
            if time.time() - left.stat().st_mtime > LEFT_AFTER_SECONDS:
                shutil.rmtree(left, ignore_errors=True)
    aside = Path(mkdtemp(prefix=f"{home.name}.", dir=home.parent))
    try:
        with open_runtime(aside, config, write=True, notify=notify) as kb:
            fill(kb)
        (aside / DONE).touch()
        if not (home / DONE).exists():
            shutil.rmtree(home, ignore_errors=True)  # what an older kb left when it was cut off
            aside.rename(home)
    except OSError:
        if not (home / DONE).exists():  # put there between the look and the move: as good as this one
            raise
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def fill_from_documents(documents: Iterable[CollectionDocument], on_event: OnEvent) -> Callable[[Runtime], None]:
    """A filler for documents in memory, each a plain text under its id."""

    def fill(kb: Runtime) -> None:
        texts = ((d.id, d.title, d.text.encode()) for d in documents)
        _check(ingest_documents(kb, SOURCE, texts, on_event).counts["failed"])

    return fill


def fill_from_folder(folder: Path, on_event: OnEvent) -> Callable[[Runtime], None]:
    """A filler for a folder of files."""

    def fill(kb: Runtime) -> None:
        _check(ingest(kb, IngestRequest((folder,)), on_event).counts["failed"])

    return fill


def _check(failed: int) -> None:
    if failed:
        raise KbError(
            f"{failed} documents of the collection cannot be read",
            fix="correct them: figures of a partial corpus are wrong",
        )


def _key(cache: Path, config: Config, content_sha256: str) -> str:
    """A hash of the documents and of the settings of chunks and vectors, without search settings."""
    settings = Settings.of(config, open_encoder(config.embedding, cache, lambda message: None))
    signatures = [settings.signature(name) for name in READERS]
    return sha256(json.dumps([content_sha256, signatures]).encode()).hexdigest()[:16]


def _safe(name: str) -> str:
    return "".join(c if c.isalnum() or c in "._-" else "-" for c in name) or "collection"
