"""A root → the files in it that can be read, and the reason for each one that cannot.

Opens ignore files and files without a known extension, and no others. Knows no store: `kb/ingest/plan.py` decides what
is new or changed.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from kb.config import IngestConfig
from kb.ingest.decode import is_binary
from kb.ingest.generated import generated_by_name
from kb.ingest.ignore import IgnoreRules, rules_above
from kb.ingest.read_source import limit_key
from kb.ingest.readers import READERS, reader_for
from kb.ingest.secrets import secret_by_name

NEVER_ENTERED = frozenset({".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv", ".kb"})
# What tells the type of a file whose name does not.
HEAD_BYTES = 8_192
_REFUSED = "cannot be read"
BAD_NAME = "its name is not valid UTF-8, or has control characters"

_UNREADABLE_TYPES = {
    "a legacy Office file; save it as .docx, .xlsx or .pptx": "doc dot xls xlt ppt pps pot",
    "an OpenDocument file; save it as .docx, .xlsx or .pptx": "odt ods odp odg",
    "an image; text in images is not read": "png jpg jpeg gif bmp tif tiff webp ico heic heif avif psd svg svgz xcf raw",
    "audio or video; speech is not read": "mp3 m4a wav flac ogg oga opus aac mp4 m4v mkv mov avi webm wmv mpg mpeg",
    "an archive; unpack it first": "zip tar gz tgz bz2 xz 7z rar zst lz4 jar war whl deb rpm dmg iso cab apk",
    "a program or compiled code": "exe dll so dylib o a obj class pyc pyo wasm bin lib pdb",
    "a font": "ttf otf woff woff2 eot",
    "a database or a binary data file": "db sqlite sqlite3 mdb parquet feather arrow npy npz pkl pickle h5 hdf5 faiss pt onnx",
    "an e-book that is not EPUB; convert it to .epub": "mobi azw azw3 djvu",
    "an Outlook message; save it as text": "msg pst",
}
_REASONS = {extension: reason for reason, extensions in _UNREADABLE_TYPES.items() for extension in extensions.split()}


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file that will be read.

    path      relative to the root, with "/"; the file's name where the root is the file
    mtime_ns  modification time, nanoseconds since 1970
    type      the reader's name, a key of READERS
    identity  inode and time of its last change of any kind: an edit that keeps size and mtime changes this
    """

    absolute: Path
    path: str
    size_bytes: int
    mtime_ns: int
    type: str
    identity: str = ""


@dataclass(frozen=True, slots=True)
class Skipped:
    """One file or folder that will not be read, and why; the path can always be printed.

    may_be_readable_later  the system refused it: its stored document must be kept
    """

    path: str
    reason: str
    may_be_readable_later: bool = False


@dataclass(frozen=True, slots=True)
class Scan:
    """What a root holds; files and skipped in the order of their paths' bytes.

    unreadable  folders that could not be listed, relative to the root, "." for the root itself: stored documents below
                them may still have their files
    ignored     files and folders left out by ignore rules, or because they are hidden; a folder counts once
    """

    files: tuple[SourceFile, ...]
    skipped: tuple[Skipped, ...]
    unreadable: tuple[str, ...]
    ignored: int


@dataclass(frozen=True, slots=True)
class _Folder:
    """A folder to enter, or a link to follow: its path, its real path, and the ignore rules that apply there."""

    path: str
    real: str
    rules: IgnoreRules


@dataclass(slots=True)
class _Walk:
    """The state of one scan; `known` holds the real paths of the folders entered and the files listed."""

    root: str
    config: IngestConfig
    home: str | None
    include_secrets: bool
    include_generated: bool
    files: list[SourceFile] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)
    ignored: int = 0
    links: list[_Folder] = field(default_factory=list)
    known: set[str] = field(default_factory=set)

    def relative(self, path: str) -> str:
        """A path below the root as it is listed; "." for the root."""
        return path[len(self.root) :].strip("/") or "."

    def skip(self, path: str, reason: str) -> None:
        """Record why something is not read."""
        self.skipped.append(Skipped(displayable(self.relative(path)), reason, reason.startswith(_REFUSED)))


