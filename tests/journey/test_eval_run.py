"""`kb eval run` and what is done with its runs: kept, listed, gated, compared, resumed, reported."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml

from kb.config import Config, load_config
from kb.eval.judges import judge_suite
from kb.eval.pipeline import KEPT_ROWS
from kb.eval.resolve import collapse
from kb.eval.sessions import RECALL_DEPTH, run_sessions
from kb.eval.suite import load_suite, parse_suite
from kb.eval.two_step import BUDGET_TOKENS, new_facts, resolve_known_chunks
from kb.runtime import open_runtime
from tests.journey.conftest import ROOT, Call, Result
from tests.journey.measured import SUITE_QUERIES, SUITE_TEXT, write_suite
from tests.journey.ollama import CITED, use
from tests.llm.recorded_server import Pause, RecordedServer, Reply, answer, free_port, last_line, line
from tests.schemas import check_wire

Start = Callable[..., subprocess.Popen[bytes]]
MODES = ("lexical", "vector", "hybrid")
SESSION_TEXT = """\
queries:
  - id: talk-1
    session: talk
    query: "How often must the mirror of Marigold be cleaned?"
    relevant:
      - {path: guide/marigold-telescope.md, anchor: "The mirror must be cleaned every 14 days.", grade: 2}
  - id: talk-2
    session: talk
    query: "What does the daily checklist say about mirrors?"
    relevant:
      - {path: ops/daily-checklist.md, anchor: "Mirrors: Marigold every second Thursday, Thistle every third"}
