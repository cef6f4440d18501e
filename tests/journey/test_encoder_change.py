"""kb init --encoder and kb encoders: a home changes its encoder while it is searched, is killed, and goes on."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kb.config import EmbeddingConfig
from kb.embed.model_files import find_model
from kb.library import open as open_base
from tests.journey.conftest import Call
from tests.journey.folders import BREAD, COMETS, OTTERS, assert_complete, counted, execute, fill, ingest, rows
from tests.llm.recorded_server import RecordedServer, error, free_port, hash_words, whole
from tests.schemas import check_wire

USED = EmbeddingConfig().model
NAME = "ollama:nomic-embed-text"
MODELS = {"nomic-embed-text:latest": "a" * 64}
QUERY = ("search", "wind limits of the telescope", "--mode", "vector", "-k", 5, "--json")


class Server(RecordedServer):
    """A server that may stop answering: after `most` requests the next one hangs until `go_on`."""

    def __init__(self) -> None:
        self.most = 10**6
        self.hangs = threading.Event()
        self.go_on = threading.Event()
        self.is_broken = False
        self._seen = 0
        super().__init__(models=MODELS, embed=self._answer)

    def _answer(self, texts: list[str]) -> Any:
        self._seen += 1
        if self.is_broken:
            return error("out of memory", 500)
        if self._seen > self.most and not self.go_on.is_set():
            self.hangs.set()
            self.go_on.wait(60)
        return whole({"embeddings": hash_words(texts)})


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    with Server() as found:
        monkeypatch.setenv("KB_LLM__ENDPOINT", found.url)
        yield found
        found.go_on.set()


def hits_of(kb: Call, home: Path) -> tuple[list[tuple[int, float]], str]:
    """(chunk and cosine of each hit, what was said)"""
    found = kb(*QUERY, home=home)
    assert found.code == 0, found.err
    return [(hit["chunk_id"], hit["score"]) for hit in found.json()["hits"]], found.err


def chunk_texts(home: Path) -> int:
    """How many texts must be encoded: chunks of the same text share a vector."""
    count: int = rows(home, "SELECT count(DISTINCT embed_hash) FROM chunks")[0][0]
    return count


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_change_is_stopped_and_gone_on_with(
    how: signal.Signals,
    kb: Call,
    kb_process: Callable[..., subprocess.Popen[bytes]],
    corpus_home: Path,
    server: Server,
) -> None:
    before, _ = hits_of(kb, corpus_home)
    texts = chunk_texts(corpus_home)
    server.most = 5  # two probes, one text before the first batch, that batch, a quarter of the second
    process = kb_process("init", "--encoder", NAME, home=corpus_home)
    assert server.hangs.wait(60)
    now, said = hits_of(kb, corpus_home)
    assert now == before, "the old vectors are in use while the new ones are made"
    assert f"searching with {USED}; to change to {NAME}" in said
    process.send_signal(how)
    server.go_on.set()
    _, err = process.communicate(timeout=60)
    assert process.returncode == (-signal.SIGKILL if how == signal.SIGKILL else 130)
    assert f"changing the encoder from {USED} to {NAME}: " in err.decode()
    if how == signal.SIGINT:
        assert f"go on with: kb init --encoder {NAME}" in err.decode()

    assert hits_of(kb, corpus_home)[0] == before, "and after it was stopped"
    status = kb("status", "--json", home=corpus_home).json()
    done = status["next_encoder"]["chunks_done"]
    assert 0 < done < status["chunks"]
    assert (status["embedding_model"], status["next_encoder"]["model"]) == (USED, NAME)
    assert f"{done} of {status['chunks']} chunks done" in kb("status", home=corpus_home).out

    sent = len(server.embedded)
    finished = kb("init", "--encoder", NAME, "--json", home=corpus_home)
    change = finished.json()
    check_wire(change, "encoder_change.v1")
    assert (finished.code, change["is_done"]) == (0, True)
    assert change["chunks"] == status["chunks"] - done, "what was done is not done again"
    assert change["vectors"] <= texts - done + (status["chunks"] - texts)
    assert len(server.embedded) - sent == change["vectors"] + 2, "and two that are not timed"
    assert f"the last {change['chunks']} of {status['chunks']} chunks" in finished.err

    assert_complete(corpus_home)
    assert rows(corpus_home, "SELECT count(*), count(DISTINCT encoder_id) FROM embeddings") == [(texts, 1)]
    after, said = hits_of(kb, corpus_home)
    assert after != before
    assert said == ""
    assert server.embedded[-1] == "search_query: wind limits of the telescope"
    assert "next_encoder" not in {k for k, v in kb("status", "--json", home=corpus_home).json().items() if v}


def test_a_server_that_is_gone_leaves_words(
    kb: Call, corpus_home: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert kb("init", "--encoder", NAME, "--quiet", home=corpus_home).code == 0
    monkeypatch.setenv("KB_LLM__ENDPOINT", f"http://127.0.0.1:{free_port()}")
    hybrid = kb("search", "telescope", "--json", home=corpus_home).json()
    assert hybrid["hits"]
    assert "no Ollama at" in hybrid["note"]
    assert "searched by words alone" in hybrid["note"]
    assert "ollama serve" in hybrid["note"]
    asked = kb("ask", "How often must the mirror of Marigold be cleaned?", home=corpus_home)
    assert asked.code in (0, 1), asked.err
    assert "searched by words alone" in asked.err
    refused = kb(*QUERY, home=corpus_home)
    assert (refused.code, json.loads(refused.err.splitlines()[-1])["code"]) == (2, "model_unavailable")


def test_an_open_knowledge_base_follows_a_change(kb: Call, corpus_home: Path, server: Server) -> None:
    """kb chat and library users stay open while another process changes the encoder, and while a server fails."""
    query = "wind limits of the telescope"
    with open_base(corpus_home) as base:
        before = [hit.chunk_id for hit in base.search(query, mode="vector").hits]
        assert kb("init", "--encoder", NAME, "--quiet", home=corpus_home).code == 0
        now = base.search(query, mode="vector").hits
        assert [hit.chunk_id for hit in now[:5]] == [chunk_id for chunk_id, _ in hits_of(kb, corpus_home)[0]]
        assert [hit.chunk_id for hit in now] != before
        server.is_broken = True
        assert "searched by words alone" in (base.search("dome").note or "")
        server.is_broken = False
        assert base.search("dome").note is None


def test_a_home_goes_back_and_an_unfinished_change_is_given_up(
    kb: Call, kb_process: Callable[..., subprocess.Popen[bytes]], corpus_home: Path, server: Server
) -> None:
    server.most = 5
    process = kb_process("init", "--encoder", NAME, home=corpus_home)
    assert server.hangs.wait(60)
    process.kill()
    process.wait()
    process.stderr.close()  # type: ignore[union-attr]
    process.stdout.close()  # type: ignore[union-attr]
    server.go_on.set()
    back = kb("init", "--encoder", USED, "--json", home=corpus_home).json()
    assert (back["chunks"], back["is_done"]) == (0, True)
    assert kb("status", "--json", home=corpus_home).json().get("next_encoder") is None
    assert hits_of(kb, corpus_home)[1] == ""


def test_other_prefixes_are_another_encoder(kb: Call, tmp_path: Path) -> None:
    """The same weights under a name of the E5 family: queries and stored vectors must have been made alike."""
    folder = tmp_path / "e5-small"
    shutil.copytree(find_model("all-MiniLM-L6-v2", tmp_path / "cache").folder, folder)
    home, notes = tmp_path / "home", fill(tmp_path / "notes", {"otters.md": OTTERS, "comets.md": COMETS})
    assert kb("init", "--encoder", "all-MiniLM-L6-v2", home=home).code == 0
    ingest(kb, home, notes)
    before, _ = hits_of(kb, home)
    (home / "config.toml").write_text(f'[embedding]\nmodel = "{folder}"\n')
    now, said = hits_of(kb, home)
    assert now == before
    assert "searching with all-MiniLM-L6-v2" in said
    report = ingest(kb, home, fill(notes, {"bread.md": BREAD}))
    assert (counted(report), report["vectors_written"]) == ({"new": 1, "unchanged": 2}, 3)
    assert_complete(home)
    after, said = hits_of(kb, home)
    assert (after[: len(before)] != before, said) == (True, "")
    assert counted(ingest(kb, home, notes)) == {"unchanged": 3}


def test_a_home_of_an_earlier_version_keeps_its_encoder(
    kb: Call, corpus_home: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It did not note prefixes, and a new version may have another default encoder."""
    before, _ = hits_of(kb, corpus_home)
    execute(corpus_home, "DELETE FROM meta WHERE name LIKE 'encoder_%_prefix'")
    assert hits_of(kb, corpus_home) == (before, "")
    monkeypatch.setenv("KB_EMBEDDING__MODEL", NAME)
    now, said = hits_of(kb, corpus_home)
    assert now == before
    assert f"searching with {USED}" in said
    doctor = {check["name"]: check for check in kb("doctor", "--json", home=corpus_home).json()["checks"]}
    warned = [check for check in doctor.values() if f"configured is {NAME}" in check["detail"]]
    assert [check["status"] for check in warned] == ["warn"]


