"""Hits → text for people: the document and its headings, the place, the passage. Scores are a percentage.

The hits of one document stand together, in the order of the best of each; a blank line stands between documents.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from kb.cli.blocks import CUT, blocks_of, choose
from kb.cli.explain import print_trace, score_details
from kb.cli.passage import passage_lines
from kb.cli.terminal import harmless_line, linked, say, shown_path, styled, tell
from kb.cli.wrap import columns_of, reading_columns
from kb.frozen import dataclass
from kb.records import Chunk, Hit, SearchResponse
from kb.symbols import term_spans

# Copies that are named under a hit.
MOST_COPIES = 3
# Hits of one document that are shown with their text; the others are named.
MOST_OF_A_DOCUMENT = 3
INDENT = 4
# From this probability on a hit is shown as a likely one.
LIKELY = 0.5
BETWEEN = " › "


@dataclass(frozen=True, slots=True)
class HitScreen:
    """What the printing of hits needs beside the response.

    chunks   of the hits, by id
    roots    the folder of each source, None where it has no files
    explain  show how each hit was found
    heading  name the query first
    """

    chunks: Mapping[int, Chunk]
    roots: Mapping[str, str | None]
    explain: bool = False
    heading: bool = False
    quiet: bool = False


def print_hits(response: SearchResponse, screen: HitScreen) -> None:
    """All hits, by document; where none is likely the nearest passages, marked as a guess."""
    if screen.heading:
        say(styled(f"? {harmless_line(response.query)}", "bold"))
    terms = frozenset(response.trace.query_terms) if response.trace else frozenset()
    hits = [*response.hits, *response.maybe]
    by_document: dict[int, list[Hit]] = {}
    for hit in hits:
        by_document.setdefault(hit.doc_id, []).append(hit)
    for at, group in enumerate(by_document.values()):
        if at:
            say()
        for place, hit in enumerate(group[:MOST_OF_A_DOCUMENT]):
            _print_hit(hit, screen, terms, is_first=place == 0, is_guess=not response.hits)
        _print_others(group[MOST_OF_A_DOCUMENT:])
    tell_empty(response, quiet=screen.quiet)
    if response.trace and screen.explain:
        print_trace(response.trace)


def _print_hit(hit: Hit, screen: HitScreen, terms: frozenset[str], *, is_first: bool, is_guess: bool) -> None:
    columns = reading_columns()
    room = max(columns - INDENT, 1) if columns else 0
    score = f"{'maybe ' if is_guess else ''}{100 * hit.score:.0f}%"
    title = _fit(_headings(hit, with_title=is_first), room - len(score) - 2 if room else 0)
    gap = " " * (room - columns_of(title) - len(score)) if room else "  "
    shown = styled(harmless_line(title), "bold")
    colour = "green" if hit.score >= LIKELY else "dim"
    say(f"{styled(f'{hit.rank:>2}', 'bold')}  {shown}{gap}{styled(score, colour)}")
    uri = linked(styled(harmless_line(hit.citation.uri), "cyan"), screen.roots.get(hit.source), hit.citation)
    say(f"    {uri}")
    if screen.explain:
        say(f"    {styled(score_details(hit), 'dim')}")
    spans_of = partial(term_spans, terms=terms)
    chunk = screen.chunks.get(hit.chunk_id)
    blocks = choose(blocks_of(chunk.text, hit.path, (hit.title, *hit.heading_path)), spans_of) if chunk else ()
    for line in passage_lines(blocks, room, spans_of):
        say(f"    {line}" if line else "")
    _print_copies(hit)


def _headings(hit: Hit, *, with_title: bool) -> list[str]:
    """Title and headings, outermost first, each once; without the title where it stands above already."""
    names = list(dict.fromkeys(name for name in (hit.title, *hit.heading_path) if name))
    if with_title or len(names) == 1:
        return names
    return ["", names[-1]]


def _fit(names: Sequence[str], room: int) -> str:
    """The names in one line: those in the middle give way first, then the title.

    >>> _fit(["The Book", "Errors", "The ? operator"], 30)
    'The Book › … › The ? operator'
    """
    whole = BETWEEN.join(names).lstrip()
    for shorter in (whole, BETWEEN.join([names[0], CUT, names[-1]]).lstrip(), names[-1]):
        if not room or columns_of(shorter) <= room:
            return shorter
    last = names[-1]
    while columns_of(last) > max(room - 1, 1):
        last = last[:-1]
    return last.rstrip() + CUT


def _print_copies(hit: Hit) -> None:
    """The other places of a hit's text, on one line."""
    if hit.also_in:
        named = {hit.citation.uri}
        places = []
        for copy in hit.also_in[:MOST_COPIES]:
            uri = copy.citation.uri
            # A folder that was ingested by two names has each file twice, at the same path.
            places.append(harmless_line(f"{uri} (source {copy.source})" if uri in named else uri))
            named.add(uri)
        more = len(hit.also_in) - len(places)
        say(styled(f"    also in {', '.join(places)}{f' and {more} more places' if more else ''}", "dim"))


def _print_others(hits: Sequence[Hit]) -> None:
    """Hits of a document beyond the first few: their numbers and lines, which is enough to open them."""
    if hits:
        places = [f"{hit.rank} {_line_of(hit)}".strip() for hit in hits]
        say(styled(f"    +{len(hits)} more here: {' · '.join(places)}", "dim"))


def _line_of(hit: Hit) -> str:
    cited = hit.citation
    return f"L{cited.start_line}" if cited.start_line else f"p.{cited.page}" if cited.page else ""


def tell_empty(response: SearchResponse, *, quiet: bool) -> None:
    """The line under an empty result: what was tried."""
    if response.note and not quiet:
        tell(f"note: {response.note}")
    if not response.hits and not quiet:
        tell(f"no hits. {response.hint}")


def print_paths(response: SearchResponse, roots: Mapping[str, str | None], *, quiet: bool = False) -> None:
    """One `path:line` a hit, for editors and fzf; without the line where the format has none."""
    for hit in response.hits:
        path = harmless_line(shown_path(roots.get(hit.source), hit.path))
        say(f"{path}:{hit.citation.start_line}" if hit.citation.start_line else path)
    tell_empty(response, quiet=quiet)
