"""A question and the turns before it → a question that can be searched for alone."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from kb.followup import korean, topics
from kb.followup.english import complete_english
from kb.followup.korean import complete_korean
from kb.followup.records import Standalone, Turn
from kb.language.english_phrases import IsName, knows_none, phrases_of
from kb.language.manner import without_lead
from kb.language.registry import has_letters

# A longer text is pasted material, not a follow-up.
MOST_CHARS = 300
# The most recent turns that a question may refer to.
MOST_TURNS = 4
_CARRIED = r"(?<=\S) \([^()]*\)$"
# language code → (completes a question, finds the topic of the last question)
_RULES = {"en": (complete_english, topics.find_topic), "ko": (complete_korean, korean.find_topic)}


def _continues_never(question: str) -> bool:
    return False


def make_standalone(
    question: str,
    turns: Sequence[Turn],
    is_name: IsName = knows_none,
    continues: Callable[[str], bool] = _continues_never,
) -> Standalone:
    """Make a follow-up complete; a complete question comes back as it is.

    turns      oldest first, without small talk, each question complete
    is_name    True for a lower-case word that the knowledge base has as a name: people type names without capitals
    continues  for a question that no rule completes: True where the document of the last turn holds what it asks about.
               The topic is then added, as for "what happens if there is a typo?"

    >>> make_standalone("and on Windows?", [Turn("How do I install lampd on Linux?")]).question
    'How do I install lampd on Windows?'
    >>> make_standalone("시슬은요?", [Turn("마리골드 거울은 며칠마다 청소해야 하나요?")]).question
    '시슬 거울은 며칠마다 청소해야 하나요?'
    """
    if not turns or not question.strip() or len(question) > MOST_CHARS:
        return Standalone(question)
    recent = [replace(turn, question=without_carried(turn.question, is_name)) for turn in turns[-MOST_TURNS:]]
    asked, changes_topic = without_lead(question)
    if changes_topic:
        return Standalone(asked)
    complete, find_topic = _RULES[_language_of(question, recent[-1].question)]
    found = complete(question, asked, recent, is_name)
    if found:
        return found
    names_its_own = any(phrase.names for phrase in phrases_of(asked, is_name))
    if names_its_own or not continues(asked):
        return Standalone(asked)
    return add_topic(asked, find_topic(recent[-1].question, is_name), recent[-1].title)


def without_carried(question: str, is_name: IsName) -> str:
    """A completed question without the words that `add_topic` added; a question without a name keeps the topic."""
    own = re.sub(_CARRIED, "", question)
    if own == question or any(phrase.names for phrase in phrases_of(own, is_name)):
        return own
    topic = question[len(own) + 2 : -1].split(", ")[0]
    return f"{own} ({topic})"


def _language_of(question: str, last: str) -> str:
    """The language by the letters; a question of one or two words may take that of the last question ("what about bertha's?")."""
    is_short = len(question.split()) <= 2
    return next(
        (code for code in _RULES if has_letters(code, question) or (is_short and has_letters(code, last))), "en"
    )


def add_topic(asked: str, topic: str, title: str) -> Standalone:
    """The question followed by the topic of the last turn and the title of the document that it cites."""
    carried = tuple(dict.fromkeys(part for part in (topic, title) if part and part.lower() not in asked.lower()))
    if not carried:
        return Standalone(asked)
    return Standalone(f"{asked.rstrip()} ({', '.join(carried)})", "continued", carried)
