"""A decoded text with its lines ↔ offsets: what readers of line formats build their blocks with."""

from __future__ import annotations

import re

from kb.drafts import Block, BlockKind

_LINE_END = re.compile("\n")


class Lines:
    """The lines of a text, 0-based; newlines are "\\n" already.

    text    the whole
    starts  offset of the first character of each line
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.starts = [0, *(match.end() for match in _LINE_END.finditer(text))]

    def __len__(self) -> int:
        return len(self.starts)

    def __getitem__(self, line: int) -> str:
        return self.text[self.starts[line] : self.end_of(line)]

    def end_of(self, line: int) -> int:
        """Offset just after the line's last character, before its newline."""
        return self.starts[line + 1] - 1 if line + 1 < len(self.starts) else len(self.text)

    def is_blank(self, line: int) -> bool:
        """True for a line of white space."""
        return not self[line].strip()

    def indent(self, line: int) -> int:
        """Columns of white space before the line's first character; a tab reaches to the next multiple of 8."""
        expanded = self[line].expandtabs(8)
        return len(expanded) - len(expanded.lstrip())

    def block(
        self, kind: BlockKind, first: int, stop: int, *, level: int = 0, title: str = "", section: str | None = None
    ) -> Block | None:
        """The block of lines first..stop-1 without the white space around it; None where nothing is left.

        The first line keeps its indent where code begins there, because the lines after it keep theirs.
        """
        start = self.starts[first]
        end = self.end_of(max(stop - 1, first))
        body = self.text[start:end]
        if not body or body.isspace():
            return None
        end = start + len(body.rstrip())
        lead = body[: len(body) - len(body.lstrip())]
        start += len(lead) if kind != "code" else lead.rfind("\n") + 1
        return Block(kind, start, end, level, title, None, section)

    def paragraphs(self, kind: BlockKind, first: int = 0, stop: int | None = None) -> list[Block]:
        """Runs of lines first..stop-1 between blank lines, each a block."""
        blocks: list[Block] = []
        line, stop = first, len(self) if stop is None else stop
        while line < stop:
            begin = line
            while line < stop and not self.is_blank(line):
                line += 1
            if line > begin and (block := self.block(kind, begin, line)):
                blocks.append(block)
            line += 1
        return blocks
