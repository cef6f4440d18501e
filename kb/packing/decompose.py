"""A question → its intent, entities, facts and the shape of its answer, in any language of the registry. Pure.

Goes by words alone. The knowledge base tells which names are entities: a name that no heading, title, tag or text holds
stays among the facts, where it lowers every passage's score alike.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence

from kb.language.interface import PatternKind
from kb.language.registry import LANGUAGES, has_letters, says, words
from kb.packing.fit import Question

Names = Callable[[Sequence[str]], Collection[str]]

# Tried in this order; the first that is found is the intent, or the shape.
_INTENTS: tuple[PatternKind, ...] = (
    "intent_compare", "intent_troubleshoot", "intent_design", "intent_list", "intent_explain", "intent_define",
)  # fmt: skip
_SHAPES: tuple[PatternKind, ...] = ("shape_code", "shape_number", "shape_list", "shape_definition")
_QUOTED = re.compile(r"[\"“`']([^\"”`']{2,60})[\"”`']")
_WORD = re.compile(r"[^\W_]+(?:[._'’+#-]*\w+)*[+#]*|[^\W\d]\w+")
# Runs of up to so many words are tried as one name.
LONGEST_NAME_WORDS = 4
# Bounds the work for a pasted page; more facts make no question clearer.
MOST_FACTS = 12
MOST_ENTITIES = 8


def decompose(query: str, known_names: Names = lambda names: ()) -> Question:
    """The intent, entities, facts and answer shape of a question.

    known_names  names as the question writes them → those that the knowledge base knows
    """
    head = query[:2000]
    intent = next((kind.removeprefix("intent_") for kind in _INTENTS if says(kind, head, re.I)), "lookup")
    shape = next((kind.removeprefix("shape_") for kind in _SHAPES if says(kind, head, re.I)), "text")
    tried = candidate_names(head)
    known = set(known_names(tried))
    entities: list[str] = []
    for name in tried:  # the longest first: "Rust Book" leaves no "Book" behind
        if name in known and not any(name.casefold() in longer.casefold() for longer in entities):
            entities.append(name)
    entities = entities[:MOST_ENTITIES]
    covered = {part.casefold() for entity in entities for part in _parts(entity)}
    facts = tuple(word for word in _content_words(head) if word.casefold() not in covered)[:MOST_FACTS]
    return Question(tuple(entities), facts, intent, shape)


def candidate_names(query: str) -> list[str]:
    """The possible names of a question: quoted text, identifiers, capitalized runs, runs of content words; the longest first.

    >>> candidate_names("How does the Router handle NAT?")[:3]
    ['Router handle NAT', 'Router handle', 'handle NAT']
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
    """Runs of neighbouring content words; stop words and punctuation part them."""
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
    """A word without its particle, in whichever language it carries one."""
    for language in LANGUAGES.values():
        word = language.bare(word) if not language.letters or has_letters(language.code, word) else word
    return word


def _is_stop(word: str) -> bool:
    low = word.casefold()
    return low in words("stop") or low in words("asking") or (len(low) == 1 and low.isascii() and not low.isdigit())


def _parts(name: str) -> list[str]:
    return [name, *name.split()]
