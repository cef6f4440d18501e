"""A question about the difference of two things → the two, as it writes them, English and Korean. Pure."""

from __future__ import annotations

import re

from kb.language.registry import says
from kb.text import analyze, analyze_query

# Longer questions tell more than two things.
MOST_CHARS = 300

# Asked by words such as "difference", which another pattern knows: between two, or of one from the other.
_DIFFERENCE = (
    re.compile(r"\bbetween (?P<one>.+?) and (?P<other>.+?) ?[?.]*$", re.I),
    re.compile(
        r"\bhow (?:is|are|does|do) (?P<one>.+?) (?:different|differ|distinguished) from (?P<other>.+?) ?[?.]*$", re.I
    ),
    re.compile(r"(?<!\S)(?P<one>\S+) (?:vs\.?|versus) (?P<other>[^\s,?.]+)"),  # and no "VS Code"
)
# "useMemo or useCallback for a function?" begins with the one thing and asks which; "Can I use this or that?" does neither.
_CHOICE = re.compile(
    r"^(?!(?:can|could|do|does|did|is|are|am|was|were|has|have|had|how|what|which|where|when|why|who|whose|should|shall|will|would|may"
    r"|must|if|in|on|at|to|for|tell|give|list|show|explain|after|before|with|without|whether|one|two|three|four|five)\b)"
    r"(?P<one>[^\s,?]+(?: [^\s,?]+){0,3}?) or (?!(?:more|less|not|so|another|other)\b)(?P<other>[^\s,?]+(?: [^\s,?]+){0,3}?)"
    r"(?: ?\?+$|, ?(?:which|when to|where should|should|what(?:'s| is) the difference)\b| (?:for|which|when to)\b)",
    re.I,
)
# Words that end like a particle: 결과, 도와.
_NO_PARTICLE = "결과|효과|사과|학과|통과|성과|초과|일과|교과|치과|내과|외과|안과|경과|부과|도와"
_KOREAN = (
    re.compile(
        rf"(?:^|\s)(?!(?:{_NO_PARTICLE})\s)(?P<one>\S+?)(?:와|과|랑|이랑) (?P<other>.+?)(?:의|은|는|이|가|을|를)? ?"
        r"(?:차이|비교|다른 ?점|(?:어떻게|무엇이|뭐가|어디가|뭐) ?(?:다른|다르|다릅|달라))"
    ),
    re.compile(
        rf"^(?!(?:{_NO_PARTICLE})\s)(?P<one>\S+?)(?:와|과|랑|이랑|하고) (?P<other>\S+?) ?중 ?(?:에|에서)? ?(?:어느|어떤|무엇|뭐|뭘)"
    ),
)
# "x..y in revsets": where the two are met, behind the second.
_WHERE = re.compile(r" (?:in|for|within|inside|when|on) .*$", re.I)
_ARTICLE = re.compile(r"^(?:an?|the) ", re.I)
# "a normal ref", beside shallowRef.
_PLAIN = re.compile(r"^(?:normal|regular|ordinary|plain) (?=\S)", re.I)


def compared_things(question: str) -> tuple[str, str] | None:
    """The two things whose difference is asked for; None for every other question, for more things than two, and for signs alone.

    >>> compared_things("What is the difference between a change and a commit?")
    ('change', 'commit')
    >>> compared_things("How is shallowRef different from a normal ref?")
    ('shallowRef', 'ref')
    >>> compared_things("What is the difference between normal mode and insert mode?")
    ('normal mode', 'insert mode')
    >>> compared_things("def와 async def의 차이는 무엇인가요?")
    ('def', 'async def')
    """
    asked = " ".join(question.split())
    if len(asked) > MOST_CHARS:
        return None
    patterns = (*_KOREAN, *_DIFFERENCE, _CHOICE) if says("intent_compare", asked, re.I) else (*_KOREAN, _CHOICE)
    found = next((match for each in patterns if (match := each.search(asked))), None)
    if found is None:
        return None
    one, other = (_ARTICLE.sub("", found[name]).strip() for name in ("one", "other"))
    other = _WHERE.sub("", other)
    one, other = _without_plain(one, other), _without_plain(other, one)
    has_words = bool(analyze_query(one) and analyze_query(other))
    return (one, other) if has_words and "," not in one + other and " or " not in other else None


def _without_plain(thing: str, beside: str) -> str:
    """A thing without a word such as "normal", where the other has its name in a word of its own: "ref" in "shallowRef"."""
    bare = _PLAIN.sub("", thing)
    is_within = bare.lower() in beside.lower() and bare.lower() not in beside.lower().split()
    return bare if is_within else thing


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
