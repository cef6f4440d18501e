"""Checks of this installation and this knowledge base, each with its fix; and the repairs that need no decision.

A check is one function; it never raises for a fault it was made to find. Only `fail` makes the installation unhealthy.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import sys
from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Literal

from kb.config import Config, cache_folder
from kb.corpora import LOCAL, describe_place
from kb.embed.registry import open_encoder
from kb.errors import KbError, NotIndexed
from kb.extras import DISTRIBUTION, is_installed
from kb.frozen import dataclass
from kb.ingest.embed import embed_missing, stored_texts
from kb.ingest.prepare import Settings
from kb.ingest.readers.grammars import GRAMMARS
from kb.llm.protocol import NoServer, Scorers
from kb.llm.registry import open_model
from kb.providers import AUTO
from kb.runtime import Notify, Runtime, open_runtime
from kb.soundness import DEEP_CHECKS, WHOLE_BYTES, Finding, Health, is_large, mend
from kb.store.lock import lock_owner, writer_lock
from kb.store.schema import FILE_NAME

LOW_DISK_BYTES = 500_000_000
# Stored vectors were made in bfloat16 batches, the check re-embeds in float32: measured cosines stay above .9998.
SAME_VECTOR_COSINE = 0.999
SAMPLED_CHUNKS = 3
SHOWN_FAULTS = 5
MOST_ROWS = 20_000
RESTORE = "restore a copy made with kb backup"
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


def diagnose(home: Path, config: Config, *, deep: bool = False) -> Diagnosis:
    """Run every check; the ones that need a store are left out when there is none.

    deep  also read everything that is stored, and compare it with its checksums and with each other
    """
    findings = {name: _guard(partial(check, home, config)) for name, check in INSTALLATION_CHECKS.items()}
    wanted = {**STORE_CHECKS, **(DEEP_CHECKS if deep else {})}
    try:
        with open_runtime(home, config) as kb:
            findings |= {name: _guard(partial(check, kb)) for name, check in wanted.items()}
    except NotIndexed as error:
        is_lost = (home / FILE_NAME).exists()
        findings["store"] = ("fail", error.problem, f"{RESTORE}, or ingest again") if is_lost else _warn(error)
    except KbError as error:
        findings["store"] = "fail", error.problem, error.fix
    checks = tuple(Check(name=name, status=s, detail=detail, fix=fix) for name, (s, detail, fix) in findings.items())
    return Diagnosis(ok=all(check.status != "fail" for check in checks), checks=checks)


def _guard(check: Callable[[], Finding]) -> Finding:
    """A check's finding; what it examines may make it fail in any way."""
    try:
        return check()
    except KbError as error:
        return "fail", error.problem, error.fix
    except sqlite3.DatabaseError as error:
        return "fail", str(error), RESTORE
    except Exception as error:
        return (
            "fail",
            f"the check could not be finished: {type(error).__name__}: {error}",
            f"kb doctor --repair, or {RESTORE}",
        )


def _warn(error: KbError) -> Finding:
    return "warn", error.problem, error.fix


def repair_home(home: Path, config: Config, notify: Notify, *, deep: bool = False) -> None:
    """Migrate the store, replace wrong vectors, complete missing ones, drop unused ones, build both indexes anew.

    deep    look for damage by reading everything
    raises  NotIndexed when there is nothing to repair
    """
    if not (home / FILE_NAME).is_file():
        raise NotIndexed(f"no knowledge base in {home}", fix="make one with: kb ingest FOLDER")
    with (
        writer_lock(home, config.ingest.lock_wait_seconds, notify),
        open_runtime(home, config, write=True, notify=notify) as kb,
    ):
        mended = mend(kb, deep=deep)
        for line in mended:
            notify(line)
        if not kb.corpus.count_chunks():
            return
        settings = Settings.of(config, kb.encoder())
        healed = embed_missing(kb, settings).chunks
        if healed:
            kb.corpus.neighbours.heal_neighbours(settings.encoder_digest)
        unused = kb.corpus.remove_unused_embeddings()
        kb.refresh_indexes(force=True)
        notify(f"embedded {healed} chunks, dropped {unused} unused vectors, built both indexes anew")


# ---- the installation


def check_python(home: Path, config: Config) -> Finding:
    """Python and SQLite are new enough."""
    found = f"Python {sys.version.split()[0]}, SQLite {sqlite3.sqlite_version}"
    if sqlite3.sqlite_version_info < (3, 40):
        return "fail", f"{found}: SQLite is too old", "use one of 3.40 or newer"
    return "ok", found, None


def check_disk(home: Path, config: Config) -> Finding:
    """There is room to write."""
    folder = next(p for p in (home, *home.parents) if p.exists())
    free = shutil.disk_usage(folder).free
    if free < LOW_DISK_BYTES:
        return "warn", f"{free / 1e6:.0f} MB free at {folder}", "make room"
    return "ok", f"{free / 1e9:.1f} GB free at {folder}", None


def check_readers(home: Path, config: Config) -> Finding:
    """The libraries that read files can be imported: without one, every file of its formats would seem damaged."""
    grammars = {grammar.module.partition(":")[0]: "source code" for grammar in GRAMMARS.values()}
    libraries = READER_LIBRARIES | {library: what for library, what in grammars.items() if is_installed(library)}
    faults = {library: fault for library in libraries if (fault := _import_fault(library))}
    if faults:
        detail = "; ".join(f"{libraries[library]} cannot be read: {fault}" for library, fault in faults.items())
        return "fail", detail, f"pip install --force-reinstall {DISTRIBUTION}"
    return "ok", "a library for every format", None


