"""The languages, and their tables joined: one set of words, or one pattern, for a text in any of them."""

from __future__ import annotations

import re
from functools import cache

from kb.language.english import ENGLISH
from kb.language.interface import Language, PatternKind, WordKind
from kb.language.korean import KOREAN

# The first is the default for a text in none of the others. A new language is one file and one entry here.
LANGUAGES: dict[str, Language] = {language.code: language for language in (ENGLISH, KOREAN)}
# Patterns of all languages.
_IN_ANY: dict[PatternKind, str] = {
    "asks": "[?？]",
    "tells_number": r"\d",
    # Of bare numbers only years, 4:37 and those with a short unit: "a range of 0 to 3" lasts no time.
    "tells_duration": (
        r"\b1\d{3}\b|\b20\d{2}\b|\d:\d\d\b|\d\s?-?(?:[mµnkc]?[ms]|h|hrs?|mins?|secs?|yrs?|ft|yd|mi|nt|bp|au|ly)\b"
    ),
    "label_number": r"\[\d+(?:[,–-]\s?\d+)*\]|\[?#\d+\]?|\b\d+(?:\.\d+){2,}",
    "tells_event_date": r"\b1\d{3}\b|\b20\d{2}\b",
    "tells_date": r"\b1\d{3}\b|\b20\d{2}\b|\b\d{1,2}:\d\d",
}
# The share of its letters that makes a question one of a language: product names are often in Latin letters.
LEAST_SHARE_OF_LETTERS = 0.2
# The same of a question that opens with a word such as "what": it may name a word of another language.
MOST_SHARE = 0.5
_PLAIN_WORD = re.compile(r"(?<![^\W_])[A-Za-z']+(?![^\W_])")
_EVERYDAY_WORD = re.compile(r"[a-z0-9]+(?:[-'][a-z]+)*|[^\W\da-z_]+")
_LETTER = re.compile(r"[^\W\d_]")


@cache
def words(kind: WordKind) -> frozenset[str]:
    """The words of a kind in all languages."""
    return frozenset().union(*(language.words.get(kind, ()) for language in LANGUAGES.values()))


def pattern(kind: PatternKind, text: str, flags: int = 0) -> re.Pattern[str]:
    """The pattern of a kind for the languages that a text may be in; compiled on first use.

    All Korean alternatives hold Hangul, so for a text without Hangul they are not compiled.
    """
    return _joined(kind, flags, _languages_in(text))


def pattern_in(code: str, kind: PatternKind) -> re.Pattern[str]:
    """The pattern of a kind in one language, for what is asked in that language."""
    return _joined(kind, 0, (code,))


def says_in(code: str, kind: PatternKind, text: str) -> bool:
    """True where the pattern of the kind in one language matches somewhere in the text."""
    return pattern_in(code, kind).search(text) is not None


def says(kind: PatternKind, text: str, flags: int = 0) -> bool:
    """True where the pattern of the kind matches somewhere in the text."""
    return pattern(kind, text, flags).search(text) is not None


def has_letters(code: str, text: str) -> bool:
    """True where a text holds letters that only this language uses.

    >>> has_letters("ko", "FastAPI에서"), has_letters("ko", "naïve")
    (True, False)
    """
    return bool(LANGUAGES[code].letters) and not text.isascii() and _letters(code).search(text) is not None


def question_language(question: str) -> str:
    """The language code of a question; product names in Latin letters do not make it English.

    >>> question_language("Rust ownership 모델의 핵심 규칙은 뭐야?"), question_language("?")
    ('ko', 'en')
    >>> question_language("Server-Sent Events란?"), question_language("What does 미들웨어 mean?")
    ('ko', 'en')
    >>> question_language("do..while은 언제 쓰나요?"), question_language("How do I say 안녕하세요?")
    ('ko', 'en')
    """
    default = next(iter(LANGUAGES))
    if question.isascii():
        return default
    letters = len(_LETTER.findall(question))
    plain = [word.casefold() for word in _PLAIN_WORD.findall(question)]
    opened = pattern_in(default, "opens_question").match(question.casefold())
    is_asked = opened is not None and question[opened.end() :][:1].isspace()
    holds_frame = any(word in LANGUAGES[default].words["stop"] for word in plain)
    for code, language in LANGUAGES.items():
        own = len(_letters(code).findall(question)) if language.letters else 0
        is_closed = "closes_question" in language.patterns and says_in(code, "closes_question", question)
        if own and (
            (is_closed and not is_asked)
            or own >= (MOST_SHARE if is_asked else LEAST_SHARE_OF_LETTERS) * letters
            or not (holds_frame or is_asked)
        ):
            return code
    return default


def everyday_keys(text: str) -> list[str]:
    """The everyday things that a text names, in the order of its words: keys of `Language.everyday`, each once.

    >>> everyday_keys("The office Wi-Fi"), everyday_keys("사무실 wifi 비밀번호가 뭐야?")
    (['office', 'wifi'], ['office', 'wifi', 'password'])
    """
    found = _everyday()
    keys = []
    for word in _EVERYDAY_WORD.findall(text.casefold()):
        bare = (word, *(language.bare(word) for language in LANGUAGES.values()))
        keys += [key for form in dict.fromkeys(bare) for key in found.get(form, ())]
    return list(dict.fromkeys(keys))


def translations(text: str) -> str:
    """The words of every language for the everyday things that a text names, apart by blanks; "" where it names none.

    >>> translations("What is the office number?")
    'office 사무실 number 번호 전화번호 연락처'
    """
    return " ".join(word for key in everyday_keys(text) for word in everyday_words(key))


def everyday_words(key: str) -> list[str]:
    """The words of every language for an everyday thing."""
    return [word for language in LANGUAGES.values() for word in language.everyday.get(key, "").split()]


def with_translations(text: str) -> str:
    """A text and its `translations`: what to look for where the answer may be in another language."""
    return f"{text} {translations(text)}".rstrip()


@cache
def _everyday() -> dict[str, tuple[str, ...]]:
    """Word → its keys."""
    keys: dict[str, tuple[str, ...]] = {}
    for language in LANGUAGES.values():
        for key, listed in language.everyday.items():
            for word in listed.split():
                keys[word] = (*keys.get(word, ()), key)
    return keys


def _languages_in(text: str) -> tuple[str, ...]:
    return tuple(code for code, language in LANGUAGES.items() if not language.letters or has_letters(code, text))


@cache
def _joined(kind: PatternKind, flags: int, codes: tuple[str, ...]) -> re.Pattern[str]:
    tables = [_IN_ANY, *(LANGUAGES[code].patterns for code in codes)]
    return re.compile("|".join(table[kind] for table in tables if kind in table) or r"(?!)", flags)


@cache
def _letters(code: str) -> re.Pattern[str]:
    return re.compile(LANGUAGES[code].letters)
