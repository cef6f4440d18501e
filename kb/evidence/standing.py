"""A word of a question and the words of passages → whether it stands there, in whatever form it is written. Pure.

"Saharan" stands in a text on the Sahara, "Bogota" where it says Bogotá, "Volkwagen" where it says Volkswagen, "USA" where it
says United States of America. "RustRover" does not stand in one on Rust, nor does one number in another.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

from kb.evidence.question import Unit
from kb.language.english import MONTHS
from kb.language.everyday import same_as
from kb.language.korean_particles import is_hangul
from kb.language.quantities import facts_of, unit_of

# Letters that two forms of a word share, and that either may have behind them: Japan, Japanese; Pythagoras, Pythagorean.
STEM, ENDING = 5, 3
# In shorter words a letter more or less makes another word, and another letter in words that are not quite long: Samos, Samoa.
SPELLED, LONG = 5, 7
# Of the words of a speech 2 to 4 % are "I" and "my"; of the Rust book .03 %, of interviews .5 %.
SPEAKING_SHARE = 0.015
_SPEAKER = re.compile(r"\b(?:I|my|My|me)\b")
_WORD = re.compile(r"\d+(?:,\d{3})+|\w+(?:[.'’]\w+)*")
_CAPITALS = re.compile(r"(?:[A-Z][\w.]*(?: (?:of|the|and|for) | |-))+[A-Z]\w*")
_JOINTS = frozenset(("of", "the", "and", "for"))


class Standing:
    """The words of passages, for looking up whether a question's word is among them."""

    def __init__(self, texts: Iterable[str], terms: frozenset[str]) -> None:
        """terms  index terms of the texts"""
        self._terms = terms
        self._texts = tuple(texts)
        self._words = frozenset(word for text in self._texts for word in _WORD.findall(fold(text)))
        self._by_letter: dict[str, list[str]] = {}
        for word in self._words:
            self._by_letter.setdefault(word[0], []).append(word)

    def has(self, term: str) -> bool:
        """True for an index term of the texts."""
        return term in self._terms

    def holds(self, unit: Unit) -> bool:
        """True where the word stands in the texts in some form.

        >>> desert = Standing(["Dust of the Sahara"], frozenset({"dust", "sahara"}))
        >>> desert.holds(Unit("Saharan", ("saharan",), "name")), desert.holds(Unit("RustRover", ("rustrover",), "name"))
        (True, False)
        >>> dated = Standing(["Released on 2023-11-09, for €40"], frozenset())
        >>> dated.holds(Unit("November", ("novemb",), "name")), dated.holds(Unit("Oct", ("oct",), "name"))
        (True, False)
        >>> dated.holds(Unit("euros", ("euro",))), dated.holds(Unit("dollars", ("dollar",)))
        (True, False)
        """
        if unit.kind == "number" and "." in unit.text:  # a version or a decimal is not there because its parts are
            return any(_decimal(unit.text).search(text) for text in self._texts)
        # A name written as one word, RustRover, is not there because a part of it is.
        is_split = unit.kind == "name" and len(unit.terms) > 1 and unit.terms[0] not in self._terms
        if unit.share_in(self._terms) and not (is_split and any(part not in self._terms for part in unit.terms[1:])):
            return True
        if unit.kind == "number":
            whole = unit.text.replace(",", "")
            # Or "80,443" is two ports.
            return whole in {word.replace(",", "") for word in self._by_letter.get(unit.text[0], ())} or (
                "," in unit.text and all(group in self._words for group in unit.text.split(","))
            )
        if any(self._has(other) for other in same_as(unit.text)):
            return True
        if (unit.kind == "word" or unit.text.isupper()) and self._has_sign(unit.text):
            return True
        if not unit.text.isascii() and unit.is_run():
            return False
        word = fold(unit.text).removesuffix("'s").removesuffix("’s")
        if word in self._words or (len(word) >= STEM and any(word in other for other in self._words)):
            return True
        if any(is_form(word, other) for other in self._by_letter.get(word[:1], ())):
            return True
        month = next((n for n, name in enumerate(MONTHS, start=1) if word in (name, name[:3])), 0)
        if month:  # "2023-11-09", "11월 9일"
            return month in self._months()
        return unit.text.isupper() and word.replace(".", "") in self._initials()

    def _has(self, word: str) -> bool:
        """True where a word stands in the texts as it is; a Korean one with what stands behind it."""
        if word in self._words or f"{word}'s" in self._words or f"{word}’s" in self._words:
            return True
        return (
            len(word) > 1
            and is_hangul(word)
            and any(other.startswith(word) for other in self._by_letter.get(word[0], ()))
        )

    def _months(self) -> frozenset[int]:
        return frozenset(date.month for text in self._texts for date in facts_of(text).dates)

    def _has_sign(self, word: str) -> bool:
        """Whether a unit stands there by its sign: euros in €40, kilometres in 12 km."""
        unit = unit_of(word, is_word=True)
        if not unit[0]:
            return False
        units = frozenset[tuple[str, float]]().union(*map(units_written, self._texts))
        return unit in units or (word.casefold() in ("pound", "pounds") and unit_of("£") in units)

    def _initials(self) -> frozenset[str]:
        """usa of "United States of America"; without its last words too, since a name may go on."""
        found: set[str] = set()
        for text in self._texts:
            for run in _CAPITALS.findall(text):
                letters = "".join(word[0] for word in re.split("[ -]", run) if word not in _JOINTS).casefold()
                found.update(letters[i:j] for i in range(len(letters)) for j in range(i + 2, len(letters) + 1))
        return frozenset(found)


