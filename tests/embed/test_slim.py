"""A slim installation: ingest, search and ask without torch, sentence-transformers, gensim and scikit-learn,
and without the libraries of servers.

A library whose place in sys.modules holds None is not importable and not found, as if it were not installed.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import EXTRAS
from tests.embed.small_model import save_small_model

DOORS = ("mcp", "mcp_types", "starlette", "uvicorn")
PROGRAM = f"""
import sys
sys.modules.update(dict.fromkeys({(*EXTRAS, *DOORS)!r}))
from kb.cli.main import main
main()
"""


def run_slim(cache: Path, home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {
        "PATH": "/usr/bin:/bin",
        "HOME": str(home),
        "XDG_CACHE_HOME": str(cache),
        "KB_LLM__PROVIDER": "extractive",
        "PYTHONPATH": ":".join(sys.path),
    }
    return subprocess.run(
        [sys.executable, "-c", PROGRAM, "--home", str(home), *words],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )


def test_ingest_search_and_ask_need_onnxruntime_alone(tmp_path: Path, encoder_cache: Path) -> None:
    """The first ingest exports the encoder, as `encoder_cache` was made without these libraries too."""
    home, cache = tmp_path / "home", tmp_path / "cache"
    home.mkdir()
    cache.mkdir()
    (cache / "kb").symlink_to(encoder_cache)
    ingested = run_slim(cache, home, "ingest", "fixtures/corpus/guide/marigold-telescope.md")
    assert ingested.returncode == 0, ingested.stderr
    found = run_slim(cache, home, "search", "how is a mirror kept clean?", "--mode", "vector", "--json")
    assert json.loads(found.stdout)["hits"], found.stderr
    asked = run_slim(cache, home, "ask", "How often must the mirror of Marigold be cleaned?", "--json")
    assert asked.returncode in (0, 1), asked.stderr
    assert "fp32 through ONNX" in run_slim(cache, home, "doctor").stdout


def test_another_model_names_the_extra(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    model = save_small_model(tmp_path / "model")
    (tmp_path / "home" / "config.toml").write_text(f'[embedding]\nmodel = "{model}"\n')
    ingested = run_slim(tmp_path / "cache", tmp_path / "home", "ingest", "fixtures/corpus/guide/marigold-telescope.md")
    assert ingested.returncode == 2
    assert "torch and sentence_transformers, which are not installed" in ingested.stderr
    assert "[full]" in ingested.stderr


@pytest.mark.parametrize("library", ["gensim", "sklearn"])
def test_training_tags_names_the_extra(library: str) -> None:
    program = (
        f"import sys\nsys.modules[{library!r}] = None\n"
        "from kb.errors import ExtraMissing\nfrom kb.tags.context import train_context\n"
        "from kb.tags.fasttext import train_fasttext\n"
        "items = [('a', 'b'), ('b', 'c')]\n"
        "try:\n"
        "    train_fasttext(('a', 'b', 'c'), items, {}, 0.1, 1, 0)\n"
        "    train_context(items)\n"
        "except ExtraMissing as error:\n    print(error.problem)\n"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout == f"training tags needs {library}, which is not installed\n"


def test_doctor_names_a_readers_missing_library(tmp_path: Path) -> None:
    program = "import sys\nsys.modules['lxml_html_clean'] = None\nfrom kb.cli.main import main\nmain()\n"
    run = subprocess.run(
        [sys.executable, "-c", program, "--home", str(tmp_path), "doctor"], capture_output=True, text=True, check=False
    )
    assert run.returncode == 3
    assert "HTML and EPUB cannot be read: no lxml_html_clean" in run.stdout


@pytest.mark.parametrize("command", ["mcp", "serve"])
def test_a_server_names_its_extra(tmp_path: Path, command: str) -> None:
    done = run_slim(tmp_path / "cache", tmp_path / "home", command)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"kb {command} needs mcp, which is not installed" in done.stderr
    assert f"kb-cited[{command}]" in done.stderr
