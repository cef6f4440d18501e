"""Korean text → its content morphemes and its counts, as index terms beside the bigrams.

The morphological analyzer is Kiwi (package kiwipiepy, the extra `korean`). Without it there are no morphemes. It takes a
second and 260 MB to load, so it is loaded for the first Korean text that is indexed, and never for a query: a query is
divided into morphemes that the index holds (kb/language/korean_segments.py).
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Any

from kb.extras import is_installed
from kb.language.korean import KOREAN

# Raise when a term changes: indexes built by another version are rebuilt.
KOREAN_VERSION = 1
# No other index term is it with letters behind it.
MARK = "="
ANALYZER = "kiwipiepy"
# Nouns, numerals, verbs, adjectives, roots, adverbs, by their tags in the Sejong corpus.
_CONTENT = frozenset("NNG NNP NR VV VA XR MAG".split())
# Light verbs and bound nouns that the analyzer takes for content.
LIGHT = frozenset("하 되 있 없 않 싶 주 이 수 것 때 보".split())
_WORD = re.compile("[가-힣]+")


def has_morphemes() -> bool:
    """Whether the morphological analyzer is installed."""
    return is_installed(ANALYZER)


def korean_terms(text: str) -> list[str]:
    """The marked morphemes and counts of a text; [] for one without Hangul.

    >>> korean_terms("tools"), korean_terms("세 개")[-1]
    ([], '=3개')
    """
    if text.isascii() or not _WORD.search(text):
        return []
    found = [f"{MARK}{m}" for word in _WORD.findall(text) for m in _morphemes(word)] if has_morphemes() else []
    return found + count_terms(text)


def count_terms(text: str) -> list[str]:
    """The counts of a Korean text as marked terms, one form for digits and words.

    >>> count_terms("사과 세 개와 물 3병, 두 번"), count_terms("세계 개 번")
    (['=3개', '=2번'], [])
    """
    return [
        f"{MARK}{match['digits'] or int(KOREAN.numbers.values[match['word']])}{match['unit']}"
        for match in _counts().finditer(text)
    ]


@cache
def _counts() -> re.Pattern[str]:
    words = "|".join(sorted(KOREAN.numbers.values, key=len, reverse=True))
    units = "|".join(sorted(KOREAN.numbers.counters, key=len, reverse=True))
    return re.compile(rf"(?:(?<!\d)(?P<digits>\d{{1,9}})|(?<![가-힣])(?P<word>{words}))\s?(?P<unit>{units})")


# A word is analyzed by itself, so that each form is analyzed once: an index build meets most forms many times.
@lru_cache(maxsize=1_000_000)
def _morphemes(word: str) -> tuple[str, ...]:
    return tuple(m.form for m in _kiwi().tokenize(word) if m.tag.split("-")[0] in _CONTENT and m.form not in LIGHT)


@cache
def _kiwi() -> Any:
    from kiwipiepy import Kiwi

    # Without the dictionaries of names and of phrases it loads in a third of the time and takes half the memory, and
    # finds as much.
    return Kiwi(num_workers=1, load_default_dict=False, load_typo_dict=False, load_multi_dict=False)
