"""A sentence that is another one but for its beginning, one word, or two stretches in each other's place → what is wrong with it. Pure.

It is no rewording: whoever rewords a sentence changes more of it. So what excuses an opposite or another order in a sentence that only
shares most of its words, such as the other word standing there as well, is no excuse here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from kb.language import english
from kb.language.korean_particles import is_hangul
from kb.support.clauses import Word, are_opposite, is_same, words_of
from kb.support.roles import BE, EVEN, PREPOSITIONS
from kb.text import STOP_WORDS

# In a shorter sentence one word is much of it; a Korean one has a word less, since particles are no words.
LEAST_WORDS = 5
# A full name has two or three.
LONGEST_STRETCH_WORDS = 4
_PREPOSITIONS = PREPOSITIONS | frozenset("by from to since until after before".split())
# Between two things that are each the other: "Paris is still the capital" is "the capital is still Paris".
_EVEN_BETWEEN = (
    EVEN | BE | frozenset("nor as called named than still now then today currently once always only".split())
)
# None that says why: "so" would be a claim of its own.
_JOINING = frozenset("and but while 그리고 하지만 그러나 또한".split())
# What a sentence may begin with and say the same: "However", "But", "Through".
_OPENING = (
    english.FUNCTION_WORDS
    | english.LIGHT_WORDS
    | STOP_WORDS
    | frozenset(
        "however moreover furthermore besides meanwhile otherwise nevertheless nonetheless hence overall indeed even"
        " first second next last finally later once whether whenever plus except unlike".split()
    )
)
# What may stand for a name, which may stand for it.
_STANDS_FOR = english.PRONOUNS | english.DETERMINERS | english.QUESTION_WORDS
LONGEST_OPENING_WORDS = 3
# Put in or left out, they change what is said; all but the first three before a number.
_INSERTED = frozenset(
    tuple(phrase.split())
    for phrase in (
        "not|never|no longer|at least|at most|more than|less than|fewer than|up to|over|under|almost|nearly".split("|")
    )
)
_DENIALS = frozenset({("not",), ("never",), ("no", "longer")})
_MAY, _MUST = frozenset("can could may might".split()), frozenset("must shall".split())
_NEED_NOT = ("need", "not")


def altered(claim: str, sentence: str, known: frozenset[str] = frozenset()) -> list[str]:
    """What was altered, as words for a message; empty for what is no such copy.

    known  keys of the words of all that is cited: what "it" stands for may be named there

    >>> altered("The valve is open at the north end.", "The valve is open at the south end.")
    ["'north' is the opposite of 'south'"]
    >>> altered("Ada Quill paid Tom Brandt for the lamp.", "Tom Brandt paid Ada Quill for the lamp.")
    ["'Ada Quill' and 'Tom Brandt' have changed places"]
    """
    ours, theirs = words_of(claim), words_of(sentence)
    least = LEAST_WORDS - 1 if ours and is_hangul(ours[-1].text[-1:]) else LEAST_WORDS
    if min(len(ours), len(theirs)) < least:
        return []
    if found := [*_begun_otherwise(ours, theirs, known), *_inserted(ours, theirs)]:
        return found
    lead = len(ours) - len(theirs)
    if not 0 <= lead <= LONGEST_OPENING_WORDS:
        return []
    ours = ours[lead:]  # of a table's row: what names it, and the column's name
    changed = [n for n, (one, other) in enumerate(zip(ours, theirs, strict=True)) if not _is_it(one, other)]
    if len(changed) == 1:
        return [*_opposite(ours[changed[0]], theirs[changed[0]])]
    if len(changed) == 2 and any(is_hangul(ours[n].text[-1:]) for n in changed):
        return [*_stems_exchanged(ours, theirs, *changed)]
    if changed:
        first, last = changed[0], changed[-1] + 1
        return [*_stretches_exchanged(ours, theirs, first, last)]
    return []


def is_turned(claim: str, sentence: str) -> bool:
    """True for a sentence whose first part has been moved to its end, word for word: it says the same.

    >>> is_turned("He walks with a limp in season 5.", "In season 5, he walks with a limp.")
    True
    """
    ours, theirs = ([word.text.casefold() for word in words_of(text)] for text in (claim, sentence))
    if len(ours) != len(theirs) or len(ours) < LEAST_WORDS:
        return False
    return any(theirs[at:] + theirs[:at] == ours for at in range(1, len(ours)))


def is_joined(claim: str, sentences: Sequence[str]) -> bool:
    """True for whole sentences one after another, word for word, with "and" or "but" between them or nothing.

    >>> is_joined("The lamp does not burn, but it can be lit by hand.", ["It can be lit by hand.", "The lamp does not burn."])
    True
    """
    ours = tuple(word.text.casefold() for word in words_of(claim))
    told = {tuple(word.text.casefold() for word in words_of(sentence)) for sentence in sentences}
    told = {words for words in told if len(words) >= LEAST_WORDS - 1}
    begins, at_end = [0], set[int]()
    while begins:
        at = begins.pop()
        for words in told:
            end = at + len(words)
            if ours[at:end] == words and end not in at_end:
                at_end.add(end)
                begins += [end, end + 1] if ours[end : end + 1] and ours[end] in _JOINING else [end]
    return len(ours) in at_end


def _is_it(one: Word, other: Word) -> bool:
    low, theirs = one.text.casefold(), other.text.casefold()
    return low == theirs or {low, theirs} == {"a", "an"}


def _begun_otherwise(ours: Sequence[Word], theirs: Sequence[Word], known: frozenset[str]) -> Iterator[str]:
    """Another thing where the sentence only begins: "Marlowe, the lamp burns" for "However, the lamp burns"."""
    kept = _alike(reversed(ours), reversed(theirs))
    mine, its = ours[: len(ours) - kept], theirs[: len(theirs) - kept]
    if kept < LEAST_WORDS - 1 or not 0 < len(mine) <= LONGEST_OPENING_WORDS or len(its) != 1:
        return
    begun = its[0].text.lower()
    if not _opens(begun) or is_hangul(mine[0].text[-1:]):
        return
    told = [w for w in mine if not _opens(w.text.lower())]
    # "It" may be named elsewhere, and so may the year: "In 2006, the keeper left" for "But the keeper left".
    may_be_told = begun in _STANDS_FOR or mine[0].text.lower() in english.PREPOSITIONS
    if any(w.key not in known for w in told) if may_be_told else told:
        yield f"'{' '.join(w.text for w in mine)}' is not what the text says: '{its[0].text}'"


def _opens(word: str) -> bool:
    return word in _OPENING or word.endswith("ly")


def _inserted(ours: Sequence[Word], theirs: Sequence[Word]) -> Iterator[str]:
    """A denial or a bound that the one has and the other has not; all else is the same."""
    few, many = sorted((ours, theirs), key=len)
    more = len(many) - len(few)
    if not 0 < more <= 2:
        return
    at = _alike(many, few)
    if _told(many[at : at + 2]) == _NEED_NOT and at < len(few) and few[at].text.lower() in _MUST | {"should"}:
        if _alike(many[at + 2 :], few[at + 1 :]) == len(few) - at - 1:
            yield f"'{few[at].text}' is {'there' if many is ours else 'here'}, not 'need not'"
        return
    stretch = _told(many[at : at + more])
    if stretch not in _INSERTED or _alike(many[at + more :], few[at:]) < len(few) - at:
        return
    following = many[at + more : at + more + 1]
    if stretch in _DENIALS or (following and following[0].text[:1].isdigit()):
        yield f"'{' '.join(stretch)}' is {'here' if many is ours else 'there'} only"


def _told(words: Sequence[Word]) -> tuple[str, ...]:
    return tuple(word.text.lower() for word in words)


def _alike(ours: Iterable[Word], theirs: Iterable[Word]) -> int:
    """How many words are the same before the first that is not."""
    count = 0
    for one, other in zip(ours, theirs, strict=False):
        if not _is_it(one, other):
            break
        count += 1
    return count


def _opposite(one: Word, other: Word) -> Iterator[str]:
    if are_opposite(one, other):
        yield f"'{one.text}' is the opposite of '{other.text}'"
    elif _has_other_part(one, other) or (
        one.text[:1].isdigit() and other.text[:1].isdigit() and one.key.replace(",", "") != other.key.replace(",", "")
    ):
        yield f"it says '{one.text}' where the text says '{other.text}'"
    elif (
        is_hangul(one.text[-1:])
        and one.text != other.text
        and one.text.replace("없", "있") == other.text.replace("없", "있")
    ):
        yield f"'{one.text}' is the opposite of '{other.text}'"
    elif any(one.text.lower() in mine and other.text.lower() in its for mine, its in ((_MAY, _MUST), (_MUST, _MAY))):
        yield f"it says '{one.text}' where the text says '{other.text}'"


def _has_other_part(one: Word, other: Word) -> bool:
    """True for two words of parts joined by hyphens or underscores, one of which is another: "year-old", "year-new"."""
    mine, its = ([*words_of(re.sub("[-_]", " ", word.text))] for word in (one, other))
    if len(mine) < 2 or len(mine) != len(its):
        return False
    return [is_same(a.key, b.key) for a, b in zip(mine, its, strict=True)].count(False) == 1


def _stems_exchanged(ours: Sequence[Word], theirs: Sequence[Word], at: int, behind: int) -> Iterator[str]:
    """Korean words in each other's place whose particles stayed: "the moon bites the dog". With its particle a word may stand anywhere."""
    one, other = ours[at], ours[behind]
    if _is_it(one, theirs[behind]) and _is_it(other, theirs[at]):
        return
    if _are_alike(one, theirs[behind]) and _are_alike(other, theirs[at]) and not _are_alike(one, theirs[at]):
        yield f"'{one.text}' and '{other.text}' have changed places"


