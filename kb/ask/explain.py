"""What is known of an answer → what --explain adds to it."""

from __future__ import annotations

from kb.ask.progress import Progress
from kb.ask.records import Explanation, PackedView


def explain(progress: Progress) -> Explanation | None:
    """The retrieval trace, the packed passages, what the evidence gate saw; None where nothing was retrieved."""
    if progress.response.trace is None:
        return None
    views = [
        PackedView(
            marker=p.marker, chunk_id=p.chunk.chunk_id, score=p.score, citation=p.chunk.citation, text=p.chunk.text
        )
        for p in progress.packed
    ]
    evidence = progress.verdict.view() if progress.verdict else None
    return Explanation(trace=progress.response.trace, packed=tuple(views), evidence=evidence)
