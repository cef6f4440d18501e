"""A question within a session → the same, complete: what it leans on is read from the turns before it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache

from kb.ask.stages import Question
from kb.evidence.question import units_of
from kb.followup.standalone import make_standalone
from kb.graph.names import name_key
from kb.language.english_phrases import IsName
from kb.relevance.signals import MODES_WITHOUT_TOPIC
from kb.runtime import Runtime
from kb.text import analyze

# Rows of the graph that are looked at for one name: most names have one label or two.
ROWS_READ = 4
# Turns that are read: those that count and the small talk between them.
TURNS_READ = 8
# Titles that are looked through for names; of more, the graph alone tells.
MOST_TITLES = 5000
# Chunks before and after a cited one whose text counts as what the turn rested on: about a page.
AROUND = 4
# Of what a question asks about, so much must stand there for the question to go on from it.
CONTINUED = 0.5
# A question that asks about more things than this is complete, whatever was said before.
MOST_UNITS = 4


def complete_question(kb: Runtime, question: Question) -> Question:
    """The question as it stands alone, where it leans on earlier turns of its session."""
    request = question.request
    if request.session_id is not None and request.standalone is None and request.replay_of is None:
        request = replace(request, standalone=_make_standalone(kb, request.question, request.session_id))
    decision = question.decision and question.decision.for_question(request.query)
    return replace(question, request=request, decision=decision)


def _make_standalone(kb: Runtime, question: str, session_id: str) -> str | None:
    """None where the question stands alone already."""
    with kb.snapshot():
        stored = kb.journal.session_turns(session_id, TURNS_READ)
        turns = [turn for turn in stored if turn.mode not in MODES_WITHOUT_TOPIC]
        if not turns:
            return None
        rested_on = turns[-1].cited_chunk_ids or turns[-1].packed_chunk_ids[:1]
        last = turns[-1].standalone_question or turns[-1].question
        found = make_standalone(question, last, name_test(kb), continuation_test(kb, rested_on))
    return found.question if found.question != question else None


def name_test(kb: Runtime) -> IsName:
    """Tells of a word in lower case whether it names something here, by the knowledge graph and the documents' titles."""
    found: dict[str, bool] = {}

    def is_name(word: str) -> bool:
        if word not in found:
            key = name_key(word)
            rows = kb.corpus.graph.names_by_key(key, ROWS_READ, "entity") if key else []
            tagged = bool(rows) and bool(kb.corpus.graph.names_by_key(key, 1, "tag"))
            found[word] = (not word.isascii() and word in titles()) or is_named(
                [(row.label, row.form, row.count) for row in rows], tagged, word in titles()
            )
        return found[word]

    @cache
    def titles() -> frozenset[str]:
        found = kb.corpus.document_titles(MOST_TITLES)
        return frozenset(word.strip(".,:;()[]\"'") for title in found for word in title.split())

    return is_name


def is_named(rows: Sequence[tuple[str, str, int]], is_tag: bool, in_title: bool) -> bool:
    """True for a word that is a name somewhere.

    rows      (label, form, count) of the graph's entities of this name
    is_tag    some document is tagged with it
    in_title  a title has it, in lower case or in a script without cases
    """
    if not rows:
        return False
    if any(not label.isalpha() or not label[1:].islower() for label, _, _ in rows if label.isascii()):
        return True  # written like an identifier
    capitals = [count for label, form, count in rows if form != "code" and not label.islower()]
    # One capital alone may be a button or a slip of the pen.
    if len(capitals) > 1 or any(count > 1 for count in capitals) or (capitals and is_tag):
        return True
    return in_title and any(form == "code" for _, form, _ in rows)


def continuation_test(kb: Runtime, chunk_ids: Sequence[int]) -> Callable[[str], bool]:
    """Tells whether the pages around these chunks speak of what a question asks about; read when it is first asked."""

    def continues(question: str) -> bool:
        units = units_of(question)
        if not units or len(units) > MOST_UNITS:
            return False
        terms = page_terms(kb, chunk_ids)
        return sum(unit.share_in(terms) for unit in units) / len(units) >= CONTINUED

    return continues


def page_terms(kb: Runtime, chunk_ids: Sequence[int]) -> frozenset[str]:
    """The index terms of the pages around these chunks."""
    terms: set[str] = set()
    for chunk in kb.corpus.fetch_chunks(chunk_ids).values():
        texts = kb.corpus.texts_around(chunk.doc_id, chunk.position, AROUND)
        terms.update(analyze(chunk.title), *(analyze(text) for text in texts))
    return frozenset(terms)
