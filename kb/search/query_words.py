"""A query → the terms that the lexical index is asked for: its words, symbols, Korean morphemes and counts.

A Korean question loses its frame first: question words, politeness, particles.
"""

from __future__ import annotations

import re

from kb.frozen import dataclass
from kb.index.protocol import LexicalIndex
from kb.language.korean_query import bare_word, without_frame
from kb.language.korean_segments import candidates, correct, corrections, forms_of, segment
from kb.language.morphemes import MARK, count_terms
from kb.symbols import symbol_terms
from kb.text import analyze, query_terms

_HANGUL_WORD = re.compile("[가-힣]+")


@dataclass(frozen=True, slots=True)
class QueryWords:
    """terms: index terms, repeats included. corrected: (as typed, as searched for) of each misspelt word."""

    terms: list[str]
    corrected: tuple[tuple[str, str], ...] = ()

    def note(self) -> str | None:
        """The corrections as words for the user."""
        if not self.corrected:
            return None
        return ", ".join(f"searched for {meant} instead of {typed}" for typed, meant in self.corrected)


def read_query(query: str, index: LexicalIndex | None = None) -> QueryWords:
    """The terms of a query.

    index  knows what there is; None leaves symbols, morphemes and corrections out
    """
    symbols = _known_symbols(query, index) if index else []
    if query.isascii() or not _HANGUL_WORD.search(query):
        return QueryWords(query_terms(query) + symbols)
    asked = without_frame(query)
    corrected = _correct_words(asked, index) if index else ()
    for typed, meant in corrected:
        asked = asked.replace(typed, meant)
    morphemes = _morphemes(asked, index) if index else []
    return QueryWords(query_terms(asked) + symbols + morphemes + count_terms(query), corrected)


def _known_symbols(query: str, index: LexicalIndex) -> list[str]:
    """The symbols of a query that the index holds. Others are no evidence that an answer is missing: a user who writes
    `#budget` or *now* asks for the word.
    """
    symbols = list(dict.fromkeys(symbol_terms(query)))
    held = index.statistics(symbols).frequencies() if symbols else {}
    return [symbol for symbol in symbols if held.get(symbol)]


def _morphemes(asked: str, index: LexicalIndex) -> list[str]:
    stems = [bare_word(word) for word in _HANGUL_WORD.findall(asked)]
    holding = index.statistics([term for stem in stems for term in candidates(stem)]).holding["text"]
    return [term for stem in stems for term in segment(stem, holding)]


def _correct_words(asked: str, index: LexicalIndex) -> tuple[tuple[str, str], ...]:
    words = list(dict.fromkeys(bare_word(word) for word in _HANGUL_WORD.findall(asked)))
    sought = [term for word in words for term in (*analyze(word), *forms_of(word))]
    holding = index.statistics(sought).holding["text"]
    found = []
    for word in words:
        is_known = all(holding[pair] for pair in analyze(word)) or any(holding[form] for form in forms_of(word))
        others = [] if is_known else [f"{MARK}{other}" for other in corrections(word)]
        meant = correct(word, index.statistics(others).holding["text"]) if others else None
        if meant:
            found.append((word, meant))
    return tuple(found)
