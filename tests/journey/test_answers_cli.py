"""kb answers list, show; and what an answer cites, read again from the files."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.journey.conftest import CORPUS, Call
from tests.journey.ollama import QUESTION
from tests.schemas import check_wire

pytestmark = pytest.mark.usefixtures("default_readers")


def test_list_and_show(kb: Call, corpus_home: Path) -> None:
    assert kb("answers", "list", home=corpus_home).code == 1
    kb("ask", QUESTION, "--mode", "lexical", home=corpus_home)
    kb("ask", "zzyzx?\x1b[xyzzy", "--mode", "lexical", home=corpus_home)
    result = kb("answers", "list", home=corpus_home)
    refused, grounded = result.out.splitlines()
    assert result.code == 0
    assert refused.endswith("✗ no answer found  zzyzx?␛[xyzzy")
    assert grounded.endswith(f"✓  {QUESTION}")
    listed = kb("answers", "list", "--json", "-n", "1", home=corpus_home).json()
    check_wire(listed, json.loads(kb("schema", "answer_list.v1").out))
    assert [row["refusal_reason"] for row in listed["answers"]] == ["no_chunks"]

    assert [line.split()[0] for line in (refused, grounded)] == ["2", "1"]
    oldest = kb("answers", "list", "--sort", "oldest", "-n", "1", "--json", home=corpus_home).json()["answers"]
    assert [(row["number"], row["question"]) for row in oldest] == [(1, QUESTION)]
    trace = oldest[0]["trace_id"]
    for beginning in ("1", "#1", trace, trace.upper(), trace[:-1]):
        shown = kb("answers", "show", beginning, home=corpus_home)
        assert shown.code == 0
        assert trace not in shown.out  # a person has the number
        assert shown.out.startswith("answer 1 · 2")
        assert "I asked no language model: the answer is quoted" in shown.out
        assert "The mirror must be cleaned every 14 days." in shown.out
    assert trace in kb("answers", "show", "1", "--verbose", home=corpus_home).out
    last = kb("answers", "show", "last", "--json", home=corpus_home).json()["answer"]
    assert (last["number"], last["refusal_reason"]) == (2, "no_chunks")
    whole = kb("answers", "show", trace, "--json", home=corpus_home).json()
    check_wire(whole, json.loads(kb("schema", "stored_answer.v1").out))
    assert whole["answer"]["packed"][0]["path"] == "guide/marigold-telescope.md"
    assert whole["answer"]["citations"][0]["uri"].startswith("guide/marigold-telescope.md#L32-L")


@pytest.mark.parametrize("name", ["nosuch", "0", "", "%"])
def test_show_what_is_not_one_answer(kb: Call, corpus_home: Path, name: str) -> None:
    for _ in range(2):
        kb("ask", "zzyzx?", "--mode", "lexical", home=corpus_home)
    result = kb("answers", "show", name, home=corpus_home)
    assert result.code == 2
    assert "kb answers list" in result.err


@pytest.mark.parametrize(
    ("question", "path"),
    [
        (QUESTION, "guide/*.md"),
        ("How long does cleaning the mirror take?", "guide/marigold-telescope.md"),
        ("마리골드 거울은 며칠마다 청소해야 하나요?", "ko/*.md"),
        ("구명조끼는 몇 벌이어야 하나요?", "ko/daily-checklist.md"),
        ("How high is the weather mast and what stands on it?", "guide/weather-mast.rst"),
        ("When does a token of the HTTP interface expire?", "code/lamp-api.rst"),
        ("When was the lamp put out for good?", "notes/history.txt"),
        ("May people walk over the tide?", "code/tide_filter.rs"),
        ("Which picture is taken next in the exposure queue?", "code/lamp_queue.py"),
        ("What happened when the dome jammed?", "ops/incident#31-dome-jam.md"),
    ],
)
def test_quotes_stand_in_the_cited_lines(
    kb: Call, corpus_home: Path, monkeypatch: pytest.MonkeyPatch, question: str, path: str
) -> None:
    monkeypatch.setenv("KB_RAG__EVIDENCE_GATE", "0")  # whether they answer is not asked here
    answer = kb("ask", question, "--path", path, "--json", home=corpus_home).json()
    assert answer["citations"], answer["answer"]
    cited = {c["marker"]: c["citation"] for c in answer["citations"]}
    quotes = re.findall(r"(.+?)\s\[#(\d+)\](?=\s|$)", answer["answer"], re.S)
    assert {int(marker) for _, marker in quotes} == set(cited)
    for number, (quote, marker) in enumerate(quotes):
        place = cited[int(marker)]
        lines = (CORPUS / place["path"]).read_text(encoding="utf-8").splitlines()
        told = bare(quote.removesuffix("…").removeprefix("\n\nSee also:\n").removeprefix("\n\n함께 볼 곳:\n"))
        # The first quote stands below its heading; a further one is a sentence, which may stand amid its line.
        cited_text = bare("\n".join(lines[place["start_line"] - 1 : place["end_line"]]))
        assert told
        assert told.endswith(cited_text[-len(told) // 2 :]) or (number and told.removeprefix("-") in cited_text)


@pytest.mark.parametrize(
    ("code", "says"), [("E-133", "Queue is full and the request was refused"), ("E-160", "medium")]
)
def test_a_row_of_a_csv_file_answers(kb: Call, corpus_home: Path, code: str, says: str) -> None:
    """Shown with the names of its columns, and cited by its line."""
    result = kb("ask", f"What does {code} mean?", "--json", home=corpus_home)
    answer = result.json()
    assert (result.code, answer["outcome"]) == (0, "answered")
    place = answer["citations"][0]["citation"]
    row = (CORPUS / place["path"]).read_text(encoding="utf-8").splitlines()[place["start_line"] - 1]
    assert (place["path"], place["start_line"]) == ("ops/error-codes.csv", place["end_line"])
    assert row.startswith(f"{code},")
    assert f"- code: {code}\n- severity: " in answer["answer"]
    assert says in answer["answer"]


def bare(text: str) -> str:
    """Text without white space, fences and the marks at the start of its lines."""
    lines = re.sub(r"^(?:\s*(?:[>*+-]|\d+[.)]|//[/!]?|```\S*)\s*)+", "", text, flags=re.M)
    return re.sub(r"\s|```", "", lines)
