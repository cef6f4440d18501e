"""What "who …" and "they aren't …" say of something named before them → a claim that says it of another, or the opposite. Pure.

"Ada founded it with Tom Brandt, who keeps the books": it is Tom who keeps them. "It looks in A, then in B; they aren't merged":
what is merged is not named in the sentence that denies it, so that no comparison of words finds it. English.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from kb.support.clauses import clauses_of, content_of, is_among, is_same, shared, words_of
from kb.support.polarity import polarity_of

# A clause of a claim tells what a relative clause tells where it has this share of its words; fewer words tell nothing.
SAME_MATTER, LEAST_TOLD = 0.75, 2
# A claim is about a sentence that has this share of its words.
ABOUT = 0.5
_NAME = r"[A-Z][\w'’-]+(?: (?:de|van|von|der|la|del|du|of) [A-Z][\w'’-]+| [A-Z][\w'’-]+)*"
_WHO = re.compile(rf"(?P<named>{_NAME})\)?,? who (?P<told>[^,;.:()]+)")
_DENIED_OF_IT = re.compile(
    r"(?:^|[;,.]\s+|\b(?:and|but)\s+)(?:they|it|these|those|both|this)\b(?: \w+)?? ?(?:\w*n['’]t|not|never)\s+(?:be(?:en)?\s+)?(?P<denied>\w{4,})(?=\s*(?:[.;,]|$))",
    re.I,
)


def said_of_another(claim: str, sentences: Sequence[str]) -> Iterator[str]:
    """What a claim tells of a name, and a sentence of the one before its "who", as words for a message.

    >>> list(said_of_another("Ada Quill keeps the books.", ["Ada Quill founded it with Tom Brandt, who keeps the books."]))
    ["'Ada Quill' stands for 'Tom Brandt'"]
    """
    for sentence in sentences:
        for found in _WHO.finditer(sentence):
            told, owner = content_of(found["told"]), found["named"]
            if len(told) < LEAST_TOLD:
                continue
            for clause in clauses_of(claim):
                named = re.search(_NAME, clause)
                if not named or shared(told, content_of(clause)) < SAME_MATTER or _share_a_word(owner, clause):
                    continue
                others = sentence.replace(found[0], " ")
                if re.search(rf"(?<!\w){re.escape(named[0])}(?!\w)", others):
                    yield f"'{named[0]}' stands for '{owner}'"


def denied_of_it(claim: str, sentences: Sequence[str]) -> bool:
    """True where the text says "they aren't merged" of what a claim says is merged.

    >>> denied_of_it("It reads the old file and the new file and merges them.", ["It reads the old file, then the new file.", "They aren't merged."])
    True
    """
    ours = content_of(claim)
    if polarity_of(claim).negated:
        return False
    for before, sentence in pairwise(("", *sentences)):
        for found in _DENIED_OF_IT.finditer(sentence):
            (denied,) = words_of(found["denied"])[:1] or (None,)
            rest = [word for word in ours if denied is None or not is_same(word.key, denied.key)]
            is_said = denied is not None and is_among(denied, ours)
            told = content_of(f"{before} {sentence}")
            if is_said and max(shared(told, rest), shared(rest, told)) >= ABOUT:
                return True
    return False


def _share_a_word(owner: str, clause: str) -> bool:
    return any(re.search(rf"(?<!\w){re.escape(part)}(?!\w)", clause) for part in owner.split())
