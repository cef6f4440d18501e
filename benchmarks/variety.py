"""Do the first ten hits hold more of the relevant documents when a document's further passages come a little later?

    python benchmarks/variety.py DATA_FOLDER [--homes NAME…]
    python benchmarks/variety.py DATA_FOLDER --twins

The judged collections of score_sets.py with several passages a document, hybrid. Against the order by score alone, paired, with
95 % intervals: recall of distinct relevant documents at 10, nDCG@10 of the documents in the order of their best passage, and
nDCG@10 of the passages. Where all passages of a page or under a heading count as relevant, the last falls by construction:
the passages that make room are relevant too.

--twins: FastAPI's pages in English and Korean in one index, a page and its translation as one. How often does a translation take
the place of another page among the first ten, and what would be gained if it were folded into the better hit? The pairs are
known by their paths: what a program can tell by itself is at most this.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from fusion import FusionSet, sets
from gate_sets import open_homes
from score_sets import Asked, collections_of, thin

from kb.eval.resampling import paired_bootstrap_interval
from kb.records import Chunk, Ranking, SearchRequest
from kb.runtime import Runtime
from kb.search.fuse import fuse
from kb.search.retrieve import retrieve

DEPTH = 10
# What is looked at for ten hits, as kb.search.depth has it.
CANDIDATES = 30

Rows = Sequence[tuple[int, float]]
Order = Callable[[Rows, Mapping[int, int]], Rows]


def spread(loss: float) -> Order:
    """Each picked by its score less a share for each passage of its document before it."""
    return lambda ranking, documents: spread_documents(ranking[:CANDIDATES], documents, loss)


def spread_documents(ranking: Ranking, document_of: Mapping[int, int], loss: float) -> list[tuple[int, float]]:
    """The passages in another order, each picked by its score less a share for each passage of its document before it.

    loss     share of the score, in [0, 1): .1 leaves .9, .81, … to a document's second and third passage
    returns  (chunk_id, reduced score), best first; of equals the one that was first

    >>> spread_documents([(1, 0.8), (2, 0.79), (3, 0.75)], {1: 7, 2: 7, 3: 9}, 0.1)
    [(1, 0.8), (3, 0.75), (2, 0.7110000000000001)]
    """
    if not loss:
        return list(ranking)
    before: dict[int, int] = {}
    waiting: dict[int, float] = dict(ranking)
    picked: list[tuple[int, float]] = []
    while waiting:
        reduced = {i: score * (1 - loss) ** before.get(document_of.get(i, -i), 0) for i, score in waiting.items()}
        best = max(reduced, key=reduced.__getitem__)
        picked.append((best, reduced[best]))
        del waiting[best]
        document = document_of.get(best, -best)
        before[document] = before.get(document, 0) + 1
    return picked


def cap(most: int) -> Order:
    """At most so many passages of a document, the others behind all."""

    def order(ranking: Rows, documents: Mapping[int, int]) -> Rows:
        seen: dict[int, int] = {}
        first, later = [], []
        for row in ranking[:CANDIDATES]:
            document = documents[row[0]]
            seen[document] = seen.get(document, 0) + 1
            (first if seen[document] <= most else later).append(row)
        return first + later

    return order


ORDERS: dict[str, Order] = {
    "by score": lambda ranking, documents: ranking,
    **{f"loss {loss:g}": spread(loss) for loss in (0.02, 0.05, 0.1, 0.2)},
    **{f"at most {most}": cap(most) for most in (1, 2, 3)},
}
FIGURES = ("document recall", "document nDCG", "passage nDCG", "documents")


def measure(kb: Runtime, queries: Sequence[Asked]) -> dict[str, list[tuple[float, ...]]]:
    """order → of each query, the figures."""
    ids = [row[0] for row in kb.store._connection.execute("SELECT chunk_id FROM chunks")]
    chunks = kb.corpus.fetch_chunks(ids)
    documents = {i: chunk.doc_id for i, chunk in chunks.items()}
    found: dict[str, list[tuple[float, ...]]] = {label: [] for label in ORDERS}
    kb.encode_ahead([query.text for query in queries])
    for query in queries:
        wanted = query.relevant
        if wanted is None:
            continue
        relevant = {i for i, chunk in chunks.items() if wanted(chunk)}
        if relevant:
            ranking = fuse(retrieve(kb, SearchRequest(query.text, "hybrid")), "hybrid", kb.config.search).ranking
            for label, order in ORDERS.items():
                found[label].append(figures(order(ranking, documents)[:DEPTH], relevant, chunks))
    return found


def figures(hits: Rows, relevant: set[int], chunks: Mapping[int, Chunk]) -> tuple[float, ...]:
    """Those of FIGURES, of one query's first hits."""
    by_document: dict[int, int] = {}
    for i, _ in hits:
        document = chunks[i].doc_id
        by_document[document] = max(by_document.get(document, 0), int(i in relevant))
    documents = len({chunks[i].doc_id for i in relevant})
    return (
        sum(by_document.values()) / min(documents, DEPTH),
        gain(list(by_document.values())) / gain([1] * min(documents, DEPTH)),
        gain([int(i in relevant) for i, _ in hits]) / gain([1] * min(len(relevant), DEPTH)),
        float(len(by_document)),
    )


