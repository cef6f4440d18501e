"""Reports in every format: complete, harmless whatever a document says, the same for the same runs."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import json
import re
from dataclasses import replace

import pytest
from lxml import html

from kb.errors import InvalidInput
from kb.eval.figures import (
    best_runs,
    group_rows,
    main_metric,
    number_text,
    p_text,
    query_rows,
    run_labels,
    signed_text,
    slice_rows,
)
from kb.eval.markdown import code
from kb.eval.markup import number, percent, visible
from kb.eval.page import TEMPLATES
from kb.eval.records import Interval, Latency, Run
from kb.eval.refusals import refusal_curve
from kb.eval.report import FORMATS, render_report
from tests.eval.sample_runs import HOSTILE, ask_run, comparison, make_run, search_runs

ALL_FORMATS = ("html", "md", "json", "csv")


@pytest.fixture(scope="module")
def page() -> str:
    runs = search_runs()
    return render_report([*runs, ask_run()], comparison(runs[0], runs[2]), "html")


@pytest.fixture(scope="module")
def hostile_page() -> str:
    runs = [make_run("lexical", "search", hostile=True), ask_run(hostile=True)]
    hostile = [replace(run, suite=HOSTILE, provenance=replace(run.provenance, machine=HOSTILE)) for run in runs]
    return render_report(hostile, comparison(hostile[0], hostile[1], hostile=True), "html")


def tree(markup: str) -> html.HtmlElement:
    return html.document_fromstring(markup)


# The page


def test_the_page_has_every_section(page: str) -> None:
    found = [part.get("id") for part in tree(page).xpath("//section")]
    assert found == ["metrics", "differences", "curves", "slices", "latency", "queries"]
    links = tree(page).xpath("//nav/a/@href")
    assert links == [f"#{name}" for name in found]


def test_every_link_inside_the_page_has_its_target_and_ids_are_unique(page: str) -> None:
    root = tree(page)
    ids = root.xpath("//@id")
    assert len(ids) == len(set(ids))
    assert {link[1:] for link in root.xpath("//@href") if link.startswith("#")} <= set(ids)
    assert len(root.xpath("//svg//a")) >= 27


def test_tags_are_balanced(page: str, hostile_page: str) -> None:
    """Parsed as XML, which forgives nothing; only void tags and bare attributes are HTML's own."""
    from xml.etree import ElementTree

    for markup in (page, hostile_page):
        body = re.sub(r"<(script|style)>.*?</\1>", "", markup.removeprefix("<!doctype html>"), flags=re.S)
        closed = re.sub(r"<((?:meta|link|br|hr|input|col)\b[^>]*)>", r"<\1/>", body)
        full = re.sub(r" (hidden|open)(?=[ >])", r' \1=""', closed)
        assert ElementTree.fromstring(full).tag == "html"


def test_nothing_is_loaded_from_anywhere(page: str, hostile_page: str) -> None:
    for markup in (page, hostile_page):
        root = tree(markup)
        places = root.xpath(
            "//@src | //@href | //@action | //@data | //@srcset | //@poster | //@xlink:href", namespaces={"xlink": "x"}
        )
        assert all(place.startswith("#") or place == "data:," for place in places)
        style = "".join(root.xpath("//style/text()"))
        assert "url(" not in style
        assert "@import" not in style
        policy = root.xpath("//meta[@http-equiv]/@content")[0]
        assert policy.startswith("default-src 'none'")


def test_hostile_text_is_text(hostile_page: str) -> None:
    root = tree(hostile_page)
    (script,) = root.xpath("//script")
    assert script.text == (TEMPLATES / "script.js").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(script.text.encode()).digest()).decode()
    policy = root.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")[0]
    assert f"script-src 'sha256-{digest}';" in policy, "the page's own script may run"
    assert not root.xpath("//img | //*[@onerror]")
    assert "\x1b" not in hostile_page
    assert "\u202e" not in hostile_page
    assert "&lt;img src=http://evil.example/x" in hostile_page
    assert any("<img src=" in heading for heading in root.xpath("//h1/text()"))


def test_lone_surrogates_can_be_written() -> None:
    run = search_runs(4)[0]
    result = replace(run.results[0], text="broken \ud800 half", query_id="\udfff")
    for name in ALL_FORMATS:
        written = render_report([replace(run, results=(result,))], None, name).encode().decode()
        assert name == "md" or "broken" in written
        assert "\ud800" not in written


def test_numbers_are_there_and_undefined_is_a_dash(page: str) -> None:
    root = tree(page)
    row = root.xpath("//section[@id='metrics']//tr[th/text()='ndcg@10']")[0]
    means = [number_text(run.metrics["ndcg@10"].mean) for run in search_runs()]
    assert row.xpath("./td/b/text()")[:3] == means
    undefined = root.xpath("//section[@id='differences']//tr[th/text()='map']/td")
    assert [cell.text_content() for cell in undefined if "plot" not in cell.get("class", "")] == [
        *["–"] * 4,
        "0 / 0 / 0",
    ]
    missing = root.xpath("//section[@id='metrics']//tr[th/text()='must_contain']/td/b/text()")
    assert missing[:3] == ["–", "–", "–"]


