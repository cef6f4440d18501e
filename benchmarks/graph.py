"""The knowledge graph, measured: how right its relations are, what they cost at ingest, and what a traversal costs.

    python benchmarks/graph.py labelled                      precision and recall per predicate on tests/graph/relations.txt
    python benchmarks/graph.py extract FOLDER…               ms per chunk of the extraction, rows and bytes per chunk
    python benchmarks/graph.py sample FOLDER… --each 25      relations of real documents with their sentences, to be judged
    python benchmarks/graph.py traverse --chunks 100000      ms per traversal over a made corpus, hubs included

A sample is drawn by hashes, so that it is the same every time; a person says of each line whether the sentence states
the relation. Rows that such a judgement gave are in benchmarks/README.md with their number.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from kb.config import Config
from kb.context.graph_surroundings import RECURRENT_COUNT, RECURRENT_DOCUMENTS
from kb.drafts import ChunkDraft, DocumentDraft, EdgeDraft, EndDraft, GraphDraft, NameDraft
from kb.graph.extract import extract_graph
from kb.graph.records import HIGH_SIGNAL_PREDICATES
from kb.ingest.readers import READERS, read_file

SUFFIXES = {".md": "markdown", ".rst": "restructuredtext", ".txt": "text", ".html": "html"}
CHUNK_CHARS = 1000  # about 200 tokens, the default target; the encoder's own cuts are not needed to time rules


def labelled() -> None:
    """A table per predicate: right, wrong, missed."""
    from tests.graph.labelled import read_labelled, read_relations

    right, wrong, missed = Counter[str](), Counter[str](), Counter[str]()
    sentences = read_labelled()
    for sentence in sentences:
        found = read_relations(sentence.sentence)
        right.update(p for _, p, _ in found & sentence.expected)
        wrong.update(p for _, p, _ in found - sentence.expected)
        missed.update(p for _, p, _ in sentence.expected - found)
    print(f"{len(sentences)} sentences, {sum(s.is_trap for s in sentences)} of them traps")
    for predicate in sorted(HIGH_SIGNAL_PREDICATES):
        r, w, m = right[predicate], wrong[predicate], missed[predicate]
        print(
            f"{predicate:<20} precision {r / max(1, r + w):.3f} ({r}/{r + w})  recall {r / max(1, r + m):.3f} ({r}/{r + m})"
        )


def graphs(folders: list[Path]) -> Iterator[tuple[Path, str, GraphDraft, int, float]]:
    """(path, text, graph, chunks, seconds of the extraction) of every document."""
    for folder in folders:
        for path in sorted(p for p in folder.rglob("*") if p.suffix in SUFFIXES and p.is_file()):
            parsed = read_file(READERS[SUFFIXES[path.suffix]], path.read_bytes(), path.name)
            chunks = [
                ChunkDraft(i, start, start + CHUNK_CHARS, "", (), 0)
                for i, start in enumerate(range(0, len(parsed.text), CHUNK_CHARS))
            ]
            relative = str(path.relative_to(folder))
            began = time.perf_counter()
            graph = extract_graph(parsed, folder.name, relative, parsed.title or path.stem, chunks)
            yield path, parsed.text, graph, max(1, len(chunks)), time.perf_counter() - began


def extract(folders: list[Path]) -> None:
    """Cost per chunk of 1,000 characters, and what is stored."""
    from kb.store.database import open_for_writing
    from kb.store.documents import save_document, save_source

    names, edges = Counter[str](), Counter[str]()
    chunks, seconds, saving = 0, 0.0, 0.0
    with tempfile.TemporaryDirectory() as home:
        connection = open_for_writing(Path(home))
        save_source(connection, "s", None)
        for number, (path, _, graph, count, took) in enumerate(graphs(folders)):
            chunks, seconds = chunks + count, seconds + took
            names.update(f"{n.kind}/{n.form}" for n in graph.names)
            edges.update(e.predicate for e in graph.edges)
            draft = DocumentDraft("s", f"{number}/{path.name}", path.stem, "text", "en", (), 0, 0, "", "")
            began = time.perf_counter()
            save_document(connection, draft, [], None, {}, graph=graph)
            saving += time.perf_counter() - began
        pages = connection.execute(
            "SELECT coalesce(sum(pgsize), 0) FROM dbstat WHERE name LIKE 'graph_%' OR name LIKE 'sqlite_autoindex_graph%'"
        )
        try:
            stored = int(pages.fetchone()[0])
        finally:
            connection.close()
    print(f"{chunks} chunks of {CHUNK_CHARS} characters: {seconds / chunks * 1000:.3f} ms per chunk to extract")
    print(f"{saving / chunks * 1000:.3f} ms per chunk to save documents with nothing but their graph")
    total = sum(names.values()) + sum(edges.values())
    print(f"{total / chunks:.1f} rows and {stored / chunks:.0f} bytes per chunk, indexes included")
    for counter in (names, edges):
        print("  " + ", ".join(f"{key} {n}" for key, n in counter.most_common()))


def sample(folders: list[Path], each: int) -> None:
    """Relations with the line that states them, `each` of a predicate, drawn by hash."""
    lines: dict[str, list[tuple[str, str]]] = {}
    named: dict[str, list[tuple[str, int, str]]] = {}
    for path, text, graph, _, _ in graphs(folders):
        rows = text.split("\n")
        for name in graph.names:
            if name.kind == "entity":
                said = rows[name.line - 1][:160] if name.line else ""
                named.setdefault(name.key, []).append(
                    (name.form, name.count, f"{path.name}:{name.line}  {name.label}\n      {said}")
                )
        for edge in graph.edges:
            said = " ".join(rows[edge.line - 1 : edge.line + 1]) if edge.line else ""
            shown = f"{_end(edge.subject)} —{edge.predicate}→ {_end(edge.object)}"
            key = sha256(f"{path.name}{shown}{said}".encode()).hexdigest()
            lines.setdefault(edge.predicate, []).append((key, f"{path.name}:{edge.line}  {shown}\n      {said[:300]}"))
    for key, several in named.items():
        if (
            len(several) >= RECURRENT_DOCUMENTS
            or sum(n for _, n, _ in several) >= RECURRENT_COUNT
            or several[0][0] != "name"
        ):
            form, _, shown = several[0]
            lines.setdefault(f"mentions/{form}", []).append((sha256(key.encode()).hexdigest(), shown))
    for predicate, found in sorted(lines.items()):
        print(f"## {predicate}: {len(found)}")
        for _, line in sorted(found)[:each]:
            print(f"  {line}")


def _end(end: EndDraft) -> str:
    return ("" if end.is_sure else "?") + (end.label or end.kind)


def traverse(chunks: int, queries: int, profile: bool) -> None:
    """A corpus of documents of 10 chunks each, names drawn by rank so that a few are in half of all documents."""
    from kb.context.traverse import traverse as run
    from kb.runtime import open_runtime

    random_ = random.Random(7)
    documents = chunks // 10
    words = [f"name{i}" for i in range(documents)]
    weights = [1 / (rank + 1) for rank in range(len(words))]
    total = 0.0
    cumulative = [total := total + weight for weight in weights]
    with tempfile.TemporaryDirectory() as home, open_runtime(Path(home), Config(), write=True) as kb:
        kb.corpus.save_source("s", None)
        kb.store._connection.execute("PRAGMA synchronous = OFF")
        for number in range(documents):
            drawn = Counter(random_.choices(words, cum_weights=cumulative, k=60))
            names = [NameDraft("document", f"s/{number}", f"{number}.md", "path")]
            names += [NameDraft("document", f"page {number}", f"Page {number}", "title")]
            names += [NameDraft("entity", w, w, "code", n, 3, 0) for w, n in drawn.items()]
            names += [NameDraft("tag", f"tag{random_.randrange(50)}", "tag", "tag")]
            a, b, c = random_.choices(words, cum_weights=cumulative, k=3)
            ends = [EndDraft("entity", w, w) for w in (a, b, c)]
            edges = [
                EdgeDraft(ends[0], "depends_on", ends[1], 5, 0),
                EdgeDraft(EndDraft("self"), "extends", ends[2], 7, 0),
            ]
            edges += [
                EdgeDraft(
                    EndDraft("self"), "links_to", EndDraft("document", f"s/{random_.randrange(documents)}", "p"), 9, 1
                )
                for _ in range(5)
            ]
            draft = DocumentDraft("s", f"{number}.md", f"Page {number}", "markdown", "en", (), 0, 0, "", "")
            kb.corpus.save_document(draft, [], None, {}, graph=GraphDraft(tuple(names), tuple(edges)))
        asked = [" ".join(random_.choices(words, cum_weights=cumulative, k=3)) for _ in range(queries - 20)]
        asked += ["how does name0 use name1 and name2", "page 7", "tag3 name0", "what is name3 for"] * 5
        for text in asked[:20]:
            run(kb, text)
        took, worked = [], time.process_time()
        for text in asked:
            began = time.perf_counter()
            run(kb, text)
            took.append((time.perf_counter() - began) * 1000)
        worked = (time.process_time() - worked) * 1000 / len(asked)
        if profile:
            import cProfile
            import pstats

            with cProfile.Profile() as profiler:
                for text in asked:
                    run(kb, text)
            pstats.Stats(profiler).sort_stats("tottime").print_stats(18)
        took.sort()
        print(
            f"{documents} documents, {len(took)} queries: median {statistics.median(took):.2f} ms, p95 {took[int(len(took) * 0.95)]:.2f},"
        )
        print(f"  max {took[-1]:.2f}, mean {statistics.mean(took):.2f} of which {worked:.2f} ms of processor time")


def main() -> None:
    """See the module's docstring."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("labelled", "extract", "sample", "traverse"))
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--each", type=int, default=25)
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--profile", action="store_true", help="where the time of a traversal goes")
    given = parser.parse_args()
    if given.what == "labelled":
        labelled()
    elif given.what == "extract":
        extract(given.folders)
    elif given.what == "sample":
        sample(given.folders, given.each)
    else:
        traverse(given.chunks, given.queries, given.profile)


if __name__ == "__main__":
    main()