def scan(
    start: Path,
    *,
    config: IngestConfig,
    root: Path | None = None,
    home: Path | None = None,
    include_secrets: bool = False,
    include_generated: bool = False,
) -> Scan:
    """The files to read in a folder, or the one file.

    start    always entered, whatever the ignore rules say
    root     what paths are relative to, and what links may not leave: `start` or a folder above it; by default `start`,
             or the folder of the file that `start` is
    home     the knowledge base in use, which is not read
    include_secrets  list files whose names are those of keys and passwords, too
    include_generated  list files whose names are those of lock files and minified code, too
    A symbolic link is followed when it leads to a place inside the root that is not reached without it; no file is
    listed twice. Nothing is raised for what cannot be read: it is in `skipped`, and in `unreadable` if it is a folder.
    """
    top = os.path.realpath(start)
    is_folder = os.path.isdir(top)
    base = os.path.realpath(root) if root else top if is_folder else os.path.dirname(top)
    walk = _Walk(base, config, os.path.realpath(home) if home else None, include_secrets, include_generated)
    if is_folder:
        _walk_folders(walk, _Folder(top, top, rules_above(top, base)))
        while walk.links:
            # Links come last, so that a file is listed by its own path and not by an alias.
            waiting, walk.links = sorted(walk.links, key=lambda link: os.fsencode(link.path)), []
            for link in waiting:
                _follow(walk, link)
    elif not is_plain(os.path.basename(top)):
        walk.skip(top, BAD_NAME)
    else:
        try:
            _take(walk, top, top, os.stat(top))
        except OSError as error:
            walk.unreadable.append(".")
            walk.skip(top, f"{_REFUSED}: {error.strerror}")
    return Scan(
        tuple(sorted(walk.files, key=lambda file: file.path.encode())),
        tuple(sorted(walk.skipped, key=lambda skipped: skipped.path.encode())),
        tuple(sorted(walk.unreadable)),
        walk.ignored,
    )


def displayable(name: str) -> str:
    """A file name as it can be printed and stored: bytes that are not UTF-8, and controls, as escapes."""
    shown = os.fsencode(name).decode("utf-8", errors="backslashreplace")
    return shown if shown.isprintable() else "".join(c if c.isprintable() else ascii(c)[1:-1] for c in shown)


def _walk_folders(walk: _Walk, first: _Folder) -> None:
    waiting = [first]  # a stack of our own: folders may be nested deeper than Python recurses
    while waiting:
        folder = waiting.pop()
        walk.known.add(folder.real)
        try:
            with os.scandir(folder.path) as listing:
                entries = list(listing)
        except OSError as error:
            walk.unreadable.append(displayable(walk.relative(folder.path)))
            walk.skip(folder.path, f"cannot be listed: {error.strerror}")
            continue
        names = {entry.name for entry in entries}
        if folder is not first and ("kb.sqlite" in names or folder.real == walk.home):
            walk.skip(folder.path, "the home of a knowledge base")
            continue
        rules = folder.rules.entering(folder.path, names)
        for entry in entries:
            _visit(walk, entry, _Folder(entry.path, f"{folder.real}/{entry.name}", rules), waiting)


def _visit(walk: _Walk, entry: os.DirEntry[str], here: _Folder, waiting: list[_Folder]) -> None:
    name = entry.name
    try:
        is_link = entry.is_symlink()
        is_folder = entry.is_dir(follow_symlinks=not is_link)
        if name in NEVER_ENTERED and (is_folder or is_link):
            return
        if (name[0] == "." and not walk.config.hidden) or here.rules.is_ignored(entry.path, is_folder=is_folder):
            walk.ignored += 1
        elif not is_plain(name):
            walk.skip(entry.path, BAD_NAME)
        elif is_link:
            walk.links.append(here)
        elif is_folder:
            waiting.append(here)
        else:
            _take(walk, entry.path, here.real, entry.stat(follow_symlinks=False))
    except OSError as error:
        walk.skip(entry.path, f"{_REFUSED}: {error.strerror}")


