"""Bytes to text: the encodings, the newlines, and what no text can hold."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.ingest.decode import decode, is_binary
from tests.ingest.corpora import corpus
from tests.work import count_calls

GERMAN = "Grüße aus Köln, über die Straße.\n"
RUSSIAN = "Привет, мир! Это обычный русский текст.\n"
JAPANESE = "日本語のテキストです。テストを書きます。\n"
TIMETABLE = "노선,방향,첫차\n솔1,역곡역→산들마을,05:40\n솔3,시청→수목원,07:00\n"
KOREAN = "안녕하세요, 이것은 한국어 문장입니다.\n"


@pytest.mark.parametrize(
    ("raw", "encoding", "text"),
    [
        (b"", "utf-8", ""),
        (b"plain", "utf-8", "plain"),
        (b"\xef\xbb\xbfmark", "utf-8", "mark"),
        ("mark ü".encode("utf-16"), "utf-16-le", "mark ü"),
        (b"\xfe\xff" + "mark ü".encode("utf-16-be"), "utf-16-be", "mark ü"),
        ("mark ü".encode("utf-32"), "utf-32-le", "mark ü"),
        (b"\x00\x00\xfe\xff" + "mark".encode("utf-32-be"), "utf-32-be", "mark"),
        (("no mark " * 9).encode("utf-16-le"), "utf-16-le", "no mark " * 9),
        (("no mark " * 9).encode("utf-16-be"), "utf-16-be", "no mark " * 9),
        (("no mark " * 9).encode("utf-32-le"), "utf-32-le", "no mark " * 9),
        (("no mark " * 9).encode("utf-32-be"), "utf-32-be", "no mark " * 9),
        (JAPANESE.encode("iso2022_jp"), "iso2022_jp_2", JAPANESE),
        (KOREAN.encode("iso2022_kr"), "iso2022_kr", KOREAN),
        (b"a\r\nb\rc\nd\r\n", "utf-8", "a\nb\nc\nd\n"),
        (b"a\0b", "utf-8", "a\ufffdb"),
        (b"\xed\xa0\x80 lone " + "ü".encode() * 50, "utf-8", None),
        (GERMAN.encode("cp1252"), "cp1252", GERMAN),
        (RUSSIAN.encode("cp1251"), "cp1251", RUSSIAN),
        (RUSSIAN.encode("koi8-r"), "koi8_r", RUSSIAN),
        (JAPANESE.encode("cp932"), "shift_jis", JAPANESE),
        (JAPANESE.encode("euc-jp"), "euc_jp", JAPANESE),
        (KOREAN.encode("cp949"), "euc_kr", KOREAN),
        # Short files with signs among the letters.
        (TIMETABLE.encode("cp949"), "euc_kr", TIMETABLE),
        ("온도는 65℃ 이상이어야 합니다 ★\n".encode("cp949"), "euc_kr", "온도는 65℃ 이상이어야 합니다 ★\n"),
        ("똠방각하는 햏자다 → 펲시\n".encode("cp949"), "cp949", "똠방각하는 햏자다 → 펲시\n"),
        ("这是一个中文文本，用来测试。".encode("gb18030"), "gb2312", "这是一个中文文本，用来测试。"),
        ("這是一個中文文本，用來測試。".encode("big5"), "big5", "這是一個中文文本，用來測試。"),
    ],
)
def test_reads_the_encoding(raw: bytes, encoding: str, text: str | None) -> None:
    decoded = decode(raw)
    assert decoded.encoding == encoding
    assert text is None or decoded.text == text


@pytest.mark.parametrize(
    "head",
    [
        '<?xml version="1.0" encoding="iso-8859-5"?>',
        '<html><head><meta charset="iso-8859-5">',
        '<meta http-equiv="Content-Type" content="text/html; charset=iso-8859-5">',
        "# -*- coding: iso-8859-5 -*-\n",
        '@charset "iso-8859-5";\n',
    ],
)
def test_believes_a_label_in_the_file(head: str) -> None:
    text = head + "\nЫ"
    assert decode(text.encode("iso-8859-5")).text == text


@pytest.mark.parametrize("label", ["nonsense", "utf-16", "idna", "", "\x00", "base64", "hex", "rot13"])
def test_a_label_that_is_wrong_is_passed_over(label: str) -> None:
    assert decode(GERMAN.encode("cp1252"), label).text == GERMAN
    decode(f"<meta charset={label}>".encode() + GERMAN.encode("cp1252"))


def test_a_declared_encoding_comes_before_a_guess() -> None:
    assert decode("Ы".encode("cp1251"), "windows-1251").text == "Ы"


def test_almost_utf8_stays_utf8_and_says_what_was_lost() -> None:
    decoded = decode((GERMAN * 9).encode() + b"\xc3")
    assert decoded.encoding == "utf-8"
    assert decoded.note is not None
    assert decoded.note.startswith("1 characters")


@given(st.binary(max_size=300))
def test_any_bytes_give_text_that_can_be_stored(raw: bytes) -> None:
    text = decode(raw).text
    assert "\0" not in text
    assert "\r" not in text
    text.encode("utf-8")


@given(st.text(max_size=300))
def test_utf8_comes_back_line_for_line(text: str) -> None:
    wanted = text.encode("utf-8", "replace").decode().replace("\r\n", "\n").replace("\r", "\n")
    if "\x1b" not in wanted and "\0" not in wanted:
        assert decode(wanted.encode()).text == wanted.removeprefix("\ufeff")


@pytest.mark.parametrize(
    "raw",
    [b"word " * 2_000_000, "wörd ".encode() * 1_250_000, GERMAN.strip().encode("cp1252") * 250_000],
    ids=["ascii", "utf-8", "cp1252"],
)
def test_a_huge_single_line_takes_no_step_per_character(raw: bytes) -> None:
    texts = []
    few, many = (count_calls(lambda part=part: texts.append(decode(part).text)) for part in (raw[: 2**18], raw))
    assert len(texts[1]) <= len(raw)
    assert many.total() < 2 * few.total() + 1_000


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (b"", False),
        (b"text\n", False),
        ("ünïcode".encode(), False),
        (GERMAN.encode("cp1252"), False),
        (JAPANESE.encode("iso2022_jp"), False),
        (("wide " * 20).encode("utf-16-le"), False),
        (b"\x1b[31mcoloured log\x1b[0m\n", False),
        (b"%PDF-1.7\n", True),
        (b"PK\x03\x04rest", True),
        (bytes(range(256)) * 8, True),
        (b"\x00\x01\x02" * 50, True),
        (b"text with\0 NULs\0 and more\0 text\0", True),
    ],
)
def test_tells_binary_from_text(raw: bytes, expected: bool) -> None:
    assert is_binary(raw) is expected


def test_most_files_of_known_encoding_are_read_right() -> None:
    right = total = 0
    for path in sorted(corpus("messy-encodings", "chardet").glob("*/*")):
        encoding = re.sub(r"-(?:[a-z]{5,})$", "", path.parent.name)
        try:
            truth = path.read_bytes().decode(encoding)
        except (UnicodeError, LookupError):
            continue  # Python has no EUC-TW
        total += 1
        right += decode(path.read_bytes()).text == decode(truth.encode("utf-8", "replace")).text
    assert right >= 0.98 * total, f"{right} of {total}"


def test_signs_alone_are_not_taken_for_korean() -> None:
    assert "guess" in (decode("a → b".encode("cp949")).note or "")
