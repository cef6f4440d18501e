"""Records → text for people: documents, status. Text from documents is made harmless before it is printed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kb.cli.terminal import harmless, harmless_line, say, styled
from kb.cli.wrap import terminal_columns, wrap_spans
from kb.search.depth import vectors_text

if TYPE_CHECKING:  # annotations alone
    from kb.cli.views import DocumentList
    from kb.status import Status


def print_documents(listed: DocumentList) -> None:
    """One line for each document: id, type, chunks, language, path, title."""
    if not listed.documents:
        return
    widths = [max(10, *(len(d.type) for d in listed.documents)), max(len(d.source) for d in listed.documents)]
    # A path is what a search prints; which source it is of is said where there are several.
    has_sources = len({d.source for d in listed.documents}) > 1
    source_head = f"{'source':<{widths[1]}}  " if has_sources else ""
    say(styled(f"{'id':>6}  {'type':<{widths[0]}} {'chunks':>6}  {'lang':<4}  {source_head}path · title", "dim"))
    for d in listed.documents:
        source = f"{harmless_line(d.source):<{widths[1]}}  " if has_sources else ""
        say(
            f"{d.doc_id:>6}  {d.type:<{widths[0]}} {len(d.chunk_ids):>6}  {d.language:<4}  {source}"
            f"{harmless_line(d.path)} · {styled(harmless_line(d.title), 'dim')}"
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
    columns = terminal_columns()
    for label, value in rows:
        text = harmless(value)
        for at, (start, end) in enumerate(wrap_spans(text, columns and max(columns - 12, 20))):
            say(f"{styled((label if at == 0 else '').ljust(11), 'dim')} {text[start:end]}")


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
