"""The seam for another kind of encoder: one file and one entry are enough to ingest and search."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from kb.config import EmbeddingConfig
from kb.embed.encoder import TextEncoder
from kb.embed.registry import open_encoder

# Three command lines in one process that knows one kind more; each writes what it says to a file of its own.
PROGRAM = """
import contextlib, sys
from kb.embed.registry import ENCODERS
ENCODERS["toy"] = "tests.embed.toy_encoder:open_toy"
from kb.cli.main import run
home = sys.argv[1]
for words in (
    ["ingest", f"{home}/notes.md"],
    ["search", "cleaned mirror", "--mode", "vector", "--json"],
    ["doctor"],
):
    with open(f"{home}/{words[0]}.out", "w") as out, contextlib.redirect_stdout(out):
        print("\\ncode", int(run([*words, "--home", home], False)))
"""


def test_a_name_of_no_kind_is_a_sentence_transformers_model(encoder_cache: Path) -> None:
    assert isinstance(open_encoder(EmbeddingConfig(), encoder_cache, print), TextEncoder)


def test_another_kind_of_encoder_ingests_and_searches(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text('[embedding]\nmodel = "toy:words"\n')
    (tmp_path / "notes.md").write_text("# Mirrors\n\nThe mirror is cleaned every 14 days.\n")

    done = subprocess.run([sys.executable, "-c", PROGRAM, str(tmp_path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "ingest.out").read_text().endswith("code 0\n"), done.stderr
    found = json.loads((tmp_path / "search.out").read_text().splitlines()[0])
    assert len(found["hits"]) == 1, done.stderr
    assert "toy:words: words hashed into 64 dimensions" in (tmp_path / "doctor.out").read_text()
