"""What a document is called."""

from __future__ import annotations

import pytest

from kb.drafts import Block, Parsed
from kb.ingest.titles import title_of

HEADING = Block("heading", 0, 4, 3, "Care of\tthe mirror")


@pytest.mark.parametrize(
    ("parsed", "path", "type", "title"),
    [
        (Parsed("", (HEADING,), title="Its own"), "a.md", "markdown", "Its own"),
        (Parsed("", (HEADING,)), "ch04-01.md", "markdown", "Care of the mirror"),
        (Parsed("text", ()), "notes/ch04-01_what-is_it.md", "markdown", "Ch04 01 what is it"),
        (Parsed("\n12\n\nOn Retry Budgets\nby Bertha", ()), "1706.03762.pdf", "pdf", "On Retry Budgets"),
        (Parsed("This is a sentence, and ends like one.\n", ()), "scan_07.pdf", "pdf", "Scan 07"),
        (Parsed("x" * 200, ()), "scan.pdf", "pdf", "Scan"),
        (Parsed("On Retry Budgets", ()), "notes.txt", "text", "Notes"),
        (Parsed("", ()), "src/lamp_queue.py", "code", "lamp_queue"),
        (Parsed("", (HEADING,)), "src/lamp_queue.py", "code", "lamp_queue"),
        (Parsed("", (HEADING,)), "ops/error-codes.csv", "text", "Error codes"),
        (Parsed("", ()), "거울-청소.txt", "text", "거울 청소"),
        (Parsed("", ()), "---.txt", "text", "---"),
    ],
)
def test_a_title_is_found(parsed: Parsed, path: str, type: str, title: str) -> None:
    assert title_of(parsed, path, type) == title
