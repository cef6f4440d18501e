"""English pronouns → their antecedents in earlier questions and answers. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kb.followup.records import Standalone, Turn
from kb.followup.topics import find_topic
from kb.language.english import FUNCTION_WORDS, PERSON_PRONOUNS
from kb.language.english_phrases import TIME, IsName, Word, is_name_word, phrases_of, without_possessive

_SUBJECT_THING = frozenset("it they them this that these those one ones".split())
_OWNER_THING = frozenset("its their".split())
_BOTH = r"(?i)\b(?:both(?: of them)?|either of them|the two(?: of them)?|which (?:one )?of (?:the two|them|these))\b"
# Phrases in which "it" does not refer to an earlier thing: "is it possible", "what time is it".
_EMPTY_IT = r"(?i)\b(?:is|was|does|would|will|can) it (?:possible|true|ok|okay|allowed|safe|necessary|worth|rain|snow|matter|depend)\b|\bwhat time is it\b"
# The part of an answer that is searched for the person that "she" refers to.
MOST_ANSWER_CHARS = 400
_PERSON_NAME = r"\b(?:Dr\.? |Prof\.? |Ms\.? |Mr\.? |Mrs\.? )?[A-Z][a-z'’-]+(?: [A-Z][\w.'’-]*)+|\b[A-Z][a-z'’-]{2,}\b"


def replace_pronoun(asked: str, words: Sequence[Word], turns: Sequence[Turn], is_name: IsName) -> Standalone | None:
    """The question with its first pronoun replaced; None where a name stands before every pronoun of the question."""
    both = re.search(_BOTH, asked)
    if both and len(turns) > 1:
        topics = list(dict.fromkeys(filter(None, (find_topic(t.question, is_name) for t in turns[-2:]))))
        if len(topics) == 2:
            said = " and ".join(topics)
            return Standalone(f"{asked[: both.start()]}{said}{asked[both.end() :]}", "pronoun", tuple(topics))
    for i, word in enumerate(words):
        if _has_antecedent(words[:i], is_name):
            return None
        meant = _meaning_of(word, words[i + 1] if i + 1 < len(words) else None, asked, turns, is_name)
        if meant:
            text, start, end = meant
            return Standalone(f"{asked[:start]}{text}{asked[end:]}", "pronoun", (without_possessive(text),))
    return None


def _has_antecedent(words: Sequence[Word], is_name: IsName) -> bool:
    return any(is_name_word(word, i == 0, is_name) for i, word in enumerate(words))


def _meaning_of(
    word: Word, following: Word | None, asked: str, turns: Sequence[Turn], is_name: IsName
) -> tuple[str, int, int] | None:
    """(the text for the pronoun, start, end); None where the word does not refer to an earlier thing."""
    low = re.sub(r"'(?:s|re|ll|d)$", "", word.low)
    contraction = word.text[len(low) :]
    contracted = {"'s": " is", "'re": " are", "'ll": " will", "'d": " would"}.get(contraction.replace("’", "'"), "")
    topic = find_topic(turns[-1].question, is_name, plural=low in ("they", "them", "their", "these", "those"))
    noun_follows = following is not None and following.low not in FUNCTION_WORDS
    if low in PERSON_PRONOUNS:
        person = _find_person(turns, is_name) or topic  # ships, telescopes and machines are called "she" too
        if not person:
            return None
        owns = low == "his" or (low == "her" and noun_follows)
        return f"{_owned(person) if owns else person}{contracted}", word.start, word.end
    if low in _OWNER_THING and topic:
        return _owned(topic), word.start, word.end
    if low in _SUBJECT_THING and topic:
        if low == "it" and re.search(_EMPTY_IT, asked):
            return None
        if low in ("this", "that", "these", "those", "one", "ones"):
            if low == "that" and word.start > 0 and noun_follows and not _ends_clause(asked[: word.start]):
                return None
            if noun_follows and following is not None:
                return f"{word.text} {following.text} ({topic})", word.start, following.end
        return f"{topic}{contracted}", word.start, word.end
    if low == "there" and not re.search(r"\b(?:is|are|was|were|be)\s*$", asked[: word.start], re.IGNORECASE):
        place = _find_place(turns, is_name) or topic
        return (f"at {place}{contracted}", word.start, word.end) if place and not contracted else None
    return None


def _ends_clause(before: str) -> bool:
    return bool(
        re.search(
            r"(?:\b(?:is|are|was|does|did|do|can|of|for|at|in|on|with|about|to|from|by)|[,:;-])\s*$",
            before,
            re.IGNORECASE,
        )
    )


def _owned(thing: str) -> str:
    return f"{thing}'" if thing.endswith("s") and not thing.endswith("'s") else f"{thing}'s"


def _find_person(turns: Sequence[Turn], is_name: IsName) -> str:
    """The person in the last answers or questions: names of two words first."""
    for turn in reversed(turns[-3:]):
        for text in (turn.answer[:MOST_ANSWER_CHARS], turn.question):
            found = [m.group() for m in re.finditer(_PERSON_NAME, text) if m.group().lower() not in FUNCTION_WORDS]
            found = [name for name in found if name.split()[0].lower() not in FUNCTION_WORDS]
            full = [name for name in found if " " in name]
            if full or (text == turn.question and found):
                return (full or found)[0]
    return ""


def _find_place(turns: Sequence[Turn], is_name: IsName) -> str:
    placed = [
        p
        for p in phrases_of(turns[-1].question, is_name)
        if p.preposition in ("in", "at", "on", "to", "inside") and not TIME.fullmatch(p.text)
    ]
    if not placed:
        return ""
    return ("the " if placed[-1].is_definite else "") + placed[-1].text
