"""A session's answers → what they have shown, as a known text; and that together with one that was named."""

from __future__ import annotations

from collections.abc import Callable

from kb.fingerprint import Shape
from kb.packing.known_text import KnownText, known_text_from_blocks, merge_known_texts
from kb.packing.novelty import NoveltySettings
from kb.runtime import Runtime
from kb.search.show import or_warn


def known_text_of(
    kb: Runtime, named: KnownText | None, session_id: str | None, warn: Callable[[str], None]
) -> KnownText | None:
    """The known text that a caller named, with what the answers of a session have shown; None where there is neither."""
    if not kb.config.novelty.enabled:
        return None
    session = None
    if session_id is not None:
        shape = named.shape if named else NoveltySettings.of(kb.config.novelty).shape
        session = or_warn(
            lambda: text_shown_in(kb, session_id, shape), "reading what the session has shown", warn, kb.log
        )
    return merge_known_texts(named, session) if named and session else named or session


def text_shown_in(kb: Runtime, session_id: str, shape: Shape) -> KnownText | None:
    """What the answers of a session have cited, a block each; None where that is nothing."""
    texts = [shown.text for shown in kb.journal.shown_in_session(session_id, kb.corpus.fetch_chunks)]
    return known_text_from_blocks(texts, shape) if texts else None
