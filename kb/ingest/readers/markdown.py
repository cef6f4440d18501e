"""Markdown → blocks over the file's own text, with front matter read and left out. Knows CommonMark and tables."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from kb.drafts import Block, BlockKind, Parsed
from kb.ingest.decode import decode
from kb.ingest.readers.front_matter import read_front_matter
from kb.ingest.readers.lines import Lines
from kb.ingest.readers.markdown_code import with_fences
from kb.ingest.readers.markdown_markup import markup_edits, without_boxes
from kb.ingest.readers.markdown_signs import without_builder_tags
from kb.text import HEADING_ANCHOR

# `## Install {#install .wide}`: an anchor, not words of the title; in MDX it is a comment, `{/*install*/}`.
_ATTRIBUTES = re.compile(rf"{HEADING_ANCHOR}\s*$")
_COMMENT = re.compile(r"(`[^`]*`)|\s*\{/\*.*?\*/\}")
# A component of MDX that opens or closes on a line of its own. To CommonMark it begins HTML, up to the next blank line, and a
# fence below it is none: what follows a blank line in that code would be Markdown, and a comment of a shell a heading.
_COMPONENT_LINE = re.compile(r"^[ \t]*</?[A-Z][\w.]*(?:[ \t][^<>\n]*)?(?<!/)>[ \t]*$", re.M)
_INVISIBLE = re.compile(
    r"<!--.*?(?:-->|\Z)|<(script|style)\b.*?(?:</\1\s*>|\Z)|<[!?/]?[A-Za-z][^<>]*(?:>|\Z)", re.DOTALL | re.IGNORECASE
)
_KINDS: dict[str, BlockKind] = {
    "paragraph_open": "paragraph",
    "list_item_open": "list",
    "fence": "code",
    "code_block": "code",
    "table_open": "table",
    "blockquote_open": "quote",
}


def read_markdown(raw: bytes, path: str) -> Parsed:
    """A Markdown file; its title is the front matter's, or else its first level-1 heading.

    Where it has no level-1 heading, the front matter's title is one, as on the pages that site generators make of it.
    """
    decoded = decode(raw)
    matter = read_front_matter(decoded.text)
    text = with_fences(decoded.text, matter.end)
    blocks = tuple(markdown_blocks(text, matter.end))
    first = next((block.title for block in blocks if block.kind == "heading" and block.level == 1), None)
    title = html.unescape(matter.title) if matter.title else first
    if title and first is None and blocks:
        at = blocks[0].start
        blocks = (Block("heading", at, at, level=1, title=" ".join(title.split())), *blocks)
    notes = [note for note in (decoded.note, matter.note) if note]
    return Parsed(
        text,
        blocks,
        title,
        matter.tags,
        matter.language,
        True,
        "; ".join(notes) or None,
        matter.fields,
        markup_edits(text, matter.end, is_mdx=path.lower().endswith(".mdx")),
    )


def markdown_blocks(text: str, start: int = 0) -> Iterator[Block]:
    """The blocks of the Markdown that begins at an offset of a text; offsets are into the whole text."""
    lines = Lines(text)
    skipped = text.count("\n", 0, start)
    parser = _parser()
    environment: dict[str, Any] = {}
    plain = without_boxes(text[start:])
    tokens = parser.parse(_COMPONENT_LINE.sub(lambda line: " " * len(line.group()), plain), environment)
    for at, token in enumerate(tokens):
        outermost = 1 if token.type == "list_item_open" else 0
        if token.map is None or token.level != outermost:
            continue
        first, stop = token.map[0] + skipped, token.map[1] + skipped
        if token.type == "heading_open":
            inline: list[Any] = []
            parser.inline.parse(_COMMENT.sub(r"\1", tokens[at + 1].content), parser, environment, inline)
            title = _plain(inline)
            block = lines.block("heading", first, stop, level=int(token.tag[1]), title=title)
            if block and title:
                yield block
        elif token.type == "html_block":
            yield from _visible_runs(lines, first, stop)
        elif token.type in _KINDS and (block := lines.block(_KINDS[token.type], first, stop)):
            yield block


@cache
def _parser() -> Any:
    from markdown_it import MarkdownIt

    # Inline markup is parsed for titles only, which need it off: the blocks are cut from the source.
    return MarkdownIt("commonmark", {"maxNesting": 50}).enable("table").disable("inline")


def _plain(inline: list[Any]) -> str:
    words: list[str] = []
    for token in inline:
        if token.type in ("text", "code_inline", "text_special"):
            words.append(token.content)
        elif token.type == "image":
            words.append(_plain(token.children or []))
        elif token.type in ("softbreak", "hardbreak"):
            words.append(" ")
    return " ".join(_ATTRIBUTES.sub("", without_builder_tags("".join(words))).split())


def _visible_runs(lines: Lines, first: int, stop: int) -> Iterator[Block]:
    """What a reader sees of a block of HTML: from its first to its last visible character, between blank lines."""
    begin, end = lines.starts[first], lines.end_of(stop - 1)
    blanked = _INVISIBLE.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), lines.text[begin:end])
    for run in re.finditer(r"\S(?:[^\n]*\n(?=[^\n]*\S))*[^\n]*", blanked):
        yield Block("paragraph", begin + run.start(), begin + run.start() + len(run.group().rstrip()))