def units_written(text: str) -> frozenset[tuple[str, float]]:
    """The units of the quantities of a text.

    >>> sorted(units_written("€40 for 12 km"))
    [('euro', 1.0), ('length', 1000.0)]
    """
    written = (quantity.written for quantity in facts_of(text).quantities if quantity.kind)
    # A sign stands before its number, a name behind it.
    bare = (w[0] if not w[0].isalnum() else re.sub(r"^\S*\d[\d.,]*[\s-]*", "", w) for w in written)
    return frozenset(unit for word in bare if (unit := unit_of(word.split(" ")[0]))[0])


def is_first_person(texts: Iterable[str]) -> bool:
    """True for a speech, a letter, a diary: whoever speaks in it is seldom named."""
    together = " ".join(texts)
    return len(_SPEAKER.findall(together)) >= SPEAKING_SHARE * max(1, len(together.split()))


@lru_cache(maxsize=65536)
def is_form(one: str, other: str) -> bool:
    """True for two words with one stem, and for one that is misspelled by a letter.

    >>> is_form("japanese", "japan"), is_form("volkwagen", "volkswagen"), is_form("station", "states")
    (True, True, False)
    """
    shared = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    if shared >= STEM and max(len(one), len(other)) - shared <= ENDING:
        return True
    least = LONG if len(one) == len(other) else SPELLED
    return min(len(one), len(other)) >= least and _is_misspelled(one[shared:], other[shared:])


def _is_misspelled(one: str, other: str) -> bool:
    """True where one letter more, less, other or two in the other order makes the one the other; both begin differently."""
    if len(one) < len(other):
        one, other = other, one
    if len(one) == len(other):
        return one[1:] == other[1:] or (one[:2] == other[1::-1] and one[2:] == other[2:])
    return one[1:] == other


@lru_cache(maxsize=256)
def _decimal(number: str) -> re.Pattern[str]:
    """Finds a decimal or a version as a whole, 0.5 as .5 too, 3.12 in 3.12.1."""
    bare = number.strip("%")
    whole = f"0?{re.escape(bare[1:])}" if bare.startswith("0.") else re.escape(bare)
    return re.compile(rf"(?<![\d.]){whole}(?!\d)")


@lru_cache(maxsize=1024)
def fold(text: str) -> str:
    """Without capitals and accents."""
    if text.isascii():
        return text.lower()
    plain = unicodedata.normalize("NFKD", text.casefold())
    return unicodedata.normalize("NFC", "".join(letter for letter in plain if not unicodedata.combining(letter)))
