"""The SDK's own client against `kb mcp` as a real process, on stdio or HTTP, called from synchronous tests."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import Client, StdioServerParameters
from mcp_types import CallToolResult

from tests.forked_kb import KB
from tests.journey.conftest import ROOT


def server_environment(cache: Path, folder: Path, **more: str) -> dict[str, str]:
    """Nothing of the user's; the small encoder, no reader, quotes for answers."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("KB_", "XDG_"))}
    (folder / "cache").mkdir(exist_ok=True)
    if not (folder / "cache" / "kb").exists():
        (folder / "cache" / "kb").symlink_to(cache)
    own = {f"XDG_{name}_HOME": str(folder / name.lower()) for name in ("CACHE", "DATA", "CONFIG", "STATE")}
    usual = {
        "KB_EMBEDDING__MODEL": "all-MiniLM-L6-v2",
        "KB_READER__MODEL": "none",
        "KB_LLM__PROVIDER": "extractive",
        "PYTHONPATH": str(ROOT),
    }
    return {**kept, **own, **usual, **more}


@dataclass(frozen=True)
class Talk:
    """A client that is connected; `client` is used inside `run`."""

    portal: BlockingPortal
    client: Client

    def run(self, work: Callable[[Client], Any]) -> Any:
        """Await what `work` returns."""

        async def awaited() -> Any:
            return await work(self.client)

        return self.portal.call(awaited)

    def call(self, tool: str, **arguments: Any) -> CallToolResult:
        """Call a tool; the client checks structured content against the output schema itself."""
        found: CallToolResult = self.run(lambda client: client.call_tool(tool, arguments))
        return found

    def content(self, tool: str, **arguments: Any) -> Any:
        """The structured content of a call that must work."""
        found = self.call(tool, **arguments)
        assert not found.is_error, text_of(found)
        return found.structured_content


def text_of(result: CallToolResult) -> str:
    """The text beside the structured content."""
    (block,) = result.content
    assert block.type == "text"
    return block.text


def server_of(home: Path, environment: dict[str, str]) -> StdioServerParameters:
    """The command of a `kb mcp` that a client starts."""
    command, *words = [*KB, "mcp", "--home", str(home)]
    return StdioServerParameters(command=command, args=words, env=environment)


@contextmanager
def stdio_talk(home: Path, environment: dict[str, str], **options: Any) -> Iterator[Talk]:
    """A client on the standard streams of a `kb mcp`."""
    server = server_of(home, environment)
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(Client(server, **options)) as client:
        yield Talk(portal, client)


@contextmanager
def http_server(home: Path, environment: dict[str, str], *words: str, command: Sequence[str] = KB) -> Iterator[str]:
    """A `kb` command that serves HTTP on a free port; gives the address that it prints.

    command  FRESH for what is measured
    """
    started = [*command, *words, "--home", str(home)]
    server = subprocess.Popen(started, env=environment, stderr=subprocess.PIPE, text=True)
    assert server.stderr is not None
    try:
        said = ""
        for line in server.stderr:
            said += line
            if " listens on " in line:
                break
        assert " listens on " in said, said
        yield said.split(" listens on ")[-1].split()[0]
    finally:
        server.terminate()
        server.communicate(timeout=20)


@contextmanager
def http_talk(url: str, **options: Any) -> Iterator[Talk]:
    """A client of a server that listens."""
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(Client(url, **options)) as client:
        yield Talk(portal, client)
