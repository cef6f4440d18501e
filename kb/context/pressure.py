"""What was found for a context, held against the window: passages, relations, and the search widened where they echo it.

Imported only where there is a window: without one a context is as fast as a search and a walk.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from kb.context.expand import Expansion, expand, without_dominant
from kb.graph.adjacent import adjacent_terms
from kb.knowledge_base import KnowledgeBase
from kb.rank.known_text import KnownText
from kb.rank.novelty import NoveltyCandidate, NoveltySettings, needs_expansion
from kb.records import SearchRequest
from kb.search.novelty import Counts, Pressed, is_echo, or_warn, press, press_chunks

if TYPE_CHECKING:
    from kb.context.pipeline import Composition


def press_composition(kb: KnowledgeBase, found: Composition) -> None:
    """Hold passages and paths against the window, expand where they echo it; what fails is said and left undone."""
    request, window = found.request, found.window
    assert window is not None
    ranking = [(hit.chunk_id, hit.score) for hit in found.response.hits]
    clock = time.perf_counter()
    first = or_warn(
        lambda: press_chunks(kb, ranking, request.k, window),
        "holding the passages against the window",
        found.notes.append,
    )
    if first is None:
        return
    found.pressed, found.counts = first, first.counts
    found.ranked = [(int(i), score) for i, score in first.kept]
    found.pressed_paths = _press_paths(kb, found, window)
    found.milliseconds["novelty"] = (time.perf_counter() - clock) * 1000
    if needs_expansion(first.scored, request.k, NoveltySettings.of(kb.config.novelty)):
        clock = time.perf_counter()
        found.is_expanding = True
        found.expansion = or_warn(lambda: _expand(kb, found, first), "widening the search", found.notes.append)
        found.counts += found.expansion.counts if found.expansion else Counts(expansions=1)
        found.milliseconds["expansion"] = (time.perf_counter() - clock) * 1000
    if found.expansion:
        found.ranked = [(int(i), score) for i, score in found.expansion.kept]


def _press_paths(kb: KnowledgeBase, found: Composition, window: KnownText) -> Pressed | None:
    if not found.relations or not found.relations.paths:
        return None
    candidates = [
        NoveltyCandidate("path", str(place), path.text, path.base_score)
        for place, path in enumerate(found.relations.paths)
    ]
    what = "holding the relations against the window"
    pressed = or_warn(lambda: press(kb, candidates, len(candidates), window), what, found.notes.append)
    if pressed:
        found.paths = [(int(place), score) for place, score in pressed.kept]
        found.counts = (found.counts or Counts()) + pressed.counts
    return pressed


def _expand(kb: KnowledgeBase, found: Composition, first: Pressed) -> Expansion:
    request, window = found.request, found.window
    assert window is not None
    terms = adjacent_terms(found.relations) if found.relations else ()
    chunks = kb.corpus.fetch_chunks([int(s.candidate_id) for s in first.scored if is_echo(s, kb.config.novelty)])
    terms = without_dominant(terms, [chunk.text for chunk in chunks.values()])
    found.adjacent = tuple(term.text for term in terms)
    asked = SearchRequest(request.query, request.mode, request.k, request.filters)
    return expand(kb, asked, first, window, terms, request.project)