"""


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    return write_suite(tmp_path / "suites")


def measured(found: Result, schema: str = "eval_runs.v1") -> dict[str, Any]:
    """The last line of stdout, checked against its schema."""
    record: dict[str, Any] = found.json()
    assert record["schema_version"] == schema
    check_wire(record, schema)
    return record


def kept_runs(home: Path) -> list[Path]:
    return sorted((home / "eval").glob("*.jsonl"))


def rows_of(run: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in run.read_text().splitlines()]


def result_rows(run: Path) -> list[dict[str, Any]]:
    return [row["result"] for row in rows_of(run) if "result" in row]


def stored_answers(home: Path) -> int:
    with sqlite3.connect(home / "kb.sqlite") as connection:
        return int(connection.execute("SELECT count(*) FROM answers").fetchone()[0])


def all_modes() -> list[str]:
    return [word for mode in MODES for word in ("--mode", mode)]


def test_runs_a_suite_in_every_mode_side_by_side(kb: Call, corpus_home: Path, suite: Path) -> None:
    found = kb("eval", "run", suite, *all_modes(), home=corpus_home)
    assert found.code == 0, found.err
    lines = found.out.splitlines()
    assert re.split(r"\s{2,}", lines[0])[0] == "metric"
    assert [line.split()[0] for line in lines[1:4]] == ["ndcg@10", "mrr", "map"]
    assert "ndcg@3 " not in found.out
    verbose = kb("eval", "run", suite, *all_modes(), "--verbose", home=corpus_home)
    assert "\nndcg@3 " in verbose.out
    assert "\nms: lexical" in verbose.out

    runs = kept_runs(corpus_home)
    assert len(runs) == 2 * len(MODES)
    assert [len(result_rows(run)) for run in runs] == [SUITE_QUERIES] * 6
    header, footer = rows_of(runs[0])[0]["run"], rows_of(runs[0])[-1]["run"]
    assert (header["finished"], footer["finished"]) == (False, True)
    known = header["provenance"]
    assert known["embedding_digest"]
    assert known["suite_sha256"]
    assert known["config"]["search"]
    assert known["package_version"]


def test_json_is_one_valid_object_and_right_about_the_corpus(kb: Call, corpus_home: Path, suite: Path) -> None:
    record = measured(kb("eval", "run", suite, *all_modes(), "--json", home=corpus_home))
    assert [run["mode"] for run in record["runs"]] == list(MODES)
    for run in record["runs"]:
        assert run["finished"]
        assert run["queries"] == SUITE_QUERIES
        assert run["suite"] == "small"
        recall = run["metrics"]["recall@100"]
        # The unanswerable query has no relevant chunk: its recall is undefined, not 0.
        assert recall["n"] == SUITE_QUERIES - 1
        assert 0 < recall["mean"] <= 1
        assert recall["ci_low"] <= recall["mean"] <= recall["ci_high"]
        assert run["latency_ms"]["p50"] > 0
    assert measured(kb("eval", "list", "--json", home=corpus_home))["runs"] == record["runs"]
    heads, *listed = kb("eval", "list", home=corpus_home).out.splitlines()
    assert heads.split() == ["run", "made", "suite", "mode", "queries", "metric", "latency"]
    assert [line.split()[0] for line in listed] == [run["run_id"].split("-")[3] for run in record["runs"]]


def test_answers_are_judged_and_kept_apart_from_the_users_own(kb: Call, corpus_home: Path, suite: Path) -> None:
    before = stored_answers(corpus_home)
    run = measured(kb("eval", "run", suite, "--ask", "--seeds", "2", "--json", home=corpus_home))["runs"][0]
    assert stored_answers(corpus_home) == before
    assert (run["kind"], run["queries"]) == ("ask", 2 * SUITE_QUERIES)
    assert run["metrics"]["must_contain"] is not None
    assert run["metrics"]["false_refusal"]["n"] == SUITE_QUERIES - 1
    rows = result_rows(kept_runs(corpus_home)[0])
    assert sorted({row["seed"] for row in rows}) == [0, 1]
    assert all(row["answer"]["trace_id"] for row in rows)
    # The extractive model has no dice: the repetitions agree, and count as one query each.
    assert run["metrics"]["must_contain"]["n"] <= SUITE_QUERIES - 1


def test_gates_decide_the_exit_code(kb: Call, corpus_home: Path, suite: Path) -> None:
    words = ["eval", "run", suite, "--mode", "lexical"]
    passed = kb(*words, "--gate", "recall@100>=0.1", "--gate", "latency_p95_ms<=60000", "--json", home=corpus_home)
    assert passed.code == 0
    assert [gate["passed"] for gate in measured(passed)["gates"]] == [True, True]
    failed = kb(*words, "--gate", "ndcg@10>=1.01", "--gate", "recall@100>=0.1", home=corpus_home)
    assert failed.code == 1
    assert "failed  ndcg@10>=1.01" in failed.out
    assert "passed  recall@100>=0.1" in failed.out

    before = len(kept_runs(corpus_home))
    unknown = kb(*words, "--gate", "ndgc@10>=0.1", "--json", home=corpus_home)
    error = json.loads(unknown.err)
    assert (unknown.code, error["code"], error["fix"]) == (2, "invalid_input", "did you mean 'ndcg@10'?")
    assert kb(*words, "--gate", "ndcg@10", home=corpus_home).code == 2
    assert len(kept_runs(corpus_home)) == before


def test_a_gate_on_answers_asks(kb: Call, corpus_home: Path, suite: Path) -> None:
    found = kb("eval", "run", suite, "--gate", "false_refusal<=1", "--json", home=corpus_home)
    assert (found.code, measured(found)["runs"][0]["kind"]) == (0, "ask")


def test_a_baseline_is_saved_and_held_against(kb: Call, corpus_home: Path, suite: Path, tmp_path: Path) -> None:
    saved = tmp_path / "deep" / "baseline.jsonl"
    assert kb("eval", "run", suite, "--mode", "lexical", "--save", saved, home=corpus_home).code == 0
    assert saved.is_file()
    # The baseline is of one mode, and is held against the run of that mode.
    again = kb("eval", "run", suite, *all_modes(), "--baseline", saved, "--json", home=corpus_home)
    assert again.code == 0, again.err
    comparison, runs = again.events()
    check_wire(comparison, "eval_compare.v1")
    assert comparison["run_b"] == runs["runs"][0]["run_id"]
    assert {d["difference"] for d in comparison["metrics"] if d["metric"] in ("ndcg@10", "mrr")} == {0}
    two = kb("eval", "run", suite, *all_modes(), "--save", saved, home=corpus_home)
    assert (two.code, two.err.splitlines()[0]) == (2, "error: --save keeps one run, and there are several modes")
    missing = kb("eval", "run", suite, "--baseline", tmp_path / "none.jsonl", "--json", home=corpus_home)
    assert (missing.code, json.loads(missing.err)["code"]) == (2, "not_found")


def many_queries(folder: Path, *, broken: bool = False) -> Path:
    """The same need asked by twelve users: enough queries for a drop to be significant."""
    head, _, rest = SUITE_TEXT.partition("  - id: cleaning\n")
    one = rest.partition("  - id:")[0]
    text = head + "".join(f"  - id: cleaning-{n}\n{one}" for n in range(12))
    return write_suite(folder, re.sub(r'query: ".*"', 'query: "zzz qqq"', text) if broken else text)


def test_compare_finds_a_regression(kb: Call, corpus_home: Path, tmp_path: Path) -> None:
    for folder, broken in (("good", False), ("bad", True)):
        words = ["eval", "run", many_queries(tmp_path / folder, broken=broken), "--mode", "lexical"]
        assert kb(*words, home=corpus_home).code == 0
    before, now = (run.stem for run in kept_runs(corpus_home))
    found = kb("eval", "compare", before, now, "--json", "--junit", tmp_path / "c.xml", "--github", home=corpus_home)
    comparison = measured(found, "eval_compare.v1")
    assert (found.code, comparison["has_regression"]) == (1, True)
    ndcg = next(d for d in comparison["metrics"] if d["metric"] == "ndcg@10")
    assert (ndcg["mean_b"], ndcg["losses"], ndcg["is_regression"]) == (0, 12, True)
    assert ndcg["p"] < 0.05
    assert comparison["worst"][0]["places_before"]
    assert "suite_sha256" in comparison["differences_in"]
    assert "::error" in found.err
    assert "regression ndcg@10" in (tmp_path / "c.xml").read_text()
    shown = kb("eval", "compare", before, now, home=corpus_home)
    assert shown.code == 1
    assert re.search(r"^ndcg@10 .* regression$", shown.out, re.M)
    assert kb("eval", "compare", now, before, home=corpus_home).code == 0
    assert kb("eval", "compare", before, before, home=corpus_home).code == 0
    assert kb("eval", "compare", before, now, "--tolerance", "1", home=corpus_home).code == 0
    assert kb("eval", "compare", "nonsense", now, home=corpus_home).code == 2
    assert kb("eval", "compare", "2", now, home=corpus_home).code == 2  # two runs begin so


def test_junit_and_annotations_name_gate_file_and_line(
    kb: Call, corpus_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    summary = tmp_path / "summary.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    good, bad = (many_queries(tmp_path / name, broken=name == "bad") for name in ("good", "bad"))
    saved, junit = tmp_path / "baseline.jsonl", tmp_path / "out" / "junit.xml"
    assert kb("eval", "run", good, "--mode", "lexical", "--save", saved, home=corpus_home).code == 0
    words = ["--mode", "lexical", "--gate", "mrr>=0.9", "--baseline", saved, "--junit", junit, "--github"]
    found = kb("eval", "run", bad, *words, home=corpus_home)
    assert found.code == 1
    assert "| `mrr` |" in summary.read_text()
    worst = found.out.split("queries that pull mrr>=0.9 down:")[1]
    assert re.search(r"^  0\.000 \(was [.\d]+\)  cleaning-\d+: ", worst, re.MULTILINE)
    assert re.search(r"^ +wanted  \S+\.md: \".*\n +found   nothing\n +before  \S+#L", worst, re.MULTILINE)
    assert summary.read_text().startswith("## kb eval: gates\n\n|  | gate | value | run |")
    assert re.search(r"^- 0\.000 \(was [.\d]+\) `cleaning-\d+`", summary.read_text(), re.MULTILINE)
    root = ElementTree.parse(junit).getroot()
    assert int(root.get("failures", "0")) >= 2
    assert any(case.get("name") == "gate mrr>=0.9" for case in root.iter("testcase"))
    assert "was" in next(failure.text or "" for failure in root.iter("failure") if "mrr" in str(failure.get("message")))
    annotations = [line for line in found.err.splitlines() if line.startswith("::")]
    assert any(line.startswith(f"::error file={bad},line=1,title=kb eval%3A gate failed::") for line in annotations)
    first_query = bad.read_text().splitlines().index("  - id: cleaning-0") + 1
    assert any(line.startswith(f"::warning file={bad},line={first_query},") for line in annotations), found.err


def test_every_fault_of_a_suite_at_once_with_annotations(kb: Call, corpus_home: Path, tmp_path: Path) -> None:
    text = SUITE_TEXT.replace("every 14 days.", "every 14 nights.").replace("guide/marigold", "guide/marygold", 1)
    text = text.replace("거울은 14일마다 청소해야 한다.", "거울은 15일마다 청소해야 한다.")
    suite, junit = write_suite(tmp_path / "faulty", text), tmp_path / "junit.xml"
    found = kb("eval", "run", suite, "--github", "--junit", junit, "--json", home=corpus_home)
    errors = [line for line in found.err.splitlines() if line.startswith("{")]
    error = json.loads(errors[0])
    assert (found.code, found.out, error["code"], error["details"]["faults"]) == (2, "", "suite_invalid", 2)
    annotations = [line for line in found.err.splitlines() if line.startswith("::error")]
    lines = [number for number, line in enumerate(text.splitlines(), start=1) if "{path: " in line][:2]
    assert [f"file={suite},line={number}," in line for number, line in zip(lines, annotations, strict=True)] == [
        True
    ] * 2
    assert "guide/marigold-telescope.md" in annotations[0]
    assert "14일마다 청소해야 한다" in annotations[1]  # the text that is nearest to the anchor
    assert ElementTree.parse(junit).getroot().get("errors") == "2"
    assert kept_runs(corpus_home) == []


@pytest.mark.parametrize(
    ("text", "code", "says"),
    [
        (None, "not_found", "no suite"),
        ("", "suite_invalid", "no queries"),
        ("name: x\nversion: 1\nqueries: []\n", "suite_invalid", "no queries"),
        ("name: x\nqueries: [\n", "suite_invalid", "not valid YAML"),
    ],
)
def test_an_invalid_suite(kb: Call, corpus_home: Path, tmp_path: Path, text: str | None, code: str, says: str) -> None:
    suite = tmp_path / "suite.yaml"
    if text is not None:
        suite.write_text(text)
    found = kb("eval", "run", suite, "--json", home=corpus_home)
    error = json.loads(found.err)
    assert (found.code, error["code"]) == (2, code)
    assert says in error["message"]
    assert kb("eval", "run", suite, "--mode", "fuzzy", home=corpus_home).code == 2


def test_ctrl_c_in_a_run_says_how_to_go_on(
    kb: Call, kb_process: Start, corpus_home: Path, suite: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting = Reply((line("The mirror must be cleaned "), Pause(60.0), last_line()))
    with RecordedServer([answer("The mirror must be cleaned ", "every 14 days [#1]."), waiting]) as server:
        use(server, monkeypatch)
        process = kb_process("eval", "run", suite, "--ask", "--mode", "lexical", home=corpus_home)
        limit = time.monotonic() + 60
        while len(server.chats) < 2 and time.monotonic() < limit:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        err = process.communicate(timeout=30)[1].decode()
    (run,) = kept_runs(corpus_home)
    done = len(result_rows(run))
    assert process.returncode == 130
    assert f"interrupted; {done} of {SUITE_QUERIES} queries are kept: --resume {run.stem}\n" in err


def test_a_model_that_goes_down_keeps_what_is_done_and_the_run_goes_on(
    kb: Call, corpus_home: Path, suite: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replies = [answer("The mirror must be cleaned ", "every 14 days [#1].")]
    words = ["eval", "run", suite, "--ask", "--mode", "lexical"]
    monkeypatch.setenv("KB_RAG__SCORE_GATE", "0")
    with _Mortal(replies, lives=1) as server:
        use(server, monkeypatch)
        broken = kb(*words, home=corpus_home)
        assert broken.code == 2, broken.err
    (run,) = kept_runs(corpus_home)
    done = result_rows(run)
    assert 1 <= len(done) < SUITE_QUERIES
    assert f"{len(done)} of {SUITE_QUERIES} queries are kept: --resume {run.stem}" in broken.err
    assert "not finished" in kb("eval", "list", home=corpus_home).out

    # A kill in mid-write leaves a torn line: it is left out, and nothing is glued to it.
    with run.open("ab") as file:
        file.write(b'{"result":{"query_id":"subm')
    with RecordedServer(chat=replies) as server:
        use(server, monkeypatch)
        # Neither the mode nor --ask need to be said again.
        resumed = kb("eval", "run", suite, "--resume", run.stem, "--json", home=corpus_home)
        assert resumed.code == 0, resumed.err
        asked = len(server.chats)
    record = measured(resumed)["runs"][0]
    assert (record["run_id"], record["finished"], record["queries"]) == (run.stem, True, SUITE_QUERIES)
    rows = result_rows(run)
    assert rows[: len(done)] == done
    assert len(rows) == SUITE_QUERIES
    assert asked <= SUITE_QUERIES - len(done)
    assert len(kept_runs(corpus_home)) == 1
    assert any(CITED in row["answer"]["answer"] for row in rows)


class _Mortal(RecordedServer):
    """Answers so many chats, and then is out of order."""

    def __init__(self, chat: Any, lives: int) -> None:
        super().__init__(chat)
        self._lives = lives

    def reply_to(self, request: Any) -> Any:
        from tests.llm.recorded_server import error

        if len(self.chats) > self._lives:
            return error("the server is out of order", 503)
        return super().reply_to(request)


def test_a_run_does_not_go_on_with_what_has_changed(
    kb: Call, corpus_home: Path, suite: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert kb("eval", "run", suite, "--mode", "lexical", home=corpus_home).code == 0
    (run,) = kept_runs(corpus_home)
    whole = kb("eval", "run", suite, "--resume", run.stem, "--json", home=corpus_home)
    assert (whole.code, measured(whole)["runs"][0]["queries"]) == (0, SUITE_QUERIES)
    other = write_suite(tmp_path / "other", SUITE_TEXT + "# edited\n")
    found = kb("eval", "run", other, "--resume", run.stem, home=corpus_home)
    assert (found.code, "suite_sha256 changed since" in found.err) == (2, True)
    monkeypatch.setenv("KB_SEARCH__DEPTH", "70")
    found = kb("eval", "run", suite, "--resume", run.stem, home=corpus_home)
    assert (found.code, "config.search.depth changed since" in found.err) == (2, True)
    assert kb("eval", "run", suite, "--resume", "nonsense", home=corpus_home).code == 2


def test_a_model_that_is_down_from_the_start_leaves_no_run(
    kb: Call, corpus_home: Path, suite: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(f"http://127.0.0.1:{free_port()}", monkeypatch)
    found = kb("eval", "run", suite, "--ask", "--json", home=corpus_home)
    assert (found.code, json.loads(found.err)["code"]) == (2, "model_unavailable")
    assert kept_runs(corpus_home) == []


def test_a_file_that_holds_no_run_is_named_and_the_others_are_listed(
    kb: Call, corpus_home: Path, suite: Path, tmp_path: Path
) -> None:
    assert kb("eval", "list", home=corpus_home).code == 1
    assert kb("eval", "run", suite, "--mode", "lexical", home=corpus_home).code == 0
    (corpus_home / "eval" / "0-empty.jsonl").write_text("")
    (corpus_home / "eval" / "0-nonsense.jsonl").write_text('{"run": 1}\n{}\n')
    listed = kb("eval", "list", home=corpus_home)
    assert (listed.code, len(listed.out.splitlines()), listed.err.count("left out: ")) == (0, 2, 2)
    found = kb("eval", "report", corpus_home / "eval" / "0-nonsense.jsonl", "--json", home=corpus_home)
    assert (found.code, json.loads(found.err)["code"]) == (2, "invalid_input")
    assert "0-nonsense.jsonl:1 is not a line of a run" in found.err


def test_reports_of_real_runs(kb: Call, corpus_home: Path, suite: Path, tmp_path: Path) -> None:
    assert kb("eval", "run", suite, "--mode", "lexical", "--mode", "hybrid", home=corpus_home).code == 0
    assert kb("eval", "run", suite, "--ask", home=corpus_home).code == 0
    names = [run.stem for run in kept_runs(corpus_home)]
    page = tmp_path / "report.html"
    assert kb("eval", "report", *names, "-o", page, home=corpus_home).code == 0
    text = page.read_text(encoding="utf-8")
    assert text.lstrip().startswith("<!")
    assert text.rstrip().endswith("</html>")
    assert not re.search(r"""(?:src|href)\s*=\s*["']?(?:https?:)?//""", text)
    assert "@import" not in text
    assert "How often must the mirror of Marigold be cleaned?" in text
    assert "마리골드" in text

    printed = kb("eval", "report", *names, home=corpus_home)
    assert printed.code == 0
    assert "| ndcg@10 |" in printed.out.replace("`", "")
    compared = kb("eval", "report", *names[:2], "--format", "json", home=corpus_home)
    report = json.loads(compared.out)
    check_wire(report, "eval_report.v1")
    assert report["comparison"]["run_b"] == names[1]
    assert len(report["runs"]) == 2
    table = kb("eval", "report", names[-1], "--format", "csv", home=corpus_home).out
    rows = list(csv.DictReader(io.StringIO(table)))
    assert [row["query_id"] for row in rows] == ["cleaning", "cleaning-ko", "checklist", "submarine"]
    assert rows[3]["ndcg@10"] == ""
    assert rows[3]["answerable"] == "false"
    assert kb("eval", "report", names[0], "-o", tmp_path / "report.pdf", home=corpus_home).code == 2
    unwritable = kb("eval", "report", names[0], "-o", tmp_path / "none" / "r.html", "--json", home=corpus_home)
    assert (unwritable.code, json.loads(unwritable.err)["code"]) == (2, "io_error")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("fusion", ["convex", "rrf"])