TWIN_FIGURES = ("page recall", "page nDCG", "pages", "twins")


def measure_twins(each: FusionSet) -> dict[str, list[tuple[float, ...]]]:
    """Without and with folding → of each query, TWIN_FIGURES: the pages' first, both languages being one page."""
    places = each.kb.corpus.chunk_places()
    each.kb.encode_ahead([query.text for query in each.queries])
    found: dict[str, list[tuple[float, ...]]] = {"as found": [], "twins folded": []}
    for query in each.queries:
        wanted = {page_of(path) for path in query.relevant}
        ranking = fuse(retrieve(each.kb, SearchRequest(query.text, "hybrid")), "hybrid", each.kb.config.search).ranking
        paths = [places[i] for i, _ in ranking]
        found["as found"].append(twin_figures(paths[:DEPTH], wanted))
        found["twins folded"].append(twin_figures(fold_twins(paths)[:DEPTH], wanted))
    return found


def page_of(path: str) -> str:
    """A page's path without its language."""
    return path.partition("/docs/")[2]


def fold_twins(paths: Sequence[str]) -> list[str]:
    """Without passages of a page whose translation stands above all of its own."""
    language: dict[str, str] = {}
    return [path for path in paths if language.setdefault(page_of(path), path) == path]


def twin_figures(paths: Sequence[str], wanted: set[str]) -> tuple[float, ...]:
    """Those of TWIN_FIGURES, of the passages' paths in order."""
    pages = list(dict.fromkeys(page_of(path) for path in paths))
    grades = [int(page in wanted) for page in pages]
    twins = len(paths) - len(fold_twins(paths))
    return (sum(grades) / len(wanted), gain(grades) / gain([1] * len(wanted)), float(len(pages)), float(twins))


def gain(grades: Sequence[int]) -> float:
    """Discounted cumulative gain."""
    return sum(grade / math.log2(rank + 1) for rank, grade in enumerate(grades, start=1))


def main() -> None:
    """Print one table a collection."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--homes", nargs="+", default=(), help="only these corpora, as gate_sets.py names them")
    parser.add_argument("--twins", action="store_true", help="FastAPI's pages in two languages")
    chosen = parser.parse_args()
    if chosen.twins:
        for each in sets(chosen.data, ("fastapi",)):
            print_orders(f"{each.name}, both languages in the index", measure_twins(each), TWIN_FIGURES, "as found")
        return
    homes = open_homes(chosen.data, chosen.homes)
    for name, queries in collections_of(chosen.data, homes).items():
        home = homes[next(query.home for query in queries)]
        if home.corpus.count_documents() == 1:
            continue
        found = measure(home, thin(queries))
        print_orders(name, found, FIGURES, "by score")


def print_orders(
    name: str, found: Mapping[str, Sequence[tuple[float, ...]]], figures: Sequence[str], base: str
) -> None:
    """A line for each order: means, and the 95 % intervals of their differences to the base."""
    print(f"\n{name}, {len(found[base])} queries")
    for label, rows in found.items():
        cells = []
        for i, figure in enumerate(figures):
            before, after = ([(row[i], 1.0) for row in of] for of in (found[base], rows))
            mean = sum(value for value, _ in after) / len(after)
            low, high = paired_bootstrap_interval(before, after, seed=0)
            cells.append(f"{figure} {mean:.3f} [{low:+.3f}, {high:+.3f}]")
        print(f"  {label:<12} {'  '.join(cells)}", flush=True)


if __name__ == "__main__":
    main()
