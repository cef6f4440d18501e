"""Vectors made while files are still being read: texts of documents that are saved → vectors, on the cores that reading leaves.

Reading keeps one core busy, or waits for a child process that reads; what is saved can be encoded meanwhile. Vectors stay in memory until the
run comes to them, in the order of `kb.ingest.embed`, so that what a stopped run leaves behind is as it always was.
"""

from __future__ import annotations

import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence

from kb.arrays import FloatMatrix, FloatVector
from kb.embed.batches import count_threads
from kb.embed.protocol import DocumentEncoder

# Fewer are encoded before a thread would have begun to.
LEAST_TEXTS = 256
# 46 MB of vectors at 384 dimensions; what is read after these is encoded when its time comes.
MOST_TEXTS = 30_000
# Encoded at once: Ctrl-C waits for these.
BATCH_TEXTS = 64
# What reading has before encoding, where the system knows of threads: words are to be found first.
NICE = 10


class Ahead:
    """A `DocumentEncoder` that begins before it is asked. `close` it, and no thread of it is left.

    expected_texts  as `Encoder.encode_documents` has it
    """

    def __init__(self, encoder: DocumentEncoder, expected_texts: int) -> None:
        self._encoder, self._expected = encoder, expected_texts
        self._waiting: deque[str] = deque()
        self._added = 0
        self._made: dict[str, FloatVector] = {}
        self._thread: threading.Thread | None = None
        self._is_closed = threading.Event()

    @property
    def digest(self) -> str:
        """The encoder's."""
        return self._encoder.digest

    def add(self, texts: Iterable[str]) -> None:
        """Texts that will be asked for; they are encoded once there are some, where there is a core to do it on."""
        for text in texts:
            if self._added < MOST_TEXTS:
                self._waiting.append(text)
                self._added += 1
        if self._thread is None and self._added >= LEAST_TEXTS and count_threads() > 1:
            self._thread = threading.Thread(target=self._encode, name="kb-ahead")
            self._thread.start()

    def encode_documents(
        self,
        texts: Sequence[str],
        on_batch: Callable[[int], None] | None = None,
        expected_texts: int | None = None,
    ) -> FloatMatrix:
        """See Encoder; texts that are made already are taken as they are. From now on nothing is made ahead."""
        import numpy as np

        self.close()
        known = {text: self._made.pop(text) for text in dict.fromkeys(texts) if text in self._made}
        rest = [text for text in dict.fromkeys(texts) if text not in known]
        if on_batch and known:
            on_batch(len(known))
        if rest:
            later = on_batch and (lambda done: on_batch(len(known) + done))
            known.update(zip(rest, self._encoder.encode_documents(rest, later, expected_texts), strict=True))
        return np.stack([known[text] for text in texts])

    def close(self) -> None:
        """Wait for the texts in hand, and end the thread."""
        self._is_closed.set()
        if self._thread:
            self._thread.join()
        self._waiting.clear()

    def _encode(self) -> None:
        if sys.platform == "linux":  # elsewhere it would hold for the whole process
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICE)
        while not self._is_closed.is_set():
            batch = [self._waiting.popleft() for _ in range(min(BATCH_TEXTS, len(self._waiting)))]
            if not batch:
                self._is_closed.wait(0.05)
                continue
            try:
                vectors = self._encoder.encode_documents(batch, None, self._expected)
            except Exception:  # whatever it is, it comes again, in its place, when these texts are asked for
                return
            self._made.update(zip(batch, vectors, strict=True))
