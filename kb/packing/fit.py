"""A decomposed question and a passage's text → how much the text looks like an answer, in [0, 1]. Pure.

    fit = .4 · entities found + .3 · facts found + .2 · min(1, intent words / 3) + .1 · any sign of the expected shape

A question without entities gets .2 for them, one without facts .15. Words are matched whole: "rag" is not in
"storage", nor "is" in "this". A Korean word may be followed by particles.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache

from kb.frozen import dataclass
from kb.language.interface import WordKind
from kb.language.korean_particles import is_hangul
from kb.language.registry import pattern, words

ENTITY_SHARE, FACT_SHARE, INTENT_SHARE, SHAPE_SHARE = 0.4, 0.3, 0.2, 0.1
NO_ENTITIES, NO_FACTS = 0.2, 0.15
# Intent words that make a full score.
FULL_INTENT = 3
_WORDLIKE = re.compile(r"[\w '’]*\w")
Needle = tuple[str, Callable[[str], bool]]
# A shorter stem would match too many words; such a word is matched as it is, with any of the ends below.
SHORTEST_STEM = 4
# Ends of English words that a match allows: "import" is in "imports", not in "important".
_ENDS = "['’]s|s|es|e|ed|d|ing|ies|y|er|ers"

# intent, or shape → the kind of words that an answer holds.
INTENTS: dict[str, WordKind] = {
    "explain": "explain",
    "troubleshoot": "troubleshoot",
    "compare": "compare",
    "list": "list",
    "design": "design",
}
SHAPES: dict[str, WordKind] = {"definition": "definition", "list": "enumeration"}
# Compared as plain text, not as words.
SHAPE_SIGNS = {"list": ("1.", "2.", "-"), "code": ("def ", "class ", "import", "return")}


@dataclass(frozen=True, slots=True)
class Question:
    """A decomposed question (kb/packing/decompose.py).

    entities  names it is about, as it writes them
    facts     other words or phrases that an answer should hold
    intent    explain, troubleshoot, compare, list or design; any other word means none of them
    shape     definition, list or code; any other word means none of them
    """

    entities: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()
    intent: str = "lookup"
    shape: str = "text"


def question_fit(text: str, question: Question) -> float:
    """How well a passage's text fits what is asked, in [0, 1]."""
    return fit_scorer(question)(text)


def fit_scorer(question: Question) -> Callable[[str], float]:
    """`question_fit` for many texts: the patterns are prepared once."""
    entities = [[_needle(word) for word in name.split() or [name]] for name in question.entities]
    facts = [_needle(fact) for fact in question.facts]
    intent = [_needle(word) for word in _listed(INTENTS, question.intent)]
    shape = [_needle(sign) for sign in (*SHAPE_SIGNS.get(question.shape, ()), *_listed(SHAPES, question.shape))]

    def score(text: str) -> float:
        low = text.casefold()
        fit = NO_ENTITIES
        if entities:
            # A name is there when all its words are: "mirror cleaning" is a heading "Cleaning" below one "The mirror".
            named = [name for name in entities if name[0][0] in low and _count(name, low) == len(name)]
            fit = ENTITY_SHARE * len(named) / len(entities)
        fit += FACT_SHARE * _count(facts, low) / len(facts) if facts else NO_FACTS
        fit += INTENT_SHARE * min(1.0, _count(intent, low) / FULL_INTENT)
        if any(letters in low and test(low) for letters, test in shape):
            fit += SHAPE_SHARE
        return min(1.0, fit)

    return score


def _listed(kinds: dict[str, WordKind], name: str) -> list[str]:
    return sorted(words(kinds[name])) if name in kinds else []


def _needle(word: str) -> Needle:
    low = word.casefold()
    return (_stem(low) if _is_wordlike(low) else low), word_test(word)


def _count(needles: Sequence[Needle], low: str) -> int:
    """How many of the needles a casefolded text holds. The cheap substring search comes first, since few texts pass it."""
    return len([1 for letters, test in needles if letters in low and test(low)])


def _is_wordlike(low: str) -> bool:
    return _WORDLIKE.fullmatch(low) is not None


@lru_cache(maxsize=4096)
def word_test(needle: str) -> Callable[[str], bool]:
    """A test whether a casefolded text holds a word or phrase as a whole, inflected ends allowed.

    >>> word_test("rag")("storage fragility"), word_test("model")("two models"), word_test("소유권")("소유권은")
    (False, True, True)
    """
    low = needle.casefold()
    if not _is_wordlike(low):
        return lambda text: low in text
    stem = _stem(low)
    begins_open, ends_open = is_hangul(low[0]), is_hangul(low[-1])
    end = re.compile(rf"(?:{_ENDS})?(?![^\W가-힣])").match

    def test(text: str) -> bool:
        # Searching the letters first is ten times as fast as one pattern that looks at every word's beginning.
        at = text.find(stem)
        while at >= 0:
            before = text[at - 1] if at else " "
            is_free = not (before.isalnum() or before == "_") or (begins_open and is_hangul(before))
            if is_free and (ends_open or end(text, at + len(stem))):
                return True
            at = text.find(stem, at + 1)
        return False

    return test


def _stem(low: str) -> str:
    """An English word without the end that changes: "changed", "changes" and "change" begin alike."""
    if not low.isascii() or not low.isalpha() or len(low) <= SHORTEST_STEM:
        return low
    for end in ("ing", "ies", "ed", "es", "e", "y", "s"):
        if low.endswith(end) and len(low) - len(end) >= SHORTEST_STEM and not (end == "s" and low.endswith("ss")):
            return low[: -len(end)]
    return low


# ---- domains

# "for" and "while" count as code only with the syntax around them: every second question has a "for".
CODE_SIGNS = re.compile(
    r"\bdef\s+\w|\btry:|\bself\.|\bprint\(|\bfor\s+\w+\s+in\b.*:|\bfor\s*\(|\bwhile\s*\(|\bwhile\s+[^:\n]{1,60}:"
)
# Signs of code that make a text code.
CODE_LEAST = 2


def detect_domain(text: str) -> str:
    """code, tech or general, by whole words.

    >>> detect_domain("storage fragility"), detect_domain("give me a class for the model")
    ('general', 'tech')
    """
    low = text.casefold()
    signs = {match.group()[:4] for match in CODE_SIGNS.finditer(low)}
    if len(set(pattern("code", low).findall(low))) + len(signs) >= CODE_LEAST:
        return "code"
    return "tech" if any(word_test(word)(low) for word in sorted(words("tech"))) else "general"
