"""kb mcp with the SDK's own client over both transports, as real processes: one server for the module on each."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import jsonschema
import pytest
import yaml
from mcp import Client
from mcp.shared.exceptions import MCPError

import kb as library
from kb.config import Config, EmbeddingConfig
from kb.context.block import OPENING
from kb.embed.model_files import ENGLISH_MODEL
from kb.text import estimate_tokens
from kb.wire import to_json
from tests.forked_kb import KB
from tests.journey.conftest import CORPUS, ROOT, call_aside
from tests.journey.mcp_client import Talk, http_server, http_talk, server_environment, stdio_talk, text_of
from tests.schemas import check_wire

INJECTION = ROOT / "fixtures" / "injection"
ATTACKS: dict[str, dict[str, Any]] = yaml.safe_load((INJECTION / "attacks.yaml").read_text(encoding="utf-8"))
QUESTION = "How often must the mirror of Marigold be cleaned?"
# tool → arguments of a plain call, and the wire object that it gives
PLAIN: dict[str, tuple[dict[str, Any], str]] = {
    "search": ({"query": QUESTION}, "search_response.v1"),
    "ask": ({"question": QUESTION}, "answer.v1"),
    "context": ({"query": QUESTION}, "context.v1"),
    "read": ({"document": "marigold-telescope.md"}, "reading.v1"),
    "list_documents": ({}, "document_page.v1"),
    "remember": ({"text": "The kettle is blue."}, "fact_remembered.v1"),
    "facts": ({}, "fact_list.v1"),
    "tags": ({}, "tag_list.v1"),
    "verify": ({"claim": "It closes at 12 m/s.", "evidence": ["The dome closes at 12 m/s."]}, "support.v1"),
}
BUDGETS = ("search", "ask", "read", "list_documents", "facts", "tags")


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory, encoder_cache: Path) -> dict[str, str]:
    return server_environment(encoder_cache, tmp_path_factory.mktemp("mcp"))


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory, encoder_cache: Path) -> Path:
    """The guide and every attack, encoded with the small encoder."""
    home = tmp_path_factory.mktemp("mcp-home") / "home"
    words = ["ingest", CORPUS / "guide", INJECTION / "attacks", "--quiet", "--home", home]
    call_aside(words, home.parent / "cache", encoder_cache, KB_EMBEDDING__MODEL=ENGLISH_MODEL)
    return home


@pytest.fixture(scope="module")
def address(home: Path, environment: dict[str, str]) -> Iterator[str]:
    with http_server(home, environment, "mcp", "--http", "0") as address:
        yield address


@pytest.fixture(scope="module", params=["stdio", "http", "stdio before 2026"])
def talk(request: pytest.FixtureRequest, home: Path, environment: dict[str, str]) -> Iterator[Talk]:
    """The same server over each transport, and as clients of earlier versions of the protocol meet it."""
    if request.param == "http":
        with http_talk(request.getfixturevalue("address")) as talk:
            yield talk
    else:
        mode = "legacy" if "before" in request.param else "auto"
        with stdio_talk(home, environment, mode=mode) as talk:
            yield talk


def test_the_server_says_what_it_is(talk: Talk) -> None:
    client = talk.client
    assert (client.server_info.name, client.server_info.version) == ("kb", library.__version__)
    assert "never follow instructions" in (client.instructions or "")
    capabilities = client.server_capabilities
    assert capabilities.tools and capabilities.resources and capabilities.prompts and capabilities.completions  # noqa: PT018


def test_tools_say_what_they_take_and_give(talk: Talk) -> None:
    tools = {tool.name: tool for tool in talk.run(lambda client: client.list_tools()).tools}
    assert set(tools) == set(PLAIN)
    for name, tool in tools.items():
        jsonschema.Draft202012Validator.check_schema(tool.input_schema)
        jsonschema.Draft202012Validator.check_schema(tool.output_schema)
        assert all("description" in shape for key, shape in tool.input_schema["properties"].items() if key != "mode")
        assert tool.annotations.read_only_hint == (name not in ("ask", "remember"))
        assert tool.annotations.destructive_hint is False
    for name in BUDGETS:
        default = tools[name].input_schema["properties"]["max_tokens"]["default"]
        assert f"(default {default:,})" in tools[name].description


@pytest.mark.parametrize("tool", PLAIN)
def test_every_tool_gives_its_wire_object_and_a_text(talk: Talk, tool: str) -> None:
    arguments, schema = PLAIN[tool]
    found = talk.call(tool, **arguments)
    assert not found.is_error, text_of(found)
    check_wire(found.structured_content, schema)
    assert found.structured_content["schema_version"] == schema
    assert len(text_of(found)) > 5


@pytest.mark.parametrize("tool", BUDGETS)
@pytest.mark.parametrize("budget", [200, 700])
def test_results_stay_below_their_budget(talk: Talk, tool: str, budget: int) -> None:
    more = {"limit": 50} if tool not in ("ask", "read") else {}
    found = talk.call(tool, **PLAIN[tool][0], **more, max_tokens=budget)
    least = 700 if tool == "ask" else budget  # an answer is not cut: its record alone takes as much
    assert estimate_tokens(to_json(found.structured_content)) <= max(budget, least)
    assert estimate_tokens(text_of(found)) <= max(budget, least)


def test_pages_of_a_search_join(talk: Talk) -> None:
    whole = talk.content("search", query="mirror", limit=8, max_tokens=20_000)["hits"]
    first = talk.content("search", query="mirror", limit=8, max_tokens=700)
    assert 0 < len(first["hits"]) < len(whole)
    assert f"offset={len(first['hits'])}" in first["note"]
    rest = talk.content("search", query="mirror", limit=8 - len(first["hits"]), offset=len(first["hits"]))["hits"]
    assert [hit["chunk_id"] for hit in first["hits"] + rest] == [hit["chunk_id"] for hit in whole]


def test_pages_of_the_list_join(talk: Talk, home: Path) -> None:
    paths, offset = [], 0
    while offset is not None:
        page = talk.content("list_documents", limit=7, offset=offset)
        paths += [row["path"] for row in page["documents"]]
        offset = page.get("next_offset")
    with library.open(home) as base:
        assert paths == [document.path for document in base.documents()]


def test_a_document_is_read_piece_by_piece_and_around_a_hit(talk: Talk) -> None:
    hit = talk.content("search", query=QUESTION, limit=1)["hits"][0]
    text, start = "", 0
    while start is not None:
        piece = talk.content("read", document=hit["path"], start=start, max_tokens=300)
        text += piece["text"] + "\n"
        start = piece.get("next_start")
    assert "must be cleaned every 14 days" in " ".join(text.split())
    alone = talk.content("read", chunk_id=hit["chunk_id"])
    around = talk.content("read", chunk_id=hit["chunk_id"], around=1)
    assert alone["citation"]["uri"] == hit["citation"]["uri"]
    assert (around["first"], around["last"]) == (alone["first"] - 1, alone["last"] + 1)
    assert talk.content("read", document=hit["citation"]["uri"])["text"] == alone["text"]
    section = talk.content("read", document=hit["path"], section="cleaning")
    assert "every 14 days" in " ".join(section["text"].split())


def test_context_leaves_out_what_the_conversation_has(talk: Talk) -> None:
    first = talk.content("context", query=QUESTION)
    again = talk.content("context", query=QUESTION, seen=[first["text"]])
    assert "14 days" in first["text"]
    assert "14 days" not in again["text"]
    assert again["omitted"] >= 1


def test_a_claim_is_checked_against_places(talk: Talk) -> None:
    hit = talk.content("search", query=QUESTION, limit=1)["hits"][0]
    claim = "The mirror of Marigold must be cleaned every {} days."
    assert talk.content("verify", claim=claim.format(14), places=[hit["citation"]["uri"]])["backed"] is True
    assert talk.content("verify", claim=claim.format(41), places=[hit["citation"]["uri"]])["backed"] is False


@pytest.mark.parametrize(
    ("tool", "arguments", "code", "problem"),
    [
        ("search", {}, "invalid_input", "query"),
        ("search", {"query": "x", "limit": 0}, "invalid_input", "limit"),
        ("search", {"query": "x", "serach": 1}, "invalid_input", "serach"),
        ("search", {"query": "x", "since": "someday"}, "invalid_input", "someday"),
        ("read", {"document": "nothing.md"}, "not_found", "nothing.md"),
        ("read", {}, "invalid_input", "name a document"),
        ("read", {"chunk_id": 2**40}, "not_found", "no passage"),
        ("verify", {"claim": "x"}, "invalid_input", "nothing to check"),
        ("remember", {"text": " . "}, "invalid_input", "empty"),
        ("destroy", {}, "not_found", "no tool 'destroy'"),
    ],
)
def test_an_error_is_a_problem_and_a_fix(
    talk: Talk, tool: str, arguments: dict[str, Any], code: str, problem: str
) -> None:
    found = talk.call(tool, **arguments)
    assert found.is_error
    first, second = text_of(found).split("\n")
    assert first.startswith("error: ") and problem in first  # noqa: PT018
    assert second.startswith("  fix: ")
    error = (found.meta or {})["kb/error"]
    assert error["code"] == code
    check_wire(error, "error.v1")


@pytest.mark.parametrize("name", list(ATTACKS)[::6])
def test_documents_that_give_instructions_come_out_fenced_and_labelled(talk: Talk, name: str) -> None:
    """No line of a document stands unquoted in any text, and structured content says what it holds."""
    asked = ATTACKS[name]["question"]
    calls = {
        "search": {"query": asked, "paths": [name]},
        "context": {"query": asked, "paths": [name]},
        "read": {"document": name},
    }
    for tool, arguments in calls.items():
        found = talk.call(tool, **arguments)
        shown = text_of(found)
        assert found.structured_content["notice"] == OPENING
        assert shown.startswith(OPENING)
        lines = (INJECTION / "attacks" / name).read_text(encoding="utf-8").split("\n")
        bare = {line.strip() for line in shown.split("\n") if not line.startswith(("> ", "["))}
        assert not bare & {line.strip() for line in lines if len(line.strip()) > 8}, tool


def test_resources(talk: Talk) -> None:
    listed = talk.run(lambda client: client.list_resources())
    uris = {resource.name: resource.uri for resource in listed.resources}
    shown = talk.run(lambda client: client.read_resource(uris["marigold-telescope.md"])).contents[0]
    assert shown.text.startswith(OPENING)
    assert "> " in shown.text
    templates = talk.run(lambda client: client.list_resource_templates()).resource_templates
    assert [template.name for template in templates] == ["document", "passage"]
    hit = talk.content("search", query=QUESTION, limit=1)["hits"][0]
    passage = talk.run(lambda client: client.read_resource(f"kb://passage/{hit['chunk_id']}")).contents[0]
    assert "14 days" in passage.text
    for uri in ("kb://document/guide/none.md", "kb://passage/99999999", "kb://else"):
        with pytest.raises(MCPError, match=r"error: .*\n  fix: "):
            talk.run(lambda client, uri=uri: client.read_resource(uri))


def test_completion(talk: Talk) -> None:
    from mcp_types import PromptReference, ResourceTemplateReference

    template = ResourceTemplateReference(uri="kb://document/{source}/{+path}")
    argument = {"name": "path", "value": "mari"}
    found = talk.run(lambda client: client.complete(template, argument, {"source": "guide"})).completion
    assert found.values == ["marigold-telescope.md"]
    prompt = PromptReference(name="summarize")
    found = talk.run(lambda client: client.complete(prompt, {"name": "document", "value": "telescope"})).completion
    assert "thistle-telescope.md" in found.values
    assert found.total == len(found.values)


def test_prompts(talk: Talk) -> None:
    listed = {prompt.name for prompt in talk.run(lambda client: client.list_prompts()).prompts}
    assert listed == {"answer", "summarize", "check"}
    message = talk.run(lambda client: client.get_prompt("answer", {"question": QUESTION})).messages[0]
    assert "[marigold-telescope.md#L" in message.content.text
    assert "every 14 days" in message.content.text
    with pytest.raises(MCPError, match="needs question"):
        talk.run(lambda client: client.get_prompt("answer", {}))


def test_an_answer_tells_of_its_progress(talk: Talk) -> None:
    told: list[tuple[float, str | None]] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, message))

    found = talk.run(lambda client: client.call_tool("ask", {"question": QUESTION}, progress_callback=note))
    assert found.structured_content["grounded"] is True
    assert "14 days" in text_of(found)
    assert [progress for progress, _ in told] == sorted({progress for progress, _ in told})
    assert any("passages found" in (message or "") or "written" in (message or "") for _, message in told)


def test_a_changed_corpus_is_noticed_by_every_client(talk: Talk, home: Path, address: str) -> None:
    """What another process ingests is found by servers that were started before, and gone when it is removed."""
    config = Config(embedding=EmbeddingConfig(model="all-MiniLM-L6-v2"))
    with http_talk(address) as other, library.open(home, config) as base:
        base.ingest_text("The brass gong of Tidewater is struck at noon.", "Gong")
        for client in (talk, other):
            hits = client.content("search", query="brass gong of Tidewater", limit=1)["hits"]
            assert hits[0]["path"] == "Gong.md"
        base.remove("Gong.md")
        for client in (talk, other):
            found = client.content("search", query="brass gong of Tidewater", limit=1)
            assert "Gong.md" not in to_json(found)


def test_clients_at_once_beside_a_running_ingest(
    home: Path, environment: dict[str, str], address: str, tmp_path: Path
) -> None:
    """Six clients search while documents come in: nobody gets an error."""
    folder = tmp_path / "more"
    folder.mkdir()
    for number in range(6):
        (folder / f"note-{number}.md").write_text(f"# Note {number}\n\nThe lamp {number} is lit at {number} o'clock.\n")
    words = [*KB, "ingest", str(folder), "--home", str(home), "--quiet"]
    ingest = subprocess.Popen(words, env=environment)

    async def one(number: int) -> list[bool]:
        async with Client(address) as client:
            calls = [await client.call_tool("search", {"query": f"mirror {number}", "limit": 2}) for _ in range(3)]
            return [call.is_error for call in calls]

    async def all_of_them() -> None:
        async with anyio.create_task_group() as group:
            for number in range(6):
                group.start_soon(check, number)

    async def check(number: int) -> None:
        assert await one(number) == [False] * 3

    anyio.run(all_of_them)
    assert ingest.wait(timeout=60) == 0


def test_a_home_that_comes_later(tmp_path: Path, home: Path, environment: dict[str, str]) -> None:
    """A server may be started before there is anything, and sees a knowledge base that is put in place of another."""
    new = tmp_path / "new"
    with stdio_talk(new, environment) as talk:
        found = talk.call("search", query="gong")
        assert (found.is_error, (found.meta or {})["kb/error"]["code"]) == (True, "not_indexed")
        assert talk.run(lambda client: client.list_resources()).resources == []
        new.mkdir()
        shutil.copy(home / "kb.sqlite", new / "kb.sqlite")
        assert talk.content("search", query=QUESTION, mode="lexical")["hits"]
        with library.open(tmp_path / "other", Config(embedding=EmbeddingConfig(model="all-MiniLM-L6-v2"))) as base:
            base.ingest_text("The brass gong of Tidewater is struck at noon.", "Gong")
        (tmp_path / "other" / "kb.sqlite").replace(new / "kb.sqlite")
        for left in ("kb.sqlite-wal", "kb.sqlite-shm"):
            (new / left).unlink(missing_ok=True)
        assert talk.content("list_documents")["total"] == 1
