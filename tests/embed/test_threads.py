"""How many threads the models may use."""

from __future__ import annotations

import os

import pytest

from kb.embed.device import MOST_THREADS, count_threads


@pytest.mark.parametrize("said", ["", "0", "-1", "all", "4,2"])
def test_what_names_no_number_limits_nothing(monkeypatch: pytest.MonkeyPatch, said: str) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    allowed = count_threads()
    monkeypatch.setenv("OMP_NUM_THREADS", said)
    assert count_threads() == allowed == min(MOST_THREADS, len(os.sched_getaffinity(0)))


def test_the_number_is_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert count_threads() == 1
    monkeypatch.setenv("OMP_NUM_THREADS", "1000")
    assert count_threads() <= MOST_THREADS
