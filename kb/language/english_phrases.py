"""An English question → its words, noun phrases and names, as far as lists of function words can tell. Pure.

A phrase is a run of words between function words. That is coarse (a verb may stay at its front) but enough to find the
antecedent of "it" and the words that "and for Windows?" replaces.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from kb.frozen import dataclass
from kb.language.english import DETERMINERS, FUNCTION_WORDS, PREPOSITIONS

IsName = Callable[[str], bool]

_WORD = re.compile(r"\w+(?:['’._/:-]\w+)*['’]?")
_TIMES = (
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?|weekends?|weekdays?|week|month|year|january|february|march|april|may|june"
    r"|july|august|september|october|november|december|spring|summer|autumn|fall|winter|(?:bank |public )?holidays?|mornings?"
    r"|afternoons?|evenings?|nights?|midnight|noon|today|tomorrow|yesterday|tonight|christmas|easter|\d{4}|\d{1,2}(?::\d\d)? ?(?:am|pm)|\d{1,2}:\d\d"
)
TIME = re.compile(rf"(?:(?:the|a|every|each|next|last|this) )?(?:{_TIMES})", re.IGNORECASE)
_NAME_SHAPE = re.compile(r"[A-Z][\w'’.-]*|\w*[a-z][A-Z]\w*|\w+[._:]\w[\w.:]*|[A-Za-z]+-?\d[\w-]*|\d+[A-Za-z]\w*")
_POSSESSIVE = re.compile(r"['’]s?$")


def knows_none(word: str) -> bool:
    """For callers without a list of names: no lower-case word is a name."""
    return False


@dataclass(frozen=True, slots=True)
class Word:
    """One word with its place in the question; `low` is in lower case with a straight apostrophe."""

    text: str
    start: int
    end: int
    low: str


@dataclass(frozen=True, slots=True)
class Phrase:
    """Words of a question that name one thing.

    start, end   offsets into the question, without a determiner
    preposition  before the phrase, "" without one
    names        [start, end) of the name within it, None without one
    is_definite  "the", "this", "that" or a possessive stands before it
    """

    text: str
    start: int
    end: int
    preposition: str
    names: tuple[int, int] | None
    is_definite: bool


def words_of(text: str) -> list[Word]:
    """The words in their order.

    >>> [w.text for w in words_of("And for Windows?")]
    ['And', 'for', 'Windows']
    """
    return [Word(m.group(), m.start(), m.end(), m.group().lower().replace("’", "'")) for m in _WORD.finditer(text)]


def without_possessive(word: str) -> str:
    """ "Marigold's" → "Marigold"."""
    return _POSSESSIVE.sub("", word)


def is_name_word(word: Word, is_first: bool, is_name: IsName) -> bool:
    """True for a word written like a name or identifier, or a known name; a capital at the beginning does not count."""
    if word.low in FUNCTION_WORDS or TIME.fullmatch(word.text):
        return False
    bare = without_possessive(word.text)
    if _NAME_SHAPE.fullmatch(bare) and not (is_first and bare[1:].islower()):
        return True
    return is_name(bare.lower())


def phrases_of(text: str, is_name: IsName) -> list[Phrase]:
    """The noun phrases of a question, in their order; "the mirror of Marigold" is one.

    >>> [p.text for p in phrases_of("Who replaced the mirror of Marigold in June?", lambda word: False)]
    ['replaced', 'mirror of Marigold', 'June']
    """
    words = words_of(text)
    runs: list[list[int]] = []
    for i, word in enumerate(words):
        if word.low in FUNCTION_WORDS:
            continue
        adjoins = runs and runs[-1][-1] == i - 1 and not text[words[i - 1].end : word.start].strip()
        if adjoins:
            runs[-1].append(i)
        else:
            runs.append([i])
    joined: list[list[int]] = []
    for run in runs:
        if joined and _is_of(words, joined[-1][-1], run[0]):
            joined[-1] = list(range(joined[-1][0], run[-1] + 1))
        else:
            joined.append(run)
    return [_phrase(text, words, run, is_name) for run in joined]


def _is_of(words: list[Word], last: int, first: int) -> bool:
    between = [word.low for word in words[last + 1 : first]]
    return between in (["of"], ["of", "the"], ["of", "our"], ["of", "a"])


def _phrase(text: str, words: list[Word], run: list[int], is_name: IsName) -> Phrase:
    before = words[run[0] - 1].low if run[0] else ""
    preposition = before
    if before in DETERMINERS and run[0] > 1:
        preposition = words[run[0] - 2].low
    named = [i for i in run if is_name_word(words[i], i == 0, is_name)]
    names = None
    if named:
        last = named[0]
        while last + 1 in named:
            last += 1
        names = (words[named[0]].start, words[last].start + len(without_possessive(words[last].text)))
    start = words[run[0]].start
    # A verb at the front of a run is not part of the name: "restart lampd" is about lampd.
    if named and named[0] != run[0] and not any(words[i].low == "of" for i in run[: run.index(named[0])]):
        start = words[named[0]].start
    end = words[run[-1]].start + len(without_possessive(words[run[-1]].text))
    return Phrase(
        text=text[start:end],
        start=start,
        end=end,
        preposition=preposition if preposition in PREPOSITIONS else "",
        names=names,
        is_definite=before in ("the", "this", "that", "these", "those", "our"),
    )
