"""A model's answer → its markers, in the one form that the rest of kb reads: [#3]. Pure.

Models write [1], [#1, #2], [#1-3], 【#1】, [# 1], [^1] and [#001] for it. A marker in code is code: it cites nothing.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

MARKER = re.compile(r"\[#(0|[1-9]\d{0,2})\]")
_OPENED, _CLOSED = r"[\[［【〔]", r"[\]］】〕]"
_NUMBER = r"[\^]?\s*[#＃]?\s*0*\d{1,3}"
_RUN = re.compile(
    rf"{_OPENED}\s*(?P<body>{_NUMBER}(?:\s*(?:[,;、&~–-]|and|및|와|과)\s*{_NUMBER})*)\s*(?:†[^\]】]{{0,40}}|(?<=\d)\s[^\[\]【】#]{{1,80}})?\s*{_CLOSED}"
)
# A closed fence, or one that the end of the text closes; then code within a line.
_CODE = re.compile(
    r"(?ms)^[ \t]*(?P<fence>```+|~~~+)[^\n]*\n.*?(?:^[ \t]*(?P=fence)[`~]*|\Z)|(?<!`)`(?!`)[^`\n]+`(?!`)"
)
# A range of more passages than this is no range of passages.
LONGEST_RANGE = 20


def code_spans(text: str) -> list[tuple[int, int]]:
    """[start, end) of every stretch of code; what stands behind a closing fence is none."""
    return [match.span() for match in _CODE.finditer(text)]


def find_markers(text: str) -> list[int]:
    """The number of every [#n] outside code, in order of first appearance, each once.

    >>> find_markers("A [#2]. B [#1][#2], not [3] or `[#4]` or [#1a].")
    [2, 1]
    """
    spans = code_spans(text) if "`" in text or "~~~" in text else []
    found = (m for m in MARKER.finditer(text) if not any(a <= m.start() < b for a, b in spans))
    return list(dict.fromkeys(int(m[1]) for m in found))


def normalize_markers(text: str, packed: Collection[int]) -> str:
    """The text with every form of a marker as [#n]; brackets that are no markers, and code, stay as they are.

    packed  the numbers that stand for a passage: a bare [1] is a marker only for one of them, and only where the text
            writes none with its sign

    >>> normalize_markers("It is 41 m tall [1]. It was built in 1890 [#1, #2].", (1, 2))
    'It is 41 m tall [1]. It was built in 1890 [#1][#2].'
    >>> normalize_markers("It is 41 m tall [1], not `a[1]`.", (1, 2))
    'It is 41 m tall [#1], not `a[1]`.'
    """
    spans = code_spans(text)
    runs = [m for m in _RUN.finditer(text) if not any(a <= m.start() < b for a, b in spans)]
    has_sign = any("#" in m["body"] or "＃" in m["body"] for m in runs)
    out, end = [], 0
    for match in runs:
        numbers = list(_numbers(match["body"]))
        signed = "#" in match["body"] or "＃" in match["body"]
        if not numbers or (not signed and (has_sign or not _is_bare_marker(text, match, numbers, packed))):
            continue
        out += [text[end : match.start()], "".join(f"[#{n}]" for n in numbers)]
        end = match.end()
    return "".join([*out, text[end:]])


def _numbers(body: str) -> Iterator[int]:
    pieces = re.split(r"\s*([,;、&~–-]|and|및|와|과)\s*", body)
    last: int | None = None
    for piece, joint in zip(pieces[::2], ["", *pieces[1::2]], strict=True):
        number = int(re.sub(r"\D", "", piece) or -1)
        if joint in ("-", "–", "~") and last is not None and last < number <= last + LONGEST_RANGE:
            yield from range(last + 1, number + 1)
        else:
            yield number
        last = number


def _is_bare_marker(text: str, match: re.Match[str], numbers: Collection[int], packed: Collection[int]) -> bool:
    """True for [1] as a model cites with it; False for list[1], vec![1], [label][1], [1](link), and a footnote's own line."""
    if not set(numbers) <= set(packed):
        return False
    before, after = text[max(0, match.start() - 1) : match.start()], text[match.end() : match.end() + 1]
    if after in ("(", ":") or before in ("!", "_"):
        return False
    if before in ("]", "】") and not re.search(rf"{_OPENED}\s*\^?\d[\d,\s-]*{_CLOSED}$", text[: match.start()]):
        return False
    return not before.isalnum() or not after or after in ".,;:!?)\n[" or (not before.isascii())
