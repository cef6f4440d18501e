"""A question and the openings of documents → which of its words each document is about, and which documents it names. Pure.

A lease says once, at its head, which flat it is of; the clause on dogs says "the flat". A question names the flat: its words
stand for every clause of that lease, and for none of another's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from kb.evidence.naming import is_name as is_name_in
from kb.evidence.openings import Opening, has_exactly, is_month, says
from kb.evidence.question import Unit, units_of
from kb.frozen import dataclass
from kb.language.english import BEFORE_NAMES
from kb.language.korean import BEHIND_NAMES, MONTH_NUMBER, SAYS_WHEN
from kb.language.korean_particles import is_hangul

# A word is one of the documents that are about it where they have so many of the chunks that have it; a name that stands in their paths or titles
# where they have so many: Python, in the title of one page of many on it, tells this page from none.
OWN_SHARE, NAMED_SHARE = 0.6, 0.25
# What more than this share of the documents are about tells none of them from the others.
MOST_DOCUMENTS = 0.5
# A word in small letters, or in Hangul, names a document where no more than so many have it in their path or title.
FEW = 1
# So many documents whose names have a word are of one kind.
LEAST_FAMILY = 2

# doc_id → the chunks that have a word.
Holders = Mapping[int, frozenset[int]]


@dataclass(frozen=True, slots=True)
class Subjects:
    """What the documents that were found are about, of what a question names.

    units    the question's words as units, by their texts
    words    doc_id → those that it is about, in their order
    naming   the words that name documents → those that are about them
    unsaid   doc_id → words that tell which one of its kind is meant, and that it does not say: 강릉 in "강릉 출장", of a report on 부산
    kinds    doc_id → words of its name that say what kind it is
    hints    doc_id → Hangul words that its opening alone has: they help to choose a quote, and are no evidence, since many are no names
    """

    question: str
    units: Mapping[str, Unit]
    words: Mapping[int, tuple[str, ...]]
    naming: Mapping[str, frozenset[int]]
    unsaid: Mapping[int, tuple[str, ...]]
    kinds: Mapping[int, frozenset[str]]
    hints: Mapping[int, tuple[str, ...]]

    def of(self, doc_id: int) -> str:
        """The question's words that a document is about, as one text; empty where there are none."""
        return " ".join(self.words.get(doc_id, ()))

    def hinted_of(self, doc_id: int) -> str:
        """The same with hints."""
        return " ".join((*self.words.get(doc_id, ()), *self.hints.get(doc_id, ())))

    def not_of(self, doc_id: int) -> tuple[str, ...]:
        """The question's words that name something else than this document."""
        return tuple(dict.fromkeys((*self._others_names(doc_id), *self.unsaid.get(doc_id, ()))))

    def named(self) -> frozenset[int]:
        """The documents that are about all that is named; none where nothing is, or where it is spread over several."""
        return frozenset.intersection(*self.naming.values()) if self.naming else frozenset()

    def are_alike(self, doc_id: int, named: int) -> bool:
        """Whether the names of two documents have a word in common, and so may be of one kind: leases, minutes."""
        taken = {word.casefold() for word in self.naming}
        return bool((self.kinds.get(doc_id, frozenset()) & self.kinds.get(named, frozenset())) - taken)

    def lacks_names(self, doc_id: int, text: str) -> bool:
        """Whether a passage of another document lacks what is named.

        text  of the passage, with its titles
        """
        return not all(says(self.units[word], self.question, text) for word in self._others_names(doc_id))

    def bare_question(self) -> str:
        """The question without what names documents: "What is in the box of the Brio XL?" asks what is in the box.

        returns  empty where nothing else is asked
        """
        return without_names(self.question, self.names())

    def names(self) -> tuple[str, ...]:
        """What the question calls the documents that it names: "Brio XL", though two documents are of a Brio."""
        called = {word for doc_id in self.named() for word in self.words.get(doc_id, ())}
        return tuple(word for word in self.units if word in called or word in self.naming)

    def _others_names(self, doc_id: int) -> list[str]:
        return [word for word, about in self.naming.items() if doc_id not in about]


NO_SUBJECTS = Subjects("", {}, {}, {}, {}, {}, {})


