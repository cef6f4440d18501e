"""Runs and a comparison → one self-contained HTML page that loads nothing from the network.

The page is in `templates/`; this module gives the templates their values and functions. Control characters are written
out, then Jinja's autoescape escapes the text.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kb.eval import differences, figures, plots
from kb.eval.compare import flatten
from kb.eval.figures import MOST_COLOURS, NOTHING, QueryRow, View
from kb.eval.markup import number, percent, visible
from kb.eval.records import Comparison, Interval, QueryResult, Retrieved, Run
from kb.frozen import dataclass

if TYPE_CHECKING:
    from jinja2 import Environment

TEMPLATES = Path(__file__).with_name("templates")
HASH_CHARS = 12
# Rows of a ranking that are shown; judged ones further down follow with their rank.
SHOWN_HITS = 10
SHOWN_DEEPER = 10
SHOWN_SCORES = ("ndcg@10", "recall@10", "recall@100", "mrr", "must_contain", "citation_coverage", "citation_support")
# The functions of `figures` that templates call.
FIGURES = (
    *("best_runs", "dimensions", "group_rows", "has_direction", "is_lower_better", "main_metric", "metric_names"),
    *("ms_text", "number_text", "outcome", "p_text", "signed_text", "slice_rows"),
)
# A point of [0, 1] × [0, 1] in a line chart of 460 × 310 units; at 460 px of width a unit is a pixel and type is 12 px.
WIDE, HIGH, LEFT, RIGHT, TOP, BOTTOM = 460, 310, 34, 16, 26, 40


@dataclass(frozen=True, slots=True)
class Setting:
    """One key of the configuration, a value per run."""

    name: str
    values: tuple[str, ...]

    @property
    def differs(self) -> bool:
        """True where the runs do not agree."""
        return len(set(self.values)) > 1


def render_page(runs: Sequence[Run], comparison: Comparison | None) -> str:
    """The whole page; equal for equal input."""
    script = (TEMPLATES / "script.js").read_text(encoding="utf-8")
    view = View(tuple(runs), figures.run_labels(runs), figures.query_rows(runs), comparison)
    page = page_templates().get_template("page.html").render(_values(view), content_policy=content_policy(script))
    # Line breaks between tags only make the templates readable.
    return re.sub(r">\s*\n\s*(?=<)", ">", page).strip() + "\n"


def page_templates() -> Environment:
    """Jinja2 with the functions that the templates call. Every string is escaped, every float short; an unknown name fails."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    def shown(value: Any) -> Any:
        if isinstance(value, str) and not isinstance(value, Markup):
            return visible(value)
        return number(value) if isinstance(value, float) else value

    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        finalize=shown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"pct": percent, "across": _across, "up": _up, "reach": differences.reach}
    environment.tests["share"] = figures.is_share
    environment.globals |= {name: getattr(figures, name) for name in FIGURES}
    environment.globals |= {
        "verdict": differences.verdict,
        "summary_words": differences.summary_words,
        "skyline_bars": plots.skyline_bars,
        "axis_end": _axis_end,
        "scores": _scores,
        "shown_hits": _shown_hits,
        "missed_ids": _missed_ids,
    }
    return environment


def content_policy(script: str) -> str:
    """A content security policy: nothing is fetched and no other script runs, whatever a document contains."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; img-src data:"


def _values(view: View) -> dict[str, Any]:
    """The templates' variables; `sections` names the sections that have something to show."""
    curves = [plot for family in ("recall", "hit") if (plot := plots.curve_by_k(view, family))]
    refusals, gates = plots.refusal_plot(view)
    latencies = plots.latency_plots(view)
    dimension = figures.colour_dimension(view.rows)
    shown = {
        "metrics": True,
        "differences": view.comparison is not None,
        "curves": bool(curves or refusals),
        "slices": bool(figures.dimensions(view.rows) or figures.group_rows(view.rows)),
        "latency": bool(latencies),
        "queries": bool(view.rows),
    }
    names = differences.run_names(view, view.comparison) if view.comparison else ("", "")
    by_id = sorted(view.rows, key=lambda row: row.query.query_id)
    return {
        "view": view,
        "sections": [name for name, wanted in shown.items() if wanted],
        "suites": ", ".join(dict.fromkeys(run.suite for run in view.runs)) or "no runs",
        "kinds": " and ".join(dict.fromkeys(run.kind for run in view.runs)),
        "versions": ", ".join(dict.fromkeys(run.provenance.package_version for run in view.runs)),
        "unfinished": [label for label, run in zip(view.labels, view.runs, strict=True) if not run.finished],
        "facts": _facts(view),
        "settings": _settings(view),
        "name_a": names[0],
        "name_b": names[1],
        "curves": curves,
        "refusals": refusals,
        "gates": gates,
        "latencies": latencies,
        "dimension": dimension,
        "colours": _slice_colours(view.rows, dimension),
        "by_id": {row.number: at for at, row in enumerate(by_id)},
    }


