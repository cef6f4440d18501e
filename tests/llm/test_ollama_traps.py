"""Every silent trap with Ollama, by its number in the table of kb/llm/ollama.py: the defence, on recorded answers."""

from __future__ import annotations

import re
import threading
from pathlib import Path
from typing import Any

import pytest

import kb.llm.ollama
from kb.config import EmbeddingConfig, LlmConfig
from kb.errors import ConfigInvalid, ModelError
from kb.llm.embedding import open_ollama_encoder
from kb.llm.model_info import read_facts
from kb.llm.ollama import OllamaModel
from kb.llm.protocol import Done, Token
from kb.llm.server import ContextExceeded
from kb.llm.truncation import is_cut, least_tokens
from tests.llm.ollama_calls import ask, model_on, request, text_of
from tests.llm.recorded_server import (
    MODEL,
    Pause,
    RecordedServer,
    Reply,
    answer,
    error,
    last_line,
    line,
    shown,
    whole,
)

# Trap → where its defence is tested: a file below tests/, and names in it.
DEFENDED = {
    1: ("llm/test_ollama_traps.py", "TestTrap1"),
    2: ("llm/test_ollama_traps.py", "TestTrap2"),
    3: ("llm/test_ollama_traps.py", "TestTrap3"),
    4: ("llm/test_ollama_traps.py", "test_trap4_only_the_native_paths_are_used"),
    5: ("llm/test_ollama_traps.py", "test_trap5_every_call_asks_for_the_same_size"),
    6: ("llm/test_ollama.py", "test_num_ctx_is_a_fixed_size_within_the_models_own"),
    7: ("llm/test_ollama_traps.py", "TestTrap7"),
    8: ("llm/test_ollama_traps.py", "TestTrap8"),
    9: ("llm/test_ollama_traps.py", "TestTrap9"),
    10: ("llm/test_ollama_traps.py", "TestTrap10"),
    11: ("llm/test_ollama_streams.py", "TestTimeOuts"),
    12: ("journey/test_ask_terminal.py", "test_ctrl_c_before_the_first_token"),
    13: ("llm/test_ollama_traps.py", "test_trap13_absent_counters_are_unknown_and_raise_no_alarm"),
    14: ("llm/test_ollama_traps.py", "TestTrap14"),
    15: ("llm/test_ollama_traps.py", "test_trap15_everything_that_bounds_an_answer_stands_inside_options"),
    16: ("llm/test_ollama_traps.py", "test_trap16_texts_to_embed_stay_within_the_models_length"),
    17: ("llm/test_ollama_traps.py", "test_trap17_the_first_message_is_our_own_system_message"),
    18: ("llm/test_ollama_traps.py", "test_trap18_the_same_request_gives_the_same_bytes"),
    19: ("llm/test_ollama_traps.py", "test_trap19_undocumented_fields_are_not_sent"),
    20: ("journey/test_answers_history.py", "test_no_transaction_is_held_while_the_model_writes"),
}

TOO_LONG = (
    '{"error":{"code":400,"message":"request (9351 tokens) exceeds the available context size (8192 tokens), try '
    'increasing it","type":"exceed_context_size_error","n_prompt_tokens":9351,"n_ctx":8192}}'
)
PROSE = "The mirror of the telescope must be cleaned every fourteen days by two people. " * 100


def test_every_trap_of_the_table_has_a_defence_that_is_tested() -> None:
    table = re.findall(r"^ {4,5}(\d+)  \S.*? {2,}\S", kb.llm.ollama.__doc__ or "", re.M)
    assert [int(number) for number in table] == list(DEFENDED) == list(range(1, 21))
    for path, name in DEFENDED.values():
        source = (Path(__file__).parents[1] / path).read_text(encoding="utf-8")
        assert re.search(rf"(?:class|def) {name}\b", source), name


def noting(server: RecordedServer, **config: Any) -> tuple[OllamaModel, list[str]]:
    """A model and the lines it tells the user."""
    told: list[str] = []
    model = model_on(server, **config)
    model._notify = told.append
    return model, told


