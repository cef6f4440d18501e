"""What does a query's vector gain from losing a share of what all questions of its language have in common?

    python benchmarks/centre.py DATA_FOLDER [--only CRANFIELD,FASTAPI…]

By meaning and by both, on the sets of fusion.py: the mean of each share, and its difference to a query that loses nothing
(paired permutation p over queries). The share that kb takes is LOST_SHARE of kb/embed/centre.py.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from fusion import FusionSet, Ranking, paired_p, sets

from kb.embed import centre
from kb.eval.pipeline import RANKING_DEPTH
from kb.records import SearchMode, SearchRequest
from kb.search.fuse import fuse
from kb.search.retrieve import retrieve

SHARES = (0.0, 0.3, 0.4, 0.5, 0.6, 0.7)
MODES: tuple[SearchMode, ...] = ("vector", "hybrid")


def main() -> None:
    """Print a row for each set, mode and share."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--only", default="")
    chosen = parser.parse_args()
    print(f"{'':34}{''.join(f'{share:>18.1f}' for share in SHARES)}")
    for each in sets(chosen.data, tuple(chosen.only.split(","))):
        for mode, scores in measure(each).items():
            base, cells = scores[0.0], []
            for found in scores.values():
                mean, least = sum(found) / len(found), sum(base) / len(base)
                cells.append(f"{mean:.4f} (p {paired_p(base, found):.3f})" if found is not base else f"{least:.4f}")
            title = f"{each.name}, {each.metric}, {len(base)}"
            print(f"{title:<27}{mode:<7}{''.join(f'{cell:>18}' for cell in cells)}", flush=True)


def measure(each: FusionSet) -> dict[SearchMode, dict[float, list[float]]]:
    """Mode → share → the metric of every query."""
    scores: dict[SearchMode, dict[float, list[float]]] = {mode: {share: [] for share in SHARES} for mode in MODES}
    for query in each.queries:
        for share in SHARES:
            centre.LOST_SHARE = share
            found = retrieve(each.kb, SearchRequest(query.text, "hybrid", RANKING_DEPTH, each.filters))
            for mode in MODES:
                ranking: Ranking = list(fuse(found, mode, each.kb.config.search).ranking[:RANKING_DEPTH])
                told = each.judge.score(query, ranking, [each.judge.identify(i) for i, _ in ranking])
                if (value := told.get(each.metric)) is not None:
                    scores[mode][share].append(value)
    return scores


if __name__ == "__main__":
    main()
