"""A folder to run the manual's commands in: fixtures/ beside it, a home with the fixture corpus, nothing of the user's."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.docs.blocks import ROOT
from tests.docs.shell import RunKb
from tests.journey.conftest import Call, corpus_master, default_readers, kb, own_environment

__all__ = ["corpus_master", "default_readers", "kb", "own_environment"]


@pytest.fixture
def workspace(tmp_path: Path, corpus_master: Path, own_environment: None, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder of the manual's commands; the default home holds fixtures/corpus."""
    folder = tmp_path / "checkout"
    folder.mkdir()
    (folder / "fixtures").symlink_to(ROOT / "fixtures")
    home = tmp_path / "xdg_data_home" / "kb"
    home.parent.mkdir()
    shutil.copytree(corpus_master, home)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def run_kb(kb: Call) -> RunKb:
    """kb as the shell blocks call it."""

    def call(words: list[str], stdin: str | None) -> tuple[int, str, str]:
        result = kb(*words, stdin="" if stdin is None else stdin)
        return result.code, result.out, result.err

    return call