def find_subjects(
    question: str, units: Sequence[Unit], openings: Mapping[int, Opening], holding: Mapping[str, Holders]
) -> Subjects:
    """What each document is about.

    units     of the question
    openings  doc_id → of every document that is looked at
    holding   unit's text → the chunks that have it; units that very many chunks have are left out
    """
    called = {doc_id: opening.name() for doc_id, opening in openings.items()}
    told = {doc_id: opening.told() for doc_id, opening in openings.items()}
    titled = _titled_in(question, units, told)
    words: dict[int, list[str]] = {}
    hints: dict[int, list[str]] = {}
    naming: dict[str, frozenset[int]] = {}
    for unit in units:
        if unit.text not in holding:
            continue
        by_name, by_opening = _those_with(unit, question, called), _those_with(unit, question, told)
        is_name = unit.kind == "name" and is_name_in(unit.text, question)
        if unit.kind == "number" or is_month(unit, question):
            # What a document is of by its name, wherever else it is mentioned.
            about = frozenset(doc_id for doc_id in by_name if _is_named_by(unit, question, called[doc_id]))
            is_naming = True
        elif by_name and _own_share(holding[unit.text], by_name) >= (NAMED_SHARE if is_name else OWN_SHARE):
            about, is_naming = by_name, is_name or len(by_name) <= FEW
        elif unit.text in titled:
            about, is_naming = titled[unit.text], True
        elif is_name and _own_share(holding[unit.text], by_opening) >= OWN_SHARE:
            about, is_naming = by_opening, len(by_opening) <= FEW
        elif (
            is_hangul(unit.text) and len(by_opening) == FEW and _own_share(holding[unit.text], by_opening) >= OWN_SHARE
        ):
            for doc_id in by_opening:
                hints.setdefault(doc_id, []).append(unit.text)
            continue
        else:
            continue
        if not 0 < len(about) <= max(1, MOST_DOCUMENTS * len(openings)):
            continue
        if is_naming:
            naming[unit.text] = about
        for doc_id in about:
            words.setdefault(doc_id, []).append(unit.text)
    by_text = {unit.text: unit for unit in units}
    if naming and not frozenset.intersection(*naming.values()):
        # Two are named, or one and a word of another's title: a version and a month are what they are of all the same.
        naming = {
            word: about for word, about in naming.items() if word[-1:].isdecimal() or is_month(by_text[word], question)
        }
    if naming and not without_names(question, tuple(naming)):
        words = {}  # what is asked is what the thing itself is: a passage that says its name tells that sooner
    return Subjects(
        question,
        by_text,
        {i: tuple(found) for i, found in words.items()},
        naming,
        _unsaid(question, units, called, told, holding),
        {doc_id: opening.kinds() for doc_id, opening in openings.items()},
        {i: tuple(found) for i, found in hints.items()},
    )


def words_lacking(words: Sequence[str], question: str, text: str) -> tuple[str, ...]:
    """Those of a question's words of which a text says nothing."""
    units = {unit.text: unit for unit in units_of(question)} if words else {}
    return tuple(word for word in words if word in units and not says(units[word], question, text))


def without_names(question: str, words: Sequence[str]) -> str:
    """A question without some of its words and what goes with these; empty where it asks nothing else.

    >>> without_names("What's in the box of the Brio XL?", ["Brio", "XL"]), without_names("3월 회의에서 뭘 정했어?", ["3"])
    ("What's in the box ?", '회의에서 뭘 정했어?')
    >>> without_names("What is a JWT?", ["JWT"])
    ''
    """
    asked = {unit.text for unit in units_of(question)}
    left = question
    for word in words:
        if is_hangul(word):
            left = " ".join(part for part in left.split() if word not in part)
        elif word in re.findall(MONTH_NUMBER, question):
            left = re.sub(rf"(?<!\d){word}\s?월[가-힣]*", " ", left)
        else:
            named = rf"(?<![A-Za-z0-9])(?:[A-Za-z]+-)?{re.escape(word)}(?:['’]s)?(?![A-Za-z0-9])[가-힣]*"
            left = re.sub(rf"(?:\b(?i:{BEFORE_NAMES})\s+)*{named}", " ", left)
    left = " ".join(left.split())
    return left if any(unit.text in asked for unit in units_of(left)) else ""


