"""The bytes of a ZIP container (Office, EPUB) → an archive that is safe to unpack, or ParseFailed."""

from __future__ import annotations

import io
import zipfile

from kb.errors import ParseFailed

# Office files unpack to 3 to 20 times their size, a decompression bomb to thousands of times.
_MOST_UNPACKED_BYTES = 500_000_000
_MOST_RATIO = 200
_RATIO_MATTERS_FROM_BYTES = 50_000_000


def open_container(raw: bytes, path: str) -> zipfile.ZipFile:
    """The archive in some bytes, its declared sizes checked before anything is unpacked.

    raises  ParseFailed for bytes that are not an archive, are encrypted, or would unpack to more than 500 MB (or 200 times
            their size)
    """
    if raw.startswith(b"\xd0\xcf\x11\xe0"):
        raise ParseFailed(
            f"cannot read {path}: it is encrypted, or in the legacy Office format",
            fix="save a copy without a password in the current format (.docx, .xlsx, .pptx)",
            path=path,
        )
    try:
        archive = zipfile.ZipFile(io.BytesIO(raw))
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError) as error:
        raise ParseFailed(
            f"cannot read {path}: it is damaged, or not the format its name says ({error})",
            fix="open and save it again in its program",
            path=path,
        ) from error
    unpacked = sum(entry.file_size for entry in archive.infolist())
    is_bomb = unpacked > _RATIO_MATTERS_FROM_BYTES and unpacked > _MOST_RATIO * len(raw)
    if unpacked > _MOST_UNPACKED_BYTES or is_bomb:
        raise ParseFailed(
            f"cannot read {path}: it would unpack to {unpacked / 1e6:,.0f} MB, {unpacked // max(len(raw), 1)} times its size",
            fix="split the document, or ignore the file in .kbignore",
            path=path,
            unpacked_bytes=unpacked,
        )
    return archive
