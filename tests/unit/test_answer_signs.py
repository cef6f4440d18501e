"""The sign of a stored answer: in the list on a terminal and on the page, as below the answer itself."""

from __future__ import annotations

import json
from dataclasses import MISSING, fields
from typing import Any

import pytest

from kb.cli.answer_views import verdict
from kb.page.answers import _view
from kb.store.answers import AnswerRow


def row_of(statuses: list[str], status: str | None, *, grounded: bool = True) -> AnswerRow:
    """A stored answer whose sentences ended so."""
    sentences = [{"text": f"Sentence {n}.", "status": one} for n, one in enumerate(statuses)]
    checked = {"status": status, "verified": statuses.count("verified"), "sentences": sentences}
    values: dict[str, Any] = {f.name: None for f in fields(AnswerRow) if f.default is MISSING}
    return AnswerRow(
        **values
        | {
            "answer": "A.",
            "question": "Why?",
            "grounded": grounded,
            "refusal_reason": None if grounded else "not_backed",
        }
        | {"verification_json": json.dumps(checked) if status else None, "model_id": "m", "model_provider": "ollama"}
    )


@pytest.mark.parametrize(
    ("statuses", "status", "sign", "doubts"),
    [
        (["verified"], "verified", "✓", 0),
        ([], None, "✓", 0),
        (["likely"], "likely", "≈", 0),
        (["likely", "verified"], "likely", "≈", 1),
        (["verified", "verified", "weak"], "weak", "⚠", 1),
    ],
)
def test_the_sign_of_an_answer_that_stands(statuses: list[str], status: str | None, sign: str, doubts: int) -> None:
    row = row_of(statuses, status)
    assert verdict(row) == sign
    view = _view(row)
    assert (view.sign, len(view.doubts)) == (sign, doubts)
    assert view.state


def test_one_that_does_not_stand_has_none() -> None:
    row = row_of(["contradicted"], "contradicted", grounded=False)
    assert verdict(row).startswith("✗ ")
    assert (_view(row).sign, _view(row).doubts) == ("", ())
