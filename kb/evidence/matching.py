"""A question and a remembered sentence → whether the sentence answers the question, by words alone. Pure.

Strict on purpose: the sentence is shown instead of a refusal, without a document as its source.
"""

from __future__ import annotations

import re

from kb.evidence.question import Unit, units_of
from kb.language.asked import matches_answer_type
from kb.language.registry import pattern, translations, with_translations, words
from kb.text import STOP_WORDS, analyze, find_words

# Share of the question's units that the text must hold: all of two or three, three of four.
LEAST_SHARE = 0.75
# A question with one unit and an unknown kind of answer: the unit must be at least this share of the text's units, too.
LEAST_PART = 0.25


def match_strength(question: str, text: str, *, adds: bool = True) -> float:
    """Share of the question's units that the text holds, in [LEAST_SHARE, 1]; 0 where it does not answer.

    The text must hold every name and number of the question, the kind of answer that is asked for, and something that the
    question does not say itself. An everyday word counts in whichever language: "password", 비밀번호.

    adds  False compares two questions: then nothing new is required

    >>> match_strength("What is the office wifi called?", "The office wifi is called Plover")
    1.0
    >>> match_strength("사무실 wifi 비밀번호가 뭐야?", "The office wifi password is Plover")
    1.0
    >>> match_strength("Who is the office manager?", "The office wifi is called Plover")
    0.0
    """
    units = [unit for unit in units_of(question) if unit.text not in words("asked_for")]
    terms = frozenset(analyze(text))
    if not units or not terms:
        return 0.0
    meant = terms | frozenset(analyze(translations(text)))
    shown = [unit for unit in units if unit.share_in(meant) >= 0.5 or _ends_alike(question, unit.text, text)]
    if any(unit.kind != "word" and unit not in shown for unit in units):
        return 0.0
    share = len(shown) / len(units)
    if share < LEAST_SHARE:
        return 0.0
    if not adds:
        return share
    # "on Mondays" is a date too: remembered facts often tell what happens every week.
    kind = matches_answer_type(question, [text, re.sub(r"days\b", "day", text)])
    if kind is None and len(units) == 1 and len(shown) / max(1, len(units_of(text))) < LEAST_PART:
        return 0.0
    if kind == 0.0 or not _says_more(question, units, terms):
        return 0.0
    return share


def user_strength(question: str, text: str) -> float:
    """`match_strength` for a question about the user: memories are short and about them, so one unit in common is enough.

    >>> user_strength("what's my name, do you remember?", "The user's name is Petra.")
    1.0
    >>> user_strength("where is my boat?", "The user's name is Petra.")
    0.0
    """
    units = [unit for unit in units_of(question) if not pattern("recalls", unit.text, re.I).match(unit.text)]
    about = [unit for unit in units if unit.text not in words("asked_for")] or units
    asked = [w for w in find_words(question.lower()) if w in words("asked_of_user")]
    terms = frozenset(analyze(with_translations(text)))
    if any(unit.kind != "word" and unit.share_in(terms) < LEAST_SHARE for unit in about):
        return 0.0
    shown = sum(unit.share_in(terms) >= 0.5 for unit in about) + sum(bool(terms & set(analyze(w))) for w in asked)
    total = len(about) + len(asked)
    return shown / total if total and shown / total >= LEAST_SHARE else 0.0


def _ends_alike(question: str, unit: str, text: str) -> bool:
    """Whether a Korean question and a text end with one verb: 먹어, 먹는다. Its bigrams are all of its ending."""
    if len(unit) != 2 or unit[1] not in "어아여" or not question.rstrip(" ?!.").endswith(unit):
        return False
    return text.rstrip(" .!").rpartition(" ")[2].startswith(unit[0])


def _says_more(question: str, units: list[Unit], terms: frozenset[str]) -> bool:
    asked = frozenset(analyze(with_translations(question))) | {term for unit in units for term in unit.terms}
    return any(term not in asked and term not in STOP_WORDS for term in terms)
