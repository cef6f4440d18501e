"""What "who …" and "they aren't …" say of something named before them → a claim that says it of another, or the opposite. Pure.

"Ada founded it with Tom Brandt, who keeps the books": it is Tom who keeps them. "It looks in A, then in B; they aren't merged":
what is merged is not named in the sentence that denies it, so that no comparison of words finds it. English.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from kb.language.korean_particles import strip_particle
from kb.support.clauses import Word, clauses_of, content_of, is_among, is_same, shared, words_of
from kb.support.polarity import polarity_of

# A clause of a claim tells what a relative clause tells where it has this share of its words; fewer words tell nothing.
SAME_MATTER, LEAST_TOLD = 0.75, 2
# A claim is about a sentence that has this share of its words.
ABOUT = 0.5
# So much of the rest of a claim stands in the sentence before the one that tells of a thing apart; longer ones tell of more.
SAME_RULE, MOST_OF_A_TOPIC = 0.6, 10
_ALLOWED = re.compile(r"가능|(?:수|도)\s?(?:있|된|됩)|\b(?:can|may|allowed|possible|permitted)\b", re.I)
_KOREAN_TOPIC = re.compile(r"\W*(?:단,?|다만|그러나|하지만)?\s*[가-힣A-Za-z0-9]+(?:\s자체)?[은는]\s")
_ENGLISH_TOPIC = re.compile(
    r"\W*(?:But |However, )?(?:The |An? |Your |Our )?(?![a-z]+ing\b)[a-z-]+ (?:is|are|was|were|do|does|did|can|may|must|will|has|have)(?:n['’]t| not)?\b",
    re.I,
)
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


def said_of_what_is_apart(claim: str, sentences: Sequence[str]) -> Iterator[str]:
    """What a claim says of a thing as well, of which the next sentence says the opposite, as words for a message.

    >>> told = ["Registering extends the warranty on the frame to 5 years.", "The battery isn't covered."]
    >>> list(said_of_what_is_apart("Registering extends the warranty on the frame and the battery to 5 years.", told))
    ["the text says otherwise of 'battery'"]
    """
    ours, ours_denied = content_of(claim), bool(polarity_of(claim).negated)
    for before, sentence in pairwise(sentences):
        topic = _topic_of(sentence)
        if topic is None or not is_among(topic, ours) or is_among(topic, content_of(before)):
            continue
        denies = polarity_of(sentence)
        is_denied = bool(denies.negated) or denies.implicit
        is_allowed = not is_denied and _ALLOWED.search(sentence) is not None
        rest = [word for word in ours if not is_same(word.key, topic.key)]
        is_other = (is_denied and not ours_denied) or (is_allowed and ours_denied)
        if is_other and min(shared(rest, content_of(before)), 1.0) >= SAME_RULE:
            yield f"the text says otherwise of '{strip_particle(topic.text)}'"
            return


def _topic_of(sentence: str) -> Word | None:
    """What a short sentence begins with, and tells of: The battery isn't covered; 병아리반은 보강이 없습니다."""
    words = content_of(re.sub(r"\([^()]*\)", " ", sentence))
    if not words or len(words) > MOST_OF_A_TOPIC:
        return None
    if _KOREAN_TOPIC.match(sentence):
        return words[0] if len(words[0].key) > 1 else None
    return words[0] if _ENGLISH_TOPIC.match(sentence) else None