def _follow(walk: _Walk, link: _Folder) -> None:
    target = os.path.realpath(link.path)
    place = displayable(os.path.relpath(target, walk.root))
    if not os.path.exists(target):
        walk.skip(link.path, "a symbolic link that leads nowhere")
    elif target != walk.root and not target.startswith(walk.root.rstrip("/") + "/"):
        walk.skip(link.path, "a symbolic link that leads out of the folder")
    elif target in walk.known:
        walk.skip(link.path, f"a symbolic link to {place}, which is read there")
    elif not NEVER_ENTERED.isdisjoint(place.split("/")):
        walk.skip(link.path, f"a symbolic link to {place}, which is never read")
    elif os.path.isdir(target):
        _walk_folders(walk, _Folder(link.path, target, link.rules))
    else:
        try:
            _take(walk, link.path, target, os.stat(target))
        except OSError as error:
            walk.skip(link.path, f"{_REFUSED}: {error.strerror}")


def _take(walk: _Walk, path: str, real: str, status: os.stat_result) -> None:
    """List one file, or record why it is skipped."""
    if real in walk.known:
        return None
    if not stat.S_ISREG(status.st_mode):
        return walk.skip(path, "not a regular file")
    relative = walk.relative(path)
    verdict = classify(
        relative,
        status.st_size,
        lambda: _head(path),
        walk.config,
        include_secrets=walk.include_secrets,
        include_generated=walk.include_generated,
    )
    if verdict not in READERS:
        return walk.skip(path, verdict)
    walk.known.add(real)
    identity = f"{status.st_ino} {status.st_ctime_ns}"
    walk.files.append(SourceFile(Path(path), relative, status.st_size, status.st_mtime_ns, verdict, identity))
    return None


def classify(
    path: str,
    size_bytes: int,
    read_head: Callable[[], bytes],
    config: IngestConfig,
    *,
    include_secrets: bool,
    include_generated: bool,
) -> str:
    """The reader for a file, a key of READERS; or the reason why it is not read.

    path       relative; only its last part is looked at
    read_head  its first bytes, asked for where the name does not tell; may raise OSError
    """
    name = os.path.basename(path)
    if not include_secrets and (reason := secret_by_name(name)):
        return reason
    if not include_generated and (reason := generated_by_name(name)):
        return reason
    reader = reader_for(path)
    if reader is None:
        extension = os.path.splitext(path)[1].lower()
        if extension[1:] in _REASONS:
            return f"{extension} is {_REASONS[extension[1:]]}"
        head = read_head()
        if is_binary(head):
            return f"unknown file type {extension or '<none>'}, and the content is binary"
        reader = READERS["code" if head.startswith(b"#!") else "text"]
    key = limit_key(reader.name)
    limit = getattr(config, key)
    if size_bytes > limit:
        return f"larger than the limit ({_compared(size_bytes, limit)}; raise ingest.{key})"
    return reader.name


def _head(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read(HEAD_BYTES)


def is_plain(name: str) -> bool:
    """Whether a name can be stored and printed."""
    try:
        return name.isprintable() or not any(c < " " or c == "\x7f" for c in name.encode().decode())
    except UnicodeEncodeError:
        return False


def _compared(size_bytes: int, limit_bytes: int) -> str:
    """ "10.5 MB > 10 MB": with as many digits as it takes to tell the two apart."""
    for digits in range(1, 7):
        size, limit = (f"{count / 1e6:,.{digits}f}".rstrip("0").rstrip(".") for count in (size_bytes, limit_bytes))
        if size != limit:
            break
    return f"{size} MB > {limit} MB"
