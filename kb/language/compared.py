"""A question about the difference of two things → the two, as it writes them, English and Korean. Pure."""

from __future__ import annotations

import re

from kb.language.registry import says
from kb.text import analyze, analyze_query

# Asked by words such as "difference", which another pattern knows: between two, or of one from the other.
_DIFFERENCE = (
    re.compile(r"\bbetween\s+(?P<one>.+?)\s+and\s+(?P<other>.+?)\s*[?.]*$", re.I),
    re.compile(
        r"\bhow\s+(?:is|are|does|do)\s+(?P<one>.+?)\s+(?:different|differ|distinguished)\s+from\s+(?P<other>.+?)\s*[?.]*$",
        re.I,
    ),
    re.compile(r"(?P<one>\S+)\s+(?:vs\.?|versus)\s+(?P<other>[^\s,?.]+)"),  # and no "VS Code"
)
# "useMemo or useCallback for a function?" begins with the one thing, "Can I use this or that?" does not.
_CHOICE = (
    re.compile(
        r"^(?!(?:can|could|do|does|did|is|are|was|were|how|what|which|where|when|why|who|whose|should|shall|will|would|may|must|if|in|on|at|to|for)\b)"
        r"(?P<one>[^\s,?]+(?:\s[^\s,?]+){0,3}?)\s+or\s+(?P<other>[^\s,?]+(?:\s[^\s,?]+){0,3}?)"
        r"(?:\s*[,?]|\s+(?:for|in|when|which|to)\s|$)",
        re.I,
    ),
    re.compile(
        r"(?:^|\s)(?P<one>\S+?)(?:와|과|랑|이랑|하고)\s+(?P<other>.+?)(?:의|은|는|이|가|을|를)?\s*(?:어떻게|무엇이|뭐가|어디가)?\s*"
        r"(?:차이|다른\s*점|다른[가지]|다르|다릅|비교)"
    ),
    re.compile(
        r"^(?P<one>\S+?)(?:와|과|랑|이랑|하고)\s+(?P<other>\S+?)(?:\s*중|은|는)\s*(?:에|에서)?\s*(?:어느|어떤|무엇|뭐|뭘)"
    ),
)
# "x..y in revsets": where the two are met, behind the second.
_WHERE = re.compile(r"\s+(?:in|for|within|inside|when|on)\s+.*$", re.I)
_ARTICLE = re.compile(r"^(?:an?|the)\s+", re.I)


def compared_things(question: str) -> tuple[str, str] | None:
    """The two things whose difference is asked for; None for every other question, and for more things than two.

    >>> compared_things("What is the difference between a change and a commit?")
    ('change', 'commit')
    >>> compared_things("def와 async def의 차이는 무엇인가요?")
    ('def', 'async def')
    """
    patterns = (*_DIFFERENCE, *_CHOICE) if says("intent_compare", question, re.I) else _CHOICE
    found = next((match for each in patterns if (match := each.search(question.strip()))), None)
    if found is None:
        return None
    one, other = (_ARTICLE.sub("", found[name]).strip() for name in ("one", "other"))
    other = _WHERE.sub("", other)
    is_of_two = one and other and "," not in one + other and " or " not in other
    return (one, other) if is_of_two else None


def things_lacking(question: str, text: str) -> tuple[str, ...]:
    """Of two things whose difference is asked for, those of which a text has no word of their own; empty for every other question.

    >>> things_lacking("Poetry or uv, which is better?", "Poetry isolates environments."), things_lacking("Is uv fast?", "")
    (('uv',), ())
    """
    things = compared_things(question)
    if things is None:
        return ()
    one, other = (frozenset(analyze_query(thing)) for thing in things)
    held = frozenset(analyze(text))
    own = (one - other or one, other - one or other)
    return tuple(thing for thing, terms in zip(things, own, strict=True) if not terms & held)
