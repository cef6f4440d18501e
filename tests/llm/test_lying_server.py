"""A model server that says anything: kb ask ends in an answer, a refusal or an error of two lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.chaos_servers import MODEL, LyingServer, is_orderly
from kb.cli.main import run
from kb.config import LlmConfig
from kb.errors import KbError
from kb.llm.ollama import OllamaModel
from kb.llm.protocol import Done, GenerateRequest, Token
from kb.llm.server import MOST_LINE_BYTES, join_at_most, read_json, split_lines
from tests.llm.recorded_server import MODEL as RECORDED
from tests.llm.recorded_server import RecordedServer, Reply, last_line, line

REQUEST = GenerateRequest("system", "user", "question", (), language="en", max_tokens=100, temperature=0.0, seed=1)


def ask(reply: Reply) -> list[Token | Done]:
    with RecordedServer([reply]) as server:
        return list(OllamaModel(LlmConfig(endpoint=server.url, model=RECORDED)).generate_stream(REQUEST))


def test_an_answer_without_an_end_is_stopped() -> None:
    *tokens, done = ask(Reply((line("again and again. ") * 100,) * 100))
    assert done == Done("aborted")
    assert 10_000 < sum(len(token.text) for token in tokens if isinstance(token, Token)) < 30_000


def test_empty_lines_without_an_end_are_an_error() -> None:
    with pytest.raises(KbError, match="not Ollama's protocol"):
        ask(Reply((line("") * 500,) * 20))


def test_a_line_without_an_end_is_an_error() -> None:
    with pytest.raises(KbError, match="not Ollama's protocol"):
        ask(Reply((b"x" * 1_000_000,) * 6))
    with pytest.raises(ValueError, match="without an end"):
        list(split_lines(b"x" * 1000 for _ in range(MOST_LINE_BYTES)))
    with pytest.raises(ValueError, match="more than"):
        join_at_most((b"x" * 1000 for _ in range(10)), 5000)


def test_half_a_surrogate_pair_can_be_stored_and_printed() -> None:
    *tokens, done = ask(Reply((b'{"message": {"content": "half \\ud800 of it"}, "done": false}\n', last_line())))
    assert isinstance(done, Done)
    assert "".join(token.text for token in tokens if isinstance(token, Token)) == "half \ufffd of it"
    assert read_json(b'"\\ud83d\\ude00"') == "😀"


def test_deep_json_is_an_error() -> None:
    with pytest.raises(KbError, match="not Ollama's protocol"):
        ask(Reply((b"[" * 200_000 + b"\n",)))


def test_a_count_that_no_database_can_hold_is_no_count() -> None:
    *_, done = ask(Reply((line("fine"), last_line(prompt_eval_count=10**30, eval_count=-1))))
    assert isinstance(done, Done)
    assert (done.prompt_tokens, done.completion_tokens) == (None, None)


def test_every_reply_ends_in_tokens_or_an_error() -> None:
    with LyingServer() as server:
        for seed in range(30):
            server.seed = seed
            model = OllamaModel(LlmConfig(endpoint=server.url, model=MODEL))
            refused: KbError | None = None
            got: list[Token | Done] = []
            try:
                got = list(model.generate_stream(REQUEST))
            except KbError as error:
                refused = error
            if refused:
                assert "\n" not in refused.problem + refused.fix, seed
            else:
                assert isinstance(got[-1], Done), seed
                "".join(token.text for token in got if isinstance(token, Token)).encode()


@pytest.mark.slow
def test_every_reply_ends_a_command_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """A few of the thousand of benchmarks/chaos_servers.py."""
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "mirror.md").write_text("# Mirror\n\nThe mirror is cleaned every 14 days.\n")
    home = tmp_path / "home"
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert run(["ingest", str(tmp_path / "notes"), "--home", str(home)], json=False) == 0
    with LyingServer() as server:
        for name, value in (("PROVIDER", "ollama"), ("ENDPOINT", server.url), ("MODEL", MODEL)):
            monkeypatch.setenv(f"KB_LLM__{name}", value)
        for seed in (1, 2, 6, 11, 17):
            server.seed = seed
            capfd.readouterr()
            words = ["ask", "How often is the mirror cleaned?", "--mode", "lexical", "--home", str(home)]
            code = int(run(words, json=False))
            captured = capfd.readouterr()
            assert is_orderly(code, captured.out, captured.err), (seed, code, captured.err)
