"""Milvus that refuses, fails in the middle, restarts or is used by several: two lines, and nothing half-acknowledged."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kb.config import CorpusConfig
from kb.corpora import IndexesDoor
from kb.errors import EmbeddingMismatch, IoError, KbError
from tests.contract.corpora import ENCODER, a_document, milvus_settings, needs_milvus, open_milvus, save
from tests.contract.milvus_server import WRITES, MilvusServer, serve

pytestmark = needs_milvus
LONGEST_SECONDS = 3.0


@pytest.fixture(scope="module")
def shared_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MilvusServer]:
    with serve(tmp_path_factory.mktemp("milvus")) as server:
        yield server


@pytest.fixture
def server(shared_server: MilvusServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[MilvusServer]:
    monkeypatch.setattr("kb.milvus.client.TIMEOUT_SECONDS", LONGEST_SECONDS)
    yield shared_server
    shared_server.tokens, shared_server.refuse = set(), lambda name: None


@pytest.fixture
def settings(server: MilvusServer) -> CorpusConfig:
    return milvus_settings(Path("corpus"), uri=server.uri)


@contextmanager
def opened(settings: CorpusConfig, home: Path) -> Iterator[tuple[Any, IndexesDoor]]:
    home.mkdir(exist_ok=True)
    with open_milvus(settings, home) as both:
        yield both


def fill(settings: CorpusConfig, home: Path) -> int:
    """A corpus of two documents; returns the id of the first."""
    with opened(settings, home) as (corpus, indexes):
        corpus.stamp_encoder(ENCODER, ("", ""))
        doc_id = save(corpus, a_document("a.md"), "old words", "of two passages")
        save(corpus, a_document("b.md"), "another text")
        indexes.refresh_lexical()
        return doc_id


def seen(settings: CorpusConfig, home: Path) -> dict[str, list[str]]:
    """What a new reader finds, by document."""
    with opened(settings, home) as (corpus, _):
        return {d.path: [c.text for c in corpus.chunks_of_document(d.doc_id)] for d in corpus.list_documents()}


OLD = {"a.md": ["old words", "of two passages"], "b.md": ["another text"]}
NEW = {"a.md": ["new words now"], "b.md": ["another text"]}


def test_a_reader_without_rights_sees_nothing(server: MilvusServer, settings: CorpusConfig, tmp_path: Path) -> None:
    server.tokens = {"team:right"}
    fill(replace(settings, token="team:right"), tmp_path / "home")
    for token in ("team:wrong", ""):
        with pytest.raises(IoError, match="refuses this token") as refused:
            seen(replace(settings, token=token), tmp_path / "other")
        assert "KB_CORPUS__TOKEN" in refused.value.fix
        assert "old words" not in str(refused.value)
    assert seen(replace(settings, token="team:right"), tmp_path / "other") == OLD


def test_two_databases_do_not_see_each_other(server: MilvusServer, settings: CorpusConfig, tmp_path: Path) -> None:
    from pymilvus import MilvusClient

    for name in ("reds", "blues"):
        MilvusClient(server.uri).create_database(name)
    fill(replace(settings, database="reds"), tmp_path / "home")
    assert seen(replace(settings, database="reds"), tmp_path / "other") == OLD
    assert seen(replace(settings, database="blues"), tmp_path / "other") == {}


def test_every_write_may_fail_and_a_reader_sees_the_old_document_or_the_new_one(
    server: MilvusServer, settings: CorpusConfig, tmp_path: Path
) -> None:
    """Each write of a replacement fails once, as if the writer were killed there; the next run completes it."""
    failures = 0
    for place in range(30):
        at = replace(settings, collection=f"{settings.collection}x{place}")
        doc_id = fill(at, tmp_path / f"home{place}")
        left = [place]

        def refuse(name: str, left: list[int] = left) -> str | None:
            if name not in WRITES:
                return None
            left[0] -= 1
            return "quota exceeded: rate limit" if left[0] < 0 else None

        server.refuse = refuse
        problem = replace_document(at, tmp_path / f"home{place}", doc_id)
        server.refuse = lambda name: None
        assert seen(at, tmp_path / "reader") in (OLD, NEW)
        failures += problem is not None
        assert problem is None or "a limit is reached" in str(problem)
        assert replace_document(at, tmp_path / f"home{place}", doc_id) is None
        assert seen(at, tmp_path / "reader") == NEW
        check_words(at, tmp_path / f"home{place}")
        if problem is None:
            break
    else:
        pytest.fail("a replacement takes more than 30 writes")
    assert failures > 5


def replace_document(settings: CorpusConfig, home: Path, doc_id: int) -> KbError | None:
    try:
        with opened(settings, home) as (corpus, indexes):
            save(corpus, a_document("a.md", content_hash="new"), "new words now", replacing=doc_id)
            indexes.refresh_lexical()
    except KbError as error:
        return error
    return None


def check_words(settings: CorpusConfig, home: Path) -> None:
    """What is found, and how it scores, is as in a corpus that was never disturbed."""
    with opened(settings, home) as (corpus, indexes):
        if indexes.lexical.fault():
            indexes.refresh_lexical(force=True)
        index = indexes.lexical.index()
        statistics = index.statistics(["old", "new", "text"])
        assert (statistics.rows, statistics.holding["text"]) == (2, {"old": 0, "new": 1, "text": 1})
        assert [corpus.places_of([i]) for i, _ in index.search(["new"], 5)] == [[("s", "a.md")]]
        assert corpus.count_chunks() == 2


def test_a_search_waits_for_a_server_that_restarts(tmp_path: Path, settings: CorpusConfig) -> None:
    from threading import Timer

    with serve(tmp_path / "own") as server:
        own = replace(settings, uri=server.uri)
        fill(own, tmp_path / "home")
        with opened(own, tmp_path / "home") as (corpus, indexes):
            assert len(indexes.lexical.index().search(["word"], 5)) == 1
            server.stop()
            again = Timer(0.3, server.start)
            again.start()
            corpus.client._timeout = 20.0
            assert len(indexes.lexical.index().search(["word"], 5)) == 1
            again.join()


def test_a_server_that_went_away_is_said(tmp_path: Path, settings: CorpusConfig) -> None:
    server = MilvusServer(tmp_path / "own")
    own = replace(settings, uri=server.uri)
    fill(own, tmp_path / "home")
    with opened(own, tmp_path / "home") as (_, indexes):
        server.stop()
        with pytest.raises(IoError, match="does not answer"):
            indexes.lexical.index().search(["word"], 5)


@pytest.mark.parametrize(
    ("error", "problem", "fix"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "has no room", "make room in {folder} ("),
        (RuntimeError("out of memory"), "has no room", "give it more room"),
        (
            RuntimeError("Error in void faiss::read_xb_vector() at index_read.cpp"),
            "has an index that a full",
            "remove the files *.idx",
        ),
        (EOFError("No data left in file"), "has an index that a full disk cut short", "remove the files *.idx"),
    ],
)
def test_what_a_full_disk_does_to_a_file_is_said(error: Exception, problem: str, fix: str, tmp_path: Path) -> None:
    with opened(milvus_settings(tmp_path / "corpus.db"), tmp_path / "home") as (corpus, _):
        told = corpus.client._explain(error)
    assert told.problem.startswith(f"Milvus at {tmp_path / 'corpus.db'}")
    assert problem in told.problem
    assert told.fix.startswith(fix.format(folder=tmp_path))


def test_another_encoder_is_refused(settings: CorpusConfig, tmp_path: Path) -> None:
    fill(settings, tmp_path / "home")
    with opened(settings, tmp_path / "other") as (corpus, _):
        for encoder, prefixes in (((*ENCODER[:1], "other", 4), ("", "")), (ENCODER, ("", "passage: "))):
            with pytest.raises(EmbeddingMismatch, match=r"vectors at .* are those of toy") as refused:
                corpus.stamp_encoder(encoder, prefixes)
            assert "corpus.collection" in refused.value.fix
        assert corpus.stored_encoder() == ENCODER


def test_a_writer_with_other_settings_is_told(settings: CorpusConfig, tmp_path: Path) -> None:
    from kb.milvus.corpus import MilvusCorpus

    fill(settings, tmp_path / "home")
    told: list[str] = []
    (tmp_path / "other").mkdir()
    corpus = MilvusCorpus(settings, tmp_path / "other", told.append)
    save(corpus, a_document("c.md", signature="other settings"), "text")
    save(corpus, a_document("d.md", signature="other settings"), "text")
    corpus.close()
    assert len(told) == 1
    assert "other settings or another version" in told[0]


def test_two_writers_count_words_apart_and_readers_add_up(settings: CorpusConfig, tmp_path: Path) -> None:
    fill(settings, tmp_path / "one")
    (tmp_path / "two").mkdir()
    with opened(settings, tmp_path / "one") as (first, words), opened(settings, tmp_path / "two") as (second, others):
        save(first, a_document("c.md"), "words of the first")
        save(second, a_document("d.md"), "words of the second")
        assert words.lexical.fault(), "a writer has not written what it counted"
        words.refresh_lexical()
        others.refresh_lexical()
        for indexes in (words, others):
            statistics = indexes.lexical.index().statistics(["word"])
            assert (statistics.rows, statistics.holding["text"]["word"]) == (5, 3)
            assert len(indexes.lexical.index().search(["word"], 9)) == 3
        # One of them takes away what the other one wrote.
        second.remove_documents([first.find_document("c.md").doc_id])
        others.refresh_lexical()
        assert words.lexical.index().statistics(["word"]).holding["text"]["word"] == 2