def _import_fault(library: str) -> str | None:
    if not is_installed(library):
        return f"no {library}"
    try:
        import_module(library)
    except Exception as error:  # a library that is damaged, or lacks one of its own, raises what it likes
        return f"{library} cannot be imported ({error})"
    return None


def check_encoder(home: Path, config: Config) -> Finding:
    """The configured encoder is installed, and its fast query path is ready."""
    try:
        encoder = open_encoder(config.embedding, cache_folder(os.environ), lambda message: None, config.llm)
    except KbError as error:
        return "fail", error.problem, error.fix
    return "ok", encoder.describe(), None


def check_model(home: Path, config: Config) -> Finding:
    """Which language model would answer; a missing server is a fault only where it is configured by name."""
    is_forced = config.llm.provider != "auto"
    try:
        model = open_model(config.llm.provider if is_forced else AUTO[0], config.llm, Scorers(), lambda message: None)
        return "ok", model.describe(), None
    except NoServer as error:
        if not is_forced:
            return "ok", f"{error.problem} (llm.endpoint); {AUTO[-1]} answers", None
        return "fail", error.problem, error.fix
    except KbError as error:
        return "fail" if is_forced else "warn", error.problem, error.fix


# ---- the knowledge base


def check_store(kb: Runtime) -> Finding:
    """SQLite finds its own file sound, references included; of a large one, only its small tables."""
    in_part = is_large(kb)
    if not in_part and (problems := kb.store.find_faults()):
        return "fail", "; ".join(problems), RESTORE
    soundness = kb.store.soundness
    if unreadable := soundness.look_over(MOST_ROWS) if in_part else soundness.find_unreadable():
        return "fail", "; ".join(unreadable[:SHOWN_FAULTS]), f"kb doctor --deep --repair; else {RESTORE}"
    held = f"{kb.corpus.count_documents():,} documents, {kb.corpus.count_chunks():,} chunks"
    if in_part:
        return "ok", f"{held}; a part was looked at, kb doctor --deep reads all of it", None
    return "ok", f"{held}, sound", None


def check_corpus(kb: Runtime) -> Finding:
    """Where documents are kept, and whether the configured encoder is the one whose vectors are there."""
    where = describe_place(kb.config, kb.home)
    model_id, digest, _ = kb.stored_encoder()
    encoder = kb.configured_encoder()
    if kb.config.corpus.engine != LOCAL and digest and not kb.is_stored_encoder(encoder):
        detail = f"{where} has vectors of {model_id}, configured is {encoder.model_id}"
        return "fail", detail, f"set embedding.model to {model_id}, or use another corpus.collection"
    return "ok", f"{kb.config.corpus.engine}: {where}", None


def check_vectors(kb: Runtime) -> Finding:
    """Every chunk has a vector of the encoder that the store names, and of its length."""
    if wrong := kb.store.soundness.count_wrong_vectors(MOST_ROWS if is_large(kb) else None):
        return "fail", f"{wrong} vectors have another length than the encoder's", "kb doctor --repair"
    if missing := kb.corpus.count_missing_vectors(kb.stored_encoder()[1]):
        detail = f"{missing} chunks have no vector and cannot be found by meaning"
        return "fail", detail, "kb doctor --repair, or kb ingest again"
    return "ok", "every chunk has one", None


def check_same_encoder(kb: Runtime) -> Finding:
    """The configured encoder still makes the stored vectors: same weights, and the same numbers on a sample."""
    import numpy as np

    model_id, digest, _ = kb.stored_encoder()
    if not digest:
        return "ok", "nothing embedded yet", None
    encoder, name = kb.encoder(), kb.config.embedding.model
    if not kb.has_configured_encoder():
        detail = f"the vectors are those of {model_id} and in use; configured is {name}"
        return "warn", detail, f"kb init --encoder {name}, or set embedding.model back"
    sample = stored_texts(kb, Settings.of(kb.config, encoder), SAMPLED_CHUNKS)
    if not sample:
        return "ok", model_id, None
    fresh = encoder.encode_documents([text for text, _ in sample])
    stored = np.stack([np.frombuffer(vector, dtype="<f4") for _, vector in sample])
    lowest = float((fresh * stored).sum(axis=1).min())
    if lowest < SAME_VECTOR_COSINE:
        detail = f"re-embedding {len(sample)} chunks gives other vectors (cosine {lowest:.3f})"
        return "fail", detail, "kb ingest --force the sources again"
    return "ok", f"{len(sample)} chunks re-embedded, cosine ≥ {lowest:.4f}", None


def check_indexes(kb: Runtime) -> Finding:
    """Both indexes are there, match the store and can be opened; nothing is rebuilt here."""
    faults = [fault for keeper in kb.index_keepers() if (fault := keeper.fault(most_bytes=WHOLE_BYTES))]
    if damaged := [fault for fault in faults if fault.endswith("damaged")]:
        return "fail", f"{', '.join(damaged)}: its files are not as they were written", "kb reindex"
    if faults:
        return "warn", f"{', '.join(faults)}; the next search brings up to date what it needs", "kb reindex"
    return "ok", "both match the store", None


def check_writer(kb: Runtime) -> Finding:
    """Who is writing right now."""
    owner = lock_owner(kb.home)
    return "ok", f"{owner} is writing" if owner else "nobody is writing", None


INSTALLATION_CHECKS: Mapping[str, Callable[[Path, Config], Finding]] = {
    "python": check_python,
    "disk": check_disk,
    "readers": check_readers,
    "encoder": check_encoder,
    "model": check_model,
}
STORE_CHECKS: Mapping[str, Callable[[Runtime], Finding]] = {
    "store": check_store,
    "corpus": check_corpus,
    "vectors": check_vectors,
    "same_encoder": check_same_encoder,
    "indexes": check_indexes,
    "writer": check_writer,
}
