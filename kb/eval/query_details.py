"""The queries of runs → the section that shows each: a skyline a run, then every query with what was found and said."""

from __future__ import annotations

from collections.abc import Sequence

from kb.eval.charts import Bar, bar_row, skyline
from kb.eval.figures import (
    MOST_COLOURS,
    NOTHING,
    QueryRow,
    colour_dimension,
    main_metric,
    number_text,
    outcome,
)
from kb.eval.markup import Html, element, join
from kb.eval.records import AnswerFigures, QueryResult, Retrieved
from kb.eval.sections import View, run_key, section

# Rows of a ranking that are shown; judged ones further down follow with their rank.
SHOWN_HITS = 10
SHOWN_DEEPER = 10
SHOWN_SCORES = ("ndcg@10", "recall@10", "recall@100", "mrr", "must_contain", "citation_coverage", "citation_support")
NO_SLICE = "s6"


def queries_section(view: View) -> Html | None:
    """Every query, worst first, and above them a bar for each."""
    if not view.rows:
        return None
    dimension = colour_dimension(view.rows)
    colours = slice_colours(view.rows, dimension)
    coloured = f" Bars have the colour of their {dimension}." if dimension else ""
    note = (
        f"{len(view.rows)} queries, worst first: what was wrongly answered or refused, then low values of the main metric."
        f"{coloured} A bar leads to its query; a query opens to what was retrieved, judged and answered."
    )
    figures = [_skyline(view, at, dimension, colours) for at in range(len(view.runs))]
    by_id = {row.number: at for at, row in enumerate(sorted(view.rows, key=lambda row: row.query.query_id))}
    lines = [_query(view, row, by_id[row.number], dimension, colours) for row in view.rows]
    rows = element("ol", lines, class_="queries")
    return section("queries", "Queries", note, *figures, _colour_legend(dimension, colours), _tools(view), rows)


def slice_colours(rows: Sequence[QueryRow], dimension: str | None) -> dict[str, str]:
    """Value of the dimension → class of its colour, values sorted."""
    values = sorted({row.query.slices[dimension] for row in rows if dimension in row.query.slices}) if dimension else []
    return {value: f"s{at}" for at, value in enumerate(values[:MOST_COLOURS])}


def _colour_legend(dimension: str | None, colours: dict[str, str]) -> Html | None:
    if not dimension:
        return None
    marks = [element("li", element("span", value, class_=f"tag {colour}")) for value, colour in colours.items()]
    return element("ul", element("li", f"{dimension}:", class_="soft"), marks, class_="legend")


def _skyline(view: View, at: int, dimension: str | None, colours: dict[str, str]) -> Html:
    metric = main_metric(view.runs[at])
    found = [(value, row) for row in view.rows if (value := row.values[at]) is not None]
    found.sort(key=lambda pair: (pair[0], pair[1].number))
    bars = [
        Bar(
            value,
            colours.get(row.query.slices.get(dimension or "", ""), NO_SLICE),
            _target(row),
            f"{row.query.query_id}: {number_text(value, metric or '')}",
        )
        for value, row in found
    ]
    missing = len(view.rows) - len(found)
    words = f", {missing} without a value" if missing else ""
    title = f"{view.labels[at]}: {metric or 'no metric'} by query, lowest first ({len(found)} queries{words})"
    return element("figure", element("figcaption", run_key(at), " ", title), skyline(title, bars), class_="sky")


def _tools(view: View) -> Html:
    """Sorting and finding; hidden until the script, without which they do nothing, shows them."""
    options = [element("option", "worst first", value="n"), element("option", "id", value="i")]
    options += [element("option", f"lowest {label}", value=f"v{at}") for at, label in enumerate(view.labels)]
    return element(
        "div",
        element("label", "Sort", element("select", options)),
        element("label", "Find", element("input", type="search", placeholder="words, id, slice")),
        element("output", aria_live="polite"),
        class_="tools",
        hidden=True,
    )


def _query(view: View, row: QueryRow, by_id: int, dimension: str | None, colours: dict[str, str]) -> Html:
    order = {f"data_v{at}": _order(value) for at, value in enumerate(row.values)}
    summary = element("summary", _about(row, dimension, colours), _minis(view, row))
    looks = [_look(view, row, at) for at in range(len(view.runs)) if row.results[at]]
    body = element("div", looks, class_="looks", id=_target(row))
    return element("li", element("details", summary, body), data_n=row.number, data_i=by_id, **order)


def _order(value: float | None) -> str | None:
    return None if value is None else f"{value:.4f}"


