"""Records → text for people: hits, documents, status. Text from documents is made harmless before it is printed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from kb.cli.terminal import harmless, harmless_line, highlighted, say, shown_path, styled, tell
from kb.records import Hit, RankedChunk, SearchResponse, SearchTrace, StabilityTrace
from kb.search.depth import vectors_text

if TYPE_CHECKING:  # a search prints no status and no list
    from kb.cli.views import DocumentList
    from kb.status import Status


# Copies that are named under a hit.
MOST_COPIES = 3


def print_hits(response: SearchResponse, *, heading: bool = False, quiet: bool = False) -> None:
    """Hits as paragraphs: place and score, headings, snippet."""
    if heading:
        say(styled(f"? {harmless_line(response.query)}", "bold"))
    for hit in [*response.hits, *response.maybe]:
        number = f"{hit.rank:>2}." if response.hits else "maybe"
        scores = _scores(hit, explain=response.trace is not None)
        say(f"{number} {styled(harmless_line(hit.citation.uri), 'cyan', 'bold')}  {styled(scores, 'dim')}")
        place = " > ".join(dict.fromkeys([hit.title, *hit.heading_path]))
        say(f"    {styled(harmless_line(place), 'dim')}")
        say(f"    {highlighted(hit.snippet, hit.highlights)}")
        _say_also(hit)
    tell_empty(response, quiet=quiet)
    if response.trace:
        print_trace(response.trace)


def tell_empty(response: SearchResponse, *, quiet: bool) -> None:
    """The line under an empty result: what was tried."""
    if response.note and not quiet:
        tell(f"note: {response.note}")
    if not response.hits and not quiet:
        tell(f"no hits. {response.hint}")


def _say_also(hit: Hit) -> None:
    """The other places of a hit's text, on one line."""
    if hit.also_in:
        places = [harmless_line(copy.citation.uri) for copy in hit.also_in[:MOST_COPIES]]
        more = len(hit.also_in) - len(places)
        say(styled(f"    also in {', '.join(places)}{f' and {more} more places' if more else ''}", "dim"))


def _scores(hit: Hit, *, explain: bool) -> str:
    """The probability; to explain it also the score that orders, with its kind, and what each retriever said."""
    if not explain:
        return f"{hit.score:.2f}"
    found = hit.retrieval
    own = f"{hit.score:.2f} {hit.order_kind} {hit.order_score:.3f}"
    if found.method != "hybrid":
        return own
    lexical = f"bm25 {found.lexical_score:.1f} #{found.lexical_rank}" if found.lexical_score is not None else "bm25 –"
    vector = f"cosine {found.vector_score:.2f} #{found.vector_rank}" if found.vector_score is not None else "cosine –"
    return f"{own} ({lexical}, {vector})"


def print_trace(trace: SearchTrace) -> None:
    """What happened inside a search, a line a list."""
    say(styled(f"terms: {harmless_line(' '.join(trace.query_terms)) or '(none)'}", "dim"))
    if trace.filtered_documents is not None:
        say(styled(f"filters let through: {trace.filtered_documents} documents", "dim"))
    if trace.expanded_tags:
        say(styled(f"expanded by tags: {harmless_line(', '.join(trace.expanded_tags))}", "dim"))
    lists = [("bm25", trace.lexical), ("cosine", trace.vector), *([("tags", trace.tags)] if trace.tags else [])]
    for name, rows in lists:
        say(styled(f"{name}: {_ranking_text(rows)}", "dim"))
    if trace.stability:
        _print_stability(trace.stability)
    say(styled("ms: " + ", ".join(f"{stage} {ms:.1f}" for stage, ms in trace.stage_ms.items()), "dim"))


def _print_stability(trace: StabilityTrace) -> None:
    """What the query asks, then each hit's axes; a dash for one that is absent."""
    asked = [f"{trace.intent} → {trace.shape}"]
    asked += [
        f"{name}: {', '.join(words)}" for name, words in (("entities", trace.entities), ("facts", trace.facts)) if words
    ]
    say(styled(harmless_line(f"asks: {' · '.join(asked)} ({trace.domain}, threshold {trace.threshold:.2f})"), "dim"))
    if trace.absent:
        say(styled(f"without: {', '.join(trace.absent)} (the other axes carry their weight)", "dim"))
    for row in trace.chunks:
        axes = (
            ("vector", row.vector),
            ("stability", row.stability),
            ("fit", row.fit),
            ("drift", row.drift),
            ("coherence", row.coherence),
        )
        figures = "  ".join(f"{name} {'–' if value is None else f'{value:.2f}'}" for name, value in axes)
        say(styled(f"csw {row.csw:.3f} chunk {row.chunk_id}  {figures}", "dim"))


