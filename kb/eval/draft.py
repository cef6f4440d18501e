"""Documents, past questions and recent searches → drafts of a suite's queries, for a person to correct. Pure.

A draft says what might be asked and where the answer might be. Whether it is, nobody has judged: `draft_text.py` writes
that into the file, and `kb eval run` leaves drafts out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice, pairwise, zip_longest
from typing import Literal

from kb.errors import SuiteInvalid
from kb.eval.records import Label, Query, Suite
from kb.eval.resolve import collapse, resolve_labels
from kb.frozen import dataclass
from kb.language.registry import question_language
from kb.records import Chunk, Citation, Document
from kb.text import split_sentences

Origin = Literal["searched", "asked", "refused", "question", "heading", "title"]

# A question of fewer words is "Why?" or "Ready?", which asks nothing without its page; one of more is a paragraph.
QUESTION_WORDS = range(4, 31)
# Scripts without spaces, and Korean with few: letters say more than words.
QUESTION_CHARS = range(10, 201)
# An anchor has to be quoted whole and to occur once: a sentence or two.
ANCHOR_CHARS = range(12, 301)
# A heading of so many words says by itself what its section is about; a shorter one gets the title before it.
TELLING_WORDS = 5
HEADING_CHARS = range(3, 121)
# Of one document: more would be a suite about it.
MOST_OF_DOCUMENT = 6
# Headings that name a part of any document.
_COMMON_HEADINGS = frozenset(
    (
        "about,abstract,acknowledgements,appendix,background,bibliography,conclusion,conclusions,contents,example,examples,"
        "faq,further reading,index,installation,introduction,license,links,next steps,notes,overview,preface,readme,recap,"
        "references,see also,setup,summary,table of contents,usage,"
        "개요,결론,들어가며,머리말,목차,부록,사용법,소개,예시,예제,요약,정리,참고,참고 자료"
    ).split(",")
)
_LINE_MARKUP = re.compile(r"^(?:[#>*+\-]+\s+|\d+[.)]\s+)+")
# { #the-name-of-a-heading }, of Markdown extensions
_ANCHOR_MARK = re.compile(r"\{\s*#")
_EMPHASIS = re.compile(r"\*\*|__")
_NUMBERING = re.compile(r"^(?:\d+[.)]?)+\s+|^(?:chapter|appendix|part)\s+\w+[.:]?\s+", re.IGNORECASE)
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Draft:
    """One query that nobody has judged.

    label    where the answer might be; None for one that was refused
    passage  what stands there, for a reader of the file
    others   more places that were found for it
    """

    text: str
    origin: Origin
    language: str
    label: Label | None = None
    passage: str = ""
    others: tuple[str, ...] = ()


def draft_from_document(document: Document, chunks: Sequence[Chunk], path: str) -> list[Draft]:
    """The drafts of one document, questions found in its text first, then headings, spread over it; or its title alone.

    path  how a label names the document
    """
    if document.type == "code" or not chunks:
        return []
    drafts = [*_questions(chunks, path), *_headings(document, chunks, path)] or _title(document, chunks, path)
    by_text = _first_by_text(_in_language(draft, document.language) for draft in drafts)
    return list(islice((draft for draft in by_text if _resolves(draft, path, chunks)), MOST_OF_DOCUMENT))


def draft_from_place(
    query: str,
    origin: Literal["searched", "asked"],
    path: str,
    place: Citation,
    chunks: Sequence[Chunk],
    others: Sequence[str] = (),
) -> Draft | None:
    """A draft whose label quotes the place found for a query; None where the place is gone or cannot be quoted.

    place   the lines or the page that were found; the text begins there or a little before
    chunks  of its document
    others  more places that were found
    """
    if not _is_askable(query):
        return None
    text, language = collapse(query), question_language(query)
    for chunk in chunks:
        for anchor in _sentences(chunk.text) if _is_in(chunk.citation, place) else ():
            draft = Draft(text, origin, language, Label(path, anchor=anchor, grade=2), anchor, tuple(others))
            is_heading = anchor in map(collapse, chunk.heading_path)
            if len(anchor) in ANCHOR_CHARS and not is_heading and _resolves(draft, path, chunks):
                return draft
    return None


def _is_in(cited: Citation, place: Citation) -> bool:
    if place.start_line is None or cited.start_line is None:
        return cited.page == place.page
    return cited.start_line <= (place.end_line or place.start_line) and place.start_line <= (
        cited.end_line or cited.start_line
    )


def draft_from_refusal(query: str) -> Draft | None:
    """A draft of a question that the documents may not answer; None where the words ask nothing."""
    return Draft(collapse(query), "refused", question_language(query)) if _is_askable(query) else None


def choose(recent: Sequence[Draft], by_document: Sequence[Sequence[Draft]], most: int) -> list[Draft]:
    """At most so many drafts: up to half from what was asked, newest first, then one of each document in turn."""
    turns = [draft for row in zip_longest(*by_document) for draft in row if draft is not None]
    asked = _first_by_text(recent)
    room = max(most // 2, most - len(turns))
    return _first_by_text([*asked[:room], *turns])[:most]


def spread(documents: Sequence[Document], most: int) -> list[Document]:
    """At most so many documents, evenly over the list: the neighbours of a page are often like it."""
    if len(documents) <= most:
        return list(documents)
    return [documents[at * len(documents) // most] for at in range(most)]


def label_path(document: Document, documents: Sequence[Document]) -> str:
    """The shortest name by which a label finds this document alone: its path, or `source/path`."""
    same = sum(other.path == document.path for other in documents)
    return document.path if same == 1 else f"{document.source}/{document.path}"


def _in_language(draft: Draft, language: str) -> Draft:
    return replace(draft, language=question_language(draft.text) if language == "und" else language)


def _questions(chunks: Sequence[Chunk], path: str) -> Iterator[Draft]:
    """Questions that a text asks, each labelled with the sentence after it: an FAQ, or a paragraph that begins with one."""
    for chunk in chunks:
        sentences = list(_sentences(chunk.text))
        for question, after in pairwise(sentences):
            if question.endswith(("?", "？")) and _is_question(question) and len(after) in ANCHOR_CHARS:
                yield Draft(question, "question", "", Label(path, anchor=after, grade=2), after)


def _is_question(text: str) -> bool:
    words = len(text.split())
    return text[0].isalpha() and (words in QUESTION_WORDS if text.isascii() else len(text) in QUESTION_CHARS)


def _headings(document: Document, chunks: Sequence[Chunk], path: str) -> list[Draft]:
    """A draft for each heading, the ones between first: the first and the last of a page are often its frame."""
    found: dict[str, Draft] = {}
    for chunk in chunks:
        heading = collapse(chunk.heading_path[-1]) if chunk.heading_path else ""
        if not heading or heading in found or not _is_telling(heading):
            continue
        passage = next((s for s in _sentences(chunk.text) if heading not in s and not _ANCHOR_MARK.search(s)), "")
        title = collapse(document.title)
        words = _NUMBERING.sub("", _EMPHASIS.sub("", heading))
        is_question = words.endswith(("?", "？")) and _is_question(words)
        is_whole = len(words.split()) >= TELLING_WORDS or is_question or heading == title
        text = words if is_whole else f"{title}: {words}"
        found[heading] = Draft(text, "heading", "", Label(path, heading=heading, grade=2), passage)
    drafts = list(found.values())
    middle = [draft for draft in drafts[1:-1] if draft.passage]
    return [*middle, *(draft for draft in drafts if draft not in middle)]


def _is_telling(heading: str) -> bool:
    plain = _NUMBERING.sub("", heading).strip(" .:#").casefold()
    return len(heading) in HEADING_CHARS and plain not in _COMMON_HEADINGS and any(c.isalpha() for c in plain)


def _title(document: Document, chunks: Sequence[Chunk], path: str) -> list[Draft]:
    """Without headings: the title, labelled with the first sentence that can be quoted."""
    anchors = (s for chunk in chunks for s in _sentences(chunk.text) if len(s) in ANCHOR_CHARS)
    return [
        Draft(collapse(document.title), "title", "", Label(path, anchor=anchor, grade=2), anchor)
        for anchor in anchors
        if _is_askable(document.title)
    ][:MOST_OF_DOCUMENT]


def _is_askable(text: str) -> bool:
    return len(text.strip()) in QUESTION_CHARS or len(_WORD.findall(text)) > 1


def _sentences(text: str) -> Iterator[str]:
    """The sentences of prose without the marks of lists and quotes before them; no code, no table."""
    for start, end in split_sentences(text):
        lines = text[start:end].splitlines()
        if lines[0].lstrip().startswith("#"):  # a heading, with or without the sentence under it
            lines = lines[1:]
        sentence = collapse(_LINE_MARKUP.sub("", " ".join(lines).strip()))
        if sentence and "```" not in sentence and "|" not in sentence and sentence[0] not in "<{[":
            yield sentence


def _resolves(draft: Draft, path: str, chunks: Sequence[Chunk]) -> bool:
    """True where the label names exactly one place, as `kb eval run` will ask for."""
    labels = (draft.label,) if draft.label else ()
    try:
        resolve_labels(
            Suite("", "", "", "", (Query("", draft.text, labels=labels),)), lambda wanted: chunks, known_paths=[path]
        )
        draft.text.encode()
    except (SuiteInvalid, UnicodeEncodeError):
        return False
    return True


def _first_by_text(drafts: Iterable[Draft]) -> list[Draft]:
    found: dict[str, Draft] = {}
    for draft in drafts:
        found.setdefault(draft.text.casefold(), draft)
    return list(found.values())
