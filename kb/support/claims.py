"""A model's answer → the sentences it claims, each with its place in the text and its markers. Pure.

A code block and a table row are one claim each; a list item begins a new one. Headings, questions and lines that introduce a
list are asides: they claim something by the way. Rules, table heads and turns of phrase ("Here is what I found:") claim
nothing. A marker belongs to the sentence
before it or around it; one behind a full stop belongs to the next sentence if the sentence before has its own markers. A
Korean sentence may end in a marker without a full stop; then the ending of its verb tells.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache

from kb.frozen import dataclass
from kb.language import english_contrasts, korean_contrasts
from kb.language.registry import says
from kb.support.markers import MARKER, code_spans
from kb.text import split_sentences

_FENCE = re.compile(r"[ \t]*(```+|~~~+)")
_TABLE_ROW = re.compile(r"^[ \t]*\|.*\|[ \t]*$")
_TABLE_RULE = re.compile(r"^[ \t]*\|?[\s:|-]*-[\s:|-]*\|?[ \t]*$")
_RULE = re.compile(r"^[ \t]*(?:[-=*_]\s*){3,}$")
_HEADING = re.compile(r"^[ \t]*#{1,6}(?:\s+|$)")
_BULLET = re.compile(r"[ \t]*(?:>[ \t]?)*(?:[-*+•][ \t]+|\d{1,3}[.)][ \t]+)(?:\[[ xX]\][ \t]+)?")
_MARKER_RUN = re.compile(r"(?:\s*\[#(?:0|[1-9]\d{0,2})\])+")
_DRESSING = re.compile(r"\*+(?=\S)|(?<=\S)\*+|(?<!\w)_+(?=\w)|(?<=\w)_+(?!\w)|`")

# A longer line is no title of a list.
LONGEST_TITLE_CHARS = 80


@dataclass(frozen=True, slots=True)
class Claim:
    """One sentence of an answer.

    start, end  [start, end) offsets into the answer, its markers included
    text        without markers, list marks and emphasis; of a table row each cell behind the head of its column
    markers     the n of every [#n] that belongs to it, each once
    is_aside    a heading, a question, or the line before a list: nobody expects it to cite anything
    is_code     a code block
    about       of a list item, the heading or the line that the list stands below; "" elsewhere
    """

    start: int
    end: int
    text: str
    markers: tuple[int, ...]
    is_aside: bool = False
    is_code: bool = False
    about: str = ""


def find_claims(text: str, *, asides: bool = False) -> tuple[Claim, ...]:
    """The claims of an answer, in order; with the asides among them where they are asked for.

    >>> [(c.text, c.markers) for c in find_claims("Red torches only. [#1] No phones [#2][#3].")]
    [('Red torches only.', (1,)), ('No phones.', (2, 3))]
    """
    pieces: list[tuple[int, int]] = []
    heads: dict[int, str] = {}
    for start, end, head in _blocks(text):
        if head is None:
            pieces.extend(_sentences(text, start, end))
        else:
            pieces.append((start, end))
            heads[start] = head
    claims = [_claim(text, start, end, heads.get(start, "")) for start, end in _give_markers_back(text, pieces)]
    found = [*_below_their_leads(text, [claim for claim in claims if claim is not None])]
    # "Yes, you can. [#1]" tells nothing where another sentence tells it.
    if any(not claim.is_aside and not _idle().fullmatch(claim.text) for claim in found):
        found = [
            replace(claim, is_aside=claim.is_aside or _idle().fullmatch(claim.text) is not None) for claim in found
        ]
    return tuple(claim for claim in found if asides or not claim.is_aside)


def _below_their_leads(text: str, claims: Sequence[Claim]) -> Iterator[Claim]:
    """List items with what their list stands below."""
    about = ""
    for claim in claims:
        is_item = _BULLET.match(text, claim.start) is not None
        yield replace(claim, about=about) if is_item and about else claim
        if not is_item:
            about = claim.text if claim.is_aside or _is_title(text, claim) else ""


def _is_title(text: str, claim: Claim) -> bool:
    """True for a short line that ends in no full stop: what a list below it is about."""
    return (
        len(claim.text) <= LONGEST_TITLE_CHARS
        and not claim.text.endswith((".", "!", "?", "다", "요"))
        and not claim.markers
    )


def plain_text(text: str) -> str:
    """A sentence without its markers, list marks and emphasis."""
    stripped = _MARKER_RUN.sub("", text).strip()
    bullet = _BULLET.match(stripped)
    plain = stripped[bullet.end() :] if bullet else stripped
    plain = re.sub(r"\s+([.,;:!?。])(?!\w)", r"\1", _DRESSING.sub("", plain))
    return plain.strip()


def without_lead(sentence: str) -> str:
    """A sentence without "According to the documents," and the like before it.

    >>> without_lead("According to the guide, the tower is tall."), without_lead("In fact, it is tall.")
    ('the tower is tall.', 'it is tall.')
    """
    while (lead := _lead().match(sentence)) and len(sentence) - lead.end() >= 8:
        sentence = sentence[lead.end() :]
    return sentence


@cache
def _lead() -> re.Pattern[str]:
    return re.compile(f"{english_contrasts.LEAD}|{korean_contrasts.LEAD}", re.I)


@cache
def _idle() -> re.Pattern[str]:
    return re.compile(rf"(?:{english_contrasts.IDLE}|{korean_contrasts.IDLE}|yes|no|네|예|아니[요오])[.!:： ]*", re.I)


def _claim(text: str, start: int, end: int, head: str) -> Claim | None:
    whole = text[start:end]
    is_code = _FENCE.match(whole) is not None
    # A marker within code is code; one behind the closing fence cites.
    told = _without_code(whole)
    markers = tuple(dict.fromkeys(int(n) for n in MARKER.findall(told)))
    if is_code:
        plain = whole[: code_spans(whole)[0][1]].strip() if code_spans(whole) else whole.strip()
        return Claim(start, end, plain, markers, is_code=True) if re.search(r"\w", MARKER.sub("", plain)) else None
    heading = _HEADING.match(whole)
    plain = plain_text(whole[heading.end() :] if heading else whole)
    if _TABLE_ROW.match(whole):
        plain = _told_row(plain, head)
    if not re.search(r"\w", plain) or (not markers and _idle().fullmatch(plain)):
        return None
    is_aside = heading is not None or (not markers and plain.endswith((":", "：", "?", "？")))
    return Claim(start, end, plain, markers, is_aside)


def _without_code(text: str) -> str:
    for start, end in reversed(code_spans(text)):
        text = text[:start] + " " * (end - start) + text[end:]
    return text


def _told_row(row: str, head: str) -> str:
    """A table row as it reads: each cell behind the head of its column; the first cell names the row."""
    cells = [cell.strip() for cell in row.strip().strip("|").split("|")]
    heads = [cell.strip() for cell in plain_text(head).strip().strip("|").split("|")] if head else []
    if len(heads) != len(cells):
        return row
    return ", ".join([cells[0], *(f"{h} {cell}".strip() for h, cell in zip(heads[1:], cells[1:], strict=True))])


def _blocks(text: str) -> Iterator[tuple[int, int, str | None]]:
    """[start, end) of paragraphs and list items (None), of headings, code blocks and table rows, not to be split.

    The third is the head of a row's table, "" without one.
    """
    lines = list(re.finditer(r"[^\n]*(?:\n|\Z)", text))
    opened: int | None = None
    fence = head = ""
    paragraph: int | None = None
    for at, line in enumerate(lines):
        raw = line.group().rstrip("\n")
        mark = _FENCE.match(raw)
        if opened is not None:
            if mark and mark[1].startswith(fence):
                yield opened, line.end(), ""
                opened = None
            continue
        is_row, is_heading, is_rule = bool(_TABLE_ROW.match(raw)), bool(_HEADING.match(raw)), bool(_RULE.match(raw))
        ends_here = bool(mark or is_row or is_heading or is_rule or not raw.strip() or _BULLET.match(raw))
        if ends_here and paragraph is not None:
            yield paragraph, line.start(), None
            paragraph = None
        if not is_row:
            head = ""
        if mark:
            opened, fence = line.start(), mark[1]
        elif is_row:
            following = lines[at + 1].group().rstrip("\n") if at + 1 < len(lines) else ""
            if _TABLE_RULE.match(following) and "-" in following:
                head = raw
            elif not _TABLE_RULE.match(raw):
                yield line.start(), line.end(), head
        elif is_heading:
            yield line.start(), line.end(), ""
        elif raw.strip() and not is_rule and paragraph is None:
            paragraph = line.start()
    if opened is not None:
        yield opened, len(text), ""
    if paragraph is not None:
        yield paragraph, len(text), None


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
