"""Is a prompt a greeting, a thank-you, a reference back, urgent, an errand for kb, or about the user? By its turns of phrase.

The phrases stand with each language. All but `tells_of_user` read text that `tidy` has prepared.
"""

from __future__ import annotations

import re
import unicodedata

from kb.language.registry import pattern, says, words

# Phrases are looked for in so many characters from the front: what follows is material, not manner.
MOST_CHARS = 2000
# Nothing longer is only a courtesy, whatever its words.
MOST_COURTESY_CHARS = 120
# The longest courtesy: "how are you doing today".
MOST_PHRASE_WORDS = 5
# A pronoun is a reference where there is little else; "is it possible to …" refers to nothing.
SHORT_WORDS = 8
_COURTESY_WORD = re.compile(r"[\w'-]+")
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


def is_courtesy(tidied: str) -> bool:
    """True for nothing but greetings, thanks, assent, small talk, farewells and symbols: no knowledge is asked for."""
    if not tidied or len(tidied) > MOST_COURTESY_CHARS:
        return False
    if _SYMBOLS_ONLY.fullmatch(tidied):
        return not is_mark(tidied)
    said = _COURTESY_WORD.findall(tidied)
    if said[0] in words("not_courtesy"):
        return False
    courtesies, beside = pattern("courtesy", tidied), words("beside_courtesy")
    # ends[i]: the first i words read as courtesies and words beside them; True where a courtesy is among them.
    ends: dict[int, bool] = {0: False}
    for start in range(len(said)):
        if start not in ends:
            continue
        if said[start] in beside:
            ends[start + 1] = ends[start] or ends.get(start + 1, False)
        for stop in range(start + 1, min(start + MOST_PHRASE_WORDS, len(said)) + 1):
            if courtesies.fullmatch(" ".join(said[start:stop])):
                ends[stop] = True
    return ends.get(len(said), False)


def is_mark(tidied: str) -> bool:
    """True for question marks, dots and the like alone."""
    return _QUESTION_ONLY.fullmatch(tidied) is not None


def has_implicit_reference(tidied: str) -> bool:
    """True when the text leans on something said before: "what about …", "you said", "it", 아까, 그건."""
    if says("reference", tidied) or pattern("bare_topic", tidied).fullmatch(tidied):
        return True
    is_short = len(tidied.split()) <= SHORT_WORDS
    return is_short and says("pronoun", tidied) and not says("no_pronoun", tidied)


def is_urgent(tidied: str) -> bool:
    """True when the writer is in a hurry; not where urgency is what is asked about."""
    # Most prompts hold no sign, and compiling the patterns takes 3 ms.
    return any(sign in tidied for sign in words("urgent_sign")) and says("urgency", tidied)


def is_errand(tidied: str) -> bool:
    """True when kb itself is to do something: remember, ingest, open, back up, put on a list."""
    return any(sign in tidied for sign in words("errand_sign")) and says("errand", tidied)


def tells_of_user(prompt: str) -> bool:
    """True for an introduction or a note about the user that asks nothing: "I'm Petra, on the night watch".

    The prompt as it was typed: a capital tells "I'm Petra" from "I'm stuck".
    """
    line = " ".join(prompt[:MOST_COURTESY_CHARS].split())
    if len(prompt) > MOST_COURTESY_CHARS or says("asks", line.lower()):
        return False
    return says("introduction", line)


def without_lead(question: str) -> tuple[str, bool]:
    """(a question without "and", "ok so", 그럼; whether it says itself that its topic is another than the last one's).

    >>> without_lead("ok, and on Windows?"), without_lead("A different question: who is Kim?")
    (('on Windows?', False), ('who is Kim?', True))
    """
    whole = question.strip()
    asked = pattern("lead", whole, re.I).sub("", whole, count=1).strip() or whole
    rest = pattern("new_topic", asked, re.I).sub("", asked, count=1)
    return rest or asked, rest != asked or says("by_the_way", question, re.I)


def is_about_user(tidied: str) -> bool:
    """True when a question asks for something about the user: "which night was mine?", "what can't I eat?"."""
    return says("about_user", tidied)


def is_about_kb(tidied: str) -> bool:
    """True when the question is what kb is or can do."""
    return says("about_kb", tidied)
