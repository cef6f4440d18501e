"""Stored vectors of one encoder → vectors of the configured one, while the old ones are searched, then one switch.

Every batch is saved as it is made: after a Ctrl-C or a kill the next run does what is left. Files are not read.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from kb.frozen import dataclass
from kb.ingest.embed import embed_rows
from kb.ingest.prepare import Settings
from kb.runtime import Runtime
from kb.store.lock import writer_lock

# The first batch tells how long the rest will take; a few seconds with the slowest encoders.
TIMED_CHUNKS = 16
# So much is lost to a kill, and so much a Ctrl-C waits for.
BATCH_CHUNKS = 64


@dataclass(frozen=True, slots=True)
class Change:
    """What a run did of a change of encoder.

    chunks   how many got their next vector in this run
    vectors  how many vectors had to be made for that
    is_done  the configured encoder's vectors are searched now, or were before
    """

    chunks: int
    vectors: int
    is_done: bool


def is_change_due(kb: Runtime) -> bool:
    """Whether the stored vectors are another encoder's than the configured one's; raises ModelError."""
    is_stored = kb.is_stored_encoder(kb.configured_encoder())
    return bool(kb.stored_encoder()[1]) and not is_stored and kb.corpus.count_chunks() > 0


def change_encoder(
    kb: Runtime,
    settings: Settings,
    tell: Callable[[str], None],
    should_stop: Callable[[], bool] = lambda: False,
    on_embedded: Callable[[int], None] = lambda chunks: None,
) -> Change:
    """Make the configured encoder's vectors of all stored chunks, then search them in place of the old ones.

    kb           opened for writing, under the writer's lock
    settings     of the configured encoder
    tell         gets a line with the number of chunks and about how long they take, and one at the end
    should_stop  asked between batches
    """
    corpus, encoder = kb.corpus, kb.configured_encoder()
    if not is_change_due(kb):
        corpus.give_up_change()
        return Change(0, 0, True)
    total = corpus.count_chunks()
    begun = corpus.begin_change(
        (encoder.model_id, encoder.digest, encoder.dimensions), (encoder.query_prefix, encoder.document_prefix)
    )
    left = total - begun
    chunks = vectors = after = 0
    while not should_stop() and (rows := corpus.chunks_without_next(after, BATCH_CHUNKS if chunks else TIMED_CHUNKS)):
        if not chunks:
            encoder.encode_documents([rows[0].text], None, left)  # loading is not part of the estimate
        began = time.perf_counter()
        hashes, made = embed_rows(kb, encoder, settings, rows, left, on_embedded)
        if not chunks:
            seconds = (time.perf_counter() - began) * left / len(rows)
            tell(_describe(kb, encoder.model_id, left, total, seconds))
        corpus.save_next_vectors(encoder.digest, hashes, made)
        chunks, vectors, after = chunks + len(rows), vectors + len(made), rows[-1].chunk_id
    if not corpus.switch_encoder():
        go_on = f"go on with: kb init --encoder {kb.config.embedding.model}"
        tell(f"stopped: {begun + chunks:,} of {total:,} chunks are encoded anew, the old vectors are in use; {go_on}")
        return Change(chunks, vectors, False)
    kb.forget_encoder()
    corpus.neighbours.heal_neighbours(encoder.digest)
    corpus.remove_unused_embeddings()
    tell(f"the encoder is {encoder.model_id} now")
    return Change(chunks, vectors, True)


def use_configured_encoder(
    kb: Runtime,
    tell: Callable[[str], None],
    should_stop: Callable[[], bool] = lambda: False,
    on_embedded: Callable[[int], None] = lambda chunks: None,
) -> Change:
    """`change_encoder` under the writer's lock, with the indexes brought up to date; for a knowledge base opened for writing.

    raises  ModelError where there is no such encoder; Locked
    """
    with writer_lock(kb.home, kb.config.ingest.lock_wait_seconds, kb.notify, should_stop):
        change = change_encoder(kb, Settings.of(kb.config, kb.configured_encoder()), tell, should_stop, on_embedded)
        if change.is_done and kb.corpus.has_documents():
            kb.refresh_indexes()
            kb.store.checkpoint()
        return change


def _describe(kb: Runtime, name: str, left: int, total: int, seconds: float) -> str:
    old = kb.stored_encoder()[0]
    rest = f"{left:,} chunks" if left == total else f"the last {left:,} of {total:,} chunks"
    meanwhile = "searches go by words alone" if kb.why_no_encoder() else f"searches use {old}"
    return f"changing the encoder from {old} to {name}: {rest}, {duration_text(seconds)}; {meanwhile} until it is done"


def duration_text(seconds: float) -> str:
    """A rough duration for people.

    >>> duration_text(3), duration_text(48), duration_text(700), duration_text(9000)
    ('a few seconds', 'about 50 seconds', 'about 12 minutes', 'about 2.5 hours')
    """
    if seconds < 10:
        return "a few seconds"
    if seconds < 90:
        return f"about {round(seconds, -1):.0f} seconds"
    return f"about {seconds / 60:.0f} minutes" if seconds < 5400 else f"about {seconds / 3600:.1f} hours"
