"""The topic of an English question, and the words of it that a fragment replaces. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kb.language.english import FUNCTION_WORDS
from kb.language.english_phrases import TIME, IsName, Phrase, Word, is_name_word, phrases_of

# "and for Thistle?" replaces the topic; "and on Windows?" adds a place or a time.
_INSTEAD = ("for", "with", "about", "of", "as")


def topic_of(phrases: Sequence[Phrase]) -> Phrase:
    """The last of the phrases without a preposition, else the first."""
    free = [p for p in phrases if not p.preposition]
    return free[-1] if free else phrases[0]


def find_topic(question: str, is_name: IsName, *, plural: bool = False) -> str:
    """The thing that "it" refers to after this question, with its name; empty without one.

    plural  for "they": a plural noun is preferred to a name

    >>> find_topic("How often must Marigold's mirror be cleaned?", lambda word: False)
    "Marigold's mirror"
    """
    phrases = [p for p in phrases_of(question, is_name) if not TIME.fullmatch(p.text)]
    many = [p for p in phrases if re.search(r"[^s]s$", p.text)] if plural else []
    if many:
        return topic_of(many).text
    named = [p for p in phrases if p.names]
    if named:
        return topic_of(named).text
    definite = [p for p in phrases if p.is_definite]
    if definite:
        return "the " + topic_of(definite).text
    return topic_of(phrases).text if phrases else ""


def slot_for(
    body: str, words: Sequence[Word], preposition: str, last: str, is_name: IsName
) -> tuple[int, int, bool] | None:
    """[start, end) of the words of the last question that the fragment replaces, and whether the article before them stays."""
    phrases = phrases_of(last, is_name)
    if TIME.fullmatch(re.sub(r"^(?:the|a|every|each|next|last)\s+", "", body, flags=re.IGNORECASE)):
        times = list(TIME.finditer(last))
        return (times[-1].start(), times[-1].end(), False) if times else None
    named = any(is_name_word(word, False, is_name) for word in words)
    names = [p for p in phrases if p.names]
    is_definite = words[0].low in ("the", "that", "this", "your", "our")
    if preposition:
        same = [p for p in phrases if p.preposition == preposition and not TIME.fullmatch(p.text)]
        if same:
            return (*_extent(same[-1], named), True)
    if named and names and preposition in ("", *_INSTEAD):
        return (*_name_extent(names[-1] if preposition else topic_of(names)), True)
    if preposition:
        return None
    if is_definite and names and not named:
        return _attribute_slot(names, phrases, last)
    if (
        names
        and len([w for w in words if w.low not in FUNCTION_WORDS]) <= 2
        and not is_definite
        and not body.endswith("s")
    ):
        return (*_name_extent(topic_of(names)), True)
    plain = [p for p in phrases if not p.names]
    return (plain[-1].start, plain[-1].end, True) if plain and not names else None


def _extent(phrase: Phrase, named: bool) -> tuple[int, int]:
    return _name_extent(phrase) if named and phrase.names else (phrase.start, phrase.end)


def _name_extent(phrase: Phrase) -> tuple[int, int]:
    assert phrase.names is not None
    return phrase.names


def _attribute_slot(names: Sequence[Phrase], phrases: Sequence[Phrase], last: str) -> tuple[int, int, bool] | None:
    """The part of the topic, as "dome" in "Marigold's dome": it is replaced, the topic's name stays."""
    topic = topic_of(names)
    assert topic.names is not None
    if topic.names[1] < topic.end:
        owned = re.match(r"(?:['’]s?)?\s+", last[topic.names[1] : topic.end])
        if owned and owned.end() < topic.end - topic.names[1]:
            return topic.names[1] + owned.end(), topic.end, True
    others = [p for p in phrases if not p.names and p.is_definite]
    return (others[-1].start, others[-1].end, True) if others else None
