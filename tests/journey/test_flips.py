"""One flipped byte in any file of a home: found where it is seen, and never a traceback; benchmarks/chaos_damage.py does a thousand."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.chaos_damage import flip_bytes
from tests.journey.conftest import Call


def test_every_flip_that_is_seen_is_found(kb: Call, small_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KB_READER__MODEL", "none")
    assert kb("ask", "How often must the mirror be cleaned?", "--mode", "lexical", home=small_home).code in (0, 1)

    def run(words: list[str]) -> tuple[int, str, str]:
        result = kb(*words)
        return result.code, result.out, result.err

    flips = flip_bytes(small_home, 12, 1, "mirror", "lexical", run)
    assert [flip for flip in flips if flip.disorderly] == []
    assert [flip for flip in flips if flip.is_seen and not flip.is_found] == []
    assert any(flip.is_found for flip in flips)
