"""A question → the units it asks about (words, names, numbers), each with its index terms. Pure.

A word that only asks ("what", "언제"), links, or frames ("according to") is left out, and so are Korean particles and
verb endings: they say nothing of the topic, and a passage that answers does not repeat them. Knows no corpus.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Literal

from kb.frozen import dataclass
from kb.language import korean
from kb.language.english import FUNCTION_WORDS
from kb.language.korean_particles import ALL_ENDINGS, strip_ending
from kb.language.registry import has_letters, words
from kb.text import analyze, analyze_query, find_words

# The least share of a unit's terms that counts as a match.
SHOWN = 0.5

UnitKind = Literal["word", "name", "number"]

_LAST_SYLLABLES = frozenset(ending for ending in ALL_ENDINGS if len(ending) == 1) | frozenset("아어여")
_HANGUL_RUN = re.compile(r"[가-힣]+")
_CJK_RUN = re.compile(r"[぀-ヿ㐀-鿿豈-﫿]+")
_HIRAGANA = re.compile(r"[ぁ-ん]")
_NAME = re.compile(r"[A-Z][\w'’.-]*|\w*[a-z][A-Z]\w*|\w+[._]\w[\w.]*|[A-Za-z]+[-]?\d[\w-]*")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*%?")
# I'm, we've, landlord'll; "haven't" and "everybody's" are whole ones.
_CONTRACTED = re.compile(r"(\w+)['’](?:m|re|ve|ll|d)", re.I)
_DENIAL = re.compile(r"\w+n['’]t", re.I)
_POSSESSIVE = re.compile(r"(\w+)['’]s", re.I)


@dataclass(frozen=True, slots=True)
class Unit:
    """One word, name or number that a question asks about.

    text        as the question writes it, particles taken off
    terms       index terms; one of several (an identifier's whole first, then its parts; the bigrams of a Korean word)
    kind        a name is capitalised inside the sentence, or written like an identifier
    is_certain  False where a term may include an ending: then the unit counts only when the corpus holds the terms
    """

    text: str
    terms: tuple[str, ...]
    kind: UnitKind = "word"
    is_certain: bool = True

    def share_in(self, terms: frozenset[str]) -> float:
        """The share of the unit that a text with these index terms holds: 0, or from SHOWN to 1.

        A smaller share is chance: two Korean words often share a bigram.
        """
        if self.terms[0] in terms and not self.is_run():
            return 1.0
        parts = self.terms if self.is_run() else self.terms[1:]
        share = sum(part in terms for part in parts) / len(parts) if parts else 0.0
        return share if share >= SHOWN else 0.0

    def is_run(self) -> bool:
        """True for a word of a script without spaces, whose terms are its bigrams."""
        return not self.terms[0].isascii() and (
            _HANGUL_RUN.fullmatch(self.text) is not None or _CJK_RUN.fullmatch(self.text) is not None
        )


def units_of(question: str) -> list[Unit]:
    """The units of a question in its order, each once; its plain query terms where only frame words are left.

    >>> [u.text for u in units_of("According to Biden, how many jobs were created?")]
    ['Biden', 'jobs', 'created']
    >>> [u.text for u in units_of("쿼리 매개변수는 어떻게 선언하나요?")]
    ['쿼리', '매개변수', '선언']
    >>> [u.text for u in units_of("Can I tell the landlord I'm leaving if we haven't paid?")]
    ['landlord', 'leaving', 'paid']
    >>> [units_of(question)[0].kind for question in ("Ubuntu runs it?", "Ubuntu에서 되나요?")]
    ['word', 'name']
    >>> [u.text for u in units_of("7월에 3명이서 가면 한 명에 얼마인가요?")]
    ['7', '3', '가면']
    """
    units: list[Unit] = []
    before = ""
    # A capital at the beginning tells nothing in English; in a Korean question it is a name's.
    is_first = not has_letters("ko", question)
    for word in find_words(question):
        for piece in _pieces(word):
            if not ((before[-1:].isdecimal() or before in korean.NUMERALS) and _is_counter(piece)):
                units.extend(_units_of_piece(piece, is_first))
            before = piece
        # "2024 주가" is of shares: digits have what they count right behind them.
        before = before if before in korean.NUMERALS else ""
        is_first = False
    found = list({unit.terms: unit for unit in units}.values())
    return found or [Unit(term, (term,)) for term in analyze_query(question)]


def _pieces(word: str) -> list[str]:
    """Stretches of one word in Hangul, in kana and Han, and in anything else."""
    if word.isascii():
        return [word]
    return re.findall(r"[가-힣]+|[぀-ヿ㐀-鿿豈-﫿]+|[^가-힣぀-ヿ㐀-鿿豈-﫿]+", word)


def _units_of_piece(piece: str, is_first: bool) -> list[Unit]:
    owner = _POSSESSIVE.fullmatch(piece)
    if _DENIAL.fullmatch(piece) or (owner and owner[1].lower() in FUNCTION_WORDS):
        return []
    if contracted := _CONTRACTED.fullmatch(piece):
        piece = contracted[1]
    if _HANGUL_RUN.fullmatch(piece):
        return _korean_units(piece)
    if _CJK_RUN.fullmatch(piece):
        # In Japanese, hiragana carries grammar and is left out.
        return [Unit(t, (t,)) for t in analyze(piece) if not _HIRAGANA.search(t)]
    terms = tuple(analyze(piece.strip("._-'’")))
    if not terms or (len(terms) == 1 and (terms[0] in words("frame") or terms[0] not in analyze_query(f"{piece} 0"))):
        return []
    if _NUMBER.fullmatch(piece):  # of 7,000 the whole
        return [Unit(piece, terms[:1] if "," in piece else terms, "number")]
    is_name = _NAME.fullmatch(piece) is not None and not (is_first and piece[1:].islower())
    return [Unit(piece, terms, "name" if is_name else "word")]


@cache
def _korean_frames() -> re.Pattern[str]:
    """Compiled when the first Korean word needs it: 5 ms."""
    return re.compile(korean.FRAMES)


def _korean_units(word: str) -> list[Unit]:
    if _korean_frames().match(word) or word in ALL_ENDINGS:
        return []
    if any(word.endswith(ending) and len(word) == len(ending) + 1 for ending in ALL_ENDINGS if len(ending) > 1):
        return []  # one syllable with an ending (번인가요, 씻나요): every bigram includes the ending
    stem = strip_korean_endings(word)
    if len(stem) < 2:
        return []
    # Of two syllables the last may be a particle or an ending: 돔은, 닫아; but also 나이.
    return [Unit(stem, tuple(analyze(stem)), is_certain=len(stem) > 2 or stem[-1] not in _LAST_SYLLABLES)]


def _is_counter(piece: str) -> bool:
    """Whether what stands behind a number only counts, 월에 and 명이면: it tells nothing of what is counted.

    >>> _is_counter("명이서"), _is_counter("개월까지"), _is_counter("호선은"), _is_counter("명함")
    (True, True, False, False)
    """
    return any(piece.startswith(counter) and _is_ending(piece.removeprefix(counter)) for counter in korean.COUNTERS)


def _is_ending(rest: str) -> bool:
    return not rest or rest in ALL_ENDINGS or (rest[0] == "이" and rest[1:] in ALL_ENDINGS)


def strip_korean_endings(word: str) -> str:
    """A Korean word without particles and endings; at least two syllables stay.

    >>> strip_korean_endings("컨테이너에서는"), strip_korean_endings("나이")
    ('컨테이너', '나이')
    """
    return strip_ending(strip_ending(word, ALL_ENDINGS), ALL_ENDINGS)