@pytest.mark.parametrize(
    ("name", "problem"),
    [("all-MinLM", "no encoder 'all-MinLM'"), ("ollama:unknown", "has no model unknown")],
)
def test_a_name_of_nothing_changes_nothing(
    name: str, problem: str, kb: Call, corpus_home: Path, server: Server
) -> None:
    refused = kb("init", "--encoder", name, home=corpus_home)
    assert refused.code == 2
    assert problem in refused.err
    assert refused.err.count("\n") == 2
    assert not (corpus_home / "config.toml").exists()


def test_a_new_home_gets_its_encoder_and_keeps_its_settings(
    kb: Call, tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "new"
    assert kb("init", "--encoder", NAME, home=home).code == 0
    config = home / "config.toml"
    assert f'\nmodel = "{NAME}"\n' in config.read_text()
    config.write_text('[search]\nk = 3\n[embedding]\nmodel = "x"\nquery_prefix = "q: "\n')
    told = kb("init", "--encoder", NAME, home=home)
    assert "embedding.query_prefix was 'q: ', for x; it is empty now" in told.err
    assert config.read_text() == f'[search]\nk = 3\n[embedding]\nmodel = "{NAME}"\nquery_prefix = ""\n'
    monkeypatch.setenv("KB_EMBEDDING__MODEL", USED)
    assert "names another encoder" in kb("init", "--encoder", NAME, home=home).err


def test_the_list_fits_a_terminal_and_says_what_is_used(
    kb: Call, corpus_home: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KB_EMBEDDING__MODEL", NAME)
    shown = kb("encoders", home=corpus_home)
    assert max(map(len, shown.out.splitlines())) <= 80
    assert f"this home uses {USED}" in shown.out
    listed = kb("encoders", "--json", home=corpus_home).json()
    check_wire(listed, "encoder_list.v1")
    by_name = {row["name"]: row for row in listed["encoders"]}
    assert [name for name, row in by_name.items() if row["is_here"]] == [USED, "all-MiniLM-L6-v2", NAME]
    assert [name for name, row in by_name.items() if row["is_used"]] == [USED]
    assert [name for name, row in by_name.items() if row["is_configured"]] == [NAME]
    assert {row["kind"] for row in listed["encoders"]} == {"embedded", "hub", "ollama"}
