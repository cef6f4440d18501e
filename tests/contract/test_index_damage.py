"""Index files that are not what they were: found by their checksum, and never a crash where it is not compared."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kb.config import SearchConfig
from kb.errors import IndexOutOfDate, IoError
from kb.index import tantivy_index
from kb.index.keeper import IndexKeeper, Source, open_index, write_index
from kb.index.stamp import Origin, read_stamp
from tests.contract.test_index import texts

SETTINGS = SearchConfig()
ROWS = [(number, number, "", "", text) for number, text in enumerate(texts(60), start=1)]


@contextmanager
def snapshot() -> Iterator[None]:
    yield


def keeper_of(folder: Path, told: list[str]) -> IndexKeeper:
    source = Source(snapshot, lambda: Origin(1, "state"), lambda _: iter(ROWS))
    return IndexKeeper(folder, tantivy_index.TANTIVY, SETTINGS, source, told.append)


def flip(file: Path, at: int) -> None:
    content = bytearray(file.read_bytes())
    content[at] ^= 0x20
    put(file, content)


def put(file: Path, content: bytes | bytearray) -> None:
    """In place of the file: one that is shortened while an index has it mapped would kill the process."""
    beside = file.with_suffix(".new")
    beside.write_bytes(content)
    beside.replace(file)


def test_every_changed_byte_is_found_by_the_checksum(tmp_path: Path) -> None:
    stamp = write_index(tmp_path, tantivy_index.TANTIVY, Origin(1, "state"), SETTINGS, lambda w: w.upsert(iter(ROWS)))
    keeper = keeper_of(tmp_path, [])
    assert keeper.fault({row[0] for row in ROWS}) is None
    files = [f for f in (tmp_path / stamp.place).rglob("*") if f.is_file() and f.stat().st_size and f.suffix != ".lock"]
    for file in files:
        before = file.read_bytes()
        flip(file, random.Random(file.suffix).randrange(len(before)))
        assert keeper.fault() == "lexical is damaged", file
        with pytest.raises(IndexOutOfDate, match="another checksum"):
            open_index(tmp_path, tantivy_index.TANTIVY, stamp, SETTINGS)
        put(file, before)
    assert keeper.fault() is None


def test_a_changed_stamp_is_no_stamp(tmp_path: Path) -> None:
    write_index(tmp_path, tantivy_index.TANTIVY, Origin(1, "state"), SETTINGS, lambda w: w.upsert(iter(ROWS)))
    file = tmp_path / "lexical.json"
    file.write_text(file.read_text().replace('"recall": 1.0', '"recall": 0.9'))
    assert read_stamp(tmp_path, "lexical") is None


def test_entries_that_the_store_does_not_have_are_named(tmp_path: Path) -> None:
    keeper = keeper_of(tmp_path, [])
    keeper.index()
    assert keeper.fault({*range(3, 70)}) == "lexical lacks 9 chunks and holds 2 that are gone"


def test_damage_that_only_a_query_meets_is_rebuilt_once(tmp_path: Path) -> None:
    """As in an index so large that its files are not read in full before a search: a panic in Rust is no traceback."""
    told: list[str] = []
    expected = keeper_of(tmp_path, told).index().search(["rabat"], 5)
    generator = random.Random(4)
    met = 0
    for _ in range(40):
        keeper = keeper_of(tmp_path, told)
        stamp = keeper.stamp()
        assert stamp is not None
        file = max((f for f in (tmp_path / stamp.place).glob("*.idx")), key=lambda f: f.stat().st_size)
        before = file.read_bytes()
        flip(file, generator.randrange(len(before)))
        rebuilt = len(told)
        try:
            index = open_index(tmp_path, tantivy_index.TANTIVY, stamp, SETTINGS, most_bytes=0)
            found = index.search(["rabat"], 5)
        except IndexOutOfDate:
            met += 1
            found = keeper.index().search(["rabat"], 5)
            assert (len(told), found) == (rebuilt + 1, expected)
        else:
            put(file, before)
    assert met


def test_an_index_that_breaks_while_it_is_open_is_rebuilt_by_the_call_that_meets_it(tmp_path: Path) -> None:
    told: list[str] = []

    class Breaking(tantivy_index.TantivyIndex):
        def search(self, query, depth, within=None):
            if len(told) < 2:
                raise IndexOutOfDate("the lexical index is damaged", fix="")
            return super().search(query, depth, within)

    engine = tantivy_index.Engine("lexical", tantivy_index.FORMAT, tantivy_index.TantivyWriter, Breaking)
    source = Source(snapshot, lambda: Origin(1, "state"), lambda _: iter(ROWS))
    keeper: IndexKeeper = IndexKeeper(tmp_path, engine, SETTINGS, source, told.append)
    assert keeper.index().search(["rabat"], 5) == keeper_of(tmp_path, []).index().search(["rabat"], 5)
    assert len(told) == 2


def test_no_room_or_no_right_names_folder_and_free_space(tmp_path: Path) -> None:
    (tmp_path / "index").write_text("in the way")
    with pytest.raises(IoError) as raised:
        keeper_of(tmp_path / "index", []).index()
    assert str(tmp_path / "index") in raised.value.problem
    assert "MB are free" in raised.value.fix