def _are_alike(one: Word, other: Word) -> bool:
    """True for one stem with two particles."""
    a, b = one.key.casefold(), other.key.casefold()
    return a == b or (min(len(a), len(b)) > 1 and (a in b or b in a or a[:2] == b[:2]))


def _stretches_exchanged(ours: Sequence[Word], theirs: Sequence[Word], first: int, last: int) -> Iterator[str]:
    """first, last  what differs lies between these places"""
    mine, its = ([w.text.casefold() for w in words[first:last]] for words in (ours, theirs))
    for left in range(1, LONGEST_STRETCH_WORDS + 1):
        for right in range(1, min(LONGEST_STRETCH_WORDS, len(mine) - left - 1) + 1):
            between = mine[left:-right]
            if its != [*mine[-right:], *between, *mine[:left]]:
                continue
            stretches = ours[first : first + left], ours[last - right : last]
            before = ours[first - 1].text.lower() if first else "", between[-1]
            if _may_turn(stretches, ours[first + left : last - right], before):
                continue
            names = [" ".join(word.text for word in stretch) for stretch in stretches]
            yield f"'{names[0]}' and '{names[1]}' have changed places"
            return


def _may_turn(
    stretches: tuple[Sequence[Word], Sequence[Word]], between: Sequence[Word], before: tuple[str, str]
) -> bool:
    """True where the order says nothing: of what "and" or "is" joins, of phrases such as "in Rome", and of words that tell nothing.

    before  the words before both stretches
    """
    if all({word.key, word.text.lower()} & (_EVEN_BETWEEN | STOP_WORDS) for word in between):
        return True
    if before[0] == before[1] and before[0] in _PREPOSITIONS:
        return True
    if all(stretch[0].text.lower() in _PREPOSITIONS for stretch in stretches):
        return True
    return all(word.text.lower() in STOP_WORDS for stretch in stretches for word in stretch)
