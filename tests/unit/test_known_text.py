"""Windows: their spans, what they know of their text, merging, and the payload that stands for one."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest

from kb.errors import InvalidInput
from kb.fingerprint import FP_VERSION, Shape, Sketch, fingerprint
from kb.packing import known_text as known_texts
from kb.packing.known_text import KnownText, known_text_from_blocks, known_text_from_text, merge_known_texts
from kb.packing.known_text_payload import WindowFingerprint, known_text_from_payload, known_text_payload, read_payload
from kb.shingles import token_hashes
from kb.wire import to_json


def words(count: int, start: int = 0) -> str:
    return " ".join(f"w{number}" for number in range(start, start + count))


@pytest.mark.parametrize(
    ("tokens", "spans"), [(1, 1), (100, 1), (284, 1), (285, 2), (665, 4), (760, 4), (4000, 21), (5000, 26)]
)
def test_a_text_is_cut_into_equal_spans(tokens: int, spans: int) -> None:
    cut = known_text_from_text(words(tokens)).spans
    lengths = [span.fingerprint.token_count for span in cut]
    assert (len(cut), sum(lengths)) == (spans, tokens)
    assert max(lengths) - min(lengths) <= 1
    assert tokens < 665 or (min(lengths) >= 160 and max(lengths) <= 220)


def test_one_block_is_one_span_and_a_long_one_has_cuts_besides() -> None:
    window = known_text_from_blocks(["# First block", "   ", "---", words(500), "last block"])
    assert [span.span_id for span in window.spans] == [
        "block-0",
        "block-1",
        "block-1.0",
        "block-1.1",
        "block-1.2",
        "block-2",
    ]
    assert window.spans[0].fingerprint == fingerprint("First block")
    assert [span.fingerprint.token_count for span in window.spans[2:5]] == [167, 166, 167]


def test_no_shingle_is_lost_between_two_cuts() -> None:
    window = known_text_from_text(words(600))
    assert sum(span.fingerprint.long.shingle_count for span in window.spans) == 596
    whole = np.frombuffer(window.whole.long.minhash, "<u4")
    assert whole.tolist() == np.frombuffer(fingerprint(words(600)).long.minhash, "<u4").tolist()
    assert window.whole.simhash64 == fingerprint(words(600)).simhash64
    assert window.whole.sha256 == fingerprint(words(600)).sha256


@pytest.mark.parametrize(
    "window",
    [
        known_text_from_text(""),
        known_text_from_text(" --- "),
        known_text_from_blocks([]),
        known_text_from_blocks(["", "\n"]),
    ],
)
def test_an_empty_window(window: KnownText) -> None:
    assert window.is_empty
    assert not window.digests
    assert not len(window.simhashes)
    assert known_text_from_payload(known_text_payload(window)).is_empty


def test_a_window_that_is_too_long_keeps_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_texts, "MOST_KNOWN_CHARS", 20)
    window = known_text_from_text("x" * 100 + " the end is what counts"[-20:])
    assert window.dropped_chars == 100
    blocks = known_text_from_blocks(["first block, too old", "second block", "last"])
    assert blocks.dropped_chars == 16
    assert blocks.words == " old second block last "
    assert known_text_from_payload(known_text_payload(blocks)).dropped_chars == 16


def test_places_of_shingles_are_in_the_order_of_the_text() -> None:
    window = known_text_from_text("a b c d a b c")
    shingles, places = window.ordered_shingles(3)
    assert sorted(places.tolist()) == [0, 1, 2, 3, 4]
    assert shingles.tolist() == sorted(shingles.tolist())
    assert shingles[places == 0] == shingles[places == 4]


def test_runs_of_spans_are_the_union_of_their_shingles() -> None:
    window = known_text_from_text(words(600))
    units = window.units(5, 2)
    assert units.signatures.shape == (5, 128)
    both = np.minimum(units.signatures[0], units.signatures[1])
    assert (units.signatures[3] == both).all()
    assert units.counts[3] == units.counts[0] + units.counts[1]
    # A block that is longer than a cut stands alone.
    long_block = known_text_from_blocks([words(500), "one two three four five six"])
    assert len(long_block.units(5, 2).counts) == 5 + 3


def test_two_windows_become_one() -> None:
    first, second = known_text_from_text(words(300)), known_text_from_blocks([words(50, 1000), words(40, 2000)])
    merged = merge_known_texts(first, second)
    assert merged.text is not None
    assert merged.words == f" {words(300)} {words(50, 1000)} {words(40, 2000)} "
    assert first.digests | second.digests <= merged.digests
    assert merged.text.hashes.tolist() == [*token_hashes(words(300)), *second.text.hashes]  # type: ignore[union-attr]
    assert merge_known_texts(first, known_text_from_text("")).spans == first.spans
    assert merge_known_texts(known_text_from_text(""), second).spans == second.spans
    assert merge_known_texts(known_text_from_text(""), known_text_from_text("")).is_empty
    with pytest.raises(ValueError, match="shapes"):
        merge_known_texts(first, known_text_from_text("x", Shape(7, 128)))


def test_with_a_payload_a_merged_window_is_known_by_fingerprint_only() -> None:
    known = known_text_from_payload(known_text_payload(known_text_from_text(words(300))))
    merged = merge_known_texts(known, known_text_from_text(words(50, 1000)))
    assert not merged.has_text
    assert fingerprint(words(300)).sha256 in merged.digests
    assert len(merged.spans) == 4


# ---- the payload


def payload() -> dict[str, object]:
    window = known_text_from_blocks(["the first block of six words", "and a second block that has more of them"])
    return json.loads(to_json(known_text_payload(window)))  # type: ignore[no-any-return]


def test_a_payload_comes_back_as_the_window_it_was() -> None:
    for window in (known_text_from_text(words(700)), known_text_from_blocks(["one two three", words(400)])):
        again = known_text_from_payload(read_payload(to_json(known_text_payload(window))))
        assert again.spans == window.spans
        assert again.whole.sha256 == window.whole.sha256
        assert again.whole.long.minhash == window.whole.long.minhash
        assert not again.has_text
        assert known_text_payload(again) == known_text_payload(window)


def test_the_payload_of_another_shape_says_which() -> None:
    shape = Shape(7, 64)
    window = known_text_from_payload(known_text_payload(known_text_from_text(words(300), shape)))
    assert window.shape == shape
    assert len(window.spans[0].fingerprint.long.minhash) == 64 * 4


def test_a_payload_without_the_optional_fields_still_compares() -> None:
    fields = payload()
    del fields["global_minhash128_k3"]
    for span in fields["spans"]:  # type: ignore[attr-defined]
        for name in ("shingle_count", "minhash128_k3", "shingle_count_k3"):
            del span[name]
    window = known_text_from_payload(read_payload(json.dumps(fields)))
    first = window.spans[0].fingerprint
    assert (first.long.shingle_count, first.short.shingle_count) == (2, 0)
    assert merge_known_texts(window, known_text_from_text("x y z")).whole.short == Sketch(
        3, fingerprint("x y z").short.minhash, 1
    )


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"schema_version": "window_fingerprint.v9"}, ["window_fingerprint.v9", "window_fingerprint.v1"]),
        ({"fp_version": "kb-fp-0"}, ["kb-fp-0", FP_VERSION]),
        ({"scheme": "affine32"}, ["affine32", "mul32"]),
        ({"seed": 1}, ["seed 1)", "seed 20260000"]),
        ({"k": 0}, ["k is 0"]),
        ({"k": "five"}, ["$.k"]),
        ({"num_perm": 64}, ["global_minhash128 has 128 numbers", "64"]),
        ({"num_perm": 10**9}, ["num_perm"]),
        ({"global_sha256": "xyz"}, ["global_sha256"]),
        ({"token_count": -1}, ["token_count"]),
        ({"spans": 3}, ["$.spans"]),
        ({"spans": [{"span_id": "a"}]}, ["$.spans[0]"]),
    ],
)
def test_a_faulty_payload_says_what_and_where(change: dict[str, object], says: list[str]) -> None:
    with pytest.raises(InvalidInput) as caught:
        known_text_from_payload(read_payload(json.dumps(payload() | change)))
    for part in says:
        assert part in caught.value.problem
    assert "kb context fingerprint" in caught.value.fix


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("simhash64", "12", "spans[1].simhash64"),
        ("sha256", "g" * 64, "spans[1].sha256"),
        ("minhash128", [1, 2], "spans[1].minhash128 has 2 numbers"),
        ("minhash128", [-1] * 128, "spans[1].minhash128"),
        ("minhash128", ["x"] * 128, "$.spans[1].minhash128[0]"),
        ("minhash128_k3", [2**32] * 128, "spans[1].minhash128_k3"),
        ("token_count", 2**40, "spans[1].token_count"),
        ("shingle_count", -5, "spans[1].shingle_count"),
        ("shingle_count_k3", -5, "spans[1].shingle_count_k3"),
    ],
)
def test_a_faulty_span_says_which(name: str, value: object, says: str) -> None:
    fields = payload()
    fields["spans"][1][name] = value  # type: ignore[index]
    with pytest.raises(InvalidInput) as caught:
        known_text_from_payload(read_payload(json.dumps(fields)))
    assert says in caught.value.problem


@pytest.mark.parametrize("raw", [b"", b"\xff\xfe\x00", b"[1]", b'"text"', b"{", b"\x00" * 100])
def test_what_is_no_payload_at_all(raw: bytes) -> None:
    with pytest.raises(InvalidInput):
        read_payload(raw)


def test_too_many_spans_are_refused() -> None:
    made = known_text_payload(known_text_from_text("one two three"))
    flood = dataclasses.replace(made, spans=made.spans * 20_001)
    assert isinstance(flood, WindowFingerprint)
    with pytest.raises(InvalidInput, match="20,001"):
        known_text_from_payload(flood)
