"""A claim and a sentence with the same words → who does what to whom, in both: words in each other's place, and names and
numbers in a place that belongs to another. Pure.

English is read by the words on both sides of a verb, or of a word such as "than"; a passive turns the sides, and so does
the other verb of a pair such as sold and bought. Korean is read by its particles.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import combinations

from kb.language.english import MONTHS
from kb.language.korean_particles import is_hangul, strip_particle
from kb.support.associations import exchanged_associations
from kb.support.clauses import (
    Word,
    are_converse,
    are_opposite,
    bare_verb,
    clauses_of,
    content_of,
    is_same,
    shared,
    words_of,
)
from kb.text import STOP_WORDS

# A claim is about the same event as a sentence where this share of its words is in it.
SAME_EVENT = 0.6
# A name is in the wrong place where the sentence says so much of the claim without it.
SAME_PLACE = 0.6
_PIVOTS = frozenset("than before after until since instead over".split())
_ARTICLES = frozenset("the a an her his its their our my your this that these those".split())
_NOUN_FOLLOWS = _ARTICLES | frozenset("of in on at for with by from to and or".split())
PREPOSITIONS = frozenset("in on at for with during of under over near through".split())
_MONTHS = frozenset(MONTHS)
_TITLES = frozenset("Mr Mrs Ms Miss Dr Prof Professor Sir Madam".split())
BE = frozenset("is are was were be been being get gets got".split())
EVEN = frozenset(
    "and or with versus vs & both between equal equals like meet met marri join share resembl same differ represent mean".split()
)
_PAST = re.compile(r"(?:ed|ought|aught|old|ent|ook|ave|ote|eat|rew|ept|uilt|ound|on|es|s)$")


def swapped_roles(claim: str, sentence: str) -> list[str]:
    """What stands in the place of something else in a claim, both being in the sentence, as words for a message.

    >>> swapped_roles("The Trust sold the tower to her grandson.", "Her grandson sold the tower to the Trust.")
    ["'Trust' and 'grandson' have changed places"]
    """
    if re.search("[가-힣]", claim):
        found = [*_korean_swaps(claim, sentence), *exchanged_associations(claim, sentence)]
    else:
        swaps = (_sides_swapped, _slots_swapped, _clauses_swapped, exchanged_associations)
        found = [said for swap in swaps for said in swap(claim, sentence)]
    return list(dict.fromkeys(found))[:1]


def _sides_swapped(claim: str, sentence: str) -> Iterator[str]:
    for clause in clauses_of(claim):
        ours = words_of(clause)
        content = [w for w in ours if w.is_content]
        for part in clauses_of(sentence):
            theirs = words_of(part)
            if len(content) < 3 or shared(content, [w for w in theirs if w.is_content]) < SAME_EVENT:
                continue
            for pivot, other in _pivots(ours, theirs):
                yield from _swap_at(ours, theirs, pivot, other)


def _pivots(ours: Sequence[Word], theirs: Sequence[Word]) -> Iterator[tuple[Word, Word]]:
    converse = any(are_converse(w, t) for w in ours for t in theirs)
    # What is smaller than the lake, the lake is bigger than that.
    is_turned = any(are_opposite(w, t) for w in ours for t in theirs)
    for word in ours:
        for other in theirs:
            if word.text.lower() in _PIVOTS:
                if word.text.lower() == other.text.lower() and not converse and not (is_turned and word.text == "than"):
                    yield word, other
            elif (
                _may_be_verb(ours, word)
                and _may_be_verb(theirs, other)
                and (are_converse(word, other) or (is_same(word.key, other.key) and not converse))
            ):
                yield word, other


def _may_be_verb(words: Sequence[Word], word: Word) -> bool:
    """False for names, and for what stands behind an article or a preposition, with an adjective between or without."""
    if word.text.lower() in STOP_WORDS or word.text[:1].isupper() or word.key[:1].isdigit():
        return False
    if word.text.endswith("s") and any(w.text.lower() == "of" for w in words if w.place == word.place + 1):
        return False  # the side shoots of the tomatoes
    before = [w.text.lower() for w in words if 0 < word.place - w.place <= 2]
    if before and before[-1] in _NOUN_FOLLOWS:
        return False
    return len(before) < 2 or before[0] not in _ARTICLES or _PAST.search(word.text) is not None


def _swap_at(ours: Sequence[Word], theirs: Sequence[Word], pivot: Word, other: Word) -> Iterator[str]:
    left, right = _sides(ours, pivot)
    their_left, their_right = _sides(theirs, other)
    left, right, their_left, their_right = (
        _once(side, ours, theirs) for side in (left, right, their_left, their_right)
    )
    # What is compared may stand behind a preposition: the path over the pass is easier than that through the gorge, and one rule goes over another.
    is_compared = pivot.text.lower() in ("than", "over")
    crossed_right = [w for w in left if _in(w, their_right) and (is_compared or not _is_aside(w, ours, theirs))]
    crossed_left = [w for w in right if _in(w, their_left) and (is_compared or not _is_aside(w, ours, theirs))]
    turned = _is_passive(ours, pivot) != _is_passive(theirs, other)
    if pivot.is_content and are_converse(pivot, other):
        turned = not turned
    if not turned and crossed_right and crossed_left:
        if not _is_even(ours, crossed_right[0], crossed_left[0]) and not _is_even_pivot(pivot):
            yield f"'{crossed_right[0].text}' and '{crossed_left[0].text}' have changed places"
    elif turned and not crossed_right and not crossed_left and _tells_both(ours, theirs, pivot, other):
        kept_left = [w for w in left if _in(w, their_left) and not _in(w, their_right)]
        kept_right = [w for w in right if _in(w, their_right) and not _in(w, their_left)]
        if kept_left and kept_right:
            yield f"'{kept_left[0].text}' and '{kept_right[0].text}' have changed places"


def _is_aside(word: Word, ours: Sequence[Word], theirs: Sequence[Word]) -> bool:
    """True for a word behind a preposition of place or time in both sentences: such a phrase may stand anywhere."""
    there = next((t for t in theirs if t.key == word.key), None)
    return there is not None and _follows_preposition(word, ours) and _follows_preposition(there, theirs)


def _follows_preposition(word: Word, words: Sequence[Word]) -> bool:
    return any(w.text.lower() in PREPOSITIONS for w in words if 0 < word.place - w.place <= 3)


def _tells_both(ours: Sequence[Word], theirs: Sequence[Word], pivot: Word, other: Word) -> bool:
    """True where a passive names who does it, or a verb is told from its other side: only then must the sides turn."""
    if are_converse(pivot, other):
        return any(w.text.lower() in ("to", "from", "by") for side in (ours, theirs) for w in side)
    passive, at = (ours, pivot) if _is_passive(ours, pivot) else (theirs, other)
    return any(w.text.lower() == "by" and 0 < w.place - at.place <= 3 for w in passive)


def _sides(words: Sequence[Word], pivot: Word) -> tuple[list[Word], list[Word]]:
    nouns = [w for w in words if w.is_content and not w.text.endswith("ly") and not w.key[:1].isdigit()]
    return [w for w in nouns if w.place < pivot.place], [w for w in nouns if w.place > pivot.place]


def _once(side: Sequence[Word], ours: Sequence[Word], theirs: Sequence[Word]) -> list[Word]:
    """The words of a side that stand once in both sentences: of others nobody knows which one is meant."""
    return [w for w in side if all(sum(w.key == o.key for o in words) <= 1 for words in (ours, theirs))]


def _in(word: Word, others: Sequence[Word]) -> bool:
    return any(word.key == other.key for other in others)


def _is_passive(words: Sequence[Word], verb: Word) -> bool:
    return verb.text.endswith(("ed", "en", "t", "n", "ld", "de", "ght")) and any(
        w.text.lower() in BE for w in words if 0 < verb.place - w.place <= 2
    )


def _is_even(words: Sequence[Word], one: Word, other: Word) -> bool:
    """True where "and" stands between two words: their order says nothing."""
    first, last = sorted((one.place, other.place))
    between = [w for w in words if first < w.place < last]
    return len(between) <= 3 and any(w.text.lower() in EVEN for w in between)


def _is_even_pivot(pivot: Word) -> bool:
    return pivot.key in EVEN or pivot.text.lower() in EVEN


def _slots_swapped(claim: str, sentence: str) -> Iterator[str]:
    """Two words exchanged with each other in an otherwise copied sentence."""
    ours, theirs = content_of(claim), content_of(sentence)
    if len(ours) < 4 or shared(ours, theirs) < 0.8:
        return
    matcher = SequenceMatcher(None, [w.key for w in ours], [w.key for w in theirs], autojunk=False)
    if sum(block.size for block in matcher.get_matching_blocks()) < 0.4 * len(ours):
        return
    replaced = [
        (ours[a:b], theirs[c:d])
        for tag, a, b, c, d in matcher.get_opcodes()
        if tag == "replace" and b - a <= 3 and d - c <= 3
    ]
    everything = words_of(claim)
    for (mine, other), (mine2, other2) in combinations(replaced, 2):
        if any(_in(w, other2) for w in mine) and any(_in(w, other) for w in mine2):
            moved = any(_is_time(w) or _is_aside(w, everything, words_of(sentence)) for w in (*mine, *mine2))
            between = claim[claim.find(mine[-1].text) : claim.find(mine2[0].text)]
            if not moved and between.count(",") < 2 and not _is_even(everything, mine[-1], mine2[0]):
                yield f"'{mine[0].text}' and '{mine2[0].text}' have changed places"


def _is_time(word: Word) -> bool:
    """True for what says when: such a phrase may stand anywhere."""
    return word.key[:1].isdigit() or word.text.lower() in _MONTHS or word.text.lower().rstrip("s").endswith("day")


def _clauses_swapped(claim: str, sentence: str) -> Iterator[str]:
    """Words that have moved to the other clause, each: "oil until 1994, then gas" for "gas until 1994, then oil"."""
    ours = [content_of(clause) for clause in clauses_of(claim)]
    theirs = [content_of(clause) for clause in clauses_of(sentence)]
    for mine in ours if len(ours) > 1 and len(theirs) > 1 else ():
        numbers = [w for w in mine if w.key[:1].isdigit()]
        pair = next((part for part in theirs if numbers and all(_in(n, part) for n in numbers)), None)
        if pair is None or _before(claim, numbers[0]) != _before(sentence, numbers[0]):
            continue
        away = [
            w
            for w in mine
            # What stands alone before a colon is what all of it is about.
            if not any(is_same(w.key, t.key) for t in pair) and any(_in(w, part) for part in theirs if len(part) > 1)
        ]
        come = [w for w in pair if not any(is_same(w.key, t.key) for t in mine) and any(_in(w, part) for part in ours)]
        if away and come and not _is_time(away[0]) and not _is_time(come[0]):
            yield f"'{away[0].text}' and '{come[0].text}' have changed places"


def _before(sentence: str, number: Word) -> str:
    """The word before a number: until 1994 is not since 1994."""
    words = words_of(sentence)
    at = next((w.place for w in words if w.key == number.key), 0)
    return words[at - 1].text.lower() if at else ""


def _korean_swaps(claim: str, sentence: str) -> Iterator[str]:
    for clause in clauses_of(claim):
        ours = words_of(clause)
        for part in (*clauses_of(sentence), sentence):
            theirs = words_of(part)
            if shared(ours, theirs) < SAME_EVENT or not ours or not theirs:
                continue
            turned = are_converse(ours[-1], theirs[-1])
            for one, other in combinations(
                [w for w in ours if w.role in ("subject", "object", "goal", "source", "than")], 2
            ):
                if one.role == other.role or is_same(one.key, other.key):
                    continue
                there = {w.role for w in theirs if w.key == one.key}, {w.role for w in theirs if w.key == other.key}
                if other.role in there[0] and one.role in there[1] and one.role not in there[0] and not turned:
                    yield f"'{one.text}' and '{other.text}' have changed places"


def misplaced_names(claim: str, sentences: Sequence[str], headings: str) -> list[str]:
    """Names of a claim whose place in the text belongs to another name, as words for a message.

    sentences  of the text, in order
    headings   what stands above it: a sentence may mean it without naming it

    >>> misplaced_names("Ada Quill built the old tower.", ["Tom Brandt built the old tower.", "Ada Quill lived there."], "")
    ["'Ada' stands for 'Tom'"]
    """
    words = content_of(claim)
    names = [w for w in words_of(claim) if w.is_content and _is_name(w, claim)]
    rest = [w for w in words if w not in names]
    if not names or len(rest) < 2:
        return []
    parts = [part for sentence in sentences for part in clauses_of(sentence)]
    scores = [shared(rest, content_of(part)) for part in parts]
    best = max(scores, default=0.0)
    if best < SAME_PLACE:
        return []
    nearest = [s for s, score in zip(parts, scores, strict=True) if score >= best - 0.15]
    at = scores.index(best)
    sentences = parts
    near = {w.key for s in (*nearest, headings) for w in words_of(s)}
    claimed = {w.key for w in words_of(claim)}
    theirs = [
        w
        for w in words_of(sentences[at])
        if w.is_content and _is_name(w, sentences[at]) and w.key not in claimed and w.text not in _TITLES
    ]
    for word in names:
        if not any(is_same(word.key, key) for key in near):
            for other in theirs:
                if _stand_alike(word, words_of(claim), other, words_of(sentences[at])):
                    return [f"'{word.text}' stands for '{other.text}'"]
    return []


def _stand_alike(word: Word, ours: Sequence[Word], other: Word, theirs: Sequence[Word]) -> bool:
    """True where the word before both, or the word behind both, is the same; names between do not count."""
    return any(
        mine is not None and its is not None and mine.text.lower() not in _ARTICLES and is_same(mine.key, its.key)
        for mine, its in (
            (_beside(word, ours, -1), _beside(other, theirs, -1)),
            (_beside(word, ours, 1), _beside(other, theirs, 1)),
        )
    )


def _beside(word: Word, words: Sequence[Word], step: int) -> Word | None:
    """The next word before or behind one that is neither a name nor an article nor a form of "be"."""
    at = word.place + step
    while 0 <= at < len(words):
        text = words[at].text
        if not text[:1].isupper() and text.lower() not in _ARTICLES | BE | {"of", "and", "by"}:
            return words[at]
        at += step
    return None


def _is_name(word: Word, sentence: str) -> bool:
    """True for a capitalised word, at the beginning of a sentence only where another follows it."""
    if not word.text[:1].isupper() or word.text.lower() in _MONTHS:
        return False
    following = words_of(sentence)[word.place + 1 : word.place + 2]
    return word.place > 0 or any(w.text[:1].isupper() for w in following)


def exchanged_nouns(claim: str, sentence: str, elsewhere: str) -> list[str]:
    """Korean nouns of a claim in the place of another: the same verb, the same role, most other words the same.

    elsewhere  the whole text: only a word of the text is surely another thing; a foreign one may be a synonym
    """
    found = []
    elsewhere = elsewhere.casefold()
    for clause in clauses_of(claim):
        ours = words_of(clause)
        if len(ours) < 3 or not is_hangul(ours[-1].text):
            continue
        nearest = max(clauses_of(sentence), key=lambda part: shared(ours, words_of(part)))
        theirs = words_of(nearest)
        if not theirs or shared(ours, theirs) < 0.5 or not is_same(ours[-1].key, theirs[-1].key):
            continue
        for at, word in enumerate(ours):
            if word.role not in ("subject", "object", "goal", "source") or len(word.key) < 2 or _is_said(word, nearest):
                continue
            if any(other.text.endswith("면") for other in ours[at + 1 : at + 2]):
                continue  # 진단서가 없으면: of a condition
            place = [t for t in theirs if t.role == word.role and not any(_is_alike(t, o) for o in ours)]
            if place and word.key.casefold() in elsewhere:
                found.append(f"'{_shown(word)}' stands for '{_shown(place[0])}'")
    return found


def _shown(word: Word) -> str:
    """A word as it is written, without its particle where that leaves a word: 어린 is none of 어린이."""
    return strip_particle(word.text) if len(word.key) > 2 else word.text


def _is_said(word: Word, sentence: str) -> bool:
    return word.key in sentence or any(_is_alike(word, other) for other in words_of(sentence))


def _is_alike(one: Word, other: Word) -> bool:
    a, b = bare_verb(one.key), bare_verb(other.key)
    return is_same(one.key, other.key) or a in b or b in a or a[:2] == b[:2] or a[-2:] == b[-2:]
