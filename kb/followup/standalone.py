"""A question and the one before it → a question that can be searched for alone."""

from __future__ import annotations

from collections.abc import Callable

from kb.followup.english import complete_english
from kb.followup.korean import complete_korean
from kb.followup.records import Standalone, join
from kb.language.english_phrases import IsName, knows_none, phrases_of
from kb.language.manner import without_lead
from kb.language.registry import has_letters

# A longer question is pasted material, not a follow-up.
MOST_CHARS = 300
# Of the earlier questions so much is kept, from the first: it names the topic.
MOST_CONTEXT_CHARS = 300
_RULES = {"en": complete_english, "ko": complete_korean}


def _continues_never(question: str) -> bool:
    return False


def make_standalone(
    question: str,
    last: str,
    is_name: IsName = knows_none,
    continues: Callable[[str], bool] = _continues_never,
) -> Standalone:
    """Make a follow-up complete; a complete question comes back as it is.

    last       the last question about a topic, as it was searched for: a joined one brings what it was joined to; empty
               without one
    is_name    True for a lower-case word that the knowledge base has as a name: people type names without capitals
    continues  for a question that no rule completes: True where the document of the last turn holds what it asks about

    >>> make_standalone("and on Windows?", "How do I install lampd on Linux?").question
    'How do I install lampd on Windows?'
    >>> make_standalone("who wrote it?", "How do I install lampd on Linux?").question
    'How do I install lampd on Linux? who wrote it?'
    """
    last = last.strip()
    if not last or not question.strip() or len(question) > MOST_CHARS:
        return Standalone(question)
    if len(last) > MOST_CONTEXT_CHARS:
        last = last[:MOST_CONTEXT_CHARS].rsplit(None, 1)[0]
    asked, changes_topic = without_lead(question)
    if changes_topic:
        return Standalone(asked)
    found = _RULES[_language_of(question, last)](question, asked, last, is_name)
    if found:
        return found
    names_its_own = any(phrase.names for phrase in phrases_of(asked, is_name))
    if names_its_own or not continues(asked):
        return Standalone(question)
    return Standalone(join(last, question), "continued")


def _language_of(question: str, last: str) -> str:
    """The language by the letters; a question of one or two words may take that of the last question ("what about bertha's?")."""
    is_short = len(question.split()) <= 2
    return next(
        (code for code in _RULES if has_letters(code, question) or (is_short and has_letters(code, last))), "en"
    )
