"""A real Milvus server with users, of a version that is too old for kb's collections: what kb says to those whom it lets in or not.

The server is the one in the Python wheel `milvus` (2.3.5); there is none of a later version in a package. Without that the tests skip.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from kb.milvus.layout import CHUNKS, DOCUMENTS, VALUES, WORDS
from tests.journey.conftest import Call
from tests.llm.recorded_server import free_port

if find_spec("milvus") is None or find_spec("pymilvus") is None:
    pytest.skip("no Milvus server: pip install milvus==2.3.5 setuptools", allow_module_level=True)

STARTED_WITHIN_SECONDS = 120
ROOT, READER = "root:Milvus", "anna:no-rights-1"


@pytest.fixture(scope="module")
def server_uri(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server that asks for tokens and has the databases `team` and `default`, and a user without rights."""
    import pymilvus

    port, folder = free_port(), tmp_path_factory.mktemp("milvus")
    words = ["--data", str(folder), "--proxy-port", str(port), "--authorization-enabled", "true"]
    command = [sys.executable, "-c", "import sys; from milvus import main; sys.exit(main())", *words]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    uri, end = f"http://127.0.0.1:{port}", time.monotonic() + STARTED_WITHIN_SECONDS
    try:
        while True:
            try:
                root = pymilvus.MilvusClient(uri, token=ROOT, timeout=5)
                break
            except pymilvus.MilvusException:
                assert server.poll() is None, "the server did not start"
                assert time.monotonic() < end, "the server did not answer"
                time.sleep(1)
        root.create_database("team")
        root.create_user(*READER.split(":"))
        yield uri
    finally:
        os.killpg(server.pid, signal.SIGKILL)  # it does not end by itself
        server.wait()


@pytest.fixture
def home(server_uri: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home whose corpus is in the database `team`."""
    monkeypatch.setenv("KB_CORPUS__ENGINE", "milvus")
    monkeypatch.setenv("KB_CORPUS__URI", server_uri)
    monkeypatch.setenv("KB_CORPUS__DATABASE", "team")
    (tmp_path / "notes.md").write_text("# Notes\n\nThe mirror is cleaned every 14 days.\n", encoding="utf-8")
    return tmp_path / "home"


@pytest.mark.parametrize("token", ["root:wrong", ""])
def test_a_wrong_token_is_refused(kb: Call, home: Path, monkeypatch: pytest.MonkeyPatch, token: str) -> None:
    monkeypatch.setenv("KB_CORPUS__TOKEN", token)
    found = kb("search", "mirror", home=home)
    assert (found.code, "refuses this token" in found.err, "KB_CORPUS__TOKEN" in found.err) == (2, True, True)


def test_who_has_no_rights_sees_nothing(kb: Call, home: Path, server_uri: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message says what Milvus said, and nothing of gRPC."""
    import pymilvus

    root = pymilvus.MilvusClient(server_uri, token=ROOT, db_name="team", timeout=30)
    names = [f"kb_{layout.suffix}" for layout in (VALUES, WORDS, DOCUMENTS, CHUNKS)]
    for name in names:
        root.create_collection(name, dimension=4)
    monkeypatch.setenv("KB_CORPUS__TOKEN", READER)
    for words in (("search", "mirror"), ("list",), ("show", "notes.md"), ("status",)):
        found = kb(*words, home=home)
        assert (found.code, "refuses this token" in found.err) == (2, True), (words, found.err)
        assert "permission deny to anna" in found.err
        assert "_InactiveRpcError" not in found.err
    for name in names:
        root.drop_collection(name)


def test_a_database_that_is_not_there_is_said(kb: Call, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KB_CORPUS__TOKEN", ROOT)
    monkeypatch.setenv("KB_CORPUS__DATABASE", "teem")
    for words in (("search", "mirror"), ("ingest", home.parent / "notes.md")):
        found = kb(*words, home=home)
        assert (found.code, "has no such database" in found.err, "team" in found.err) == (2, True, True)


def test_a_server_that_is_too_old_is_said(kb: Call, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KB_CORPUS__TOKEN", ROOT)
    found = kb("ingest", home.parent / "notes.md", home=home)
    assert (found.code, "is version 2.3.5" in found.err, "upgrade it to 2.4 or later" in found.err) == (2, True, True)
