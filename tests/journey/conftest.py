"""A real home with the fixture corpus, made once per test run, and the command line called as a user calls it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from kb.cli.invocation import hoist_global_options, wants_json
from kb.cli.main import run
from kb.embed.model_files import ENGLISH_MODEL
from tests.conftest import made_once
from tests.forked_kb import KB, take_ctrl_c
from tests.kept_models import keep_models

ROOT = Path(__file__).parents[2]
CORPUS = ROOT / "fixtures" / "corpus"
SHARED_DATA = ROOT.parent / "shared" / "data"
SMALL_NOTES = {
    "otters": "An otter holds hands with its neighbour while it sleeps on the river.",
    "comets": "A comet grows its tail only near the sun, from dust and ionised gas.",
    "bread": "Sourdough rises overnight because wild yeast is slow but steady.",
    "mirror": "The mirror of the telescope must be cleaned every 14 days.",
    "dome": "The dome turns with the wind and is closed above 60 km/h.",
    "harbour": "The harbour master counts the boats at dawn and again at dusk.",
}


@dataclass(frozen=True)
class Result:
    """What a call gave back."""

    code: int
    out: str
    err: str

    def json(self) -> Any:
        """The last line of stdout, as JSON."""
        return json.loads(self.out.splitlines()[-1])

    def events(self) -> list[Any]:
        """Every line of stdout, as JSON."""
        return [json.loads(line) for line in self.out.splitlines()]


Call = Callable[..., Result]


@pytest.fixture(autouse=True)
def own_environment(encoder_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of the machine's user is read or written; no Ollama is asked unless a test starts one.

    No reader reads either: it takes .5 to 2 s for a question that was not asked before. `default_readers` gives it back.
    """
    for name in [n for n in os.environ if n.startswith("KB_")] + ["NO_COLOR", "VISUAL", "EDITOR"]:
        monkeypatch.delenv(name, raising=False)
    cache = tmp_path / "xdg-cache"
    cache.mkdir()
    (cache / "kb").symlink_to(encoder_cache)
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))
    monkeypatch.setenv("KB_LLM__PROVIDER", "extractive")
    monkeypatch.setenv("KB_READER__MODEL", "none")
    keep_models(monkeypatch.setattr, encoder_cache)


@pytest.fixture
def default_readers(own_environment: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Passages are read as in an installation whose settings nobody has changed."""
    monkeypatch.delenv("KB_READER__MODEL")


@pytest.fixture
def kb(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Call:
    """kb("search", "x", home=…, stdin=…) in this process: exit code and both streams."""

    def call(*arguments: str | Path, home: Path | None = None, stdin: str | bytes | None = None) -> Result:
        words = [str(a) for a in arguments] + (["--home", str(home)] if home else [])
        words = hoist_global_options(words)
        capfd.readouterr()
        if stdin is not None:
            import io

            raw = stdin.encode() if isinstance(stdin, str) else stdin
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw), encoding="utf-8"))
        code = run(words, wants_json(words))
        captured = capfd.readouterr()
        return Result(int(code), captured.out, captured.err)

    return call


@pytest.fixture
def kb_process() -> Callable[..., subprocess.Popen[bytes]]:
    """kb_process("ingest", …, home=…): a real process, for what only a process can show.

    command  OWN_MODELS where it matters when and how long its models work
    """

    def start(
        *arguments: str | Path, home: Path, command: Sequence[str] = KB, **options: Any
    ) -> subprocess.Popen[bytes]:
        words = [*command, *(str(a) for a in arguments), "--home", str(home)]
        usual: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "preexec_fn": take_ctrl_c}
        return subprocess.Popen(words, **(usual | options))

    return start


@contextmanager
def aside(cache: Path, encoder_cache: Path, **settings: str) -> Iterator[None]:
    """What `own_environment` gives a test, for fixtures that several tests share.

    cache     a folder to make, for XDG_CACHE_HOME
    settings  environment variables; others of kb are unset
    """
    cache.mkdir()
    (cache / "kb").symlink_to(encoder_cache)
    with pytest.MonkeyPatch.context() as patch:
        for name in [n for n in os.environ if n.startswith("KB_")]:
            patch.delenv(name)
        for name, value in {"XDG_CACHE_HOME": str(cache), "KB_LLM__PROVIDER": "extractive", **settings}.items():
            patch.setenv(name, value)
        keep_models(patch.setattr, encoder_cache)
        yield


def call_aside(words: Sequence[str | Path], cache: Path, encoder_cache: Path, **settings: str) -> None:
    """Run a command that must work, `aside`."""
    with aside(cache, encoder_cache, **settings):
        assert run([str(word) for word in words], False) in (0, 1)


@pytest.fixture(scope="session")
def corpus_master(tmp_path_factory: pytest.TempPathFactory, encoder_cache: Path) -> Path:
    """A home with fixtures/corpus ingested; shared by all workers, never written to."""

    def make(home: Path) -> None:
        call_aside(["ingest", CORPUS, "--home", home, "--quiet"], home.with_suffix(".cache"), encoder_cache)

    return made_once(tmp_path_factory, "corpus_master", make)


@pytest.fixture
def corpus_home(corpus_master: Path, tmp_path: Path) -> Path:
    """A copy of the fixture home, for a test to do with as it likes."""
    home = tmp_path / "home"
    shutil.copytree(corpus_master, home)
    return home


@pytest.fixture(scope="session")
def small_master(tmp_path_factory: pytest.TempPathFactory, encoder_cache: Path) -> Path:
    """A folder with `notes`, SMALL_NOTES as files, and `home`, that has them with vectors; never written to."""

    def make(root: Path) -> None:
        (root / "notes").mkdir(parents=True)
        for name, text in SMALL_NOTES.items():
            (root / "notes" / f"{name}.md").write_text(f"# {name.title()}\n\n{text}\n\n- [ ] look at {name} again\n")
        words = ["ingest", root / "notes", "--home", root / "home", "--quiet"]
        call_aside(words, root / "cache", encoder_cache, KB_EMBEDDING__MODEL=ENGLISH_MODEL)

    return made_once(tmp_path_factory, "small_master", make)


@pytest.fixture
def small_home(small_master: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the home of `small_master`, with its encoder configured: a tenth of the work of `corpus_home`."""
    monkeypatch.setenv("KB_EMBEDDING__MODEL", ENGLISH_MODEL)
    shutil.copytree(small_master / "home", tmp_path / "home")
    return tmp_path / "home"
