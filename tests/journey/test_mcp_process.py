"""kb mcp as a process: nothing but the protocol on stdout, cancellation, hostile input, who may come in over HTTP."""

from __future__ import annotations

import json
import random
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from kb.config import Config
from kb.embed.model_files import ENGLISH_MODEL
from kb.library import KnowledgeBase
from tests.forked_kb import KB
from tests.journey.conftest import CORPUS, Call, call_aside
from tests.journey.mcp_client import Talk, http_server, server_environment, stdio_talk, text_of
from tests.journey.mcp_fuzz import random_call
from tests.llm.recorded_server import MODEL, Pause, RecordedServer, Reply, line

QUESTION = "How often must the mirror of Marigold be cleaned?"
TOKEN = "a-token-of-some-length"


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory, encoder_cache: Path) -> dict[str, str]:
    return server_environment(encoder_cache, tmp_path_factory.mktemp("mcp"), KB_SEARCH__MODE="lexical")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory, encoder_cache: Path) -> Path:
    home = tmp_path_factory.mktemp("mcp-home") / "home"
    guides = [CORPUS / "guide" / name for name in ("marigold-telescope.md", "thistle-telescope.md")]
    words = ["ingest", *guides, "--quiet", "--home", home]
    call_aside(words, home.parent / "cache", encoder_cache, KB_EMBEDDING__MODEL=ENGLISH_MODEL)
    return home


@pytest.fixture(scope="module")
def talk(home: Path, environment: dict[str, str]) -> Iterator[Talk]:
    with stdio_talk(home, environment) as talk:
        yield talk


def message(number: int, method: str, params: dict[str, Any] | None = None) -> bytes:
    body = {"jsonrpc": "2.0", "id": number, "method": method, "params": params or {}}
    return json.dumps(body).encode() + b"\n"


def test_stdout_holds_the_protocol_alone(home: Path, environment: dict[str, str]) -> None:
    """Whatever comes in, each line that goes out is JSON-RPC, and the server goes on; it ends with its input."""
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}
    lines = [
        message(1, "initialize", hello),
        b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n',
        b"no json\n",
        b"\xff\xfe\x00\n",
        b'{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"search","arguments":{"query":"\\ud800"}}}\n',
        b'{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":["search"]}}\n',
        message(4, "no/such/method"),
        b"[" * 5000 + b"\n",
        message(5, "tools/call", {"name": "search", "arguments": {"query": QUESTION}}),
    ]
    words = [*KB, "mcp", "--home", str(home)]
    with subprocess.Popen(
        words, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(b"".join(lines))
        server.stdin.flush()
        answers: dict[Any, Any] = {}
        while 5 not in answers:
            answer = json.loads(server.stdout.readline())
            assert answer["jsonrpc"] == "2.0"
            answers[answer.get("id")] = answer
        server.stdin.close()
        assert server.wait(timeout=20) == 0
        assert server.stdout.read() == b""
    assert "error" in answers[3]
    assert "error" in answers[4]
    assert answers[5]["result"]["structuredContent"]["hits"]


def test_random_calls_crash_nothing(talk: Talk) -> None:
    """The short form of benchmarks/agents.py: each call ends in a result or an error with a fix, never in a bug."""
    chance = random.Random(20261122)
    codes: set[int] = set()
    for _ in range(80):
        tool, arguments = random_call(chance)
        try:
            found = talk.call(tool, **arguments)
        except MCPError as refused:  # what is no call at all
            codes.add(refused.code)
            continue
        assert "kb has a bug" not in text_of(found), (tool, arguments, text_of(found))
        assert not found.is_error or "\n  fix: " in text_of(found)
    assert codes <= {-32602, -32600}
    assert talk.content("search", query=QUESTION)["hits"]


def test_an_answer_that_nobody_waits_for_ends(home: Path, environment: dict[str, str]) -> None:
    """The model is left in the middle of its answer, what came of it is stored, and searches go on meanwhile."""
    slow = Reply((line("The mirror "), *(step for _ in range(200) for step in (Pause(0.1), line("and ")))))
    with RecordedServer([slow]) as model:
        own = {"KB_LLM__PROVIDER": "ollama", "KB_LLM__ENDPOINT": model.url, "KB_LLM__MODEL": MODEL}
        with stdio_talk(home, environment | own) as talk:
            told = anyio.Event()

            async def note(progress: float, total: float | None, said: str | None) -> None:
                if said and "written" in said:
                    told.set()

            async def leave(client: Client) -> None:
                async with anyio.create_task_group() as group:

                    async def asks() -> None:
                        await client.call_tool("ask", {"question": QUESTION}, progress_callback=note)

                    group.start_soon(asks)
                    with anyio.fail_after(60):
                        await told.wait()
                    found = await client.call_tool("search", {"query": QUESTION})
                    assert not found.is_error
                    group.cancel_scope.cancel()

            talk.run(leave)
            deadline = time.monotonic() + 60
            with KnowledgeBase(home, Config()) as base:
                journal = base.runtime().journal
                while not any(row.refusal_reason == "llm_stream_aborted" for row in journal.list_answers(50)):
                    assert time.monotonic() < deadline, "the answer goes on"
                    time.sleep(0.05)


def test_the_server_ends_with_its_input_whatever_runs(home: Path, environment: dict[str, str]) -> None:
    """A model that says nothing for a minute does not hold up the end, and the end is no crash."""
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}
    with RecordedServer([Reply((Pause(60.0), line("late")))]) as model:
        own = {"KB_LLM__PROVIDER": "ollama", "KB_LLM__ENDPOINT": model.url, "KB_LLM__MODEL": MODEL}
        words = [*KB, "mcp", "--home", str(home)]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        with subprocess.Popen(words, env=environment | own, **pipes) as server:  # type: ignore[call-overload]
            asks = message(2, "tools/call", {"name": "ask", "arguments": {"question": QUESTION}})
            server.stdin.write(message(1, "initialize", hello) + asks)
            server.stdin.flush()
            deadline = time.monotonic() + 60
            while not model.chats:
                assert time.monotonic() < deadline, "the model is never asked"
                time.sleep(0.05)
            server.stdin.close()
            assert server.wait(timeout=30) == 0
            assert b"terminate" not in server.stderr.read()


