"""Replies of a model server that lies, made from a seed: what they end in, for `kb ask` on a home.

    python benchmarks/chaos_servers.py --home HOME --replies 1000

Every reply must end in an answer, a refusal (exit 1) or an error of two lines (exit 2), within a minute.
"""

from __future__ import annotations

import argparse
import json
import random
import threading
from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

MODEL = "liar:latest"
STRINGS = (
    "",
    " ",
    "\x1b]52;c;x\x07",
    "\u2028",
    "[#1]",
    "[#99999999999999999999]",
    "<think>",
    "</think>",
    "NaN",
    "0" * 5000,
)
ODD: tuple[Any, ...] = (None, True, -1, 0, 10**30, 1e308, float("nan"), float("inf"), [], {}, [[]], *STRINGS)
RAW = (
    b"",
    b"\n",
    b"null\n",
    b"[]\n",
    b"{",
    b"<html>",
    b"\xff\xfe\n",
    b"[" * 100_000,
    b'{"a":' * 100_000,
    b"9" * 5000 + b"\n",
)
SURROGATES = b'{"message": {"content": "half \\ud800 of [#1] \\udfff"}, "done": false}\n'


def truth(path: str) -> Any:
    """What an honest server says at a path, streams aside."""
    return {
        "/api/version": {"version": "0.12.6"},
        "/api/tags": {"models": [{"name": MODEL, "model": MODEL, "digest": "ab" * 32}]},
        "/api/ps": {"models": [{"name": MODEL, "model": MODEL, "context_length": 8192}]},
        "/api/show": {
            "parameters": "",
            "template": "{{ .Prompt }}",
            "details": {"family": "qwen2"},
            "model_info": {"general.architecture": "qwen2", "qwen2.context_length": 32768},
            "capabilities": ["completion"],
        },
    }.get(path, {"error": "not found"})


def distort(value: Any, dice: random.Random) -> Any:
    """A JSON value with one or more of its parts replaced by something else."""
    if dice.random() < 0.15:
        return dice.choice(ODD)
    if isinstance(value, dict):
        return {name: distort(part, dice) for name, part in value.items() if dice.random() > 0.05}
    if isinstance(value, list):
        return [distort(part, dice) for part in value]
    return value


def chat_lines(dice: random.Random) -> Iterator[bytes]:
    """The lines of a chat that may be anything, and may not end."""
    kind = dice.randrange(8)
    if kind == 0:
        while True:
            yield b'{"message": {"content": "for ever [#1]. "}, "done": false}\n' * 50
    if kind == 1:
        while True:
            yield b"x" * 65_536
    if kind == 2:
        while True:
            yield b'{"message": {"content": ""}, "done": false}\n' * 200
    if kind == 3:
        yield SURROGATES * dice.randint(1, 3)
    for _ in range(dice.randint(0, 5)):
        if dice.random() < 0.3:
            yield dice.choice(RAW)
        line = {"message": {"role": "assistant", "content": "The mirror is cleaned [#1]. "}, "done": False}
        yield json.dumps(distort(line, dice) if kind > 4 else line).encode() + b"\n"
    end = {"message": {"content": ""}, "done": True, "done_reason": "stop", "prompt_eval_count": 3000, "eval_count": 9}
    yield json.dumps(distort(end, dice)).encode() + b"\n"


class LyingServer:
    """A context manager: one server on the loopback; `seed` chooses what it says until it is set to another value."""

    def __init__(self) -> None:
        self.seed = 0
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler_for(self))
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def __exit__(self, *raised: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def pieces(self, path: str) -> tuple[int, Iterator[bytes]]:
        """(status, body in pieces) for a request, by the seed and the path alone."""
        dice = random.Random(f"{self.seed} {path}")
        status = dice.choice((400, 404, 429, 500, 503, 204, 302)) if dice.random() < 0.05 else 200
        if path == "/api/chat":
            return status, chat_lines(dice)
        if dice.random() < 0.85:
            return status, iter([json.dumps(truth(path)).encode()])
        return status, iter(
            [dice.choice(RAW) if dice.random() < 0.3 else json.dumps(distort(truth(path), dice)).encode()]
        )


def _handler_for(liar: LyingServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *parts: object) -> None:
            pass

        def do_GET(self) -> None:
            self._answer()

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            self._answer()

        def _answer(self) -> None:
            status, pieces = liar.pieces(self.path)
            self.close_connection = True
            try:
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Connection", "close")
                self.end_headers()
                for piece in pieces:
                    self.wfile.write(piece)
            except OSError:
                return

    return Handler


def is_orderly(code: int, out: str, err: str) -> bool:
    """Whether a call of `kb ask` ended in an answer, a refusal, or an error of two lines that is no bug."""
    if "Traceback" in err or "kb has a bug" in err:
        return False
    if code in (0, 1):
        return bool(out.strip())
    lines = err.strip().splitlines()
    return code == 2 and len(lines) >= 2 and lines[-2].startswith("error: ") and lines[-1].startswith("  fix: ")


def main() -> None:
    """Print how the replies ended, and the seeds of those that ended badly."""
    import contextlib
    import io
    import os

    from kb.cli.main import run

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--home", required=True)
    parser.add_argument("--replies", type=int, default=1000)
    given = parser.parse_args()
    ends: Counter[int] = Counter()
    bad: list[int] = []
    with LyingServer() as server:
        os.environ |= {"KB_LLM__PROVIDER": "ollama", "KB_LLM__ENDPOINT": server.url, "KB_LLM__MODEL": MODEL}
        for seed in range(given.replies):
            server.seed = seed
            out, err = io.StringIO(), io.StringIO()
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                words = ["ask", "How often is the mirror cleaned?", "--mode", "lexical", "--home", given.home]
                code = int(run(words, json=False))
            ends[code] += 1
            if not is_orderly(code, out.getvalue(), err.getvalue()):
                bad.append(seed)
                print(seed, code, err.getvalue()[-300:])
    print(
        f"{given.replies} replies: answers {ends[0]}, refusals {ends[1]}, errors {ends[2]}, disorderly {len(bad)} {bad[:20]}"
    )


if __name__ == "__main__":
    main()
