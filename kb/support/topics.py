"""A Korean claim and the sentences of a text → what the claim says of one thing that the text says of another, by the particles that
mark what a sentence is about. Pure.

Of "A는 …. B는 …." each sentence tells of its own; a claim that says of B what stands behind A has all of its words there.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from kb.frozen import dataclass
from kb.support.clauses import Word, clauses_of, is_among, words_of

# What a sentence is about stands among its first words.
FIRST_WORDS = 5
# So many words of another thing's sentence, and at least as many as of its own, are no accident.
MOVED = 2
# Sentences without a thing of their own go on about the last one, for so long.
GOES_ON = 3
# Stems of verbs, as tables of endings leave them: 원하는, 있는, 날아가는.
_VERB = re.compile(r"[하되있없]$|[아어러나라]가$")


@dataclass(frozen=True, slots=True)
class Told:
    """What a sentence is about, and the words that tell of it."""

    topic: tuple[Word, ...]
    words: tuple[Word, ...]


def exchanged_topics(claim: str, sentences: Sequence[str]) -> list[str]:
    """What a claim says of one thing and a text of another, as words for a message.

    >>> told = ["매개변수는 함수를 선언할 때 쓴다.", "인수는 함수를 호출할 때 넘긴다."]
    >>> exchanged_topics("인수는 함수를 선언할 때, 매개변수는 호출할 때 쓴다.", told)
    ["'인수' stands for '매개변수'"]
    """
    # A heading may stand before a sentence, on a line of its own.
    clauses = [clause for sentence in sentences for line in sentence.split("\n") for clause in clauses_of(line)]
    return _exchanged(claim, _parts(clauses, "은는")) or _exchanged(claim, _parts(clauses, "은는이가"))


def _exchanged(claim: str, told: Sequence[Told]) -> list[str]:
    if len(told) < 2:
        return []
    found: list[tuple[Told, Told, int, int]] = []
    for clause in clauses_of(claim):
        for part in _parts([clause], "은는이가"):
            own = [t for t in told if _names(part.topic, t.topic)]
            others = [other for other in told if own and other not in own]
            best = max(
                ((_moved(part, own, other), other) for other in others), key=lambda x: (x[0][0], -x[0][1]), default=None
            )
            if best and best[0][0]:
                (moved, kept), other = best
                found.append((part, other, moved, kept))
    swapped = len(found) > 1 and any(
        _names(a.topic, d.topic) and _names(c.topic, b.topic) for a, b, *_ in found for c, d, *_ in found
    )
    return [
        f"'{_shown(part.topic)}' stands for '{_shown(other.topic)}'"
        for part, other, moved, kept in found
        if swapped or (moved >= MOVED and moved >= kept and _are_parallel(part.topic, other.topic))
    ][:1]


def _parts(clauses: Sequence[str], particles: str) -> list[Told]:
    """What each thing is told of, marked by one of the particles; clauses without one go on about the last thing."""
    parts: list[Told] = []
    silent = 0
    for clause in clauses:
        words = words_of(clause)
        end = next((n for n, w in enumerate(words[:FIRST_WORDS], start=1) if _marks(w, particles)), 0)
        if end:
            begin = next((n for n in range(end - 1, 0, -1) if not _goes_on(words[n - 1])), 0)
            topic = tuple(w for w in words[begin:end] if _counts(w))
            parts.append(Told(topic, tuple(w for w in (*words[:begin], *words[end:]) if _counts(w))))
            silent = 0
        elif parts and silent < GOES_ON:
            parts[-1] = Told(parts[-1].topic, (*parts[-1].words, *(w for w in words if _counts(w))))
            silent += 1
    return [part for part in parts if part.topic]


def _marks(word: Word, particles: str) -> bool:
    """Whether a word is what a clause is about; 원하는, 있는 say what another word is like."""
    return word.role == "subject" and word.text[-1:] in particles and not _VERB.search(word.key)


def _are_parallel(topic: Sequence[Word], other: Sequence[Word]) -> bool:
    """Whether two are things of one kind: 경기도 옹기, 경상도 옹기."""
    return len(topic) > 1 and len(other) > 1 and topic[-1].key == other[-1].key


def _goes_on(word: Word) -> bool:
    """False for a word that ends what stands before a noun: a verb, a time or a place."""
    return (not word.role and word.text[-1:] not in "면고서며") or word.text[-1:] in "과와의도"


def _moved(part: Told, own: Sequence[Told], other: Told) -> tuple[int, int]:
    """(words of a claim's part that the other thing's sentence alone has, words that its own has); none where it names the other."""
    apart = [w for w in other.topic if not is_among(w, part.topic)]
    if not apart or any(is_among(w, part.words) for w in apart):
        return 0, 0
    mine = [w for told in own for w in (*told.topic, *told.words)]
    moved = sum(is_among(w, other.words) and not is_among(w, mine) for w in part.words)
    return moved, sum(is_among(w, mine) for w in part.words)


def _names(topic: Sequence[Word], other: Sequence[Word]) -> bool:
    """Whether a sentence is about what a claim names: all words of one are in the other."""
    return all(is_among(w, other) for w in topic) or all(is_among(w, topic) for w in other)


def _counts(word: Word) -> bool:
    return word.is_content and (len(word.key) > 1 or word.key.isdigit() or word.key in "첫두세")


def _shown(topic: Sequence[Word]) -> str:
    return " ".join([*(word.text for word in topic[:-1]), topic[-1].key])
