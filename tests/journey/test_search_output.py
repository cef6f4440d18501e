"""kb search as a person, an editor or a script reads it: snippets, --explain, --paths, --bulk, empty results, odd queries."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from kb.text import analyze, analyze_query
from tests.journey.conftest import CORPUS, ROOT, Call


def plain(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize("query", ["mirror cleaning", "거울 청소", "retry_budget_seconds", "domes closing in the wind"])
def test_snippets_are_original_text_with_the_matched_words_marked(kb: Call, corpus_home: Path, query: str) -> None:
    terms = set(analyze_query(query))
    marked = 0
    for hit in kb("search", query, "-k", 8, "--json", home=corpus_home).json()["hits"]:
        chunk = kb("show", hit["chunk_id"], "--json", home=corpus_home).json()
        body = hit["snippet"].removeprefix("… ").removesuffix(" …")
        assert body
        assert body in plain(chunk["text"])
        for start, end in hit["highlights"]:
            assert not terms.isdisjoint(analyze(hit["snippet"][start:end])), hit["snippet"][start:end]
            marked += 1
        assert hit["highlights"] or hit["retrieval"]["lexical_rank"] is None or not terms & set(analyze(body))
    assert marked


def test_people_read_place_score_headings_and_snippet(kb: Call, corpus_home: Path) -> None:
    found = kb("search", "mirror cleaning", "-k", 2, home=corpus_home)
    lines = found.out.splitlines()
    assert re.search(r"^ 1  The Marigold telescope › Care of the mirror › Cleaning  \d+%$", lines[0])
    assert lines[1].startswith("    guide/marigold-telescope.md#L")
    assert any("every 14 days" in line for line in lines[2:])
    assert "\x1b" not in found.out + found.err
    assert found.err == ""


def test_explain_shows_both_lists_and_times(kb: Call, corpus_home: Path) -> None:
    found = kb("search", "mirror cleaning", "-k", 1, "--explain", "--tag", "optics", home=corpus_home)
    for line in (r"terms: mirror clean", r"filters let through: \d+ documents", r"bm25: #1 chunk \d+ \d+\.\d{3}  #2"):
        assert re.search(rf"^{line}", found.out, re.MULTILINE), line
    assert re.search(r"^cosine: #1 chunk", found.out, re.MULTILINE)
    assert re.search(r"^ms: .*encode \d", found.out, re.MULTILINE)
    trace = kb("search", "mirror cleaning", "-k", 1, "--explain", "--json", home=corpus_home).json()["trace"]
    assert (trace["query_terms"], trace["filtered_documents"]) == (["mirror", "clean"], None)
    assert {"filter", "lexical", "encode", "vector", "fuse", "hits"} <= set(trace["stage_ms"])
    assert kb("search", "mirror", "--mode", "lexical", "--json", home=corpus_home).json()["trace"] is None


@pytest.mark.parametrize("folder", [ROOT, Path("/")])
def test_paths_can_be_opened(kb: Call, corpus_home: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    found = kb(
        "search", "the dome of a telescope and the boat", "--mode", "lexical", "--paths", "-k", 50, home=corpus_home
    )
    lines = found.out.splitlines()
    assert (found.code, len(lines)) == (0, 50)
    for line in lines:
        path, _, number = line.rpartition(":") if re.search(r":\d+$", line) else (line, "", "")
        assert Path(path).is_file(), line
        if number:
            assert 1 <= int(number) <= len(Path(path).read_text().split("\n"))
    assert any(line.endswith(".html") for line in lines)
    assert kb("open", lines[0], home=corpus_home).out.strip() == lines[0]


def test_bulk_answers_every_line_in_order(kb: Call, corpus_home: Path) -> None:
    queries = "mirror cleaning\n\n   \r\nzzqqxx\r\n거울 청소\n"
    found = kb("search", "--bulk", "--mode", "lexical", "-k", 1, "--json", home=corpus_home, stdin=queries)
    responses: list[dict[str, Any]] = [json.loads(line) for line in found.out.splitlines()]
    assert [r["query"] for r in responses] == ["mirror cleaning", "zzqqxx", "거울 청소"]
    assert [len(r["hits"]) for r in responses] == [1, 0, 1]
    assert "zzqqxx" in responses[1]["hint"]
    assert found.code == 0
    text = kb("search", "--bulk", "--mode", "lexical", "-k", 1, home=corpus_home, stdin=queries)
    assert [line for line in text.out.splitlines() if line.startswith("? ")] == [
        "? mirror cleaning",
        "? zzqqxx",
        "? 거울 청소",
    ]


@pytest.mark.parametrize(("queries", "code"), [("zzqqxx\n", 1), ("", 1), ("\n \n", 1), ("zzqqxx\nmirror", 0)])
def test_bulk_exit_code_is_1_when_no_query_found_anything(kb: Call, corpus_home: Path, queries: str, code: int) -> None:
    assert kb("search", "--bulk", "--mode", "lexical", "--json", home=corpus_home, stdin=queries).code == code


def test_bulk_and_a_query_exclude_each_other(kb: Call, corpus_home: Path) -> None:
    for arguments in (["search"], ["search", "--bulk", "mirror"]):
        found = kb(*arguments, home=corpus_home)
        assert (found.code, found.out) == (2, "")
        assert "--bulk < queries.txt" in found.err


def test_an_empty_result_says_what_was_tried(kb: Call, corpus_home: Path) -> None:
    found = kb("search", "zzqqxx wwvvkk", "--mode", "lexical", home=corpus_home)
    assert (found.code, found.out) == (1, "")
    assert len(found.err.splitlines()) == 1
    assert "zzqqxx OR wwvvkk" in found.err
    assert "--mode hybrid" in found.err
    assert kb("search", "zzqqxx", "--mode", "lexical", "--paths", "--quiet", home=corpus_home).err == ""
    only_signs = kb("search", "?!", "--mode", "lexical", home=corpus_home)
    assert (only_signs.code, only_signs.out) == (1, "")
    assert "no word in it" in only_signs.err


def test_an_empty_result_of_paths_says_so_too(kb: Call, corpus_home: Path) -> None:
    found = kb("search", "zzqqxx", "--mode", "lexical", "--paths", home=corpus_home)
    assert (found.code, found.out) == (1, "")
    assert "zzqqxx" in found.err


@pytest.mark.parametrize("query", ["", " ", "\n\t"])
def test_an_empty_query_is_refused(kb: Call, corpus_home: Path, query: str) -> None:
    found = kb("search", query, home=corpus_home)
    assert (found.code, found.out) == (2, "")
    assert "the query is empty" in found.err


@pytest.mark.parametrize(
    "query",
    [
        '"mirror',
        "mirror AND",
        "NOT mirror",
        "mirror OR",
        "(mirror",
        "mirror)",
        "mirror*",
        "title:mirror",
        "+mirror -zzqqxx",
        "mirror^2",
        "mirror~",
        "[mirror TO",
        "mirror\\",
        "'mirror'; DROP TABLE chunks; --",
        "mirror\x00",
        "mirror\x1b[31m",
        "mirror\udcff",
        "mirror\n",
        "%mirror_",
        "mirror " * 2500,
    ],
)
def test_signs_of_query_languages_are_neither_errors_nor_lost_hits(kb: Call, corpus_home: Path, query: str) -> None:
    found = kb("search", "--mode", "lexical", "-k", 100, "--json", query, home=corpus_home)
    assert found.code == 0, found.err
    assert "guide/marigold-telescope.md" in {hit["path"] for hit in found.json()["hits"]}


def test_a_query_that_begins_with_a_dash_follows_two_dashes(kb: Call, corpus_home: Path) -> None:
    found = kb("--home", corpus_home, "search", "--mode", "lexical", "--", "-mirror")
    assert found.code == 0


def test_a_very_long_query_is_refused_kindly(kb: Call, corpus_home: Path) -> None:
    found = kb("search", "mirror " * 3001, home=corpus_home)
    assert found.code == 2
    assert "21,007 characters" in found.err


@pytest.mark.parametrize("command", ["search", "ask", "context", "graph"])
def test_several_words_without_quotes_are_one_text(kb: Call, corpus_home: Path, command: str) -> None:
    one, several = (
        kb(command, *words, "--json", home=corpus_home).json()
        for words in (["mirror cleaning"], ["mirror", "cleaning"])
    )
    name = "question" if command == "ask" else "query"
    assert one[name] == several[name] == "mirror cleaning"


def test_hits_carry_the_absolute_path_of_their_file(kb: Call, corpus_home: Path) -> None:
    hits = kb("search", "mirror", "--mode", "lexical", "-k", 50, "--json", home=corpus_home).json()["hits"]
    assert all(hit["file"] == str(CORPUS / hit["path"]) for hit in hits)
    kb("ingest", "-", "--title", "Said", home=corpus_home, stdin="The mirror was told of on standard input.\n")
    hits = kb("search", "mirror told standard input", "--mode", "lexical", "--json", home=corpus_home).json()["hits"]
    assert next(hit for hit in hits if hit["title"] == "Said")["file"] is None


def test_cited_paths_with_hash_signs_are_encoded(kb: Call, corpus_home: Path) -> None:
    hits = kb("search", "dome jam incident 31", "-k", 3, "--json", home=corpus_home).json()["hits"]
    top = next(hit for hit in hits if hit["path"] == "ops/incident#31-dome-jam.md")
    assert top["citation"]["uri"].startswith("ops/incident%2331-dome-jam.md#L")
    place = kb("open", top["citation"]["uri"], "--json", home=corpus_home).json()
    assert place["path"] == str(CORPUS / "ops/incident#31-dome-jam.md")
    assert place["start_line"] == top["citation"]["start_line"]


@pytest.mark.parametrize(
    ("query", "marked"), [("東京", "東京"), ("タワー", "タワー"), ("知识库", "知识库"), ("지식창고", "지식창고")]
)
def test_scripts_without_spaces_are_found_by_their_words(kb: Call, tmp_path: Path, query: str, marked: str) -> None:
    home = tmp_path / "home"
    text = "東京タワーは赤い。\n\n本地知识库可以搜索。\n\n여기는지식창고입니다.\n"
    assert kb("ingest", "-", "--title", "Signs", home=home, stdin=text).code == 0
    hit = kb("search", query, "--mode", "lexical", "--json", home=home).json()["hits"][0]
    assert [hit["snippet"][start:end] for start, end in hit["highlights"]] == [marked]
