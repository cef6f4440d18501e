"""English follow-ups: fragments, question words alone, pronouns, more of the same. Pure.

A sentence is written only where one name or time takes the place of another in a plain question, or a question word the
place of another. Everything else keeps its words and is joined to the last question: an extra word costs a search little, a
wrong one much.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from kb.followup.records import Standalone, Why, join
from kb.language.english import AUXILIARIES, DETERMINERS, FUNCTION_WORDS, PERSON_PRONOUNS, PREPOSITIONS, QUESTION_WORDS
from kb.language.english_phrases import (
    TIME,
    IsName,
    Word,
    is_name_word,
    phrases_of,
    without_possessive,
    words_of,
)
from kb.language.registry import pattern

_SWAP = r"(?i)^\s*(?:what about|how about|what of|what if(?: it is| it's)?|(?:and )?(?:the )?same (?:question )?(?:for|with|about)|is (?:it|that) the same (?:for|with|on|at|in)|wh?at abt|hbu)\b\s*"
# Questions whose verb stands for that of the last question: "who does it?" after "how often must it be cleaned?".
_DO_IT = r"(?i)^(?:who|when|how|where|why)(?: often| else)? (?:does|do|did|can|must|should|will) (?:(?:i|we|you|they|one) )?(?:do )?(?:it|that|this|so)\W*$"
_ADVERBS = frozenset("long often much many far soon else exactly so come not one ever".split())
# "any without nuts?", "not even then?": a fragment that begins so replaces nothing in the last question.
_OPEN_FRAGMENT = frozenset("any some none only not even no never just".split())
# A fragment that begins so refers to the last question.
_REFERRING = PREPOSITIONS | DETERMINERS | QUESTION_WORDS | frozenset("its their his her hers theirs".split())
# A fragment of more words than this is a sentence of its own.
MOST_FRAGMENT_WORDS = 9


# A question of more words than this may hold more than one clause: no sentence is made of it.
MOST_PLAIN_WORDS = 14
_THINGS = frozenset("it they them its their this that these those one ones".split())
# "How long does the mast run on its battery?": a thing of the question's own.
_ARTICLES = ("the", "a", "an")
_BOTH = r"(?i)\b(?:both(?: of them)?|either of them|the two(?: of them)?|which (?:one )?of (?:the two|them|these))\b"
# Phrases in which "it" does not refer to an earlier thing: "is it possible", "what time is it".
_EMPTY_IT = r"(?i)\b(?:is|was|does|would|will|can) it (?:possible|true|ok|okay|allowed|safe|necessary|worth|rain|snow|matter|depend)\b|\bwhat time is it\b"
_CLAUSE_ENDS = r"(?i)(?:\b(?:is|are|was|does|did|do|can|of|for|at|in|on|with|about|to|from|by)|[,:;-])\s*$"


def complete_english(question: str, asked: str, last: str, is_name: IsName) -> Standalone | None:
    """The question made complete from the last one; None where no rule applies.

    asked  the question without what leads it in
    """

    def joined(why: Why) -> Standalone:
        return Standalone(join(last, question), why)

    has_lead = asked != question.strip()
    swapped = re.sub(_SWAP, "", asked, count=1)
    if swapped != asked:
        return _swap(swapped, last, is_name, is_led=True) or joined("swap")
    asked_bare = pattern("trailing", asked, re.I).sub("", asked)
    words = words_of(asked_bare)
    if not words:
        return None
    if _names_its_topic(words):
        return Standalone(question)
    if _asks_for_more(asked, words):
        return joined("more")
    if re.match(_DO_IT, asked):
        return joined("question-word")
    if _is_bare_question_word(words):
        return _swap_question_word(asked_bare, last) or joined("question-word")
    refers = _refers_back(asked, words, is_name)
    if not _content(words):
        return joined("pronoun" if refers else "question-word")
    if not _has_clause(words):
        if len(words) > MOST_FRAGMENT_WORDS or (len(words) > 5 and not has_lead and asked == asked_bare):
            return None
        is_asked = has_lead or asked != asked_bare or question.rstrip().endswith("?") or words[0].low in _REFERRING
        if not is_asked and len(_content(words)) > 1:
            return None  # "generator fuel type": search words, not a follow-up
        if words[0].low in QUESTION_WORDS:
            return joined("fragment")
        return _swap(asked_bare, last, is_name, is_led=has_lead) or joined("swap")
    return joined("pronoun") if refers else None


def _names_its_topic(words: Sequence[Word]) -> bool:
    """ "flapjacks: what temperature?", "the covers, how quick do they close?": the topic stands before the question word."""
    asking = next((i for i, word in enumerate(words) if word.low in QUESTION_WORDS), 0)
    before = words[:asking]
    return bool(_content(before)) and not any(word.low in AUXILIARIES or word.low in PREPOSITIONS for word in before)


def _has_clause(words: Sequence[Word]) -> bool:
    """True with an auxiliary, or with a question word and more than one word behind it."""
    if any(word.low in AUXILIARIES for word in words):
        return True
    wh = [i for i, word in enumerate(words) if word.low in QUESTION_WORDS]
    return (
        bool(wh)
        and len(words) - wh[0] > 2
        and words[wh[0]].low in ("who", "what", "which", "what's", "who's", "where's", "how's", "when's")
    )


def _asks_for_more(asked: str, words: Sequence[Word]) -> bool:
    match = pattern("goes_on", asked, re.I).match(asked)
    rest = words_of(asked[match.end() :]) if match else []
    return bool(match) and len(rest) <= 3 and not any(w.low in AUXILIARIES or w.low in PERSON_PRONOUNS for w in rest)


# Verbs and nouns without a topic: "so what do I do?", "what happened then?".
_LIGHT = frozenset(
    "do does did done happen happens happened mean means work works go goes went get gets say says said thing things way reason please know tell me us".split()
)


def _content(words: Sequence[Word]) -> list[Word]:
    return [word for word in words if word.low not in FUNCTION_WORDS and word.low not in _LIGHT]


def _is_bare_question_word(words: Sequence[Word]) -> bool:
    """ "why?", "since when?", "how often?", "by whom?", "and who else": only question words and prepositions."""
    has = any(word.low in QUESTION_WORDS for word in words)
    return has and all(word.low in QUESTION_WORDS | PREPOSITIONS | _ADVERBS for word in words)


def _refers_back(asked: str, words: Sequence[Word], is_name: IsName) -> bool:
    """True with a pronoun that stands for an earlier thing: no thing of the question stands before it."""
    if re.search(_BOTH, asked):
        return True
    for i, word in enumerate(words):
        if any(is_name_word(w, at == 0, is_name) or w.low in _ARTICLES for at, w in enumerate(words[:i])):
            return False
        low = re.sub(r"'(?:s|re|ll|d)$", "", word.low)
        before = asked[: word.start]
        if low in PERSON_PRONOUNS:
            return True
        if low == "there" and not re.search(r"\b(?:is|are|was|were|be)\s*$", before, re.IGNORECASE):
            return i > 0 and low == word.low
        if low not in _THINGS or (low == "it" and re.search(_EMPTY_IT, asked)):
            continue
        noun_follows = i + 1 < len(words) and words[i + 1].low not in FUNCTION_WORDS
        # "the page that explains …": a conjunction.
        if low != "that" or word.start == 0 or not noun_follows or re.search(_CLAUSE_ENDS, before):
            return True
    return False


def _is_plain(question: str) -> bool:
    """True for one short question of one clause, in which words can be exchanged."""
    words = words_of(question)
    if not words or len(words) > MOST_PLAIN_WORDS or re.search(r"[()\[\]:;,\"“”/]|[.?!]\s+\S", question.strip()):
        return False
    if any(word.low in _THINGS | PERSON_PRONOUNS for word in words):
        return False
    if words[0].low not in QUESTION_WORDS | AUXILIARIES or not question.rstrip().endswith("?"):
        return False
    return sum(word.low in AUXILIARIES - {"be", "been", "have"} for word in words) <= 1


def _swap_question_word(asked: str, last: str) -> Standalone | None:
    """ "Why?" after "How often must the mirror be cleaned?" → "Why must the mirror be cleaned?"; None where no sentence is sure."""
    asking = re.sub(r"^how come\b", "why", asked.strip(" ?!.").strip(), flags=re.IGNORECASE)
    old = words_of(last)
    if asking.lower() not in ("why", "when", "where") or not _is_plain(last) or old[0].low not in QUESTION_WORDS:
        return None
    at = 1
    while at < len(old) and old[at].low in ("long", "often", "soon"):
        at += 1
    # Of "what does it cost?" or "how many are there?" the question word is the object: "why" cannot stand for it.
    if old[0].low not in ("how", "when", "where", "why") or old[at].low not in AUXILIARIES:
        return None
    return Standalone(f"{asking.capitalize()} {last[old[at].start :]}", "question-word")


def _swap(fragment: str, last: str, is_name: IsName, *, is_led: bool) -> Standalone | None:
    """The last question with the fragment's name or time in place of its own; None where no sentence is sure.

    is_led  words stand before the fragment: its first capital is a name's
    """
    fragment = pattern("trailing", fragment, re.I).sub("", fragment).strip(" ?!.…,")
    words = words_of(fragment)
    if not words or not _is_plain(last) or words[0].low in _OPEN_FRAGMENT:
        return None
    preposition = words[0].low if words[0].low in PREPOSITIONS and len(words) > 1 else ""
    new = fragment[words[1].start :] if preposition else fragment
    if TIME.fullmatch(new):
        times = list(TIME.finditer(last))
        if len(times) == 1:
            return Standalone(last[: times[0].start()] + new + last[times[0].end() :], "swap")
        return Standalone(f"{last.strip().rstrip('?! ')} {fragment}?", "swap") if preposition and not times else None
    named = words[1:] if preposition else words
    first_is_plain = not (is_led or preposition)
    if len(named) > 3 or not all(is_name_word(w, first_is_plain and w is named[0], is_name) for w in named):
        return None
    names = [
        p for p in phrases_of(last, is_name) if p.names and preposition in ("", "for", "with", "about", p.preposition)
    ]
    if preposition not in ("", "for", "with", "about"):
        names = [p for p in names if p.preposition == preposition]
    if len(names) != 1 or names[0].names is None:
        return None
    start, end = names[0].names
    owned = re.match(r"['’]s?(?=\s|$)", last[end:])
    if re.search(r"['’]s?$", new):
        end += owned.end() if owned else 0
        new = new if owned else without_possessive(new)
    return Standalone(f"{last[:start]}{new}{last[end:]}", "swap")
