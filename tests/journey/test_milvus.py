"""The same commands over a corpus in Milvus: through the command line, on Milvus Lite, over its real protocol."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from kb.embed.model_files import ENGLISH_MODEL
from tests.contract.corpora import needs_milvus
from tests.journey.conftest import SMALL_NOTES, Call, Result

pytestmark = needs_milvus
# Each test has collections of its own in one file: opening one takes a second.
_collections = iter(f"j{number}" for number in range(100))


@pytest.fixture(scope="module")
def milvus_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("milvus") / "corpus.db"


@pytest.fixture
def address(milvus_file: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """An empty corpus, and the smallest encoder."""
    monkeypatch.setenv("KB_EMBEDDING__MODEL", ENGLISH_MODEL)
    return f"{milvus_file}#{next(_collections)}"


@pytest.fixture
def notes(small_master: Path, tmp_path: Path) -> Path:
    shutil.copytree(small_master / "notes", tmp_path / "notes")
    return tmp_path / "notes"


def places(found: Result) -> list[str]:
    return [hit["citation"]["uri"] for hit in found.json()["hits"]]


def test_a_day_with_a_corpus_in_milvus(kb: Call, address: str, notes: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    made = kb("init", "--corpus", address, home=home)
    assert made.code == 0, made.err
    assert 'engine = "milvus"' in (home / "config.toml").read_text()
    assert kb("search", "otter", home=home).err.startswith(f"error: the knowledge base in {address.partition('#')[0]}")

    first = kb("ingest", notes, "--json", home=home).json()
    assert first["counts"]["new"] == len(SMALL_NOTES)
    assert first["vector_share"] == 1
    assert kb("ingest", notes, "--json", home=home).json()["counts"]["unchanged"] == len(SMALL_NOTES)
    for mode in ("lexical", "vector", "hybrid"):
        found = kb("search", "otter holds hands on the river", "--mode", mode, "--json", home=home)
        assert places(found)[0] == "otters.md#L1-L5"

    assert "14 days" in kb("context", "mirror cleaning", home=home).out
    assert "14 days" in kb("show", "mirror.md", home=home).out
    assert len(kb("list", "--json", home=home).json()["documents"]) == len(SMALL_NOTES)

    (notes / "mirror.md").write_text("# Mirror\n\nThe mirror is washed by the rain alone.\n")
    (notes / "dome.md").unlink()
    again = kb("ingest", notes, "--json", home=home).json()
    assert (again["counts"]["updated"], again["counts"]["pruned"]) == (1, 1)
    assert "14 days" not in kb("search", "how often is the mirror cleaned", "-n", "9", home=home).out
    assert "rain alone" in kb("search", "rain", "--mode", "lexical", home=home).out
    assert kb("rm", "bread.md", home=home).code == 0
    assert places(kb("search", "sourdough", "--mode", "lexical", "--json", home=home)) == []

    status = kb("status", "--json", home=home).json()
    assert (status["documents"], status["chunks"], status["chunks_without_vector"]) == (4, 4, 0)
    assert [index["up_to_date"] for index in status["indexes"]] == [True, True]
    health = kb("doctor", "--json", home=home)
    assert health.code == 0, health.out
    assert kb("reindex", home=home).code == 0
    assert places(kb("search", "otter", "--json", home=home))[0] == "otters.md#L1-L5"
    refused = kb("graph", "mirror", home=home)
    assert (refused.code, refused.err.count("\n")) == (2, 2)
    assert "kb graph does not work with corpus.engine = milvus yet" in refused.err


VOCABULARY = {"tags": [{"tag": "telescope", "aliases": ["mirror"]}, {"tag": "animal", "aliases": ["otter"]}]}
SUITE = """\
name: small
version: 1
queries:
  - id: mirror
    query: "How often must the mirror be cleaned?"
    relevant: [{path: mirror.md, anchor: "cleaned every 14 days", grade: 2}]