def _target(row: QueryRow) -> str:
    return f"q{row.number}"


def _about(row: QueryRow, dimension: str | None, colours: dict[str, str]) -> Html:
    query = row.query
    facts = [element("span", query.query_id, class_="mono")]
    if row.trouble:
        facts.append(element("span", f"⚠ {row.trouble}", class_="trouble"))
    if not query.answerable:
        facts.append(element("span", "unanswerable"))
    for name, value in sorted(query.slices.items()):
        marked = f"tag {colours[value]}" if name == dimension and value in colours else None
        facts.append(element("span", value, class_=marked, title=name))
    if query.group:
        facts.append(element("span", f"group {query.group}"))
    return element(
        "span",
        element("bdi", query.text or "(empty query)", class_="ask", dir="auto"),
        element("span", facts, class_="about"),
    )


def _minis(view: View, row: QueryRow) -> Html:
    lines = []
    for at, value in enumerate(row.values):
        metric = main_metric(view.runs[at]) or ""
        shown = number_text(value, metric)
        chart = bar_row(value, f"r{at}", f"{view.labels[at]} {shown}")
        lines.append(element("span", chart, element("span", shown), class_="mini"))
    return element("span", lines, class_="minis")


def _look(view: View, row: QueryRow, at: int) -> Html:
    """What one run did with the query; with several seeds, the first's ranking and everybody's answer."""
    results = row.results[at]
    first = results[0]
    scores = [f"{name} {number_text(first.scores[name], name)}" for name in SHOWN_SCORES if name in first.scores]
    total = first.stage_ms.get("total")
    if total is not None:
        scores.append(number_text(total, "total_ms"))
    answers = [_answer(result, result.answer, len(results)) for result in results if result.answer]
    return element(
        "div",
        element("h3", run_key(at), view.labels[at]),
        element("p", " · ".join(scores), class_="scores"),
        *answers,
        _ranking(first),
        class_=f"look r{at}",
    )


def _answer(result: QueryResult, answer: AnswerFigures, seeds: int) -> Html:
    words = outcome(result) or ""
    facts = [f"{words} ({answer.refusal_reason})" if answer.refusal_reason else words]
    facts.append("grounded" if answer.grounded else "not grounded")
    facts += [f"{status} × {answer.statuses.count(status)}" for status in sorted(set(answer.statuses))]
    if seeds > 1:
        facts.insert(0, f"seed {result.seed}")
    if answer.prompt_tokens is not None:
        facts.append(f"{answer.prompt_tokens:,} + {answer.completion_tokens or 0:,} tokens")
    wrong = words in ("answered, unanswerable", "refused, answerable")
    cites = element("ul", [element("li", place) for place in answer.citations], class_="cites")
    return join(
        element("p", " · ".join(facts), class_="scores trouble" if wrong else "scores"),
        element("blockquote", answer.answer or "(nothing)", dir="auto"),
        cites if answer.citations else None,
    )


def _ranking(result: QueryResult) -> Html:
    shown = [_hit(hit, rank, result) for rank, hit in enumerate(result.ranking[:SHOWN_HITS], 1)]
    deeper = [
        _hit(hit, rank, result)
        for rank, hit in enumerate(result.ranking[SHOWN_HITS:], SHOWN_HITS + 1)
        if result.judged.get(hit.id)
    ]
    found = {hit.id for hit in result.ranking}
    missed = sorted(
        (judged for judged, grade in result.judged.items() if grade > 0 and judged not in found),
        key=lambda judged: (-result.judged[judged], judged),
    )
    words = None
    if missed:
        names = ", ".join(missed[:SHOWN_DEEPER]) + (" …" if len(missed) > SHOWN_DEEPER else "")
        words = element("p", f"not found: {len(missed)} of {len(result.judged)} judged ({names})", class_="scores")
    if not shown:
        return join(element("p", "nothing was retrieved", class_="scores"), words)
    return join(element("ol", shown, deeper[:SHOWN_DEEPER], class_="ranking"), words)


def _hit(hit: Retrieved, rank: int, result: QueryResult) -> Html:
    grade = result.judged.get(hit.id)
    name = hit.place or hit.path or hit.id or NOTHING
    shown: str = name
    if grade is not None:
        title = f"judged {grade}"
        shown = element(
            "span", name, f" ✓{grade}" if grade > 0 else " ✗", class_="hit" if grade > 0 else None, title=title
        )
    value = rank if rank > SHOWN_HITS else None
    return element("li", shown, " ", element("span", f"{hit.score:.3f}", class_="score"), value=value)
