"""Vectors that are made ahead are the encoder's, each made once, and a fault comes when its text is asked for."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Any

import numpy as np
import pytest

from kb.embed.batches import count_threads
from kb.errors import ModelError
from kb.ingest.ahead import LEAST_TEXTS, MOST_TEXTS, Ahead
from tests.embed.toy_encoder import ToyEncoder

TEXTS = [f"text {number} of {number % 7}" for number in range(LEAST_TEXTS + 80)]
NEEDS_CORES = pytest.mark.skipif(count_threads() < 2, reason="one core: nothing is made ahead")


class Counting(ToyEncoder):
    """Remembers what it was asked for, and fails with one text."""

    def __init__(self) -> None:
        super().__init__("counting")
        self.asked: list[str] = []
        self.threads: set[str] = set()
        self.enough = threading.Event()

    def encode_documents(
        self, texts: Sequence[str], on_batch: Callable[[int], None] | None = None, expected_texts: int | None = None
    ) -> Any:
        if "bad" in texts:
            self.enough.set()
            raise ModelError("no such word", fix="another")
        self.asked += texts
        self.threads.add(threading.current_thread().name)
        if len(self.asked) >= LEAST_TEXTS:
            self.enough.set()
        if on_batch:
            on_batch(len(texts))
        return super().encode_documents(texts)


@NEEDS_CORES
def test_what_was_made_ahead_is_not_made_again() -> None:
    encoder, told = Counting(), list[int]()
    with closing(Ahead(encoder, len(TEXTS))) as ahead:
        ahead.add(TEXTS[:LEAST_TEXTS])
        assert encoder.enough.wait(60)
        found = ahead.encode_documents(TEXTS[::-1], told.append)
    assert np.array_equal(found, ToyEncoder("plain").encode_documents(TEXTS[::-1]))
    assert sorted(encoder.asked) == sorted(TEXTS)
    assert "kb-ahead" in encoder.threads
    assert told[-1] == len(TEXTS)
    assert "kb-ahead" not in {thread.name for thread in threading.enumerate()}


def test_a_few_texts_are_left_to_the_one_who_asks() -> None:
    encoder = Counting()
    with closing(Ahead(encoder, 3)) as ahead:
        ahead.add(TEXTS[:3])
        assert ahead.encode_documents([TEXTS[2], TEXTS[2], TEXTS[0]]).shape == (3, encoder.dimensions)
    assert encoder.threads == {threading.current_thread().name}
    assert ahead.digest == encoder.digest


@NEEDS_CORES
def test_a_fault_comes_with_its_text() -> None:
    encoder = Counting()
    with closing(Ahead(encoder, 1)) as ahead:
        ahead.add(["bad", *TEXTS])
        assert encoder.enough.wait(60)
        with pytest.raises(ModelError, match="no such word"):
            ahead.encode_documents(["bad"])
        assert len(ahead.encode_documents(TEXTS)) == len(TEXTS)


def test_so_many_are_kept_at_most() -> None:
    encoder = Counting()
    ahead = Ahead(encoder, 1)
    ahead.add(f"{number}" for number in range(MOST_TEXTS + 500))
    ahead.close()
    assert len(encoder.asked) <= MOST_TEXTS
