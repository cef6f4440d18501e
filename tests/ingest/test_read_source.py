"""Between the scan of a folder and the reading of a file, anything may happen to the file."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kb.config import IngestConfig
from kb.errors import ParseFailed
from kb.ingest.read_source import read_source

CONFIG = IngestConfig(max_text_bytes=1000)


def read(path: Path, root: Path) -> bytes:
    return read_source(path, root, "markdown", CONFIG)


def test_a_file_and_a_link_inside_the_root_are_read(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"text")
    (tmp_path / "b.md").symlink_to("a.md")
    assert read(tmp_path / "a.md", tmp_path) == read(tmp_path / "b.md", tmp_path) == b"text"


def test_a_pipe_does_not_block(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.md")
    with pytest.raises(ParseFailed, match="no longer a plain file"):
        read(tmp_path / "a.md", tmp_path)


@pytest.mark.parametrize("is_folder", [False, True])
def test_a_link_out_of_the_root_is_refused(tmp_path: Path, is_folder: bool) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    root.mkdir()
    outside.mkdir()
    (outside / "a.md").write_bytes(b"private")
    (root / ("sub" if is_folder else "a.md")).symlink_to(outside if is_folder else outside / "a.md")
    with pytest.raises(ParseFailed, match="leads out of the folder"):
        read(root / "sub" / "a.md" if is_folder else root / "a.md", root)


def test_a_folder_in_its_place_and_a_file_that_has_grown(tmp_path: Path) -> None:
    (tmp_path / "a.md").mkdir()
    with pytest.raises((ParseFailed, OSError)):
        read(tmp_path / "a.md", tmp_path)
    (tmp_path / "b.md").write_bytes(b"x" * 1001)
    with pytest.raises(ParseFailed, match="grown past the limit"):
        read(tmp_path / "b.md", tmp_path)


def test_a_device_without_an_end_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ParseFailed, match="no longer a plain file"):
        read(Path("/dev/zero"), Path("/dev"))
