"""What stands raised in a text, `2<sup>n</sup>` → how plain text writes it: 2^n. Pure.

Without its tag it would be another number: 2n, 27. Ordinals, trade marks and the numbers of footnotes stay as they are.
"""

from __future__ import annotations

import re

# A longer one is a remark, no exponent.
_MOST_CHARS = 12
_EXPONENT = re.compile(r"[−–+-]?(?:\d+(?:[.,/]\d+)?|[A-Za-z])")
# "2n − 1": of numbers and single letters, with signs between.
_TERM = re.compile(r"[\d\s()+−–*/·.-]*(?:(?<![A-Za-z])[A-Za-z](?![A-Za-z])[\d\s()+−–*/·.-]*)*")
# What can have an exponent: a number, a unit or a variable, or what is in brackets. "word" with a number has a footnote.
_BASE = re.compile(r"(?:[\d)\]]|(?<![^\W\d_])[^\W\d_]{1,3})$")


def raised(before: str, text: str) -> str:
    """How a raised text is written behind what stands before it.

    >>> raised("2", "n"), raised("2", "n − 1"), raised("5 km", "2"), raised("10", "−3")
    ('^n', '^(n − 1)', '^2', '^−3')
    >>> raised("the 1", "st"), raised("as was shown", "3"), raised("Brand", "TM"), raised("said.", "[2]")
    ('st', '3', 'TM', '[2]')
    """
    bare = text.strip()
    if not bare or len(bare) > _MOST_CHARS or not _BASE.search(before):
        return text
    if _EXPONENT.fullmatch(bare):
        return f"^{bare}"
    return f"^({bare})" if _TERM.fullmatch(bare) and re.search(r"[\dA-Za-z]", bare) else text