def test_the_best_of_a_row_is_marked(page: str) -> None:
    runs = [*search_runs(), ask_run()]
    for name in ("ndcg@10", "recall@10"):
        best = best_runs(name, [run.metrics.get(name) for run in runs])
        cells = tree(page).xpath(f"//section[@id='metrics']//tr[th/text()='{name}']/td[@data-label]")
        assert {at for at, cell in enumerate(cells) if cell.get("class") == "best"} == best


def test_charts_say_what_they_show(page: str) -> None:
    charts = tree(page).xpath("//svg[@role='img']")
    assert len(charts) > 100
    assert all(chart.xpath("./title")[0].text for chart in charts)
    assert all(chart.get("aria-hidden") for chart in tree(page).xpath("//svg[not(@role) and contains(@class, 'key')]"))
    assert tree(page).xpath("//svg/desc[contains(text(), 'recall@100')]")


def test_tables_have_headers(page: str) -> None:
    for table in tree(page).xpath("//table"):
        assert table.xpath("./caption")
        assert table.xpath("./thead//th[@scope='col']")
        assert all(row.xpath("./th[@scope='row']") for row in table.xpath("./tbody/tr"))


def test_queries_are_complete_and_worst_first(page: str) -> None:
    rows = tree(page).xpath("//ol[@class='queries']/li")
    assert len(rows) == 40
    assert rows[0].xpath(".//span[@class='trouble']")
    first = rows[0].text_content()
    assert "docs/guide-" in first
    assert "seed" not in first


def test_refusal_curve_is_left_out_without_gate_scores() -> None:
    searches, asked = (render_report(runs, None, "html") for runs in (search_runs(), [ask_run()]))
    assert "precision against recall" not in searches
    assert "precision against recall" in asked


def test_a_small_report_is_small_and_a_large_one_stays_under_two_megabytes() -> None:
    assert len(render_report(search_runs(225), None, "html").encode()) < 2_000_000


@pytest.mark.parametrize("name", ALL_FORMATS)
def test_the_same_runs_give_the_same_report(name: str) -> None:
    first, second = ([*search_runs(), ask_run()] for _ in range(2))
    told = comparison(first[0], first[2])
    assert render_report(first, told, name) == render_report(second, told, name)


@pytest.mark.parametrize("name", ALL_FORMATS)
@pytest.mark.parametrize("runs", [[], [replace(search_runs(3)[0], results=(), metrics={}, finished=False)]])
def test_no_runs_and_empty_runs_are_reported(name: str, runs: list[Run]) -> None:
    bare = [replace(run, stage_latency_ms={}, latency_ms=Latency(p50=None, p95=None)) for run in runs]
    assert render_report(bare, None, name)
    if name == "html" and bare:
        assert "Not finished" in render_report(bare, None, name)


def test_seeds_are_averaged_and_every_answer_is_shown() -> None:
    run = ask_run(6)
    again = tuple(replace(r, seed=1, scores={**r.scores, "must_contain": 0.0}) for r in run.results if r.answerable)
    both = replace(run, results=run.results + again)
    row = next(row for row in query_rows([both]) if row.query.answerable)
    alone = row.results[0][0].scores["must_contain"]
    assert alone is not None
    assert row.values[0] == alone / 2
    assert "seed 1 ·" in render_report([both], None, "html")


def test_an_unknown_format_names_the_known() -> None:
    with pytest.raises(InvalidInput) as caught:
        render_report([], None, "pdf")
    assert "html, md, json, csv" in caught.value.fix
    assert tuple(FORMATS) == ALL_FORMATS


# Markdown, CSV, JSON


def test_markdown_has_the_tables_and_hostile_text_stays_in_code() -> None:
    runs = [make_run("lexical", "search", hostile=True), ask_run(hostile=True)]
    told = comparison(runs[0], runs[1], hostile=True)
    summary = render_report(runs, told, "md")
    assert "**regression**" in summary
    outside = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", summary)
    assert set(re.findall(r"</?([a-z]\w*)", outside)) == {"sub", "details", "summary"}
    tables = [line for line in summary.splitlines() if line.startswith("|")]
    assert all(line.endswith("|") for line in tables)
    assert len(summary) < 65_536


@pytest.mark.parametrize(
    ("raw", "shown"),
    [("a b", "`a b`"), ("a`b", "``a`b``"), ("`", "`` ` ``"), ("", "` `"), ("a\nb", "`a b`"), ("@team", "`@team`")],
)
def test_code_spans(raw: str, shown: str) -> None:
    assert code(raw).replace("`   `", "` `") == shown


