"""Checks of this installation and this knowledge base, each with its fix; and the repairs that need no decision.

A check is one function; it never raises for a fault it was made to find. Only `fail` makes the installation unhealthy.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from kb.config import Config
from kb.errors import KbError, NotIndexed
from kb.extras import DISTRIBUTION, is_installed
from kb.knowledge_base import KnowledgeBase, Notify, open_knowledge_base
from kb.llm.protocol import NoServer
from kb.llm.registry import open_model
from kb.providers import AUTO
from kb.store.lock import lock_owner, writer_lock
from kb.store.schema import FILE_NAME

Health = Literal["ok", "warn", "fail"]

LOW_DISK_BYTES = 500_000_000
# Stored vectors were made in bfloat16 batches, the check re-embeds in float32: measured cosines stay above .9998.
SAME_VECTOR_COSINE = 0.999
SAMPLED_CHUNKS = 3
# Library → what cannot be read without it.
READER_LIBRARIES = {
    "trafilatura": "HTML",
    "lxml": "HTML and EPUB",
    "lxml_html_clean": "HTML and EPUB",
    "markdown_it": "Markdown",
    "pypdfium2": "PDF",
    "docx": "Word",
    "pptx": "PowerPoint",
    "openpyxl": "Excel",
    "yaml": "front matter",
    "charset_normalizer": "text in old encodings",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One finding; fix is None when nothing needs to be done."""

    name: str
    status: Health
    detail: str
    fix: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """All findings; ok unless one of them failed."""

    schema_version: Literal["doctor.v1"] = "doctor.v1"
    ok: bool
    checks: tuple[Check, ...]


def diagnose(home: Path, config: Config) -> Diagnosis:
    """Run every check; the ones that need a store are left out when there is none."""
    checks = [check(home, config) for check in INSTALLATION_CHECKS]
    try:
        with open_knowledge_base(home, config) as kb:
            checks += [_run(check, kb) for check in STORE_CHECKS]
    except NotIndexed as error:
        checks.append(Check(name="store", status="warn", detail=error.problem, fix=error.fix))
    except KbError as error:
        checks.append(Check(name="store", status="fail", detail=error.problem, fix=error.fix))
    return Diagnosis(ok=all(check.status != "fail" for check in checks), checks=tuple(checks))


def _run(check: Callable[[KnowledgeBase], Check], kb: KnowledgeBase) -> Check:
    name = check.__name__.removeprefix("check_")
    try:
        return check(kb)
    except KbError as error:
        return Check(name=name, status="fail", detail=error.problem, fix=error.fix)
    except sqlite3.DatabaseError as error:
        return Check(name=name, status="fail", detail=str(error), fix="restore a copy made with kb backup")


def repair_home(home: Path, config: Config, notify: Notify) -> None:
    """Migrate the store, complete missing vectors, drop unused ones, build both indexes anew.

    raises  NotIndexed when there is nothing to repair
    """
    if not (home / FILE_NAME).is_file():
        raise NotIndexed(f"no knowledge base in {home}", fix="make one with: kb ingest FOLDER")
    from kb.ingest.embed import embed_missing
    from kb.ingest.prepare import Settings
    from kb.ingest.report import Tally

    with (
        writer_lock(home, config.ingest.lock_wait_seconds, notify),
        open_knowledge_base(home, config, write=True, notify=notify) as kb,
    ):
        if not kb.corpus.count_chunks():
            return
        healed = embed_missing(kb, Settings.of(config, kb.encoder()), Tally(), lambda: False)
        unused = kb.corpus.remove_unused_embeddings()
        kb.refresh_indexes(force=True)
        notify(f"embedded {healed} chunks, dropped {unused} unused vectors, built both indexes anew")


# ---- the installation


def check_python(home: Path, config: Config) -> Check:
    """Python and SQLite are new enough."""
    import sys

    found = f"Python {sys.version.split()[0]}, SQLite {sqlite3.sqlite_version}"
    if sqlite3.sqlite_version_info < (3, 40):
        return Check(name="python", status="fail", detail=f"{found}: SQLite is too old", fix="use one of 3.40 or newer")
    return Check(name="python", status="ok", detail=found)


def check_disk(home: Path, config: Config) -> Check:
    """There is room to write."""
    folder = next(p for p in (home, *home.parents) if p.exists())
    free = shutil.disk_usage(folder).free
    if free < LOW_DISK_BYTES:
        return Check(name="disk", status="warn", detail=f"{free / 1e6:.0f} MB free at {folder}", fix="make room")
    return Check(name="disk", status="ok", detail=f"{free / 1e9:.1f} GB free at {folder}")


