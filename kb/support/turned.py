"""A claim and the sentences of a text → what the claim turns round: from and to, cause and effect, before and after, what is denied and
what is said in its place; and a rule for all where the text excepts some. Pure.

All words of "moved from the last step to the first" stand in "moved from the first step to the last"; only the direction is another.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise

from kb.language import english_contrasts, korean_contrasts
from kb.support.clauses import (
    Word,
    are_opposite,
    clauses_of,
    content_of,
    is_among,
    is_same,
    shared,
    shortened,
    words_of,
)
from kb.support.polarity import polarity_of

# A cause or an effect is that of a text where it says this share of its words.
SAME_EVENT = 0.6
# Two things are compared in the same way where half of what it is done by is the same.
SAME_WAY = 0.5
# Steps stand in an order where they are told so close together, in characters.
STEPS_REACH = 600
# What is thought of a thing, behind its name: "not the tank as everybody thought".
_GOES_ON = re.compile(r"\s(?:as|that|which|like|because|since)\b")
# Korean words of any step: 한 뒤, 심기로 했습니다, 5일이 지난.
_IN_ANY_STEP = re.compile(r"(?:했|합|하[고는기여]|한|할|됩|된|되|일[이을]?$|때|것)")
# A rule and what it excepts are of one matter where they share this.
SAME_RULE = 0.7
# Less where a claim says of what is excepted that it is the same.
SAME_BEFORE = 0.3


def turned_round(claim: str, sentences: Sequence[str], text: str = "") -> list[str]:
    """What a claim turns round, as words for a message.

    sentences  of all that is cited, in order
    text       the same as it stands, with the marks of its lists

    >>> turned_round("The pool grew from 50 to 20.", ["The pool grew from 20 to 50."])
    ["'50' and '20' have changed places"]
    >>> turned_round("It broke because it was wet.", ["It was wet because it broke."])
    ["'wet' is the effect there, and 'broke' the cause"]
    """
    if any(claim == sentence for sentence in sentences):
        return []
    found = [
        *_ways(claim, sentences),
        *_compared(claim, sentences),
        *_causes(claim, sentences),
        *_steps(claim, sentences, text),
        *_put_in_place(claim, sentences),
        *_said_in_place(claim, sentences),
        *_rules_for_all(claim, sentences),
        *_excepted_next(claim, sentences),
        *_excepted_too(claim, sentences),
    ]
    return list(dict.fromkeys(found))[:1]


def _ways(claim: str, sentences: Sequence[str]) -> Iterator[str]:
    """From A to B, for from B to A."""
    for begin, end in _pairs("WAY", claim):
        theirs = [pair for sentence in sentences for pair in _pairs("WAY", sentence)]
        only_begin, only_end = _apart(begin, end)
        if not only_begin or not only_end or any(_are_in(only_end, e) for _, e in theirs):
            continue
        for their_begin, their_end in theirs:
            if _are_in(only_end, their_begin) and _are_in(_apart(their_begin, their_end)[1], begin):
                yield f"'{_text(only_begin[-1:])}' and '{_text(only_end[-1:])}' have changed places"


def _compared(claim: str, sentences: Sequence[str]) -> Iterator[str]:
    """A is higher than B, for B is higher than A."""
    theirs = [found for sentence in sentences for found in _turns("COMPARED", sentence)]
    for ours in _turns("COMPARED", claim):
        than, more = _apart(ours["a"], ours["b"])
        for other in theirs:
            # In other words, or the opposite way, is not compared.
            mine, its = content_of(ours["c"]), content_of(other["c"])
            is_opposite = any(are_opposite(w, o) for w in words_of(ours["c"]) for o in words_of(other["c"]))
            in_same_way = not is_opposite and max(shared(mine, its), shared(its, mine)) >= SAME_WAY
            their_than = _apart(other["a"], other["b"])[0]
            if (
                in_same_way
                and not _are_in(than, other["a"])
                and _are_in(than, other["b"])
                and _are_in(their_than, ours["b"])
            ):
                yield f"'{_text(more[:1])}' and '{_text(than[:1])}' have changed places"
                return


def _causes(claim: str, sentences: Sequence[str]) -> Iterator[str]:
    """A because of B, for B because of A."""
    told = [*sentences, *(f"{one} {other}" for one, other in pairwise(sentences))]
    for cause, effect in _pairs("CAUSE", claim):
        ours, others = content_of(cause), content_of(effect)
        for their_cause, their_effect in (pair for sentence in told for pair in _pairs("CAUSE", sentence)):
            first, then = content_of(their_cause), content_of(their_effect)
            straight = min(shared(ours, first), shared(others, then))
            if min(shared(ours, then), shared(others, first)) >= SAME_EVENT > straight:
                yield f"'{_said_in(ours, then)}' is the effect there, and '{_said_in(others, first)}' the cause"
                return


def _said_in(words: Sequence[Word], others: Sequence[Word]) -> str:
    return next((w.text for w in words if is_among(w, others)), words[0].text)


def _steps(claim: str, sentences: Sequence[str], text: str) -> Iterator[str]:
    """First A, then B, for B before A in a text that tells of both as steps."""
    is_ordered = (
        _matches("ORDERED_TEXT", text) or len(re.findall(r"(?m)^\s*(?:\d{1,2}(?:[.)]|:\d\d)|[-*+•])\s", text)) > 1
    )
    for steps in _steps_of(claim) if is_ordered else ():
        # In a sentence that says first, then, finally where one tells of all, else among the steps of a list.
        told = [
            s
            for s in sentences
            if _matches("THEN", s) and all(any(is_among(w, content_of(s)) for w in step) for step in steps)
        ]
        for place in (*told, text):
            found = [
                _place_of(step, [w for other in steps if other is not step for w in other], place) for step in steps
            ]
            places = [at for at in found if at is not None]
            if len(places) < len(steps) or max(places)[0] - min(places)[0] > STEPS_REACH:
                continue
            for (one, word), (other, following) in pairwise(places):
                # Where a sentence says itself what comes before what, its words may stand in any order.
                says_itself = any(word in s and following in s and _pairs("ORDERED", s) for s in sentences)
                if one > other and not says_itself:
                    yield f"'{word}' comes after '{following}'"
                    return
            break


def _steps_of(claim: str) -> Iterator[list[list[Word]]]:
    """The words of each step that a claim puts in an order, the first one first."""
    for earlier, later in _pairs("ORDERED", claim):
        yield [content_of(earlier), content_of(later)]
    parts = [part for pattern in _patterns("THEN") if pattern.search(claim) for part in pattern.split(claim)]
    steps = [words for part in parts if (words := content_of(part))]
    if len(steps) > 1:
        yield steps


def _place_of(step: Sequence[Word], others: Sequence[Word], text: str) -> tuple[int, str] | None:
    """Where a text tells of a step, and by which word: one that no other step has, where most of these stand there once."""
    own = [word for word in step if word.key[:1].isalpha() and len(word.text) > 1 and not is_among(word, others)]
    own = [word for word in own if not _IN_ANY_STEP.match(word.text)]
    there = [
        (word, match.start()) for match in re.finditer(r"[\w가-힣.-]+", text) for word in content_of(match.group())
    ]
    found = [(word.text, [at for other, at in there if is_same(word.key, other.key)]) for word in own]
    places = [(at[0], word) for word, at in found if len(at) == 1]
    # What a step is done to stands last.
    return places[-1] if places and len(places) >= len(own) / 2 else None


def _put_in_place(claim: str, sentences: Sequence[str]) -> Iterator[str]:
    """Not A but B, for B and not A."""
    for denied, said in _pairs("NOT_BUT", claim):
        theirs = [pair for sentence in sentences for pair in _pairs("NOT_BUT", sentence)]
        if not content_of(denied) or any(_are_in(content_of(denied), d) for d, _ in theirs):
            continue
        for their_denied, their_said in theirs:
            if _are_in(content_of(denied), their_said) and _are_in(content_of(their_denied), said):
                yield f"'{_text(content_of(denied))}' is said there, and denied here"


def _said_in_place(claim: str, sentences: Sequence[str]) -> Iterator[str]:
    """A, for B and not A."""
    for clause in clauses_of(claim) if not _pairs("NOT_BUT", claim) and not polarity_of(claim).negated else ():
        ours = content_of(clause)
        for denied, said in (pair for sentence in sentences for pair in _pairs("NOT_BUT", sentence)):
            wrong, right = content_of(_GOES_ON.split(denied)[0]), content_of(said)
            rest = [word for word in ours if not is_among(word, wrong)]
            instead = [word for word in right if not is_among(word, ours)]
            if not wrong or not rest or not instead or shared(wrong, ours) < 1.0 or shared(wrong, right) > 0:
                continue
            if shared(rest, right) >= SAME_RULE and len(rest) < len(right):
                yield f"'{_text(wrong)}' is denied there, and said here"
                return


def _rules_for_all(claim: str, sentences: Sequence[str]) -> Iterator[str]:
    """Every, all, always, of what a text excepts something from."""
    if not (_matches("ALL", claim) or _matches("NONE", claim)) or _matches("EXCEPT", claim) or _matches("BUT", claim):
        return
    ours = _without_all(claim)
    for sentence in sentences:
        for match in (found for pattern in _patterns("EXCEPT") if (found := pattern.search(sentence))):
            before = sentence[: match.start()]
            rule = _without_all(before)
            is_for_all = _matches("ALL", before) or (_matches("NONE", before) and _matches("NONE", claim))
            if rule and is_for_all and min(shared(rule, ours), shared(ours, rule)) >= SAME_RULE:
                yield f"it says '{_first('ALL', 'NONE', text=claim)}' where the text says '{match[0].strip()}'"


def _excepted_next(claim: str, sentences: Sequence[str]) -> Iterator[str]:
    """A rule for all of what the next sentence excepts something from."""
    if not _matches("ABSOLUTE", claim) or _matches("EXCEPT", claim) or _matches("BUT", claim):
        return
    ours = content_of(claim)
    for sentence, following in pairwise(sentences):
        if _matches("EXCEPTS_NEXT", following) and shared(content_of(sentence), ours) >= SAME_RULE:
            yield f"it says '{_first('ABSOLUTE', text=claim)}' where the text says '{shortened(' '.join(following.split()))}'"
            return


def _excepted_too(claim: str, sentences: Sequence[str]) -> Iterator[str]:
    """The same of what the next sentence excepts."""
    if not _matches("TOO", claim):
        return
    ours = content_of(claim)
    for sentence, following in pairwise(sentences):
        begin = re.search(
            r"[^\W\d_]\S*(?:\s\S+)?",
            re.sub(r"^\W*(?:다만|단|However|But|Except|The only exceptions?)\W*", "", following, flags=re.I),
        )
        excepted = content_of(begin[0])[:1] if begin and _matches("EXCEPTS_NEXT", following) else []
        rest = [word for word in ours if not is_among(word, excepted)]
        if excepted and is_among(excepted[0], ours) and shared(rest, content_of(sentence)) >= SAME_BEFORE:
            yield f"the text excepts '{_text(excepted)}'"
            return


def _without_all(text: str) -> list[Word]:
    for pattern in _patterns("ALL"):
        text = pattern.sub(" ", text)
    return content_of(text)


def _apart(one: str, other: str) -> tuple[list[Word], list[Word]]:
    """The words of each of two that the other one does not have."""
    ours, theirs = content_of(one), content_of(other)
    return (
        [w for w in ours if not is_among(w, theirs)],
        [w for w in theirs if not is_among(w, ours)],
    )


def _are_in(words: Sequence[Word], text: str) -> bool:
    return bool(words) and shared(words, content_of(text)) >= 1.0


def _text(words: Sequence[Word]) -> str:
    return " ".join(word.text for word in words)


def _pairs(name: str, text: str) -> list[tuple[str, str]]:
    """The two sides of every turn of a kind that a text has, as written."""
    return [(match["a"], match["b"]) for match in _turns(name, text)]


def _turns(name: str, text: str) -> list[re.Match[str]]:
    return [match for pattern in _patterns(name) for match in pattern.finditer(text)]


def _first(*names: str, text: str) -> str:
    return next(found[0] for name in names for pattern in _patterns(name) if (found := pattern.search(text)))


def _matches(name: str, text: str) -> bool:
    return any(pattern.search(text) for pattern in _patterns(name))


@cache
def _patterns(name: str) -> tuple[re.Pattern[str], ...]:
    """Those of both languages; a table is one pattern or several."""
    tables = [getattr(language, name) for language in (english_contrasts, korean_contrasts)]
    listed = [pattern for table in tables for pattern in ((table,) if isinstance(table, str) else table)]
    return tuple(re.compile(pattern, re.I) for pattern in listed)
