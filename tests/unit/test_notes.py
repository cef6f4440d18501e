"""Every note of an ask has words in the languages that kb answers in, and they hold what the English ones hold."""

from __future__ import annotations

import pytest

from kb.ask.records import AnswerNovelty
from kb.ask.unseen import shown_before_note
from kb.cli.notes import in_language
from kb.language.registry import question_language
from kb.llm.extractive import ExtractiveModel

NOTES = [
    f"no Ollama at http://127.0.0.1:11434: answering with {ExtractiveModel.title}",
    f"Ollama at http://10.0.0.2:11434 has no qwen2.5:3b (kb models pull qwen2.5:3b): answering with {ExtractiveModel.title}",
    "Ollama at http://10.0.0.2:11434 has no qwen2.5:3b (kb models pull qwen2.5:3b; it has a:1b, b: kb models use NAME):"
    f" answering with {ExtractiveModel.title}",
    f"answering with {ExtractiveModel.title}",
    "answering with qwen2.5:3b on Ollama at http://10.0.0.2:11434",
    "note: ms-marco does not know this language: the order is that of the search",
    "the answer cites nothing: asking the model once more",
    "loading qwen2.5:3b on Ollama …",
    "searching",
    "reading 4 passages",
]


@pytest.mark.parametrize("note", NOTES)
def test_a_note_is_korean_and_keeps_names_and_numbers(note: str) -> None:
    told = in_language(note, "ko")
    assert question_language(told) == "ko"
    for word in ("qwen2.5:3b", "http://127.0.0.1:11434", "http://10.0.0.2:11434", "ms-marco", "4"):
        assert (word in told) == (word in note)
    assert in_language(note, "en") == note


def test_the_note_on_shown_evidence_is_in_the_table() -> None:
    for shown_in, numbers in (((), {}), (("t",), {"t": 3}), (("t",), {})):
        novelty = AnswerNovelty(used="all", candidates=1, novel=0, shown_in=shown_in)
        assert "근거는" in in_language(shown_before_note(novelty, numbers), "ko")


def test_a_reader_is_named_once() -> None:
    assert (
        in_language("preparing the reader kb-reader (once per model)…", "ko") == "kb-reader 준비 중 (모델마다 한 번) …"
    )
