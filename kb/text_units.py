"""Text → where its units of length begin: about one English token, and about as much text in every language.

Independent of every encoder and language model, so that chunks are the same whichever encoder is configured. Their
tokenizers do not compare over languages: one of English vocabulary needs two tokens for a Korean syllable.
"""

from __future__ import annotations

import re
from functools import cache

# A word of an alphabet is a unit per nine letters. With English WordPiece's own count as 1: abstracts 1.01, mixed prose
# 1.03, technical prose .97, Python .94, Markdown with much code .93 (medians over pieces of 800 characters).
_LETTERS_PER_UNIT, _DIGITS_PER_UNIT = 9, 3

_HANGUL, _HAN, _KANA = "\u1100-\u11ff\u3131-\u318e\ua960-\ua97f\uac00-\ud7ff", "\u3005-\u3007\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff", "\u3041-\u30ff\u31f0-\u31ff"  # fmt: skip
_SOUTHEAST_ASIAN = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
# Characters per ten units, by script. Hangul: 95 pages of documentation in both languages, 20 [19, 21], code blocks in or
# out. The others by the usual lengths of translations from English.
_CHARS_PER_TEN = {_HANGUL: 20, _HAN: 14, _KANA: 22, _SOUTHEAST_ASIAN: 40}
# Marks that belong to the letter before them but are no \w.
_MARKS = "\u0300-\u036f\u0483-\u0489\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u0900-\u0963\u0966-\u0dff\u0f00-\u0fff"

_ASCII_UNITS = re.compile(rf"[A-Za-z]{{1,{_LETTERS_PER_UNIT}}}|\d{{1,{_DIGITS_PER_UNIT}}}|[^\w\s]|_", re.ASCII)


@cache
def _units() -> re.Pattern[str]:
    dense = "".join(_CHARS_PER_TEN)
    return re.compile(
        rf"(?:[^\W\d_{dense}]|[{_MARKS}]){{1,{_LETTERS_PER_UNIT}}}|\d{{1,{_DIGITS_PER_UNIT}}}|[^\w\s{dense}]|_"
    )


@cache
def _dense() -> tuple[tuple[re.Pattern[str], int], ...]:
    return tuple((re.compile(f"[{letters}]"), per_ten) for letters, per_ten in _CHARS_PER_TEN.items())


def unit_starts(text: str) -> list[int]:
    """Character offset where each unit of a text begins, ascending.

    >>> unit_starts("A section, 구역입니다")
    [0, 2, 9, 11, 13, 15]
    """
    if text.isascii():
        return [match.start() for match in _ASCII_UNITS.finditer(text)]
    starts = [match.start() for match in _units().finditer(text)]
    for pattern, per_ten in _dense():
        places = [match.start() for match in pattern.finditer(text)]
        starts += [places[i * per_ten // 10] for i in range(-(-len(places) * 10 // per_ten))]
    return sorted(set(starts))
