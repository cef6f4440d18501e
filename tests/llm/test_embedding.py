"""An encoder on a server: what is asked of it, and what becomes of its faults, against a real HTTP server."""

from __future__ import annotations

from pathlib import Path

import pytest

from kb.config import EmbeddingConfig, LlmConfig
from kb.embed.protocol import Encoder
from kb.embed.registry import open_encoder
from kb.errors import KbError, MalformedResponse, ModelError, ModelNotPulled, ModelTimeout
from kb.llm.protocol import NoServer
from tests.llm.recorded_server import Hangup, RecordedServer, Reply, error, free_port, hash_words, shown, whole

NAME = "nomic-embed-text:latest"


def opened(server: RecordedServer | str, cache: Path, **llm: float | str) -> Encoder:
    url = server if isinstance(server, str) else server.url
    return open_encoder(
        EmbeddingConfig(model="ollama:nomic-embed-text"),
        cache,
        print,
        LlmConfig(**{"endpoint": url} | llm),  # type: ignore[arg-type]
    )


def paths(server: RecordedServer) -> list[str]:
    return [request.path for request in server.requests]


def test_a_known_model_is_opened_with_one_request(tmp_path: Path) -> None:
    about = shown(model_info={"general.architecture": "nomic-bert", "nomic-bert.context_length": 1024})
    with RecordedServer(models={NAME: "a" * 64}, show=about) as server:
        first = opened(server, tmp_path)
        assert paths(server) == ["/api/tags", "/api/show", "/api/embed"]
        assert (first.dimensions, first.max_tokens) == (64, 768)
        again = opened(server, tmp_path)
        assert paths(server)[3:] == ["/api/tags"]
        assert (again.digest, again.dimensions, again.max_tokens) == (first.digest, 64, 768)
    with RecordedServer(models={NAME: "b" * 64}) as other:
        assert opened(other, tmp_path).digest != first.digest


def test_texts_go_in_batches_with_the_familys_prefixes(tmp_path: Path) -> None:
    with RecordedServer(models={NAME: "a" * 64}) as server:
        encoder = opened(server, tmp_path, keep_alive="-1")
        encoder.encode_documents([f"text {n}" for n in range(40)])
        encoder.encode_query("why?")
        bodies = [request.body or {} for request in server.requests if request.path == "/api/embed"][1:]
        assert [len(body["input"]) for body in bodies] == [16, 16, 8, 1]
        assert bodies[0]["input"][0] == "search_document: text 0"
        assert bodies[-1]["input"] == ["search_query: why?"]
        assert all((body["truncate"], body["keep_alive"]) == (True, -1) for body in bodies)


FAULTS = {
    "not pulled": ({"models": {}}, ModelNotPulled, "kb models pull nomic-embed-text"),
    "too few": ({"embed": lambda texts: whole({"embeddings": hash_words(texts[1:])})}, MalformedResponse, "version"),
    "no numbers": ({"embed": lambda texts: whole({"embeddings": [["a"]] * len(texts)})}, MalformedResponse, "version"),
    "refused": ({"embed": lambda texts: error("this model does not support embeddings", 400)}, ModelError, ""),
    "hangs up": ({"embed": lambda texts: Reply((b"{", Hangup()))}, ModelError, ""),
    "slow": ({"embed": lambda texts: Reply((b"{}",), wait_seconds=20)}, ModelTimeout, "smaller encoder"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_the_server_is_an_error_with_a_fix(fault: str, tmp_path: Path) -> None:
    options, kind, fix = FAULTS[fault]
    with (
        RecordedServer(**{"models": {NAME: "a" * 64}} | options) as server,  # type: ignore[arg-type]
        pytest.raises(KbError) as caught,
    ):
        opened(server, tmp_path, first_token_timeout_seconds=0.3)
    assert isinstance(caught.value, kind)
    assert fix in caught.value.fix


def test_vectors_of_another_length_are_refused(tmp_path: Path) -> None:
    lengths = iter([64, 32])
    with RecordedServer(
        models={NAME: "a" * 64}, embed=lambda texts: whole({"embeddings": hash_words(texts, next(lengths))})
    ) as server:
        encoder = opened(server, tmp_path)
        with pytest.raises(MalformedResponse, match="another length than 64"):
            encoder.encode_query("why?")


def test_no_server_is_an_error_with_a_fix(tmp_path: Path) -> None:
    with pytest.raises(NoServer) as caught:
        opened(f"http://127.0.0.1:{free_port()}", tmp_path)
    assert "ollama serve" in caught.value.fix
