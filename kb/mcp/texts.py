"""Records → the short text beside the structured content: what a person, or a model that is shown no JSON, reads.

Text of documents stands behind `> ` under its place, as in `kb context`: no document can forge a place or an instruction
of ours. Pure.
"""

from __future__ import annotations

from kb.ask.records import Answer
from kb.context.block import OPENING, render_passage
from kb.context.records import ContextResponse
from kb.errors import KbError
from kb.reading import DocumentPage, Reading
from kb.records import Hit, SearchResponse
from kb.store.memories import FactList, Remembered
from kb.support.check import Support
from kb.tags.records import TagList
from kb.wire import harmless

GAP = "\n\n"


def error_text(error: KbError) -> str:
    """An error as the command prints it: the problem, and the fix."""
    return f"error: {harmless(error.problem)}\n  fix: {harmless(error.fix)}"


def one_line(text: str) -> str:
    """Short text of documents (titles, paths, tags) on one line."""
    return " ".join(harmless(text).split())


def quote_lines(text: str) -> str:
    """Text of documents, quoted line by line."""
    return "\n".join(f"> {line}".rstrip() for line in harmless(text).split("\n"))


def search_text(response: SearchResponse) -> str:
    """The hits in their order, each with its place and snippet."""
    notes = [one_line(line) for line in (response.hint, response.note) if line]
    shown = response.hits or response.maybe
    if not shown:
        return "\n".join(["nothing found", *notes])
    head = OPENING if response.hits else f"{OPENING}\nNothing is likely to be relevant; these are the nearest:"
    return GAP.join([head, *map(_hit_text, shown), *notes])


def _hit_text(hit: Hit) -> str:
    heading = hit.heading_path[-1] if hit.heading_path else hit.title
    return render_passage(hit.citation.uri, heading, hit.snippet, f" (score {hit.score:.2f}, chunk_id {hit.chunk_id})")


def answer_text(answer: Answer) -> str:
    """The answer, the places it cites, and whether it is grounded."""
    cited = [c for c in answer.citations if c.marker is not None]
    places = [f"[#{c.marker}] {one_line(c.citation.uri)}" for c in cited]
    if not cited and answer.citations:
        places = ["closest passages:", *(one_line(c.citation.uri) for c in answer.citations)]
    verdict = "grounded" if answer.grounded else f"not grounded ({answer.refusal_reason or answer.outcome})"
    doubtful = [s for s in answer.verification.sentences if s.status != "verified"] if answer.verification else []
    doubts = [f"not verified ({s.status}): {one_line(s.text)}" for s in doubtful]
    model = one_line(f"{answer.model.provider}: {answer.model.id}")
    # A quote of a document is an answer too: it stays quoted.
    shown = quote_lines(answer.answer) if answer.is_quote() else harmless(answer.answer)
    return GAP.join(part for part in (shown, "\n".join(places), "\n".join(doubts), f"{verdict} · {model}") if part)


def context_text(response: ContextResponse) -> str:
    """The block, ready to be pasted; why there is none."""
    return response.text or f"nothing to add: {one_line(response.hint or 'the documents hold nothing on it')}"


def reading_text(reading: Reading) -> str:
    """The part of the document under its place, and where to go on."""
    lines = [render_passage(reading.citation.uri, reading.title, reading.text)]
    if reading.sections:
        lines.append("sections: " + "; ".join(map(one_line, reading.sections)))
    if reading.is_cut:
        lines.append("cut: raise max_tokens to read the whole passage")
    if reading.next_start is not None:
        lines.append(f"goes on: read it again with start={reading.next_start} (of {reading.passages} passages)")
    return GAP.join([OPENING, *lines])


def documents_text(page: DocumentPage) -> str:
    """A line for each document."""
    rows = [f"doc:{row.doc_id}  {one_line(row.path)}  {one_line(row.title)}" for row in page.documents]
    more = [f"{page.total} in all; the next page: offset={page.next_offset}"] if page.next_offset is not None else []
    return "\n".join([*rows, *more]) or "no document passes these filters"


def remembered_text(remembered: Remembered) -> str:
    """Whether the fact is new, and its number."""
    fact = remembered.fact
    known = "remembered" if remembered.is_new else "known already"
    return f"{known} as fact {fact.fact_id}: {one_line(fact.text)}"


def facts_text(found: FactList) -> str:
    """A line for each fact."""
    lines = [f"{fact.fact_id}  {fact.created_at[:10]}  {one_line(fact.text)}" for fact in found.facts]
    return "\n".join(lines) or "no facts yet"


def tags_text(found: TagList) -> str:
    """A line for each tag: its name, on how many documents it is, its other names."""
    rows = [
        f"{one_line(row.tag)}  {row.documents + row.applied} documents"
        + (f"  also: {', '.join(map(one_line, row.aliases[:4]))}" if row.aliases else "")
        for row in found.tags
    ]
    return "\n".join([*rows, f"{len(found.tags)} of {found.total} tags"])


def support_text(found: Support) -> str:
    """The verdict on each sentence, and on the whole."""
    rows = [
        f"{sentence.status} {sentence.score:.2f}  {one_line(sentence.text)}"
        + (f" ({one_line('; '.join(sentence.reasons))})" if sentence.reasons else "")
        for sentence in found.sentences
    ]
    return "\n".join([*rows, f"{'backed' if found.backed else 'not backed'} · {found.score:.2f}"])
