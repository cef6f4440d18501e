"""What is each setting of chunking, embedding and the word index worth? One changed at a time, on every judged set at hand.

    python benchmarks/settings.py DATA_FOLDER [--only heading,embedded,chunks]

Cranfield and the fixture suite by nDCG@10, the span questions by token recall@5; the paired p is against the defaults.
Settings that shape chunks or vectors fill a home of their own, cached by content and settings: the first run encodes.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from fusion import ROOT, paired_p, quiet

from kb.config import Config, cache_folder
from kb.eval.judged_sets import JudgedSet, beir_set, spans_set
from kb.eval.judges import judge_suite
from kb.eval.pipeline import RANKING_DEPTH
from kb.eval.suite import load_suite
from kb.eval.throwaway import fill_from_folder
from kb.records import SearchMode, SearchRequest
from kb.search.fuse import fuse
from kb.search.retrieve import retrieve

Change = Callable[[Config], Config]


@dataclass(frozen=True, slots=True)
class Variant:
    """One setting changed.

    mode  the retriever that shows the difference
    """

    label: str
    mode: SearchMode
    change: Change


def change(section: str, **values: Any) -> Change:
    """A change of keys in one section of the configuration."""
    return lambda config: replace(config, **{section: replace(getattr(config, section), **values)})


WEIGHTS = (0.0, 0.25, 0.5, 1.0, 2.0)
GROUPS: dict[str, list[Variant]] = {
    "heading": [Variant(f"heading weight {w:g}", "lexical", change("search", heading_weight=w)) for w in WEIGHTS],
    "embedded": [Variant("headings not embedded", "vector", change("embedding", headings=False))],
    "chunks": [
        Variant(f"chunks of {size} tokens", "hybrid", change("chunking", target_tokens=size))
        for size in (120, 200, 240)
    ],
}


def judged_sets(data: Path) -> list[tuple[JudgedSet, str]]:
    """The sets that are there, each with its metric."""
    corpus, suite = ROOT / "fixtures" / "corpus", load_suite(ROOT / "fixtures" / "suites" / "corpus.yaml")
    content = sha256(b"\0".join(f.read_bytes() for f in sorted(corpus.rglob("*")) if f.is_file())).hexdigest()
    fixtures = JudgedSet(
        name="fixtures",
        queries=suite.queries,
        documents_sha256=content,
        sha256=suite.sha256,
        fill=lambda on_event: fill_from_folder(corpus, on_event),
        judge=lambda kb: judge_suite(kb, suite),
    )
    found = [(fixtures, "ndcg@10")]
    if (data / "cranfield").is_dir():
        found.insert(0, (beir_set(data / "cranfield"), "ndcg@10"))
    if (data / "chunking-eval").is_dir():
        found.insert(1, (spans_set(data / "chunking-eval"), "recall@5"))
    return found


def scores(judged: JudgedSet, config: Config, mode: SearchMode, metric: str) -> list[float]:
    """The metric of every query that has it."""
    values = []
    with judged.open(cache_folder(os.environ), config, quiet, lambda message: None) as kb:
        judge = judged.judge(kb)
        for query in judged.queries:
            found = retrieve(kb, SearchRequest(query.text, mode, RANKING_DEPTH))
            ranking = fuse(found, mode, config.search).ranking[:RANKING_DEPTH]
            value = judge.score(query, ranking, [judge.identify(i) for i, _ in ranking]).get(metric)
            if value is not None:
                values.append(value)
    return values


def show(sets: Sequence[tuple[JudgedSet, str]], variant: Variant | None, mode: SearchMode) -> None:
    """One row: the mean on each set, and p against the defaults."""
    cells = []
    for judged, metric in sets:
        default = scores(judged, Config(), mode, metric)
        changed = scores(judged, variant.change(Config()), mode, metric) if variant else default
        p = "" if changed == default else f" (p {paired_p(default, changed):.3f})"
        cells.append(f"{sum(changed) / len(changed):.3f}{p}")
    print(f"| {variant.label if variant else 'defaults'}, {mode} | {' | '.join(cells)} |", flush=True)


def main() -> None:
    """Print one table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--only", default=",".join(GROUPS), help="comma-separated: " + ", ".join(GROUPS))
    chosen = parser.parse_args()
    sets = judged_sets(chosen.data)
    print(f"| setting | {' | '.join(f'{judged.name}, {metric}' for judged, metric in sets)} |")
    print(f"|---|{'---|' * len(sets)}")
    for name in chosen.only.split(","):
        show(sets, None, GROUPS[name][0].mode)
        for variant in GROUPS[name]:
            show(sets, variant, variant.mode)


if __name__ == "__main__":
    main()
