"""A chunk's text → the few lines worth showing for a query, with the words that matched. Pure; works on the original text."""

from __future__ import annotations

from kb.symbols import term_spans

SNIPPET_CHARS = 320


def make_snippet(
    text: str, terms: frozenset[str], max_chars: int = SNIPPET_CHARS
) -> tuple[str, tuple[tuple[int, int], ...]]:
    """The stretch of a text that holds most of the query's terms.

    terms    index terms of the query
    returns  the snippet on one line, `…` where it was cut, and [start, end) offsets of the matches in it
    """
    flat = " ".join(text.split())  # a seventh of the time of a pattern
    spans = term_spans(flat, terms)
    start, end = _best_window(flat, spans, max_chars)
    body = flat[start:end].strip()
    start += flat[start:end].index(body)
    end = start + len(body)
    if any(a < edge < b for a, b in spans for edge in (start, end)):  # a script without spaces, cut within a match
        inside = [(a + start, b + start) for a, b in term_spans(body, terms)]
    else:
        inside = [(a, b) for a, b in spans if start <= a and b <= end]
    before = "… " if start > 0 else ""
    snippet = f"{before}{body}{' …' if end < len(flat) else ''}"
    return snippet, tuple((a - start + len(before), b - start + len(before)) for a, b in inside)


def _best_window(text: str, spans: list[tuple[int, int]], max_chars: int) -> tuple[int, int]:
    """[start, end) of the window with the most distinct matched words, the earliest of equals; cut at white space."""
    if len(text) <= max_chars:
        return 0, len(text)
    best, best_score = 0, -1
    words = [text[a:b].casefold() for a, b in spans]
    last = 0  # behind the window
    for first, (left, _) in enumerate(spans):
        while last < len(spans) and spans[last][1] <= left + max_chars - 40:
            last += 1
        score = 3 * len(set(words[first:last])) + min(last - first, 3) if last > first else 0
        if score > best_score:
            best, best_score = left, score
    start = max(0, best - 40)
    if start:
        start = text.find(" ", start, best) + 1 or start
    end = min(len(text), start + max_chars)
    if end < len(text):
        cut = text.rfind(" ", start + max_chars // 2, end)
        end = cut if cut > 0 else end
    return start, end
