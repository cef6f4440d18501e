"""What the tests of `kb ask` on a recorded Ollama have in common."""

from __future__ import annotations

import pytest

from tests.llm.recorded_server import MODEL, RecordedServer

QUESTION = "How often must the mirror of Marigold be cleaned?"
CITED = "The mirror must be cleaned every 14 days [#1]."


def use(server: RecordedServer | str, monkeypatch: pytest.MonkeyPatch, provider: str = "ollama") -> None:
    """Every kb from now on, in this process or another, asks this server (or address)."""
    monkeypatch.setenv("KB_LLM__PROVIDER", provider)
    monkeypatch.setenv("KB_LLM__ENDPOINT", server if isinstance(server, str) else server.url)
    monkeypatch.setenv("KB_LLM__MODEL", MODEL)
    # What a server says does not depend on who ordered the passages, and reading them is half of what a process costs.
    monkeypatch.setenv("KB_READER__MODEL", "none")
