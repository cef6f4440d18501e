"""Fixtures that more than one folder of tests needs."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
from filelock import FileLock
from hypothesis import settings

from kb.config import EmbeddingConfig
from kb.embed.model_files import ENGLISH_MODEL
from kb.embed.registry import open_encoder
from kb.reader.registry import open_reader

TESTS = Path(__file__).parent
# Whole commands, models that are trained or traced, and what waits for a server: `make quick` leaves them out.
SLOW = (
    "journey",
    "docs",
    "embed",
    "tags",
    "eval/test_resolve.py",
    "eval/test_two_step.py",
    "eval/test_report_browser.py",
    "graph/test_relations.py",
    "graph/test_slices.py",
    "ingest/test_guarded_reading.py",
    "ingest/test_readers.py",
    "llm/test_ollama_traps.py",
    "llm/test_ollama_streams.py",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of the slow folders and files; start the longest test first, so that no core waits for it at the end."""
    items.sort(key=lambda item: item.path.name != "test_quality_gate.py")
    for item in items:
        if item.path.is_relative_to(TESTS) and item.path.relative_to(TESTS).as_posix().startswith(SLOW):
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def encoder_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache folder with the embedded encoders exported, made once per test run and shared by all xdist workers."""
    root = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        root = root.parent
    cache = root / "encoder_cache"
    with FileLock(root / "encoder_cache.lock"):
        if not (cache / "encoders").is_dir():
            for model in (EmbeddingConfig().model, ENGLISH_MODEL):
                config = replace(EmbeddingConfig(), model=model)
                open_encoder(config, cache, lambda line: None).encode_query("prepare")
            open_reader("kb-reader", cache).score("prepare", ["prepare"])
    return cache


# A machine that is busy is no fault of what is tested: no example has a time limit.
settings.register_profile("kb", deadline=None)
settings.load_profile("kb")
