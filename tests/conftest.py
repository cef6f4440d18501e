"""Fixtures that more than one folder of tests needs."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict
from functools import partial
from pathlib import Path

import pytest
from filelock import FileLock
from hypothesis import settings

from kb.config import EmbeddingConfig
from kb.embed.bert import INPUTS
from kb.embed.device import has_bf16
from kb.embed.export import EXPORT_FORMAT, speed_file
from kb.embed.fast import Export
from kb.embed.model_files import ENGLISH_MODEL, ModelFiles, find_model
from kb.embed.speed import ONNX, TORCH, write_seconds
from kb.reader.registry import CLAIMS_READERS, open_claims_reader, open_reader
from tests.forked_kb import ForkedPopen, close_server
from tests.kept_models import keep_for_next_run, take_from_last_run

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
    """Mark the tests of the slow folders and files, and put them first.

    While the first process exports the encoders and reads the corpus, which
    the slow tests share, the last is at the quick ones: each begins with a part of its own, in this order.
    """
    for item in items:
        if item.path.is_relative_to(TESTS) and item.path.relative_to(TESTS).as_posix().startswith(SLOW):
            item.add_marker(pytest.mark.slow)
    items.sort(key=_place)


def _place(item: pytest.Item) -> tuple[bool, bool]:
    needs_encoders = "encoder_cache" in getattr(item, "fixturenames", ())
    return "slow" not in item.keywords, not needs_encoders


def pytest_collection_finish() -> None:
    """What the collection made stays to the end: the garbage collector need not look through it again and again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


@pytest.fixture(scope="session", autouse=True)
def forked_commands() -> Iterator[None]:
    """Every `kb` process that a test starts by the name of KB is a fork."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(subprocess, "Popen", ForkedPopen)
        yield
    close_server()


# What a slim installation lacks.
EXTRAS = ("torch", "sentence_transformers", "transformers", "gensim", "sklearn", "scipy")
PREPARE = f"""
import sys
from dataclasses import replace
from pathlib import Path
sys.modules.update(dict.fromkeys({EXTRAS!r}))
from kb.config import EmbeddingConfig
from kb.embed.registry import open_encoder
for model in sys.argv[2:]:
    config = replace(EmbeddingConfig(), model=model)
    open_encoder(config, Path(sys.argv[1]), print).encode_documents(["prepare"])
"""
# What was printed while the encoders were prepared, in their cache folder.
PREPARED = "prepared.txt"


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """A folder that one process of a test run makes and all of them share; never written to."""
    root = factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        root = root.parent
    folder, done = root / name, root / f"{name}.done"
    with FileLock(root / f"{name}.lock"):
        if not done.exists():
            make(folder)
            done.touch()
    return folder


@pytest.fixture(scope="session")
def encoder_cache(tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config) -> Iterator[Path]:
    """A cache folder with the embedded encoders exported, made once per test run and shared by all xdist workers.

    It is made as in a slim installation, and where an export is broken and a killed process left a part of another:
    tests/embed/test_slim.py and test_packed.py look at what came of it. What the models say of a text is kept for the next run
    in pytest's own cache folder, until their code, their weights or a library changes.
    """
    provider = getattr(pytestconfig, "cache", None)  # none with -p no:cacheprovider
    cache = provider.mkdir("kb") if provider else None
    found = made_once(tmp_path_factory, "encoder_cache", partial(_prepare, kept=cache))
    yield found
    if cache:
        with FileLock(cache / "lock"):
            keep_for_next_run(found / "encoders", cache)


def _prepare(cache: Path, kept: Path | None) -> None:
    break_export(find_model(EmbeddingConfig().model, cache), cache / "encoders")
    words = [sys.executable, "-c", PREPARE, str(cache), EmbeddingConfig().model, ENGLISH_MODEL]
    told = subprocess.run(words, capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stderr
    (cache / PREPARED).write_text(told.stdout)
    # Not measured, so that no test depends on what else the machine does.
    seconds = {TORCH: 1.0, ONNX: 2.0} if has_bf16() else {TORCH: 2.0, ONNX: 1.0}
    for name in (EmbeddingConfig().model, ENGLISH_MODEL):
        write_seconds(speed_file(cache, find_model(name, cache).digest), seconds)
    readers = [open_reader(model, cache) for model in ("kb-reader", "kb-reader-english")]
    for reader in (*readers, *(open_claims_reader(model, cache) for model in CLAIMS_READERS)):
        assert reader.needs_preparing()  # an ask says so, as with the encoder
        reader.score("prepare", ["prepare"])
    if kept:
        take_from_last_run(cache / "encoders", kept)


def break_export(files: ModelFiles, exports: Path) -> None:
    """Leave an export that cannot be opened, and one that was not finished."""
    (exports / files.digest).mkdir(parents=True)
    (exports / f"{files.digest}.0000.unfinished").mkdir()
    export = Export(str(exports / files.digest), INPUTS, files.dimensions, files.max_length, 1, False, 1.0)
    content = asdict(export) | {"format": EXPORT_FORMAT}
    (exports / files.digest / "export.json").write_text(json.dumps(content))
    (exports / files.digest / "model.onnx").write_bytes(b"cut")


# A machine that is busy is no fault of what is tested: no example has a time limit. Each run tries other examples.
settings.register_profile("kb", deadline=None, max_examples=50)
settings.load_profile("kb")