def _those_with(unit: Unit, question: str, texts: Mapping[int, str]) -> frozenset[int]:
    return frozenset(doc_id for doc_id, text in texts.items() if has_exactly(unit, question, text))


def _is_named_by(unit: Unit, question: str, called: str) -> bool:
    """Whether a number or a month of a question is of what a document is called: a month, a version, or beside another word of its name.

    Neither "10 workers", of 10-install.md, nor a year, which many documents are of.
    """
    if is_month(unit, question) or "." in unit.text:
        return True
    if len(unit.text) == 4 and unit.text[:2] in ("19", "20"):
        return False
    number = re.escape(unit.text)
    beside = (
        re.search(rf"([^\W\d_]{{2,}})[\s-]{{0,2}}{number}(?!\d)", question),
        re.search(rf"(?<!\d){number}[\s-]{{0,2}}([^\W\d_]{{2,}})", question),
    )
    words = {word.casefold() for word in re.findall(r"[^\W\d_]{2,}", called)}
    return any(found is not None and found[1].casefold() in words for found in beside)


def _titled_in(question: str, units: Sequence[Unit], told: Mapping[int, str]) -> dict[str, frozenset[int]]:
    """Words that stand side by side, and under capitals in openings: "orchard mews", of "Property: Orchard Mews".

    returns  word → the documents whose openings have it so
    """
    found: dict[str, frozenset[int]] = {}
    for one, other in pairwise(unit.text for unit in units if _is_plain(unit.text.lower())):
        if f"{one} {other}" in question:
            name = f"{one.capitalize()} {other.capitalize()}"
            about = frozenset(doc_id for doc_id, text in told.items() if name in text)
            found |= {word: found.get(word, frozenset()) | about for word in (one, other)} if about else {}
    return found


def _is_plain(word: str) -> bool:
    return word.isascii() and word.isalpha() and word.islower()


def _own_share(holders: Holders, about: frozenset[int]) -> float:
    """The share of the chunks with a word that is of the documents that are about it; 1 where no chunk has it."""
    held = sum(len(chunks) for chunks in holders.values())
    own = sum(len(chunks) for doc_id, chunks in holders.items() if doc_id in about)
    return own / held if held else 1.0


def _unsaid(
    question: str,
    units: Sequence[Unit],
    called: Mapping[int, str],
    told: Mapping[int, str],
    holding: Mapping[str, Holders],
) -> dict[int, tuple[str, ...]]:
    """Of documents of one kind, as several are by their names, what the question says before the kind and nothing in them says."""
    found: dict[int, tuple[str, ...]] = {}
    for kind, before in _kinds_in(question, units):
        family = _those_with(kind, question, called) if before else frozenset[int]()
        for doc_id in family if len(family) >= LEAST_FAMILY else ():
            unsaid = [
                unit.text
                for unit in before
                if unit.text in holding
                and (doc_id not in holding[unit.text] or is_month(unit, question))
                and not has_exactly(unit, question, told[doc_id])
            ]
            found[doc_id] = tuple(dict.fromkeys((*found.get(doc_id, ()), *unsaid)))
    return found


def _kinds_in(question: str, units: Sequence[Unit]) -> Iterator[tuple[Unit, list[Unit]]]:
    """Each Hangul word of a question with the words that stand right before it, without particles: 강릉 before 출장.

    Numbers are left out but for months: "404 오류" is of no error that is called 404.

    >>> question = "강릉 출장 총 비용 얼마였어?"
    >>> [(kind.text, [unit.text for unit in before]) for kind, before in _kinds_in(question, units_of(question))]
    [('강릉', []), ('출장', ['강릉']), ('비용', ['강릉', '출장'])]
    """
    before: list[Unit] = []
    for word in question.split():
        unit = next((unit for unit in units if word.startswith(unit.text)), None)
        if unit is not None and is_hangul(unit.text):
            yield unit, list(before)
        if unit is not None and word.removeprefix(unit.text) in ("", "의", "월"):
            if (unit.kind != "number" or is_month(unit, question)) and unit.text not in SAYS_WHEN:
                before.append(unit)
        elif word not in BEHIND_NAMES:
            before.clear()
