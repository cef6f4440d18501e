"""A passage → the stretch of it that a reader is given: the sentences that hold most of the question's words. Pure.

Reading costs time by the token, and more than half of a passage is not about the question.
"""

from __future__ import annotations

from collections.abc import Collection

from kb.text import analyze, split_sentences


def best_window(terms: Collection[str], text: str, most_chars: int) -> str:
    """The run of whole sentences of at most `most_chars` that holds most different terms; of equal ones the first.

    terms    index terms of the question
    returns  the text itself where it is short enough; one sentence that is longer is cut

    >>> best_window(["dome"], "The mirror is cleaned in May. The dome is opened at dusk. It rains.", 30)
    'The dome is opened at dusk.'
    """
    if len(text) <= most_chars:
        return text
    spans = split_sentences(text)
    held = [frozenset(analyze(text[start:end])).intersection(terms) for start, end in spans]
    best = (0, 0, 0)
    most = (-1, 0)
    for first, (start, _) in enumerate(spans):
        last = first
        while last + 1 < len(spans) and spans[last + 1][1] - start <= most_chars:
            last += 1
        found = frozenset[str]().union(*held[first : last + 1])
        # Of windows with the same words, the one whose first sentence holds some: what follows it is its context.
        score = len(found), len(held[first])
        if score > most:
            most, best = score, (start, spans[last][1], first)
    return text[best[0] : min(best[1], best[0] + most_chars)]
