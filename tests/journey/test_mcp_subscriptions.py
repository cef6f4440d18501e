"""Clients of both protocols are told when another process changes a document they wait for."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp import Client, StdioServerParameters

from kb.config import Config
from kb.library import KnowledgeBase
from kb.mcp.resources import document_uri
from tests.journey.mcp_client import http_server, server_environment, server_of

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")
WAIT_SECONDS = 60


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory, encoder_cache: Path) -> dict[str, str]:
    return server_environment(encoder_cache, tmp_path_factory.mktemp("mcp"), KB_SEARCH__MODE="lexical")


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    for name in ("lamp", "mast"):
        (folder / f"{name}.md").write_text(f"# The {name}\n\nIt stands on the rock.\n")
    ingest(tmp_path)
    return folder


def ingest(folder: Path) -> None:
    with KnowledgeBase(folder / "home", Config()) as base:
        base.ingest(folder / "notes", words_only=True, prune=True)


def change(notes: Path) -> None:
    """Another text of one document, and a document more."""
    (notes / "lamp.md").write_text("# The lamp\n\nIt is lit at dusk.\n")
    (notes / "bell.md").write_text("# The bell\n\nIt rings.\n")
    ingest(notes.parent)


@pytest.fixture(params=["stdio", "http"])
def server(
    request: pytest.FixtureRequest, notes: Path, environment: dict[str, str]
) -> Iterator[StdioServerParameters | str]:
    home = notes.parent / "home"
    if request.param == "stdio":
        yield server_of(home, environment)
        return
    with http_server(home, environment, "mcp", "--http", "0") as address:
        yield address


def test_a_client_of_2025_subscribes(server: StdioServerParameters | str, notes: Path) -> None:
    told: list[str] = []
    arrived = anyio.Event()

    async def hear(message: Any) -> None:
        if isinstance(message, types.ResourceUpdatedNotification):
            told.append(str(message.params.uri))
            arrived.set()

    async def run() -> None:
        async with Client(server, mode="legacy", message_handler=hear) as client:
            for name in ("lamp", "mast"):
                await client.subscribe_resource(document_uri("notes", f"{name}.md"))
            await client.unsubscribe_resource(document_uri("notes", "mast.md"))
            await anyio.to_thread.run_sync(change, notes)
            with anyio.fail_after(WAIT_SECONDS):
                await arrived.wait()

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        anyio.run(run)
    assert set(told) == {document_uri("notes", "lamp.md")}


def test_a_client_of_2026_listens(server: StdioServerParameters | str, notes: Path) -> None:
    heard: list[str] = []

    async def run() -> None:
        wanted = [document_uri("notes", "lamp.md")]
        async with (
            Client(server) as client,
            client.listen(resources_list_changed=True, resource_subscriptions=wanted) as stream,
        ):
            await anyio.to_thread.run_sync(change, notes)
            with anyio.fail_after(WAIT_SECONDS):
                async for event in stream:
                    heard.append(f"{type(event).__name__} {getattr(event, 'uri', '')}".strip())
                    if len(set(heard)) == 2:
                        break

    anyio.run(run)
    assert set(heard) == {f"ResourceUpdated {document_uri('notes', 'lamp.md')}", "ResourcesListChanged"}
