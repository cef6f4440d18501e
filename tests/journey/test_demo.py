"""kb demo: the whole tour on the corpus that the package carries."""

from __future__ import annotations

from pathlib import Path

import pytest

from kb.cli.demo import CORPUS, STEPS
from tests.journey.conftest import Call

pytestmark = pytest.mark.usefixtures("default_readers")


@pytest.mark.slow
def test_every_step_of_the_tour_does_what_it_says(kb: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KB_EMBEDDING__MODEL", "all-MiniLM-L6-v2")
    monkeypatch.setenv("KB_HOME", str(tmp_path / "own"))
    found = kb("demo")
    assert found.code == 0
    assert "error:" not in found.err
    parts = found.out.split("\n$ kb ")[1:]
    assert len(parts) == len(STEPS)
    for part, expected in zip(
        parts,
        (
            "done: 5 new",
            "marigold-telescope.md#L14",
            "The dome must close",
            "E-",
            "every 14 days",
            "about an hour",
            "14일마다",
            "Closest passages",
            "How often must",
            "passed  recall@10",
        ),
        strict=True,
    ):
        assert expected in part
    assert "kb ingest ~/notes" in parts[-1]
    assert not (tmp_path / "own").exists()


def test_the_corpus_of_the_tour_is_that_of_the_manual() -> None:
    own = {path.name: path.read_bytes() for path in (CORPUS / "notes").iterdir()}
    fixtures = {path.name: path.read_bytes() for path in Path("fixtures/corpus").rglob("*") if path.is_file()}
    assert len(own) == 5
    assert all(fixtures[name] == content for name, content in own.items())
