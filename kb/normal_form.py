"""Text → the normal form that texts are compared in: NFKC, small letters, one space, without Markdown's marks.

Marks go only where Markdown reads them as marks and no code or name is lost: `snake_case`, `__init__`, `a * b`, `*args`,
`#include` and `List`1` stay. Every rule looks only at the characters beside a mark or at the start of its line, never for
a partner far away, so that a stretch cut out of a text has the same normal form as in the text.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

_BACKTICKS = re.compile(r"(?<![a-z0-9`])`+|`+(?![a-z0-9`])")
_DOUBLE_STARS = re.compile(r"(?<![a-z0-9*/])\*{2,3}(?=[^\s*/])|(?<=[^\s*/])\*{2,3}(?![a-z0-9*/])")
_STARRED_WORD = re.compile(r"(?<![^\s(\[\"'])\*([^\s*]+)\*(?![a-z0-9_*/(])")
_TABLE_ROW = re.compile(r"^[ \t]*\|.*$", re.MULTILINE)
# Lines of nothing but rules; and what headings, quotes and bullets begin with.
_LINE_MARKS = re.compile(
    r"^[ \t]*[-=*_|:+~][-=*_|:+~ \t]*$|^[ \t]*(?:(?:#{1,6}|[-+*•])(?:[ \t]+|$)|>(?!=)[ \t]*)+", re.MULTILINE
)
_LINE_STARTS = frozenset("#-+*•>|=_:~ ")


def normalize(text: str) -> str:
    """The normal form of a text; that of a normal form is itself.

    >>> normalize("## Set  `max_tokens`\\n- **５００** is *enough*\\n- a * b, __init__")
    'set max_tokens 500 is enough a * b, __init__'
    """
    folded = text.lower() if text.isascii() else _fold(text)
    found = " ".join(_without_marks(folded).split())
    # A mark that stood inside others comes to light: `**- a**`. Once more then, on what is now one line.
    while _may_hold_marks(found):
        again = " ".join(_without_marks(found).split())
        if again == found:
            break
        found = again
    return found


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
    if "|" in text:
        text = _TABLE_ROW.sub(lambda row: row.group().replace("|", " "), text)
    return _LINE_MARKS.sub("", text)


@cache
def _unspaced() -> re.Pattern[str]:
    """Characters of scripts written without spaces, Korean not among them: Thai, Lao, Myanmar, Khmer, kana, Han."""
    return re.compile(
        "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3041-\u30ff\u31f0-\u31ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
    )


def spaced(normalized: str) -> str:
    """A normal form with a space around each character of a script that has none between words.

    >>> spaced("kb는 日本語")
    'kb는 日 本 語'
    """
    if normalized.isascii() or not _unspaced().search(normalized):
        return normalized
    return " ".join(_unspaced().sub(r" \g<0> ", normalized).split())