class TestTrap1:
    """The allocated context is another than the trained one."""

    def test_the_model_is_loaded_with_our_options_before_anything_is_packed(self) -> None:
        with RecordedServer([answer("ok")]) as server:
            model = model_on(server)
            assert model.context_tokens() == 8192
            list(model.generate_stream(request()))
        assert [body["options"]["num_ctx"] for body in (*server.loads, *server.chats)] == [8192, 8192]
        assert server.loads[0]["messages"] == []

    def test_a_loaded_model_is_not_loaded_again(self) -> None:
        with RecordedServer([answer("ok")], loaded=8192) as server:
            assert model_on(server).context_tokens() == 8192
        assert server.loads == []

    def test_no_more_is_packed_than_the_server_allocates_and_the_same_is_asked_for(self) -> None:
        with RecordedServer([answer("ok")], most=4096) as server:
            model, told = noting(server)
            assert model.context_tokens() == 4096
            list(model.generate_stream(request()))
        assert server.chats[0]["options"]["num_ctx"] == 8192
        assert ["4,096" in message and "8,192" in message for message in told] == [True]

    def test_a_server_that_does_not_say_is_believed(self) -> None:
        for running in (whole({"models": [{"name": MODEL}]}), whole({"models": None}), error("page not found", 404)):
            with RecordedServer(routes={"/api/ps": running}) as server:
                assert model_on(server).context_tokens() == 8192

    def test_a_server_that_knows_no_empty_chat_is_asked_without(self) -> None:
        with RecordedServer([answer("ok")], load=error("messages: required", 400)) as server:
            assert model_on(server).context_tokens() == 8192

    def test_a_model_that_cannot_be_loaded_is_an_error(self) -> None:
        no_memory = error("model requires more system memory (9.1 GiB) than is available (4.0 GiB)", 500)
        with RecordedServer(load=no_memory) as server, pytest.raises(ModelError, match=r"9\.1 GiB"):
            model_on(server).context_tokens()

    def test_a_remote_model_is_not_loaded_here(self) -> None:
        with RecordedServer(show=shown(remote_host="https://ollama.com:443", remote_model="big")) as server:
            assert model_on(server).context_tokens() == 8192
        assert server.loads == []


class TestTrap2:
    """What is too long is cut in silence."""

    def test_truncate_and_shift_are_off(self) -> None:
        with RecordedServer([answer("ok")]) as server:
            ask(server)
        assert (server.chats[0]["truncate"], server.chats[0]["shift"]) == (False, False)

    @pytest.mark.parametrize("status", [400, 500])
    def test_a_refused_prompt_names_both_sizes_and_is_not_sent_again(self, status: int) -> None:
        thinks = shown(capabilities=["thinking"])
        with RecordedServer([error(TOO_LONG, status)], show=thinks) as server, pytest.raises(ContextExceeded) as raised:
            ask(server)
        assert "9351 tokens" in raised.value.problem
        assert "8192" in raised.value.problem
        assert "rag.max_context_tokens" in raised.value.fix
        assert len(server.chats) == 1

    @pytest.mark.parametrize(
        ("counted", "cut"),
        [(0, True), (16, True), (700, True), (1350, False), (2400, False), (8190, False), (8191, True), (None, None)],
    )
    def test_the_count_says_whether_the_prompt_was_cut(self, counted: int | None, cut: bool | None) -> None:
        with RecordedServer([answer("ok [#1].", prompt_eval_count=counted)], loaded=8192) as server:
            model, told = noting(server)
            done = list(model.generate_stream(request(user=PROSE)))[-1]
        assert done == Done("stop", counted, 5, cut)
        assert any("it was cut" in message for message in told) == bool(cut)

    @pytest.mark.parametrize(
        ("text", "tokens"),
        [("", 0), ("one two", 2), ("a" * 33, 3), ("=" * 200, 1), ("거울은 청소", 2), ("镜子每十四天清洁一次", 2)],
    )
    def test_the_least_a_text_can_have(self, text: str, tokens: int) -> None:
        assert least_tokens(text) == tokens

    def test_without_a_count_nothing_is_said(self) -> None:
        assert is_cut(PROSE, None, 8192) is None


class TestTrap3:
    """A cut prompt can look like an empty answer."""

    def test_a_full_context_says_to_raise_it_and_is_not_retried(self) -> None:
        full = answer("", reason="length", prompt_eval_count=8191, eval_count=1)
        with RecordedServer([full]) as server, pytest.raises(ConfigInvalid, match="8192") as raised:
            ask(server)
        assert "num_ctx" in raised.value.fix
        assert len(server.chats) == 1

    def test_an_empty_answer_with_room_left_is_none(self) -> None:
        with RecordedServer([answer("", reason="length", eval_count=1)]) as server:
            assert ask(server) == [Done("length", 3000, 1, False)]


def test_trap4_only_the_native_paths_are_used() -> None:
    with RecordedServer([answer("ok")]) as server:
        model = model_on(server)
        model.context_tokens()
        model.server.version()
        list(model.generate_stream(request()))
    paths = {sent.path for sent in server.requests}
    assert paths == {"/api/tags", "/api/show", "/api/ps", "/api/version", "/api/chat"}


