"""kb serve as a process: each call of the API, its description, its limits, and that MCP stands beside it."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import jsonschema
import pytest
from prometheus_client.parser import text_string_to_metric_families

from kb.config import Config, EmbeddingConfig
from kb.embed.model_files import ENGLISH_MODEL
from kb.library import KnowledgeBase
from tests.journey.conftest import CORPUS, call_aside
from tests.journey.mcp_client import http_server, http_talk, server_environment
from tests.llm.recorded_server import MODEL, Pause, RecordedServer, Reply, line
from tests.schemas import check_wire

QUESTION = "How often must the mirror of Marigold be cleaned?"
GUIDE = ("marigold-telescope.md", "thistle-telescope.md")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory, encoder_cache: Path) -> Path:
    home = tmp_path_factory.mktemp("serve-home") / "home"
    words = ["ingest", *(CORPUS / "guide" / name for name in GUIDE), "--home", home, "--quiet"]
    call_aside(words, home.parent / "cache", encoder_cache, KB_EMBEDDING__MODEL=ENGLISH_MODEL)
    return home


@pytest.fixture(scope="module")
def model() -> Iterator[RecordedServer]:
    """A model that goes on for 20 s unless it is left."""
    slow = Reply((line("The mirror "), *(step for _ in range(200) for step in (Pause(0.1), line("and ")))))
    with RecordedServer([slow]) as server:
        yield server


@pytest.fixture(scope="module")
def address(
    home: Path, tmp_path_factory: pytest.TempPathFactory, encoder_cache: Path, model: RecordedServer
) -> Iterator[str]:
    own = {"KB_LLM__PROVIDER": "ollama", "KB_LLM__ENDPOINT": model.url, "KB_LLM__MODEL": MODEL}
    more = {"KB_SEARCH__MODE": "lexical", **own}
    environment = server_environment(encoder_cache, tmp_path_factory.mktemp("serve"), **more)
    with http_server(home, environment, "serve", "--http", "0") as address:
        yield address.rstrip("/")


@pytest.mark.parametrize(
    ("path", "schema"),
    [
        ("/api/search?query=mirror&k=3", "search_response.v1"),
        ("/api/context?query=mirror", "context.v1"),
        ("/api/documents", "document_page.v1"),
        ("/api/documents/1?max_tokens=200", "reading.v1"),
        ("/api/status", "status.v1"),
    ],
)
def test_a_call_gives_its_wire_object(address: str, path: str, schema: str) -> None:
    found = httpx.get(address + path)
    assert found.status_code == 200, found.text
    check_wire(found.json(), schema)
    assert found.json()["schema_version"] == schema


def test_get_and_post_are_the_same_call(address: str, home: Path) -> None:
    query = "query=mirror&k=2&paths=thistle*&paths=mari*&mode=lexical"
    got = httpx.get(f"{address}/api/search?{query}").json()
    sent = {"query": "mirror", "k": 2, "paths": ["thistle*", "mari*"], "mode": "lexical"}
    posted = httpx.post(f"{address}/api/search", json=sent).json()
    assert got["hits"] == posted["hits"]
    with KnowledgeBase(home, Config()) as base:
        hits = base.search("mirror", k=2, mode="lexical").hits
    assert [hit["chunk_id"] for hit in got["hits"]] == [hit.chunk_id for hit in hits]
    one = httpx.get(f"{address}/api/search?query=mirror&paths=thistle*").json()
    assert {hit["path"] for hit in one["hits"]} == {"thistle-telescope.md"}


@pytest.mark.parametrize(
    ("method", "path", "content", "status", "problem"),
    [
        ("GET", "/api/search", None, 400, "query"),
        ("GET", "/api/search?query=x&k=none", None, 400, "int"),
        ("GET", "/api/search?query=x&color=red", None, 400, "color"),
        ("POST", "/api/search", b"no json", 400, "no JSON"),
        ("POST", "/api/search", b"[1]", 400, "no JSON object"),
        ("POST", "/api/search", b"[" * 100_000, 400, "no JSON"),
        ("POST", "/api/search", b" " * (9 << 20), 413, "longer than"),
        ("POST", "/api/search", b'{"query": "\\ud800"}', 200, None),
        ("GET", "/api/documents/99", None, 404, "doc:99"),
        ("GET", "/api/documents?since=someday", None, 400, "someday"),
    ],
)
def test_a_call_that_cannot_be_says_why(
    address: str, method: str, path: str, content: bytes | None, status: int, problem: str | None
) -> None:
    found = httpx.request(method, address + path, content=content)
    assert found.status_code == status, found.text
    if problem is not None:
        check_wire(found.json(), "error.v1")
        assert problem in found.json()["message"] + found.json()["fix"]
        assert found.json()["fix"]


@pytest.mark.parametrize(
    ("headers", "status"),
    [({"host": "evil.example"}, 421), ({"origin": "https://evil.example"}, 403), ({"origin": "{address}"}, 200)],
)
def test_other_pages_and_names_are_refused(address: str, headers: dict[str, str], status: int) -> None:
    sent = {name: value.replace("{address}", address) for name, value in headers.items()}
    found = httpx.get(f"{address}/api/search?query=mirror", headers=sent)
    assert found.status_code == status
    assert "access-control-allow-origin" not in found.headers
    assert "default-src 'self'" in found.headers["content-security-policy"]


def test_the_description_names_every_call(address: str) -> None:
    made = httpx.get(f"{address}/openapi.json").json()
    assert made["openapi"] == "3.1.0"
    assert set(made["paths"]) == {
        *("/api/search", "/api/context", "/api/documents", "/api/documents/{doc_id}", "/api/status", "/api/ask"),
    }
    parts = made["components"]["schemas"]
    for shape in parts.values():
        jsonschema.Draft202012Validator.check_schema(shape)
    for name in re.findall(r'"#/components/schemas/([^"]+)"', json.dumps(made)):
        assert name in parts
    operations = [operation for item in made["paths"].values() for operation in item.values()]
    assert len({operation["operationId"] for operation in operations}) == len(operations)


def events_of(response: httpx.Response) -> Iterator[tuple[str, Any]]:
    """(event, its data) as they come."""
    name = ""
    for row in response.iter_lines():
        if row.startswith("event: "):
            name = row.removeprefix("event: ")
        elif row.startswith("data: "):
            yield name, json.loads(row.removeprefix("data: "))


def test_an_answer_is_streamed_and_ends_when_nobody_reads(address: str, home: Path) -> None:
    with httpx.stream(
        "POST", f"{address}/api/ask", json={"question": QUESTION}, headers={"accept": "text/event-stream"}, timeout=60
    ) as response:
        seen = []
        for name, data in events_of(response):
            check_wire(data, "answer_event.v1")
            seen.append(name)
            if seen.count("token") > 2:
                break
        assert seen[0] == "retrieval"
        assert httpx.get(f"{address}/api/search?query=mirror").status_code == 200  # who searches does not wait
    deadline = time.monotonic() + 60
    with KnowledgeBase(home, Config()) as base:
        while not base.runtime().journal.count_answers():
            assert time.monotonic() < deadline, "the answer goes on"
            time.sleep(0.05)
        assert base.runtime().journal.list_answers(1)[0].refusal_reason == "llm_stream_aborted"


def test_many_search_while_documents_come_in(address: str, home: Path, tmp_path: Path) -> None:
    failed: list[str] = []

    def search(number: int) -> None:
        with httpx.Client(timeout=60) as client:
            for turn in range(4):
                found = client.get(f"{address}/api/search", params={"query": f"mirror {number} {turn}"})
                if found.status_code != 200:
                    failed.append(found.text)

    threads = [threading.Thread(target=search, args=[number]) for number in range(20)]
    for thread in threads:
        thread.start()
    with KnowledgeBase(home, Config(embedding=EmbeddingConfig(model="all-MiniLM-L6-v2"))) as base:
        base.ingest_text("The brass gong of Tidewater is struck at noon.", "Gong")
    for thread in threads:
        thread.join()
    assert failed == []
    hits = httpx.get(f"{address}/api/search?query=brass+gong+of+Tidewater").json()["hits"]
    assert hits[0]["path"] == "Gong.md"


def test_health_and_metrics(address: str) -> None:
    assert httpx.get(f"{address}/health").text == "ok\n"
    httpx.get(f"{address}/api/status")
    httpx.get(f"{address}/api/documents/99")
    page = httpx.get(f"{address}/metrics").text
    families = {family.name: family for family in text_string_to_metric_families(page)}
    counted = {(s.labels["call"], s.labels["status"]): s.value for s in families["kb_requests"].samples}
    assert counted["/api/status", "200"] >= 1
    assert counted["/api/documents/{doc_id:int}", "404"] >= 1
    assert families["kb_requests_running"].samples[0].value == 0


def test_mcp_stands_beside_it(address: str) -> None:
    with http_talk(f"{address}/mcp") as talk:
        assert talk.content("search", query="mirror")["hits"]
