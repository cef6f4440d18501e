"""Folders behind URLs, as s3://bucket/folder → the files in them, and their bytes. Wraps fsspec; nothing else imports it.

Credentials and addresses of servers are those of the library of each scheme, from its own files and variables.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from kb.config import IngestConfig
from kb.errors import ExtraMissing, InvalidInput, IoError, NotFound, ParseFailed
from kb.extras import install_command, require
from kb.ingest.discover import (
    BAD_NAME,
    HEAD_BYTES,
    NEVER_ENTERED,
    Scan,
    Skipped,
    SourceFile,
    classify,
    displayable,
    is_plain,
)
from kb.ingest.read_source import limit_key
from kb.ingest.readers import READERS
from kb.ingest.request import IngestRequest
from kb.ingest.sources import Target

R = TypeVar("R")
# Schemes that are no storage: a page is not a folder.
_NO_STORAGE = frozenset({"http:/", "https:/"})
# Where the file systems tell when a file was changed, and its version.
_TIMES = ("LastModified", "mtime", "last_modified", "updated", "modified", "created")
_VERSIONS = ("ETag", "etag", "md5Hash", "content_md5", "ino")
# Whose errors are those of a storage; others are bugs of kb.
_LIBRARIES = frozenset(
    "fsspec s3fs botocore aiobotocore aiohttp gcsfs google adlfs azure ocifs paramiko smbprotocol pyarrow requests".split()
)


def is_folder(url: str) -> bool:
    """Whether an URL is that of a folder. raises NotFound, InvalidInput, IoError, ExtraMissing"""
    files, path = _open(url)
    return bool(_ask(url, lambda: files.info(path))["type"] == "directory")


def scan_url(target: Target, config: IngestConfig, request: IngestRequest) -> Scan:
    """The files to read below the start of a target, as `kb.ingest.discover.scan` lists those of a folder.

    Ignore files are not looked for, and links not followed.
    raises  NotFound, InvalidInput, IoError, ExtraMissing
    """
    url = f"{target.scheme}{target.start}"
    files, path = _open(url)
    root = str(_open(target.place)[1]).rstrip("/")
    files.invalidate_cache()
    found = _ask(url, lambda: files.find(path, detail=True))
    listed: list[SourceFile] = []
    skipped: list[Skipped] = []
    ignored = 0
    for name, info in sorted(found.items()):
        relative = name[len(root) :].strip("/")
        if not relative or name.endswith("/") or info["type"] != "file":
            continue  # what stands for a folder
        parts = relative.split("/")
        if not NEVER_ENTERED.isdisjoint(parts) or (not config.hidden and any(part[:1] == "." for part in parts)):
            ignored += 1
            continue
        one = _source_file(target, relative, info, config, request, partial(_head, files, name))
        if isinstance(one, Skipped):
            skipped.append(one)
        else:
            listed.append(one)
    return Scan(tuple(listed), tuple(skipped), (), ignored)


def stat_url(target: Target, path: Path, config: IngestConfig, request: IngestRequest) -> SourceFile | Skipped:
    """One file that was named, as a scan would have it; skipped where it cannot be read now."""
    relative = path.relative_to(target.root).as_posix()
    url = f"{target.scheme}{path}"
    try:
        files, name = _open(url)
        info = _ask(url, lambda: files.info(name))
    except (NotFound, IoError) as error:
        return Skipped(displayable(relative), f"cannot be read: {error.problem}", may_be_readable_later=True)
    return _source_file(target, relative, info, config, request, lambda: _head(files, name))


def read_url(url: str, type_name: str, config: IngestConfig) -> bytes:
    """The bytes of a file.

    type_name  a key of READERS: how large it may be
    raises     ParseFailed where it cannot be read; InvalidInput, ExtraMissing
    """
    key = limit_key(type_name)
    limit = getattr(config, key)
    files, path = _open(url)
    try:
        with _ask(url, lambda: files.open(path, "rb")) as file:
            raw: bytes = _ask(url, lambda: file.read(limit + 1))
    except (NotFound, IoError) as error:
        raise ParseFailed(f"cannot be read: {error.problem}", fix=error.fix) from error
    if len(raw) > limit:
        raise ParseFailed("has grown past the limit while kb was reading", fix=f"raise ingest.{key}")
    return raw


def _source_file(
    target: Target,
    relative: str,
    info: Mapping[str, Any],
    config: IngestConfig,
    request: IngestRequest,
    read_head: Callable[[], bytes],
) -> SourceFile | Skipped:
    if not is_plain(relative):
        return Skipped(displayable(relative), BAD_NAME)
    size = int(info.get("size") or 0)
    try:
        verdict = classify(
            relative,
            size,
            read_head,
            config,
            include_secrets=request.include_secrets,
            include_generated=request.include_generated,
        )
    except (NotFound, IoError) as error:
        return Skipped(relative, f"cannot be read: {error.problem}", may_be_readable_later=True)
    if verdict not in READERS:
        return Skipped(relative, verdict)
    version = next((str(info[key]) for key in _VERSIONS if info.get(key)), "")
    return SourceFile(target.root / relative, relative, size, _changed_ns(info), verdict, version)


def _changed_ns(info: Mapping[str, Any]) -> int:
    """When a file was changed, nanoseconds since 1970; 0 where its storage does not say."""
    for key in _TIMES:
        when = info.get(key)
        if isinstance(when, datetime):
            return int(when.timestamp()) * 10**9
        if isinstance(when, int | float):
            return int(when * 1e6) * 1_000
    return 0


def _head(files: Any, path: str) -> bytes:
    return bytes(_ask(path, lambda: files.cat_file(path, start=0, end=HEAD_BYTES)))


def _open(url: str) -> tuple[Any, str]:
    """(the file system of an URL, the path in it)."""
    scheme = url.partition("://")[0]
    if f"{scheme}:/" in _NO_STORAGE or "::" in url:
        raise InvalidInput(f"{url} is no folder of a storage", fix="download it, and ingest the files")
    require(f"reading {scheme}:// needs", "fsspec", extra="s3")
    import fsspec

    try:
        files, path = _ask(url, lambda: fsspec.url_to_fs(url))
    except ImportError as error:
        missing = str(error).splitlines()[0]
        raise ExtraMissing(
            f"{scheme}:// cannot be read: {missing}", fix=f"install what it names; s3:// needs {install_command('s3')}"
        ) from error
    except ValueError as error:
        raise InvalidInput(f"{scheme}:// is no storage that fsspec knows ({error})", fix="check the URL") from error
    return files, path


def _ask(url: str, call: Callable[[], R]) -> R:
    try:
        return call()
    except (ImportError, ValueError):
        raise
    except FileNotFoundError as error:
        raise NotFound(f"nothing is at {url}", fix="check the URL, and the rights of this account") from error
    except Exception as error:
        library = type(error).__module__.partition(".")[0]
        if not isinstance(error, OSError) and library not in _LIBRARIES:
            raise
        said = " ".join(str(error).split())[:200] or type(error).__name__
        raise IoError(
            f"{url} cannot be read: {said}", fix="check the credentials and the address of its server"
        ) from error