def test_csv_round_trips() -> None:
    runs = [*search_runs(), ask_run()]
    rows = list(csv.DictReader(io.StringIO(render_report(runs, None, "csv"))))
    results = [(run, result) for run in runs for result in run.results]
    assert len(rows) == len(results)
    for row, (run, result) in zip(rows, results, strict=True):
        assert (row["run_id"], row["query_id"], row["text"]) == (run.run_id, result.query_id, result.text)
        for name, value in result.scores.items():
            assert (float(row[name]) if row[name] else None) == value
        assert float(row["ms:total"]) == result.stage_ms["total"]
        assert row["slice:lang"] == result.slices["lang"]


def test_csv_runs_no_formula() -> None:
    run = search_runs(3)[0]
    result = replace(run.results[0], text="=HYPERLINK(1)")
    (row,) = csv.DictReader(io.StringIO(render_report([replace(run, results=(result,))], None, "csv")))
    assert row["text"] == "'=HYPERLINK(1)"


def test_json_is_the_runs_as_they_are() -> None:
    import msgspec

    from kb.eval.report import EvalReport

    runs = search_runs()
    told = comparison(runs[0], runs[2])
    written = render_report(runs, told, "json")
    assert json.loads(written)["schema_version"] == "eval_report.v1"
    assert msgspec.json.decode(written, type=EvalReport) == EvalReport(runs=runs, comparison=told)


# The figures


def test_numbers_for_people() -> None:
    assert number_text(None, "x") == "–"
    assert number_text(float("nan"), "x") == "–"
    assert number_text(0.0, "ndcg@10") == "0.000"
    assert number_text(9.96, "first_token_ms") == "10.0 ms"
    assert number_text(1234.0, "prompt_tokens") == "1,234"
    assert signed_text(None) == "–"
    assert signed_text(0.0312, "mrr") == "+0.031"
    assert [p_text(p) for p in (None, 0.0001, 0.05)] == ["–", "<0.001", "0.050"]


def test_the_lower_false_refusal_is_best() -> None:
    low, high = (Interval(mean=mean, ci_low=None, ci_high=None, n=9) for mean in (0.1, 0.2))
    assert best_runs("false_refusal", [high, low]) == {1}
    assert best_runs("ndcg@10", [high, low, None]) == {0}
    assert best_runs("ndcg@10", [high, high]) == frozenset()
    assert best_runs("prompt_tokens", [high, low]) == frozenset()


def test_labels_are_short_and_unique() -> None:
    lexical, vector, _ = search_runs(3)
    assert run_labels([lexical, vector]) == ("lexical", "vector")
    assert run_labels([make_run("hybrid", "search", 3), ask_run(3)]) == ("search hybrid", "ask hybrid")
    assert len(set(run_labels([lexical, lexical]))) == 2


def test_main_metric_falls_to_what_is_defined() -> None:
    run = search_runs(9)[0]
    undefined = Interval(mean=None, ci_low=None, ci_high=None, n=0)
    assert main_metric(run) == "ndcg@10"
    assert main_metric(replace(run, metrics={**run.metrics, "ndcg@10": undefined})) == "mrr"
    assert main_metric(replace(run, metrics={"ndcg@10": undefined})) is None


def test_slices_and_groups_by_hand() -> None:
    run = search_runs(4)[0]
    results = tuple(
        replace(r, scores={"ndcg@10": value}, group="g", slices={"lang": lang})
        for r, value, lang in zip(run.results, (0.2, 0.6, None, 1.0), ("en", "en", "en", "ko"), strict=True)
    )
    rows = query_rows([replace(run, results=results)])
    assert [(row.name, row.cells) for row in slice_rows(rows, "lang")] == [("en", ((0.4, 2),)), ("ko", ((1.0, 1),))]
    (group,) = group_rows(rows)
    assert group.ranges == ((0.2, 1.0),)
    assert group.spread == 0.8


def test_refusal_curve_by_hand() -> None:
    """Scores .2 and .6 cannot be answered, .4 and .8 can: at gate .8 three are refused, two of them rightly."""
    run = ask_run(4)
    told = ((0.2, False), (0.4, True), (0.6, False), (0.8, True))
    results = tuple(
        replace(r, answerable=answerable, scores={"gate_score": score})
        for r, (score, answerable) in zip(run.results, told, strict=True)
    )
    curve = refusal_curve(replace(run, results=results))
    assert curve is not None
    assert [(p.gate, p.precision, p.recall) for p in curve.points[:3]] == [
        (0.4, 1.0, 0.5),
        (0.6, 0.5, 0.5),
        (0.8, 2 / 3, 1.0),
    ]
    assert curve.points[-1].precision == 0.5
    assert curve.best.gate == 0.8
    assert curve.answerable == (0.4, 0.8)


def test_control_and_direction_characters_are_written_out() -> None:
    assert visible("a\u2066b\x07\r\n") == "a<U+2066>b<U+0007>\n"


def test_coordinates_are_short() -> None:
    assert (number(1.0), number(-0.004), percent(1 / 3), percent(2.0)) == ("1", "0", "33.33%", "100%")