def test_trap5_every_call_asks_for_the_same_size() -> None:
    with RecordedServer([answer("ok")]) as server:
        model = model_on(server, context_tokens=12_000)
        for user in ("short", PROSE):
            model.context_tokens()
            list(model.generate_stream(request(user=user)))
    assert {body["options"]["num_ctx"] for body in (*server.loads, *server.chats)} == {8192}
    assert {(body["truncate"], body["shift"]) for body in (*server.loads, *server.chats)} == {(False, False)}
    assert len(server.loads) == 1


class TestTrap7:
    """The model is unloaded after a while, and loading it takes long."""

    def test_keep_alive_goes_with_the_loading_too(self) -> None:
        with RecordedServer([answer("ok")]) as server:
            model_on(server, keep_alive="2h").context_tokens()
        assert server.loads[0]["keep_alive"] == "2h"

    @pytest.mark.parametrize(("seconds", "is_told"), [(2.0, True), (0.0, False)])
    def test_loading_is_announced_after_a_moment(self, seconds: float, is_told: bool) -> None:
        slow = Reply(whole({"done": True, "done_reason": "load"}).steps, wait_seconds=seconds)
        with RecordedServer(load=slow) as server:
            model, told = noting(server)
            model.context_tokens()
        assert told == ([f"loading {MODEL} on Ollama …"] if is_told else [])

    def test_a_long_wait_for_the_first_token_is_announced(self) -> None:
        with RecordedServer([Reply((Pause(2.0), line("ok"), last_line()))]) as server:
            model, told = noting(server)
            list(model.generate_stream(request()))
        assert told == [f"waiting for {MODEL} to read the prompt …"]


class TestTrap8:
    """Thinking spends the answer."""

    THOUGHT = Reply((line("", thinking="hm " * 50), last_line("length", eval_count=300)))

    def test_all_thinking_where_it_was_not_turned_off_is_retried_once_with_it_off(self) -> None:
        with RecordedServer([self.THOUGHT, answer("Rust [#1].")]) as server:
            assert text_of(ask(server)) == "Rust [#1]."
        assert [body.get("think") for body in server.chats] == [None, False]

    def test_and_then_it_is_an_error(self) -> None:
        with RecordedServer([self.THOUGHT]) as server, pytest.raises(ModelError, match="on thinking"):
            ask(server)
        assert len(server.chats) == 2

    def test_with_thinking_off_already_asking_again_would_give_the_same(self) -> None:
        thinks = shown(capabilities=["thinking"])
        with RecordedServer([self.THOUGHT], show=thinks) as server, pytest.raises(ModelError, match="on thinking"):
            ask(server)
        assert len(server.chats) == 1

    def test_a_thought_that_ends_well_without_an_answer_is_one_too(self) -> None:
        mute = Reply((line("<think>hm</think>"), last_line("stop")))
        with RecordedServer([mute, answer("Rust [#1].")]) as server:
            assert text_of(ask(server)) == "Rust [#1]."


class TestTrap9:
    """Streams end, and are cut, in many ways."""

    def test_a_line_separator_inside_a_string_ends_no_line(self) -> None:
        pieces = ("one\u0085two", "\u2028three\u2029", "\x0c\x1c four")
        with RecordedServer([answer(*pieces)]) as server:
            assert text_of(ask(server)) == "".join(pieces)

    def test_one_byte_at_a_time(self) -> None:
        raw = line("소유권은 ") + b"\n" + line("𝒳 규칙\u0085이다 [#1].") + last_line()
        with RecordedServer([Reply(tuple(raw[i : i + 1] for i in range(len(raw))))]) as server:
            assert text_of(ask(server)) == "소유권은 𝒳 규칙\u0085이다 [#1]."

    def test_all_lines_in_one_piece_with_carriage_returns(self) -> None:
        raw = (line("a") + line("b") + last_line()).replace(b"\n", b"\r\n")
        with RecordedServer([Reply((raw,))]) as server:
            assert text_of(ask(server)) == "ab"

    def test_a_broken_character_does_not_cost_the_answer(self) -> None:
        with RecordedServer([Reply((line("a?b").replace(b"?", b"\xff"), last_line()))]) as server:
            assert text_of(ask(server)) == "a\ufffdb"

    def test_an_error_in_the_middle_is_told(self) -> None:
        with RecordedServer([Reply((line("Rust"), b'{"error":"CUDA out of memory"}\n'))]) as server:
            model, told = noting(server)
            assert list(model.generate_stream(request())) == [Token("Rust"), Done("aborted")]
        assert "CUDA out of memory" in told[0]

    def test_an_answer_that_filled_the_context_says_so(self) -> None:
        full = answer("Rust", reason="length", prompt_eval_count=8000, eval_count=192)
        with RecordedServer([full]) as server:
            model, told = noting(server)
            assert list(model.generate_stream(request()))[-1] == Done("length", 8000, 192, False)
        assert "raise llm.context_tokens" in told[0]


