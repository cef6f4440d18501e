"""Calls of OllamaModel as the tests of it make them."""

from __future__ import annotations

from typing import Any

from kb.config import LlmConfig
from kb.llm.ollama import OllamaModel
from kb.llm.protocol import Done, GenerateRequest, Token
from tests.llm.recorded_server import MODEL, RecordedServer


def ask(server: RecordedServer, **config: Any) -> list[Token | Done]:
    return list(model_on(server, **config).generate_stream(request()))


def model_on(server: RecordedServer, **config: Any) -> OllamaModel:
    return OllamaModel(LlmConfig(**{"endpoint": server.url, "model": MODEL} | config))


def request(**fields: Any) -> GenerateRequest:
    plain: dict[str, Any] = {
        "system": "Use the evidence only.",
        "user": "[질문]\nWhat is Rust?",
        "question": "What is Rust?",
        "evidence": (),
        "language": "en",
        "max_tokens": 300,
        "temperature": 0.2,
        "seed": 7,
        "stop": ("\n\n[질문]",),
    }
    return GenerateRequest(**plain | fields)


def text_of(events: list[Token | Done]) -> str:
    return "".join(event.text for event in events if isinstance(event, Token))
