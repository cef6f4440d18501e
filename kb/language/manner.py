"""A prompt → whether it is small talk, refers back, is urgent, is a task for kb, or is about the user: by its phrases.

The phrases are in each language's file. All functions but `tells_of_user` take text that `tidy` has prepared.
"""

from __future__ import annotations

import re
import unicodedata

from kb.language.registry import pattern, says, words

# Phrases are searched in the first characters only; the rest is pasted material.
MOST_CHARS = 2000
# A longer text is not small talk, whatever its words.
MOST_SMALL_TALK_CHARS = 120
# Most words of one phrase of small talk: "how are you doing today".
MOST_PHRASE_WORDS = 5
# In a text of at most so many words a pronoun counts as a reference.
SHORT_WORDS = 8
_SMALL_TALK_WORD = re.compile(r"[\w'-]+")
_SYMBOLS_ONLY = re.compile(r"[\W_]+")
_QUESTION_ONLY = re.compile(r"[\s?!.,…·。？！-]+")


def tidy(text: str) -> str:
    """NFKC, lower case, straight apostrophes, single spaces; cut to MOST_CHARS.

    >>> tidy("  What’s\\tUP ")
    "what's up"
    """
    return " ".join(unicodedata.normalize("NFKC", text[:MOST_CHARS]).casefold().replace("’", "'").split())


def is_greeting(tidied: str) -> bool:
    """True when the text begins with a greeting, whatever follows it."""
    return pattern("greeting", tidied).match(tidied) is not None


def is_small_talk(tidied: str) -> bool:
    """True for small talk alone: greetings, thanks, assent, farewells and symbols, without a question."""
    if not tidied or len(tidied) > MOST_SMALL_TALK_CHARS:
        return False
    if _SYMBOLS_ONLY.fullmatch(tidied):
        return not is_mark(tidied)
    said = _SMALL_TALK_WORD.findall(tidied)
    if said[0] in words("not_small_talk"):
        return False
    small_talk, beside = pattern("small_talk", tidied), words("beside_small_talk")
    # ends[i] is there when the first i words are small talk and words beside it; True with at least one phrase of small talk.
    ends: dict[int, bool] = {0: False}
    for start in range(len(said)):
        if start not in ends:
            continue
        if said[start] in beside:
            ends[start + 1] = ends[start] or ends.get(start + 1, False)
        for stop in range(start + 1, min(start + MOST_PHRASE_WORDS, len(said)) + 1):
            if small_talk.fullmatch(" ".join(said[start:stop])):
                ends[stop] = True
    return ends.get(len(said), False)


def is_mark(tidied: str) -> bool:
    """True for punctuation alone: question marks, dots."""
    return _QUESTION_ONLY.fullmatch(tidied) is not None


def has_implicit_reference(tidied: str) -> bool:
    """True when the text refers to an earlier turn: "what about …", "you said", "it", 아까, 그건."""
    if says("reference", tidied) or pattern("bare_topic", tidied).fullmatch(tidied):
        return True
    is_short = len(tidied.split()) <= SHORT_WORDS
    return is_short and says("pronoun", tidied) and not says("no_pronoun", tidied)


def is_urgent(tidied: str) -> bool:
    """True when the writer is in a hurry; False for a question about urgency."""
    # Compiling the patterns takes 3 ms, and most prompts hold none of these words.
    return any(sign in tidied for sign in words("urgent_sign")) and says("urgency", tidied)


def is_errand(tidied: str) -> bool:
    """True when kb is asked to do something: remember, ingest, open, back up, add to a list."""
    return any(sign in tidied for sign in words("errand_sign")) and says("errand", tidied)


def tells_of_user(prompt: str) -> bool:
    """True for an introduction or a statement about the user without a question: "I'm Petra, on the night watch".

    prompt  as typed: a capital distinguishes "I'm Petra" from "I'm stuck"
    """
    line = " ".join(prompt[:MOST_SMALL_TALK_CHARS].split())
    if len(prompt) > MOST_SMALL_TALK_CHARS or says("asks", line.lower()):
        return False
    return says("introduction", line)


def without_lead(question: str) -> tuple[str, bool]:
    """(the question without "and", "ok so", 그럼 at its start; True where it announces another topic).

    >>> without_lead("ok, and on Windows?"), without_lead("A different question: who is Kim?")
    (('on Windows?', False), ('who is Kim?', True))
    """
    whole = question.strip()
    asked = pattern("lead", whole, re.I).sub("", whole, count=1).strip() or whole
    rest = pattern("new_topic", asked, re.I).sub("", asked, count=1)
    return rest or asked, rest != asked or says("by_the_way", question, re.I)


def is_about_user(tidied: str) -> bool:
    """True for a question about the user: "which night was mine?", "what can't I eat?"."""
    return says("about_user", tidied)


def is_about_kb(tidied: str) -> bool:
    """True for a question about kb itself: what it is, what it can do."""
    return says("about_kb", tidied)
