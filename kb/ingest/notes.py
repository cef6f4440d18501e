"""A document's chunks → a gist of its own sentences, and its open list items. Pure.

Deterministic and without a model: a sentence scores by the frequency of its words in the document, for its length, with
a bonus for standing near the front.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

from kb.drafts import DocumentNotes, OpenItem
from kb.language.sentences import LONGEST_CHARS, Sentence, sentences_of
from kb.llm.protocol import Evidence
from kb.text import STOP_WORDS, analyze, estimate_tokens

# Raised when the same text would give another gist: the next ingest then makes all of them again.
NOTES_VERSION = 1
# A long document says what it is about in its first 2,400 tokens; reading on costs time for every document.
GIST_CHUNKS = 12
# Two or three sentences: the estimate for this node is 500 tokens, and five documents hit are a common case.
GIST_TOKENS = 90
GIST_SENTENCES = 3
# Share of its score that the first sentence gets on top; it falls to 0 at the last sentence.
FRONT_BONUS = 0.5
# A sentence with fewer content words says nothing on its own ("See below.").
LEAST_TERMS = 3
# A sentence that shares so many of its words with the chosen ones adds nothing.
SAID_ALREADY = 0.6

_OPEN_ITEM = re.compile(r"^[ \t>]*(?:[-*+]|\d{1,3}[.)])[ \t]+\[ \][ \t]+(\S.*?)[ \t]*$", re.MULTILINE)
_FENCE = re.compile(r"^[ \t>]*(?:```|~~~)", re.MULTILINE)
# An item longer than this is a paragraph; its beginning says what is to be done.
ITEM_CHARS = 200


def make_notes(chunks: Sequence[tuple[str, int | None]], document_type: str) -> DocumentNotes:
    """The notes of a document.

    chunks         (text, first line or None), in order
    document_type  "code" gives no open items: comments in source code only look like task lists
    """
    texts = [text for text, _ in chunks]
    items = () if document_type == "code" else find_open_items(chunks)
    return DocumentNotes(version=NOTES_VERSION, gist=make_gist(texts), open_items=items)


def make_gist(texts: Sequence[str]) -> str:
    """The best sentences of a document, in its own order, as one line; empty when it has no prose."""
    evidence = [Evidence(number, text) for number, text in enumerate(texts[:GIST_CHUNKS], start=1)]
    prose = [s for s in sentences_of(evidence) if s.kind == "prose" and not s.is_question()]
    terms = [_content(sentence.text) for sentence in prose]
    counts = Counter(term for found in terms for term in found)
    ranked = sorted(range(len(prose)), key=lambda i: (-_worth(i, terms[i], counts, len(prose)), i))
    chosen: list[int] = []
    said: set[str] = set()
    used = 0
    for i in ranked:
        size = estimate_tokens(prose[i].text)
        is_new = not terms[i] or len(terms[i] & said) / len(terms[i]) < SAID_ALREADY
        if len(terms[i]) >= LEAST_TERMS and is_new and (not chosen or used + size <= GIST_TOKENS):
            chosen.append(i)
            said |= terms[i]
            used += size
        if len(chosen) == GIST_SENTENCES:
            break
    return " ".join(_one_line(prose[i]) for i in sorted(chosen))


def _content(sentence: str) -> frozenset[str]:
    return frozenset(term for term in analyze(sentence) if term not in STOP_WORDS and len(term) > 1)


def _worth(position: int, terms: frozenset[str], counts: Counter[str], total: int) -> float:
    """Score of a sentence: its words by their frequency; words that occur once in the document count 0."""
    if not terms:
        return 0.0
    # The root of its length: the plain mean takes the shortest sentence, the plain sum the longest.
    density = sum(counts[term] - 1 for term in terms) / math.sqrt(len(terms))
    return (density + 0.1) * (1 + FRONT_BONUS * (1 - position / total))


def _one_line(sentence: Sentence) -> str:
    return " ".join(sentence.text.split())[:LONGEST_CHARS]


def find_open_items(chunks: Sequence[tuple[str, int | None]]) -> tuple[OpenItem, ...]:
    """Every `- [ ]` line of a document that stands outside code, in order.

    >>> find_open_items([("- [ ] call Ana\\n- [x] done", 4)])
    (OpenItem(line=4, text='call Ana'),)
    """
    found = []
    for text, first_line in chunks:
        if "[ ]" not in text:
            continue
        fences = [match.start() for match in _FENCE.finditer(text)]
        for match in _OPEN_ITEM.finditer(text):
            if sum(fence < match.start() for fence in fences) % 2 == 0:
                line = None if first_line is None else first_line + text.count("\n", 0, match.start())
                found.append(OpenItem(line, match[1][:ITEM_CHARS]))
    return tuple(found)
