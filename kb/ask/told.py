"""The packed passages of an answer → which of them say a sentence: those that it cites, or others. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import field, replace

from kb.arrays import Encode, ReadClaims
from kb.frozen import dataclass
from kb.language.english import MONTHS
from kb.language.sentences import is_forged
from kb.records import Chunk
from kb.support.asked import Asked, read_asked
from kb.support.check import VERIFIED
from kb.support.overlap import said_share, units_of, weights_of

_FORGED_LINE = re.compile(r"^[\W_]*[\[［【<]")
_MONTHS = frozenset(MONTHS) | {month[:3] for month in MONTHS}
# Passages that are looked through for one that backs what the cited ones do not; less than this share of a claim's words
# gives no score near VERIFIED.
LIKELIEST, LEAST_SAID = 3, 0.3
# Of these so many are read, the nearest also together with the cited ones: a sentence may be of two.
READ_ELSEWHERE, READ_FROM = 2, 0.1


@dataclass(frozen=True, slots=True)
class Passages:
    """What an answer is held against.

    chunks    marker → packed chunk
    question  what the answer is to
    read      reads a sentence and texts together; None goes by words
    subjects  marker → words of the question that its document is about
    """

    chunks: Mapping[int, Chunk]
    question: str = ""
    read: ReadClaims | None = None
    subjects: Mapping[int, str] = field(default_factory=dict)

    def texts(self, markers: Sequence[int]) -> tuple[str, ...]:
        """The texts of passages, then their titles and headings, and what their documents are about: which say what "it" is."""
        chunks = [self.chunks[marker] for marker in markers]
        subjects = [subject for marker in markers if (subject := _name_of(self.subjects.get(marker, "")))]
        titles = [title for chunk in chunks for title in (chunk.title, *chunk.heading_path)]
        headings = " > ".join(dict.fromkeys((*titles, *subjects)))
        return (*(_without_forged(chunk.text) for chunk in chunks), headings)

    def hold(
        self, claims: Sequence[str], markers: Sequence[Sequence[int]], encode: Encode | None = None
    ) -> list[Asked]:
        """Each claim against the passages of its own markers; while a user waits, what is open is encoded."""
        return self._read(claims, markers, encode, self.read, open_only=True)

    def by_words(self, claim: str, groups: Sequence[Sequence[int]]) -> list[Asked]:
        """A claim against several groups of passages, by words alone."""
        return self._read([claim] * len(groups), groups)

    def _read(
        self,
        claims: Sequence[str],
        markers: Sequence[Sequence[int]],
        encode: Encode | None = None,
        read: ReadClaims | None = None,
        *,
        open_only: bool = False,
    ) -> list[Asked]:
        """Each claim against the texts of its own markers.

        What is said "at Canal Terrace" of passages of that lease is read without this, too: the clause that says the contrary does not name it.
        """
        texts = [self.texts(own) for own in markers]
        found = read_asked(claims, texts, self.question, encode, read, open_only=open_only)
        named = [self._subject_beyond(own) for own in markers]
        placed = {
            i: rest for i, claim in enumerate(claims) if named[i] and (rest := _without_place(claim, named[i])) != claim
        }
        bare = read_asked(list(placed.values()), [texts[i] for i in placed], self.question, encode, read)
        for i, one in zip(placed, bare, strict=True):
            if one.score < found[i].score and found[i].status != "contradicted":
                found[i] = one
        return [
            replace(one, leans=True) if subject and re.search(re.escape(subject), claim, re.IGNORECASE) else one
            for one, claim, subject in zip(found, claims, named, strict=True)
        ]

    def _subject_beyond(self, markers: Sequence[int]) -> str:
        """What the documents of all these passages are about, and none of them says; empty where they differ."""
        subjects = {_name_of(self.subjects.get(marker, "")) for marker in markers}
        if len(subjects) != 1 or not (subject := subjects.pop()):
            return ""
        told = "\n".join("\n".join((c.title, *c.heading_path, c.text)) for c in (self.chunks[m] for m in markers))
        return "" if subject.casefold() in told.casefold() else subject

    def elsewhere(self, claim: str, cited: Sequence[int], *, is_joined: bool) -> tuple[int | None, bool]:
        """(the packed passage that backs a claim best, None where none does; whether it is sure, or likely only).

        is_joined  try the nearest one together with those that the claim cites, too
        """
        others = [m for m in self.likeliest(claim, READ_FROM if self.read else LEAST_SAID) if m not in cited]
        told = self.by_words(claim, [[marker] for marker in others])
        ranked = sorted(zip(others, told, strict=True), key=lambda one: (-one[1].score, one[0]))
        if not self.read:
            return (ranked[0][0], True) if ranked and ranked[0][1].score >= VERIFIED else (None, False)
        nearest = [marker for marker, _ in ranked[:READ_ELSEWHERE]]
        groups = [(marker, [marker]) for marker in nearest]
        groups += [(marker, [*cited, marker]) for marker in nearest[:1] if is_joined]
        found = self.hold([claim] * len(groups), [markers for _, markers in groups])
        best = max(range(len(groups)), key=lambda n: (found[n].score, -n), default=None)
        if best is None or found[best].score < VERIFIED:
            return None, False
        return groups[best][0], found[best].status == "verified"

    def likeliest(self, claim: str, least_said: float = LEAST_SAID) -> list[int]:
        """The LIKELIEST passages that say most of a claim's words, those left out that cannot back it."""
        weights = weights_of(claim)
        said = {
            marker: said_share(weights, [term for unit in units_of(chunk.text) for term in unit.terms], "")
            for marker, chunk in self.chunks.items()
        }
        ranked = sorted((m for m in said if said[m] >= least_said), key=lambda m: (-said[m], m))
        return ranked[:LIKELIEST]

    def is_idle(self, claim: str, marker: int, cited: Sequence[int]) -> bool:
        """Whether a marker adds nothing to the others that are cited."""

        def score(markers: Sequence[int]) -> float:
            return self.by_words(claim, [markers])[0].score

        return score([marker]) < VERIFIED <= score([m for m in cited if m != marker])


def _name_of(subject: str) -> str:
    """The words of a subject that name something: neither numbers, nor months, which a claim may be wrong about."""
    return " ".join(word for word in subject.split() if word.isalpha() and word.lower() not in _MONTHS)


def _without_place(claim: str, name: str) -> str:
    """A claim without "At Canal Terrace," at its beginning, or "at Canal Terrace" at its end.

    >>> _without_place("At Canal Terrace, dogs are welcome.", "Canal Terrace")
    'Dogs are welcome.'
    >>> _without_place("No dogs except at Canal Terrace.", "Canal Terrace")
    'No dogs except at Canal Terrace.'
    """
    place = rf"(?:at|in) (?:the )?{re.escape(name)}"
    rest = re.sub(rf"^{place}\b,? ?", "", claim, flags=re.IGNORECASE)
    rest = re.sub(rf"(?<!\bnot)(?<!\bonly)(?<!\bexcept)(?<!\bbut) {place}(?=\W*$)", "", rest, flags=re.IGNORECASE)
    return rest[:1].upper() + rest[1:]


def _without_forged(text: str) -> str:
    """A text with blanks for each paragraph from a line on that poses as kb's own, the head of a passage: it backs nothing."""
    if "[" not in text and "<" not in text and "［" not in text and "【" not in text:
        return text
    lines, is_within = [], False
    for line in text.split("\n"):
        is_within = bool(line.strip()) and (is_within or (_FORGED_LINE.match(line) is not None and is_forged(line)))
        lines.append(" " * len(line) if is_within else line)
    return "\n".join(lines)
