"""A sentence that copies another except for a few words → the names and numbers that were exchanged. Pure.

Where nearly all words stand in the same order, another name or number at one place is a fault, even when the passage holds
both somewhere. Other words may be exchanged: they may be synonyms.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from difflib import SequenceMatcher

from kb.language import english
from kb.language.korean_particles import is_hangul
from kb.language.quantities import facts_of, missing_facts
from kb.support.clauses import Word, has_opposite, is_modal, is_same, words_of
from kb.support.overlap import is_light
from kb.text import STOP_WORDS, analyze

# A claim is a copy when this share of its words stands in the other sentence in the same order.
COPIED = 0.6
# Most words of one exchange; a full name has two or three.
LONGEST_EXCHANGE_WORDS = 4
# A claim is a near copy when this share of its words does.
NEAR_COPY = 0.7
# With more changes it is a rewording.
MOST_CHANGES = 2
_NO_NAMES = (
    STOP_WORDS
    | english.FUNCTION_WORDS
    | frozenset("anything everything something nothing mr mrs ms miss dr prof professor sir madam".split())
)
_DENYING = frozenset("un in im il ir dis non anti mis".split())
# Little words that change what a sentence says.
_TELLING = frozenset(
    "may must can should might cannot few most many some all none no every each more less fewer never always new old only".split()
)
# Of a number, which kb/support/contrast.py compares.
_BOUNDS = frozenset(
    "over|above|more than|under|below|less than|fewer than|up to|at most|no more than|at least|no less than|no fewer than"
    "|about|around|approximately|roughly|nearly|almost|some".split("|")
)
_CODE = re.compile(r"\d+(?:[-–.]\d+)+")
_WORD = re.compile(r"[\w%$€£₩°/.,:'’-]*\w[%°]?")


def exchanged_words(claim: str, sentence: str) -> list[tuple[str, str]]:
    """(ours, theirs) of each name or number that a copied sentence has instead of another; empty for a sentence that is no copy."""
    ours, theirs = (_words(unicodedata.normalize("NFKC", text)) for text in (claim, sentence))
    if len(ours) < 3:
        return []
    keys = [[_key(word) for word in words] for words in (ours, theirs)]
    matcher = SequenceMatcher(None, keys[0], keys[1], autojunk=False)
    blocks = matcher.get_opcodes()
    copied = sum(b - a for tag, a, b, _, _ in blocks if tag == "equal")
    if copied < COPIED * len(ours):
        return []
    found = []
    for tag, a, b, c, d in blocks:
        if tag == "insert" and b and _is_unit(" ".join(ours[b + 1 :])):
            # The claim ends with a value, and passes over another of its kind: "at 8 °C" of "at 16 °C, in the east at 8 °C".
            d = c + 1
            b = min(a + 1, len(ours))
            if not (_is_digit(ours[a:b]) and _is_digit(theirs[c:d])):
                continue
        elif tag == "replace" and a == 0 and d - c > b - a:
            c = d - (b - a)  # the sentence begins before what the claim copies
        elif tag != "replace":
            continue
        if max(b - a, d - c) > LONGEST_EXCHANGE_WORDS:
            continue
        mine, other = " ".join(ours[a:b]), " ".join(theirs[c:d])
        if _is_other_name(ours[a:b], theirs[c:d], theirs) or _is_other_number(mine, other):
            found.append((mine, other))
    return found


def _is_unit(words: str) -> bool:
    """True for nothing, and for a unit of measure."""
    return not words or any(q.kind and q.written.endswith(words) for q in facts_of(f"2 {words}").quantities)


def _is_digit(words: Sequence[str]) -> bool:
    return len(words) == 1 and words[0].lstrip("$€£₩")[:1].isdigit()


def changed_words(claim: str, sentence: str) -> list[tuple[str, str]] | None:
    """(ours, theirs) of one or two places where a copied sentence has another word that is no synonym; None for no copy.

    Whoever rewords a sentence changes more of it; a copy with one word changed says something else, or cannot be told.

    >>> changed_words("The tower was closed in 1990.", "The tower was opened in 1990.")
    [('closed', 'opened')]
    >>> changed_words("The tower was erected in 1990.", "The tower was built in 1990.")
    []
    """
    ours, theirs = words_of(claim), words_of(sentence)
    if len(ours) < 4:
        return None
    matcher = SequenceMatcher(None, [w.key for w in ours], [w.key for w in theirs], autojunk=False)
    blocks = matcher.get_opcodes()
    equal = sum(b - a for tag, a, b, _, _ in blocks if tag == "equal")
    if equal < NEAR_COPY * len(ours):
        return None
    # Of a copy but for one word, that word is no other word of the sentence moved here.
    is_moved = len(ours) != len(theirs) or equal < len(ours) - 1
    found = []
    for tag, a, b, c, d in blocks:
        if tag != "replace" or max(b - a, d - c) > 2:
            continue
        if b - a == d - c == 1 and _is_negated_form(ours[a].text, theirs[c].text):
            found.append((ours[a].text, theirs[c].text))
            continue
        mine = [w for w in ours[a:b] if _tells(w.text)]
        other = [w for w in theirs[c:d] if _tells(w.text)]
        if not mine or not other or any(is_same(w.key, o.key) for w in mine for o in other):
            continue
        if is_moved and any(is_same(w.key, t.key) for w in mine for t in theirs) and not mine[0].text[:1].isupper():
            continue  # said elsewhere in the sentence
        # "the group" for a name that the text has, and the other way round, may mean the same.
        is_name = mine[0].text[:1].isupper() != other[0].text[:1].isupper() and mine[0].text[:1].isascii() and a > 0
        if is_name and (is_moved or not is_hangul(other[0].text)):
            continue
        if _is_measured(ours, a, mine) and _is_measured(theirs, c, other) and (is_moved or _is_unit_of(mine, other)):
            continue  # numbers and their units are checked apart
        if _bound(ours[a:b]) in _BOUNDS and _bound(theirs[c:d]) in _BOUNDS and ours[b : b + 1]:
            continue  # bounds of numbers too: "over", "more than"
        if any(is_modal(w.text) for w in mine) and any(
            is_modal(w.text) or w.text.lower() == "not" for w in theirs[c:d]
        ):
            continue  # "prohibited" for "not allowed": degrees of duty are checked apart
        if any(_resemble(w.text, o.text) for w in mine for o in other):
            continue
        found.append((" ".join(w.text for w in ours[a:b]), " ".join(w.text for w in theirs[c:d])))
    return found if len(found) <= MOST_CHANGES else []


def _is_measured(words: Sequence[Word], at: int, changed: Sequence[Word]) -> bool:
    """True where a unit of measure behind a number is what is changed."""
    digits = [w for w in words[max(0, at - 1) : at + 2] if w.text[:1].isdigit()]
    return bool(digits) and any(q.kind for w in changed for q in facts_of(f"1 {w.text}").quantities)


def _is_unit_of(mine: Sequence[Word], other: Sequence[Word]) -> bool:
    """True for one unit of measure, written twice: km, kilometres."""
    one, two = (facts_of(f"1 {words[0].text}").quantities for words in (mine, other))
    return bool(one and two) and one[0].kind == two[0].kind and one[0].value == two[0].value


def _bound(words: Sequence[Word]) -> str:
    return " ".join(word.text.lower() for word in words)


def _tells(word: str) -> bool:
    low = word.lower()
    return low in _TELLING or has_opposite(word) or (low not in STOP_WORDS and not is_light(word) and not low.isdigit())


def _is_negated_form(one: str, other: str) -> bool:
    """True for a word and the same with a prefix that denies it: likely, unlikely."""
    short, long = sorted((one.casefold(), other.casefold()), key=len)
    return len(short) > 2 and long.endswith(short) and long[: -len(short)].rstrip("-") in _DENYING


def _resemble(one: str, other: str) -> bool:
    """True for spellings of one word, and for a Korean word with another ending."""
    a, b = one.casefold().replace("_", ""), other.casefold().replace("_", "")
    return a in b or b in a or a[:5] == b[:5] or (is_hangul(a) and a[:2] == b[:2])


def _words(text: str) -> list[str]:
    return [word.strip(".,:'’-") for word in _WORD.findall(text)]


def _key(word: str) -> str:
    return " ".join(analyze(word)) or word.casefold()


def _is_other_number(mine: str, other: str) -> bool:
    if _CODE.fullmatch(mine) and _CODE.fullmatch(other):
        return mine.replace("–", "-") != other.replace("–", "-")  # Listing 9-7 is no Listing 9-9
    ours, theirs = facts_of(mine), facts_of(other)
    both = (ours.bare or ours.dates or ours.times) and (theirs.bare or theirs.dates or theirs.times)
    return bool(both and missing_facts(ours, theirs)[0])


def _is_other_name(ours: Sequence[str], theirs: Sequence[str], sentence: Sequence[str]) -> bool:
    """True for capitalised words on both sides, none in common."""
    left, right = _capitals(ours), _capitals(theirs)
    if not left or not right or _letters(left) == _letters(right):  # All-Star, All Star
        return False
    if any(_resemble(a, b) or a[:4].casefold() == b[:4].casefold() for a in left for b in right) or _is_acronym(
        left, right
    ):
        return False
    # "A and B" may become "B and A".
    there = {word.casefold() for word in sentence}
    return not all(word.casefold() in there for word in left)


def _capitals(words: Sequence[str]) -> list[str]:
    """The capitalised words of a run that is one name; empty for any other run."""
    names = [w for w in words if w[:1].isupper() and w.casefold() not in _NO_NAMES and not is_light(w)]
    inner = [w for w in words if w not in names]
    if (
        not names
        or words[0] not in names
        or words[-1] not in names
        or any(w.casefold() not in STOP_WORDS for w in inner)
    ):
        return []
    return names


def _letters(words: Sequence[str]) -> str:
    return "".join(c for word in words for c in word.casefold() if c.isalnum())


def _is_acronym(left: Sequence[str], right: Sequence[str]) -> bool:
    initials = ["".join(word[0] for word in side).casefold() for side in (left, right)]
    return any(len(i) >= 2 and i in "".join(side).casefold() for i, side in zip(initials, (right, left), strict=True))