@pytest.mark.parametrize("order", ["relevance", "stability"])
def test_what_is_measured_is_what_a_search_shows(
    kb: Call, corpus_home: Path, suite: Path, monkeypatch: pytest.MonkeyPatch, mode: str, fusion: str, order: str
) -> None:
    """A run keeps the ranking that `kb search` prints, in every mode, fusion and order, with copies behind their hits."""
    if fusion == "rrf" and mode != "hybrid":
        pytest.skip("only a hybrid search fuses")
    monkeypatch.setenv("KB_SEARCH__FUSION", fusion)
    monkeypatch.setenv("KB_SEARCH__ORDER", order)
    assert kb("eval", "run", suite, "--mode", mode, home=corpus_home).code == 0
    for result in result_rows(kept_runs(corpus_home)[-1]):
        shown = kb(
            "search", result["text"], "--mode", mode, "-k", "10", "--min-score", "0", "--json", home=corpus_home
        ).json()
        kept = [(int(row["id"]), row["score"], row["place"]) for row in result["ranking"]]
        here = places_shown(shown)[: len(kept)]
        assert [(i, place) for i, _, place in kept] == [(i, place) for i, _, place in here]
        # The queries of a run are encoded together: another order of sums in the last digits.
        assert [score for _, score, _ in kept] == pytest.approx([score for _, score, _ in here], abs=1e-5)
        assert len(kept) == min(KEPT_ROWS, len(places_shown(shown)))


