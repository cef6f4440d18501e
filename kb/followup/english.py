"""English follow-ups made complete: fragments, question words alone, pronouns, definite nouns, more of the same. Pure.

Each rule returns None where it does not apply; the first result is used. A rule that is not sure adds the topic instead of
replacing words: an extra word costs a search little, a wrong one much.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from kb.followup.pronouns import MOST_ANSWER_CHARS, replace_pronoun
from kb.followup.records import Standalone, Turn, Why
from kb.followup.topics import find_topic, slot_for, topic_of
from kb.language.english import AUXILIARIES, DETERMINERS, FUNCTION_WORDS, PERSON_PRONOUNS, PREPOSITIONS, QUESTION_WORDS
from kb.language.english_phrases import IsName, Word, phrases_of, without_possessive, words_of
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


def complete_english(question: str, asked: str, turns: Sequence[Turn], is_name: IsName) -> Standalone | None:
    """The question made complete from the turns before it; None where it is complete.

    asked  the question without what leads it in
    turns  oldest first, at least one
    """
    has_lead = asked != question.strip()
    last = turns[-1].question
    swapped = re.sub(_SWAP, "", asked, count=1)
    if swapped != asked:
        return _swap(swapped, last, is_name)
    asked_bare = pattern("trailing", asked, re.I).sub("", asked)
    words = words_of(asked_bare)
    if not words:
        return None
    if _names_its_topic(words):
        return None
    more = _ask_for_more(asked, words, last)
    if more:
        return more
    if re.match(_DO_IT, asked):
        return Standalone(_join(_bare(last), asked), "question-word", (_bare(last),))
    if not _content(words) and not _is_bare_question_word(words):
        return replace_pronoun(asked, words, turns, is_name) or _swap_question_word(
            asked_bare, words, last, turns, is_name
        )
    if _is_bare_question_word(words):
        return _swap_question_word(asked_bare, words, last, turns, is_name)
    if not _has_clause(words):
        if len(words) > MOST_FRAGMENT_WORDS or (len(words) > 5 and not has_lead and asked == asked_bare):
            return None
        refers_back = has_lead or asked != asked_bare or question.rstrip().endswith("?") or words[0].low in _REFERRING
        if not refers_back and len(_content(words)) > 1:
            return None  # "generator fuel type": search words, not a follow-up
        if words[0].low in QUESTION_WORDS:
            return _with_topic(asked, last, is_name, "fragment")
        return _swap(asked_bare, last, is_name)
    return replace_pronoun(asked, words, turns, is_name) or _add_to_definite(asked, turns, is_name, has_lead)


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


def _ask_for_more(asked: str, words: Sequence[Word], last: str) -> Standalone | None:
    match = pattern("goes_on", asked, re.I).match(asked)
    if not match:
        return None
    rest = words_of(asked[match.end() :])
    if len(rest) > 3 or any(w.low in AUXILIARIES or w.low in PERSON_PRONOUNS for w in rest):
        return None
    return Standalone(_join(_bare(last), asked), "more", (_bare(last),))


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


def _swap_question_word(
    asked: str, words: Sequence[Word], last: str, turns: Sequence[Turn], is_name: IsName
) -> Standalone:
    """ "Why?" after "How often must the mirror be cleaned?" → "Why must the mirror be cleaned?"."""
    old = words_of(last)
    asking = re.sub(r"^how come\b", "why", asked.strip(" ?!.").strip(), flags=re.IGNORECASE)
    if not all(word.low in QUESTION_WORDS | PREPOSITIONS or word.low in _ADVERBS for word in words_of(asking)):
        return Standalone(_join(_bare(last), asked), "question-word", (_bare(last),))
    if old and old[0].low in QUESTION_WORDS:
        at = 1
        while at < len(old) and old[at].low in ("long", "often", "much", "many", "far", "soon", "else", "one"):
            at += 1
        if at < len(old) and (old[at].low in AUXILIARIES or old[0].low in ("who", "what")):
            rest = last[old[at].start :]
            subject_question = old[at].low not in AUXILIARIES
            if not subject_question:
                return Standalone(f"{asking[0].upper()}{asking[1:]} {rest}", "question-word", (rest.strip(" ?"),))
    return Standalone(_join(_bare(last), asking + "?"), "question-word", (_bare(last),))


def _swap(fragment: str, last: str, is_name: IsName) -> Standalone:
    """The last question with the fragment in place of its counterpart; the fragment is added where there is none."""
    fragment = pattern("trailing", fragment, re.I).sub("", fragment).strip(" ?!.…,")
    words = words_of(fragment)
    if words and words[0].low in _OPEN_FRAGMENT:
        return _with_topic(fragment + "?", last, is_name, "fragment") or Standalone(fragment)
    if not words:
        return Standalone(last, "swap", (_bare(last),))
    preposition = words[0].low if words[0].low in PREPOSITIONS and len(words) > 1 else ""
    body = fragment[words[1].start :] if preposition else fragment
    body_words = words[1:] if preposition else words
    if len(body_words) > 1 and body_words[0].low in ("its", "their", "his", "her"):
        body = f"the {body[body_words[1].start - body_words[0].start :]}"
        body_words = words_of(body)
    slot = slot_for(body, body_words, preposition, last, is_name)
    if slot is None:
        # "and on Windows?" adds a circumstance to the last question.
        added = f"{_bare(last)} {fragment}?" if preposition else _join(_bare(last), fragment + "?")
        return Standalone(added, "swap", (_bare(last),))
    start, end, keeps_article = slot
    new = body
    before = last[:start]
    ends_owned = re.search(r"['’]s?\s+$", before)
    if keeps_article and (ends_owned or (words_of(before) and words_of(before)[-1].low in ("the", "a", "an"))):
        new = re.sub(r"^(?:the|a|an)\s+", "", new, flags=re.IGNORECASE)
    after = last[end:]
    owns = re.match(r"['’]s?(?=\s|$)", after)
    if re.search(r"['’]s?$", new):
        after = after[owns.end() :] if owns else after
        if not owns:
            new = without_possessive(new)
    return Standalone(f"{before}{new}{after}", "swap", (_bare(last),))


def _with_topic(asked: str, last: str, is_name: IsName, why: Why) -> Standalone | None:
    topic = find_topic(last, is_name)
    return Standalone(_join(asked, topic), why, (topic,)) if topic else None


def _add_to_definite(asked: str, turns: Sequence[Turn], is_name: IsName, has_lead: bool) -> Standalone | None:
    """ "How heavy is the mirror?" after a question about Marigold's mirror: the name is added."""
    phrases = phrases_of(asked, is_name)
    if any(p.names for p in phrases):
        return None
    last = turns[-1]
    named = [p for p in phrases_of(last.question, is_name) if p.names]
    if not named:
        return None
    topic = topic_of(named)
    assert topic.names is not None
    name = last.question[topic.names[0] : topic.names[1]]
    said = {
        _stem(w.low)
        for w in words_of(f"{last.question} {last.answer[:MOST_ANSWER_CHARS]}")
        if w.low not in FUNCTION_WORDS
    }
    for phrase in phrases:
        heads = [_stem(word.low) for word in words_of(phrase.text)]
        refers_back = phrase.is_definite and any(head in said for head in heads)
        if refers_back or (has_lead and phrase.is_definite):
            return Standalone(f"{asked[: phrase.end]} of {name}{asked[phrase.end :]}", "definite", (name,))
    return None


def _stem(word: str) -> str:
    return without_possessive(word).rstrip("s")


def _bare(question: str) -> str:
    return question.strip().rstrip("?!. ")


def _join(first: str, second: str) -> str:
    return f"{_bare(first)}: {second.strip()}"
