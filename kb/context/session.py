"""A session's answers → what they have shown, as a window; and that together with a window that was named."""

from __future__ import annotations

from collections.abc import Callable

from kb.fingerprint import Shape
from kb.knowledge_base import KnowledgeBase
from kb.rank.novelty import NoveltySettings
from kb.rank.window import Window, merge_windows, window_from_blocks
from kb.search.novelty import or_warn


def window_of(
    kb: KnowledgeBase, named: Window | None, session_id: str | None, warn: Callable[[str], None]
) -> Window | None:
    """The window that a caller named, with what the answers of a session have shown; None where there is neither."""
    if not kb.config.novelty.enabled:
        return None
    session = None
    if session_id is not None:
        shape = named.shape if named else NoveltySettings.of(kb.config.novelty).shape
        session = or_warn(lambda: session_window(kb, session_id, shape), "reading what the session has shown", warn)
    return merge_windows(named, session) if named and session else named or session


def session_window(kb: KnowledgeBase, session_id: str, shape: Shape) -> Window | None:
    """What the answers of a session have cited, a block each; None where that is nothing."""
    texts = [shown.text for shown in kb.journal.shown_in_session(session_id, kb.corpus.fetch_chunks)]
    return window_from_blocks(texts, shape) if texts else None
