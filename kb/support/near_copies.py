"""A sentence that is another one but for one word, or for two stretches in each other's place → what is wrong with it. Pure.

It is no rewording: whoever rewords a sentence changes more of it. So what excuses an opposite or another order in a sentence that only
shares most of its words, such as the other word standing there as well, is no excuse here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kb.language.korean_particles import is_hangul
from kb.support.clauses import Word, are_opposite, words_of
from kb.support.roles import BE, EVEN, PREPOSITIONS
from kb.text import STOP_WORDS

# In a shorter sentence one word is much of it.
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
_MAY, _MUST = frozenset("can could may might".split()), frozenset("must shall".split())


def altered(claim: str, sentence: str) -> list[str]:
    """What was altered, as words for a message; empty for what is no such copy.

    >>> altered("The valve is open at the north end.", "The valve is open at the south end.")
    ["'north' is the opposite of 'south'"]
    >>> altered("Ada Quill paid Tom Brandt for the lamp.", "Tom Brandt paid Ada Quill for the lamp.")
    ["'Ada Quill' and 'Tom Brandt' have changed places"]
    """
    ours, theirs = words_of(claim), words_of(sentence)
    if len(ours) != len(theirs) or len(ours) < LEAST_WORDS:
        return []
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


def _opposite(one: Word, other: Word) -> Iterator[str]:
    if are_opposite(one, other):
        yield f"'{one.text}' is the opposite of '{other.text}'"
    elif any(one.text.lower() in mine and other.text.lower() in its for mine, its in ((_MAY, _MUST), (_MUST, _MAY))):
        yield f"it says '{one.text}' where the text says '{other.text}'"


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
    return any(all(word.text.lower() in STOP_WORDS for word in stretch) for stretch in stretches)
