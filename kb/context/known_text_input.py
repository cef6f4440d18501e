"""Files, standard input and fingerprints that a caller names → the known text: what the prompt holds already.

Each file is one block; standard input is a running text, cut into spans. Input that is no text is left out and said, input
that is longer than any model's context is read from its end: what was said last is what an answer would repeat.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import BinaryIO

from kb.errors import InvalidInput, IoError, NotFound
from kb.fingerprint import Shape
from kb.ingest.decode import decode, is_binary
from kb.packing.known_text import (
    MOST_KNOWN_CHARS,
    KnownText,
    known_text_from_blocks,
    known_text_from_text,
    merge_known_texts,
)
from kb.packing.known_text_payload import known_text_from_payload, read_payload

STDIN = "-"
# Of all input together; a known text holds no more characters either.
MOST_KNOWN_BYTES = MOST_KNOWN_CHARS
# Of one fingerprint file: 4 MB of text have 5,300 spans of 2 × 128 numbers, 11 characters each.
MOST_PAYLOAD_BYTES = 20_000_000
# Read at once while standard input is skipped through.
READ_BYTES = 1 << 20

Notify = Callable[[str], None]


def read_known_text(files: Sequence[str], fingerprint: str | None, shape: Shape, notify: Notify) -> KnownText | None:
    """The known text that a caller names; None where there is nothing in it, which is said.

    files        paths, or `-` once for standard input; one that is named twice counts once
    shape        of the fingerprints that candidates have
    fingerprint  a file with a window_fingerprint.v1: it wins over text
    raises       NotFound, InvalidInput, IoError for what cannot be read, and for a fingerprint of another version
    """
    if fingerprint is not None:
        if files:
            notify("note: the fingerprint stands for the seen text; --seen is not read")
        return known_text_from_payload(read_payload(_read_fingerprint(fingerprint)))
    texts, running = read_texts(files, notify)
    known_text = known_text_from_blocks(texts, shape) if texts else None
    if running.strip():
        spans = known_text_from_text(running, shape)
        known_text = spans if known_text is None else merge_known_texts(known_text, spans)
    if files and (known_text is None or known_text.is_empty):
        notify("note: the seen text is empty: nothing is compared with it")
        return None
    return known_text


def read_texts(files: Sequence[str], notify: Notify) -> tuple[list[str], str]:
    """(the files' texts, what standard input says); blank ones left out. Raises as `read_known_text`."""
    if list(files).count(STDIN) > 1:
        raise InvalidInput("standard input is named twice", fix="name '-' once")
    names = list(dict.fromkeys(_identity(name) for name in files))
    left = MOST_KNOWN_BYTES
    texts: list[str] = []
    running = ""
    for name in reversed(names):  # what is named last was said last
        raw, size = _read_stdin(left) if name == STDIN else _read_file(Path(name), left)
        shown = "standard input" if name == STDIN else name
        if size > len(raw):
            notify(f"note: {shown} has {size:,} bytes; only the last {len(raw):,} are read")
        left -= len(raw)
        text = _as_text(raw, shown, notify)
        if name == STDIN:
            running = text
        elif text.strip():
            texts.insert(0, text)
    return texts, running


def _identity(name: str) -> str:
    return name if name == STDIN else str(Path(name).expanduser())


def _as_text(raw: bytes, shown: str, notify: Notify) -> str:
    if is_binary(raw[:8192]):
        notify(f"note: {shown} is not text and was left out")
        return ""
    return decode(raw).text


def _read_file(path: Path, most_bytes: int) -> tuple[bytes, int]:
    """(the end of a file, its size)."""
    _check_file(path)
    try:
        with path.open("rb") as file:
            if not file.seekable():  # a pipe: <(command)
                return _keep_end(file, most_bytes)
            size = file.seek(0, 2)
            file.seek(max(0, size - most_bytes))
            return file.read(most_bytes), size
    except OSError as error:
        raise IoError(f"cannot read {path}: {error.strerror}", fix="name a readable text file") from error


def _check_file(path: Path) -> None:
    if not path.exists():
        raise NotFound(f"no file '{path}'", fix="name a text file, or - for standard input")
    if path.is_dir():
        raise InvalidInput(f"'{path}' is a folder", fix=f"name its files: --seen {path}/FILE …")


def _read_stdin(most_bytes: int) -> tuple[bytes, int]:
    return _keep_end(sys.stdin.buffer, most_bytes)


def _keep_end(stream: BinaryIO, most_bytes: int) -> tuple[bytes, int]:
    kept, size = b"", 0
    while part := stream.read(READ_BYTES):
        size += len(part)
        kept = (kept + part)[-most_bytes:] if most_bytes else b""
    return kept, size


def _read_fingerprint(name: str) -> bytes:
    path = Path(name).expanduser()
    if name == STDIN:
        raw, size = _read_stdin(MOST_PAYLOAD_BYTES)
    else:
        raw, size = _read_file(path, MOST_PAYLOAD_BYTES)
    if size > MOST_PAYLOAD_BYTES:
        raise InvalidInput(
            f"the fingerprint {name} has {size:,} bytes", fix=f"it may have {MOST_PAYLOAD_BYTES:,}: leave out old text"
        )
    return raw
