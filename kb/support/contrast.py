"""A clause of a claim and the clause of a text on the same matter → what the one says against the other. Pure.

Opposites, more and less, duty and permission, all and some, whenever and at times. Each check is for two clauses that
share most of their words; roles and places of names are in kb/support/roles.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise

from kb.language import english_contrasts, korean_contrasts
from kb.language.quantities import Quantity, facts_of
from kb.support.clauses import (
    Word,
    are_opposite,
    clauses_of,
    content_of,
    has_opposite,
    is_modal,
    is_same,
    shared,
    words_of,
)
from kb.support.polarity import polarity_of

# Two clauses with this share of the claim's words in common are on the same matter, whatever else they hold.
SAME_MATTER = 0.6
# 11시부터, 3월까지, 2012년부터.
_POINT_OF_TIME = re.compile(r"\s?(?:시|월|년|일)(?:\s?\d{1,2}분|\s?반)?\s?(?:부터|까지)")
# With a smaller share a pair of opposites must stand beside the same word.
CLOSE_MATTER = 0.5
BESIDE_WORDS = 2
_STRONGER = {
    ("may", "forbidden"), ("must", "forbidden"), ("should", "forbidden"), ("forbidden", "may"), ("forbidden", "must"),
    ("forbidden", "should"), ("must", "optional"), ("optional", "must"), ("must", "may"), ("may", "must"), ("forbidden", "optional"),
}  # fmt: skip


def contrasts(claim: str, sentence: str) -> list[str]:
    """What a claim says against a sentence, as words for a message; empty where they are on different matters.

    >>> contrasts("The north gate is closed on Mondays.", "The north gate is open on Mondays.")
    ["'closed' is the opposite of 'open'"]
    """
    found: list[str] = []
    parts = clauses_of(sentence)
    is_turned = turns_a_condition(claim, sentence) or _turns_a_comparison(claim, sentence)
    for clause in clauses_of(claim):
        ours = content_of(clause)
        if len(ours) < 2:
            continue
        nearest = max((*parts, sentence), key=lambda part: (shared(ours, content_of(part)), -len(part)))
        theirs = content_of(nearest)
        if shared(ours, theirs) < CLOSE_MATTER - 1e-9:
            continue
        if not is_turned:
            unshared = _without_shared(theirs, content_of(claim))
            found += _opposites(clause, ours, nearest, unshared, content_of(sentence))
        if shared(ours, theirs) >= SAME_MATTER:
            found += [*_modality(clause, nearest), *_quantifier(clause, nearest), *_settled(clause, sentence)]
        found += _whenever(clause, sentence)
    found += [*excepted(claim, sentence), *_allowed_against(claim, sentence)]
    return list(dict.fromkeys(found))


def _without_shared(theirs: list[Word], claim: Sequence[Word]) -> list[Word]:
    """Their words, but for those that have an opposite and stand in the claim as well: it tells of both sides."""
    shared_keys = {word.key for word in claim}
    return [w for w in theirs if w.key not in shared_keys or not has_opposite(w.text)]


def _turns_a_comparison(claim: str, sentence: str) -> bool:
    """True where both compare two things, in the other order: what is bigger than a thing, that thing is smaller.

    >>> _turns_a_comparison("The lower spring has less water than the upper.", "The upper spring has more water than the lower.")
    True
    """
    if not (_pattern("COMPARES").search(claim) and _pattern("COMPARES").search(sentence)):
        return False
    theirs = [w.key for w in content_of(sentence)]
    order = [theirs.index(w.key) for w in content_of(claim) if theirs.count(w.key) == 1]
    return any(a > b for a, b in pairwise(order))


def _opposites(
    clause: str, ours: list[Word], nearest: str, theirs: list[Word], everything: list[Word]
) -> Iterator[str]:
    mine = [w for w in ours if not any(is_same(w.key, t.key) for t in everything)]
    other = [w for w in theirs if not any(is_same(w.key, o.key) for o in ours)]
    if not mine or not other:
        return
    rest = [w for w in ours if w not in mine]
    near = shared([w for w in ours if w not in mine] or ours, theirs) * len(rest) / max(1, len(ours) - 1)
    for word in mine:
        for opposite in other:
            if not are_opposite(word, opposite):
                continue
            if near < SAME_MATTER and not _stand_beside(word, ours, opposite, theirs):
                continue
            if _is_denied(word, clause) != _is_denied(opposite, nearest):
                continue  # not open, closed
            if any(_is_bound_of_time(w, text) for w, text in ((word, clause), (opposite, nearest))):
                continue
            yield f"'{word.text}' is the opposite of '{opposite.text}'"


def _is_bound_of_time(word: Word, clause: str) -> bool:
    """True for "the beginning of April", "the end of the week": a part of a time, and no event."""
    is_part = word.text.lower() in ("beginning", "start", "end")
    return is_part and re.search(rf"\b{re.escape(word.text)} of \w", clause) is not None


def _stand_beside(word: Word, ours: list[Word], opposite: Word, theirs: list[Word]) -> bool:
    """True where one word stands near both."""
    left = [w for w in ours if w is not word and abs(w.place - word.place) <= BESIDE_WORDS]
    right = [w for w in theirs if w is not opposite and abs(w.place - opposite.place) <= BESIDE_WORDS]
    return any(is_same(a.key, b.key) for a in left for b in right)


def _is_denied(word: Word, clause: str) -> bool:
    return any(head and is_same(head, word.key) for head in polarity_of(clause).negated)


def _modality(clause: str, nearest: str) -> Iterator[str]:
    ours, theirs = _degree(clause), _degree(nearest)
    if turns_a_condition(clause, nearest):
        return
    if (ours, theirs) in _STRONGER:
        yield f"it says '{_DEGREES[ours]}' where the text says '{_DEGREES[theirs]}'"
    elif (
        ours == "forbidden"
        and not theirs
        and shared(content_of(clause), content_of(nearest)) >= 0.8
        and not _denies(nearest)
    ):
        yield f"it says '{_DEGREES[ours]}' where the text does not"


def turns_a_condition(claim: str, sentence: str) -> bool:
    """True where one says "not without" and the other "only with": both deny or neither does, and they mean one thing.

    >>> turns_a_condition("You may not use it without a guide.", "It may be used only with a guide.")
    True
    """
    return any(
        _pattern("WITHOUT").search(a) and _pattern("ONLY").search(b) for a, b in ((claim, sentence), (sentence, claim))
    )


def _denies(text: str) -> bool:
    return bool(polarity_of(text).negated) or polarity_of(text).implicit


_DEGREES = {"forbidden": "not allowed", "optional": "not needed", "must": "must", "should": "should", "may": "may"}


def _degree(clause: str) -> str:
    """The degree of duty that a clause speaks of; "" for none, and for several."""
    found = []
    text = clause
    for degree, pattern in _modal_patterns():
        if pattern.search(text):
            found.append(degree)
            text = pattern.sub(" ", text)
    return found[0] if len(found) == 1 else ""


@cache
def _modal_patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple(
        (degree, re.compile(f"{english_contrasts.MODALITY[degree]}|{korean_contrasts.MODALITY[degree]}", re.I))
        for degree in english_contrasts.MODALITY
    )


def _quantifier(clause: str, nearest: str) -> Iterator[str]:
    careful = _pattern("CAREFUL").sub(" ", clause)
    all_here, all_there = _pattern("ALL").search(clause), _pattern("ALL").search(nearest)
    some_here, some_there = _pattern("SOME").search(careful), _pattern("SOME").search(nearest)
    if all_here and not all_there and some_there and not some_here:
        yield f"it says '{all_here[0]}' where the text says '{some_there[0]}'"
    if some_here and not some_there and all_there and not all_here and not _pattern("NONE").search(nearest):
        yield f"it says '{some_here[0]}' where the text says '{all_there[0]}'"
    none_here, none_there = _pattern("NONE").search(clause), _pattern("NONE").search(nearest)
    if none_here and not none_there and (all_there or some_there) and not polarity_of(nearest).negated:
        there = all_there or some_there
        yield f"it says '{none_here[0]}' where the text says '{there[0] if there else ''}'"


def _settled(clause: str, sentence: str) -> Iterator[str]:
    """Decided, of what the text has as a proposal."""
    here, there = _pattern("SETTLED").search(clause), _pattern("PUT_FORWARD").search(sentence)
    if here and there and not _pattern("SETTLED").search(sentence) and not _pattern("PUT_FORWARD").search(clause):
        yield f"it says '{here[0]}' where the text says '{there[0]}'"


def _whenever(clause: str, sentence: str) -> Iterator[str]:
    """All year for some months, every day for some days, at any time for some hours."""
    if _pattern("BUT").search(clause):
        return
    for always, at_times in (("ALL_YEAR", "SEASON"), ("ALL_WEEK", "WEEKDAY"), ("ALL_DAY", "HOUR")):
        here = _pattern(always).search(clause)
        if here and not _pattern(always).search(sentence):
            there = _pattern(at_times).search(sentence)
            if there and not _pattern(at_times).search(clause):
                yield f"it says '{here[0]}' where the text says '{there[0]}'"


def excepted(claim: str, sentence: str) -> list[str]:
    """What the text excepts and the claim does not.

    >>> excepted("It is open on Mondays.", "It is open every day except Monday.")
    ["the text excepts 'Monday'"]
    """
    if _pattern("EXCEPT").search(claim) or _pattern("BUT").search(claim) or _denies(claim):
        return []
    found = []
    for match in _pattern("EXCEPT").finditer(sentence):
        out = match["out"] or match["out_ko"]
        named = [w for w in words_of(claim) if w.text.lower().rstrip("s") == out.lower().rstrip("s") or w.key == out]
        before = content_of(sentence[: match.start()])
        turned = any(are_opposite(a, b) for a in content_of(claim) for b in before)
        if named and not turned and shared([w for w in content_of(claim) if w not in named], before) >= CLOSE_MATTER:
            found.append(f"the text excepts '{out}'")
    return found


def _allowed_against(claim: str, sentence: str) -> Iterator[str]:
    """What a clause of the text forbids, and the claim allows: all that is forbidden is named in the claim."""
    if _degree(claim) != "may":
        return
    for part in clauses_of(sentence):
        if _degree(part) != "forbidden":
            continue
        forbidden = [w for w in content_of(part) if not is_modal(w.text)]
        if len(forbidden) >= 2 and shared(forbidden, content_of(claim)) >= 1.0 - 1e-9:
            yield f"it says '{_DEGREES['may']}' where the text says '{_DEGREES['forbidden']}'"


@cache
def _pattern(name: str) -> re.Pattern[str]:
    return re.compile(f"{getattr(english_contrasts, name)}|{getattr(korean_contrasts, name)}", re.I)


def bounds_of(text: str) -> list[tuple[float, str]]:
    """(number, bound) of every number of a text: "more", "less", "about", or "" for the number itself.

    >>> bounds_of("more than 6 euros for children under 12, about 40 in all, 3 dogs")
    [(6.0, 'more'), (12.0, 'less'), (40.0, 'about'), (3.0, '')]
    """
    found = []
    for match in re.finditer(r"(?<![\w.,])[$€£₩]?(\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)", text):
        before, after = text[max(0, match.start() - 32) : match.start()], text[match.end() : match.end() + 24]
        # "Below the 1947 mark": a year that something is named after bounds nothing.
        is_name = re.fullmatch(r"1\d{3}|20\d\d", match[1]) and re.search(r"\b(?:the|that of) $", before)
        found.append((float(match[1].replace(",", "")), "" if is_name else _bound(before, after)))
    return found


def bound_in(bounds: Mapping[float, str], written: str) -> str:
    """That of a number as it is written, out of `bounds_of`.

    >>> bound_in({2400.0: "more"}, "2,400 seconds")
    'more'
    """
    digits = re.search(r"\d[\d,]*(?:\.\d+)?", written)
    return bounds.get(float(digits[0].replace(",", "")), "") if digits else ""


def bounded(text: str) -> Iterator[tuple[Quantity, str]]:
    """The quantities of a text that it bounds, each with "more" or "less".

    >>> [(quantity.written, bound) for quantity, bound in bounded("No more than six visitors, with up to 9 kg.")]
    [('9 kg', 'less'), ('six visitors', 'less')]
    """
    quantities = facts_of(text).quantities
    bounds = dict(bounds_of(text)) if quantities else {}
    for quantity in quantities:
        is_figure = quantity.written[0].isdecimal() or quantity.kind
        bound = bound_in(bounds, quantity.written) if is_figure else bound_said(quantity.written, text)
        if bound in ("more", "less"):
            yield quantity, bound


def bound_said(written: str, text: str) -> str:
    """That of a number in words, as it is written in the text.

    >>> bound_said("six visitors", "No more than six visitors may come in.")
    'less'
    """
    number = re.escape(written.split()[0])
    place = re.search(rf"(?<!\w){number}(?!\w)" if written.isascii() else number, text, re.I)
    return _bound(text[max(0, place.start() - 32) : place.start()], text[place.end() :][:24]) if place else ""


def _bounds_of_all(text: str) -> list[tuple[float, str]]:
    """`bounds_of`, and of what is counted in words."""
    said = (q for q in facts_of(text).quantities if not q.kind and not q.written[0].isdecimal())
    return [*bounds_of(text), *((q.value, bound_said(q.written, text)) for q in said)]


def _bound(before: str, after: str) -> str:
    for name, bound in (("LESS", "less"), ("MORE", "more"), ("ABOUT", "about")):
        if _before(name).search(before):
            return bound
    for name, bound in (("LESS_BEHIND", "less"), ("MORE_BEHIND", "more")):
        if _POINT_OF_TIME.match(after) or re.search(r"시\s?$", before):
            continue  # from 11 o'clock on is no more than 11
        if _behind(name).match(after):
            return bound
    return ""


@cache
def _before(name: str) -> re.Pattern[str]:
    english, korean = getattr(english_contrasts, name), getattr(korean_contrasts, name)
    return re.compile(rf"(?:\b{english}(?:\s+(?:the|a|an))?|{korean})\s*(?:(?:EUR|USD|GBP|CHF|KRW)\s)?[$€£₩]?$", re.I)


@cache
def _behind(name: str) -> re.Pattern[str]:
    english, korean = getattr(english_contrasts, name), getattr(korean_contrasts, name)
    return re.compile(rf"\s*(?:[a-z%°]+\s+){{0,2}}{english}|\s?(?:[만천억]{{1,2}}\s)?[가-힣%]{{0,4}}?\s?{korean}", re.I)


def wrong_bounds(claim: str, windows: str) -> list[str]:
    """Numbers of a claim that it gives as a bound while the texts give them plainly, or as the other bound.

    >>> wrong_bounds("More than six may come in.", "No more than six visitors may come in.")
    ["it says 'more than 6', the text does not"]
    """
    there: dict[float, set[str]] = {}
    for value, bound in _bounds_of_all(windows):
        there.setdefault(value, set()).add(bound)
    for match in _pattern("BEYOND").finditer(windows):  # "up to 60 hours free, beyond that 500 an hour"
        for value, _ in bounds_of(windows[max(0, match.start() - 30) : match.start()])[-1:]:
            there.setdefault(value, set()).update(("more", "less"))
    said = {"more": "more than", "less": "less than"}
    found = []
    for value, bound in _bounds_of_all(claim):
        known = there.get(value)
        if not known or bound in ("", "about") or bound in known:
            continue
        # "within 14 days" and "14 days" may say the same; the opposite bound never does.
        if known <= {"", "about"} and _pattern("SAME_BOUND").search(claim):
            continue
        found.append(f"it says '{said[bound]} {value:g}', the text does not")
    return found
