"""Language: the tables and functions that one language brings. A kind that a language leaves out never matches in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Literal

# Questions that kb answers itself, without documents: the name of a pattern, and of the words that stand in all its matches.
OwnKind = Literal["own_user", "own_date", "own_time", "own_abilities", "own_tools", "own_earlier", "own_tasks"]
# Words, whole and in lower case, by what they are:
#   stop            carry no topic
#   asking          stand in questions, and no answer needs to hold them
#   frame           index terms that frame a question
#   filler          ask for more without saying of what
#   asked_for       what is asked for, not what the question is about: "이름"
#   asked_of_user   the same in questions about the user: "email"
#   beside_courtesy may stand beside a courtesy and are none alone; not_courtesy: what begins so asks
#   urgent_sign, errand_sign  parts of every match of the patterns "urgency" and "errand"; own_X: of the pattern "own_X"
#   tool            what kb's commands do, and to what; tool_stem: the same, as beginnings of words
#   names_nothing   are no names even where they are written like one
#   negator         negate the word behind them
#   explain … enumeration  an answer to a question of that intent or shape holds some
#   tech            a text on technology holds some
WordKind = Literal[
    "stop", "asking", "frame", "filler", "asked_for", "asked_of_user", "beside_courtesy", "not_courtesy", "urgent_sign", "errand_sign",
    "tool", "tool_stem", "names_nothing", "negator", "explain", "troubleshoot", "compare", "list", "design",
    "definition", "enumeration", "tech",
    "own_user", "own_date", "own_time", "own_abilities", "own_tools", "own_earlier", "own_tasks",
]  # fmt: skip

# Regular expressions, by what they find:
#   greeting … about_kb       the manner of a prompt (manner.py); matched against `tidy` text
#   time … commands           what a prompt asks about, so that a context node bears on it; `tidy` text too
#   asks_X, tells_X           a question that wants a thing of kind X, and a text that holds one
#   intent_X, shape_X         what a question asks, and what its answer looks like
#   lead, trailing            begin and end a question that goes on from another, and add nothing
#   new_topic, by_the_way     say that the topic is another, at the beginning or anywhere
#   goes_on                   a question for more of the same
#   asks_more                 a question that wants what was not said yet
#   refusal, verdict, says_nothing  an answer that says the evidence does not suffice (kb/ask/cite.py)
#   implies_no                a word that says no without negating another word
#   recalls                   a word that recalls what was said, and says nothing of what
#   sentence_end              the end of a sentence that has no full stop
#   code                      words of code
#   own_X                     the whole of a question that kb answers itself; own_frame, own_tail: what may stand around it
#   own_last                  asks for the last question alone
#   own_all                   asks for all that is known about the user
#   of_user                   the end of what stands before a thing of the user: "my", 내
PatternKind = Literal[
    "greeting", "courtesy", "farewell", "thanks", "apology", "reference", "pronoun", "no_pronoun", "bare_topic",
    "urgency", "errand", "introduction", "asks", "about_user", "about_kb",
    "time", "date", "corpus", "here", "overview", "tasks", "past", "commands",
    "asks_frequency", "asks_duration", "asks_number", "asks_date", "asks_person", "asks_reason",
    "tells_frequency", "tells_duration", "tells_number", "tells_date", "tells_person", "tells_reason",
    "intent_compare", "intent_troubleshoot", "intent_design", "intent_list", "intent_explain", "intent_define",
    "shape_code", "shape_number", "shape_list", "shape_definition",
    "lead", "new_topic", "by_the_way", "trailing", "goes_on",
    "asks_more", "refusal", "verdict", "says_nothing", "implies_no", "recalls", "sentence_end", "code",
    "own_frame", "own_tail", "own_user", "own_date", "own_time", "own_abilities", "own_tools", "own_earlier", "own_tasks", "own_last", "own_all", "of_user",
]  # fmt: skip


# Compared by identity, so that no methods are made for what nobody does with tables: 1 ms of every start.
@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Numbers:
    """How a language writes numbers, units, dates and times of day.

    values     number words → their value
    ordinals   ordinal words → their value
    scales     "thousand", "만" → the factor
    scale      patterns of a scale behind digits
    months     the first three letters of a month's name → its number
    units      a symbol of quantities.UNITS and its names, apart by blanks
    dates      patterns with the groups year, month and day; month is a number or a month's name
    clocks     patterns with the groups hour, minute and half
    counts     patterns of numbers in words, with the groups word, ones, scale and unit
    counters   units that make a count even of "one"; counted: the unit of counts whose pattern has no group unit
    afternoon, midnight  beginnings of words for the half of the day that adds 12 hours, or makes 12 o'clock 0
    """

    values: Mapping[str, float] = field(default_factory=dict)
    ordinals: Mapping[str, float] = field(default_factory=dict)
    scales: Mapping[str, float] = field(default_factory=dict)
    scale: tuple[str, ...] = ()
    months: Mapping[str, int] = field(default_factory=dict)
    units: tuple[str, ...] = ()
    dates: tuple[str, ...] = ()
    clocks: tuple[str, ...] = ()
    counts: tuple[str, ...] = ()
    counters: tuple[str, ...] = ()
    counted: str = ""
    afternoon: tuple[str, ...] = ()
    midnight: tuple[str, ...] = ()


def join_numbers(several: Sequence[Numbers]) -> Numbers:
    """Tables put together, tuples and the rest one behind another."""
    joined: dict[str, Any] = {}
    for name in (entry.name for entry in fields(Numbers)):
        whole, *others = (getattr(numbers, name) for numbers in several)
        for part in others:
            whole = {**whole, **part} if isinstance(whole, Mapping) else whole + part
        joined[name] = whole
    return Numbers(**joined)


def as_is(word: str) -> str:
    """For languages whose words are compared as they are written."""
    return word


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Language:
    """One language.

    code      BCP 47 primary tag
    letters   regex class of the letters that it alone is written in; empty for Latin letters
    bare      a word of a question → the word without particles; as it is where nothing can be taken off
    replies   what kb says in this language, by what it answers (kb/ask); {name}, {words}, … are filled in
    everyday  a key that all languages share → this language's words for it, apart by blanks; the first is the one kb says
    """

    code: str
    letters: str
    words: Mapping[WordKind, frozenset[str]]
    patterns: Mapping[PatternKind, str]
    numbers: Numbers
    replies: Mapping[str, str]
    everyday: Mapping[str, str] = field(default_factory=dict)
    bare: Callable[[str], str] = as_is
