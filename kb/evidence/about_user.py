"""A question about the user and a sentence → whether the sentence tells what is asked, of the user and of nobody else. Pure."""

from __future__ import annotations

import re

from kb.evidence.question import SHOWN, units_of
from kb.language.manner import tells_of_user
from kb.language.registry import everyday_keys, everyday_words, says, words
from kb.text import analyze

# Of "phone number" and "home address" these say the less.
_WIDE = frozenset({"home", "house", "number"})


def tells_of_user_what(question: str, text: str, name: str = "") -> bool:
    """True where a text says of the user what is asked: "my name is …", "name: …", "I'm Petra" for a name.

    name  the user's, "" where it is not known: "Ada's birthday is 4 May" is about the user Ada

    >>> tells_of_user_what("What is my name?", "The user's name is Petra."), tells_of_user_what("내 생일이 언제야?", "My birthday is 4 May")
    (True, True)
    >>> tells_of_user_what("What is my name?", "My dog's name is Rex"), tells_of_user_what("What is my name?", "The wifi name is Plover")
    (False, False)
    """
    asked = asked_keys(question)
    if asked == {"name"} and tells_of_user(text):
        return True
    if not asked <= set(everyday_keys(text)) or not _shows_the_rest(question, text):
        return False
    low = " ".join(text.casefold().split())
    return any(_is_theirs(low[: match.start()], name) for match in _word_pattern(asked).finditer(low))


def asked_keys(question: str) -> frozenset[str]:
    """The everyday things that a question about the user asks for; the name where it names none: "who am I?"."""
    keys = frozenset(everyday_keys(question))
    return keys - _WIDE or keys or frozenset({"name"})


def _shows_the_rest(question: str, text: str) -> bool:
    """True where the text shows what the question names beside everyday things: the dinosaur of "my favourite dinosaur"."""
    terms = frozenset(analyze(text))
    rest = [unit for unit in units_of(question) if not everyday_keys(unit.text) and not _is_frame(unit.text)]
    return all(unit.share_in(terms) >= SHOWN for unit in rest)


def _is_frame(word: str) -> bool:
    return says("recalls", word) or says("of_user", word.casefold() + " ") or word.casefold() in words("asking")


def _word_pattern(keys: frozenset[str]) -> re.Pattern[str]:
    listed = sorted({word for key in keys for word in everyday_words(key)}, key=lambda word: (-len(word), word))
    return re.compile("|".join(re.escape(word) if not word.isascii() else rf"\b{re.escape(word)}\b" for word in listed))


def _is_theirs(before: str, name: str) -> bool:
    """True where what stands before the word says "my", or nothing: whose else could it be?"""
    return not before.strip() or says("of_user", before) or (bool(name) and _is_name(before, name.casefold()))


def _is_name(before: str, name: str) -> bool:
    return re.fullmatch(rf"{re.escape(name)}(?:'s|’s|의)? ", before) is not None
