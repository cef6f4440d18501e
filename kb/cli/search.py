"""kb search"""

from __future__ import annotations

import io
import sys
from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Annotated, cast

import typer

from kb.cli.hits import HitScreen, print_hits, print_paths
from kb.cli.invocation import Invocation, command, is_interactive
from kb.cli.known_text import KnownTextOption, read_known_text_option
from kb.errors import ExitCode, InvalidInput
from kb.records import Filters
from kb.store.last_shown import ShownPlace, note_shown
from kb.store.recent_searches import FoundPlace, note_search

if TYPE_CHECKING:  # an annotation alone
    from kb.library import KnowledgeBase

# Queries of one batch of the encoder, and bytes of standard input that are read at once.
ENCODED_AHEAD = 32
READ_BYTES = 65_536

ModeOption = Annotated[
    str | None, typer.Option("--mode", metavar="MODE", help="lexical, vector or hybrid", show_default=False)
]
ExpandTagsOption = Annotated[
    bool, typer.Option("--expand-tags", help="hybrid: documents with the query's tags join as one more list")
]
KOption = Annotated[
    int | None, typer.Option("-k", "-n", "--limit", metavar="N", help="how many at most", show_default=False)
]


def check_expand_tags(wanted: bool, mode: str) -> None:
    """Refuse --expand-tags where there is no list to join: tags come beside two others."""
    if wanted and mode != "hybrid":
        raise InvalidInput(f"--expand-tags has no list to join in mode {mode}", fix="use --mode hybrid")


@command
def search(
    invocation: Invocation,
    filters: Filters,
    words: Annotated[
        list[str] | None, typer.Argument(metavar="QUERY…", help="words, an identifier or a question")
    ] = None,
    mode: ModeOption = None,
    k: KOption = None,
    min_score: Annotated[
        float | None, typer.Option("--min-score", metavar="S", help="leave out hits below it", show_default=False)
    ] = None,
    explain: Annotated[bool, typer.Option("--explain", help="show both lists, ranks, raw scores and times")] = False,
    paths: Annotated[bool, typer.Option("--paths", help="print path:line, for editors and fzf")] = False,
    expand_tags: ExpandTagsOption = False,
    rerank: Annotated[
        bool, typer.Option("--rerank", help="have the reader order the hits: 0.5 s more, English by default")
    ] = False,
    window: KnownTextOption = None,
    bulk: Annotated[bool, typer.Option("--bulk", help="read one query a line from standard input")] = False,
) -> None:
    """Find passages: ranked hits with exact citations."""
    config = invocation.config(search__mode=mode, search__k=k, search__expand_tags=True if expand_tags else None)
    check_expand_tags(expand_tags, config.search.mode)
    query = " ".join(words) if words else None
    if bulk == (query is not None):
        problem = "--bulk reads its queries from standard input" if bulk else "no query given"
        raise InvalidInput(problem, fix="kb search borrow checker, or: kb search --bulk < queries.txt")
    if bulk and "-" in (window or ()):
        raise InvalidInput("--bulk and --seen - both read standard input", fix="give the seen text as a file")
    known_text = read_known_text_option(invocation, config, window)
    batches = _batches_from_stdin() if bulk else [[query or ""]]
    is_read = not (paths or invocation.json)  # by a person, who is shown passages
    any_hit = False
    with invocation.base(config) as base:
        roots = {} if invocation.json else base.runtime().corpus.source_roots()
        for text in _encoded_ahead(base, batches, config.search.mode):
            response = base.search(
                text,
                filters=filters,
                min_score=min_score,
                seen=known_text,
                explain=explain,
                rerank=rerank,
                trace=is_read,
            )
            any_hit = any_hit or bool(response.hits)
            if paths and not invocation.json:
                print_paths(response, roots, quiet=invocation.quiet)
                continue
            hits = (*response.hits, *response.maybe)
            chunks = base.chunks([hit.chunk_id for hit in hits]) if is_read else {}
            screen = HitScreen(chunks, roots, explain=explain, heading=bulk, quiet=invocation.quiet)
            invocation.emit(response, partial(print_hits, screen=screen), flush=bulk)
            if is_read and not bulk:
                note_shown(invocation.home, [ShownPlace(hit.rank, hit.source, hit.citation.uri) for hit in hits])
                if is_interactive():  # a person's search, no script's
                    places = [FoundPlace(hit.source, hit.citation.uri) for hit in hits]
                    note_search(invocation.home, text, places, config.history.keep_commands)
    if not any_hit:
        raise typer.Exit(ExitCode.NOTHING)


def _batches_from_stdin() -> Iterator[list[str]]:
    """Queries, one a line, in batches of those that have come: a program that writes one and waits gets its answer."""
    stream = cast(io.BufferedReader, sys.stdin.buffer)
    rest = b""
    while piece := stream.read1(READ_BYTES):
        *lines, rest = (rest + piece).split(b"\n")
        yield from _batches_of(lines)
    yield from _batches_of([rest])


def _batches_of(lines: list[bytes]) -> Iterator[list[str]]:
    texts = [line.decode(sys.stdin.encoding, sys.stdin.errors or "strict").rstrip("\r") for line in lines]
    queries = [text for text in texts if text.strip()]
    for start in range(0, len(queries), ENCODED_AHEAD):
        yield queries[start : start + ENCODED_AHEAD]


def _encoded_ahead(base: KnowledgeBase, batches: Iterable[list[str]], mode: str) -> Iterator[str]:
    """The queries of each batch; where vectors are asked for, those of several are made at once."""
    for batch in batches:
        if len(batch) > 1 and mode != "lexical":
            base.runtime().encode_ahead(batch)
        yield from batch