def places_shown(shown: dict[str, Any]) -> list[tuple[int, float, str]]:
    """The hits as they are ordered, each with its copies right behind it: (chunk_id, score that orders, place)."""
    return [
        (place["chunk_id"], hit["order_score"], place["citation"]["uri"])
        for hit in shown["hits"]
        for place in (hit, *hit["also_in"])
    ]


def test_answers_are_those_that_a_user_gets(
    kb: Call, corpus_home: Path, suite: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`kb eval run --ask` answers as `kb ask` does, with the hits in the order of context stability too."""
    monkeypatch.setenv("KB_SEARCH__ORDER", "stability")
    assert kb("eval", "run", suite, "--ask", home=corpus_home).code == 0
    for result in result_rows(kept_runs(corpus_home)[-1]):
        shown = kb("ask", result["text"], "--seed", "0", "--json", home=corpus_home).json()
        kept = result["answer"]
        assert (kept["answer"], kept["grounded"], kept["refusal_reason"], kept["prompt_tokens"]) == (
            shown["answer"],
            shown["grounded"],
            shown["refusal_reason"],
            shown["usage"]["prompt_tokens"],
        )
        markers = [cited for cited in shown["citations"] if cited["marker"] is not None]
        assert kept["citations"] == [cited["citation"]["uri"] for cited in markers]
        assert result["scores"]["gate_score"] == shown["retrieval"]["evidence_score"]


@pytest.mark.parametrize("order", ["relevance", "stability"])
def test_turns_of_a_conversation_are_answered_and_searched_as_a_users_are(
    kb: Call, corpus_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, order: str
) -> None:
    monkeypatch.setenv("KB_SEARCH__ORDER", order)
    suite = parse_suite(SESSION_TEXT.encode(), "talk.yaml")
    config = load_config(None, corpus_home, os.environ, {}, lambda message: None)
    turns = run_sessions(corpus_home, config, suite)
    with open_runtime(corpus_home, config) as opened:
        relevant = {name: set(judged) for name, judged in judge_suite(opened, suite).judged.items()}
    assert [turn.text for turn in turns] == [query.text for query in suite.queries]
    for turn in turns:
        shown = kb("ask", turn.text, "--session", "mine", "--json", home=corpus_home).json()
        assert (turn.grounded, turn.refusal_reason) == (shown["grounded"], shown["refusal_reason"])
        assert turn.cost.prompt_tokens == (shown["usage"]["prompt_tokens"] or 0)
        found = kb("search", turn.text, "-k", str(RECALL_DEPTH), "--json", home=corpus_home).json()
        hits = {str(hit["chunk_id"]) for hit in found["hits"]}
        wanted = relevant[turn.query_id]
        assert turn.recall_typed == len(wanted & hits) / len(wanted)


def test_a_two_step_task_composes_the_context_that_a_user_gets(
    kb: Call, corpus_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The facts counted are those that `kb context` holds, under the same settings."""
    monkeypatch.setenv("KB_SEARCH__ORDER", "stability")
    monkeypatch.setenv("KB_CONTEXT__K", "2")
    loaded = load_suite(ROOT / "fixtures" / "suites" / "two-step.yaml")
    queries = loaded.queries[:4]
    text = yaml.safe_load(loaded.text)
    text["queries"] = text["queries"][: len(queries)]
    suite = write_suite(tmp_path / "two-step", yaml.safe_dump(text, allow_unicode=True, sort_keys=False))
    assert kb("eval", "run", suite, home=corpus_home).code == 0
    with open_runtime(corpus_home, Config()) as opened:
        windows = resolve_known_chunks(opened, loaded)
        chunks = {
            query.id: [chunk.text for chunk in opened.corpus.fetch_chunks(windows[query.id]).values()]
            for query in queries
        }
    for query, result in zip(queries, result_rows(kept_runs(corpus_home)[-1]), strict=True):
        files = [tmp_path / f"{query.id}-{n}.txt" for n in range(len(chunks[query.id]))]
        for file, known in zip(files, chunks[query.id], strict=True):
            file.write_text(known, encoding="utf-8")
        words = ["context", query.text, "--max-tokens", str(BUDGET_TOKENS), "--json"]
        facts = new_facts([label.anchor for label in query.labels if label.anchor], chunks[query.id])
        for name, seen in (
            ("context_recall", [word for file in files for word in ("--window", file)]),
            ("context_recall_plain", ["--no-novelty"]),
        ):
            shown = kb(*words, *seen, home=corpus_home).json()
            held = [fact for fact in facts if any(fact in collapse(row["text"]) for row in shown["passages"])]
            assert result["scores"][name] == len(held) / len(facts)
