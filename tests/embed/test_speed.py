"""Which way is faster is measured once and kept."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from kb.embed.speed import ONNX, SAMPLE_CHARS, SAMPLE_TEXTS, TORCH, faster_of, read_seconds

TEXTS = ["a text " * 500] * 40


class Clock:
    """Stands still but for what ways add to it."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Way:
    """Takes so many seconds for a text, and remembers what it was given."""

    def __init__(self, clock: Clock, seconds: float) -> None:
        self.clock, self.seconds = clock, seconds
        self.asked: list[Sequence[str]] = []

    def __call__(self, texts: Sequence[str]) -> None:
        self.asked.append(texts)
        self.clock.now += self.seconds * len(texts)


def measure(file: Path, torch: float, onnx: float) -> tuple[str, dict[str, Way]]:
    clock = Clock()
    ways = {TORCH: Way(clock, torch), ONNX: Way(clock, onnx)}
    return faster_of(file, TEXTS, ways, clock), ways


@pytest.mark.parametrize(("torch", "onnx", "faster"), [(0.2, 0.1, ONNX), (0.1, 0.2, TORCH)])
def test_the_faster_way_is_taken_and_remembered(tmp_path: Path, torch: float, onnx: float, faster: str) -> None:
    file = tmp_path / "speed.json"
    found, ways = measure(file, torch, onnx)
    assert found == faster
    assert read_seconds(file) == pytest.approx({TORCH: torch, ONNX: onnx})
    for way in ways.values():
        assert [len(texts) for texts in way.asked] == [1, SAMPLE_TEXTS, SAMPLE_TEXTS]
        assert max(map(len, way.asked[1])) == SAMPLE_CHARS
    found, ways = measure(file, onnx, torch)
    assert found == faster
    assert not any(way.asked for way in ways.values())


@pytest.mark.parametrize("kept", ["", "{}", "[]", '{"versions": {"torch": "0"}, "seconds": {"torch": 1}}'])
def test_what_was_kept_of_other_libraries_is_measured_again(tmp_path: Path, kept: str) -> None:
    file = tmp_path / "speed.json"
    file.write_text(kept)
    assert read_seconds(file) is None
    assert measure(file, 0.2, 0.1)[0] == ONNX
    assert read_seconds(file) is not None


def test_nothing_is_kept_where_nothing_can_be_written(tmp_path: Path) -> None:
    assert measure(tmp_path / "no folder" / "speed.json", 0.2, 0.1)[0] == ONNX
