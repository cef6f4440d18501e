"""What a document says of itself first, by its path, its title and the head of its text; whether that has a word of a question. Pure."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import PurePosixPath

from kb.evidence.question import Unit
from kb.evidence.standing import Standing
from kb.frozen import dataclass
from kb.language.english import MONTHS
from kb.language.korean import MONTH_NUMBER
from kb.language.korean_particles import is_hangul
from kb.text import analyze

# So much of a document's first chunk says what it is about.
OPENING_CHARS = 400
# A Hangul word of so many syllables may be written in parts.
LONG_WORD = 4

_SHORT_MONTHS = frozenset(month[:3] for month in MONTHS)
_WORDS = re.compile(r"\d+(?:\.\d+)+|[^\W_]+")
# 2024-03, 2024_03_17, 20240317.
_DATE = re.compile(
    r"(?<!\d)(?:19|20)\d\d(?P<mark>[-._/]?)(?P<month>0[1-9]|1[0-2])(?:(?P=mark)(?:[0-2]\d|3[01]))?(?!\d)"
)
_MONTH_NUMBER = re.compile(MONTH_NUMBER)


@dataclass(frozen=True, slots=True)
class Opening:
    """How a document begins.

    text  of its first chunk
    """

    path: str
    title: str
    text: str

    def name(self) -> str:
        """What it is called: its path and its title in words, dates with the names of their months.

        >>> Opening("minutes/2024-03.md", "Minutes", "").name().splitlines()
        ['minutes 2024 03', 'Minutes', 'March Mar 3월']
        """
        path = " ".join(_WORDS.findall(str(PurePosixPath(self.path).parent / PurePosixPath(self.path).stem)))
        months = sorted({int(date["month"]) for date in _DATE.finditer(f"{self.path} {self.title}")})
        named = (f"{MONTHS[month - 1].title()} {MONTHS[month - 1][:3].title()} {month}월" for month in months)
        return "\n".join((path, self.title, " ".join(named)))

    def told(self) -> str:
        """The same, and how its text begins."""
        return f"{self.name()}\n{self.text[:OPENING_CHARS]}"

    def kinds(self) -> frozenset[str]:
        """The words of its file's name and its title that may say what kind of document it is: "tenancy" of tenancy-14-canal-terrace.md."""
        words = _WORDS.findall(f"{PurePosixPath(self.path).stem} {self.title}")
        return frozenset(word.casefold() for word in words if len(word) > 1 and not word.isdecimal())


def has_exactly(unit: Unit, question: str, text: str) -> bool:
    """Whether a text has just this word of a question, and not one like it: what tells which document is meant."""
    if unit.kind == "number" and is_month(unit, question):
        return unit.text in _MONTH_NUMBER.findall(text)
    return _has_hangul(unit.text, text) if is_hangul(unit.text) else unit.terms[0] in _terms_of(text)


def says(unit: Unit, question: str, text: str) -> bool:
    """Whether a text has a word of a question in any form; the month of 3월 as one."""
    if (unit.kind == "number" and is_month(unit, question)) or is_hangul(unit.text) or len(unit.terms) > 1:
        return has_exactly(unit, question, text)
    return Standing([text], _terms_of(text)).holds(unit)


def is_month(unit: Unit, question: str) -> bool:
    """Whether a unit of a question is a month: the 3 of 3월, March, Mar."""
    if unit.kind == "number":
        return unit.text in _months_in(question)
    return unit.text.lower() in MONTHS or (unit.text.lower() in _SHORT_MONTHS and unit.kind == "name")


def _has_hangul(word: str, text: str) -> bool:
    return word in text or (len(word) >= LONG_WORD and word in "".join(text.split()))


@lru_cache(maxsize=8)
def _months_in(question: str) -> frozenset[str]:
    return frozenset(_MONTH_NUMBER.findall(question))


@lru_cache(maxsize=2048)
def _terms_of(text: str) -> frozenset[str]:
    """Kept: each word of a question is looked up in the same openings."""
    return frozenset(analyze(text))
