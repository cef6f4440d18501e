"""Runs and a comparison → one self-contained HTML page that asks the network for nothing."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from kb.eval.differences import differences_section, run_names, summary_words
from kb.eval.figures import NOTHING, query_rows, run_labels
from kb.eval.markup import Html, element, join
from kb.eval.query_details import queries_section
from kb.eval.records import Comparison, Run
from kb.eval.sections import View, curves_section, latency_section, metrics_section, slices_section, tiles
from kb.eval.style import CONTENT_POLICY, SCRIPT, STYLE

HASH_CHARS = 12
# Name in the navigation → the section, in the order of the page; one that is None is not shown.
SECTIONS: dict[str, tuple[str, Callable[[View], Html | None]]] = {
    "metrics": ("Metrics", metrics_section),
    "differences": ("Differences", differences_section),
    "curves": ("Curves", curves_section),
    "slices": ("Slices", slices_section),
    "latency": ("Latency", latency_section),
    "queries": ("Queries", queries_section),
}


def render_page(runs: Sequence[Run], comparison: Comparison | None) -> str:
    """The whole page; equal for equal input."""
    view = View(tuple(runs), run_labels(runs), query_rows(runs), comparison)
    made = {name: (title, make(view)) for name, (title, make) in SECTIONS.items()}
    found = {name: (title, markup) for name, (title, markup) in made.items() if markup is not None}
    links = [element("a", title, href=f"#{name}") for name, (title, _) in found.items()]
    body = element(
        "body",
        element("header", _heading(view), element("nav", links, aria_label="Sections") if links else None),
        element("main", [markup for _, markup in found.values()]),
        element("footer", element("p", _colophon(view))),
        element("script", Html(SCRIPT)),
    )
    return f"<!doctype html>\n{element('html', _head(view), body, lang='en')}\n"


def _head(view: View) -> Html:
    return element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=CONTENT_POLICY),
        element("meta", name="viewport", content="width=device-width,initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", f"{_suites(view)} · kb eval"),
        # Without it a browser asks the server for /favicon.ico.
        element("link", rel="icon", href="data:,"),
        element("style", Html(STYLE)),
    )


def _suites(view: View) -> str:
    return ", ".join(dict.fromkeys(run.suite for run in view.runs)) or "no runs"


def _heading(view: View) -> Html:
    kinds = " and ".join(dict.fromkeys(run.kind for run in view.runs))
    count = f"{len(view.runs)} {kinds} run{'s' if len(view.runs) != 1 else ''} · {len(view.rows)} queries"
    unfinished = [label for label, run in zip(view.labels, view.runs, strict=True) if not run.finished]
    warning = None
    if unfinished:
        words = f"Not finished: {', '.join(unfinished)}. The figures are over the queries that have a result."
        warning = element("p", words, class_="verdict worse")
    return join(
        element("p", "Evaluation", class_="eyebrow"),
        element("h1", _suites(view)),
        element("p", count, class_="soft"),
        warning,
        _verdict(view),
        tiles(view) if view.runs else None,
        _facts(view),
        _settings(view),
    )


def _verdict(view: View) -> Html | None:
    if view.comparison is None:
        return None
    words = summary_words(view.comparison, *run_names(view, view.comparison))
    return element("p", words, class_=f"verdict {'worse' if view.comparison.has_regression else 'equal'}")


def _facts(view: View) -> Html | None:
    """What can change a figure: said once where the runs agree, run by run where they do not."""
    if not view.runs:
        return None
    facts: dict[str, list[str]] = {
        "run": [run.run_id for run in view.runs],
        "made": [run.created_at for run in view.runs],
        "kb": [run.provenance.package_version for run in view.runs],
        "machine": [run.provenance.machine for run in view.runs],
        "corpus": [
            f"revision {run.provenance.corpus_revision} ({run.provenance.corpus_state[:HASH_CHARS]})"
            for run in view.runs
        ],
        "suite sha256": [run.provenance.suite_sha256[:HASH_CHARS] for run in view.runs],
        "encoder": [
            f"{run.provenance.embedding_model} {run.provenance.embedding_digest[:HASH_CHARS]}" for run in view.runs
        ],
        "language model": [_model(run) for run in view.runs],
        "prompt": [(run.provenance.prompt_hash or NOTHING)[:HASH_CHARS] for run in view.runs],
    }
    shown = [(name, values) for name, values in facts.items() if set(values) != {NOTHING}]
    pairs = [
        element(
            "div", element("dt", name), element("dd", _values(view, values)), class_="broad" if name == "run" else None
        )
        for name, values in shown
    ]
    return element("dl", pairs, class_="facts")


def _model(run: Run) -> str:
    model = run.provenance.model
    if not model:
        return NOTHING
    digest = (model.get("digest") or "")[:HASH_CHARS]
    return " ".join(part for part in (model.get("provider"), model.get("id"), digest) if part) or NOTHING


def _values(view: View, values: Sequence[str]) -> Html:
    if len(set(values)) == 1:
        return join(values[0])
    named = zip(view.labels, values, strict=True)
    lines = [join(f"{label}: {value}") for label, value in named if value != NOTHING]
    return join(*(join(element("br") if at else None, line) for at, line in enumerate(lines)))


def _settings(view: View) -> Html | None:
    """The configuration as a table, settings in which the runs differ first."""
    flat = [_flattened(run.provenance.config) for run in view.runs]
    names = sorted({name for values in flat for name in values})
    if not names:
        return None
    columns = {name: [values.get(name, NOTHING) for values in flat] for name in names}
    ordered = sorted(names, key=lambda name: (len(set(columns[name])) == 1, name))
    differing = sum(len(set(columns[name])) > 1 for name in names)
    rows = [
        element("tr", element("th", name, scope="row"), [element("td", v, class_="words") for v in columns[name]])
        for name in ordered
    ]
    heads = [element("th", label, scope="col") for label in view.labels]
    head = element("thead", element("tr", element("th", "setting", scope="col"), heads))
    table = element("table", element("caption", "Settings, those that differ first"), head, element("tbody", rows))
    words = f"Settings ({len(names)}{f', {differing} differ' if differing else ''})"
    box = element("div", table, class_="wide settings", tabindex=0, role="region", aria_label="Settings")
    return element("details", element("summary", words), box, class_="more")


def _flattened(config: dict[str, Any], prefix: str = "") -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in config.items():
        if isinstance(value, dict):
            found |= _flattened(value, f"{prefix}{name}.")
        else:
            found[f"{prefix}{name}"] = (
                value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
            )
    return found


def _colophon(view: View) -> str:
    versions = ", ".join(dict.fromkeys(run.provenance.package_version for run in view.runs))
    return f"Made by kb {versions} from the runs alone; nothing on this page is loaded from anywhere."
