"""A Korean claim and the texts it cites → the claim with its last verb as the texts write it: 없습니다, 없어요 as 없다. Pure.

A model is polite where documents are plain, and the other way round. What compares words would take each such ending for another word.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

_FIRST, _LAST, _FINALS = ord("가"), ord("힣"), 28
# Final consonants by their place in a syllable.
_N, _B = 4, 17
# Endings that tell nothing but how polite one is, where a syllable with a final consonant stands before them.
_BEHIND_CONSONANT = ("습니다", "는다", "어요", "아요", "음")
# Whole last syllables → what they stand for.
_CONTRACTED = {
    "이에요": "이",
    "예요": "이",
    "해요": "하",
    "되어요": "되",
    "돼요": "되",
    "함": "하",
    "됨": "되",
    "임": "이",
}
_LAST_WORD = re.compile(r"([가-힣]+)(?=[^\w가-힣]*$)")
_SENTENCE_END = re.compile(r"([가-힣]+)(?=[)\]\"'”’]*(?:[.!?。…]|\s*$))", re.M)


def restate_ending(claim: str, texts: Sequence[str]) -> str:
    """A claim with its last word as a sentence of the texts ends with it, where only politeness is another.

    >>> restate_ending("개는 들어갈 수 없습니다.", ["개는 들어갈 수 없다."])
    '개는 들어갈 수 없다.'
    """
    last = _LAST_WORD.search(claim)
    stem = last and stem_of(last[1])
    if not last or not stem:
        return claim
    ends = [end for text in texts for end in _endings_of(text)]
    if last[1] in ends:
        return claim
    said = next((end for end in ends if stem_of(end) == stem), last[1])
    return claim[: last.start()] + said + claim[last.end() :]


def stem_of(word: str) -> str:
    """A verb in the form of a statement without what tells how polite it is, with its tense; "" for another word.

    >>> [stem_of(word) for word in ("합니다", "한다", "해요", "했습니다", "했다", "먹는다", "먹어요", "학교")]
    ['하', '하', '하', '했', '했', '먹', '먹', '']
    """
    for ending in _BEHIND_CONSONANT:
        before = word[: -len(ending)]
        if word.endswith(ending) and before and _final_of(before[-1]):
            return before
    for ending, stem in _CONTRACTED.items():
        if word.endswith(ending):
            return word[: -len(ending)] + stem
    before = word[:-1]
    if word.endswith("니다") and _final_of(word[-3:-2]) == _B:
        return word[:-3] + _without_final(word[-3])
    if not word.endswith("다") or not before:
        return ""
    return before[:-1] + _without_final(before[-1]) if _final_of(before[-1]) == _N else before


@lru_cache(maxsize=256)
def _endings_of(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_SENTENCE_END.findall(text)))


def _final_of(syllable: str) -> int:
    return (ord(syllable) - _FIRST) % _FINALS if syllable and _FIRST <= ord(syllable) <= _LAST else 0


def _without_final(syllable: str) -> str:
    return chr(ord(syllable) - _final_of(syllable))
