"""One file that may have changed → what came of reading it: a document to save, the same one as before, or a reason.

Knows no store: it runs where the file is read, which may be another machine.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

from kb.config import IngestConfig
from kb.errors import ParseFailed, ReaderStopped
from kb.ingest.decode import is_machine_made
from kb.ingest.generated import generated_by_content
from kb.ingest.guarded_reading import FileReader
from kb.ingest.plan import Candidate
from kb.ingest.prepare import LoadedFile, Prepared, Settings, hash_bytes, prepare
from kb.ingest.read_source import read_source
from kb.ingest.readers import READERS
from kb.ingest.report import Outcome
from kb.ingest.request import IngestRequest
from kb.ingest.secrets import secret_by_content
from kb.ingest.urls import read_url
from kb.store.documents import Stamp


@dataclass(frozen=True, slots=True)
class Left:
    """A file of which nothing is saved.

    stopped  why reading it again would end in the same way
    """

    candidate: Candidate
    outcome: Outcome
    stopped: str = ""


@dataclass(frozen=True, slots=True)
class Same:
    """A file with the bytes and settings it was stored with: it was touched, or saved again as it was."""

    candidate: Candidate
    now: Stamp


Examined = Left | Same | Prepared


def load(candidate: Candidate, config: IngestConfig, request: IngestRequest) -> LoadedFile | Left:
    """The bytes of a file, if they are wanted."""
    began = time.perf_counter()
    try:
        if scheme := candidate.target.scheme:
            raw = read_url(f"{scheme}{candidate.absolute}", candidate.type, config)
        else:
            raw = read_source(candidate.absolute, candidate.target.root, candidate.type, config)
    except OSError as error:
        return Left(candidate, candidate.failed(f"cannot be read: {error.strerror}", "check its permissions"))
    except ParseFailed as error:
        return Left(candidate, candidate.failed(error.problem, error.fix))
    if reason := _unwanted(candidate, raw, request):
        return Left(candidate, replace(candidate.outcome("skipped"), reason=reason))
    return LoadedFile(candidate, raw, hash_bytes(raw), read_ms=(time.perf_counter() - began) * 1000)


def examine(file: LoadedFile, settings: Settings, reader: FileReader, *, force: bool) -> Examined:
    """Parse and chunk a file, unless it is stored as it is.

    force  do so even then
    """
    if not force and (now := _unchanged(file, settings)):
        return Same(file.candidate, now)
    try:
        return prepare(file, settings, reader)
    except ParseFailed as error:
        problem = error.problem.removeprefix(f"cannot read {file.candidate.path}: ")
        outcome = file.candidate.failed(problem, error.fix)
        return Left(file.candidate, outcome, stopped=problem if isinstance(error, ReaderStopped) else "")


def _unchanged(file: LoadedFile, settings: Settings) -> Stamp | None:
    """What the store should remember of a file that has the bytes and settings it was stored with."""
    before, now = file.candidate.stamp, file.stamp(settings)
    if not before or not now:
        return None
    return now if (before.content_hash, before.signature) == (now.content_hash, now.signature) else None


def _unwanted(candidate: Candidate, raw: bytes, request: IngestRequest) -> str | None:
    """Why a file is left out for what it holds."""
    if not request.include_secrets and (reason := secret_by_content(raw)):
        return reason
    if READERS[candidate.type].kind == "text" and is_machine_made(raw):
        return "the content is binary, though its name says text"
    return None if request.include_generated else generated_by_content(candidate.type, raw)
