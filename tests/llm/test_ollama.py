"""OllamaModel against a real HTTP server: what it asks for, and what it makes of what the server says of a model."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from kb.config import LlmConfig
from kb.errors import ConfigInvalid, ModelError
from kb.llm.model_info import read_facts
from kb.llm.ollama import OllamaModel
from kb.llm.protocol import Token
from kb.llm.server import normalize_endpoint
from kb.llm.thinking import ThinkFilter
from kb.records import ModelRef
from tests.llm.ollama_calls import ask, model_on, request, text_of
from tests.llm.recorded_server import (
    DIGEST,
    MODEL,
    RecordedServer,
    Reply,
    answer,
    error,
    free_port,
    last_line,
    line,
    shown,
    whole,
)

THINKS = shown(capabilities=["completion", "thinking"], template="{{ if .IsThinkSet }}<think></think>{{ end }}")
LEAKS = shown(capabilities=["completion", "thinking"], template="<|im_start|>assistant\n<think>\n")


class TestRequest:
    def test_every_option_is_sent(self) -> None:
        with RecordedServer([answer("ok")]) as server:
            ask(server)
        body = server.chats[0]
        assert body["options"] == {
            "num_ctx": 8192,
            "num_predict": 300,
            "temperature": 0.2,
            "seed": 7,
            "stop": ["\n\n[질문]"],
        }
        assert [message["role"] for message in body["messages"]] == ["system", "user"]
        assert body["messages"][1]["content"] == "[질문]\nWhat is Rust?"
        assert (body["stream"], body["keep_alive"], body["truncate"]) == (True, "30m", False)

    @pytest.mark.parametrize(("written", "sent"), [("30m", "30m"), ("-1", -1), ("0", 0), ("300", 300)])
    def test_keep_alive_without_a_unit_is_sent_as_seconds(self, written: str, sent: str | int) -> None:
        with RecordedServer([answer("ok")]) as server:
            ask(server, keep_alive=written)
        assert server.chats[0]["keep_alive"] == sent

    def test_the_models_own_stop_texts_stay(self) -> None:
        show = shown(parameters='stop                           "<|im_end|>"\nnum_ctx  2048\nstop "\\n\\nUser:"')
        with RecordedServer([answer("ok")], show=show) as server:
            ask(server)
        assert server.chats[0]["options"]["stop"] == ["<|im_end|>", "\n\nUser:", "\n\n[질문]"]

    def test_options_are_the_same_on_every_call_so_the_model_stays_loaded(self) -> None:
        with RecordedServer([answer("ok")]) as server:
            model = model_on(server)
            for question in ("a", "a much longer question " * 500):
                list(model.generate_stream(request(user=question)))
        first, second = (body["options"] for body in server.chats)
        assert first == second

    @pytest.mark.parametrize(
        ("asked", "trained", "sent"),
        [
            (8192, 32768, 8192),
            (8192, 2048, 2048),
            (8192, 4096, 4096),
            (6000, 32768, 4096),
            (16384, 40960, 16384),
            (1_000_000, 40960, 32768),
            (512, 32768, 512),
        ],
    )
    def test_num_ctx_is_a_fixed_size_within_the_models_own(self, asked: int, trained: int, sent: int) -> None:
        show = shown(model_info={"general.architecture": "qwen2", "qwen2.context_length": trained})
        with RecordedServer([answer("ok")], show=show) as server:
            model = model_on(server, context_tokens=asked)
            list(model.generate_stream(request()))
            assert model.context_tokens() == sent
        assert server.chats[0]["options"]["num_ctx"] == sent


class TestFacts:
    @pytest.mark.parametrize(
        ("show", "tokens"),
        [
            ({"model_info": {"general.architecture": "llama", "llama.context_length": 2048}}, 2048),
            (
                {"model_info": {"general.architecture": "x", "clip.context_length": None, "y.context_length": 9000}},
                9000,
            ),
            ({"model_info": None, "parameters": "num_ctx                        16384\n"}, 16384),
            ({"model_info": {"general.architecture": None}, "parameters": None, "details": None}, 4096),
            ({}, 4096),
        ],
    )
    def test_trained_context_and_its_fallbacks(self, show: dict[str, Any], tokens: int) -> None:
        assert read_facts(show).trained_tokens == tokens

    @pytest.mark.parametrize(
        ("show", "think", "may_leak"),
        [
            (shown(), None, False),
            (shown(capabilities=None, template=None), None, False),
            (THINKS, False, False),
            (LEAKS, False, True),
            (shown(capabilities=["thinking"], modelfile="FROM x\nPARSER qwen3-thinking\n"), False, False),
            (shown(template="assistant\n<think>\n"), None, True),
            (shown(capabilities=["thinking"], model_info={"general.architecture": "gptoss"}), "low", True),
        ],
    )
    def test_how_a_model_thinks(self, show: dict[str, Any], think: bool | str | None, may_leak: bool) -> None:
        facts = read_facts(show)
        assert (facts.think, facts.may_leak) == (think, may_leak)

    def test_reference_has_the_digest(self) -> None:
        with RecordedServer() as server:
            assert model_on(server).reference() == ModelRef(MODEL, "ollama", DIGEST)

    def test_a_name_without_a_tag_means_latest(self) -> None:
        with RecordedServer(
            models={"Mistral:latest": "d1", "mistral:7b": "d2"}, routes={"/api/show": whole(shown())}
        ) as s:
            assert model_on(s, model="mistral").reference().digest == "d1"

    def test_a_model_the_server_does_not_list_has_no_digest(self) -> None:
        with RecordedServer(models={}, routes={"/api/show": whole(shown())}) as server:
            assert model_on(server).reference().digest is None


class TestThinking:
    def test_think_is_not_sent_to_a_model_that_cannot(self) -> None:
        with RecordedServer([answer("ok")]) as server:
            ask(server)
        assert "think" not in server.chats[0]

    def test_think_false_is_sent_to_one_that_can(self) -> None:
        with RecordedServer([answer("ok")], show=THINKS) as server:
            ask(server)
        assert server.chats[0]["think"] is False

    def test_gpt_oss_gets_a_level(self) -> None:
        show = THINKS | {"model_info": {"general.architecture": "gptoss", "gptoss.context_length": 131072}}
        with RecordedServer([answer("ok")], show=show) as server:
            ask(server)
        assert server.chats[0]["think"] == "low"

    def test_a_400_is_tried_once_without_think(self) -> None:
        with RecordedServer([error("does not support thinking", 400), answer("ok")], show=THINKS) as server:
            assert text_of(ask(server)) == "ok"
        assert ["think" in body for body in server.chats] == [True, False]

    def test_a_second_400_is_the_error(self) -> None:
        with RecordedServer([error("no", 400)], show=THINKS) as server, pytest.raises(ModelError, match="status 400"):
            ask(server)
        assert len(server.chats) == 2

    def test_thinking_in_its_own_field_is_no_answer(self) -> None:
        with RecordedServer([Reply((line("", thinking="maybe [#9]"), line("Rust [#1]."), last_line()))]) as server:
            assert text_of(ask(server)) == "Rust [#1]."

    def test_tags_cut_across_pieces(self) -> None:
        with RecordedServer([answer("<th", "ink>so [#9] th", "en</thi", "nk>\n\nRust", " is.")]) as server:
            assert ask(server)[:-1] == [Token("Rust"), Token(" is.")]

    def test_a_closing_tag_alone(self) -> None:
        with RecordedServer(
            [answer("Okay, the user asks [#9].", "\n</think>\n\n", "Rust [#1].")], show=LEAKS
        ) as server:
            assert text_of(ask(server)) == "Rust [#1]."

    def test_a_model_that_may_leak_but_did_not_keeps_its_answer(self) -> None:
        with RecordedServer([answer("Rust ", "[#1].")], show=LEAKS) as server:
            assert text_of(ask(server)) == "Rust [#1]."

    @pytest.mark.parametrize(
        "steps",
        [
            (line("", thinking="hm " * 50), last_line("length")),
            (line("<think>hm hm"), last_line("length")),
        ],
    )
    def test_an_answer_that_was_all_thinking_is_an_error(self, steps: tuple[bytes, ...]) -> None:
        with RecordedServer([Reply(steps)]) as server, pytest.raises(ModelError, match="on thinking"):
            ask(server)

    @pytest.mark.parametrize(
        ("text", "kept"),
        [
            ("plain", "plain"),
            ("<think>a</think>b", "b"),
            ("a <think>b</think> c", "a  c"),
            ("a < b and <thin ice", "a < b and <thin ice"),
            ("<think>never closed", ""),
            ("x <", "x <"),
            ("<think></think><think>y</think>z", "z"),
        ],
    )
    def test_the_filter_gives_the_same_wherever_the_text_is_cut(self, text: str, kept: str) -> None:
        for size in (1, 2, 3, 5, 100):
            clean = ThinkFilter()
            parts = [clean.feed(text[i : i + size]) for i in range(0, len(text), size)]
            assert "".join(parts) + clean.flush() == kept


class TestEndpoint:
    @pytest.mark.parametrize(
        ("written", "read"),
        [
            ("http://127.0.0.1:11434", "http://127.0.0.1:11434"),
            ("localhost", "http://localhost:11434"),
            (" gpu.local:8080/ ", "http://gpu.local:8080"),
            ("0.0.0.0", "http://127.0.0.1:11434"),
            ("https://models.example.org/ollama/", "https://models.example.org:443/ollama"),
            ("http://localhost:11434/v1", "http://localhost:11434"),
            ("http://localhost:11434/api/", "http://localhost:11434"),
            ("[::1]:11434", "http://[::1]:11434"),
        ],
    )
    def test_addresses(self, written: str, read: str) -> None:
        assert normalize_endpoint(written) == read

    @pytest.mark.parametrize("written", ["", "  ", "ftp://x", "http://", "http://x:port"])
    def test_no_address(self, written: str) -> None:
        with pytest.raises(ConfigInvalid, match=r"llm\.endpoint"):
            OllamaModel(LlmConfig(endpoint=written))

    def test_environment_moves_neither_the_server_nor_the_loopback(self, surroundings: None) -> None:
        with RecordedServer([answer("ok")]) as server:
            assert text_of(ask(server)) == "ok"

    @pytest.fixture
    def surroundings(self, monkeypatch: pytest.MonkeyPatch) -> None:
        nowhere = f"http://127.0.0.1:{free_port()}"
        for name in ("OLLAMA_HOST", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, nowhere)


def test_importing_the_adapter_loads_no_client() -> None:
    program = "import sys, kb.llm.ollama, kb.llm.extractive, kb.llm.registry; print({'ollama', 'httpx', 'numpy'} & set(sys.modules))"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout == "set()\n"
