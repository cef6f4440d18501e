"""One flipped byte in any file of a home: found where it is seen, and never a traceback; benchmarks/chaos_damage.py does a thousand."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.chaos_damage import flip_bytes
from tests.journey.conftest import Call


@pytest.mark.slow
def test_every_flip_that_is_seen_is_found(kb: Call, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    for name in ("mirror", "dome", "harbour"):
        text = f"# The {name}\n\nThe {name} is cleaned every 14 days.\n\n- [ ] paint the {name}\n"
        (tmp_path / "notes" / f"{name}.md").write_text(text)
    home = tmp_path / "home"
    assert kb("ingest", tmp_path / "notes", home=home).code == 0
    assert kb("ask", "How often is the mirror cleaned?", home=home).code in (0, 1)

    def run(words: list[str]) -> tuple[int, str, str]:
        result = kb(*words)
        return result.code, result.out, result.err

    flips = flip_bytes(home, 12, 1, "mirror", "lexical", run)
    assert [flip for flip in flips if flip.disorderly] == []
    assert [flip for flip in flips if flip.is_seen and not flip.is_found] == []
    assert any(flip.is_found for flip in flips)
