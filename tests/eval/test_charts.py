"""Charts: coordinates by hand, and the quick look in the terminal, drawn and plain."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from kb.cli.charts import (
    draw_charts,
    print_comparison,
    print_gates,
    print_run_list,
    print_runs,
    sparkline,
)
from kb.eval.figures import View
from kb.eval.page import page_templates
from kb.eval.plots import Bar, latency_plots
from kb.eval.records import GateResult, Interval
from tests.eval.sample_runs import HOSTILE, ask_run, comparison, difference, search_runs


@pytest.fixture(scope="module")
def draw() -> Any:
    """The charts of the page, each a function."""
    return page_templates().get_template("charts.html").module


def test_whiskers_stand_where_the_interval_is(draw: Any) -> None:
    intervals = [Interval(mean=0.5, ci_low=0.25, ci_high=0.75, n=9), None]
    chart = draw.dots_and_whiskers("mrr", ["a", "b"], intervals, 1.0)
    assert '<line x1="25%" x2="75%"' in chart
    assert '<svg x="50%"' in chart
    assert "<title>mrr: a 0.500</title>" in chart
    assert [text.split(">")[1] for text in re.findall(r'class="tick [^<]*', chart)] == ["0", "0.5", "1"]


def test_forest_is_centred_on_no_difference(draw: Any) -> None:
    chart = draw.forest(difference("mrr", 0.5, 0.6, 0.05, 0.01), 0.2, "better")
    assert 'cx="75%"' in chart
    assert '<line x1="62.5%" x2="87.5%"' in chart
    assert "+0.100" in chart


def test_an_undefined_bar_has_a_track_and_no_bar(draw: Any) -> None:
    assert draw.bar(None, "r0", "x").count("<rect") == 1
    assert 'width="40%"' in draw.bar(0.4, "r0", "x")


def test_a_skyline_has_a_bar_a_query_each_leading_to_it(draw: Any) -> None:
    chart = draw.skyline("all", [Bar(0.0, "s0", "q1", "one"), Bar(1.0, "s1", "q2", "<two>\x1b")])
    assert re.findall(r'href="(#q\d)"', chart) == ["#q1", "#q2"]
    assert "&lt;two&gt;&lt;U+001B&gt;" in chart
    assert 'height="2.5"' in chart, "a query at 0 can still be seen and clicked"


@pytest.mark.parametrize("values", [(0.0,), (5.0, 5.0), (0.0, 1e6), (0.5, 40.0, 200.0)])
def test_histograms_of_any_times(values: tuple[float, ...], draw: Any) -> None:
    run = search_runs(len(values))[0]
    timed = [replace(r, stage_ms={"total": value}) for r, value in zip(run.results, values, strict=True)]
    hostile = replace(run, mode=HOSTILE, results=tuple(timed))  # type: ignore[arg-type]
    ((stage, plot),) = latency_plots(View((hostile,), (HOSTILE,), (), None))
    chart = draw.histogram(stage, plot)
    assert "nan" not in chart
    assert 1 <= len(re.findall(r'class="fill r0"', chart)) <= len(values)
    assert all(-0.01 <= float(x) <= 100.01 for x in re.findall(r' x="([-\d.]+)%"', chart))
    assert "<img" not in chart


def test_sparklines() -> None:
    assert sparkline([]) == ""
    assert sparkline([0, 0]) == "  "
    assert sparkline([0.01, 0.5, 1.0, 7.0], 1.0) == "▁▄██"


def test_the_quick_look_has_every_part() -> None:
    drawn = draw_charts(search_runs(), width=100, colour=False)
    for head in ("metrics", "queries by score", "recall at k", "latency"):
        assert head in drawn
    assert "\x1b" not in drawn
    assert "\x1b[" in draw_charts([ask_run()], width=100, colour=True)
    assert draw_charts([], width=80, colour=False) == ""


def test_bars_are_as_long_as_their_share() -> None:
    run = search_runs(6)[0]
    for share, cells in ((0.0, 0), (0.5, 8), (1.0, 16), (3.0, 16)):
        value = Interval(mean=share, ci_low=None, ci_high=None, n=6)
        drawn = draw_charts([replace(run, metrics={"mrr": value}, stage_latency_ms={})], width=100, colour=False)
        line = next(line for line in drawn.splitlines() if line.startswith("mrr"))
        assert line.count("█") == cells


def test_hostile_names_are_neutralised(capsys: pytest.CaptureFixture[str]) -> None:
    run = search_runs(6)[0]
    hostile = replace(
        run,
        suite=HOSTILE,
        mode=HOSTILE,  # type: ignore[arg-type]
        metrics={f"x{HOSTILE}": run.metrics["mrr"]},
        stage_latency_ms={HOSTILE: run.latency_ms},
    )
    print_runs([hostile])
    drawn = draw_charts([hostile], width=300, colour=False) + capsys.readouterr().out
    assert not {"\x1b", "\u202e", "\r"} & set(drawn)
    assert "␛[31m" in drawn


def test_away_from_a_terminal_it_is_plain(capsys: pytest.CaptureFixture[str]) -> None:
    print_runs(search_runs())
    lines = capsys.readouterr().out.splitlines()
    interval = search_runs()[0].metrics["ndcg@10"]
    assert lines[0].split() == ["metric", "lexical", "vector", "hybrid"]
    assert lines[1].startswith(
        f"ndcg@10            {interval.mean:.3f} ({interval.ci_low:.3f} … {interval.ci_high:.3f})"
    )
    assert any("p95" in line for line in lines)
    assert all("█" not in line for line in lines)


def test_many_runs_and_a_list_have_a_line_each(capsys: pytest.CaptureFixture[str]) -> None:
    runs = [*search_runs(), ask_run(), replace(ask_run(), finished=False)]
    print_runs(runs)
    print_run_list(runs)
    lines = capsys.readouterr().out.splitlines()
    assert lines[:6] == lines[6:]
    assert lines[0].split()[:2] == ["run", "made"]
    assert lines[1].startswith(runs[0].run_id)
    assert lines[5].endswith("not finished")
    print_run_list([])
    assert capsys.readouterr().out == ""


def test_gates_and_comparison_in_lines(capsys: pytest.CaptureFixture[str]) -> None:
    before, _, now = search_runs()
    print_gates([GateResult(gate=f"map>=0.1{HOSTILE}", run_id="r", value=None, passed=False)])
    print_comparison(comparison(before, now, hostile=True))
    out = capsys.readouterr().out
    assert not {"\x1b", "\u202e", "\r"} & set(out)
    lines = out.splitlines()
    assert lines[0].startswith("failed  map>=0.1")
    assert lines[0].endswith("undefined (run r)")
    assert next(line for line in lines if line.startswith("recall@10")).endswith("regression")
    assert next(line for line in lines if line.startswith("map  ")).split() == ["map", *["–"] * 5, "0/0/0"]
    assert any(line.strip().startswith("ndcg@10 0.630 → –") for line in lines)
