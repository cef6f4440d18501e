"""A chunk's text → the few lines worth showing for a query, with the words that matched. Pure; works on the original text."""

from __future__ import annotations

import re

from kb.symbols import term_spans

SNIPPET_CHARS = 320


def make_snippet(
    text: str, terms: frozenset[str], max_chars: int = SNIPPET_CHARS
) -> tuple[str, tuple[tuple[int, int], ...]]:
    """The stretch of a text that holds most of the query's terms.

    terms    index terms of the query
    returns  the snippet on one line, `…` where it was cut, and [start, end) offsets of the matches in it
    """
    start, end = _best_window(text, terms, max_chars)
    body = re.sub(r"\s+", " ", text[start:end]).strip()
    before = "… " if start > 0 else ""
    snippet = f"{before}{body}{' …' if end < len(text.rstrip()) else ''}"
    return snippet, tuple((a + len(before), b + len(before)) for a, b in term_spans(body, terms))


def _best_window(text: str, terms: frozenset[str], max_chars: int) -> tuple[int, int]:
    """[start, end) of the window with the most distinct matched words, the earliest of equals; cut at white space."""
    if len(text) <= max_chars:
        return 0, len(text)
    spans = term_spans(text, terms)
    best, best_score = 0, -1
    for i, (left, _) in enumerate(spans):
        inside = [text[a:b].casefold() for a, b in spans[i:] if b <= left + max_chars - 40]
        score = 3 * len(set(inside)) + min(len(inside), 3)
        if score > best_score:
            best, best_score = left, score
    start = max(0, best - 40)
    if start:
        space = re.search(r"\s", text[start:best])
        start += space.end() if space else 0
    end = min(len(text), start + max_chars)
    if end < len(text):
        cut = max(text.rfind(" ", start + max_chars // 2, end), text.rfind("\n", start + max_chars // 2, end))
        end = cut if cut > 0 else end
    return start, end
