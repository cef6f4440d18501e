"""Readers beside writers: they open what is finished, say how far it is behind, build nothing, and do not fail."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kb.config import Config
from kb.drafts import ChunkDraft, DocumentDraft
from kb.index.stamp import INDEX_FOLDER
from kb.records import SearchRequest
from kb.runtime import Runtime
from kb.search.pipeline import search
from kb.store.lock import POLL_SECONDS, writer_lock
from tests.contract.test_index_following import DIGEST, Edited, places
from tests.contract.test_index_kills import start_writer


@pytest.fixture
def home(tmp_path: Path) -> Path:
    with Edited(tmp_path / "home", Config()) as kb:
        kb.documents += [kb.save() for _ in range(30)]
        add_word(kb, "zanzibar")
        kb.refresh_indexes()
    return tmp_path / "home"


def add_word(kb: Runtime, word: str) -> int:
    draft = DocumentDraft("notes", f"{word}.md", word, "markdown", "en", (), 1, 1, word, "s")
    return kb.corpus.save_document(draft, [(ChunkDraft(0, 0, 5, word, (), 9, 1, 2), word)], DIGEST, {}).doc_id


@contextmanager
def reading(home: Path) -> Iterator[tuple[Runtime, list[str]]]:
    told: list[str] = []
    with Runtime(home, Config(), notify=told.append) as kb:
        yield kb, told


def found(kb: Runtime, word: str) -> tuple[list[str], str | None]:
    response = search(kb, SearchRequest(query=word, k=5, mode="lexical"))
    return [hit.path for hit in response.hits], response.note


def test_behind_a_writer_a_search_says_how_far_and_finds_nothing_that_is_gone(home: Path) -> None:
    with Edited(home, Config()) as writer, writer_lock(home, 0, print), reading(home) as (reader, told):
        before = places(writer)
        assert found(reader, "zanzibar") == (["zanzibar.md"], None)
        add_word(writer, "okapi")
        assert found(reader, "zanzibar") == (["zanzibar.md"], "the index is 1 document behind")
        assert found(reader, "okapi")[0] == []
        zanzibar = reader.corpus.find_document("zanzibar.md").doc_id
        writer.corpus.remove_documents([zanzibar, *[d.doc_id for d in writer.corpus.list_documents()[:2]]])
        assert found(reader, "zanzibar") == ([], "the index is 4 documents behind")
        assert places(writer) == before
        writer.refresh_indexes()
        assert found(reader, "okapi") == (["okapi.md"], None)
        assert told == []


def test_where_nobody_writes_a_reader_takes_up_what_a_killed_writer_left(home: Path) -> None:
    with Edited(home, Config()) as writer:
        add_word(writer, "okapi")
        before = places(writer)
    with reading(home) as (reader, told):
        assert found(reader, "okapi") == (["okapi.md"], None)
        after = places(reader)
        assert after["lexical"] != before["lexical"]
        assert after["vector"] == before["vector"], "no vector has changed"
        assert told == []


def test_a_reader_that_may_not_write_searches_what_is_there(home: Path) -> None:
    with Edited(home, Config()) as writer:
        add_word(writer, "okapi")
    (home / "write.lock.turn").mkdir()  # nobody, not even root, can open it as a file
    with reading(home) as (reader, _):
        assert found(reader, "zanzibar") == (["zanzibar.md"], "the index is 1 document behind")


def test_without_any_index_a_writer_at_work_is_not_waited_for(home: Path) -> None:
    shutil.rmtree(home / INDEX_FOLDER)
    with writer_lock(home, 0, print), reading(home) as (reader, _):
        assert found(reader, "zanzibar")[0] == []
        assert "cannot be found before" in (found(reader, "zanzibar")[1] or "")
        assert not (home / INDEX_FOLDER).exists()
    with reading(home) as (reader, told):
        assert found(reader, "zanzibar") == (["zanzibar.md"], None)
        assert told == ["building the lexical index (there is none that can be read)"]


def test_within_an_earlier_snapshot_a_newer_index_is_used_and_not_replaced(home: Path) -> None:
    with Edited(home, Config()) as writer, reading(home) as (reader, told), reader.snapshot():
        assert reader.corpus.count_documents() == 31
        add_word(writer, "okapi")
        writer.refresh_indexes()
        newest = places(writer)
        assert found(reader, "okapi")[0] == [], "the snapshot does not know it"
        assert found(reader, "zanzibar") == (["zanzibar.md"], None)
        assert places(writer) == newest
        assert told == []


def test_searches_do_not_fail_while_a_writer_commits(home: Path) -> None:
    """Two threads search, each time opened anew, while a process edits and commits without a pause."""
    failed: list[str] = []
    searches: list[int] = []
    process = start_writer(home)
    until = time.monotonic() + 1.5

    def read() -> None:
        while time.monotonic() < until:
            with reading(home) as (reader, told):
                try:
                    reader.lexical_index().search(["zanzibar", "rabat"], 5)
                    reader.vector_index().search(Edited.encode_query(reader, "rabat"), 5)  # type: ignore[arg-type]
                except Exception as error:
                    failed.append(repr(error))
                failed.extend(line for line in told if "building" in line)
            searches.append(1)

    threads = [threading.Thread(target=read) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    process.kill()
    process.communicate()
    assert failed == []
    assert len(searches) > 5


def test_two_writers_take_turns(tmp_path: Path) -> None:
    """Each waits for one turn of the other, however eager that one is; turns as short as a look at the lock aside."""
    turns: list[str] = []

    def write(name: str) -> None:
        for _ in range(4):
            with writer_lock(tmp_path, 60, lambda line: None):
                turns.append(name)
                time.sleep(4 * POLL_SECONDS)

    threads = [threading.Thread(target=write, args=(name,)) for name in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert "".join(turns) in ("abababab", "babababa")
