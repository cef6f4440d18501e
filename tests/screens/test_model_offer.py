"""Ollama has other models than the configured one: they are offered once, and the choice is remembered."""

from __future__ import annotations

from pathlib import Path

import pytest

from kb.config import load_config
from tests.forked_kb import KB
from tests.journey.conftest import corpus_home, corpus_master, own_environment
from tests.llm.recorded_server import RecordedServer, whole
from tests.screens.emulator import Prompt, show

__all__ = ["corpus_home", "corpus_master", "own_environment"]

TAGS = whole(
    {
        "models": [
            {"name": "nomic-embed-text:latest", "digest": "a" * 64, "size": 274_000_000, "details": {}},
            {"name": "gemma2:2b", "digest": "b" * 64, "size": 1_600_000_000, "details": {}},
            {"name": "llama3.2:3b", "digest": "c" * 64, "size": 2_000_000_000, "details": {}},
        ]
    }
)
ASK = ("ask", "mirror", "cleaning", "--mode", "lexical")


@pytest.mark.parametrize(
    ("typed", "model", "provider"),
    [("", "llama3.2:3b", "auto"), ("2", "gemma2:2b", "auto"), ("0", "qwen2.5:3b", "extractive")],
)
def test_a_choice_is_asked_for_once(
    corpus_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, typed: str, model: str, provider: str
) -> None:
    monkeypatch.delenv("KB_LLM__PROVIDER")
    with RecordedServer(routes={"/api/tags": TAGS}) as server:
        monkeypatch.setenv("KB_LLM__ENDPOINT", server.url)
        prompt = Prompt([*KB, *ASK], tmp_path, corpus_home)
        try:
            prompt.wait_for("Which is to answer? [1]")
            shown = prompt.shown()
            assert shown.index("1  llama3.2:3b  2.0 GB") < shown.index("2  gemma2:2b  1.6 GB")
            assert "nomic" not in shown
            prompt.type(f"{typed}\r")
            prompt.wait_for("from now on")
        finally:
            prompt.close()
        chosen = load_config(None, corpus_home, {}).llm
        assert (chosen.model, chosen.provider) == (model, provider)
        if not typed:
            again = show(*ASK, home=corpus_home)
            assert "Which is to answer?" not in again.text()
