"""Which model answers: forced, or chosen by what is there."""

from __future__ import annotations

import subprocess
import sys

import pytest

from kb.config import Config, LlmConfig
from kb.errors import ConfigInvalid, ModelError, ModelNotPulled
from kb.llm.extractive import ExtractiveModel
from kb.llm.ollama import OllamaModel
from kb.llm.protocol import Scorers
from kb.llm.references import configured_reference
from kb.llm.registry import choose_model
from kb.providers import PROVIDERS
from kb.records import ModelRef
from tests.llm.recorded_server import MODEL, RecordedServer, Reply, error, free_port


def choose(**fields: str | float) -> tuple[object, list[str]]:
    said: list[str] = []
    return choose_model(LlmConfig(**fields), Scorers(), said.append), said  # type: ignore[arg-type]


def test_every_provider_of_the_config_has_a_builder() -> None:
    choices = LlmConfig.__dataclass_fields__["provider"].metadata["choices"]
    assert set(choices) == {"auto", *PROVIDERS}
    assert Config().llm.provider == "auto"


@pytest.mark.parametrize(
    ("provider", "named"),
    [
        ("auto", ModelRef("m:1b", "auto")),
        ("ollama", ModelRef("m:1b", "ollama")),
        ("extractive", ExtractiveModel().reference()),
    ],
)
def test_what_is_configured_is_known_without_asking(provider: str, named: ModelRef) -> None:
    with RecordedServer() as server:
        assert configured_reference(LlmConfig(provider=provider, model="m:1b", endpoint=server.url)) == named
        assert server.requests == []


def test_auto_takes_ollama_when_it_has_the_model() -> None:
    with RecordedServer() as server:
        model, said = choose(endpoint=server.url, model=MODEL)
    assert isinstance(model, OllamaModel)
    assert said == [f"answering with {MODEL} on Ollama at {server.url}"]


def test_auto_without_a_server_falls_back_and_says_so_once() -> None:
    endpoint = f"http://127.0.0.1:{free_port()}"
    model, said = choose(endpoint=endpoint)
    assert isinstance(model, ExtractiveModel)
    assert said == [f"no Ollama at {endpoint}: answering with quotes from your documents, without a language model"]


def test_auto_without_the_model_falls_back_and_says_how_to_get_it() -> None:
    with RecordedServer(models={"gemma3:4b": "d"}) as server:
        model, said = choose(endpoint=server.url, model=MODEL)
    assert isinstance(model, ExtractiveModel)
    assert said == [
        f"Ollama at {server.url} has no {MODEL} (kb models pull {MODEL}; it has gemma3:4b: kb models use NAME): answering with quotes from your documents, without a language model"
    ]


@pytest.mark.parametrize("reply", [error("not found", 404), error("boom", 500), Reply((b"<html>",))])
def test_auto_with_another_server_on_the_port_falls_back(reply: Reply) -> None:
    with RecordedServer(routes={"/api/tags": reply}) as server:
        model, said = choose(endpoint=server.url)
    assert isinstance(model, ExtractiveModel)
    assert len(said) == 1
    assert server.url in said[0]


def test_forced_providers_are_silent() -> None:
    with RecordedServer() as server:
        assert choose(provider="ollama", endpoint=server.url, model=MODEL)[1] == []
        model, said = choose(provider="extractive", endpoint=server.url)
        assert isinstance(model, ExtractiveModel)
        assert said == []


def test_forced_ollama_raises_when_it_cannot_answer() -> None:
    with pytest.raises(ModelError, match="no Ollama at"):
        choose(provider="ollama", endpoint=f"http://127.0.0.1:{free_port()}")
    with RecordedServer(models={}) as server, pytest.raises(ModelNotPulled):
        choose(provider="ollama", endpoint=server.url)


@pytest.mark.parametrize("provider", ["auto", "ollama"])
def test_an_endpoint_that_is_none_is_the_users_error(provider: str) -> None:
    with pytest.raises(ConfigInvalid):
        choose(provider=provider, endpoint="ftp://x")


def test_auto_goes_on_where_the_servers_name_is_unknown() -> None:
    model, _ = choose(endpoint="http://kb-test.invalid:1", connect_timeout_seconds=1.0)
    assert isinstance(model, ExtractiveModel)


def test_without_a_server_the_client_is_not_imported() -> None:
    program = (
        "import sys\nfrom kb.config import LlmConfig\nfrom kb.llm.registry import Scorers, choose_model\n"
        f"choose_model(LlmConfig(endpoint='127.0.0.1:{free_port()}'), Scorers(), lambda line: None)\n"
        "print({'ollama', 'httpx', 'numpy'} & set(sys.modules))"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout == "set()\n"
