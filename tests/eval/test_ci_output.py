"""JUnit XML and GitHub annotations: well-formed whatever a query says, and with the right counts."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

from kb.eval.ci_output import SuiteFault, github_annotations, junit_xml
from kb.eval.records import GateResult, Query, Suite
from tests.eval.sample_runs import HOSTILE, comparison, search_runs

RUNS = search_runs(6)
COMPARISON = comparison(RUNS[0], RUNS[2])
GATES = (
    GateResult(gate="ndcg@10>=0.40", run_id=RUNS[0].run_id, value=0.39999, passed=False),
    GateResult(gate="mrr>=0.1", run_id=RUNS[0].run_id, value=0.5, passed=True),
    GateResult(gate="map>=0.1", run_id=RUNS[2].run_id, value=None, passed=False),
)
SUITE = Suite(
    name="fixtures",
    path="fixtures/suites/a,b: 100%.yaml",
    sha256="0" * 64,
    text="",
    queries=(Query(id="q003", text="one", line=12), Query(id="q007", text="two", line=31)),
)


def test_junit_has_a_suite_a_run_and_counts_what_failed() -> None:
    root = ElementTree.fromstring(junit_xml(RUNS, GATES, COMPARISON, [SuiteFault("a.yaml", 7, "no such anchor")]))
    assert root.tag == "testsuites"
    assert [(s.get("tests"), s.get("failures"), s.get("errors")) for s in root] == [
        ("2", "1", "0"),
        ("1", "0", "0"),
        ("1", "1", "0"),
        ("5", "1", "0"),
        ("1", "0", "1"),
    ]
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("10", "3", "1")
    messages = [failure.get("message", "") for failure in root.iter("failure")]
    assert messages[0] == "gate ndcg@10>=0.40 failed: the value is 0.39999"
    assert "undefined" in messages[1]
    assert messages[2].startswith("recall@10 0.810 → 0.740: −0.070")
    assert root[0].get("timestamp") == "2026-11-21T10:20:00"


def test_an_unfinished_run_without_gates_fails() -> None:
    root = ElementTree.fromstring(junit_xml([replace(RUNS[0], finished=False)], (), None))
    assert [failure.get("message") for failure in root.iter("failure")] == ["the run is not finished"]


def test_junit_of_hostile_text_parses_and_keeps_it() -> None:
    hostile = comparison(RUNS[0], RUNS[2], hostile=True)
    worst = tuple(replace(change, metric="recall@10", text=f"{HOSTILE}\x00\ufffe\ud800]]>") for change in hostile.worst)
    written = junit_xml([replace(RUNS[0], suite=HOSTILE)], (), replace(hostile, worst=worst))
    root = ElementTree.fromstring(written.encode())
    (failure,) = root.iter("failure")
    assert "</script><script>alert(1)</script>" in (failure.text or "")
    assert not list(root.iter("script"))


def test_annotations_point_to_the_suite_and_the_query() -> None:
    lines = github_annotations(
        RUNS, GATES, COMPARISON, SUITE, [SuiteFault("x.yaml", 3, "100% wrong\r\nnearest: 'a'")]
    ).splitlines()
    assert lines[0] == "::error file=x.yaml,line=3,title=kb eval%3A suite::100%25 wrong%0D%0Anearest: 'a'"
    place = "file=fixtures/suites/a%2Cb%3A 100%25.yaml"
    assert lines[1].startswith(f"::error {place},line=1,title=kb eval%3A gate failed::gate ndcg@10>=0.40 failed")
    assert [line.split("::")[1].split(",")[1] for line in lines if line.startswith("::warning")] == [
        "line=12",
        "line=31",
    ]
    assert sum(line.startswith("::error") for line in lines) == 4


def test_hostile_text_starts_no_second_command() -> None:
    hostile = comparison(RUNS[0], RUNS[2])
    worst = (replace(hostile.worst[0], text="x\n::add-mask::x\r\n::error::y\x1b[0m\x85\u2028"),)
    written = github_annotations(RUNS, (), replace(hostile, worst=worst), SUITE)
    assert all(line.startswith(("::error ", "::warning ")) for line in written.splitlines())
    assert "\x1b" not in written


def test_all_passed_is_one_notice_and_nothing_is_nothing() -> None:
    passed = [gate for gate in GATES if gate.passed]
    assert github_annotations(RUNS, passed, None, SUITE) == "::notice title=kb eval::gate mrr>=0.1 passed\n"
    assert github_annotations((), (), None) == ""
