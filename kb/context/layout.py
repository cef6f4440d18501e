"""Ranked passages, ranked paths and a token → the block that fits the budget, and how its tokens are spent. Pure.

Whatever the tokenizer: the block is counted as it stands, and what is too much for it goes, least first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kb.context.block import (
    OPENING,
    PATHS_TITLE,
    Quote,
    assemble,
    best_sentences,
    render_path,
    render_quote,
    render_token,
)
from kb.context.budget import PASSAGE_GAP, PATH_GAP, CountTokens, fill, split_budget
from kb.frozen import dataclass


@dataclass(frozen=True, slots=True)
class PathLine:
    """A path that may be shown.

    place  of it in its slice, from 0
    """

    place: int
    text: str
    score: float


@dataclass(frozen=True, slots=True)
class Layout:
    """A block and what it is made of; the tokens of each section are those of its text alone.

    path_tokens           with what the token's line takes of the graph's share, where it is longer than the overhead's
    lacks_room_for_paths  the slice has paths, and not one of them fits beside its token
    """

    text: str
    quotes: tuple[Quote, ...]
    paths: tuple[PathLine, ...]
    chunk_tokens: int
    path_tokens: int
    overhead_tokens: int
    lacks_room_for_paths: bool


def lay_out(
    quotes: Sequence[Quote],
    paths: Sequence[PathLine],
    slice_texts: Sequence[str],
    token: str | None,
    max_tokens: int,
    count: CountTokens,
    terms: frozenset[str] = frozenset(),
    *,
    lend_unused: bool = False,
) -> Layout:
    """Fill the shares of a budget, from the best of each section down.

    slice_texts  every path the token was issued for: whether its line is shown must not depend on which of them are
    terms        of the query, by which a passage that does not fit is shortened
    lend_unused  what graph and overhead leave goes to the passages
    """
    shares = split_budget(max_tokens)
    token_line = render_token(token) if token and slice_texts else ""
    # A token that is longer than its share takes from the graph's: without its line the paths would say nothing.
    around = _gaps(PATHS_TITLE, token_line) if token_line else ""
    path_room = shares.graph - max(0, count(around) - shares.overhead)
    lacks_room = bool(token_line) and not any(count(render_path(text)) <= path_room for text in slice_texts)
    if lacks_room:
        token_line = around = ""
    chosen = fill(paths if token_line else (), path_room, count, _render_line, gap=PATH_GAP)
    opening = OPENING if count(_gaps(OPENING, around)) <= shares.overhead else ""
    spent = count(_gaps(opening, around))
    used = count(PATH_GAP.join(map(_render_line, chosen))) if chosen else 0
    room = max_tokens - used - spent if lend_unused else shares.chunks
    taken = fill(quotes, room, count, render_quote, _shortener(terms, any_will_do=not chosen))
    text = ""
    while taken or chosen:
        text = assemble(opening, taken, [line.text for line in chosen], token_line)
        if count(text) <= max_tokens:
            break
        # Only a tokenizer that counts more in the whole than in the parts comes here.
        text, opening = "", "" if opening else opening
        if chosen:
            chosen.pop()
        else:
            taken.pop()
    around_tokens = count(_gaps(opening, around)) if text else 0
    borrowed = max(0, count(around) - shares.overhead) if text else 0
    return Layout(
        text=text,
        quotes=tuple(taken),
        paths=tuple(chosen),
        chunk_tokens=count(PASSAGE_GAP.join(map(render_quote, taken))) if taken else 0,
        path_tokens=borrowed + (count(PATH_GAP.join(map(_render_line, chosen))) if chosen else 0),
        overhead_tokens=min(around_tokens, shares.overhead),
        lacks_room_for_paths=lacks_room,
    )


def _gaps(*parts: str) -> str:
    """Parts with the gaps that will stand around them."""
    return "".join(f"{part}{PASSAGE_GAP}" for part in parts if part)


def _render_line(line: PathLine) -> str:
    return render_path(line.text)


def _shortener(terms: frozenset[str], *, any_will_do: bool) -> Callable[[Quote, Callable[[Quote], bool]], Quote | None]:
    """The longest run of whole sentences around the best one that fits.

    any_will_do  the first passage that is asked about, when nothing else was taken, need not hold a word of the query
    """
    asked = [0]

    def shorten(quote: Quote, fits: Callable[[Quote], bool]) -> Quote | None:
        asked[0] += 1
        longest: Quote | None = None
        for run in best_sentences(quote.chunk, terms, must_match=asked[0] > 1 or not any_will_do):
            if not fits(run):
                break
            longest = run
        return longest

    return shorten
