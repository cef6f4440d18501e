"""Two sentences with common words → whether one negates what the other affirms, English and Korean. Pure.

A negation is compared by its head, the word it negates: the word after "not", the verb stem before "않". So "must not be
opened" does not contradict a sentence about closing. Knows no antonyms.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from kb.frozen import dataclass
from kb.language import english, korean
from kb.language.korean_particles import NEGATED_ENDINGS, is_hangul, strip_ending
from kb.language.registry import says, words
from kb.text import STOP_WORDS, analyze

_TOKEN = re.compile(r"[A-Za-z]+(?:['’][A-Za-z]+)?|\d+(?:[.,]\d+)*|[가-힣]+|[.,;:!?()]")
_AFTER = re.compile(f"^(?:{korean.NEGATED_BEFORE})")
_INSIDE = re.compile(f"^{korean.NEGATED_INSIDE}")
# A negator's head is looked for in so many tokens behind it.
REACH_TOKENS = 4
# Share of content words in common, both ways, that makes two sentences copies.
COPY = 0.75
# What stands between a negation and what it denies: "need not also know", "no way of knowing".
_BETWEEN = english.FUNCTION_WORDS | english.LIGHT_WORDS | frozenset("need needs needed have has had".split())
# A word that is quoted denies nothing: many say "no".
_QUOTED = re.compile(r"[\"“‘'](?:no|not|never)[\"”’']", re.I)
# "A rather than B": what is spared is denied too, where the other sentence does so.
_SPARED = re.compile(r"\b(?:rather than|instead of)\s+(?:\w+\s+){0,2}?(\w{4,})", re.I)


@dataclass(frozen=True, slots=True)
class Polarity:
    """The negations of a sentence.

    words    content words: stems in English, whole words in Korean
    negated  heads of its negations; "" for a negation without a head
    implicit a word such as "forbidden" says no without a negator
    spared   what "rather than" and "instead of" name
    """

    words: tuple[str, ...]
    negated: tuple[str, ...]
    implicit: bool
    spared: tuple[str, ...] = ()


@lru_cache(maxsize=4096)
def polarity_of(sentence: str) -> Polarity:
    """The content words and the negations of a sentence."""
    plain = _QUOTED.sub(" ", unicodedata.normalize("NFC", sentence))
    tokens = _TOKEN.findall(plain.replace("’", "'"))
    content: list[str] = []
    negated: list[str] = []
    for at, token in enumerate(tokens):
        low = token.lower()
        if low in words("negator") or low.endswith("n't"):
            if low == "no" and at + 1 < len(tokens) and tokens[at + 1] in ".,":
                continue  # "No." answers a question, or stands before a number
            if (
                low in ("no", "not", "never")
                and at + 1 < len(tokens)
                and tokens[at + 1].lower() in ("more", "less", "fewer", "later")
            ):
                continue  # a bound
            if low == "not" and at + 1 < len(tokens) and tokens[at + 1].lower() in ("only", "just", "merely"):
                continue  # "not only" affirms
            negated.append(_head_after(tokens, at))
        elif low in korean.NEGATORS and at + 1 < len(tokens):
            negated.append(_korean_stem(tokens[at + 1]))
        elif _AFTER.match(low):
            negated.append(_korean_stem(tokens[at - 1]) if at else "")
        elif inside := _INSIDE.match(low):
            negated.append(_korean_stem(inside[1] + "지"))
        elif word := _content(token):
            content.append(word)
    spared = tuple(word for found in _SPARED.findall(plain) if (word := _content(found)))
    return Polarity(tuple(content), tuple(negated), says("implies_no", sentence, re.I), spared)


def contradicts(claim: Polarity, source: Polarity) -> bool:
    """True when the claim negates a word that the source affirms, or affirms one that the source negates.

    source  the sentence nearest to the claim: others may negate something else
    """
    if claim.negated and len(claim.negated) == len(source.negated):
        return False  # what a negation is of is told by its place, which another wording changes
    if claim.negated and _turns(claim.negated, source) and not source.implicit:
        return True
    if source.negated and _turns(source.negated, claim) and not claim.implicit:
        return True
    return _is_copy(claim, source) and _about(claim.negated, source) % 2 != _about(source.negated, claim) % 2


def _about(heads: Sequence[str], other: Polarity) -> int:
    """How many negations are of what the other sentence speaks of too; a clause that it lacks may deny what it likes.

    Korean ones all are: a stem of one syllable is not found again.
    """
    there = (*other.words, *other.negated)
    return sum(not head or is_hangul(head) or head in there for head in heads if head not in other.spared)


def _turns(heads: Sequence[str], other: Polarity) -> bool:
    for head in heads:
        if not head or any(_is_same(head, theirs) for theirs in (*other.negated, *other.spared)):
            continue
        if len(head) >= 2 and any(_is_same(head, word) for word in other.words):
            return True
    return False


def _is_copy(one: Polarity, other: Polarity) -> bool:
    a, b = one.words, other.words
    if len(a) < 2 or len(b) < 2:
        return False
    shared = sum(any(_is_same(x, y) for y in b) for x in a) / len(a)
    back = sum(any(_is_same(x, y) for x in a) for y in b) / len(b)
    return shared >= COPY and back >= COPY


def _head_after(tokens: Sequence[str], at: int) -> str:
    for token in tokens[at + 1 : at + 1 + REACH_TOKENS]:
        if token in ".,;:!?()":
            break
        if token.lower() not in _BETWEEN and (word := _content(token)):
            return word
    return next((word for token in reversed(tokens[max(0, at - 3) : at]) if (word := _content(token))), "")


def _content(token: str) -> str:
    low = token.lower()
    if low in STOP_WORDS or token in ".,;:!?()":
        return ""
    if is_hangul(token):
        return token
    return (analyze(low) or [""])[0]


def _korean_stem(word: str) -> str:
    if not is_hangul(word):
        return _content(word) if word else ""
    return _bare(word)


def _is_same(one: str, other: str) -> bool:
    """True for the same word; Korean words may differ in their endings: 닦지 and 닦는다, 하지 and 한다."""
    if one == other:
        return True
    if not (is_hangul(one) and is_hangul(other)):
        return False
    a, b = sorted((_jamo(_bare(one)), _jamo(_bare(other))), key=len)
    return len(a) >= 4 and b.startswith(a)


def _bare(word: str) -> str:
    return strip_ending(word, NEGATED_ENDINGS, least_chars=1)


@lru_cache(maxsize=8192)
def _jamo(word: str) -> str:
    return unicodedata.normalize("NFD", word)
