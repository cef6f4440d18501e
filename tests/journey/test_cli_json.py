"""Every JSON object on stdout names its schema and keeps to it; hostile text is escaped in JSON and visible in text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from kb.wire import TERMINAL_DANGERS, WIRE_RECORDS, json_schema, schema_names
from tests.journey.conftest import CORPUS, Call
from tests.schemas import check_wire


def check(line: str, schema: str) -> dict[str, Any]:
    """One line of stdout against the schema it names."""
    record: dict[str, Any] = json.loads(line)
    assert record["schema_version"] == schema
    check_wire(record, schema)
    return record


@pytest.mark.parametrize("name", schema_names())
def test_every_schema_is_itself_valid_and_printed(kb: Call, name: str) -> None:
    schema = json_schema(name)
    jsonschema.Draft202012Validator.check_schema(schema)
    found = kb("schema", name)
    assert (found.code, json.loads(found.out)) == (0, json.loads(json.dumps(schema)))
    if name in WIRE_RECORDS:
        record = schema["$defs"][schema["$ref"].rpartition("/")[2]]
        assert record["properties"]["schema_version"]["enum"] == [name]


def test_an_unknown_schema_is_an_error_that_lists_them(kb: Call) -> None:
    found = kb("schema", "no.v1")
    assert (found.code, found.out) == (2, "")
    assert all(name in found.err for name in schema_names())
    assert kb("schema").out.split() == schema_names()


def test_every_object_on_stdout_keeps_to_its_schema(kb: Call, corpus_home: Path, tmp_path: Path) -> None:
    calls: list[tuple[list[str | Path], str, int]] = [
        (["search", "mirror", "--explain", "-k", "3"], "search_response.v1", 0),
        (["search", "zzqqxx", "--mode", "lexical"], "search_response.v1", 1),
        (["list"], "document_list.v1", 0),
        (["list", "--tag", "none"], "document_list.v1", 1),
        (["show", "doc:3"], "document_view.v1", 0),
        (["show", "doc:6"], "document_view.v1", 0),
        (["show", "3"], "chunk.v1", 0),
        (["open", "guide/glossary.md#L3-L5"], "place.v1", 0),
        (["status"], "status.v1", 0),
        (["doctor"], "doctor.v1", 0),
        (["reindex"], "done.v1", 0),
        (["init"], "done.v1", 0),
        (["backup", tmp_path / "copy.sqlite"], "done.v1", 0),
        (["schema"], "schema_list.v1", 0),
        (["ask", "How often must Marigold's mirror be cleaned?", "--mode", "lexical"], "answer.v1", 0),
        (["answers", "list"], "answer_list.v1", 0),
        (["answers", "show", "0"], "stored_answer.v1", 0),
        (["rm", "guide/glossary.md"], "removal.v1", 0),
        (["ingest", CORPUS], "ingest_report.v1", 0),
    ]
    for words, schema, code in calls:
        found = kb(*words, "--json", home=corpus_home)
        assert found.code == code, (words, found.err)
        *events, last = found.out.splitlines()
        check(last, schema)
        for event in events:
            check(event, json.loads(event)["schema_version"])
        assert not events or words[0] in ("ask", "ingest")


def test_parts_of_objects_keep_to_their_own_schemas(kb: Call, corpus_home: Path) -> None:
    hit = kb("search", "mirror", "--mode", "lexical", "--json", home=corpus_home).json()["hits"][0]
    check(json.dumps(hit), "search_hit.v1")
    check(json.dumps(hit["citation"]), "citation.v1")
    check(json.dumps(kb("list", "--json", home=corpus_home).json()["documents"][0]), "document.v1")


# ---- text that would drive a terminal

DANGER = "\x1b[2J\x1b]52;c;aGk=\x07 \x9b31m \u202etxt.exe\u2066 \u200bzero \x7f \x00"


@pytest.fixture
def hostile_home(kb: Call, tmp_path: Path) -> Path:
    """A folder whose names, titles, tags, headings and text try everything."""
    folder, home = tmp_path / "hostile", tmp_path / "home"
    folder.mkdir()
    front = json.dumps({"title": f"Title {DANGER}\nsecond", "tags": [f"tag {DANGER}"]})
    text = f"---\n{front}\n---\n\n# Head {DANGER}\n\nneedle {DANGER} here\n"
    (folder / "evil \u202e\u200b name.md").write_text(text)
    (folder / "skipped \x1b[31m\n.md").write_text(text)
    (folder / "plain.txt").write_text(f"needle {DANGER} again\n")
    found = kb("ingest", folder, "--source", "s", home=home)
    assert found.code == 0
    assert raw_dangers(found.out + found.err) == []
    return home


def raw_dangers(text: str) -> list[str]:
    return TERMINAL_DANGERS.findall(text)


def test_hostile_text_reaches_no_terminal_raw(kb: Call, hostile_home: Path) -> None:
    calls: list[list[str]] = [
        ["search", "needle", "--explain"],
        ["search", "needle", "--paths"],
        ["search", f"needle {DANGER}".replace("\x00", "")],
        ["search", f"zzqq{DANGER}".replace("\x00", ""), "--mode", "lexical"],
        ["list"],
        ["show", "doc:1"],
        ["show", "doc:2"],
        ["show", "1"],
        ["open", "plain.txt#L1"],
        ["show", "evil \u202e\u200b name.md"],
        ["list", "--tag", "\x1b[31m"],
        ["status"],
        ["doctor"],
        ["ask", "What does the needle say?"],
        ["answers", "list"],
        ["answers", "show", "0"],
        ["rm", "*.md"],
        ["schema", "\x1b[31m\u202e"],
    ]
    for words in calls:
        found = kb(*words, home=hostile_home)
        assert raw_dangers(found.out + found.err) == [], words
        if words[0] != "rm":
            as_json = kb(*words, "--json", home=hostile_home)
            assert raw_dangers(as_json.out + as_json.err) == [], words
            for line in as_json.out.splitlines():
                json.loads(line)


def test_hostile_names_stay_on_one_line_and_can_be_read_back_from_json(kb: Call, hostile_home: Path) -> None:
    listed = kb("list", home=hostile_home).out.splitlines()
    assert len(listed) == 3
    documents = kb("list", "--json", home=hostile_home).json()["documents"]
    assert any("\u202e" in d["path"] for d in documents)
    assert any("\x1b[2J" in d["title"] for d in documents)
    found = kb("search", "needle", "--mode", "lexical", "--paths", home=hostile_home)
    assert len(found.out.splitlines()) == 2
    assert "evil <U+202E><U+200B> name.md:" in found.out
