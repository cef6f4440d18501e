"""A claim and what tells of two things → what of one the claim says of the other: their properties, their titles. Pure.

"E4 means that it is blocked, E7 that it is empty", of "E4 means that it is empty, E7 that it is blocked": all words are there, in
all their forms, and only what belongs together is another.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise, permutations

from kb.support.clauses import Word, content_of, is_among

# A name with a title before it, "the mason Hugh Tarrant", or behind it, "Hugh Tarrant, the mason"; English alone.
_NAME = r"[A-Z][\w’'-]+(?: (?:[A-Z]\.|[A-Z][\w’'-]+))*"
_TITLE = r"(?:[a-z]+ )?[a-z]{3,}"
_ARTICLE = r"(?:[Tt]he|[Aa]n?|[Ii]ts|[Tt]heir|[Hh]er|[Hh]is)"
_TITLED = re.compile(
    rf"\b{_ARTICLE} (?P<before>{_TITLE}),? (?P<named>{_NAME})|(?P<name>{_NAME}),? (?:who (?:was|is) |was |is )?{_ARTICLE} (?P<behind>{_TITLE})(?=[,.;]|$)"
)
# Between a title and the name that a claim gives it, "The architect who designed it was Hugh Tarrant": so many characters at most.
_MOST_BETWEEN = 50
# What stands between two things that are told of side by side.
_BETWEEN = re.compile(r"[,;:]|\b(?:and|while|whereas|but|though)\b")
_STRONGLY_BETWEEN = re.compile(r";|\b(?:and|while|whereas|but|though)\b")
_KOREAN_BETWEEN = re.compile(r"[;]|,\s+|(?<=[가-힣][고며])\s+|(?<=지만)\s+|(?<=는데)\s+")
# A part with fewer words that carry a topic belongs to the one before.
LEAST_WORDS = 2
# In other words than the sentence's, nothing tells whether places were changed.
LEAST_KNOWN, LEAST_KNOWN_KOREAN = 0.8, 0.9
# What tells of two things side by side has few parts.
MOST_PARTS = 4
# Longer ones, and those of several lines, are lists.
LONGEST_SENTENCE_CHARS = 300


def exchanged_associations(claim: str, sentence: str, *, is_one: bool = True) -> Iterator[str]:
    """Two things of which each is told what the sentence tells of the other, as words for a message.

    is_one  whether it is one sentence, and not two that stand side by side

    >>> list(exchanged_associations("Oars hang on the right, jackets on the left.", "Oars hang on the left, jackets on the right."))
    ["'right' and 'left' have changed places"]
    """
    if len(sentence) > LONGEST_SENTENCE_CHARS or "\n" in sentence.strip():
        return
    is_korean = re.search("[가-힣]", claim) is not None
    for between in (_KOREAN_BETWEEN,) if is_korean else (_BETWEEN, _STRONGLY_BETWEEN) if is_one else (_BETWEEN,):
        said = next(_exchanged(parts_of(claim, between), parts_of(sentence, between), is_korean=is_korean), None)
        if said:
            yield said
            return


def _exchanged(ours: list[list[Word]], theirs: list[list[Word]], *, is_korean: bool) -> Iterator[str]:
    most = 2 if is_korean else MOST_PARTS
    if not (2 <= len(ours) <= most and 2 <= len(theirs) <= most):
        return
    everything = [word for part in theirs for word in part]
    # Of a word that the claim has twice nobody knows which one is meant.
    told = Counter(word.key for part in ours for word in part)
    ours = [[word for word in part if told[word.key] == 1] for part in ours]
    for mine, other in pairwise([part for part in ours if part]):
        known = sum(is_among(word, everything) for word in (*mine, *other)) / len([*mine, *other])
        if known < (LEAST_KNOWN_KOREAN if is_korean else LEAST_KNOWN):
            continue
        for one, two in permutations(theirs, 2):
            kept, moved = _only_in(one, two, mine), _only_in(two, one, mine)
            others_kept, others_moved = _only_in(two, one, other), _only_in(one, two, other)
            # Each part begins with what it is about: that stays, and what is said of it has changed places.
            in_order = is_korean or (_follows(moved, kept) and _follows(others_moved, others_kept))
            if in_order and all((kept, moved, others_kept, others_moved)):
                yield f"'{moved[0].text}' and '{others_moved[0].text}' have changed places"
                return


def exchanged_titles(claim: str, texts: Sequence[str]) -> Iterator[str]:
    """A title that the claim gives to a name that has another one in the texts, where another name has this one.

    >>> list(exchanged_titles("The architect was Hugh Tarrant.", ["Built by the mason Hugh Tarrant for the architect Edmund Lisle."]))
    ["'Hugh Tarrant' stands for 'Edmund Lisle'"]
    """
    told = {name: title for text in reversed(texts) for name, title in _titles_in(text).items()}
    for name, title in told.items():
        for other, others_title in told.items():
            if (
                title == others_title
                or name.split()[-1] == other.split()[-1]
                or list(told.values()).count(others_title) > 1
            ):
                continue
            given = rf"\b{others_title}\b(?:(?! and |[.;,])[^.;]){{0,{_MOST_BETWEEN}}}?\b(?:was|is|were|named|called),? (?:the )?(?:{title} )?{re.escape(name)}\b"
            given += rf"|\b{others_title},? {re.escape(name)}\b|\b{re.escape(name)},? (?:was |is )?(?:the|an?) {others_title}\b"
            if re.search(given, claim) and other not in claim:
                yield f"'{name}' stands for '{other}'"
                return


@lru_cache(maxsize=256)
def _titles_in(text: str) -> dict[str, str]:
    """Name → its title, the first that it is given."""
    found: dict[str, str] = {}
    for match in _TITLED.finditer(text):
        found.setdefault(match["named"] or match["name"], (match["before"] or match["behind"]).split()[-1])
    return found


def parts_of(sentence: str, between: re.Pattern[str]) -> list[list[Word]]:
    """The words that carry a topic of each part of a sentence, those of hyphened words apart."""
    parts: list[list[Word]] = []
    for part in between.split(sentence.replace("-hand", "").replace("-", " ")):
        words = content_of(part)
        if parts and len(words) < LEAST_WORDS:
            parts[-1] += words
        elif words:
            parts.append(words)
    return parts


def _only_in(one: Sequence[Word], other: Sequence[Word], mine: Sequence[Word]) -> list[Word]:
    """Words of a part that stand in one part of the sentence and not in the other, nor twice in the claim's part."""
    return [w for w in mine if is_among(w, one) and not is_among(w, other)]


def _follows(moved: Sequence[Word], kept: Sequence[Word]) -> bool:
    return bool(moved and kept) and kept[0].place < moved[0].place