@pytest.fixture(scope="module")
def guarded(home: Path, environment: dict[str, str]) -> Iterator[str]:
    with http_server(home, environment | {"KB_TOKEN": TOKEN}, "mcp", "--http", "127.0.0.1:0") as address:
        yield address


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 401),
        ({"authorization": "Bearer wrong"}, 401),
        ({"authorization": f"Bearer {TOKEN}", "host": "evil.example"}, 421),
        ({"authorization": f"Bearer {TOKEN}", "origin": "https://evil.example"}, 403),
        ({"authorization": f"Bearer {TOKEN}", "origin": "null"}, 403),
        ({"authorization": f"Bearer {TOKEN}"}, 200),
    ],
)
def test_who_may_come_in(guarded: str, headers: dict[str, str], status: int) -> None:
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}
    usual = {"accept": "application/json, text/event-stream"}
    found = httpx.post(guarded, json=body, headers=usual | headers)
    assert found.status_code == status
    assert "default-src 'self'" in found.headers["content-security-policy"]
    assert "access-control-allow-origin" not in found.headers


def test_a_body_that_is_too_long_is_refused(guarded: str) -> None:
    headers = {"authorization": f"Bearer {TOKEN}", "accept": "application/json, text/event-stream"}
    found = httpx.post(guarded, content=b"x" * (9 << 20), headers=headers | {"content-type": "application/json"})
    assert found.status_code == 413


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--http", "0.0.0.0:0"], "there is no token"),
        (["--http", "nowhere"], "is no address"),
        (["--http", "192.0.2.1:1", "--token-file", "/nonexistent"], "cannot read the token"),
    ],
)
def test_an_address_that_cannot_be(kb: Call, tmp_path: Path, words: list[str], problem: str) -> None:
    said = kb("mcp", *words, home=tmp_path / "home")
    assert (said.code, said.out) == (2, "")
    assert problem in said.err
    assert "  fix: " in said.err
