"""The words of the English rules: those that state a relation, deny it, or may stand around a name."""

from __future__ import annotations

import re

from kb.frozen import dataclass

# Every trigger holds one of these, so that a sentence without any is skipped. Plain substring searches take .25 ms a chunk,
# one pattern for all of them .42.
HINTS = (
    *"depend rely relies requir need build built powered conflict compatib clash contradict exclusive exten inherit based"
    " subclass deriv fork fix close solve belong project combined".split(),
    "part of",
    "used with",
    "used together",
)
LONGEST_SENTENCE_CHARS = 600


@dataclass(frozen=True, slots=True)
class Trigger:
    """Words that state a relation from the name before them to the name after them.

    is_inverse  "is required by": from the name after to the name before
    """

    words: tuple[str, ...]
    predicate: str
    is_inverse: bool = False


BE = ("is", "are")
PHRASES: dict[str, list[str]] = {
    "depends_on": (
        "depends on|depend on|depends directly on|depends heavily on|relies directly on|relies heavily on|rely heavily on|depends upon|depend upon|relies on|rely on|relies upon|rely upon|requires|require|needs|need"
        "|BE built on|BE built on top of|BE built upon|BE powered by|BE dependent on|has a dependency on"
    ).split("|"),
    "conflicts_with": (
        "conflicts with|conflict with|BE incompatible with|BE not compatible with|isn't compatible with"
        "|aren't compatible with|clashes with|clash with|contradicts|contradict|cannot be used with|can't be used with"
        "|cannot be used together with|cannot be combined with|BE in conflict with|BE mutually exclusive with"
    ).split("|"),
    "extends": (
        "extends|extend|inherits from|inherit from|BE based on|BE a subclass of|BE an extension of|subclasses|derives from"
        "|BE derived from|builds on|build on|builds upon|builds on top of|BE a fork of|BE an extension to"
    ).split("|"),
    "resolves": "fixes|fixed|closes|closed|resolves|resolved|solves|solved".split("|"),
    "relates_to_project": "BE part of|belongs to|belong to|BE a part of".split("|"),
}  # fmt: skip
INVERSE: dict[str, list[str]] = {
    "depends_on": "BE required by|BE needed by".split("|"),
    "extends": "BE extended by|BE subclassed by|BE inherited by".split("|"),
    "resolves": "BE fixed by|was fixed by|were fixed by|BE resolved by|was resolved by|BE solved by|was solved by|was closed by|BE closed by".split("|"),
}  # fmt: skip


def _triggers() -> dict[str, list[Trigger]]:
    found: dict[str, list[Trigger]] = {}
    for phrases, is_inverse in ((PHRASES, False), (INVERSE, True)):
        for predicate, listed in phrases.items():
            for phrase in listed:
                for be in BE if phrase.startswith("BE ") else ("",):
                    words = tuple(phrase.replace("BE", be).split())
                    found.setdefault(words[0], []).append(Trigger(words, predicate, is_inverse))
    return {first: sorted(several, key=lambda t: -len(t.words)) for first, several in found.items()}


TRIGGERS = _triggers()
ADVERBS = frozenset(
    "also directly currently still now itself themselves heavily strongly always both internally therefore explicitly".split()
)
# Plural forms: a single name is not their subject.
BASE_FORMS = frozenset("depend rely require need build conflict clash contradict extend inherit belong are".split())
# Words before the verb that make a statement a condition, a wish, hearsay, the past or a negation.
HEDGES = frozenset(
    "dont doesnt didnt if whether unless suppose imagine assume assuming pretend would could might may should shall myth false wrong untrue wrongly"
    " thought claimed claims believed believe proposed proposal planned plan plans maybe perhaps possibly probably formerly previously"
    " once used originally rumour rumor allegedly instead rather before until does do did doesn't don't didn't can cannot can't"
    " seems seem appears appear suppose supposed hypothetical today's test".split()
)  # fmt: skip
NEGATIONS = frozenset(
    "not never no neither nor none nobody nothing without hardly rarely seldom barely longer stop stops stopped".split()
)
CLAUSE_ENDS = frozenset(",;:—–(-")
BEFORE_SUBJECT = frozenset(
    "and but because since as so that while although though whereas therefore however meanwhile then".split()
)
DETERMINERS = frozenset("the a an our its their this that each every".split())
CLASS_NOUNS = frozenset(
    "library crate package module service server daemon database framework runtime plugin tool app application class trait function"
    " type struct component api client extension middleware program script system gem role job task worker container image"
    " telescope dome project repository repo decorator dependency method macro interface protocol".split()
)  # fmt: skip
AFTER_OBJECT = frozenset(
    "and but to for in at on from with by via as because since which that is are while so during under through too also directly"
    " today now internally again only alone only, itself per across inside within after before version v".split()
)  # fmt: skip
PROBLEMS = frozenset(
    "problem issue bug incident error deadlock conflict outage crash leak race vulnerability regression failure".split()
)
NUMBERED = frozenset("issue bug ticket pr incident case".split())
SELF_NOUNS = frozenset(
    "document page note guide chapter article spec specification proposal adr rfc report file ticket memo".split()
)
PREPOSITIONS = frozenset("of in for from with by on at to about like than between via under over into".split())
FIELD = re.compile(
    r"\s*[-*+]?\s*\**\s*(depends on|conflicts with|extends|resolves|fixes|closes|project|part of project)\s*\**:\**\s",
    re.I,
)
FIELD_PREDICATES = {
    "fixes": "resolves",
    "closes": "resolves",
    "project": "relates_to_project",
    "part of project": "relates_to_project",
}