def check_readers(home: Path, config: Config) -> Check:
    """The libraries that read files are installed: without one, every file of its formats would be blamed."""
    missing = {library: formats for library, formats in READER_LIBRARIES.items() if not is_installed(library)}
    if missing:
        detail = "; ".join(f"{formats} cannot be read: no {library}" for library, formats in missing.items())
        return Check(name="readers", status="fail", detail=detail, fix=f"pip install --force-reinstall {DISTRIBUTION}")
    return Check(name="readers", status="ok", detail="a library for every format")


def check_encoder(home: Path, config: Config) -> Check:
    """The configured encoder is installed, and its fast query path is ready."""
    import os

    from kb.config import cache_folder
    from kb.embed.registry import open_encoder

    try:
        encoder = open_encoder(config.embedding, cache_folder(os.environ), lambda message: None)
    except KbError as error:
        return Check(name="encoder", status="fail", detail=error.problem, fix=error.fix)
    return Check(name="encoder", status="ok", detail=encoder.describe())


def check_model(home: Path, config: Config) -> Check:
    """Which language model would answer."""
    is_forced = config.llm.provider != "auto"
    try:
        model = open_model(config.llm.provider if is_forced else AUTO[0], config.llm, None, lambda message: None)
        return Check(name="model", status="ok", detail=model.describe())
    except NoServer as error:
        if not is_forced:
            return Check(name="model", status="ok", detail=f"{error.problem} (llm.endpoint); {AUTO[-1]} answers")
        return Check(name="model", status="fail", detail=error.problem, fix=error.fix)
    except KbError as error:
        return Check(name="model", status="fail" if is_forced else "warn", detail=error.problem, fix=error.fix)


# ---- the knowledge base


def check_store(kb: KnowledgeBase) -> Check:
    """SQLite finds its own file sound, references included."""
    problems = kb.store.find_faults()
    if problems:
        return Check(name="store", status="fail", detail="; ".join(problems), fix="restore a copy made with kb backup")
    documents = kb.corpus.count_documents()
    return Check(name="store", status="ok", detail=f"{documents} documents, {kb.corpus.count_chunks()} chunks, sound")


def check_vectors(kb: KnowledgeBase) -> Check:
    """Every chunk has a vector of the encoder that the store names."""
    missing = kb.corpus.count_missing_vectors(kb.stored_encoder()[1])
    if missing:
        detail = f"{missing} chunks have no vector and cannot be found by meaning"
        return Check(name="vectors", status="fail", detail=detail, fix="kb doctor --repair, or kb ingest again")
    return Check(name="vectors", status="ok", detail="every chunk has one")


def check_same_encoder(kb: KnowledgeBase) -> Check:
    """The configured encoder still makes the stored vectors: same weights, and the same numbers on a sample."""
    import numpy as np

    from kb.ingest.embed import stored_texts
    from kb.ingest.prepare import Settings

    model_id, digest, _ = kb.stored_encoder()
    encoder = kb.encoder()
    if not digest:
        return Check(name="same_encoder", status="ok", detail="nothing embedded yet")
    if digest != encoder.digest:
        detail = f"the vectors were made by {model_id}, configured is {encoder.model_id}"
        return Check(
            name="same_encoder", status="fail", detail=detail, fix="kb ingest again, or set embedding.model back"
        )
    sample = stored_texts(kb, Settings.of(kb.config, encoder), SAMPLED_CHUNKS)
    if not sample:
        return Check(name="same_encoder", status="ok", detail=f"{model_id}")
    fresh = encoder.encode_documents([text for text, _ in sample])
    stored = np.stack([np.frombuffer(vector, dtype="<f4") for _, vector in sample])
    lowest = float((fresh * stored).sum(axis=1).min())
    if lowest < SAME_VECTOR_COSINE:
        detail = f"re-embedding {len(sample)} chunks gives other vectors (cosine {lowest:.3f})"
        return Check(name="same_encoder", status="fail", detail=detail, fix="kb ingest --force the sources again")
    return Check(name="same_encoder", status="ok", detail=f"{len(sample)} chunks re-embedded, cosine ≥ {lowest:.4f}")


def check_indexes(kb: KnowledgeBase) -> Check:
    """Both indexes are there, match the store and can be opened; nothing is rebuilt here."""
    faults = [fault for keeper in kb.index_keepers() if (fault := keeper.fault())]
    if faults:
        detail = f"{', '.join(faults)}; the next search rebuilds what it needs"
        return Check(name="indexes", status="warn", detail=detail, fix="kb reindex")
    return Check(name="indexes", status="ok", detail="both match the store")


def check_writer(kb: KnowledgeBase) -> Check:
    """Who is writing right now."""
    owner = lock_owner(kb.home)
    return Check(name="writer", status="ok", detail=f"{owner} is writing" if owner else "nobody is writing")


INSTALLATION_CHECKS = (check_python, check_disk, check_readers, check_encoder, check_model)
STORE_CHECKS = (check_store, check_vectors, check_same_encoder, check_indexes, check_writer)
