"""Found → Compared → Widened: passages and relations compared with a known text, the search widened where they repeat it."""

from __future__ import annotations

from kb.context.expand import Expansion, expand, without_dominant
from kb.context.stages import Compared, ContextDraft, Found, Widened
from kb.graph.adjacent import AdjacentTerm, adjacent_terms
from kb.packing.known_text import KnownText
from kb.packing.novelty import NoveltyCandidate, NoveltySettings, needs_expansion
from kb.records import SearchRequest
from kb.runtime import Runtime
from kb.search.novelty import Counts, Penalized, is_redundant, penalize_chunks, penalize_overlap
from kb.search.show import or_warn
from kb.search.stopwatch import Stopwatch


def compare_and_widen(kb: Runtime, found: Found, known: KnownText, clock: Stopwatch) -> ContextDraft:
    """The draft of what was found beside a known text; what fails is said and left undone."""
    with clock.stage("novelty"):
        compared = compare(kb, found, known)
    if compared.chunks and needs_expansion(
        compared.chunks.scored, found.request.k, NoveltySettings.of(kb.config.novelty)
    ):
        with clock.stage("expansion"):
            widened = widen(kb, found, compared.chunks, known)
    else:
        widened = Widened()
    return join(found, compared, widened)


def compare(kb: Runtime, found: Found, known: KnownText) -> Compared:
    """The passages compared with the known text, and the paths, unless the passages could not be."""
    notes: list[str] = []
    chunks = or_warn(
        lambda: penalize_chunks(kb, found.chunks(), found.request.k, known),
        "comparing the passages with the seen text",
        notes.append,
        kb.log,
    )
    paths = None
    if chunks and found.relations and found.relations.paths:
        candidates = [
            NoveltyCandidate("path", place, path.text, path.base_score)
            for place, path in enumerate(found.relations.paths)
        ]
        paths = or_warn(
            lambda: penalize_overlap(kb, candidates, len(candidates), known),
            "comparing the relations with the seen text",
            notes.append,
            kb.log,
        )
    return Compared(chunks, paths, tuple(notes))


def widen(kb: Runtime, found: Found, first: Penalized, known: KnownText) -> Widened:
    """One round of expansion.

    first  the passages of the first pass, compared
    """
    notes: list[str] = []

    def work() -> tuple[tuple[AdjacentTerm, ...], Expansion]:
        request = found.request
        terms = _terms_beside(kb, found, first)
        asked = SearchRequest(request.query, request.mode, request.k, request.filters, as_found=True)
        return terms, expand(kb, asked, first, known, terms, request.project)

    done = or_warn(work, "widening the search", notes.append, kb.log)
    terms, expansion = done if done else ((), None)
    return Widened(True, tuple(term.text for term in terms), expansion, tuple(notes))


def _terms_beside(kb: Runtime, found: Found, first: Penalized) -> tuple[AdjacentTerm, ...]:
    """The terms beside the query in the graph that the passages which repeat the known text do not hold."""
    terms = adjacent_terms(found.relations) if found.relations else ()
    redundant = [s.candidate_id for s in first.scored if is_redundant(s, kb.config.novelty)]
    return without_dominant(terms, [chunk.text for chunk in kb.corpus.fetch_chunks(redundant).values()])


def join(found: Found, compared: Compared, widened: Widened) -> ContextDraft:
    """The stages as one draft: of each section the last list that was made."""
    ranked = compared.chunks.kept if compared.chunks else found.chunks()
    counts = [part.counts for part in (compared.chunks, compared.paths) if part]
    if widened.is_wanted:
        counts.append(widened.expansion.counts if widened.expansion else Counts(expansions=1))
    return ContextDraft(
        found=found,
        compared=compared,
        widened=widened,
        ranked=widened.expansion.kept if widened.expansion else ranked,
        paths=compared.paths.kept if compared.paths else found.paths(),
        counts=sum(counts, Counts()) if counts else None,
        notes=(*found.notes, *compared.notes, *widened.notes),
    )
