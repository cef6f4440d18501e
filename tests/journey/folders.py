"""What the ingest journeys share: folders of small documents, and what the command line made of them."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema

from kb.wire import json_schema
from tests.journey.conftest import Call, Result

MODES = ("lexical", "vector", "hybrid")

OTTERS = "# Otters\n\nAn otter holds hands with its neighbour while it sleeps on the river.\n"
COMETS = "# Comets\n\nA comet grows its tail only near the sun, from dust and ionised gas.\n"
BREAD = "# Bread\n\nSourdough rises overnight because wild yeast is slow but steady.\n"


def fill(folder: Path, files: dict[str, str | bytes]) -> Path:
    """Write files below a folder, the folders above them too."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


@cache
def _validator(name: str) -> Any:
    return jsonschema.Draft202012Validator(json_schema(name))


def check_events(result: Result) -> list[Any]:
    """The events of an `ingest --json`, the report last; every line is what its schema says, and they agree."""
    *events, report = result.events()
    for event in events:
        _validator("ingest_event.v1").validate(event)
    _validator("ingest_report.v1").validate(report)
    names = [event["event"] for event in events]
    assert names[0] == "scan_started"
    assert [name for name in names if name in ("completed", "aborted")] == names[-1:]
    assert names[-1] == ("aborted" if report["interrupted"] else "completed")
    finished = [event for event in events if event["event"] == "document_finished"]
    counts = dict(report["counts"])
    assert events[-1]["counts"] == counts
    scanned = counts.pop("scanned")
    assert sum(counts.values()) == len(finished) == scanned + counts["pruned"]
    for name, count in counts.items():
        assert sum(event["result"] == name for event in finished) == count
    assert len(report["not_indexed"]) == counts["skipped"] + counts["failed"]
    assert all(outcome["reason"] for outcome in report["not_indexed"])
    (total,) = [event["total"] for event in events if event["event"] == "scan_completed"]
    assert scanned == total or report["interrupted"]
    assert all(event["done"] <= total for event in finished)
    return [*events, report]


def ingest(kb: Call, home: Path, *arguments: str | Path, code: int = 0, stdin: bytes | None = None) -> Any:
    """The report of one `kb ingest --json`, checked."""
    result = kb("ingest", *arguments, "--json", home=home, stdin=stdin)
    assert result.code == code, result.err
    return check_events(result)[-1]


def counted(report: Any) -> dict[str, int]:
    """The counts that are not zero, but for `scanned`."""
    return {name: count for name, count in report["counts"].items() if count and name != "scanned"}


def rows(home: Path, sql: str, *values: object) -> list[Any]:
    """What the store says, read beside the program."""
    with closing(sqlite3.connect(f"file:{home / 'kb.sqlite'}?mode=ro", uri=True)) as connection:
        return connection.execute(sql, values).fetchall()


def execute(home: Path, sql: str, *values: object) -> None:
    """Change the store behind the program's back."""
    with closing(sqlite3.connect(home / "kb.sqlite")) as connection:
        connection.execute(sql, values)
        connection.commit()


def documents(home: Path) -> dict[str, int]:
    """source/path → doc_id."""
    return dict(rows(home, "SELECT source || '/' || path, doc_id FROM documents ORDER BY source, path"))


def search(kb: Call, home: Path, query: str, mode: str = "lexical") -> list[Any]:
    """The hits, best first."""
    result = kb("search", query, "--mode", mode, "-k", "50", "--json", home=home)
    assert result.code in (0, 1), result.err
    hits: list[Any] = result.json()["hits"]
    return hits


def paths_found(kb: Call, home: Path, query: str, mode: str = "lexical") -> set[str]:
    """The paths of all hits, and of their copies."""
    hits = search(kb, home, query, mode)
    return {place["path"] for hit in hits for place in (hit, *(hit["also_in"] or ()))}


def assert_complete(home: Path) -> None:
    """The file is sound, and every document in it has all its chunks, each with its vector."""
    assert_sound(home)
    without = (
        "SELECT path FROM chunks JOIN documents USING (doc_id) WHERE NOT EXISTS (SELECT 1 FROM embeddings"
        " WHERE embeddings.embed_hash = chunks.embed_hash"
        " AND encoder_id = (SELECT encoder_id FROM encoders JOIN meta ON digest = value WHERE name = 'encoder_digest'))"
    )
    assert rows(home, without) == []


def assert_sound(home: Path) -> None:
    """The file is sound, and every document in it has its chunks; vectors may be missing."""
    assert rows(home, "PRAGMA quick_check") == [("ok",)]
    assert rows(home, "PRAGMA foreign_key_check") == []
    assert rows(home, "SELECT path FROM documents WHERE doc_id NOT IN (SELECT doc_id FROM chunks)") == []


def tree_of(home: Path) -> dict[str, bytes]:
    """Every file below a home with its bytes; without the scratch files that SQLite leaves beside a store it has read."""
    assert not (home / "kb.sqlite-wal").exists() or not (home / "kb.sqlite-wal").stat().st_size
    files = [
        path for path in sorted(home.rglob("*")) if path.is_file() and path.suffix not in (".sqlite-wal", ".sqlite-shm")
    ]
    return {str(path.relative_to(home)): path.read_bytes() for path in files}


def many_files(folder: Path, count: int, sentences: int) -> Path:
    """Small documents, no two sentences alike."""
    for number in range(count):
        told = [f"Lighthouse {number} keeps log {part} of storm {number * part}." for part in range(sentences)]
        fill(folder, {f"{number % 3}/light-{number:03d}.md": f"# Lighthouse {number}\n\n" + "\n\n".join(told) + "\n"})
    return folder
