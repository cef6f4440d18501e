"""Text → the normal form that texts are compared in: NFKC, small letters, one space, without Markdown's marks.

Marks go only where Markdown reads them as marks and no code or name is lost: `snake_case`, `__init__`, `a * b`, `*args`,
`#include` and `List`1` stay. Every rule looks only at the characters beside a mark or at the start of its line, never for
a partner far away, so that a stretch cut out of a text has the same normal form as in the text.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

# Each begins with the mark itself, so that the search jumps from one to the next; what stands before it is looked up
# from behind the mark. Backticks, unless between two ASCII letters or digits; two or three asterisks at the edge of a
# word; one asterisk before a word and one after it.
_BACKTICKS = re.compile(r"`(?:(?<![a-z0-9`]`)`*+|(?<=[a-z0-9]`)`*+(?![a-z0-9]))")
_DOUBLE_STARS = re.compile(r"\*\*(?:(?<![a-z0-9*/]\*\*)\*?(?=[^\s*/])|(?<=[^\s*/]\*\*)\*?(?![a-z0-9*/]))")
_STARRED_WORD = re.compile(r"\*(?<![^\s(\[\"']\*)([^\s*]++)\*(?![a-z0-9_*/(])")
# Rows of tables; lines of nothing but rules; what headings, quotes and bullets begin with. A line is found by the line
# break before it: faster than looking for `^`.
_TABLE_ROW = re.compile(r"\n[ \t]*\|.*")
_LINE_MARKS = re.compile(
    r"\n[ \t]*(?:[-=*_|:+~][-=*_|:+~ \t\r]*+(?![^\n])|(?:(?:#{1,6}|[-+*•])(?:[ \t\r]+|(?![^\n]))|>(?!=)[ \t]*)+)"
)
_LINE_STARTS = frozenset("#-+*•>|=_:~ ")

# Marks nested deeper than this are not prose; such text loses all of its asterisks and backticks.
_DEEPEST = 8


def normalize(text: str) -> str:
    """The normal form of a text; that of a normal form is itself.

    >>> normalize("## Set  `max_tokens`\\n- **５００** is *enough*\\n- a * b, __init__")
    'set max_tokens 500 is enough a * b, __init__'
    """
    return normal_words(text)[0]


def normal_words(text: str) -> tuple[str, list[str]]:
    """The normal form and what stands between its spaces."""
    words = _without_marks(text.lower() if text.isascii() else _fold(text)).split()
    line = " ".join(words)
    # Removing marks can uncover marks inside them, as in `**- a**`: repeat on what is now one line.
    for _ in range(_DEEPEST):
        if not _may_hold_marks(line) or (again := _without_marks(line)) == line:
            return line, words
        words = again.split()
        line = " ".join(words)
    return normal_words(line.replace("*", " ").replace("`", " "))


def _fold(text: str) -> str:
    # Small letters of a normal form need not be one: İ becomes i with a dot above.
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).lower())


def _may_hold_marks(line: str) -> bool:
    return "`" in line or "*" in line or line[:1] in _LINE_STARTS


def _without_marks(text: str) -> str:
    if "`" in text:
        text = _BACKTICKS.sub("", text)
    if "*" in text:
        text = _STARRED_WORD.sub(r"\1", _DOUBLE_STARS.sub("", text))
    text = f"\n{text}"
    if "|" in text:
        text = _TABLE_ROW.sub(lambda row: row.group().replace("|", " "), text)
    return _LINE_MARKS.sub("\n", text)[1:]


@cache
def _unspaced() -> re.Pattern[str]:
    """Characters of scripts written without spaces, Korean not among them: Thai, Lao, Myanmar, Khmer, kana, Han."""
    return re.compile(
        "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3041-\u30ff\u31f0-\u31ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
    )


def has_unspaced(normalized: str) -> bool:
    """True where some words have no space between them."""
    return not normalized.isascii() and _unspaced().search(normalized) is not None


def spaced(normalized: str) -> str:
    """A normal form with a space around each character of a script that has none between words.

    >>> spaced("kb는 日本語")
    'kb는 日 本 語'
    """
    if not has_unspaced(normalized):
        return normalized
    return " ".join(_unspaced().sub(r" \g<0> ", normalized).split())
