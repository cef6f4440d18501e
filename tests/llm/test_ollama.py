"""OllamaModel against a real HTTP server: one test for each way in which Ollama surprises."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from typing import Any

import pytest

from kb.config import LlmConfig
from kb.errors import (
    ConfigInvalid,
    KbError,
    MalformedResponse,
    ModelError,
    ModelNotPulled,
    ModelTimeout,
    StreamAborted,
)
from kb.llm.deadline import Deadline
from kb.llm.ollama import OllamaModel, normalize_endpoint, read_facts
from kb.llm.protocol import Done, GenerateRequest, ModelRef, Token
from kb.llm.thinking import ThinkFilter
from tests.llm.recorded_server import (
    DIGEST,
    MODEL,
    Hangup,
    Pause,
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


class TestStream:
    def test_pieces_then_one_done_with_counters(self) -> None:
        with RecordedServer([answer("Rust ", "is fast [#1].", prompt_eval_count=41, eval_count=9)]) as server:
            assert ask(server) == [Token("Rust "), Token("is fast [#1]."), Done("stop", 41, 9)]

    def test_text_cut_inside_a_character_and_lines_merged(self) -> None:
        raw = line("소유권은 ") + line("규칙이다 [#1].") + last_line()
        cuts = range(90, len(raw), 5)
        with RecordedServer([Reply((raw[:cut], Pause(0.001), raw[cut:])) for cut in cuts]) as server:
            model = model_on(server)
            for _ in cuts:
                assert text_of(list(model.generate_stream(request()))) == "소유권은 규칙이다 [#1]."

    def test_the_last_line_may_carry_text_and_lack_its_newline(self) -> None:
        with RecordedServer([Reply((line("Rust"), last_line(content=" ends.").rstrip()))]) as server:
            assert ask(server) == [Token("Rust"), Token(" ends."), Done("stop", 30, 5)]

    def test_absent_counters_are_unknown_and_not_zero(self) -> None:
        with RecordedServer([answer("Rust", prompt_eval_count=None, eval_count=None)]) as server:
            assert ask(server)[-1] == Done("stop", None, None)

    @pytest.mark.parametrize(
        ("reason", "finish"),
        [("stop", "stop"), (None, "stop"), ("length", "length"), ("", "aborted"), ("load", "aborted")],
    )
    def test_done_reasons(self, reason: str | None, finish: str) -> None:
        with RecordedServer([answer("Rust", reason=reason)]) as server:
            last = ask(server)[-1]
        assert isinstance(last, Done)
        assert last.finish_reason == finish

    @pytest.mark.parametrize(
        "ending",
        [
            (),
            (Hangup(),),
            (b'{"error":"an unknown error was encountered while running the model"}\n',),
            (b'{"model": "qwen2.5:3b", "mess\n',),
            (b"[1, 2]\n",),
            (b'{"done": true}\n',),
        ],
        ids=["no done", "hang-up", "error line", "broken JSON", "no object", "no message"],
    )
    def test_what_breaks_off_after_the_first_piece_is_aborted(self, ending: tuple[Any, ...]) -> None:
        with RecordedServer([Reply((line("Rust is"), *ending))]) as server:
            assert ask(server) == [Token("Rust is"), Done("aborted")]

    @pytest.mark.parametrize(
        ("steps", "kind", "words"),
        [
            ((), StreamAborted, "broke off"),
            ((Hangup(),), StreamAborted, "broke off"),
            ((b'{"error":"model runner has unexpectedly stopped"}\n',), ModelError, "unexpectedly stopped"),
            ((b"<html>hello</html>\n",), MalformedResponse, "protocol"),
            ((b'"text"\n',), MalformedResponse, "protocol"),
            ((line(""), line("", thinking="hm"), Hangup()), StreamAborted, "broke off"),
        ],
        ids=["empty", "hang-up", "error line", "HTML", "no object", "only thinking"],
    )
    def test_what_breaks_off_before_it_is_an_error(
        self, steps: tuple[Any, ...], kind: type[KbError], words: str
    ) -> None:
        with RecordedServer([Reply(steps)]) as server, pytest.raises(kind) as raised:
            ask(server)
        assert type(raised.value) is kind
        assert words in raised.value.problem


class TestClosing:
    def test_closing_the_iterator_closes_the_connection_at_once(self) -> None:
        with RecordedServer([Reply((line("Rust"), Pause(20.0), last_line()))]) as server:
            stream = model_on(server).generate_stream(request())
            assert next(stream) == Token("Rust")
            before = time.monotonic()
            stream.close()  # type: ignore[attr-defined]
            assert server.client_left.wait(2.0)
            assert time.monotonic() - before < 1.0

    def test_ctrl_c_while_waiting_for_a_token_closes_the_connection(self) -> None:
        program = (
            "import _thread, threading, sys\n"
            "from tests.llm.test_ollama import *\n"
            "model = OllamaModel(LlmConfig(endpoint=sys.argv[1], model=MODEL))\n"
            "model.reference()\n"
            "threading.Timer(0.3, lambda: __import__('os').kill(__import__('os').getpid(), 2)).start()\n"
            "try:\n    list(model.generate_stream(request()))\nexcept KeyboardInterrupt:\n    print('interrupted')\n"
        )
        with RecordedServer([Reply((Pause(30.0), last_line()))]) as server:
            run = subprocess.run(
                [sys.executable, "-c", program, server.url], capture_output=True, text=True, timeout=15, check=False
            )
            assert run.stdout == "interrupted\n", run.stderr
            assert server.client_left.wait(2.0)


class TestTimeOuts:
    def test_waiting_for_the_first_token(self) -> None:
        with RecordedServer([Reply((last_line(),), wait_seconds=20.0)]) as server, pytest.raises(ModelTimeout):
            ask(server, first_token_timeout_seconds=0.2)

    def test_headers_alone_are_no_first_token(self) -> None:
        with RecordedServer([Reply((b" ", Pause(20.0), last_line()))]) as server, pytest.raises(ModelTimeout):
            ask(server, first_token_timeout_seconds=0.2)

    def test_a_slow_first_token_is_not_held_to_the_limit_between_tokens(self) -> None:
        with RecordedServer([Reply((Pause(0.5), line("Rust"), last_line()))]) as server:
            assert text_of(ask(server, between_tokens_timeout_seconds=0.1)) == "Rust"

    def test_a_gap_between_tokens_is_not_held_to_the_limit_of_the_first(self) -> None:
        with RecordedServer([Reply((line("Rust"), Pause(0.5), last_line()))]) as server:
            assert ask(server, first_token_timeout_seconds=0.2)[-1] == Done("stop", 30, 5)

    def test_a_stream_that_stalls_is_aborted_and_keeps_what_came(self) -> None:
        with RecordedServer([Reply((line("Rust"), Pause(20.0), last_line()))]) as server:
            before = time.monotonic()
            assert ask(server, between_tokens_timeout_seconds=0.2) == [Token("Rust"), Done("aborted")]
            assert time.monotonic() - before < 2.0

    def test_a_reader_that_pauses_is_not_a_server_that_stalls(self) -> None:
        with RecordedServer([Reply((line("Rust"), line(" is"), last_line()))]) as server:
            stream = model_on(server, between_tokens_timeout_seconds=0.1).generate_stream(request())
            got = [next(stream)]
            time.sleep(0.3)
            assert [*got, *stream][-1] == Done("stop", 30, 5)

    def test_zero_waits_for_ever(self) -> None:
        with RecordedServer([Reply((Pause(0.3), line("Rust"), Pause(0.3), last_line()))]) as server:
            limits = ("connect", "first_token", "between_tokens")
            events = ask(server, **{f"{name}_timeout_seconds": 0.0 for name in limits})
        assert events[-1] == Done("stop", 30, 5)

    def test_the_wait_for_a_connection_has_its_own_limit(self) -> None:
        # A listener whose queue is full drops further connection requests: the connect hangs.
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            listener.listen(0)
            address = listener.getsockname()
            with FilledQueue(address):
                model = OllamaModel(LlmConfig(endpoint=f"http://127.0.0.1:{address[1]}", connect_timeout_seconds=0.2))
                with pytest.raises(ModelTimeout, match=r"0\.2 s to reach"):
                    model.reference()

    def test_a_deadline_ends_its_thread(self) -> None:
        with Deadline() as deadline, deadline.within(60.0):
            pass
        deadline._thread.join(1.0)
        assert not deadline._thread.is_alive()


class FilledQueue:
    def __init__(self, address: tuple[str, int]) -> None:
        self._clients = [socket.socket() for _ in range(4)]
        for client in self._clients:
            client.setblocking(False)
            client.connect_ex(address)

    def __enter__(self) -> None:
        time.sleep(0.05)

    def __exit__(self, *raised: object) -> None:
        for client in self._clients:
            client.close()


class TestErrors:
    def test_no_server(self) -> None:
        endpoint = f"http://127.0.0.1:{free_port()}"
        with pytest.raises(ModelError) as raised:
            OllamaModel(LlmConfig(endpoint=endpoint)).reference()
        assert raised.value.code == "model_unavailable"
        assert endpoint in raised.value.problem
        assert "ollama serve" in raised.value.fix

    def test_a_model_that_is_not_pulled_names_those_that_are(self) -> None:
        with (
            RecordedServer(models={"llama3.2:1b": "d", "gemma3:4b": "e"}) as server,
            pytest.raises(ModelNotPulled) as raised,
        ):
            ask(server)
        assert "gemma3:4b, llama3.2:1b" in raised.value.problem
        assert f"ollama pull {MODEL}" in raised.value.fix

    def test_no_model_at_all(self) -> None:
        with RecordedServer(models={}) as server, pytest.raises(ModelNotPulled, match="none at all"):
            ask(server)

    def test_a_404_counts_whatever_its_words(self) -> None:
        with RecordedServer([error('model "x" nicht da', 404)]) as server, pytest.raises(ModelNotPulled):
            ask(server)

    def test_another_server_on_the_port_is_not_taken_for_ollama(self) -> None:
        routes = {"/api/tags": error("404 page not found", 404)}
        with RecordedServer(routes=routes) as server, pytest.raises(ModelError) as raised:
            ask(server)
        assert not isinstance(raised.value, ModelNotPulled)

    @pytest.mark.parametrize("body", [[], "text", {"models": [{}]}, {"models": 3}])
    def test_a_tag_list_of_another_shape_is_malformed(self, body: Any) -> None:
        with RecordedServer(routes={"/api/tags": whole(body)}) as server, pytest.raises(MalformedResponse):
            ask(server)

    @pytest.mark.parametrize(("status", "words"), [(400, "context"), (403, "allow"), (500, "memory"), (503, "queue")])
    def test_other_refusals_say_the_servers_words_and_a_fix(self, status: int, words: str) -> None:
        with RecordedServer([error("it is so", status)]) as server, pytest.raises(ModelError) as raised:
            ask(server)
        assert "it is so" in raised.value.problem
        assert words in raised.value.fix

    def test_an_empty_answer_that_filled_the_context_says_to_raise_it(self) -> None:
        full = answer("", reason="length", prompt_eval_count=8191, eval_count=1)
        with RecordedServer([full]) as server, pytest.raises(KbError, match="8192") as raised:
            ask(server)
        assert "llm.context_tokens" in raised.value.fix
        assert len(server.chats) == 1


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
