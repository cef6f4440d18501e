"""kb models: what the server has, which model answers, and a download, against a real HTTP server."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kb.config import load_config, set_keys
from tests.journey.conftest import Call
from tests.journey.ollama import use
from tests.llm.recorded_server import MODEL, RecordedServer, Reply, error, free_port, whole

TAGS = whole(
    {
        "models": [
            {"name": MODEL, "digest": "a" * 64, "size": 1_929_912_432, "details": {"parameter_size": "3.1B"}},
            {"name": "far:cloud", "digest": None, "size": None, "details": None},
        ]
    }
)


def steps(*rows: dict[str, object]) -> Reply:
    return Reply(tuple(json.dumps(row).encode() + b"\n" for row in rows))


PULLED = steps(
    {"status": "pulling manifest"},
    {"status": "pulling aaa", "digest": "sha256:aaa", "total": 100, "completed": 40},
    {"status": "pulling aaa", "digest": "sha256:aaa", "total": 100, "completed": 100},
    {"status": "success"},
)


def test_the_list_marks_the_configured_model(kb: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with RecordedServer(routes={"/api/tags": TAGS}) as server:
        use(server, monkeypatch, "auto")
        found = kb("models", "list", home=tmp_path)
        listed = json.loads(kb("models", "list", "--json", home=tmp_path).out)
    assert found.code == 0
    assert [line.split()[:4] for line in found.out.splitlines() if line.startswith("*")] == [
        ["*", MODEL, "3.1B", "1.9"]
    ]
    assert [(row["name"], row["is_configured"]) for row in listed["models"]] == [
        ("far:cloud", False),
        (MODEL, True),
        ("extractive", False),
    ]


def test_without_a_server_only_the_embedded_model_is_listed(
    kb: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(f"http://127.0.0.1:{free_port()}", monkeypatch, "auto")
    found = kb("models", "list", home=tmp_path)
    assert found.code == 0
    assert "extractive" in found.out
    assert "no Ollama server answers" in found.err


def test_a_chosen_model_is_written_to_the_config(kb: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with RecordedServer(routes={"/api/tags": TAGS}) as server:
        use(server, monkeypatch, "auto")
        monkeypatch.delenv("KB_LLM__MODEL")
        monkeypatch.delenv("KB_LLM__PROVIDER")
        assert kb("init", home=tmp_path).code == 0
        before = (tmp_path / "config.toml").read_text()
        assert kb("models", "use", "far:cloud", home=tmp_path).code == 0
        refused = kb("models", "use", "absent:1b", home=tmp_path)
    assert (refused.code, "kb models pull absent:1b" in refused.err) == (2, True)
    after = (tmp_path / "config.toml").read_text()
    assert set(after.splitlines()) - set(before.splitlines()) == {'model = "far:cloud"'}
    assert load_config(None, tmp_path, {}).llm.model == "far:cloud"
    assert kb("models", "use", "extractive", home=tmp_path).code == 0
    assert load_config(None, tmp_path, {}).llm.provider == "extractive"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", '[llm]\nmodel = "m"\n'),
        ("[rag]\nk = 3\n", '[rag]\nk = 3\n\n[llm]\nmodel = "m"\n'),
        ('[llm]\nmodel = "a"\n[rag]\nmodel = 1\n', '[llm]\nmodel = "m"\n[rag]\nmodel = 1\n'),
        ('[llm]\n# model = "a"\nmodel = "b"\n', '[llm]\n# model = "a"\nmodel = "m"\n'),
        ("[llm]\n# The model = x\nseed = 1\n", '[llm]\nmodel = "m"\n# The model = x\nseed = 1\n'),
    ],
)
def test_a_key_is_set_where_it_stands(before: str, after: str) -> None:
    assert set_keys(before, {"llm.model": "m"}) == after


def test_a_download_is_followed_to_its_end(kb: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with RecordedServer(routes={"/api/pull": PULLED}) as server:
        use(server, monkeypatch)
        found = kb("models", "pull", "new:1b", home=tmp_path)
    assert (found.code, found.err.splitlines()) == (0, ["pulling manifest", "pulling aaa", "success"])
    assert found.out.startswith("new:1b is ready")
    assert server.requests[0].body == {"model": "new:1b", "stream": True, "insecure": False}


@pytest.mark.parametrize(
    "reply", [steps({"status": "pulling manifest"}, {"error": "file does not exist"}), error("no such model", 500)]
)
def test_a_download_that_fails_says_why(
    kb: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reply: Reply
) -> None:
    with RecordedServer(routes={"/api/pull": reply}) as server:
        use(server, monkeypatch)
        found = kb("models", "pull", "new:1b", home=tmp_path)
    assert found.code == 2
    *_, problem, fix = found.err.splitlines()
    assert problem.startswith(f"error: Ollama at {server.url} could not download new:1b: ")
    assert "check the name" in fix
