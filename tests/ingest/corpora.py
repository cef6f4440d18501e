"""Where the real-world corpora are, for the tests that use them where they are present."""

from __future__ import annotations

from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
FORMATS = REPOSITORY / "fixtures" / "formats"
CORPORA = REPOSITORY.parent / "shared" / "data"


def corpus(*parts: str) -> Path:
    """A folder of the shared corpora; skips the test where it is absent."""
    folder = CORPORA.joinpath(*parts)
    if not folder.is_dir():
        pytest.skip(f"{folder.name} is not on this machine")
    return folder