class TestTrap10:
    """Remote models and queues refuse with their own statuses."""

    @pytest.mark.parametrize(
        ("status", "words"),
        [(401, "signin"), (403, "account"), (429, "wait"), (502, "cannot reach"), (503, "queue")],
    )
    def test_each_has_its_fix(self, status: int, words: str) -> None:
        with RecordedServer([error("upstream says no", status)]) as server, pytest.raises(ModelError) as raised:
            ask(server)
        assert words in raised.value.fix
        assert "upstream says no" in raised.value.problem
        assert raised.value.details["status"] == status

    @pytest.mark.parametrize("body", [b"<html>Bad Gateway</html>", b"", b'{"error": {"message": "no"}}', b"[]"])
    def test_whatever_the_body_is(self, body: bytes) -> None:
        with RecordedServer([Reply((body,) if body else (), 502)]) as server, pytest.raises(ModelError) as raised:
            ask(server)
        assert raised.value.details["status"] == 502

    def test_an_error_line_may_carry_a_status(self) -> None:
        refused = Reply((b'{"error":"unauthorized","status_code":401,"signin_url":"https://x"}\n',))
        with RecordedServer([refused]) as server, pytest.raises(ModelError) as raised:
            ask(server)
        assert "signin" in raised.value.fix


def test_trap13_absent_counters_are_unknown_and_raise_no_alarm() -> None:
    with RecordedServer([answer("ok", prompt_eval_count=None, eval_count=None)]) as server:
        model, told = noting(server)
        assert list(model.generate_stream(request(user=PROSE)))[-1] == Done("stop", None, None, None)
    assert told == []


class TestTrap14:
    """/api/show has many shapes."""

    def test_a_model_that_does_not_say_gets_4096_with_a_warning(self) -> None:
        with RecordedServer([answer("ok")], show=shown(model_info=None)) as server:
            model, told = noting(server)
            assert model.context_tokens() == 4096
        assert "4,096" in told[0]

    def test_the_modelfiles_size_counts_before_that(self) -> None:
        facts = read_facts(shown(model_info={}, parameters="num_ctx 16384\nstop x"))
        assert (facts.trained_tokens, facts.is_context_known) == (16384, True)


def test_trap15_everything_that_bounds_an_answer_stands_inside_options() -> None:
    with RecordedServer([answer("ok")]) as server:
        ask(server)
    body = server.chats[0]
    assert {"num_predict", "temperature", "seed", "stop", "num_ctx"} == set(body["options"])
    assert body["options"]["num_predict"] > 0
    assert not {"num_predict", "temperature", "seed"} & set(body)


@pytest.mark.parametrize(("trained", "most"), [(512, 384), (2048, 1536), (32768, 1536)])
def test_trap16_texts_to_embed_stay_within_the_models_length(trained: int, most: int, tmp_path: Path) -> None:
    """Chunks are no longer than max_tokens, by a count that is rather too high for every script."""
    about = shown(model_info={"general.architecture": "bert", "bert.context_length": trained})
    with RecordedServer(models={"m:latest": "a" * 64}, show=about) as server:
        config = EmbeddingConfig(model="ollama:m")
        encoder = open_ollama_encoder(config, LlmConfig(endpoint=server.url), tmp_path, print)
    assert encoder.max_tokens == most
    assert len(encoder.token_starts("소유권은 규칙이다")) == 8
    assert len(encoder.token_starts("internationalization, 12345!")) == 4 + 1 + 2 + 1


def test_trap17_the_first_message_is_our_own_system_message() -> None:
    with RecordedServer([answer("ok")]) as server:
        ask(server)
    assert server.chats[0]["messages"][0] == {"role": "system", "content": "Use the evidence only."}


def test_trap19_undocumented_fields_are_not_sent() -> None:
    with RecordedServer([answer("ok")]) as server:
        ask(server)
    assert not [name for name in server.chats[0] if name.startswith("_")]


def test_trap18_the_same_request_gives_the_same_bytes() -> None:
    with RecordedServer([answer("ok")]) as server:
        for _ in range(2):
            ask(server)
    first, second = server.chats
    assert list(first) == list(second)
    assert first == second


def test_the_waiting_leaves_no_thread_behind() -> None:
    with RecordedServer([answer("ok")]) as server:
        before = {thread for thread in threading.enumerate() if isinstance(thread, threading.Timer)}
        ask(server)
        waiting = {thread for thread in threading.enumerate() if isinstance(thread, threading.Timer)} - before
        for thread in waiting:
            thread.join(1.0)
        assert not any(thread.is_alive() for thread in waiting)
