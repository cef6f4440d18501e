"""What a caller names as the window: files, standard input, fingerprints; good and bad."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from kb.context.known_text_input import MOST_KNOWN_BYTES, read_known_text, read_texts
from kb.errors import InvalidInput, NotFound
from kb.fingerprint import DEFAULT_SHAPE
from kb.packing.known_text_payload import known_text_payload
from kb.wire import to_json


def stdin(monkeypatch: pytest.MonkeyPatch, raw: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw), encoding="utf-8"))


def write(folder: Path, name: str, raw: bytes | str) -> str:
    path = folder / name
    path.write_bytes(raw.encode() if isinstance(raw, str) else raw)
    return str(path)


def test_each_file_is_a_block_and_standard_input_a_running_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes: list[str] = []
    stdin(monkeypatch, b"a running text " * 300)
    one, two = write(tmp_path, "one.md", "first block"), write(tmp_path, "two.md", "second block")
    assert read_texts([one, "-", two], notes.append) == (["first block", "second block"], "a running text " * 300)
    stdin(monkeypatch, b"a running text " * 300)
    window = read_known_text([one, "-", two], None, DEFAULT_SHAPE, notes.append)
    assert window is not None
    names = [span.span_id for span in window.spans]
    assert names[:2] == ["a.block-0", "a.block-1"]
    assert sum(name.startswith("b.span-") for name in names) == round(900 / 190)
    assert notes == []


def test_the_same_file_twice_counts_once(tmp_path: Path) -> None:
    one = write(tmp_path, "one.md", "first block")
    assert read_texts([one, one], lambda note: None)[0] == ["first block"]


def test_bad_names_are_errors_that_say_the_fix(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="no file"):
        read_texts([str(tmp_path / "absent")], lambda note: None)
    with pytest.raises(InvalidInput, match="is a folder"):
        read_texts([str(tmp_path)], lambda note: None)
    with pytest.raises(InvalidInput, match="named twice"):
        read_texts(["-", "-"], lambda note: None)


@pytest.mark.parametrize(
    "raw", [b"", b"   \n\t ", b"\xef\xbb\xbf", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\1\2\3\4\5\6\7", b"***\n---\n"]
)
def test_a_window_without_text_is_none_and_said(tmp_path: Path, raw: bytes) -> None:
    notes: list[str] = []
    assert read_known_text([write(tmp_path, "w", raw)], None, DEFAULT_SHAPE, notes.append) is None
    assert notes[-1] == "note: the seen text is empty: nothing is compared with it"
    assert any("not text" in note for note in notes) == raw.startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("raw", "held"),
    [
        (b"caf\xe9 and \xff\xfe more plain words here", "plain words"),
        ("거울은 깨끗하다".encode("utf-16"), "거울은"),
        ("거울".encode("euc-kr"), ""),
    ],
)
def test_other_encodings_and_broken_ones_are_read(tmp_path: Path, raw: bytes, held: str) -> None:
    texts, _ = read_texts([write(tmp_path, "w", raw)], lambda note: None)
    assert held in texts[0]


def test_fifty_megabytes_are_capped_to_their_end_and_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    notes: list[str] = []
    big = write(tmp_path, "big.log", b"old line of a log\n" * 2_800_000 + b"the end of it")
    texts, _ = read_texts([big], notes.append)
    assert len(texts[0]) == MOST_KNOWN_BYTES
    assert texts[0].endswith("the end of it")
    assert notes == [f"note: {big} has 50,400,013 bytes; only the last {MOST_KNOWN_BYTES:,} are read"]
    notes.clear()
    stdin(monkeypatch, b"x" * (MOST_KNOWN_BYTES + 5) + b"end")
    _, running = read_texts(["-"], notes.append)
    assert running.endswith("end")
    assert len(running) == MOST_KNOWN_BYTES
    assert len(notes) == 1


def test_a_fingerprint_is_the_window_and_wins(tmp_path: Path) -> None:
    notes: list[str] = []
    text = write(tmp_path, "w.txt", "some words that the prompt holds " * 20)
    window = read_known_text([text], None, DEFAULT_SHAPE, notes.append)
    assert window is not None
    payload = write(tmp_path, "w.json", to_json(known_text_payload(window)))
    other = write(tmp_path, "other.txt", "other words")
    found = read_known_text([other], payload, DEFAULT_SHAPE, notes.append)
    assert found is not None
    assert not found.has_text
    assert found.whole.sha256 == window.whole.sha256
    assert notes == ["note: the fingerprint stands for the seen text; --seen is not read"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda text: text.replace('"fp_version":"', '"fp_version":"old-'), "old-kb-fp"),
        (lambda text: text.replace("window_fingerprint.v1", "window_fingerprint.v0"), "window_fingerprint.v0"),
        (lambda text: text[: len(text) // 2], "not JSON"),
        (lambda text: "[]", "not an object"),
        (lambda text: "plain text", "not JSON"),
    ],
)
def test_foreign_fingerprints_are_errors_that_name_the_version(tmp_path: Path, change: object, said: str) -> None:
    window = read_known_text([write(tmp_path, "w.txt", "some words")], None, DEFAULT_SHAPE, lambda note: None)
    assert window is not None
    payload = write(tmp_path, "w.json", change(to_json(known_text_payload(window))))  # type: ignore[operator]
    with pytest.raises(InvalidInput) as error:
        read_known_text([], payload, DEFAULT_SHAPE, lambda note: None)
    assert said in error.value.problem
    assert "kb context fingerprint" in error.value.fix
