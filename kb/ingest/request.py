"""What to ingest, and how. Imports nothing: the library names it before an ingest is wanted."""

from __future__ import annotations

from pathlib import Path

from kb.frozen import dataclass


@dataclass(frozen=True, slots=True)
class IngestRequest:
    """What to ingest, and how.

    urls     folders and files elsewhere, as s3://bucket/folder
    listed   files named one by one, paths and URLs; nothing is forgotten for not being among them
    prune    forget documents whose files are gone; None takes the configured default
    force    read and chunk every file again, even when it looks unchanged
    retry    read files again that stopped their reader before; so does `force`
    dry_run  say what would be done and change nothing
    words_only  leave the vectors to the next ingest
    embed_batch  chunks whose vectors are made before `should_stop` is asked again
    include_secrets  read files that look like keys or hold tokens, too
    include_generated  read minified code, lock files, encoded bytes and dumps, too
    """

    paths: tuple[Path, ...]
    source: str | None = None
    prune: bool | None = None
    force: bool = False
    dry_run: bool = False
    include_secrets: bool = False
    include_generated: bool = False
    retry: bool = False
    words_only: bool = False
    urls: tuple[str, ...] = ()
    listed: tuple[str, ...] = ()
    embed_batch: int = 128
