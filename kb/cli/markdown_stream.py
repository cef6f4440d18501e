"""A model's Markdown as it comes → the terminal, rendered: what is finished stays, only the end is drawn anew.

As long as all of it fits on the screen nothing is final, so that a doubt can be marked where it stands. A longer text is
printed block by block from its beginning; no line that has scrolled away is ever needed again.
"""

from __future__ import annotations

import re
import sys
import time
from typing import TYPE_CHECKING, Any

from kb.cli.terminal import harmless, has_colour
from kb.cli.wrap import reading_columns

if TYPE_CHECKING:  # annotations alone: rich is 60 ms
    from rich.markdown import Markdown

# Drawing more often than the eye sees costs time that the model could use.
SECONDS_BETWEEN = 0.08
# Lines that stay free below the text, for the prompt and for what follows the answer.
FREE_LINES = 3


class MarkdownStream:
    """Feed it text, then `finish` it, once."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.live import Live

        self._console = Console(
            file=sys.stdout, width=reading_columns() or None, no_color=not has_colour(sys.stdout), highlight=False
        )
        self._live: Any = Live(
            console=self._console, auto_refresh=False, transient=True, redirect_stdout=False, redirect_stderr=False
        )
        self._text = ""
        self._drawn_at = 0.0
        self.is_whole = True  # nothing of it was printed for good

    def feed(self, text: str) -> None:
        """More of the text."""
        if not self._live.is_started:
            self._live.start()
        self._text += text
        now = time.monotonic()
        if now - self._drawn_at >= SECONDS_BETWEEN:
            self._drawn_at = now
            self._print_what_does_not_fit()
            self._live.update(self._rendered(self._text), refresh=True)

    def finish(self, text: str | None = None) -> None:
        """Print what is left, once and for all.

        text  the whole text as it is to stand there, where it is not quite what was fed; only while `is_whole`
        """
        self._live.update("", refresh=True)
        self._live.stop()
        left = self._text if text is None else text
        if left.strip():
            self._console.print(self._rendered(left))
        self._text = ""

    def _print_what_does_not_fit(self) -> None:
        while self._lines(self._text) > self._console.height - FREE_LINES:
            block, rest = split_first_block(self._text)
            if not rest.strip():
                return  # one block that is higher than the screen: its end is cut until it is complete
            self._live.update("", refresh=True)
            self._console.print(self._rendered(block))
            self._console.print()
            self._text = rest
            self.is_whole = False

    def _lines(self, text: str) -> int:
        return len(self._console.render_lines(self._rendered(text), pad=False))

    def _rendered(self, text: str) -> Markdown:
        return rendered_markdown(text)


def rendered_markdown(text: str) -> Markdown:
    """A text of a model, made harmless, for rich to print; links show their address."""
    from rich.markdown import Markdown

    return Markdown(harmless(text), code_theme="ansi_light", hyperlinks=False)


def print_markdown(text: str) -> None:
    """A whole text at once."""
    stream = MarkdownStream()
    stream.finish(text)


def split_first_block(text: str) -> tuple[str, str]:
    """(the first paragraph, list or fenced code; all the rest); the rest is empty where the first has not ended.

    >>> split_first_block("One.\\n\\nTwo.")
    ('One.', 'Two.')
    >>> split_first_block("```\\na\\n\\nb\\n```\\n\\nEnd")
    ('```\\na\\n\\nb\\n```', 'End')
    """
    fence = ""
    at = 0
    has_begun = False
    for line in text.splitlines(keepends=True):
        mark = re.match(r"\s{0,3}(```+|~~~+)", line)
        if mark and not fence:
            fence = mark[1][:3]
        elif mark and mark[1].startswith(fence):
            fence = ""
        if not line.strip() and not fence and has_begun:
            return text[:at].rstrip("\n"), text[at:].lstrip("\n")
        has_begun = has_begun or bool(line.strip())
        at += len(line)
    return text, ""
