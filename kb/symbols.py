r"""Text → the symbols in it as index terms: operators, and names with the signs that belong to them.

`?`, `->`, `&str`, `*args`, `'static`, `@dataclass`, `#[derive]`, `$HOME`, `vec!`, `.gitignore`, `--no-cache`, `std::env`. A symbol
stands alone between blanks, backticks or quotation marks, or is attached to a name. The punctuation of prose, bullets,
rules, and the marks of headings and emphasis are none. Words are those of kb.text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import pairwise

from kb.text import analyze, match_spans

# Raise when a symbol changes: indexes built by another version are rebuilt.
SYMBOLS_VERSION = 1

_NAME = r"[A-Za-z_]\w*"
# Every symbol has one of these.
_SIGN = re.compile(r"[!-/:-@\[-^`{-~]")
# Behind a word and before a blank, or between two letters: no symbol begins so.
_PUNCTUATION = re.compile(r"(?<=\w)(?:[?!.,;:]+(?!\S)|['.\-/:,](?=\w))", re.ASCII)
_SIGNS = r"[!#$%&*+\-./:<=>?@\\^|~;,()\[\]{}_]{1,6}"
_OPERATORS = "-> => <- |> ->> :: == != <= >= !== <=> && || ?? ?. << >> += -= *= /= %= |= &= ^= := .. ..= =~ ~=".split()
# Signs that stand alone between the words of a line. A bare dash, bar, slash or colon is punctuation; so is a bare
# ? or ! before a capital or the end of a line.
_BARE = "=== ++ ** & * + = < > % ~ ^ @ $ # \\".split()
_QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’"}
# Names with their signs. After the first sign comes what may not stand before it.
_SIGNED_NAMES = (
    r"-(?<![^\s`(\[\"']-)-?[A-Za-z][\w-]*",
    r"\.(?<![\w.]\.)[A-Za-z][\w.-]*\b",
    rf"&(?<![\w&]&){_NAME}\b(?!;)",
    # Not emphasis, which has a closing mark further on in the line.
    rf"\*(?<![\w*\\]\*)\*?{_NAME}\b(?!\*)(?![^\n]{{0,200}}[^\s*(,`]\*)",
    # Not a quotation, nor the end of "rock 'n' roll" or "it 's".
    r"'(?<![\w']')(?!(?:s|t|d|m|n|ll|re|ve|em|tis|twas)\b)[a-z_]\w*(?!['\w])(?![^\n']{0,200}'(?!\w))",
    rf"@(?<![\w@]@){_NAME}(?:\.{_NAME})*",
    rf"#!?\[{_NAME}",
    rf"#(?<![\w&#(/]#){_NAME}",
    rf"\$(?<![\w$\\]\$)\{{?{_NAME}(?!\w*\$)",
)


@cache
def _signs() -> re.Pattern[str]:
    """Symbols that begin with a sign; a group, where it matched, is the symbol without its quotation marks.

    Each alternative begins with one literal character, so that `re` skips to these. The classes are ASCII: Korean
    particles may stand directly behind a symbol.
    """
    literal = re.escape
    operators = sorted(_OPERATORS, key=len, reverse=True)
    alternatives = [
        rf"`(?<![^\s(\[*_\"'\x80-\uffff]`)({_SIGNS})`(?!`)",
        *(rf"{first}(?<!\w{first})({_SIGNS}){last}(?!\w)" for first, last in _QUOTES.items()),
        *(rf"{literal(o[0])}(?<!\S{literal(o[0])}){literal(o[1:])}(?!\S)" for o in operators),
        *(rf"{literal(s[0])}(?<=[^\s#>*+-][ ]{literal(s[0])}){literal(s[1:])}(?=[ ]\S)" for s in _BARE),
        *(rf"{literal(s)}(?<!\S{literal(s)})(?=[ ][a-z\d\x80-\uffff])" for s in "?!"),
        *_SIGNED_NAMES,
    ]
    return re.compile("|".join(alternatives), re.ASCII)


@cache
def _names() -> re.Pattern[str]:
    """Paths of names, and names of macros."""
    return re.compile(rf"\b{_NAME}(?:(?:::{_NAME})+|!(?=[(\[{{`]))", re.ASCII)


def find_symbols(text: str) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    """Every symbol as (start, end, its terms), those that begin with a sign first.

    Of a path of names, each two neighbours are a term as well.
    """
    if not _SIGN.search(text) or not _SIGN.search(_PUNCTUATION.sub("", text)):
        return  # before the patterns are compiled, which takes 8 ms of a search for plain words
    for match in _signs().finditer(text):
        group = match.lastindex or 0
        yield match.start(group), match.end(group), _terms(match.group(group))
    if "::" in text or "!" in text:
        for match in _names().finditer(text):
            yield match.start(), match.end(), _terms(match.group())


def _terms(found: str) -> tuple[str, ...]:
    symbol = found.lower()
    if symbol.startswith(("#[", "#![")):
        return (f"#[{symbol[symbol.index('[') + 1 :]}]",)
    if symbol.startswith("${"):
        return (f"${symbol[2:]}",)
    names = symbol.split("::")
    if len(names) > 2 and all(names):
        return (symbol, *(f"{first}::{second}" for first, second in pairwise(names)))
    return (symbol,)


def symbol_terms(text: str) -> list[str]:
    """The symbols of a text as terms, in order; a text that is nothing but signs is one symbol.

    >>> symbol_terms("What does the ? operator do with `&str` and std::env?")
    ['?', '&str', 'std::env']
    """
    alone = text.strip()
    if re.fullmatch(_SIGNS, alone):
        return [alone]
    return [term for _, _, terms in find_symbols(text) for term in terms]


def index_terms(text: str) -> list[str]:
    """The terms of a text for an index: its words, then its symbols."""
    return analyze(text) + symbol_terms(text)


@lru_cache(maxsize=4)
def _may_be_symbols(terms: frozenset[str]) -> bool:
    """Whether any of the terms has a sign, as every symbol has: looking for symbols takes longer than looking for words."""
    return any(not term.replace("_", "").isalnum() for term in terms)


def term_spans(text: str, terms: frozenset[str]) -> list[tuple[int, int]]:
    """Where any of the index terms stands in a text, symbols included: [start, end) in order, not overlapping."""
    spans = match_spans(text, terms)
    if not _may_be_symbols(terms):
        return spans
    spans += [(start, end) for start, end, found in find_symbols(text) if not terms.isdisjoint(found)]
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged
