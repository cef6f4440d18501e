"""A question → what it asks: intent, entities, facts and the shape of an answer, in English and Korean. Pure.

By words alone and the same every time. Which names are entities, the knowledge base says: a name that none of its
headings, titles, tags or texts holds is left among the facts, where it counts against every passage alike.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence

from kb.rank.fit import Question
from kb.text import STOP_WORDS

Names = Callable[[Sequence[str]], Collection[str]]

# Tried in this order; the first that matches is the intent.
_INTENTS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (intent, re.compile(pattern, re.IGNORECASE))
    for intent, pattern in (
        ("compare", r"\b(?:compar\w+|versus|vs|differ\w*|distinguish\w*|unlike|better than)\b|차이|비교|다른\s*점|대비"),
        (
            "troubleshoot",
            r"\b(?:errors?|fix(?:ed|ing)?|fail\w*|troubleshoot\w*|broken|crash\w*|not work\w*|debug\w*)\b"
            r"|오류|에러|고장|안\s*(?:돼|되|됩)|실패|해결",
        ),
        ("design", r"\b(?:design\w*|architect\w*|structured?|build)\b|설계|아키텍처|구조"),
        ("list", r"\b(?:list|which (?:of|\w+s)\b|what (?:are|were) the|examples?|enumerate|name (?:the|all))\b|목록|나열|어떤\s*것들|종류"),
        ("explain", r"\b(?:why|how (?:do|does|did|is|are|can|should|to|was|were|come)|explain|reason|cause\w*)\b|왜|어떻게|이유|원리|설명"),
        ("define", r"\b(?:what (?:is|does \w+ mean)|define|definition|meaning)\b|무엇|뭐|뭔|이란|란\s*\?|의미|정의"),
    )
)  # fmt: skip
_SHAPES: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (shape, re.compile(pattern, re.IGNORECASE))
    for shape, pattern in (
        ("code", r"\b(?:code|snippet|syntax|function signature|implement)\b|코드|구문|구현"),
        ("number", r"\b(?:how (?:many|much|long|often|old|far|big|fast|high|large)|when|what (?:year|date|percent\w*))\b|몇|며칠|얼마|언제"),
        ("list", r"\b(?:list|examples?|steps|which of|what are|what were|name (?:the|all))\b|목록|나열|종류|단계"),
        ("definition", r"\b(?:what is|what does \w+ mean|define|definition|meaning)\b|무엇|뭐|뭔|이란|란\s*\?|의미|정의"),
    )
)  # fmt: skip
_QUOTED = re.compile(r"[\"“`']([^\"”`']{2,60})[\"”`']")
_WORD = re.compile(r"[^\W_]+(?:[._'’+#-]*\w+)*[+#]*|[^\W\d]\w+")
_HANGUL = re.compile(r"[가-힣]")
# What follows a Korean noun, endings that make a question of it included; the longest first.
_PARTICLES = re.compile(
    r"(?<=[가-힣A-Za-z0-9])(?:하였나요|했습니까|되었나요|했나요|됐나요|하나요|되나요|합니까|됩니까|한가요|인가요|입니까|하는지|되는지|으로부터|에게서|이라는|이라고|에서는|으로는|이란|라는|에서|에게|으로|부터|까지|처럼|보다|하고|이나|에는|와의|과의"
    r"|해야|하나|되나|한가|하는|되는|마다|은|는|이|가|을|를|의|에|로|와|과|도|만|란)$"
)
_KOREAN_STOPS = frozenset(
    "왜 어떻게 무엇 무엇인 무엇인가 무엇인가요 무엇이며 뭐 뭐야 뭔가 뭔가요 어떤 어느 언제 어디 어디서 누가 누구 몇 며칠 얼마 얼마나 이유 것 수 있 있는 있나 있나요 하는 하나 하나요"
    " 되나 되나요 인가 인가요 대해 대한 대하여 관해 설명 설명해 설명해줘 알려줘 말해줘 해줘 그리고 또는 및 때 등 위해 위한".split()
)
# Words of questions that no answer needs to hold.
_QUESTION_WORDS = STOP_WORDS | frozenset(
    "tell explain describe define list name give show find many much long often mean means meaning example examples"
    " please according text document passage does doing done use used using say says said one two also there here between among within".split()
)
# A run of words as long as this is tried as one name.
LONGEST_NAME_WORDS = 4
# More facts than this make no question clearer; a pasted page must not cost seconds.
MOST_FACTS = 12
MOST_ENTITIES = 8


def decompose(query: str, known_names: Names = lambda names: ()) -> Question:
    """What a question asks.

    known_names  names, as the question writes them → those that the knowledge base knows
    """
    head = query[:2000]
    intent = next((name for name, pattern in _INTENTS if pattern.search(head)), "lookup")
    shape = next((name for name, pattern in _SHAPES if pattern.search(head)), "text")
    words = _content_words(head)
    tried = candidate_names(head)
    known = set(known_names(tried))
    entities: list[str] = []
    for name in tried:  # the longest first: "Rust Book" leaves no "Book" behind
        if name in known and not any(name.casefold() in longer.casefold() for longer in entities):
            entities.append(name)
    entities = entities[:MOST_ENTITIES]
    covered = {part.casefold() for entity in entities for part in _parts(entity)}
    facts = tuple(word for word in words if word.casefold() not in covered)[:MOST_FACTS]
    return Question(tuple(entities), facts, intent, shape)


def candidate_names(query: str) -> list[str]:
    """What could be a name: quoted text, identifiers, capitalized runs, runs of content words; the longest first.

    >>> candidate_names("How does the Router handle NAT?")[:3]
    ['Router', 'NAT', 'handle']
    """
    found: dict[str, None] = {}
    for match in _QUOTED.finditer(query):
        found[match.group(1).strip()] = None
    runs = _runs(query)
    for size in range(LONGEST_NAME_WORDS, 1, -1):
        for run in runs:
            for i in range(len(run) - size + 1):
                found[" ".join(run[i : i + size])] = None
    singles = [word for run in runs for word in run]
    named = [word for word in singles if _looks_like_name(word)]
    for word in dict.fromkeys([*named, *singles]):
        found[word] = None
    return list(found)[:64]


def _looks_like_name(word: str) -> bool:
    """Capitalized, an identifier, or with a digit in it."""
    return any(c.isupper() for c in word) or any(c in "._" or c.isdigit() for c in word)


def _runs(query: str) -> list[list[str]]:
    """Content words that stand side by side, stop words and punctuation between runs."""
    runs: list[list[str]] = [[]]
    end = 0
    for match in _WORD.finditer(query):
        word = _bare(match.group())
        if query[end : match.start()].strip() and runs[-1]:
            runs.append([])
        end = match.end()
        if not word or _is_stop(word) or _is_stop(match.group()):
            runs.append([])
            continue
        runs[-1].append(word)
        if word != match.group():  # a particle ends a Korean noun phrase
            runs.append([])
    return [run for run in runs if run]


def _content_words(query: str) -> list[str]:
    found: dict[str, str] = {}
    for run in _runs(query):
        for word in run:
            found.setdefault(word.casefold(), word)
    return list(found.values())


def _bare(word: str) -> str:
    """A word without its Korean particle."""
    if not _HANGUL.search(word):
        return word
    stripped = _PARTICLES.sub("", word)
    return stripped if len(stripped) >= 2 or not _HANGUL.search(stripped) else word


def _is_stop(word: str) -> bool:
    low = word.casefold()
    return low in _QUESTION_WORDS or low in _KOREAN_STOPS or (len(low) == 1 and low.isascii() and not low.isdigit())


def _parts(name: str) -> list[str]:
    return [name, *name.split()]
