"""How hits were found → lines for --explain: the scores of each hit, and what happened inside a search."""

from __future__ import annotations

from kb.cli.terminal import harmless_line, say, styled
from kb.records import Hit, RankedChunk, SearchTrace, StabilityTrace


def score_details(hit: Hit) -> str:
    """The probability, the score that orders with its kind, and what each retriever said."""
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
