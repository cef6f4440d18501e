"""What holds for every LanguageModel, whoever it is."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kb.config import LlmConfig
from kb.llm.extractive import ExtractiveModel
from kb.llm.ollama import OllamaModel
from kb.llm.protocol import Done, Evidence, GenerateRequest, LanguageModel, Scorers, Token
from kb.llm.registry import open_model
from kb.providers import PROVIDERS
from kb.records import ModelRef
from tests.llm.recorded_server import RecordedServer, answer

EVIDENCE = (
    Evidence(1, "Ownership is a set of rules. It governs memory.", ("Rust",)),
    Evidence(2, "Cargo builds Rust."),
)
REQUEST = GenerateRequest("rules", "[질문] …", "What are the rules of ownership?", EVIDENCE, "en", 200)


@pytest.fixture(params=sorted(PROVIDERS))
def model(request: pytest.FixtureRequest) -> Iterator[LanguageModel]:
    with RecordedServer([answer("Ownership is ", "a set of rules. [#1]")]) as server:
        built = open_model(request.param, LlmConfig(endpoint=server.url), Scorers(), lambda message: None)
        assert isinstance(built, OllamaModel | ExtractiveModel)
        yield built


def test_pieces_then_exactly_one_done(model: LanguageModel) -> None:
    events = list(model.generate_stream(REQUEST))
    assert all(isinstance(event, Token) and event.text for event in events[:-1])
    assert len(events) > 1
    done = events[-1]
    assert isinstance(done, Done)
    assert done.finish_reason == "stop"
    assert done.prompt_tokens is not None
    assert done.completion_tokens is not None
    assert done.prompt_tokens > 0
    assert done.completion_tokens > 0


def test_the_answer_is_the_same_every_time(model: LanguageModel) -> None:
    assert list(model.generate_stream(REQUEST)) == list(model.generate_stream(REQUEST))


def test_the_answer_cites(model: LanguageModel) -> None:
    text = "".join(event.text for event in model.generate_stream(REQUEST) if isinstance(event, Token))
    assert "a set of rules." in text
    assert "[#1]" in text


def test_it_says_who_it_is_and_how_much_it_reads(model: LanguageModel) -> None:
    reference = model.reference()
    assert isinstance(reference, ModelRef)
    assert reference.provider in PROVIDERS
    assert reference.id == (PROVIDERS[reference.provider].model_id or reference.id)
    assert model.title
    assert model.describe()
    assert model.context_tokens() >= 512


def test_a_stream_can_be_left_early(model: LanguageModel) -> None:
    stream = model.generate_stream(REQUEST)
    assert isinstance(next(stream), Token)
    stream.close()  # type: ignore[attr-defined]
    assert list(stream) == []
