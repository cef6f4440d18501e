"""Language: the tables and functions that one language brings. A kind that a language leaves out never matches in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, fields
from typing import Any, Literal

from kb.frozen import dataclass

# Questions that kb answers itself, without documents: the name of a pattern, and of the words that stand in all its matches.
OwnKind = Literal["own_user", "own_date", "own_time", "own_abilities", "own_tools", "own_earlier", "own_tasks"]
# Kinds of words; the words are whole and in lower case:
#   stop            carry no topic
#   asking          words of questions that an answer need not hold
#   frame           index terms that frame a question
#   filler          ask for more without a topic
#   asked_for       the thing that is asked for, not the topic: "이름"
#   asked_of_user   the same in questions about the user: "email"
#   beside_small_talk may stand beside small talk but are none alone; not_small_talk: a text that begins so asks something
#   urgent_sign, errand_sign  parts of every match of the patterns "urgency" and "errand"; own_X: of the pattern "own_X"
#   tool            verbs and objects of kb's commands; tool_stem: the same, as beginnings of words
#   everyday        words of any talk: that passages do not hold one says nothing of what they are about
#   names_nothing   not names, even where they are written like one
#   negator         negate the word behind them
#   explain … enumeration  words of answers to questions of that intent or shape
#   tech            words of texts on technology
WordKind = Literal[
    "stop", "asking", "frame", "filler", "asked_for", "asked_of_user", "beside_small_talk", "not_small_talk", "urgent_sign", "errand_sign",
    "tool", "tool_stem", "everyday", "names_nothing", "negator", "explain", "troubleshoot", "compare", "list", "design",
    "definition", "enumeration", "tech",
    "own_user", "own_date", "own_time", "own_abilities", "own_tools", "own_earlier", "own_tasks",
]  # fmt: skip

# Kinds of regular expressions:
#   greeting … about_kb       the manner of a prompt (manner.py); matched against `tidy` text
#   time … commands           topics of a prompt that a context node answers; matched against `tidy` text too
#   asks_X, tells_X           a question that wants a thing of kind X, and a text that holds one
#   intent_X, shape_X         what a question asks, and what its answer looks like
#   lead, trailing            empty words at the beginning and the end of a follow-up
#   new_topic, by_the_way     announce another topic, at the beginning or anywhere
#   goes_on                   a question for more of the same
#   asks_more                 a question for something that was not said yet
#   refusal, verdict, says_nothing  an answer that calls the evidence insufficient (kb/ask/cite.py)
#   implies_no                a word that says no without negating another word
#   recalls                   a word that refers to something said, without its topic
#   sentence_end              the end of a sentence that has no full stop
#   code                      words of code
#   opens_question            the first word of a question
#   closes_question           the ending of a question's verb, at its end
#   asks_event_date           asks when something happened, which "while it rains" does not tell
#   no_topic                  the form of a word that names nothing: a contraction, a verb in the past
#   label_number              the number of a figure, a step or a version, which counts nothing
#   own_X                     the whole of a question that kb answers itself; own_frame, own_tail: what may stand around it
#   own_last                  asks for the last question alone
#   own_all                   asks for all that is known about the user
#   of_user                   the end of what stands before a thing of the user: "my", 내
PatternKind = Literal[
    "greeting", "small_talk", "farewell", "thanks", "apology", "reference", "pronoun", "no_pronoun", "bare_topic",
    "urgency", "errand", "introduction", "asks", "opens_question", "closes_question", "about_user", "about_kb",
    "time", "date", "corpus", "here", "overview", "tasks", "past", "commands",
    "asks_price", "asks_frequency", "asks_duration", "asks_count", "asks_number", "asks_date", "asks_event_date", "asks_person", "asks_reason", "asks_counted", "vague_number", "or_more", "plural_noun",
    "tells_price", "tells_frequency", "tells_duration", "tells_number", "tells_date", "tells_event_date", "tells_person", "tells_reason",
    "gives_reason", "asks_place", "asks_use", "tells_use", "label_number", "no_topic",
    "case_weekday", "rule_weekday", "case_date", "rule_date", "case_clock", "rule_clock", "case_age", "rule_age", "case_people", "rule_people", "no_case",
    "intent_compare", "intent_troubleshoot", "intent_design", "intent_list", "intent_explain", "intent_define",
    "shape_code", "shape_number", "shape_list", "shape_definition",
    "lead", "new_topic", "by_the_way", "trailing", "goes_on",
    "asks_more", "refusal", "verdict", "says_nothing", "implies_no", "recalls", "sentence_end", "code",
    "own_frame", "own_tail", "own_user", "own_date", "own_time", "own_abilities", "own_tools", "own_earlier", "own_tasks", "own_last", "own_all", "of_user",
]  # fmt: skip


# Without eq and repr, which nothing uses: making the methods takes 1 ms of every start.
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
    """The tables of several languages joined."""
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
    letters   regex class of the letters that only it uses; empty for Latin letters
    bare      a word of a question → the word without particles
    replies   kb's own messages, by what they reply to (kb/ask); {name}, {words}, … are filled in
    everyday  a key that all languages share → this language's words for it, apart by blanks; the first is the one kb uses
    """

    code: str
    letters: str
    words: Mapping[WordKind, frozenset[str]]
    patterns: Mapping[PatternKind, str]
    numbers: Numbers
    replies: Mapping[str, str]
    everyday: Mapping[str, str] = field(default_factory=dict)
    bare: Callable[[str], str] = as_is
