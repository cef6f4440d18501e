"""A model's answer → the sentences it claims, each with its place in the text and its markers. Pure.

A code block and a table row are one claim each; a list item begins a new one. Headings, rules, table heads, questions and
lines that only introduce a list (they end in a colon and cite nothing) are not claims. A marker belongs to the sentence
before it or around it; one behind a full stop belongs to the next sentence if the sentence before has its own markers. A
Korean sentence may end in a marker without a full stop; then the ending of its verb tells.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from kb.language.registry import says
from kb.text import split_sentences

# As the prompt writes its numbers: [#001] is no marker.
MARKER = re.compile(r"\[#(0|[1-9]\d{0,2})\]")
_FENCE = re.compile(r"[ \t]*(```+|~~~+)")
_TABLE_ROW = re.compile(r"^[ \t]*\|.*\|[ \t]*$")
_TABLE_RULE = re.compile(r"^[ \t]*\|?[\s:|-]*-[\s:|-]*\|?[ \t]*$")
_NO_CLAIM = re.compile(r"^[ \t]*(?:#{1,6}(?:\s|$).*|(?:[-=*_]\s*){3,})$")
_BULLET = re.compile(r"[ \t]*(?:>[ \t]?)*(?:[-*+•][ \t]+|\d{1,3}[.)][ \t]+)(?:\[[ xX]\][ \t]+)?")
_MARKER_RUN = re.compile(r"(?:\s*\[#(?:0|[1-9]\d{0,2})\])+")
_DRESSING = re.compile(r"\*+(?=\S)|(?<=\S)\*+|(?<!\w)_+(?=\w)|(?<=\w)_+(?!\w)|`")


@dataclass(frozen=True, slots=True)
class Claim:
    """One sentence of an answer.

    start, end  [start, end) offsets into the answer, its markers included
    text        without markers, list marks and emphasis
    markers     the n of every [#n] that belongs to it, each once
    """

    start: int
    end: int
    text: str
    markers: tuple[int, ...]


def find_claims(text: str) -> tuple[Claim, ...]:
    """The claims of an answer, in order.

    >>> [(c.text, c.markers) for c in find_claims("Red torches only. [#1] No phones [#2][#3].")]
    [('Red torches only.', (1,)), ('No phones.', (2, 3))]
    """
    pieces: list[tuple[int, int]] = []
    for start, end, is_whole in _blocks(text):
        if is_whole:
            pieces.append((start, end))
        else:
            pieces.extend(_sentences(text, start, end))
    joined = _give_markers_back(text, pieces)
    claims = [_claim(text, start, end) for start, end in joined]
    return tuple(claim for claim in claims if claim is not None)


def plain_text(text: str) -> str:
    """A sentence without its markers, list marks and emphasis."""
    stripped = _MARKER_RUN.sub("", text).strip()
    bullet = _BULLET.match(stripped)
    plain = stripped[bullet.end() :] if bullet else stripped
    plain = re.sub(r"\s+([.,;:!?。])", r"\1", _DRESSING.sub("", plain))
    return plain.strip()


def _claim(text: str, start: int, end: int) -> Claim | None:
    whole = text[start:end]
    markers = tuple(dict.fromkeys(int(n) for n in MARKER.findall(whole)))
    is_code = _FENCE.match(whole) is not None
    plain = MARKER.sub("", whole).strip() if is_code else plain_text(whole)
    announces = plain.endswith((":", "：", "?", "？"))
    if not re.search(r"\w", plain) or (announces and not markers and not is_code):
        return None
    return Claim(start, end, plain, markers)


def _blocks(text: str) -> Iterator[tuple[int, int, bool]]:
    """[start, end) of paragraphs and list items (False), of code blocks and table rows (True: not to be split)."""
    lines = list(re.finditer(r"[^\n]*(?:\n|\Z)", text))
    opened: int | None = None
    fence = ""
    paragraph: int | None = None
    for at, line in enumerate(lines):
        raw = line.group().rstrip("\n")
        mark = _FENCE.match(raw)
        if opened is not None:
            if mark and mark[1].startswith(fence):
                yield opened, line.end(), True
                opened = None
            continue
        is_row = bool(_TABLE_ROW.match(raw))
        ends_here = bool(mark or is_row or not raw.strip() or _NO_CLAIM.match(raw) or _BULLET.match(raw))
        if ends_here and paragraph is not None:
            yield paragraph, line.start(), False
            paragraph = None
        if mark:
            opened, fence = line.start(), mark[1]
        elif is_row:
            following = lines[at + 1].group().rstrip("\n") if at + 1 < len(lines) else ""
            if not _TABLE_RULE.match(raw) and not (_TABLE_RULE.match(following) and "-" in following):
                yield line.start(), line.end(), True
        elif raw.strip() and not _NO_CLAIM.match(raw) and paragraph is None:
            paragraph = line.start()
    if opened is not None:
        yield opened, len(text), True
    if paragraph is not None:
        yield paragraph, len(text), False


def _sentences(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    block = text[start:end]
    # A full stop before a marker ends its sentence, as one before a space and a capital does.
    blank = MARKER.sub(lambda match: " " + "#" * (len(match.group()) - 1), block)
    bullet = _BULLET.match(blank)
    head = bullet.end() if bullet else 0
    starts = (a for a, _ in split_sentences(" " * head + blank[head:]))
    cuts = {a - 1 if a and MARKER.match(block, a - 1) else a for a in starts}
    for run in _MARKER_RUN.finditer(block):
        before, after = block[: run.start()], block[run.end() :]
        if re.match(r"\s*[^\s.!?。,;:)]", after) and (says("sentence_end", before) or re.match(r"[ \t]*\n", after)):
            cuts.add(run.end() + len(after) - len(after.lstrip()))
    places = [0, *sorted(cuts)[1:]]
    for first, last in zip(places, [*places[1:], len(block)], strict=True):
        if block[first:last].strip():
            yield start + first, start + last


def _give_markers_back(text: str, pieces: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Markers behind a sentence belong to it, unless it has its own and another sentence follows them."""
    out: list[tuple[int, int]] = []
    for start, end in pieces:
        leading = _MARKER_RUN.match(text, start, end)
        if leading and out:
            is_alone = not re.search(r"\w", text[leading.end() : end])
            follows = "\n" not in text[out[-1][1] : start] and not MARKER.search(text, *out[-1])
            if is_alone or follows:
                out[-1] = out[-1][0], leading.end()
                start = leading.end()
        body = text[start:end]
        if body.strip() and not (leading and out and start == leading.end() and not re.search(r"\w", body)):
            out.append((start + len(body) - len(body.lstrip()), start + len(body.rstrip())))
    return out