"""


def test_tags_eval_chat_and_the_deep_check_work_too(kb: Call, address: str, notes: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    kb("init", "--corpus", address, home=home)
    assert kb("ingest", notes, "--words-only", home=home).code == 0
    (tmp_path / "tags.json").write_text(json.dumps(VOCABULARY))
    assert kb("tags", "import", tmp_path / "tags.json", home=home).code == 0
    applied = kb("tags", "apply", "--all", "--threshold", "0.1", "--json", home=home)
    assert applied.code == 0, applied.err
    by_path = {d["path"]: [t["tag"] for t in d["applied"]] for d in applied.json()["documents"]}
    assert "telescope" in by_path["mirror.md"]
    tagged = kb("search", "cleaned", "--mode", "lexical", "--tag", "telescope", "--json", home=home)
    assert places(tagged) == ["mirror.md#L1-L5"]
    assert kb("tags", "apply", "--all", "--remove", home=home).code == 0
    assert kb("search", "cleaned", "--mode", "lexical", "--tag", "telescope", home=home).code == 1

    (tmp_path / "small.yaml").write_text(SUITE)
    measured = kb("eval", "run", tmp_path / "small.yaml", "--mode", "lexical", "--json", home=home)
    assert measured.code == 0, measured.err
    assert measured.json()["runs"][0]["metrics"]["mrr"]["mean"] == 1
    talk = kb(
        "chat", "--mode", "lexical", "--session", "s", "--json", home=home, stdin="How often is the mirror cleaned?\n"
    )
    assert talk.json()["citations"][0]["citation"]["path"] == "mirror.md"
    assert "every 14 days" in kb("answers", "show", "last", home=home).out
    deep = {c["name"]: c for c in kb("doctor", "--deep", "--json", home=home).json()["checks"]}
    assert "are not compared" in deep["texts"]["detail"]
    assert deep["index_entries"]["status"] == deep["every_vector"]["status"] == "ok"


def test_a_copy_finds_what_the_original_finds_and_comes_back(
    kb: Call, address: str, small_home: Path, tmp_path: Path
) -> None:
    assert kb("tags", "apply", "--all", "--dry-run", home=small_home).code in (0, 2)
    asked = ["which animal holds hands", "when is the dome closed", "wild yeast", "dust and gas"]
    before = [kb("search", query, "--json", home=small_home).json()["hits"] for query in asked]
    copied = kb("corpus", "copy", "local", address, "--json", home=small_home)
    assert copied.code == 0, copied.err
    report = copied.json()
    assert (report["copied"], report["verified"], report["vectors"]) == (6, 6, report["chunks"])
    again = kb("corpus", "copy", "local", address, "--json", home=small_home).json()
    assert (again["copied"], again["unchanged"]) == (0, 6)

    shared = tmp_path / "shared"
    assert kb("init", "--corpus", address, home=shared).code == 0
    for query, hits in zip(asked, before, strict=True):
        found = kb("search", query, "--json", home=shared).json()["hits"]
        # Where many passages score 0, those with the lowest ids come first.
        assert found[0]["citation"] == hits[0]["citation"]
        assert {h["citation"]["uri"] for h in found} == {h["citation"]["uri"] for h in hits}

    assert kb("backup", tmp_path / "all.kb", home=shared).code == 0
    restored = tmp_path / "restored"
    assert kb("restore", tmp_path / "all.kb", home=restored).code == 0
    found = kb("search", asked[0], "--json", home=restored).json()["hits"]
    assert [(h["citation"]["uri"], h["score"]) for h in found] == [
        (h["citation"]["uri"], h["score"]) for h in before[0]
    ]


def test_another_encoder_is_refused_with_the_way_out(
    kb: Call, address: str, notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    kb("init", "--corpus", address, home=home)
    assert kb("ingest", notes, home=home).code == 0
    monkeypatch.setenv("KB_EMBEDDING__DOCUMENT_PREFIX", "passage: ")
    other = tmp_path / "other"
    kb("init", "--corpus", address, home=other)
    refused = kb("ingest", notes, "--json", home=other)
    assert refused.code == 2
    error = json.loads(refused.err.splitlines()[-1])
    assert error["code"] == "embedding_mismatch"
    assert "corpus.collection" in error["fix"]
    assert kb("doctor", home=other).code == 3
    monkeypatch.delenv("KB_EMBEDDING__DOCUMENT_PREFIX")
    assert places(kb("search", "otter", "--mode", "vector", "--json", home=home))[0] == "otters.md#L1-L5"


@pytest.fixture
def nobody_listens() -> Iterator[str]:
    import socket

    with socket.socket() as held:  # bound, not listening: whoever connects is refused
        held.bind(("127.0.0.1", 0))
        yield f"milvus://127.0.0.1:{held.getsockname()[1]}/team"


def test_milvus_that_is_away_is_said_in_two_lines(kb: Call, nobody_listens: str, tmp_path: Path) -> None:
    refused = kb("init", "--corpus", nobody_listens, home=tmp_path / "home")
    assert refused.code == 2
    lines = refused.err.strip().splitlines()
    assert len(lines) == 2
    assert "does not answer" in lines[0]
    assert "start it, or correct corpus.uri" in lines[1]
    assert not (tmp_path / "home" / "config.toml").exists()


@pytest.mark.parametrize("address", ["milvus://me:secret@db/team", "redis://db", "milvus://db/a/b"])
def test_an_address_that_is_none_is_refused(kb: Call, address: str, tmp_path: Path) -> None:
    refused = kb("init", "--corpus", address, home=tmp_path / "home")
    assert refused.code == 2
    assert "secret" not in refused.err
