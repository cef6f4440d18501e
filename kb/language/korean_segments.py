"""A Korean word of a query → the morphemes of it that an index holds; or, for a misspelt word, the one it was meant to be.

The vocabulary is the index itself: a morpheme that no chunk holds finds nothing. So a query needs no morphological
analyzer, which would take a second to load. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import NamedTuple

from kb.language.korean import TIME
from kb.language.morphemes import LIGHT, MARK

# A longer word is not divided; the number of its stretches grows with the square.
MOST_SYLLABLES = 12
# A shorter word has many neighbours by one letter.
FEWEST_SYLLABLES_TO_CORRECT = 3
# A syllable of Hangul is FIRST + (initial · 21 + vowel) · 28 + final, by code point; final 0 is none.
_FIRST, _INITIALS, _VOWELS, _FINALS = 0xAC00, 19, 21, 28
# Finals that an ending puts under the last syllable of a verb's stem: ㄴ ㄹ ㅂ ㅆ.
_OF_ENDINGS = frozenset((4, 8, 17, 20))
_NIEUN, _RIEUL, _SSANG_SIOT = 4, 8, 20
# A vowel that an ending has merged with → the vowel of the stem: ㅕ → ㅣ, ㅘ → ㅗ, ㅝ → ㅜ.
_MERGED = {6: 20, 9: 8, 14: 13}


class _Way(NamedTuple):
    """One way to cover the beginning of a word: covered syllables, minus the number of morphemes, the morphemes."""

    covered: int
    fewness: int
    morphemes: tuple[str, ...]


def candidates(word: str) -> list[str]:
    """The marked terms that `segment` asks the index about."""
    return [f"{MARK}{form}" for _, _, forms in _stretches(word) for form in forms]


def forms_of(word: str) -> list[str]:
    """The marked morphemes that a whole word may be a form of."""
    return [f"{MARK}{form}" for form in (word, *_stems(word))]


def segment(word: str, holding: Mapping[str, int]) -> list[str]:
    """The marked morphemes that cover most of a word, the fewest that do; [] where the index holds none.

    word     Hangul alone
    holding  of the `candidates` of the word: the number of chunks with each

    >>> segment("데이터베이스를", {"=데이터": 4, "=베이스": 2, "=이스": 1})
    ['=데이터', '=베이스']
    >>> segment("만든", {"=만들": 1}), segment("걸려서", {"=걸리": 1})
    (['=만들'], ['=걸리'])
    """
    ways: dict[int, _Way] = {0: _Way(0, 0, ())}
    for start, end, forms in _stretches(word):
        known = next((form for form in forms if holding.get(f"{MARK}{form}")), None)
        if known is None or start not in ways:
            continue
        before = ways[start]
        way = _Way(before.covered + end - start, before.fewness - 1, (*before.morphemes, known))
        if end not in ways or way[:2] > ways[end][:2]:
            ways[end] = way
    best = max(ways.values(), key=lambda way: way[:2])
    return [f"{MARK}{form}" for form in best.morphemes]


def _stretches(word: str) -> Iterator[tuple[int, int, list[str]]]:
    """(start, end, what the stretch may be), by start. One syllable behind the first is nearly always an ending."""
    if len(word) > MOST_SYLLABLES:
        return
    for start in range(len(word)):
        for end in range(start + 1 + (start > 0), len(word) + 1):
            stretch = word[start:end]
            if stretch not in LIGHT:
                yield start, end, [stretch, *_stems(stretch)]


def _stems(stretch: str) -> list[str]:
    """The verb stems that a stretch may be a form of: 만든 and 만들, 걸려 and 걸리."""
    initial, vowel, final = _letters(stretch[-1])
    stems = []
    if final in _OF_ENDINGS:
        stems.append(_syllable(initial, vowel, 0))
    if final == _NIEUN:
        stems.append(_syllable(initial, vowel, _RIEUL))
    if vowel in _MERGED and final in (0, _SSANG_SIOT):
        stems.append(_syllable(initial, _MERGED[vowel], 0))
    return [stretch[:-1] + stem for stem in stems]


@cache
def _time_word() -> re.Pattern[str]:
    return re.compile(TIME)


def corrections(word: str) -> list[str]:
    """All words that differ from a word in one letter of one syllable; [] for a word that is too short to correct.

    Nor is a day or a time of the year: 일요일 is no misspelt 월요일, which the documents may have alone.

    >>> "매개변수" in corrections("매게변수"), corrections("책은"), corrections("일요일")
    (True, [], [])
    """
    if not FEWEST_SYLLABLES_TO_CORRECT <= len(word) <= MOST_SYLLABLES or _time_word().fullmatch(word):
        return []
    found = []
    for i, syllable in enumerate(word):
        initial, vowel, final = _letters(syllable)
        others = [_syllable(x, vowel, final) for x in range(_INITIALS) if x != initial]
        others += [_syllable(initial, x, final) for x in range(_VOWELS) if x != vowel]
        others += [_syllable(initial, vowel, x) for x in range(_FINALS) if x != final]
        found += [word[:i] + other + word[i + 1 :] for other in others]
    return found


def correct(word: str, holding: Mapping[str, int]) -> str | None:
    """What a misspelt word was meant to be: the morpheme one letter away that most chunks hold; None where there is none.

    A form of a verb is seldom a morpheme; if pairs of syllables were enough, 돌려주게 would become 돌려주체.

    word     one with a pair of syllables that the index does not hold
    holding  of its `corrections`, marked: the number of chunks with each

    >>> correct("매게변수", {"=매개변수": 3})
    '매개변수'
    """
    most, best = max(((holding.get(f"{MARK}{w}", 0), w) for w in corrections(word)), default=(0, ""))
    return best if most else None


def _letters(syllable: str) -> tuple[int, int, int]:
    code = ord(syllable) - _FIRST
    return code // (_VOWELS * _FINALS), code // _FINALS % _VOWELS, code % _FINALS


def _syllable(initial: int, vowel: int, final: int) -> str:
    return chr(_FIRST + (initial * _VOWELS + vowel) * _FINALS + final)
