"""Twice the text costs at most twice the work, whatever its shape: reading, cutting, names and relations, notes."""

from __future__ import annotations

import gc
import re
import time
from collections.abc import Callable
from itertools import count, cycle, islice

import pytest

from kb.drafts import ChunkDraft, Parsed
from kb.graph.extract import extract_graph
from kb.ingest.chunk import chunk_document
from kb.ingest.notes import make_notes
from kb.ingest.readers import read_file, reader_for

# A step that were quadratic would take four times as long; what is linear, twice, and a little for larger tables.
MOST_GROWTH = 2.4
BYTES = 60_000
# A step of milliseconds says nothing: the clock of a process ticks, and memory comes in pages.
LEAST_SECONDS = 0.015
# The best of each size counts, so another program that takes the processor away can only delay the end.
TRIES = 40

# With names, identifiers, and no sign that ends a sentence: what looks back to where its sentence began finds it far away.
_WORDS = (
    "the Marigold telescope stores Config values in parse_config while Anna Berg replaced HttpServer with queue.worker and"
    " Redis because its latency grew 소유권이란 서버는 연결한다 as RFC-12 says"
).split()
_endless = cycle(_WORDS)


def words(number: int) -> str:
    return " ".join(islice(_endless, number))


def lines(form: str) -> Callable[[int], str]:
    """A text of so many bytes, of lines of one form: {w} is six words, {i} counts."""

    def make(size: int) -> str:
        found: list[str] = []
        for i in count():
            found.append(form.format(w=words(6), i=i))
            size -= len(found[-1].encode()) + 1
            if size <= 0:
                return "\n".join(found)
        raise AssertionError

    return make


def line(size: int) -> str:
    return words(size // 7)


SHAPES: dict[str, tuple[str, Callable[[int], str]]] = {
    "a log without sentence ends": ("a.log", lines("2026-01-01T00:00:00 {w} {i} ms")),
    "code tags that nothing ends": ("a.md", lines("{{{{< highlight go >}}}}\n{w}")),
    "rules of tables": ("a.md", lines("{w}|{i}\n-|-")),
    "one list": ("a.md", lines("- {w}")),
    "one list of open items": ("a.md", lines("- [ ] {w}")),
    "one deep list": ("a.md", lambda size: "\n".join(f"{'  ' * (i % 40)}- {words(6)}" for i in range(size // 85))),
    "one table": ("a.md", lambda size: "| a | b |\n|---|---|\n" + lines("| {w} | {i} |")(size)),
    "one table of values": ("a.csv", lines("{w},{i}")),
    "one line": ("a.txt", line),
    "one line of Markdown": ("a.md", line),
    "one paragraph": ("a.md", lines("{w}")),
    "headings only": ("a.md", lines("## {w}\n")),
    "links only": ("a.md", lines("[{w}](page{i}.md)")),
    "links in a line": ("a.md", lambda size: lines("[{w}](page{i}.md)")(size).replace("\n", " ")),
    "definitions of links": ("a.md", lines("[r{i}]: https://example.org/{i}")),
    "many short lines": ("a.txt", lambda size: "a\n" * (size // 2)),
    "one code block": ("a.md", lambda size: f"```\n{lines('{w}')(size)}\n```\n"),
    "many code blocks": ("a.md", lines("```\n{w}\n```\n")),
    "marks that nothing closes": ("a.md", lambda size: "`a *b [c " * (size // 9)),
    "comments that nothing closes": ("a.md", lines("<!-- {w}\n")),
    "tags that nothing closes": ("a.md", lines("x <script> {w} <p class=caption> <div>")),
    "quotation marks that nothing closes": ("a.md", lines('{w} <a "{i} <A b={{"{i}')),
    "comments of MDX that nothing closes": ("a.mdx", lines("{{/* {w}")),
    "one function": ("a.py", lambda size: "def f(a):\n" + lines("    x{i} = parse_config(a, Config)")(size)),
    "one line of JSON": ("a.json", lambda size: "{" + lines('"k{i}": "{w}",')(size).replace("\n", "") + "}"),
    "one page of HTML": ("a.html", lambda size: f"<html><body>{lines('<p>{w}</p>')(size)}</body></html>"),
}


def token_starts(text: str) -> list[int]:
    """A tokenizer in place of an encoder's, which is not the point here."""
    return [match.start() for match in re.finditer(r"\w+|[^\w\s]", text)]


def measure(path: str, raw: bytes) -> dict[str, float]:
    """Seconds of processor time of each step from bytes to a document."""
    reader = reader_for(path)
    assert reader is not None
    parsed: list[Parsed] = []
    chunks: list[ChunkDraft] = []
    steps: dict[str, Callable[[], object]] = {
        "read": lambda: parsed.append(read_file(reader, raw, path)),
        "cut": lambda: chunks.extend(chunk_document(parsed[0], token_starts, 250, 500)),
        "names and relations": lambda: extract_graph(parsed[0], "s", path, "Title", chunks),
        "notes": lambda: make_notes([(chunk.text, chunk.start_line) for chunk in chunks], reader.name),
    }
    seconds = {}
    for name, step in steps.items():
        began = time.process_time()
        step()
        seconds[name] = time.process_time() - began
    return seconds


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
def test_twice_the_text_takes_twice_the_work(shape: str) -> None:
    path, make = SHAPES[shape]
    small, large = make(BYTES).encode(), make(2 * BYTES).encode()
    best: list[dict[str, float]] = [{}, {}]
    gc.disable()  # a collection falls into whichever step is running
    try:
        for _ in range(TRIES):
            for i, raw in enumerate((small, large)):
                found = measure(path, raw)
                best[i] = {step: min(seconds, best[i].get(step, seconds)) for step, seconds in found.items()}
            growth = {step: round(seconds / max(best[0][step], LEAST_SECONDS), 2) for step, seconds in best[1].items()}
            if max(growth.values()) <= MOST_GROWTH:
                break
    finally:
        gc.enable()
    assert max(growth.values()) <= MOST_GROWTH, growth
