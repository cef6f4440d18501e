"""The seam for another kind of encoder: one file and one entry are enough to ingest and search."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from kb.config import EmbeddingConfig
from kb.embed.encoder import TextEncoder
from kb.embed.registry import open_encoder

PROGRAM = """
from kb.embed.registry import ENCODERS
ENCODERS["toy"] = "tests.embed.toy_encoder:open_toy"
from kb.cli.main import main
main()
"""


def test_a_name_of_no_kind_is_a_sentence_transformers_model(encoder_cache: Path) -> None:
    assert isinstance(open_encoder(EmbeddingConfig(), encoder_cache, print), TextEncoder)


def test_another_kind_of_encoder_ingests_and_searches(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text('[embedding]\nmodel = "toy:words"\n')
    (tmp_path / "notes.md").write_text("# Mirrors\n\nThe mirror is cleaned every 14 days.\n")

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", PROGRAM, "--home", str(tmp_path), *words]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    ingested = run("ingest", str(tmp_path / "notes.md"))
    assert ingested.returncode == 0, ingested.stderr
    found = run("search", "cleaned mirror", "--mode", "vector", "--json")
    assert len(json.loads(found.stdout)["hits"]) == 1, found.stderr
    assert "toy:words: words hashed into 64 dimensions" in run("doctor").stdout
