"""A sentence that answers and the passage it stands in → the stretch that is quoted: whole sentences, its list or code kept. Pure.

A quote is as it stands except for white space (wrapped lines of prose are joined), emphasis marks and link targets; rows of a
file without bars are shown with the names of their columns; and a marker in the evidence, `[#7]`, is quoted as `[＃7]`, so that no
document can forge a citation.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from kb.frozen import dataclass
from kb.language.sentences import is_forged, neutralize_markers
from kb.language.tables import Table
from kb.llm.extractive_blocks import (
    Block,
    Span,
    code_span,
    find_blocks,
    first_number,
    has_terms,
    is_beside,
    is_item,
    items_of,
)
from kb.llm.extractive_inline import as_site_shows, inline, without_links
from kb.llm.extractive_rank import Asked, Candidate, leans
from kb.llm.extractive_section import Piece, lead_with_below, part_of_section, whole_section

# A paragraph up to this is quoted whole; of a longer one, sentences around the answer up to the second.
WHOLE_PARAGRAPH_CHARS, PARAGRAPH_CHARS = 700, 480
# A sentence that leads to the answer's, and a list or code block beside it, are quoted up to this.
LEAD_CHARS, LIST_CHARS = 320, 1_200
# A shorter quote is followed by the next paragraph of its section; everything that follows ends within this.
SHORT_CHARS, FOLLOWED_CHARS = 160, 1_500

_QUOTE_MARK = re.compile(r"^\s{0,3}(?:>\s?)+", re.M)
# Between a term and what it means.
_TERM_COLON = re.compile(r"\s*\n {0,3}:\s+")
_ON_CODE = re.compile(
    r"\W*(?:the|this|that|these|those)\s+(?:\w+\s+)?(?:commands?|code|scripts?|lines?|outputs?|examples?|programs?)\b",
    re.I,
)
# "But it is slow." before the sentence that answers; "It is slow." may say what the answer is about.
_LEADS_OVER = re.compile(
    r"\W*(?:but|so|and|or|then|thus|however|therefore|hence|instead|otherwise|also)\b"
    r"|\W*(?:그리고|하지만|그러나|그래서|따라서|그런데|또한|또는|그러면|그럼|반면|한편)(?=[\s,])",
    re.I,
)
# "Default: `[]`" announces nothing.
_ANNOUNCES = re.compile(r"(?:[:：][^\w`\[\]{}<>]*|(?:다음|아래)[과와] 같(?:습니다|다|아요)\.?\W*)$")
# How it ends is read in so many characters.
_ENDING_CHARS = 60


@dataclass(frozen=True, slots=True)
class Quote:
    """A stretch of a passage, ready to be shown.

    text        as it is shown
    start, end  [start, end) in the passage: the whole stretch
    key         [start, end) in `text` of the sentence that answers; None where all of it does
    """

    text: str
    start: int
    end: int
    key: Span | None


def quote_around(text: str, blocks: Sequence[Block], best: Candidate, asked: Asked) -> Quote:
    """The quote for the sentence that answers best.

    text    the passage
    blocks  of the passage
    """
    at = best.block
    # In Korean sections are no better than paragraphs: of 71 first quotes about manuals that differ 40 are right and readable, 36 of paragraphs
    # (`benchmarks/manuals.py`), and of 24 questions 14 and 16, 16 and 17 (`benchmarks/answers.py`).
    # A default value may stand above or below the paragraph that says what it is of.
    is_above = "default" in asked.terms and "default" not in best.text.lower()
    wants_section = asked.is_english and (is_above or not asked.wants_fact)
    whole = whole_section(text, blocks, at) if wants_section or asked.wants_steps else []
    pieces: list[Piece] = []
    if wants_section and asked.wants_steps:
        # The title of front matter is no line of the text.
        pieces = lead_with_below(text, blocks, at, opens_page=bool(best.heading) and " > " not in best.heading)
    if asked.wants_steps and not whole and not pieces:
        pieces = _procedure(text, blocks, at)
    if not pieces:
        part = part_of_section(text, blocks, at) if wants_section else []
        pieces = _with_section(whole or part, _closest(text, blocks, best, wants_steps=asked.wants_steps))
    pieces = _from_a_beginning(text, pieces, blocks, best)
    if asked.wants_steps:  # the command is asked for, not what it prints
        code = {block.start: code_span(text, block) for block in blocks if block.kind == "code"}
        pieces = [(kind, code.get(span[0], span) if kind == "code" else span) for kind, span in pieces]
    return _render(text, _without_open_end(text, pieces, blocks, best), blocks, (best.start, best.end))


def _with_section(section: list[Piece], closest: list[Piece]) -> list[Piece]:
    """The section, with what the closest pieces have before and behind it."""
    if not section:
        return closest
    start, end = section[0][1][0], section[-1][1][1]
    before, behind = [p for p in closest if p[1][1] <= start], [p for p in closest if p[1][0] >= end]
    return [*before, *section, *behind]


def _closest(text: str, blocks: Sequence[Block], best: Candidate, *, wants_steps: bool) -> list[Piece]:
    """What belongs to the sentence at least: its paragraph, list, rows or code, and what these lean on."""
    at = best.block
    block = blocks[at]
    pieces: list[Piece] = []
    if block.kind == "prose":
        span = _sentences_around(text, block, best)
        if not wants_steps and announces(text[span[0] : span[1]]) and not _opens_list(blocks, at, span):
            span = _without_announcement(span, block, best)
        pieces.append(("prose", span))
    elif block.kind == "list":
        items = _items_around(text, block, best)
        pieces.append(("list" if items[1] == block.end else "cut list", items))
    elif block.kind == "table":
        pieces += _rows_around(text, block, best)
    else:
        pieces.append(("code", code_span(text, block, is_answer=True)))
    before = blocks[at - 1] if at and blocks[at - 1].kind != "heading" else None
    first = text[pieces[0][1][0] : pieces[0][1][1]]
    needs_lead = block.kind in ("list", "code") or (block.kind == "prose" and leans(first))
    if needs_lead and before and before.kind == "prose":
        pieces.insert(0, ("prose", _lead(text, before)))
    elif (
        wants_steps
        and before
        and before.kind == "code"
        and block.kind == "prose"
        and (_ON_CODE.match(first) or not _has_code_below(blocks, at))
    ):
        # What is said below a command says little without it.
        pieces.insert(0, ("code", code_span(text, before)))
        if at > 1 and blocks[at - 2].kind == "prose":
            pieces.insert(0, ("prose", _lead(text, blocks[at - 2])))
    return pieces + _what_follows(text, blocks, at, pieces[-1][1], wants_steps=wants_steps)


def _from_a_beginning(text: str, pieces: list[Piece], blocks: Sequence[Block], best: Candidate) -> list[Piece]:
    """The pieces without first sentences that only lead over from what stands before them, up to the one that answers."""
    kind, (first, last) = pieces[0]
    if kind == "prose":
        block = next(block for block in blocks if block.start <= first < block.end)
        for start, end in block.sentences:
            if first <= start <= best.start and not _LEADS_OVER.match(text[start:end]):
                return [(kind, (start, last)), *pieces[1:]]
    return pieces


def announces(text: str) -> bool:
    """True for a text that ends by announcing what follows."""
    return _ANNOUNCES.search(text[-_ENDING_CHARS:].rstrip()) is not None


def _opens_list(blocks: Sequence[Block], at: int, span: Span) -> bool:
    """True where a stretch ends its paragraph and a list follows that can be quoted whole: what it announces is the answer."""
    after = blocks[at + 1] if at + 1 < len(blocks) else None
    return (
        after is not None
        and after.kind == "list"
        and span[1] == blocks[at].end
        and after.end - after.start <= LIST_CHARS
    )


def _procedure(text: str, blocks: Sequence[Block], at: int) -> list[Piece]:
    """Numbered steps from the first one on, with the code and the paragraphs that belong to them; empty where there are none.

    at  of a block that may be a part of them
    """
    if first_number(text, blocks[at]) == 1 and not _goes_on_below(text, blocks, at):
        return []
    first = at
    while first_number(text, blocks[first]) != 1:
        is_part = blocks[first].kind in ("list", "code") or text[blocks[first].start :][:2].isspace()
        if not is_part or not first or not is_beside(text, blocks[first - 1], blocks[first]):
            return []
        first -= 1
    last = first
    while _goes_on_below(text, blocks, last):
        last += 1
    run = [(block.kind, (block.start, block.end)) for block in blocks[first : last + 1]]
    kept: list[Piece] = [piece for piece in run if piece[1][1] - run[0][1][0] <= FOLLOWED_CHARS]
    if at > last or len(kept) <= at - first or is_forged(text[kept[0][1][0] : kept[-1][1][1]]):
        return []
    while len(kept) < len(run) and kept[-1][0] != "list" and len(kept) - 1 > at - first:
        kept.pop()
    if len(kept) < len(run) and kept[-1][0] == "list":
        kept[-1] = ("cut list", kept[-1][1])
    if first and blocks[first - 1].kind == "prose" and is_beside(text, blocks[first - 1], blocks[first]):
        kept.insert(0, ("prose", _lead(text, blocks[first - 1])))
    return kept


def _goes_on_below(text: str, blocks: Sequence[Block], at: int) -> bool:
    """True where the next block belongs to the same steps: a list that counts on, code before one, or what is set in."""
    if at + 1 >= len(blocks) or not is_beside(text, blocks[at], blocks[at + 1]):
        return False
    below = blocks[at + 1]
    if (first_number(text, below) or 0) > 1:
        return True
    if below.kind == "code" and at + 2 < len(blocks) and (first_number(text, blocks[at + 2]) or 0) > 1:
        return True
    return below.kind in ("code", "prose", "list") and text[below.start :][:2].isspace()


def _without_open_end(text: str, pieces: Sequence[Piece], blocks: Sequence[Block], best: Candidate) -> list[Piece]:
    """The pieces without sentences that announce a list or code that does not follow, unless they are the answer."""
    kept: list[Piece] = []
    for number, (kind, span) in enumerate(pieces):
        follows = pieces[number + 1][0] if number + 1 < len(pieces) else "prose"
        if kind not in ("prose", "list") or follows != "prose" or not announces(text[span[0] : span[1]]):
            kept.append((kind, span))
            continue
        block = next(block for block in blocks if block.start <= span[0] < block.end)
        if kind == "list":
            items = items_of(text, block)
            is_cut = len(items) > 1 and not items[-1][0] <= best.start < items[-1][1]
            kept.append(("cut list", (span[0], items[-2][1])) if is_cut else (kind, span))
            continue
        shorter = _without_announcement(span, block, best)
        if shorter != span or len(pieces) == 1 or span[0] <= best.start < span[1]:
            kept.append((kind, shorter))
    return kept


def _has_code_below(blocks: Sequence[Block], at: int) -> bool:
    return at + 1 < len(blocks) and blocks[at + 1].kind == "code"


def _what_follows(text: str, blocks: Sequence[Block], at: int, quoted: Span, *, wants_steps: bool) -> list[Piece]:
    """The list or code that the quote announces; for steps the code below it, with what stands between.

    at      of the block in which the answer stands
    quoted  what is quoted of it
    """
    block = blocks[at]
    if block.kind not in ("prose", "list") or (block.kind == "prose" and quoted[1] < block.end):
        return []
    pieces: list[Piece] = []
    between: list[Piece] = []
    last = text[quoted[0] : quoted[1]]
    for later in blocks[at + 1 : at + 4]:
        is_announced = announces(last)
        if later.kind == "heading" or text[(between or pieces or [("", quoted)])[-1][1][1] : later.start].strip():
            break  # a heading, or the edge of a note, stands between
        if not (is_announced or wants_steps or quoted[1] - quoted[0] < SHORT_CHARS):
            break
        span = code_span(text, later) if later.kind == "code" else _short(text, later)
        if span is None or is_forged(text[span[0] : span[1]]) or span[1] - quoted[0] > FOLLOWED_CHARS:
            break
        between.append((later.kind, span))
        last = text[span[0] : span[1]]
        is_end = not announces(last)
        if later.kind == "code" or (is_announced and is_end):
            pieces, between = [*pieces, *between], []
            if later.kind == "code" or not wants_steps:
                break
        elif is_end and not wants_steps:
            break
    if not pieces and between and quoted[1] - quoted[0] < SHORT_CHARS and not announces(last):
        pieces = [piece for piece in between[:1] if piece[1][1] - quoted[0] <= PARAGRAPH_CHARS]
    return pieces


def quote_sentence(text: str, best: Candidate) -> str:
    """One sentence alone, for the list of further sources."""
    return _line(text[best.start : best.end])


def _sentences_around(text: str, block: Block, best: Candidate) -> Span:
    """The paragraph, or whole sentences of it around the answer: the one before, and those after it that fit."""
    if is_forged(text[block.start : block.end]):
        return best.start, best.end
    if block.end - block.start <= WHOLE_PARAGRAPH_CHARS:
        return block.start, block.end
    spans = block.sentences
    here = spans.index((best.start, best.end))
    first = here
    while first and (here - first < 1 or leans(text[spans[first][0] : spans[first][1]])):
        if spans[here][1] - spans[first - 1][0] > PARAGRAPH_CHARS:
            break
        first -= 1
    last = here
    while last + 1 < len(spans) and spans[last + 1][1] - spans[first][0] <= PARAGRAPH_CHARS:
        last += 1
    return spans[first][0], spans[last][1]


def _without_announcement(span: Span, block: Block, best: Candidate) -> Span:
    """The stretch without a last sentence that leads to what is not there, unless it is the answer."""
    kept = [sentence for sentence in block.sentences if span[0] <= sentence[0] and sentence[1] <= span[1]]
    if len(kept) < 2 or kept[-1] == (best.start, best.end):
        return span
    return span[0], kept[-2][1]


def _items_around(text: str, block: Block, best: Candidate) -> Span:
    if block.end - block.start <= LIST_CHARS:
        return block.start, block.end
    items = items_of(text, block)
    here = next(i for i, (a, b) in enumerate(items) if a <= best.start < max(b, a + 1))
    if has_terms(text, block):
        return items[here]
    first = last = here
    while last + 1 < len(items) and items[last + 1][1] - items[first][0] <= PARAGRAPH_CHARS:
        last += 1
    while first and items[last][1] - items[first - 1][0] <= PARAGRAPH_CHARS:
        first -= 1
    return items[first][0], items[last][1]


def _rows_around(text: str, block: Block, best: Candidate) -> list[Piece]:
    """The table where it is short; else its head and the row: a row alone has lost what its columns mean."""
    if block.end - block.start <= PARAGRAPH_CHARS and not is_forged(text[block.start : block.end]):
        return [("table", (block.start, block.end))]
    row = (best.start, best.end)
    if block.table is None or not block.table.is_piped:
        return [("row", row)]
    first = block.table.rows[0].start
    return [*([("table", (block.start, first - 1))] if block.start < first else []), ("table", row)]


def _short(text: str, block: Block) -> Span | None:
    return (block.start, block.end) if block.end - block.start <= LIST_CHARS else None


def _lead(text: str, before: Block) -> Span:
    """The paragraph before, or its last sentence where it is long."""
    if before.end - before.start <= LEAD_CHARS or not before.sentences:
        return before.start, before.end
    spans = before.sentences
    first = len(spans) - 1
    if first and leans(text[spans[first][0] : spans[first][1]]):
        first -= 1
    return spans[first][0], before.end


def _render(text: str, pieces: Sequence[Piece], blocks: Sequence[Block], key: Span) -> Quote:
    shown = ""
    marked: Span | None = None
    before = ""
    for kind, (start, end) in pieces:
        if shown:
            shown += "\n" if kind == before == "table" else "\n\n"
        table = next((block.table for block in blocks if block.table and block.start <= start < block.end), None)
        piece = _laid_out(table, start, end) if table and not table.is_piped else _tidy(text[start:end], kind)
        if start <= key[0] and key[1] <= end and kind in ("prose", "list", "cut list"):
            sentence = _line(text[key[0] : key[1]])
            at = piece.find(sentence)
            marked = (len(shown) + at, len(shown) + at + len(sentence)) if at >= 0 else None
        shown += piece
        before = kind
    return Quote(shown, pieces[0][1][0], pieces[-1][1][1], marked)


def _laid_out(table: Table, start: int, end: int) -> str:
    """Rows of a file without bars: one as a list of its cells, several as Markdown writes a table."""
    rows = [row for row in table.rows if start <= row.start < end]
    if len(rows) == 1:
        cells = [f"- {name}: {cell}" if name else f"- {cell}" for name, cell in rows[0].cells]
        return neutralize_markers("\n".join(cells))
    names = list(dict.fromkeys(name for row in rows for name, _ in row.cells))
    if "" in names:
        return neutralize_markers("\n".join(row.spelled() for row in rows))
    lines = [names, ["---"] * len(names), *([dict(row.cells).get(name, "") for name in names] for row in rows)]
    escaped = ([cell.replace("|", "\\|") for cell in cells] for cells in lines)
    return neutralize_markers("\n".join(f"| {' | '.join(cells)} |" for cells in escaped))


def _tidy(text: str, kind: str) -> str:
    if kind == "gap":
        return "…"
    if kind == "heading":
        return neutralize_markers(find_blocks(text)[0].title)
    if kind == "code":
        return _fenced(text)
    if kind == "table":
        return neutralize_markers(without_links(text))
    if kind in ("list", "cut list"):
        told = [(line, inline(line)) for line in _item_lines(_TERM_COLON.sub(": ", text))]
        lines = [" " * (len(line) - len(line.lstrip())) + shown for line, shown in told if shown]
        return "\n".join([*lines, "…"] if kind == "cut list" else lines)
    return _line(text)


def _line(text: str) -> str:
    return inline(_TERM_COLON.sub(": ", _QUOTE_MARK.sub("", text)))


def _item_lines(text: str) -> list[str]:
    """The lines of a list, those that only go on with a paragraph joined to its first."""
    lines: list[str] = []
    is_new = True
    for line in text.split("\n"):
        if line.strip() and (is_new or is_item(line)):
            lines.append(line)
        elif line.strip():
            lines[-1] += " " + line.strip()
        is_new = not line.strip()
    return lines


def _fenced(text: str) -> str:
    body = as_site_shows(text.strip("\n"))
    opening = re.match(r"\s*(```+|~~~+)", body)
    if opening is None:
        body = f"```\n{body}\n```"
    elif not re.search(r"\n\s*(?:```+|~~~+)\s*$", body):
        body += f"\n…\n{opening[1]}"
    return neutralize_markers(body)