def _ranking_text(rows: tuple[RankedChunk, ...], most: int = 10) -> str:
    shown = "  ".join(f"#{r.rank} chunk {r.chunk_id} {r.score:.3f}" for r in rows[:most])
    return (shown or "(empty)") + (f"  … {len(rows)} in all" if len(rows) > most else "")


def print_paths(response: SearchResponse, roots: Mapping[str, str | None], *, quiet: bool = False) -> None:
    """One `path:line` a hit, for editors and fzf; without the line where the format has none."""
    for hit in response.hits:
        path = harmless_line(shown_path(roots.get(hit.source), hit.path))
        say(f"{path}:{hit.citation.start_line}" if hit.citation.start_line else path)
    tell_empty(response, quiet=quiet)


def print_documents(listed: DocumentList) -> None:
    """One line for each document: id, type, chunks, language, path, title."""
    if not listed.documents:
        return
    say(styled(f"{'id':>6}  {'type':<10} {'chunks':>6}  {'lang':<4}  path · title", "dim"))
    for d in listed.documents:
        say(
            f"{d.doc_id:>6}  {d.type:<10} {len(d.chunk_ids):>6}  {d.language:<4}  "
            f"{harmless_line(f'{d.source}/{d.path}')} · {styled(harmless_line(d.title), 'dim')}"
        )


def print_status(status: Status) -> None:
    """The state of a knowledge base, a line a fact."""
    rows = [
        ("home", status.home),
        ("documents", f"{status.documents:,} in {status.chunks:,} chunks (revision {status.corpus_revision})"),
        ("types", ", ".join(f"{kind} {n}" for kind, n in status.types.items()) or "none"),
        ("answers", f"{status.answers:,} in {size_text(status.answers_bytes or 0)}"),
        ("encoder", f"{status.embedding_model or 'none yet'} ({status.embedding_dimensions} dimensions)"),
        ("size", f"store {size_text(status.store_bytes)}, indexes {size_text(status.index_bytes)}"),
    ]
    if status.next_encoder:
        changed = status.next_encoder
        done = f"{changed.chunks_done:,} of {status.chunks:,} chunks done; "
        rows.append(("configured", f"{changed.model}: {done}kb init --encoder {changed.model}"))
    if status.graph:
        said = ", ".join(f"{predicate} {count:,}" for predicate, count in status.graph.edges.items()) or "none"
        rows.append(("graph", f"{sum(status.graph.names.values()):,} names; relations: {said}"))
    for source in status.sources:
        rows.append(("source", f"{source.source}: {source.documents} documents from {source.root or 'standard input'}"))
    for index in status.indexes:
        state = "up to date" if index.up_to_date else "behind: the next search brings it up to date"
        rows.append(("index", f"{index.name} ({index.kind or 'none'}): {index.rows:,} chunks, {state}"))
    if status.chunks_without_vector:
        share = vectors_text(1 - status.chunks_without_vector / status.chunks)
        rows.append(("incomplete", f"{share}; kb ingest --resume makes the other {status.chunks_without_vector:,}"))
    if status.novelty:
        n = status.novelty
        held = f"{n.requests:,} requests with seen text · {n.candidates:,} candidates, {n.exact_duplicates:,} of them duplicates"
        rows.append(("novelty", f"{held} · {n.expansion_successes:,} of {n.expansions:,} widened searches found more"))
    if status.writer:
        rows.append(("writing", status.writer))
    for label, value in rows:
        say(f"{styled(f'{label:<11}', 'dim')} {harmless(value)}")


def size_text(size_bytes: int) -> str:
    """A size as people write it.

    >>> size_text(1_536_000)
    '1.5 MB'
    """
    size = float(size_bytes)
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"