def _facts(view: View) -> list[tuple[str, list[str]]]:
    """What can change a figure: one value where the runs agree, else one per run."""
    facts: dict[str, list[str]] = {}
    for run in view.runs:
        made = run.provenance
        for name, value in {
            "run": run.run_id,
            "made": run.created_at,
            "kb": made.package_version,
            "machine": made.machine,
            "corpus": f"revision {made.corpus_revision} ({made.corpus_state[:HASH_CHARS]})",
            "suite sha256": made.suite_sha256[:HASH_CHARS],
            "encoder": f"{made.embedding_model} {made.embedding_digest[:HASH_CHARS]}",
            "language model": _model(run),
            "prompt": (made.prompt_hash or NOTHING)[:HASH_CHARS],
        }.items():
            facts.setdefault(name, []).append(value)
    shown = []
    for name, values in facts.items():
        named = [f"{label}: {value}" for label, value in zip(view.labels, values, strict=True) if value != NOTHING]
        if named:
            shown.append((name, named if len(set(values)) > 1 else values[:1]))
    return shown


def _model(run: Run) -> str:
    model = run.provenance.model or {}
    digest = (model.get("digest") or "")[:HASH_CHARS]
    return " ".join(part for part in (model.get("provider"), model.get("id"), digest) if part) or NOTHING


def _settings(view: View) -> list[Setting]:
    """The configuration, settings in which the runs differ first."""
    flat = [
        {name.removeprefix("config."): _setting_text(v) for name, v in flatten("config", run.provenance.config)}
        for run in view.runs
    ]
    names = sorted({name for values in flat for name in values})
    settings = [Setting(name, tuple(values.get(name, NOTHING) for values in flat)) for name in names]
    return sorted(settings, key=lambda setting: not setting.differs)


def _setting_text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _slice_colours(rows: Sequence[QueryRow], dimension: str | None) -> dict[str, str]:
    """Value of the dimension → class of its colour, values sorted."""
    values = sorted({row.query.slices[dimension] for row in rows if dimension in row.query.slices}) if dimension else []
    return {value: f"s{at}" for at, value in enumerate(values[:MOST_COLOURS])}


def _axis_end(name: str, intervals: Sequence[Interval | None]) -> float:
    """Right end of a row's axis: 1 for shares, so that rows compare; else the highest end of an interval."""
    if figures.is_share(name):
        return 1.0
    ends = [end for i in intervals if i for end in (i.ci_high, i.mean) if end is not None]
    return max(ends, default=1.0) or 1.0


def _scores(result: QueryResult) -> list[str]:
    shown = [
        f"{name} {figures.number_text(result.scores[name], name)}" for name in SHOWN_SCORES if name in result.scores
    ]
    total = result.stage_ms.get("total")
    return shown if total is None else [*shown, figures.number_text(total, "total_ms")]


def _shown_hits(result: QueryResult) -> list[tuple[int, Retrieved]]:
    """(rank, hit) of the first hits, and of judged ones further down."""
    ranked = list(enumerate(result.ranking, 1))
    deeper = [(rank, hit) for rank, hit in ranked[SHOWN_HITS:] if result.judged.get(hit.id)]
    return ranked[:SHOWN_HITS] + deeper[:SHOWN_DEEPER]


def _missed_ids(result: QueryResult) -> list[str]:
    """Ids that are judged relevant and were not found, highest grade first."""
    found = {hit.id for hit in result.ranking}
    missed = [judged for judged, grade in result.judged.items() if grade > 0 and judged not in found]
    return sorted(missed, key=lambda judged: (-result.judged[judged], judged))


def _across(x: float) -> float:
    return LEFT + (WIDE - LEFT - RIGHT) * min(max(x, 0.0), 1.0)


def _up(y: float) -> float:
    return TOP + (HIGH - TOP - BOTTOM) * (1 - min(max(y, 0.0), 1.0))
