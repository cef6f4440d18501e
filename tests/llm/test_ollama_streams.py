"""OllamaModel against a real HTTP server: how answers come, stall, break off and fail."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import time
from typing import Any

import pytest

from kb.config import LlmConfig
from kb.errors import KbError, MalformedResponse, ModelError, ModelNotPulled, ModelTimeout, StreamAborted
from kb.llm.deadline import Deadline
from kb.llm.ollama import OllamaModel
from kb.llm.protocol import Done, Token
from tests.journey.conftest import take_ctrl_c
from tests.llm.ollama_calls import ask, model_on, request, text_of
from tests.llm.recorded_server import (
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
    whole,
)


class TestStream:
    def test_pieces_then_one_done_with_counters(self) -> None:
        with RecordedServer([answer("Rust ", "is fast [#1].", prompt_eval_count=41, eval_count=9)]) as server:
            assert ask(server) == [Token("Rust "), Token("is fast [#1]."), Done("stop", 41, 9, False)]

    def test_text_cut_inside_a_character_and_lines_merged(self) -> None:
        raw = line("소유권은 ") + line("규칙이다 [#1].") + last_line()
        cuts = range(90, len(raw), 5)
        with RecordedServer([Reply((raw[:cut], Pause(0.001), raw[cut:])) for cut in cuts]) as server:
            model = model_on(server)
            for _ in cuts:
                assert text_of(list(model.generate_stream(request()))) == "소유권은 규칙이다 [#1]."

    def test_the_last_line_may_carry_text_and_lack_its_newline(self) -> None:
        with RecordedServer([Reply((line("Rust"), last_line(content=" ends.").rstrip()))]) as server:
            assert ask(server) == [Token("Rust"), Token(" ends."), Done("stop", 3000, 5, False)]

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
            stream.close()  # type: ignore[attr-defined]
            assert server.client_left.wait(15.0)  # the server would go on after 20 seconds

    def test_ctrl_c_while_waiting_for_a_token_closes_the_connection(self) -> None:
        program = (
            "import sys\n"
            "from kb.config import LlmConfig\nfrom kb.llm.ollama import OllamaModel\n"
            "from tests.llm.ollama_calls import request\nfrom tests.llm.recorded_server import MODEL\n"
            "model = OllamaModel(LlmConfig(endpoint=sys.argv[1], model=MODEL))\n"
            "model.reference()\n"
            "try:\n    list(model.generate_stream(request()))\nexcept KeyboardInterrupt:\n    print('interrupted')\n"
        )
        with RecordedServer([Reply((Pause(30.0), last_line()))]) as server:
            with subprocess.Popen(
                [sys.executable, "-c", program, server.url],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                preexec_fn=take_ctrl_c,
            ) as process:
                limit = time.monotonic() + 30
                while not server.chats and time.monotonic() < limit:
                    time.sleep(0.02)
                process.send_signal(signal.SIGINT)
                out, err = process.communicate(timeout=25)
            assert out == "interrupted\n", err
            assert server.client_left.wait(15.0)


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
            assert ask(server, first_token_timeout_seconds=0.2)[-1] == Done("stop", 3000, 5, False)

    def test_a_stream_that_stalls_is_aborted_and_keeps_what_came(self) -> None:
        with RecordedServer([Reply((line("Rust"), Pause(20.0), last_line()))]) as server:
            # Whoever waited for the server, 20 seconds, would have had the whole answer.
            assert ask(server, between_tokens_timeout_seconds=0.2) == [Token("Rust"), Done("aborted")]

    def test_a_reader_that_pauses_is_not_a_server_that_stalls(self) -> None:
        with RecordedServer([Reply((line("Rust"), line(" is"), last_line()))]) as server:
            stream = model_on(server, between_tokens_timeout_seconds=0.1).generate_stream(request())
            got = [next(stream)]
            time.sleep(0.3)
            assert [*got, *stream][-1] == Done("stop", 3000, 5, False)

    def test_zero_waits_for_ever(self) -> None:
        with RecordedServer([Reply((Pause(0.3), line("Rust"), Pause(0.3), last_line()))]) as server:
            limits = ("connect", "first_token", "between_tokens")
            events = ask(server, **{f"{name}_timeout_seconds": 0.0 for name in limits})
        assert events[-1] == Done("stop", 3000, 5, False)

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
        assert f"kb models pull {MODEL}" in raised.value.fix

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
